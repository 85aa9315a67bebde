/* SPDX-License-Identifier: BSD-2-Clause */
/* test_pool.c - what is known of servers, the order in which they are asked, routes and bounds; no network, times are given. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "upstream/pool.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define START_MS 1000000

static struct upstream_opts opts_of(unsigned count, enum upstream_strategy strategy)
{
	struct upstream_opts o = { .count = count, .strategy = strategy, .timeout_ms = 2000 };
	unsigned i;

	for (i = 0; i < count; i++) {
		o.servers[i].at.literal = true;
		o.servers[i].at.addr.port = (uint16_t)(5300 + i);
	}
	return o;
}

static struct upstream_pool *pool_of(const struct upstream_opts *o)
{
	struct upstream_pool *p;

	assert_int_equal(upstream_pool_new(o, NULL, NULL, &p), 0);
	return p;
}

static const struct dns_key *key_of(const char *wire, size_t len, uint16_t qtype)
{
	static struct dns_key key;

	memset(&key, 0, sizeof(key));
	memcpy(key.name, wire, len);
	key.name_len = (uint16_t)len;
	key.qtype = qtype;
	return &key;
}
#define KEY(wire) key_of(wire, sizeof(wire), 1)

static int enter(struct upstream_pool *p, const struct dns_key *key, uint64_t now_ms, struct upstream_plan *plan)
{
	unsigned full;
	int measure;

	return upstream_pool_enter(p, key, now_ms, plan, &measure, &full);
}

static enum upstream_change end(struct upstream_pool *p, unsigned server, enum upstream_outcome outcome, uint32_t us, uint64_t now_ms)
{
	struct upstream_end e = { .outcome = outcome, .us = us, .why = outcome == UPSTREAM_ANSWERED ? NULL : "so" };
	struct addr to;
	struct upstream_how how;

	assert_int_equal(upstream_pool_begin(p, server, false, now_ms, &to, &how), 0);
	return upstream_pool_end(p, server, &e, now_ms);
}

/* ---- order ---- */

/*
 * What happens, one letter and a server each: a(nswered after 10 ms), q(uickly: 1 ms), s(lowly: 100 ms), S(lower: 1 s), f(ailed), r(efused),
 * t(imed out), b(roke), w(ait: so many seconds), W(ait: so many tenths).
 */
static void play(struct upstream_pool *p, const char *events, uint64_t *now_ms)
{
	const char *e;
	unsigned i;

	for (e = events; *e; e += 2) {
		i = (unsigned)(e[1] - '0');
		switch (*e) {
		case 'a': end(p, i, UPSTREAM_ANSWERED, 10000, *now_ms); break;
		case 'q': end(p, i, UPSTREAM_ANSWERED, 1000, *now_ms); break;
		case 's': end(p, i, UPSTREAM_ANSWERED, 100000, *now_ms); break;
		case 'S': end(p, i, UPSTREAM_ANSWERED, 1000000, *now_ms); break;
		case 'f': end(p, i, UPSTREAM_SERVFAIL, 0, *now_ms); break;
		case 'r': end(p, i, UPSTREAM_REFUSED, 0, *now_ms); break;
		case 't': end(p, i, UPSTREAM_TIMED_OUT, 500000, *now_ms); break;
		case 'b': end(p, i, UPSTREAM_BROKE, 0, *now_ms); break;
		case 'w': *now_ms += i * 1000; break;
		case 'W': *now_ms += i * 100; break;
		}
	}
}

struct order_case {
	const char *name;
	enum upstream_strategy strategy;
	unsigned count;
	const char *events;
	const char *order;
	unsigned race_ms;
};

#define BEST    UPSTREAM_PARALLEL_BEST
#define ORDERED UPSTREAM_ORDERED

