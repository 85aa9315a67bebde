/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events.c - the rings in which the packet path reports.
 *
 * One ring per possible CPU, made anew at each start: reading the rings of an
 * earlier daemon would need more rights than we keep.  Nothing wakes us; the
 * caller polls.  A look reads at most EVENTS_MAX of each ring: a program that
 * reports faster than we read must not keep the control thread here for ever.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kern/room.h"

#define EVENTS_MAX 1024			/* of one ring in one look; a ring of 256 KiB holds some 840 */

static int on_record(void *ctx, void *data, size_t size)
{
	struct kern *k = ctx;

	if (size < sizeof(struct mr_event))
		return 0;
	if (k->each_event)
		k->each_event(data, k->each_arg);
	/* an error ends the reading of this ring, behind this record */
	return ++k->events_seen == EVENTS_MAX ? -EAGAIN : 0;
}

static int new_ring(struct kern *k, uint32_t cpu)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "mr_ring", 0, 0, k->sizes.ring_bytes, NULL);

	if (fd < 0)
		return -errno;
	k->ring_fd[cpu] = fd;
	k->ring[cpu] = ring_buffer__new(fd, on_record, k, NULL);
	return k->ring[cpu] ? 0 : -errno;
}

/* Put the rings into the tables in force. */
static int place(struct kern *k, struct err_at *reterr)
{
	uint32_t cpu;

	for (cpu = 0; cpu < k->sizes.cpus; cpu++)
		if (bpf_map_update_elem(k->t.fd[MAP_mr_events], &cpu, &k->ring_fd[cpu], BPF_ANY))
			return err_why(reterr, -errno, "ring %u cannot be put into mr_events: %s", cpu,
				       strerror(errno));
	return 0;
}

int kern_rings_new(struct kern *k, struct err_at *reterr)
{
	uint32_t cpu, slots = k->sizes.cpus;
	int err = 0;

	k->ring = calloc(slots, sizeof(*k->ring));
	k->ring_fd = malloc(slots * sizeof(*k->ring_fd));
	if (!k->ring || !k->ring_fd)
		return -ENOMEM;
	for (cpu = 0; cpu < slots; cpu++)
		k->ring_fd[cpu] = -1;
	for (cpu = 0; !err && cpu < slots; cpu++)
		err = new_ring(k, cpu);
	if (err)
		return err_why(reterr, err, "the rings for events (%u of %u bytes) cannot be made: %s", slots,
			       k->sizes.ring_bytes, strerror(-err));
	return place(k, reterr);
}

void kern_rings_free(struct kern *k)
{
	uint32_t cpu;

	for (cpu = 0; k->ring && k->ring_fd && cpu < k->sizes.cpus; cpu++) {
		ring_buffer__free(k->ring[cpu]);
		if (k->ring_fd[cpu] >= 0)
			close(k->ring_fd[cpu]);
	}
	free(k->ring);
	free(k->ring_fd);
	k->ring = NULL;
	k->ring_fd = NULL;
}

unsigned kern_events_poll(struct kern *k, void (*each)(const struct mr_event *e, void *arg), void *arg)
{
	unsigned seen = 0;
	struct mr_stats s;
	uint32_t cpu;

	if (!k->on)
		return 0;
	k->each_event = each;
	k->each_arg = arg;
	for (cpu = 0; cpu < k->sizes.cpus; cpu++) {
		k->events_seen = 0;
		ring_buffer__consume(k->ring[cpu]);
		seen += k->events_seen;
	}
	kern_stats(k, &s);
	if (s.count[MR_STAT_events_lost] > k->events_lost)
		count_add(k->counts, COUNT_kern_events_lost, s.count[MR_STAT_events_lost] - k->events_lost);
	k->events_lost = s.count[MR_STAT_events_lost];
	return seen;
}

void kern_events_every(struct kern *k, uint32_t every)
{
	if (k->on)
		MR_WRITE(kern_conf(k)->events, every);
}
