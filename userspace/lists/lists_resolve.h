/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lists_resolve.h - the addresses of one name, asked of given servers.
 *
 * Blocks its thread.  The machine's own resolver is not used: it may be this
 * very daemon, which may have to fetch its lists before it can answer.
 */
#ifndef LISTS_LISTS_RESOLVE_H
#define LISTS_LISTS_RESOLVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/addr.h"
#include "base/err.h"

struct lists_resolver {
	const struct addr *servers;	/* asked in order; with ports */
	unsigned count;
	uint64_t deadline_ns;		/* of CLOCK_MONOTONIC */
	const atomic_bool *cancel;	/* looked at ten times a second; may be NULL */
};

/**
 * Find the addresses of @host, of both families.
 *
 * Each server is asked over UDP from a random port with a random ID, over TCP
 * when the answer was cut; one that is silent for two seconds, or fails, gives
 * way to the next, and all get a second chance.  Aliases are followed inside
 * an answer (RFC 1034 section 3.6.2).  "localhost" and what is below it is
 * this machine (RFC 6761 section 6.3), and nobody is asked.
 *
 * @host  as text; not an address
 * @ret   room for @max addresses, port 0; IPv4 first
 *
 * Returns 0 with at least one; -ENOENT when the name does not exist or has no
 * address; -EHOSTUNREACH without servers; -ETIMEDOUT; -EREMOTEIO when all
 * servers failed; -ECANCELED; -EINVAL when @host is no name.  @reterr says
 * which server said what.
 */
int lists_resolve(const struct lists_resolver *r, const char *host, struct addr *ret, unsigned max, unsigned *ret_count,
		  struct err_at *reterr);

#endif
