/* SPDX-License-Identifier: BSD-2-Clause */
/* stub.c - an upstream server on a thread. */
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "unit/upstream/stub.h"

#define CONNS 16
#define MSG   STUB_ANSWER_MAX

struct reply {
	uint8_t data[MSG];
	size_t size;
};

struct conn {
	int fd;
	uint8_t in[8192];
	size_t len;
	unsigned queries;
	struct reply held[10];		/* STUB_TCP_REVERSE */
	unsigned helds;
};

/* ---- messages ---- */

/* Offset behind the question's name. */
static size_t name_end(const uint8_t *msg)
{
	size_t at = 12;

	while (msg[at])
		at += 1u + msg[at];
	return at + 1;
}

static void set_rcode(struct reply *r, unsigned rcode)
{
	r->data[3] = (uint8_t)((r->data[3] & 0xf0) | rcode);
	r->data[7] = 0;
	r->size = name_end(r->data) + 4;
}

static void make_bare(struct reply *r)
{
	r->data[5] = 0;
	r->size = 12;
}

static void look(struct stub *s, const uint8_t *query)
{
	size_t end = name_end(query), i;

	for (i = 12; i < end; i++) {
		s->capitals += query[i] >= 'A' && query[i] <= 'Z';
		s->letters += (query[i] | 32) >= 'a' && (query[i] | 32) <= 'z';
	}
	if (query[11] == 1 && query[end + 4 + 7] & 0x80)
		s->with_do++;
}

static void make_answer(const struct stub *s, const uint8_t *query, struct reply *r)
{
	const uint8_t record[16] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, s->tag };
	size_t question = name_end(query) + 4;

	memset(r, 0, sizeof(*r));
	memcpy(r->data, query, question);
	r->data[2] = 0x81;
	r->data[3] = 0x80;
	r->data[7] = 1;
	r->data[11] = 0;
	memcpy(r->data + question, record, sizeof(record));
	r->size = question + sizeof(record);
}

/* Bend an answer to what the mode says; true when the true answer follows. */
static bool bend(enum stub_mode mode, bool edns, struct reply *r)
{
	size_t end = name_end(r->data), i;

	switch (mode) {
	case STUB_NXDOMAIN:
		set_rcode(r, 3);
		return false;
	case STUB_SERVFAIL:
		set_rcode(r, 2);
		return false;
	case STUB_REFUSED:
		set_rcode(r, 5);
		return false;
	case STUB_BARE_SERVFAIL:
		set_rcode(r, 2);
		make_bare(r);
		return false;
	case STUB_TRUNCATE:
		set_rcode(r, 0);
		r->data[2] |= 2;
		return false;
	case STUB_FORMERR_EDNS:
	case STUB_BARE_FORMERR_EDNS:
		if (edns)
			set_rcode(r, 1);
		if (edns && mode == STUB_BARE_FORMERR_EDNS)
			make_bare(r);
		return false;
	case STUB_NOTIMP_EDNS:
		if (edns)
			set_rcode(r, 4);
		return false;
	case STUB_UPPER_CASE:
		for (i = 13; i < end; i++)
			if (r->data[i] >= 'a' && r->data[i] <= 'z')
				r->data[i] -= 32;
		return false;
	case STUB_OTHER_LETTERS:
		r->data[13] ^= 32;
		return false;
	case STUB_WRONG_ID:
	case STUB_ONLY_WRONG_ID:
		r->data[1] ^= 1;
		return mode == STUB_WRONG_ID;
	case STUB_WRONG_NAME:
		r->data[13] ^= 1;
		return true;
	case STUB_WRONG_TYPE:
		r->data[end + 1] ^= 2;
		return true;
	case STUB_WRONG_CLASS:
		r->data[end + 3] ^= 2;
		return true;
	case STUB_NOT_A_RESPONSE:
		r->data[2] &= 0x7f;
		return true;
	case STUB_SHORT:
		r->size = 11;
		return true;
	case STUB_NO_QUESTION:
		set_rcode(r, 0);
		make_bare(r);
		return true;
	default:
		return false;
	}
}