static const struct order_case orders[] = {
	{ "ordered_is_as_configured", ORDERED, 3, "q2a1s0", "012", 0 },
	{ "one_server_is_an_order_too", ORDERED, 1, "t0t0t0t0", "0", 0 },
	{ "two_timeouts_change_nothing", ORDERED, 2, "t0t0", "01", 0 },
	{ "three_timeouts_in_a_row_send_to_the_end", ORDERED, 3, "t0t0t0", "120", 0 },
	{ "three_errors_in_a_row_do_too", ORDERED, 3, "b0b0b0", "120", 0 },
	{ "timeouts_and_errors_are_one_row", ORDERED, 3, "t0b0t0", "120", 0 },
	{ "an_answer_between_begins_the_row_anew", ORDERED, 2, "t0t0a0t0t0", "01", 0 },
	{ "a_failure_shows_life", ORDERED, 2, "t0t0f0t0t0", "01", 0 },
	{ "silence_that_began_before_the_last_answer_does_not_count", ORDERED, 2, "a0W2t0t0t0", "01", 0 },
	{ "silence_that_began_behind_it_does", ORDERED, 2, "a0W6t0t0t0", "10", 0 },
	{ "one_answer_does_not_bring_back", ORDERED, 2, "t0t0t0a0", "10", 0 },
	{ "two_answers_bring_back", ORDERED, 2, "t0t0t0a0a0", "01", 0 },
	{ "a_timeout_between_them_does_not", ORDERED, 2, "t0t0t0a0w1t0a0", "10", 0 },
	{ "three_refusals_in_a_row_send_behind_the_others", ORDERED, 3, "r0r0r0", "120", 0 },
	{ "two_refusals_do_not", ORDERED, 2, "r0r0", "01", 0 },
	{ "an_answer_forgives_them", ORDERED, 2, "r0f0r0a0", "01", 0 },
	{ "who_refuses_is_before_who_is_silent", ORDERED, 3, "r0r0r0t1t1t1", "201", 0 },
	{ "all_failed_is_the_order_of_the_configuration", ORDERED, 3, "t0t0t0t1t1t1t2t2t2", "012", 0 },
	{ "still_failed_after_9_s", ORDERED, 2, "t0t0t0w9", "10", 0 },
	{ "latency_begins_with_the_unknown", UPSTREAM_LATENCY, 3, "a0q1", "210", 0 },
	{ "latency_is_fastest_first", UPSTREAM_LATENCY, 3, "a0q1s2", "102", 0 },
	{ "latency_is_an_average", UPSTREAM_LATENCY, 2, "a0s1q1q1", "01", 0 },
	{ "and_moves_with_time", UPSTREAM_LATENCY, 2, "s1a0q1q1q1q1q1q1q1q1q1q1q1q1q1q1", "10", 0 },
	{ "one_timeout_sends_behind_the_well", UPSTREAM_LATENCY, 2, "q0s1w1t0", "10", 0 },
	{ "best_races_the_two_fastest", BEST, 3, "a0q1s2", "102", 10 },
	{ "the_second_waits_half_longer_than_usual", BEST, 2, "s0s1", "01", 150 },
	{ "but_not_for_ever", BEST, 2, "S0S1", "01", 200 },
	{ "one_that_was_silent_is_not_waited_for", BEST, 2, "s0w1t0t1", "01", 10 },
	{ "without_a_second_there_is_no_race", BEST, 1, "a0", "0", 0 },
	{ "a_failed_second_is_not_raced", BEST, 2, "a0t1t1t1", "01", 0 },
	{ "when_all_have_failed_there_is_no_race", BEST, 2, "t0t0t0t1t1t1", "01", 0 },
	{ "the_trial_of_a_failed_one_is_a_race", BEST, 2, "a0t1t1t1w9w1", "01", 15 },
};

static void is_ordered(void **state)
{
	const struct order_case *c = *state;
	struct upstream_opts o = opts_of(c->count, c->strategy);
	struct upstream_pool *p = pool_of(&o);
	uint64_t now_ms = START_MS;
	struct upstream_plan plan;
	char order[17] = "";
	unsigned i;

	play(p, c->events, &now_ms);
	assert_int_equal(enter(p, KEY("\1a"), now_ms, &plan), 0);
	for (i = 0; i < plan.count; i++)
		order[i] = (char)('0' + plan.server[i]);
	assert_string_equal(order, c->order);
	assert_int_equal(plan.race_ms, c->race_ms);
	upstream_pool_leave(p);
	upstream_pool_unref(p);
}

