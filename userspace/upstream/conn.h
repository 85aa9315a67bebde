/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn.h - connections to servers: kept for a while and used by many queries
 * at once; what TCP, TLS and HTTPS have in common.
 *
 * A server has at most two at a time, the second when the first is crowded.
 * One that is not used is closed before servers do (under 8 s).  A query that
 * a kept connection lost is sent once more, on a fresh one, within the time of
 * the attempt (RFC 7766 section 6.2.4).  A connection over which a server that
 * had answered before says REFUSED has had enough, and takes no more.  A
 * handshake takes its time from the attempts that wait for it, and from no
 * other: when it is slow the next ones find it further on.
 */
#ifndef UPSTREAM_CONN_H
#define UPSTREAM_CONN_H

#include "net/stream.h"
#include "upstream/transport.h"

/* How queries go over a connection: a row for each transport. */
struct upstream_over {
	bool tls;
	const char *alpn;
	bool alpn_needed;
	bool octets;			/* it frames by itself */
	enum upstream_count queries;	/* the counter of them */
	/* Ready a new connection, and give back what that took.  May be NULL. */
	int (*begin)(struct upstream_conn *c);
	void (*end)(struct upstream_conn *c);
	/* Send a query; a negative errno: nothing will come, try another connection. */
	int (*put)(struct upstream_conn *c, struct upstream_job *job);
	/* Nobody waits for the answer from here any more.  May be NULL. */
	void (*drop)(struct upstream_conn *c, struct upstream_job *job);
	/* A message, or octets, came. */
	void (*came)(struct upstream_conn *c, const uint8_t *msg, size_t size);
	/* Queries at once before a second connection is opened. */
	unsigned (*room)(const struct upstream_conn *c);
};

struct upstream_conn {
	struct stream s;		/* first */
	const struct upstream_over *over;
	uv_timer_t idle;
	struct upstream *up;
	unsigned server;
	struct addr to;
	uint64_t begun_ms;
	uint64_t stands_ms;		/* since when it stands */
	uint64_t heard_ms;		/* when an answer came last; 0: none has */
	unsigned pending;
	unsigned asked;			/* queries, in all */
	struct upstream_job *jobs;
	bool stands;			/* connected, handshake included */
	bool served;			/* something was answered here, and not by REFUSED */
	bool retired;			/* takes no more queries */
	bool closing;
	int doom;
	unsigned handles;
	struct upstream_conn *next;
	struct upstream_conn **link;
	struct h2 *h2;			/* HTTPS's */
};

/* For the rows of transports: send, and cancel.  Over TLS a query is padded first (RFC 8467 section 4.1). */
int upstream_conn_send(struct upstream_job *job, const struct upstream_over *over);
void upstream_conn_cancel(struct upstream_job *job, bool late);

/* An answer to @job came; it leaves its connection. */
void upstream_conn_answered(struct upstream_job *job, const uint8_t *msg, size_t size);

/* @job failed, the connection did not; -EAGAIN: another one may do better. */
void upstream_conn_failed(struct upstream_job *job, int err, const char *why);

/* The connection failed, and closes; so does, perhaps later, one that takes no more queries. */
void upstream_conn_broke(struct upstream_conn *c, int err, const char *why);
void upstream_conn_retire(struct upstream_conn *c);

/* It cannot go on, but this is no place to tell: it breaks with @err on the loop's next turn. */
void upstream_conn_doom(struct upstream_conn *c, int err);

#endif