size_t stub_answer(uint8_t tag, unsigned rcode, const uint8_t *query, uint8_t ret[STUB_ANSWER_MAX])
{
	const struct stub s = { .tag = tag };
	struct reply r;

	make_answer(&s, query, &r);
	if (rcode)
		set_rcode(&r, rcode);
	memcpy(ret, r.data, r.size);
	return r.size;
}

int stub_tag(const uint8_t *msg, size_t size)
{
	size_t at;

	if (size < 12 || msg[7] != 1)
		return -1;
	at = name_end(msg) + 4 + 12;
	return size >= at + 4 && msg[at] == 192 ? msg[at + 3] : -1;
}

/* ---- UDP ---- */

static void serve_udp(struct stub *s)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	struct reply good, bad;
	enum stub_mode mode = s->mode;
	uint8_t buf[MSG];
	struct addr a;
	unsigned n;
	bool edns;

	memset(buf, 0, sizeof(buf));
	if (recvfrom(s->udp, buf, sizeof(buf), MSG_DONTWAIT, (struct sockaddr *)&from, &len) < 12)
		return;
	addr_from_sockaddr((struct sockaddr *)&from, &a);
	n = s->udp_queries;
	if (n < STUB_SEEN) {
		s->ports[n] = a.port;
		s->ids[n] = (uint16_t)(buf[0] << 8 | buf[1]);
	}
	s->udp_queries++;
	look(s, buf);
	memcpy(s->last, buf, sizeof(s->last));
	edns = buf[11] == 1;
	if (edns)
		s->with_edns++;
	if (mode == STUB_SILENT || (mode == STUB_SILENT_EDNS && edns) || (mode == STUB_SILENT_NAMES && buf[12]))
		return;
	if (s->delay_ms)
		usleep(s->delay_ms * 1000);
	make_answer(s, buf, &good);
	bad = good;
	if (mode == STUB_OTHER_PORT) {
		bad.data[bad.size - 1] = 66;
		sendto(s->other, bad.data, bad.size, 0, (struct sockaddr *)&from, len);
	} else if (bend(mode, edns, &bad)) {
		sendto(s->udp, bad.data, bad.size, 0, (struct sockaddr *)&from, len);
	} else {
		good = bad;
	}
	sendto(s->udp, good.data, good.size, 0, (struct sockaddr *)&from, len);
}

/* ---- TCP ---- */

static void send_framed(int fd, const struct reply *r)
{
	uint8_t out[2 + MSG] = { (uint8_t)(r->size >> 8), (uint8_t)r->size };

	memcpy(out + 2, r->data, r->size);
	if (send(fd, out, r->size + 2, MSG_NOSIGNAL) < 0)
		return;
}

/* Answer one query; false when the connection is to be closed. */
static bool answer_tcp(struct stub *s, struct conn *c, const uint8_t *query)
{
	struct reply r;

	s->tcp_queries++;
	c->queries++;
	look(s, query);
	make_answer(s, query, &r);
	if (s->mode >= STUB_NXDOMAIN && s->mode <= STUB_REFUSED)
		bend(s->mode, false, &r);
	switch ((enum stub_tcp)s->tcp) {
	case STUB_TCP_CLOSE:
		return false;
	case STUB_TCP_SILENT:
		return true;
	case STUB_TCP_ONE_EACH:
		if (c->queries > 1)
			return false;
		break;
	case STUB_TCP_REVERSE:
		c->held[c->helds++] = r;
		while (c->helds == 10 || (c->helds && c->queries % 10 == 0))
			send_framed(c->fd, &c->held[--c->helds]);
		return true;
	case STUB_TCP_WRONG_ID:
		r.data[0] ^= 1;
		send_framed(c->fd, &r);
		r.data[0] ^= 1;
		break;
	case STUB_TCP_SERVE:
		break;
	}
	send_framed(c->fd, &r);
	return true;
}

