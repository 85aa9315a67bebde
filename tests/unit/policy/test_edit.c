/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_edit.c - entries that are changed in place, against filters compiled anew.
 *
 * A source says and takes back things of names at random.  After each step the
 * filter that was changed says of every name, to every group, what one says that
 * was compiled of the same items.  Tables are small, so that names stand in
 * their second choice, in the stash, and find no place at all.
 */
#include <pthread.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "policy/filter_edit.h"
#include "unit/policy/court.h"
#include "unit/policy/names.h"
#include "unit/policy/rig.h"

#define NAMES   120
#define OTHERS  40			/* names that nobody says anything of */
#define SOURCE  3			/* that which changes its mind; others before and behind it */
#define STEPS   700

static const enum filter_action actions[] = { FILTER_BLOCK, FILTER_ALLOW, FILTER_IMPORTANT_BLOCK, FILTER_IMPORTANT_ALLOW };

struct edits {
	uint64_t random;
	unsigned char list[NAMES][COURT_SOURCES][2];	/* bit FILTER_x, by reach: what others say */
	unsigned char said[NAMES][2];	/* the same of SOURCE */
	bool pattern;
	struct court court;		/* the one that is changed */
	unsigned where[4], is_new, gone, again;
};

static unsigned roll(struct edits *w, unsigned n)
{
	w->random = w->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(w->random >> 33) % n;
}

static const char *name_of(unsigned i)
{
	static const char *const forms[] = { "n%u.example", "www.n%u.example", "a.b.c.n%u.example", "n%u" };
	static char text[64];

	snprintf(text, sizeof(text), forms[i % 4], i / 4);
	return text;
}

static void say(struct court *c, unsigned source, unsigned name, unsigned reach, unsigned bits)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		if (bits >> actions[i] & 1)
			court_say(c, &(struct said){ .source = source, .name = name_of(name), .action = actions[i],
						     .reach = reach ? RULE_SUBTREE : RULE_EXACT });
}

static void open_court(struct edits *w, struct court *c)
{
	unsigned n, s, reach;

	court_init(c);
	for (s = 0; s < COURT_SOURCES; s++)
		for (n = 0; n < COURT_GROUPS; n++)
			c->uses[n][s] = (n * 5 + s * 3) % 4 != 0;
	c->uses[0][SOURCE] = c->uses[1][SOURCE] = 1;
	for (n = 0; n < NAMES; n++)
		for (reach = 0; reach < 2; reach++) {
			for (s = 0; s < COURT_LOCAL; s++)
				say(c, s, n, reach, w->list[n][s][reach]);
			say(c, SOURCE, n, reach, w->said[n][reach]);
		}
	if (w->pattern)
		court_say(c, &(struct said){ .kind = RULE_REGEX, .name = "^zz", .source = 1, .action = FILTER_ALLOW });
	court_open(c);
}

static void hash(const char *text, struct mr_name *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->len = name_wire(text, ret->text);
	assert_int_equal(mr_name_hash(ret, &secret), 0);
}

static int plan(struct edits *w, unsigned name, unsigned reach, unsigned before, unsigned after, struct filter_edit *e)
{
	struct mr_name n;
	struct filter_change ch = { .subtree = reach, .source = SOURCE, .before = before, .after = after };

	hash(name_of(name), &n);
	ch.hash = &n.hash[n.labels];
	ch.depth = n.labels;
	return filter_edit_plan(&w->court.judge.filter, w->court.members, &ch, e);
}

static void make(struct edits *w, const struct filter_edit *e)
{
	struct court *c = &w->court;
	struct mr_verdict cells[COURT_GROUPS];
	unsigned g;

	filter_edit_members(e, c->members);
	if (e->is_new) {
		judge_set_verdicts(&c->judge, e->set, cells);
		for (g = 0; g < COURT_GROUPS; g++)
			c->verdicts[g * c->unit.sets + e->set] = cells[g];
	}
	filter_edit_write(e, &(struct filter_edit_to){
		.unit = { &c->unit }, .buckets = (struct mr_filter_bucket *)c->judge.filter.buckets,
		.bloom = (uint64_t *)c->judge.filter.bloom });
	w->where[e->where]++;
	w->is_new += e->is_new;
	w->gone += e->where && !e->set;
}

