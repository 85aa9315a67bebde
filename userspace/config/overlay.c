/* SPDX-License-Identifier: BSD-2-Clause */
/* overlay.c - objects that were made at run time, added to what the file says. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config/document.h"
#include "config/elements.h"

static void done_list(void *o)
{
	list_done(o);
}

static void done_rule(void *o)
{
	rule_done(o);
}

static void done_nothing(void *o)
{
}

static void done_client(void *o)
{
	client_done(o);
}

static void done_group(void *o)
{
	group_done(o);
}

/* Whether two objects of a kind are one; the second is in the configuration already. */
static bool same_list(const void *a, const void *b)
{
	return !strcmp(((const struct config_list *)a)->name, ((const struct config_list *)b)->name);
}

static bool same_rule(const void *a, const void *b)
{
	const struct config_rule *x = a, *y = b;

	return x->sum == y->sum && !strcmp(x->text, y->text);
}

static bool same_rewrite(const void *a, const void *b)
{
	const struct config_rewrite *x = a, *y = b;

	return x->below == y->below && !strcmp(x->name, y->name);
}

static bool same_client(const void *a, const void *b)
{
	return !strcmp(((const struct config_client *)a)->name, ((const struct config_client *)b)->name);
}

static bool same_group(const void *a, const void *b)
{
	return !strcmp(((const struct config_group *)a)->name, ((const struct config_group *)b)->name);
}

#define KIND_ROW(word, of, member, max) \
	{ #word, sizeof(struct config_##word), of, offsetof(struct config, member), offsetof(struct config_##word, origin), \
	  offsetof(struct config_##word, place), element_##word, same_##word, max }

static const struct kind {
	const char *word;
	size_t size;
	void (*done)(void *object);
	size_t array;			/* of the objects, in struct config */
	size_t origin, place;		/* in an object */
	element_reader *read;
	bool (*same)(const void *a, const void *b);
	unsigned max;			/* so many, those of the file too; of lists the whole says it */
} kinds[] = {
	KIND_ROW(list, done_list, filter_lists, UINT_MAX),
	KIND_ROW(rule, done_rule, filter_rules, CONFIG_RULES_MAX),
	KIND_ROW(rewrite, done_nothing, filter_rewrites, CONFIG_REWRITES_MAX),
	KIND_ROW(client, done_client, clients, CONFIG_CLIENTS_MAX),
	KIND_ROW(group, done_group, groups, CONFIG_GROUPS_MAX),
};

static const struct kind *kind_find(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].word, word))
			return &kinds[i];
	return NULL;
}

/* True for the group default that nobody wrote: it is the first and in no line. */
static bool is_implied(const struct config *c, const struct kind *k, const void *object)
{
	return object == c->groups.at && k->read == element_group && c->groups.count &&
	       c->groups.at[0].origin == CONFIG_FROM_FILE && !c->groups.at[0].place.line;
}

/* What is there of that name; NULL: nothing. */
static void *taken_by(struct config *c, const struct kind *k, const void *object)
{
	const struct element_array *a = (const void *)((char *)c + k->array);
	char *p = a->at;
	unsigned i;

	for (i = 0; i < a->count; i++, p += k->size)
		if (k->same(object, p))
			return p;
	return NULL;
}

static int say_taken(struct config *c, const struct kind *k, const char *key, const char *there, struct reader *r)
{
	const struct config_place *place = (const void *)(there + k->place);

	if (*(const enum config_origin *)(there + k->origin) == CONFIG_FROM_STATE)
		reader_error(r, NULL, key, "is there already");
	else
		reader_error(r, NULL, key, "is managed by the configuration's file (%s, line %u)",
			     *c->file ? c->file : "no name",
			     place->line);
	return -EEXIST;
}

/* Append, or take the place of the group default that nobody wrote. */
static int append(struct config *c, const struct kind *k, struct reader *r, const char *key, void *object, void *there)
{
	struct element_array *a = (void *)((char *)c + k->array);
	void *more;

	if (there) {
		k->done(there);
		memcpy(there, object, k->size);
		return 0;
	}
	/* for itself: the whole would tell that there are too many, and not which */
	if (a->count >= k->max)
		return reader_error(r, NULL, key, "expected at most %u %ss, those of the file too", k->max, k->word);
	more = realloc(a->at, ((size_t)a->count + 1) * k->size);
	if (!more)
		return -ENOMEM;
	a->at = more;
	memcpy((char *)more + a->count++ * k->size, object, k->size);
	return 0;
}