static void round_robin_takes_turns(void **state)
{
	struct upstream_opts o = opts_of(3, UPSTREAM_ROUND_ROBIN);
	struct upstream_pool *p = pool_of(&o);
	uint64_t now_ms = START_MS;
	struct upstream_plan plan;
	unsigned first[3] = { 0 }, i;

	for (i = 0; i < 30; i++) {
		assert_int_equal(enter(p, KEY("\1a"), now_ms, &plan), 0);
		assert_int_equal(plan.count, 3);
		assert_int_equal((plan.server[0] + 1) % 3, plan.server[1]);
		first[plan.server[0]]++;
		upstream_pool_leave(p);
	}
	assert_true(first[0] == 10 && first[1] == 10 && first[2] == 10);
	play(p, "t1t1t1", &now_ms);
	for (i = 0; i < 30; i++) {
		enter(p, KEY("\1a"), now_ms, &plan);
		first[plan.server[0]]++;
		assert_int_equal(plan.server[2], 1);
		upstream_pool_leave(p);
	}
	assert_true(first[0] == 25 && first[1] == 10 && first[2] == 25);
	upstream_pool_unref(p);
}

/* Of 600 each of three is first 200 times; 100 or fewer has a chance below 10^-18. */
static void random_asks_each_as_often(void **state)
{
	struct upstream_opts o = opts_of(3, UPSTREAM_RANDOM);
	struct upstream_pool *p = pool_of(&o);
	struct upstream_plan plan;
	unsigned first[3] = { 0 }, i;

	for (i = 0; i < 600; i++) {
		enter(p, KEY("\1a"), START_MS, &plan);
		assert_int_equal(plan.server[0] + plan.server[1] + plan.server[2], 3);
		first[plan.server[0]]++;
		upstream_pool_leave(p);
	}
	assert_true(first[0] > 100 && first[1] > 100 && first[2] > 100);
	upstream_pool_unref(p);
}

/* ---- a failed state ---- */

static void failed_server_is_probed_each_quarter_of_a_second(void **state)
{
	struct upstream_opts o = opts_of(2, ORDERED);
	struct upstream_pool *p = pool_of(&o);
	uint64_t now_ms = START_MS;

	assert_int_equal(upstream_pool_probe(p, now_ms), -1);
	play(p, "t1t1t1", &now_ms);
	assert_int_equal(upstream_pool_failed(p), 1);
	assert_int_equal(upstream_pool_probe(p, now_ms + 249), -1);
	assert_int_equal(upstream_pool_probe(p, now_ms + 250), 1);
	assert_int_equal(upstream_pool_probe(p, now_ms + 250), -1);
	assert_int_equal(upstream_pool_probe(p, now_ms + 499), -1);
	assert_int_equal(upstream_pool_probe(p, now_ms + 500), 1);
	assert_int_equal(end(p, 1, UPSTREAM_ANSWERED, 0, now_ms + 600), UPSTREAM_SAME);
	assert_int_equal(upstream_pool_probe(p, now_ms + 600), 1);	/* the second of the row does not wait */
	assert_int_equal(end(p, 1, UPSTREAM_ANSWERED, 0, now_ms + 601), UPSTREAM_ROSE);
	assert_int_equal(upstream_pool_failed(p), 0);
	assert_int_equal(upstream_pool_probe(p, now_ms + 9999), -1);
	upstream_pool_unref(p);
}

static void a_change_of_the_network_probes_at_once(void **state)
{
	struct upstream_opts o = opts_of(2, ORDERED);
	struct upstream_pool *p = pool_of(&o);
	uint64_t now_ms = START_MS;

	play(p, "t0t0t0t1t1t1", &now_ms);
	assert_int_equal(upstream_pool_probe(p, now_ms + 1), -1);
	upstream_pool_doubt(p, now_ms + 1);
	assert_int_equal(upstream_pool_probe(p, now_ms + 1), 0);
	assert_int_equal(upstream_pool_probe(p, now_ms + 1), 1);
	assert_int_equal(upstream_pool_probe(p, now_ms + 1), -1);
	upstream_pool_unref(p);
}

