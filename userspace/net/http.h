/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http.h - the HTTP client: one request, the body handed over as it comes.
 *
 * Blocks its thread.  Used over the network by what fetches, and over a local
 * socket by millctl.  Only http.c knows libcurl.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include <stddef.h>
#include "base/err.h"

struct http_request {
	const char *method;		/* NULL: GET */
	const char *url;
	const char *socket;		/* path of a local socket to speak through; NULL: the network */
	unsigned connect_timeout_ms;	/* 0: ten seconds */
	unsigned timeout_ms;		/* of the whole request; 0: none */
	size_t body_max;		/* bytes; 0: no bound (for streams) */
	/**
	 * A piece of the body; @status is that of the response.
	 *
	 * Returns 0, or a negative errno, which ends the request and becomes its result.
	 */
	int (*body)(void *arg, unsigned status, const char *p, size_t size);
	void *arg;
};

/**
 * Send a request and read its response to the end.
 *
 * Returns 0 with the response's status, whatever it is; -ECONNREFUSED,
 * -ENOENT or -EACCES when nothing could be reached; -ETIMEDOUT; -EMSGSIZE for
 * a body over body_max; -EPROTO when the other side does not speak HTTP or
 * ended early; -EINVAL for an URL that is none; -ENOMEM; or the body
 * function's error.  @reterr says why.
 */
int http_ask(const struct http_request *q, unsigned *ret_status, struct err_at *reterr);

/**
 * Escape @text for the query part of an URL.
 *
 * Returns @buf, or NULL when @size is too small: three bytes an octet and the end always do.
 */
char *http_escape(const char *text, char *buf, size_t size);

#endif
