/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * whole.c - what holds between the objects of a configuration, wherever they came from.
 *
 * Names become numbers here.  May be called again: all that it writes it writes anew.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config/whole.h"

#define RULE_SETS 3			/* rules, rewrites and safe_search; those of groups come on top */

void whole_fault(struct whole *w, const struct spot *s, const char *field, unsigned line, const char *fmt, ...)
{
	struct reader r = { .errs = w->errs };
	char key[ELEMENT_KEY_MAX], why[256];
	va_list ap;
	int err;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (s->origin == CONFIG_FROM_FILE)
		snprintf(key, sizeof(key), "%s[%u]%s%s", s->list, s->place.number, field ? "." : "", field ? field : "");
	else
		snprintf(key, sizeof(key), "%s %.60s%s%s", s->kind, s->name, field ? "." : "", field ? field : "");
	if (s->origin == CONFIG_FROM_FILE && *w->c->file)
		r.file = w->c->file;
	err = reader_error_line(&r, line, key, "%s", why);
	if (!w->err)
		w->err = err;
}

bool whole_is_full(const struct whole *w)
{
	return w->errs->count == CONFIG_ERRORS_MAX;
}

/* ---- names ---- */

static struct spot spot_list(const struct config_list *l)
{
	return (struct spot){ "filter.lists", "list", l->name, l->origin, l->place };
}

static struct spot spot_rewrite(const struct config_rewrite *r)
{
	return (struct spot){ "filter.rewrites", "rewrite", r->name, r->origin, r->place };
}

struct spot whole_spot_client(const struct config_client *c)
{
	return (struct spot){ "clients", "client", c->name, c->origin, c->place };
}

struct spot whole_spot_group(const struct config_group *g)
{
	return (struct spot){ "groups", "group", g->name, g->origin, g->place };
}

/* The second of two objects of one name. */
static void twice(struct whole *w, const struct spot *first, const struct spot *second)
{
	if (first->origin == CONFIG_FROM_FILE)
		whole_fault(w, second, NULL, second->place.line, "the name \"%.100s\" is that of element %u", second->name,
		      first->place.number);
	else
		whole_fault(w, second, NULL, second->place.line, "the name \"%.100s\" is there already", second->name);
}

/* Each name once within its kind; what has none was refused already. */
#define CHECK_NAMES(w, objects, spot_of, same) \
	do { \
		unsigned i_, j_; \
		for (i_ = 0; i_ < (objects)->count; i_++) { \
			for (j_ = 0; j_ < i_ && *(objects)->at[i_].name; j_++) { \
				if (!same(&(objects)->at[i_], &(objects)->at[j_])) \
					continue; \
				struct spot a_ = spot_of(&(objects)->at[j_]), b_ = spot_of(&(objects)->at[i_]); \
				twice(w, &a_, &b_); \
				break; \
			} \
		} \
	} while (0)

#define SAME_NAME(a, b)    (!strcmp((a)->name, (b)->name))
#define SAME_REWRITE(a, b) ((a)->below == (b)->below && SAME_NAME(a, b))

static void check_names(struct whole *w)
{
	CHECK_NAMES(w, &w->c->filter_lists, spot_list, SAME_NAME);
	CHECK_NAMES(w, &w->c->filter_rewrites, spot_rewrite, SAME_REWRITE);
	CHECK_NAMES(w, &w->c->clients, whole_spot_client, SAME_NAME);
	CHECK_NAMES(w, &w->c->groups, whole_spot_group, SAME_NAME);
}

/* ---- lists of groups ---- */

static int find_list(const struct config *c, const char *name)
{
	unsigned i;

	for (i = 0; i < c->filter_lists.count; i++)
		if (!strcmp(c->filter_lists.at[i].name, name))
			return (int)i;
	return -ENOENT;
}

static const char *nearest_list(const struct whole *w, const char *name)
{
	const struct config *c = w->c;
	const char *names[CONFIG_LISTS_MAX];
	unsigned i;

	if (whole_is_full(w))
		return NULL;
	for (i = 0; i < c->filter_lists.count && i < CONFIG_LISTS_MAX; i++)
		names[i] = c->filter_lists.at[i].name;
	return reader_nearest(name, names, i);
}

/* Mark the lists that are named; @of is what they must be among, NULL: all. */
static void mark_lists(struct whole *w, const struct spot *s, const char *field, const struct config_refs *refs,
		       const bool *of, bool *uses)
{
	const char *like;
	char quoted[64];
	unsigned i;
	int n;

	for (i = 0; i < refs->count; i++) {
		if (!*refs->at[i].name)
			continue;
		n = find_list(w->c, refs->at[i].name);
		reader_quote(refs->at[i].name, quoted, sizeof(quoted));
		if (n < 0) {
			like = nearest_list(w, refs->at[i].name);
			whole_fault(w, s, field, refs->at[i].line,
				    "expected the name of a list of filter.lists, not %s%s%s%s", quoted,
			      like ? "; did you mean \"" : "", like ? like : "", like ? "\"?" : "");
		} else if (of && !of[n]) {
			whole_fault(w, s, field, refs->at[i].line, "the group does not use the list %s", quoted);
		} else if (uses[n]) {
			whole_fault(w, s, field, refs->at[i].line, "the list %s is there already", quoted);
		} else {
			uses[n] = true;
		}
	}
}

