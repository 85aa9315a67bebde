/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_maps.c - "mrbench maps": BPF_MAP_TYPE_HASH beside a table of our own.
 *
 * The measurement behind docs/adr/0001: the same keys go into a hash map of the
 * kernel's (preallocated, eight octets of key and of value) and into filter
 * buckets in a memory-mapped array; then both are asked for the same keys, few
 * of them (hot) and all in random order (cold), by BPF programs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include "base/clock.h"
#include "tools/mrbench.h"
#include "tools/mrbench.skel.h"

#define LOOKUP_ROUNDS 15
#define INSERTS       10000
#define HOT_KEYS      1024

struct maps {
	struct mrbench_bpf *skel;
	struct mr_filter_bucket *own;
	struct mr_hash *keys;
	uint32_t count, buckets;	/* count is a power of two: keys are taken in a circle */
};

/* Pseudo-random and without repetition in the upper lane, as hashes of names are. */
static struct mr_hash key_of(uint64_t i)
{
	return (struct mr_hash){ mr_finish(i * 0xd1342543de82ef95ULL + 1), mr_finish(~i * 0xda942042e4dd58b5ULL) };
}

static int load(struct maps *m, struct err_at *reterr)
{
	int err;

	m->skel = mrbench_bpf__open();
	if (!m->skel)
		return -errno;
	bpf_map__set_max_entries(m->skel->maps.bench_keys, m->count);
	bpf_map__set_max_entries(m->skel->maps.bench_hash, m->count + INSERTS);
	bpf_map__set_max_entries(m->skel->maps.bench_own, m->buckets);
	err = mrbench_bpf__load(m->skel);
	if (err)
		return err_why(reterr, err, "the benchmark's own program does not load: %s", strerror(-err));
	m->keys = bench_map(bpf_map__fd(m->skel->maps.bench_keys), sizeof(*m->keys) * m->count);
	m->own = bench_map(bpf_map__fd(m->skel->maps.bench_own), sizeof(*m->own) * m->buckets);
	return m->keys && m->own ? 0 : -errno;
}

/* Nanoseconds an insert into the hash map, one system call each. */
static int fill_hash(struct maps *m, uint64_t from, uint32_t count, double *ret_ns)
{
	int fd = bpf_map__fd(m->skel->maps.bench_hash), err = 0;
	uint64_t start = clock_fine_ns(), value = 1;

	for (uint32_t i = 0; i < count && !err; i++) {
		struct mr_hash h = key_of(from + i);

		err = bpf_map_update_elem(fd, &h.h0, &value, BPF_NOEXIST);
	}
	*ret_ns = (double)(clock_fine_ns() - start) / count;
	return err ? -errno : 0;
}

static bool put(struct mr_filter_bucket *b, uint64_t entry)
{
	for (int i = 0; i < MR_BUCKET_WAYS; i++) {
		if (mr_entry_set(b->way[i]))
			continue;
		MR_WRITE(b->way[i], entry | (b->way[i] & MR_ENTRY_OVERFLOW));
		return true;
	}
	return false;
}

/* The same into our own table: either bucket; returns how many found both full. */
static uint32_t fill_own(struct maps *m, uint64_t from, uint32_t count, double *ret_ns)
{
	uint64_t start = clock_fine_ns();
	uint32_t full = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct mr_hash h = key_of(from + i);
		struct mr_filter_bucket *first = &m->own[mr_bucket_first(h, m->buckets - 1)];

		if (put(first, mr_entry(h, 1, true)))
			continue;
		MR_WRITE(first->way[0], first->way[0] | MR_ENTRY_OVERFLOW);
		if (!put(&m->own[mr_bucket_second(h, m->buckets - 1)], mr_entry(h, 1, true)))
			full++;
	}
	*ret_ns = (double)(clock_fine_ns() - start) / count;
	return full;
}

/* Median nanoseconds a look-up over the first @count keys, a power of two. */
static int look_up(struct maps *m, struct bpf_program *p, uint32_t count, uint32_t looks, uint32_t missing, double *ret_ns,
		   struct err_at *reterr)
{
	double ns[LOOKUP_ROUNDS], ignored;
	uint32_t repeat = looks / BENCH_FINDS + 1;
	uint64_t found;
	int err;

