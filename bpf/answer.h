/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * answer.h - find a cached answer, copy it whole, age it.
 *
 * Nothing of the copy is believed before the stamps, the name and the sums
 * have been found right; the frame is untouched until then.
 */
#ifndef BPF_ANSWER_H
#define BPF_ANSWER_H

#include "bpf/maps.h"
#include "bpf/name.h"

#define ANSWER_PAGE_MASK (MR_PAGE_SIZE - 8)
#define ANSWER_NS_PER_S  1000000000ULL

/* The bucket of a place; it is touched as soon as the place is known, so that the miss runs beside the filter's. */
MR_INLINE struct mr_answer_bucket *answer_bucket(const struct mr_conf *conf, __u64 place)
{
	__u32 i = (__u32)place & conf->bucket_mask;

	return bpf_map_lookup_elem(&mr_buckets, &i);
}

MR_INLINE void answer_touch(const struct mr_conf *conf, __u64 place)
{
	struct mr_answer_bucket *b = answer_bucket(conf, place);

	if (b)
		(void)MR_READ(b->way[0]);
}

MR_INLINE __u32 answer_way(const struct mr_conf *conf, __u64 place)
{
	struct mr_answer_bucket *b = answer_bucket(conf, place);

	return b ? mr_answer_way(b, place) : 0;
}

/* An answer in its page: where the page is, and the offset of the head. */
struct answer_slot {
	struct mr_page *page;
	__u32 at;
};

MR_INLINE struct mr_answer *answer_head(struct answer_slot slot)
{
	return (struct mr_answer *)(slot.page->byte + (slot.at & (MR_PAGE_SIZE - MR_UNIT_SIZE)));
}

MR_INLINE __u64 answer_word(struct answer_slot slot, __u32 offset)
{
	return *(volatile mr_word *)(slot.page->byte + ((slot.at + offset) & ANSWER_PAGE_MASK));
}

/* Whether the name that stands in the slot is the question's; zeros stand before both, and the slot ends with word 0. */
MR_INLINE int answer_name_equal(struct answer_slot slot, const struct mr_name *n, __u32 name_len)
{
	__u32 words = (name_len + 7) >> 3, i;
	__u64 differ = 0, word;
	__s64 mine;

	/* the words that are taken from every name, without a branch as there */
	MR_UNROLL
	for (i = 0; i < NAME_FIRST; i++) {
		word = answer_word(slot, MR_ANSWER_NAME + 8 * (words - 1 - i)) ^ n->word[i];
		mine = (__s64)i - words;
		MR_OPAQUE(mine);
		differ |= word & mine >> 63;
	}
	for (; i < MR_NAME_WORDS; i++) {
		if (i >= words)
			break;
		differ |= answer_word(slot, MR_ANSWER_NAME + 8 * (words - 1 - i)) ^ n->word[i];
	}
	return !differ;
}

/* Copy the body to the reply's tail and sum it; the sum goes to r->sum. */
MR_INLINE void answer_body(struct answer_slot slot, __u32 name_len, __u32 body_len, struct reply *r)
{
	__u32 from = mr_answer_body(name_len), words = body_len >> 3, i;
	__u64 sum = 0, w;

	for (i = 0; i < MR_BODY_MAX / 8; i++) {
		if (i >= words)
			break;
		w = answer_word(slot, from + 8 * i);
		mr_store64(r->tail + 8 * i, w);
		sum = mr_sum_add(sum, w);
	}
	words &= 255;
	w = answer_word(slot, from + 8 * words) & ((1ULL << (8 * (body_len & 7))) - 1);
	mr_store64(r->tail + ((8 * words) & REPLY_TAIL_MASK), w);
	r->sum = mr_sum_add(sum, w);
	r->len = body_len;
}

/**
 * Copy the answer of a slot between the loads of its two stamps.
 *
 * @a  the head's copy; @r gets body, len and sum
 *
 * Returns PACKET_GO_ON when a whole answer to this very question was copied.
 */
MR_INLINE enum mr_stat answer_copy(struct answer_slot slot, const struct mr_name *n, const struct query *q, __u32 key,
				   struct mr_answer *a, struct reply *r)
{
	struct mr_answer *from = answer_head(slot);
	__u32 last = MR_READ(from->stamp_last), name_len = q->name_len & 255, sum;
	int equal;

	mr_store64(&a->hit, answer_word(slot, offsetof(struct mr_answer, hit)));	/* marks and generation */
	sum = mr_answer_take(a, from);
	equal = answer_name_equal(slot, n, name_len);
	answer_body(slot, name_len, MR_READ(a->body_len) & REPLY_TAIL_MASK, r);
	if (!last || MR_READ(from->stamp_first) != last)
		return MR_STAT_pass_torn;
	if (!equal || mr_load32(&a->qtype) != mr_answer_question(q->qtype, name_len, key))
		return MR_STAT_pass_miss;
	if (sum != a->head_sum || mr_sum_high(r->sum) != a->body_sum || a->body_len > MR_BODY_MAX)
		return MR_STAT_pass_torn;
	return PACKET_GO_ON;
}

