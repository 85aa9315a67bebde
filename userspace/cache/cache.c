/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.c - the cache out of its shards.
 *
 * The name alone chooses the shard, so that what is known of a name, and
 * flushing it, needs one lock.
 */
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "base/slab.h"
#include "cache/backend.h"
#include "cache/shard.h"

#define SHARDS_MAX  64
#define SHARD_LEAST 64			/* entries below which a shard is not worth a lock of its own */
#define SHARD_BYTES (256 * 1024)	/* the same for octets: two of the biggest answers have room */
#define ENTRY_BYTES (sizeof(struct bucket) / INDEX_FILL + sizeof(struct slot) + sizeof(uint32_t))

struct cache {
	struct hash_key key;
	unsigned shards;		/* a power of two; 0: keeps nothing */
	struct shard *shard;
	struct bucket *buckets;		/* of all shards */
	size_t buckets_size;		/* octets */
	uint64_t bytes_max;
	size_t entries;
	_Atomic uint64_t stale_ns;
	_Atomic uint64_t misses;	/* of a cache that keeps nothing */
	struct cache_backend backend;	/* put is NULL: there is none */
};

static struct shard *shard_of(const struct cache *c, uint64_t hash)
{
	return &c->shard[(hash >> 32) & (c->shards - 1)];
}

static uint64_t stale_of(const struct cache *c)
{
	return atomic_load_explicit(&c->stale_ns, memory_order_relaxed);
}

static struct place place_of_key(const struct shard *s, const struct dns_key *key, uint64_t hash)
{
	return index_place(&s->index, hash, key->name, key->name_len, key->qtype, key->bits);
}

static struct dns_answer *answer_at(struct way w)
{
	return w.bucket->answer[w.at];
}

/* ---- making it ---------------------------------------------------------- */

/* Shard @i of @shards gets so many of @entries. */
static uint32_t share(size_t entries, unsigned shards, unsigned i)
{
	return (uint32_t)(entries / shards + (i < entries % shards));
}

static uint32_t buckets_for(uint32_t size)
{
	return size / INDEX_FILL + 1;
}

static size_t entries_for(size_t entries, uint64_t bytes_max)
{
	size_t most = UINT32_MAX / 2;

	if (bytes_max && bytes_max / 2 / ENTRY_BYTES < most)
		most = bytes_max / 2 / ENTRY_BYTES + 1;
	return entries < most ? entries : most;
}

static unsigned shards_for(size_t entries, uint64_t bytes_max)
{
	unsigned shards = 1;

	while (shards < SHARDS_MAX && entries / (shards * 2) >= SHARD_LEAST &&
	       (!bytes_max || bytes_max / (shards * 2) >= SHARD_BYTES))
		shards *= 2;
	return shards;
}

/* What the tables take. */
static uint64_t fixed_bytes(const struct cache *c, unsigned shards)
{
	return sizeof(*c) + shards * sizeof(*c->shard) + c->buckets_size +
	       c->entries * (sizeof(struct slot) + sizeof(uint32_t));
}

static int make_shards(struct cache *c, unsigned shards)
{
	uint64_t fixed = fixed_bytes(c, shards), each = UINT64_MAX;
	struct bucket *at = c->buckets;

	if (c->bytes_max)
		each = c->bytes_max > fixed ? (c->bytes_max - fixed) / shards : 0;
	for (; c->shards < shards; c->shards++) {
		uint32_t size = share(c->entries, shards, c->shards);
		struct index index = { at, buckets_for(size) };

		if (shard_init(&c->shard[c->shards], size, each, &index, &c->key))
			return -1;
		at += index.count;
	}
	return 0;
}

struct cache *cache_new(size_t entries, uint64_t bytes_max)
{
	struct cache *c = calloc(1, sizeof(*c));
	unsigned i, shards;

	if (!c || !entries)
		return c;
	c->bytes_max = bytes_max;
	c->entries = entries_for(entries, bytes_max);
	shards = shards_for(c->entries, bytes_max);
	random_fill(&c->key, sizeof(c->key));
	for (i = 0; i < shards; i++)
		c->buckets_size += buckets_for(share(c->entries, shards, i)) * sizeof(*c->buckets);
	c->buckets = huge_map(c->buckets_size);
	c->shard = aligned_alloc(INDEX_LINE, shards * sizeof(*c->shard));
	if (!c->buckets || !c->shard)
		goto fail;
	memset(c->shard, 0, shards * sizeof(*c->shard));
	if (!make_shards(c, shards))
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
		shard_done(&c->shard[i]);
		pthread_mutex_destroy(&c->shard[i].lock);
	}
	huge_unmap(c->buckets, c->buckets_size);
	free(c->shard);
	free(c);
}

