/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp.c - queries over TCP: many on one connection, answered as they are ready
 * (RFC 7766 sections 6.2.1.1 and 7).
 *
 * A client that sends more than it may have under way, or that does not read
 * its answers, is read no further until that changes; one that is idle, slow
 * to finish a message or slow to read is closed.  One that has shut down its
 * side gets what it has asked, and then the connection closes.
 *
 * When all places are taken, or all those of one client, a new connection
 * takes that of the one that has been idle the longest; a client that has all
 * of its own takes one of its own, so it cannot push out the others.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>
#include "base/clock.h"
#include "dns/msg.h"
#include "net/stream.h"
#include "server/worker.h"

#define ACCEPTS        32		/* connections taken per wake-up */
#define ACCEPT_WAIT_MS 100		/* after an accept() for which descriptors or memory were missing */
#define BACKLOG_HIGH   (64 * 1024)	/* unread answers above which a client is not read */
#define IDLE_MIN_MS    200

struct conn;

/* One query of a TCP client. */
struct pending {
	struct query *q;
	struct conn *c;
	struct pending *next;
	struct pending **link;
};

struct conn {
	struct stream s;
	struct server_tcp *t;
	struct addr client;
	struct addr local;
	struct pending *pending;
	unsigned under_way;
	uint64_t idle_since_ms;
	bool listed;			/* in the list, not yet closing */
	bool leaving;			/* it asks no more: close when all has been answered */
	TAILQ_ENTRY(conn) place;
};

TAILQ_HEAD(conns, conn);

struct listener {
	struct server_tcp *owner;
	int fd;
	uv_poll_t poll;
	bool polled;
};

struct server_tcp {
	struct worker *w;
	struct conns conns;		/* the longest without a sign of life first */
	unsigned open;			/* in the list */
	unsigned count;			/* with those that are being closed */
	uv_timer_t accept_wait;
	bool timer_made;
	bool quiet;
	unsigned listeners;
	struct listener *listener;
};

static void conn_close(struct conn *c);

/* ---- answers ---- */

static bool conn_busy(const struct conn *c)
{
	return c->under_way >= c->t->w->opts.tcp_pipeline_max || stream_backlog(&c->s) > BACKLOG_HIGH;
}

/* A message was taken or answered, or answers were read: it is idle from now on at the earliest. */
static void conn_lives(struct conn *c)
{
	c->idle_since_ms = uv_now(&c->t->w->loop);
	if (!c->listed)
		return;
	TAILQ_REMOVE(&c->t->conns, c, place);
	TAILQ_INSERT_TAIL(&c->t->conns, c, place);
}

static void conn_forget(struct pending *p)
{
	struct conn *c = p->c;

	*p->link = p->next;
	if (p->next)
		p->next->link = p->link;
	c->under_way--;
	conn_lives(c);
	free(p);
}

/* Is all that it asked answered, and all answers with the kernel? */
static bool conn_is_idle(const struct conn *c)
{
	return !c->under_way && !stream_backlog(&c->s);
}

/* While the worker ends, or when the client has shut down its side, a connection goes as soon as it is idle. */
static bool conn_is_over(const struct conn *c)
{
	return (c->t->quiet || c->leaving) && conn_is_idle(c);
}

static void conn_go_on(struct conn *c)
{
	if (!c->listed)
		return;
	if (conn_is_over(c))
		conn_close(c);
	else if (!c->t->quiet && !conn_busy(c))
		stream_resume(&c->s);
}

static void on_done(struct query *q)
{
	struct pending *p = q->owner;
	struct conn *c = p->c;
	int err = 0;

	conn_forget(p);
	if (q->reply_len) {
		err = stream_send(&c->s, q->reply, q->reply_len);
		if (!err)
			count_one(c->t->w->count, COUNT_server_tcp_answers);
	}
	query_free(q);
	if (err == -ENOBUFS)
		count_one(c->t->w->count, COUNT_server_tcp_timeouts);
	if (err)
		conn_close(c);
	else
		conn_go_on(c);
}

