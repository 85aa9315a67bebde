/* SPDX-License-Identifier: BSD-2-Clause */
/* list_line.c - the looks of lines: addresses, comments, and what is no name. */
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>
#include "policy/list_line.h"

/* The octets of an IPv6 address; a scope behind it is left out. */
static bool read_v6(struct list_span s, uint8_t ip[16], bool *ret_scope)
{
	char text[INET6_ADDRSTRLEN];
	const char *scope = memchr(s.p, '%', list_size(s));

	if (scope)
		s.end = scope;
	if (list_size(s) >= sizeof(text))
		return false;
	memcpy(text, s.p, list_size(s));
	text[list_size(s)] = '\0';
	*ret_scope = scope != NULL;
	return inet_pton(AF_INET6, text, ip) == 1;
}

static bool is_v6(struct list_span s, enum list_address *ret)
{
	uint8_t ip[16], sink[16] = { 0 };
	bool scope;

	if (!read_v6(s, ip, &scope))
		return false;
	*ret = LIST_ADDRESS_OTHER;
	if (!memcmp(ip, sink, 15) && ip[15] <= 1 && !scope)
		*ret = LIST_ADDRESS_SINK;
	return true;
}

/* Four numbers of up to three digits below 256. */
static bool is_v4(struct list_span s, uint8_t ip[4])
{
	unsigned parts = 0, n, digits;

	for (;;) {
		for (n = 0, digits = 0; s.p < s.end && *s.p >= '0' && *s.p <= '9' && digits < 4; s.p++, digits++)
			n = n * 10 + (unsigned)(*s.p - '0');
		if (!digits || n > 255)
			return false;
		ip[parts++] = (uint8_t)n;
		if (s.p == s.end)
			break;
		if (*s.p++ != '.' || parts == 4)
			return false;
	}
	if (parts == 4)
		return true;
	memset(ip + 1, 0, 3);
	return parts == 1 && !ip[0] && digits == 1;
}

bool list_is_address(struct list_span word, enum list_address *ret)
{
	enum list_address unused;
	uint8_t ip[4];

	if (!ret)
		ret = &unused;
	if (word.p == word.end)
		return false;
	if (*word.p >= '0' && *word.p <= '9' && is_v4(word, ip)) {
		*ret = ip[0] == 127 || !(ip[0] | ip[1] | ip[2] | ip[3]) ? LIST_ADDRESS_SINK : LIST_ADDRESS_OTHER;
		return true;
	}
	return list_has(word, ':') && is_v6(word, ret);
}

bool list_address_ip(struct list_span word, uint8_t ret[16])
{
	bool scope;

	if (word.p == word.end)
		return false;
	if (is_v4(word, ret + 12)) {
		memset(ret, 0, 10);
		memset(ret + 10, 0xff, 2);
		return true;
	}
	return list_has(word, ':') && read_v6(word, ret, &scope) && !scope;
}

/* True when the '#' at @p begins a mark between names and a rule for page elements. */
static bool is_element_mark(const char *p, const char *end)
{
	if (end - p < 2)
		return false;
	if (p[1] == '#')
		return end - p > 2 && p[2] != '#' && p[2] != ' ' && p[2] != '\t';
	return end - p > 2 && p[1] && strchr("@?$%", p[1]) && p[2] && strchr("#?$@%", p[2]);
}

struct list_span list_without_comment(struct list_span line)
{
	const char *p = memchr(line.p, '#', (size_t)(line.end - line.p));

	if (!p || (p > line.p && is_element_mark(p, line.end)))
		return line;
	while (p > line.p && (p[-1] == ' ' || p[-1] == '\t'))
		p--;
	line.end = p;
	return line;
}

struct list_span list_without_remark(struct list_span line)
{
	const char *p;

	for (p = line.p; (p = memchr(p, '#', (size_t)(line.end - p))); p++) {
		if (p > line.p && list_is_blank(p[-1])) {
			line.end = p;
			break;
		}
	}
	return list_trim(line);
}

bool list_is_remark(struct list_span line)
{
	if (*line.p == '#')
		return !is_element_mark(line.p, line.end);
	return *line.p == '!' || *line.p == ';' || (*line.p == '[' && line.end[-1] == ']');
}

static bool holds(struct list_span s, const char *what)
{
	return memmem(s.p, (size_t)(s.end - s.p), what, strlen(what)) != NULL;
}

bool list_is_cosmetic(struct list_span s)
{
	const char *p;

	for (p = s.p; (p = memchr(p, '#', (size_t)(s.end - p))); p++)
		if (is_element_mark(p, s.end))
			return true;
	return holds(s, "$$") || holds(s, "$@$");
}

bool list_has_modifier(struct list_span s)
{
	const char *p;

	for (p = s.p; (p = memchr(p, '$', (size_t)(s.end - p))); p++)
		if (p + 1 < s.end && (p[1] == '~' || (p[1] >= '0' && p[1] <= '9') ||
				      ((p[1] | 32) >= 'a' && (p[1] | 32) <= 'z')))
			return true;
	return false;
}

bool list_looks_like_regex(struct list_span s)
{
	return (*s.p == '^' || *s.p == '(') && holds(s, "\\.") && !list_has(s, ' ');
}

enum list_skip list_why(struct list_span line)
{
	enum list_address unused;
	bool rule = *line.p == '|' || *line.p == '@';

	if (list_is_address(line, &unused))
		return LIST_SKIP_address;
	if (list_is_cosmetic(line))
		return LIST_SKIP_cosmetic;
	if (*line.p == '<')
		return LIST_SKIP_syntax;
	if (*line.p == '/' && line.end - line.p > 2 && line.end[-1] == '/')
		return LIST_SKIP_regex;
	if (list_has_modifier(line))
		return LIST_SKIP_modifier;
	if (!rule && (list_has(line, ' ') || list_has(line, '\t')))
		return LIST_SKIP_syntax;
	for (; line.p < line.end; line.p++)
		if (*line.p && strchr("/*^|?=&:", *line.p))
			return LIST_SKIP_path;
	return LIST_SKIP_syntax;
}

struct list_span list_word(struct list_span *s)
{
	struct list_span w = { s->p, s->p };

	while (w.end < s->end && !list_is_blank(*w.end))
		w.end++;
	for (s->p = w.end; s->p < s->end && list_is_blank(*s->p);)
		s->p++;
	return w;
}

struct list_span list_until(struct list_span *s, char c)
{
	const char *at = memchr(s->p, c, list_size(*s));
	struct list_span part = { s->p, at ? at : s->end };

	s->p = at ? at + 1 : s->end;
	return part;
}

bool list_is(struct list_span s, const char *text)
{
	return list_size(s) == strlen(text) && !strncasecmp(s.p, text, list_size(s));
}

bool list_number(struct list_span s, unsigned long max, unsigned long *ret)
{
	unsigned long v = 0;

	if (s.p == s.end || list_size(s) > 10)
		return false;
	for (; s.p < s.end; s.p++) {
		if (*s.p < '0' || *s.p > '9')
			return false;
		v = v * 10 + (unsigned long)(*s.p - '0');
	}
	*ret = v;
	return v <= max;
}
