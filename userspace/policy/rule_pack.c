/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_pack.c - rules to octets and back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "dns/name.h"
#include "policy/regex.h"
#include "policy/rule_pack.h"

#define HAS_CONDITION 1U
#define HAS_ANSWER    2U
#define INVERTED      4U

struct out {
	uint8_t *p, *end;
	bool full;
};

static void put(struct out *o, const void *p, size_t size)
{
	if (size > (size_t)(o->end - o->p)) {
		o->full = true;
		return;
	}
	if (size)
		memcpy(o->p, p, size);
	o->p += size;
}

static void put_number(struct out *o, uint32_t v, size_t size)
{
	put(o, &v, size);
}

static void put_octets(struct out *o, const void *p, size_t size)
{
	put_number(o, (uint32_t)size, 4);
	put(o, p, size);
}

/* ---- conditions ---- */

static int by_octets(const void *a, const void *b, void *size)
{
	return memcmp(a, b, *(size_t *)size);
}

static void put_sorted(struct out *o, uint8_t *rows, size_t size, unsigned count)
{
	qsort_r(rows, count, size, by_octets, &size);
	put_number(o, count, 1);
	put(o, rows, size * count);
}

#define CLIENT_ROW 83			/* kind, not, length of the prefix, address, hardware address, name */

static void put_clients(struct out *o, const struct rule_condition *c)
{
	uint8_t rows[RULE_CLIENTS_MAX][CLIENT_ROW] = { 0 };
	const struct rule_client *from;
	unsigned i;

	for (i = 0; i < c->clients; i++) {
		from = &c->client[i];
		rows[i][0] = (uint8_t)from->kind;
		rows[i][1] = from->not;
		if (from->kind == RULE_CLIENT_PREFIX) {
			rows[i][2] = from->prefix.len;
			memcpy(rows[i] + 3, from->prefix.ip, 16);
		} else if (from->kind == RULE_CLIENT_MAC) {
			memcpy(rows[i] + 3, from->mac, 6);
		} else {
			memcpy(rows[i] + 19, from->name, strnlen(from->name, sizeof(from->name) - 1));
		}
	}
	put_sorted(o, rows[0], CLIENT_ROW, c->clients);
}

static void put_tags(struct out *o, const struct rule_condition *c)
{
	uint8_t rows[RULE_TAGS_MAX][RULE_TAG_TEXT + 1] = { 0 };
	unsigned i;

	for (i = 0; i < c->tags; i++) {
		memcpy(rows[i], c->tag[i], strnlen(c->tag[i], RULE_TAG_TEXT - 1));
		rows[i][RULE_TAG_TEXT] = c->tag_not[i];
	}
	put_sorted(o, rows[0], sizeof(rows[0]), c->tags);
}

static void put_denies(struct out *o, const struct rule_condition *c)
{
	uint8_t rows[RULE_DENY_MAX][DNS_NAME_MAX] = { 0 };
	size_t size = DNS_NAME_MAX;
	unsigned i;

	for (i = 0; i < c->denies; i++)
		memcpy(rows[i], c->deny[i], c->deny_len[i]);
	qsort_r(rows[0], c->denies, size, by_octets, &size);
	put_number(o, c->denies, 1);
	for (i = 0; i < c->denies; i++)
		put(o, rows[i], (size_t)dns_name_len(rows[i], DNS_NAME_MAX));
}

static bool condition_is_good(const struct rule_condition *c)
{
	unsigned i;

	if (c->types > RULE_TYPES_MAX || c->clients > RULE_CLIENTS_MAX || c->tags > RULE_TAGS_MAX ||
	    c->denies > RULE_DENY_MAX)
		return false;
	for (i = 0; i < c->denies; i++)
		if (dns_name_len(c->deny[i], c->deny_len[i]) != c->deny_len[i])
			return false;
	for (i = 0; i < c->clients; i++)
		if (c->client[i].kind == RULE_CLIENT_PREFIX && c->client[i].prefix.len > 128)
			return false;
	return true;
}