static int add(struct config *c, const struct kind *k, struct reader *r, const char *key, void *object)
{
	const yaml_node_t *root = yaml_document_get_root_node(r->doc);
	void *there;
	int err;

	if (!root)
		return reader_error(r, NULL, key, "expected an object");
	err = k->read(r, root, key, 0, object);
	if (r->err || err)
		return r->err ? r->err : err;
	there = taken_by(c, k, object);
	if (there && !is_implied(c, k, there))
		return say_taken(c, k, key, there, r);
	return append(c, k, r, key, object, there);
}

/* ---- rules of one group ---- */

static struct config_group *find_group(struct config *c, const char *name)
{
	unsigned i;

	for (i = 0; i < c->groups.count; i++)
		if (!strcmp(c->groups.at[i].name, name))
			return &c->groups.at[i];
	return NULL;
}

static int say_there(const struct config *c, const struct config_rule *there, const char *key, struct reader *r)
{
	if (there->origin == CONFIG_FROM_FILE)
		reader_error(r, NULL, key, "is managed by the configuration's file (%s, line %u)",
			     *c->file ? c->file : "no name", there->place.line);
	else
		reader_error(r, NULL, key, there->added ? "is there already" : "the group itself has it already");
	return -EEXIST;
}

/* @rule is taken, on success alone. */
static int add_to_group(struct config *c, const char *group, struct config_rule *rule, const char *key, struct reader *r)
{
	struct config_group *g = find_group(c, group);
	struct config_rule *more;
	unsigned i;

	if (!g)
		return reader_error(r, NULL, key, "there is no group \"%.63s\"", group);
	for (i = 0; i < g->rules.count; i++)
		if (same_rule(rule, &g->rules.at[i]))
			return say_there(c, &g->rules.at[i], key, r);
	if (g->rules.count >= CONFIG_RULES_MAX)
		return reader_error(r, NULL, key, "expected at most %u rules of a group", CONFIG_RULES_MAX);
	more = realloc(g->rules.at, (g->rules.count + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	g->rules.at = more;
	more[g->rules.count++] = *rule;
	return 0;
}

/* { group:, rule: }, called "GROUP RULE". */
static int add_group_rule(struct config *c, struct reader *r, const char *key)
{
	static const struct reader_field fields[] = { { "group", false }, { "rule", false } };
	const yaml_node_t *root = yaml_document_get_root_node(r->doc), *f[2];
	struct config_rule rule = { .text = NULL };
	const char *group;
	size_t n;
	int err;

	if (!root)
		return reader_error(r, NULL, key, "expected an object");
	if (reader_fields(r, root, key, fields, 2, f))
		return -EINVAL;
	if (!f[0] || !f[1])
		return reader_error(r, root, key, "expected { group:, rule: }");
	group = reader_text(r, f[0], key, "the name of a group");
	if (!group)
		return -EINVAL;
	err = element_rule(r, f[1], key, 0, &rule);
	n = strlen(group);
	if (!err && (strncmp(r->made, group, n) || r->made[n] != ' ' || strcmp(r->made + n + 1, rule.text)))
		err = reader_error(r, root, key, "expected the rule \"%.200s\", as it is called elsewhere", r->made);
	rule.added = true;
	if (!err)
		err = add_to_group(c, group, &rule, key, r);
	if (err)
		rule_done(&rule);
	return err;
}

int config_overlay(struct config *c, const char *kind, const char *name, const char *json, struct config_errors *errs)
{
	struct reader r = { .c = c, .errs = errs, .outside = true, .made = name };
	const struct kind *k = kind_find(kind);
	char key[ELEMENT_KEY_MAX];
	yaml_document_t doc;
	void *object;
	int err;

	snprintf(key, sizeof(key), "%.12s %.60s", kind, name);
	if (!k && strcmp(kind, CONFIG_GROUP_RULE))
		return reader_error(&r, NULL, key, "expected a list, rule, rewrite, client, group or group rule");
	err = document_load(json, strlen(json), NULL, &doc, errs);
	if (err)
		return err;
	if (!k) {
		r.doc = &doc;
		err = add_group_rule(c, &r, key);
		yaml_document_delete(&doc);
		return err;
	}
	object = calloc(1, k->size);
	r.doc = &doc;
	err = object ? add(c, k, &r, key, object) : -ENOMEM;
	if (err && object)
		k->done(object);
	free(object);
	yaml_document_delete(&doc);
	return err;
}
