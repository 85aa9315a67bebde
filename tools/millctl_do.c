/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl_do.c - reload and tail.
 */
#include <stdio.h>
#include <string.h>
#include "tools/millctl.h"

static int show_reloaded(struct ctl *c, const json_t *o)
{
	printf("reloaded\n");
	return CTL_OK;
}

int ctl_reload(struct ctl *c)
{
	return ctl_show(c, "POST", "/reload", show_reloaded);
}

/* One event a line; what decided comes last, it may be long. */
static void print_event(const json_t *e)
{
	const char *time = ctl_text(e, "time"), *list = ctl_text(e, "list"), *verdict = ctl_text(e, "verdict");
	const char *clock = strchr(time, 'T') ? strchr(time, 'T') + 1 : time;

	if (ctl_number(e, "lost")) {
		printf("-- %s lost: this reader was too slow\n", show_count(ctl_number(e, "lost"), "event", "events"));
		return;
	}
	printf("%-16s %-6s %-3s  %-15s  %-5s %-30s %-8s %s", clock, ctl_text(e, "by"), ctl_text(e, "protocol"),
	       ctl_text(e, "client"), ctl_text(e, "type"), ctl_text(e, "name"), ctl_text(e, "rcode"), ctl_text(e, "source"));
	if (json_is_true(json_object_get(e, "stale")))
		printf(", stale");
	if (*verdict && strcmp(verdict, "none"))
		printf(", %s", verdict);
	if (*list)
		printf(" by \"%s\"", list);
	if (ctl_number(e, "latency_us"))
		printf(", %s", show_ns(ctl_number(e, "latency_us") * 1000));
	putchar('\n');
}

int ctl_tail(struct ctl *c)
{
	return ctl_stream(c, "/tail", print_event);
}
