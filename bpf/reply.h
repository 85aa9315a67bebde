/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * reply.h - turning the query's frame into its answer.
 *
 * Pure.  What follows the question (the tail: records and our OPT) is first
 * put together in a scratch, with its sum.  Then the frame gets its new size,
 * and only when that has worked does any byte of it change: until then
 * XDP_PASS still sends the query as it came.
 *
 * The question stays where it is, in the client's own letters.
 */
#ifndef BPF_REPLY_H
#define BPF_REPLY_H

#include "maps/block.h"
#include "bpf/query.h"

#define REPLY_TAIL_MASK 2047
#define REPLY_OFFSET_MASK 511		/* of anything in a front or a short tail */
#define REPLY_SHORT     63		/* octets of a tail that is written word by word: sums of 32, 16 and 8, and a rest */
#define REPLY_HEAD_ROOM 216		/* what an XDP frame has in front: 256 less the kernel's 40 */
#define REPLY_FRONT_MAX 512		/* headers and question: at most 62 + 8 + 12 + 259 */

/* The tail, and what the header says about it. */
struct reply {
	__u8 tail[REPLY_TAIL_MASK + 1 + 8 * (MR_EDE_WORDS + 2)];	/* a masked offset and an OPT with a text fit */
	__u64 sum;			/* of the tail, as if it began at an even offset */
	__u32 len;
	__u16 flags;			/* host order: AA, AD, RA and rcode; the rest comes from the query */
	__u16 answers;
	__u16 authorities;
	__u16 text;			/* the OPT has an EDE with a text */
	__u64 bare_sum;			/* then: of the tail before the OPT, and its length */
	__u32 bare_len;
	__u32 pad;
	__u8 front[REPLY_FRONT_MAX];	/* where the front waits while the frame grows at its head */
};

/* How a frame got its size, for the counters. */
enum reply_growth {
	REPLY_FITS,
	REPLY_GROWN_TAIL,
	REPLY_GROWN_HEAD,
	REPLY_NO_ROOM,
};

/* Eight octets as the word they make in memory. */
#define REPLY_WORD(a, b, c, d, e, f, g, h)                                                         \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 |   \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)
#define REPLY_HIGH(v) ((v) >> 8 & 0xff)
#define REPLY_LOW(v)  ((v) & 0xff)

/*
 * The tail is read and written by aligned words alone: a load across two stores
 * that have just been made waits until both are in the cache, some 15 cycles.
 */
MR_INLINE __u8 *reply_at(struct reply *r, __u32 at)
{
	return r->tail + (at & REPLY_TAIL_MASK & ~7U);
}

/* What the word that holds an offset, and the one behind it, have from there on: eight octets. */
MR_INLINE __u64 reply_join(__u64 first, __u64 second, __u32 at)
{
	__u32 shift = 8 * (at & 7);

	return first >> shift | second << 1 << (63 - shift);
}

/* The share that the word behind has of eight octets which stand at an offset. */
MR_INLINE __u64 reply_over(__u64 octets, __u32 at)
{
	return octets >> 1 >> (63 - 8 * (at & 7));
}

MR_INLINE __u64 reply_get(struct reply *r, __u32 at)
{
	__u8 *p = reply_at(r, at);

	return reply_join(mr_load64(p), mr_load64(p + 8), at);
}

/* Replace the four octets at an offset, in the sum as well; both in memory order. */
MR_INLINE void reply_replace(struct reply *r, __u32 at, __u32 before, __u32 after)
{
	__u8 *p = reply_at(r, at);
	__u64 differ = before ^ after;

	mr_store64(p, mr_load64(p) ^ differ << 8 * (at & 7));
	mr_store64(p + 8, mr_load64(p + 8) ^ reply_over(differ, at));
	r->sum = csum_replace(r->sum, before, after, at);
}

MR_INLINE void reply_put(struct reply *r, __u32 i, __u64 word)
{
	mr_store64(r->tail + 8 * i, word);
	r->sum = mr_sum_add(r->sum, word);
}

