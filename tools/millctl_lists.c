/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl_lists.c - judge a list without a daemon: what is kept, what is skipped and why.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "policy/compile.h"
#include "policy/list.h"
#include "policy/secret.h"
#include "tools/millctl.h"

#define LIST_SIZE_MAX (1ULL << 30)

/* -1: there is none of that name. */
static int find_format(const char *name)
{
	int i;

	if (!name)
		return LIST_AUTO;
	for (i = 0; i < LIST_FORMATS; i++)
		if (!strcmp(name, list_format_names[i]))
			return i;
	fprintf(stderr, "millctl: --format: no such format: %s; there are", name);
	for (i = 0; i < LIST_FORMATS; i++)
		fprintf(stderr, " %s", list_format_names[i]);
	fputc('\n', stderr);
	return -1;
}

/* As the daemon does it, so that both count the same: names are hashed, patterns compiled. */
static int parse(const char *text, size_t size, enum list_format format, struct list_report *ret)
{
	struct mr_secret secret;
	struct compile *c;
	int err;

	secret_make(&secret);
	c = compile_new(&secret);
	err = c ? compile_list(c, 0, text, size, format, false, ret) : -ENOMEM;
	compile_free(c);
	return err;
}

/* What is counted as kept, in the order of the output. */
static const struct {
	const char *name, *what;
	size_t offset;
} kept[] = {
#define KEPT(field, what) { #field, what, offsetof(struct list_report, field) }
	KEPT(exact, "names blocked alone"),
	KEPT(subtree, "names blocked with all below"),
	KEPT(allow, "names allowed"),
	KEPT(regex, "regular expressions"),
	KEPT(rewrite, "rewrites"),
	KEPT(address, "addresses in answers"),
	KEPT(route, "servers for zones, not used"),
#undef KEPT
};

static uint64_t kept_count(const struct list_report *r, unsigned i)
{
	uint64_t v;

	memcpy(&v, (const char *)r + kept[i].offset, sizeof(v));
	return v;
}

static void dump(json_t *o)
{
	json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
}

static const char *sink_text(const struct list_report *r, char *buf, size_t size)
{
	struct addr a = { .port = 0 };

	memcpy(a.ip, r->sink, sizeof(a.ip));
	return addr_text(&a, buf, size);
}

static void print_json(const struct list_report *r)
{
	json_t *k = json_object(), *skipped = json_object();
	char sink[ADDR_TEXT_MAX];
	unsigned i;

	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		json_object_set_new(k, kept[i].name, json_integer((json_int_t)kept_count(r, i)));
	for (i = 0; i < LIST_SKIP_COUNT; i++)
		if (r->skipped[i])
			json_object_set_new(skipped, list_skip_names[i], json_integer((json_int_t)r->skipped[i]));
	dump(json_pack("{s:I, s:o, s:I, s:s?, s:I, s:o}", "lines", (json_int_t)r->lines, "kept", k, "duplicates",
		       (json_int_t)r->duplicates, "sink", r->sunk ? sink_text(r, sink, sizeof(sink)) : NULL, "sunk",
		       (json_int_t)r->sunk, "skipped", skipped));
}

static void print_skipped(const struct list_report *r, unsigned why)
{
	unsigned i;

	printf("  %-12s %12s  %s\n", list_skip_names[why], show_number(r->skipped[why]), list_skip_texts[why]);
	for (i = 0; i < LIST_EXAMPLES && r->example[why][i].line; i++)
		printf("%29s line %llu: %s\n", "", (unsigned long long)r->example[why][i].line, r->example[why][i].text);
}

static void print_text(const char *file, const struct list_report *r)
{
	char sink[ADDR_TEXT_MAX];
	unsigned i;

	printf("%s: %s\n\nkept\n", file, show_count(r->lines, "line", "lines"));
	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		printf("  %-12s %12s  %s\n", kept[i].name, show_number(kept_count(r, i)), kept[i].what);
	if (r->bad)
		printf("  %-12s %12s  rules taken back by $badfilter\n", "badfilter", show_number(r->bad));
	printf("  %-12s %12s\n", "duplicates", show_number(r->duplicates));
	if (r->sunk)
		printf("  %-12s %12s  of these, blocked since nearly all names of the list have %s: taken for a sink\n", "sunk",
		       show_number(r->sunk), sink_text(r, sink, sizeof(sink)));
	printf("\nskipped\n");
	for (i = 0; i < LIST_SKIP_COUNT; i++)
		if (r->skipped[i])
			print_skipped(r, i);
}

static int say_no(const struct ctl *c, const char *what, const char *why)
{
	if (c->json)
		dump(json_pack("{s:s+}", "error", what, why));
	else
		fprintf(stderr, "millctl: %s: %s%s\n", c->arg, what, why);
	return CTL_NO;
}

int ctl_lists_check(struct ctl *c)
{
	struct list_report *r = NULL;
	int format = find_format(c->option[0]), err;
	const char *why;
	char *text = NULL;
	size_t size = 0;

	if (format < 0)
		return CTL_USAGE;
	err = file_read(c->arg, LIST_SIZE_MAX + 1, &text, &size);
	if (err)
		return say_no(c, "cannot be read: ", strerror(-err));
	why = size > LIST_SIZE_MAX ? "it is longer than 1 GiB" : list_refuse(text, size);
	if (!why)
		why = list_refuse_whole(text, size, (enum list_format)format);
	r = calloc(1, sizeof(*r));
	if (why)
		err = say_no(c, "no list: ", why);
	else if (!r || parse(text, size, (enum list_format)format, r))
		err = say_no(c, "", "out of memory");
	else if (c->json)
		print_json(r);
	else
		print_text(c->arg, r);
	free(r);
	free(text);
	return err;
}
