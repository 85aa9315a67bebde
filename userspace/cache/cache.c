/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.c - shards of slots, each found through a table of chains.
 *
 * The name alone chooses the shard, so that flushing a name locks one of them;
 * name, type and bits choose the chain, so that a name that is asked for all
 * its 65,536 types does not make one long chain.  A slot is on one chain or on
 * the free list.  Memory of slots is asked for once and touched as it fills.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/random.h"
#include "cache/cache.h"

#define SHARDS_MAX  64
#define SHARD_LEAST 64			/* entries below which a shard is not worth a lock of its own */
#define NONE        UINT32_MAX

struct slot {
	struct dns_answer *answer;	/* NULL: free */
	uint32_t next;			/* on the chain or the free list */
	uint32_t chain;			/* hash of the whole key */
	uint32_t name;			/* hash of the name */
	bool wanted;			/* asked for since the hand last came by */
};

struct shard {
	pthread_mutex_t lock;		/* guards all below, and what slots and heads point to */
	struct slot *slots;
	uint32_t *heads;		/* first slot of each chain; a power of two of them */
	uint32_t head_mask;
	uint32_t size;			/* slots */
	uint32_t fresh;			/* slots that were never used: from here on */
	uint32_t free;			/* list of slots used before */
	uint32_t hand;
	struct cache_stats stats;	/* bytes: of answers only */
};

struct cache {
	struct hash_key key;
	unsigned shards;		/* a power of two; 0: keeps nothing */
	struct shard *shard;
	_Atomic uint64_t misses;	/* of a cache that keeps nothing */
};

/* Where a key belongs. */
struct place {
	struct shard *shard;
	uint32_t chain;
	uint32_t name;
};

static uint64_t name_hash(const struct cache *c, const uint8_t *name, uint16_t len)
{
	return hash_octets(&c->key, name, len);
}

static struct shard *shard_of(struct cache *c, uint64_t hash)
{
	return &c->shard[(hash >> 32) & (c->shards - 1)];
}

static struct place place_of(struct cache *c, const struct dns_key *key)
{
	uint64_t hash = name_hash(c, key->name, key->name_len);

	return (struct place){ shard_of(c, hash), (uint32_t)hash_mix(hash, (uint64_t)key->qtype << 8 | key->bits),
			       (uint32_t)hash };
}

/* ---- one shard, under its lock ------------------------------------------ */

static uint32_t *slot_find(struct shard *s, const struct place *p, const struct dns_key *key)
{
	uint32_t *link = &s->heads[p->chain & s->head_mask];

	for (; *link != NONE; link = &s->slots[*link].next) {
		struct slot *slot = &s->slots[*link];

		if (slot->chain == p->chain && dns_key_same(&slot->answer->key, key))
			return link;
	}
	return NULL;
}

/* Empty the slot that @link leads to; the reference is the caller's to drop, on the query path outside the lock. */
static struct dns_answer *slot_take(struct shard *s, uint32_t *link)
{
	uint32_t i = *link;
	struct dns_answer *a = s->slots[i].answer;

	*link = s->slots[i].next;
	s->slots[i].answer = NULL;
	s->slots[i].next = s->free;
	s->free = i;
	s->stats.entries--;
	s->stats.bytes -= dns_answer_size(a);
	return a;
}

static uint32_t *link_to(struct shard *s, uint32_t i)
{
	uint32_t *link = &s->heads[s->slots[i].chain & s->head_mask];

	while (*link != i)
		link = &s->slots[*link].next;
	return link;
}

/*
 * Make room in a full shard: the first entry under the hand that is dead or
 * was not asked for since the last round.  Each step clears a mark, so the
 * second round ends it.
 */
static struct dns_answer *evict(struct shard *s, uint64_t now_ns)
{
	struct slot *slot;

	for (;;) {
		uint32_t i = s->hand;

		s->hand = i + 1 == s->size ? 0 : i + 1;
		slot = &s->slots[i];
		if (!dns_answer_fresh(slot->answer, now_ns)) {
			s->stats.expired++;
			return slot_take(s, link_to(s, i));
		}
		if (!slot->wanted) {
			s->stats.evicted++;
			return slot_take(s, link_to(s, i));
		}
		slot->wanted = false;
	}
}

static uint32_t slot_new(struct shard *s)
{
	uint32_t i = s->free;

	if (i == NONE)
		return s->fresh++;
	s->free = s->slots[i].next;
	return i;
}

static void slot_fill(struct shard *s, const struct place *p, struct dns_answer *a)
{
	uint32_t i = slot_new(s), *head = &s->heads[p->chain & s->head_mask];

	s->slots[i] = (struct slot){ .answer = a, .next = *head, .chain = p->chain, .name = p->name };
	*head = i;
	s->stats.entries++;
	s->stats.bytes += dns_answer_size(a);
}

/* ---- the cache ---------------------------------------------------------- */

static int shard_init(struct shard *s, uint32_t size)
{
	uint32_t heads = 1;

	while (heads < size)
		heads *= 2;
	s->size = size;
	s->free = NONE;
	s->head_mask = heads - 1;
	s->slots = calloc(size, sizeof(*s->slots));
	s->heads = malloc(heads * sizeof(*s->heads));
	if (!s->slots || !s->heads)
		return -1;
	memset(s->heads, 0xff, heads * sizeof(*s->heads));
	return 0;
}

struct cache *cache_new(size_t entries)
{
	struct cache *c = calloc(1, sizeof(*c));
	unsigned i, shards = 1;

