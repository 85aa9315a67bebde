/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * endpoint.h - where a server of the DNS is, and how one talks to it.
 *
 * Read by config/, which has it as a text, and carried as it is to whoever
 * asks.  A server that is given by its name has no address here until somebody
 * has resolved it: literal tells the two apart.
 */
#ifndef BASE_ENDPOINT_H
#define BASE_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include "base/addr.h"
#include "base/err.h"

#define ENDPOINT_NAME_MAX 256		/* of a host, as text with its end */
#define ENDPOINT_PATH_MAX 256
#define ENDPOINT_TEXT_MAX (3 * 256 + 32)

enum endpoint_scheme {
	ENDPOINT_DNS,			/* UDP, and TCP for what does not fit */
	ENDPOINT_TCP,
	ENDPOINT_TLS,			/* RFC 7858 */
	ENDPOINT_HTTPS,			/* RFC 8484 */
};

struct endpoint {
	enum endpoint_scheme scheme;
	bool literal;			/* host is an address */
	struct addr addr;		/* the port is always set, the rest of a literal */
	char host[ENDPOINT_NAME_MAX];	/* a name in lower case, without its final dot; or an address without brackets */
	char name[ENDPOINT_NAME_MAX];	/* whom the certificate must be for: "#name", else host */
	char path[ENDPOINT_PATH_MAX];	/* of https, "/dns-query" when none is given; else "" */
};

/**
 * Parse "9.9.9.9", "9.9.9.9:5353", "[2620:fe::fe]:53", "udp://host:53",
 * "tcp://host", "tls://host:853#name" or "https://host:443/path".
 *
 * The port, "#name" and the path may be left out; a host is an address, in
 * brackets when it is IPv6 and a port or scheme stands beside it, or a name.
 * A name needs a scheme in front: a mistyped address shall not become one.
 * "{?dns}" behind a path, as RFC 8484 writes it, is taken off.
 *
 * Returns 0, or -EINVAL with reterr->why ("expected ..., not ...").
 */
int endpoint_parse(const char *text, struct endpoint *ret, struct err_at *reterr);

/**
 * Set whom the certificate must be for, as "#name" does.
 *
 * Returns 0, or -EINVAL when @name is neither a name nor an address.
 */
int endpoint_set_name(struct endpoint *e, const char *name);

/* Write it as one would type it; ports that go without saying are left out, but for addresses alone.  Returns @buf. */
const char *endpoint_text(const struct endpoint *e, char *buf, size_t size);

/* "udp", "tcp", "tls" or "https". */
const char *endpoint_scheme_text(enum endpoint_scheme scheme);

/* The same server, asked in the same way. */
bool endpoint_same(const struct endpoint *a, const struct endpoint *b);

#endif
