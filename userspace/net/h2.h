/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * h2.h - the asking side of HTTP/2 (RFC 9113), as a filter of octets.
 *
 * Frames go in and out at one side, requests and answers at the other; a
 * stream in octets mode (net/stream.h) stands between it and the network.  An
 * answer counts only with status 200 and the media type that was asked for;
 * its body is bounded.  No I/O, no clock; one thread's.
 */
#ifndef NET_H2_H
#define NET_H2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define H2_REQUESTS_MAX 1024		/* under way on one connection, those that wait for their turn among them */

#define H2_STREAMS 16

struct h2;
struct h2_request;

struct h2_question {
	const char *authority;		/* "dns.example" or "dns.example:8443" */
	const char *path;		/* "/dns-query" */
	const char *type;		/* of the body and of the answer: "application/dns-message" */
	const uint8_t *body;		/* copied; NULL: GET, else POST */
	size_t size;
};

struct h2_answer {
	uint8_t *body;			/* the receiver's for the call, to change as well */
	size_t size;
	uint32_t age_s;			/* how long it has been in a cache on the way (RFC 9111 section 5.1) */
};

/*
 * What became of a request, once each; it is gone then.  Called from within
 * h2_feed() alone; what they send goes out by the next h2_take().
 */
struct h2_ops {
	void (*answered)(void *arg, void *asker, const struct h2_answer *a);
	/*
	 * @err  -EAGAIN: the other side has not begun with it, another connection may do better; -EBADMSG, -EPROTO or
	 *       -EMSGSIZE: it answered badly, as @why tells for people
	 */
	void (*failed)(void *arg, void *asker, int err, const char *why);
};

/**
 * Begin a connection; its first octets wait in h2_take().
 *
 * @ops       outlives it
 * @body_max  octets of an answer's body, at most
 * @streams   requests that go out at once before the other side has said how
 *            many it works on (it refuses what is beyond); 0: H2_STREAMS
 *
 * Returns 0 or -ENOMEM.
 */
int h2_new(const struct h2_ops *ops, void *arg, size_t body_max, unsigned streams, struct h2 **ret);

/* Takes NULL.  Requests that are under way are forgotten.  Not from within a callback. */
void h2_free(struct h2 *h);

/**
 * Ask; from within callbacks too.
 *
 * Returns 0; -EAGAIN when the connection takes no more requests; -EBUSY when
 * it has H2_REQUESTS_MAX; -ENOMEM.
 */
int h2_ask(struct h2 *h, const struct h2_question *q, void *asker, struct h2_request **ret);

/* Forget a request: the other side is told, the asker is not. */
void h2_cancel(struct h2 *h, struct h2_request *r);

/* Give what came.  Returns 0, -EPROTO or -ENOMEM: close then; h2_why() says more. */
int h2_feed(struct h2 *h, const uint8_t *octets, size_t count);

/* What is to go to the network next: its size and, until the next call, where it is.  0: nothing, or called from a callback. */
size_t h2_take(struct h2 *h, const uint8_t **ret);

/* Whether it takes another request: the other side has not said good-bye. */
bool h2_is_open(const struct h2 *h);

/* Whether nothing more will come or go: close it. */
bool h2_is_over(const struct h2 *h);

/* How many requests the other side works on at once, 0 while it has not said so; the others wait here. */
unsigned h2_streams(const struct h2 *h);

/* Why the connection cannot go on, for people; "" while it can. */
const char *h2_why(const struct h2 *h);

#endif
