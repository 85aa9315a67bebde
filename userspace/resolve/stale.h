/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stale.h - what a client gets whose answer is over while nobody can renew it (RFC 8767).
 *
 * A query that finds an answer behind its end has it renewed by a query of its
 * own and waits in that one's flight, like everybody else who asks, but no
 * longer than STALE_WAIT_NS.  What comes of the renewal in time is its answer;
 * if that is a failure, or too late, it is given what there was.  A renewal
 * that failed or was late is not tried again for STALE_RETRY_S: until then all
 * get what there was at once.
 */
#ifndef RESOLVE_STALE_H
#define RESOLVE_STALE_H

#include "resolve/steps.h"

#define STALE_WAIT_NS 1800000000ULL	/* RFC 8767 section 5: the client response timer */
#define STALE_RETRY_S 30		/* the failure recheck timer */

/* A row of steps.c: look for an answer behind its end, and have it renewed. */
enum step_result stale_look(struct query *q, uint64_t now_ns);

/* It waits in a flight from now on: for how long at most? */
void stale_wait(struct query *q, uint64_t now_ns);

/* It waits no longer, having been answered in time. */
void stale_come(struct query *q);

/* Give it what there was; false when there is nothing, or no memory. */
bool stale_give(struct query *q, uint64_t now_ns);

/* Has renewing that answer failed so lately that it is not tried again? */
bool stale_rests(const struct dns_answer *a, uint64_t now_ns);

#endif
