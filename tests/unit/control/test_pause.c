/* SPDX-License-Identifier: BSD-2-Clause */
/* test_pause.c - how long a pause lasts when somebody sets the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/clock.h"
#include "control/internal.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define WALL 1700000000
#define BOOT (5000 * CLOCK_S)

/* A pause of 600 seconds that began at WALL and BOOT. */
static const struct row {
	const char *name;
	int64_t wall_s;			/* how far each clock has come since */
	uint64_t boot_ns;
	int64_t left_s;
} rows[] = {
	{ "it lasts as long as was said", 0, 0, 600 },
	{ "it becomes shorter", 100, 100 * CLOCK_S, 500 },
	{ "a second that has begun counts", 100, 100 * CLOCK_S + 1, 500 },
	{ "it ends", 600, 600 * CLOCK_S, 0 },
	{ "a clock set back by a day does not make it longer", 100 - 86400, 100 * CLOCK_S, 500 },
	{ "a clock set back by ten years does not keep it from its end", -315360000, 600 * CLOCK_S, 0 },
	{ "a clock set beyond its end ends it", 86400, 100 * CLOCK_S, 600 - 86400 },
};

static void test_left(void **state)
{
	const struct row *r = *state;
	struct pause p = { .until_s = WALL + 600, .end_ns = BOOT + 600 * CLOCK_S };

	assert_int_equal(pause_left_s(&p, WALL + r->wall_s, BOOT + r->boot_ns), r->left_s);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(rows)];
	size_t i;

	for (i = 0; i < COUNT(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, test_left, NULL, NULL, (void *)&rows[i] };
	return cmocka_run_group_tests_name("control/pause", tests, NULL, NULL);
}