static void a_failed_server_gets_one_question_each_ten_seconds(void **state)
{
	struct upstream_opts o = opts_of(2, ORDERED);
	struct upstream_pool *p = pool_of(&o);
	uint64_t now_ms = START_MS;
	struct upstream_plan plan;

	play(p, "t0t0t0w9w1", &now_ms);
	enter(p, KEY("\1a"), now_ms, &plan);
	assert_int_equal(plan.wells, 2);
	play(p, "t0", &now_ms);
	enter(p, KEY("\1a"), now_ms, &plan);
	assert_int_equal(plan.wells, 1);
	now_ms += UPSTREAM_TRIAL_MS;
	enter(p, KEY("\1a"), now_ms, &plan);
	assert_int_equal(plan.wells, 2);
	upstream_pool_unref(p);
}

static void fall_and_rise_are_as_configured(void **state)
{
	struct upstream_opts o = opts_of(1, ORDERED);
	struct upstream_pool *p;

	o.fall = 1;
	o.rise = 3;
	p = pool_of(&o);
	assert_int_equal(end(p, 0, UPSTREAM_TIMED_OUT, 0, 1), UPSTREAM_FELL);
	assert_int_equal(end(p, 0, UPSTREAM_TIMED_OUT, 0, 1), UPSTREAM_SAME);
	assert_int_equal(end(p, 0, UPSTREAM_REFUSED, 0, 1), UPSTREAM_SAME);
	assert_int_equal(end(p, 0, UPSTREAM_ANSWERED, 0, 1), UPSTREAM_SAME);
	assert_int_equal(end(p, 0, UPSTREAM_SERVFAIL, 0, 1), UPSTREAM_ROSE);
	upstream_pool_unref(p);
}

static void what_is_dropped_by_us_teaches_nothing(void **state)
{
	struct upstream_opts o = opts_of(1, ORDERED);
	struct upstream_pool *p = pool_of(&o);
	struct upstream_picture look;
	unsigned i;

	for (i = 0; i < 5; i++)
		end(p, 0, UPSTREAM_DROPPED, 5000, 1);
	assert_true(upstream_pool_look(p, 0, 1, &look));
	assert_false(look.failed);
	assert_int_equal(look.latency_us, 0);
	assert_int_equal(look.in_flight, 0);
	assert_int_equal(look.asked, 5);
	upstream_pool_unref(p);
}

static void a_server_of_unknown_speed_is_to_be_measured_once(void **state)
{
	struct upstream_opts o = opts_of(2, BEST);
	struct upstream_pool *p = pool_of(&o);
	struct upstream_plan plan;
	unsigned full;
	int measure;

	upstream_pool_enter(p, KEY("\1a"), 1, &plan, &measure, &full);
	assert_int_equal(plan.server[0], 0);
	assert_int_equal(measure, 1);	/* the other is measured by the question itself */
	upstream_pool_enter(p, KEY("\1a"), 1, &plan, &measure, &full);
	assert_int_equal(measure, -1);
	end(p, 0, UPSTREAM_ANSWERED, 5, 10000);
	end(p, 1, UPSTREAM_ANSWERED, 7, 5000);
	upstream_pool_enter(p, KEY("\1a"), 4999 + UPSTREAM_FRESH_MS, &plan, &measure, &full);
	assert_int_equal(measure, -1);
	upstream_pool_enter(p, KEY("\1a"), 5000 + UPSTREAM_FRESH_MS, &plan, &measure, &full);
	assert_int_equal(measure, 1);
	upstream_pool_enter(p, KEY("\1a"), 5000 + UPSTREAM_FRESH_MS, &plan, &measure, &full);
	assert_int_equal(measure, -1);
	upstream_pool_unref(p);
}

/* ---- EDNS ---- */

static bool is_plain(struct upstream_pool *p, bool again, uint64_t now_ms)
{
	struct upstream_end e = { .outcome = UPSTREAM_DROPPED };
	struct addr to;
	struct upstream_how how;

	assert_int_equal(upstream_pool_begin(p, 0, again, now_ms, &to, &how), 0);
	upstream_pool_end(p, 0, &e, now_ms);
	return how.plain;
}

static void server_without_edns_is_believed_for_ten_minutes(void **state)
{
	struct upstream_opts o = opts_of(1, ORDERED);
	struct upstream_pool *p = pool_of(&o);

	assert_false(is_plain(p, false, 5000));
	assert_true(upstream_pool_set_plain(p, 0, 5000));
	assert_false(upstream_pool_set_plain(p, 0, 5001));
	assert_true(is_plain(p, false, 5000 + UPSTREAM_PLAIN_MS - 1));
	assert_false(is_plain(p, false, 5000 + UPSTREAM_PLAIN_MS));
	upstream_pool_unref(p);
}

