/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * name.h - the question's name: walked, lower-cased and hashed where it stands
 * in the frame, which keeps the client's own letters.
 *
 * Pure.  The hashes of parents are made when the filter asks for them.
 */
#ifndef BPF_NAME_H
#define BPF_NAME_H

#include "bpf/query.h"

/* Words that are taken from every name alike, which is as many as most have. */
#define NAME_FIRST 3

/* The octets of word j, counted from its end, that belong to a name; without a branch, which lengths would mislead. */
MR_INLINE __u64 name_mask(__u32 len, __u32 j)
{
	__s64 before = (__s64)(8 * (j + 1)) - len, some, none;	/* octets of the word that stand before the name */

	some = before - 8;
	MR_OPAQUE(some);
	some >>= 63;
	none = before >> 63;
	MR_OPAQUE(none);		/* or clang takes the greater of two, with the branch after all */
	before &= ~none;
	return some & ~0ULL << (8 * before & 63);
}

/*
 * Lower-case the octets of a word that belong to the name and put it in its
 * place; what stands before them, of the headers, is cut off.  The sum for the
 * checksum is over the client's own letters.
 */
MR_INLINE void name_word(__u64 w, __u32 j, const struct mr_secret *secret, struct mr_name *n, struct query *q)
{
	q->name_sum = mr_sum_add(q->name_sum, w);
	mr_name_put(n, j, mr_lower8(w), secret);
}

/*
 * Take the words behind the first ones.  Sums stand in memory: what a loop
 * carries in registers, clang spills, and the verifier then follows what is
 * behind the loop for each number of rounds.
 */
MR_INLINE int name_rest(const struct world_frame *f, __u32 end, __u32 len, const struct mr_secret *secret,
			struct mr_name *n, struct query *q)
{
	struct cursor c;
	const __u8 *p;
	__u32 j;

	for (j = NAME_FIRST; j < MR_NAME_WORDS; j++) {
		if (8 * j >= len)
			break;
		c = cursor_at(f, (end - 8 - 8 * j) & QUERY_OFFSET_MASK);
		p = cursor_take(&c, 8);
		if (!p)
			return -1;
		name_word(mr_load64(p) & name_mask(len, j), j, secret, n, q);
		world_barrier();
	}
	return 0;
}

/*
 * Take all words of the name that ends at an offset of the frame, from its end.
 * The first ones are taken in any case: those that a name has not are zero, and
 * what is hashed of them is not asked for.  Names of 9 to 24 octets so take the
 * same way, which no CPU has to guess.
 */
MR_INLINE int name_words(const struct world_frame *f, __u32 end, __u32 len, const struct mr_secret *secret,
			 struct mr_name *n, struct query *q)
{
	struct cursor c = cursor_at(f, (end - 8 * NAME_FIRST) & QUERY_OFFSET_MASK);
	const __u8 *p = cursor_take(&c, 8 * NAME_FIRST);
	__u32 j;

	if (!p)
		return -1;
	n->before[0].a0 = 0;
	n->before[0].a1 = 0;
	q->name_sum = 0;
	MR_UNROLL
	for (j = 0; j < NAME_FIRST; j++)
		name_word(mr_load64(p + 8 * (NAME_FIRST - 1 - j)) & name_mask(len, j), j, secret, n, q);
	world_barrier();
	return len > 8 * NAME_FIRST ? name_rest(f, end, len, secret, n, q) : 0;
}

/**
 * Take the name at offset dns + 12.
 *
 * @n  filled, the hash of the whole name included, and @q->name_sum, on success
 */
MR_INLINE enum mr_stat name_take(struct world_frame *f, __u32 dns, __u32 dns_len, const struct mr_secret *secret,
				 __u32 zero, struct mr_name *n, struct query *q)
{
	struct cursor c = cursor_at(f, dns + DNS_HEADER);
	int err = mr_name_walk(n, c.pos, c.end, dns_len - DNS_HEADER, zero);
	__u32 len;

	if (err == MR_NAME_DEEP)
		return MR_STAT_pass_labels;
	if (err)
		return MR_STAT_pass_name;
	len = MR_READ(n->len) & MR_NAME_MASK;
	if (name_words(f, dns + DNS_HEADER + len, len, secret, n, q))
		return MR_STAT_pass_truncated;
	len = MR_READ(n->len) & MR_NAME_MASK;
	mr_name_whole(n, (len + 7) >> 3, MR_READ(n->labels) & (2 * MR_LABELS_MAX - 1));
	return PACKET_GO_ON;
}

#endif
