/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl_why.c - what would happen to one question, side by side.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "tools/millctl.h"

static void show_message(const json_t *reply)
{
	const char *at = ctl_text(reply, "text"), *end;

	for (; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, '\n');
		if (end > at)
			printf("      %.*s\n", (int)(end - at), at);
	}
}

static const char *verdict(const json_t *side, char *buf, size_t size)
{
	const char *list = ctl_text(side, "list"), *entry = ctl_text(side, "entry");
	size_t n = (size_t)snprintf(buf, size, "%s", ctl_text(side, "verdict"));

	if (*list)
		n += (size_t)snprintf(buf + n, n < size ? size - n : 0, " by list \"%s\"", list);
	if (ctl_number(side, "chain_set") && n < size)
		n += (size_t)snprintf(buf + n, size - n, ", for a name that the answer leads to");
	if (*entry && n < size)
		snprintf(buf + n, size - n, ", entry %s with %s", entry,
			 show_count(ctl_number(side, "depth"), "label", "labels"));
	return buf;
}

/* The kernel's answer from its table; the clock is the one it compares with. */
static void add_answer(struct table *t, const json_t *k)
{
	uint64_t now = clock_coarse_ns(), expires = ctl_number(k, "answer.expires_ns");
	char line[160];

	if (!ctl_number(k, "answer.unit"))
		return;
	snprintf(line, sizeof(line), "unit %llu, generation %llu, %s%s", (unsigned long long)ctl_number(k, "answer.unit"),
		 (unsigned long long)ctl_number(k, "answer.generation"), expires > now ? "expires in " : "expired",
		 expires > now ? show_duration((expires - now) / CLOCK_S) : "");
	table_row(t, "answer", line);
}

static void show_kernel(const json_t *k)
{
	const char *help = ctl_text(k, "stat.help");
	struct table *t = table_new("ll");
	char line[400];

	if (*ctl_text(k, "error")) {
		printf("kernel   cannot be asked: %s\n", ctl_text(k, "error"));
		table_print(t, 0);
		return;
	}
	/* "answered: blocked by the filter" reads better without its first word here */
	if (ctl_bool(k, "answered") && !strncmp(help, "answered: ", 10))
		help += 10;
	printf("kernel   %s: %s\n", ctl_bool(k, "answered") ? "answers" : "passes it to the daemon", help);
	table_row(t, "counter", ctl_text(k, "stat.name"));
	table_row(t, "verdict", verdict(k, line, sizeof(line)));
	snprintf(line, sizeof(line), "%s (%llu), access: %s%s", ctl_text(k, "group_name"),
		 (unsigned long long)ctl_number(k, "group"), ctl_text(k, "access"),
		 ctl_bool(k, "paused") ? ", paused: nothing is blocked" : "");
	table_row(t, "group", line);
	snprintf(line, sizeof(line), "unit %llu, generation %llu", (unsigned long long)ctl_number(k, "unit"),
		 (unsigned long long)ctl_number(k, "filter_generation"));
	table_row(t, "filter", line);
	add_answer(t, k);
	table_row(t, "time", show_ns(ctl_number(k, "ns")));
	table_print(t, 2);
	show_message(ctl_get(k, "reply"));
}

/* Octets of a message's "hex"; NULL when there is none.  The caller frees. */
static uint8_t *octets(const json_t *side, size_t *ret_size)
{
	const char *hex = ctl_text(ctl_get(side, "reply"), "hex");
	size_t n = strlen(hex) / 2, i;
	uint8_t *p = n ? malloc(n) : NULL;
	unsigned v;

	for (i = 0; p && i < n; i++) {
		if (sscanf(hex + 2 * i, "%2x", &v) != 1) {
			free(p);
			return NULL;
		}
		p[i] = (uint8_t)v;
	}
	*ret_size = n;
	return p;
}

/* As compare_replies(), for both sides' messages; -ENODATA when one has none. */
static int compare_sides(const json_t *k, const json_t *d, void (*differs)(const char *line))
{
	size_t k_size = 0, d_size = 0;
	uint8_t *left = octets(k, &k_size), *right = octets(d, &d_size);
	int n = left && right ? compare_replies(left, k_size, right, d_size, differs) : -ENODATA;

	free(left);
	free(right);
	return n;
}

