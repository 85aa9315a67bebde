/* SPDX-License-Identifier: BSD-2-Clause */
/* test_policy.c - lists parsed, rules and filters made and read back, with each allocation failing in its turn. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fault/alloc.h"
#include "policy/compile.h"
#include "policy/filter_file.h"
#include "policy/judge.h"
#include "policy/secret.h"

static const struct {
	enum list_format format;
	const char *text;
} lists[] = {
	{ LIST_AUTO, "0.0.0.0 a.example b.example\n192.168.1.5 nas.example\n*.wild.example\nplain.example\nb\303\274cher.example\n" },
	{ LIST_ADBLOCK, "||ad.example^\n@@||free.example^$important\n/^ads?[0-9]+\\./\n||t.example^$dnstype=A|AAAA\n"
			"||c.example^$client=192.0.2.0/24|~'mob',ctag=device_pc\n||d.example^$denyallow=x.d.example|y.d.example\n"
			"||r.example^$dnsrewrite=NOERROR;MX;10 mail.example\n||s.example^$dnsrewrite=192.0.2.1\n"
			"@@||r.example^$dnsrewrite\n||bad.example^\n||bad.example^$badfilter\n||t.example^$dnstype=A,badfilter\n" },
	{ LIST_DNSMASQ, "address=/m.example/\naddress=/n.example/192.168.1.5\nserver=/o.example/192.0.2.1\n" },
	{ LIST_UNBOUND, "local-zone: \"u.example\" always_nxdomain\nlocal-data: \"v.example TXT text\"\n" },
	{ LIST_RPZ, "$ORIGIN rpz.example.\n@ SOA . . 1 2 3 4 5\nq.example CNAME *.\n*.q.example CNAME .\nw.example A 192.0.2.1\n"
		    "32.1.2.0.192.rpz-ip CNAME .\nx.example CNAME rpz-drop.\ny.example TXT \"a text\"\nz.example CAA 0 issue \"ca.example\"\n" },
	{ LIST_REGEX, "(^|\\.)x[a-z]+\\.\n^(a|b)c?\\.;querytype=A\n^z\\.;reply=NXDOMAIN\n^y$;invert\n^.b\n^.c\n" },
};
#define COUNT (sizeof(lists) / sizeof(lists[0]))

static struct mr_secret secret;
static char folder[] = "/tmp/fault-policy-XXXXXX";
static char filter_path[64], rules_path[64];

static int feed(struct compile *c)
{
	struct list_report *report = calloc(1, sizeof(*report));
	struct err_at at = { 0 };
	unsigned i;
	int err = report ? 0 : -ENOMEM;

	compile_lists(c, COUNT);
	for (i = 0; i < COUNT && err >= 0; i++)
		err = compile_list(c, i, lists[i].text, strlen(lists[i].text), lists[i].format, i == 0, report);
	if (err >= 0)
		err = compile_rule(c, COUNT, "@@/^own[0-9]/$important", &at);
	if (err >= 0)
		err = compile_rule(c, COUNT, "||own.example^", &at);
	free(report);
	return err < 0 ? err : 0;
}

/* What has been made says what was written. */
static void check(const struct compiled *made)
{
	assert_in_range(rules_count(made->rules), 15, 40);
	assert_true(rules_have_regex(made->rules));
	assert_true(rules_have_address(made->rules));
	assert_in_range(filter_unit(made->filter)->entries, 15, 60);
}

static int compile_all(const char *to, const char *rules_to)
{
	struct compile *c = compile_new(&secret);
	struct compiled made = { 0 };
	struct err_at at = { 0 };
	int err = c ? feed(c) : -ENOMEM;

	if (!err)
		err = compile_finish(c, to, rules_to, &made, &at);
	compile_free(c);
	if (!err)
		check(&made);
	compiled_done(&made);
	return err;
}

static int compile_in_memory(void)
{
	return compile_all(NULL, NULL);
}

static int compile_to_files(void)
{
	return compile_all(filter_path, rules_path);
}

static int open_files(void)
{
	struct compiled made = { 0 };
	struct err_at at = { 0 };
	int err = compile_open(filter_path, rules_path, &secret, &made, &at);

	if (!err)
		check(&made);
	compiled_done(&made);
	return err;
}

static int take(void *arg, const struct rule_item *item)
{
	++*(unsigned *)arg;
	return 1;
}

static int parse(void)
{
	struct list_report report;
	unsigned i, items = 0;
	int err = 0;

	for (i = 0; i < COUNT && !err; i++)
		err = list_parse(lists[i].text, strlen(lists[i].text), lists[i].format, false, take, &items, &report);
	return err;
}

static int find_line(void)
{
	static const uint8_t name[] = "\2s1\7example";
	struct judge_result found = { .kind = MR_BLOCK, .step = JUDGE_name };
	char text[64];

	compile_line(lists[1].text, strlen(lists[1].text), LIST_ADBLOCK, false, name, sizeof(name), &found, text, sizeof(text));
	return 0;
}

static int make_verdicts(void)
{
	static _Atomic uint8_t uses[COUNT + 1] = { 1, 1, 1, 1, 1, 1, 1 };
	static const struct judge_group group = { uses, COUNT + 1 };
	struct judge j = { .group = &group, .groups = 1, .lists = COUNT, .rewrites = UINT_MAX, .safe_search = UINT_MAX };
	struct mr_verdict *v = NULL;
	struct compiled made = { 0 };
	struct err_at at = { 0 };
	struct filter_members *members = NULL;
	int err = compile_open(filter_path, rules_path, &secret, &made, &at);

	if (!err)
		j.members = members = filter_members_copy(made.filter);
	j.rules = made.rules;
	if (members)
		v = judge_verdicts(&j);
	if (!err && !v)
		err = -ENOMEM;
	free(v);
	filter_members_free(members);
	compiled_done(&made);
	return err;
}

static const struct row {
	const char *name;
	int (*run)(void);
} rows[] = {
	{ "lists are parsed, or memory is out", parse },
	{ "a filter is compiled in memory, or memory is out", compile_in_memory },
	{ "a filter is compiled to files, or memory is out", compile_to_files },
	{ "a filter is read from files, or memory is out", open_files },
	{ "verdicts are made, or memory is out", make_verdicts },
	{ "a line is looked for, whatever fails", find_line },
};

static void each_allocation_may_fail(void **state)
{
	const struct row *r = *state;

	printf("# figure: %s: %u runs\n", r->name, alloc_fail_each(r->run));
}

int main(void)
{
	struct CMUnitTest tests[sizeof(rows) / sizeof(rows[0])];
	unsigned i;
	int failed;

	assert_non_null(mkdtemp(folder));
	snprintf(filter_path, sizeof(filter_path), "%s/filter.bin", folder);
	snprintf(rules_path, sizeof(rules_path), "%s/filter.rules", folder);
	secret_make(&secret);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, each_allocation_may_fail, NULL, NULL, (void *)&rows[i] };
	failed = _cmocka_run_group_tests("fault/policy", tests, i, NULL, NULL);
	unlink(filter_path);
	unlink(rules_path);
	rmdir(folder);
	return failed;
}
