/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * index.h - where in a shard an answer is: buckets of tags.
 *
 * Name, type and bits choose the bucket, so that a name that is asked for all
 * its 65,536 types does not fill one.  A bucket is one line of the CPU's
 * caches: a look-up waits for it and for the answer that its tag points to,
 * and for no third.  A full bucket sends an answer on to the next one.
 *
 * Buckets stay where they are for as long as the cache lives, and their words
 * are written whole: so who asks for memory ahead may read them without the
 * lock.  What he reads may be past; he only has the CPU fetch what it points
 * to, which is no access and harms nobody when that is freed.
 *
 * An answer that is a cut is kept under type 0: it is one for all types.
 */
#ifndef CACHE_INDEX_H
#define CACHE_INDEX_H

#include <string.h>
#include "base/hash.h"
#include "dns/answer.h"

#define INDEX_LINE 64
#define INDEX_WAYS 7
#define INDEX_FILL 4			/* answers a bucket when the shard is full: one in fifty has to go on */

struct bucket {
	uint64_t tags;			/* an octet for each way, of the name; 0: nothing there; the uppermost: past */
	struct dns_answer *answer[INDEX_WAYS];
};

#define PAST     (1ULL << 8 * INDEX_WAYS)	/* answers that went on from here; PAST_MAX: so many or more, for good */
#define PAST_MAX UINT8_MAX
#define ALL_WAYS 0x0080808080808080ULL	/* a bit for each, as ways_with() returns them */

struct index {
	struct bucket *buckets;
	uint32_t count;			/* buckets */
};

/* A key and where it belongs. */
struct place {
	struct bucket *home;
	const uint8_t *name;
	uint64_t hash;			/* of the name */
	uint16_t name_len;
	uint16_t qtype;
	uint8_t bits;
	uint8_t tag;
};

/* Where an answer is. */
struct way {
	struct bucket *bucket;
	unsigned at;
};

static inline uint8_t tag_of(uint64_t hash)
{
	return (uint8_t)(1 + (uint8_t)hash % UINT8_MAX);
}

static inline uint16_t type_of(const struct dns_answer *a)
{
	return a->cut ? 0 : a->key.qtype;
}

static inline struct bucket *index_home(const struct index *x, uint64_t hash, uint16_t qtype, uint8_t bits)
{
	return x->buckets + ((hash_mix(hash, (uint64_t)qtype << 8 | bits) >> 32) * x->count >> 32);
}

static inline struct place index_place(const struct index *x, uint64_t hash, const uint8_t *name, uint16_t name_len,
				       uint16_t qtype, uint8_t bits)
{
	return (struct place){ index_home(x, hash, qtype, bits), name, hash, name_len, qtype, bits, tag_of(hash) };
}

/* The place of another type of the same name. */
static inline struct place index_other(const struct index *x, const struct place *p, uint16_t qtype)
{
	return index_place(x, p->hash, p->name, p->name_len, qtype, p->bits);
}

static inline unsigned past(const struct bucket *b)
{
	return (unsigned)(b->tags / PAST);
}

static inline struct bucket *index_next(const struct index *x, struct bucket *b)
{
	return ++b == x->buckets + x->count ? x->buckets : b;
}

/* Words are written whole, for who reads them without the lock. */
static inline void set_tags(struct bucket *b, uint64_t tags)
{
	__atomic_store_n(&b->tags, tags, __ATOMIC_RELAXED);
}

static inline void set_answer(struct bucket *b, unsigned at, struct dns_answer *a)
{
	__atomic_store_n(&b->answer[at], a, __ATOMIC_RELAXED);
}

/* The ways whose tag is @tag: bit 8 n + 7 is set for way n.  All at once: which one it is, no branch can guess. */
static inline uint64_t ways_of(uint64_t tags, uint8_t tag)
{
	const uint64_t ones = 0x0101010101010101, low7 = 0x7f * ones;
	uint64_t differ = tags ^ tag * ones;

	return ~(((differ & low7) + low7) | differ) & ALL_WAYS;
}

static inline uint64_t ways_with(const struct bucket *b, uint8_t tag)
{
	return ways_of(b->tags, tag);
}

static inline unsigned first_way(uint64_t ways)
{
	return (unsigned)__builtin_ctzll(ways) / 8;
}

static inline bool is_to(const struct dns_answer *a, const struct place *p)
{
	return type_of(a) == p->qtype && a->key.bits == p->bits && a->key.name_len == p->name_len &&
	       !memcmp(a->key.name, p->name, p->name_len);
}

static inline bool index_find(const struct index *x, const struct place *p, struct way *ret)
{
	struct bucket *b = p->home;

	for (uint32_t n = 0; n < x->count; n++, b = index_next(x, b)) {
		for (uint64_t ways = ways_with(b, p->tag); ways; ways &= ways - 1) {
			struct dns_answer *a = b->answer[first_way(ways)];

			/* its second line comes while the first is compared */
			__builtin_prefetch((const char *)a + INDEX_LINE);
			if (!is_to(a, p))
				continue;
			*ret = (struct way){ b, first_way(ways) };
			return true;
		}
		if (!past(b))
			break;
	}
	return false;
}

static inline void index_add(const struct index *x, const struct place *p, struct dns_answer *a)
{
	struct bucket *b = p->home;
	unsigned at;

	for (; !ways_with(b, 0); b = index_next(x, b))
		set_tags(b, b->tags + (past(b) < PAST_MAX ? PAST : 0));
	at = first_way(ways_with(b, 0));
	set_answer(b, at, a);
	set_tags(b, b->tags | (uint64_t)p->tag << 8 * at);
}

static inline void index_remove(const struct index *x, const struct place *p, struct way w)
{
	set_tags(w.bucket, w.bucket->tags & ~(0xffULL << 8 * w.at));
	for (struct bucket *b = p->home; b != w.bucket; b = index_next(x, b))
		set_tags(b, b->tags - (past(b) < PAST_MAX ? PAST : 0));
}

#endif
