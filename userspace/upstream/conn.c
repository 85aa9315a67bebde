/* SPDX-License-Identifier: BSD-2-Clause */
/* conn.c - connections to servers, and the queries on them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "dns/msg.h"
#include "dns/pad.h"
#include "upstream/conn.h"

#define CONNS_MAX 2			/* a server */
#define IDLE_MS   7000
#define REFUSALS_MAX 8			/* by connections that have answered others, before it is the server's word */
#define SYN_MS    200			/* after which others do not wait for a connection, but begin their own */
#define SHAKE_MS  2000			/* that a handshake may take */
#define GRACE_MS  300			/* that a server has for its first answer, whenever the attempt began */

/* ---- ends ---- */

static void handle_closed(struct upstream_conn *c)
{
	struct upstream *u = c->up;

	if (--c->handles == 0) {
		if (c->over->end)
			c->over->end(c);
		free(c);
	}
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

void upstream_conn_retire(struct upstream_conn *c)
{
	c->retired = true;
	if (!c->pending)
		conn_close(c);
}

/* ---- jobs of a connection ---- */

static void attach(struct upstream_conn *c, struct upstream_job *job)
{
	job->conn = c;
	job->reused = c->stands;
	job->sent_ms = uv_now(c->up->loop);
	job->next = c->jobs;
	if (job->next)
		job->next->link = &job->next;
	job->link = &c->jobs;
	c->jobs = job;
	c->pending++;
	c->asked++;
	uv_timer_stop(&c->idle);
	count_one(c->up->count, c->over->queries);
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

/* ---- sending ---- */

static int send_on(struct upstream_conn *c, struct upstream_job *job)
{
	int err = c->over->put(c, job);

	if (err)
		upstream_conn_retire(c);
	else
		attach(c, job);
	return err;
}

static void on_connected(struct stream *s, int err);
static void on_message(struct stream *s, const uint8_t *msg, size_t size);
static void on_ended(struct stream *s, int err);

static int make_tls(struct upstream_conn *c, struct upstream_job *job)
{
	const struct upstream_server *to = &c->up->opts.servers[c->server];
	const struct tls_peer peer = {
		.name = to->at.name,
		.alpn = c->over->alpn,
		.alpn_needed = c->over->alpn_needed,
		.pin = to->pin,
		.pins = to->pins,
		.session = &c->up->sessions[c->server],
	};

	if (!c->over->tls)
		return 0;
	if (c->up->tls)
		return tls_new(c->up->tls, &peer, &c->s.tls);
	snprintf(job->why, sizeof(job->why), "%s", c->up->tls_why);
	return c->up->tls_err;
}

/* Ready all that is not the loop's. */
static int make(struct upstream_conn *c, struct upstream_job *job)
{
	int err;

	c->s.connected = on_connected;
	c->s.message = on_message;
	c->s.ended = on_ended;
	c->s.closed = on_stream_closed;
	c->s.octets = c->over->octets;
	err = make_tls(c, job);
	if (!err && c->over->begin)
		err = c->over->begin(c);
	if (!err)
		err = stream_init(&c->s, c->up->loop);
	if (!err)
		return 0;
	if (c->over->end)
		c->over->end(c);
	tls_free(c->s.tls);
	return err;
}

static int conn_new(struct upstream_job *job, const struct upstream_over *over, struct upstream_conn **ret)
{
	struct upstream_conn *c = calloc(1, sizeof(*c));
	struct upstream *u = job->up;
	int err;

	if (!c)
		return -ENOMEM;
	c->over = over;
	c->up = u;
	c->server = job->server;
	c->to = job->to;
	c->begun_ms = uv_now(u->loop);
	err = make(c, job);
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
	err = stream_connect(&c->s, &c->to);
	if (err)
		conn_close(c);
	else
		*ret = c;
	return err;
}

/* Nobody has answered its SYN: the kernel's next one may be a second away, with the network back meanwhile. */
static bool is_unanswered(const struct upstream_conn *c)
{
	return !c->stands && !c->s.shaking && uv_now(c->up->loop) - c->begun_ms >= SYN_MS;
}

/* The one with the fewest queries, to where the server is now; NULL when it takes a new one. */
static struct upstream_conn *pick(const struct upstream_job *job, const struct upstream_over *over, bool fresh)
{
	struct upstream_conn *c, *best = NULL;
	unsigned n = 0;

	for (c = job->up->conns; c; c = c->next) {
		if (c->over != over || c->server != job->server || c->retired || !addr_same(&c->to, &job->to))
			continue;
		if ((fresh && c->stands) || is_unanswered(c))
			continue;
		n++;
		if (!best || c->pending < best->pending)
			best = c;
	}
	return best && best->pending >= over->room(best) && n < CONNS_MAX ? NULL : best;
}

/* On a connection that is only now being made: those who lost one together share it. */
static int send_fresh(struct upstream_job *job, const struct upstream_over *over)
{
	struct upstream_conn *c = pick(job, over, true);
	int err = c ? 0 : conn_new(job, over, &c);

	return err ? err : send_on(c, job);
}

static int send_again(struct upstream_job *job, const struct upstream_over *over)
{
	job->retried = true;
	return send_fresh(job, over);
}

int upstream_conn_send(struct upstream_job *job, const struct upstream_over *over)
{
	struct upstream_conn *c = job->fresh ? NULL : pick(job, over, false);

	job->retried = false;
	if (over->tls && job->edns)
		job->query_len = (uint16_t)dns_query_pad(job->query, job->query_len, sizeof(job->query));
	if (!c)
		return send_fresh(job, over);
	return send_on(c, job) ? send_again(job, over) : 0;
}

/* ---- what becomes of a query ---- */

static void report(struct upstream_job *job, int err, const char *why)
{
	if (why && *why)
		upstream_job_refused(job, err, why);
	else
		upstream_job_failed(job, err);
}

void upstream_conn_answered(struct upstream_job *job, const uint8_t *msg, size_t size)
{
	struct upstream_conn *c = job->conn;
	const struct upstream_over *over = c->over;

	c->heard_ms = uv_now(c->up->loop);
	if (over->tls && (msg[3] & 15) == DNS_REFUSED) {
		if (c->asked > 1)
			c->retired = true;
		else
			job->fresh = true;	/* as it is: another connection would be no fresher */
		/* One that has answered others had enough of us again: those of a burst need several. */
		if (c->served && job->refusals++ < REFUSALS_MAX)
			job->fresh = false;
	} else {
		c->served = true;
	}
	detach(job);
	upstream_job_response(job, msg, size);
}

void upstream_conn_failed(struct upstream_job *job, int err, const char *why)
{
	struct upstream_conn *c = job->conn;
	const struct upstream_over *over = c->over;
	bool again = err == -EAGAIN && !job->retried;

	c->heard_ms = uv_now(c->up->loop);
	if (again)
		c->retired = true;
	detach(job);
	if (!again || send_again(job, over))
		report(job, err == -EAGAIN ? -ECONNRESET : err, why);
}

/* Those who trusted in an old connection try a fresh one, for the others the attempt has failed. */
void upstream_conn_broke(struct upstream_conn *c, int err, const char *why)
{
	const struct upstream_over *over = c->over;
	struct upstream_job *job;

	conn_close(c);
	while ((job = c->jobs)) {
		if (over->drop)
			over->drop(c, job);
		detach(job);
		if (!job->reused || job->retried || send_again(job, over))
			report(job, err, why);
	}
}

static void on_doom(uv_timer_t *t)
{
	struct upstream_conn *c = t->data;

	upstream_conn_broke(c, c->doom, NULL);
}

void upstream_conn_doom(struct upstream_conn *c, int err)
{
	if (c->closing)
		return;
	c->retired = true;
	c->doom = err;
	uv_timer_start(&c->idle, on_doom, 0, 0);
}

/*
 * No answer since the query went out: the connection may be dead without our
 * knowing.  One with a handshake under way or only just over is not: somebody
 * is there.
 */
static bool seems_dead(const struct upstream_conn *c, const struct upstream_job *job)
{
	uint64_t now_ms = uv_now(c->up->loop);

	if (!c->stands)
		return !c->s.shaking || now_ms - c->begun_ms >= SHAKE_MS;
	return c->heard_ms <= job->sent_ms && now_ms - c->stands_ms >= GRACE_MS;
}

void upstream_conn_cancel(struct upstream_job *job, bool late)
{
	struct upstream_conn *c = job->conn;

	if (!c)
		return;
	if (late && seems_dead(c, job))
		c->retired = true;
	if (c->over->drop)
		c->over->drop(c, job);
	detach(job);
}

/* ---- what the stream tells ---- */

static void on_connected(struct stream *s, int err)
{
	struct upstream_conn *c = (struct upstream_conn *)s;

	if (err) {
		upstream_conn_broke(c, err, s->tls ? tls_why(s->tls) : NULL);
		return;
	}
	c->stands = true;
	c->stands_ms = uv_now(c->up->loop);
	if (s->tls)
		count_one(c->up->count, tls_is_resumed(s->tls) ? COUNT_upstream_resumed : COUNT_upstream_handshakes);
}

static void on_ended(struct stream *s, int err)
{
	struct upstream_conn *c = (struct upstream_conn *)s;

	upstream_conn_broke(c, err ? err : -ECONNRESET, s->tls ? tls_why(s->tls) : NULL);
}

static void on_message(struct stream *s, const uint8_t *msg, size_t size)
{
	struct upstream_conn *c = (struct upstream_conn *)s;

	c->over->came(c, msg, size);
}

/* ---- of the whole ---- */

void upstream_conns_start(struct upstream *u)
{
	struct err_at e = { 0 };
	unsigned i;

	for (i = 0; i < u->opts.count && !u->tls; i++) {
		if (u->opts.servers[i].at.scheme < ENDPOINT_TLS)
			continue;
		u->tls_err = tls_context_new(u->opts.ca, &u->tls, &e);
		if (u->tls_err)
			err_text(&e, u->tls_why, sizeof(u->tls_why));
		break;
	}
}

void upstream_conns_moved(struct upstream *u, unsigned server)
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
		upstream_conn_broke(c, -ENETRESET, NULL);
		c = u->conns;
	}
}

void upstream_conns_stop(struct upstream *u)
{
	while (u->conns)
		conn_close(u->conns);
}

void upstream_conns_done(struct upstream *u)
{
	unsigned i;

	for (i = 0; i < UPSTREAM_SERVERS_MAX; i++)
		tls_session_forget(&u->sessions[i]);
	tls_context_free(u->tls);
}
