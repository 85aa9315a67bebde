/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events.c - the rings in which the packet path reports.
 *
 * One ring per possible CPU, made anew at each start: reading the rings of an
 * earlier daemon would need more rights than we keep.  Nothing wakes us; the
 * caller polls.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kern/room.h"

static int on_record(void *ctx, void *data, size_t size)
{
	struct kern *k = ctx;

	if (size < sizeof(struct mr_event))
		return 0;
	k->events_seen++;
	if (k->each_event)
		k->each_event(data, k->each_arg);
	return 0;
}

static int new_ring(struct kern *k, uint32_t cpu)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "mr_ring", 0, 0, k->sizes.ring_bytes, NULL), err = 0;

	if (fd < 0)
		return -errno;
	k->ring_fd[cpu] = fd;
	if (!k->rings) {
		k->rings = ring_buffer__new(fd, on_record, k, NULL);
		return k->rings ? 0 : -errno;
	}
	err = ring_buffer__add(k->rings, fd, on_record, k);
	return err;
}

int kern_rings_new(struct kern *k, struct err_at *reterr)
{
	uint32_t cpu, slots = k->sizes.cpus;
	int err = 0;

	k->ring_fd = malloc(slots * sizeof(*k->ring_fd));
	if (!k->ring_fd)
		return -ENOMEM;
	for (cpu = 0; cpu < slots; cpu++)
		k->ring_fd[cpu] = -1;
	for (cpu = 0; !err && cpu < slots; cpu++)
		err = new_ring(k, cpu);
	if (err)
		return err_why(reterr, err, "the rings for events (%u of %u bytes) cannot be made: %s", slots,
			       k->sizes.ring_bytes, strerror(-err));
	return kern_rings_place(k, reterr);
}

int kern_rings_place(struct kern *k, struct err_at *reterr)
{
	uint32_t cpu;

	for (cpu = 0; cpu < k->sizes.cpus; cpu++)
		if (bpf_map_update_elem(k->t.fd[MAP_mr_events], &cpu, &k->ring_fd[cpu], BPF_ANY))
			return err_why(reterr, -errno, "ring %u cannot be put into mr_events: %s", cpu,
				       strerror(errno));
	return 0;
}

void kern_rings_free(struct kern *k)
{
	uint32_t cpu;

	ring_buffer__free(k->rings);
	k->rings = NULL;
	for (cpu = 0; k->ring_fd && cpu < k->sizes.cpus; cpu++)
		if (k->ring_fd[cpu] >= 0)
			close(k->ring_fd[cpu]);
	free(k->ring_fd);
	k->ring_fd = NULL;
}

unsigned kern_events_poll(struct kern *k, void (*each)(const struct mr_event *e, void *arg), void *arg)
{
	struct mr_stats s;

	if (!k->on)
		return 0;
	k->events_seen = 0;
	k->each_event = each;
	k->each_arg = arg;
	ring_buffer__consume(k->rings);
	kern_stats(k, &s);
	if (s.count[MR_STAT_events_lost] > k->events_lost)
		count_add(k->counts, COUNT_kern_events_lost, s.count[MR_STAT_events_lost] - k->events_lost);
	k->events_lost = s.count[MR_STAT_events_lost];
	return k->events_seen;
}

void kern_events_every(struct kern *k, uint32_t every)
{
	if (k->on)
		MR_WRITE(kern_conf(k)->events, every);
}
