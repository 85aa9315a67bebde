/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server.h - an HTTP server on a thread, loopback only, that answers well or
 * badly as a test's page function tells it.  One request a connection.
 */
#ifndef TESTS_LISTS_SERVER_H
#define TESTS_LISTS_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/addr.h"

struct server;

/* A request. */
struct conn {
	struct server *server;
	int fd;
	unsigned n;			/* 1: the first that the server got */
	char path[1024];		/* with the query */
	char request[8192];		/* as sent */
};

typedef void (*server_page)(struct conn *c);

struct server {
	struct addr addr;
	server_page page;
	void *arg;
	_Atomic unsigned requests;
	_Atomic bool stop;
	int listener;
	pthread_t thread;
};

void server_start(struct server *s, server_page page, void *arg);

/* The same at another address than 127.0.0.1; false when the machine does not have it. */
bool server_start_at(struct server *s, const char *where, server_page page, void *arg);
void server_stop(struct server *s);

/* The value of a header of the request, "" when it has none.  Returns @buf. */
const char *conn_header(const struct conn *c, const char *name, char *buf, size_t size);

/* Send octets, or a text; what the client does not take is dropped.  False: it has gone. */
bool conn_send(struct conn *c, const void *p, size_t size);
bool conn_say(struct conn *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A whole response; @headers: more of them, each with its line end, or "". */
void conn_page(struct conn *c, unsigned status, const char *headers, const void *body, size_t size);

/* Wait, until the test ends at most. */
void conn_wait(struct conn *c, unsigned ms);

/* gzip @size octets of @body; returns a string of the heap. */
char *pack(const void *body, size_t size, size_t *ret_size);

#endif