static void on_drained(struct stream *s)
{
	struct conn *c = (struct conn *)s;

	conn_lives(c);
	conn_go_on(c);
}

/* ---- queries ---- */

static int conn_ask(struct conn *c, const uint8_t *msg, size_t size)
{
	struct worker *w = c->t->w;
	struct pending *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->c = c;
	p->q = query_new(w->resolver, QUERY_TCP, msg, size, &c->client, &c->local, clock_coarse_ns(), on_done, p);
	if (!p->q) {
		free(p);
		return -ENOMEM;
	}
	p->next = c->pending;
	if (p->next)
		p->next->link = &p->next;
	p->link = &c->pending;
	c->pending = p;
	c->under_way++;
	query_start(p->q);
	return 0;
}

/* A stream that frames less than a header is out of step: nothing behind it can be trusted. */
static void on_message(struct stream *s, const uint8_t *msg, size_t size)
{
	struct conn *c = (struct conn *)s;

	conn_lives(c);
	count_one(c->t->w->count, COUNT_server_tcp_queries);
	if (size < DNS_HEADER || conn_ask(c, msg, size)) {
		conn_close(c);
		return;
	}
	if (c->listed && conn_busy(c))
		stream_pause(&c->s);
}

/* ---- connections ---- */

/*
 * Its end of the connection alone says nothing of the other: a client may
 * write, shut down and read.  One that has gone altogether is found out by
 * the first answer, at the latest when the query's time is over.
 */
static void on_ended(struct stream *s, int err)
{
	struct conn *c = (struct conn *)s;

	c->leaving = true;
	if (err || conn_is_over(c))
		conn_close(c);
}

static void on_closed(struct stream *s)
{
	struct conn *c = (struct conn *)s;
	struct server_tcp *t = c->t;

	free(c);
	t->count--;
	server_worker_progress(t->w);
}

/* Close; answers that are still to come have nobody to go to (RFC 7766 section 6.2.4). */
static void conn_close(struct conn *c)
{
	struct pending *p;

	if (!c->listed)
		return;
	c->listed = false;
	TAILQ_REMOVE(&c->t->conns, c, place);
	c->t->open--;
	while ((p = c->pending)) {
		query_abandon(p->q);
		conn_forget(p);
	}
	stream_close(&c->s);
}

/* The nearer the bound, the shorter an idle client may stay: full time up to half of it, a tenth at the end. */
static uint64_t idle_limit_ms(const struct server_tcp *t)
{
	uint64_t ms = t->w->opts.tcp_idle_ms, max = t->w->opts.tcp_max, left;

	if (t->open * 2 <= max)
		return ms;
	left = max - t->open;
	left = ms / 10 + ms * 9 / 10 * left * 2 / max;
	if (left < IDLE_MIN_MS)
		left = IDLE_MIN_MS;
	return left < ms ? left : ms;
}

static bool is_late(uint64_t since_ms, uint64_t now_ms, uint64_t limit_ms)
{
	return now_ms - since_ms > limit_ms;
}

/*
 * A message must arrive whole, and answers be read, within the time; not one
 * octet after the other.  While the stream is paused the delay is ours.
 */
static bool conn_is_late(const struct conn *c, uint64_t now_ms, uint64_t idle_ms)
{
	uint64_t ms = c->t->w->opts.tcp_idle_ms;

	if (c->s.sending_len)
		return is_late(c->s.out_since_ms, now_ms, ms);
	if (c->s.in_len && !c->s.paused && is_late(c->s.in_since_ms, now_ms, ms))
		return true;
	return !c->under_way && !c->s.in_len && is_late(c->idle_since_ms, now_ms, idle_ms);
}

