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
#include "dns/answer.h"
#include "net/tls.h"
#include "upstream/pool.h"
#include "upstream/upstream.h"

#define UPSTREAM_QUERY_MAX 512		/* header, longest name, type, class, OPT: 282 */

struct h2_request;
struct upstream_conn;
struct upstream_job;

struct upstream_transport {
	const char *name;
	/* REFUSED may be for what went before on the connection: it is asked once more on a fresh one,
	 * and again while fresh ones answer others first. */
	bool refused_again;
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
extern const struct upstream_transport upstream_tls;
extern const struct upstream_transport upstream_https;

/* One attempt: of a request, or a probe.  Kept and used again: its timer and its place in the table stay. */
struct upstream_job {
	struct upstream *up;
	struct upstream_ask *ask;	/* the request; NULL: free, a probe, or the request has its answer already */
	bool used;
	bool probe;
	uv_timer_t timer;		/* of the attempt */
	unsigned index;			/* in up->jobs */
	struct upstream_job *next_free;
	const struct dns_key *key;	/* what is asked */
	const struct upstream_transport *via;	/* NULL: none under way */
	unsigned server;
	struct addr to;			/* where it is, now */
	uint64_t sent_ns;		/* of the clock for measuring; 0: what comes next is no measure of the server */
	bool edns;
	bool without_edns;		/* the server did not understand EDNS: asked again without */
	bool small;			/* to be asked in small letters */
	bool cased;			/* the query's letters are in random case */
	bool guessed;			/* or so we think, since it was silent */
	uint16_t id;
	uint16_t query_len;
	uint8_t query[UPSTREAM_QUERY_MAX];
	bool again;			/* the server was asked before, for the same request */
	bool late;			/* its time is over; what has come meanwhile is looked at first */
	int send_err;			/* to be reported by the timer, not from within send */
	char why[UPSTREAM_WHY_MAX];	/* of upstream_job_refused() */
	/* the UDP transport's */
	int fd;
	uint32_t generation;		/* tells events of an older socket apart */
	/* those of the transports that have connections (upstream/conn.h) */
	struct upstream_conn *conn;
	uint64_t sent_ms;		/* when it went out on that connection */
	struct h2_request *request;	/* HTTPS's */
	struct upstream_job *next;
	struct upstream_job **link;
	uint8_t refusals;		/* by connections that had answered others */
	bool fresh;			/* must not take a connection that is there */
	bool reused;			/* sent on a connection that was there before */
	bool retried;			/* on a fresh connection, after another one lost it */
	/* of a request that has its answer: the attempt goes on to learn how fast the server is */
	struct dns_key own_key;
};

#define UPSTREAM_LEGS 2			/* attempts of a request at once */

/* One request under way; kept and used again too. */
struct upstream_ask {
	struct upstream *up;
	struct upstream_request *req;	/* NULL while it is free */
	uv_timer_t race;		/* until the second is asked as well */
	bool late;			/* that is due; what has come meanwhile is looked at first */
	uint64_t deadline_ms;
	struct upstream_ask *next;	/* of all that were ever made */
	struct upstream_ask *next_free;
	struct upstream_plan plan;
	unsigned turn;			/* places of the plan gone through, the second round behind the first */
	uint32_t responded;		/* places that need not be asked again, a bit each */
	struct upstream_job *leg[UPSTREAM_LEGS];
	int last_err;
	uint8_t *last;			/* the last failure's response, or NULL */
	size_t last_size;
	unsigned last_server;
	bool last_tcp;
};

struct upstream {
	uv_loop_t *loop;
	struct upstream_opts opts;	/* the pool's */
	struct upstream_pool *pool;
	struct count_shard *count;
	struct upstream_job **jobs;	/* all that were ever made */
	unsigned made;
	unsigned jobs_size;
	struct upstream_job *free;
	struct upstream_ask *asks;
	struct upstream_ask *free_ask;
	unsigned strays;		/* attempts whose request has its answer */
	uv_timer_t probe;		/* while a server has failed */
	bool probing;
	bool closing;
	unsigned handles;		/* of the loop, not yet closed */
	/* the UDP transport's */
	int epoll_fd;
	uv_poll_t poll;
	bool poll_made;
	uint8_t *buf;
	/* those of the transports that have connections */
	struct upstream_conn *conns;
	struct tls_context *tls;	/* NULL: nobody is asked over TLS, or it could not be made: */
	int tls_err;
	char tls_why[UPSTREAM_WHY_MAX];
	struct tls_session sessions[UPSTREAM_SERVERS_MAX];
	uint32_t streams[UPSTREAM_SERVERS_MAX];	/* that a server of HTTPS works on at once; 0: unknown */
};

/* Ready the transports, and end them; handles count themselves. */
int upstream_udp_start(struct upstream *u);
void upstream_udp_stop(struct upstream *u);
void upstream_conns_start(struct upstream *u);
void upstream_conns_stop(struct upstream *u);
void upstream_conns_done(struct upstream *u);	/* when all handles are closed */

/* The way to @server is another one: close its connections; what is under way there is asked on fresh ones. */
void upstream_conns_moved(struct upstream *u, unsigned server);

/* ---- jobs.c ---- */

/* A free attempt, in no request's hands yet; NULL when there are too many or memory is out. */
struct upstream_job *upstream_job_get(struct upstream *u);
void upstream_job_put(struct upstream_job *job);

/* Take an attempt out of its request; job->ask stays. */
void upstream_job_leave(struct upstream_job *job);

/* A request that has its place in the pool, which goes with it; NULL when memory is out. */
struct upstream_ask *upstream_ask_get(struct upstream *u, struct upstream_request *req);
void upstream_ask_put(struct upstream_ask *ask);

/* How many attempts it has under way. */
unsigned upstream_ask_legs(const struct upstream_ask *ask);

void upstream_jobs_close(struct upstream *u);
void upstream_jobs_free(struct upstream *u);

/* ---- upstream.c ---- */

/* A handle has been closed; with the last one the object goes. */
void upstream_handle_closed(struct upstream *u);

/**
 * True when @msg is a response to what @job asked: ID, opcode, name (letter
 * case apart), type and class.  An error without a question section counts
 * too: some servers answer so.
 */
bool upstream_job_matches(const struct upstream_job *job, const uint8_t *msg, size_t size);

/**
 * Why a response without an error, and not cut, is of no use to the asker: in
 * upstream/usable.c.  NULL: it is.  Static storage.
 */
const char *upstream_unusable(const uint8_t *msg, size_t size);

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
