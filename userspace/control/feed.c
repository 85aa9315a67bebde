/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * feed.c - all that the filter is made of, given to a compilation: lists from
 * files and from URLs, rules, local names, safe search.
 */
#define LOG_ROOM "control"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "control/internal.h"
#include "policy/compile.h"
#include "policy/local.h"

struct feed {
	struct control *c;
	const struct config *config;
	struct sources sources;
	struct compile *to;
	enum feed_mode mode;
	struct left_outs *bad;
	struct err_at *reterr;
};

/* ---- lists ---- */

/* The copy of a list from a URL; NULL when there is none yet, and @state says so. */
static const char *copy_of(const struct feed *f, const struct config_list *l, struct list_state *state,
			   struct lists_status *st)
{
	if (f->c->fetch && lists_find(f->c->fetch, l->name, st) == 0 && st->have)
		return st->path;
	snprintf(state->error, sizeof(state->error), "not fetched yet");
	return NULL;
}

static int read_list(const struct feed *f, unsigned number, const char *path, struct list_report *ret)
{
	const struct config_list *l = &f->config->filter_lists.at[number];
	struct err_at at = { .why = "" };
	const char *why;
	size_t size;
	char *text;
	int err;

	err_where(f->reterr, l->file, 0, l->name);
	err = lists_read_file(path, &text, &size, &at);
	if (err)
		return err_why(f->reterr, err, "the list cannot be read: %s", at.why);
	why = list_refuse(text, size);
	if (!why)
		why = list_refuse_whole(text, size, (enum list_format)l->format);
	if (why)
		err = err_why(f->reterr, -EINVAL, "%s is no list: %s", path, why);
	else
		err = compile_list(f->to, number, text, size, (enum list_format)l->format,
				   l->action == CONFIG_LIST_ALLOW, ret);
	free(text);
	if (err && !why)
		err_why(f->reterr, err, "the list cannot be taken: %s", strerror(-err));
	return err;
}

/* Has nobody had this list when the change was asked for? */
static bool was_missing(const struct control *c, const struct config_list *l)
{
	const struct config_lists *before = &c->snapshot->config->filter_lists;
	unsigned i;

	if (l->origin == CONFIG_FROM_STATE && left_outs_find(&c->left_out, "list", l->name))
		return true;
	for (i = 0; c->lists && i < before->count; i++)
		if (!strcmp(before->at[i].name, l->name))
			return !c->lists[i].loaded;
	return false;
}

static bool list_is_needed(const struct feed *f, const struct config_list *l)
{
	return !l->url && (f->mode == FEED_ALL || (f->mode == FEED_AS_BEFORE && !was_missing(f->c, l)));
}

static int feed_lists(const struct feed *f, struct list_state *states)
{
	const struct config_lists *l = &f->config->filter_lists;
	struct lists_status st;
	const char *path;
	unsigned i;
	int err;

	for (i = 0; i < l->count; i++) {
		path = l->at[i].url ? copy_of(f, &l->at[i], &states[i], &st) : l->at[i].file;
		if (!path)
			continue;
		err = read_list(f, i, path, &states[i].report);
		states[i].loaded = !err;
		if (!err)
			continue;
		if (list_is_needed(f, &l->at[i]) || err == -ENOMEM)
			return err;
		snprintf(states[i].error, sizeof(states[i].error), "%.255s", f->reterr->why);
	}
	return 0;
}

/* ---- rules ---- */

/* Those of a group are told from those for all, and from those of another. */
static const char *rule_kind(const char *group, char *buf, size_t size)
{
	snprintf(buf, size, group ? "rule of group %s" : "rule", group);
	return buf;
}

/*
 * May a bad rule be left out?  One that was, when a change is asked for or the
 * file is read again, is not that change's fault.  With a filter that an
 * earlier run compiled nobody knows yet which were.
 */
static bool may_be_bad(const struct feed *f, const struct config_rule *u, const char *kind, const char *group)
{
	bool known = left_outs_find(&f->c->bad_rules, kind, u->text) != NULL;

	if (f->mode == FEED_ALL)
		return known && u->origin == CONFIG_FROM_STATE;
	if (f->mode == FEED_ANYHOW || known || !f->c->lists)
		return true;
	return u->origin == CONFIG_FROM_STATE &&
	       left_outs_find(&f->c->left_out, group ? "group" : "rule", group ? group : u->text);
}

