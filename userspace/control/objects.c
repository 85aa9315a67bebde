/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * objects.c - objects made at run time: stored, in force, taken away.
 *
 * A change is checked on a copy of the configuration, written in a transaction,
 * compiled, committed, and put in force; what fails on the way undoes it all.
 */
#define LOG_ROOM "control"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "control/internal.h"

#define RESOLV_CONF "/etc/resolv.conf"

/* ---- the database ---- */

int objects_open(struct control *c, const char *folder, struct err_at *reterr)
{
	char path[CONFIG_PATH_MAX + 16];
	int err;

	snprintf(path, sizeof(path), "%s/state.db", folder);
	err_where(reterr, NULL, 0, "state");
	err = state_open(path, c->uid, c->gid, &c->objects, reterr);
	if (err == -EPROTONOSUPPORT || err == -ENOMEM || err == -EBUSY)
		return err;
	/* A disk that takes nothing must not keep a daemon from starting. */
	if (err) {
		snprintf(c->objects_why, sizeof(c->objects_why), "%s", reterr->why);
		log_err("%s: there are no objects of millctl, and none can be made while that is so", reterr->why);
		return 0;
	}
	if (*state_damage(c->objects))
		log_err("%s", state_damage(c->objects));
	if (*state_read_only(c->objects))
		log_warn("%s: nothing that millctl makes can be kept, so it is refused while that is so",
			 state_read_only(c->objects));
	return pause_load(c, reterr);
}

/* One that could not even be read: what is in it comes into force before the change that was asked for. */
static int open_again(struct control *c, struct err_at *reterr)
{
	struct err_at at = { 0 };
	int err = objects_open(c, c->state, &at);

	if (err || !c->objects)
		return err_why(reterr, err == -ENOMEM || err == -EBUSY ? err : -EROFS, "the state database cannot be opened: %s", at.why);
	log_info("the state database is open again");
	err = control_recompile(c, &at);
	pause_tick(c);
	return err ? err_why(reterr, -EINVAL, "what the state database has cannot be put in force: %s", at.why) : 0;
}

int objects_writable(struct control *c, struct err_at *reterr)
{
	bool was_read_only = c->objects && *state_read_only(c->objects);
	int err = c->objects ? 0 : open_again(c, reterr);

	if (!err)
		err = state_writable(c->objects, reterr);
	if (!err && was_read_only)
		log_info("the state database can be written again");
	return err;
}

/* ---- one object ---- */

struct wanted {
	const char *name;
	char *body;			/* NULL: not found */
};

static int keep_body(void *arg, const struct state_object *o)
{
	struct wanted *w = arg;

	if (strcmp(o->name, w->name))
		return 0;
	w->body = strdup(o->body);
	return w->body ? -ECANCELED : -ENOMEM;
}

/* The body as it is stored (the caller's); NULL when there is none. */
static int stored(struct control *c, const char *kind, const char *name, char **ret, struct err_at *reterr)
{
	struct wanted w = { .name = name };
	int err = state_each(c->objects, kind, keep_body, &w, reterr);

	*ret = w.body;
	return err == -ECANCELED ? 0 : err;
}

/* A rule of a group, by the name of the object that it would be. */
static const struct config_rule *group_rule(const struct config *c, const char *name)
{
	const struct config_group *g;
	unsigned i, j;
	size_t n;

	for (i = 0; i < c->groups.count; i++) {
		g = &c->groups.at[i];
		n = strlen(g->name);
		for (j = 0; !strncmp(g->name, name, n) && name[n] == ' ' && j < g->rules.count; j++)
			if (!strcmp(g->rules.at[j].text, name + n + 1))
				return &g->rules.at[j];
	}
	return NULL;
}

/* Is it one of the file's? */
static bool of_file(const struct config *c, const char *kind, const char *name)
{
	const struct config_rule *rule = strcmp(kind, CONFIG_GROUP_RULE) ? NULL : group_rule(c, name);
	char shown[CONFIG_DNS_NAME_MAX + 2];
	unsigned i;

	if (rule && rule->origin == CONFIG_FROM_FILE)
		return true;
#define LOOK(word, array, expression)                                                          \
	for (i = 0; !strcmp(kind, word) && i < (array).count; i++)                             \
		if ((array).at[i].origin == CONFIG_FROM_FILE && !strcmp(expression, name))     \
			return true;
	LOOK("list", c->filter_lists, c->filter_lists.at[i].name)
	LOOK("rule", c->filter_rules, c->filter_rules.at[i].text)
	LOOK("client", c->clients, c->clients.at[i].name)
#undef LOOK
	/* The group default that nobody wrote stands in no line. */
	for (i = 0; !strcmp(kind, "group") && i < c->groups.count; i++)
		if (c->groups.at[i].origin == CONFIG_FROM_FILE && c->groups.at[i].place.line &&
		    !strcmp(c->groups.at[i].name, name))
			return true;
	for (i = 0; !strcmp(kind, "rewrite") && i < c->filter_rewrites.count; i++) {
		snprintf(shown, sizeof(shown), "%s%s", c->filter_rewrites.at[i].below ? "*." : "",
			 c->filter_rewrites.at[i].name);
		if (c->filter_rewrites.at[i].origin == CONFIG_FROM_FILE && !strcmp(shown, name))
			return true;
	}
	return false;
}

