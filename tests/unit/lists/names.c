/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - a name server for tests. */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "dns/msg.h"
#include "dns/name.h"
#include "net/sock.h"
#include "tests/unit/lists/names.h"

static size_t put(uint8_t *m, size_t at, unsigned v)
{
	m[at] = (uint8_t)(v >> 8);
	m[at + 1] = (uint8_t)v;
	return at + 2;
}

static size_t record(uint8_t *m, size_t at, const char *name, unsigned type, const uint8_t *data, size_t size)
{
	int len = dns_name_from_text(name, strlen(name), m + at);

	assert(len > 0);
	at = put(m, at + (size_t)len, type);
	at = put(m, at, DNS_IN);
	at = put(m, at, 0);
	at = put(m, at, 60);
	at = put(m, at, (unsigned)size);
	memcpy(m + at, data, size);
	m[7]++;
	return at + size;
}

/* Records of @name, and of what it is an alias of; @ret_known tells whether there is any. */
static size_t records(const struct names *s, uint8_t *m, size_t at, const char *name, unsigned type, bool *ret_known)
{
	const char *target = NULL;
	uint8_t wire[DNS_NAME_MAX];
	struct addr a;
	unsigned i;
	int len;

	for (i = 0; i < s->count; i++) {
		if (strcasecmp(s->rows[i].name, name))
			continue;
		*ret_known = true;
		if (addr_parse(s->rows[i].value, 0, &a)) {
			target = s->rows[i].value;
			len = dns_name_from_text(target, strlen(target), wire);
			at = record(m, at, name, DNS_CNAME, wire, (size_t)len);
		} else if ((type == DNS_A) == addr_is_v4(&a)) {
			at = record(m, at, name, type, addr_is_v4(&a) ? a.ip + 12 : a.ip, addr_is_v4(&a) ? 4 : 16);
		}
	}
	return target && m[7] < 20 ? records(s, m, at, target, type, ret_known) : at;
}

static size_t answer(const struct names *s, const uint8_t *query, size_t size, uint8_t *m)
{
	struct dns_query q;
	char name[DNS_NAME_TEXT_MAX];
	bool known = false;
	size_t at;

	assert(dns_query_parse(query, size, &q) == DNS_NOERROR);
	at = DNS_HEADER + q.question_len;
	memcpy(m, query, at);
	memset(m + 6, 0, 6);
	put(m, 2, DNS_QR | DNS_RD | DNS_RA | (s->mode == NAMES_SERVFAIL ? DNS_SERVFAIL : 0));
	if (s->mode == NAMES_SERVFAIL)
		return at;
	at = records(s, m, at, dns_name_text(q.qname, name, sizeof(name)), q.qtype, &known);
	if (!known)
		m[3] |= DNS_NXDOMAIN;
	return at;
}

static void reply(struct names *s, const uint8_t *m, size_t size, const struct sockaddr_storage *to, socklen_t len)
{
	sendto(s->socket, m, size, 0, (const struct sockaddr *)to, len);
}

/* The answer with faults, that a careful asker does not take. */
static void forge(struct names *s, uint8_t *m, size_t size, const struct sockaddr_storage *to, socklen_t len)
{
	m[0] ^= 1;
	reply(s, m, size, to, len);
	m[0] ^= 1;
	m[DNS_HEADER + 1] ^= 1;
	reply(s, m, size, to, len);
	m[DNS_HEADER + 1] ^= 1;
	m[2] ^= 0x80;
	reply(s, m, size, to, len);
	m[2] ^= 0x80;
}

static void serve_udp(struct names *s)
{
	uint8_t query[512], m[4096];
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	ssize_t n = recvfrom(s->socket, query, sizeof(query), MSG_DONTWAIT, (struct sockaddr *)&from, &len);
	unsigned i = s->udp;
	struct addr a;
	size_t size;

	if (n < DNS_HEADER)
		return;
	addr_from_sockaddr((struct sockaddr *)&from, &a);
	if (i < 64) {
		s->ids[i] = (uint16_t)(query[0] << 8 | query[1]);
		s->ports[i] = a.port;
	}
	s->udp++;
	if (s->mode == NAMES_SILENT || (s->mode == NAMES_NO_AAAA && query[n - 3] == DNS_AAAA))
		return;
	size = answer(s, query, (size_t)n, m);
	if (s->mode == NAMES_FORGED || s->mode == NAMES_ONLY_FORGED)
		forge(s, m, size, &from, len);
	if (s->mode == NAMES_ONLY_FORGED)
		return;
	if (s->mode == NAMES_TRUNCATE || s->mode == NAMES_TCP_CLOSE) {
		m[2] |= 2;
		memset(m + 6, 0, 6);
		size = (size_t)n;
	}
	reply(s, m, size, &from, len);
}

static void serve_tcp(struct names *s)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	uint8_t query[514], m[4098];
	size_t size;
	ssize_t n;

	if (fd < 0)
		return;
	n = recv(fd, query, sizeof(query), 0);
	s->tcp++;
	if (n > 2 + DNS_HEADER && s->mode != NAMES_TCP_CLOSE) {
		size = answer(s, query + 2, (size_t)n - 2, m + 2);
		put(m, 0, (unsigned)size);
		send(fd, m, 1, MSG_NOSIGNAL);		/* in two pieces, and the length torn */
		usleep(2000);
		send(fd, m + 1, size + 1, MSG_NOSIGNAL);
	}
	close(fd);
}

static void *run(void *arg)
{
	struct names *s = arg;
	struct pollfd w[2] = { { .fd = s->socket, .events = POLLIN }, { .fd = s->listener, .events = POLLIN } };

	while (!s->stop) {
		if (poll(w, 2, 50) <= 0)
			continue;
		if (w[0].revents)
			serve_udp(s);
		if (w[1].revents)
			serve_tcp(s);
	}
	return NULL;
}

void names_start(struct names *s, const struct names_row *rows, unsigned count)
{
	struct addr any, bound;
	int i, err = -1;

	memset(s, 0, sizeof(*s));
	s->rows = rows;
	s->count = count;
	for (i = 0; i < 10 && err; i++) {		/* the TCP port of the same number may be taken */
		assert(!addr_parse("127.0.0.1", 0, &any) && !sock_bind(&any, SOCK_DGRAM, &s->socket, &s->addr));
		err = sock_bind(&s->addr, SOCK_STREAM, &s->listener, &bound);
		if (err)
			close(s->socket);
	}
	assert(!err && !listen(s->listener, 16));
	assert(!pthread_create(&s->thread, NULL, run, s));
}

void names_stop(struct names *s)
{
	s->stop = true;
	pthread_join(s->thread, NULL);
	close(s->socket);
	close(s->listener);
}
