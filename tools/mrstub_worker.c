/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub_worker.c - one thread of the stub: its sockets, its connections, its waiting answers.
 *
 * A worker has sockets of its own on the common port (SO_REUSEPORT) and shares
 * only the rules and the files with the others.  It never sleeps: an answer
 * with delay= waits in the heap for the timer.  What it keeps is bounded:
 * DELAYED_MAX answers, CONNS_MAX connections, CONN_OUT octets for each.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tools/mrstub.h"

#define BATCH       64
#define ROUNDS      16		/* batches of one socket before the others have a turn */
#define CONNS_MAX   4096	/* per worker */
#define CONN_OUT    (1 << 20)	/* octets waiting for a client, over which its queries wait too */
#define DELAYED_MAX (1 << 18)	/* per worker */
#define IN_SIZE     2048	/* a query over UDP */
#define CONTROL     64		/* room for an in6_pktinfo */
#define FRAME       2

/* One writer each, so no locked addition. */
#define COUNT(w, what) \
	atomic_store_explicit(&(w)->count.what, \
			      atomic_load_explicit(&(w)->count.what, memory_order_relaxed) + 1, memory_order_relaxed)

struct port {
	int udp, tcp, spoof;	/* spoof: same address, another port */
};

/* Whom an answer is for: a datagram's sender, or a connection. */
struct peer {
	uint32_t port;
	int32_t conn;			/* -1: UDP */
	uint32_t generation;		/* of the connection */
	uint32_t address_len, control_len;
	union stub_address address;
	uint8_t control[CONTROL] __attribute__((aligned(8)));	/* the source address for the answer, on wildcard sockets */
};

struct conn {
	int fd;				/* -1: free */
	uint32_t generation, port, events, delayed;
	union stub_address address;
	uint8_t *in, *out;
	size_t in_len, in_cap, out_at, out_len, out_cap;
	bool eof, dead;
};

/* `timed` stays first: the heap knows nothing else. */
struct delayed {
	struct stub_timed timed;
	struct peer peer;
	bool spoof;
	size_t len;
	uint8_t msg[];
};

struct stub_worker {
	pthread_t thread;
	int epoll, timer, stop;
	uint64_t random;
	struct stub_counters count;
	struct port port[STUB_PORTS_MAX];
	struct conn conn[CONNS_MAX];
	struct stub_heap heap;

	struct mmsghdr in[BATCH], out[BATCH];
	struct iovec in_iov[BATCH], out_iov[BATCH];
	struct peer in_peer[BATCH], out_peer[BATCH];
	uint8_t in_buf[BATCH][IN_SIZE], out_buf[BATCH][STUB_UDP_MAX];
	uint32_t out_len;
	uint8_t big[FRAME + STUB_MSG_MAX];
};

enum event { EVENT_UDP, EVENT_LISTEN, EVENT_CONN, EVENT_TIMER, EVENT_STOP };

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* xorshift64*; the same seed gives the same losses in the same worker. */
static uint32_t random_next(struct stub_worker *w)
{
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return (w->random * 2685821657736338717ull) >> 32;
}

static uint16_t address_port(const union stub_address *a)
{
	return ntohs(a->sa.sa_family == AF_INET ? a->v4.sin_port : a->v6.sin6_port);
}

static void log_query(const struct stub_query *q, const struct peer *peer)
{
	char name[1024], type[16], address[INET6_ADDRSTRLEN] = "?";
	const union stub_address *a = &peer->address;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	stub_query_text(q, name, type);
	inet_ntop(a->sa.sa_family, a->sa.sa_family == AF_INET ? (void *)&a->v4.sin_addr : (void *)&a->v6.sin6_addr,
		  address, sizeof(address));
	fprintf(stub.log, "%lld.%06ld %s %u %u %s %s %s%s%s%s%s\n", (long long)t.tv_sec, t.tv_nsec / 1000,
		q->tcp ? "tcp" : "udp", address_port(a), q->id, name, type, address, q->flags & 0x0100 ? " rd" : "",
		q->flags & 0x0010 ? " cd" : "", q->edns ? " edns" : "", q->dnssec_ok ? " do" : "");
}