static void put_condition(struct out *o, const struct rule_condition *c)
{
	uint16_t types[RULE_TYPES_MAX];

	memcpy(types, c->type, sizeof(types));
	put_number(o, c->types_not, 1);
	put_sorted(o, (uint8_t *)types, sizeof(*types), c->types);
	put_clients(o, c);
	put_tags(o, c);
	put_denies(o, c);
}

int rule_pack_condition(const struct rule_condition *c, uint8_t *buf)
{
	struct out o = { buf, buf + RULE_PACK_MAX, false };

	if (!condition_is_good(c))
		return -EINVAL;
	put_condition(&o, c);
	return o.full ? -EINVAL : (int)(o.p - buf);
}

/* ---- rules ---- */

static bool what_is_good(const struct rule_item *i)
{
	switch (i->kind) {
	case RULE_NAME:
		return i->reach <= RULE_BELOW && dns_name_len(i->name, i->name_len) == i->name_len;
	case RULE_REGEX:
		return i->pattern_len <= REGEX_PATTERN_MAX;
	case RULE_ADDRESS:
		return i->address.len <= 128;
	default:
		return false;
	}
}

static bool action_is_good(unsigned a)
{
	return a == FILTER_BLOCK || a == FILTER_ALLOW || a == FILTER_IMPORTANT_BLOCK || a == FILTER_IMPORTANT_ALLOW;
}

static void put_what(struct out *o, const struct rule_item *i)
{
	if (i->kind == RULE_NAME)
		put_octets(o, i->name, i->name_len);
	else if (i->kind == RULE_REGEX)
		put_octets(o, i->pattern, i->pattern_len);
	else
		put_octets(o, i->address.ip, 16);
}

int rule_pack(const struct rule_item *i, uint8_t *buf)
{
	struct out o = { buf, buf + RULE_PACK_MAX, false };
	const struct rule_answer *a = i->answer;

	if (!what_is_good(i) || !action_is_good(i->action) || (i->condition && !condition_is_good(i->condition)))
		return -EINVAL;
	put_number(&o, i->kind, 1);
	put_number(&o, i->action, 1);
	put_number(&o, i->kind == RULE_NAME ? i->reach : i->kind == RULE_ADDRESS ? i->address.len : 0U, 1);
	put_number(&o, (i->condition ? HAS_CONDITION : 0) | (a ? HAS_ANSWER : 0) |
		   (i->kind == RULE_REGEX && i->invert ? INVERTED : 0), 1);
	put_what(&o, i);
	if (i->condition)
		put_condition(&o, i->condition);
	if (a) {
		put_number(&o, a->kind, 1);
		put_number(&o, a->rcode, 2);
		put_number(&o, a->type, 2);
		put_number(&o, a->ttl, 4);
		put_octets(&o, a->rdata, a->rdata_len);
	}
	return o.full ? -EINVAL : (int)(o.p - buf);
}

/* ---- back ---- */

struct in {
	const uint8_t *p, *end;
	bool bad;
};

static const uint8_t *get(struct in *in, size_t size)
{
	const uint8_t *p = in->p;

	if (in->bad || size > (size_t)(in->end - in->p)) {
		in->bad = true;
		return NULL;
	}
	in->p += size;
	return p;
}

static uint32_t get_number(struct in *in, size_t size)
{
	const uint8_t *p = get(in, size);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, size);
	return v;
}

static unsigned get_count(struct in *in, unsigned max)
{
	unsigned n = get_number(in, 1);

	if (n > max)
		in->bad = true;
	return in->bad ? 0 : n;
}

static void get_clients(struct in *in, struct rule_condition *c)
{
	struct rule_client *to;
	const uint8_t *row;
	unsigned i, count = get_count(in, RULE_CLIENTS_MAX);

	for (i = 0; i < count && (row = get(in, CLIENT_ROW)); i++) {
		to = &c->client[i];
		if (row[0] > RULE_CLIENT_NAME || row[2] > 128 || row[CLIENT_ROW - 1]) {
			in->bad = true;
			return;
		}
		to->kind = row[0];
		to->not = row[1];
		if (to->kind == RULE_CLIENT_PREFIX) {
			to->prefix.len = row[2];
			memcpy(to->prefix.ip, row + 3, 16);
		} else if (to->kind == RULE_CLIENT_MAC) {
			memcpy(to->mac, row + 3, 6);
		} else {
			memcpy(to->name, row + 19, sizeof(to->name));
		}
	}
	c->clients = count;
}

