/* SPDX-License-Identifier: BSD-2-Clause */
/* name.c - domain names in wire form, and their text. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "dns/msg.h"
#include "dns/name.h"
#include "dns/wire.h"
#include "maps/name.h"

#define POINTER 0xc0

int dns_name_len(const uint8_t *p, size_t size)
{
	size_t at = 0;

	if (size > DNS_NAME_MAX)
		size = DNS_NAME_MAX;
	while (at < size) {
		if (!p[at])
			return (int)at + 1;
		if (p[at] > DNS_LABEL_MAX)
			return -EBADMSG;
		at += p[at] + 1U;
	}
	return -EBADMSG;
}

int dns_name_expand(const uint8_t *msg, size_t size, size_t at, uint8_t *ret, size_t *next)
{
	size_t start = at, end = 0, len = 0, target;

	while (at < size) {
		uint8_t c = msg[at];

		if (c <= DNS_LABEL_MAX) {
			if (c >= size - at || len + c + 1 > DNS_NAME_MAX)
				return -EBADMSG;
			memcpy(ret + len, msg + at, c + 1U);
			len += c + 1U;
			at += c + 1U;
			if (c)
				continue;
			if (next)
				*next = end ? end : at;
			return (int)len;
		}
		if (c < POINTER || size - at < 2)
			return -EBADMSG;
		target = dns_get16(msg + at) & (DNS_POINTERS_END - 1);
		if (!end)
			end = at + 2;
		/* each part starts before the one that led to it: that is what ends the walk */
		if (target < DNS_HEADER || target >= start)
			return -EBADMSG;
		at = start = target;
	}
	return -EBADMSG;
}

void dns_name_lower(uint8_t *to, const uint8_t *from, size_t len)
{
	uint64_t w;

	for (; len >= 8; len -= 8, to += 8, from += 8) {
		w = mr_lower8(mr_load64(from));
		memcpy(to, &w, 8);
	}
	for (; len; len--)
		*to++ = dns_lower(*from++);
}

bool dns_name_equal(const uint8_t *a, const uint8_t *b)
{
	unsigned n;

	for (;;) {
		if (*a != *b)
			return false;
		n = *a;
		if (!n)
			return true;
		for (a++, b++; n; n--)
			if (dns_lower(*a++) != dns_lower(*b++))
				return false;
	}
}

static size_t name_size(const uint8_t *name)
{
	const uint8_t *p = name;

	while (*p)
		p += *p + 1;
	return (size_t)(p - name) + 1;
}

bool dns_name_is_in(const uint8_t *name, const uint8_t *parent)
{
	size_t left = name_size(name), want = name_size(parent);

	while (left > want) {
		left -= *name + 1U;
		name += *name + 1;
	}
	return left == want && dns_name_equal(name, parent);
}

unsigned dns_name_labels(const uint8_t *name)
{
	unsigned n = 0;

	for (; *name; name += *name + 1)
		n++;
	return n;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* One octet of a label, escaped or not; returns the characters it took, or -EINVAL. */
static int octet_from_text(const char *text, size_t len, uint8_t *ret)
{
	unsigned v;

	if (text[0] != '\\') {
		*ret = (uint8_t)text[0];
		return 1;
	}
	if (len < 2)
		return -EINVAL;
	if (!is_digit(text[1])) {
		*ret = (uint8_t)text[1];
		return 2;
	}
	if (len < 4 || !is_digit(text[2]) || !is_digit(text[3]))
		return -EINVAL;
	v = (unsigned)(text[1] - '0') * 100 + (unsigned)(text[2] - '0') * 10 + (unsigned)(text[3] - '0');
	if (v > 255)
		return -EINVAL;
	*ret = (uint8_t)v;
	return 4;
}

int dns_name_from_text(const char *text, size_t len, uint8_t *ret)
{
	uint8_t name[DNS_NAME_MAX];
	unsigned label = 0, at = 1;		/* of the length byte; of the next octet */
	size_t i = 0;
	int n;

	if (len == 1 && text[0] == '.') {
		ret[0] = 0;
		return 1;
	}
	while (i < len) {
		if (text[i] == '.') {
			if (at == label + 1)
				return -EINVAL;
			name[label] = (uint8_t)(at - label - 1);
			label = at++;
			i++;
			continue;
		}
		/* the root byte must still find room behind this octet */
		if (at >= DNS_NAME_MAX - 1 || at - label > DNS_LABEL_MAX)
			return -EINVAL;
		n = octet_from_text(text + i, len - i, &name[at]);
		if (n < 0)
			return n;
		at++;
		i += (unsigned)n;
	}
	if (at > label + 1) {
		name[label] = (uint8_t)(at - label - 1);
		label = at;
	}
	if (!label)
		return -EINVAL;
	name[label] = 0;
	memcpy(ret, name, label + 1);
	return (int)label + 1;
}

static size_t octet_text(uint8_t c, char out[5])
{
	if (c == '.' || c == '\\') {
		out[0] = '\\';
		out[1] = (char)c;
		return 2;
	}
	if (c > ' ' && c < 0x7f) {
		out[0] = (char)c;
		return 1;
	}
	return (size_t)snprintf(out, 5, "\\%03u", c);
}

const char *dns_name_text(const uint8_t *name, char *buf, size_t size)
{
	char one[5];
	size_t at = 0, n;
	unsigned i;

	if (!*name && size > 1)
		buf[at++] = '.';
	for (; *name; name += *name + 1) {
		if (at && at + 1 < size)
			buf[at++] = '.';
		for (i = 1; i <= *name; i++) {
			n = octet_text(name[i], one);
			if (at + n >= size)
				goto out;
			memcpy(buf + at, one, n);
			at += n;
		}
	}
out:
	if (size)
		buf[at] = 0;
	return buf;
}