void server_tcp_tick(struct server_tcp *t)
{
	uint64_t now_ms = uv_now(&t->w->loop), idle_ms = idle_limit_ms(t);
	struct conn *c, *next;

	for (c = TAILQ_FIRST(&t->conns); c; c = next) {
		next = TAILQ_NEXT(c, place);
		if (conn_is_late(c, now_ms, idle_ms)) {
			count_one(t->w->count, COUNT_server_tcp_timeouts);
			conn_close(c);
		}
	}
}

/* ---- accepting ---- */

static struct conn *conn_new(struct server_tcp *t, int fd, const struct addr *client)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct conn *c = calloc(1, sizeof(*c));

	if (!c || getsockname(fd, (struct sockaddr *)&ss, &len)) {
		free(c);
		return NULL;
	}
	addr_from_sockaddr((struct sockaddr *)&ss, &c->local);
	c->client = *client;
	c->t = t;
	c->idle_since_ms = uv_now(&t->w->loop);
	c->s.message = on_message;
	c->s.drained = on_drained;
	c->s.ended = on_ended;
	c->s.closed = on_closed;
	if (stream_init(&c->s, &t->w->loop)) {
		free(c);
		return NULL;
	}
	return c;
}

/*
 * Make a place for one more connection of @client: free, or the one that has
 * been idle the longest, among its own when it has as many as one may have.
 * False when those are all busy.
 *
 * The list is short, and to take a connection costs more than to walk it.
 */
static bool make_place(struct server_tcp *t, const struct addr *client)
{
	struct conn *c, *idle = NULL, *own_idle = NULL;
	unsigned own = 0;

	TAILQ_FOREACH(c, &t->conns, place) {
		bool is_own = !memcmp(c->client.ip, client->ip, sizeof(client->ip));

		own += is_own;
		if (!conn_is_idle(c))
			continue;
		if (!idle)
			idle = c;
		if (!own_idle && is_own)
			own_idle = c;
	}
	if (own >= t->w->opts.tcp_client_max)
		idle = own_idle;
	else if (t->open < t->w->opts.tcp_max)
		return true;
	if (!idle)
		return false;
	count_one(t->w->count, COUNT_server_tcp_displaced);
	conn_close(idle);
	return true;
}

static void conn_accept(struct server_tcp *t, int fd, const struct addr *client)
{
	struct conn *c = NULL;

	if (make_place(t, client))
		c = conn_new(t, fd, client);
	if (!c) {
		count_one(t->w->count, COUNT_server_tcp_refused);
		close(fd);
		return;
	}
	count_one(t->w->count, COUNT_server_tcp_accepted);
	t->count++;
	t->open++;
	c->listed = true;
	TAILQ_INSERT_TAIL(&t->conns, c, place);
	if (stream_open(&c->s, fd))
		conn_close(c);
}

static void on_acceptable(uv_poll_t *p, int status, int events);

static void listen_again(uv_timer_t *timer)
{
	struct server_tcp *t = timer->data;
	unsigned i;

	for (i = 0; i < t->listeners && !t->quiet; i++)
		uv_poll_start(&t->listener[i].poll, UV_READABLE, on_acceptable);
}

/* Without a free descriptor the connection stays in the queue and the poll would come back at once, for ever: wait. */
static void listen_later(struct server_tcp *t)
{
	unsigned i;

	for (i = 0; i < t->listeners; i++)
		uv_poll_stop(&t->listener[i].poll);
	uv_timer_start(&t->accept_wait, listen_again, ACCEPT_WAIT_MS, 0);
}

static void on_acceptable(uv_poll_t *p, int status, int events)
{
	struct listener *l = p->data;
	struct sockaddr_storage ss;
	struct addr client;
	socklen_t len;
	unsigned i;
	int fd;

	if (status)			/* libuv stops at POLLERR; accept() clears the error */
		uv_poll_start(p, UV_READABLE, on_acceptable);
	for (i = 0; i < ACCEPTS; i++) {
		len = sizeof(ss);
		fd = accept4(l->fd, (struct sockaddr *)&ss, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
				listen_later(l->owner);
			if (errno != ECONNABORTED && errno != EINTR)
				return;
			continue;
		}
		addr_from_sockaddr((struct sockaddr *)&ss, &client);
		conn_accept(l->owner, fd, &client);
	}
}

