/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steps.h - the machine that drives a query through the table of steps.c.
 */
#ifndef RESOLVE_STEPS_H
#define RESOLVE_STEPS_H

#include "resolve/query.h"

enum step_result {
	STEP_NEXT,			/* go on with the next row */
	STEP_DONE,			/* the answer is known: only the rows that finish are left */
	STEP_WAIT,			/* somebody will call steps_run() again; the row after this one is next */
};

/* Run from where the query stands until it ends or waits; at its end it goes back to its owner. */
void steps_run(struct query *q, uint64_t now_ns);

/* Read the question, once; then view, key and name are there if q->parsed is DNS_NOERROR, DNS_SERVFAIL: no memory. */
void query_read(struct query *q);

/* Free a query that nobody owns any more. */
void query_dispose(struct query *q);

#endif
