/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * name.h - names as both worlds hash them.
 *
 * A name is its wire form, lower-cased whole.  Each label (length byte and
 * text) is hashed in 8-byte words by NH: 32x32-bit multiplies under a secret
 * key per word position, in two lanes with keys of their own.  The labels are
 * then folded from the root leftwards, again by NH with keys per depth, so the
 * hash of every parent falls out on the way.  Two different names share both
 * lanes with a chance of about 2^-64 for whoever does not know the secret.
 *
 * The secret is made once by the daemon, kept in the state directory (0600),
 * and copied into the map mr_secret; everything that holds hashes carries its
 * fingerprint.
 */
#ifndef MAPS_NAME_H
#define MAPS_NAME_H

#include "maps/types.h"

/* A name is worked on in a buffer that any masked offset may be read from, eight bytes at a time. */
#define MR_NAME_MASK     511
#define MR_NAME_BUF      (MR_NAME_MASK + 1 + 8)
#define MR_LABEL_WORDS   8		/* 64 bytes: the length byte and 63 octets */
#define MR_LANES         2

/* Word-position keys; the ninth takes the (empty) tail of a 64-byte label. */
struct mr_secret {
	__u64 fingerprint;		/* of all that follows; 0: no secret here */
	__u32 label[MR_LANES][MR_LABEL_WORDS + 1][2];
	__u32 fold[MR_LANES][MR_LABELS_MAX][4];
	__u64 root[MR_LANES];		/* the hash of the root name */
	__u64 client[4];		/* for maps/client.h */
	__u64 answer[2];		/* for maps/answer.h */
};

/* The hash of one name: two lanes, each finished (all bits usable). */
struct mr_hash {
	__u64 h0;
	__u64 h1;
};

/*
 * A name with the hashes of itself and of its parents.  text is the lower-case
 * wire form, zero behind it; at[i] is the offset of the label that leaves i
 * labels to its right, so at[0] is the root byte, at[labels - 1] is 0 and
 * hash[i] belongs to the suffix at at[i - 1], hash[0] to the root.
 */
struct mr_name {
	__u8 text[MR_NAME_BUF];
	__u16 len;
	__u16 labels;
	__u32 pad;
	__u16 at[MR_LABELS_MAX];
	struct mr_hash hash[MR_LABELS_MAX + 1];
};

/* Lower-case eight octets of a wire name at once; length bytes (0..63) are below 'A' and stay. */
MR_INLINE __u64 mr_lower8(__u64 w)
{
	const __u64 ones = 0x0101010101010101ULL;
	__u64 low7 = w & (ones * 0x7f);
	__u64 ge_a = low7 + ones * (0x80 - 'A');
	__u64 gt_z = low7 + ones * (0x80 - 'Z' - 1);
	__u64 is = (ge_a & ~gt_z & ~w) & (ones * 0x80);

	return w | (is >> 2);
}

MR_INLINE __u64 mr_nh(__u64 w, __u32 k0, __u32 k1)
{
	return (__u64)(__u32)((__u32)w + k0) * (__u32)((__u32)(w >> 32) + k1);
}

/* Spread an NH sum over all bits; a bijection, so it adds no collision. */
MR_INLINE __u64 mr_finish(__u64 v)
{
	v ^= v >> 32;
	v *= 0x9e3779b97f4a7c15ULL;
	v ^= v >> 29;
	return v;
}

#endif