static int leave_out(const struct feed *f, const struct config_rule *u, const char *kind, const char *where)
{
	if (!left_outs_find(&f->c->bad_rules, kind, u->text))
		log_warn("%s is not in force: %s", where, f->reterr->why);
	return left_outs_add(f->bad, kind, u->text, f->reterr->why, u->origin);
}

/* @group  whose rules they are; NULL: of all */
static int feed_rules(const struct feed *f, const struct config_rules *r, unsigned source, const char *group)
{
	char where[160], kind[96];
	unsigned i;
	int err = 0;

	rule_kind(group, kind, sizeof(kind));
	for (i = 0; i < r->count && !err; i++) {
		if (r->at[i].origin == CONFIG_FROM_STATE)
			snprintf(where, sizeof(where), "%s %.60s", kind, r->at[i].text);
		else if (group)
			snprintf(where, sizeof(where), "group %s: rules[%u]", group, r->at[i].place.number);
		else
			snprintf(where, sizeof(where), "filter.rules[%u]", r->at[i].place.number);
		err_where(f->reterr, r->at[i].origin == CONFIG_FROM_STATE ? NULL : f->config->file,
			  r->at[i].place.line, where);
		err = compile_rule(f->to, source, r->at[i].text, f->reterr);
		if (err && err != -ENOMEM && may_be_bad(f, &r->at[i], kind, group))
			err = leave_out(f, &r->at[i], kind, where);
	}
	return err;
}

static int feed_group_rules(const struct feed *f)
{
	const struct config_groups *g = &f->config->groups;
	unsigned i;
	int err = 0;

	for (i = 0; i < g->count && !err; i++)
		if (f->sources.group[i] != SOURCE_NONE)
			err = feed_rules(f, &g->at[i].rules, f->sources.group[i], g->at[i].name);
	return err;
}

/* ---- local names ---- */

struct local_to {
	const struct feed *f;
	unsigned source;
};

static int take_item(void *arg, const struct rule_item *item)
{
	const struct local_to *t = arg;

	return compile_item(t->f->to, t->source, item);
}

static int feed_rewrites(const struct feed *f)
{
	const struct config_rewrites *r = &f->config->filter_rewrites;
	struct local_to to = { .f = f, .source = f->sources.rewrites };
	struct local_name n;
	unsigned i;
	int err = 0;

	for (i = 0; i < r->count && !err; i++) {
		n = (struct local_name){ .name = r->at[i].name, .below = r->at[i].below, .answer = r->at[i].answer,
					 .answers = r->at[i].answers, .target = r->at[i].target, .ttl = r->at[i].ttl,
					 .number = i };
		err_where(f->reterr, NULL, 0, r->at[i].name);
		err = local_items(&n, take_item, &to);
		if (err)
			err_why(f->reterr, err, "the local name cannot be taken: %s", strerror(-err));
	}
	if (!err)
		err = local_canaries(take_item, &to);
	return err;
}

static int feed_safe_search(const struct feed *f)
{
	struct local_to to = { .f = f, .source = f->sources.safe_search };
	unsigned i;

	for (i = 0; i < f->config->groups.count; i++)
		if (f->config->groups.at[i].safe_search)
			return local_safe_search(take_item, &to);
	return 0;
}

int feed_all(struct control *c, const struct config *config, enum feed_mode mode, struct compile *to, struct list_state *states,
	     struct left_outs *bad, struct err_at *reterr)
{
	struct feed f = { .c = c, .config = config, .to = to, .mode = mode, .bad = bad, .reterr = reterr };
	int err;

	sources_number(config, &f.sources);
	/* lists last: what has no place any more is theirs */
	err = feed_rules(&f, &config->filter_rules, f.sources.rules, NULL);
	if (!err)
		err = feed_rewrites(&f);
	if (!err)
		err = feed_safe_search(&f);
	if (!err)
		err = feed_group_rules(&f);
	if (!err)
		err = feed_lists(&f, states);
	return err;
}
