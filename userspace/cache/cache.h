/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.h - answers by key, shared by all workers.
 *
 * Bounded by entries and by octets; split into shards by the hash of the name,
 * each with its own lock and its own queues of who goes next (cache/shard.h),
 * so that workers rarely meet.  Holds references to immutable answers: what a
 * reader got stays valid after it was replaced.  Asks no clock: now comes with
 * each call.
 *
 * An answer whose time is over stays for as long as it may be given as a stale
 * one (RFC 8767), and then goes when it is met or when room is needed.
 *
 * A look-up loads a line of the index, then an answer.  Who has many keys to
 * look up asks for these lines ahead: hash all, ask for the index, somewhat
 * later for the answers, somewhat later look up (base/row.h).
 */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dns/answer.h"

struct cache;

/**
 * Make a cache for @entries answers (at least one; 0 means that nothing is kept).
 *
 * @bytes_max  octets of answers and tables together; 0: no bound.  Where the
 *             tables alone would take more than half of it there are fewer entries.
 *
 * Returns NULL when memory is out.
 */
struct cache *cache_new(size_t entries, uint64_t bytes_max);
void cache_free(struct cache *c);

/* From now on answers are kept so long behind their end; 0, as at the beginning: not at all.  From any thread. */
void cache_keep_stale(struct cache *c, uint64_t ns);

/**
 * Look up a live answer: one to the key, else a cut of the same name.
 *
 * Returns a reference for the caller, or NULL.  Counts the asking in the
 * answer.  What is not kept any longer is dropped on the way.
 */
struct dns_answer *cache_get(struct cache *c, const struct dns_key *key, uint64_t now_ns);

/* The same for who has the hash of the key's name already. */
struct dns_answer *cache_get_hashed(struct cache *c, const struct dns_key *key, uint64_t hash, uint64_t now_ns);

/**
 * Look up a live cut of a name above the key's, the nearest one: it says that nothing is below (RFC 8020).
 *
 * A hash for each label, while there are any cuts at all.  Returns a reference, or NULL.
 */
struct dns_answer *cache_get_above(struct cache *c, const struct dns_key *key, uint64_t now_ns);

/* Look up an answer whose time is over and that is still kept; a reference, or NULL. */
struct dns_answer *cache_get_stale(struct cache *c, const struct dns_key *key, uint64_t now_ns);

/**
 * Note that renewing the answer to @key has failed, or takes too long, in its tried_s.
 *
 * Returns whether there is one, live or stale, that is kept.
 */
bool cache_failed(struct cache *c, const struct dns_key *key, uint64_t now_ns);

/* The hash of the key's name, good for as long as the cache lives. */
uint64_t cache_hash(const struct cache *c, const struct dns_key *key);

/*
 * Ask for the line of the index that a look-up of the key begins with; then, that
 * line having come, for the answers it points to.  Without a lock: nothing that
 * may have been freed meanwhile is read.
 */
void cache_ahead(const struct cache *c, const struct dns_key *key, uint64_t hash);
void cache_ahead_answer(const struct cache *c, const struct dns_key *key, uint64_t hash);

/**
 * Keep an answer (takes a reference of its own) in the place of an older one
 * with the same key, whose count of askings it inherits.
 *
 * One cache at a time may keep an answer.  Not kept: an answer with ttl 0, in
 * whose favour a stale one goes; a failure where there is a result, live or
 * stale; one that is bigger than a shard.  A cut takes the place of the answer
 * to its question, any other result that of the name's cut.  When the shard is
 * full the least wanted go.
 */
void cache_put(struct cache *c, struct dns_answer *a, uint64_t now_ns);

/* Drop all answers of one name, whatever type and bits; returns how many. */
size_t cache_flush_name(struct cache *c, const uint8_t *lower, uint16_t len);

/* Drop all answers of a name and of all names below; looks at every one. */
size_t cache_flush_below(struct cache *c, const uint8_t *lower, uint16_t len);

/* Drop everything; returns how many. */
size_t cache_flush_all(struct cache *c);

/**
 * Collect the answers of one name that are kept, whatever type and bits.
 *
 * Returns how many references were written, at most @max.
 */
unsigned cache_list_name(struct cache *c, const uint8_t *lower, uint16_t len, uint64_t now_ns,
			 struct dns_answer **ret, unsigned max);

struct cache_stats {
	uint64_t entries;
	uint64_t entries_max;
	uint64_t bytes;			/* answers and tables */
	uint64_t bytes_max;		/* 0: no bound */
	uint64_t hits;
	uint64_t misses;
	uint64_t covered;		/* of the misses, those that found a cut above */
	uint64_t stale;			/* of the misses, those that found a stale answer */
	uint64_t evicted;		/* live entries that had to go */
	uint64_t expired;
	uint64_t refused;		/* answers bigger than their share of the room */
};
void cache_stats(struct cache *c, struct cache_stats *ret);

#endif
