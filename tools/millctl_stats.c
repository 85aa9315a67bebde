/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl_stats.c - counters and latency for people: rows that are zero are left out.
 */
#include <stdio.h>
#include <string.h>
#include "tools/millctl.h"

/* Rows of @counters of that kind (NULL: all); nothing is printed when all are zero. */
static void show_counters(const char *title, const json_t *counters, const char *kind)
{
	struct table *t = table_new("lrl");
	const char *name;
	unsigned rows = 0;
	json_t *row;

	table_row(t, title, "", "");
	json_object_foreach((json_t *)counters, name, row) {
		if (!ctl_number(row, "value") || (kind && strcmp(kind, ctl_text(row, "kind"))))
			continue;
		table_row(t, name, show_number(ctl_number(row, "value")), ctl_text(row, "help"));
		rows++;
	}
	if (!rows)
		table_row(t, "none yet", "", "");
	table_print(t, 0);
	putchar('\n');
}

static void show_latency(const json_t *latency)
{
	struct table *t = table_new("lrrrr");
	const char *source;
	unsigned rows = 0;
	json_t *l;

	table_row(t, "TIME IN THE PROGRAM", "SAMPLES", "MEAN", "MEDIAN", "99 %");
	json_object_foreach((json_t *)latency, source, l) {
		if (!ctl_number(l, "samples"))
			continue;
		table_row(t, source, show_number(ctl_number(l, "samples")), show_ns(ctl_number(l, "mean_ns")),
			  show_ns(ctl_number(l, "p50_ns")), show_ns(ctl_number(l, "p99_ns")));
		rows++;
	}
	if (!rows)
		table_row(t, "no samples yet", "", "", "", "");
	table_print(t, 0);
}

static int show_stats(struct ctl *c, const json_t *o)
{
	const json_t *counters = ctl_get(o, "kernel.counters");
	struct table *t = table_new("lr");

	printf("The kernel saw %s; of %s it answered %s (%s).\n\n",
	       show_count(ctl_number(o, "kernel.packets"), "frame", "frames"),
	       show_count(ctl_number(o, "kernel.answered") + ctl_number(o, "kernel.passed_dns"), "DNS query", "DNS queries"),
	       show_number(ctl_number(o, "kernel.answered")),
	       show_percent(json_number_value(ctl_get(o, "kernel.answered_share"))));
	show_counters("ANSWERED IN THE KERNEL", counters, "answer");
	show_counters("PASSED BY THE KERNEL", counters, "pass");
	show_counters("BESIDE THOSE", counters, "mark");
	show_counters("DAEMON", ctl_get(o, "daemon.counters"), NULL);
	table_row(t, "CACHE OF THE DAEMON", "");
	table_row(t, "entries", show_number(ctl_number(o, "cache.entries")));
	table_row(t, "size", show_bytes(ctl_number(o, "cache.bytes")));
	table_row(t, "hits", show_number(ctl_number(o, "cache.hits")));
	table_row(t, "misses", show_number(ctl_number(o, "cache.misses")));
	table_row(t, "evicted", show_number(ctl_number(o, "cache.evicted")));
	table_row(t, "expired", show_number(ctl_number(o, "cache.expired")));
	table_print(t, 0);
	putchar('\n');
	show_latency(ctl_get(o, "latency"));
	return CTL_OK;
}

int ctl_stats(struct ctl *c)
{
	return ctl_show(c, "GET", "/stats", show_stats);
}
