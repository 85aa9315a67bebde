/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server.h - workers: bytes in, answers out.
 *
 * A worker is a thread with a loop of its own and SO_REUSEPORT sockets: UDP in
 * batches (recvmmsg, sendmmsg), TCP with pipelining and answers out of order
 * (RFC 7766).  It knows queries (resolve/query.h) and nothing of what resolves
 * them: that comes in through worker_ops.  The source address of an answer is
 * the destination of its query; port 0 as a source is dropped.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <stdint.h>
#include <uv.h>
#include "base/addr.h"
#include "base/count.h"
#include "base/err.h"
#include "resolve/query.h"

#define SERVER_COUNTERS(ROW) \
	ROW(server_udp_queries,   "datagrams taken from the UDP sockets") \
	ROW(server_udp_answers,   "answers handed to the UDP sockets") \
	ROW(server_udp_dropped,   "datagrams that must not be answered (QR set, too short, source port 0)") \
	ROW(server_udp_unsent,    "answers the UDP sockets did not take") \
	ROW(server_udp_full,      "queries dropped: too many waiting") \
	ROW(server_tcp_accepted,  "TCP connections accepted") \
	ROW(server_tcp_refused,   "TCP connections closed at once: too many, and none of them idle") \
	ROW(server_tcp_displaced, "TCP connections closed for being idle the longest when a place was needed") \
	ROW(server_tcp_queries,   "queries read from TCP connections") \
	ROW(server_tcp_answers,   "answers written to TCP connections") \
	ROW(server_tcp_timeouts,  "TCP connections closed for being idle or slow")

COUNT_ENUM(server_count, SERVER_COUNTERS)

struct worker;

/* What a worker is given; called on the worker's thread. */
struct worker_ops {
	/* Make what resolves queries; the result goes to query_new(). */
	int (*start)(void *arg, unsigned index, struct worker *w, uv_loop_t *loop, struct resolver **ret);
	/* The loop still runs: close handles. */
	void (*stop)(void *arg, struct resolver *r);
	/* The loop has ended: free memory. */
	void (*free)(void *arg, struct resolver *r);
	/* Four times a second: the sign of life. */
	void (*tick)(void *arg);
	void *arg;
};

struct worker_opts {
	unsigned index;
	const struct addr *listen;	/* UDP and TCP on each */
	unsigned listens;
	struct worker_ops ops;
	unsigned udp_waiting_max;	/* queries of UDP clients under way; 0: 8192 */
	unsigned tcp_max;		/* connections; 0: 1000 */
	unsigned tcp_client_max;	/* of one address; 0: a quarter of tcp_max, at least one */
	unsigned tcp_pipeline_max;	/* queries under way on one connection; 0: 100 */
	uint32_t tcp_idle_ms;		/* 0: 10,000; shrinks as connections near the bound */
};

/**
 * Open the sockets (before privileges drop); does not serve yet.
 *
 * Returns 0; -EADDRINUSE, -EADDRNOTAVAIL, -EACCES and the like with the address in @reterr.
 */
int worker_open(const struct worker_opts *opts, struct worker **ret, struct err_at *reterr);

/* Start the thread; returns when it serves, or with the error of ops.start. */
int worker_start(struct worker *w, struct err_at *reterr);

/* Something to be done on the worker's thread; embedded in the owner's memory. */
struct worker_job {
	void (*run)(struct worker_job *job);
	struct worker_job *next;
};

/* Hand a job over; any thread.  Jobs run in order, soon.  False when the worker has stopped: the job will not run. */
bool worker_post(struct worker *w, struct worker_job *job);

/**
 * Begin to end: no new queries; those under way have @drain_ms to finish; then
 * the thread ends.  Returns at once, so that many workers end side by side.
 */
void worker_end(struct worker *w, uint32_t drain_ms);

/* worker_end(), if that was not called before, and wait for the thread. */
void worker_stop(struct worker *w, uint32_t drain_ms);

/* Close sockets, free; takes NULL. */
void worker_free(struct worker *w);

#endif