static void silence_to_edns_is_asked_again_without_until_it_was_answered_once(void **state)
{
	struct upstream_end e = { .outcome = UPSTREAM_ANSWERED, .edns = true };
	struct upstream_opts o = opts_of(1, ORDERED);
	struct upstream_pool *p = pool_of(&o);
	struct addr to;
	struct upstream_how how;

	assert_false(is_plain(p, false, 5000));
	assert_true(is_plain(p, true, 5000));
	upstream_pool_set_plain(p, 0, 5000);
	upstream_pool_begin(p, 0, false, 5000, &to, &how);
	upstream_pool_end(p, 0, &e, 5000);
	assert_false(is_plain(p, false, 5000));		/* and what was believed is not believed any more */
	assert_false(is_plain(p, true, 5000));
	upstream_pool_unref(p);
}

/* ---- bounds ---- */

static void requests_are_bounded_in_all(void **state)
{
	struct upstream_opts o = opts_of(2, ORDERED);
	struct upstream_plan plan;
	struct upstream_pool *p;

	o.in_flight_max = 2;
	p = pool_of(&o);
	assert_int_equal(enter(p, KEY("\1a"), 1, &plan), 0);
	assert_int_equal(enter(p, KEY("\1a"), 1, &plan), 0);
	assert_int_equal(upstream_pool_in_flight(p), 2);
	assert_int_equal(enter(p, KEY("\1a"), 1, &plan), -EBUSY);
	upstream_pool_leave(p);
	assert_int_equal(enter(p, KEY("\1a"), 1, &plan), 0);
	upstream_pool_unref(p);
}

static void a_server_that_is_full_is_passed_over(void **state)
{
	struct upstream_opts o = opts_of(2, ORDERED);
	struct upstream_end e = { .outcome = UPSTREAM_ANSWERED };
	struct upstream_plan plan;
	struct upstream_pool *p;
	struct addr to;
	unsigned full;
	struct upstream_how how;
	int measure;

	o.server_in_flight_max = 1;
	p = pool_of(&o);
	assert_int_equal(upstream_pool_begin(p, 0, false, 1, &to, &how), 0);
	assert_int_equal(upstream_pool_begin(p, 0, false, 1, &to, &how), -EBUSY);
	assert_int_equal(upstream_pool_enter(p, KEY("\1a"), 1, &plan, &measure, &full), 0);
	assert_true(plan.count == 1 && plan.server[0] == 1 && full == 1);
	assert_int_equal(upstream_pool_begin(p, 1, false, 1, &to, &how), 0);
	assert_int_equal(upstream_pool_enter(p, KEY("\1a"), 1, &plan, &measure, &full), -EBUSY);
	upstream_pool_end(p, 0, &e, 1);
	assert_int_equal(upstream_pool_enter(p, KEY("\1a"), 1, &plan, &measure, &full), 0);
	assert_int_equal(plan.server[0], 0);
	upstream_pool_unref(p);
}

/* ---- sets and routes ---- */

static const struct upstream_set sets[] = {
	{ { 0, 1 }, 2 }, { { 2 }, 1 }, { { 3 }, 1 }, { { 4, 0 }, 2 },
};
static const struct upstream_route routes[] = {
	{ "\4corp\7example", 14, 2 }, { "\3lab\4corp\7example", 18, 3 }, { "\3lan", 5, 3 },
};

static struct upstream_opts routed(void)
{
	struct upstream_opts o = opts_of(5, ORDERED);

	o.sets = sets;
	o.set_count = 4;
	o.fallback = 1;
	o.routes = routes;
	o.route_count = 3;
	return o;
}

