/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_line.h - what can be told of a line, or of a word, by its looks.
 */
#ifndef POLICY_LIST_LINE_H
#define POLICY_LIST_LINE_H

#include <stdbool.h>
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

/* True when blanks and a '#' start at @p. */
bool list_is_comment(const char *p, const char *end);

/* The line up to a '#', blanks before it cut; a line with a mark of page elements (##, #@# ...) stays whole. */
struct list_span list_without_comment(struct list_span line);

/* True for a line that is all comment: '#', '!', ';' in front, or the "[Adblock ...]" heading. */
bool list_is_remark(struct list_span line);

/* Why a line that gave no name gave none. */
enum list_skip list_why(struct list_span line);

#endif
