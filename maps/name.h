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
 * wire form, zero behind it (the program: up to the next multiple of eight);
 * left[i] is the offset of the i-th label from the left, at[i] that of the
 * label that leaves i labels to its right: at[labels - 1] is 0, hash[i] belongs
 * to the suffix of i labels, which starts at at[i - 1], and hash[0] to the root.
 */
struct mr_name {
	__u8 text[MR_NAME_BUF];
	__u16 len;
	__u16 labels;
	__u32 pad;
	__u16 left[MR_LABELS_MAX];
	__u16 at[MR_LABELS_MAX];
	struct mr_hash hash[MR_LABELS_MAX + 1];
};

/* What a walk may say of a name, 0 being good. */
#define MR_NAME_MALFORMED (-1)		/* a pointer, a label over 63, over 255 octets, or past the end */
#define MR_NAME_DEEP      (-2)		/* more labels than MR_LABELS_MAX; what follows was not looked at */

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

/**
 * Find the end of the name at the start of n->text, and its labels.
 *
 * @avail  octets that may belong to the name (at most MR_NAME_MAX are used)
 * @zero   0; for the program a word of mr_conf that is always 0, which keeps
 *         the verifier from following each number of labels on its own
 *         (added, because Linux 6.1 forgets all bounds in an or, xor, shift or
 *         product with something unknown, and the mask must come last)
 *
 * Sets n->len (root byte included), n->labels and n->left.  Letter case does
 * not matter.  Returns 0, MR_NAME_MALFORMED or MR_NAME_DEEP.
 */
MR_INLINE int mr_name_walk(struct mr_name *n, __u32 avail, __u32 zero)
{
	__u32 off = 0, i, len;
	int err = MR_NAME_DEEP;

	if (avail > MR_NAME_MAX)
		avail = MR_NAME_MAX;
	for (i = 0; i <= MR_LABELS_MAX; i++) {
		err = MR_NAME_MALFORMED;
		if (off >= avail)
			break;
		len = n->text[off & MR_NAME_MASK];
		if (len > 63)
			break;
		err = 0;
		if (!len)
			break;
		err = MR_NAME_DEEP;
		if (i < MR_LABELS_MAX)
			n->left[i] = off;
		off += len + 1;
	}
	n->labels = (i + zero) & 31;
	n->len = ((off + zero) & MR_NAME_MASK) + 1;
	return err;
}

/**
 * Lower-case the first len octets of n->text and clear what follows them up to
 * a multiple of eight (a whole word of zeros when len is one already).
 *
 * Returns the sum of the octets as they were, in 32-bit words of host order:
 * what a ones-complement sum over the client's own letters starts from.
 */
MR_INLINE __u64 mr_name_lower(struct mr_name *n, __u32 len)
{
	__u32 words = (len >> 3) & 31, i;
	__u64 sum = 0, w;
	mr_word *p;

	for (i = 0; i < words; i++) {
		w = mr_load64(n->text + ((i * 8) & MR_NAME_MASK));
		sum += (__u32)w + (w >> 32);
		p = (mr_word *)(n->text + ((i * 8) & MR_NAME_MASK));
		*p = mr_lower8(w);
	}
	p = (mr_word *)(n->text + words * 8);
	w = *p & ((1ULL << (8 * (len & 7))) - 1);
	*p = mr_lower8(w);
	return sum + (__u32)w + (w >> 32);
}

/*
 * Eight octets at any offset, put together from two aligned words: a load
 * across two stores that have just been made waits for both to reach the cache.
 */
MR_INLINE __u64 mr_name_word(const struct mr_name *n, __u32 off)
{
	const __u8 *p = n->text + (off & MR_NAME_MASK & ~7U);
	__u32 shift = 8 * (off & 7);

	return mr_load64(p) >> shift | mr_load64(p + 8) << 1 << (63 - shift);
}

/**
 * Hash a walked, lower-case name and all its parents into n->at and n->hash.
 *
 * @labels  n->labels, 0..MR_LABELS_MAX
 *
 * Each label is taken in 8-byte words and a last one cut to what is left (it
 * may be empty).  No branch depends on the remainder.
 */
MR_INLINE void mr_name_fold(struct mr_name *n, __u32 labels, const struct mr_secret *s)
{
	__u64 c0 = s->root[0], c1 = s->root[1], a0, a1, w;
	__u32 i, j, off, len, words;

	n->hash[0].h0 = mr_finish(c0);
	n->hash[0].h1 = mr_finish(c1);
	for (i = 0; i < MR_LABELS_MAX; i++) {
		if (i >= labels)
			break;
		off = n->left[(labels - 1 - i) & (MR_LABELS_MAX - 1)] & MR_NAME_MASK;
		n->at[i] = off;
		len = (n->text[off] & 63) + 1;
		words = len >> 3;
		a0 = 0;
		a1 = 0;
		for (j = 0; j < MR_LABEL_WORDS; j++) {
			if (j >= words)
				break;
			w = mr_name_word(n, off + 8 * j);
			a0 += mr_nh(w, s->label[0][j][0], s->label[0][j][1]);
			MR_ORDER();
			a1 += mr_nh(w, s->label[1][j][0], s->label[1][j][1]);
			MR_ORDER();
		}
		w = mr_name_word(n, off + 8 * words) & ((1ULL << (8 * (len & 7))) - 1);
		a0 += mr_nh(w, s->label[0][words][0], s->label[0][words][1]);
		MR_ORDER();
		a1 += mr_nh(w, s->label[1][words][0], s->label[1][words][1]);
		MR_ORDER();
		c0 = mr_nh(c0, s->fold[0][i][2], s->fold[0][i][3]);
		c0 += mr_nh(a0, s->fold[0][i][0], s->fold[0][i][1]);
		n->hash[i + 1].h0 = mr_finish(c0);
		MR_ORDER();
		c1 = mr_nh(c1, s->fold[1][i][2], s->fold[1][i][3]);
		c1 += mr_nh(a1, s->fold[1][i][0], s->fold[1][i][1]);
		n->hash[i + 1].h1 = mr_finish(c1);
		MR_ORDER();
	}
}

/**
 * Hash the lower-case wire name n->text of n->len octets and all its parents.
 *
 * @zero  0 (see mr_name_walk)
 *
 * The caller has zeroed what lies behind the name.  Returns 0; or
 * MR_NAME_MALFORMED (-1), also when the name ends before or behind n->len; or
 * MR_NAME_DEEP (-2).
 */
MR_INLINE int mr_name_hash(struct mr_name *n, const struct mr_secret *s, __u32 zero)
{
	__u32 len = n->len;
	int err = mr_name_walk(n, len, zero);

	if (!err && n->len != len)
		err = MR_NAME_MALFORMED;
	if (!err)
		mr_name_fold(n, n->labels, s);
	return err;
}

#endif
