/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * filter.h - the table of filtered names, and what its sets mean to a group.
 *
 * Two units stand side by side in each map: the active one, which the program
 * reads, and the inactive one, which the daemon fills.  mr_conf.active chooses;
 * it is read once a packet.  A unit is its buckets (mr_filter), its Bloom words
 * (mr_bloom), its verdicts (mr_verdicts) and its header (mr_conf.unit).
 *
 * Written by userspace/kern, read by bpf/rule.h and by userspace/policy (the
 * compiled filter on disk has the same buckets and words).  Never written by
 * the kernel.  An entry is one aligned word, so a reader sees it whole.
 */
#ifndef MAPS_FILTER_H
#define MAPS_FILTER_H

#include "maps/name.h"

#define MR_BUCKET_WAYS   8
#define MR_SETS_MAX      16384		/* set 0 means "no entry"; the last is the ask set */
#define MR_SET_ASK       (MR_SETS_MAX - 1)
#define MR_UNITS         2
#define MR_STASH_MAX     16

/* An entry: 48 bits of tag, 14 of set, the kind, and in way 0 the overflow mark of its bucket. */
#define MR_ENTRY_OVERFLOW 1ULL		/* this bucket has entries in their second choice */
#define MR_ENTRY_SUBTREE  2ULL		/* the name and all below it; else the very name */
#define MR_ENTRY_SET_SHIFT 2
#define MR_ENTRY_TAG_MASK (~0ULL << 16)	/* the same bits of h0, shifted down by 16 to be compared */

struct mr_filter_bucket {
	__u64 way[MR_BUCKET_WAYS];
};

/* From weakest to strongest: the strongest of all entries that match a name wins. */
enum mr_verdict_kind {
	MR_NONE,
	MR_BLOCK,
	MR_ALLOW,
	MR_IMPORTANT_BLOCK,
	MR_ASK,				/* only user space can tell */
	MR_IMPORTANT_ALLOW,
	MR_LOCAL_ZONE,
	MR_VERDICTS
};

/*
 * What a set means to a group: cell [group * unit.sets + set] of the unit's part of mr_verdicts.
 * One word, since the daemon changes cells in place when a schedule does.
 */
struct mr_verdict {
	__u8 kind;			/* enum mr_verdict_kind */
	__u8 pad;
	__u16 list;			/* the list or rule that decided, for counters and the log */
	__u32 pad2;
} __attribute__((aligned(8)));

/* An entry that found no place: its hash, and the entry as it would stand in a bucket; all zero: an empty row. */
struct mr_stash_entry {
	__u64 h1;
	__u64 entry;
};

/* Header of a unit.  Bases are element numbers into the three maps; masks fit counts that are powers of two. */
struct mr_unit {
	__u32 bucket_base;
	__u32 bucket_mask;
	__u32 bloom_base;
	__u32 bloom_mask;
	__u32 verdict_base;
	__u32 sets;			/* sets in use, set 0 included */
	__u32 groups;
	__u32 depths;			/* bit d: some entry has d labels (d 0..16; 0 is the root) */
	__u64 entries;
	__u64 fingerprint;		/* of the secret the tags were made with */
	__u32 stash_count;
	__u32 ede_base;			/* element of mr_ede that belongs to list 0 */
	struct mr_stash_entry stash[MR_STASH_MAX];
};

MR_INLINE __u64 mr_entry(struct mr_hash h, __u32 set, int subtree)
{
	return (h.h0 & MR_ENTRY_TAG_MASK) | ((__u64)set << MR_ENTRY_SET_SHIFT) | (subtree ? MR_ENTRY_SUBTREE : 0);
}

MR_INLINE __u32 mr_entry_set(__u64 entry)
{
	return (entry >> MR_ENTRY_SET_SHIFT) & (MR_SETS_MAX - 1);
}

MR_INLINE __u32 mr_bucket_first(struct mr_hash h, __u32 mask)
{
	return (__u32)h.h1 & mask;
}

MR_INLINE __u32 mr_bucket_second(struct mr_hash h, __u32 mask)
{
	return (__u32)(h.h1 >> 32) & mask;
}

/* The one Bloom word of a name, and its three bits; a name whose bits are not all set has no entry. */
MR_INLINE __u32 mr_bloom_word(struct mr_hash h, __u32 mask)
{
	return (__u32)(h.h1 >> 20) & mask;
}

MR_INLINE __u64 mr_bloom_bits(struct mr_hash h)
{
	return 1ULL << (h.h0 & 63) | 1ULL << ((h.h0 >> 6) & 63) | 1ULL << ((h.h0 >> 12) & 63);
}

/* What the filter holds for one name: the words of its entries; set 0 is none, whatever else is there. */
struct mr_found {
	__u64 exact;
	__u64 subtree;
};

/* The outcome of a look at a whole name and its parents. */
struct mr_decision {
	struct mr_verdict verdict;	/* the strongest; kind MR_NONE when nothing matched */
	__u64 entry;			/* the entry it is from */
	__u32 depth;			/* labels of the name that the entry is for */
	__u32 pad;
};

/* Note an entry word of the name, or 0, by its kind. */
MR_INLINE void mr_entry_note(__u64 mine, struct mr_found *found)
{
	__u64 subtree = mine & (__u64)((__s64)(mine << 62) >> 63);	/* all of it or nothing, as MR_ENTRY_SUBTREE says */

	found->subtree |= subtree;
	found->exact |= mine ^ subtree;
}

/*
 * Note an entry word if it is for the name.  A name has one entry of a kind,
 * or, while it moves, the same word twice, so noting is an OR; an empty way,
 * whose set is 0, adds nothing even if it carries the overflow mark.
 */
