/* SPDX-License-Identifier: BSD-2-Clause */
/* filter_edit.c - plans and makes changes of filter_edit.h. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include "policy/filter_edit.h"

static void fence(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

/* ---- the place of the entry ---- */

static bool is_wanted(uint64_t entry, const struct filter_change *ch)
{
	return mr_entry_set(entry) && !((entry ^ ch->hash->h0) >> 16) && !(entry & MR_ENTRY_SUBTREE) == !ch->subtree;
}

/* The way of the entry, or of the first that is free (@ch NULL); MR_BUCKET_WAYS: none. */
static unsigned way_in(const struct mr_filter_bucket *b, const struct filter_change *ch)
{
	unsigned way;

	for (way = 0; way < MR_BUCKET_WAYS; way++)
		if (ch ? is_wanted(b->way[way], ch) : !mr_entry_set(b->way[way]))
			break;
	return way;
}

static unsigned row_of(const struct mr_unit *u, const struct filter_change *ch)
{
	unsigned row;

	for (row = 0; row < MR_STASH_MAX; row++)
		if (ch ? u->stash[row].h1 == ch->hash->h1 && is_wanted(u->stash[row].entry, ch) : !u->stash[row].entry)
			break;
	return row;
}

/* Find the entry as a reader does, or (@ch NULL) a free place for it, as the builder would take it. */
static void find_place(const struct filter_view *v, const struct filter_change *ch, struct filter_edit *e)
{
	const struct mr_filter_bucket *first = &v->buckets[mr_bucket_first(e->hash, v->unit->bucket_mask)];
	const struct mr_filter_bucket *second = &v->buckets[mr_bucket_second(e->hash, v->unit->bucket_mask)];

	e->where = FILTER_EDIT_FIRST;
	e->way = way_in(first, ch);
	if (e->way < MR_BUCKET_WAYS)
		return;
	e->where = FILTER_EDIT_SECOND;
	if (!ch || first->way[0] & MR_ENTRY_OVERFLOW)
		e->way = way_in(second, ch);
	if (e->way < MR_BUCKET_WAYS)
		return;
	e->where = FILTER_EDIT_STASH;
	e->way = row_of(v->unit, ch);
	if (e->way == MR_STASH_MAX)
		e->where = FILTER_EDIT_NOTHING;
}

static uint64_t word_at(const struct filter_view *v, const struct filter_edit *e)
{
	switch (e->where) {
	case FILTER_EDIT_FIRST:
		return v->buckets[mr_bucket_first(e->hash, v->unit->bucket_mask)].way[e->way];
	case FILTER_EDIT_SECOND:
		return v->buckets[mr_bucket_second(e->hash, v->unit->bucket_mask)].way[e->way];
	case FILTER_EDIT_STASH:
		return v->unit->stash[e->way].entry;
	default:
		return 0;
	}
}

/* ---- the set ---- */

static int add_member(struct filter_edit *e, struct filter_member m)
{
	if (e->members == FILTER_EDIT_MEMBERS)
		return -EAGAIN;
	e->member[e->members++] = m;
	return 0;
}

static int add_own(struct filter_edit *e, const struct filter_change *ch)
{
	unsigned action;
	int err = 0;

	for (action = 0; action <= FILTER_IMPORTANT_ALLOW && !err; action++)
		if (ch->after >> action & 1)
			err = add_member(e, (struct filter_member){ ch->source, (uint16_t)action });
	return err;
}

/* The members of the set to be, in the order that all sets have; @ret_has: what the source has said so far. */
static int make_members(const struct filter_members *m, const struct filter_change *ch, struct filter_edit *e,
			unsigned *ret_has)
{
	const struct filter_member *i = NULL, *end = NULL;
	bool own = false;
	int err = 0;

	*ret_has = 0;
	if (e->old)
		i = filter_set_members(m, e->old, &end);
	for (; i < end && !err; i++) {
		if (i->list == ch->source) {
			*ret_has |= i->action & FILTER_BELOW ? ~0U : 1U << i->action;
			continue;
		}
		if (i->list > ch->source && !own) {
			err = add_own(e, ch);
			own = true;
		}
		if (!err)
			err = add_member(e, *i);
	}
	return err || own ? err : add_own(e, ch);
}

static bool is_set(const struct filter_members *m, uint32_t set, const struct filter_edit *e)
{
	const struct filter_member *end, *first = filter_set_members(m, set, &end);

	return (size_t)(end - first) == e->members && filter_set_is_subtree(m, set) == e->subtree &&
	       !memcmp(first, e->member, e->members * sizeof(*first));
}

