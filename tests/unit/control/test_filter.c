/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_filter.c - filters that the kernel's side does not take.
 *
 * Runs control's files on a struct control of its own (house.h), whose tables
 * refuse a filter of another secret.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refused_filter_is_not_what_the_next_start_takes),
	};

	return cmocka_run_group_tests_name("control filter", tests, NULL, NULL);
}