/* ---- sending -------------------------------------------------------------- */

/* Send what is gathered; a datagram that is refused is counted and left out.  (Blocking: a full send buffer empties
 * by itself, and a stub that lost answers of its own accord would be no use.) */
static void udp_flush(struct stub_worker *w, int fd)
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

/* Send the datagram that lies in the next place of the batch. */
static void udp_send(struct stub_worker *w, const struct peer *peer, size_t len, bool spoof)
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
		udp_flush(w, port->udp);
		if (sendmsg(port->spoof, &w->out[i].msg_hdr, 0) < 0)
			COUNT(w, send_failed);
		/* The datagram may have been in another place than the first: that one is free again, too. */
		return;
	}
	if (++w->out_len == BATCH)
		udp_flush(w, port->udp);
}

static void conn_close(struct stub_worker *w, struct conn *c)
{
	close(c->fd);
	free(c->in);
	free(c->out);
	*c = (struct conn){ .fd = -1, .generation = c->generation + 1 };
}

static void conn_watch(struct stub_worker *w, struct conn *c)
{
	size_t waiting = c->out_len - c->out_at;
	uint32_t want = (c->eof || waiting > CONN_OUT ? 0 : EPOLLIN) | (waiting ? EPOLLOUT : 0);
	struct epoll_event e = { .events = want, .data.u64 = (uint64_t)EVENT_CONN << 32 | (uint32_t)(c - w->conn) };

	if (want != c->events && !epoll_ctl(w->epoll, EPOLL_CTL_MOD, c->fd, &e))
		c->events = want;
}

static void conn_flush(struct conn *c)
{
	ssize_t n;

	while (c->out_at < c->out_len) {
		n = send(c->fd, c->out + c->out_at, c->out_len - c->out_at, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			c->dead |= errno != EAGAIN;
			return;
		}
		c->out_at += n;
	}
	c->out_at = c->out_len = 0;
}

static int grow(uint8_t **buf, size_t *cap, size_t need)
{
	size_t size = *cap ? *cap : 4096;
	uint8_t *p;

	if (need <= *cap)
		return 0;
	while (size < need)
		size *= 2;
	p = realloc(*buf, size);
	if (!p)
		return -ENOMEM;
	*buf = p;
	*cap = size;
	return 0;
}

/* Queue one framed message; the caller flushes. */
static void conn_send(struct stub_worker *w, struct conn *c, const uint8_t *msg, size_t len)
{
	uint8_t frame[FRAME] = { len >> 8, len };

	if (grow(&c->out, &c->out_cap, c->out_len + FRAME + len)) {
		COUNT(w, send_failed);
		c->dead = true;
		return;
	}
	memcpy(c->out + c->out_len, frame, FRAME);
	memcpy(c->out + c->out_len + FRAME, msg, len);
	c->out_len += FRAME + len;
}

/* ---- waiting answers ------------------------------------------------------- */

