/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.c - shards, each with an index of buckets and a ring of slots.
 *
 * The name alone chooses the shard, so that flushing a name locks one of them;
 * name, type and bits choose the bucket, so that a name that is asked for all
 * its 65,536 types does not fill one.  A bucket is one line of the CPU's
 * caches: a look-up waits for it and for the answer that its tag points to,
 * and for no third.  A full bucket sends an answer on to the next one.  The
 * ring keeps the order of arrival for the hand that evicts.
 *
 * Buckets stay where they are for as long as the cache lives, and their words
 * are written whole: so who asks for memory ahead may read them without the
 * lock.  What he reads may be past; he only has the CPU fetch what it points
 * to, which is no access and harms nobody when that is freed.
 */
#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/slab.h"
#include "cache/cache.h"

#define SHARDS_MAX  64
#define SHARD_LEAST 64			/* entries below which a shard is not worth a lock of its own */
#define LINE        64
#define WAYS        7
#define FILL        4			/* answers a bucket when the shard is full: one in fifty has to go on */
#define NONE        UINT32_MAX

struct bucket {
	uint64_t tags;			/* an octet for each way, of the name; 0: nothing there; the uppermost: past */
	struct dns_answer *answer[WAYS];
};

#define PAST     (1ULL << 8 * WAYS)	/* answers that went on from here; PAST_MAX: so many or more, for good */
#define PAST_MAX UINT8_MAX
#define ALL_WAYS 0x0080808080808080ULL	/* a bit for each, as ways_with() returns them */

/* An answer's place in the order of arrival, which it knows; the hand comes by only when none is free. */
union slot {
	struct dns_answer *answer;
	uint32_t next;			/* free */
};

struct shard {
	alignas(LINE) pthread_mutex_t lock;	/* guards all below, and what buckets and slots hold */
	struct bucket *buckets;
	uint32_t count;			/* buckets */
	uint32_t size;			/* slots */
	struct cache_stats stats;	/* bytes: of answers only */
	union slot *slots;
	uint32_t fresh;			/* slots that were never used: from here on */
	uint32_t free;			/* list of slots used before */
	uint32_t hand;
};

struct cache {
	struct hash_key key;
	unsigned shards;		/* a power of two; 0: keeps nothing */
	struct shard *shard;
	struct bucket *buckets;		/* of all shards */
	size_t buckets_size;		/* octets */
	_Atomic uint64_t misses;	/* of a cache that keeps nothing */
};

/* A key and where it belongs. */
struct place {
	struct shard *shard;
	struct bucket *home;
	const uint8_t *name;
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

static struct shard *shard_of(const struct cache *c, uint64_t hash)
{
	return &c->shard[(hash >> 32) & (c->shards - 1)];
}

static uint8_t tag_of(uint64_t hash)
{
	return (uint8_t)(1 + (uint8_t)hash % UINT8_MAX);
}

static struct bucket *home_of(const struct shard *s, uint64_t hash, uint16_t qtype, uint8_t bits)
{
	return s->buckets + ((hash_mix(hash, (uint64_t)qtype << 8 | bits) >> 32) * s->count >> 32);
}

static struct place place_of_answer(const struct cache *c, const struct dns_answer *a)
{
	uint64_t hash = hash_octets(&c->key, a->key.name, a->key.name_len);
	struct shard *s = shard_of(c, hash);

	return (struct place){ s, home_of(s, hash, a->key.qtype, a->key.bits), a->key.name, a->key.name_len,
			       a->key.qtype, a->key.bits, tag_of(hash) };
}

static struct place place_of_key(const struct cache *c, const struct dns_key *key, uint64_t hash)
{
	struct shard *s = shard_of(c, hash);