static void get_tags(struct in *in, struct rule_condition *c)
{
	const uint8_t *row;
	unsigned i, count = get_count(in, RULE_TAGS_MAX);

	for (i = 0; i < count && (row = get(in, RULE_TAG_TEXT + 1)); i++) {
		memcpy(c->tag[i], row, RULE_TAG_TEXT);
		c->tag[i][RULE_TAG_TEXT - 1] = '\0';
		c->tag_not[i] = row[RULE_TAG_TEXT];
	}
	c->tags = count;
}

static void get_denies(struct in *in, struct rule_condition *c)
{
	unsigned i, count = get_count(in, RULE_DENY_MAX);
	int len;

	for (i = 0; i < count && !in->bad; i++) {
		len = dns_name_len(in->p, (size_t)(in->end - in->p));
		if (len < 0) {
			in->bad = true;
			return;
		}
		c->deny_len[i] = (uint16_t)len;
		c->deny[i] = get(in, (size_t)len);
	}
	c->denies = count;
}

static void get_condition(struct in *in, struct rule_condition *c)
{
	const uint8_t *types;

	memset(c, 0, sizeof(*c));
	c->types_not = get_number(in, 1);
	c->types = get_count(in, RULE_TYPES_MAX);
	types = get(in, c->types * sizeof(c->type[0]));
	if (types)
		memcpy(c->type, types, c->types * sizeof(c->type[0]));
	get_clients(in, c);
	get_tags(in, c);
	get_denies(in, c);
}

static void get_answer(struct in *in, struct rule_answer *a)
{
	uint32_t len;

	a->kind = get_number(in, 1);
	a->rcode = (uint16_t)get_number(in, 2);
	a->type = (uint16_t)get_number(in, 2);
	a->ttl = get_number(in, 4);
	len = get_number(in, 4);
	in->bad = in->bad || len > UINT16_MAX || a->kind > RULE_ANSWER_ANY;
	a->rdata = get(in, len);
	a->rdata_len = (uint16_t)len;
	if (!in->bad && a->kind == RULE_ANSWER_CNAME && dns_name_len(a->rdata, len) != (int)len)
		in->bad = true;
}

static void get_what(struct in *in, unsigned third, struct rule_item *i)
{
	uint32_t len = get_number(in, 4);
	const uint8_t *p = get(in, len);

	if (!p)
		return;
	if (i->kind == RULE_NAME && len <= DNS_NAME_MAX) {
		i->reach = third;
		i->name = p;
		i->name_len = (uint16_t)len;
	} else if (i->kind == RULE_REGEX) {
		i->pattern = (const char *)p;
		i->pattern_len = len;
	} else if (i->kind == RULE_ADDRESS && len == 16) {
		i->address.len = (uint8_t)third;
		memcpy(i->address.ip, p, 16);
	} else {
		in->bad = true;
	}
}

int rule_unpack(const uint8_t *p, size_t size, struct rule_condition *condition, struct rule_answer *answer,
		struct rule_item *ret)
{
	struct in in = { p, p + size, false };
	unsigned third, flags;

	*ret = (struct rule_item){ .kind = get_number(&in, 1) };
	ret->action = get_number(&in, 1);
	third = get_number(&in, 1);
	flags = get_number(&in, 1);
	ret->invert = flags & INVERTED;
	get_what(&in, third, ret);
	if (flags & HAS_CONDITION) {
		get_condition(&in, condition);
		ret->condition = condition;
	}
	if (flags & HAS_ANSWER) {
		get_answer(&in, answer);
		ret->answer = answer;
	}
	if (in.bad || in.p != in.end || !what_is_good(ret) || !action_is_good(ret->action))
		return -EBADMSG;
	return 0;
}
