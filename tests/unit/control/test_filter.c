/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_filter.c - filters that the kernel's side does not take, and rules that are
 * changed in place.
 *
 * Runs control's files on a struct control of its own (house.h), whose tables
 * refuse a filter of another secret.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "unit/control/house.h"

static void a_refused_filter_is_not_what_the_next_start_takes(void **state)
{
	struct snapshot *first, *second, *next;
	struct err_at e = { 0 };
	struct house h;

	open_house(&h);
	first = say(&h, RULE("a.example"));
	second = say(&h, RULE("b.example"));
	next = say(&h, RULE("a.example"));
	assert_int_equal(filter_compile(&h.c, first, FEED_AS_BEFORE, &e), 0);
	assert_int_equal(ask(first, A_EXAMPLE), MR_BLOCK);
	h.c.kern = h.strange;
	assert_int_equal(filter_compile(&h.c, second, FEED_AS_BEFORE, &e), -ESTALE);
	assert_ptr_equal(h.c.snapshot, first);
	h.c.kern = h.ours;
	assert_true(filter_load(&h.c, next));
	assert_ptr_equal(h.c.snapshot, next);
	assert_int_equal(ask(next, A_EXAMPLE), MR_BLOCK);
	assert_int_equal(ask(next, B_EXAMPLE), MR_NONE);
	snapshot_unref(second);
	close_house(&h);
}

#define PATH_SIZE (CONFIG_PATH_MAX + 32)

static void name_in_state(const struct house *h, const char *name, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%s/%s", h->c.state, name);
}

static bool is_there(const struct house *h, const char *name)
{
	char path[PATH_SIZE];

	name_in_state(h, name, path);
	return !access(path, F_OK);
}

/* Nothing can be written under the name while there is a folder of it. */
static void block(const struct house *h, const char *name, bool on)
{
	char path[PATH_SIZE];

	name_in_state(h, name, path);
	assert_int_equal(on ? mkdir(path, 0700) : rmdir(path), 0);
}

static void what_was_compiled_and_is_not_put_in_force_leaves_no_files(void **state)
{
	struct filter_job job = { 0 };
	struct err_at e = { 0 };
	struct snapshot *s;
	struct house h;

	open_house(&h);
	s = say(&h, RULE("a.example"));
	assert_int_equal(filter_prepare(&h.c, s->config, FEED_AS_BEFORE, &job, &e), 0);
	assert_true(is_there(&h, "filter.next") && is_there(&h, "rules.next"));
	filter_job_done(&h.c, &job);
	assert_false(is_there(&h, "filter.next") || is_there(&h, "rules.next"));
	block(&h, "filter.next.new", true);
	assert_int_equal(filter_prepare(&h.c, s->config, FEED_AS_BEFORE, &job, &e), -EISDIR);
	assert_false(is_there(&h, "rules.next"));
	block(&h, "filter.next.new", false);
	snapshot_unref(s);
	close_house(&h);
}

static void the_sources_of_the_filter_on_disk_are_there_whole_or_not(void **state)
{
	struct err_at e = { 0 };
	struct snapshot *s;
	struct house h;

	open_house(&h);
	assert_int_equal(filter_compile(&h.c, say(&h, RULE("a.example")), FEED_AS_BEFORE, &e), 0);
	assert_true(is_there(&h, "filter.sources"));
	block(&h, "filter.sources.new", true);
	assert_int_equal(filter_compile(&h.c, say(&h, RULE("b.example")), FEED_AS_BEFORE, &e), 0);
	assert_false(is_there(&h, "filter.sources"));
	s = say(&h, RULE("b.example"));
	assert_false(filter_load(&h.c, s));
	block(&h, "filter.sources.new", false);
	assert_int_equal(filter_compile(&h.c, s, FEED_AS_BEFORE, &e), 0);
	assert_true(filter_load(&h.c, say(&h, RULE("b.example"))));
	assert_int_equal(ask(h.c.snapshot, B_EXAMPLE), MR_BLOCK);
	close_house(&h);
}

/* ---- in place ---- */

