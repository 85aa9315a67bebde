/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * answer.h - the table of complete answers that the kernel may give.
 *
 * A set-associative table: mr_buckets holds eight {tag, unit} words a bucket,
 * mr_answers holds the answers in pages of 4 KiB cut into units of 128 bytes.
 * An answer takes 2 to 15 neighbouring units of one page.  Unit 0 of page 0 is
 * never used: a word with unit 0 is an empty way.
 *
 * Written by userspace/kern/answers.c alone, read by bpf/answer.h; the kernel
 * writes the two marks and nothing else, with plain stores.
 *
 * Writer: first stamp, fence, contents, fence, last stamp.  Reader: loads the
 * last stamp first and the first stamp last, with all it uses between the two
 * loads, and takes the answer only if they are equal and not 0, the name is
 * the question's, and the sum of what it copied is the one stored.
 */
#ifndef MAPS_ANSWER_H
#define MAPS_ANSWER_H

#include "maps/name.h"

#define MR_ANSWER_WAYS   8
#define MR_PAGE_SIZE     4096
#define MR_UNIT_SIZE     128
#define MR_PAGE_UNITS    (MR_PAGE_SIZE / MR_UNIT_SIZE)
#define MR_TTLS_MAX      16		/* TTL fields that the kernel ages */
#define MR_CHAIN_MAX     8		/* CNAME links whose sets are judged */
#define MR_MESSAGE_MAX   1232		/* our own EDNS size; no answer from here is bigger */
#define MR_BODY_MAX      (MR_MESSAGE_MAX - 12 - 5)
#define MR_ANSWER_UNITS_MAX 14		/* head, the longest name and the longest body it leaves room for */

struct mr_answer_bucket {
	__u64 way[MR_ANSWER_WAYS];	/* tag << 32 | unit number */
};

/* Part of the key, beside the name and the type. */
enum mr_answer_key {
	MR_KEY_DO  = 1,
	MR_KEY_CD  = 2,
	MR_KEY_ANY = 4,			/* the same for all queries, whatever their DO and CD */
};

/* Properties of an answer. */
enum mr_answer_flag {
	MR_ANSWER_LOCAL     = 1,	/* from a local zone: RD may be clear, TTLs are not aged */
	MR_ANSWER_AD        = 2,	/* validated: AD when the query had DO or AD */
	MR_ANSWER_CHAIN     = 4,	/* leads to other names (CNAME, HTTPS, SVCB): dead unless filter_generation is today's */
	MR_ANSWER_NEGATIVE  = 8,
};

/*
 * The head of an answer.  The name (lower case) follows at MR_ANSWER_NAME, with
 * zeros before it so that it ends at a multiple of eight; then the body: answer
 * and authority sections as they go on the wire behind the question, owners
 * compressed against offset 12.  TTL offsets count from the start of the body
 * and rise.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC_COARSE.
 */
struct mr_answer {
	__u32 stamp_first;
	__u32 stamp_last;
	__u8 hit;			/* set by the kernel at each hit, cleared by the daemon's clock hand */
	__u8 refresh;			/* set by the kernel at the first hit near the end */
	__u16 generation_slot;		/* which of mr_conf.generation it depends on */
	__u32 generation;		/* alive while that equals this */
	/* summed from here on */
	__u64 born;
	__u64 expires;
	__u64 stale_until;		/* until then given as a stale one while mr_conf_stale(); expires: never */
	__u16 dns_flags;		/* host order: AA, RA and rcode bits of the header; the rest is the query's */
	__u16 answers;
	__u16 authorities;
	__u16 body_len;
	__u16 qtype;			/* host order; with the two that follow the word of mr_answer_question() */
	__u8 name_len;
	__u8 key;			/* enum mr_answer_key */
	__u8 flags;			/* enum mr_answer_flag */
	__u8 ttls;
	__u8 chain_len;
	__u8 pad;
	__u32 filter_generation;
	__u32 refresh_ms;		/* the last part of the life in which a hit asks for a refresh */
	/* second line */
	__u32 body_sum;			/* ones-complement sum of the body, folded to 16 bits, first octet high */
	__u32 head_sum;			/* mr_answer_sum() over the head's summed words, the name excluded */
	__u16 ttl_at[MR_TTLS_MAX];
	__u16 chain[MR_CHAIN_MAX];	/* set ids, 0 behind the last */
	__u64 pad2;
};

#define MR_ANSWER_NAME ((int)sizeof(struct mr_answer))

/* Where the name starts, from the start of the answer. */
MR_INLINE __u32 mr_answer_name(__u32 name_len)
{
	return MR_ANSWER_NAME + mr_name_pad(name_len);
}

/* Where the body starts, from the start of the answer. */
MR_INLINE __u32 mr_answer_body(__u32 name_len)
{
	return MR_ANSWER_NAME + ((name_len + 7) & ~7U);
}