static void compare_name(const struct court *a, const struct court *b, const char *name)
{
	struct judge_result x, y;
	struct mr_decision k, l;
	unsigned g;

	for (g = 0; g < COURT_GROUPS; g++) {
		x = court_judge(a, name, 1, g, false, NULL);
		y = court_judge(b, name, 1, g, false, NULL);
		k = court_kernel(a, name, g);
		l = court_kernel(b, name, g);
		if (x.kind != y.kind || x.source != y.source || x.depth != y.depth || x.step != y.step ||
		    (x.entry ^ y.entry) & MR_ENTRY_SUBTREE || !x.entry != !y.entry)
			fail_msg("%s, group %u: the judge says %s of %u, compiled anew %s of %u", name, g,
				 filter_verdict_text(x.kind), x.source, filter_verdict_text(y.kind), y.source);
		if (k.verdict.kind != l.verdict.kind || k.verdict.list != l.verdict.list || k.depth != l.depth)
			fail_msg("%s, group %u: the kernel says %s of %u, compiled anew %s of %u", name, g,
				 filter_verdict_text(k.verdict.kind), k.verdict.list,
				 filter_verdict_text(l.verdict.kind), l.verdict.list);
	}
}

/* With @all: every name; else that name and what is near it. */
static void compare(struct edits *w, bool all, unsigned name)
{
	struct court fresh;
	char below[80];
	unsigned i;

	open_court(w, &fresh);
	assert_int_equal(fresh.unit.entries, w->court.unit.entries);
	for (i = all ? 0 : name; i < (all ? NAMES + OTHERS : name + 1); i++) {
		compare_name(&w->court, &fresh, name_of(i));
		snprintf(below, sizeof(below), "below.%s", name_of(i));
		compare_name(&w->court, &fresh, below);
	}
	court_close(&fresh);
}

static void step(struct edits *w, unsigned i)
{
	unsigned name = roll(w, NAMES), reach = roll(w, 2), bit = 1U << actions[roll(w, 4)];
	unsigned before = w->said[name][reach];
	struct filter_edit e;

	w->said[name][reach] ^= (unsigned char)bit;
	if (!plan(w, name, reach, before, before ^ bit, &e)) {
		make(w, &e);
	} else {
		w->again++;
		court_close(&w->court);
		open_court(w, &w->court);
	}
	compare(w, i % 8 == 0 || i + 1 == STEPS, name);
}

static void open_edits(struct edits *w, unsigned listed, uint64_t seed)
{
	unsigned i;

	memset(w, 0, sizeof(*w));
	w->random = seed;
	for (i = 0; i < listed; i++)
		w->list[roll(w, NAMES)][roll(w, COURT_LOCAL)][roll(w, 2)] |= (unsigned char)(1U << actions[roll(w, 4)]);
	for (i = 0; i < NAMES; i++)
		w->list[i][SOURCE][0] = w->list[i][SOURCE][1] = 0;
}

static void what_is_changed_in_place_says_what_is_compiled(void **state)
{
	static const uint64_t seeds[] = { 1, 20, 300 };
	struct edits *w = malloc(sizeof(*w));
	unsigned i, k, seconds = 0, stashed = 0, again = 0;

	assert_non_null(w);
	for (k = 0; k < 3; k++) {
		open_edits(w, 120 + 40 * k, seeds[k]);
		w->pattern = k == 1;
		filter_limits.buckets_min = 16;
		open_court(w, &w->court);
		for (i = 0; i < STEPS; i++)
			step(w, i);
		court_close(&w->court);
		filter_limits.buckets_min = 0;
		assert_true(w->where[FILTER_EDIT_FIRST] > 100 && w->is_new > 10 && w->gone > 10);
		seconds += w->where[FILTER_EDIT_SECOND];
		stashed += w->where[FILTER_EDIT_STASH];
		again += w->again;
	}
	printf("# note: %u in their second choice, %u in the stash, %u compiled anew\n", seconds, stashed, again);
	assert_true(seconds > 10 && stashed > 10);
	free(w);
}

/* ---- what needs a compilation ---- */

static struct edits *full(uint32_t sets)
{
	struct edits *w = malloc(sizeof(*w));

	assert_non_null(w);
	open_edits(w, 30, 5);
	filter_limits.sets = sets;
	open_court(w, &w->court);
	filter_limits.sets = MR_SET_ASK;
	return w;
}

static void done(struct edits *w)
{
	court_close(&w->court);
	free(w);
}

static void no_number_for_a_set_is_no_place(void **state)
{
	struct edits *w = full(MR_SET_ASK);
	struct filter_edit e;

	w->court.members->used = w->court.members->sets;
	assert_int_equal(plan(w, 1, 0, 0, 1U << FILTER_IMPORTANT_ALLOW | 1U << FILTER_BLOCK, &e), -EAGAIN);
	done(w);
}

