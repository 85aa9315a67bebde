/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl_cache.c - how the cache does, what it knows of a name, and having it forget.
 */
#include <stdio.h>
#include <string.h>
#include "tools/millctl.h"

static void row_of(struct table *t, const char *what, const json_t *o, const char *member)
{
	table_row(t, what, show_number(ctl_number(o, member)));
}

static void row_bound(struct table *t, const char *what, const char *is, const char *most)
{
	char text[128];

	snprintf(text, sizeof(text), "%s of %s", is, most);
	table_row(t, what, text);
}

static int show_cache(struct ctl *c, const json_t *o)
{
	uint64_t bytes_max = ctl_number(o, "bytes_max");
	struct table *t = table_new("ll");

	row_bound(t, "entries", show_number(ctl_number(o, "entries")), show_number(ctl_number(o, "entries_max")));
	row_bound(t, "memory", show_bytes(ctl_number(o, "bytes")), bytes_max ? show_bytes(bytes_max) : "no bound");
	row_bound(t, "in the kernel", show_number(ctl_number(o, "kernel.answers")), show_number(ctl_number(o, "kernel.answers_max")));
	row_of(t, "hits", o, "hits");
	row_of(t, "misses", o, "misses");
	table_row(t, "share of hits", show_percent(json_number_value(ctl_get(o, "hit_share"))));
	row_of(t, "below an NXDOMAIN", o, "covered");
	row_of(t, "found stale", o, "stale");
	row_of(t, "given stale by the kernel", o, "kernel.stale");
	row_of(t, "evicted", o, "evicted");
	row_of(t, "expired", o, "expired");
	row_of(t, "too big", o, "refused");
	if (ctl_bool(o, "upstreams_down"))
		table_row(t, "upstreams", "all down: the kernel gives what is over");
	table_print(t, 0);
	return CTL_OK;
}

int ctl_cache_stats(struct ctl *c)
{
	return ctl_show(c, "GET", "/cache", show_cache);
}

/* The records of a message as dig shows them; comments and empty lines are left out. */
static void show_records(const json_t *answer)
{
	const char *at = ctl_text(answer, "reply.text"), *end;

	for (; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, '\n');
		if (end > at && *at != ';')
			printf("    %.*s\n", (int)(end - at), at);
	}
}

static void show_answer(const json_t *a)
{
	printf("%s%s%s: %s, %s", ctl_text(a, "type"), ctl_bool(a, "dnssec_ok") ? " with DNSSEC" : "",
	       ctl_bool(a, "checking_disabled") ? " unchecked" : "", ctl_text(a, "rcode"), ctl_text(a, "state"));
	if (!strcmp(ctl_text(a, "state"), "live"))
		printf(" for %s", show_duration(ctl_number(a, "ttl")));
	printf(", %s old, asked %s times, %s%s", show_duration(ctl_number(a, "age")), show_number(ctl_number(a, "asked")),
	       show_bytes(ctl_number(a, "bytes")), ctl_bool(a, "kernel") ? ", in the kernel" : "");
	printf("%s%s\n", ctl_bool(a, "covers_below") ? ", for all types and all names below" : "",
	       ctl_bool(a, "renewal_failed") ? ", renewing it has failed" : "");
	show_records(a);
}

static int show_cached(struct ctl *c, const json_t *o)
{
	const json_t *all = ctl_get(o, "answers"), *a;
	size_t i;

	json_array_foreach(all, i, a)
		show_answer(a);
	if (!json_array_size(all))
		printf("nothing is known of %s\n", ctl_text(o, "name"));
	return CTL_OK;
}

int ctl_cache_show(struct ctl *c)
{
	char path[3 * 2048];

	if (!ctl_path(path, sizeof(path), "/cache/answers", "name", c->arg, NULL))
		return ctl_wrong("the name is too long");
	return ctl_show(c, "GET", path, show_cached);
}

static int show_flushed(struct ctl *c, const json_t *o)
{
	printf("forgotten: %s in the kernel, %s in the daemon\n", show_count(ctl_number(o, "kernel"), "answer", "answers"),
	       show_number(ctl_number(o, "cache")));
	return CTL_OK;
}

int ctl_flush(struct ctl *c)
{
	const char *name = c->arg && strcmp(c->arg, "all") ? c->arg : NULL;
	char path[3 * 2048];

	if (!ctl_path(path, sizeof(path), "/flush", "name", name, NULL)) {
		fprintf(stderr, "millctl: the name is too long\n");
		return CTL_USAGE;
	}
	return ctl_show(c, "POST", path, show_flushed);
}