/* Change from the snapshot in force to @next (taken); false when that takes a compilation. */
static bool change(struct house *h, struct snapshot *next)
{
	uint32_t generation = h->c.snapshot->judge.filter.generation;
	struct filter_edit *e = malloc(sizeof(*e));
	int err;

	assert_non_null(e);
	err = edit_plan(&h->c, next->config, e);
	if (err) {
		snapshot_unref(next);
	} else {
		assert_int_equal(edit_make(&h->c, e, next), 0);
		assert_ptr_equal(h->c.snapshot, next);
		assert_int_equal(next->judge.filter.generation, generation + (e->where != FILTER_EDIT_NOTHING));
	}
	free(e);
	return !err;
}

static void compile(struct house *h, const char *config)
{
	struct err_at e = { 0 };

	if (filter_compile(&h->c, say(h, config), FEED_AS_BEFORE, &e))
		fail_msg("%s", e.why);
}

#define AND "\", \""

static void rules_change_in_place_where_there_is_no_kernel_and_again_at_the_next_start(void **state)
{
	static const char *const steps[] = {
		RULE("a.example" AND "b.example"), RULE("b.example"), RULE("b.example" AND "@@||b.example^$important"),
		RULE("b.example" AND "@@||b.example^$important" AND "||a.example^"),
	};
	static const enum mr_verdict_kind a[] = { MR_BLOCK, MR_NONE, MR_NONE, MR_BLOCK };
	static const enum mr_verdict_kind b[] = { MR_BLOCK, MR_BLOCK, MR_IMPORTANT_ALLOW, MR_IMPORTANT_ALLOW };
	struct err_at e = { 0 };
	struct snapshot *root;
	struct house h;
	unsigned i;

	open_house(&h);
	compile(&h, RULE("a.example"));
	root = h.c.snapshot;
	for (i = 0; i < 4; i++) {
		assert_true(change(&h, say(&h, steps[i])));
		/* new clients in between: they hang on the one that has the configuration, not one behind another */
		assert_int_equal(snapshot_renew_clients(&h.c, &e), 0);
		assert_int_equal(snapshot_renew_clients(&h.c, &e), 0);
		assert_ptr_equal(h.c.snapshot->base->base, root);
		assert_ptr_equal(snapshot_root(h.c.snapshot), root);
		assert_ptr_equal(h.c.snapshot->config, h.c.snapshot->base->config);
		assert_int_equal(ask(h.c.snapshot, A_EXAMPLE), a[i]);
		assert_int_equal(ask(h.c.snapshot, B_EXAMPLE), b[i]);
	}
	for (i = 0; i < 4; i++) {
		assert_true(filter_load(&h.c, say(&h, steps[i])));
		assert_int_equal(ask(h.c.snapshot, A_EXAMPLE), a[i]);
		assert_int_equal(ask(h.c.snapshot, B_EXAMPLE), b[i]);
	}
	close_house(&h);
}

#define GROUP(rules) "groups:\n  - { name: default, rules: [\"" rules "\"] }\n"

static const struct pair {
	const char *name;
	const char *from, *to;
} compiled[] = {
	{ "a pattern is compiled", RULE("a.example"), RULE("a.example" AND "/^b/") },
	{ "a rule with a condition is compiled", RULE("a.example"), RULE("a.example" AND "||b.example^$dnstype=A") },
	{ "several names are compiled", RULE("a.example"), RULE("a.example" AND "0.0.0.0 b.example c.example") },
	{ "two rules at once are compiled", RULE("a.example"), RULE("a.example" AND "||b.example^" AND "||c.example^") },
	{ "a rule in the place of another is compiled", RULE("a.example"), RULE("b.example") },
	{ "a name with a condition is compiled", RULE("||a.example^$dnstype=A"), RULE("||a.example^$dnstype=A" AND "a.example") },
	{ "a name that a $badfilter is about is compiled", RULE("||a.example^$badfilter"), RULE("||a.example^$badfilter" AND "||a.example^") },
	{ "a name that a pattern matches is compiled", RULE("/^a/"), RULE("/^a/" AND "a.example") },
	{ "what stands before a special rule is compiled", RULE("a.example" AND "||b.example^$dnstype=A"), RULE("||b.example^$dnstype=A") },
	{ "a name of 16 labels is compiled", RULE("a.example"), RULE("a.example" AND "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.example") },
	{ "a rule of a group is compiled", RULE("a.example") GROUP("c.example"), RULE("a.example") GROUP("c.example" AND "b.example") },
	{ "the first rule of a group is compiled", RULE("a.example"), RULE("a.example") GROUP("b.example") },
	{ "a rule that moves into a group is compiled", RULE("a.example" AND "b.example") GROUP("c.example"),
	  RULE("a.example") GROUP("c.example" AND "b.example") },
	{ "a name that a $badfilter of a group is about is compiled", RULE("a.example") GROUP("||b.example^$badfilter"),
	  RULE("a.example" AND "||b.example^") GROUP("||b.example^$badfilter") },
	{ "a name that a $BadFilter of a group is about is compiled", RULE("a.example") GROUP("||b.example^$BadFilter"),
	  RULE("a.example" AND "||b.example^") GROUP("||b.example^$BadFilter") },
};

