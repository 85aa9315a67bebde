/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * item_text.h - rule items as text, so that a table row can say what a line gives.
 *
 *   =name        the very name            /re/         a regular expression ("~/re/": inverted)
 *   *name        and all below            @1.2.3.0/24  an address in answers
 *   >name        all below only           ^name        a server for a zone
 *
 * In front: '+' allows, '!' important, '-' takes back.  Behind: "{A|~tag|...}"
 * what it holds for, and "->" what to answer: an rcode, a type with an address,
 * a name or octets in hexadecimal.  Each item has a blank behind.
 */
#ifndef TESTS_ITEM_TEXT_H
#define TESTS_ITEM_TEXT_H

#include "policy/list.h"

struct item_texts {
	char text[4000];
};

/* A sink of list_parse(); @arg: struct item_texts. */
int item_text_take(void *arg, const struct rule_item *item);

/* One line of a table: what it gives, and which reason is counted, once, for what it does not. */
struct item_line {
	const char *name, *text;
	enum list_format format;
	const char *items;
	enum list_skip skip;
};
#define NONE LIST_SKIP_COUNT

/* A cmocka test whose state is a struct item_line. */
void item_line_is_judged(void **state);

#endif
