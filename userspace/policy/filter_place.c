/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter_place.c - finds each name a place in the buckets.
 *
 * First choice; else second choice, and the first bucket gets its overflow
 * mark; else an entry of one of the two buckets moves to its own other
 * choice; else the stash.
 */
#include <errno.h>
#include <stdlib.h>
#include "policy/filter_file.h"

#define PREFETCH 16

struct placing {
	struct mr_filter_bucket *buckets;
	uint32_t *owner;		/* number of the name in each way, for moving it */
	uint8_t *used;			/* ways in use, by bucket */
	uint32_t mask;
	filter_place_get get;
	const void *arg;
	struct mr_unit *unit;
};

static struct mr_hash hash_of(const struct filter_place_item *i)
{
	return (struct mr_hash){ i->h0, i->h1 };
}

static void set_way(struct placing *p, uint32_t bucket, unsigned way, uint64_t entry, uint32_t number)
{
	__u64 *w = &p->buckets[bucket].way[way];

	*w = entry | (*w & MR_ENTRY_OVERFLOW);
	p->owner[bucket * MR_BUCKET_WAYS + way] = number;
}

static bool put(struct placing *p, uint32_t bucket, uint64_t entry, uint32_t number)
{
	if (p->used[bucket] == MR_BUCKET_WAYS)
		return false;
	set_way(p, bucket, p->used[bucket]++, entry, number);
	return true;
}

static void mark_overflow(struct placing *p, uint32_t bucket)
{
	p->buckets[bucket].way[0] |= MR_ENTRY_OVERFLOW;
}

/* Empty a way of a full bucket by moving its entry to that one's other choice; the way, or -1. */
static int make_room(struct placing *p, uint32_t bucket)
{
	struct filter_place_item item;
	uint32_t number, first, other;
	int way;

	for (way = 0; way < MR_BUCKET_WAYS; way++) {
		number = p->owner[bucket * MR_BUCKET_WAYS + way];
		item = p->get(p->arg, number);
		first = mr_bucket_first(hash_of(&item), p->mask);
		other = first == bucket ? mr_bucket_second(hash_of(&item), p->mask) : first;
		if (other == bucket || !put(p, other, mr_entry(hash_of(&item), item.set, item.subtree), number))
			continue;
		if (first == bucket)
			mark_overflow(p, bucket);
		return way;
	}
	return -1;
}

static int to_stash(struct mr_unit *u, const struct filter_place_item *i)
{
	if (u->stash_count == MR_STASH_MAX)
		return -ENOSPC;
	u->stash[u->stash_count].h1 = i->h1;
	u->stash[u->stash_count++].entry = mr_entry(hash_of(i), i->set, i->subtree);
	return 0;
}

static int place_one(struct placing *p, uint32_t number)
{
	struct filter_place_item i = p->get(p->arg, number);
	uint64_t entry = mr_entry(hash_of(&i), i.set, i.subtree);
	uint32_t first = mr_bucket_first(hash_of(&i), p->mask), second = mr_bucket_second(hash_of(&i), p->mask);
	int way;

	if (put(p, first, entry, number))
		return 0;
	if (put(p, second, entry, number)) {
		mark_overflow(p, first);
		return 0;
	}
	way = make_room(p, first);
	if (way >= 0) {
		set_way(p, first, (unsigned)way, entry, number);
		return 0;
	}
	way = make_room(p, second);
	if (way >= 0) {
		set_way(p, second, (unsigned)way, entry, number);
		mark_overflow(p, first);
		return 0;
	}
	return to_stash(p->unit, &i);
}

int filter_place(struct mr_filter_bucket *buckets, uint32_t mask, filter_place_get get, const void *arg,
		 uint32_t count, struct mr_unit *unit)
{
	struct placing p = { .buckets = buckets, .mask = mask, .get = get, .arg = arg, .unit = unit };
	struct filter_place_item ahead;
	uint32_t i;
	int err = 0;

	p.owner = malloc((mask + 1ULL) * MR_BUCKET_WAYS * sizeof(*p.owner));
	p.used = calloc(mask + 1ULL, 1);
	if (!p.owner || !p.used) {
		err = -ENOMEM;
		goto out;
	}
	for (i = 0; i < count && !err; i++) {
		if (i + PREFETCH < count) {
			ahead = get(arg, i + PREFETCH);
			__builtin_prefetch(&buckets[mr_bucket_first(hash_of(&ahead), mask)], 1);
		}
		err = place_one(&p, i);
	}
out:
	free(p.owner);
	free(p.used);
	return err;
}
