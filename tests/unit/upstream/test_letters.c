/* SPDX-License-Identifier: BSD-2-Clause */
/* test_letters.c - letters in random case, servers that do not repeat them, and what DO is asked of whom. */
#include <string.h>
#include "unit/upstream/rig.h"
#include "upstream/pool.h"

static void begin(struct rig *r, const struct stub *s, bool random, bool no_do, enum endpoint_scheme scheme)
{
	struct upstream_opts o = { .count = 1, .strategy = UPSTREAM_ORDERED, .timeout_ms = 2000, .case_randomization = random };

	o.servers[0].at = (struct endpoint){ .scheme = scheme, .literal = true, .addr = s->addr };
	o.servers[0].no_do = no_do;
	rig_start_opts(r, &o);
}

/* Ask @count questions one after another, each of which must be answered. */
static void ask(struct rig *r, unsigned count)
{
	struct asked a;
	unsigned i;

	for (i = 0; i < count; i++) {
		memset(&a, 0, sizeof(a));
		assert_int_equal(rig_ask(r, &a, i), 0);
		rig_run(r, r->done + 1);
		assert_int_equal(a.err, 0);
		assert_int_equal(a.tag, 1);
	}
}

static void end(struct rig *r, struct stub *s)
{
	rig_end(r);
	stub_stop(s);
}

/* 1,600 letters: fewer than 650 or more than 950 capitals have a chance below 10^-13. */
static void half_of_the_letters_are_capitals(void **state)
{
	struct stub s;
	struct rig r;

	stub_start(&s, "127.0.0.1", 1, STUB_ANSWER);
	begin(&r, &s, true, false, ENDPOINT_DNS);
	ask(&r, 200);
	assert_int_equal(s.letters, 1600);
	assert_in_range(s.capitals, 650, 950);
	assert_int_equal(s.udp_queries, 200);
	assert_int_equal(rig_count(&r, COUNT_upstream_letters), 0);
	end(&r, &s);
}

static void switched_off_there_are_none(void **state)
{
	struct stub s;
	struct rig r;

	stub_start(&s, "127.0.0.1", 1, STUB_OTHER_LETTERS);
	begin(&r, &s, false, false, ENDPOINT_DNS);
	ask(&r, 20);
	assert_int_equal(s.capitals, 0);
	assert_int_equal(s.tcp_queries, 0);
	end(&r, &s);
}

/* Who guesses cannot take part in a connection. */
static void over_tcp_there_are_none(void **state)
{
	struct stub s;
	struct rig r;

	stub_start(&s, "127.0.0.1", 1, STUB_ANSWER);
	begin(&r, &s, true, false, ENDPOINT_TCP);
	ask(&r, 20);
	assert_int_equal(s.tcp_queries, 20);
	assert_int_equal(s.capitals, 0);
	end(&r, &s);
}

static void other_letters_are_asked_again_over_tcp_and_twice_is_enough(void **state)
{
	unsigned capitals;
	struct stub s;
	struct rig r;

	stub_start(&s, "127.0.0.1", 1, STUB_OTHER_LETTERS);
	begin(&r, &s, true, false, ENDPOINT_DNS);
	ask(&r, 1);
	assert_int_equal(s.tcp_queries, 1);
	assert_int_equal(rig_count(&r, COUNT_upstream_letters), 1);
	assert_int_equal(rig_count(&r, COUNT_upstream_small), 0);
	ask(&r, 1);
	assert_int_equal(s.tcp_queries, 2);
	assert_int_equal(rig_count(&r, COUNT_upstream_letters), 2);
	assert_int_equal(rig_count(&r, COUNT_upstream_small), 1);
	capitals = s.capitals;
	ask(&r, 20);
	assert_int_equal(s.tcp_queries, 2);
	assert_int_equal(s.udp_queries, 22);
	assert_int_equal(s.capitals, capitals);
	assert_int_equal(rig_count(&r, COUNT_upstream_letters), 2);
	end(&r, &s);
}

static void other_letters_once_in_a_while_change_nothing(void **state)
{
	struct stub s;
	struct rig r;
	unsigned i;

	stub_start(&s, "127.0.0.1", 1, STUB_ANSWER);
	begin(&r, &s, true, false, ENDPOINT_DNS);
	for (i = 0; i < 5; i++) {
		s.mode = STUB_OTHER_LETTERS;
		ask(&r, 1);
		s.mode = STUB_ANSWER;
		ask(&r, 1);
	}
	assert_int_equal(rig_count(&r, COUNT_upstream_letters), 5);
	assert_int_equal(rig_count(&r, COUNT_upstream_small), 0);
	end(&r, &s);
}

static void an_error_without_question_needs_no_letters(void **state)
{
	struct stub s;
	struct rig r;

	stub_start(&s, "127.0.0.1", 1, STUB_BARE_FORMERR_EDNS);
	begin(&r, &s, true, false, ENDPOINT_DNS);
	ask(&r, 3);
	assert_int_equal(rig_count(&r, COUNT_upstream_letters), 0);
	assert_int_equal(s.tcp_queries, 0);
	end(&r, &s);
}

