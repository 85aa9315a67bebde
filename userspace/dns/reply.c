/* SPDX-License-Identifier: BSD-2-Clause */
/* reply.c - whole responses, octet for octet as the packet path writes them. */
#include <errno.h>
#include <string.h>
#include "base/bug.h"
#include "dns/name.h"
#include "dns/reply.h"
#include "dns/wire.h"
#include "maps/block.h"
#include "maps/config.h"

#define SIZE_PLAIN 512			/* over a datagram without EDNS (RFC 1035 section 4.2.1) */

/* A message in the making; len may pass size, nothing is written then. */
struct writer {
	uint8_t *buf;
	size_t size;
	size_t len;
};

static void put(struct writer *w, const void *p, size_t n)
{
	if (n && w->len + n <= w->size)
		memcpy(w->buf + w->len, p, n);
	w->len += n;
}

static int written(const struct writer *w)
{
	return w->len <= w->size ? (int)w->len : -EMSGSIZE;
}

static void put_header(struct writer *w, uint16_t id, uint16_t flags, unsigned questions, const unsigned counts[3])
{
	uint8_t h[DNS_HEADER];
	unsigned i;

	dns_put16(h, id);
	dns_put16(h + 2, flags);
	dns_put16(h + 4, (uint16_t)questions);
	for (i = 0; i < 3; i++)
		dns_put16(h + 6 + 2 * i, (uint16_t)counts[i]);
	put(w, h, sizeof(h));
}

/* Of DNS_EDE_REBINDING and its like, by their numbers. */
static const char *const ede_texts[] = { "", "private address for a public name" };

static const char *ede_text(int ede)
{
	return ede == DNS_EDE_NONE ? "" : ede_texts[(unsigned)(ede >> 8) % (sizeof(ede_texts) / sizeof(ede_texts[0]))];
}

static void put_opt(struct writer *w, bool dnssec_ok, uint16_t rcode, int ede)
{
	size_t text = strlen(ede_text(ede));
	struct mr_opt opt = {
		.type = __builtin_bswap16(DNS_OPT), .size = __builtin_bswap16(MR_EDNS_SIZE),
		.rcode_high = (uint8_t)(rcode >> 4), .flags = dnssec_ok ? __builtin_bswap16(0x8000) : 0,
	};
	struct mr_opt_ede option = {
		.code = __builtin_bswap16(15), .len = __builtin_bswap16((uint16_t)(sizeof(option.info) + text)),
		.info = __builtin_bswap16((uint16_t)DNS_EDE_CODE(ede)),
	};

	if (ede != DNS_EDE_NONE)
		opt.rdlen = __builtin_bswap16((uint16_t)(sizeof(option) + text));
	put(w, &opt, sizeof(opt));
	if (ede == DNS_EDE_NONE)
		return;
	put(w, &option, sizeof(option));
	put(w, ede_text(ede), text);
}

/* The extended error of an answer. */
struct said {
	int ede;			/* enum dns_ede */
	const struct mr_ede *text;	/* NULL: the code alone */
};

/* The OPT with an EDE that has a text. */
static void put_opt_text(struct writer *w, bool dnssec_ok, uint16_t rcode, const struct mr_ede *text)
{
	uint8_t first[8] = { 0, 0, DNS_OPT, MR_EDNS_SIZE >> 8, MR_EDNS_SIZE & 0xff, (uint8_t)(rcode >> 4), 0,
			     dnssec_ok ? 0x80 : 0 };

	put(w, first, sizeof(first));
	put(w, text->word, text->len);
}

static void put_said(struct writer *w, const struct dns_query *q, uint16_t rcode, const struct said *s)
{
	if (s->text)
		put_opt_text(w, q->edns.dnssec_ok, rcode, s->text);
	else
		put_opt(w, q->edns.dnssec_ok, rcode, s->ede);
}

static size_t said_len(const struct dns_query *q, const struct said *s)
{
	if (!q->edns.present)
		return 0;
	if (s->text)
		return 8 + s->text->len;
	return sizeof(struct mr_opt) + (s->ede != DNS_EDE_NONE ? sizeof(struct mr_opt_ede) + strlen(ede_text(s->ede)) : 0);
}

/* What a blocked answer says of itself: any client takes one with a text (maps/block.h). */
static struct said said_blocked(const struct dns_block *b, const struct mr_ede *text)
{
	if (b->ede == MR_BLOCK_EDE_NONE)
		return (struct said){ DNS_EDE_NONE, NULL };
	return (struct said){ DNS_EDE_BLOCKED, b->ede == MR_BLOCK_EDE_TEXT && text && text->len ? text : NULL };
}

