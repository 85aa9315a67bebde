/* SPDX-License-Identifier: BSD-2-Clause */
/* server.c - an HTTP server for tests. */
#include <assert.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>
#include "net/sock.h"
#include "tests/unit/lists/server.h"

const char *conn_header(const struct conn *c, const char *name, char *buf, size_t size)
{
	const char *p = c->request;
	size_t len = strlen(name);

	*buf = '\0';
	while ((p = strstr(p, "\r\n"))) {
		p += 2;
		if (!strncasecmp(p, name, len) && p[len] == ':') {
			snprintf(buf, size, "%.*s", (int)strcspn(p + len + 2, "\r"), p + len + 2);
			break;
		}
	}
	return buf;
}

bool conn_send(struct conn *c, const void *p, size_t size)
{
	struct pollfd w = { .fd = c->fd, .events = POLLOUT };
	const char *at = p;
	ssize_t n;

	while (size && !c->server->stop) {
		if (poll(&w, 1, 50) == 0)
			continue;
		n = send(c->fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return !size;
}

bool conn_say(struct conn *c, const char *fmt, ...)
{
	char text[8192];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return conn_send(c, text, (size_t)n);
}

void conn_page(struct conn *c, unsigned status, const char *headers, const void *body, size_t size)
{
	if (conn_say(c, "HTTP/1.1 %u X\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n", status, size, headers))
		conn_send(c, body, size);
}

void conn_wait(struct conn *c, unsigned ms)
{
	for (; ms >= 10 && !c->server->stop; ms -= 10)
		usleep(10000);
}

static bool read_request(struct conn *c)
{
	struct pollfd w = { .fd = c->fd, .events = POLLIN };
	size_t got = 0;
	ssize_t n;

	while (got < sizeof(c->request) - 1 && !c->server->stop) {
		if (poll(&w, 1, 50) == 0)
			continue;
		n = recv(c->fd, c->request + got, sizeof(c->request) - 1 - got, MSG_DONTWAIT);
		if (n <= 0)
			return false;
		got += (size_t)n;
		c->request[got] = '\0';
		if (strstr(c->request, "\r\n\r\n"))
			return sscanf(c->request, "%*s %1023s", c->path) == 1;
	}
	return false;
}

static void *run(void *arg)
{
	struct server *s = arg;
	struct pollfd w = { .fd = s->listener, .events = POLLIN };
	struct conn c;

	while (!s->stop) {
		if (poll(&w, 1, 50) <= 0)
			continue;
		memset(&c, 0, sizeof(c));
		c.server = s;
		c.fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
		if (c.fd < 0)
			continue;
		if (read_request(&c)) {
			c.n = ++s->requests;
			s->page(&c);
		}
		close(c.fd);
	}
	return NULL;
}

bool server_start_at(struct server *s, const char *where, server_page page, void *arg)
{
	struct addr any;

	memset(s, 0, sizeof(*s));
	s->page = page;
	s->arg = arg;
	if (addr_parse(where, 0, &any) || sock_bind(&any, SOCK_STREAM, &s->listener, &s->addr))
		return false;
	assert(!listen(s->listener, 64));
	assert(!pthread_create(&s->thread, NULL, run, s));
	return true;
}

void server_start(struct server *s, server_page page, void *arg)
{
	if (!server_start_at(s, "127.0.0.1", page, arg))
		abort();
}

void server_stop(struct server *s)
{
	s->stop = true;
	pthread_join(s->thread, NULL);
	close(s->listener);
}

char *pack(const void *body, size_t size, size_t *ret_size)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)body, .avail_in = (unsigned)size };
	size_t max = size / 100 + size + 1024;
	char *out = malloc(max);

	assert(out && deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	z.next_out = (unsigned char *)out;
	z.avail_out = (unsigned)max;
	assert(deflate(&z, Z_FINISH) == Z_STREAM_END);
	*ret_size = max - z.avail_out;
	deflateEnd(&z);
	return out;
}