void cache_keep_stale(struct cache *c, uint64_t ns)
{
	atomic_store_explicit(&c->stale_ns, ns, memory_order_relaxed);
}

uint64_t cache_hash(const struct cache *c, const struct dns_key *key)
{
	return hash_octets(&c->key, key->name, key->name_len);
}

/* ---- asking ahead ------------------------------------------------------- */

void cache_ahead(const struct cache *c, const struct dns_key *key, uint64_t hash)
{
	const struct index *x;
	struct bucket *home;

	if (!c->shards)
		return;
	x = &shard_of(c, hash)->index;
	home = index_home(x, hash, key->qtype, key->bits);
	/* the next one too: so few stand there, but they are what would be waited for */
	__builtin_prefetch(home);
	__builtin_prefetch(index_next(x, home));
}

/* Ask for the answers in @b with the tag; true when there are none and others went on from here. */
static bool ahead_ways(const struct bucket *b, uint8_t tag)
{
	uint64_t tags = __atomic_load_n(&b->tags, __ATOMIC_RELAXED), ways = ways_of(tags, tag);
	bool none = !ways;
	const char *a;

	for (; ways; ways &= ways - 1) {
		a = (const char *)__atomic_load_n(&b->answer[first_way(ways)], __ATOMIC_RELAXED);
		__builtin_prefetch(a);
		__builtin_prefetch(a + INDEX_LINE);
	}
	return none && tags >= PAST;
}

/* What stands further on than in the second bucket comes when it is looked for. */
void cache_ahead_answer(const struct cache *c, const struct dns_key *key, uint64_t hash)
{
	const struct index *x;
	struct bucket *home;

	if (!c->shards)
		return;
	x = &shard_of(c, hash)->index;
	home = index_home(x, hash, key->qtype, key->bits);
	if (ahead_ways(home, tag_of(hash)))
		ahead_ways(index_next(x, home), tag_of(hash));
}

/* ---- looking up --------------------------------------------------------- */

static void count_asking(struct dns_answer *a)
{
	uint16_t asked = atomic_load_explicit(&a->asked, memory_order_relaxed);

	/* who counts has the lock, so nothing is lost between the two */
	if (asked < UINT16_MAX)
		atomic_store_explicit(&a->asked, (uint16_t)(asked + 1), memory_order_relaxed);
	if (a->wanted < SHARD_WANTED_MAX)
		a->wanted++;
}

/* A place where something lives; what is no longer kept goes, one at a time by way of @ret_dead. */
static bool find_live(const struct cache *c, struct shard *s, const struct place *p, uint64_t now_ns, struct way *ret,
		      struct dns_answer **ret_dead)
{
	if (!index_find(&s->index, p, ret))
		return false;
	if (dns_answer_fresh(answer_at(*ret), now_ns))
		return true;
	if (!*ret_dead && !answer_is_kept(answer_at(*ret), stale_of(c), now_ns)) {
		*ret_dead = shard_take(s, p, *ret);
		s->stats.expired++;
	}
	return false;
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
	struct shard *s;
	struct place p, cut;
	struct way w;
	bool found;

	if (!c->shards) {
		atomic_fetch_add_explicit(&c->misses, 1, memory_order_relaxed);
		return NULL;
	}
	s = shard_of(c, hash);
	p = place_of_key(s, key, hash);
	pthread_mutex_lock(&s->lock);
	found = find_live(c, s, &p, now_ns, &w, &dead);
	if (!found && s->cuts) {
		cut = index_other(&s->index, &p, 0);
		found = find_live(c, s, &cut, now_ns, &w, &dead);
	}
	if (found) {
		a = dns_answer_ref(answer_at(w));
		count_asking(a);
		s->stats.hits++;
	} else {
		s->stats.misses++;
	}
	pthread_mutex_unlock(&s->lock);
	dns_answer_unref(dead);
	return a;
}

/* A live cut of just that name. */
static struct dns_answer *get_cut(struct cache *c, const uint8_t *name, uint16_t len, uint8_t bits, uint64_t now_ns)
{
	uint64_t hash = hash_octets(&c->key, name, len);
	struct shard *s = shard_of(c, hash);
	struct dns_answer *a = NULL, *dead = NULL;
	struct place p = index_place(&s->index, hash, name, len, 0, bits);
	struct way w;

