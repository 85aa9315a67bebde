/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_filter.c - filters that the kernel's side does not take, schedules
 * whose edge it does not take at once, and rules that are changed in place.
 *
 * Runs control's files on a struct control of its own without a packet path,
 * whose tables refuse a filter of another secret.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "control/internal.h"
#include "kern/kern.h"

#define A_EXAMPLE "\1a\7example"
#define B_EXAMPLE "\1b\7example"

struct house {
	struct control c;
	struct kern *ours, *strange;	/* the latter knows another secret */
};

static struct kern *open_kern(const struct mr_secret *secret)
{
	struct kern_opts o = { .mode = KERN_OFF, .pin_root = "/sys/fs/bpf/millrace-unit-control", .answers = 1024 };
	struct kern *k = NULL;
	struct err_at e = { 0 };

	if (kern_open(&o, secret, &k, &e))
		fail_msg("%s", e.why);
	return k;
}

static void open_house(struct house *h)
{
	struct mr_secret other;

	memset(h, 0, sizeof(*h));
	strcpy(h->c.state, "/tmp/millrace-control-XXXXXX");
	assert_non_null(mkdtemp(h->c.state));
	memset(&h->c.secret, 7, sizeof(h->c.secret));
	h->c.secret.fingerprint = 7;
	other = h->c.secret;
	other.fingerprint = 8;
	h->ours = open_kern(&h->c.secret);
	h->strange = open_kern(&other);
	h->c.kern = h->ours;
}

static void close_house(struct house *h)
{
	static const char *const files[] = { "filter.bin", "filter.rules", "filter.sources", "filter.next", "rules.next" };
	char path[sizeof(h->c.state) + 32];
	unsigned i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", h->c.state, files[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(h->c.state), 0);
	free(h->c.lists);
	kern_close(h->ours, true);
	kern_close(h->strange, true);
}

/* A snapshot of a configuration that has these rules for all: one, or several with "\", \"" between. */
static struct snapshot *say(const char *rules)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	struct config_errors errs = { 0 };
	char text[400];

	assert_non_null(s);
	snprintf(text, sizeof(text), "server:\n  listen: [\"127.0.0.1:5300\"]\nfilter:\n  rules: [\"%s\"]\n", rules);
	if (config_load(text, strlen(text), "test", &s->config, &errs))
		fail_msg("%s", errs.at[0].why);
	atomic_init(&s->refs, 1);
	return s;
}

static enum mr_verdict_kind ask(const struct snapshot *s, const char *wire)
{
	struct judge_question q = { .lower = (const uint8_t *)wire, .len = (uint16_t)(strlen(wire) + 1), .qtype = 1 };
	struct judge_result r;

	judge_name(&s->judge, &q, &r);
	return r.kind;
}

static void a_refused_filter_is_not_what_the_next_start_takes(void **state)
{
	struct snapshot *first = say("a.example"), *second = say("b.example"), *next = say("a.example");
	struct err_at e = { 0 };
	struct house h;

	open_house(&h);
	assert_int_equal(filter_compile(&h.c, first, true, &e), 0);
	assert_int_equal(ask(first, A_EXAMPLE), MR_BLOCK);
	h.c.kern = h.strange;
	assert_int_equal(filter_compile(&h.c, second, true, &e), -ESTALE);
	h.c.kern = h.ours;
	assert_true(filter_load(&h.c, next));
	assert_int_equal(ask(next, A_EXAMPLE), MR_BLOCK);
	assert_int_equal(ask(next, B_EXAMPLE), MR_NONE);
	snapshot_unref(first);
	snapshot_unref(second);
	snapshot_unref(next);
	close_house(&h);
}

static void an_edge_that_is_not_taken_is_tried_again(void **state)
{
	struct snapshot *s = say("a.example");
	struct err_at e = { 0 };
	struct sources n;
	struct house h;

	open_house(&h);
	assert_int_equal(filter_compile(&h.c, s, true, &e), 0);
	sources_number(s->config, &n);
	h.c.snapshot = s;
	/* as if the schedule had been over, in the judge and in the kernel */
	atomic_store(&s->judge.group[0].uses[n.rules], 0);
	memset(s->owned.verdicts, 0, s->judge.filter.unit->sets * sizeof(*s->owned.verdicts));
	assert_int_equal(ask(s, A_EXAMPLE), MR_NONE);
	h.c.kern = h.strange;		/* which has no filter yet */
	schedule_edge(&h.c, schedule_now_s());
	assert_true(h.c.verdicts_stale);
	assert_int_equal(ask(s, A_EXAMPLE), MR_NONE);
	h.c.kern = h.ours;
	schedule_edge(&h.c, schedule_now_s());
	assert_false(h.c.verdicts_stale);
	assert_int_equal(ask(s, A_EXAMPLE), MR_BLOCK);
	snapshot_unref(s);
	close_house(&h);
}