static void timer_set(struct stub_worker *w)
{
	uint64_t due = w->heap.len ? w->heap.item[0]->due_ns : 0;
	struct itimerspec t = { .it_value = { due / 1000000000, due % 1000000000 } };

	timerfd_settime(w->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

static void delay(struct stub_worker *w, const struct peer *peer, const uint8_t *msg, size_t len, uint32_t ms, bool spoof)
{
	struct delayed *d = w->heap.len < DELAYED_MAX ? malloc(sizeof(*d) + len) : NULL;

	if (!d)
		goto out;
	d->timed.due_ns = now_ns() + ms * 1000000ull;
	d->peer = *peer;
	d->spoof = spoof;
	d->len = len;
	memcpy(d->msg, msg, len);
	if (stub_heap_push(&w->heap, &d->timed))
		goto out;
	COUNT(w, delayed);
	if (peer->conn >= 0)
		w->conn[peer->conn].delayed++;
	if (w->heap.item[0] == &d->timed)
		timer_set(w);
	return;
out:
	COUNT(w, delay_full);
	free(d);
}

static void conn_go_on(struct stub_worker *w, struct conn *c);

static void delayed_send(struct stub_worker *w, struct delayed *d)
{
	struct conn *c = d->peer.conn < 0 ? NULL : &w->conn[d->peer.conn];

	if (!c) {
		memcpy(w->out_buf[w->out_len], d->msg, d->len);
		udp_send(w, &d->peer, d->len, d->spoof);
	} else if (c->fd >= 0 && c->generation == d->peer.generation) {
		c->delayed--;
		conn_send(w, c, d->msg, d->len);
		conn_go_on(w, c);
	}
}

static void on_timer(struct stub_worker *w)
{
	uint64_t expirations, now = now_ns();
	struct delayed *d;
	uint32_t port = 0;

	if (read(w->timer, &expirations, sizeof(expirations)) < 0 && errno != EAGAIN)
		return;
	while (w->heap.len && w->heap.item[0]->due_ns <= now) {
		d = (struct delayed *)stub_heap_pop(&w->heap);
		if (d->peer.port != port)
			udp_flush(w, w->port[port].udp);
		port = d->peer.port;
		delayed_send(w, d);
		free(d);
	}
	udp_flush(w, w->port[port].udp);
	timer_set(w);
}

/* ---- serving --------------------------------------------------------------- */

static void answer(struct stub_worker *w, const struct peer *peer, const struct stub_rule *rule,
		   const struct stub_query *q, uint32_t wrong)
{
	uint8_t *buf = q->tcp ? w->big : w->out_buf[w->out_len];
	bool spoof = !q->tcp && wrong & STUB_WRONG_SOURCE;
	size_t len = stub_answer(rule, q, wrong, buf);

	COUNT(w, answers);
	if (buf[2] & 0x02)
		COUNT(w, truncated);
	if (wrong)
		COUNT(w, wrong);
	if (rule->delay_ms)
		delay(w, peer, buf, len, rule->delay_ms, spoof);
	else if (q->tcp)
		conn_send(w, &w->conn[peer->conn], buf, len);
	else
		udp_send(w, peer, len, spoof);
}

/* One query, from wherever it came. */
static void serve(struct stub_worker *w, const struct peer *peer, const uint8_t *msg, size_t len)
{
	bool tcp = peer->conn >= 0;
	struct stub_query q;
	struct stub_rule *rule;
	uint32_t wrong;

	if (tcp)
		COUNT(w, tcp);
	else
		COUNT(w, udp);
	if (stub_query_parse(msg, len, tcp, &q)) {
		COUNT(w, ignored);
		return;
	}
	if (q.rcode)
		COUNT(w, malformed);
	if (stub.log)
		log_query(&q, peer);
	rule = q.rcode ? stub.rules.fallback : stub_rules_find(&stub.rules, &q);
	if (rule->flags & STUB_DROP || (rule->flags & STUB_CLOSE && tcp)) {
		COUNT(w, dropped);
		if (rule->flags & STUB_CLOSE && tcp)
			w->conn[peer->conn].dead = true;
		return;
	}
	if (!tcp && rule->loss_percent && random_next(w) % 100 < rule->loss_percent) {
		COUNT(w, lost);
		return;
	}
	wrong = rule->flags & (STUB_WRONG_ID | STUB_WRONG_QUESTION | STUB_WRONG_SOURCE);
	answer(w, peer, rule, &q, wrong);
	if (wrong && rule->flags & STUB_ALSO_RIGHT)
		answer(w, peer, rule, &q, 0);
}

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
			serve(w, peer, w->in_buf[i], w->in[i].msg_len);
		}
		udp_flush(w, w->port[port].udp);
		if (n < BATCH)
			return;
	}
}