static void conn_end(struct stub *s, struct conn *c)
{
	close(c->fd);
	c->fd = -1;
	s->tcp_open--;
}

static void serve_conn(struct stub *s, struct conn *c)
{
	size_t size;
	ssize_t n;

	n = recv(c->fd, c->in + c->len, sizeof(c->in) - c->len, MSG_DONTWAIT);
	if (n <= 0) {
		conn_end(s, c);
		return;
	}
	c->len += (size_t)n;
	while (c->len >= 2 && c->len >= 2 + (size = (size_t)c->in[0] << 8 | c->in[1])) {
		if (!answer_tcp(s, c, c->in + 2)) {
			conn_end(s, c);
			return;
		}
		c->len -= 2 + size;
		memmove(c->in, c->in + 2 + size, c->len);
	}
}

static void serve_listener(struct stub *s, struct conn *conns)
{
	int fd = accept(s->listener, NULL, NULL), i;

	for (i = 0; fd >= 0 && i < CONNS; i++) {
		if (conns[i].fd >= 0)
			continue;
		memset(&conns[i], 0, sizeof(conns[i]));
		conns[i].fd = fd;
		s->tcp_conns++;
		s->tcp_open++;
		return;
	}
	if (fd >= 0)
		close(fd);
}

/* ---- the thread ---- */

static void *serve(void *arg)
{
	struct pollfd p[3 + CONNS];
	struct stub *s = arg;
	struct conn *conns = calloc(CONNS, sizeof(*conns));
	int i;

	for (i = 0; i < CONNS; i++)
		conns[i].fd = -1;
	for (;;) {
		p[0] = (struct pollfd){ s->wake[0], POLLIN, 0 };
		p[1] = (struct pollfd){ s->udp, POLLIN, 0 };
		p[2] = (struct pollfd){ s->listener, POLLIN, 0 };
		for (i = 0; i < CONNS; i++)
			p[3 + i] = (struct pollfd){ conns[i].fd, POLLIN, 0 };
		poll(p, 3 + CONNS, -1);
		if (p[0].revents)
			break;
		if (p[1].revents)
			serve_udp(s);
		for (i = 0; i < CONNS; i++)
			if (p[3 + i].revents)
				serve_conn(s, &conns[i]);
		if (p[2].revents)
			serve_listener(s, conns);
	}
	for (i = 0; i < CONNS; i++)
		if (conns[i].fd >= 0)
			close(conns[i].fd);
	free(conns);
	return NULL;
}

static int open_at(struct addr *a, int type)
{
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(a, &ss);
	int fd = socket(ss.ss_family, type, 0), one = 1;

	if (type == SOCK_STREAM)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&ss, len) || (type == SOCK_STREAM && listen(fd, 64))) {
		close(fd);
		return -1;
	}
	getsockname(fd, (struct sockaddr *)&ss, &len);
	addr_from_sockaddr((struct sockaddr *)&ss, a);
	return fd;
}

void stub_start(struct stub *s, const char *ip, uint8_t tag, enum stub_mode mode)
{
	struct addr other;
	int i;

	*s = (struct stub){ .tag = tag, .mode = mode, .listener = -1 };
	if (addr_parse(ip, 0, &s->addr))
		abort();
	other = s->addr;
	for (i = 0; i < 50 && s->listener < 0; i++) {
		if (i)
			close(s->udp);
		s->addr.port = 0;
		s->udp = open_at(&s->addr, SOCK_DGRAM);
		s->listener = open_at(&s->addr, SOCK_STREAM);
	}
	s->other = open_at(&other, SOCK_DGRAM);
	if (s->udp < 0 || s->listener < 0 || s->other < 0 || pipe(s->wake) ||
	    pthread_create(&s->thread, NULL, serve, s))
		abort();
}

void stub_stop(struct stub *s)
{
	if (write(s->wake[1], "x", 1) != 1)
		abort();
	pthread_join(s->thread, NULL);
	close(s->udp);
	close(s->other);
	close(s->listener);
	close(s->wake[0]);
	close(s->wake[1]);
}
