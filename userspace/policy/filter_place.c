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
	uint64_t *bloom;
	uint32_t mask, bloom_mask;
	struct filter_place_item *late;	/* those that wait */
	size_t count, room;
	/* When some wait: a bit for each of their buckets, and the other choice of each entry there, perhaps with SECOND. */
	uint64_t *full;
	uint32_t *other;
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

	p->bloom[mr_bloom_word(hash_of(i), p->bloom_mask)] |= mr_bloom_bits(hash_of(i));
	if (put(p, first, entry))
		return 0;
	if (!put(p, mr_bucket_second(hash_of(i), p->mask), entry))
		return wait_for_others(p, i);
	mark_overflow(p, first);
	return 0;
}

/* ---- those that wait ---- */

static void mark_full(struct placing *p, uint32_t bucket)
{
	p->full[bucket / 64] |= 1ULL << bucket % 64;
}

static void note_in(struct placing *p, uint32_t bucket, uint64_t entry, uint32_t other)
{
	const struct mr_filter_bucket *b = &p->buckets[bucket];
	unsigned way;

	if (!(p->full[bucket / 64] >> bucket % 64 & 1))
		return;
	for (way = 0; way < MR_BUCKET_WAYS; way++)
		if ((b->way[way] & ~MR_ENTRY_OVERFLOW) == entry)
			p->other[(size_t)bucket * MR_BUCKET_WAYS + way] = other;
}

static int note_other(void *to, const struct filter_place_item *i)
{
	struct placing *p = to;
	uint64_t entry = mr_entry(hash_of(i), i->set, i->subtree);
	uint32_t first = mr_bucket_first(hash_of(i), p->mask), second = mr_bucket_second(hash_of(i), p->mask);

	/* it stands in one of them; where both are one, its first choice is noted last */
	note_in(p, second, entry, first | SECOND);
	note_in(p, first, entry, second);
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

/* Note what may move for those that wait. */
static int note_others(struct placing *p, filter_place_each each, const void *from)
{
	size_t i;

	p->full = calloc(p->mask / 64 + 1ULL, sizeof(*p->full));
	p->other = calloc((p->mask + 1ULL) * MR_BUCKET_WAYS, sizeof(*p->other));
	if (!p->full || !p->other)
		return -ENOMEM;
	for (i = 0; i < p->count; i++) {
		mark_full(p, mr_bucket_first(hash_of(&p->late[i]), p->mask));
		mark_full(p, mr_bucket_second(hash_of(&p->late[i]), p->mask));
	}
	return each(from, note_other, p);
}

int filter_place(struct mr_filter_bucket *buckets, uint64_t *bloom, filter_place_each each, const void *from,
		 struct mr_unit *unit)
{
	struct placing p = { .buckets = buckets, .bloom = bloom, .mask = unit->bucket_mask, .bloom_mask = unit->bloom_mask };
	size_t i;
	int err = each(from, place_one, &p);

	if (!err && p.count)
		err = note_others(&p, each, from);
	for (i = 0; i < p.count && !err; i++)
		err = place_late(&p, &p.late[i], unit);
	free(p.late);
	free(p.full);
	free(p.other);
	return err;
}
