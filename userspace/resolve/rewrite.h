/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rewrite.h - the steps that answer as a rule says: local names, aliases,
 * rcodes, safe search.
 *
 * An alias turns the query into one for its target: q->key is the target's from
 * then on, so that cache, coalescing and upstream know nothing of it, until the
 * answer is there and the CNAMEs are put before it.
 */
#ifndef RESOLVE_REWRITE_H
#define RESOLVE_REWRITE_H

#include "resolve/steps.h"

#define REWRITE_ALIASES_MAX 8		/* in a row; more is taken for a loop */

/* What the client asked about, and what that is an alias of. */
struct rewrite_alias {
	struct dns_key from;
	const uint8_t *target;		/* lower-case wire form, of the snapshot's rules */
	uint16_t target_len;
	uint32_t ttl;
};

/* Do what the rewrites that the judge found say. */
enum step_result rewrite_question(struct query *q, uint64_t now_ns);

/*
 * True when what a rule says stands in the place of an answer that is kept from
 * the client: all that a list answers, and what rules that were written here answer
 * without records.  Local names, safe search and other records that were written
 * here are answers in their own right.
 */
bool rewrite_stands_in(const struct query *q);

/* Put the aliases before the answer to their target; a step that finishes. */
enum step_result rewrite_answer(struct query *q, uint64_t now_ns);

#endif