static void no_room_for_members_is_no_place(void **state)
{
	struct edits *w = full(MR_SET_ASK);
	struct filter_edit e;

	w->court.members->room = 1;
	assert_int_equal(plan(w, 1, 0, 0, 1U << FILTER_IMPORTANT_ALLOW | 1U << FILTER_BLOCK, &e), -EAGAIN);
	done(w);
}

static void a_set_that_was_folded_away_is_not_changed(void **state)
{
	struct edits *w = full(2);
	struct filter_edit e;
	unsigned i, folded = 0;
	struct mr_name n;
	struct mr_found f;

	for (i = 0; i < NAMES; i++) {
		hash(name_of(i), &n);
		f = mr_filter_find(&w->court.unit, w->court.judge.filter.buckets, (const __u64 *)w->court.judge.filter.bloom,
				   n.hash[n.labels]);
		if (mr_entry_set(f.exact) != MR_SET_ASK)
			continue;
		folded++;
		assert_int_equal(plan(w, i, 0, 0, 1U << FILTER_BLOCK, &e), -EAGAIN);
	}
	assert_true(folded > 3);
	done(w);
}

static void another_past_than_was_thought_is_not_changed(void **state)
{
	struct edits *w = full(MR_SET_ASK);
	struct filter_edit e;

	assert_int_equal(plan(w, 2, 1, 0, 1U << FILTER_BLOCK, &e), 0);
	make(w, &e);
	assert_int_equal(plan(w, 2, 1, 1U << FILTER_ALLOW, 0, &e), -EAGAIN);
	assert_int_equal(plan(w, 2, 1, 0, 1U << FILTER_BLOCK, &e), 0);	/* as it is already */
	assert_int_equal(e.where, FILTER_EDIT_NOTHING);
	assert_int_equal(plan(w, 2, 1, 1U << FILTER_BLOCK, 0, &e), 0);
	done(w);
}

static void what_is_said_of_names_below_is_not_changed(void **state)
{
	struct edits *w = malloc(sizeof(*w));
	struct filter_edit e;

	assert_non_null(w);
	open_edits(w, 0, 1);
	court_init(&w->court);
	court_say(&w->court, &(struct said){ .source = SOURCE, .name = name_of(4), .reach = RULE_BELOW });
	court_open(&w->court);
	assert_int_equal(plan(w, 4, 1, 0, 1U << FILTER_BLOCK, &e), -EAGAIN);
	done(w);
}

/* ---- readers ---- */

struct readers {
	struct edits *w;
	_Atomic bool stop;
	_Atomic unsigned looks, wrong;
};

/* Of the name 8 somebody blocks all below; of it and others the source changes its mind between none and allow. */
static void *read_on(void *arg)
{
	struct readers *r = arg;
	struct judge_result j;
	unsigned i;

	while (!atomic_load(&r->stop))
		for (i = 0; i < 16; i++) {
			j = court_judge(&r->w->court, i % 2 ? "n2.example" : "x.n2.example", 1, 0, false, NULL);
			atomic_fetch_add(&r->looks, 1);
			if (!(j.kind == MR_BLOCK && j.source == 2) && !(j.kind == MR_ALLOW && j.source == SOURCE))
				atomic_fetch_add(&r->wrong, 1);
		}
	return NULL;
}

static void a_reader_sees_the_old_or_the_new(void **state)
{
	struct readers r = { .w = malloc(sizeof(*r.w)) };
	struct filter_edit e;
	unsigned i, allow = 1U << FILTER_ALLOW;
	pthread_t thread;

	assert_non_null(r.w);
	open_edits(r.w, 0, 1);
	r.w->list[8][2][1] = 1U << FILTER_BLOCK;
	filter_limits.buckets_min = 16;
	open_court(r.w, &r.w->court);
	filter_limits.buckets_min = 0;
	assert_int_equal(pthread_create(&thread, NULL, read_on, &r), 0);
	while (!atomic_load(&r.looks))
		;
	for (i = 0; i < 20000; i++) {
		assert_int_equal(plan(r.w, 8, 1, i % 2 ? allow : 0, i % 2 ? 0 : allow, &e), 0);
		make(r.w, &e);
	}
	atomic_store(&r.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(r.wrong, 0);
	done(r.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_changed_in_place_says_what_is_compiled),
		cmocka_unit_test(no_number_for_a_set_is_no_place),
		cmocka_unit_test(no_room_for_members_is_no_place),
		cmocka_unit_test(a_set_that_was_folded_away_is_not_changed),
		cmocka_unit_test(another_past_than_was_thought_is_not_changed),
		cmocka_unit_test(what_is_said_of_names_below_is_not_changed),
		cmocka_unit_test(a_reader_sees_the_old_or_the_new),
	};

	return cmocka_run_group_tests_name("filter edit", tests, setup, teardown);
}