/* The group whose rule it is; NULL when it is of none. */
static const char *group_of_rule(const struct config *c, const char *text, bool *ret_added)
{
	unsigned g, i;

	for (g = 0; g < c->groups.count; g++)
		for (i = 0; i < c->groups.at[g].rules.count; i++)
			if (!strcmp(c->groups.at[g].rules.at[i].text, text)) {
				*ret_added = c->groups.at[g].rules.at[i].added;
				return c->groups.at[g].name;
			}
	return NULL;
}

static int not_there(const struct config *c, const struct effective_change *w, struct err_at *reterr)
{
	bool added = false;
	const char *group = strcmp(w->kind, "rule") ? NULL : group_of_rule(c, w->name, &added);

	if (!strcmp(w->kind, CONFIG_GROUP_RULE))
		return err_why(reterr, -ENOENT, group_rule(c, w->name) ?
			       "the group itself has it (%.200s): change the group" : "the group has no such rule (%.200s)", w->name);
	if (group && added)
		return err_why(reterr, -ENOENT, "the rule %.200s was made for the group %.63s: name the group", w->name, group);
	if (group)
		return err_why(reterr, -ENOENT, "the rule %.200s is of the group %.63s: change it there", w->name, group);
	return err_why(reterr, -ENOENT, "there is no %s \"%.200s\"", w->kind, w->name);
}

struct change {
	struct effective_change what;	/* json NULL: take it away */
	bool replace;
	struct err_at *reterr;
};

/* What an error of the configuration's is for whoever makes a change. */
static int refused(const struct change *ch, int err, const struct config_errors *errs)
{
	if (errs->count)
		*ch->reterr = errs->at[0];
	/* The database has it once, so what stands in the way is of the file. */
	return err == -EEXIST ? -EPERM : err;
}

static int note(struct control *c, const struct change *ch, char **ret_old)
{
	const struct effective_change *w = &ch->what;
	int err = objects_writable(c, ch->reterr);

	if (!err)
		err = stored(c, w->kind, w->name, ret_old, ch->reterr);
	if (err)
		return err;
	if (!*ret_old && of_file(c->snapshot->config, w->kind, w->name))
		return err_why(ch->reterr, -EPERM, "the %s %.200s is managed by file: change it in %.100s", w->kind,
			       w->name, c->path);
	if (!*ret_old && !w->json)
		return not_there(c->snapshot->config, w, ch->reterr);
	if (*ret_old && w->json && !ch->replace)
		return err_why(ch->reterr, -EEXIST, "there is a %s \"%.200s\" already", w->kind, w->name);
	err = state_begin(c->objects, ch->reterr);
	if (err)
		return err;
	return w->json ? state_put(c->objects, w->kind, w->name, w->json, schedule_now_s(), ch->reterr) :
			 state_delete(c->objects, w->kind, w->name, ch->reterr);
}

/* What makes a change real: a filter that was compiled, or an entry of the one in force. */
struct work {
	bool in_place;
	struct filter_edit edit;
	struct filter_job job;
};

/* The filter of @config.  One entry changes where that will do; all else is compiled. */
static int prepare_filter(struct control *c, const struct change *ch, const struct config *config, struct work *ret)
{
	int err;

	ret->in_place = !strcmp(ch->what.kind, "rule") && !edit_plan(c, config, &ret->edit);
	if (ret->in_place)
		return 0;
	err = fetch_want(c, config, ch->reterr);
	return err ? err : filter_prepare(c, config, FEED_AS_BEFORE, &ret->job, ch->reterr);
}

static int adopt(struct control *c, const struct change *ch, struct snapshot *s, struct work *w)
{
	return w->in_place ? edit_make(c, &w->edit, s) : filter_adopt(c, s, &w->job, ch->reterr);
}