static const struct route_case {
	const char *name, *wire;
	size_t len;
	uint16_t qtype;
	const char *order;
} route_cases[] = {
#define NAME(w) w, sizeof(w)
	{ "a_name_without_a_route_is_for_all_and_the_fallback", NAME("\3www\7example"), 1, "012" },
	{ "the_root_has_no_route", NAME(""), 1, "012" },
	{ "a_zone_is_in_its_route", NAME("\4corp\7example"), 1, "3" },
	{ "so_is_what_lies_below", NAME("\1a\1b\4corp\7example"), 1, "3" },
	{ "the_longest_zone_wins", NAME("\1a\3lab\4corp\7example"), 1, "40" },
	{ "a_name_that_ends_alike_is_not_below", NAME("\5xcorp\7example"), 1, "012" },
	{ "the_zones_parent_is_not_in_it", NAME("\7example"), 1, "012" },
	{ "a_question_for_DS_is_the_parents", NAME("\3lab\4corp\7example"), 43, "3" },
	{ "a_question_for_DS_of_a_top_zone_is_for_all", NAME("\3lan"), 43, "012" },
	{ "a_question_for_DS_below_is_not", NAME("\1a\3lan"), 43, "40" },
};

static void is_routed(void **state)
{
	const struct route_case *c = *state;
	struct upstream_opts o = routed();
	struct upstream_pool *p = pool_of(&o);
	struct upstream_plan plan;
	char order[17] = "";
	unsigned i;

	assert_int_equal(enter(p, key_of(c->wire, c->len, c->qtype), 1, &plan), 0);
	for (i = 0; i < plan.count; i++) {
		order[i] = (char)('0' + plan.server[i]);
		assert_int_equal(plan.fallback[i], plan.server[i] == 2);
	}
	assert_string_equal(order, c->order);
	upstream_pool_unref(p);
}

static void the_fallback_comes_before_what_has_failed(void **state)
{
	struct upstream_opts o = routed();
	struct upstream_pool *p = pool_of(&o);
	uint64_t now_ms = START_MS;
	struct upstream_plan plan;

	play(p, "t0t0t0t1t1t1", &now_ms);
	enter(p, KEY("\1a"), now_ms, &plan);
	assert_true(plan.count == 3 && plan.server[0] == 2 && plan.server[1] == 0 && plan.server[2] == 1);
	play(p, "t2t2t2", &now_ms);
	enter(p, KEY("\1a"), now_ms, &plan);
	assert_true(plan.count == 3 && plan.server[0] == 0 && plan.server[1] == 1 && plan.server[2] == 2);
	upstream_pool_unref(p);
}

static void without_servers_for_all_there_are_those_of_routes(void **state)
{
	static const struct upstream_set two[] = { { { 0 }, 0 }, { { 0 }, 1 } };
	static const struct upstream_route one[] = { { "\3lan", 5, 1 } };
	struct upstream_opts o = opts_of(1, BEST);
	struct upstream_plan plan;
	struct upstream_pool *p;

	o.sets = two;
	o.set_count = 2;
	o.routes = one;
	o.route_count = 1;
	p = pool_of(&o);
	assert_int_equal(enter(p, KEY("\3www"), 1, &plan), -ENOENT);
	assert_int_equal(enter(p, KEY("\1a\3lan"), 1, &plan), 0);
	upstream_pool_unref(p);
}

static void what_is_not_there_is_refused(void **state)
{
	static const struct upstream_set bad[] = { { { 7 }, 1 } };
	static const struct upstream_route twice[] = { { "\3lan", 5, 2 }, { "\3lan", 5, 3 } };
	struct upstream_opts o = routed();
	struct upstream_pool *p;

	o.fallback = 4;
	assert_int_equal(upstream_pool_new(&o, NULL, NULL, &p), -EINVAL);
	o = routed();
	o.set_count = 3;
	assert_int_equal(upstream_pool_new(&o, NULL, NULL, &p), -EINVAL);
	o = opts_of(3, BEST);
	o.sets = bad;
	o.set_count = 1;
	assert_int_equal(upstream_pool_new(&o, NULL, NULL, &p), -EINVAL);
	o = routed();
	o.routes = twice;
	o.route_count = 2;
	assert_int_equal(upstream_pool_new(&o, NULL, NULL, &p), -EEXIST);
}

/* ---- names ---- */

static struct upstream_opts named(void)
{
	struct upstream_opts o = opts_of(2, ORDERED);

	assert_int_equal(endpoint_parse("tcp://dns.example:5301", &o.servers[1].at, NULL), 0);
	return o;
}

