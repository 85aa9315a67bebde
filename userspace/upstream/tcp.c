/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp.c - asking over TCP: at most two connections a server, kept for a while
 * and used by many queries at once, answered in any order (RFC 7766 section 6.2).
 *
 * A server may close a kept connection at any time, also just when the next
 * query is on its way: a query that meets this is sent once more, on a fresh
 * connection (RFC 7766 section 6.2.4).
 */
#include <errno.h>
#include <stdlib.h>
#include "base/random.h"
#include "net/stream.h"
#include "upstream/transport.h"

#define CONNS_MAX 2			/* a server */
#define CROWDED   32			/* queries on one connection before a second one is opened */
#define IDLE_MS   7000

struct upstream_conn {
	struct stream s;
	uv_timer_t idle;
	struct upstream *up;
	unsigned server;
	struct addr to;
	unsigned pending;
	struct upstream_job *jobs;
	bool retired;			/* takes no more queries */
	bool closing;
	unsigned handles;
	struct upstream_conn *next;
	struct upstream_conn **link;
};

static void handle_closed(struct upstream_conn *c)
{
	struct upstream *u = c->up;

	if (--c->handles == 0)
		free(c);
	upstream_handle_closed(u);
}

static void on_stream_closed(struct stream *s)
{
	handle_closed((struct upstream_conn *)s);
}

static void on_timer_closed(uv_handle_t *h)
{
	handle_closed(h->data);
}

static void conn_close(struct upstream_conn *c)
{
	if (c->closing)
		return;
	c->closing = c->retired = true;
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	stream_close(&c->s);
	uv_close((uv_handle_t *)&c->idle, on_timer_closed);
}

static void on_idle(uv_timer_t *t)
{
	conn_close(t->data);
}

/* ---- jobs of a connection ---- */

static void attach(struct upstream_conn *c, struct upstream_job *job)
{
	job->conn = c;
	job->next = c->jobs;
	if (job->next)
		job->next->link = &job->next;
	job->link = &c->jobs;
	c->jobs = job;
	c->pending++;
	uv_timer_stop(&c->idle);
}

static void detach(struct upstream_job *job)
{
	struct upstream_conn *c = job->conn;

	*job->link = job->next;
	if (job->next)
		job->next->link = job->link;
	job->conn = NULL;
	if (--c->pending || c->closing)
		return;
	if (c->retired)
		conn_close(c);
	else
		uv_timer_start(&c->idle, on_idle, IDLE_MS, 0);
}

static struct upstream_job *find(struct upstream_conn *c, uint16_t id)
{
	struct upstream_job *job;

	for (job = c->jobs; job; job = job->next)
		if (job->id == id)
			return job;
	return NULL;
}

/* An ID tells the queries of a connection apart: there are far fewer of them than IDs. */
static void choose_id(struct upstream_conn *c, struct upstream_job *job)
{
	while (find(c, job->id))
		job->id = random_u16();
	job->query[0] = (uint8_t)(job->id >> 8);
	job->query[1] = (uint8_t)job->id;
}

static int send_on(struct upstream_conn *c, struct upstream_job *job)
{
	int err;

	choose_id(c, job);
	err = stream_send(&c->s, job->query, job->query_len);
	if (err) {
		c->retired = true;
		if (!c->pending)
			conn_close(c);
		return err;
	}
	attach(c, job);
	count_one(c->up->count, COUNT_upstream_tcp_queries);
	return 0;
}

/* ---- what the stream tells ---- */

static int send_fresh(struct upstream_job *job);

/* The connection is gone: those who trusted in an old one try a fresh one, for the others the attempt has failed. */
static void conn_broke(struct upstream_conn *c, int err)
{
	struct upstream_job *job;

	conn_close(c);
	while ((job = c->jobs)) {
		detach(job);
		if (job->reused && !job->retried) {
			job->retried = true;
			if (!send_fresh(job))
				continue;
		}
		upstream_job_failed(job, err);
	}
}

