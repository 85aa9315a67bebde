/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub_worker.c - one thread of the stub: its sockets, its datagrams, what waits for its time.
 *
 * A worker has sockets of its own on the common port (SO_REUSEPORT) and shares
 * only the rules and the files with the others.  It never sleeps: an answer
 * with delay= waits in the heap for the timer.  What it keeps is bounded:
 * DELAYED_MAX answers, CONNS_MAX connections, CONN_OUT octets for each.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tools/mrstub_worker.h"

#define ROUNDS 16		/* batches of one socket before the others have a turn */

uint64_t stub_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* xorshift64*; the same seed gives the same losses in the same worker. */
uint32_t stub_random(struct stub_worker *w)
{
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return (w->random * 2685821657736338717ull) >> 32;
}

/* ---- sending -------------------------------------------------------------- */

/* A datagram that is refused is counted and left out.  (A stub that lost answers of its own accord would be no use.) */
void stub_udp_flush(struct stub_worker *w, int fd)
{
	uint32_t at = 0;
	int n;

	while (at < w->out_len) {
		n = sendmmsg(fd, w->out + at, w->out_len - at, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			COUNT(w, send_failed);
		at += n > 0 ? n : 1;
	}
	w->out_len = 0;
}

void stub_udp_send(struct stub_worker *w, const struct peer *peer, size_t len, bool spoof)
{
	struct port *port = &w->port[peer->port];
	uint32_t i = w->out_len;
	struct peer *to = &w->out_peer[i];

	memcpy(&to->address, &peer->address, peer->address_len);
	memcpy(to->control, peer->control, peer->control_len);
	w->out_iov[i].iov_len = len;
	w->out[i].msg_hdr.msg_namelen = peer->address_len;
	w->out[i].msg_hdr.msg_controllen = peer->control_len;
	if (spoof) {
		stub_udp_flush(w, port->udp);
		if (sendmsg(port->spoof, &w->out[i].msg_hdr, 0) < 0)
			COUNT(w, send_failed);
		/* The datagram may have been in another place than the first: that one is free again, too. */
		return;
	}
	if (++w->out_len == BATCH)
		stub_udp_flush(w, port->udp);
}

/* ---- waiting answers ------------------------------------------------------- */

static void timer_set(struct stub_worker *w)
{
	uint64_t due = w->heap.len ? w->heap.item[0]->due_ns : 0;
	struct itimerspec t = { .it_value = { due / 1000000000, due % 1000000000 } };

	timerfd_settime(w->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

void stub_later(struct stub_worker *w, enum alarm alarm, const struct peer *peer, const uint8_t *msg, size_t len,
		uint32_t ms, bool spoof, bool hang_up)
{
	struct delayed *d = w->heap.len < DELAYED_MAX ? malloc(sizeof(*d) + len) : NULL;

	if (!d)
		goto out;
	d->timed.due_ns = stub_now_ns() + ms * 1000000ull;
	d->alarm = alarm;
	d->peer = *peer;
	d->spoof = spoof;
	d->hang_up = hang_up;
	d->len = len;
	if (len)
		memcpy(d->msg, msg, len);
	if (stub_heap_push(&w->heap, &d->timed))
		goto out;
	if (alarm == ALARM_ANSWER)
		COUNT(w, delayed);
	if (alarm == ALARM_ANSWER && peer->conn >= 0)
		w->conn[peer->conn].delayed++;
	if (w->heap.item[0] == &d->timed)
		timer_set(w);
	return;
out:
	COUNT(w, delay_full);
	free(d);
}

static void on_timer(struct stub_worker *w)
{
	uint64_t expirations, now = stub_now_ns();
	struct delayed *d;
	uint32_t port = 0;

	if (read(w->timer, &expirations, sizeof(expirations)) < 0 && errno != EAGAIN)
		return;
	while (w->heap.len && w->heap.item[0]->due_ns <= now) {
		d = (struct delayed *)stub_heap_pop(&w->heap);
		if (d->peer.port != port)
			stub_udp_flush(w, w->port[port].udp);
		port = d->peer.port;
		if (d->peer.conn >= 0) {
			stub_conn_alarm(w, d);
		} else {
			memcpy(w->out_buf[w->out_len], d->msg, d->len);
			stub_udp_send(w, &d->peer, d->len, d->spoof);
		}
		free(d);
	}
	stub_udp_flush(w, w->port[port].udp);
	timer_set(w);
}

/* ---- the loop --------------------------------------------------------------- */

static void on_udp(struct stub_worker *w, uint32_t port)
{
	int rounds, n, i;

	for (rounds = 0; rounds < ROUNDS; rounds++) {
		for (i = 0; i < BATCH; i++) {
			w->in[i].msg_hdr.msg_namelen = sizeof(union stub_address);
			w->in[i].msg_hdr.msg_controllen = CONTROL;
		}
		n = recvmmsg(w->port[port].udp, w->in, BATCH, MSG_DONTWAIT, NULL);
		for (i = 0; i < n; i++) {
			struct msghdr *h = &w->in[i].msg_hdr;
			struct peer *peer = &w->in_peer[i];

			peer->port = port;
			peer->address_len = h->msg_namelen;
			peer->control_len = h->msg_controllen;
			stub_serve(w, peer, w->in_buf[i], w->in[i].msg_len);
		}
		stub_udp_flush(w, w->port[port].udp);
		if (n < BATCH)
			return;
	}
}

static void *worker_run(void *arg)
{
	struct epoll_event e[64];
	struct stub_worker *w = arg;
	int n, i;

	for (;;) {
		n = epoll_wait(w->epoll, e, 64, -1);
		for (i = 0; i < n; i++) {
			uint32_t index = e[i].data.u64;

			enum event kind = e[i].data.u64 >> 56;
			struct conn *c = kind == EVENT_CONN ? &w->conn[index] : NULL;

			switch (kind) {
			case EVENT_UDP:
				on_udp(w, index);
				break;
			case EVENT_TCP:
			case EVENT_TLS:
			case EVENT_HTTPS:
				stub_conn_accept(w, index, (enum stub_carrier)kind);
				break;
			case EVENT_CONN:
				if (c->fd >= 0 && e[i].data.u64 == stub_event(kind, index, c->generation))
					stub_conn_event(w, c, e[i].events);
				break;
			case EVENT_TIMER:
				on_timer(w);
				break;
			case EVENT_STOP:
				return NULL;
			}
		}
	}
}

/* ---- start and end --------------------------------------------------------- */

static int watch(struct stub_worker *w, int fd, enum event kind, uint32_t index)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = stub_event(kind, index, 0) };

	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/* Open what is served at an address; the carriers that are not keep -1. */
static int port_open(struct stub_worker *w, uint32_t i)
{
	const uint32_t ports[] = { 0, stub.port, stub.tls_port, stub.https_port };
	const union stub_address *a = &stub.listen[i];
	struct port *p = &w->port[i];
	union stub_address at;
	uint32_t c;
	int err;

	p->udp = stub_socket_open(a, SOCK_DGRAM, false, true);
	p->spoof = stub_socket_open(a, SOCK_DGRAM, true, false);
	if (p->udp < 0 || p->spoof < 0)
		return p->udp < 0 ? p->udp : p->spoof;
	err = watch(w, p->udp, EVENT_UDP, i);
	for (c = CARRIER_TCP; !err && c <= CARRIER_HTTPS; c++) {
		if (!ports[c])
			continue;
		at = stub_address_at(a, ports[c]);
		p->stream[c] = stub_socket_open(&at, SOCK_STREAM | SOCK_NONBLOCK, false, true);
		err = p->stream[c] < 0 ? p->stream[c] : watch(w, p->stream[c], (enum event)c, i);
	}
	return err;
}

static void batch_init(struct stub_worker *w)
{
	int i;

	for (i = 0; i < BATCH; i++) {
		w->in_iov[i] = (struct iovec){ w->in_buf[i], IN_SIZE };
		w->out_iov[i] = (struct iovec){ w->out_buf[i], 0 };
		w->in_peer[i].conn = -1;
		w->in[i].msg_hdr = (struct msghdr){ .msg_iov = &w->in_iov[i], .msg_iovlen = 1,
			.msg_name = &w->in_peer[i].address, .msg_control = w->in_peer[i].control };
		w->out[i].msg_hdr = (struct msghdr){ .msg_iov = &w->out_iov[i], .msg_iovlen = 1,
			.msg_name = &w->out_peer[i].address, .msg_control = w->out_peer[i].control };
	}
}

void stub_worker_free(struct stub_worker *w)
{
	uint32_t i, c;

	if (!w)
		return;
	for (i = 0; i < CONNS_MAX; i++)
		if (w->conn[i].fd >= 0)
			stub_conn_close(w, &w->conn[i]);
	while (w->heap.len)
		free(stub_heap_pop(&w->heap));
	free(w->heap.item);
	for (i = 0; i < STUB_PORTS_MAX; i++) {
		close(w->port[i].udp);
		close(w->port[i].spoof);
		for (c = CARRIER_TCP; c <= CARRIER_HTTPS; c++)
			close(w->port[i].stream[c]);
	}
	close(w->timer);
	close(w->stop);
	close(w->epoll);
	free(w);
}

int stub_worker_new(uint32_t index, struct stub_worker **ret)
{
	struct stub_worker *w = calloc(1, sizeof(*w));
	char text[INET6_ADDRSTRLEN];
	uint32_t i;
	int err;

	if (!w)
		return -ENOMEM;
	for (i = 0; i < CONNS_MAX; i++)
		w->conn[i].fd = -1;
	for (i = 0; i < STUB_PORTS_MAX; i++)
		w->port[i] = (struct port){ -1, -1, { -1, -1, -1, -1 } };
	batch_init(w);
	w->random = ((uint64_t)stub.seed << 32 | index) * 0x9e3779b97f4a7c15u + 1;
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	w->stop = eventfd(0, EFD_CLOEXEC);
	err = w->epoll < 0 || w->timer < 0 || w->stop < 0 ? -errno : 0;
	err = err ? err : watch(w, w->timer, EVENT_TIMER, 0);
	err = err ? err : watch(w, w->stop, EVENT_STOP, 0);
	for (i = 0; !err && i < stub.listen_count; i++) {
		const union stub_address *a = &stub.listen[i];

		err = index ? 0 : stub_port_is_free(a);
		err = err ? err : port_open(w, i);
		if (err)
			fprintf(stderr, "mrstub: cannot listen on %s port %u: %s\n",
				inet_ntop(a->sa.sa_family, a->sa.sa_family == AF_INET ? (void *)&a->v4.sin_addr :
					  (void *)&a->v6.sin6_addr, text, sizeof(text)), stub.port, strerror(-err));
	}
	if (err)
		stub_worker_free(w);
	else
		*ret = w;
	return err;
}

int stub_worker_start(struct stub_worker *w)
{
	return -pthread_create(&w->thread, NULL, worker_run, w);
}

void stub_worker_stop(struct stub_worker *w)
{
	uint64_t one = 1;

	/* The only writer of an eventfd: this cannot fail, and if it did the join would show it. */
	if (write(w->stop, &one, sizeof(one)) == sizeof(one))
		pthread_join(w->thread, NULL);
}

const struct stub_counters *stub_worker_counters(const struct stub_worker *w)
{
	return &w->count;
}