/* Cleared flags, one for each list, in place of those of an earlier call. */
static bool *flags_anew(struct whole *w, bool **flags)
{
	free(*flags);
	*flags = calloc(w->c->filter_lists.count + 1, sizeof(bool));
	if (!*flags)
		w->err = -ENOMEM;
	return *flags;
}

static int check_group_lists(struct whole *w, struct config_group *g)
{
	const struct spot s = whole_spot_group(g);
	struct config_schedule *p;
	char field[40];
	unsigned i;

	g->lists = w->c->filter_lists.count;
	if (!flags_anew(w, &g->uses))
		return -ENOMEM;
	for (i = 0; g->all_lists && i < g->lists; i++)
		g->uses[i] = true;
	mark_lists(w, &s, "lists", &g->list_names, NULL, g->uses);
	for (i = 0; i < g->schedules.count; i++) {
		p = &g->schedules.at[i];
		if (!flags_anew(w, &p->uses))
			return -ENOMEM;
		snprintf(field, sizeof(field), "schedules[%u].lists", i);
		mark_lists(w, &s, field, &p->lists, g->uses, p->uses);
	}
	return 0;
}

/* ---- blocks of groups ---- */

/* What the group does not say itself is that of filter.block. */
static void check_block(struct whole *w, struct config_group *g)
{
	const struct spot s = whole_spot_group(g);
	const struct config *c = w->c;
	struct config_block *b = &g->block;
	/* The addresses of filter.block are somebody's choice when that is custom. */
	bool chosen = c->filter_block_mode == CONFIG_BLOCK_CUSTOM;

	if (!b->own_mode)
		b->mode = c->filter_block_mode;
	if (!b->own_ttl)
		b->ttl = c->filter_block_ttl;
	if (!b->own_ipv4)
		b->ipv4 = c->filter_block_ipv4;
	if (!b->own_ipv6)
		b->ipv6 = c->filter_block_ipv6;
	if (!b->own_ede)
		b->ede = c->filter_block_ede;
	if (b->mode == CONFIG_BLOCK_CUSTOM && !b->own_ipv4 && !b->own_ipv6 && !chosen)
		whole_fault(w, &s, "block.mode", b->line, "custom needs block.ipv4, block.ipv6 or both");
	if (b->mode != CONFIG_BLOCK_CUSTOM && b->own_ipv4)
		whole_fault(w, &s, "block.ipv4", b->line, "only with block.mode custom");
	if (b->mode != CONFIG_BLOCK_CUSTOM && b->own_ipv6)
		whole_fault(w, &s, "block.ipv6", b->line, "only with block.mode custom");
}

/* ---- the whole ---- */

/* Make the group default the first; where nobody made it, it is there with nothing special. */
static int place_default(struct whole *w)
{
	struct config_groups *g = &w->c->groups;
	struct config_group first = { .name = "default", .all_lists = true }, *more;
	unsigned i;

	for (i = 0; i < g->count; i++)
		if (!strcmp(g->at[i].name, "default"))
			break;
	if (i == g->count) {
		more = realloc(g->at, (g->count + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		g->at = more;
		g->count++;
	} else {
		first = g->at[i];
	}
	memmove(&g->at[1], &g->at[0], i * sizeof(*g->at));
	g->at[0] = first;
	return 0;
}

/* Note an error when there are more of something than there may be. */
static void bound(struct whole *w, const char *key, unsigned count, unsigned max, const char *what)
{
	struct reader r = { .file = *w->c->file ? w->c->file : NULL, .errs = w->errs };
	int err;

	if (count <= max)
		return;
	err = reader_error_line(&r, 0, key, "expected at most %u %s, there are %u", max, what, count);
	if (!w->err)
		w->err = err;
}

/* The readers bound what the file has; what was made at run time comes on top. */
static void check_bounds(struct whole *w)
{
	const struct config *c = w->c;
	unsigned i, sets = RULE_SETS;

	for (i = 0; i < c->groups.count; i++)
		sets += c->groups.at[i].rules.count > 0;
	bound(w, "filter.lists", c->filter_lists.count, CONFIG_SOURCES_MAX - sets, "lists beside the sets of rules");
	bound(w, "filter.rules", c->filter_rules.count, CONFIG_RULES_MAX, "rules");
	bound(w, "filter.rewrites", c->filter_rewrites.count, CONFIG_REWRITES_MAX, "names");
	bound(w, "clients", c->clients.count, CONFIG_CLIENTS_MAX, "clients");
	bound(w, "groups", c->groups.count, CONFIG_GROUPS_MAX, "groups with the group default");
}

int config_check_whole(struct config *c, struct config_errors *errs)
{
	struct whole w = { .c = c, .errs = errs };
	unsigned i;

	if (place_default(&w))
		return -ENOMEM;
	check_bounds(&w);
	check_names(&w);
	for (i = 0; i < c->groups.count; i++) {
		if (check_group_lists(&w, &c->groups.at[i]))
			return -ENOMEM;
		check_block(&w, &c->groups.at[i]);
		whole_members(&w, &c->groups.at[i]);
	}
	whole_owners(&w, false);
	whole_owners(&w, true);
	return w.err;
}
