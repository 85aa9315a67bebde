/* SPDX-License-Identifier: BSD-2-Clause */
/* test_units.c - the allocator of runs of units. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "kern/units.h"
#include "unit/kern/make.h"

static void unit_0_is_never_given(void **state)
{
	struct units u;
	uint32_t n, unit;

	assert_int_equal(units_init(&u, 1), 0);
	for (n = 0; (unit = units_take(&u, 1)); n++)
		assert_true(unit > 0 && unit < MR_PAGE_UNITS);
	assert_int_equal(n, MR_PAGE_UNITS - 1);
	units_done(&u);
}

/* Take runs of mixed lengths until full, give every other one back, and take again; nothing may overlap. */
static void runs_never_overlap_or_leave_their_page(void **state)
{
	enum { PAGES = 8, MOST = PAGES * MR_PAGE_UNITS };
	uint8_t owner[MOST] = { 1 };
	uint32_t at[MOST];
	unsigned len[MOST], count = 0, round, i, j, n;
	struct units u;

	assert_int_equal(units_init(&u, PAGES), 0);
	for (round = 0; round < 50; round++) {
		for (n = 2 + round % 13; count < MOST; n = 2 + (n + 5) % 13) {
			at[count] = units_take(&u, n);
			if (!at[count])
				break;
			len[count] = n;
			assert_true(at[count] % MR_PAGE_UNITS + n <= MR_PAGE_UNITS);
			for (j = 0; j < n; j++) {
				assert_int_equal(owner[at[count] + j], 0);
				owner[at[count] + j] = 1;
			}
			count++;
		}
		for (i = j = 0; i < count; i++) {
			if (i % 2 == round % 2) {
				at[j] = at[i];
				len[j++] = len[i];
				continue;
			}
			units_give(&u, at[i], len[i]);
			memset(owner + at[i], 0, len[i]);
		}
		count = j;
	}
	units_done(&u);
}

static void a_run_is_found_wherever_one_is_left(void **state)
{
	struct units u;

	assert_int_equal(units_init(&u, 2), 0);
	while (units_take(&u, 1))
		;
	units_give(&u, 40, 3);
	assert_int_equal(units_take(&u, 4), 0);
	assert_int_equal(units_take(&u, 3), 40);
	units_give(&u, 30, 2);
	units_give(&u, 32, 2);
	assert_int_equal(units_take(&u, 4), 0);	/* four in a row, but over the edge of a page */
	assert_int_equal(units_take(&u, 2) + units_take(&u, 2), 62);
	units_done(&u);
}

static const struct at_case {
	const char *name;
	uint32_t unit;
	unsigned run;
	bool taken;
} at_cases[] = {
	{ "a free run is taken where it is asked for",  64, 3, true },
	{ "a run over the edge of its page is refused", 62, 3, false },
	{ "a run beyond the table is refused",          128, 1, false },
	{ "a run over a taken unit is refused",         33, 4, false },
	{ "unit 0 is refused",                          0, 2, false },
	{ "an empty run is refused",                    70, 0, false },
};

static void run_at(void **state)
{
	const struct at_case *c = *state;
	struct units u;

	assert_int_equal(units_init(&u, 4), 0);
	assert_true(units_take_at(&u, 35, 2));
	assert_int_equal(units_take_at(&u, c->unit, c->run), c->taken);
	assert_int_equal(u.in_use, c->taken ? 2 + c->run : 2);
	units_done(&u);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int main(void)
{
	struct CMUnitTest tests[3 + COUNT(at_cases)] = {
		cmocka_unit_test(unit_0_is_never_given),
		cmocka_unit_test(runs_never_overlap_or_leave_their_page),
		cmocka_unit_test(a_run_is_found_wherever_one_is_left),
	};
	unsigned i;

	for (i = 0; i < COUNT(at_cases); i++)
		tests[3 + i] = (struct CMUnitTest){ at_cases[i].name, run_at, NULL, NULL, (void *)&at_cases[i] };
	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
