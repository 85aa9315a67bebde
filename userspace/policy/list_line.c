/* SPDX-License-Identifier: BSD-2-Clause */
/* list_line.c - the looks of lines: addresses, comments, and what is no name. */
#include <arpa/inet.h>
#include <string.h>
#include "policy/list_line.h"

static bool is_all_of(struct list_span s, const char *set)
{
	for (; s.p < s.end; s.p++)
		if (!*s.p || !strchr(set, *s.p))
			return false;
	return true;
}

static bool is_v6(struct list_span s, enum list_address *ret)
{
	uint8_t ip[16], sink[16] = { 0 };
	char text[INET6_ADDRSTRLEN];
	const char *scope = memchr(s.p, '%', (size_t)(s.end - s.p));

	if (scope)
		s.end = scope;
	if ((size_t)(s.end - s.p) >= sizeof(text))
		return false;
	memcpy(text, s.p, (size_t)(s.end - s.p));
	text[s.end - s.p] = '\0';
	if (inet_pton(AF_INET6, text, ip) != 1)
		return false;
	*ret = LIST_ADDRESS_OTHER;
	if (!memcmp(ip, sink, 15) && ip[15] <= 1 && !scope)
		*ret = LIST_ADDRESS_SINK;
	return true;
}

/* Four numbers of up to three digits below 256. */
static bool is_v4(struct list_span s, enum list_address *ret)
{
	unsigned parts = 0, n, digits, first = 0;
	bool zero = true;

	for (;;) {
		for (n = 0, digits = 0; s.p < s.end && *s.p >= '0' && *s.p <= '9' && digits < 4; s.p++, digits++)
			n = n * 10 + (unsigned)(*s.p - '0');
		if (!digits || n > 255)
			return false;
		if (!parts++)
			first = n;
		zero = zero && !n;
		if (s.p == s.end)
			break;
		if (*s.p++ != '.')
			return false;
	}
	if (parts != 4 && !(parts == 1 && zero && digits == 1))
		return false;
	*ret = zero || first == 127 ? LIST_ADDRESS_SINK : LIST_ADDRESS_OTHER;
	return true;
}

bool list_is_address(struct list_span word, enum list_address *ret)
{
	enum list_address unused;

	if (!ret)
		ret = &unused;
	if (word.p == word.end)
		return false;
	if (*word.p >= '0' && *word.p <= '9' && is_v4(word, ret))
		return true;
	return memchr(word.p, ':', (size_t)(word.end - word.p)) && is_v6(word, ret);
}

bool list_is_comment(const char *p, const char *end)
{
	const char *start = p;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p > start && p < end && *p == '#';
}

/* True when the '#' at @p begins a mark between names and a rule for page elements. */
static bool is_element_mark(const char *p, const char *end)
{
	if (end - p < 2)
		return false;
	if (p[1] == '#')
		return end - p > 2 && p[2] != '#' && p[2] != ' ' && p[2] != '\t';
	return end - p > 2 && strchr("@?$%", p[1]) && (p[2] == '#' || p[2] == '?' || p[2] == '$' || p[2] == '@');
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

static bool is_cosmetic(struct list_span s)
{
	const char *p;

	for (p = s.p; (p = memchr(p, '#', (size_t)(s.end - p))); p++)
		if (is_element_mark(p, s.end))
			return true;
	return holds(s, "$$") || holds(s, "$@$");
}

/* "/.../" or "/.../$modifiers", or one that POSIX tools would understand. */
static bool is_regex(struct list_span s)
{
	if (s.end - s.p > 2 && s.p[0] == '@' && s.p[1] == '@')
		s.p += 2;
	if (*s.p == '/' && s.end - s.p > 2 && (s.end[-1] == '/' || holds(s, "/$")))
		return true;
	return *s.p == '^' || *s.p == '(' || holds(s, "\\.");
}

/* A '$' and then a letter or '~' behind a pattern. */
static bool has_modifier(struct list_span s)
{
	const char *p;

	for (p = s.p; (p = memchr(p, '$', (size_t)(s.end - p))); p++)
		if (p + 1 < s.end && ((p[1] | 32) >= 'a' ? (p[1] | 32) <= 'z' || p[1] == '~' : p[1] >= '0' && p[1] <= '9'))
			return true;
	return false;
}

enum list_skip list_why(struct list_span line)
{
	enum list_address unused;

	if (list_is_address(line, &unused))
		return LIST_SKIP_address;
	if (is_cosmetic(line))
		return LIST_SKIP_cosmetic;
	if (*line.p == '<')
		return LIST_SKIP_syntax;
	if (is_regex(line))
		return LIST_SKIP_regex;
	if (has_modifier(line))
		return LIST_SKIP_modifier;
	if (!is_all_of((struct list_span){ line.p, line.p + 1 }, "|@") && (holds(line, " ") || holds(line, "\t")))
		return LIST_SKIP_syntax;
	return strpbrk((char[2]){ *line.p, 0 }, "|@") || holds(line, "/") || holds(line, "*") || holds(line, "^") ||
	       holds(line, "|") || holds(line, "?") || holds(line, "=") || holds(line, "&") || holds(line, ":") ?
	       LIST_SKIP_path : LIST_SKIP_syntax;
}
