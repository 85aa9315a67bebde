/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fill.h - load the shipped program and fill its maps by plain, simple code.
 *
 * For tests and benchmarks.  It shares the layouts and hashes of maps/ with
 * the daemon and nothing else, so it also says what the program expects of
 * whoever writes the maps.
 */
#ifndef TESTS_PACKET_FILL_H
#define TESTS_PACKET_FILL_H

#include <stddef.h>
#include "maps/answer.h"
#include "maps/config.h"
#include "maps/ede.h"
#include "maps/stats.h"
#include "maps/why.h"

struct fastpath_bpf;
struct ring_buffer;

struct fill_size {
	__u32 filter_buckets;		/* per unit; powers of two, as are the next two */
	__u32 bloom_words;		/* per unit */
	__u32 answer_buckets;
	__u32 verdicts;			/* per unit: sets times groups */
	__u32 pages;
};

struct fill {
	struct fastpath_bpf *skel;
	struct fill_size size;
	struct mr_conf *conf;
	struct mr_secret *secret;
	struct mr_filter_bucket *filter;
	__u64 *bloom;
	struct mr_verdict *verdicts;
	struct mr_ede *ede;
	struct mr_client_bucket *clients;
	struct mr_answer_bucket *buckets;
	__u8 *answers;
	struct mr_why *why;
	int ring_fd;			/* the one ring that stands in the slots of all CPUs */
	int fd;				/* of fastpath and fastpath_why */
	int why_fd;
	__u32 next_unit;
	__u32 stamp;
};

/* One record of an answer; its owner is the question. */
struct fill_rr {
	__u16 type;
	__u32 ttl;
	const char *rdata;
	size_t rdlen;
	int authority;			/* counted there and not among the answers */
};

struct fill_answer {
	const char *name;		/* text, \DDD for odd octets */
	__u16 qtype;
	__u8 key;			/* enum mr_answer_key */
	__u8 flags;			/* enum mr_answer_flag */
	__u16 dns_flags;
	const struct fill_rr *rr;	/* until one of type 0 */
	__s64 age_ms;			/* how long ago it was born */
	__s64 life_ms;			/* from birth to expiry; 0: an hour */
	__s64 stale_ms;			/* so long behind that it may be given */
	__u32 refresh_ms;
	__u16 generation_slot;
	__u16 chain[MR_CHAIN_MAX];
};

/**
 * Load the program with maps of these sizes and map them.
 *
 * Returns 0 or a negative errno; @reterr then says what failed.
 */
int fill_open(struct fill *f, const struct fill_size *size, const char **reterr);
void fill_close(struct fill *f);

/*
 * Empty all maps and set the defaults: everything on, one interface (index 1),
 * no service, four groups that block by null addresses, no set.
 */
void fill_reset(struct fill *f);

/* Nanoseconds of CLOCK_MONOTONIC_COARSE, which answers are dated in. */
__u64 fill_now(void);

/* The wire form of a name in text, as written; returns its length, 0 if it is none. */
size_t fill_wire(const char *text, __u8 *ret, size_t room);

/* A name from text, lower-cased and hashed; returns what mr_name_hash() does. */
int fill_name(const struct fill *f, const char *text, struct mr_name *ret);

void fill_service(struct fill *f, const char *address);

/* What a set means to a group in the active unit. */
void fill_verdict(struct fill *f, __u32 group, __u32 set, enum mr_verdict_kind kind, __u16 list);

/* Where an entry is put. */
enum fill_where { FILL_FIRST, FILL_SECOND, FILL_STASH };

/* Put a name into the active unit; returns 0 or -1 when its bucket is full. */
int fill_rule(struct fill *f, const char *name, __u32 set, int subtree, enum fill_where where);

/* A prefix in text, "10.0.0.0/8"; returns 0 or -1. */
int fill_client(struct fill *f, const char *prefix, __u16 group, enum mr_access access);

/* A MAC in text, "02:00:00:00:00:01"; returns 0 or -1. */
int fill_mac(struct fill *f, const char *mac, struct mr_outcome outcome);

/* The name of a list for the active unit. */
void fill_source(struct fill *f, __u32 list, const char *name);

/* Add an answer; returns its unit number, 0 when there is no room for it. */
__u32 fill_answer(struct fill *f, const struct fill_answer *a);
struct mr_answer *fill_slot(const struct fill *f, __u32 unit);

/* The counters, added up over the CPUs. */
int fill_stats(const struct fill *f, struct mr_stats *ret);
int fill_latency(const struct fill *f, struct mr_latency *ret);

#endif
