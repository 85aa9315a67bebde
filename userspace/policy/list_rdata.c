/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_rdata.c - records as rules write them, in wire form.
 *
 * The types that rewrites are made of; others go to the room that knows them
 * all (dns/rdata.h).  Names come out in lower case.
 */
#include <errno.h>
#include "dns/msg.h"
#include "dns/rdata.h"
#include "dns/text.h"
#include "policy/list_read.h"

/* What has been written of a record. */
struct out {
	uint8_t *p;
	size_t size;
	size_t len;
};

static bool put(struct out *o, const void *p, size_t len)
{
	if (len > o->size - o->len)
		return false;
	memcpy(o->p + o->len, p, len);
	o->len += len;
	return true;
}

static bool put16(struct out *o, unsigned long v)
{
	return put(o, (uint8_t[2]){ (uint8_t)(v >> 8), (uint8_t)v }, 2);
}

static bool put_number(struct out *o, struct list_span s)
{
	unsigned long v;

	return list_number(s, UINT16_MAX, &v) && put16(o, v);
}

/* "." is the root, which is a name here. */
static bool put_name(struct out *o, struct list_span s)
{
	struct list_name n;
	int bad;

	if (list_is(s, "."))
		return put(o, "", 1);
	bad = list_name_read(s, &n);
	return (!bad || bad == LIST_SKIP_deep) && put(o, n.wire, n.len);
}

static bool put_address(struct out *o, struct list_span s, bool v4)
{
	uint8_t ip[16];

	if (!list_address_ip(s, ip) || list_is(s, "0") || v4 == list_has(s, ':'))
		return false;
	return v4 ? put(o, ip + 12, 4) : put(o, ip, 16);
}

/* One character of a quoted string: "\065" and "\"" are one each (RFC 1035 section 5.1). */
static char next_char(struct list_span *s)
{
	unsigned long v;

	if (*s->p != '\\' || s->p + 1 == s->end)
		return *s->p++;
	s->p++;
	if (s->end - s->p >= 3 && list_number((struct list_span){ s->p, s->p + 3 }, 255, &v)) {
		s->p += 3;
		return (char)v;
	}
	return *s->p++;
}

/* Strings in quotes; else all of the text as one, cut where a string is full. */
static bool put_text(struct out *o, struct list_span s)
{
	bool quoted = list_starts(s, "\"");
	uint8_t part[256];

	do {
		s.p += quoted;
		for (part[0] = 0; part[0] < 255 && s.p < s.end && !(quoted && *s.p == '"');)
			part[++part[0]] = (uint8_t)(quoted ? next_char(&s) : *s.p++);
		if (!put(o, part, part[0] + 1U) || (quoted && s.p == s.end))
			return false;
		s.p += quoted;
		while (quoted && s.p < s.end && list_is_blank(*s.p))
			s.p++;
	} while (s.p < s.end && (!quoted || *s.p == '"'));
	return s.p == s.end;
}

/* ---- parameters of services (RFC 9460 section 7, RFC 9461 section 5) ---- */

enum { KEY_MANDATORY, KEY_ALPN, KEY_NO_DEFAULT_ALPN, KEY_PORT, KEY_IPV4HINT, KEY_ECH, KEY_IPV6HINT, KEY_DOHPATH, KEYS };
static const char *const keys[KEYS] = {
	"mandatory", "alpn", "no-default-alpn", "port", "ipv4hint", "ech", "ipv6hint", "dohpath",
};

static int key_of(struct list_span s)
{
	int i;

	for (i = 0; i < KEYS; i++)
		if (list_is(s, keys[i]))
			return i;
	return -1;
}

static bool put_ids(struct out *o, struct list_span s)
{
	struct list_span part;
	uint8_t len;

	do {
		part = list_until(&s, ',');
		len = (uint8_t)list_size(part);
		if (!list_size(part) || list_size(part) > 255 || !put(o, &len, 1) || !put(o, part.p, len))
			return false;
	} while (s.p < s.end);
	return true;
}

/* Keys in the order of their numbers, each once. */
static bool put_mandatory(struct out *o, struct list_span s)
{
	int key, before = KEY_MANDATORY;

	do {
		key = key_of(list_until(&s, ','));
		if (key <= before || !put16(o, (unsigned long)key))
			return false;
		before = key;
	} while (s.p < s.end);
	return true;
}

static bool put_hints(struct out *o, struct list_span s, bool v4)
{
	do
		if (!put_address(o, list_until(&s, ','), v4))
			return false;
	while (s.p < s.end);
	return true;
}

