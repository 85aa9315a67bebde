/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl_groups.c - groups of clients: shown, made, changed, taken away.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/millctl.h"

json_t *ctl_words(const char *text)
{
	json_t *all = json_array();
	size_t n;

	for (; *text; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		if (n)
			json_array_append_new(all, json_stringn(text, n));
	}
	return all;
}

static int show_groups(struct ctl *c, const json_t *o)
{
	char clients[1024], lists[1024];
	const json_t *all = ctl_get(o, "groups"), *g;
	struct table *t = table_new("lllrrll");
	size_t i;

	table_row(t, "GROUP", "CLIENTS", "LISTS", "RULES", "SCHEDULES", "SAFE SEARCH", "FROM");
	json_array_foreach(all, i, g)
		table_row(t, ctl_text(g, "name"),
			  show_words(ctl_get(g, "clients"), clients, sizeof(clients),
				     strcmp(ctl_text(g, "name"), "default") ? "-" : "all others"),
			  json_is_null(ctl_get(g, "lists")) ? "all" :
				  show_words(ctl_get(g, "lists"), lists, sizeof(lists), "-"),
			  show_number(json_array_size(ctl_get(g, "rules")) + json_array_size(ctl_get(g, "added_rules"))),
			  show_number(json_array_size(ctl_get(g, "schedules"))), ctl_bool(g, "safe_search") ? "on" : "off",
			  show_origin(g));
	table_print(t, 0);
	return CTL_OK;
}

int ctl_group_list(struct ctl *c)
{
	return ctl_show(c, "GET", "/groups", show_groups);
}

/* What PUT takes of what GET gave. */
static void strip(json_t *group)
{
	json_object_del(group, "origin");
	json_object_del(group, "name");
	json_object_del(group, "added_rules");
	if (json_is_null(json_object_get(group, "lists")))
		json_object_del(group, "lists");
}

static int show_group(struct ctl *c, const json_t *o)
{
	json_t *copy = json_copy((json_t *)o);

	strip(copy);
	json_dumpf(copy, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(copy);
	return CTL_OK;
}

static bool group_path(const struct ctl *c, char *buf, size_t size)
{
	return ctl_path_name(buf, size, "/groups/", c->arg, "");
}

int ctl_group_show(struct ctl *c)
{
	char path[4096];

	return group_path(c, path, sizeof(path)) ? ctl_show(c, "GET", path, show_group) : ctl_wrong("the name is too long");
}

/* ---- set ---- */

static json_t *none_or_words(const char *text)
{
	return strcmp(text, "none") ? ctl_words(text) : json_array();
}

static int set_number(json_t *o, const char *member, const char *text, const char *option)
{
	char *end;
	long long v = strtoll(text, &end, 10);

	if (end == text || *end)
		return ctl_wrong("%s is a number, not \"%s\"", option, text);
	json_object_set_new(o, member, json_integer(v));
	return CTL_OK;
}

static int set_block(struct ctl *c, json_t *group)
{
	const char *mode = ctl_option(c, "--block-mode"), *ttl = ctl_option(c, "--block-ttl");
	json_t *block = json_object_get(group, "block");

	if (!block) {
		block = json_object();
		json_object_set_new(group, "block", block);
	}
	if (mode)
		json_object_set_new(block, "mode", json_string(mode));
	return ttl ? set_number(block, "ttl", ttl, "--block-ttl") : CTL_OK;
}

/* What the options say, written into @group; of a patch null says "all lists". */
static int change(struct ctl *c, json_t *group, bool patch)
{
	const char *clients = ctl_option(c, "--clients"), *lists = ctl_option(c, "--lists");
	const char *safe = ctl_option(c, "--safe-search"), *types = ctl_option(c, "--no-types");

	if (safe && strcmp(safe, "on") && strcmp(safe, "off"))
		return ctl_wrong("--safe-search is on or off, not \"%s\"", safe);
	if (clients)
		json_object_set_new(group, "clients", none_or_words(clients));
	if (lists && strcmp(lists, "all"))
		json_object_set_new(group, "lists", none_or_words(lists));
	else if (lists && patch)
		json_object_set_new(group, "lists", json_null());
	else if (lists)
		json_object_del(group, "lists");
	if (safe)
		json_object_set_new(group, "safe_search", json_boolean(!strcmp(safe, "on")));
	if (types)
		json_object_set_new(group, "no_types", none_or_words(types));
	return set_block(c, group);
}

static json_t *read_body(const char *path)
{
	json_error_t why;
	json_t *o = strcmp(path, "-") ? json_load_file(path, JSON_REJECT_DUPLICATES, &why) :
					json_loadf(stdin, JSON_REJECT_DUPLICATES, &why);

	if (!o)
		fprintf(stderr, "millctl: %s:%d: %s\n", path, why.line, why.text);
	else if (json_is_object(o))
		return o;
	else
		fprintf(stderr, "millctl: %s: this is no JSON object\n", path);
	json_decref(o);
	return NULL;
}

static int show_set(struct ctl *c, const json_t *o)
{
	printf("group %s is in force\n", ctl_text(o, "name"));
	return CTL_OK;
}

int ctl_group_set(struct ctl *c)
{
	const char *file = ctl_option(c, "--body");
	json_t *group;
	char path[4096];
	int err;

	if (!group_path(c, path, sizeof(path)))
		return ctl_wrong("the name is too long");
	/* The daemon puts both together: what somebody else sets at this moment is not lost. */
	group = file ? read_body(file) : json_object();
	if (!group)
		return CTL_USAGE;
	err = change(c, group, !file);
	if (!err)
		return ctl_send(c, file ? "PUT" : "PATCH", path, group, show_set);
	json_decref(group);
	return err;
}

static int show_deleted(struct ctl *c, const json_t *o)
{
	printf("group %s is gone\n", ctl_text(o, "name"));
	return CTL_OK;
}

int ctl_group_delete(struct ctl *c)
{
	char path[4096];

	return group_path(c, path, sizeof(path)) ? ctl_show(c, "DELETE", path, show_deleted) :
	       ctl_wrong("the name is too long");
}
