/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl_status.c - status, lists and memory for people.
 */
#include <stdio.h>
#include <string.h>
#include "tools/millctl.h"

const char *show_words(const json_t *all, char *buf, size_t size, const char *none)
{
	const json_t *o;
	size_t i, n = 0;

	snprintf(buf, size, "%s", none);
	json_array_foreach(all, i, o) {
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? " " : "", json_string_value(o));
		if (n >= size)
			break;
	}
	return buf;
}

static const char *or_dash(const char *s)
{
	return *s ? s : "-";
}

static void show_interfaces(const json_t *o)
{
	const json_t *all = ctl_get(o, "fastpath.interfaces"), *f;
	struct table *t;
	size_t i;

	if (!json_array_size(all))
		return;
	t = table_new("lllll");
	table_row(t, "INTERFACE", "MODE", "DRIVER", "LINK", "REASON AND REMEDY");
	json_array_foreach(all, i, f)
		table_row(t, ctl_text(f, "name"), ctl_text(f, "mode"), or_dash(ctl_text(f, "driver")),
			  ctl_bool(f, "up") ? "up" : "down", or_dash(ctl_text(f, "reason")));
	putchar('\n');
	table_print(t, 0);
}

static void show_left_out(const json_t *o)
{
	uint64_t count = ctl_number(o, "objects.left_out") + ctl_number(o, "filter.bad_rules");
	const json_t *all = ctl_get(o, "left_out"), *l;
	size_t i;

	if (!count)
		return;
	printf("\nNot in force:\n");
	json_array_foreach(all, i, l)
		printf("  - %s %s, from %s: %s\n", ctl_text(l, "kind"), ctl_text(l, "name"), show_origin(l), ctl_text(l, "why"));
	if (count > json_array_size(all))
		printf("  - and %s more\n", show_number(count - json_array_size(all)));
}

static void show_notes(const json_t *o)
{
	const json_t *all = ctl_get(o, "fastpath.notes"), *note;
	size_t i;

	if (json_array_size(all))
		printf("\nLimits that apply here:\n");
	json_array_foreach(all, i, note)
		printf("  - %s\n", json_string_value(note));
}

static const char *list_state(const json_t *l, char *buf, size_t size)
{
	const char *error = ctl_text(l, "error");

	if (ctl_bool(l, "left_out"))
		snprintf(buf, size, "left out: %s", error);
	else if (ctl_bool(l, "loaded"))
		snprintf(buf, size, *error ? "in force, but an old copy: %s" : "in force", error);
	else
		snprintf(buf, size, *error ? "not loaded: %s" : "not loaded", error);
	return buf;
}

void show_list_table(const json_t *lists)
{
	const json_t *all = ctl_get(lists, "lists"), *l;
	struct table *t;
	char state[400];
	size_t i;

	if (!json_array_size(all))
		return;
	t = table_new("lrrrrl");
	table_row(t, "LIST", "NAMES", "ALLOWED", "DUPLICATES", "SKIPPED", "STATE");
	json_array_foreach(all, i, l)
		table_row(t, ctl_text(l, "name"), show_number(ctl_number(l, "names")), show_number(ctl_number(l, "allow")),
			  show_number(ctl_number(l, "duplicates")), show_number(ctl_number(l, "skipped")),
			  list_state(l, state, sizeof(state)));
	table_print(t, 0);
}

static void add_counts(struct table *t, const json_t *stats)
{
	char line[160];

	snprintf(line, sizeof(line), "%s in the kernel (%s), %s passed to the daemon",
		 show_number(ctl_number(stats, "kernel.answered")),
		 show_percent(json_number_value(ctl_get(stats, "kernel.answered_share"))),
		 show_number(ctl_number(stats, "kernel.passed_dns")));
	table_row(t, "queries", line);
}

