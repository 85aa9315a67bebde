/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub_conn.c - the stub's connections: TCP, TLS and HTTPS, from accept to close.
 *
 * Octets come from the socket, through TLS where there is some, into `in`; from
 * there as framed messages or as HTTP/2 to the queries.  Answers take the way
 * back into `out`.  While CONN_OUT octets wait for a client, nothing is read
 * from it.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "tools/mrstub_worker.h"

#define FRAME 2
#define CHUNK 16384

int stub_buf_put(struct stub_buf *b, const uint8_t *p, size_t len)
{
	size_t size = b->cap ? b->cap : 4096;
	uint8_t *larger;

	if (b->at == b->len)
		b->at = b->len = 0;
	if (b->len + len > b->cap) {
		while (size < b->len + len)
			size *= 2;
		larger = realloc(b->p, size);
		if (!larger)
			return -ENOMEM;
		b->p = larger;
		b->cap = size;
	}
	memcpy(b->p + b->len, p, len);
	b->len += len;
	return 0;
}

static struct peer peer_of(struct stub_worker *w, struct conn *c)
{
	return (struct peer){ .carrier = c->carrier, .port = c->port, .conn = c - w->conn, .generation = c->generation,
			      .address = c->address };
}

/* ---- to the client --------------------------------------------------------- */

static void conn_flush(struct conn *c)
{
	ssize_t n;

	if (c->tls && stub_tls_out(c->tls, &c->out))
		c->dead = true;
	while (c->out.at < c->out.len) {
		n = send(c->fd, c->out.p + c->out.at, c->out.len - c->out.at, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			c->dead |= errno != EAGAIN;
			return;
		}
		c->out.at += n;
	}
}

void stub_conn_put(struct stub_worker *w, struct conn *c, const uint8_t *p, size_t len)
{
	int err = c->tls ? stub_tls_put(c->tls, p, len) : stub_buf_put(&c->out, p, len);

	if (err) {
		COUNT(w, send_failed);
		c->dead = true;
	}
}

void stub_conn_answer(struct stub_worker *w, struct conn *c, int32_t stream, const uint8_t *msg, size_t len,
		      bool hang_up)
{
	uint8_t frame[FRAME] = { len >> 8, len };

	c->used_ns = stub_now_ns();
	if (c->http) {
		stub_http_answer(c->http, stream, 200, msg, len);
		if (hang_up)
			stub_http_goaway(c->http, stream, true);
	} else if (!c->last) {
		stub_conn_put(w, c, frame, FRAME);
		stub_conn_put(w, c, msg, len);
		c->last = hang_up;
	}
	if (hang_up)
		COUNT(w, hung_up);
}

/* ---- from the client ------------------------------------------------------- */

/* Octets of the wire into `in`, in plain. */
static void conn_take(struct stub_worker *w, struct conn *c, const uint8_t *p, size_t len)
{
	bool resumed;

	c->used_ns = stub_now_ns();
	if (!c->tls) {
		c->dead |= stub_buf_put(&c->in, p, len) != 0;
		return;
	}
	if (stub_tls_in(c->tls, p, len, &c->in, &c->eof)) {
		COUNT(w, tls_failed);
		/* The alert still goes out. */
		c->last = true;
	}
	if (stub_tls_greeted(c->tls, &resumed)) {
		COUNT(w, handshakes);
		if (resumed)
			COUNT(w, resumed);
		if (c->carrier == CARRIER_HTTPS)
			c->http = stub_http_new(w, c);
		c->dead |= c->carrier == CARRIER_HTTPS && !c->http;
	}
}

/* Serve the whole queries that have arrived, while the client takes the answers; false when there was none. */
static bool serve_frames(struct stub_worker *w, struct conn *c)
{
	struct peer peer = peer_of(w, c);
	struct stub_buf *in = &c->in;
	size_t start = in->at, len;

	while (!c->dead && !c->last && in->len - in->at >= FRAME && c->out.len - c->out.at <= CONN_OUT) {
		len = in->p[in->at] << 8 | in->p[in->at + 1];
		if (in->len - in->at < FRAME + len)
			break;
		stub_serve(w, &peer, in->p + in->at + FRAME, len);
		in->at += FRAME + len;
	}
	len = in->at - start;
	if (len && in->at < in->len) {
		memmove(in->p, in->p + in->at, in->len - in->at);
		in->len -= in->at;
		in->at = 0;
	}
	return len;
}

static bool serve_http(struct stub_worker *w, struct conn *c)
{
	size_t len = c->in.len - c->in.at;

	if (c->out.len - c->out.at > CONN_OUT)
		return false;
	if (len && stub_http_in(c->http, c->in.p + c->in.at, len)) {
		COUNT(w, http_failed);
		c->last = true;
	}
	c->in.at = c->in.len;
	if (!stub_http_out(c->http))
		c->last = true;
	return len;
}

/* ---- its life -------------------------------------------------------------- */

