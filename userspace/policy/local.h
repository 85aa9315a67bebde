/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local.h - names that are answered here, as items: local names with what is
 * made from their addresses, safe search, names that ask whether we are there.
 */
#ifndef POLICY_LOCAL_H
#define POLICY_LOCAL_H

#include "policy/rule.h"

/* Takes an item, as list_sink of list.h. */
typedef int (*local_sink)(void *arg, const struct rule_item *item);

struct local_name {
	const char *name;		/* text, lower case */
	bool below;			/* all below it, itself not */
	const struct addr *answer;
	unsigned answers;		/* 0: the target */
	const char *target;
	uint32_t ttl;
	unsigned number;		/* its place in the configuration, for "why" */
};

/**
 * Hand on what a local name says: an A or AAAA record for each address, and
 * from each of them a PTR record back (not from one for all below); or an alias.
 *
 * Returns 0; -EINVAL for a name that is none; or the sink's error.
 */
int local_items(const struct local_name *n, local_sink sink, void *arg);

/* Hand on the aliases of safe_search.def. */
int local_safe_search(local_sink sink, void *arg);

/**
 * Hand on the names by which programs ask a network whether they may pass its
 * resolver by: they do not exist here, which says no.
 */
int local_canaries(local_sink sink, void *arg);

#endif
