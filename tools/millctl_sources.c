/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl_sources.c - single lists: shown, made, taken away, fetched again.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/millctl.h"

/* Where it is from and what was kept, by kind; rows of nothing are left out. */
static void show_kept(const json_t *o)
{
	static const char *const kinds[][2] = {
		{ "exact", "names blocked alone" }, { "subtree", "names blocked with all below" },
		{ "allow", "names allowed" },
		{ "regex", "regular expressions" }, { "rewrite", "rewrites" }, { "address", "addresses in answers" },
		{ "route", "servers for zones, not used" }, { "duplicates", "said before" },
	};
	unsigned i;

	printf("\n%s, %s, %s:\n", *ctl_text(o, "fetch.url") ? ctl_text(o, "fetch.url") : ctl_text(o, "file"),
	       ctl_text(o, "format"), show_count(ctl_number(o, "lines"), "line", "lines"));
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (ctl_number(o, kinds[i][0]))
			printf("  %s  %s: %s\n", show_number(ctl_number(o, kinds[i][0])), kinds[i][0], kinds[i][1]);
	if (ctl_number(o, "sunk"))
		printf("  %s  sunk: of these, blocked since nearly all names of the list have %s: taken for a sink\n",
		       show_number(ctl_number(o, "sunk")), ctl_text(o, "sink"));
}

static int show_one(struct ctl *c, const json_t *o)
{
	json_t *lists = json_pack("{s:[O]}", "lists", o);

	show_list_table(lists);
	show_kept(o);
	show_skipped(o);
	json_decref(lists);
	return CTL_OK;
}

int ctl_list_show(struct ctl *c)
{
	char path[4096];

	if (!ctl_path_name(path, sizeof(path), "/lists/", c->arg, ""))
		return ctl_wrong("the name is too long");
	return ctl_show(c, "GET", path, show_one);
}

static int show_added(struct ctl *c, const json_t *o)
{
	printf("list %s is made; \"millctl lists show %s\" says what it gave\n", ctl_text(o, "name"), ctl_text(o, "name"));
	return CTL_OK;
}

/* The daemon has another working folder, so a file is named whole. */
static json_t *source(const char *text)
{
	char real[PATH_MAX];

	if (!strncmp(text, "http://", 7) || !strncmp(text, "https://", 8))
		return json_pack("{s:s}", "url", text);
	if (strstr(text, "://")) {
		fprintf(stderr, "millctl: a list is a file, or a URL of http:// or https://, not \"%s\"\n", text);
		return NULL;
	}
	if (!realpath(text, real)) {
		perror(text);
		return NULL;
	}
	return json_pack("{s:s}", "file", real);
}

int ctl_list_add(struct ctl *c)
{
	static const char *const members[] = { "--format", "--action", "--refresh" };
	json_t *body = source(c->args[1]);
	unsigned i;

	if (!body)
		return CTL_USAGE;
	json_object_set_new(body, "name", json_string(c->arg));
	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (ctl_option(c, members[i]))
			json_object_set_new(body, members[i] + 2, json_string(ctl_option(c, members[i])));
	return ctl_send(c, "POST", "/lists", body, show_added);
}

static int show_removed(struct ctl *c, const json_t *o)
{
	printf("list %s is gone\n", ctl_text(o, "name"));
	return CTL_OK;
}

int ctl_list_remove(struct ctl *c)
{
	char path[4096];

	if (!ctl_path_name(path, sizeof(path), "/lists/", c->arg, ""))
		return ctl_wrong("the name is too long");
	return ctl_show(c, "DELETE", path, show_removed);
}

static int show_refreshed(struct ctl *c, const json_t *o)
{
	printf("being fetched; \"millctl lists\" says what came of it\n");
	return CTL_OK;
}

int ctl_list_refresh(struct ctl *c)
{
	char path[4096] = "/refresh";

	if (c->arg && !ctl_path_name(path, sizeof(path), "/lists/", c->arg, "/refresh"))
		return ctl_wrong("the name is too long");
	return ctl_show(c, "POST", path, show_refreshed);
}
