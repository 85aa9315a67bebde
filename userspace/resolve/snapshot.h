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
#include "policy/judge.h"
#include "resolve/suffixes.h"

struct snapshot {
	_Atomic unsigned refs;
	struct snapshot *base;		/* a reference to the one that has what this one does not own; NULL: all is its own */
	struct config *config;		/* owned, with who, unless it is that of the base */
	struct clients *clients;	/* owned */
	struct who_table *who;		/* names and tags of clients */
	struct judge judge;		/* what the filter says */
	struct snapshot_owned {
		struct filter *filter;	/* NULL when the view is of the kernel's maps */
		struct mr_verdict *verdicts;
		struct filter_members *members;
		struct rules *rules;
		struct judge_group *groups;	/* one block of memory with their flags */
		const char **tags;	/* of clients, for who */
	} owned;			/* NULL: the base's */
	const struct mr_secret *secret;	/* lives as long as the process */
	/* derived from config, so that the query path need not */
	struct dns_reply_limits udp;
	struct dns_reply_limits tcp;
	struct dns_ttl_limits ttl;
	unsigned admit_after;
	bool prefetch;
	bool rebinding;			/* look for it */
	struct suffixes *inside;	/* zones that may have addresses of the inside; owned with config */
	struct suffixes *unspecial;	/* zones that are forwarded though special; the same */
};

/**
 * Make those sets of names of a snapshot that its configuration is about.
 *
 * Returns 0 or -ENOMEM; what is made goes with the snapshot either way.
 */
int snapshot_names(struct snapshot *s);

struct snapshot *snapshot_ref(struct snapshot *s);
void snapshot_unref(struct snapshot *s);	/* takes NULL */

#endif
