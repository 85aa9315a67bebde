/* SPDX-License-Identifier: BSD-2-Clause */
/* endpoint.c - where a server of the DNS is, and how one talks to it. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/endpoint.h"

#define COUNT_OF(a) ((unsigned)(sizeof(a) / sizeof((a)[0])))
#define LABEL_MAX 63
#define NAME_MAX_TEXT 253

static const struct {
	const char *text;
	uint16_t port;
} schemes[] = {
	[ENDPOINT_DNS] = { "udp", 53 },
	[ENDPOINT_TCP] = { "tcp", 53 },
	[ENDPOINT_TLS] = { "tls", 853 },
	[ENDPOINT_HTTPS] = { "https", 443 },
};

static const char expected[] =
	"an address with or without a port, as \"192.0.2.1:53\" or \"[2001:db8::1]:53\", or udp://, tcp://, tls:// or https:// "
	"and a host";

const char *endpoint_scheme_text(enum endpoint_scheme scheme)
{
	return schemes[scheme].text;
}

/* ---- hosts ---- */

/* A name of the DNS, lower case and without its final dot into @ret; its last label is no number. */
static bool read_name(const char *text, char ret[ENDPOINT_NAME_MAX])
{
	size_t len = strlen(text), i, label = 0;
	bool digits = true;

	if (len && text[len - 1] == '.')
		len--;
	if (!len || len > NAME_MAX_TEXT)
		return false;
	for (i = 0; i < len; i++) {
		if (text[i] == '.') {
			if (!label || label > LABEL_MAX)
				return false;
			label = 0;
			digits = true;
			ret[i] = '.';
			continue;
		}
		if (!isalnum((unsigned char)text[i]) && text[i] != '-' && text[i] != '_')
			return false;
		digits = digits && isdigit((unsigned char)text[i]);
		ret[i] = (char)tolower((unsigned char)text[i]);
		label++;
	}
	ret[len] = '\0';
	return label && label <= LABEL_MAX && !digits;
}

/* "host", "host:port", "1.2.3.4:port", "[::1]:port"; without a scheme addresses alone. */
static bool read_host(struct endpoint *e, char *text, bool scheme)
{
	char ip[ADDR_TEXT_MAX], *colon = strchr(text, ':'), *end;
	uint16_t port = schemes[e->scheme].port;
	struct addr bare;
	long n;

	if (!addr_parse(text, port, &e->addr)) {
		e->literal = true;
		bare = e->addr;
		bare.port = 0;
		snprintf(e->host, sizeof(e->host), "%s", addr_text(&bare, ip, sizeof(ip)));
		return !scheme || *text == '[' || addr_is_v4(&e->addr);
	}
	if (!scheme)
		return false;
	e->addr.port = port;
	if (colon) {
		*colon++ = '\0';
		n = strtol(colon, &end, 10);
		if (!isdigit((unsigned char)*colon) || *end || n < 1 || n > 65535)
			return false;
		e->addr.port = (uint16_t)n;
	}
	return read_name(text, e->host);
}

int endpoint_set_name(struct endpoint *e, const char *name)
{
	char text[ENDPOINT_NAME_MAX];
	struct addr a;

	if (!read_name(name, text)) {
		if (addr_parse(name, 0, &a) || a.port || a.scope || *name == '[')
			return -EINVAL;
		addr_text(&a, text, sizeof(text));
	}
	strcpy(e->name, text);
	return 0;
}

/* ---- what stands around a host ---- */

/* Take the scheme off; NULL when there is one that is not known. */
static char *read_scheme(struct endpoint *e, char *text, bool *ret_given)
{
	char *end = strstr(text, "://");
	unsigned i;

	*ret_given = end != NULL;
	if (!end)
		return text;
	for (i = 0; i < COUNT_OF(schemes); i++) {
		if ((size_t)(end - text) == strlen(schemes[i].text) && !strncasecmp(text, schemes[i].text, (size_t)(end - text))) {
			e->scheme = (enum endpoint_scheme)i;
			return end + 3;
		}
	}
	return NULL;
}

static bool read_path(struct endpoint *e, char *slash)
{
	size_t len = strlen(slash), i;

	if (len > 6 && !strcmp(slash + len - 6, "{?dns}"))
		len -= 6;
	if (len >= sizeof(e->path))
		return false;
	for (i = 0; i < len; i++)
		if (slash[i] <= ' ' || (unsigned char)slash[i] >= 0x7f || strchr("{}#?\"<>\\^`|", slash[i]))
			return false;
	memcpy(e->path, slash, len);
	e->path[len] = '\0';
	return true;
}

/* Cut text at the first @c, which the scheme may have; NULL: there is none. */
static char *cut(char *text, char c)
{
	char *at = strchr(text, c);

	if (at)
		*at = '\0';
	return at;
}

static bool parse(char *text, struct endpoint *e)
{
	char *rest, *slash = NULL, *name = NULL;
	bool scheme;

	rest = read_scheme(e, text, &scheme);
	if (!rest)
		return false;
	if (e->scheme == ENDPOINT_TLS)
		name = cut(rest, '#');
	if (e->scheme == ENDPOINT_HTTPS) {
		slash = strchr(rest, '/');
		if (slash && !read_path(e, slash))
			return false;
		if (slash)
			*slash = '\0';
		else
			strcpy(e->path, "/dns-query");
	}
	if (!read_host(e, rest, scheme))
		return false;
	strcpy(e->name, e->host);
	return !name || !endpoint_set_name(e, name + 1);
}

int endpoint_parse(const char *text, struct endpoint *ret, struct err_at *reterr)
{
	char buf[ENDPOINT_TEXT_MAX], name[ENDPOINT_NAME_MAX];
	struct endpoint e = { .scheme = ENDPOINT_DNS };

	if (snprintf(buf, sizeof(buf), "%s", text) >= (int)sizeof(buf))
		return err_why(reterr, -EINVAL, "expected %s, not a text of %zu bytes", expected, strlen(text));
	if (!parse(buf, &e)) {
		if (!strstr(text, "://") && read_name(text, name))
			return err_why(reterr, -EINVAL, "expected %s, not \"%.60s\": a name needs udp:// or another scheme in front",
				       expected, text);
		return err_why(reterr, -EINVAL, "expected %s, not \"%.60s\"", expected, text);
	}
	*ret = e;
	return 0;
}

const char *endpoint_text(const struct endpoint *e, char *buf, size_t size)
{
	char host[ENDPOINT_NAME_MAX + 2], port[8] = "";
	bool v6 = e->literal && strchr(e->host, ':');

	if (e->scheme == ENDPOINT_DNS && e->literal)
		return addr_text(&e->addr, buf, size);
	snprintf(host, sizeof(host), v6 ? "[%.253s]" : "%.255s", e->host);
	if (e->addr.port != schemes[e->scheme].port)
		snprintf(port, sizeof(port), ":%u", e->addr.port);
	snprintf(buf, size, "%s://%s%s%s%s%s", schemes[e->scheme].text, host, port, e->path,
		 e->scheme == ENDPOINT_TLS && strcmp(e->name, e->host) ? "#" : "",
		 e->scheme == ENDPOINT_TLS && strcmp(e->name, e->host) ? e->name : "");
	return buf;
}

bool endpoint_same(const struct endpoint *a, const struct endpoint *b)
{
	return a->scheme == b->scheme && a->addr.port == b->addr.port && a->literal == b->literal &&
	       (a->literal ? addr_same(&a->addr, &b->addr) : !strcmp(a->host, b->host)) && !strcmp(a->name, b->name) &&
	       !strcmp(a->path, b->path);
}