/* The flags that every response has; an rcode over 15 needs an OPT to be said. */
static uint16_t reply_flags(const struct dns_query *q, uint16_t rcode, const struct dns_reply_limits *l)
{
	uint16_t kept = q->flags & (0x7800 | DNS_RD | DNS_CD);

	if (rcode > 15 && !q->edns.present)
		rcode = DNS_SERVFAIL;
	return (uint16_t)(DNS_QR | kept | (l->recursion ? DNS_RA : 0) | (rcode & 15));
}

/* Header, the client's own question, and whatever body stands between them and the OPT. */
static void put_front(struct writer *w, const struct dns_query *q, uint16_t flags, unsigned answers,
		      unsigned authorities)
{
	unsigned counts[3] = { answers, authorities, q->edns.present };

	put_header(w, q->id, flags, q->qname ? 1 : 0, counts);
	if (q->qname)
		put(w, q->qname, q->question_len);
}

static size_t room_of(const struct dns_query *q, const struct dns_reply_limits *l)
{
	size_t room = q->edns.present ? q->edns.size : SIZE_PLAIN;

	if (l->stream)
		return DNS_MESSAGE_MAX;
	return room < l->udp_max ? room : l->udp_max;
}

static void age_ttls(const struct dns_answer *a, uint64_t now_ns, uint8_t *body)
{
	uint32_t age = dns_answer_age(a, now_ns), least = a->ttl ? 1 : 0, ttl;
	const uint16_t *at = dns_answer_ttls(a);
	unsigned i;

	if (a->local || !age)
		return;
	for (i = 0; i < a->ttls; i++) {
		ttl = dns_get32(body + at[i]);
		dns_put32(body + at[i], ttl > age ? ttl - age : least);
	}
}

static int reply_answer(const struct dns_query *q, const struct dns_answer *a, struct said said,
			const struct dns_reply_limits *l, uint64_t now_ns, uint8_t *buf, size_t size)
{
	struct writer w = { buf, size, 0 };
	uint16_t flags = reply_flags(q, a->rcode, l);
	size_t start;

	/* the body points into the question: with another one it would be nonsense */
	if (bug_if(!q->qname || q->qname_len != a->key.name_len))
		return -EINVAL;
	start = DNS_HEADER + q->question_len;
	if (a->aa)
		flags |= DNS_AA;
	if (a->ad && (q->edns.dnssec_ok || q->flags & DNS_AD))
		flags |= DNS_AD;
	if (start + a->body_len + said_len(q, &said) > room_of(q, l))
		said.text = NULL;	/* it goes before the answer does */
	if (start + a->body_len + said_len(q, &said) > room_of(q, l)) {
		put_front(&w, q, flags | DNS_TC, 0, 0);
	} else {
		put_front(&w, q, flags, a->answers, a->authorities);
		put(&w, a->body, a->body_len);
		if (w.len <= size)
			age_ttls(a, now_ns, buf + start);
	}
	if (q->edns.present)
		put_said(&w, q, a->rcode, &said);
	return written(&w);
}

int dns_reply_answer(const struct dns_query *q, const struct dns_answer *a, const struct dns_reply_limits *l,
		     uint64_t now_ns, uint8_t *buf, size_t size)
{
	return reply_answer(q, a, (struct said){ a->ede, NULL }, l, now_ns, buf, size);
}

int dns_reply_instead(const struct dns_query *q, const struct dns_answer *a, const struct dns_block *b,
		      const struct mr_ede *text, const struct dns_reply_limits *l, uint64_t now_ns, uint8_t *buf,
		      size_t size)
{
	struct said said = { a->ede, NULL };

	if (a->ede == DNS_EDE_NONE)
		said = said_blocked(b, text);
	return reply_answer(q, a, said, l, now_ns, buf, size);
}

int dns_reply_error(const struct dns_query *q, uint16_t rcode, int ede, const struct dns_reply_limits *l,
		    uint8_t *buf, size_t size)
{
	struct writer w = { buf, size, 0 };

	put_front(&w, q, reply_flags(q, rcode, l), 0, 0);
	if (q->edns.present)
		put_opt(&w, q->edns.dnssec_ok, rcode, ede);
	return written(&w);
}

int dns_reply_stump(const struct dns_query *q, const struct dns_reply_limits *l, uint8_t *buf, size_t size)
{
	struct writer w = { buf, size, 0 };

	put_front(&w, q, reply_flags(q, DNS_NOERROR, l) | DNS_TC, 0, 0);
	if (q->edns.present)
		put_opt(&w, q->edns.dnssec_ok, DNS_NOERROR, DNS_EDE_NONE);
	return written(&w);
}

