/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * answers.c - puts answers into the kernel's table, and takes them out.
 *
 * The only writer of maps mr_buckets and mr_answers.  The order of its stores
 * is the treaty of maps/answer.h: an answer is whole before a way word leads
 * to it, and the way word is gone before its units are used again.
 *
 * Work per put is bounded: a few slots are looked at for expired answers, and
 * at most HAND_SLOTS when room must be made.
 */
#include "kern/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "kern/kern.h"
#include "maps/block.h"

#define HAND_SLOTS  256		/* slots the clock hand may look at for one put */
#define BROOM_UNITS 16		/* units swept for expired answers at each put */
#define REFRESH_MIN_MS 2000
#define REFRESH_LIFE_S 10	/* answers that live no longer are not refreshed ahead of time */

static const struct count_row count_rows[] = { COUNT_ROWS(KERN_COUNTERS) };
COUNT_SET(kern_counts, count_rows);

/* An answer as it will stand in its units. */
union image {
	struct mr_answer head;
	uint8_t byte[MR_ANSWER_UNITS_MAX * MR_UNIT_SIZE];
	uint64_t word[MR_ANSWER_UNITS_MAX * MR_UNIT_SIZE / 8];
};

static void fence(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

struct mr_answer *answers_at(const struct answers *a, uint32_t unit)
{
	return (struct mr_answer *)(a->m.pages + (size_t)unit * MR_UNIT_SIZE);
}

int answers_init(struct answers *a, const struct answers_maps *maps, uint32_t max, uint32_t buckets, uint32_t pages,
		 uint64_t now_ns)
{
	uint32_t heads = 64;
	int err;

	*a = (struct answers){ .m = *maps, .bucket_mask = buckets - 1, .unit_count = pages * MR_PAGE_UNITS,
			       .max = max, .negative_max = max / 4 ? max / 4 : 1 };
	while (heads < max && heads < 1U << 30)
		heads *= 2;
	a->head_mask = heads - 1;
	pthread_mutex_init(&a->lock, NULL);
	err = units_init(&a->units, pages);
	a->info = calloc(a->unit_count, sizeof(*a->info));
	a->heads = calloc(heads, sizeof(*a->heads));
	a->counts = count_shard_new(&kern_counts);
	if (err || !a->info || !a->heads || !a->counts) {
		answers_done(a);
		return -ENOMEM;
	}
	answers_revive(a, now_ns);
	return 0;
}

void answers_done(struct answers *a)
{
	if (!a->unit_count)
		return;
	units_done(&a->units);
	free(a->info);
	free(a->heads);
	pthread_mutex_destroy(&a->lock);
	*a = (struct answers){ 0 };
}

/* ---- the index ---- */

void answers_link(struct answers *a, uint32_t unit, unsigned run, uint32_t home, uint32_t name_hash, bool negative)
{
	struct answers_info *i = &a->info[unit];

	*i = (struct answers_info){ .home = home, .name_hash = name_hash, .run = run, .negative = negative,
				    .next = a->heads[name_hash & a->head_mask] };
	a->heads[name_hash & a->head_mask] = unit;
	a->in_use++;
	a->negative += negative;
}

static void unchain(struct answers *a, uint32_t unit)
{
	uint32_t *at = &a->heads[a->info[unit].name_hash & a->head_mask];

	while (*at && *at != unit)
		at = &a->info[*at].next;
	if (*at)
		*at = a->info[unit].next;
}

static __u64 *way_of(struct answers *a, uint32_t home)
{
	return &a->m.buckets[home / MR_ANSWER_WAYS].way[home % MR_ANSWER_WAYS];
}

void answers_remove(struct answers *a, uint32_t unit)
{
	struct answers_info *i = &a->info[unit];
	struct mr_answer *s = answers_at(a, unit);
	__u64 *way = way_of(a, i->home);

	if ((uint32_t)*way == unit)
		MR_WRITE(*way, 0);
	fence();
	/* A reader may be in the middle of it: the stamp that it loads last goes first. */
	MR_WRITE(s->stamp_first, 0);
	fence();
	MR_WRITE(s->stamp_last, 0);
	unchain(a, unit);
	units_give(&a->units, unit, i->run);
	a->in_use--;
	a->negative -= i->negative;
	i->run = 0;
}

/* ---- making room ---- */

bool answers_is_dead(const struct answers *a, const struct mr_answer *s, uint64_t now_ns)
{
	const struct mr_conf *c = a->m.conf;

	return s->stale_until <= now_ns || s->generation != c->generation[s->generation_slot % MR_GENERATIONS] ||
	       ((s->flags & MR_ANSWER_CHAIN) && s->filter_generation != c->filter_generation);
}

/* Look at a few units for answers that have died, so that the table does not fill with them. */
static void sweep(struct answers *a, uint64_t now_ns)
{
	unsigned n;

	for (n = 0; n < BROOM_UNITS; n++) {
		a->broom = a->broom + 1 < a->unit_count ? a->broom + 1 : 0;
		if (a->info[a->broom].run && answers_is_dead(a, answers_at(a, a->broom), now_ns))
			answers_remove(a, a->broom);
	}
}

static void evict(struct answers *a, uint32_t unit, uint64_t now_ns)
{
	if (!answers_is_dead(a, answers_at(a, unit), now_ns))
		count_one(a->counts, COUNT_kern_evicted);
	answers_remove(a, unit);
}

/* Move the clock hand over one answer: a marked one loses its mark, another one goes.  False when none is left. */
static bool hand_step(struct answers *a, uint64_t now_ns)
{
	struct mr_answer *s;
	uint32_t n, unit;

	for (n = 0; n < a->unit_count; n++) {
		unit = a->hand;
		a->hand = unit + 1 < a->unit_count ? unit + 1 : 0;
		if (!a->info[unit].run)
			continue;
		s = answers_at(a, unit);
		if (MR_READ(s->hit) && !answers_is_dead(a, s, now_ns))
			MR_WRITE(s->hit, 0);
		else
			evict(a, unit, now_ns);
		return true;
	}
	return false;
}

/* Take a run of units, evicting what the clock hand finds; 0 when its bound came first. */
static uint32_t make_room(struct answers *a, unsigned run, uint64_t now_ns)
{
	unsigned slots = 0;
	uint32_t unit;

	while (a->in_use >= a->max)
		if (slots++ >= HAND_SLOTS || !hand_step(a, now_ns))
			return 0;
	while (!(unit = units_take(&a->units, run)))
		if (slots++ >= HAND_SLOTS || !hand_step(a, now_ns))
			return 0;
	return unit;
}

/* ---- finding ---- */

static uint32_t home_of(const struct answers *a, uint64_t place)
{
	return ((uint32_t)place & a->bucket_mask) * MR_ANSWER_WAYS;
}

/* The unit of the answer with that tag; the name may still be another. */
static uint32_t find(const struct answers *a, uint64_t place)
{
	return mr_answer_way(&a->m.buckets[(uint32_t)place & a->bucket_mask], place);
}

static bool is_answer_to(const struct mr_answer *s, const uint8_t *name, uint16_t len, uint16_t qtype, uint8_t key)
{
	return s->name_len == len && s->qtype == qtype && s->key == key &&
	       !memcmp((const uint8_t *)s + mr_answer_name(len), name, len);
}

/* A way of the bucket for a new answer: an empty one, else that of the answer that will be missed least. */
static uint32_t free_way(struct answers *a, uint32_t home, uint64_t now_ns)
{
	uint64_t least = ~0ULL, worth;
	uint32_t best = home, i, unit;
	struct mr_answer *s;

	for (i = home; i < home + MR_ANSWER_WAYS; i++) {
		unit = (uint32_t)*way_of(a, i);
		if (!unit)
			return i;
		s = answers_at(a, unit);
		worth = answers_is_dead(a, s, now_ns) ? 0 : s->expires >> 1 | (uint64_t)(MR_READ(s->hit) != 0) << 63;
		if (worth < least) {
			least = worth;
			best = i;
		}
	}
	evict(a, (uint32_t)*way_of(a, best), now_ns);
	return best;
}

/* Hash a name as the table keys it; false when it is too deep or no name. */
static bool hash_name(const struct answers *a, const uint8_t *lower, uint16_t len, struct mr_hash *ret)
{
	struct mr_name n = { .len = len };

	if (!len || len > MR_NAME_MAX)
		return false;
	memcpy(n.text, lower, len);
	if (mr_name_hash(&n, a->m.secret))
		return false;
	*ret = n.hash[n.labels];
	return true;
}

/* ---- writing ---- */

static void fill_ttls(struct mr_answer *h, const struct dns_answer *from)
{
	h->ttls = from->ttls;
	if (from->ttls)
		memcpy(h->ttl_at, dns_answer_ttls(from), from->ttls * sizeof(*h->ttl_at));
}

static uint8_t flags_of(const struct dns_answer *from, bool ask)
{
	return (from->local ? MR_ANSWER_LOCAL : 0) | (from->ad ? MR_ANSWER_AD : 0) |
	       (from->chain || ask ? MR_ANSWER_CHAIN : 0) | (from->negative ? MR_ANSWER_NEGATIVE : 0);
}

/* Make the image of an answer, all but its stamps, in as many units as it will take. */
static void make_image(const struct answers *a, const struct dns_answer *from, bool ask, union image *img, unsigned run)
{
	struct mr_answer *h = &img->head;
	uint8_t *body = img->byte + mr_answer_body(from->key.name_len);
	uint64_t life = from->ttl * CLOCK_S, refresh_ms = (uint64_t)from->ttl * 100;

	memset(img, 0, (size_t)run * MR_UNIT_SIZE);
	h->generation = a->m.conf->generation[0];
	h->born = from->born_ns;
	h->expires = h->stale_until = from->born_ns + life;
	if (!from->local)
		h->stale_until += a->stale_ns;
	h->dns_flags = (from->aa ? DNS_AA : 0) | (a->m.conf->recursion ? DNS_RA : 0) | from->rcode;
	h->answers = from->answers;
	h->authorities = from->authorities;
	h->body_len = from->body_len;
	h->qtype = from->key.qtype;
	h->name_len = from->key.name_len;
	h->key = from->key.bits;
	h->flags = flags_of(from, ask);
	fill_ttls(h, from);
	h->filter_generation = a->m.conf->filter_generation;
	if (from->chain || ask)
		h->chain_len = answers_chain(a, from, ask, h->chain);
	if (from->ttl > REFRESH_LIFE_S && !from->local)
		h->refresh_ms = refresh_ms > REFRESH_MIN_MS ? refresh_ms : REFRESH_MIN_MS;
	memcpy(img->byte + mr_answer_name(from->key.name_len), from->key.name, from->key.name_len);
	memcpy(body, from->body, from->body_len);
	dns_answer_rotate(from, a->stamp, body);
	h->body_sum = mr_body_sum(body, from->body_len);
	h->head_sum = mr_answer_sum(h);
}

/* Write an image into its units, as maps/answer.h prescribes; the hit mark stays as it is. */
static void write_slot(struct answers *a, uint32_t unit, const union image *img, unsigned run)
{
	struct mr_answer *s = answers_at(a, unit);
	uint32_t stamp = ++a->stamp ? a->stamp : ++a->stamp;

	MR_WRITE(s->stamp_first, stamp);
	fence();
	MR_WRITE(s->refresh, 0);
	MR_WRITE(s->generation_slot, img->head.generation_slot);
	MR_WRITE(s->generation, img->head.generation);
	memcpy(&s->born, &img->head.born, (size_t)run * MR_UNIT_SIZE - offsetof(struct mr_answer, born));
	fence();
	MR_WRITE(s->stamp_last, stamp);
	fence();
}

/* Put the image where an older answer to the same question stands. */
static void rewrite(struct answers *a, uint32_t unit, const union image *img, unsigned run)
{
	bool negative = img->head.flags & MR_ANSWER_NEGATIVE;

	write_slot(a, unit, img, run);
	a->negative += negative - a->info[unit].negative;
	a->info[unit].negative = negative;
}

/* Put the image into units of its own, then lead the way word there; the older answer goes last. */
static int write_new(struct answers *a, uint64_t place, uint32_t name_hash, const union image *img, unsigned run,
		     uint64_t now_ns)
{
	uint32_t unit = make_room(a, run, now_ns), home = home_of(a, place), old = find(a, place);

	if (!unit)
		return -ENOSPC;
	MR_WRITE(answers_at(a, unit)->hit, old ? MR_READ(answers_at(a, old)->hit) : 0);
	write_slot(a, unit, img, run);
	home = old ? a->info[old].home : free_way(a, home, now_ns);
	MR_WRITE(*way_of(a, home), (place & ~0xffffffffULL) | unit);
	if (old)
		answers_remove(a, old);
	answers_link(a, unit, run, home, name_hash, img->head.flags & MR_ANSWER_NEGATIVE);
	return 0;
}

/* ---- the door ---- */

static bool is_kind_for_kernel(const struct dns_answer *from, uint64_t now_ns)
{
	uint16_t t = from->key.qtype;

	/* An answer with an Extended DNS Error is the daemon's: the program cannot say it. */
	return from->ttl && from->born_ns + from->ttl * CLOCK_S > now_ns && from->ede == DNS_EDE_NONE &&
	       (from->rcode == DNS_NOERROR || from->rcode == DNS_NXDOMAIN) &&
	       t && t != DNS_OPT && (t < DNS_TKEY || t > DNS_ANY) &&
	       !(from->key.bits & ~(MR_KEY_DO | MR_KEY_CD));
}

/* The counter of why an answer cannot be given from the kernel, or -1. */
static int refusal(const struct dns_answer *from, uint64_t now_ns)
{
	/* With header, question and the OPT that a client who takes more than 512 octets has sent. */
	unsigned size = 12 + from->key.name_len + 4 + from->body_len + sizeof(struct mr_opt);

	if (!is_kind_for_kernel(from, now_ns))
		return COUNT_kern_refused_kind;
	if (size > MR_MESSAGE_MAX)
		return COUNT_kern_refused_size;
	if (from->ttls > MR_TTLS_MAX)
		return COUNT_kern_refused_ttls;
	return -1;
}

/* The unit of the answer to what @from answers, or 0. */
static uint32_t find_same(const struct answers *a, const struct dns_answer *from, uint64_t place)
{
	uint32_t unit = find(a, place);

	return unit && is_answer_to(answers_at(a, unit), from->key.name, from->key.name_len, from->key.qtype,
				    from->key.bits) ? unit : 0;
}

/* What is not given from here any more must not be given as a stale one either. */
static void take_out(struct answers *a, const struct dns_answer *from, const struct mr_hash *hash, uint64_t now_ns)
{
	uint32_t unit = find_same(a, from, mr_answer_place(hash, from->key.qtype, from->key.bits, a->m.secret));

	/* what may be given once says nothing against what lives */
	if (unit && (from->ttl || answers_at(a, unit)->expires <= now_ns))
		answers_remove(a, unit);
}

/* A name that is gone: what was known of its other types is not to come back as a stale answer. */
static void take_out_ended(struct answers *a, const struct dns_answer *from, const struct mr_hash *hash, uint64_t now_ns)
{
	uint32_t unit, next;

	for (unit = a->heads[(uint32_t)hash->h0 & a->head_mask]; unit; unit = next) {
		struct mr_answer *s = answers_at(a, unit);

		next = a->info[unit].next;
		if (s->expires <= now_ns && is_answer_to(s, from->key.name, from->key.name_len, s->qtype, from->key.bits))
			answers_remove(a, unit);
	}
}

static int put_locked(struct answers *a, const struct dns_answer *from, bool ask, struct mr_hash hash, bool admit,
		      uint64_t now_ns)
{
	uint64_t place = mr_answer_place(&hash, from->key.qtype, from->key.bits, a->m.secret);
	unsigned run = mr_answer_units(from->key.name_len, from->body_len);
	union image img;
	uint32_t old;
	bool same;

	sweep(a, now_ns);
	old = find_same(a, from, place);
	same = old;
	if (!same && !admit)
		return -1;
	if (from->negative && a->negative >= a->negative_max && !(same && a->info[old].negative))
		return COUNT_kern_refused_negative;
	make_image(a, from, ask, &img, run);
	if (same && run <= a->info[old].run)
		rewrite(a, old, &img, run);
	else if (write_new(a, place, (uint32_t)hash.h0, &img, run, now_ns))
		return COUNT_kern_refused_full;
	count_one(a->counts, COUNT_kern_published);
	return same ? COUNT_kern_replaced : -1;
}

void answers_put(struct answers *a, const struct dns_answer *from, bool ask, uint32_t generation, bool admit,
		 uint64_t now_ns)
{
	struct mr_hash hash;
	int count = refusal(from, now_ns);
	bool hashed = hash_name(a, from->key.name, from->key.name_len, &hash);

	pthread_mutex_lock(&a->lock);
	if (hashed && from->cut)
		take_out_ended(a, from, &hash, now_ns);
	if (hashed && count >= 0)
		take_out(a, from, &hash, now_ns);
	if (count < 0 && (a->closed || generation != a->m.conf->filter_generation))
		count = COUNT_kern_refused_generation;
	if (count < 0)
		count = hashed ? put_locked(a, from, ask, hash, admit, now_ns) : COUNT_kern_refused_labels;
	if (count >= 0 && (admit || count == COUNT_kern_replaced))
		count_one(a->counts, count);
	pthread_mutex_unlock(&a->lock);
}

bool answers_hold(struct answers *a, const struct dns_key *key, uint64_t now_ns)
{
	struct mr_hash hash;
	struct mr_answer *s;
	uint32_t unit;
	bool holds;

	if (!hash_name(a, key->name, key->name_len, &hash))
		return false;
	pthread_mutex_lock(&a->lock);
	unit = find(a, mr_answer_place(&hash, key->qtype, key->bits, a->m.secret));
	s = answers_at(a, unit);
	holds = unit && is_answer_to(s, key->name, key->name_len, key->qtype, key->bits) && !answers_is_dead(a, s, now_ns) &&
		s->expires > now_ns;
	pthread_mutex_unlock(&a->lock);
	return holds;
}

unsigned answers_flush_name(struct answers *a, const uint8_t *lower, uint16_t len)
{
	struct mr_hash hash;
	uint32_t unit, next;
	unsigned n = 0;

	if (!hash_name(a, lower, len, &hash))
		return 0;
	pthread_mutex_lock(&a->lock);
	for (unit = a->heads[(uint32_t)hash.h0 & a->head_mask]; unit; unit = next) {
		struct mr_answer *s = answers_at(a, unit);

		next = a->info[unit].next;
		if (!is_answer_to(s, lower, len, s->qtype, s->key))
			continue;
		answers_remove(a, unit);
		n++;
	}
	count_add(a->counts, COUNT_kern_flushed, n);
	pthread_mutex_unlock(&a->lock);
	return n;
}

/* Is the answer's name that one, or below it? */
static bool is_below(const struct mr_answer *s, const uint8_t *lower, uint16_t len)
{
	const uint8_t *name = (const uint8_t *)s + mr_answer_name(s->name_len);
	unsigned left = s->name_len;

	for (; left > len; left -= *name + 1U, name += *name + 1U)
		;
	return left == len && !memcmp(name, lower, len);
}

unsigned answers_flush_below(struct answers *a, const uint8_t *lower, uint16_t len)
{
	uint32_t unit;
	unsigned n = 0;

	pthread_mutex_lock(&a->lock);
	for (unit = 1; unit < a->unit_count; unit++)
		if (a->info[unit].run && is_below(answers_at(a, unit), lower, len)) {
			answers_remove(a, unit);
			n++;
		}
	count_add(a->counts, COUNT_kern_flushed, n);
	pthread_mutex_unlock(&a->lock);
	return n;
}

void answers_serve_stale(struct answers *a, uint64_t ns)
{
	uint32_t unit;

	pthread_mutex_lock(&a->lock);
	for (unit = 1; ns != a->stale_ns && unit < a->unit_count; unit++) {
		const struct mr_answer *s = answers_at(a, unit);

		if (a->info[unit].run && s->stale_until - s->expires > ns)
			answers_remove(a, unit);
	}
	a->stale_ns = ns;
	pthread_mutex_unlock(&a->lock);
}

void answers_flush_all(struct answers *a)
{
	uint32_t unit;

	pthread_mutex_lock(&a->lock);
	MR_WRITE(a->m.conf->generation[0], a->m.conf->generation[0] + 1);
	fence();
	count_add(a->counts, COUNT_kern_flushed, a->in_use);
	for (unit = 1; unit < a->unit_count; unit++)
		if (a->info[unit].run)
			answers_remove(a, unit);
	pthread_mutex_unlock(&a->lock);
}
