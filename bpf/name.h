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

/*
 * Lower-case the octets of a word that belong to the name and put it in its
 * place; what stands before them, of the DNS header, is cut off.  The sum for
 * the checksum is over the client's own letters.
 *
 * @at  offset of the word in the frame
 */
MR_INLINE int name_word(const struct world_frame *f, __u32 at, __u64 mask, __u32 j, const struct mr_secret *secret,
			struct mr_name *n, struct query *q)
{
	struct cursor c = cursor_at(f, at & QUERY_OFFSET_MASK);
	const __u8 *p = cursor_take(&c, 8);
	__u64 w;

	if (!p)
		return -1;
	w = mr_load64(p) & mask;
	q->name_sum = mr_sum_add(q->name_sum, w);
	mr_name_put(n, j, mr_lower8(w), secret);
	return 0;
}

/*
 * Take all words of the name that ends at an offset of the frame, from its end.
 * Sums stand in memory: what a loop carries in registers, clang spills, and
 * the verifier then follows what is behind the loop for each number of rounds.
 */
MR_INLINE int name_words(const struct world_frame *f, __u32 end, __u32 len, const struct mr_secret *secret,
			 struct mr_name *n, struct query *q)
{
	__u32 whole = (len - 1) >> 3, j;

	n->before[0].a0 = 0;
	n->before[0].a1 = 0;
	q->name_sum = 0;
	for (j = 0; j < MR_NAME_WORDS - 1; j++) {
		if (j >= whole)
			break;
		if (name_word(f, end - 8 - 8 * j, ~0ULL, j, secret, n, q))
			return -1;
		world_barrier();
	}
	whole &= MR_NAME_WORDS - 1;
	return name_word(f, end - 8 - 8 * whole, ~0ULL << (8 * mr_name_pad(len)), whole, secret, n, q);
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
