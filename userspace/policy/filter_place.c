/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter_place.c - finds each name a place in the buckets.
 *
 * First choice; else second choice, and the first bucket gets its overflow
 * mark.  The few that neither has room for wait until all others have a place:
 * then an entry of one of their two buckets moves to its own other choice, or
 * they go to the stash.
 */
#include <errno.h>
#include <stdlib.h>
#include "policy/filter_file.h"

#define SECOND 0x80000000U		/* an entry that stands in its second choice */

struct placing {
	struct mr_filter_bucket *buckets;
	uint32_t mask;
	struct filter_place_item *late;	/* those that wait */
	size_t count, room;
	uint32_t *other;		/* the other choice of the entry in each way, perhaps with SECOND; only when some wait */
};

static struct mr_hash hash_of(const struct filter_place_item *i)
{
	return (struct mr_hash){ i->h0, i->h1 };
}

/* The first free way of a bucket, MR_BUCKET_WAYS when it has none; ways are filled in order. */
static unsigned free_way(const struct mr_filter_bucket *b)
{
	unsigned way;

	for (way = 0; way < MR_BUCKET_WAYS && b->way[way]; way++)
		;
	return way;
}

static bool put(struct placing *p, uint32_t bucket, uint64_t entry)
{
	unsigned way = free_way(&p->buckets[bucket]);

	if (way == MR_BUCKET_WAYS)
		return false;
	p->buckets[bucket].way[way] = entry;
	return true;
}

static void mark_overflow(struct placing *p, uint32_t bucket)
{
	p->buckets[bucket].way[0] |= MR_ENTRY_OVERFLOW;
}

static int wait_for_others(struct placing *p, const struct filter_place_item *i)
{
	size_t room = p->room ? p->room * 2 : 256;
	struct filter_place_item *more;

	if (p->count == p->room) {
		more = realloc(p->late, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->late = more;
		p->room = room;
	}
	p->late[p->count++] = *i;
	return 0;
}

static int place_one(void *to, const struct filter_place_item *i)
{
	struct placing *p = to;
	uint64_t entry = mr_entry(hash_of(i), i->set, i->subtree);
	uint32_t first = mr_bucket_first(hash_of(i), p->mask);

	if (put(p, first, entry))
		return 0;
	if (!put(p, mr_bucket_second(hash_of(i), p->mask), entry))
		return wait_for_others(p, i);
	mark_overflow(p, first);
	return 0;
}

/* ---- those that wait ---- */

static bool note_in(struct placing *p, uint32_t bucket, uint64_t entry, uint32_t other)
{
	const struct mr_filter_bucket *b = &p->buckets[bucket];
	unsigned way;

	for (way = 0; way < MR_BUCKET_WAYS; way++)
		if ((b->way[way] & ~MR_ENTRY_OVERFLOW) == entry) {
			p->other[(size_t)bucket * MR_BUCKET_WAYS + way] = other;
			return true;
		}
	return false;
}

static int note_other(void *to, const struct filter_place_item *i)
{
	struct placing *p = to;
	uint64_t entry = mr_entry(hash_of(i), i->set, i->subtree);
	uint32_t first = mr_bucket_first(hash_of(i), p->mask), second = mr_bucket_second(hash_of(i), p->mask);

	if (!note_in(p, first, entry, second))
		note_in(p, second, entry, first | SECOND);
	return 0;
}

/* Put an entry into a full bucket, by moving one of those there to that one's other choice. */
static bool squeeze(struct placing *p, uint32_t bucket, uint64_t entry, uint32_t other)
{
	uint32_t *mine = &p->other[(size_t)bucket * MR_BUCKET_WAYS], to, way, there;
	__u64 *w;

	for (way = 0; way < MR_BUCKET_WAYS; way++) {
		w = &p->buckets[bucket].way[way];
		to = mine[way] & ~SECOND;
		there = free_way(&p->buckets[to]);
		if (to == bucket || there == MR_BUCKET_WAYS)
			continue;
		p->buckets[to].way[there] = *w & ~MR_ENTRY_OVERFLOW;
		p->other[(size_t)to * MR_BUCKET_WAYS + there] = bucket | (mine[way] & SECOND ? 0 : SECOND);
		*w = entry | (*w & MR_ENTRY_OVERFLOW);
		if (!(mine[way] & SECOND))
			mark_overflow(p, bucket);
		mine[way] = other;
		return true;
	}
	return false;
}

static int to_stash(struct mr_unit *u, const struct filter_place_item *i)
{
	if (u->stash_count == MR_STASH_MAX)
		return -ENOSPC;
	u->stash[u->stash_count].h1 = i->h1;
	u->stash[u->stash_count++].entry = mr_entry(hash_of(i), i->set, i->subtree);
	return 0;
}

static int place_late(struct placing *p, const struct filter_place_item *i, struct mr_unit *unit)
{
	uint64_t entry = mr_entry(hash_of(i), i->set, i->subtree);
	uint32_t first = mr_bucket_first(hash_of(i), p->mask), second = mr_bucket_second(hash_of(i), p->mask);

	if (squeeze(p, first, entry, second))
		return 0;
	if (!squeeze(p, second, entry, first | SECOND))
		return to_stash(unit, i);
	mark_overflow(p, first);
	return 0;
}

int filter_place(struct mr_filter_bucket *buckets, uint32_t mask, filter_place_each each, const void *from,
		 struct mr_unit *unit)
{
	struct placing p = { .buckets = buckets, .mask = mask };
	size_t i;
	int err = each(from, place_one, &p);

	if (err || !p.count)
		goto out;
	p.other = calloc((mask + 1ULL) * MR_BUCKET_WAYS, sizeof(*p.other));
	err = p.other ? each(from, note_other, &p) : -ENOMEM;
	for (i = 0; i < p.count && !err; i++)
		err = place_late(&p, &p.late[i], unit);
out:
	free(p.late);
	free(p.other);
	return err;
}