	pthread_mutex_lock(&s->lock);
	if (s->cuts && find_live(c, s, &p, now_ns, &w, &dead)) {
		a = dns_answer_ref(answer_at(w));
		count_asking(a);
		s->stats.covered++;
	}
	pthread_mutex_unlock(&s->lock);
	dns_answer_unref(dead);
	return a;
}

static bool has_cuts(const struct cache *c)
{
	unsigned i;

	for (i = 0; i < c->shards; i++)
		if (__atomic_load_n(&c->shard[i].cuts, __ATOMIC_RELAXED))
			return true;
	return false;
}

struct dns_answer *cache_get_above(struct cache *c, const struct dns_key *key, uint64_t now_ns)
{
	struct dns_answer *a = NULL;
	uint16_t at;

	if (!has_cuts(c))
		return NULL;
	for (at = key->name[0] + 1U; !a && at < key->name_len - 1; at += key->name[at] + 1U)
		a = get_cut(c, key->name + at, key->name_len - at, key->bits, now_ns);
	return a;
}

/* The newest of what is kept for a key, live or not: an answer to it or a cut of its name. */
static bool find_kept(const struct cache *c, struct shard *s, const struct place *p, uint64_t now_ns, struct way *ret)
{
	struct place cut = index_other(&s->index, p, 0);
	uint64_t stale_ns = stale_of(c);
	bool found, more;
	struct way w;

	found = index_find(&s->index, p, ret) && answer_is_kept(answer_at(*ret), stale_ns, now_ns) &&
		dns_answer_is_result(answer_at(*ret));
	more = s->cuts && index_find(&s->index, &cut, &w) && answer_is_kept(answer_at(w), stale_ns, now_ns);
	if (more && (!found || answer_at(w)->born_ns > answer_at(*ret)->born_ns))
		*ret = w;
	return found || more;
}

struct dns_answer *cache_get_stale(struct cache *c, const struct dns_key *key, uint64_t now_ns)
{
	uint64_t hash = cache_hash(c, key);
	struct dns_answer *a = NULL;
	struct shard *s;
	struct place p;
	struct way w;

	if (!c->shards || !stale_of(c))
		return NULL;
	s = shard_of(c, hash);
	p = place_of_key(s, key, hash);
	pthread_mutex_lock(&s->lock);
	if (find_kept(c, s, &p, now_ns, &w) && !dns_answer_fresh(answer_at(w), now_ns)) {
		a = dns_answer_ref(answer_at(w));
		count_asking(a);
		s->stats.stale++;
	}
	pthread_mutex_unlock(&s->lock);
	return a;
}

bool cache_failed(struct cache *c, const struct dns_key *key, uint64_t now_ns)
{
	uint64_t hash = cache_hash(c, key);
	struct shard *s;
	struct place p;
	struct way w;
	bool found;

	if (!c->shards)
		return false;
	s = shard_of(c, hash);
	p = place_of_key(s, key, hash);
	pthread_mutex_lock(&s->lock);
	found = find_kept(c, s, &p, now_ns, &w);
	if (found)
		atomic_store_explicit(&answer_at(w)->tried_s, (uint32_t)(now_ns / 1000000000) + 1, memory_order_relaxed);
	pthread_mutex_unlock(&s->lock);
	return found;
}

/* ---- keeping ------------------------------------------------------------ */

static void drop(struct shard *s, const struct place *p)
{
	struct way w;

	if (index_find(&s->index, p, &w))
		dns_answer_unref(shard_take(s, p, w));
}

/* A cut says more than the answer to its question, any result that the name is not cut off. */
static void drop_contrary(struct shard *s, const struct place *p, const struct dns_answer *a)
{
	struct place other = index_other(&s->index, p, a->cut ? a->key.qtype : 0);

	if (a->cut || (s->cuts && dns_answer_is_result(a)))
		drop(s, &other);
}

