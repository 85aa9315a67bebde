/* SPDX-License-Identifier: BSD-2-Clause */
/* pool.c - which server to ask first. */
#include "upstream/pool.h"

void upstream_pool_init(struct upstream_pool *p, unsigned count)
{
	*p = (struct upstream_pool){ .count = count };
}

void upstream_pool_order(const struct upstream_pool *p, uint64_t now_ms, uint8_t ret[UPSTREAM_SERVERS_MAX])
{
	unsigned i, s, n = 0;

	for (i = 0; i < p->count; i++) {
		s = (p->preferred + i) % p->count;
		if (p->server[s].away_until_ms <= now_ms)
			ret[n++] = (uint8_t)s;
	}
	for (i = 0; i < p->count; i++) {
		s = (p->preferred + i) % p->count;
		if (p->server[s].away_until_ms > now_ms)
			ret[n++] = (uint8_t)s;
	}
}

static void lives(struct upstream_health *h)
{
	h->timeouts = 0;
	h->away_until_ms = 0;
}

void upstream_pool_answered(struct upstream_pool *p, unsigned server)
{
	lives(&p->server[server]);
	p->preferred = server;
}

void upstream_pool_failed(struct upstream_pool *p, unsigned server)
{
	lives(&p->server[server]);
}

void upstream_pool_timed_out(struct upstream_pool *p, unsigned server, uint64_t now_ms)
{
	struct upstream_health *h = &p->server[server];

	/* Back from being away it goes again at its first time-out: it has not answered since. */
	if (++h->timeouts >= UPSTREAM_AWAY_AFTER)
		h->away_until_ms = now_ms + UPSTREAM_AWAY_MS;
}

void upstream_pool_set_plain(struct upstream_pool *p, unsigned server, uint64_t now_ms)
{
	p->server[server].plain_until_ms = now_ms + UPSTREAM_PLAIN_MS;
}

bool upstream_pool_is_plain(const struct upstream_pool *p, unsigned server, uint64_t now_ms)
{
	return p->server[server].plain_until_ms > now_ms;
}
