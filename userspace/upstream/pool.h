/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pool.h - which server to ask first, learnt from how requests ended.
 *
 * The order begins with the server that answered well last and goes on as
 * configured; a server that timed out UPSTREAM_AWAY_AFTER times in a row goes
 * to the back for UPSTREAM_AWAY_MS, so that a dead one does not cost every
 * request its time.  Measures nothing and asks nothing by itself.  Times are
 * milliseconds of the caller's loop.
 */
#ifndef UPSTREAM_POOL_H
#define UPSTREAM_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include "upstream/upstream.h"

#define UPSTREAM_AWAY_AFTER 3
#define UPSTREAM_AWAY_MS    5000
#define UPSTREAM_PLAIN_MS   600000	/* how long a server without EDNS is believed to have none */

struct upstream_health {
	unsigned timeouts;		/* in a row */
	uint64_t away_until_ms;
	uint64_t plain_until_ms;	/* knows no EDNS; 0: as far as we know it does */
};

struct upstream_pool {
	unsigned count;
	unsigned preferred;
	struct upstream_health server[UPSTREAM_SERVERS_MAX];
};

void upstream_pool_init(struct upstream_pool *p, unsigned count);

/* Write all servers in the order to ask them; the first count cells of @ret. */
void upstream_pool_order(const struct upstream_pool *p, uint64_t now_ms, uint8_t ret[UPSTREAM_SERVERS_MAX]);

/* What became of an attempt.  A failure (SERVFAIL and the like) shows that the server lives. */
void upstream_pool_answered(struct upstream_pool *p, unsigned server);
void upstream_pool_failed(struct upstream_pool *p, unsigned server);
void upstream_pool_timed_out(struct upstream_pool *p, unsigned server, uint64_t now_ms);

/* A server answered only when asked without EDNS. */
void upstream_pool_set_plain(struct upstream_pool *p, unsigned server, uint64_t now_ms);
bool upstream_pool_is_plain(const struct upstream_pool *p, unsigned server, uint64_t now_ms);

#endif