static int digit_of(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Base 64 (RFC 4648 section 4). */
static bool put_base64(struct out *o, struct list_span s)
{
	uint32_t bits = 0;
	unsigned have = 0;
	uint8_t octet;

	if (!list_size(s) || list_size(s) % 4)
		return false;
	for (; s.p < s.end && *s.p != '='; s.p++) {
		if (digit_of(*s.p) < 0)
			return false;
		bits = bits << 6 | (uint32_t)digit_of(*s.p);
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		octet = (uint8_t)(bits >> have);
		if (!put(o, &octet, 1))
			return false;
	}
	return s.end - s.p <= 2 && (s.p == s.end || s.end[-1] == '=');
}

static bool put_value(struct out *o, int key, struct list_span s)
{
	if (list_size(s) > 1 && *s.p == '"' && s.end[-1] == '"') {
		s.p++;
		s.end--;
	}
	switch (key) {
	case KEY_MANDATORY:
		return put_mandatory(o, s);
	case KEY_ALPN:
		return put_ids(o, s);
	case KEY_NO_DEFAULT_ALPN:
		return s.p == s.end;
	case KEY_PORT:
		return put_number(o, s);
	case KEY_ECH:
		return put_base64(o, s);
	case KEY_DOHPATH:
		return list_size(s) && put(o, s.p, list_size(s));
	default:
		return put_hints(o, s, key == KEY_IPV4HINT);
	}
}

/* They may be written in any order, but go out in that of their numbers. */
static bool put_parameters(struct out *o, struct list_span s)
{
	struct list_span value[KEYS] = { { NULL, NULL } }, word, name;
	size_t at;
	int key;

	while (s.p < s.end) {
		word = list_word(&s);
		name = list_until(&word, '=');
		key = key_of(name);
		if (key < 0 || value[key].p || (key != KEY_NO_DEFAULT_ALPN && name.end == word.end))
			return false;
		value[key] = word;
	}
	for (key = 0; key < KEYS; key++) {
		if (!value[key].p)
			continue;
		if (!put16(o, (unsigned long)key) || !put16(o, 0))
			return false;
		at = o->len;
		if (!put_value(o, key, value[key]))
			return false;
		o->p[at - 2] = (uint8_t)((o->len - at) >> 8);
		o->p[at - 1] = (uint8_t)(o->len - at);
	}
	return true;
}

static bool put_service(struct out *o, struct list_span s)
{
	return put_number(o, list_word(&s)) && put_name(o, list_word(&s)) && put_parameters(o, s);
}

static bool put_srv(struct out *o, struct list_span s)
{
	return put_number(o, list_word(&s)) && put_number(o, list_word(&s)) && put_number(o, list_word(&s)) && put_name(o, s);
}

static int put_rare(struct out *o, uint16_t type, struct list_span s)
{
	uint16_t len;
	int err = dns_rdata_from_text(type, s.p, list_size(s), o->p, o->size, &len);

	o->len = err ? 0 : len;
	return err;
}

int list_rdata(uint16_t type, struct list_span s, uint8_t *ret, size_t size, uint16_t *ret_len)
{
	struct out o = { .p = ret, .size = size };
	bool good;

	switch (type) {
	case DNS_A:
	case DNS_AAAA:
		good = put_address(&o, s, type == DNS_A);
		break;
	case DNS_CNAME:
	case DNS_DNAME:
	case DNS_NS:
	case DNS_PTR:
		good = put_name(&o, s);
		break;
	case DNS_MX:
		good = put_number(&o, list_word(&s)) && put_name(&o, s);
		break;
	case DNS_SRV:
		good = put_srv(&o, s);
		break;
	case DNS_TXT:
		good = put_text(&o, s);
		break;
	case DNS_SVCB:
	case DNS_HTTPS:
		good = put_service(&o, s);
		break;
	default:
		good = put_rare(&o, type, s) == 0;
	}
	*ret_len = good ? (uint16_t)o.len : 0;
	return good ? 0 : -EINVAL;
}

uint16_t list_type(struct list_span text)
{
	static const struct {
		const char *name;
		uint16_t type;
	} rows[] = {
		{ "CNAME", DNS_CNAME }, { "A", DNS_A }, { "AAAA", DNS_AAAA }, { "HTTPS", DNS_HTTPS }, { "MX", DNS_MX },
		{ "NS", DNS_NS }, { "PTR", DNS_PTR }, { "SOA", DNS_SOA }, { "SRV", DNS_SRV }, { "SVCB", DNS_SVCB },
		{ "TXT", DNS_TXT },
	};
	char name[24];
	uint16_t type;
	unsigned i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (list_is(text, rows[i].name))
			return rows[i].type;
	if (!list_size(text) || list_size(text) >= sizeof(name) || memchr(text.p, 0, list_size(text)))
		return 0;
	memcpy(name, text.p, list_size(text));
	name[list_size(text)] = '\0';
	return dns_type_from_text(name, &type) ? 0 : type;
}
