/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_line.h - what can be told of a line, or of a word, by its looks.
 */
#ifndef POLICY_LIST_LINE_H
#define POLICY_LIST_LINE_H

#include <stdbool.h>
#include <string.h>
#include "maps/types.h"
#include "policy/list.h"

/* A piece of the text. */
struct list_span {
	const char *p;
	const char *end;
};

enum list_address {
	LIST_ADDRESS_SINK,		/* 0, 0.0.0.0, 127.x, :: and ::1: the name is blocked */
	LIST_ADDRESS_OTHER,
};

/* True when the whole word is an address ("0" is one); its kind goes to @ret, which may be NULL. */
bool list_is_address(struct list_span word, enum list_address *ret);

/*
 * The same with its octets (IPv4 mapped into IPv6); an address with a scope
 * ("fe80::1%lo0") has none that can be answered: false.
 */
bool list_address_ip(struct list_span word, uint8_t ret[16]);

/* The line up to a '#', blanks before it cut; a line with a mark of page elements (##, #@# ...) stays whole. */
struct list_span list_without_comment(struct list_span line);

/* The line up to a '#' that has a blank in front, for formats in which '#' means something. */
struct list_span list_without_remark(struct list_span line);

/* True for a line that is all comment: '#', '!', ';' in front, or the "[Adblock ...]" heading. */
bool list_is_remark(struct list_span line);

/* True for a rule about page elements. */
bool list_is_cosmetic(struct list_span line);

/* True when a '$' stands in front of what may be a modifier. */
bool list_has_modifier(struct list_span line);

/* True for a line that only a regular expression looks like: "^(.+\.)?ads\." */
bool list_looks_like_regex(struct list_span line);

/* Why a line that gave nothing gave nothing. */
enum list_skip list_why(struct list_span line);

/* ---- small steps through a line ---- */

static inline bool list_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline size_t list_size(struct list_span s)
{
	return (size_t)(s.end - s.p);
}

/* Blanks at both ends go. */
static inline struct list_span list_trim(struct list_span s)
{
	while (s.p < s.end && list_is_blank(s.end[-1]))
		s.end--;
	while (s.p < s.end && list_is_blank(*s.p))
		s.p++;
	return s;
}

/* Clear the bits behind the length. */
static inline void list_mask(struct addr_prefix *p)
{
	unsigned i;

	for (i = p->len; i < 128; i++)
		p->ip[i / 8] &= (uint8_t)~(0x80 >> i % 8);
}

/* The text up to the next blank; @s moves behind it and the blanks that follow. */
struct list_span list_word(struct list_span *s);

/* The text up to the next @c, or all; @s moves behind it. */
struct list_span list_until(struct list_span *s, char c);

static inline bool list_has(struct list_span s, char c)
{
	return memchr(s.p, c, list_size(s)) != NULL;
}

static inline bool list_starts(struct list_span s, const char *with)
{
	return list_size(s) >= strlen(with) && !memcmp(s.p, with, strlen(with));
}

/* Same text, letter case apart. */
bool list_is(struct list_span s, const char *text);

/* A decimal number of digits alone, at most @max; false for anything else. */
bool list_number(struct list_span s, unsigned long max, unsigned long *ret);

#endif