/* Keep a live answer under the lock; returns a reference to drop. */
static struct dns_answer *keep(struct cache *c, struct shard *s, const struct place *p, struct dns_answer *a,
			       uint64_t now_ns)
{
	struct dns_answer *old, *gone;
	struct way w;

	if (!dns_answer_is_result(a) && find_kept(c, s, p, now_ns, &w))
		return a;
	if (dns_answer_size(a) > s->bytes_max) {
		s->stats.refused++;
		return a;
	}
	drop_contrary(s, p, a);
	if (!index_find(&s->index, p, &w)) {
		gone = shard_make_room(s, dns_answer_size(a), true, stale_of(c), now_ns);
		shard_add(s, p, a);
		return gone;
	}
	old = shard_replace(s, w, a);
	gone = shard_make_room(s, 0, false, stale_of(c), now_ns);
	dns_answer_unref(gone);
	return old;
}

/* What may be given once takes the place of what might be given in its stead. */
static void supersede(struct shard *s, const struct place *p, const struct dns_answer *a, uint64_t now_ns)
{
	struct place cut = index_other(&s->index, p, 0);
	struct way w;

	if (!dns_answer_is_result(a))
		return;
	if (index_find(&s->index, p, &w) && !dns_answer_fresh(answer_at(w), now_ns))
		drop(s, p);
	if (index_find(&s->index, &cut, &w) && !dns_answer_fresh(answer_at(w), now_ns))
		drop(s, &cut);
}

static struct place place_of_answer(const struct shard *s, const struct dns_answer *a, uint64_t hash)
{
	return index_place(&s->index, hash, a->key.name, a->key.name_len, type_of(a), a->key.bits);
}

void cache_put(struct cache *c, struct dns_answer *a, uint64_t now_ns)
{
	uint64_t hash = hash_octets(&c->key, a->key.name, a->key.name_len);
	struct dns_answer *gone = NULL;
	struct shard *s;
	struct place p;
	bool kept;

	if (!c->shards)
		return;
	s = shard_of(c, hash);
	p = place_of_answer(s, a, hash);
	kept = dns_answer_fresh(a, now_ns);
	pthread_mutex_lock(&s->lock);
	if (kept)
		gone = keep(c, s, &p, dns_answer_ref(a), now_ns);
	else if (!a->ttl)
		supersede(s, &p, a, now_ns);
	pthread_mutex_unlock(&s->lock);
	kept = kept && gone != a;
	dns_answer_unref(gone);
	if (kept && c->backend.put)
		c->backend.put(c->backend.ctx, a);
}

/* ---- what stands behind ------------------------------------------------- */

void cache_set_backend(struct cache *c, const struct cache_backend *b)
{
	c->backend = *b;
}

/* Is there an answer to the key, or one that says more or otherwise than @a? */
static bool is_taken(struct shard *s, const struct place *p, const struct dns_answer *a)
{
	struct place other = index_other(&s->index, p, a->cut ? a->key.qtype : 0);
	struct way w;

	return index_find(&s->index, p, &w) || index_find(&s->index, &other, &w);
}

bool cache_load(struct cache *c, struct dns_answer *a, uint64_t now_ns)
{
	uint64_t hash = hash_octets(&c->key, a->key.name, a->key.name_len);
	bool room = true;
	struct shard *s;
	struct place p;

	if (!c->shards)
		return false;
	if (!answer_is_kept(a, stale_of(c), now_ns))
		return true;
	s = shard_of(c, hash);
	p = place_of_answer(s, a, hash);
	pthread_mutex_lock(&s->lock);
	if (!is_taken(s, &p, a)) {
		room = s->stats.entries < s->size && s->stats.bytes + dns_answer_size(a) <= s->bytes_max;
		if (room) {
			shard_add(s, &p, dns_answer_ref(a));
			/* the youngest come first, and would be the first to go for those that are asked for now */
			a->wanted = atomic_load_explicit(&a->asked, memory_order_relaxed) > 1;
		}
	}
	pthread_mutex_unlock(&s->lock);
	return room;
}

struct dns_answer *cache_peek(struct cache *c, const struct dns_key *key, uint64_t now_ns)
{
	struct dns_answer *a = NULL, *dead = NULL;
	uint64_t hash = cache_hash(c, key);
	struct shard *s;
	struct place p;
	struct way w;

	if (!c->shards)
		return NULL;
	s = shard_of(c, hash);
	p = place_of_key(s, key, hash);
	pthread_mutex_lock(&s->lock);
	if (find_live(c, s, &p, now_ns, &w, &dead))
		a = dns_answer_ref(answer_at(w));
	pthread_mutex_unlock(&s->lock);
	dns_answer_unref(dead);
	return a;
}

/* ---- flushing and reading ----------------------------------------------- */