	return (struct place){ s, home_of(s, hash, key->qtype, key->bits), key->name, key->name_len, key->qtype,
			       key->bits, tag_of(hash) };
}

/* ---- one shard's index, under its lock ---------------------------------- */

static unsigned past(const struct bucket *b)
{
	return (unsigned)(b->tags / PAST);
}

static struct bucket *next(const struct shard *s, struct bucket *b)
{
	return ++b == s->buckets + s->count ? s->buckets : b;
}

/* Words are written whole, for who reads them without the lock. */
static void set_tags(struct bucket *b, uint64_t tags)
{
	__atomic_store_n(&b->tags, tags, __ATOMIC_RELAXED);
}

static void set_answer(struct bucket *b, unsigned at, struct dns_answer *a)
{
	__atomic_store_n(&b->answer[at], a, __ATOMIC_RELAXED);
}

/* The ways whose tag is @tag: bit 8 n + 7 is set for way n.  All at once: which one it is, no branch can guess. */
static uint64_t ways_of(uint64_t tags, uint8_t tag)
{
	const uint64_t ones = 0x0101010101010101, low7 = 0x7f * ones;
	uint64_t differ = tags ^ tag * ones;

	return ~(((differ & low7) + low7) | differ) & ALL_WAYS;
}

static uint64_t ways_with(const struct bucket *b, uint8_t tag)
{
	return ways_of(b->tags, tag);
}

static unsigned first(uint64_t ways)
{
	return (unsigned)__builtin_ctzll(ways) / 8;
}

static bool is_to(const struct dns_answer *a, const struct place *p)
{
	return a->key.qtype == p->qtype && a->key.bits == p->bits && a->key.name_len == p->name_len &&
	       !memcmp(a->key.name, p->name, p->name_len);
}

static bool find(const struct place *p, struct way *ret)
{
	struct bucket *b = p->home;

	for (uint32_t n = 0; n < p->shard->count; n++, b = next(p->shard, b)) {
		for (uint64_t ways = ways_with(b, p->tag); ways; ways &= ways - 1) {
			struct dns_answer *a = b->answer[first(ways)];

			/* its second line comes while the first is compared */
			__builtin_prefetch((const char *)a + LINE);
			if (!is_to(a, p))
				continue;
			*ret = (struct way){ b, first(ways) };
			return true;
		}
		if (!past(b))
			break;
	}
	return false;
}

static void index_add(const struct place *p, struct dns_answer *a)
{
	struct bucket *b = p->home;
	unsigned at;

	for (; !ways_with(b, 0); b = next(p->shard, b))
		set_tags(b, b->tags + (past(b) < PAST_MAX ? PAST : 0));
	at = first(ways_with(b, 0));
	set_answer(b, at, a);
	set_tags(b, b->tags | (uint64_t)p->tag << 8 * at);
}

static void index_remove(const struct place *p, struct way w)
{
	set_tags(w.bucket, w.bucket->tags & ~(0xffULL << 8 * w.at));
	for (struct bucket *b = p->home; b != w.bucket; b = next(p->shard, b))
		set_tags(b, b->tags - (past(b) < PAST_MAX ? PAST : 0));
}

/* ---- one shard, under its lock ------------------------------------------ */

/* Let go of the answer at @w; the reference is the caller's to drop, on the query path outside the lock. */
static struct dns_answer *take(const struct place *p, struct way w)
{
	struct dns_answer *a = w.bucket->answer[w.at];
	struct shard *s = p->shard;

	index_remove(p, w);
	s->slots[a->slot].next = s->free;
	s->free = a->slot;
	s->stats.entries--;
	s->stats.bytes -= dns_answer_size(a);
	return a;
}

/*
 * Make room in a full shard: the first entry under the hand that is dead or
 * was not asked for since the last round.  Each step clears a mark, so the
 * second round ends it.
 */
static struct dns_answer *evict(const struct cache *c, struct shard *s, uint64_t now_ns)
{
	struct dns_answer *a;
	struct place p;
	struct way w;

	for (;;) {
		a = s->slots[s->hand].answer;
		s->hand = s->hand + 1 == s->size ? 0 : s->hand + 1;
		if (!dns_answer_fresh(a, now_ns)) {
			s->stats.expired++;
			break;
		}
		if (!a->wanted) {
			s->stats.evicted++;
			break;
		}
		a->wanted = false;
	}
	p = place_of_answer(c, a);
	return bug_if(!find(&p, &w)) ? NULL : take(&p, w);
}

static void slot_fill(struct shard *s, struct dns_answer *a)
{
	uint32_t i = s->free;

	if (i == NONE)
		i = s->fresh++;
	else
		s->free = s->slots[i].next;
	s->slots[i].answer = a;
	a->slot = i;
	a->wanted = false;
}

static void add(const struct place *p, struct dns_answer *a)
{
	slot_fill(p->shard, a);
	index_add(p, a);
	p->shard->stats.entries++;
	p->shard->stats.bytes += dns_answer_size(a);
}

/* Put @a where an older answer to the same key is; returns that. */
static struct dns_answer *replace(const struct place *p, struct way w, struct dns_answer *a)
{
	struct dns_answer *old = w.bucket->answer[w.at];

