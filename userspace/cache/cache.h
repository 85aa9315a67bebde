/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.h - answers by key, shared by all workers.
 *
 * Bounded by entries; split into shards by the hash of the name, each with its
 * own lock and its own clock hand for eviction, so that workers rarely meet.
 * Holds references to immutable answers: what a reader got stays valid after
 * it was replaced.  Asks no clock: now comes with each call.
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
 * Returns NULL when memory is out.
 */
struct cache *cache_new(size_t entries);
void cache_free(struct cache *c);

/**
 * Look up a live answer.
 *
 * Returns a reference for the caller, or NULL.  Counts the asking in the
 * answer.  An expired entry is dropped on the way.
 */
struct dns_answer *cache_get(struct cache *c, const struct dns_key *key, uint64_t now_ns);

/* The same for who has the hash of the key's name already. */
struct dns_answer *cache_get_hashed(struct cache *c, const struct dns_key *key, uint64_t hash, uint64_t now_ns);

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
 * with the same key, whose count of askings it inherits.  One cache at a time
 * may keep an answer.  Answers with ttl 0 are not kept.  When the shard is full the least wanted entry goes.
 */
void cache_put(struct cache *c, struct dns_answer *a, uint64_t now_ns);

/* Drop all answers of one name, whatever type and bits; returns how many. */
size_t cache_flush_name(struct cache *c, const uint8_t *lower, uint16_t len);

/* Drop everything; returns how many. */
size_t cache_flush_all(struct cache *c);

struct cache_stats {
	uint64_t entries;
	uint64_t bytes;			/* answers and table */
	uint64_t hits;
	uint64_t misses;
	uint64_t evicted;		/* live entries that had to go */
	uint64_t expired;
};
void cache_stats(struct cache *c, struct cache_stats *ret);

#endif