/* The number of the set: one that there is, or the next. */
static int find_set(const struct filter_members *m, struct filter_edit *e)
{
	if (!e->members)
		return 0;
	for (e->set = 1; e->set < m->used; e->set++)
		if (is_set(m, e->set, e))
			return 0;
	e->is_new = true;
	return m->used < m->sets && m->used < MR_SET_ASK && m->room >= e->members ? 0 : -EAGAIN;
}

int filter_edit_plan(const struct filter_view *v, const struct filter_members *m, const struct filter_change *ch,
		     struct filter_edit *ret)
{
	unsigned has;
	int err;

	memset(ret, 0, sizeof(*ret));
	ret->hash = *ch->hash;
	ret->depth = ch->depth;
	ret->subtree = ch->subtree;
	find_place(v, ch, ret);
	ret->old = mr_entry_set(word_at(v, ret));
	if (ret->old >= m->used)
		return -EAGAIN;
	err = make_members(m, ch, ret, &has);
	if (err || (has != ch->before && has != ch->after))
		return -EAGAIN;
	if (has == ch->after) {
		ret->where = FILTER_EDIT_NOTHING;
		return 0;
	}
	err = find_set(m, ret);
	if (!err && !ret->old)
		find_place(v, NULL, ret);
	return err || ret->where == FILTER_EDIT_NOTHING ? -EAGAIN : 0;
}

/* ---- making it ---- */

void filter_edit_members(const struct filter_edit *e, struct filter_members *m)
{
	uint32_t *at = (uint32_t *)m->at, first;

	if (!e->is_new)
		return;
	/* All spare sets begin where the last one that is in use ends. */
	first = at[m->used] & ~FILTER_SET_SUBTREE;
	memcpy((struct filter_member *)m->member + first, e->member, e->members * sizeof(*m->member));
	m->room -= e->members;
	MR_WRITE(at[m->used], first | (e->subtree ? FILTER_SET_SUBTREE : 0));
	MR_WRITE(at[m->used + 1], first + e->members);
	m->used++;
}

/* A name that is not looked for without these. */
static void show_name(const struct filter_edit *e, const struct filter_edit_to *to)
{
	uint64_t *word = &to->bloom[mr_bloom_word(e->hash, to->unit[0]->bloom_mask)];
	unsigned i;

	MR_WRITE(*word, *word | mr_bloom_bits(e->hash));
	for (i = 0; i < 2 && to->unit[i]; i++)
		MR_WRITE(to->unit[i]->depths, to->unit[i]->depths | 1U << e->depth);
}

/* The mark in way 0 is the bucket's and stays. */
static void write_way(struct mr_filter_bucket *b, unsigned way, uint64_t entry)
{
	MR_WRITE(b->way[way], entry | (way ? 0 : b->way[0] & MR_ENTRY_OVERFLOW));
}

static void write_row(struct mr_unit *u, const struct filter_edit *e, uint64_t entry)
{
	uint32_t count = MR_STASH_MAX;

	MR_WRITE(u->stash[e->way].h1, e->hash.h1);
	fence();
	MR_WRITE(u->stash[e->way].entry, entry);
	fence();
	while (count && !u->stash[count - 1].entry)
		count--;
	MR_WRITE(u->stash_count, count);
}

void filter_edit_write(const struct filter_edit *e, const struct filter_edit_to *to)
{
	struct mr_filter_bucket *first = &to->buckets[mr_bucket_first(e->hash, to->unit[0]->bucket_mask)];
	uint64_t entry = e->set ? mr_entry(e->hash, e->set, e->subtree) : 0;
	unsigned i;

	if (e->where == FILTER_EDIT_NOTHING)
		return;
	if (entry)
		show_name(e, to);
	fence();
	if (e->where == FILTER_EDIT_FIRST)
		write_way(first, e->way, entry);
	else if (e->where == FILTER_EDIT_SECOND)
		write_way(&to->buckets[mr_bucket_second(e->hash, to->unit[0]->bucket_mask)], e->way, entry);
	fence();
	if (e->where == FILTER_EDIT_SECOND && entry)
		MR_WRITE(first->way[0], first->way[0] | MR_ENTRY_OVERFLOW);
	for (i = 0; i < 2 && to->unit[i]; i++) {
		if (e->where == FILTER_EDIT_STASH)
			write_row(to->unit[i], e, entry);
		MR_WRITE(to->unit[i]->entries, to->unit[i]->entries + !e->old - !e->set);
	}
	fence();
}

int filter_edit_allow(struct filter *f)
{
	return mprotect(f->image, f->size, PROT_READ | PROT_WRITE) ? -errno : 0;
}
