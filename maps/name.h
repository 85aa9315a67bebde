/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * name.h - names as both worlds hash them.
 *
 * A name is its wire form, lower-cased whole.  It is cut into words of eight
 * octets from its end, zeros standing before its first octet, and hashed by NH:
 * each word is added to the key of its place, and the products of the halves
 * are summed, in two lanes with keys of their own.  A parent is the end of the
 * name, so its words are the name's but for the first, where it begins, and its
 * sum is the sum over the words behind that one and one product more.  Two
 * different names share both lanes with a chance of about 2^-62 for whoever
 * does not know the secret.
 *
 * The secret is made once by the daemon, kept in the state directory (0600),
 * and copied into the map mr_secret; everything that holds hashes carries its
 * fingerprint.
 */
#ifndef MAPS_NAME_H
#define MAPS_NAME_H

#include "maps/types.h"

/* Of an offset into a name, and of its words: 256 octets. */
#define MR_NAME_MASK     255
#define MR_NAME_WORDS    32
#define MR_LANES         2

struct mr_secret {
	__u64 fingerprint;		/* of all that follows; 0: no secret here */
	__u64 name[MR_NAME_WORDS][MR_LANES];	/* by place of the word, from the end of the name */
	__u64 client[4];		/* for maps/client.h */
	__u64 answer[2];		/* for maps/answer.h */
};

/* The hash of one name: two lanes, each finished (all bits usable). */
struct mr_hash {
	__u64 h0;
	__u64 h1;
};

/* NH in both lanes, not finished. */
struct mr_lanes {
	__u64 a0;
	__u64 a1;
};

/*
 * A name, and what the hashes of itself and of its parents are made of.
 * word[j] are the eight octets that end 8 * j octets before the end, before[j]
 * is the sum over the words behind it, of which before[0] has none.  left[i] is the offset of the i-th label
 * from the left, left[labels] that of the root byte.  hash[i] belongs to the
 * parent of i labels, hash[labels] to the name itself.
 */
struct mr_name {
	__u16 len;
	__u16 labels;
	__u32 pad;
	__u16 left[2 * MR_LABELS_MAX];	/* as many as a mask lets through */
	struct mr_hash hash[MR_LABELS_MAX + 1];
	struct mr_lanes before[MR_NAME_WORDS + 1];
	__u64 word[MR_NAME_WORDS];
	__u8 text[MR_NAME_MAX + 1];	/* of the host: what is to be hashed, lower case, zero behind it */
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

/* One product of NH.  The key is added whole: a carry into the upper half costs one bit of the 32 and spares a load. */
MR_INLINE __u64 mr_nh(__u64 w, __u64 key)
{
	w += key;
	return mr_low32(w) * (w >> 32);
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
 * Find the end of a name, and its labels.
 *
 * @text   its first octet; @end: where reading must stop, whatever else is said
 * @avail  octets that may belong to the name (at most MR_NAME_MAX are used)
 * @zero   0; for the program a word of mr_conf that is always 0, which keeps
 *         the verifier from following each number of labels on its own
 *         (added, because Linux 6.1 forgets all bounds in an or, xor, shift or
 *         product with something unknown, and the mask must come last)
 *
 * Sets n->len (root byte included), n->labels and n->left.  Letter case does
 * not matter.  Returns 0, MR_NAME_MALFORMED or MR_NAME_DEEP.
 */
MR_INLINE int mr_name_walk(struct mr_name *n, const __u8 *text, const __u8 *end, __u32 avail, __u32 zero)
{
	__u32 off = 0, i, len;
	int err = MR_NAME_DEEP;
	const __u8 *p;

	if (avail > MR_NAME_MAX)
		avail = MR_NAME_MAX;
	for (i = 0; i <= MR_LABELS_MAX; i++) {
		err = MR_NAME_MALFORMED;
		if (off >= avail)
			break;
		p = text + (off & MR_NAME_MASK);
		if (p + 1 > end)
			break;
		len = *p;
		if (len > 63)
			break;
		n->left[i] = off;
		err = 0;
		if (!len)
			break;
		err = MR_NAME_DEEP;
		off += len + 1;
	}
	n->labels = (i + zero) & 31;
	n->len = ((off + zero) & MR_NAME_MASK) + 1;
	return err;
}

/* Take word j of the name, its letters lower-cased already; those behind it have been taken. */
MR_INLINE void mr_name_put(struct mr_name *n, __u32 j, __u64 w, const struct mr_secret *s)
{
	n->word[j] = w;
	n->before[j + 1].a0 = n->before[j].a0 + mr_nh(w, s->name[j][0]);
	n->before[j + 1].a1 = n->before[j].a1 + mr_nh(w, s->name[j][1]);
}

/* Hash the name itself, all words of which are taken, into n->hash[labels]. */
MR_INLINE void mr_name_whole(struct mr_name *n, __u32 words, __u32 labels)
{
	n->hash[labels].h0 = mr_finish(n->before[words].a0);
	n->hash[labels].h1 = mr_finish(n->before[words].a1);
}

/**
 * Hash the parent of @depth labels (0, the root, to 15) of a name whose words
 * are all taken; also n->hash[depth].
 */
MR_INLINE struct mr_hash mr_name_parent(struct mr_name *n, __u32 depth, const struct mr_secret *s)
{
	__u32 off = n->left[(n->labels - depth) & (2 * MR_LABELS_MAX - 1)];
	/* octets but one, so that words end where they should */
	__u32 last = (n->len - off - 1) & MR_NAME_MASK, j = last >> 3;
	__u64 w = n->word[j] & (~0ULL << (56 - 8 * (last & 7)));
	struct mr_hash h;

	h.h0 = mr_finish(n->before[j].a0 + mr_nh(w, s->name[j][0]));
	h.h1 = mr_finish(n->before[j].a1 + mr_nh(w, s->name[j][1]));
	return n->hash[depth & (MR_LABELS_MAX - 1)] = h;
}

/* A hash as it was left, lane by lane: clang may copy the struct octet by octet. */
MR_INLINE struct mr_hash mr_name_hashed(const struct mr_name *n, __u32 labels)
{
	struct mr_hash h = { MR_READ(n->hash[labels].h0), MR_READ(n->hash[labels].h1) };

	return h;
}

/* The first of so many octets in a buffer that holds them in words from the end. */
MR_INLINE __u32 mr_name_pad(__u32 len)
{
	return -len & 7;
}

/**
 * Hash the lower-case wire name n->text of n->len octets and all its parents,
 * on the host.
 *
 * Returns 0; or MR_NAME_MALFORMED (-1), also when the name ends before or
 * behind n->len; or MR_NAME_DEEP (-2).
 */
MR_INLINE int mr_name_hash(struct mr_name *n, const struct mr_secret *s)
{
	__u32 len = n->len, words = (len + 7) >> 3, j;
	int err = mr_name_walk(n, n->text, n->text + sizeof(n->text), len, 0);
	__u64 w;

	if (!err && n->len != len)
		err = MR_NAME_MALFORMED;
	if (err)
		return err;
	n->before[0].a0 = n->before[0].a1 = 0;
	for (j = 0; j < words; j++) {
		w = j + 1 < words || !(len & 7) ? mr_load64(n->text + len - 8 * (j + 1))
						: mr_load64(n->text) << (8 * mr_name_pad(len));
		mr_name_put(n, j, w, s);
	}
	mr_name_whole(n, words, n->labels);
	for (j = 0; j < n->labels; j++)
		mr_name_parent(n, j, s);
	return 0;
}

#endif
