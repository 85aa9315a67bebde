/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub_answer.c - the stub's wire format: a query read, an answer built.
 *
 * Plain functions over bytes; they allocate nothing and keep nothing.  The
 * question is repeated as it came.  Owners are written out or point to the
 * question; names in RDATA are never compressed.  Self-contained on purpose: a
 * stub that shared the daemon's message code would share its faults.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "tools/mrstub.h"

#define HEADER 12
#define OPT_SIZE 11

/* ---- queries -------------------------------------------------------------- */

static uint16_t get16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

/* Step over a name that may be compressed; returns the offset behind it or -1. */
static int name_skip(const uint8_t *msg, int len, int at)
{
	while (at < len) {
		if (msg[at] >= 192)
			return at + 2;
		if (msg[at] > 63)
			return -1;
		if (!msg[at])
			return at + 1;
		at += msg[at] + 1;
	}
	return -1;
}

static int question_parse(struct stub_query *q, int len)
{
	int at = HEADER, i, n;

	while (at < len && q->msg[at] && q->msg[at] < 64)
		at += q->msg[at] + 1;
	n = at + 1 - HEADER;
	if (at + 5 > len || q->msg[at] || n > STUB_NAME_MAX)
		return -EBADMSG;
	for (i = 0; i < n; i++)
		q->name[i] = tolower(q->msg[HEADER + i]);
	q->name_len = n;
	q->type = get16(q->msg + at + 1);
	q->class = get16(q->msg + at + 3);
	q->question_end = at + 5;
	return 0;
}

/* What follows the question; only the OPT is of interest (RFC 6891 section 6.1). */
static int rest_parse(struct stub_query *q, int len)
{
	int count = get16(q->msg + 6) + get16(q->msg + 8) + get16(q->msg + 10), at = q->question_end, owner;

	for (; count; count--) {
		owner = at;
		at = name_skip(q->msg, len, at);
		if (at < 0 || at + 10 > len || at + 10 + get16(q->msg + at + 8) > len)
			return -EBADMSG;
		if (get16(q->msg + at) == TYPE_OPT) {
			if (q->edns || q->msg[owner])
				return -EBADMSG;
			q->edns = true;
			q->udp_size = get16(q->msg + at + 2) < 512 ? 512 : get16(q->msg + at + 2);
			q->edns_version = q->msg[at + 5];
			q->dnssec_ok = q->msg[at + 6] & 0x80;
		}
		at += 10 + get16(q->msg + at + 8);
	}
	return 0;
}

int stub_query_parse(const uint8_t *msg, size_t len, bool tcp, struct stub_query *ret)
{
	struct stub_query *q = ret;

	if (len < HEADER || msg[2] & 0x80)
		return -EBADMSG;
	q->msg = msg;
	q->tcp = tcp;
	q->id = get16(msg);
	q->flags = get16(msg + 2);
	q->rcode = 0;
	q->udp_size = 512;
	q->edns = q->dnssec_ok = false;
	q->edns_version = 0;
	if (get16(msg + 4) != 1 || question_parse(q, len)) {
		q->question_end = HEADER;
		q->name_len = 0;
		q->type = q->class = 0;
		q->rcode = 1;
	} else if (rest_parse(q, len)) {
		q->edns = q->dnssec_ok = false;
		q->rcode = 1;
	} else if (q->flags & 0x7800) {
		q->rcode = 4;
	}
	return 0;
}

void stub_query_text(const struct stub_query *q, char *name, char *type)
{
	int at = 0, end;

	if (!q->name_len || !q->name[0])
		*name++ = '.';
	while (at < q->name_len && q->name[at]) {
		end = at + 1 + q->name[at];
		for (at++; at < end; at++) {
			uint8_t c = q->msg[HEADER + at];

			if (c == '.' || c == '\\')
				name += sprintf(name, "\\%c", c);
			else
				name += c > ' ' && c < 127 ? sprintf(name, "%c", c) : sprintf(name, "\\%03u", c);
		}
		*name++ = '.';
	}
	*name = 0;
	stub_type_text(q->type, type);
}

/* ---- answers -------------------------------------------------------------- */

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
	uint16_t flags = 0x8080 | (q->flags & 0x7910), answers = 0, authority = 0;

	memcpy(buf, q->msg, q->question_end);
	if (r->flags & STUB_LOWER)
		memcpy(buf + HEADER, q->name, q->name_len);
	if (q->rcode || badvers) {
		flags |= q->rcode;
		goto out;
	}
	o.cap = size - o.opt_size;
	flags |= r->rcode | (r->flags & STUB_AA ? 0x0400 : 0) | (r->flags & STUB_AD ? 0x0020 : 0);
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
	return o.len;
}