static void add_reloads(struct table *t, const json_t *o)
{
	const char *error = ctl_text(o, "reloads.last_error");
	char line[640], words[512];

	snprintf(line, sizeof(line), "%s, of them %s failed%s%s", show_number(ctl_number(o, "reloads.done")),
		 show_number(ctl_number(o, "reloads.failed")), *error ? "; the last one: " : "", error);
	table_row(t, "reloads", line);
	if (!json_array_size(ctl_get(o, "reloads.waiting")))
		return;
	snprintf(line, sizeof(line), "for the next start: %s", show_words(ctl_get(o, "reloads.waiting"), words, sizeof(words), ""));
	table_row(t, "waiting", line);
}

static void add_objects(struct table *t, const json_t *o)
{
	const char *trouble = ctl_text(o, "objects.trouble");
	char line[1200];
	int n;

	n = snprintf(line, sizeof(line), "%s made with millctl, %s", show_number(ctl_number(o, "objects.in_force")),
		     show_count(ctl_number(o, "objects.pauses"), "pause", "pauses"));
	if (ctl_number(o, "objects.left_out"))
		n += snprintf(line + n, sizeof(line) - (size_t)n, "; %s not in force",
			      show_count(ctl_number(o, "objects.left_out"), "more is", "more are"));
	if (*trouble && n < (int)sizeof(line))
		snprintf(line + n, sizeof(line) - (size_t)n, "; %s", trouble);
	table_row(t, "objects", line);
}

static void add_durable(struct table *t, const json_t *o)
{
	const char *why = ctl_text(o, "durable.why"), *note = ctl_text(o, "durable.note");
	char line[1300], size[32];
	int n;

	if (json_is_null(ctl_get(o, "durable")))
		return;
	snprintf(size, sizeof(size), "%s", show_bytes(ctl_number(o, "durable.bytes")));
	n = snprintf(line, sizeof(line), "%s of %s, %s read at the start%s", size, show_bytes(ctl_number(o, "durable.bytes_max")),
		     show_count(ctl_number(o, "durable.loaded"), "answer", "answers"),
		     ctl_bool(o, "durable.loading") ? " so far" : "");
	if (*why)
		n = snprintf(line, sizeof(line), "off, answers are kept in memory alone: %s", why);
	if (*note && n < (int)sizeof(line))
		snprintf(line + n, sizeof(line) - (size_t)n, "; %s", note);
	table_row(t, "durable", line);
}

static void add_fastpath(struct table *t, const json_t *o)
{
	char line[400];

	if (!ctl_bool(o, "fastpath.on")) {
		snprintf(line, sizeof(line), "off: %s", or_dash(ctl_text(o, "fastpath.reason")));
		table_row(t, "fast path", line);
		return;
	}
	snprintf(line, sizeof(line), "on, %s verified, %s%s",
		 show_count(ctl_number(o, "fastpath.verified_instructions"), "instruction", "instructions"),
		 ctl_bool(o, "fastpath.taken_over") ? "tables taken over from " : "fresh tables in ",
		 ctl_text(o, "fastpath.pins"));
	table_row(t, "fast path", line);
	snprintf(line, sizeof(line), "%s of %s in the kernel (%s of %s units)",
		 show_number(ctl_number(o, "fastpath.answers.in_use")), show_number(ctl_number(o, "fastpath.answers.max")),
		 show_number(ctl_number(o, "fastpath.units.in_use")), show_number(ctl_number(o, "fastpath.units.max")));
	table_row(t, "answers", line);
}