/* Owner, type, class and the first half of the TTL: the first eight octets of a record of ours. */
MR_INLINE __u64 reply_record(__u32 type, __be32 ttl)
{
	return REPLY_WORD(REPLY_HIGH(MR_OWNER_QUESTION), REPLY_LOW(MR_OWNER_QUESTION), 0, type, 0, DNS_IN, 0, 0) |
	       (__u64)(ttl & 0xffff) << 48;
}

/* struct mr_rr_a */
MR_INLINE void reply_a(struct reply *r, __be32 ttl, __be32 addr)
{
	reply_put(r, 0, reply_record(DNS_A, ttl));
	reply_put(r, 1, ttl >> 16 | REPLY_WORD(0, 0, 0, 4, 0, 0, 0, 0) | (__u64)addr << 32);
	r->len = sizeof(struct mr_rr_a);
	r->answers = 1;
}

/* struct mr_rr_aaaa */
MR_INLINE void reply_aaaa(struct reply *r, __be32 ttl, const __be32 *addr)
{
	reply_put(r, 0, reply_record(DNS_AAAA, ttl));
	reply_put(r, 1, ttl >> 16 | REPLY_WORD(0, 0, 0, 16, 0, 0, 0, 0) | (__u64)addr[0] << 32);
	reply_put(r, 2, addr[1] | (__u64)addr[2] << 32);
	reply_put(r, 3, addr[3]);
	r->len = sizeof(struct mr_rr_aaaa);
	r->answers = 1;
}

#define REPLY_BE(v, n) ((v) >> (24 - 8 * (n)) & 0xff)

/* struct mr_rr_soa: its TTL and its MINIMUM are the block TTL (RFC 2308 section 3). */
MR_INLINE void reply_soa(struct reply *r, __be32 ttl)
{
	reply_put(r, 0, reply_record(6, ttl));
	reply_put(r, 1, ttl >> 16 | REPLY_WORD(0, 0, 0, 22, 0, 0, REPLY_BE(MR_SOA_SERIAL, 0), REPLY_BE(MR_SOA_SERIAL, 1)));
	reply_put(r, 2, REPLY_WORD(REPLY_BE(MR_SOA_SERIAL, 2), REPLY_BE(MR_SOA_SERIAL, 3), REPLY_BE(MR_SOA_REFRESH, 0),
				   REPLY_BE(MR_SOA_REFRESH, 1), REPLY_BE(MR_SOA_REFRESH, 2),
				   REPLY_BE(MR_SOA_REFRESH, 3), REPLY_BE(MR_SOA_RETRY, 0), REPLY_BE(MR_SOA_RETRY, 1)));
	reply_put(r, 3, REPLY_WORD(REPLY_BE(MR_SOA_RETRY, 2), REPLY_BE(MR_SOA_RETRY, 3), REPLY_BE(MR_SOA_EXPIRE, 0),
				   REPLY_BE(MR_SOA_EXPIRE, 1), REPLY_BE(MR_SOA_EXPIRE, 2), REPLY_BE(MR_SOA_EXPIRE, 3),
				   0, 0) | (__u64)(ttl & 0xffff) << 48);
	reply_put(r, 4, ttl >> 16);
	r->len = sizeof(struct mr_rr_soa);
	r->authorities = 1;
}

/* Append our OPT (RFC 6891 section 6.1.2), with an EDE if info is not 0 (RFC 8914). */
MR_INLINE void reply_opt(struct reply *r, __u32 dnssec_ok, __u32 ede)
{
	__u32 at = r->len & REPLY_TAIL_MASK, shift;
	__u8 *p;
	__u64 first = REPLY_WORD(0, 0, DNS_OPT, REPLY_HIGH(MR_EDNS_SIZE), REPLY_LOW(MR_EDNS_SIZE), 0, 0, 0);
	__u64 second = 0, third = 0;

	first |= (__u64)(dnssec_ok & 1) << 63;
	if (ede) {
		second = REPLY_WORD(0, 0, sizeof(struct mr_opt_ede), 0, 15, 0, 2, 0);
		third = ede;
	}
	shift = 8 * (at & 7);
	p = reply_at(r, at);
	mr_store64(p, (mr_load64(p) & ~(~0ULL << shift)) | first << shift);
	mr_store64(p + 8, reply_over(first, at) | second << shift);
	mr_store64(p + 16, reply_over(second, at) | third << shift);
	r->sum += csum_shift(mr_sum_add(mr_sum_add(third, first), second), at);
	r->len = at + sizeof(struct mr_opt) + (ede ? sizeof(struct mr_opt_ede) : 0);
}

