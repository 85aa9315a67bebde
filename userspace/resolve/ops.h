/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ops.h - the doors of the core: asking upstream, the packet path, neighbours.
 *
 * The core does no I/O: control fills these tables with the real things, tests
 * with fakes.  All calls are on the worker's thread.
 */
#ifndef RESOLVE_OPS_H
#define RESOLVE_OPS_H

#include "dns/answer.h"
#include "resolve/query.h"

/* Asking.  One call, one later query_upstream_done() (never from within the call). */
struct resolve_upstream {
	/* Returns 0, -ENOENT without servers, -EBUSY, -ENOMEM. */
	int (*ask)(void *ctx, struct query *q);
	void *ctx;
};

/* The packet path. */
struct resolve_kern {
	/*
	 * Publish an answer; whether it fits, and what it replaces, is the other side's.  @ask: user space must judge
	 * it each time; @generation: filter_view.generation under which that was found.
	 */
	void (*publish)(void *ctx, const struct dns_answer *a, bool ask, uint32_t generation);
	/* True when the packet path holds a live answer to that key. */
	bool (*holds)(void *ctx, const struct dns_key *key);
	void *ctx;
};

/* Who stands behind an address. */
struct resolve_neighbours {
	/* Tell the hardware address of a client on a network of ours; false when it is not known.  May be NULL. */
	bool (*mac)(void *ctx, const struct addr *client, uint8_t ret[6]);
	void *ctx;
};

/* What happens beside a query. */
struct resolve_events {
	/* A query has been answered; the log and tail read it.  May be NULL. */
	void (*answered)(void *ctx, const struct query *q);
	/* Let @q, which waits on another worker's thread, go on there by query_wake(). */
	void (*wake)(void *ctx, struct query *q);
	void *ctx;
};

/**
 * The end of an ask: a response (borrowed for the call) or an error.
 *
 * With a response q->upstream_trusted has been set.
 */
void query_upstream_done(struct query *q, int err, const uint8_t *msg, size_t size, unsigned server, uint64_t now_ns);

/* Go on after resolve_events.wake, on the query's own thread. */
void query_wake(struct query *q, uint64_t now_ns);

#endif
