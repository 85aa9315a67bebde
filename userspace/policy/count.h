/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * count.h - what the filter leaves out while it judges, counted.
 *
 * Written by any thread that judges or compiles; these things are rare, so all
 * share one shard.
 */
#ifndef POLICY_COUNT_H
#define POLICY_COUNT_H

#include "base/count.h"

#define POLICY_COUNTERS(ROW) \
	ROW(filter_regex_limited,    "regular expressions that took too many steps for a name, and so did not match it") \
	ROW(filter_regex_spent,      "names for which regular expressions took more steps than there are for a query, so that some were not tried") \
	ROW(filter_rewrites_full,    "rewrites of a name that were left out: more than are weighed, or than an answer takes") \
	ROW(filter_exceptions_full,  "exceptions from rewrites of a name that were left out: more than are looked at")

COUNT_ENUM(policy_count, POLICY_COUNTERS)

/* Show the counters from now on, also those that are 0.  Returns 0 or -ENOMEM. */
int policy_count_open(void);

/* Add one; any thread. */
void policy_count(enum policy_count row);

#endif
