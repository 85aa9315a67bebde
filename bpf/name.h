/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * name.h - the question's name: copied out of the frame, walked, lower-cased,
 * hashed with all its parents.
 *
 * Pure.  Works on a copy because a walk over packet pointers does not get past
 * the verifier; the frame keeps the client's own letters.
 */
#ifndef BPF_NAME_H
#define BPF_NAME_H

#include "bpf/query.h"

/*
 * Copy the len octets at an offset of the frame, eight at a time, and clear
 * what follows them up to a multiple of eight.  The last ones come out of the
 * eight that end with them, for behind those the frame may end: there are eight,
 * since a DNS header stands before the name.
 */
MR_INLINE int name_copy(const struct world_frame *f, __u32 at, __u32 len, struct mr_name *n)
{
	__u32 words = len >> 3, i;
	struct cursor c = cursor_at(f, at);
	const __u8 *p;

	for (i = 0; i < MR_NAME_MAX / 8; i++) {
		if (i >= words)
			break;
		p = cursor_take(&c, 8);
		if (!p)
			return -1;
		mr_store64(n->text + 8 * i, mr_load64(p));
	}
	c = cursor_at(f, (at + len - 8) & QUERY_OFFSET_MASK);
	p = cursor_take(&c, 8);
	if (!p)
		return -1;
	mr_store64(n->text + 8 * (words & 31), mr_load64(p) >> 1 >> (63 - 8 * (len & 7)));
	return 0;
}

/**
 * Take the name at offset dns + 12.
 *
 * @n  filled, hashes included, and @q->name_sum, on success
 */
MR_INLINE enum mr_stat name_take(struct world_frame *f, __u32 dns, __u32 dns_len, const struct mr_secret *secret,
				 __u32 zero, struct mr_name *n, struct query *q)
{
	__u32 len = dns_len - DNS_HEADER, labels;
	int err;

	if (len > MR_NAME_MAX)
		len = MR_NAME_MAX;
	len = (len + zero) & 255;
	if (name_copy(f, dns + DNS_HEADER, len, n))
		return MR_STAT_pass_truncated;
	err = mr_name_walk(n, len, zero);
	if (err == MR_NAME_DEEP)
		return MR_STAT_pass_labels;
	if (err)
		return MR_STAT_pass_name;
	len = MR_READ(n->len) & 255;
	labels = MR_READ(n->labels) & 31;
	q->name_sum = mr_name_lower(n, len);
	mr_name_fold(n, labels, secret);
	return PACKET_GO_ON;
}

#endif
