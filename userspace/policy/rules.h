/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rules.h - the special rules: what a table of names cannot hold.
 *
 * Rules with conditions, rewrites, regular expressions and addresses, found by
 * name, source or address (docs/adr/0008).  Only this room's regex.c knows pcre2.
 * Immutable once made; any thread may read.
 */
#ifndef POLICY_RULES_H
#define POLICY_RULES_H

#include "policy/regex.h"
#include "policy/rule.h"
#include "policy/who.h"

#define RULES_MAX       (1U << 20)
#define RULES_REGEX_MAX (16U << 20)	/* octets of compiled patterns, of which a line of 30 can make 50,000 */

struct rules;
struct rules_builder;

/* One rule, as the judge and "why" see it. */
struct rule {
	enum rule_kind kind;
	enum filter_action action;
	enum rule_reach reach;
	uint16_t source;
	uint16_t labels;		/* of its name; 0 for what has none */
	uint64_t line;			/* in its source */
	const char *text;		/* as written, ended by zero */
	const struct rule_condition *condition;	/* NULL: none */
	const struct rule_answer *answer;	/* NULL: block or allow */
};

/* Returns NULL when memory is out. */
struct rules_builder *rules_builder_new(void);
void rules_builder_free(struct rules_builder *b);

/* Sources below @lists are lists: their $badfilter takes nothing from the others.  Before it is called none is. */
void rules_builder_lists(struct rules_builder *b, unsigned lists);

/**
 * Add an item that is not plain (copied).
 *
 * Returns 1 when it is new, 0 when that source has it already, -EINVAL when
 * its pattern does not compile or a part of it is out of bounds, -ENAMETOOLONG
 * for more labels than MR_LABELS_MAX unless it rewrites that very name, -ENOSPC for
 * more than RULES_MAX or patterns of more than RULES_REGEX_MAX, -ENOMEM.
 */
int rules_builder_add(struct rules_builder *b, const struct rule_item *item, unsigned source);

/**
 * Make the rules; $badfilter has been carried out among them.  The builder is
 * empty then.
 *
 * Returns 0 with the rules for rules_free(); -ENOMEM.
 */
int rules_builder_make(struct rules_builder *b, struct rules **ret);
void rules_free(struct rules *r);

unsigned rules_count(const struct rules *r);

/* How often a regular expression took too many steps and was taken for one that does not match. */
uint64_t rules_regex_limited(const struct rules *r);

/* How often they took all the steps that there are for a query, so that some were not tried. */
uint64_t rules_regex_spent(const struct rules *r);

/* Steps of those for which a few did not suffice. */
uint64_t rules_regex_heavy(const struct rules *r);

/* Fill @ret with up to @max of the rules whose expressions took the most of these, the worst first; returns how many. */
#define RULES_WORST_MAX 8
unsigned rules_regex_worst(const struct rules *r, const struct rule **ret, unsigned max);

/* The strongest action of a source's regular expressions, a rewrite being MR_ASK; MR_NONE when it has none. */
enum mr_verdict_kind rules_regex_strength(const struct rules *r, unsigned source);

/*
 * True when some source has a regular expression, or an address rule: then answers
 * must be looked at before the kernel gets them.
 */
bool rules_have_regex(const struct rules *r);
bool rules_have_address(const struct rules *r);

/**
 * Call @each for every rule about @name (lower-case wire form): those of the
 * name, and of its parents with all below; conditions are not looked at.
 */
void rules_each_name(const struct rules *r, const uint8_t *name, uint16_t len,
		     void (*each)(const struct rule *rule, void *arg), void *arg);

/*
 * The same for every regular expression that matches, of all sources.
 *
 * @steps  that are left of a query's, REGEX_STEPS_MAX at first (regex.h): 0 when
 *         they did not suffice, and some were not tried.  NULL: as many as a query has
 */
void rules_each_regex(const struct rules *r, const uint8_t *name, uint16_t len, uint32_t *steps,
		      void (*each)(const struct rule *rule, void *arg), void *arg);

/* True when some regular expression, of whatever source, matches, or was not tried. */
bool rules_any_regex(const struct rules *r, const uint8_t *name, uint16_t len, uint32_t *steps);

/* The same for every address rule that holds an address. */
void rules_each_address(const struct rules *r, const uint8_t ip[16],
			void (*each)(const struct rule *rule, void *arg), void *arg);

/* Whether a rule's condition holds for a question; @who NULL: a client of which nothing is known. */
bool rule_applies(const struct rule *rule, const uint8_t *name, uint16_t len, uint16_t qtype, const struct who *who);

#endif
