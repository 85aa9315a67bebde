/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub_answer.c - the stub's answers, as they go out.
 *
 * Plain functions over bytes; they allocate nothing and keep nothing.  The
 * question is repeated as it came.  Owners are written out or point to the
 * question; names in RDATA are never compressed.  Self-contained on purpose: a
 * stub that shared the daemon's message code would share its faults.
 */
#include <ctype.h>
#include <string.h>

#include "tools/mrstub.h"

#define HEADER 12
#define OPT_SIZE 11
#define NOISE 40

/* Where an answer is written; `full` once something did not fit, and then nothing more is written. */
struct out {
	uint8_t *buf;
	size_t len, cap, opt_size;
	bool full;
};

static void put(struct out *o, const void *p, size_t n)
{
	if (o->full || o->len + n > o->cap) {
		o->full = true;
		return;
	}
	memcpy(o->buf + o->len, p, n);
	o->len += n;
}

static void put16(struct out *o, uint16_t v)
{
	put(o, (uint8_t[]){ v >> 8, v }, 2);
}

static void put32(struct out *o, uint32_t v)
{
	put16(o, v >> 16);
	put16(o, v);
}

static void put_name(struct out *o, const uint8_t *name)
{
	size_t n = 0;

	while (name[n])
		n += name[n] + 1;
	put(o, name, n + 1);
}

/* Owner (NULL: a pointer to the question), type, class, TTL and the length of RDATA. */
static void put_front(struct out *o, const uint8_t *owner, uint16_t type, uint32_t ttl_s, uint16_t rdata_len)
{
	if (owner)
		put_name(o, owner);
	else
		put16(o, 0xc000 | HEADER);
	put16(o, type);
	put16(o, 1);
	put32(o, ttl_s);
	put16(o, rdata_len);
}

/* FNV-1a over the lower-case wire form, folded; docs/LAB.md says so, so that tests can tell the address. */
static uint64_t name_hash(const struct stub_query *q)
{
	uint64_t h = 0xcbf29ce484222325u;
	int i;

	for (i = 0; i < q->name_len; i++)
		h = (h ^ q->name[i]) * 0x100000001b3u;
	return h;
}

static void put_address(struct out *o, const struct stub_query *q, uint32_t ttl_s, uint32_t nth)
{
	uint64_t h = name_hash(q) + nth;

	put_front(o, NULL, q->type, ttl_s, q->type == TYPE_A ? 4 : 16);
	if (q->type == TYPE_A) {
		put32(o, 0xc6120000 | ((h ^ h >> 32) & 0x1ffff));
		return;
	}
	put32(o, 0x20010db8);
	put32(o, 0);
	put32(o, h >> 32);
	put32(o, h);
}

static void put_soa(struct out *o, const struct stub_rule *r, const struct stub_query *q)
{
	static const uint8_t names[] = "\2ns\7invalid\0\12hostmaster\7invalid";

	if (r->zone)
		put_name(o, r->zone);
	else
		put16(o, 0xc000 | (HEADER + (q->name[0] ? q->name[0] + 1 : 0)));
	put16(o, TYPE_SOA);
	put16(o, 1);
	put32(o, r->ttl_s);
	put16(o, sizeof(names) + 20);
	put(o, names, sizeof(names));
	put32(o, 1);
	put32(o, 3600);
	put32(o, 600);
	put32(o, 86400);
	put32(o, r->minimum_s);
}

static void put_rrsig(struct out *o, const struct stub_rule *r, const struct stub_query *q)
{
	static const uint8_t signature[64] = { 1, 2, 3, 4 };
	uint8_t labels = 0;
	int at;

	for (at = 0; q->name[at]; at += q->name[at] + 1)
		labels++;
	put_front(o, NULL, TYPE_RRSIG, r->ttl_s, 18 + 1 + sizeof(signature));
	put16(o, q->type);
	put(o, (uint8_t[]){ 13, labels }, 2);
	put32(o, r->ttl_s);
	put32(o, 0x7fffffff);
	put32(o, 0);
	put16(o, 12345);
	put(o, "", 1);
	put(o, signature, sizeof(signature));
}

/* Fill up to r->big octets, the OPT to come included. */
static uint16_t put_big(struct out *o, const struct stub_rule *r, const struct stub_query *q)
{
	size_t end = r->big - o->opt_size, one = q->type == TYPE_A ? 16 : 28, left;
	uint16_t count = 0;

	if (end > o->cap)
		o->full = true;
	if (q->type == TYPE_A || q->type == TYPE_AAAA) {
		for (; !o->full && o->len + one <= end; count++)
			put_address(o, q, r->ttl_s, count);
		return count;
	}
	if (o->full || o->len + 13 > end)
		return 0;
	left = end - o->len - 12;
	put_front(o, NULL, TYPE_TXT, r->ttl_s, left);
	while (left) {
		uint8_t n = left - 1 < 255 ? left - 1 : 255;

		put(o, &n, 1);
		memset(o->buf + o->len, 'x', n);
		o->len += n;
		left -= n + 1;
	}
	return 1;
}

