/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * csum.h - checksums from parts (RFC 1071).
 *
 * Sums are kept as mr_sum_add() does: 64 bits wide, of words in memory order.
 * A part that starts at an odd offset counts with its octets swapped, which
 * modulo 65535 is a shift by eight; no part is ever summed twice.
 */
#ifndef BPF_CSUM_H
#define BPF_CSUM_H

#include "maps/answer.h"

/* The share of a part that starts at that offset; the sum must be below 2^56. */
MR_INLINE __u64 csum_shift(__u64 sum, __u32 offset)
{
	return sum << ((offset & 1) << 3);
}

/* The checksum field, in memory order, for a sum over everything else. */
MR_INLINE __u16 csum_field(__u64 sum)
{
	return ~mr_sum_fold(sum);
}

/* The same for UDP, where 0 would say that there is none (RFC 768). */
MR_INLINE __u16 csum_udp_field(__u64 sum)
{
	__u16 field = csum_field(sum);

	return field ? field : 0xffff;
}

/* Replace a 32-bit field, in memory order, in a sum; the multiple of 65535 keeps it from going below 0. */
MR_INLINE __u64 csum_replace(__u64 sum, __u32 before, __u32 after, __u32 offset)
{
	__u64 plus = (after & 0xffff) + (after >> 16);
	__u64 minus = (before & 0xffff) + (before >> 16);

	return sum + csum_shift(plus + 4 * 65535 - minus, offset);
}

#endif