/* Append our OPT with an EDE that has a text. */
MR_INLINE void reply_opt_text(struct reply *r, __u32 dnssec_ok, const struct mr_ede *text)
{
	__u32 at = r->len & REPLY_TAIL_MASK, shift = 8 * (at & 7), i;
	__u64 first = REPLY_WORD(0, 0, DNS_OPT, REPLY_HIGH(MR_EDNS_SIZE), REPLY_LOW(MR_EDNS_SIZE), 0, 0, 0);
	__u64 before, w;
	__u8 *p = reply_at(r, at);

	first |= (__u64)(dnssec_ok & 1) << 63;
	r->text = 1;
	r->bare_len = at;
	r->bare_sum = r->sum;
	mr_store64(p, (mr_load64(p) & ~(~0ULL << shift)) | first << shift);
	before = first;
	MR_UNROLL
	for (i = 0; i < MR_EDE_WORDS; i++) {
		w = MR_READ(text->word[i]);
		mr_store64(p + 8 * (i + 1), reply_over(before, at) | w << shift);
		before = w;
		MR_ORDER();
	}
	mr_store64(p + 8 * (MR_EDE_WORDS + 1), reply_over(before, at));
	r->sum += csum_shift(mr_sum_add(MR_READ(text->sum), first), at);
	r->len = at + 8 + MR_READ(text->len);
}

/* Take the text of the EDE out again, for a frame that cannot grow so far. */
MR_INLINE void reply_without_text(struct reply *r, __u32 dnssec_ok)
{
	r->len = r->bare_len;
	r->sum = r->bare_sum;
	r->text = 0;
	reply_opt(r, dnssec_ok, MR_EDE_BLOCKED);
}

MR_INLINE void reply_init(struct reply *r)
{
	r->text = 0;
	r->sum = 0;
	r->len = 0;
	r->flags = 0;
	r->answers = 0;
	r->authorities = 0;
}

/* The OPT of a blocked answer, for who has EDNS; any client takes one with a text (block.h). */
MR_INLINE void reply_opt_blocked(struct reply *r, __u32 ede, const struct query *q, const struct mr_ede *text)
{
	if (ede == MR_BLOCK_EDE_TEXT && text && text->len)
		reply_opt_text(r, q->dnssec_ok, text);
	else
		reply_opt(r, q->dnssec_ok, ede == MR_BLOCK_EDE_NONE ? 0 : MR_EDE_BLOCKED);
}

/**
 * Put together the answer for a blocked name, in the mode of the client's group,
 * its OPT excluded.
 *
 * What has no address here gets a SOA: NOERROR without data, or NXDOMAIN.
 *
 * @mode  of @b, or MR_BLOCK_NODATA for a type that the group does not get
 */
MR_INLINE void reply_blocked(struct reply *r, const struct mr_block *b, __u32 mode, __u32 recursion,
			     const struct query *q)
{
	__be32 ttl = bpf_htonl(b->ttl);
	__u32 custom = mode == MR_BLOCK_CUSTOM;
	int address = custom || mode == MR_BLOCK_NULL;
	__be32 six[4];

	reply_init(r);
	r->flags = recursion ? DNS_RA : 0;
	if (mode == MR_BLOCK_REFUSED) {
		r->flags |= 5;
	} else if (address && q->qtype == DNS_A) {
		reply_a(r, ttl, custom ? b->ipv4 : 0);
	} else if (address && q->qtype == DNS_AAAA) {
		six[0] = custom ? b->ipv6[0] : 0;
		six[1] = custom ? b->ipv6[1] : 0;
		six[2] = custom ? b->ipv6[2] : 0;
		six[3] = custom ? b->ipv6[3] : 0;
		reply_aaaa(r, ttl, six);
	} else {
		reply_soa(r, ttl);
		if (mode == MR_BLOCK_NXDOMAIN)
			r->flags |= 3;
	}
}