static int show_status(const json_t *o, const json_t *lists, const json_t *stats)
{
	struct table *t = table_new("ll");
	char line[1024];
	int at;

	printf("millraced %s, pid %llu, user %s, up %s\n", ctl_text(o, "version"), (unsigned long long)ctl_number(o, "pid"),
	       ctl_text(o, "user"), show_duration(ctl_number(o, "uptime_s")));
	table_row(t, "config", or_dash(ctl_text(o, "config")));
	table_row(t, "listen", show_words(ctl_get(o, "listen"), line, sizeof(line), "-"));
	table_row(t, "upstreams", show_words(ctl_get(o, "upstreams"), line, sizeof(line), "none: nothing is forwarded"));
	table_row(t, "workers", show_number(ctl_number(o, "workers")));
	add_fastpath(t, o);
	at = snprintf(line, sizeof(line), "%s, lists: %s, special rules: %s, left to the daemon: %s",
		      show_count(ctl_number(o, "filter.entries"), "name", "names"),
		      show_number(ctl_number(o, "filter.lists")), show_number(ctl_number(o, "filter.special")),
		      show_number(ctl_number(o, "filter.asked")));
	if (ctl_number(o, "filter.untold"))
		snprintf(line + at, sizeof(line) - (size_t)at, ", blocked in every group: %s",
			 show_number(ctl_number(o, "filter.untold")));
	table_row(t, "filter", line);
	add_objects(t, o);
	add_durable(t, o);
	add_counts(t, stats);
	add_reloads(t, o);
	table_print(t, 2);
	show_interfaces(o);
	if (json_array_size(ctl_get(lists, "lists")))
		putchar('\n');
	show_list_table(lists);
	show_left_out(o);
	show_notes(o);
	return CTL_OK;
}

static int show_nothing(struct ctl *c, const json_t *o)
{
	return CTL_OK;
}

int ctl_status(struct ctl *c)
{
	json_t *o = NULL, *lists = NULL, *stats = NULL;
	int err;

	if (c->json)
		return ctl_show(c, "GET", "/status", show_nothing);
	err = ctl_ask(c, "GET", "/status", &o);
	if (!err)
		err = ctl_ask(c, "GET", "/lists", &lists);
	if (!err)
		err = ctl_ask(c, "GET", "/stats", &stats);
	if (!err)
		err = show_status(o, lists, stats);
	json_decref(o);
	json_decref(lists);
	json_decref(stats);
	return err;
}

void show_skipped(const json_t *list)
{
	json_t *reasons = json_object_get(list, "reasons"), *reason, *example;
	const char *name;
	size_t i;

	if (json_object_size(reasons))
		printf("\n%s (%s):\n", ctl_text(list, "name"), *ctl_text(list, "fetch.url") ? ctl_text(list, "fetch.url") :
		       ctl_text(list, "file"));
	json_object_foreach(reasons, name, reason) {
		printf("  %s  %s: %s\n", show_number(ctl_number(reason, "lines")), name, ctl_text(reason, "why"));
		if (!strcmp(name, "empty"))
			continue;
		json_array_foreach(json_object_get(reason, "examples"), i, example)
			printf("      line %llu: %s\n", (unsigned long long)ctl_number(example, "line"),
			       ctl_text(example, "text"));
	}
}

static int show_lists(struct ctl *c, const json_t *o)
{
	const json_t *all = ctl_get(o, "lists"), *l;
	size_t i;

	if (!json_array_size(all))
		printf("no lists\n");
	show_list_table(o);
	json_array_foreach(all, i, l)
		show_skipped(l);
	return CTL_OK;
}

int ctl_lists(struct ctl *c)
{
	return ctl_show(c, "GET", "/lists", show_lists);
}

static int show_memory(struct ctl *c, const json_t *o)
{
	struct table *t = table_new("lr");
	const json_t *m;
	size_t i;

	table_row(t, "IN THE KERNEL", "");
	json_array_foreach(ctl_get(o, "maps"), i, m)
		table_row(t, ctl_text(m, "name"), show_bytes(ctl_number(m, "bytes")));
	table_row(t, "all maps", show_bytes(ctl_number(o, "maps_bytes")));
	table_row(t, "IN THE DAEMON", "");
	table_row(t, "cache", show_bytes(ctl_number(o, "cache_bytes")));
	table_row(t, "compiled filter, mapped", show_bytes(ctl_number(o, "filter_mapped_bytes")));
	table_row(t, "process, resident", show_bytes(ctl_number(o, "process.rss_bytes")));
	table_row(t, "process, proportional", show_bytes(ctl_number(o, "process.pss_bytes")));
	table_print(t, 0);
	return CTL_OK;
}

int ctl_memory(struct ctl *c)
{
	return ctl_show(c, "GET", "/memory", show_memory);
}
