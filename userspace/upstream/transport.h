/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transport.h - one attempt to ask one server, whatever carries it.
 *
 * upstream.c decides whom to ask, how and for how long; a transport carries one
 * query of a job there and reports back by upstream_job_response() or
 * upstream_job_failed(), exactly once unless it was cancelled, and never from
 * within send().  Everything is on the loop's thread.
 */
#ifndef UPSTREAM_TRANSPORT_H
#define UPSTREAM_TRANSPORT_H

#include <stdbool.h>
#include "upstream/pool.h"
#include "upstream/upstream.h"

#define UPSTREAM_QUERY_MAX 512		/* header, longest name, type, class, OPT: 282 */

struct upstream_conn;
struct upstream_job;

struct upstream_transport {
	const char *name;
	/*
	 * Carry job->query to job->server, which is at job->to.  Returns 0 or a negative errno (nothing will be reported then);
	 * may change job->id and the query's.
	 */
	int (*send)(struct upstream_job *job);
	/* Forget the attempt; @late: because no answer came. */
	void (*cancel)(struct upstream_job *job, bool late);
};

extern const struct upstream_transport upstream_udp;
extern const struct upstream_transport upstream_tcp;

/* One request under way.  Kept and used again: its timer and its place in the table stay. */
struct upstream_job {
	struct upstream *up;
	struct upstream_request *req;	/* NULL while it is free */
	uv_timer_t timer;		/* of the attempt */
	uint64_t deadline_ms;		/* of the request */
	unsigned index;			/* in up->jobs */
	struct upstream_job *next_free;
	/* the plan */
	uint8_t order[UPSTREAM_SERVERS_MAX];
	unsigned turn;			/* attempts made */
	unsigned attempts;		/* in all, at most */
	uint64_t answered;		/* servers that need not be asked again, a bit each */
	int last_err;
	uint8_t *last;			/* the last failure's response, or NULL */
	size_t last_size;
	unsigned last_server;
	bool last_tcp;
	/* the attempt */
	const struct upstream_transport *via;	/* NULL: none under way */
	unsigned server;
	struct addr to;			/* where it is, now */
	bool edns;
	bool without_edns;		/* the server did not understand EDNS: asked again without */
	uint16_t id;
	uint16_t query_len;
	uint8_t query[UPSTREAM_QUERY_MAX];
	int send_err;			/* to be reported by the timer, not from within send */
	/* the UDP transport's */
	int fd;
	uint32_t generation;		/* tells events of an older socket apart */
	/* the TCP transport's */
	struct upstream_conn *conn;
	struct upstream_job *next;
	struct upstream_job **link;
	bool reused;			/* sent on a connection that was there before */
	bool retried;			/* on a fresh connection, after a reused one broke */
};

struct upstream {
	uv_loop_t *loop;
	struct upstream_opts opts;
	struct upstream_pool pool;
	struct count_shard *count;
	struct upstream_job **jobs;	/* all that were ever made, in_flight_max at most */
	unsigned made;
	struct upstream_job *free;
	unsigned in_flight;
	bool closing;
	unsigned handles;		/* of the loop, not yet closed */
	/* the UDP transport's */
	int epoll_fd;
	uv_poll_t poll;
	bool poll_made;
	uint8_t *buf;
	/* the TCP transport's */
	struct upstream_conn *conns;
};

/* Ready the transports, and end them; handles count themselves. */
int upstream_udp_start(struct upstream *u);
void upstream_udp_stop(struct upstream *u);
void upstream_tcp_stop(struct upstream *u);

/* A handle has been closed; with the last one the object goes. */
void upstream_handle_closed(struct upstream *u);

/**
 * True when @msg is a response to what @job asked: ID, opcode, name (letter
 * case apart), type and class.  An error without a question section counts
 * too: some servers answer so.
 */
bool upstream_job_matches(const struct upstream_job *job, const uint8_t *msg, size_t size);

/* The end of an attempt: a response that matches (borrowed), or an error.  The transport has let go of the job. */
void upstream_job_response(struct upstream_job *job, const uint8_t *msg, size_t size);
void upstream_job_failed(struct upstream_job *job, int err);

/**
 * The same, with more to say than an errno: "the certificate has expired".
 *
 * @why  copied; shown by "millctl upstreams", and in the log when it changes
 */
void upstream_job_refused(struct upstream_job *job, int err, const char *why);

#endif
