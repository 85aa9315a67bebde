/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * maps.h - the maps of the packet path.
 *
 * Sizes marked "load" are set by userspace/kern/load.c before loading; maps/
 * says who writes and who reads.  All but the scratches are pinned.
 */
#ifndef BPF_MAPS_H
#define BPF_MAPS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "maps/answer.h"
#include "maps/config.h"
#include "maps/ede.h"
#include "maps/event.h"
#include "maps/stats.h"
#include "maps/why.h"
#include "bpf/scratch.h"

/* An array that the daemon writes through a mapping, without system calls. */
#define MAPPED_ARRAY(name, value_type, count)       \
	struct {                                    \
		__uint(type, BPF_MAP_TYPE_ARRAY);   \
		__uint(map_flags, BPF_F_MMAPABLE);  \
		__uint(max_entries, count);         \
		__type(key, __u32);                 \
		__type(value, value_type);          \
	} name SEC(".maps")

#define PERCPU_ONE(name, value_type)                      \
	struct {                                          \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);  \
		__uint(max_entries, 1);                   \
		__type(key, __u32);                       \
		__type(value, value_type);                \
	} name SEC(".maps")

struct mr_page {
	__u8 byte[MR_PAGE_SIZE];
};

/* The value of an array of one. */
#define MAP_ONE(map)                                    \
	({                                              \
		__u32 map_zero_ = 0;                    \
		bpf_map_lookup_elem(&(map), &map_zero_); \
	})

MAPPED_ARRAY(mr_conf, struct mr_conf, 1);
MAPPED_ARRAY(mr_secret, struct mr_secret, 1);
MAPPED_ARRAY(mr_filter, struct mr_filter_bucket, 2);	/* load: both units */
MAPPED_ARRAY(mr_bloom, __u64, 2);			/* load: both units */
MAPPED_ARRAY(mr_verdicts, struct mr_verdict, 2);	/* load: both units */
MAPPED_ARRAY(mr_ede, struct mr_ede, MR_UNITS * MR_LISTS_MAX);
MAPPED_ARRAY(mr_clients, struct mr_client_bucket, MR_CLIENT_BUCKETS);
MAPPED_ARRAY(mr_buckets, struct mr_answer_bucket, 1);	/* load */
MAPPED_ARRAY(mr_answers, struct mr_page, 1);		/* load */
MAPPED_ARRAY(mr_why, struct mr_why, 1);
PERCPU_ONE(mr_scratch, struct mr_scratch);
PERCPU_ONE(mr_scratch_why, struct mr_scratch);
PERCPU_ONE(mr_stats, struct mr_stats);
PERCPU_ONE(mr_latency, struct mr_latency);

struct mr_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);		/* load */
};

/* One ring per CPU; the daemon fills the slots after loading. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);				/* load: possible CPUs */
	__type(key, __u32);
	__array(values, struct mr_ring);
} mr_events SEC(".maps");

#endif
