/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * query.h - the DNS message of a plain query: header, question, OPT.
 *
 * Pure.  What a query may look like to be answered here: opcode QUERY, one
 * question of class IN with an uncompressed name, at most one additional
 * record, an OPT at the root of version 0 whose options are cookies and
 * padding (RFC 6891, 7873, 7830), and nothing behind it.  All else passes.
 */
#ifndef BPF_QUERY_H
#define BPF_QUERY_H

#include "bpf/packet.h"

#define DNS_HEADER   12
#define DNS_QR       0x8000
#define DNS_OPCODE   0x7800
#define DNS_AA       0x0400
#define DNS_RD       0x0100
#define DNS_RA       0x0080
#define DNS_AD       0x0020
#define DNS_CD       0x0010
#define DNS_IN       1
#define DNS_A        1
#define DNS_AAAA     28
#define DNS_OPT      41
#define DNS_META     249		/* 249..255 are questions about the server's doings: TKEY to ANY */
#define DNS_META_END 255
#define DNS_UDP_MIN  512		/* without EDNS (RFC 1035 section 4.2.1) */

#define EDNS_DO         0x8000
#define EDNS_COOKIE     10
#define EDNS_PADDING    12
#define EDNS_OPTIONS_MAX 8		/* more of them pass */

#define QUERY_OFFSET_MASK 1023		/* of anything behind the question */

struct query {
	__u16 id;			/* memory order */
	__u16 flags;			/* host order */
	__u32 more;			/* ARCOUNT: 0 or 1 */
	__u32 name_len;
	__u16 qtype;			/* host order */
	__u8 edns;
	__u8 dnssec_ok;
	__u32 limit;			/* bytes that the client takes */
	__u32 tail_words;		/* type and class in memory order */
	__u64 name_sum;			/* of the name in the client's own letters, as if it ended at an even offset */
};

struct query_header {
	__u16 id;
	__be16 flags;
	__be16 questions;
	__be16 answers;
	__be16 authorities;
	__be16 additionals;
};

WORLD_WIRE(struct query_header, wire_query);

/* Type, size and so on behind the root byte of an OPT, and behind those the options. */
struct query_opt {
	__u8 root;
	__u8 type_high;
	__u8 type_low;
	__u8 size_high;
	__u8 size_low;
	__u8 rcode_high;
	__u8 version;
	__u8 flags_high;
	__u8 flags_low;
	__u8 len_high;
	__u8 len_low;
};

MR_INLINE enum mr_stat query_header(struct cursor *c, __u32 dns_len, struct query *ret)
{
	const wire_query *h = cursor_take(c, sizeof(*h));
	__u32 flags;

	if (!h || dns_len < DNS_HEADER + 1 + 4)
		return MR_STAT_pass_short;
	flags = bpf_ntohs(h->flags);
	if (flags & DNS_QR)
		return MR_STAT_pass_response;
	if (flags & DNS_OPCODE)
		return MR_STAT_pass_opcode;
	if (flags & ~(DNS_RD | DNS_AD | DNS_CD))
		return MR_STAT_pass_flags;
	if (h->questions != bpf_htons(1) || h->answers || h->authorities || (h->additionals & ~bpf_htons(1)))
		return MR_STAT_pass_counts;
	ret->id = h->id;
	ret->flags = flags;
	ret->more = bpf_ntohs(h->additionals);
	return PACKET_GO_ON;
}

/* A cookie is the client's eight octets alone or followed by the server's 8 to 32 (RFC 7873 section 4). */
MR_INLINE int query_option_known(__u32 code, __u32 len)
{
	if (code == EDNS_PADDING)
		return 1;
	return code == EDNS_COOKIE && (len == 8 || (len >= 16 && len <= 40));
}

/* Whether the options between two offsets of the frame fill the room exactly and are all of those we ignore. */
MR_INLINE int query_options_fine(const struct world_frame *f, __u32 at, __u32 end, __u32 zero)
{
	const __u8 *option;
	struct cursor c;
	__u32 i, len;

	for (i = 0; i < EDNS_OPTIONS_MAX; i++) {
		if (at >= end)
			break;
		if (at > QUERY_OFFSET_MASK)
			return 0;
		world_opaque(at);
		c = cursor_at(f, at & QUERY_OFFSET_MASK);
		option = cursor_take(&c, 4);
		if (!option)
			return 0;
		len = option[2] << 8 | option[3];
		if (!query_option_known(option[0] << 8 | option[1], len))
			return 0;
		at = (at + 4 + len + zero) & 0x1ffff;	/* each round the same to the verifier */
	}
	return at == end;
}

/**
 * Read the OPT at an offset of the frame; the message must end with it.
 *
 * @end  offset of the end of the message
 */
MR_INLINE enum mr_stat query_edns(const struct world_frame *f, __u32 at, __u32 end, __u32 zero, struct query *ret)
{
	struct cursor c = cursor_at(f, at & QUERY_OFFSET_MASK);
	const struct query_opt *opt = cursor_take(&c, sizeof(*opt));
	__u32 size, stop;

	if (!opt || at + sizeof(*opt) > end || opt->root || opt->type_high || opt->type_low != DNS_OPT)
		return MR_STAT_pass_additional;
	if (opt->version)
		return MR_STAT_pass_edns_version;
	size = opt->size_high << 8 | opt->size_low;
	if (size > MR_MESSAGE_MAX)
		size = MR_MESSAGE_MAX;
	if (size < DNS_UDP_MIN)
		size = DNS_UDP_MIN;
	at += sizeof(*opt);
	stop = at + (opt->len_high << 8 | opt->len_low);
	if (stop > end)
		return MR_STAT_pass_edns_option;
	if (stop < end)
		return MR_STAT_pass_trailing;
	ret->edns = 1;
	ret->dnssec_ok = opt->flags_high >> 7;
	ret->limit = size;
	return stop == at || query_options_fine(f, at, stop, zero) ? PACKET_GO_ON : MR_STAT_pass_edns_option;
}

/**
 * Read what follows the question's name.
 *
 * @dns       offset of the message in the frame
 * @name_len  from mr_name_walk()
 * @zero      see there
 */
MR_INLINE enum mr_stat query_tail(const struct world_frame *f, __u32 dns, __u32 dns_len, __u32 name_len,
				  __u32 zero, struct query *ret)
{
	__u32 at = dns + DNS_HEADER + name_len, end = dns + dns_len;
	struct cursor c = cursor_at(f, at & QUERY_OFFSET_MASK);
	const __u8 *words = cursor_take(&c, 4);

	if (!words || at + 4 > end)
		return MR_STAT_pass_short;
	ret->name_len = name_len;
	ret->tail_words = mr_load32(words);
	ret->qtype = bpf_ntohs((__u16)ret->tail_words);
	ret->edns = 0;
	ret->dnssec_ok = 0;
	ret->limit = DNS_UDP_MIN;
	if (ret->tail_words >> 16 != bpf_htons(DNS_IN))
		return MR_STAT_pass_class;
	if (ret->qtype == 0 || ret->qtype == DNS_OPT || (ret->qtype >= DNS_META && ret->qtype <= DNS_META_END))
		return MR_STAT_pass_type;
	at += 4;
	if (ret->more)
		return query_edns(f, at, end, zero, ret);
	return at == end ? PACKET_GO_ON : MR_STAT_pass_trailing;
}

#endif
