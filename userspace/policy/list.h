/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list.h - lines of block lists, judged one by one.
 *
 * Reads bytes, not files.  A line gives names or a reason why not; prose,
 * cosmetic rules and HTML never become names.
 */
#ifndef POLICY_LIST_H
#define POLICY_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum list_format {
	LIST_AUTO,			/* each line as what it looks like */
	LIST_DOMAINS,			/* one name a line: that very name; "*.name": the name and all below */
	LIST_HOSTS,			/* "0.0.0.0 name [name...]": those very names */
	LIST_ADBLOCK,			/* "||name^": the name and all below; "|name^": that very name; "@@" in front allows */
};

/* Why a line gave nothing; LIST_SKIP_TEXT has a word for each. */
#define LIST_SKIPS(ROW) \
	ROW(empty,        "empty line or comment") \
	ROW(local_name,   "a name that every hosts file has (localhost, ip6-allnodes ...)") \
	ROW(single_label, "a single label, never taken from a plain list") \
	ROW(syntax,       "not a name: bad characters, label or length") \
	ROW(deep,         "more labels than the filter holds") \
	ROW(address,      "an address, not a name") \
	ROW(other_address, "a hosts line with an address that is no sink: a rewrite, not built yet") \
	ROW(cosmetic,     "a rule for page elements") \
	ROW(path,         "a rule for a path or a part of an URL") \
	ROW(modifier,     "a rule with modifiers, not built yet") \
	ROW(regex,        "a regular expression, not built yet") \
	ROW(too_long,     "a line over 64 KiB")

enum list_skip {
#define ROW(name, text) LIST_SKIP_##name,
	LIST_SKIPS(ROW)
#undef ROW
	LIST_SKIP_COUNT
};

extern const char *const list_skip_names[LIST_SKIP_COUNT];
extern const char *const list_skip_texts[LIST_SKIP_COUNT];

#define LIST_EXAMPLES 3

/* Each name found is one of exact, subtree, allow and duplicates; what is not is skipped. */
struct list_report {
	uint64_t lines;
	uint64_t exact;			/* names that are blocked alone */
	uint64_t subtree;		/* names that are blocked with all below */
	uint64_t allow;			/* names of "@@" rules, of either kind */
	uint64_t duplicates;
	uint64_t skipped[LIST_SKIP_COUNT];	/* lines, and single names of hosts lines */
	struct {
		uint64_t line;
		char text[80];		/* printable, cut */
	} example[LIST_SKIP_COUNT][LIST_EXAMPLES];
};

/* A name found: lower-case wire form.  Returns 1 new, 0 duplicate, -ENAMETOOLONG, or another negative errno, which ends the reading. */
typedef int (*list_sink)(void *arg, const uint8_t *name, uint16_t len, bool subtree, bool allow);

/**
 * Read a whole list.
 *
 * Returns 0 with @ret filled (it is added to, so begin with zeros), or the
 * sink's error.
 */
int list_parse(const char *text, size_t size, enum list_format format, list_sink sink, void *arg,
	       struct list_report *ret);

#endif