/**
 * Bring a frame to a new length: at its tail, else at its head, else at both.
 *
 * @front  octets before the tail; they are moved when the head grows
 * @delta  new length less the old
 *
 * On REPLY_NO_ROOM the frame is as it was.
 */
MR_INLINE enum reply_growth reply_resize(struct world_frame *f, struct reply *r, __u32 front, int delta)
{
	int head, rest;

	if (!delta)
		return REPLY_FITS;
	if (!world_adjust_tail(f, delta))
		return delta > 0 ? REPLY_GROWN_TAIL : REPLY_FITS;
	if (delta < 0)
		return REPLY_NO_ROOM;
	head = delta < REPLY_HEAD_ROOM ? delta : REPLY_HEAD_ROOM;
	rest = delta - head;
	front = ((front - 1) & (REPLY_FRONT_MAX - 1)) + 1;
	if (world_load(f, 0, r->front, front) || world_adjust_head(f, -head))
		return REPLY_NO_ROOM;
	if (rest && world_adjust_tail(f, rest)) {
		world_adjust_head(f, head);
		return REPLY_NO_ROOM;
	}
	if (world_store(f, 0, r->front, front)) {
		if (rest)
			world_adjust_tail(f, -rest);
		world_adjust_head(f, head);
		return REPLY_NO_ROOM;
	}
	return REPLY_GROWN_HEAD;
}

MR_INLINE void reply_ethernet(__u8 *eth)
{
	__u64 to = mr_load64(eth), from = mr_load64(eth + 4) >> 16;

	mr_store64(eth, from | to << 48);
	mr_store32(eth + 8, to >> 16);
}

/* TTL 64, no id since nothing may be cut (RFC 6864), type of service 0. */
MR_INLINE void reply_ip4(__u8 *ip, __u32 total, __u64 addr_sum)
{
	__u64 first = REPLY_WORD(0x45, 0, REPLY_HIGH(total), REPLY_LOW(total), 0, 0, 0x40, 0);
	__u32 second = 64 | IPPROTO_UDP << 8, from = mr_load32(ip + 12);

	mr_store64(ip, first);
	mr_store32(ip + 8, second | (__u32)csum_field(mr_sum_add(addr_sum + second, first)) << 16);
	mr_store32(ip + 12, mr_load32(ip + 16));
	mr_store32(ip + 16, from);
}

MR_INLINE void reply_ip6(__u8 *ip, __u32 payload)
{
	__u64 high = mr_load64(ip + 8), low = mr_load64(ip + 16);

	mr_store64(ip, REPLY_WORD(0x60, 0, 0, 0, REPLY_HIGH(payload), REPLY_LOW(payload), IPPROTO_UDP, 64));
	mr_store64(ip + 8, mr_load64(ip + 24));
	mr_store64(ip + 16, mr_load64(ip + 32));
	mr_store64(ip + 24, high);
	mr_store64(ip + 32, low);
}

/* UDP and DNS header; the UDP sum is made from the parts' sums alone. */
MR_INLINE void reply_udp(__u8 *udp, const struct packet *p, const struct query *q, const struct reply *r, __u32 len)
{
	__u32 flags = DNS_QR | (q->flags & (DNS_RD | DNS_CD)) | r->flags;
	__u64 ports = p->port | (__u32)p->source_port << 16, sum;
	__u64 first, second;

	first = q->id | (__u32)bpf_htons(flags) << 16 | REPLY_WORD(0, 0, 0, 0, 0, 1, 0, 0) |
		(__u64)bpf_htons(r->answers) << 48;
	second = bpf_htons(r->authorities) | (__u32)(q->edns ? bpf_htons(1) : 0) << 16;
	sum = csum_shift(mr_sum_add(r->sum, q->tail_words) + q->name_sum, q->name_len) + p->addr_sum;
	sum = mr_sum_add(mr_sum_add(sum, first), second) + ports + bpf_htons(IPPROTO_UDP);
	sum += 2 * (__u32)bpf_htons(len);
	mr_store64(udp, ports | (__u64)bpf_htons(len) << 32 | (__u64)csum_udp_field(sum) << 48);
	mr_store64(udp + 8, first);
	mr_store32(udp + 16, second);
}

