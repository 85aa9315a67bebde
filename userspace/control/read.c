/* SPDX-License-Identifier: BSD-2-Clause */
/* read.c - the configuration's file, read whole and checked. */
#define LOG_ROOM "control"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/log.h"
#include "control/control.h"

static int one_error(struct config_errors *errors, const char *path, int err)
{
	err_where(&errors->at[0], path, 0, NULL);
	err_why(&errors->at[0], err, "the configuration cannot be read: %s", strerror(-err));
	errors->count = 1;
	return err;
}

/*
 * What can be written and is not in force yet: it is refused, never ignored.
 * A row goes away with what makes it work.
 */
static const char *control_unbuilt(const struct config *c, char *key, size_t size)
{
	const struct config_list *l;
	const struct config_group *g = c->groups.at;

	for (l = c->filter_lists.at; l < c->filter_lists.at + c->filter_lists.count; l++) {
		snprintf(key, size, "filter.lists[%u].url", l->place.number);
		if (l->url)
			return "lists from a url are";
		snprintf(key, size, "filter.lists[%u].format", l->place.number);
		if (l->format > CONFIG_LIST_ADBLOCK)
			return "this format is";
	}
	snprintf(key, size, "groups");
	if (c->groups.count > 1 || g->clients.count)
		return "other groups than \"default\" are";
	if (g->rules.count || g->schedules.count || g->safe_search || g->no_types.count)
		return "rules, schedules, safe_search and no_types are";
	if (g->block.own_mode || g->block.own_ttl || g->block.own_ipv4 || g->block.own_ipv6 || g->block.own_ede)
		return "a block of its own is";
	snprintf(key, size, "filter.rules");
	if (c->filter_rules.count)
		return "rules are";
	snprintf(key, size, "filter.rewrites");
	if (c->filter_rewrites.count)
		return "rewrites are";
	snprintf(key, size, "clients");
	if (c->clients.count)
		return "clients are";
	snprintf(key, size, "filter.block.ede");
	if (c->filter_block_ede != CONFIG_EDE_TEXT)
		return "another ede than text is";
	snprintf(key, size, "upstreams.bootstrap");
	return c->upstreams_bootstrap.count ? "servers for the names of lists are" : NULL;
}

static int refuse_unbuilt(struct config *c, const char *path, struct config_errors *errors)
{
	char key[48];
	const char *what = control_unbuilt(c, key, sizeof(key));

	if (!what)
		return 0;
	err_where(&errors->at[0], path, 0, key);
	errors->count = 1;
	return err_why(&errors->at[0], -EINVAL, "%s not built yet", what);
}

int control_read_config(const char *path, struct config **ret, struct config_errors *reterrs)
{
	struct config *config = NULL;
	size_t size;
	char *text;
	int err;

	/* One octet more than allowed, so that config_load() can say that it is too big. */
	err = file_read(path, CONFIG_SIZE_MAX + 1, &text, &size);
	if (err)
		return one_error(reterrs, path, err);
	err = config_load(text, size, path, &config, reterrs);
	free(text);
	if (!err)
		err = refuse_unbuilt(config, path, reterrs);
	if (!err)
		*ret = config;
	else
		config_free(config);
	return err && !reterrs->count ? one_error(reterrs, path, err) : err;
}

void control_log_errors(const struct config_errors *errors)
{
	char text[1024];
	unsigned i;

	for (i = 0; i < errors->count; i++)
		log_err("%s", err_text(&errors->at[i], text, sizeof(text)));
	if (errors->more)
		log_err("%u more errors", errors->more);
}
