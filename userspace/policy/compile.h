/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compile.h - from texts of lists and rules to a filter with its special rules.
 *
 * Feed the sources in any order, then finish.  Plain items go to the table of
 * names, all others to the rules; exact names are matched against the regular
 * expressions at the end.  Reads bytes; files are written by compile_finish()
 * alone, where the filter must be a file to be mapped.
 */
#ifndef POLICY_COMPILE_H
#define POLICY_COMPILE_H

#include "policy/filter.h"
#include "policy/list.h"
#include "policy/rules.h"

struct compile;
struct judge_result;

/* Tags are made with @secret (borrowed until freed).  Returns NULL when memory is out. */
struct compile *compile_new(const struct mr_secret *secret);
void compile_free(struct compile *c);

/* Sources below @lists are lists: their $badfilter takes nothing from the others.  Before it is called none is. */
void compile_lists(struct compile *c, unsigned lists);

/* The source of local names: what the kernel is told of them comes before all else.  Before anything is added. */
void compile_local(struct compile *c, unsigned source);

/**
 * Add a list's text as source number @source (0 .. FILTER_LISTS_MAX - 1).
 *
 * Returns 0 with @ret filled, or a negative errno that ends the compilation.
 */
int compile_list(struct compile *c, unsigned source, const char *text, size_t size, enum list_format format,
		 bool allow, struct list_report *ret);

/**
 * Add one rule, written as in an adblock list or as a plain name.
 *
 * Returns 0; -EINVAL with @reterr when it gives nothing: the reason of list.h.
 */
int compile_rule(struct compile *c, unsigned source, const char *text, struct err_at *reterr);

/* Add an item that was not written in any list's format (a local name, a safe search); as the sinks of list.h return. */
int compile_item(struct compile *c, unsigned source, const struct rule_item *item);

struct compiled {
	struct filter *filter;
	struct rules *rules;
	uint64_t asked;			/* names whose sets the kernel has no number for, so that it asks */
	uint64_t untold;		/* of those, such as user space had no room for either: they count as blocked */
};

/**
 * Make filter and rules.
 *
 * @path  of the filter's file, replaced through a temporary file; NULL: in memory
 * @rules_path  of the special rules' file, for compile_open(); NULL with @path
 *
 * The two belong together by a number that both hold.  Returns 0 with @ret
 * (the caller's: compiled_done()), or a negative errno with @reterr and older
 * files untouched or not taken by compile_open().
 */
int compile_finish(struct compile *c, const char *path, const char *rules_path, struct compiled *ret,
		   struct err_at *reterr);

/**
 * Open what compile_finish() wrote.  As filter_open(); also -ESTALE when the two files are not of one run.
 */
int compile_open(const char *path, const char *rules_path, const struct mr_secret *secret, struct compiled *ret,
		 struct err_at *reterr);

void compiled_done(struct compiled *c);

/**
 * Find the line of a list that says something of a name as judge_name() found it.
 *
 * Returns the line (1 ..) with its text cut into @ret, or 0 when the text has none (any more).
 */
uint64_t compile_line(const char *text, size_t size, enum list_format format, bool allow, const uint8_t *lower,
		      uint16_t len, const struct judge_result *found, char *ret, size_t ret_size);

#endif