/* ---- beginning and end ---- */

static int open_listener(struct server_tcp *t, unsigned i, struct err_at *reterr)
{
	struct listener *l = &t->listener[i];
	const struct addr *a = &t->w->listen[i];
	char text[ADDR_TEXT_MAX];
	struct addr bound;
	int err;

	l->owner = t;
	err = stream_listen(a, &l->fd, &bound);
	if (err)
		return err_why(reterr, err, "cannot listen on %s over TCP: %s", addr_text(a, text, sizeof(text)),
			       strerror(-err));
	return 0;
}

int server_tcp_open(struct worker *w, struct server_tcp **ret, struct err_at *reterr)
{
	struct server_tcp *t = calloc(1, sizeof(*t));
	int err = -ENOMEM;
	unsigned i;

	if (t)
		t->listener = calloc(w->opts.listens, sizeof(*t->listener));
	if (!t || !t->listener) {
		err_why(reterr, err, "no memory for the TCP sockets");
		goto out;
	}
	t->w = w;
	TAILQ_INIT(&t->conns);
	for (i = 0; i < w->opts.listens; i++) {
		err = open_listener(t, i, reterr);
		if (err)
			goto out;
		t->listeners++;
	}
	err = 0;
	*ret = t;
	t = NULL;
out:
	server_tcp_free(t);
	return err;
}

int server_tcp_start(struct server_tcp *t)
{
	struct listener *l;
	unsigned i;
	int err;

	err = uv_timer_init(&t->w->loop, &t->accept_wait);
	if (err)
		return err;
	t->timer_made = true;
	t->accept_wait.data = t;
	for (i = 0; i < t->listeners && !err; i++) {
		l = &t->listener[i];
		err = uv_poll_init(&t->w->loop, &l->poll, l->fd);
		if (err)
			break;
		l->polled = true;
		l->poll.data = l;
		err = uv_poll_start(&l->poll, UV_READABLE, on_acceptable);
	}
	return err;
}

/* Close the listening sockets, so that new clients go to who serves after us. */
static void close_listeners(struct server_tcp *t)
{
	struct listener *l;
	unsigned i;

	for (i = 0; i < t->listeners; i++) {
		l = &t->listener[i];
		if (l->polled)
			uv_close((uv_handle_t *)&l->poll, NULL);
		l->polled = false;
		if (l->fd >= 0)
			close(l->fd);
		l->fd = -1;
	}
	if (t->timer_made)
		uv_close((uv_handle_t *)&t->accept_wait, NULL);
	t->timer_made = false;
}

void server_tcp_quiet(struct server_tcp *t)
{
	struct conn *c, *next;

	t->quiet = true;
	close_listeners(t);
	for (c = TAILQ_FIRST(&t->conns); c; c = next) {
		next = TAILQ_NEXT(c, place);
		stream_pause(&c->s);
		if (conn_is_over(c))
			conn_close(c);
	}
}

unsigned server_tcp_waiting(const struct server_tcp *t)
{
	return t->count;
}

void server_tcp_stop(struct server_tcp *t)
{
	struct conn *c;

	t->quiet = true;
	close_listeners(t);
	while ((c = TAILQ_FIRST(&t->conns)))
		conn_close(c);
}

void server_tcp_free(struct server_tcp *t)
{
	unsigned i;

	if (!t)
		return;
	for (i = 0; i < t->listeners; i++)
		if (t->listener[i].fd >= 0)
			close(t->listener[i].fd);
	free(t->listener);
	free(t);
}