MR_INLINE void mr_entry_match(__u64 entry, struct mr_hash h, struct mr_found *found)
{
	mr_entry_note(entry & mr_if_zero((entry ^ h.h0) >> 16), found);
}

/**
 * Note what a bucket holds for the name, of both kinds.  Nearly every name has
 * one entry, so the kinds are told apart once, and way by way only if there are
 * more.
 *
 * Returns whether the bucket overflows: then the name's second bucket counts too.
 */
MR_INLINE int mr_bucket_match(const struct mr_filter_bucket *b, struct mr_hash h, struct mr_found *found)
{
	__u64 marks = MR_READ(b->way[0]), entry = marks, mine = 0, same, count = 0;
	__u32 i;

	MR_UNROLL
	for (i = 0; i < MR_BUCKET_WAYS; i++) {
		if (i)
			entry = MR_READ(b->way[i]);
		same = mr_if_zero((entry ^ h.h0) >> 16);
		mine |= entry & same;
		count -= same;
		MR_ORDER();
	}
	if (count <= 1) {
		mr_entry_note(mine, found);
		return marks & MR_ENTRY_OVERFLOW;
	}
	for (i = 0; i < MR_BUCKET_WAYS; i++)
		mr_entry_match(MR_READ(b->way[i]), h, found);
	return marks & MR_ENTRY_OVERFLOW;
}

/* Note what the unit's stash holds for the name; rows that are not in use are zero. */
MR_INLINE void mr_stash_match(const struct mr_unit *u, struct mr_hash h, struct mr_found *found)
{
	__u64 differ;
	__u32 i;

	for (i = 0; i < MR_STASH_MAX; i++) {
		differ = MR_READ(u->stash[i].h1) ^ h.h1;
		differ = (differ | differ >> 32) & 0xffffffff;
		mr_entry_match(MR_READ(u->stash[i].entry) & mr_if_zero(differ), h, found);
	}
}

/* Cell of mr_verdicts for a set and a group; ~0 when the unit has no such cell, which means ask. */
MR_INLINE __u32 mr_verdict_cell(const struct mr_unit *u, __u32 group, __u32 set)
{
	__u32 sets = MR_READ(u->sets);

	if (group >= MR_READ(u->groups) || set >= sets)
		return ~0U;
	return MR_READ(u->verdict_base) + group * sets + set;
}

/* Read a cell whole. */
MR_INLINE struct mr_verdict mr_verdict_load(const struct mr_verdict *cell)
{
	__u64 w = MR_READ(*(const mr_word *)cell);
	struct mr_verdict v = { w & 0xff, 0, w >> 16 & 0xffff, 0 };

	return v;
}

MR_INLINE int mr_verdict_blocks(__u32 kind)
{
	return kind == MR_BLOCK || kind == MR_IMPORTANT_BLOCK;
}

/* Weigh an entry that matches: the stronger verdict stays, the earlier one among equals. */
MR_INLINE void mr_decide(struct mr_decision *d, struct mr_verdict v, __u64 entry, __u32 depth)
{
	if (v.kind <= d->verdict.kind)
		return;
	d->verdict = v;
	d->entry = entry & ~MR_ENTRY_OVERFLOW;
	d->depth = depth;
}

/**
 * Look one name up in a filter unit in memory: Bloom word, both buckets, stash.
 *
 * @buckets, @bloom  starts of the two maps (or of the compiled file)
 *
 * The program does the same through its map look-ups, bpf/rule.h.
 */
MR_INLINE struct mr_found mr_filter_find(const struct mr_unit *u, const struct mr_filter_bucket *buckets,
					 const __u64 *bloom, struct mr_hash h)
{
	struct mr_found found = { 0, 0 };
	__u64 bits = mr_bloom_bits(h);

	if ((MR_READ(bloom[u->bloom_base + mr_bloom_word(h, u->bloom_mask)]) & bits) != bits)
		return found;
	if (mr_bucket_match(&buckets[u->bucket_base + mr_bucket_first(h, u->bucket_mask)], h, &found))
		mr_bucket_match(&buckets[u->bucket_base + mr_bucket_second(h, u->bucket_mask)], h, &found);
	if (MR_READ(u->stash_count))
		mr_stash_match(u, h, &found);
	return found;
}

/* Weigh one entry for a group, cells read from memory. */
MR_INLINE void mr_filter_weigh(const struct mr_unit *u, const struct mr_verdict *verdicts, __u32 group, __u64 entry,
			       __u32 depth, struct mr_decision *d)
{
	struct mr_verdict v = { MR_ASK, 0, 0, 0 };
	__u32 cell = mr_verdict_cell(u, group, mr_entry_set(entry));

	if (!mr_entry_set(entry))
		return;
	if (cell != ~0U)
		v = mr_verdict_load(&verdicts[cell]);
	mr_decide(d, v, entry, depth);
}

/**
 * Decide about a name: the strongest verdict over its own entries and the
 * subtree entries of all its parents, the root included.
 *
 * @n  hashed (mr_name_hash)
 */
MR_INLINE struct mr_decision mr_filter_decide(const struct mr_unit *u, const struct mr_filter_bucket *buckets,
					      const __u64 *bloom, const struct mr_verdict *verdicts,
					      const struct mr_name *n, __u32 group)
{
	struct mr_decision d = { { MR_NONE, 0, 0, 0 }, 0, 0, 0 };
	__u32 depths = MR_READ(u->depths), i;
	struct mr_found found;

	for (i = n->labels + 1; i-- > 0;) {
		if (!(depths >> i & 1))
			continue;
		found = mr_filter_find(u, buckets, bloom, n->hash[i]);
		if (i == n->labels)
			mr_filter_weigh(u, verdicts, group, found.exact, i, &d);
		mr_filter_weigh(u, verdicts, group, found.subtree, i, &d);
	}
	return d;
}

#endif
