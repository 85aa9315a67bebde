/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy.h - the steps that ask the judge: about the question, and about what
 * its answer leads to.
 */
#ifndef RESOLVE_POLICY_H
#define RESOLVE_POLICY_H

#include "maps/config.h"
#include "resolve/snapshot.h"
#include "resolve/steps.h"

/* What is of the client's group alone; a pause in it may change at any time. */
static inline const struct mr_group *policy_group(const struct query *q)
{
	return &q->snapshot->judge.filter.group[q->group % MR_GROUPS_MAX];
}

/* Find the group of the client, and what is known of it.  Returns whether it may ask. */
bool policy_client(struct query *q);

/* Judge the question: blocked, of a type that the group does not get, rewritten (rewrite.h goes on), or free. */
enum step_result policy_question(struct query *q, uint64_t now_ns);

/* Judge the names and addresses that the answer leads to, unless the question was allowed; a step that finishes. */
enum step_result policy_answer(struct query *q, uint64_t now_ns);

/*
 * The name, of those that the answer leads to, that the verdict is from, lower-case
 * wire form, for "why": it is looked for again, so that queries need not keep it.
 *
 * @ret_name  room for DNS_NAME_MAX octets
 *
 * Returns its length; 0 when no link decided, or the answer is gone.
 */
uint16_t policy_link(const struct query *q, uint8_t *ret_name);

/* True when the kernel must not give @a by itself: a pattern or an address rule of some group matches what is in it. */
bool policy_asks(const struct snapshot *s, const struct dns_answer *a);

#endif