void stub_conn_close(struct stub_worker *w, struct conn *c)
{
	close(c->fd);
	free(c->in.p);
	free(c->out.p);
	stub_http_free(c->http);
	stub_tls_free(c->tls);
	*c = (struct conn){ .fd = -1, .generation = c->generation + 1 };
}

static void conn_watch(struct stub_worker *w, struct conn *c)
{
	size_t waiting = c->out.len - c->out.at;
	uint32_t want = (c->eof || c->held || waiting > CONN_OUT ? 0 : EPOLLIN) | (waiting ? EPOLLOUT : 0);
	struct epoll_event e = { .events = want, .data.u64 = stub_event(EVENT_CONN, c - w->conn, c->generation) };

	if (want != c->events && !epoll_ctl(w->epoll, EPOLL_CTL_MOD, c->fd, &e))
		c->events = want;
}

void stub_conn_go_on(struct stub_worker *w, struct conn *c)
{
	bool more;

	do {
		more = c->http ? serve_http(w, c) : serve_frames(w, c);
		if (c->last && c->tls)
			stub_tls_end(c->tls);
		conn_flush(c);
	} while (more && !c->dead);
	if (c->dead || (c->out.at == c->out.len && (c->last || (c->eof && !c->delayed))))
		stub_conn_close(w, c);
	else
		conn_watch(w, c);
}

void stub_conn_event(struct stub_worker *w, struct conn *c, uint32_t events)
{
	uint8_t chunk[CHUNK];
	ssize_t n;

	c->dead |= !!(events & EPOLLERR) || (c->held && events & EPOLLHUP);
	if (events & (EPOLLIN | EPOLLHUP) && !c->eof && !c->held) {
		n = recv(c->fd, chunk, sizeof(chunk), MSG_DONTWAIT);
		c->eof = n == 0;
		c->dead |= n < 0 && errno != EAGAIN && errno != EINTR;
		if (n > 0)
			conn_take(w, c, chunk, n);
	}
	stub_conn_go_on(w, c);
}

/* Look again when the connection may have been idle for long enough. */
static void watch_idle(struct stub_worker *w, struct conn *c)
{
	uint64_t idle_ms = c->held ? 0 : (stub_now_ns() - c->used_ns) / 1000000;
	struct peer peer = peer_of(w, c);

	if (idle_ms < stub.idle_ms) {
		stub_later(w, ALARM_IDLE, &peer, NULL, 0, stub.idle_ms - idle_ms, false, false);
		return;
	}
	COUNT(w, idle_closed);
	c->last = true;
	stub_conn_go_on(w, c);
}

void stub_conn_alarm(struct stub_worker *w, const struct delayed *d)
{
	struct conn *c = &w->conn[d->peer.conn];

	if (c->fd < 0 || c->generation != d->peer.generation)
		return;
	switch (d->alarm) {
	case ALARM_ANSWER:
		c->delayed--;
		stub_conn_answer(w, c, d->peer.stream, d->msg, d->len, d->hang_up);
		stub_conn_go_on(w, c);
		break;
	case ALARM_HANDSHAKE:
		c->held = false;
		c->used_ns = stub_now_ns();
		conn_watch(w, c);
		break;
	case ALARM_IDLE:
		watch_idle(w, c);
		break;
	}
}

/* Give a new connection TLS and its alarms (HTTP begins when the handshake is done); 0 or -ENOMEM. */
static int conn_dress(struct stub_worker *w, struct conn *c)
{
	struct peer peer = peer_of(w, c);

	if (c->carrier >= CARRIER_TLS) {
		c->tls = stub_tls_new(c->carrier == CARRIER_HTTPS);
		if (!c->tls)
			return -ENOMEM;
		c->held = stub.handshake_ms;
		if (c->held)
			stub_later(w, ALARM_HANDSHAKE, &peer, NULL, 0, stub.handshake_ms, false, false);
	}
	if (stub.idle_ms)
		stub_later(w, ALARM_IDLE, &peer, NULL, 0, stub.idle_ms, false, false);
	return 0;
}

void stub_conn_accept(struct stub_worker *w, uint32_t port, enum stub_carrier carrier)
{
	int fd = accept4(w->port[port].stream[carrier], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), one = 1, i;
	struct epoll_event e = { .events = 0 };
	socklen_t len = sizeof(union stub_address);
	struct conn *c;

	if (fd < 0)
		return;
	for (i = 0; i < CONNS_MAX && w->conn[i].fd >= 0; i++)
		;
	c = &w->conn[i];
	e.data.u64 = i < CONNS_MAX ? stub_event(EVENT_CONN, i, c->generation) : 0;
	if (i == CONNS_MAX || epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e)) {
		COUNT(w, tcp_refused);
		close(fd);
		return;
	}
	*c = (struct conn){ .fd = fd, .carrier = carrier, .generation = c->generation, .port = port,
			    .used_ns = stub_now_ns() };
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	getpeername(fd, &c->address.sa, &len);
	if (conn_dress(w, c)) {
		COUNT(w, tcp_refused);
		stub_conn_close(w, c);
		return;
	}
	COUNT(w, connections);
	conn_watch(w, c);
}
