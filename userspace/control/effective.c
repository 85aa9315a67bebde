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
	char *dropped;			/* why; NULL: it is wanted */
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
		free(o->at[i].dropped);
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

static int drop(struct object *o, const struct config_errors *errs)
{
	const struct err_at *at = &errs->at[0];

	log_warn("%s %s, which millctl made, is not in force: %s%s%s", o->kind, o->name, at->key,
		 *at->key ? ": " : "", at->why);
	o->dropped = strdup(at->why);
	return o->dropped ? 0 : -ENOMEM;
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

static bool is_refusal(int err)
{
	return err == -EINVAL || err == -EEXIST;
}

/*
 * Add the first @count objects, but those dropped, and check the whole.
 *
 * @leave_out  drop an object that cannot be added; else that is an error
 */
static int add_objects(struct config *config, struct objects *o, unsigned count, bool leave_out, struct config_errors *errs)
{
	unsigned i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		if (o->at[i].dropped)
			continue;
		err = config_overlay(config, o->at[i].kind, o->at[i].name, o->at[i].body, errs);
		if (!leave_out || !is_refusal(err))
			continue;
		err = drop(&o->at[i], errs);
		memset(errs, 0, sizeof(*errs));
	}
	return err ? err : config_check_whole(config, errs);
}

static bool good(const char *text, size_t size, const char *path, struct objects *o, unsigned count,
		 struct config_errors *errs)
{
	struct config *config = NULL;
	int err = fresh(text, size, path, &config, errs);

	memset(errs, 0, sizeof(*errs));
	if (!err)
		err = add_objects(config, o, count, false, errs);
	config_free(config);
	return !err;
}

/* Drop the first object with which the whole is not good; -EINVAL when that is none of them. */
static int drop_first_bad(const char *text, size_t size, const char *path, struct objects *o, struct config_errors *errs)
{
	unsigned low = 0, high = o->count, middle;	/* the first low are good, the first high are not */

	if (!good(text, size, path, o, 0, errs))
		return -EINVAL;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (good(text, size, path, o, middle, errs))
			low = middle;
		else
			high = middle;
	}
	if (!high || good(text, size, path, o, high, errs))
		return -EINVAL;
	return drop(&o->at[high - 1], errs);
}

static bool same(const struct object *o, const struct effective_change *change)
{
	return change && !strcmp(o->kind, change->kind) && !strcmp(o->name, change->name);
}

static const struct left_out *find_left_out(const struct left_outs *all, const struct object *o)
{
	unsigned i;

	for (i = 0; i < all->count; i++)
		if (!strcmp(all->at[i].kind, o->kind) && !strcmp(all->at[i].name, o->name))
			return &all->at[i];
	return NULL;
}

/* A change is all or nothing, but for what was out of force before it. */
static int skip_known(const struct control *c, struct objects *o, const struct effective_change *change)
{
	const struct left_out *l;
	unsigned i;

	for (i = 0; change && c->left_out.count && i < o->count; i++) {
		l = same(&o->at[i], change) ? NULL : find_left_out(&c->left_out, &o->at[i]);
		o->at[i].dropped = l ? strdup(l->why) : NULL;
		if (l && !o->at[i].dropped)
			return -ENOMEM;
	}
	return 0;
}

void left_outs_done(struct left_outs *l)
{
	unsigned i;

	for (i = 0; i < l->count; i++) {
		free(l->at[i].kind);
		free(l->at[i].name);
		free(l->at[i].why);
	}
	free(l->at);
	*l = (struct left_outs){ 0 };
}

/* Move those that were dropped to where they wait for effective_settle(). */
static int keep_dropped(struct control *c, struct objects *o)
{
	struct left_outs *to = &c->left_out_next;
	struct object *from;
	unsigned i;

	left_outs_done(to);
	to->at = calloc(o->count + 1, sizeof(*to->at));
	for (i = 0; to->at && i < o->count; i++) {
		from = &o->at[i];
		if (!from->dropped)
			continue;
		to->at[to->count++] = (struct left_out){ .kind = from->kind, .name = from->name, .why = from->dropped };
		from->kind = from->name = from->dropped = NULL;
	}
	return to->at ? 0 : -ENOMEM;
}

void effective_settle(struct control *c)
{
	left_outs_done(&c->left_out);
	c->left_out = c->left_out_next;
	c->left_out_next = (struct left_outs){ 0 };
}

int effective_make(struct control *c, const char *text, size_t size, const struct effective_change *change,
		   struct config **ret, struct config_errors *errs)
{
	struct objects o = { 0 };
	struct config *config = NULL;
	int err, drop_err;

	err = read_objects(c->objects, &o, &errs->at[0]);
	if (err) {
		errs->count = 1;
		goto out;
	}
	err = fresh(text, size, c->path, &config, errs);
	if (err)
		goto out;
	err = skip_known(c, &o, change);
	while (!err && is_refusal(err = add_objects(config, &o, o.count, !change, errs))) {
		if (change || (drop_err = drop_first_bad(text, size, c->path, &o, errs)) == -EINVAL)
			break;
		config_free(config);
		config = NULL;
		memset(errs, 0, sizeof(*errs));
		err = drop_err ? drop_err : fresh(text, size, c->path, &config, errs);
	}
	if (!err)
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
