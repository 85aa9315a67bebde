/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats.c - what the packet path counted, summed over CPUs, and memory.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kern/room.h"

/* Add up a per-CPU value that is nothing but 64-bit numbers. */
static void sum_cpus(const struct kern *k, enum kern_map map, __u64 *ret, size_t words)
{
	uint32_t zero = 0, cpu;
	__u64 *all;
	size_t i;

	memset(ret, 0, words * sizeof(*ret));
	all = k->on ? calloc(k->sizes.cpus, words * sizeof(*all)) : NULL;
	if (all && !bpf_map_lookup_elem(k->t.fd[map], &zero, all))
		for (cpu = 0; cpu < k->sizes.cpus; cpu++)
			for (i = 0; i < words; i++)
				ret[i] += all[cpu * words + i];
	free(all);
}

void kern_stats(struct kern *k, struct mr_stats *ret)
{
	sum_cpus(k, MAP_mr_stats, ret->count, sizeof(*ret) / sizeof(uint64_t));
}

void kern_latency(struct kern *k, struct mr_latency *ret)
{
	sum_cpus(k, MAP_mr_latency, (__u64 *)ret, sizeof(*ret) / sizeof(uint64_t));
}

unsigned kern_memory(struct kern *k, struct kern_memory *ret)
{
	unsigned n = 0;
	int m;

	if (!k->on)
		return 0;
	for (m = 0; m < KERN_MAP_COUNT; m++) {
		uint64_t bytes = (uint64_t)k->t.entries[m] * k->t.value_size[m];

		if (m == MAP_mr_stats || m == MAP_mr_latency)
			bytes *= k->sizes.cpus;
		if (m == MAP_mr_events)
			bytes = (uint64_t)k->sizes.cpus * k->sizes.ring_bytes;
		snprintf(ret[n].name, sizeof(ret[n].name), "%s", kern_map_names[m]);
		ret[n++].bytes = bytes;
	}
	return n;
}
