/* SPDX-License-Identifier: BSD-2-Clause */
/* shard.c - the two queues of a shard, and who goes. */
#include <stdlib.h>
#include "base/bug.h"
#include "cache/shard.h"

#define YOUNG_SHARE 10			/* the young queue is short below a tenth of the shard */

/* ---- queues ------------------------------------------------------------- */

static void queue_put(struct shard *s, struct queue *q, uint32_t i)
{
	s->slots[i].next = SHARD_NONE;
	s->slots[i].before = q->last;
	if (q->last == SHARD_NONE)
		q->first = i;
	else
		s->slots[q->last].next = i;
	q->last = i;
	q->count++;
}

static void queue_take(struct shard *s, struct queue *q, uint32_t i)
{
	const struct slot *at = &s->slots[i];

	if (at->before == SHARD_NONE)
		q->first = at->next;
	else
		s->slots[at->before].next = at->next;
	if (at->next == SHARD_NONE)
		q->last = at->before;
	else
		s->slots[at->next].before = at->before;
	q->count--;
}

static struct queue *queue_of(struct shard *s, const struct dns_answer *a)
{
	return a->settled ? &s->main : &s->young;
}

/* ---- ghosts ------------------------------------------------------------- */

static uint64_t ghost_hash(const struct place *p)
{
	return hash_mix(p->hash, (uint64_t)p->qtype << 8 | p->bits);
}

static uint32_t *ghost_at(const struct shard *s, const struct place *p)
{
	return &s->ghost[(ghost_hash(p) >> 32) * s->size >> 32];
}

static uint32_t ghost_word(const struct place *p)
{
	return (uint32_t)ghost_hash(p) | 1;
}

static void set_cuts(struct shard *s, uint32_t cuts)
{
	__atomic_store_n(&s->cuts, cuts, __ATOMIC_RELAXED);
}

/* ---- in and out --------------------------------------------------------- */

struct dns_answer *shard_take(struct shard *s, const struct place *p, struct way w)
{
	struct dns_answer *a = w.bucket->answer[w.at];

	index_remove(&s->index, p, w);
	queue_take(s, queue_of(s, a), a->slot);
	s->slots[a->slot] = (struct slot){ .next = s->free };
	s->free = a->slot;
	set_cuts(s, s->cuts - a->cut);
	s->stats.entries--;
	s->stats.bytes -= dns_answer_size(a);
	return a;
}

struct dns_answer *shard_replace(struct shard *s, struct way w, struct dns_answer *a)
{
	struct dns_answer *old = w.bucket->answer[w.at];

	if (old == a)
		return old;
	atomic_store_explicit(&a->asked, atomic_load_explicit(&old->asked, memory_order_relaxed), memory_order_relaxed);
	a->slot = old->slot;
	a->wanted = old->wanted;
	a->settled = old->settled;
	s->slots[a->slot].answer = a;
	set_answer(w.bucket, w.at, a);
	s->stats.bytes += dns_answer_size(a) - dns_answer_size(old);
	return old;
}

void shard_add(struct shard *s, const struct place *p, struct dns_answer *a)
{
	uint32_t i = s->free, *ghost = ghost_at(s, p);

	if (i == SHARD_NONE)
		i = s->fresh++;
	else
		s->free = s->slots[i].next;
	s->slots[i].answer = a;
	a->slot = i;
	a->wanted = 0;
	a->settled = *ghost == ghost_word(p);
	if (a->settled)
		*ghost = 0;
	queue_put(s, queue_of(s, a), i);
	index_add(&s->index, p, a);
	set_cuts(s, s->cuts + a->cut);
	s->stats.entries++;
	s->stats.bytes += dns_answer_size(a);
}

/* ---- who goes ----------------------------------------------------------- */

static void go_round(struct shard *s, struct dns_answer *a, bool settled)
{
	queue_take(s, queue_of(s, a), a->slot);
	a->settled = settled;
	queue_put(s, queue_of(s, a), a->slot);
}

