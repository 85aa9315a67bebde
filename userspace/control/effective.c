/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * effective.c - the effective configuration: what the file says and what was
 * made at run time, merged before anything looks at it.
 *
 * The file's text is kept as it was last accepted, so that a change at run time
 * does not bring along what somebody is just writing into the file.
 */
#define LOG_ROOM "control"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/log.h"
#include "control/internal.h"

/* Kinds in this order: groups name lists and clients. */
static const char *const kinds[] = { "list", "rule", "rewrite", "client", "group" };

struct object {
	char *kind, *name, *body;
	bool dropped;
};

struct objects {
	struct object *at;
	unsigned count;
	unsigned room;
};

static void objects_done(struct objects *o)
{
	unsigned i;

	for (i = 0; i < o->count; i++) {
		free(o->at[i].kind);
		free(o->at[i].name);
		free(o->at[i].body);
	}
	free(o->at);
}

static int take_object(void *arg, const struct state_object *s)
{
	struct objects *o = arg;
	struct object *more;

	if (o->count == o->room) {
		more = realloc(o->at, (o->room * 2 + 16) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		o->at = more;
		o->room = o->room * 2 + 16;
	}
	more = &o->at[o->count++];
	*more = (struct object){ .kind = strdup(s->kind), .name = strdup(s->name), .body = strdup(s->body) };
	return more->kind && more->name && more->body ? 0 : -ENOMEM;
}

static int read_objects(struct state *state, struct objects *o, struct err_at *reterr)
{
	unsigned i;
	int err = 0;

	for (i = 0; state && !err && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		err = state_each(state, kinds[i], take_object, o, reterr);
	return err;
}

/* ---- what was made but cannot be in force ---- */

static void note_dropped(struct control *c, struct object *o, const struct config_errors *errs)
{
	const struct err_at *at = &errs->at[0];

	o->dropped = true;
	c->dropped++;
	log_warn("%s %s, which millctl made, is not in force: %s%s%s", o->kind, o->name, at->key, *at->key ? ": " : "", at->why);
	if (!*c->dropped_why)
		snprintf(c->dropped_why, sizeof(c->dropped_why), "%.20s %.200s: %.280s", o->kind, o->name, at->why);
}

static int fresh(const char *text, size_t size, const char *path, struct config **ret, struct config_errors *errs)
{
	int err = config_load(text, size, path, ret, errs);

	if (err && !errs->count) {
		errs->count = 1;
		err_where(&errs->at[0], path, 0, NULL);
		err_why(&errs->at[0], err, "%s", strerror(-err));
	}
	return err;
}

/* Add the first @count objects, but those dropped, and check the whole. */
static int add_objects(struct config *config, const struct objects *o, unsigned count, struct config_errors *errs)
{
	unsigned i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		if (!o->at[i].dropped)
			err = config_overlay(config, o->at[i].kind, o->at[i].name, o->at[i].body, errs);
	return err ? err : config_check_whole(config, errs);
}

static bool good(const char *text, size_t size, const char *path, const struct objects *o, unsigned count,
		 struct config_errors *errs)
{
	struct config *config = NULL;
	int err = fresh(text, size, path, &config, errs);

	memset(errs, 0, sizeof(*errs));
	if (!err)
		err = add_objects(config, o, count, errs);
	config_free(config);
	return !err;
}

/* Drop the first object with which the whole is not good; false when that is none of them. */
static bool drop_first_bad(struct control *c, const char *text, size_t size, const char *path, struct objects *o,
			   struct config_errors *errs)
{
	unsigned low = 0, high = o->count, middle;	/* the first low are good, the first high are not */

	if (!good(text, size, path, o, 0, errs))
		return false;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (good(text, size, path, o, middle, errs))
			low = middle;
		else
			high = middle;
	}
	if (!high || good(text, size, path, o, high, errs))
		return false;
	note_dropped(c, &o->at[high - 1], errs);
	return true;
}

static bool same(const struct object *o, const struct effective_change *change)
{
	return change && !strcmp(o->kind, change->kind) && !strcmp(o->name, change->name);
}

/* A change is all or nothing, but for what was out of force before it. */
static void skip_known(struct control *c, struct objects *o, const struct effective_change *change)
{
	unsigned i;

	for (i = 0; change && i < o->count; i++)
		o->at[i].dropped = !same(&o->at[i], change) && c->dropped &&
				   effective_is_dropped(c, o->at[i].kind, o->at[i].name);
}

/* Remember which were dropped, for the changes to come. */
static int keep_dropped(struct control *c, const struct objects *o)
{
	size_t size = 0;
	char *names = NULL;
	FILE *f = open_memstream(&names, &size);
	unsigned i;

	if (!f)
		return -ENOMEM;
	for (i = 0; i < o->count; i++)
		if (o->at[i].dropped)
			fprintf(f, "%s %s\n", o->at[i].kind, o->at[i].name);
	if (fclose(f)) {
		free(names);
		return -ENOMEM;
	}
	free(c->dropped_names);
	c->dropped_names = names;
	return 0;
}

bool effective_is_dropped(const struct control *c, const char *kind, const char *name)
{
	char line[STATE_NAME_MAX + STATE_KIND_MAX + 2];
	const char *at = c->dropped_names;
	size_t n = (size_t)snprintf(line, sizeof(line), "%s %s\n", kind, name);

	for (; at && (at = strstr(at, line)); at++)
		if (at == c->dropped_names || at[-1] == '\n')
			return n > 0;
	return false;
}

int effective_make(struct control *c, const char *text, size_t size, const struct effective_change *change,
		   struct config **ret, struct config_errors *errs)
{
	struct objects o = { 0 };
	struct config *config = NULL;
	int err;

	err = read_objects(c->objects, &o, &errs->at[0]);
	if (err) {
		errs->count = 1;
		goto out;
	}
	err = fresh(text, size, c->path, &config, errs);
	if (err)
		goto out;
	skip_known(c, &o, change);
	if (!change) {
		c->dropped = 0;
		c->dropped_why[0] = '\0';
	}
	while ((err = add_objects(config, &o, o.count, errs)) == -EINVAL || err == -EEXIST) {
		if (change || !drop_first_bad(c, text, size, c->path, &o, errs))
			break;
		config_free(config);
		config = NULL;
		memset(errs, 0, sizeof(*errs));
		err = fresh(text, size, c->path, &config, errs);
		if (err)
			break;
	}
	if (!err && !change)
		err = keep_dropped(c, &o);
	if (err)
		goto out;
	*ret = config;
	config = NULL;
out:
	config_free(config);
	objects_done(&o);
	return err;
}

int effective_read(const char *path, char **ret, size_t *ret_size, struct err_at *reterr)
{
	int err = file_read(path, CONFIG_SIZE_MAX + 1, ret, ret_size);

	if (!err)
		return 0;
	err_where(reterr, path, 0, NULL);
	return err_why(reterr, err, "the configuration cannot be read: %s", strerror(-err));
}
