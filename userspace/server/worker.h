/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * worker.h - what the files of the room know of one another.
 *
 * A worker owns a loop, a UDP side and a TCP side.  All but what the lock
 * guards belongs to its thread once that runs.
 */
#ifndef SERVER_WORKER_H
#define SERVER_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include "server/server.h"

#define SERVER_UDP_WAITING 8192
#define SERVER_TCP_MAX     1000
#define SERVER_TCP_PIPE    100
#define SERVER_TCP_IDLE_MS 10000
#define SERVER_TICK_MS     250

struct server_udp;
struct server_tcp;

struct worker {
	struct worker_opts opts;	/* defaults filled in */
	struct addr *listen;		/* the opts' addresses, our copy */
	struct resolver *resolver;
	struct count_shard *count;
	struct server_udp *udp;
	struct server_tcp *tcp;
	uv_loop_t loop;
	uv_async_t async;		/* jobs, or the wish to end */
	uv_timer_t tick;
	uv_timer_t drain;
	uv_prepare_t before;		/* the two places of an iteration where answers are sent */
	uv_check_t after;
	bool loop_made;
	bool async_made;
	bool draining;
	bool finished;
	pthread_t thread;
	bool running;			/* the thread is to be joined; the owner's */
	pthread_mutex_t lock;		/* guards the following */
	pthread_cond_t began;
	bool has_begun;
	int begin_err;
	bool accepting;			/* jobs */
	struct worker_job *first;
	struct worker_job **last;
	bool stop;
	uint32_t drain_ms;
};

/* A side has become quiet: see whether the worker can end.  Cheap, after every answer. */
void server_worker_progress(struct worker *w);

/* ---- udp.c ---- */

/* Open the sockets of all addresses; errors as worker_open(). */
int server_udp_open(struct worker *w, struct server_udp **ret, struct err_at *reterr);
/* Begin to serve, on the worker's thread. */
int server_udp_start(struct server_udp *u);
/* Send the answers that are ready. */
void server_udp_flush(struct server_udp *u);
/* Take no more queries. */
void server_udp_quiet(struct server_udp *u);
/* Queries under way, or answered and not yet sent. */
unsigned server_udp_waiting(const struct server_udp *u);
/* Send what is ready, abandon what is not; close the handles. */
void server_udp_stop(struct server_udp *u);
/* After the loop has ended; takes NULL. */
void server_udp_free(struct server_udp *u);

/* ---- tcp.c ---- */

int server_tcp_open(struct worker *w, struct server_tcp **ret, struct err_at *reterr);
int server_tcp_start(struct server_tcp *t);
/* Close what has been idle or slow for too long. */
void server_tcp_tick(struct server_tcp *t);
/* Accept and read no more; connections close as they have been answered. */
void server_tcp_quiet(struct server_tcp *t);
/* Connections that are still there. */
unsigned server_tcp_waiting(const struct server_tcp *t);
void server_tcp_stop(struct server_tcp *t);
void server_tcp_free(struct server_tcp *t);

#endif
