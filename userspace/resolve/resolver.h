/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resolver.h - what the queries of one worker share.
 */
#ifndef RESOLVE_RESOLVER_H
#define RESOLVE_RESOLVER_H

#include "base/count.h"
#include "cache/cache.h"
#include "resolve/ops.h"
#include "resolve/snapshot.h"

#define RESOLVE_COUNTERS(ROW) \
	ROW(queries,              "queries that reached user space") \
	ROW(queries_malformed,    "of those, answered FORMERR, NOTIMP or BADVERS") \
	ROW(queries_refused,      "of those, refused: no access, not recursive, class or type") \
	ROW(queries_blocked,      "of those, blocked by the filter") \
	ROW(queries_rewritten,    "of those, answered as a rewrite says") \
	ROW(queries_special,      "of those, for names that are answered here and never forwarded: localhost, private reverse zones") \
	ROW(queries_cached,       "of those, answered from the cache") \
	ROW(queries_coalesced,    "of those, waited for the same question of another client") \
	ROW(queries_forwarded,    "of those, asked upstream") \
	ROW(queries_failed,       "of those, answered SERVFAIL") \
	ROW(queries_lost,         "of those, not answered: no memory for the answer") \
	ROW(rebinding_refused,    "answers from upstream refused: an address of the inside for a public name") \
	ROW(refreshes,            "answers renewed before their end") \
	ROW(flights_full,         "questions not coalesced: the table is full")

COUNT_ENUM(resolve_count, RESOLVE_COUNTERS)

/* Questions under way in all workers, so that the same one is asked once. */
struct flights;
struct flights *flights_new(unsigned max);
void flights_free(struct flights *f);

/* One worker's; all but snapshot is set once. */
struct resolver {
	struct snapshot *snapshot;	/* in force for new queries; a reference */
	struct cache *cache;		/* shared */
	struct flights *flights;	/* shared */
	struct resolve_upstream upstream;
	struct resolve_kern kern;
	struct resolve_neighbours neighbours;
	struct resolve_events events;
	struct count_shard *count;
	void *owner;			/* the worker, for events.wake */
};

/* Make the shard of counters; the caller has filled in the rest. */
int resolver_init(struct resolver *r);
void resolver_done(struct resolver *r);

/* From now on new queries use @s (takes the reference). */
void resolver_set_snapshot(struct resolver *r, struct snapshot *s);

/* Ask again for an answer that nears its end; cheap when that is under way already. */
void resolver_refresh(struct resolver *r, const struct dns_key *key, uint64_t now_ns);

/*
 * True in the last part of an answer's life, max(TTL / 10, 2 s), when that life is
 * over ten seconds: the kernel's rule too.
 */
bool resolver_nears_end(const struct dns_answer *a, uint64_t now_ns);

#endif
