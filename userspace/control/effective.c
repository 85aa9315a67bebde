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

/* Kinds in this order: groups name lists and clients, and have rules. */
static const char *const kinds[] = { "list", "rule", "rewrite", "client", "group", CONFIG_GROUP_RULE };

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

/*
 * Returns how many of the first objects are good together, of which @low are known
 * to be; with one more, @ret_bad of them, they are not.
 */
static unsigned find_bad(const char *text, size_t size, const char *path, struct objects *o, unsigned low,
			 unsigned *ret_bad, struct config_errors *errs)
{
	unsigned high = low, step, middle;

	/* by growing steps: those that clash were often made together */
	for (step = 1; low < o->count; step *= 2) {
		high = step < o->count - low ? low + step : o->count;
		if (!good(text, size, path, o, high, errs))
			break;
		low = high;
	}
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (good(text, size, path, o, middle, errs))
			low = middle;
		else
			high = middle;
	}
	*ret_bad = high;
	return low;
}

/* Drop each object with which the whole, as far as it is kept, is not good; -EINVAL when that is none of them. */
static int drop_bad(const char *text, size_t size, const char *path, struct objects *o, struct config_errors *errs)
{
	unsigned low = 0, bad, dropped = 0;
	int err = 0;

	if (!good(text, size, path, o, 0, errs))
		return -EINVAL;
	while (!err && find_bad(text, size, path, o, low, &bad, errs) < o->count) {
		low = bad;
		/* its errors, which a look at fewer has cleared */
		if (!errs->count && good(text, size, path, o, bad, errs))
			continue;
		err = drop(&o->at[bad - 1], errs);
		dropped++;
	}
	return err ? err : dropped ? 0 : -EINVAL;
}

/* ---- a change ---- */

/* What is laid over the file, again and again. */
struct laying {
	struct control *c;
	const char *text;		/* of the file */
	size_t size;
	struct objects o;
	struct config_errors *errs;
	unsigned *out;			/* those that were left out before and may come back, by number */
	unsigned outs;
};

static bool same(const struct object *o, const struct effective_change *change)
{
	return !strcmp(o->kind, change->kind) && !strcmp(o->name, change->name);
}

static int set_dropped(struct object *o, const char *why)
{
	char *copy = strdup(why);

	if (!copy)
		return -ENOMEM;
	free(o->dropped);
	o->dropped = copy;
	return 0;
}

static void want(struct object *o)
{
	free(o->dropped);
	o->dropped = NULL;
}

/* A rule for all stands in the way of such alone: nobody has to try all others whenever one is made. */
static bool may_come_back(const struct object *o, const struct effective_change *change)
{
	return strcmp(change->kind, "rule") || !strcmp(o->kind, "rule");
}

/* A change is all or nothing, but for what was out of force before it. */
static int drop_known(struct laying *l, const struct effective_change *change)
{
	const struct left_out *known;
	unsigned i;
	int err = 0;

	l->out = calloc(l->o.count + 1, sizeof(*l->out));
	if (!l->out)
		return -ENOMEM;
	for (i = 0; i < l->o.count && l->c->left_out.count && !err; i++) {
		known = same(&l->o.at[i], change) ? NULL :
			left_outs_find(&l->c->left_out, l->o.at[i].kind, l->o.at[i].name);
		if (!known)
			continue;
		err = set_dropped(&l->o.at[i], known->why);
		if (may_come_back(&l->o.at[i], change))
			l->out[l->outs++] = i;
	}
	return err;
}

/* Lay all that is not dropped over the file. */
static int lay(struct laying *l, struct config **ret)
{
	struct config *config = NULL;
	int err;

	memset(l->errs, 0, sizeof(*l->errs));
	err = fresh(l->text, l->size, l->c->path, &config, l->errs);
	if (!err)
		err = add_objects(config, &l->o, l->o.count, false, l->errs);
	if (err)
		config_free(config);
	else
		*ret = config;
	return err;
}

