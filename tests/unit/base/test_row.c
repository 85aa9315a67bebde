/* SPDX-License-Identifier: BSD-2-Clause */
/* test_row.c - things in a row: each asked for ahead, then done, in the order in which they came. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/row.h"

#define THINGS 100

/* What was called for a thing, each with the time (a count of calls) at which that was; 0: not yet. */
static struct thing {
	unsigned ahead, near, run;
} things[THINGS];
static unsigned now, under_way, most;

static void ahead(void *p)
{
	struct thing *t = p;

	assert_int_equal(t->ahead, 0);
	t->ahead = ++now;
	if (++under_way > most)
		most = under_way;
}

static void near(void *p)
{
	struct thing *t = p;

	assert_true(t->ahead && !t->near && !t->run);
	t->near = ++now;
}

static void run(void *p)
{
	struct thing *t = p;

	assert_true(t->ahead && !t->run);
	assert_true(t == things || t[-1].run);
	t->run = ++now;
	under_way--;
}

static const struct row_ops ops = { ahead, near, run };

static const struct row_case {
	const char *name;
	unsigned count;
	unsigned end_every;		/* things after which the row is ended in between; 0: only at the end */
} cases[] = {
	{ "one thing alone is done without a stop between", 1, 0 },
	{ "two are done in order", 2, 0 },
	{ "as many as wait for their second lines", ROW_NEAR, 0 },
	{ "one more than those", ROW_NEAR + 1, 0 },
	{ "as many as there is room for", ROW_FAR, 0 },
	{ "one more than there is room for", ROW_FAR + 1, 0 },
	{ "a batch is done in order", 64, 0 },
	{ "a row that was ended is used again", 96, 3 },
	{ "batches follow each other", THINGS, 25 },
	{ "none: nothing happens", 0, 0 },
};

static void all_are_done_in_order_and_asked_for_before(void **state)
{
	const struct row_case *c = *state;
	struct row r = { .ops = &ops };
	unsigned i, nears = 0, size = c->end_every && c->end_every < c->count ? c->end_every : c->count;

	now = under_way = most = 0;
	for (i = 0; i < THINGS; i++)
		things[i] = (struct thing){ 0 };
	for (i = 0; i < c->count; i++) {
		row_add(&r, &things[i]);
		if (c->end_every && i % c->end_every == c->end_every - 1) {
			row_end(&r);
			assert_int_equal(under_way, 0);
		}
	}
	row_end(&r);
	for (i = 0; i < c->count; i++) {
		assert_true(things[i].run);
		nears += things[i].near > 0;
	}
	assert_int_equal(most, size < ROW_FAR ? size : ROW_FAR);
	/* only the first of a short row goes without: there is nobody whose work could hide the wait */
	assert_true(c->count < 2 || nears >= c->count - c->count / size);
	if (c->count == 1)
		assert_int_equal(things[0].near, 0);
}

/* A thing's lines are asked for while others are done: in the middle of a batch, so many of them. */
static void in_a_batch_there_is_work_between_asking_and_doing(void **state)
{
	struct row r = { .ops = &ops };
	unsigned i;

	now = under_way = most = 0;
	for (i = 0; i < THINGS; i++)
		things[i] = (struct thing){ 0 };
	for (i = 0; i < THINGS; i++)
		row_add(&r, &things[i]);
	row_end(&r);
	for (i = ROW_FAR; i < THINGS; i++) {
		assert_true(things[i].ahead < things[i - ROW_FAR + 1].run);
		assert_true(things[i].near < things[i - 1].run);
		assert_true(things[i - ROW_FAR].run < things[i].ahead);
	}
}

#define CASES (sizeof(cases) / sizeof(cases[0]))

int main(void)
{
	struct CMUnitTest tests[CASES + 1] = { cmocka_unit_test(in_a_batch_there_is_work_between_asking_and_doing) };

	for (unsigned i = 0; i < CASES; i++)
		tests[i + 1] = (struct CMUnitTest){ cases[i].name, all_are_done_in_order_and_asked_for_before, NULL, NULL,
						    (void *)&cases[i] };
	return cmocka_run_group_tests_name("base/row", tests, NULL, NULL);
}
