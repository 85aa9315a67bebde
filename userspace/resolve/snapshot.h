/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot.h - the policy in force, whole and immutable.
 *
 * Made by control, handed to every worker, held by each query from its first
 * step to its last.  Freed with its last reference, so that a reload never
 * pulls anything from under a query.
 */
#ifndef RESOLVE_SNAPSHOT_H
#define RESOLVE_SNAPSHOT_H

#include <stdatomic.h>
#include "config/config.h"
#include "dns/reply.h"
#include "policy/clients.h"
#include "policy/filter.h"

struct snapshot {
	_Atomic unsigned refs;
	struct config *config;		/* owned */
	struct clients *clients;	/* owned */
	struct filter_view filter;
	struct filter *filter_owned;	/* NULL when the view is of the kernel's maps */
	struct mr_verdict *verdicts_owned;
	const struct mr_secret *secret;	/* lives as long as the process */
	/* derived from config, so that the query path need not */
	struct dns_block block;
	struct dns_reply_limits udp;
	struct dns_reply_limits tcp;
	struct dns_ttl_limits ttl;
	unsigned admit_after;
	bool prefetch;
};

struct snapshot *snapshot_ref(struct snapshot *s);
void snapshot_unref(struct snapshot *s);	/* takes NULL */

#endif
