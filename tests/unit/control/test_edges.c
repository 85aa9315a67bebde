/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_edges.c - what schedules put in force, under a clock of the test's own:
 * edges, clocks that are set, days on which the zone's clock jumps.
 *
 * After each step both what the daemon goes by (the judge's flags and the cells
 * of its verdicts) and the instant of the next look are compared.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "unit/control/house.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SCHEDULE(what) "groups:\n  - { name: default, rules: [\"a.example\"], schedules: [{ " what " }] }\n"
#define WINDOW(from, to, zone) SCHEDULE("from: \"" from "\", to: \"" to "\", zone: " zone)
#define EVENING WINDOW("21:00", "07:00", "UTC")
#define STEPS_MAX 8

/* An instant (UTC), whether blocks are in force then, and when to look again. */
struct step {
	const char *at;
	bool open;
	const char *next;
};

static const struct row {
	const char *name;
	const char *config;
	struct step step[STEPS_MAX];
} rows[] = {
	{ "an edge is in force in its very second, and not before", EVENING, {
		{ "2026-03-02 20:59:59", false, "2026-03-02 21:00:00" }, { "2026-03-02 21:00:00", true, "2026-03-03 07:00:00" },
		{ "2026-03-03 06:59:59", true, "2026-03-03 07:00:00" }, { "2026-03-03 07:00:00", false, "2026-03-03 21:00:00" } } },
	{ "a look that comes late puts in force what is now", EVENING, {
		{ "2026-03-02 20:00:00", false, "2026-03-02 21:00:00" }, { "2026-03-02 23:12:13", true, "2026-03-03 07:00:00" } } },
	{ "a clock set ahead over one edge", EVENING, {
		{ "2026-03-02 12:00:00", false, "2026-03-02 21:00:00" }, { "2026-03-03 03:00:00", true, "2026-03-03 07:00:00" } } },
	{ "a clock set ahead over two edges does not bring what lay between", EVENING, {
		{ "2026-03-02 12:00:00", false, "2026-03-02 21:00:00" }, { "2026-03-03 12:00:00", false, "2026-03-03 21:00:00" },
		{ "2026-03-03 21:00:00", true, "2026-03-04 07:00:00" } } },
	{ "a clock set back before an edge takes it back", EVENING, {
		{ "2026-03-02 21:00:00", true, "2026-03-03 07:00:00" }, { "2026-03-02 20:59:59", false, "2026-03-02 21:00:00" },
		{ "2026-03-02 21:00:00", true, "2026-03-03 07:00:00" } } },
	{ "a clock set back by ten years", EVENING, {
		{ "2026-03-02 22:00:00", true, "2026-03-03 07:00:00" }, { "2016-03-02 20:00:00", false, "2016-03-02 21:00:00" },
		{ "2016-03-02 21:00:00", true, "2016-03-03 07:00:00" } } },
	{ "a clock set back within a window changes nothing", EVENING, {
		{ "2026-03-02 23:00:00", true, "2026-03-03 07:00:00" }, { "2026-03-02 22:00:00", true, "2026-03-03 07:00:00" } } },
	{ "in spring a window that the clock skips is never open", WINDOW("02:15", "02:45", "Europe/Berlin"), {
		{ "2026-03-29 00:30:00", false, "2026-03-30 00:15:00" }, { "2026-03-29 01:00:00", false, "2026-03-30 00:15:00" },
		{ "2026-03-30 00:15:00", true, "2026-03-30 00:45:00" } } },
	{ "in spring a window whose begin is skipped opens with the jump", WINDOW("02:30", "03:30", "Europe/Berlin"), {
		{ "2026-03-29 00:59:59", false, "2026-03-29 01:00:00" }, { "2026-03-29 01:00:00", true, "2026-03-29 01:30:00" },
		{ "2026-03-29 01:30:00", false, "2026-03-30 00:30:00" } } },
	{ "in autumn a window that the clock shows twice is open twice", WINDOW("02:15", "02:45", "Europe/Berlin"), {
		{ "2026-10-25 00:14:59", false, "2026-10-25 00:15:00" }, { "2026-10-25 00:15:00", true, "2026-10-25 00:45:00" },
		{ "2026-10-25 00:45:00", false, "2026-10-25 01:15:00" }, { "2026-10-25 01:15:00", true, "2026-10-25 01:45:00" },
		{ "2026-10-25 01:45:00", false, "2026-10-26 01:15:00" } } },
	{ "a window of all days is looked at once in a while", WINDOW("00:00", "24:00", "UTC"), {
		{ "2026-03-02 12:00:00", true, "2026-03-18 12:00:00" }, { "2026-03-18 12:00:00", true, "2026-04-03 12:00:00" } } },
	{ "without a schedule nothing is waited for", RULE("a.example"), { { "2026-03-02 12:00:00", true, NULL } } },
};

static int64_t instant(const char *text)
{
	struct tm tm = { 0 };

	if (!text)
		return SCHEDULE_NEVER;
	assert_non_null(strptime(text, "%Y-%m-%d %H:%M:%S", &tm));
	return timegm(&tm);
}

/* In force in @s are blocks, or none: by its cells, which are the kernel's, and by its flags. */
static void assert_open(const struct snapshot *s, bool open, const char *at)
{
	struct mr_verdict *v = judge_verdicts(&s->judge);
	size_t size = (size_t)s->judge.groups * s->judge.filter.unit->sets * sizeof(*v);

	if (ask(s, A_EXAMPLE) != (open ? MR_BLOCK : MR_NONE))
		fail_msg("at %s blocks are %s", at, open ? "not in force" : "in force");
	assert_non_null(v);
	assert_memory_equal(v, s->judge.filter.verdicts, size);
	free(v);
}

/* Put @config in force, and let the house watch nothing: its clock is the real one. */
static void compile(struct house *h, const char *config)
{
	struct err_at e = { 0 };

	if (filter_compile(&h->c, say(h, config), FEED_AS_BEFORE, &e))
		fail_msg("%s", e.why);
	edges_only(&h->c.edges, NULL);
}

static struct schedule_watch watch(struct house *h, const char *config)
{
	struct schedule_watch w = { 0 };

	compile(h, config);
	schedule_watch(&w, h->c.snapshot);
	return w;
}

static void test_steps(void **state)
{
	const struct row *r = *state;
	struct schedule_watch w;
	const struct step *step;
	bool changed, before = false;
	struct house h;

	open_house(&h);
	w = watch(&h, r->config);
	for (step = r->step; step < r->step + STEPS_MAX && step->at; step++) {
		changed = false;
		assert_int_equal(schedule_look(&w, instant(step->at), &changed), instant(step->next));
		assert_open(h.c.snapshot, step->open, step->at);
		assert_true(step == r->step || changed == (step->open != before));
		before = step->open;
	}
	schedule_watch(&w, NULL);
	close_house(&h);
}

/* So that at an edge nothing is left but to store. */
static void the_next_change_is_made_ahead(void **state)
{
	struct schedule_watch w;
	bool changed = false;
	struct house h;

	open_house(&h);
	w = watch(&h, EVENING);
	schedule_look(&w, instant("2026-03-02 12:00:00"), &changed);
	assert_true(w.next.made);
	assert_int_equal(w.next.at, instant("2026-03-02 21:00:00"));
	assert_int_equal(w.next.uses, 1);
	assert_int_equal(w.next.cells, 1);
	assert_int_equal(w.next.cell[0].verdict.kind, MR_BLOCK);
	assert_open(h.c.snapshot, false, "noon");
	schedule_watch(&w, NULL);
	close_house(&h);
}

/* A filter is swapped: its cells have been copied into the kernel's table, an edge passes, then it is told where they are. */
static void an_edge_while_a_filter_is_copied_is_brought_along(void **state)
{
	struct filter_view there, copied;
	struct schedule_watch *w;
	struct mr_verdict *copy;
	bool changed = false;
	struct snapshot *s;
	struct house h;
	size_t size;

	open_house(&h);
	compile(&h, EVENING);
	s = h.c.snapshot;
	there = copied = s->judge.filter;
	size = (size_t)s->judge.groups * there.unit->sets * sizeof(*copy);
	edges_add(&h.c.edges, s);
	w = &h.c.edges.watch[0];
	assert_ptr_equal(w->snapshot, s);
	schedule_look(w, instant("2026-03-02 12:00:00"), &changed);
	copy = malloc(size);
	assert_non_null(copy);
	memcpy(copy, there.verdicts, size);
	schedule_look(w, instant("2026-03-02 21:00:00"), &changed);
	copied.verdicts = copy;
	edges_move(&h.c.edges, s, &copied);
	assert_ptr_equal(s->judge.filter.verdicts, copy);
	assert_open(s, true, "nine");
	/* from then on edges are put there */
	schedule_look(w, instant("2026-03-03 07:00:00"), &changed);
	assert_open(s, false, "seven");
	s->judge.filter = there;
	free(copy);
	close_house(&h);
}

#define IN_THE_EVENING(more) "filter:\n  rules: [\"b.example\"" more "]\ngroups:\n  - { name: default, rules: [\"||a.example^$important\"]," \
	" schedules: [{ from: \"21:00\", to: \"07:00\", zone: UTC }] }\n"

/* A name gets a set that there was not, just before an edge whose cells were made ahead: they are made again. */
static void a_set_that_is_made_before_an_edge_is_brought_along(void **state)
{
	struct filter_edit *e = calloc(1, sizeof(*e));
	struct schedule_watch *w;
	bool changed = false;
	struct snapshot *next;
	struct house h;

	assert_non_null(e);
	open_house(&h);
	compile(&h, IN_THE_EVENING(""));
	edges_add(&h.c.edges, h.c.snapshot);
	w = &h.c.edges.watch[0];
	schedule_look(w, instant("2026-03-02 20:59:59"), &changed);
	assert_true(w->next.made);
	assert_int_equal(ask(h.c.snapshot, A_EXAMPLE), MR_NONE);
	next = say(&h, IN_THE_EVENING(", \"@@||a.example^\""));
	assert_int_equal(edit_plan(&h.c, next->config, e), 0);
	assert_true(e->is_new);
	assert_int_equal(edit_make(&h.c, e, next), 0);
	assert_int_equal(ask(h.c.snapshot, A_EXAMPLE), MR_ALLOW);
	assert_true(w->next.made);
	assert_int_equal(w->next.at, instant("2026-03-02 21:00:00"));
	changed = false;
	schedule_look(w, instant("2026-03-02 21:00:00"), &changed);
	assert_true(changed);
	assert_int_equal(ask(h.c.snapshot, A_EXAMPLE), MR_IMPORTANT_BLOCK);
	schedule_look(w, instant("2026-03-03 07:00:00"), &changed);
	assert_int_equal(ask(h.c.snapshot, A_EXAMPLE), MR_ALLOW);
	free(e);
	close_house(&h);
}

/* The thread and the real clock: the machine's zone is one whose noon is in two seconds. */
static void an_edge_comes_by_itself(void **state)
{
	int64_t noon = schedule_now_s() + 2;
	int ahead = (int)(noon % 86400) - 43200, far = abs(ahead);
	struct err_at e = { 0 };
	struct house h;
	char tz[32];

	snprintf(tz, sizeof(tz), "NOON%c%d:%02d:%02d", ahead < 0 ? '-' : '+', far / 3600, far / 60 % 60, far % 60);
	setenv("TZ", tz, 1);
	open_house(&h);
	assert_int_equal(edges_start(&h.c.edges, &e), 0);
	assert_int_equal(filter_compile(&h.c, say(&h, SCHEDULE("from: \"12:00\", to: \"13:00\"")), FEED_AS_BEFORE, &e), 0);
	assert_true(schedule_now_s() >= noon || ask(h.c.snapshot, A_EXAMPLE) == MR_NONE);
	while (schedule_now_s() < noon + 5 && ask(h.c.snapshot, A_EXAMPLE) != MR_BLOCK)
		usleep(1000);
	assert_open(h.c.snapshot, true, tz);
	close_house(&h);
	unsetenv("TZ");
}

int main(void)
{
	struct CMUnitTest tests[COUNT(rows) + 8];
	size_t n = 0, i;

	for (i = 0; i < COUNT(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, test_steps, NULL, NULL, (void *)&rows[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(the_next_change_is_made_ahead);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(an_edge_while_a_filter_is_copied_is_brought_along);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_set_that_is_made_before_an_edge_is_brought_along);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(an_edge_comes_by_itself);
	return _cmocka_run_group_tests("control edges", tests, n, NULL, NULL);
}
