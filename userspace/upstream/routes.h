/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routes.h - which set of servers a name belongs to: that of the longest zone.
 *
 * Immutable once made; any thread.
 */
#ifndef UPSTREAM_ROUTES_H
#define UPSTREAM_ROUTES_H

#include "dns/answer.h"
#include "upstream/upstream.h"

struct upstream_routes;

/**
 * Make the table of @count routes (copied).
 *
 * Returns 0 with NULL in @ret when there are none; -EEXIST when a zone is there twice; -ENOMEM.
 */
int upstream_routes_new(const struct upstream_route *routes, unsigned count, struct upstream_routes **ret);

/* Takes NULL. */
void upstream_routes_free(struct upstream_routes *r);

/**
 * The set of the longest zone that holds the name; 0, the servers of all else, when none does.
 *
 * A question for DS is the parent's (RFC 4035 section 3.1.4.1), so a zone's own route is not for it.
 */
unsigned upstream_routes_find(const struct upstream_routes *r, const struct dns_key *key);

#endif
