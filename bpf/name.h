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
	/* From 1: query_header() has seen more, and 6.1 learns nothing from a test for 0. */
	len = ((len - 1 + zero) & 255) + 1;
	if (world_load(f, dns + DNS_HEADER, n->text, len))
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