	if (old == a)
		return old;
	atomic_store_explicit(&a->asked, atomic_load_explicit(&old->asked, memory_order_relaxed), memory_order_relaxed);
	a->slot = old->slot;
	a->wanted = old->wanted;
	p->shard->slots[a->slot].answer = a;
	set_answer(w.bucket, w.at, a);
	p->shard->stats.bytes += dns_answer_size(a) - dns_answer_size(old);
	return old;
}

/* ---- the cache ---------------------------------------------------------- */

/* Shard @i of @shards gets so many of @entries. */
static uint32_t share(size_t entries, unsigned shards, unsigned i)
{
	return (uint32_t)(entries / shards + (i < entries % shards));
}

static uint32_t buckets_for(uint32_t size)
{
	return size / FILL + 1;
}

static int shard_init(struct shard *s, uint32_t size, struct bucket *buckets)
{
	s->slots = malloc(size * sizeof(*s->slots));
	if (!s->slots)
		return -1;
	pthread_mutex_init(&s->lock, NULL);
	s->size = size;
	s->free = NONE;
	s->buckets = buckets;
	s->count = buckets_for(size);
	return 0;
}

struct cache *cache_new(size_t entries)
{
	struct cache *c = calloc(1, sizeof(*c));
	unsigned i, shards = 1;
	struct bucket *at;

	if (!c || !entries)
		return c;
	if (entries > UINT32_MAX / 2)
		entries = UINT32_MAX / 2;
	while (shards < SHARDS_MAX && entries / (shards * 2) >= SHARD_LEAST)
		shards *= 2;
	random_fill(&c->key, sizeof(c->key));
	for (i = 0; i < shards; i++)
		c->buckets_size += buckets_for(share(entries, shards, i)) * sizeof(*c->buckets);
	c->buckets = at = huge_map(c->buckets_size);
	c->shard = aligned_alloc(LINE, shards * sizeof(*c->shard));
	if (!c->buckets || !c->shard)
		goto fail;
	memset(c->shard, 0, shards * sizeof(*c->shard));
	for (; c->shards < shards; c->shards++) {
		if (shard_init(&c->shard[c->shards], share(entries, shards, c->shards), at))
			goto fail;
		at += c->shard[c->shards].count;
	}
	return c;
fail:
	cache_free(c);
	return NULL;
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	cache_flush_all(c);
	for (unsigned i = 0; i < c->shards; i++) {
		free(c->shard[i].slots);
		pthread_mutex_destroy(&c->shard[i].lock);
	}
	huge_unmap(c->buckets, c->buckets_size);
	free(c->shard);
	free(c);
}

uint64_t cache_hash(const struct cache *c, const struct dns_key *key)
{
	return hash_octets(&c->key, key->name, key->name_len);
}

void cache_ahead(const struct cache *c, const struct dns_key *key, uint64_t hash)
{
	struct bucket *home;

	if (!c->shards)
		return;
	home = home_of(shard_of(c, hash), hash, key->qtype, key->bits);
	/* the next one too: so few stand there, but they are what would be waited for */
	__builtin_prefetch(home);
	__builtin_prefetch(next(shard_of(c, hash), home));
}

/* Ask for the answers in @b with the tag; true when there are none and others went on from here. */
static bool ahead_ways(const struct bucket *b, uint8_t tag)
{
	uint64_t tags = __atomic_load_n(&b->tags, __ATOMIC_RELAXED), ways = ways_of(tags, tag);
	bool none = !ways;
	const char *a;

	for (; ways; ways &= ways - 1) {
		a = (const char *)__atomic_load_n(&b->answer[first(ways)], __ATOMIC_RELAXED);
		__builtin_prefetch(a);
		__builtin_prefetch(a + LINE);
	}
	return none && tags >= PAST;
}

/* What stands further on than in the second bucket comes when it is looked for. */
void cache_ahead_answer(const struct cache *c, const struct dns_key *key, uint64_t hash)
{
	struct bucket *home;

	if (!c->shards)
		return;
	home = home_of(shard_of(c, hash), hash, key->qtype, key->bits);
	if (ahead_ways(home, tag_of(hash)))
		ahead_ways(next(shard_of(c, hash), home), tag_of(hash));
}

struct dns_answer *cache_get(struct cache *c, const struct dns_key *key, uint64_t now_ns)
{
	uint64_t hash = cache_hash(c, key);