	if (!c || !entries)
		return c;
	if (entries > UINT32_MAX / 2)
		entries = UINT32_MAX / 2;
	while (shards < SHARDS_MAX && entries / (shards * 2) >= SHARD_LEAST)
		shards *= 2;
	random_fill(&c->key, sizeof(c->key));
	c->shard = calloc(shards, sizeof(*c->shard));
	if (!c->shard)
		goto fail;
	for (; c->shards < shards; c->shards++) {
		i = c->shards;
		pthread_mutex_init(&c->shard[i].lock, NULL);
		if (shard_init(&c->shard[i], (uint32_t)(entries / shards + (i < entries % shards)))) {
			c->shards++;
			goto fail;
		}
	}
	return c;
fail:
	cache_free(c);
	return NULL;
}

void cache_free(struct cache *c)
{
	unsigned i;
	uint32_t j;

	if (!c)
		return;
	for (i = 0; i < c->shards; i++) {
		struct shard *s = &c->shard[i];

		for (j = 0; j < s->fresh; j++)
			dns_answer_unref(s->slots[j].answer);
		free(s->slots);
		free(s->heads);
		pthread_mutex_destroy(&s->lock);
	}
	free(c->shard);
	free(c);
}

struct dns_answer *cache_get(struct cache *c, const struct dns_key *key, uint64_t now_ns)
{
	struct dns_answer *a = NULL, *dead = NULL;
	struct place p;
	uint32_t *link;

	if (!c->shards) {
		atomic_fetch_add_explicit(&c->misses, 1, memory_order_relaxed);
		return NULL;
	}
	p = place_of(c, key);
	pthread_mutex_lock(&p.shard->lock);
	link = slot_find(p.shard, &p, key);
	if (link && dns_answer_fresh(p.shard->slots[*link].answer, now_ns)) {
		p.shard->slots[*link].wanted = true;
		a = dns_answer_ref(p.shard->slots[*link].answer);
		atomic_fetch_add_explicit(&a->asked, 1, memory_order_relaxed);
		p.shard->stats.hits++;
	} else {
		p.shard->stats.misses++;
		if (link) {
			dead = slot_take(p.shard, link);
			p.shard->stats.expired++;
		}
	}
	pthread_mutex_unlock(&p.shard->lock);
	dns_answer_unref(dead);
	return a;
}

void cache_put(struct cache *c, struct dns_answer *a, uint64_t now_ns)
{
	struct dns_answer *old = NULL;
	struct place p;
	uint32_t *link;

	if (!c->shards || !dns_answer_fresh(a, now_ns))
		return;
	p = place_of(c, &a->key);
	dns_answer_ref(a);
	pthread_mutex_lock(&p.shard->lock);
	link = slot_find(p.shard, &p, &a->key);
	if (link) {
		struct slot *slot = &p.shard->slots[*link];

		old = slot->answer;
		slot->answer = a;
		p.shard->stats.bytes += dns_answer_size(a) - dns_answer_size(old);
		if (old != a)
			atomic_store_explicit(&a->asked, atomic_load_explicit(&old->asked, memory_order_relaxed),
					      memory_order_relaxed);
	} else {
		if (p.shard->stats.entries == p.shard->size)
			old = evict(p.shard, now_ns);
		slot_fill(p.shard, &p, a);
	}
	pthread_mutex_unlock(&p.shard->lock);
	dns_answer_unref(old);
}

/* Drop the entries whose name is @name (all when NULL); returns how many. */
static size_t shard_flush(struct shard *s, const uint8_t *name, uint16_t len, uint32_t hash)
{
	struct dns_answer *a;
	size_t n = 0;
	uint32_t i;

	pthread_mutex_lock(&s->lock);
	for (i = 0; i < s->fresh; i++) {
		a = s->slots[i].answer;
		if (!a)
			continue;
		if (name && (s->slots[i].name != hash || a->key.name_len != len || memcmp(a->key.name, name, len)))
			continue;
		dns_answer_unref(slot_take(s, link_to(s, i)));
		n++;
	}
	pthread_mutex_unlock(&s->lock);
	return n;
}

size_t cache_flush_name(struct cache *c, const uint8_t *lower, uint16_t len)
{
	uint64_t hash;

	if (!c->shards)
		return 0;
	hash = name_hash(c, lower, len);
	return shard_flush(shard_of(c, hash), lower, len, (uint32_t)hash);
}

size_t cache_flush_all(struct cache *c)
{
	size_t n = 0;
	unsigned i;

	for (i = 0; i < c->shards; i++)
		n += shard_flush(&c->shard[i], NULL, 0, 0);
	return n;
}

void cache_stats(struct cache *c, struct cache_stats *ret)
{
	unsigned i;

	*ret = (struct cache_stats){ .misses = atomic_load_explicit(&c->misses, memory_order_relaxed) };
	ret->bytes = sizeof(*c) + c->shards * sizeof(*c->shard);
	for (i = 0; i < c->shards; i++) {
		struct shard *s = &c->shard[i];

		pthread_mutex_lock(&s->lock);
		ret->entries += s->stats.entries;
		ret->bytes += s->stats.bytes + s->size * sizeof(*s->slots) +
			      (s->head_mask + 1ULL) * sizeof(*s->heads);
		ret->hits += s->stats.hits;
		ret->misses += s->stats.misses;
		ret->evicted += s->stats.evicted;
		ret->expired += s->stats.expired;
		pthread_mutex_unlock(&s->lock);
	}
}