/* Which answers are meant: those of a name, with @below all below it too; all without a name. */
struct match {
	const uint8_t *name;
	uint16_t len;
	bool below;
	uint8_t tag;			/* of the name, when it is that alone */
};

static bool matches(const struct match *m, const struct dns_answer *a)
{
	const uint8_t *name = a->key.name;
	uint16_t len = a->key.name_len;

	if (!m->name)
		return true;
	if (m->below)
		for (; len > m->len; len -= *name + 1U, name += *name + 1U)
			;
	return len == m->len && !memcmp(name, m->name, len);
}

static uint64_t ways_of_match(const struct bucket *b, const struct match *m)
{
	return m->name && !m->below ? ways_with(b, m->tag) : ways_with(b, 0) ^ ALL_WAYS;
}

/* Drop the entries that are meant; returns how many. */
static size_t shard_flush(struct cache *c, struct shard *s, const struct match *m)
{
	size_t n = 0;

	pthread_mutex_lock(&s->lock);
	for (struct bucket *b = s->index.buckets; b < s->index.buckets + s->index.count; b++) {
		for (uint64_t ways = ways_of_match(b, m); ways; ways &= ways - 1) {
			struct dns_answer *a = b->answer[first_way(ways)];
			struct place p;

			if (!matches(m, a))
				continue;
			p = place_of_answer(s, a, hash_octets(&c->key, a->key.name, a->key.name_len));
			dns_answer_unref(shard_take(s, &p, (struct way){ b, first_way(ways) }));
			n++;
		}
	}
	pthread_mutex_unlock(&s->lock);
	return n;
}

static size_t flush_shards(struct cache *c, const struct match *m)
{
	size_t n = 0;
	unsigned i;

	for (i = 0; i < c->shards; i++)
		n += shard_flush(c, &c->shard[i], m);
	return n;
}

size_t cache_flush_name(struct cache *c, const uint8_t *lower, uint16_t len)
{
	uint64_t hash;

	if (!c->shards)
		return 0;
	hash = hash_octets(&c->key, lower, len);
	return shard_flush(c, shard_of(c, hash), &(struct match){ lower, len, false, tag_of(hash) });
}

size_t cache_flush_below(struct cache *c, const uint8_t *lower, uint16_t len)
{
	return flush_shards(c, &(struct match){ .name = lower, .len = len, .below = true });
}

size_t cache_flush_all(struct cache *c)
{
	return flush_shards(c, &(struct match){ 0 });
}

unsigned cache_list_name(struct cache *c, const uint8_t *lower, uint16_t len, uint64_t now_ns,
			 struct dns_answer **ret, unsigned max)
{
	struct match m = { lower, len, false, 0 };
	struct shard *s;
	uint64_t hash;
	unsigned n = 0;

	if (!c->shards)
		return 0;
	hash = hash_octets(&c->key, lower, len);
	m.tag = tag_of(hash);
	s = shard_of(c, hash);
	pthread_mutex_lock(&s->lock);
	for (struct bucket *b = s->index.buckets; b < s->index.buckets + s->index.count; b++)
		for (uint64_t ways = ways_of_match(b, &m); ways && n < max; ways &= ways - 1) {
			struct dns_answer *a = b->answer[first_way(ways)];

			if (matches(&m, a) && answer_is_kept(a, stale_of(c), now_ns))
				ret[n++] = dns_answer_ref(a);
		}
	pthread_mutex_unlock(&s->lock);
	return n;
}

void cache_stats(struct cache *c, struct cache_stats *ret)
{
	unsigned i;

	*ret = (struct cache_stats){ .misses = atomic_load_explicit(&c->misses, memory_order_relaxed) };
	ret->bytes = fixed_bytes(c, c->shards);
	ret->bytes_max = c->bytes_max;
	ret->entries_max = c->entries;
	for (i = 0; i < c->shards; i++) {
		struct shard *s = &c->shard[i];

		pthread_mutex_lock(&s->lock);
		ret->entries += s->stats.entries;
		ret->bytes += s->stats.bytes;
		ret->hits += s->stats.hits;
		ret->misses += s->stats.misses;
		ret->covered += s->stats.covered;
		ret->stale += s->stats.stale;
		ret->evicted += s->stats.evicted;
		ret->expired += s->stats.expired;
		ret->refused += s->stats.refused;
		pthread_mutex_unlock(&s->lock);
	}
}