/* One try at prepare(). */
static int prepare_once(struct control *c, const struct change *ch, struct snapshot **ret, struct work *work)
{
	struct config_errors *errs = calloc(1, sizeof(*errs));
	struct config *config = NULL;
	int err = errs ? effective_make(c, c->text, c->text_size, &ch->what, &config, errs) : -ENOMEM;

	if (err) {
		if (errs)
			err = refused(ch, err, errs);
		free(errs);
		return err;
	}
	free(errs);
	err = servers_resolve(config, RESOLV_CONF, ch->reterr);
	if (err) {
		config_free(config);
		return -EINVAL;
	}
	err = snapshot_make(c, config, ret, ch->reterr);
	if (!err)
		err = prepare_filter(c, ch, config, work);
	/* What is wrong with a file, or with what the object asks for, is not about the database. */
	return err && err != -ENOMEM && err != -ENOSPC ? -EINVAL : err;
}

/* A snapshot of the configuration with the change, and its filter, ready to be put in force. */
static int prepare(struct control *c, const struct change *ch, struct snapshot **ret, struct work *work)
{
	struct change alone = *ch;
	struct err_at ignored;
	int err = prepare_once(c, ch, ret, work);

	/* What comes back with a change must not be what it fails of. */
	if (!err || err == -ENOMEM || c->left_out_next.count >= c->left_out.count)
		return err;
	if (*ret)
		fetch_want(c, c->snapshot->config, &ignored);
	snapshot_unref(*ret);
	*ret = NULL;
	alone.what.alone = true;
	return prepare_once(c, &alone, ret, work);
}

static void undo(struct control *c, const struct change *ch, const char *old)
{
	struct err_at at = { 0 };
	int err = old ? state_put(c->objects, ch->what.kind, ch->what.name, old, schedule_now_s(), &at) :
			state_delete(c->objects, ch->what.kind, ch->what.name, &at);

	if (!err)
		return;
	log_err("%s %s: stored, but not in force, and it cannot be undone: %s", ch->what.kind, ch->what.name, at.why);
	/* The next change comes to more than itself. */
	c->edits = EDITS_NONE;
}

/* A list that is yet to be fetched is not in force, and one that cannot be read is not either. */
static void log_done(const struct control *c, const struct effective_change *w)
{
	const struct config_lists *l = &c->snapshot->config->filter_lists;
	unsigned i;

	for (i = 0; w->json && !strcmp(w->kind, "list") && i < l->count; i++)
		if (!strcmp(l->at[i].name, w->name) && !c->lists[i].loaded) {
			log_info("list %s is made, and not in force yet: %s", w->name, c->lists[i].error);
			return;
		}
	log_info("%s %s %s", w->kind, w->name, w->json ? "is in force" : "is gone");
}

/* What is wrong here is not about what was looked at last. */
static int commit(struct control *c, const struct change *ch)
{
	err_where(ch->reterr, NULL, 0, "state");
	return state_commit(c->objects, ch->reterr);
}

static int do_change(struct control *c, void *arg)
{
	const struct change *ch = arg;
	struct work *work = calloc(1, sizeof(*work));
	struct snapshot *s = NULL;
	struct err_at ignored;
	char *old = NULL;
	int err = work ? note(c, ch, &old) : -ENOMEM;

	if (!err)
		err = prepare(c, ch, &s, work);
	if (!err)
		err = commit(c, ch);
	if (err)
		goto out;
	err = adopt(c, ch, s, work);
	if (err) {
		undo(c, ch, old);
		goto out;
	}
	effective_settle(c);
	s = NULL;
	if (!work->in_place)
		lists_sweep(c->fetch);
	if (!ch->what.json)
		pause_drop(c, ch->what.kind, ch->what.name);
	log_done(c, &ch->what);
out:
	if (c->objects)
		state_rollback(c->objects);
	if (s)
		fetch_want(c, c->snapshot->config, &ignored);
	if (work)
		filter_job_done(c, &work->job);
	free(work);
	snapshot_unref(s);
	free(old);
	return err;
}

int control_object_put(struct control *c, const char *kind, const char *name, const char *json, bool replace,
		       struct err_at *reterr)
{
	struct change ch = { .what = { .kind = kind, .name = name, .json = json }, .replace = replace, .reterr = reterr };

	return call_control(c, do_change, &ch);
}

int control_object_delete(struct control *c, const char *kind, const char *name, struct err_at *reterr)
{
	struct change ch = { .what = { .kind = kind, .name = name }, .reterr = reterr };

	return call_control(c, do_change, &ch);
}

/* ---- looking ---- */

static int take_snapshot(struct control *c, void *arg)
{
	struct snapshot **ret = arg;

	*ret = snapshot_ref(c->snapshot);
	return 0;
}

int control_look(struct control *c, void (*look)(const struct config *config, void *arg), void *arg)
{
	struct snapshot *s = NULL;
	int err = call_control(c, take_snapshot, &s);

	if (err)
		return err;
	look(s->config, arg);
	snapshot_unref(s);
	return 0;
}