/* ---- in place ---- */

/* Change from the snapshot in force, which is let go, to @next; false when that takes a compilation. */
static bool change(struct house *h, struct snapshot *next)
{
	struct snapshot *old = h->c.snapshot;
	uint32_t generation = old->judge.filter.generation;
	struct filter_edit *e = malloc(sizeof(*e));
	int err;

	assert_non_null(e);
	err = edit_plan(&h->c, next->config, e);
	if (!err) {
		assert_int_equal(edit_make(&h->c, e, next), 0);
		assert_int_equal(next->judge.filter.generation, generation + (e->where != FILTER_EDIT_NOTHING));
		h->c.snapshot = next;
		snapshot_unref(old);
	}
	free(e);
	return !err;
}

#define AND "\", \""

static void rules_change_in_place_where_there_is_no_kernel_and_again_at_the_next_start(void **state)
{
	static const char *const steps[] = { "a.example" AND "b.example", "b.example", "b.example" AND "@@||b.example^$important",
					     "b.example" AND "@@||b.example^$important" AND "||a.example^" };
	static const enum mr_verdict_kind a[] = { MR_BLOCK, MR_NONE, MR_NONE, MR_BLOCK };
	static const enum mr_verdict_kind b[] = { MR_BLOCK, MR_BLOCK, MR_IMPORTANT_ALLOW, MR_IMPORTANT_ALLOW };
	struct snapshot *s = say("a.example");
	struct err_at e = { 0 };
	struct house h;
	unsigned i;

	open_house(&h);
	assert_int_equal(filter_compile(&h.c, s, true, &e), 0);
	h.c.snapshot = s;
	for (i = 0; i < 4; i++) {
		assert_true(change(&h, say(steps[i])));
		assert_int_equal(ask(h.c.snapshot, A_EXAMPLE), a[i]);
		assert_int_equal(ask(h.c.snapshot, B_EXAMPLE), b[i]);
	}
	for (i = 0; i < 4; i++) {
		s = say(steps[i]);
		assert_true(filter_load(&h.c, s));
		assert_int_equal(ask(s, A_EXAMPLE), a[i]);
		assert_int_equal(ask(s, B_EXAMPLE), b[i]);
		snapshot_unref(s);
	}
	snapshot_unref(h.c.snapshot);
	close_house(&h);
}

static void what_is_not_known_to_be_plain_is_left_to_a_compilation(void **state)
{
	static const char *const pairs[][2] = {
		{ "a.example", "a.example" AND "/^b/" },
		{ "a.example", "a.example" AND "||b.example^$dnstype=A" },
		{ "a.example", "a.example" AND "0.0.0.0 b.example c.example" },
		{ "a.example", "a.example" AND "||b.example^" AND "||c.example^" },
		{ "a.example", "b.example" },
		{ "||a.example^$dnstype=A", "||a.example^$dnstype=A" AND "a.example" },
		{ "||a.example^$badfilter", "||a.example^$badfilter" AND "||a.example^" },
		{ "/^a/", "/^a/" AND "a.example" },
		{ "a.example" AND "||b.example^$dnstype=A", "||b.example^$dnstype=A" },
		{ "a.example", "a.example" AND "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.example" },
	};
	struct snapshot *next;
	struct err_at e = { 0 };
	struct house h;
	unsigned i;

	open_house(&h);
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		h.c.snapshot = say(pairs[i][0]);
		assert_int_equal(filter_compile(&h.c, h.c.snapshot, true, &e), 0);
		next = say(pairs[i][1]);
		if (change(&h, next))
			fail_msg("%s was changed in place", pairs[i][1]);
		snapshot_unref(next);
		snapshot_unref(h.c.snapshot);
	}
	close_house(&h);
}

static void so_many_changes_in_place_are_followed_by_a_compilation(void **state)
{
	struct snapshot *next = say("a.example" AND "b.example");
	struct err_at e = { 0 };
	struct house h;

	open_house(&h);
	h.c.snapshot = say("a.example");
	assert_int_equal(filter_compile(&h.c, h.c.snapshot, true, &e), 0);
	h.c.edits = 1024;
	assert_false(change(&h, next));
	assert_int_equal(filter_compile(&h.c, next, true, &e), 0);
	assert_int_equal(h.c.edits, 0);
	snapshot_unref(next);
	snapshot_unref(h.c.snapshot);
	close_house(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_change_in_place_where_there_is_no_kernel_and_again_at_the_next_start),
		cmocka_unit_test(what_is_not_known_to_be_plain_is_left_to_a_compilation),
		cmocka_unit_test(so_many_changes_in_place_are_followed_by_a_compilation),
		cmocka_unit_test(a_refused_filter_is_not_what_the_next_start_takes),
		cmocka_unit_test(an_edge_that_is_not_taken_is_tried_again),
	};

	return cmocka_run_group_tests_name("control filter", tests, NULL, NULL);
}