static void a_server_without_address_is_not_asked(void **state)
{
	struct upstream_opts o = named();
	struct upstream_pool *p = pool_of(&o);
	struct upstream_picture look;
	struct upstream_plan plan;
	struct addr a[2], to;
	struct upstream_how how;

	addr_parse("192.0.2.7", 0, &a[0]);
	addr_parse("192.0.2.8", 0, &a[1]);
	enter(p, KEY("\1a"), 1, &plan);
	assert_true(plan.count == 1 && plan.server[0] == 0);
	assert_int_equal(upstream_pool_begin(p, 1, false, 1, &to, &how), -EHOSTUNREACH);
	upstream_pool_set_why(p, 1, "its name does not exist");
	upstream_pool_look(p, 1, 1, &look);
	assert_false(look.resolved);
	assert_string_equal(look.why, "its name does not exist");
	assert_false(upstream_pool_set_addrs(p, 1, a, 2));
	enter(p, KEY("\1a"), 1, &plan);
	assert_int_equal(plan.count, 2);
	assert_int_equal(upstream_pool_begin(p, 1, false, 1, &to, &how), 0);
	a[0].port = 5301;		/* of the configuration */
	assert_true(addr_same(&to, &a[0]));
	upstream_pool_unref(p);
}

static void only_names_without_address_is_unreachable(void **state)
{
	struct upstream_opts o = named();
	struct upstream_plan plan;
	struct upstream_pool *p;

	o.servers[0] = o.servers[1];
	o.count = 1;
	p = pool_of(&o);
	assert_int_equal(enter(p, KEY("\1a"), 1, &plan), -EHOSTUNREACH);
	assert_int_equal(upstream_pool_in_flight(p), 0);
	upstream_pool_unref(p);
}

static void address_in_use_stays_while_it_is_among_the_new_ones(void **state)
{
	struct upstream_opts o = named();
	struct upstream_pool *p = pool_of(&o);
	struct addr a[3], to;

	addr_parse("192.0.2.7", 0, &a[0]);
	addr_parse("192.0.2.8", 0, &a[1]);
	addr_parse("192.0.2.7", 0, &a[2]);
	upstream_pool_set_addrs(p, 1, a, 1);
	assert_false(upstream_pool_set_addrs(p, 1, a + 1, 2));
	upstream_pool_addr(p, 1, &to);
	assert_true(addr_same_ip(&to, &a[0]));
	assert_true(upstream_pool_set_addrs(p, 1, a + 1, 1));
	upstream_pool_addr(p, 1, &to);
	assert_true(addr_same_ip(&to, &a[1]));
	upstream_pool_unref(p);
}

static void another_address_of_a_name_is_tried_when_one_fails(void **state)
{
	struct upstream_opts o = named();
	struct upstream_pool *p = pool_of(&o);
	uint64_t now_ms = START_MS;
	struct addr a[2], to;

	addr_parse("192.0.2.7", 0, &a[0]);
	addr_parse("192.0.2.8", 0, &a[1]);
	upstream_pool_set_addrs(p, 1, a, 2);
	play(p, "t1t1", &now_ms);
	upstream_pool_addr(p, 1, &to);
	assert_true(addr_same_ip(&to, &a[0]));
	play(p, "t1", &now_ms);
	upstream_pool_addr(p, 1, &to);
	assert_true(addr_same_ip(&to, &a[1]));
	upstream_pool_unref(p);
}

/* ---- reloads and news ---- */

static void servers_that_stay_keep_what_is_known_of_them(void **state)
{
	struct upstream_opts o = opts_of(3, BEST), less = opts_of(3, BEST);
	struct upstream_pool *p = pool_of(&o), *next;
	uint64_t now_ms = START_MS;
	struct upstream_picture look;
	struct addr to;
	struct upstream_how how;

	play(p, "t2t2t2q1", &now_ms);
	upstream_pool_begin(p, 1, false, now_ms, &to, &how);
	less.servers[0] = less.servers[2];
	less.count = 2;
	assert_int_equal(upstream_pool_new(&less, p, NULL, &next), 0);
	upstream_pool_unref(p);
	assert_int_equal(upstream_pool_failed(next), 1);
	upstream_pool_look(next, 0, now_ms, &look);
	assert_true(look.failed && look.asked == 3 && look.ended[UPSTREAM_TIMED_OUT] == 3);
	upstream_pool_look(next, 1, now_ms, &look);
	assert_true(!look.failed && look.latency_us == 1000 && look.in_flight == 0);
	assert_false(upstream_pool_look(next, 2, now_ms, &look));
	upstream_pool_unref(next);
}

