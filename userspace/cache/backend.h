/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backend.h - what stands behind the cache and outlives the process.
 *
 * The cache hands on what it keeps, by a table of functions; it never reads
 * from there.  Who stands there reads back at the start, by cache_load(), and
 * asks which answers are still worth their room, by cache_peek().  An answer
 * outside the process is octets: cache_pack() and cache_unpack(), where times are
 * of the wall clock, since no other one goes on while the machine is off.
 */
#ifndef CACHE_BACKEND_H
#define CACHE_BACKEND_H

#include "cache/cache.h"

struct cache_backend {
	/*
	 * An answer was kept, in the place of any older one to its key.  From any
	 * thread, outside the cache's locks; takes a reference of its own if it wants
	 * one; must never wait.
	 */
	void (*put)(void *ctx, struct dns_answer *a);
	void *ctx;
};

/* From now on @b (copied) hears of what is kept.  Before other threads use the cache. */
void cache_set_backend(struct cache *c, const struct cache_backend *b);

/**
 * Keep an answer that was read back, live or stale, unless there is one to its key, a cut of its name, or no room:
 * nothing goes for its sake.
 *
 * The backend does not hear of it.  Returns false when there is no room.
 */
bool cache_load(struct cache *c, struct dns_answer *a, uint64_t now_ns);

/* Look up a live answer to just that key (a cut's has type 0) without counting that; a reference, or NULL. */
struct dns_answer *cache_peek(struct cache *c, const struct dns_key *key, uint64_t now_ns);

/* ---- answers as octets ---- */

/* Both clocks at one moment. */
struct cache_moment {
	uint64_t coarse_ns;		/* of struct dns_answer.born_ns */
	int64_t wall_ms;		/* since 1970 */
};

#define CACHE_PACK_VERSION 2

/* Fixed part of a packed answer; name and body follow.  In the order of octets of the machine. */
struct cache_packed {
	uint32_t size;			/* of all, this included */
	uint32_t ttl;
	int64_t born_ms;		/* since 1970 */
	uint16_t name_len;
	uint16_t qtype;
	uint16_t rcode;
	int16_t ede;
	uint16_t answers;
	uint16_t authorities;
	uint16_t body_len;
	uint16_t asked;
	uint8_t bits;			/* of the key */
	uint8_t flags;			/* enum cache_packed_flag */
	uint8_t zero[6];
};

enum cache_packed_flag { CACHE_PACKED_AA = 1, CACHE_PACKED_AD = 2, CACHE_PACKED_CUT = 4 };

/* Octets that cache_pack() writes. */
size_t cache_packed_size(const struct dns_answer *a);

/* Write @a to @to, which has room. */
void cache_pack(const struct dns_answer *a, const struct cache_moment *now, uint8_t *to);

/**
 * Look at the packed answer at @at, of which at most @left octets are there.
 *
 * Returns its fixed part in @ret, or -EBADMSG when the sizes in it do not agree.
 */
int cache_packed_read(const uint8_t *at, size_t left, struct cache_packed *ret);

/* The key that the cache has a packed answer under, which cache_packed_read() took: a cut's is of type 0. */
void cache_packed_key(const uint8_t *at, const struct cache_packed *p, struct dns_key *ret);

/* When its time is over, as milliseconds since 1970. */
static inline int64_t cache_packed_end(const struct cache_packed *p)
{
	return p->born_ms + (int64_t)p->ttl * 1000;
}

/**
 * Make the answer again, as old as it is by the wall clock.
 *
 * Returns 0 with a reference for the caller; -ESTALE for one from the future
 * (the clock was set back: nobody knows its age); -EBADMSG when the body does
 * not parse; -ENOMEM.
 */
int cache_unpack(const uint8_t *at, const struct cache_packed *p, const struct cache_moment *now,
		 struct dns_answer **ret);

#endif