static struct mr_rr_head rr_head(uint16_t type, uint32_t ttl, size_t rdlen)
{
	return (struct mr_rr_head){
		.owner = __builtin_bswap16(MR_OWNER_QUESTION), .type = __builtin_bswap16(type),
		.class = __builtin_bswap16(DNS_IN), .ttl = __builtin_bswap32(ttl),
		.rdlen = __builtin_bswap16((uint16_t)rdlen),
	};
}

static void put_address(struct writer *w, uint16_t qtype, const struct dns_block *b)
{
	static const uint8_t null[16];
	const uint8_t *ipv4 = b->mode == MR_BLOCK_CUSTOM ? b->ipv4 : null;
	const uint8_t *ipv6 = b->mode == MR_BLOCK_CUSTOM ? b->ipv6 : null;
	size_t len = qtype == DNS_A ? 4 : 16;
	struct mr_rr_head head = rr_head(qtype, b->ttl, len);

	put(w, &head, sizeof(head));
	put(w, qtype == DNS_A ? ipv4 : ipv6, len);
}

static void put_soa(struct writer *w, uint32_t ttl)
{
	struct mr_rr_soa soa = {
		.head = rr_head(DNS_SOA, ttl, sizeof(soa) - sizeof(soa.head)),
		.serial = __builtin_bswap32(MR_SOA_SERIAL), .refresh = __builtin_bswap32(MR_SOA_REFRESH),
		.retry = __builtin_bswap32(MR_SOA_RETRY), .expire = __builtin_bswap32(MR_SOA_EXPIRE),
		.minimum = __builtin_bswap32(ttl),
	};

	put(w, &soa, sizeof(soa));
}

void dns_block_take(const struct mr_block *from, struct dns_block *ret)
{
	uint32_t word;
	unsigned i;

	ret->mode = MR_READ(from->mode);
	ret->ede = MR_READ(from->ede);
	ret->ttl = MR_READ(from->ttl);
	word = MR_READ(from->ipv4);
	memcpy(ret->ipv4, &word, 4);
	for (i = 0; i < 4; i++) {
		word = MR_READ(from->ipv6[i]);
		memcpy(ret->ipv6 + 4 * i, &word, 4);
	}
}

void dns_block_withhold(const struct dns_block *of, struct dns_block *ret)
{
	*ret = (struct dns_block){ .mode = MR_BLOCK_NODATA, .ede = MR_BLOCK_EDE_NONE, .ttl = of->ttl };
}

int dns_reply_blocked(const struct dns_query *q, const struct dns_block *b, const struct mr_ede *text,
		      const struct dns_reply_limits *l, uint8_t *buf, size_t size)
{
	struct said said = said_blocked(b, text);
	bool address = (b->mode == MR_BLOCK_NULL || b->mode == MR_BLOCK_CUSTOM) &&
		       (q->qtype == DNS_A || q->qtype == DNS_AAAA);
	bool soa = !address && b->mode != MR_BLOCK_REFUSED;
	uint16_t rcode = b->mode == MR_BLOCK_NXDOMAIN ? DNS_NXDOMAIN :
			 b->mode == MR_BLOCK_REFUSED ? DNS_REFUSED : DNS_NOERROR;
	struct writer w = { buf, size, 0 };

	if (bug_if(!q->qname))
		return -EINVAL;
	put_front(&w, q, reply_flags(q, rcode, l), address, soa);
	if (address)
		put_address(&w, q->qtype, b);
	if (soa)
		put_soa(&w, b->ttl);
	if (q->edns.present)
		put_said(&w, q, rcode, &said);
	return written(&w);
}

int dns_query_write(uint16_t id, const uint8_t *name, uint16_t name_len, uint16_t qtype, uint8_t key_bits, bool edns,
		    uint8_t *buf, size_t size)
{
	unsigned counts[3] = { 0, 0, edns };
	struct writer w = { buf, size, 0 };
	uint8_t rest[4];

	put_header(&w, id, DNS_RD | (key_bits & DNS_KEY_CD ? DNS_CD : 0), 1, counts);
	put(&w, name, name_len);
	dns_put16(rest, qtype);
	dns_put16(rest + 2, DNS_IN);
	put(&w, rest, sizeof(rest));
	if (edns)
		put_opt(&w, key_bits & DNS_KEY_DO, 0, DNS_EDE_NONE);
	return written(&w);
}
