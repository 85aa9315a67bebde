/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub_text.c - what is written in a rule: names, types, numbers, quoted words, and what is wrong with them.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/mrstub.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *text;
	uint16_t type;
} types[] = {
	{ "A", TYPE_A },	 { "NS", TYPE_NS },   { "CNAME", TYPE_CNAME }, { "SOA", TYPE_SOA }, { "PTR", TYPE_PTR },
	{ "MX", TYPE_MX },	 { "TXT", TYPE_TXT }, { "AAAA", TYPE_AAAA },   { "SRV", 33 },	    { "DS", 43 },
	{ "RRSIG", TYPE_RRSIG }, { "DNSKEY", 48 },    { "SVCB", 64 },	       { "HTTPS", 65 },	    { "ANY", TYPE_ANY },
};

_Thread_local char stub_why[256];

/* Say what is wrong; returns -EINVAL so that a caller can return it. */
int stub_bad(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(stub_why, sizeof(stub_why), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int stub_number_parse(const char *text, uint32_t min, uint32_t max, uint32_t *ret)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || v < min || v > max)
		return -EINVAL;
	*ret = v;
	return 0;
}

int stub_type_parse(const char *text, uint16_t *ret)
{
	uint32_t v;
	size_t i;

	for (i = 0; i < COUNT(types); i++) {
		if (!strcasecmp(text, types[i].text)) {
			*ret = types[i].type;
			return 0;
		}
	}
	if (strncasecmp(text, "TYPE", 4) || stub_number_parse(text + 4, 1, UINT16_MAX, &v))
		return -EINVAL;
	*ret = v;
	return 0;
}

void stub_type_text(uint16_t type, char *text)
{
	size_t i;

	for (i = 0; i < COUNT(types); i++) {
		if (types[i].type == type) {
			strcpy(text, types[i].text);
			return;
		}
	}
	sprintf(text, "TYPE%u", type);
}

/* One character of a name, an escape resolved (RFC 1035 section 5.1); returns what follows it or NULL. */
static const char *name_char(const char *t, uint8_t *ret)
{
	const unsigned char *u = (const unsigned char *)t;

	if (*t != '\\') {
		*ret = *u;
		return t + 1;
	}
	if (isdigit(u[1]) && isdigit(u[2]) && isdigit(u[3])) {
		int v = (u[1] - '0') * 100 + (u[2] - '0') * 10 + (u[3] - '0');

		*ret = v;
		return v > 255 ? NULL : t + 4;
	}
	*ret = u[1];
	return u[1] ? t + 2 : NULL;
}

/* A name to wire form in lower case, into 255 octets; returns its length or -EINVAL. */
int stub_name_parse(const char *text, uint8_t *wire)
{
	int len = 1, label = 0;
	const char *t = text;
	uint8_t c;

	if (!*text)
		return stub_bad("an empty name; the root is '.'");
	if (!strcmp(text, ".")) {
		wire[0] = 0;
		return 1;
	}
	while (*t) {
		bool dot = *t == '.';

		t = name_char(t, &c);
		if (!t || (dot && len == label + 1) || (!dot && (len - label > 63 || len > 253)))
			return stub_bad("'%s' is not a domain name", text);
		if (dot) {
			wire[label] = len - label - 1;
			label = len++;
		} else {
			wire[len++] = tolower(c);
		}
	}
	wire[label] = len - label - 1;
	if (wire[label])
		wire[len++] = 0;
	return len;
}

int stub_hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return at ? at - digits : -1;
}

/* The next word in place, quotes taken off; NULL at the end, *err set when a quote is not closed. */
char *stub_word_next(char **at, int *err)
{
	char *in = *at + strspn(*at, " \t\r\n"), *out = in, *start = in;
	bool quoted = false;

	if (!*in || *in == '#')
		return NULL;
	for (; *in && (quoted || !isspace((unsigned char)*in)); in++) {
		if (*in == '"')
			quoted = !quoted;
		else
			*out++ = *in;
	}
	if (quoted)
		*err = stub_bad("a double quote is not closed");
	*at = *in ? in + 1 : in;
	*out = 0;
	return start;
}