/* The first of the young that was not asked for again; those before it move on.  NULL: all did. */
static struct dns_answer *leave_young(struct shard *s, uint64_t stale_ns, uint64_t now_ns)
{
	struct dns_answer *a;

	while (s->young.first != SHARD_NONE) {
		a = s->slots[s->young.first].answer;
		if (!a->wanted || !answer_is_kept(a, stale_ns, now_ns))
			return a;
		a->wanted = 0;
		go_round(s, a, true);
	}
	return NULL;
}

/* Each step takes a round from somebody: so the third round ends it. */
static struct dns_answer *leave_main(struct shard *s, uint64_t stale_ns, uint64_t now_ns)
{
	struct dns_answer *a;

	while (s->main.first != SHARD_NONE) {
		a = s->slots[s->main.first].answer;
		if (!a->wanted || !answer_is_kept(a, stale_ns, now_ns))
			return a;
		a->wanted--;
		go_round(s, a, true);
	}
	return NULL;
}

/* Look at one of the main queue: those that have died there would stay for as long as the young ones are many. */
static struct dns_answer *dead_of_main(struct shard *s, uint64_t stale_ns, uint64_t now_ns)
{
	struct dns_answer *a;

	if (s->main.first == SHARD_NONE)
		return NULL;
	a = s->slots[s->main.first].answer;
	if (!answer_is_kept(a, stale_ns, now_ns))
		return a;
	go_round(s, a, true);
	return NULL;
}

static struct dns_answer *choose(struct shard *s, uint64_t stale_ns, uint64_t now_ns)
{
	struct dns_answer *a = dead_of_main(s, stale_ns, now_ns);

	if (!a && s->young.count * YOUNG_SHARE >= s->stats.entries)
		a = leave_young(s, stale_ns, now_ns);
	if (!a)
		a = leave_main(s, stale_ns, now_ns);
	return a ? a : leave_young(s, stale_ns, now_ns);
}

static struct dns_answer *evict(struct shard *s, uint64_t stale_ns, uint64_t now_ns)
{
	struct dns_answer *a = choose(s, stale_ns, now_ns);
	struct place p;
	struct way w;

	if (!a)
		return NULL;
	p = index_place(&s->index, hash_octets(s->key, a->key.name, a->key.name_len), a->key.name, a->key.name_len, type_of(a), a->key.bits);
	if (bug_if(!index_find(&s->index, &p, &w)))
		return NULL;
	if (dns_answer_fresh(a, now_ns))
		s->stats.evicted++;
	else
		s->stats.expired++;
	if (!a->settled)
		*ghost_at(s, &p) = ghost_word(&p);
	return shard_take(s, &p, w);
}

struct dns_answer *shard_make_room(struct shard *s, uint64_t bytes, bool entry, uint64_t stale_ns, uint64_t now_ns)
{
	struct dns_answer *gone = NULL, *next;

	while (s->stats.entries + entry > s->size || s->stats.bytes + bytes > s->bytes_max) {
		next = evict(s, stale_ns, now_ns);
		if (!next)
			break;
		dns_answer_unref(gone);
		gone = next;
	}
	return gone;
}

/* ---- beginning and end -------------------------------------------------- */

int shard_init(struct shard *s, uint32_t size, uint64_t bytes_max, const struct index *index, const struct hash_key *key)
{
	s->slots = malloc(size * sizeof(*s->slots));
	s->ghost = calloc(size, sizeof(*s->ghost));
	if (!s->slots || !s->ghost) {
		shard_done(s);
		return -1;
	}
	pthread_mutex_init(&s->lock, NULL);
	s->key = key;
	s->size = size;
	s->bytes_max = bytes_max;
	s->free = SHARD_NONE;
	s->young = s->main = (struct queue){ SHARD_NONE, SHARD_NONE, 0 };
	s->index = *index;
	return 0;
}

void shard_done(struct shard *s)
{
	free(s->slots);
	free(s->ghost);
}