struct heard {
	unsigned fell, rose, said;
	char last[UPSTREAM_WHY_MAX];
};

static void hear(void *arg, const struct upstream_news *n)
{
	struct heard *h = arg;

	h->fell += n->change == UPSTREAM_FELL;
	h->rose += n->change == UPSTREAM_ROSE;
	h->said += n->change == UPSTREAM_SAME;
	snprintf(h->last, sizeof(h->last), "%s", n->why);
}

static void refuse(struct upstream_pool *p, const char *why)
{
	struct upstream_end e = { .outcome = UPSTREAM_UNTRUSTED, .why = why };
	struct addr to;
	struct upstream_how how;

	upstream_pool_begin(p, 0, false, 1, &to, &how);
	upstream_pool_end(p, 0, &e, 1);
}

static void changes_and_new_reasons_are_told_once(void **state)
{
	struct upstream_opts o = opts_of(1, ORDERED);
	struct heard h = { 0 };
	struct upstream_listener listen = { hear, &h };
	uint64_t now_ms = START_MS;
	struct upstream_pool *p;

	assert_int_equal(upstream_pool_new(&o, NULL, &listen, &p), 0);
	refuse(p, "the certificate has expired");
	refuse(p, "the certificate has expired");
	assert_true(h.said == 1 && h.fell == 0);
	assert_string_equal(h.last, "the certificate has expired");
	refuse(p, "another name");
	assert_true(h.said == 1 && h.fell == 1);
	refuse(p, "another name");
	assert_true(h.said == 1 && h.fell == 1);
	play(p, "a0a0a0", &now_ms);
	assert_true(h.rose == 1);
	play(p, "w1t0t0t0t0t0", &now_ms);
	assert_true(h.fell == 2 && h.said == 1);
	upstream_pool_unref(p);
}

#define ROW(f) { #f, f, NULL, NULL, NULL }

int main(void)
{
	static const struct CMUnitTest fixed[] = {
		ROW(round_robin_takes_turns),
		ROW(random_asks_each_as_often),
		ROW(failed_server_is_probed_each_quarter_of_a_second),
		ROW(a_change_of_the_network_probes_at_once),
		ROW(a_failed_server_gets_one_question_each_ten_seconds),
		ROW(fall_and_rise_are_as_configured),
		ROW(what_is_dropped_by_us_teaches_nothing),
		ROW(a_server_of_unknown_speed_is_to_be_measured_once),
		ROW(server_without_edns_is_believed_for_ten_minutes),
		ROW(silence_to_edns_is_asked_again_without_until_it_was_answered_once),
		ROW(requests_are_bounded_in_all),
		ROW(a_server_that_is_full_is_passed_over),
		ROW(the_fallback_comes_before_what_has_failed),
		ROW(without_servers_for_all_there_are_those_of_routes),
		ROW(what_is_not_there_is_refused),
		ROW(a_server_without_address_is_not_asked),
		ROW(only_names_without_address_is_unreachable),
		ROW(address_in_use_stays_while_it_is_among_the_new_ones),
		ROW(another_address_of_a_name_is_tried_when_one_fails),
		ROW(servers_that_stay_keep_what_is_known_of_them),
		ROW(changes_and_new_reasons_are_told_once),
	};
	struct CMUnitTest tests[COUNT_OF(orders) + COUNT_OF(route_cases) + COUNT_OF(fixed)];
	size_t i, n = 0;

	for (i = 0; i < COUNT_OF(orders); i++)
		tests[n++] = (struct CMUnitTest){ orders[i].name, is_ordered, NULL, NULL, (void *)&orders[i] };
	for (i = 0; i < COUNT_OF(route_cases); i++)
		tests[n++] = (struct CMUnitTest){ route_cases[i].name, is_routed, NULL, NULL, (void *)&route_cases[i] };
	memcpy(tests + n, fixed, sizeof(fixed));
	return cmocka_run_group_tests_name("upstream/pool", tests, NULL, NULL);
}