/* Rewrite the headers of a frame that has its new size. */
MR_INLINE int reply_headers(const struct world_frame *f, const struct packet *p, const struct query *q,
			    const struct reply *r, __u32 udp_len)
{
	struct cursor eth = cursor_at(f, 0), ip = cursor_at(f, p->l3 & PACKET_L3_MASK);
	struct cursor udp = cursor_at(f, p->udp & PACKET_UDP_MASK);
	__u8 *e = cursor_take(&eth, ETH_HLEN), *u = cursor_take(&udp, sizeof(struct udphdr) + DNS_HEADER), *i;

	if (!e || !u)
		return -1;
	if (p->ipv6) {
		i = cursor_take(&ip, sizeof(struct ipv6hdr));
		if (!i)
			return -1;
		reply_ip6(i, udp_len);
	} else {
		i = cursor_take(&ip, sizeof(struct iphdr));
		if (!i)
			return -1;
		reply_ip4(i, udp_len + sizeof(struct iphdr), p->addr_sum);
	}
	reply_ethernet(e);
	reply_udp(u, p, q, r, udp_len);
	return 0;
}

/* Write so many octets of the tail, whole words, and go on behind them; one test of the frame's end for all. */
MR_INLINE void reply_words(struct cursor *c, const __u8 *from, __u32 octets)
{
	__u8 *p = cursor_take(c, octets);
	__u32 i;

	if (!p)
		return;
	MR_UNROLL
	for (i = 0; i < octets; i += 8)
		mr_store64(p + i, mr_load64(from + i));
}

/*
 * Write the tail behind the question: a short one by words, in the sizes that
 * its length is made of, the last of which overlaps the one before so that it
 * ends with the frame; a long one by the helper, whose call costs as much as
 * some ten words.
 */
MR_INLINE void reply_store(struct world_frame *f, __u32 front, struct reply *r, __u32 len)
{
	struct cursor c = cursor_at(f, front);
	const __u8 *from = r->tail;
	__u32 size;
	__u8 *p;

	if (len < 8 || len > REPLY_SHORT) {
		if (!len)
			return;
		len--;
		world_opaque(len);
		world_store(f, front, r->tail, (len & REPLY_TAIL_MASK) + 1);
		return;
	}
	MR_UNROLL
	for (size = 32; size >= 8; size >>= 1)
		if (len & size) {
			reply_words(&c, from, size);
			from += size;
		}
	c = cursor_at(f, (front + len - 8) & REPLY_OFFSET_MASK);
	p = cursor_take(&c, 8);
	if (p)
		mr_store64(p, reply_get(r, len - 8));
}

/* Bring the frame to the size of its answer; the text of a blocked one goes before the answer does. */
MR_INLINE enum reply_growth reply_fit(struct world_frame *f, const struct packet *p, const struct query *q,
				      struct reply *r, __u32 front)
{
	enum reply_growth grown;

	grown = reply_resize(f, r, front, (int)(front + (r->len & REPLY_TAIL_MASK)) - (int)p->frame_len);
	if (grown != REPLY_NO_ROOM || !r->text)
		return grown;
	reply_without_text(r, q->dnssec_ok);
	world_barrier();
	return reply_resize(f, r, front, (int)(front + (r->len & REPLY_TAIL_MASK)) - (int)p->frame_len);
}

/**
 * Turn the frame into the answer whose tail is ready.
 *
 * Returns how the frame got its size; on REPLY_NO_ROOM it is as it came.
 */
MR_INLINE enum reply_growth reply_send(struct world_frame *f, const struct packet *p, const struct query *q,
				       struct reply *r)
{
	__u32 question = (q->name_len & 511) + 4;
	__u32 front = (p->udp & PACKET_UDP_MASK) + sizeof(struct udphdr) + DNS_HEADER + question, len;
	enum reply_growth grown = reply_fit(f, p, q, r, front);

	if (grown == REPLY_NO_ROOM)
		return grown;
	len = MR_READ(r->len) & REPLY_TAIL_MASK;
	if (reply_headers(f, p, q, r, sizeof(struct udphdr) + DNS_HEADER + question + len))
		return REPLY_NO_ROOM;
	reply_store(f, front, r, len);
	return grown;
}

#endif