static bool is_small(struct upstream_pool *p, uint64_t now_ms)
{
	struct upstream_end end = { .outcome = UPSTREAM_DROPPED };
	struct upstream_how how;
	struct addr to;

	assert_int_equal(upstream_pool_begin(p, 0, false, now_ms, &to, &how), 0);
	upstream_pool_end(p, 0, &end, now_ms);
	return how.small;
}

static void small_letters_are_for_ten_minutes(void **state)
{
	struct upstream_opts o = { .count = 1, .timeout_ms = 2000 };
	struct upstream_end good = { .outcome = UPSTREAM_ANSWERED, .letters = true };
	struct upstream_pool *p;
	struct upstream_how how;
	struct addr to;

	o.servers[0].at.literal = true;
	assert_int_equal(upstream_pool_new(&o, NULL, NULL, &p), 0);
	assert_false(upstream_pool_other_letters(p, 0, 1000));
	assert_false(is_small(p, 1000));
	assert_true(upstream_pool_other_letters(p, 0, 2000));
	assert_true(is_small(p, 2000));
	assert_true(is_small(p, 2000 + UPSTREAM_PLAIN_MS - 1));
	assert_false(is_small(p, 2000 + UPSTREAM_PLAIN_MS));
	/* the next one is the first in a row again, and what is right ends a row */
	assert_false(upstream_pool_other_letters(p, 0, 3000 + UPSTREAM_PLAIN_MS));
	assert_int_equal(upstream_pool_begin(p, 0, false, 3000 + UPSTREAM_PLAIN_MS, &to, &how), 0);
	upstream_pool_end(p, 0, &good, 3000 + UPSTREAM_PLAIN_MS);
	assert_false(upstream_pool_other_letters(p, 0, 4000 + UPSTREAM_PLAIN_MS));
	assert_true(upstream_pool_other_letters(p, 0, 4000 + UPSTREAM_PLAIN_MS));
	upstream_pool_unref(p);
}

static void do_is_asked_though_nobody_set_it(void **state)
{
	struct stub s;
	struct rig r;

	stub_start(&s, "127.0.0.1", 1, STUB_ANSWER);
	begin(&r, &s, true, false, ENDPOINT_DNS);
	ask(&r, 5);
	assert_int_equal(s.with_do, 5);
	end(&r, &s);
}

static void do_is_not_asked_of_who_must_not_be(void **state)
{
	struct stub s;
	struct rig r;

	stub_start(&s, "127.0.0.1", 1, STUB_ANSWER);
	begin(&r, &s, true, true, ENDPOINT_DNS);
	ask(&r, 5);
	assert_int_equal(s.with_do, 0);
	assert_int_equal(s.with_edns, 5);
	end(&r, &s);
}

/* Nothing but that: the OPT is as always, and the option ends the query. */
static void a_subnet_goes_along_and_only_with_edns(void **state)
{
	static const uint8_t subnet[] = { 0, 1, 24, 0, 192, 0, 2 };
	static const uint8_t opt[] = { 0, 0, 41, 0x04, 0xd0, 0, 0, 0x80, 0, 0, 11, 0, 8, 0, 7, 0, 1, 24, 0, 192, 0, 2, 0 };
	static const uint8_t none[32];
	struct asked a = { .req = { .ecs = subnet, .ecs_len = sizeof(subnet) } };
	struct stub s;
	struct rig r;

	stub_start(&s, "127.0.0.1", 1, STUB_ANSWER);
	begin(&r, &s, true, false, ENDPOINT_DNS);
	assert_int_equal(rig_ask(&r, &a, 1), 0);
	rig_run(&r, 1);
	assert_memory_equal(s.last + 12 + 16 + 4, opt, sizeof(opt));
	s.mode = STUB_FORMERR_EDNS;
	assert_int_equal(rig_ask(&r, &a, 2), 0);
	rig_run(&r, 2);
	assert_int_equal(a.tag, 1);
	assert_memory_equal(s.last + 12 + 16 + 4, none, sizeof(none));
	end(&r, &s);
}

#define ROW(f) { #f, f, NULL, NULL, NULL }

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ROW(half_of_the_letters_are_capitals),
		ROW(switched_off_there_are_none),
		ROW(over_tcp_there_are_none),
		ROW(other_letters_are_asked_again_over_tcp_and_twice_is_enough),
		ROW(other_letters_once_in_a_while_change_nothing),
		ROW(an_error_without_question_needs_no_letters),
		ROW(small_letters_are_for_ten_minutes),
		ROW(a_subnet_goes_along_and_only_with_edns),
		ROW(do_is_asked_though_nobody_set_it),
		ROW(do_is_not_asked_of_who_must_not_be),
	};

	return cmocka_run_group_tests_name("upstream/letters", tests, NULL, NULL);
}