static void say_nothing(const char *line)
{
}

static const char *rule_text(const json_t *d, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s", ctl_text(d, "rule"));

	if (ctl_number(d, "line") && n > 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, ", line %llu", (unsigned long long)ctl_number(d, "line"));
	return buf;
}

static void show_daemon(const json_t *k, const json_t *d)
{
	struct table *t = table_new("ll");
	char line[400];

	if (*ctl_text(d, "error"))
		printf("\ndaemon   gave no answer: %s\n", ctl_text(d, "error"));
	else
		printf("\ndaemon   answers from: %s\n", ctl_text(d, "source"));
	table_row(t, "verdict", verdict(d, line, sizeof(line)));
	snprintf(line, sizeof(line), "%s%s%s", ctl_text(d, "help"), *ctl_text(d, "link") ? ": " : "", ctl_text(d, "link"));
	if (*ctl_text(d, "step") && strcmp(ctl_text(d, "step"), "none"))
		table_row(t, "because", line);
	if (*ctl_text(d, "rule"))
		table_row(t, "rule", rule_text(d, line, sizeof(line)));
	snprintf(line, sizeof(line), "%s%s", ctl_text(d, "group_name"),
		 ctl_bool(d, "paused") ? ", paused: nothing is blocked" : "");
	table_row(t, "group", line);
	snprintf(line, sizeof(line), "keeps out now: %s", ctl_text(d, "closed"));
	if (*ctl_text(d, "closed"))
		table_row(t, "schedule", line);
	table_print(t, 2);
	if (compare_sides(k, d, say_nothing) == 0)
		printf("      the same answer\n");
	else
		show_message(ctl_get(d, "reply"));
}

static void print_difference(const char *line)
{
	printf("  - %s\n", line);
}

static bool verdicts_differ(const json_t *k, const json_t *d)
{
	return strcmp(ctl_text(k, "verdict"), ctl_text(d, "verdict")) || strcmp(ctl_text(k, "list"), ctl_text(d, "list"));
}

static void show_agreement(const json_t *k, const json_t *d)
{
	int n;

	putchar('\n');
	n = compare_sides(k, d, print_difference);
	/* The kernel's verdict means something only where it acted on it: what passes is judged by the daemon. */
	if (n >= 0 && !strcmp(ctl_text(k, "source"), "blocked") && verdicts_differ(k, d)) {
		print_difference("the verdicts are not the same");
		n++;
	}
	if (n == -ENODATA)
		printf("Nothing to compare: only answers of both can agree or differ.\n");
	else if (n < 0)
		printf("The answers cannot be compared: %s.\n", n == -EBADMSG ? "one is malformed" : strerror(-n));
	else
		printf(n ? "Kernel and daemon differ, as listed above.\n" : "Kernel and daemon agree (ID and TTLs apart).\n");
}

static int show_why(struct ctl *c, const json_t *o)
{
	const json_t *k = ctl_get(o, "kernel"), *d = ctl_get(o, "daemon");

	const char *mac = ctl_text(o, "question.mac");

	printf("%s %s, asked by %s%s%s%s\n\n", ctl_text(o, "question.name"), ctl_text(o, "question.type"),
	       ctl_text(o, "question.client"), *mac ? ", " : "", mac, ctl_bool(o, "question.dnssec_ok") ? " with DNSSEC OK" :
	       ctl_bool(o, "question.edns") ? "" : " without EDNS");
	show_kernel(k);
	show_daemon(k, d);
	show_agreement(k, d);
	return CTL_OK;
}

int ctl_why(struct ctl *c)
{
	char path[3 * 2048];

	if (!ctl_path(path, sizeof(path), "/why", "name", c->arg, "client", c->option[0], "type", c->option[1], "edns",
		      c->option[2], NULL)) {
		fprintf(stderr, "millctl: the arguments are too long\n");
		return CTL_USAGE;
	}
	return ctl_show(c, "GET", path, show_why);
}