	cache_ahead(c, key, hash);
	return cache_get_hashed(c, key, hash, now_ns);
}

struct dns_answer *cache_get_hashed(struct cache *c, const struct dns_key *key, uint64_t hash, uint64_t now_ns)
{
	struct dns_answer *a = NULL, *dead = NULL;
	struct place p;
	struct way w;

	if (!c->shards) {
		atomic_fetch_add_explicit(&c->misses, 1, memory_order_relaxed);
		return NULL;
	}
	p = place_of_key(c, key, hash);
	pthread_mutex_lock(&p.shard->lock);
	if (!find(&p, &w)) {
		p.shard->stats.misses++;
	} else if (dns_answer_fresh(w.bucket->answer[w.at], now_ns)) {
		a = dns_answer_ref(w.bucket->answer[w.at]);
		a->wanted = true;
		/* who counts has the lock, so nothing is lost between the two */
		atomic_store_explicit(&a->asked, atomic_load_explicit(&a->asked, memory_order_relaxed) + 1,
				      memory_order_relaxed);
		p.shard->stats.hits++;
	} else {
		dead = take(&p, w);
		p.shard->stats.misses++;
		p.shard->stats.expired++;
	}
	pthread_mutex_unlock(&p.shard->lock);
	dns_answer_unref(dead);
	return a;
}

void cache_put(struct cache *c, struct dns_answer *a, uint64_t now_ns)
{
	struct dns_answer *old = NULL;
	struct place p;
	struct way w;

	if (!c->shards || !dns_answer_fresh(a, now_ns))
		return;
	p = place_of_answer(c, a);
	dns_answer_ref(a);
	pthread_mutex_lock(&p.shard->lock);
	if (find(&p, &w)) {
		old = replace(&p, w, a);
	} else if (p.shard->stats.entries < p.shard->size || (old = evict(c, p.shard, now_ns))) {
		add(&p, a);
	} else {
		old = a;		/* not kept */
	}
	pthread_mutex_unlock(&p.shard->lock);
	dns_answer_unref(old);
}

/* Drop the entries whose name is @name (all when NULL); returns how many. */
static size_t shard_flush(struct cache *c, struct shard *s, const uint8_t *name, uint16_t len, uint8_t tag)
{
	size_t n = 0;

	pthread_mutex_lock(&s->lock);
	for (struct bucket *b = s->buckets; b < s->buckets + s->count; b++) {
		uint64_t ways = name ? ways_with(b, tag) : ways_with(b, 0) ^ ALL_WAYS;

		for (; ways; ways &= ways - 1) {
			struct dns_answer *a = b->answer[first(ways)];
			struct place p;

			if (name && (a->key.name_len != len || memcmp(a->key.name, name, len)))
				continue;
			p = place_of_answer(c, a);
			dns_answer_unref(take(&p, (struct way){ b, first(ways) }));
			n++;
		}
	}
	pthread_mutex_unlock(&s->lock);
	return n;
}

size_t cache_flush_name(struct cache *c, const uint8_t *lower, uint16_t len)
{
	uint64_t hash;

	if (!c->shards)
		return 0;
	hash = hash_octets(&c->key, lower, len);
	return shard_flush(c, shard_of(c, hash), lower, len, tag_of(hash));
}

size_t cache_flush_all(struct cache *c)
{
	size_t n = 0;
	unsigned i;

	for (i = 0; i < c->shards; i++)
		n += shard_flush(c, &c->shard[i], NULL, 0, 0);
	return n;
}

void cache_stats(struct cache *c, struct cache_stats *ret)
{
	unsigned i;

	*ret = (struct cache_stats){ .misses = atomic_load_explicit(&c->misses, memory_order_relaxed) };
	ret->bytes = sizeof(*c) + c->shards * sizeof(*c->shard) + c->buckets_size;
	for (i = 0; i < c->shards; i++) {
		struct shard *s = &c->shard[i];

		pthread_mutex_lock(&s->lock);
		ret->entries += s->stats.entries;
		ret->bytes += s->stats.bytes + s->size * sizeof(*s->slots);
		ret->hits += s->stats.hits;
		ret->misses += s->stats.misses;
		ret->evicted += s->stats.evicted;
		ret->expired += s->stats.expired;
		pthread_mutex_unlock(&s->lock);
	}
}