/* What is refused for itself is looked at once, not in every trial: what is left is what may come back. */
static int drop_refused(struct laying *l)
{
	struct config *config = NULL;
	struct object *o;
	unsigned i, at = 0, kept = 0;
	int err = fresh(l->text, l->size, l->c->path, &config, l->errs);
	bool known;

	for (i = 0; i < l->o.count && !err; i++) {
		o = &l->o.at[i];
		known = at < l->outs && l->out[at] == i;
		at += known;
		if (o->dropped && !known)
			continue;
		memset(l->errs, 0, sizeof(*l->errs));
		err = config_overlay(config, o->kind, o->name, o->body, l->errs);
		if (known && !err)
			l->out[kept++] = i;
		else if (known && is_refusal(err))
			err = set_dropped(o, l->errs->at[0].why);
		else if (is_refusal(err))
			err = 0;		/* it has been laid; what stands in its way are some that shall come back */
	}
	if (!err)
		l->outs = kept;
	config_free(config);
	return err;
}

/*
 * Take back into @best those from @low up to @high that can be; halves that
 * cannot be are looked into.  0 or -ENOMEM.
 */
static int take_back(struct laying *l, unsigned low, unsigned high, struct config **best)
{
	struct config *config = NULL;
	unsigned i, middle = low + (high - low) / 2;
	int err;

	if (low == high)
		return 0;
	for (i = low; i < high; i++)
		want(&l->o.at[l->out[i]]);
	err = lay(l, &config);
	if (!err) {
		config_free(*best);
		*best = config;
		return 0;
	}
	if (!is_refusal(err))
		return err;
	for (i = low, err = 0; i < high && !err; i++)
		err = set_dropped(&l->o.at[l->out[i]], l->errs->at[0].why);
	if (err || high - low == 1)
		return err;
	err = take_back(l, low, middle, best);
	return err ? err : take_back(l, middle, high, best);
}

static int make_changed(struct laying *l, const struct effective_change *change, struct config **ret)
{
	struct config *config = NULL;
	int err = drop_known(l, change);

	if (!err)
		err = lay(l, &config);
	if (!err && l->outs && !change->alone) {
		err = drop_refused(l);
		if (!err)
			err = take_back(l, 0, l->outs, &config);
		memset(l->errs, 0, sizeof(*l->errs));
	}
	if (err)
		config_free(config);
	else
		*ret = config;
	return err;
}

/* ---- a reading of the file ---- */

static int make_anew(struct laying *l, struct config **ret)
{
	struct config *config = NULL;
	int err = fresh(l->text, l->size, l->c->path, &config, l->errs), drop_err;

	if (err)
		return err;
	while (is_refusal(err = add_objects(config, &l->o, l->o.count, true, l->errs))) {
		drop_err = drop_bad(l->text, l->size, l->c->path, &l->o, l->errs);
		if (drop_err == -EINVAL)
			break;
		config_free(config);
		config = NULL;
		memset(l->errs, 0, sizeof(*l->errs));
		err = drop_err ? drop_err : fresh(l->text, l->size, l->c->path, &config, l->errs);
		if (err)
			break;
	}
	if (err)
		config_free(config);
	else
		*ret = config;
	return err;
}

/* Note those that were dropped where they wait for effective_settle(). */
static int keep_dropped(struct control *c, const struct objects *o)
{
	unsigned i;
	int err = 0;

	left_outs_done(&c->left_out_next);
	for (i = 0; i < o->count && !err; i++)
		if (o->at[i].dropped)
			err = left_outs_add(&c->left_out_next, o->at[i].kind, o->at[i].name, o->at[i].dropped,
					    CONFIG_FROM_STATE);
	return err;
}

void effective_settle(struct control *c)
{
	unsigned i;

	for (i = 0; i < c->left_out.count; i++)
		if (!left_outs_find(&c->left_out_next, c->left_out.at[i].kind, c->left_out.at[i].name))
			log_info("%s %s is not left out any more", c->left_out.at[i].kind, c->left_out.at[i].name);
	left_outs_done(&c->left_out);
	c->left_out = c->left_out_next;
	c->left_out_next = (struct left_outs){ 0 };
}

int effective_make(struct control *c, const char *text, size_t size, const struct effective_change *change,
		   struct config **ret, struct config_errors *errs)
{
	struct laying l = { .c = c, .text = text, .size = size, .errs = errs };
	struct config *config = NULL;
	int err = read_objects(c->objects, &l.o, &errs->at[0]);

	if (err)
		errs->count = 1;
	else
		err = change ? make_changed(&l, change, &config) : make_anew(&l, &config);
	if (!err)
		err = keep_dropped(c, &l.o);
	if (!err) {
		*ret = config;
		config = NULL;
	}
	config_free(config);
	objects_done(&l.o);
	free(l.out);
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
