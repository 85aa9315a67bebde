/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http.h - the HTTP client: one request, the body handed over as it comes.
 *
 * Blocks its thread.  Used over the network by what fetches, and over a local
 * socket by millctl.  Only http.c and http_url.c know libcurl.
 *
 * A name is never resolved here: the asker resolves it and gives the
 * addresses.  A redirect is a response like others: the asker sees it, judges
 * it and resolves anew.  Proxies of the environment are not used.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/addr.h"
#include "base/err.h"

#define HTTP_HOST_MAX 256
#define HTTP_URL_MAX  2048		/* with its end */
#define HTTP_ADDRS_MAX 16

/* A header of the response that the asker wants. */
struct http_want {
	const char *name;
	char *value;			/* the asker's room; "" when the response has none, or a longer one */
	size_t size;
};

struct http_request {
	const char *method;		/* NULL: GET */
	const char *url;
	const char *socket;		/* path of a local socket to speak through; NULL: the network */
	unsigned connect_timeout_ms;	/* 0: ten seconds */
	unsigned timeout_ms;		/* of the whole request; 0: none */
	unsigned stall_s;		/* give up when less than 100 octets a second came for so long; 0: never */
	size_t body_max;		/* bytes, unpacked; 0: no bound (for streams) */
	const struct addr *addrs;	/* of the URL's host, when that is a name; any order, ports are not looked at */
	unsigned addr_count;		/* .. HTTP_ADDRS_MAX */
	const char *const *headers;	/* "Name: value", to be sent too; ended by NULL; may be NULL */
	const struct http_want *wants;
	unsigned want_count;
	const char *content;		/* sent as the request's body; NULL: none */
	size_t content_size;
	bool gzip;			/* offer to take gzip; the body is handed over unpacked */
	const char *ca_file;		/* PEM of the authorities that are trusted; NULL: the system's */
	/**
	 * A piece of the body; @status is that of the response.
	 *
	 * Returns 0, or a negative errno, which ends the request and becomes its result.
	 */
	int (*body)(void *arg, unsigned status, const char *p, size_t size);
	/* Asked ten times a second; true ends the request with -ECANCELED.  May be NULL. */
	bool (*cancelled)(void *arg);
	void *arg;
};

/**
 * Send a request and read its response to the end.
 *
 * Returns 0 with the response's status, whatever it is; -ECONNREFUSED,
 * -ENOENT or -EACCES when nothing could be reached; -ETIMEDOUT (@stall_s
 * too); -EMSGSIZE for a body over body_max; -EPROTO when the other side does
 * not speak HTTP or ended early; -EBADMSG for gzip that is damaged or cut;
 * -EKEYREJECTED when its certificate is not accepted; -EHOSTUNREACH for a
 * host that is a name when no address is given; -EINVAL for an URL that is
 * none or not http(s); -ECANCELED; -ENOMEM; or the body function's error.
 * The headers wanted are filled in whenever a response began, and "" else.
 * @reterr says why.
 */
int http_ask(const struct http_request *q, unsigned *ret_status, struct err_at *reterr);

/* An URL taken apart. */
struct http_url {
	bool tls;			/* https */
	uint16_t port;
	char host[HTTP_HOST_MAX];	/* ASCII form; without the brackets of an IPv6 address */
	bool is_addr;			/* the host is an address, @addr */
	struct addr addr;
	char shown[512];		/* what may be said of it: scheme, host, port, path; no user, password or query */
};

/**
 * Take an URL apart.
 *
 * Returns 0; -EINVAL with @reterr when it is none, is neither http nor https,
 * or is too long; -ENOMEM.
 */
int http_url_read(const char *url, struct http_url *ret, struct err_at *reterr);

/**
 * Where a redirect leads (RFC 9110 section 10.2.2): @location, which may be
 * relative, as seen from @base.
 *
 * @ret  HTTP_URL_MAX bytes; may not be @base
 *
 * Returns 0; -EINVAL when that is no URL or too long; -ENOMEM.
 */
int http_url_join(const char *base, const char *location, char *ret);

/**
 * Escape @text for the query part of an URL.
 *
 * Returns @buf, or NULL when @size is too small: three bytes an octet and the end always do.
 */
char *http_escape(const char *text, char *buf, size_t size);

#endif
