/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upstream.h - asking other servers.
 *
 * One object per worker, all calls on its loop.  A request is tried on the
 * servers in turn until one gives a usable answer or the time is over: UDP
 * first, from a fresh random port with a random ID, EDNS 1232; TC asks the
 * same server again over TCP (connections are kept and pipelined); SERVFAIL,
 * REFUSED, a timeout or a broken answer moves on to the next.  A response
 * counts only when it comes from the asked address with the asked ID, name,
 * type and class; others are dropped and counted.
 *
 * Every server is tried once, a single one twice; the time that is left is
 * shared evenly among the attempts left, at least 400 ms each while it lasts.
 * The order begins with the server that answered well last; one that timed out
 * three times in a row goes to the back for five seconds (upstream/pool.h).
 * When no server gives a usable answer, the last failure that was a response
 * is given as one.
 *
 * The loop's thread blocks or ignores SIGPIPE, as a worker's does.
 *
 * Transports are one file each (udp.c, tcp.c) behind upstream/transport.h, so
 * that TLS and HTTPS come as files.
 */
#ifndef UPSTREAM_UPSTREAM_H
#define UPSTREAM_UPSTREAM_H

#include <stdint.h>
#include <uv.h>
#include "base/addr.h"
#include "base/count.h"
#include "dns/answer.h"

#define UPSTREAM_SERVERS_MAX 16

#define UPSTREAM_COUNTERS(ROW) \
	ROW(upstream_queries,     "queries sent to upstream servers over UDP") \
	ROW(upstream_tcp_queries, "queries sent to upstream servers over TCP") \
	ROW(upstream_answers,     "usable answers from upstream servers") \
	ROW(upstream_timeouts,    "attempts that ran out of time") \
	ROW(upstream_errors,      "attempts that ended in a network error") \
	ROW(upstream_failures,    "SERVFAIL, REFUSED and the like from upstream servers") \
	ROW(upstream_mismatches,  "packets dropped: another server, ID or question than asked") \
	ROW(upstream_truncated,   "answers with TC, asked again over TCP") \
	ROW(upstream_no_edns,     "queries repeated without EDNS for a server that does not know it") \
	ROW(upstream_full,        "requests refused at once: too many in flight")

COUNT_ENUM(upstream_count, UPSTREAM_COUNTERS)

struct upstream_opts {
	struct addr servers[UPSTREAM_SERVERS_MAX];
	unsigned count;			/* 0: no forwarding; upstream_ask() then returns -ENOENT */
	uint32_t timeout_ms;		/* for a whole request, all attempts together */
	unsigned in_flight_max;		/* requests at once; 0: 4096 */
};

struct upstream;
struct upstream_request;

/**
 * @err  0: a response in @msg (borrowed for the call), whatever its rcode;
 *       -ETIMEDOUT: nobody answered in time; -ECONNREFUSED and other negative
 *       errno: what the last attempt ended in
 */
typedef void (*upstream_done)(struct upstream_request *r, int err, const uint8_t *msg, size_t size);

/* Lives in the asker's memory from upstream_ask() to done. */
struct upstream_request {
	/* set by the asker */
	const struct dns_key *key;
	upstream_done done;
	void *arg;
	/* for the asker to read in done */
	unsigned server;		/* which answered last */
	bool tcp;
	/* upstream's own */
	struct upstream *up;
	void *state;
};

int upstream_new(uv_loop_t *loop, const struct upstream_opts *opts, struct upstream **ret);

/**
 * Close everything; requests still waiting end with -ECANCELED.  The memory
 * goes when the loop has run its close callbacks.
 */
void upstream_free(struct upstream *u);

/**
 * Ask.  done is never called from within this call.
 *
 * Returns 0; -EBUSY when in_flight_max requests are under way; -ENOENT
 * without servers; -ENOMEM.  On failure done is not called.
 */
int upstream_ask(struct upstream *u, struct upstream_request *r);

#endif
