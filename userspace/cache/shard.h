/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shard.h - a part of the cache under one lock: its index, and who goes when it is full.
 *
 * New answers wait in the young queue.  Who has been asked for again by the
 * time that room is needed moves on to the main queue, all others go; so names
 * that are asked for once pass through the young queue and move nobody else.
 * The main queue gives up one only when the young one is short, and there each
 * time it was asked for lets an answer go round once more.  A name that comes
 * back soon after it went (its ghost is there still) is put into the main
 * queue at once.  This is S3-FIFO (Yang and others, SOSP 2023).
 */
#ifndef CACHE_SHARD_H
#define CACHE_SHARD_H

#include <pthread.h>
#include <stdalign.h>
#include "cache/cache.h"
#include "cache/index.h"

#define SHARD_NONE UINT32_MAX

#define SHARD_WANTED_MAX 3		/* rounds that asking can earn in the main queue */

/* An answer's place in the order of arrival, which it knows. */
struct slot {
	struct dns_answer *answer;
	uint32_t next;			/* who came after it; in the list of free ones: the next */
	uint32_t before;
};

struct queue {
	uint32_t first;			/* who came first; SHARD_NONE: nobody is there */
	uint32_t last;
	uint32_t count;
};

struct shard {
	alignas(INDEX_LINE) pthread_mutex_t lock;	/* guards all below, and what buckets and slots hold */
	const struct hash_key *key;	/* of the hash of names */
	struct index index;
	uint32_t size;			/* slots */
	uint32_t cuts;			/* answers that are; written whole, read without the lock too */
	struct cache_stats stats;	/* bytes: of answers only */
	uint64_t bytes_max;		/* of answers */
	struct slot *slots;
	uint32_t fresh;			/* slots that were never used: from here on */
	uint32_t free;			/* list of slots used before */
	struct queue young;
	struct queue main;
	uint32_t *ghost;		/* by hash: of who went from the young queue; size of them */
};

/* Take memory for @size answers; -1 without. */
int shard_init(struct shard *s, uint32_t size, uint64_t bytes_max, const struct index *index, const struct hash_key *key);
void shard_done(struct shard *s);

/* ---- under its lock ---- */

/* Let go of the answer at @w; the reference is the caller's to drop, on the query path outside the lock. */
struct dns_answer *shard_take(struct shard *s, const struct place *p, struct way w);

/* Put @a where an older answer to the same key is; returns that. */
struct dns_answer *shard_replace(struct shard *s, struct way w, struct dns_answer *a);

/* Put an answer where there is none to its key; there must be room. */
void shard_add(struct shard *s, const struct place *p, struct dns_answer *a);

/*
 * Let answers go until one of @bytes has room (with @entry: a place of its own
 * too).  Returns one of them, whose reference is the caller's, or NULL.
 */
struct dns_answer *shard_make_room(struct shard *s, uint64_t bytes, bool entry, uint64_t stale_ns, uint64_t now_ns);

/* May it be given still, be it as a stale one? */
static inline bool answer_is_kept(const struct dns_answer *a, uint64_t stale_ns, uint64_t now_ns)
{
	uint64_t end = a->born_ns + a->ttl * 1000000000ULL;

	return dns_answer_fresh(a, now_ns) || (dns_answer_is_result(a) && now_ns < end + stale_ns);
}

#endif
