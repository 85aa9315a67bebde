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
#include "policy/rule.h"

enum list_format {
	LIST_AUTO,			/* each line as what it looks like: one of all these */
	LIST_DOMAINS,			/* one name a line: that very name; "*.name": the name and all below */
	LIST_HOSTS,			/* "0.0.0.0 name [name...]": those very names; another address is what to answer, but
					   one that over nine tenths of the lines and over 1,000 names have is a sink as well */
	LIST_ADBLOCK,			/* rules of ad blockers, "||name^", "@@", "/re/", '$' ...; names and hosts lines, too */
	LIST_WILDCARD,			/* as domains, but "*.name" or "name": the name and all below */
	LIST_DNSMASQ,			/* address=, server=, local= */
	LIST_UNBOUND,			/* local-zone:, local-data: */
	LIST_RPZ,			/* records of a response policy zone; "*.name": all below only */
	LIST_REGEX,			/* one regular expression a line, as Pi-hole has them */
	LIST_FORMATS
};

/* "auto" and so on, by enum list_format. */
extern const char *const list_format_names[LIST_FORMATS];

/* Why a line gave nothing; list_skip_texts has a word for each. */
#define LIST_SKIPS(ROW) \
	ROW(empty,        "empty line or comment") \
	ROW(local_name,   "a name that every hosts file has (localhost, ip6-allnodes ...)") \
	ROW(single_label, "a single label, never taken from a plain list") \
	ROW(syntax,       "not a name: bad characters, label or length") \
	ROW(idn,          "a name with letters that have no form in the DNS (IDNA 2008)") \
	ROW(deep,         "more labels than the filter holds") \
	ROW(address,      "an address where a name is expected") \
	ROW(cosmetic,     "a rule for page elements") \
	ROW(path,         "a rule for a path or a part of an URL") \
	ROW(modifier,     "a rule with a modifier, or a value of one, that is not known, so its meaning is not") \
	ROW(rewrite,      "a rewrite whose answer cannot be made") \
	ROW(regex,        "a regular expression that does not compile") \
	ROW(trigger,      "an RPZ trigger that is not supported (client address, NSDNAME, NSIP)") \
	ROW(statement,    "a statement of the program's configuration that is no rule") \
	ROW(too_long,     "a line over 64 KiB") \
	ROW(full,         "one more than all lists together may have of patterns, conditions and rewrites")

enum list_skip {
#define ROW(name, text) LIST_SKIP_##name,
	LIST_SKIPS(ROW)
#undef ROW
	LIST_SKIP_COUNT
};

extern const char *const list_skip_names[LIST_SKIP_COUNT];
extern const char *const list_skip_texts[LIST_SKIP_COUNT];

#define LIST_EXAMPLES 3

/* The place in a text, and what was expected there. */
struct list_fault {
	size_t offset, size;
	const char *expected;		/* static; NULL: no place is known */
};

/* Each rule found is one of exact ... route and duplicates; what is not is skipped. */
struct list_report {
	uint64_t lines;
	uint64_t exact;			/* names that are blocked alone */
	uint64_t subtree;		/* names that are blocked with all below (or all below only) */
	uint64_t allow;			/* names that are allowed, of either kind */
	uint64_t regex;			/* patterns, blocking or allowing */
	uint64_t rewrite;		/* rules that say what to answer */
	uint64_t address;		/* rules about addresses in answers */
	uint64_t route;			/* servers for zones: counted, not used */
	uint64_t bad;			/* $badfilter rules */
	uint64_t duplicates;
	uint64_t sunk;			/* names of the list's own sink, which are blocked: among exact ... duplicates */
	uint8_t sink[16];		/* its address, with sunk */
	uint64_t skipped[LIST_SKIP_COUNT];	/* lines, and single names of lines with several */
	struct {
		uint64_t line;
		char text[80];		/* printable, cut */
	} example[LIST_SKIP_COUNT][LIST_EXAMPLES];
	struct list_fault fault;	/* the first one of the last line that was looked at with care */
};

/*
 * Takes an item.  Returns 1 new, 0 duplicate, -ENAMETOOLONG, -EINVAL for a
 * pattern that does not compile, -ENOSPC for a special rule that has no place,
 * or another negative errno, which ends the reading.
 */
typedef int (*list_sink)(void *arg, const struct rule_item *item);

/**
 * Read a whole list.
 *
 * @allow  a list of what is allowed: actions that block are turned around
 *
 * Returns 0 with @ret filled (it is added to, so begin with zeros), or the
 * sink's error.
 */
int list_parse(const char *text, size_t size, enum list_format format, bool allow, list_sink sink, void *arg,
	       struct list_report *ret);

/**
 * Look at the beginning of a text that is to be a list.
 *
 * Returns NULL when it may be one, else why not: "it is an HTML page", "it is
 * not text", "it is compressed" ...
 */
const char *list_refuse(const char *text, size_t size);

/**
 * Look at a whole text that is to be a list of @format.
 *
 * It may have no rule that can be used, if only comments or lines of a kind
 * that is known; text in which nothing at all is understood is no list but
 * says why there is none.
 *
 * Returns NULL, or why not; memory that is out is no reason.
 */
const char *list_refuse_whole(const char *text, size_t size, enum list_format format);

#endif
