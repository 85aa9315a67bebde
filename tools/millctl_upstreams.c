/* SPDX-License-Identifier: BSD-2-Clause */
/* millctl_upstreams.c - the servers that are asked, as a table. */
#include <stdio.h>
#include "tools/millctl.h"

static const char *latency(const json_t *u)
{
	uint64_t us = ctl_number(u, "latency_us");

	return us ? show_ns(us * 1000) : "-";
}

static void add(struct table *t, const json_t *u)
{
	table_row(t, ctl_text(u, "server"), ctl_text(u, "state"), latency(u), show_number(ctl_number(u, "in_flight")),
		  show_number(ctl_number(u, "asked")), show_number(ctl_number(u, "answers")),
		  show_number(ctl_number(u, "errors.servfail")), show_number(ctl_number(u, "errors.refused")),
		  show_number(ctl_number(u, "errors.timeout")),
		  show_number(ctl_number(u, "errors.network") + ctl_number(u, "errors.untrusted")));
}

/* What the table has no room for. */
static void explain(const json_t *u)
{
	const json_t *uses = ctl_get(u, "used_for");
	char buf[600];

	printf("  %s\n", ctl_text(u, "server"));
	if (*ctl_text(u, "address"))
		printf("    at %s", ctl_text(u, "address"));
	else
		printf("    its name is not resolved");
	printf(", for %s", show_words(uses, buf, sizeof(buf), "nothing"));
	if (ctl_number(u, "uses") > json_array_size(uses))
		printf(" and %s more", show_number(ctl_number(u, "uses") - json_array_size(uses)));
	printf("%s\n", ctl_bool(u, "edns") ? "" : ", without EDNS");
	if (json_is_integer(ctl_get(u, "since_s")))
		printf("    %s since %s\n", ctl_text(u, "state"), show_duration(ctl_number(u, "since_s")));
	if (json_is_object(ctl_get(u, "last_error")))
		printf("    %s ago: %s\n", show_duration(ctl_number(u, "last_error.ago_s")), ctl_text(u, "last_error.why"));
}

static int show_upstreams(struct ctl *c, const json_t *o)
{
	const json_t *all = ctl_get(o, "upstreams"), *u;
	struct table *t;
	size_t i;

	if (!json_array_size(all)) {
		printf("no servers: nothing is forwarded\n");
		return CTL_OK;
	}
	printf("strategy %s; %s questions in flight (at most %s, and %s at one server)\n\n", ctl_text(o, "strategy"),
	       show_number(ctl_number(o, "in_flight")), show_number(ctl_number(o, "in_flight_max")),
	       show_number(ctl_number(o, "server_in_flight_max")));
	t = table_new("llrrrrrrrr");
	table_row(t, "SERVER", "STATE", "LATENCY", "IN FLIGHT", "ASKED", "ANSWERS", "SERVFAIL", "REFUSED", "SILENT", "ERRORS");
	json_array_foreach(all, i, u)
		add(t, u);
	table_print(t, 0);
	putchar('\n');
	json_array_foreach(all, i, u)
		explain(u);
	return CTL_OK;
}

int ctl_upstreams(struct ctl *c)
{
	return ctl_show(c, "GET", "/upstreams", show_upstreams);
}
