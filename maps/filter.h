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
#define MR_ENTRY_TAG_MASK (~0ULL << 16)

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

/* What a set means to a group: cell [group * unit.sets + set] of the unit's part of mr_verdicts. */
struct mr_verdict {
	__u8 kind;			/* enum mr_verdict_kind */
	__u8 pad;
	__u16 list;			/* the list or rule that decided, for counters and the log */
	__u32 pad2;
};

/* An entry that found no place: its hash, and the entry as it would stand in a bucket. */
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
	__u32 pad;
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

#endif