/* The EDE of an answer whose time is over (RFC 8914 sections 4.4 and 4.20), or 0 while it lives. */
MR_INLINE __u32 answer_stale(const struct mr_answer *a, __u64 now)
{
	if (now < a->expires)
		return 0;
	return (a->dns_flags & 15) == 3 ? MR_EDE_STALE_NXDOMAIN : MR_EDE_STALE;
}

/*
 * Whether the copy may be given to this query now.
 *
 * @stale  answer_stale() of it
 */
MR_INLINE enum mr_stat answer_fit(const struct mr_answer *a, const struct mr_conf *conf, const struct query *q,
				  const struct mr_decision *d, __u32 stale, __u64 now)
{
	__u32 slot = a->generation_slot & (MR_GENERATIONS - 1), size;

	if (slot != a->generation_slot || a->generation != MR_READ(conf->generation[slot]))
		return MR_STAT_pass_generation;
	if ((a->flags & MR_ANSWER_CHAIN) && a->filter_generation != conf->filter_generation)
		return MR_STAT_pass_generation;
	if (stale && (now >= a->stale_until || !mr_conf_stale(conf, now)))
		return MR_STAT_pass_expired;
	if (d->verdict.kind == MR_LOCAL_ZONE && !(a->flags & MR_ANSWER_LOCAL))
		return MR_STAT_pass_miss;
	if (!(q->flags & DNS_RD) && !(a->flags & MR_ANSWER_LOCAL))
		return MR_STAT_pass_rd;
	size = DNS_HEADER + q->name_len + 4 + a->body_len + (q->edns ? sizeof(struct mr_opt) : 0);
	if (stale && q->edns)
		size += sizeof(struct mr_opt_ede);
	return size > q->limit ? MR_STAT_pass_size : PACKET_GO_ON;
}

/* Take the age off every TTL of the tail, which never falls below @least: 1, or what all TTLs of a stale answer are. */
MR_INLINE void answer_age(const struct mr_answer *a, struct reply *r, __u32 stale, __u32 least, __u64 now)
{
	__s64 lived = now - a->born;	/* it may be older than the machine's clock */
	__u32 age = stale ? ~0U : lived > 0 ? (__u64)lived / ANSWER_NS_PER_S : 0;
	__u32 count = a->flags & MR_ANSWER_LOCAL ? 0 : a->ttls, i, at, before, ttl;

	for (i = 0; i < MR_TTLS_MAX; i++) {
		if (i >= count)
			break;
		at = a->ttl_at[i] & REPLY_TAIL_MASK;
		before = (__u32)reply_get(r, at);
		ttl = bpf_ntohl(before);
		ttl = ttl > age ? ttl - age : least;
		reply_replace(r, at, before, bpf_htonl(ttl));
	}
}

/* Flags, counts, ages and the OPT of an answer that will be given. */
MR_INLINE void answer_dress(const struct mr_answer *a, const struct query *q, struct reply *r, __u32 stale,
			    __u32 stale_ttl, __u64 now)
{
	answer_age(a, r, stale, stale ? stale_ttl : 1, now);
	r->text = 0;
	r->flags = a->dns_flags & (DNS_AA | DNS_RA | 15);
	if ((a->flags & MR_ANSWER_AD) && (q->dnssec_ok || (q->flags & DNS_AD)))
		r->flags |= DNS_AD;
	r->answers = a->answers;
	r->authorities = a->authorities;
	if (q->edns)
		reply_opt(r, q->dnssec_ok, stale);
}

/* The key of a query: its own form. */
MR_INLINE __u32 answer_key(const struct query *q)
{
	return (q->dnssec_ok ? MR_KEY_DO : 0) | (q->flags & DNS_CD ? MR_KEY_CD : 0);
}

MR_INLINE __u64 answer_place(const struct mr_scratch *s, __u32 key, const struct mr_secret *secret)
{
	return mr_answer_place(&s->name.hash[s->name.labels & (2 * MR_LABELS_MAX - 1)], s->query.qtype, key, secret);
}

/**
 * Find the unit of an answer: under the query's own key, else under the any
 * form, which is looked for only while mr_conf says that there are such.
 *
 * @s  place: of a name that is not listed; key: in: the query's; out: the one
 *     found under
 *
 * Returns the unit number, or 0.
 */
MR_INLINE __u32 answer_find(const struct mr_conf *conf, const struct mr_secret *secret, struct mr_scratch *s)
{
	__u64 place = s->listed ? answer_place(s, s->key, secret) : s->place;
	__u32 unit = answer_way(conf, place);

	if (!unit && conf->any_answers) {
		s->key = MR_KEY_ANY;
		unit = answer_way(conf, answer_place(s, MR_KEY_ANY, secret));
	}
	return unit;
}

/* The answer of a unit number, or without a page when there is no such unit. */
MR_INLINE struct answer_slot answer_slot(__u32 unit)
{
	__u32 page = unit / MR_PAGE_UNITS;
	struct answer_slot slot = { bpf_map_lookup_elem(&mr_answers, &page), unit % MR_PAGE_UNITS * MR_UNIT_SIZE };

	return slot;
}

/* Whether an answer is so near its end that the daemon shall be told. */
MR_INLINE int answer_is_ending(const struct mr_scratch *s)
{
	return s->now + s->answer.refresh_ms * 1000000ULL >= s->answer.expires;
}

#endif
