/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl_pause.c - pauses: begun, shown, ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/millctl.h"

/* "90", "90s", "5m", "2h", "1d", or several of these in a row; -1 when it is none. */
static long long seconds_of(const char *text)
{
	long long sum = 0, n;
	char *end;

	if (!*text)
		return -1;
	while (*text) {
		if (*text < '0' || *text > '9')
			return -1;
		n = strtoll(text, &end, 10);
		if (n > 366 * 86400 || sum > 366 * 86400)
			return -1;
		sum += n * (*end == 'm' ? 60 : *end == 'h' ? 3600 : *end == 'd' ? 86400 : 1);
		if (*end && !strchr("smhd", *end))
			return -1;
		text = end + (*end != '\0');
	}
	return sum;
}

/* Which scope the options mean; false when they mean two. */
static bool scope_of(const struct ctl *c, const char **ret_scope, const char **ret_name)
{
	const char *group = ctl_option(c, "--group"), *client = ctl_option(c, "--client");

	*ret_scope = group ? "group" : client ? "client" : "all";
	*ret_name = group ? group : client;
	return !group || !client;
}

static void print_scope(const json_t *o)
{
	if (strcmp(ctl_text(o, "scope"), "all"))
		printf("%s %s", ctl_text(o, "scope"), ctl_text(o, "name"));
	else
		printf("everybody");
}

static int show_paused(struct ctl *c, const json_t *o)
{
	printf("blocks are lifted for ");
	print_scope(o);
	if (c->arg)
		printf(", for %s\n", show_duration((uint64_t)seconds_of(c->arg)));
	else
		printf(", until \"millctl resume\"\n");
	return CTL_OK;
}

int ctl_pause(struct ctl *c)
{
	long long seconds = c->arg ? seconds_of(c->arg) : 0;
	const char *scope, *name;
	json_t *body;

	if (c->arg && seconds <= 0)
		return ctl_wrong("a duration is written as 90s, 5m, 2h or 1h30m, and is at most 366d, not \"%s\"", c->arg);
	if (!scope_of(c, &scope, &name))
		return ctl_wrong("--group and --client are two pauses");
	body = json_pack("{s:s, s:I}", "scope", scope, "seconds", (json_int_t)seconds);
	if (name)
		json_object_set_new(body, "name", json_string(name));
	return ctl_send(c, "POST", "/pause", body, show_paused);
}

static int show_pauses(struct ctl *c, const json_t *o)
{
	const json_t *all = ctl_get(o, "pauses"), *p;
	struct table *t;
	size_t i;

	if (!json_array_size(all)) {
		printf("nothing is paused\n");
		return CTL_OK;
	}
	t = table_new("lll");
	table_row(t, "PAUSED", "NAME", "FOR");
	json_array_foreach(all, i, p)
		table_row(t, ctl_text(p, "scope"), *ctl_text(p, "name") ? ctl_text(p, "name") : "-",
			  ctl_number(p, "left_s") ? show_duration(ctl_number(p, "left_s")) : "until resumed");
	table_print(t, 0);
	return CTL_OK;
}

int ctl_pause_list(struct ctl *c)
{
	return ctl_show(c, "GET", "/pause", show_pauses);
}

static int show_resumed(struct ctl *c, const json_t *o)
{
	printf("blocks are in force again for ");
	print_scope(o);
	putchar('\n');
	return CTL_OK;
}

int ctl_resume(struct ctl *c)
{
	const char *scope, *name;
	char path[8192];

	if (!scope_of(c, &scope, &name))
		return ctl_wrong("--group and --client are two pauses");
	if (!ctl_path(path, sizeof(path), "/pause", "scope", scope, "name", name, NULL))
		return ctl_wrong("the name is too long");
	return ctl_show(c, "DELETE", path, show_resumed);
}