static uint16_t put_records(struct out *o, const struct stub_rule *r, const struct stub_query *q)
{
	uint16_t count = 0;
	uint32_t i;

	if (!r->has_data && (q->type == TYPE_A || q->type == TYPE_AAAA)) {
		put_address(o, q, r->ttl_s, 0);
		count++;
	}
	for (i = 0; i < r->record_count; i++) {
		const struct stub_record *rec = &r->record[i];

		if (!r->type && rec->type != q->type && q->type != TYPE_ANY && rec->type != TYPE_CNAME)
			continue;
		put_front(o, rec->owner, rec->type, r->ttl_s, rec->rdata_len);
		put(o, rec->rdata, rec->rdata_len);
		count++;
	}
	if (r->big)
		count += put_big(o, r, q);
	if (count && q->dnssec_ok && r->flags & STUB_RRSIG) {
		put_rrsig(o, r, q);
		count++;
	}
	return count;
}

/* Whether a negative answer needs its SOA: the answer section does not end with what was asked (RFC 2308 section 2). */
static bool is_negative(const struct stub_rule *r, const struct stub_query *q, uint16_t count)
{
	uint32_t i;

	if (r->rcode == 3)
		return true;
	if (r->rcode)
		return false;
	if (!count)
		return true;
	if (!r->has_data || r->big)
		return false;
	for (i = 0; i < r->record_count; i++)
		if (r->type || r->record[i].type == q->type || q->type == TYPE_ANY)
			return false;
	return true;
}

static void put_opt(struct out *o, const struct stub_query *q, bool badvers)
{
	put(o, "", 1);
	put16(o, TYPE_OPT);
	put16(o, 1232);
	put16(o, badvers ? 0x0100 : 0);
	put16(o, q->dnssec_ok ? 0x8000 : 0);
	put16(o, 0);
}

/* A referral upwards, as a server gives that does not know the zone (RFC 8499, "lame delegation"). */
static void put_referral(struct out *o, const struct stub_rule *r)
{
	static const uint8_t server[] = "\1a\14root-servers\3net";

	put_front(o, (const uint8_t *)"", TYPE_NS, r->ttl_s, sizeof(server));
	put(o, server, sizeof(server));
}

/* Octets that look like nothing, another lot for each query. */
static size_t make_noise(const struct stub_query *q, uint8_t *buf)
{
	uint32_t x = (uint32_t)q->id * 2654435761u + 1, i;

	for (i = 0; i < NOISE; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		buf[i] = x >> 16;
	}
	return NOISE;
}

static void make_wrong(const struct stub_query *q, uint32_t wrong, uint8_t *buf)
{
	if (wrong & STUB_WRONG_ID)
		buf[1] ^= 1;
	if (!(wrong & STUB_WRONG_QUESTION))
		return;
	if (q->name[0])
		buf[HEADER + 1] = tolower(buf[HEADER + 1]) == 'w' ? 'v' : 'w';
	else
		buf[HEADER + 2] ^= 1;
}

size_t stub_answer(const struct stub_rule *r, const struct stub_query *q, uint32_t wrong, uint8_t *buf)
{
	bool opt = q->edns && !(r->flags & STUB_NO_OPT), badvers = opt && q->edns_version && !q->rcode;
	size_t size = q->tcp ? STUB_MSG_MAX : q->udp_size < STUB_UDP_MAX ? q->udp_size : STUB_UDP_MAX;
	struct out o = { .buf = buf, .len = q->question_end, .opt_size = opt ? OPT_SIZE : 0 };
	uint16_t flags = 0x8000 | (r->flags & STUB_LAME ? 0 : 0x0080) | (q->flags & 0x7910), answers = 0, authority = 0;

	if (wrong & STUB_GARBAGE)
		return make_noise(q, buf);
	memcpy(buf, q->msg, q->question_end);
	if (r->flags & STUB_LOWER)
		memcpy(buf + HEADER, q->name, q->name_len);
	if (q->rcode || badvers) {
		flags |= q->rcode;
		goto out;
	}
	o.cap = size - o.opt_size;
	flags |= r->rcode | (r->flags & STUB_AA ? 0x0400 : 0) | (r->flags & STUB_AD ? 0x0020 : 0);
	if (r->flags & STUB_LAME) {
		put_referral(&o, r);
		authority = 1;
		goto out;
	}
	answers = put_records(&o, r, q);
	if (is_negative(r, q, answers) && !(r->flags & STUB_NO_SOA)) {
		put_soa(&o, r, q);
		authority = 1;
	}
	if (o.full || (r->flags & STUB_TRUNCATE && !q->tcp)) {
		o.full = false;
		o.len = q->question_end;
		flags |= 0x0200;
		answers = authority = 0;
	}
out:
	o.cap = size;
	if (opt)
		put_opt(&o, q, badvers);
	make_wrong(q, wrong, buf);
	buf[2] = flags >> 8;
	buf[3] = flags;
	memset(buf + 4, 0, 8);
	buf[5] = q->question_end > HEADER;
	buf[6] = answers >> 8;
	buf[7] = answers;
	buf[9] = authority;
	buf[11] = opt;
	if (wrong & STUB_BROKEN) {
		buf[7] = 5;
		return o.len < q->question_end + 3u ? o.len : q->question_end + 3u;
	}
	return o.len;
}