/* Units that an answer takes, for a body of that length. */
MR_INLINE __u32 mr_answer_units(__u32 name_len, __u32 body_len)
{
	return (mr_answer_body(name_len) + ((body_len + 7) & ~7U) + MR_UNIT_SIZE - 1) / MR_UNIT_SIZE;
}

/* Add eight octets to a running sum of 32-bit words, which modulo 65535 is a ones-complement sum (RFC 1071). */
MR_INLINE __u64 mr_sum_add(__u64 sum, __u64 w)
{
	return sum + mr_low32(w) + (w >> 32);
}

/* Fold a running sum to 16 bits of host order; 0 only if nothing but zeros was summed. */
MR_INLINE __u32 mr_sum_fold(__u64 sum)
{
	sum = mr_low32(sum) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u32)((sum & 0xffff) + (sum >> 16));
}

/* mr_sum_fold() with the first octet high, as mr_answer.body_sum is kept: the two octets swapped. */
MR_INLINE __u32 mr_sum_high(__u64 sum)
{
	__u32 f = mr_sum_fold(sum);

	return (f & 0xff) << 8 | f >> 8;
}

/**
 * The body_sum of a body: its ones-complement sum, an odd last octet taken as
 * if a zero followed, folded to 16 bits, the first octet high.
 *
 * @body  readable up to the next multiple of eight; what lies there does not count
 */
MR_INLINE __u32 mr_body_sum(const void *body, __u32 len)
{
	const __u8 *p = (const __u8 *)body;
	__u64 sum = 0;
	__u32 i;

	for (i = 0; i + 8 <= len; i += 8)
		sum = mr_sum_add(sum, mr_load64(p + i));
	if (len & 7)
		sum = mr_sum_add(sum, mr_load64(p + i) & ((1ULL << (8 * (len & 7))) - 1));
	return mr_sum_high(sum);
}

/* What an answer's qtype, name_len and key must be, as the word they make. */
MR_INLINE __u32 mr_answer_question(__u32 qtype, __u32 name_len, __u32 key)
{
	return qtype | name_len << 16 | key << 24;
}

/* The head in 64-bit words: all is summed from born on, of the word with body_sum and head_sum the first alone. */
#define MR_ANSWER_WORDS     16
#define MR_ANSWER_SUM_FIRST 2
#define MR_ANSWER_SUM_HALF  8

/**
 * Copy the summed part of a head word by word and sum it on the way.
 *
 * @to  its marks, stamps and generation are left alone; may be from itself
 *
 * Returns what head_sum must be: the sum of the 64-bit words from born to the
 * end of the head, head_sum excluded, its upper half added to the lower.
 */
MR_INLINE __u32 mr_answer_take(struct mr_answer *to, const struct mr_answer *from)
{
	const volatile mr_word *f = (const volatile mr_word *)from;
	mr_word *t = (mr_word *)to;
	__u64 sum = 0, w;
	__u32 i;

	MR_UNROLL
	for (i = MR_ANSWER_SUM_FIRST; i < MR_ANSWER_WORDS; i++) {
		w = f[i];
		t[i] = w;
		sum += i == MR_ANSWER_SUM_HALF ? (__u32)w : w;
		MR_SETTLE(sum);		/* or all words are kept, to be summed when the sum is asked for */
		MR_ORDER();
	}
	return (__u32)sum + (__u32)(sum >> 32);
}

/* The head_sum of a head whose other fields are all set. */
MR_INLINE __u32 mr_answer_sum(const struct mr_answer *a)
{
	struct mr_answer copy;

	return mr_answer_take(&copy, a);
}

/*
 * The unit of the answer with that tag in a bucket, or 0.  A tag stands in a
 * bucket once; if it ever stood there twice, the unit would be none of the two,
 * and what the reader finds there has another name.
 */
MR_INLINE __u32 mr_answer_way(const struct mr_answer_bucket *b, __u64 place)
{
	__u64 unit = 0, w, same;
	__u32 i;

	MR_UNROLL
	for (i = 0; i < MR_ANSWER_WAYS; i++) {
		w = MR_READ(b->way[i]);
		same = mr_if_zero((w ^ place) >> 32);
		MR_OPAQUE(same);
		unit |= w & same;
		MR_ORDER();
	}
	return (__u32)unit;
}

/* Place of an answer: the low word finds the bucket, the high word is the tag (never 0). */
MR_INLINE __u64 mr_answer_place(const struct mr_hash *h, __u32 qtype, __u32 key, const struct mr_secret *s)
{
	__u64 w = (__u64)qtype << 8 | key;

	return mr_finish(h->h0 + mr_nh(w << 17 ^ h->h1, s->answer[0])) | 1ULL << 32;
}

#endif
