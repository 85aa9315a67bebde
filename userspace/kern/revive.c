/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * revive.c - the index of an answer table that an earlier daemon left.
 *
 * The table is input: the earlier daemon may have died in the middle of a
 * write.  A way word whose answer is not whole, not where its key belongs or
 * over another one is cleared before anything else is written.  So is one of
 * another generation: the earlier daemon may have been ahead of the pins that
 * it left, and its generations, with other sets, will be counted again.
 */
#include <string.h>
#include "dns/name.h"
#include "kern/answers.h"
#include "kern/kern.h"

static bool is_whole(const struct mr_answer *s, unsigned run)
{
	const uint8_t *body = (const uint8_t *)s + mr_answer_body(s->name_len);
	unsigned i;

	if (!s->stamp_first || s->stamp_first != s->stamp_last || !s->name_len || s->ttls > MR_TTLS_MAX ||
	    s->chain_len > MR_CHAIN_MAX || s->generation_slot >= MR_GENERATIONS || run > MR_ANSWER_UNITS_MAX)
		return false;
	for (i = 0; i < s->ttls; i++)
		if (s->ttl_at[i] + 4U > s->body_len)
			return false;
	return mr_answer_sum(s) == s->head_sum && mr_body_sum(body, s->body_len) == s->body_sum;
}

/* Hash the name of an answer; false when it is none, or not in lower case. */
static bool hash_of(const struct answers *a, const struct mr_answer *s, struct mr_hash *ret)
{
	const uint8_t *name = (const uint8_t *)s + mr_answer_name(s->name_len);
	struct mr_name n = { .len = s->name_len };

	dns_name_lower(n.text, name, s->name_len);
	if (memcmp(n.text, name, s->name_len) || mr_name_hash(&n, a->m.secret))
		return false;
	*ret = n.hash[n.labels];
	return true;
}

/* Check the answer that a way word leads to, and note it; false when the word must go. */
static bool revive_way(struct answers *a, uint32_t home, uint64_t word)
{
	uint32_t unit = (uint32_t)word, page_left = MR_PAGE_UNITS - unit % MR_PAGE_UNITS;
	struct mr_answer *s;
	struct mr_hash h;
	uint64_t place;
	unsigned run;

	if (!unit || unit >= a->unit_count)
		return false;
	s = answers_at(a, unit);
	run = mr_answer_units(s->name_len, s->body_len);
	if (run > page_left || !is_whole(s, run) || !hash_of(a, s, &h))
		return false;
	place = mr_answer_place(&h, s->qtype, s->key, a->m.secret);
	if (place >> 32 != word >> 32 || ((uint32_t)place & a->bucket_mask) != home / MR_ANSWER_WAYS)
		return false;
	if (!units_take_at(&a->units, unit, run))
		return false;
	answers_link(a, unit, run, home, (uint32_t)h.h0, s->flags & MR_ANSWER_NEGATIVE);
	if (s->stamp_last > a->stamp)
		a->stamp = s->stamp_last;
	return true;
}

/* True when a later way of the bucket has the same tag: a reader takes the last, so that one stays. */
static bool has_twin_behind(const struct mr_answer_bucket *b, unsigned way)
{
	unsigned i;

	for (i = way + 1; i < MR_ANSWER_WAYS; i++)
		if (b->way[i] && b->way[i] >> 32 == b->way[way] >> 32)
			return true;
	return false;
}

void answers_revive(struct answers *a, uint64_t now_ns)
{
	uint32_t home, homes = (a->bucket_mask + 1) * MR_ANSWER_WAYS, unit;
	__u64 *way;

	for (home = 0; home < homes; home++) {
		way = &a->m.buckets[home / MR_ANSWER_WAYS].way[home % MR_ANSWER_WAYS];
		if (!*way)
			continue;
		if (!has_twin_behind(&a->m.buckets[home / MR_ANSWER_WAYS], home % MR_ANSWER_WAYS) &&
		    revive_way(a, home, *way))
			continue;
		MR_WRITE(*way, 0);
		count_one(a->counts, COUNT_kern_cleared_torn);
	}
	for (unit = 1; unit < a->unit_count; unit++)
		if (a->info[unit].run && answers_is_dead(a, answers_at(a, unit), now_ns))
			answers_remove(a, unit);
}
