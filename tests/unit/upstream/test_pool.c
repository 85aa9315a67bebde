/* SPDX-License-Identifier: BSD-2-Clause */
/* test_pool.c - the order in which servers are asked; no network, times are given. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>
#include "upstream/pool.h"

/* What happens, one letter and a server each: a(nswered), f(ailed), t(imed out), w(ait: so many seconds). */
struct pool_case {
	const char *name;
	unsigned count;
	const char *events;
	const char *order;
};

static const struct pool_case cases[] = {
	{ "begins_as_configured", 3, "", "012" },
	{ "one_server_is_an_order_too", 1, "t0t0t0t0", "0" },
	{ "who_answered_last_is_asked_first", 3, "a1", "120" },
	{ "the_last_of_many_wins", 3, "a1a2a0", "012" },
	{ "two_timeouts_change_nothing", 2, "t0t0", "01" },
	{ "three_timeouts_in_a_row_send_to_the_back", 2, "t0t0t0", "10" },
	{ "an_answer_between_begins_the_row_anew", 2, "t0t0a0t0t0", "01" },
	{ "a_failure_shows_life", 2, "t0t0f0t0t0", "01" },
	{ "a_failure_does_not_prefer", 2, "f1", "01" },
	{ "still_away_after_4_s", 2, "t0t0t0w4", "10" },
	{ "back_after_5_s", 2, "t0t0t0w5", "01" },
	{ "away_again_at_the_first_timeout_then", 2, "t0t0t0w5t0", "10" },
	{ "an_answer_brings_back_at_once", 3, "t0t0t0a0", "012" },
	{ "all_away_is_the_old_order", 3, "t0t0t0t1t1t1t2t2t2", "012" },
	{ "the_preferred_one_can_be_away", 3, "a1t1t1t1", "201" },
};

static void order(void **state)
{
	const struct pool_case *c = *state;
	uint8_t ret[UPSTREAM_SERVERS_MAX];
	uint64_t now_ms = 1000000;
	struct upstream_pool p;
	const char *e;
	unsigned i;

	upstream_pool_init(&p, c->count);
	for (e = c->events; *e; e += 2) {
		i = (unsigned)(e[1] - '0');
		if (*e == 'a')
			upstream_pool_answered(&p, i);
		else if (*e == 'f')
			upstream_pool_failed(&p, i);
		else if (*e == 't')
			upstream_pool_timed_out(&p, i, now_ms);
		else
			now_ms += i * 1000;
	}
	upstream_pool_order(&p, now_ms, ret);
	for (i = 0; i < c->count; i++)
		assert_int_equal(ret[i] + '0', c->order[i]);
}

static void server_without_edns_is_believed_for_ten_minutes(void **state)
{
	struct upstream_pool p;

	upstream_pool_init(&p, 2);
	assert_false(upstream_pool_is_plain(&p, 1, 5000));
	upstream_pool_set_plain(&p, 1, 5000);
	assert_true(upstream_pool_is_plain(&p, 1, 5000 + UPSTREAM_PLAIN_MS - 1));
	assert_false(upstream_pool_is_plain(&p, 1, 5000 + UPSTREAM_PLAIN_MS));
	assert_false(upstream_pool_is_plain(&p, 0, 5000));
}

#define CASES (sizeof(cases) / sizeof(cases[0]))

int main(void)
{
	struct CMUnitTest tests[CASES + 1];
	size_t i;

	for (i = 0; i < CASES; i++)
		tests[i] = (struct CMUnitTest){ cases[i].name, order, NULL, NULL, (void *)&cases[i] };
	tests[CASES] = (struct CMUnitTest)cmocka_unit_test(server_without_edns_is_believed_for_ten_minutes);
	return cmocka_run_group_tests_name("upstream/pool", tests, NULL, NULL);
}