static void test_compiled(void **state)
{
	const struct pair *p = *state;
	struct house h;

	open_house(&h);
	compile(&h, p->from);
	assert_false(change(&h, say(&h, p->to)));
	close_house(&h);
}

static void a_rule_for_all_changes_beside_those_of_a_group(void **state)
{
	struct house h;

	open_house(&h);
	compile(&h, RULE("b.example") GROUP("||a.example^$important"));
	assert_int_equal(ask(h.c.snapshot, A_EXAMPLE), MR_IMPORTANT_BLOCK);
	assert_true(change(&h, say(&h, RULE("b.example" AND "@@||a.example^$important") GROUP("||a.example^$important"))));
	assert_int_equal(ask(h.c.snapshot, A_EXAMPLE), MR_IMPORTANT_ALLOW);
	assert_true(change(&h, say(&h, RULE("b.example") GROUP("||a.example^$important"))));
	assert_int_equal(ask(h.c.snapshot, A_EXAMPLE), MR_IMPORTANT_BLOCK);
	close_house(&h);
}

static void a_rule_with_which_something_comes_back_is_compiled(void **state)
{
	struct house h;

	open_house(&h);
	compile(&h, RULE("a.example"));
	assert_int_equal(left_outs_add(&h.c.left_out, "rewrite", "c.example", "managed by file", CONFIG_FROM_STATE), 0);
	assert_false(change(&h, say(&h, RULE("a.example" AND "b.example"))));
	/* it stays out */
	assert_int_equal(left_outs_add(&h.c.left_out_next, "rewrite", "c.example", "managed by file", CONFIG_FROM_STATE), 0);
	assert_true(change(&h, say(&h, RULE("a.example" AND "b.example"))));
	left_outs_done(&h.c.left_out);
	left_outs_done(&h.c.left_out_next);
	close_house(&h);
}

static void so_many_changes_in_place_are_followed_by_a_compilation(void **state)
{
	static const unsigned edits[] = { 1024, EDITS_NONE };
	struct house h;
	unsigned i;

	open_house(&h);
	for (i = 0; i < 2; i++) {
		compile(&h, RULE("a.example"));
		h.c.edits = edits[i];
		assert_false(change(&h, say(&h, RULE("a.example" AND "b.example"))));
		compile(&h, RULE("a.example" AND "b.example"));
		assert_int_equal(h.c.edits, 0);
	}
	close_house(&h);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int main(void)
{
	struct CMUnitTest tests[COUNT(compiled) + 10];
	size_t n = 0, i;

	for (i = 0; i < COUNT(compiled); i++)
		tests[n++] = (struct CMUnitTest){ compiled[i].name, test_compiled, NULL, NULL, (void *)&compiled[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(rules_change_in_place_where_there_is_no_kernel_and_again_at_the_next_start);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_rule_for_all_changes_beside_those_of_a_group);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_rule_with_which_something_comes_back_is_compiled);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(so_many_changes_in_place_are_followed_by_a_compilation);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_refused_filter_is_not_what_the_next_start_takes);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(what_was_compiled_and_is_not_put_in_force_leaves_no_files);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(the_sources_of_the_filter_on_disk_are_there_whole_or_not);
	return _cmocka_run_group_tests("control filter", tests, n, NULL, NULL);
}