static void on_listen(struct stub_worker *w, uint32_t port)
{
	int fd = accept4(w->port[port].tcp, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), one = 1, i;
	struct epoll_event e = { .events = EPOLLIN };
	socklen_t len = sizeof(union stub_address);
	struct conn *c;

	if (fd < 0)
		return;
	for (i = 0; i < CONNS_MAX && w->conn[i].fd >= 0; i++)
		;
	c = &w->conn[i];
	e.data.u64 = (uint64_t)EVENT_CONN << 32 | i;
	if (i == CONNS_MAX || epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e)) {
		COUNT(w, tcp_refused);
		close(fd);
		return;
	}
	COUNT(w, connections);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	*c = (struct conn){ .fd = fd, .generation = c->generation, .port = port, .events = EPOLLIN };
	getpeername(fd, &c->address.sa, &len);
}

/* Serve the whole queries that have arrived, while the client takes the answers; false when there was none. */
static bool conn_serve(struct stub_worker *w, struct conn *c)
{
	struct peer peer = { .port = c->port, .conn = c - w->conn, .generation = c->generation, .address = c->address };
	size_t at = 0, len;

	while (!c->dead && c->in_len - at >= FRAME && c->out_len - c->out_at <= CONN_OUT) {
		len = c->in[at] << 8 | c->in[at + 1];
		if (c->in_len - at < FRAME + len)
			break;
		serve(w, &peer, c->in + at + FRAME, len);
		at += FRAME + len;
	}
	if (at)
		memmove(c->in, c->in + at, c->in_len - at);
	c->in_len -= at;
	return at;
}

/* Do all that can be done for a connection now; it may be closed then. */
static void conn_go_on(struct stub_worker *w, struct conn *c)
{
	do
		conn_flush(c);
	while (conn_serve(w, c));
	if (c->dead || (c->eof && c->out_at == c->out_len && !c->delayed))
		conn_close(w, c);
	else
		conn_watch(w, c);
}

static void on_conn(struct stub_worker *w, struct conn *c, uint32_t events)
{
	ssize_t n = -1;

	if (c->fd < 0)
		return;
	c->dead |= !!(events & EPOLLERR);
	if (events & (EPOLLIN | EPOLLHUP) && !c->eof) {
		if (grow(&c->in, &c->in_cap, c->in_len + 4096))
			c->dead = true;
		else
			n = recv(c->fd, c->in + c->in_len, c->in_cap - c->in_len, MSG_DONTWAIT);
		c->eof = n == 0;
		c->dead |= n < 0 && errno != EAGAIN && errno != EINTR;
		c->in_len += n > 0 ? n : 0;
	}
	conn_go_on(w, c);
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

			switch ((enum event)(e[i].data.u64 >> 32)) {
			case EVENT_UDP:
				on_udp(w, index);
				break;
			case EVENT_LISTEN:
				on_listen(w, index);
				break;
			case EVENT_CONN:
				on_conn(w, &w->conn[index], e[i].events);
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
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = (uint64_t)kind << 32 | index };

	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static int port_open(struct stub_worker *w, uint32_t i)
{
	const union stub_address *a = &stub.listen[i];
	struct port *p = &w->port[i];
	int err;

	p->udp = stub_socket_open(a, SOCK_DGRAM, false, true);
	p->spoof = stub_socket_open(a, SOCK_DGRAM, true, false);
	p->tcp = stub_socket_open(a, SOCK_STREAM | SOCK_NONBLOCK, false, true);
	if (p->udp < 0 || p->spoof < 0 || p->tcp < 0)
		return p->udp < 0 ? p->udp : p->spoof < 0 ? p->spoof : p->tcp;
	err = watch(w, p->udp, EVENT_UDP, i);
	return err ? err : watch(w, p->tcp, EVENT_LISTEN, i);
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
	uint32_t i;

	if (!w)
		return;
	for (i = 0; i < CONNS_MAX; i++)
		if (w->conn[i].fd >= 0)
			conn_close(w, &w->conn[i]);
	while (w->heap.len)
		free(stub_heap_pop(&w->heap));
	free(w->heap.item);
	for (i = 0; i < STUB_PORTS_MAX; i++) {
		close(w->port[i].udp);
		close(w->port[i].spoof);
		close(w->port[i].tcp);
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
		w->port[i] = (struct port){ -1, -1, -1 };
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