	m->skel->bss->bench_key = 0;
	m->skel->bss->bench_key_mask = count - 1;
	m->skel->bss->bench_own_mask = m->buckets - 1;
	err = bench_run(bpf_program__fd(p), 0, HOT_KEYS * 2 / BENCH_FINDS, XDP_TX, &ignored, reterr);
	for (int i = 0; i < LOOKUP_ROUNDS && !err; i++) {
		found = m->skel->bss->bench_found;
		err = bench_run(bpf_program__fd(p), 0, repeat, XDP_TX, &ns[i], reterr);
		ns[i] /= BENCH_FINDS;
		found = m->skel->bss->bench_found - found;
		if (!err && found + missing < (uint64_t)repeat * BENCH_FINDS)
			err = err_why(reterr, -EPROTO, "only %llu of %u look-ups found their key",
				      (unsigned long long)found, repeat * BENCH_FINDS);
	}
	if (err)
		return err;
	qsort(ns, LOOKUP_ROUNDS, sizeof(*ns), bench_compare);
	*ret_ns = ns[LOOKUP_ROUNDS / 2];
	return 0;
}

/* Bytes that the kernel accounts to a map; 0 when it does not say. */
static long long memory_of(int fd)
{
	char path[64], line[128];
	long long bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		sscanf(line, "memlock: %lld", &bytes);
	fclose(f);
	return bytes;
}

static void print_half(const char *name, int fd, double fill_s, const double ns[3], const char *end)
{
	printf("  \"%s\": {\"bytes\": %lld, \"fill_s\": %.3f, \"insert_ns\": %.0f, \"hot_ns\": %.1f, \"cold_ns\": %.1f}%s\n",
	       name, memory_of(fd), fill_s, ns[0], ns[1], ns[2], end);
}

/* Keys in the order in which they are looked for: at random. */
static int make_keys(struct maps *m)
{
	uint32_t *order = bench_shuffle(m->count, 7);

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->count; i++)
		m->keys[i] = key_of(order[i]);
	free(order);
	return 0;
}

int bench_maps(const struct bench_options *o, struct err_at *reterr)
{
	struct maps m = { .count = HOT_KEYS };
	double fill[2] = { 0 }, ns[2][3] = { { 0 } };
	uint32_t full = 0;
	int err;

	while (m.count < o->sizes.names)
		m.count *= 2;
	m.buckets = m.count / 4;
	err = load(&m, reterr);
	if (!err)
		err = make_keys(&m);
	if (!err)
		err = fill_hash(&m, 0, m.count, &fill[0]);
	if (!err) {
		full = fill_own(&m, 0, m.count, &fill[1]);
		err = look_up(&m, m.skel->progs.bench_find_hash, HOT_KEYS, o->repeat, 0, &ns[0][1], reterr);
	}
	if (!err)
		err = look_up(&m, m.skel->progs.bench_find_hash, m.count, o->repeat, 0, &ns[0][2], reterr);
	if (!err)
		err = look_up(&m, m.skel->progs.bench_find_own, HOT_KEYS, o->repeat, o->repeat / 100, &ns[1][1], reterr);
	if (!err)
		err = look_up(&m, m.skel->progs.bench_find_own, m.count, o->repeat, o->repeat / 100, &ns[1][2], reterr);
	if (!err)
		err = fill_hash(&m, m.count, INSERTS, &ns[0][0]);
	if (!err) {
		fill_own(&m, m.count, INSERTS, &ns[1][0]);
		printf("{\n  \"keys\": %u, \"both_full\": %u,\n", m.count, full);
		print_half("hash_map", bpf_map__fd(m.skel->maps.bench_hash), fill[0] * m.count / 1e9, ns[0], ",");
		print_half("own_table", bpf_map__fd(m.skel->maps.bench_own), fill[1] * m.count / 1e9, ns[1], "");
		printf("}\n");
	}
	mrbench_bpf__destroy(m.skel);
	return err;
}