static void on_connected(struct stream *s, int err)
{
	if (err)
		conn_broke((struct upstream_conn *)s, err);
}

static void on_ended(struct stream *s, int err)
{
	conn_broke((struct upstream_conn *)s, err ? err : -ECONNRESET);
}

static void on_message(struct stream *s, const uint8_t *msg, size_t size)
{
	struct upstream_conn *c = (struct upstream_conn *)s;
	struct upstream_job *job = NULL;

	if (size >= 2)
		job = find(c, (uint16_t)(msg[0] << 8 | msg[1]));
	if (!job || !upstream_job_matches(job, msg, size)) {
		count_one(c->up->count, COUNT_upstream_mismatches);
		return;
	}
	detach(job);
	upstream_job_response(job, msg, size);
}

/* ---- connections ---- */

void upstream_tcp_moved(struct upstream *u, unsigned server)
{
	struct upstream_conn *c;
	struct upstream_job *job;

	for (c = u->conns; c; c = c->next)
		if (c->server == server)
			c->retired = true;
	/* Each time from the front: who is asked again, and whoever is told, makes and closes others. */
	for (c = u->conns; c;) {
		if (c->server != server || !c->retired) {
			c = c->next;
			continue;
		}
		for (job = c->jobs; job; job = job->next)
			job->reused = true;
		conn_broke(c, -ENETRESET);
		c = u->conns;
	}
}

static int conn_new(struct upstream *u, unsigned server, const struct addr *to, struct upstream_conn **ret)
{
	struct upstream_conn *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->up = u;
	c->server = server;
	c->to = *to;
	c->s.connected = on_connected;
	c->s.message = on_message;
	c->s.ended = on_ended;
	c->s.closed = on_stream_closed;
	err = stream_init(&c->s, u->loop);
	if (err) {
		free(c);
		return err;
	}
	uv_timer_init(u->loop, &c->idle);
	c->idle.data = c;
	c->handles = 2;
	u->handles += 2;
	c->link = &u->conns;
	c->next = u->conns;
	if (c->next)
		c->next->link = &c->next;
	u->conns = c;
	err = stream_connect(&c->s, to);
	if (err)
		conn_close(c);
	else
		*ret = c;
	return err;
}

static int send_fresh(struct upstream_job *job)
{
	struct upstream_conn *c;
	int err;

	job->reused = false;
	err = conn_new(job->up, job->server, &job->to, &c);
	return err ? err : send_on(c, job);
}

/* The one with the fewest queries, to where the server is now; NULL when it takes a new one. */
static struct upstream_conn *pick(struct upstream *u, unsigned server, const struct addr *to)
{
	struct upstream_conn *c, *best = NULL;
	unsigned n = 0;

	for (c = u->conns; c; c = c->next) {
		if (c->server != server || c->retired || !addr_same(&c->to, to))
			continue;
		n++;
		if (!best || c->pending < best->pending)
			best = c;
	}
	return best && best->pending >= CROWDED && n < CONNS_MAX ? NULL : best;
}

static int tcp_send(struct upstream_job *job)
{
	struct upstream_conn *c = job->fresh ? NULL : pick(job->up, job->server, &job->to);

	job->retried = false;
	if (!c)
		return send_fresh(job);
	job->reused = true;
	if (!send_on(c, job))
		return 0;
	job->retried = true;
	return send_fresh(job);
}

/* A connection on which an answer did not come may be dead without our knowing: it gets no more queries. */
static void tcp_cancel(struct upstream_job *job, bool late)
{
	if (!job->conn)
		return;
	if (late)
		job->conn->retired = true;
	detach(job);
}

void upstream_tcp_stop(struct upstream *u)
{
	while (u->conns)
		conn_close(u->conns);
}

const struct upstream_transport upstream_tcp = { .name = "tcp", .send = tcp_send, .cancel = tcp_cancel };
