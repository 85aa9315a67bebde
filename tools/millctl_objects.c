/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl_objects.c - rules, local names and clients: shown, made, taken away.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/millctl.h"

static int show_done(struct ctl *c, const json_t *o)
{
	const char *group = ctl_text(o, "group");

	printf("%s %s%s%s is %s\n", ctl_text(o, "kind"), ctl_text(o, "name"), *group ? " of group " : "", group,
	       strcmp(ctl_text(o, "done"), "put") ? "gone" : "in force");
	return CTL_OK;
}

static int take_away(struct ctl *c, const char *before)
{
	char path[4096];

	if (!ctl_path_name(path, sizeof(path), before, c->arg, ""))
		return ctl_wrong("the name is too long");
	return ctl_show(c, "DELETE", path, show_done);
}

/* ---- rules ---- */

static int show_rules(struct ctl *c, const json_t *o)
{
	const json_t *all = ctl_get(o, "rules"), *r;
	struct table *t;
	size_t i;

	if (!json_array_size(all)) {
		printf("no rules\n");
		return CTL_OK;
	}
	t = table_new("lll");
	table_row(t, "RULE", "GROUP", "FROM");
	json_array_foreach(all, i, r)
		table_row(t, ctl_text(r, "rule"), *ctl_text(r, "group") ? ctl_text(r, "group") : "all",
			  show_origin(r));
	table_print(t, 0);
	return CTL_OK;
}

int ctl_rule_list(struct ctl *c)
{
	char path[512];

	if (!ctl_path(path, sizeof(path), "/rules", "group", ctl_option(c, "--group"), NULL))
		return ctl_wrong("the name of the group is too long");
	return ctl_show(c, "GET", path, show_rules);
}

int ctl_rule_add(struct ctl *c)
{
	const char *group = ctl_option(c, "--group");
	json_t *body = json_pack("{s:s}", "rule", c->arg);

	if (group)
		json_object_set_new(body, "group", json_string(group));
	return ctl_send(c, "POST", "/rules", body, show_done);
}

int ctl_rule_remove(struct ctl *c)
{
	char path[3 * 4096 + 64];

	if (!ctl_path(path, sizeof(path), "/rules", "rule", c->arg, "group", ctl_option(c, "--group"), NULL))
		return ctl_wrong("the rule is too long");
	return ctl_show(c, "DELETE", path, show_done);
}

/* ---- rewrites ---- */

static int show_rewrites(struct ctl *c, const json_t *o)
{
	const json_t *all = ctl_get(o, "rewrites"), *r;
	char answers[1024];
	struct table *t;
	size_t i;

	if (!json_array_size(all)) {
		printf("no local names\n");
		return CTL_OK;
	}
	t = table_new("llrl");
	table_row(t, "NAME", "ANSWERS", "TTL", "FROM");
	json_array_foreach(all, i, r)
		table_row(t, ctl_text(r, "name"), show_words(ctl_get(r, "answers"), answers, sizeof(answers), "-"),
			  show_number(ctl_number(r, "ttl")), show_origin(r));
	table_print(t, 0);
	return CTL_OK;
}

int ctl_rewrite_list(struct ctl *c)
{
	return ctl_show(c, "GET", "/rewrites", show_rewrites);
}

/* All arguments behind the first. */
static json_t *other_args(const struct ctl *c)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 1; i < c->arg_count; i++)
		json_array_append_new(all, json_string(c->args[i]));
	return all;
}

int ctl_rewrite_add(struct ctl *c)
{
	const char *ttl = ctl_option(c, "--ttl");
	json_t *body;
	char path[4096], *end;
	long long seconds = ttl ? strtoll(ttl, &end, 10) : 0;

	if (ttl && (*end || end == ttl))
		return ctl_wrong("--ttl is a number of seconds, not \"%s\"", ttl);
	if (!ctl_path_name(path, sizeof(path), "/rewrites/", c->arg, ""))
		return ctl_wrong("the name is too long");
	body = json_pack("{s:o}", "answers", other_args(c));
	if (ttl)
		json_object_set_new(body, "ttl", json_integer(seconds));
	return ctl_send(c, "PUT", path, body, show_done);
}

int ctl_rewrite_remove(struct ctl *c)
{
	return take_away(c, "/rewrites/");
}

/* ---- clients ---- */

static void add_client(struct table *t, const json_t *k)
{
	char addresses[2048], tags[1024];

	table_row(t, ctl_text(k, "name"), show_words(ctl_get(k, "addresses"), addresses, sizeof(addresses), "-"),
		  show_words(ctl_get(k, "tags"), tags, sizeof(tags), "-"), show_origin(k));
}

static int show_clients(struct ctl *c, const json_t *o)
{
	const json_t *all = ctl_get(o, "clients"), *k;
	struct table *t;
	size_t i;

	if (all && !json_array_size(all)) {
		printf("no client has a name\n");
		return CTL_OK;
	}
	t = table_new("llll");
	table_row(t, "CLIENT", "ADDRESSES", "TAGS", "FROM");
	json_array_foreach(all, i, k)
		add_client(t, k);
	if (!all)
		add_client(t, o);
	table_print(t, 0);
	return CTL_OK;
}

int ctl_client_list(struct ctl *c)
{
	return ctl_show(c, "GET", "/clients", show_clients);
}

int ctl_client_show(struct ctl *c)
{
	char path[4096];

	if (!ctl_path_name(path, sizeof(path), "/clients/", c->arg, ""))
		return ctl_wrong("the name is too long");
	return ctl_show(c, "GET", path, show_clients);
}

int ctl_client_set(struct ctl *c)
{
	const char *tags = ctl_option(c, "--tags");
	json_t *body;
	char path[4096];

	if (!ctl_path_name(path, sizeof(path), "/clients/", c->arg, ""))
		return ctl_wrong("the name is too long");
	body = json_pack("{s:o}", "addresses", other_args(c));
	if (tags)
		json_object_set_new(body, "tags", ctl_words(tags));
	return ctl_send(c, "PUT", path, body, show_done);
}

int ctl_client_delete(struct ctl *c)
{
	return take_away(c, "/clients/");
}
