/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fetch.c - lists from URLs: what is wanted, and what comes of it.
 */
#define LOG_ROOM "control"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "control/internal.h"

#define NEVER_S (366U * 86400)		/* as far ahead as "only at a reload" needs */

/* Several lists may come in a row: one compilation is for all of them. */
static void on_changed(uv_timer_t *t)
{
	struct control *c = t->data;
	struct err_at at = { 0 };
	char text[512];
	int err = control_recompile(c, &at);

	if (err)
		log_err("a new list is not in force, the filter stays as it was: %s",
			*at.why ? err_text(&at, text, sizeof(text)) : strerror(-err));
}

static void on_done(void *arg, enum lists_event event, const struct lists_status *s)
{
	struct control *c = arg;
	char text[LISTS_WHY_MAX];

	lists_say(event, s, text, sizeof(text));
	if (event == LISTS_FAILED)
		log_warn("list %s: %s", s->name, text);
	else
		log_info("list %s: %s", s->name, text);
	if (event == LISTS_CHANGED)
		uv_timer_start(&c->changed, on_changed, 200, 0);
}

int fetch_open(struct control *c, struct err_at *reterr)
{
	char folder[CONFIG_PATH_MAX + 16];
	struct lists_options o = { .folder = folder, .done = on_done, .arg = c };
	int err;

	snprintf(folder, sizeof(folder), "%s/lists", c->state);
	err = lists_new(c->loop, &o, &c->fetch);
	return err ? err_why(reterr, err, "lists cannot be fetched: %s", strerror(-err)) : 0;
}

/* Whom names of lists' hosts are asked of. */
static unsigned servers(const struct config *config, struct addr *to)
{
	const struct config_addrs *from = &config->upstreams_bootstrap;
	const struct config_servers *s = &config->upstreams_servers;
	unsigned i, n = 0;

	for (i = 0; i < from->count && n < LISTS_SERVERS_MAX; i++)
		to[n++] = from->at[i];
	for (i = 0; !from->count && i < s->count && n < LISTS_SERVERS_MAX; i++)
		if (s->at[i].at.literal && s->at[i].at.scheme <= ENDPOINT_TCP)
			to[n++] = s->at[i].at.addr;
	return n;
}

int fetch_want(struct control *c, const struct config *config, struct err_at *reterr)
{
	const struct config_lists *l = &config->filter_lists;
	struct lists_row *rows = calloc(l->count + 1, sizeof(*rows));
	struct addr server[LISTS_SERVERS_MAX];
	struct lists_rows want = { .row = rows, .servers = server, .timeout_ms = config->filter_fetch_timeout_ms,
				   .max_bytes = config->filter_fetch_max_bytes };
	unsigned i;
	int err;

	if (!rows)
		return -ENOMEM;
	for (i = 0; i < l->count; i++)
		if (l->at[i].url)
			rows[want.count++] = (struct lists_row){ .name = l->at[i].name, .url = l->at[i].url,
								 .refresh_s = l->at[i].refresh_s ?
									      l->at[i].refresh_s : NEVER_S,
								 .format = l->at[i].format };
	want.server_count = servers(config, server);
	err = lists_set(c->fetch, &want, reterr);
	free(rows);
	return err;
}

void fetch_reloaded(struct control *c)
{
	const struct config_lists *l = &c->snapshot->config->filter_lists;
	unsigned i;

	for (i = 0; i < l->count; i++)
		if (l->at[i].url && !l->at[i].refresh_s)
			lists_refresh(c->fetch, l->at[i].name);
	lists_tick(c->fetch);
}

struct refresh {
	const char *name;
	struct err_at *reterr;
};

static int do_refresh(struct control *c, void *arg)
{
	const struct config_lists *l = &c->snapshot->config->filter_lists;
	const struct refresh *r = arg;
	unsigned i;

	if (lists_refresh(c->fetch, r->name) == 0) {
		lists_tick(c->fetch);
		return 0;
	}
	for (i = 0; i < l->count; i++)
		if (!strcmp(l->at[i].name, r->name))
			return err_why(r->reterr, -EINVAL, "the list %s is a file: \"millctl reload\" reads it again",
				       r->name);
	return err_why(r->reterr, -ENOENT, "there is no list \"%.200s\"", r->name);
}

int control_refresh(struct control *c, const char *name, struct err_at *reterr)
{
	struct refresh r = { .name = name, .reterr = reterr };

	return call_control(c, do_refresh, &r);
}
