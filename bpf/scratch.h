/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * scratch.h - where a packet is worked on; the daemon never looks.
 *
 * What one stage finds out stands here for the next.  The verifier knows
 * nothing of what is in a map, so it follows each stage once, and not once for
 * every way through those before it.  That costs a load per value.
 */
#ifndef BPF_SCRATCH_H
#define BPF_SCRATCH_H

#include "maps/filter.h"
#include "bpf/reply.h"

/* The outcome of a client, as it was in a generation of mr_conf (0: nothing is remembered here). */
struct client_memo {
	struct mr_prefix addr;
	__u64 mac;			/* 0 while no MAC is looked for */
	__u32 generation;
	struct mr_outcome outcome;
};

#define CLIENT_MEMOS 64

struct mr_scratch {
	struct packet packet;
	struct query query;
	struct mr_found found;		/* of the name or parent that the filter is asked for */
	struct mr_decision decision;
	struct mr_decision link;	/* of the sets of a cached answer's CNAME chain */
	struct mr_outcome client;
	__u32 key;			/* enum mr_answer_key that an answer was found under */
	__u32 source;			/* enum mr_source */
	__u32 row;			/* enum mr_stat that an answer counts in */
	__u32 stale;			/* the time of a cached answer is over: the EDE that says so; else 0 */
	__u32 unit;			/* of a cached answer */
	__u32 listed;			/* the Bloom filter knows the whole name: its answer is not fetched early */
	__u32 depths;			/* of the parents that the filter is still to be asked for */
	__u32 active;			/* the filter unit that this packet is judged by */
	__u64 now;			/* of a cached answer: the coarse clock as it was in that tick */
	__u64 tick;
	__u64 place;			/* where an answer would be, of a name that is not listed */
	__u64 mac;			/* of the source, while MACs are looked for */
	struct mr_name name;
	struct mr_answer answer;	/* copy of the head in use */
	struct reply reply;
	struct client_memo memo[CLIENT_MEMOS];
	__u32 since_event;		/* answers since the last query event */
	__u32 pad2;
};

#endif
