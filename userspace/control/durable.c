/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * durable.c - the cache on disk: started, watched, flushed, ended.
 *
 * Whatever is wrong with it the daemon goes on; each change is said once.
 */
#define LOG_ROOM "control"
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "control/internal.h"

#define LOAD_WAIT_MS 500		/* that a start waits at most for what is on disk */
#define CLOCK_SET_NS (5 * CLOCK_S)

_Static_assert((int)CONFIG_SYNC_NONE == LMDB_SYNC_NONE && (int)CONFIG_SYNC_FULL == LMDB_SYNC_FULL, "one enum");

static void path_of(const struct config *config, char *buf, size_t size)
{
	if (config->cache_lmdb_path[0] == '/')
		snprintf(buf, size, "%s", config->cache_lmdb_path);
	else
		snprintf(buf, size, "%s/%s", config->state, config->cache_lmdb_path);
}

/* How far the wall clock is ahead of the one that nobody sets. */
static int64_t wall_ahead_ns(void)
{
	return (int64_t)clock_ns(CLOCK_REALTIME) - (int64_t)clock_ns(CLOCK_BOOTTIME);
}

void durable_own(struct control *c, const struct config *config)
{
	char path[2 * CONFIG_PATH_MAX];
	struct err_at at = { 0 };

	path_of(config, path, sizeof(path));
	if (config->cache_backend == CONFIG_BACKEND_LMDB && lmdb_own(path, c->uid, c->gid, &at))
		log_warn("durable cache: %s", at.why);
}

void durable_open(struct control *c, const struct config *config)
{
	struct lmdb_opts o = {
		.sync = (enum lmdb_sync)config->cache_lmdb_sync,
		.sync_interval_ms = config->cache_lmdb_sync_interval_ms,
		.max_bytes = config->cache_lmdb_max_bytes,
		.stale_s = config->cache_serve_stale_enabled ? config->cache_serve_stale_max_age : 0,
		.no_cuts = !config->cache_nxdomain_covers_descendants,
		.cache = c->cache,
	};
	char path[2 * CONFIG_PATH_MAX];
	struct cache_backend b;
	int err;

	if (config->cache_backend != CONFIG_BACKEND_LMDB)
		return;
	path_of(config, path, sizeof(path));
	o.path = path;
	c->wall_ahead_ns = wall_ahead_ns();
	c->durable_said.loading = true;
	/* else what is stale would be read back to a cache that does not keep it yet */
	cache_keep_stale(c->cache, o.stale_s * CLOCK_S);
	err = lmdb_start(&o, &c->durable);
	if (err) {
		log_err("durable cache: it cannot be started, answers are kept in memory alone: %s", strerror(-err));
		return;
	}
	b = lmdb_backend(c->durable);
	cache_set_backend(c->cache, &b);
}

void durable_settle(struct control *c)
{
	if (c->durable && !lmdb_wait_loaded(c->durable, LOAD_WAIT_MS))
		log_info("durable cache: answers are still read from disk; those that are asked for before are asked upstream");
	durable_tick(c);
}

static void tell(struct control *c, const struct lmdb_status *s)
{
	if (*s->note && strcmp(s->note, c->durable_said.note))
		log_warn("durable cache: %s", s->note);
	if (!s->loading && c->durable_said.loading && s->open)
		log_info("durable cache: %llu answers read from disk in %llu ms", (unsigned long long)s->loaded,
			 (unsigned long long)s->load_ms);
	if (*s->why && strcmp(s->why, c->durable_said.why))
		log_err("durable cache: %s; answers are kept in memory alone, and it is tried again", s->why);
	if (!*s->why && *c->durable_said.why && s->open)
		log_info("durable cache: answers are written to disk again");
	c->durable_said = *s;
}

void durable_tick(struct control *c)
{
	int64_t ahead = wall_ahead_ns();
	struct control_flushed ignored;
	struct lmdb_status s;

	if (!c->durable)
		return;
	lmdb_status(c->durable, &s);
	tell(c, &s);
	/* What was read back is older than the clock said then. */
	if (s.loaded && ahead > c->wall_ahead_ns + (int64_t)CLOCK_SET_NS) {
		log_info("the clock was set forward by %.0f s: all cached answers are forgotten",
			 (double)(ahead - c->wall_ahead_ns) / 1e9);
		flush_all(c, &ignored);
	}
	c->wall_ahead_ns = ahead;
}

void durable_show(struct control *c, struct control_durable *ret)
{
	struct lmdb_status s;

	*ret = (struct control_durable){ .configured = c->durable != NULL };
	if (!c->durable)
		return;
	lmdb_status(c->durable, &s);
	ret->open = s.open;
	ret->loading = s.loading;
	ret->loaded = s.loaded;
	ret->load_ms = s.load_ms;
	ret->bytes = s.bytes;
	ret->bytes_max = s.bytes_max;
	memcpy(ret->why, s.why, sizeof(s.why));
	memcpy(ret->note, s.note, sizeof(s.note));
}

void durable_flush(struct control *c, const uint8_t *lower, uint16_t len, bool below)
{
	uint64_t found;
	int err;

	if (!c->durable)
		return;
	err = lmdb_flush(c->durable, lower, len, below, &found);
	if (err)
		log_warn("durable cache: not flushed yet (%s): that is done before it is used again", strerror(-err));
}

void durable_close(struct control *c)
{
	lmdb_stop(c->durable);
	c->durable = NULL;
}
