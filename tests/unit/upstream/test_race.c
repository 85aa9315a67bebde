/* SPDX-License-Identifier: BSD-2-Clause */
/* test_race.c - several servers: races, failed ones and their way back, fallback, routes, bounds. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "unit/upstream/rig.h"
#include "upstream/pool.h"

#define PLENTY_MS 3000

static uint64_t now_ms(struct rig *r)
{
	uv_update_time(&r->loop);
	return uv_now(&r->loop);
}

/* ---- races ---- */

static void start(struct rig *r, struct stub *s, unsigned count, enum stub_mode first)
{
	struct upstream_opts o = { .count = count, .timeout_ms = 2000 };
	unsigned i;

	for (i = 0; i < count; i++) {
		stub_start(&s[i], "127.0.0.1", (uint8_t)(i + 1), i ? STUB_ANSWER : first);
		o.servers[i].at = (struct endpoint){ .literal = true, .addr = s[i].addr };
	}
	rig_start_opts(r, &o);
}

static void stop(struct rig *r, struct stub *s, unsigned count)
{
	rig_end(r);
	while (count--)
		stub_stop(&s[count]);
}

static void second_is_asked_when_the_first_is_slow(void **state)
{
	struct asked a = { 0 };
	struct stub s[2];
	struct rig r;

	start(&r, s, 2, STUB_ANSWER);
	s[0].delay_ms = 150;
	assert_int_equal(rig_ask(&r, &a, 1), 0);
	rig_run(&r, 1);
	assert_int_equal(a.tag, 2);
	assert_int_equal(a.req.server, 1);
	assert_int_equal(rig_count(&r, COUNT_upstream_races), 1);
	assert_int_equal(rig_count(&r, COUNT_upstream_late), 0);
	rig_run_ms(&r, 300);
	assert_int_equal(rig_count(&r, COUNT_upstream_late), 1);	/* dropped, and counted */
	assert_int_equal(rig_count(&r, COUNT_upstream_answers), 1);
	assert_int_equal(rig_count(&r, COUNT_upstream_timeouts), 0);
	assert_int_equal(a.ended, 1);
	stop(&r, s, 2);
	assert_int_equal(a.ended, 1);
}

/* The stub's answer to the request and to the probe that measures it; then the order is known. */
static void the_slow_one_is_not_the_first_any_more(void **state)
{
	struct asked a[4] = { 0 };
	struct stub s[2];
	struct rig r;
	unsigned i;

	start(&r, s, 2, STUB_ANSWER);
	s[0].delay_ms = 60;
	for (i = 0; i < 4; i++) {
		rig_ask(&r, &a[i], i);
		rig_run(&r, i + 1);
		assert_int_equal(a[i].tag, 2);
		rig_run_ms(&r, 150);
	}
	assert_int_equal(rig_count(&r, COUNT_upstream_races), 1);
	assert_int_equal(s[0].udp_queries, 1);
	stop(&r, s, 2);
}

static void quick_one_is_not_raced(void **state)
{
	struct asked a[20] = { 0 };
	struct stub s[2];
	struct rig r;
	unsigned i;

	start(&r, s, 2, STUB_ANSWER);
	s[1].delay_ms = 8;		/* known to be slower after its first answer */
	for (i = 0; i < 20; i++) {
		rig_ask(&r, &a[i], i);
		rig_run(&r, i + 1);
		assert_true(a[i].tag > 0);
		rig_run_ms(&r, 20);
	}
	assert_in_range(rig_count(&r, COUNT_upstream_races), 0, 1);
	assert_in_range(s[1].udp_queries, 1, 4);
	assert_int_equal(rig_count(&r, COUNT_upstream_answers), 20);
	stop(&r, s, 2);
}

/* The answer has come, but the loop was held up and both timers are due when it goes on. */
static void answer_that_waits_in_the_socket_is_no_silence(void **state)
{
	struct asked a = { 0 };
	struct stub s[2];
	struct rig r;

	start(&r, s, 2, STUB_ANSWER);
	rig_ask(&r, &a, 1);
	usleep(900 * 1000);
	rig_run(&r, 1);
	assert_int_equal(a.tag, 1);
	assert_int_equal(rig_count(&r, COUNT_upstream_races), 0);
	assert_int_equal(rig_count(&r, COUNT_upstream_timeouts), 0);
	stop(&r, s, 2);
}

static void failure_of_the_first_asks_the_second_at_once(void **state)
{
	struct asked a = { 0 };
	uint64_t began;
	struct stub s[3];
	struct rig r;

	start(&r, s, 3, STUB_SERVFAIL);
	began = now_ms(&r);
	rig_ask(&r, &a, 1);
	rig_run(&r, 1);
	assert_int_equal(a.tag, 2);
	assert_true(now_ms(&r) - began < 1000);
	assert_int_equal(rig_count(&r, COUNT_upstream_races), 0);
	stop(&r, s, 3);
}

/* The failure comes while the other is under way: that one's answer is waited for. */
static void failure_in_a_race_waits_for_the_other(void **state)
{
	struct asked a = { 0 };
	struct stub s[2];
	struct rig r;

	start(&r, s, 2, STUB_SERVFAIL);
	s[0].delay_ms = 60;
	s[1].delay_ms = 150;
	rig_ask(&r, &a, 1);
	rig_run(&r, 1);
	assert_int_equal(a.tag, 2);
	assert_int_equal(rig_count(&r, COUNT_upstream_failures), 1);
	stop(&r, s, 2);
}

static void silence_of_both_is_one_timeout_to_the_asker(void **state)
{
	struct asked a = { 0 };
	uint64_t began;
	struct stub s[2];
	struct rig r;

	start(&r, s, 2, STUB_SILENT);
	s[1].mode = STUB_SILENT;
	began = now_ms(&r);
	rig_ask(&r, &a, 1);
	rig_run(&r, 1);
	assert_int_equal(a.err, -ETIMEDOUT);
	assert_in_range(now_ms(&r) - began, 1500, 3500);
	stop(&r, s, 2);
	assert_int_equal(a.ended, 1);
}

static void object_may_go_while_a_race_has_a_loser(void **state)
{
	struct asked a = { 0 };
	struct stub s[2];
	struct rig r;

	start(&r, s, 2, STUB_SILENT);
	rig_ask(&r, &a, 1);
	rig_run(&r, 1);
	assert_int_equal(a.tag, 2);
	stop(&r, s, 2);
	assert_int_equal(a.ended, 1);
}

/* ---- failed servers ---- */

static bool has_failed(struct rig *r)
{
	return rig_count(r, COUNT_upstream_fell) > rig_count(r, COUNT_upstream_rose);
}

static void dead_server_costs_each_request_a_moment_and_is_found_out(void **state)
{
	struct asked a[30] = { 0 };
	uint64_t began;
	struct stub s[2];
	struct rig r;
	unsigned i;

	start(&r, s, 2, STUB_SILENT);
	for (i = 0; i < 30; i++) {
		began = now_ms(&r);
		rig_ask(&r, &a[i], i);
		rig_run(&r, i + 1);
		assert_int_equal(a[i].tag, 2);
		assert_true(now_ms(&r) - began < 300);
	}
	for (i = 0; i < PLENTY_MS / 20 && !has_failed(&r); i++)
		rig_run_ms(&r, 20);
	assert_true(has_failed(&r));
	stop(&r, s, 2);
}

static void failed_server_is_back_within_a_second(void **state)
{
	struct asked a[3] = { 0 };
	uint64_t began;
	struct stub s;
	struct rig r;
	unsigned i;

	stub_start(&s, "127.0.0.1", 1, STUB_SILENT);
	rig_start(&r, &s, 1, 400, 0);
	for (i = 0; i < 3; i++)
		rig_ask(&r, &a[i], i);
	rig_run(&r, 3);
	assert_true(has_failed(&r));
	rig_run_ms(&r, 700);
	assert_true(has_failed(&r));
	assert_true(rig_count(&r, COUNT_upstream_probes) >= 2);
	s.mode = STUB_ANSWER;
	began = now_ms(&r);
	for (i = 0; i < 200 && has_failed(&r); i++)
		rig_run_ms(&r, 5);
	assert_false(has_failed(&r));
	assert_true(now_ms(&r) - began < 1000);
	i = rig_count(&r, COUNT_upstream_probes);
	rig_run_ms(&r, 700);
	assert_int_equal(rig_count(&r, COUNT_upstream_probes), i);	/* no more of them */
	rig_end(&r);
	stub_stop(&s);
}

/* Names whose servers are dead keep an upstream silent: it has not failed for that. */
static void server_that_is_silent_about_names_has_not_failed(void **state)
{
	struct asked a[3] = { 0 };
	struct stub s;
	struct rig r;
	unsigned i;

	stub_start(&s, "127.0.0.1", 1, STUB_SILENT_NAMES);
	rig_start(&r, &s, 1, 1700, 0);
	for (i = 0; i < 2; i++) {
		rig_ask(&r, &a[i], i);
		rig_run(&r, i + 1);
		assert_int_equal(a[i].err, -ETIMEDOUT);
	}
	assert_int_equal(rig_count(&r, COUNT_upstream_fell), 0);
	assert_true(rig_count(&r, COUNT_upstream_probes) > 0);
	rig_end(&r);
	stub_stop(&s);
}

static void closed_port_fails(void **state)
{
	struct upstream_opts o = { .count = 1, .timeout_ms = 1000 };
	struct asked a[3] = { 0 };
	struct stub s;
	struct rig r;
	unsigned i;

	stub_start(&s, "127.0.0.1", 1, STUB_ANSWER);
	o.servers[0].at = (struct endpoint){ .literal = true, .addr = s.addr };
	stub_stop(&s);
	rig_start_opts(&r, &o);
	for (i = 0; i < 3; i++) {
		rig_ask(&r, &a[i], i);
		rig_run(&r, i + 1);
		assert_int_equal(a[i].err, -ECONNREFUSED);
	}
	assert_true(has_failed(&r));
	rig_end(&r);
}

static void when_all_have_failed_they_are_asked_all_the_same(void **state)
{
	struct asked a[4] = { 0 };
	struct stub s[2];
	struct rig r;
	unsigned i;

	for (i = 0; i < 2; i++)
		stub_start(&s[i], "127.0.0.1", (uint8_t)(i + 1), STUB_SILENT);
	rig_start(&r, s, 2, 800, 0);
	for (i = 0; i < 3; i++)
		rig_ask(&r, &a[i], i);
	rig_run(&r, 3);
	assert_int_equal(rig_count(&r, COUNT_upstream_fell), 2);
	s[0].mode = STUB_ANSWER;
	rig_ask(&r, &a[3], 3);
	rig_run(&r, 4);
	assert_int_equal(a[3].tag, 1);
	rig_end(&r);
	stub_stop(&s[0]);
	stub_stop(&s[1]);
}

static void server_that_drops_edns_is_asked_without(void **state)
{
	struct asked a[3] = { 0 };
	uint64_t began;
	struct stub s;
	struct rig r;
	unsigned i;

	stub_start(&s, "127.0.0.1", 5, STUB_SILENT_EDNS);
	rig_start(&r, &s, 1, 1000, 0);
	rig_ask(&r, &a[0], 0);
	rig_run(&r, 1);
	assert_int_equal(a[0].tag, 5);
	for (i = 1; i < 3; i++) {
		began = now_ms(&r);
		rig_ask(&r, &a[i], i);
		rig_run(&r, i + 1);
		assert_int_equal(a[i].tag, 5);
		assert_true(now_ms(&r) - began < 300);
	}
	rig_end(&r);
	stub_stop(&s);
}

/* It measures how fast the second one is; what that says of the root does not matter. */
static void refusal_of_a_probe_is_no_failure(void **state)
{
	struct asked a = { 0 };
	struct stub s[2];
	struct rig r;
	unsigned i;

	start(&r, s, 2, STUB_ANSWER);
	s[1].mode = STUB_REFUSED;
	for (i = 0; i < 2; i++) {
		memset(&a, 0, sizeof(a));
		rig_ask(&r, &a, i);
		rig_run(&r, i + 1);
		rig_run_ms(&r, 30);
		if (rig_count(&r, COUNT_upstream_probes))
			break;
	}
	assert_int_equal(rig_count(&r, COUNT_upstream_probes), 1);
	assert_int_equal(rig_count(&r, COUNT_upstream_failures), s[1].udp_queries - 1);
	stop(&r, s, 2);
}

/* ---- fallback and routes ---- */

static const struct upstream_set three[] = { { { 0 }, 1 }, { { 1 }, 1 }, { { 2 }, 1 } };
/* of the names that rig_ask() makes, number 7 alone */
static const struct upstream_route seven[] = { { "\6n00007\7example", 16, 2 } };

static void start_sets(struct rig *r, struct stub *s, enum stub_mode first)
{
	struct upstream_opts o = { .count = 3, .timeout_ms = 2000, .strategy = UPSTREAM_ORDERED, .sets = three, .set_count = 3,
				   .fallback = 1, .routes = seven, .route_count = 1 };
	unsigned i;

	for (i = 0; i < 3; i++) {
		stub_start(&s[i], "127.0.0.1", (uint8_t)(i + 1), i ? STUB_ANSWER : first);
		o.servers[i].at = (struct endpoint){ .literal = true, .addr = s[i].addr };
	}
	rig_start_opts(r, &o);
}

static void fallback_is_asked_when_nobody_answers(void **state)
{
	struct asked a = { 0 };
	struct stub s[3];
	struct rig r;

	start_sets(&r, s, STUB_SILENT);
	rig_ask(&r, &a, 1);
	rig_run(&r, 1);
	assert_int_equal(a.tag, 2);
	assert_int_equal(rig_count(&r, COUNT_upstream_fallback), 1);
	stop(&r, s, 3);
}

static void fallback_is_not_asked_behind_a_failure(void **state)
{
	struct asked a = { 0 };
	struct stub s[3];
	struct rig r;

	start_sets(&r, s, STUB_SERVFAIL);
	rig_ask(&r, &a, 1);
	rig_run(&r, 1);
	assert_int_equal(a.rcode, 2);
	assert_int_equal(s[1].udp_queries, 0);
	assert_int_equal(rig_count(&r, COUNT_upstream_fallback), 0);
	stop(&r, s, 3);
}

static void routed_name_goes_to_its_servers_alone(void **state)
{
	struct asked a[2] = { 0 };
	struct stub s[3];
	struct rig r;

	start_sets(&r, s, STUB_ANSWER);
	rig_ask(&r, &a[0], 7);
	rig_run(&r, 1);
	assert_int_equal(a[0].tag, 3);
	rig_ask(&r, &a[1], 8);
	rig_run(&r, 2);
	assert_int_equal(a[1].tag, 1);
	assert_int_equal(s[2].udp_queries, 1);
	stop(&r, s, 3);
}

static void silent_route_does_not_fall_back(void **state)
{
	struct asked a = { 0 };
	struct stub s[3];
	struct rig r;

	start_sets(&r, s, STUB_ANSWER);
	s[2].mode = STUB_SILENT;
	rig_ask(&r, &a, 7);
	rig_run(&r, 1);
	assert_int_equal(a.err, -ETIMEDOUT);
	assert_int_equal(s[0].udp_queries + s[1].udp_queries, 0);
	stop(&r, s, 3);
}

/* ---- bounds, shared ---- */

static void full_server_is_refused_at_once_and_counted(void **state)
{
	struct upstream_opts o = { .count = 1, .timeout_ms = 1000, .server_in_flight_max = 2 };
	struct asked a[3] = { 0 };
	struct stub s;
	struct rig r;
	unsigned i;

	stub_start(&s, "127.0.0.1", 1, STUB_SILENT);
	o.servers[0].at = (struct endpoint){ .literal = true, .addr = s.addr };
	rig_start_opts(&r, &o);
	for (i = 0; i < 2; i++)
		assert_int_equal(rig_ask(&r, &a[i], i), 0);
	assert_int_equal(rig_ask(&r, &a[2], 2), -EBUSY);
	assert_int_equal(rig_count(&r, COUNT_upstream_full), 1);
	assert_int_equal(rig_count(&r, COUNT_upstream_server_full), 1);
	rig_end(&r);
	stub_stop(&s);
}

static void bounds_hold_for_all_objects_of_a_pool(void **state)
{
	struct upstream_opts o = { .count = 1, .timeout_ms = 1000, .in_flight_max = 2 };
	struct upstream *mine, *other;
	struct upstream_pool *pool;
	struct asked a[4] = { 0 };
	struct stub s;
	struct rig r;

	stub_start(&s, "127.0.0.1", 1, STUB_SILENT);
	o.servers[0].at = (struct endpoint){ .literal = true, .addr = s.addr };
	rig_start_opts(&r, &o);
	upstream_free(r.up);
	assert_int_equal(upstream_pool_new(&o, NULL, NULL, &pool), 0);
	assert_int_equal(upstream_open(&r.loop, pool, &mine), 0);
	assert_int_equal(upstream_open(&r.loop, pool, &other), 0);
	upstream_pool_unref(pool);
	r.up = mine;
	assert_int_equal(rig_ask(&r, &a[0], 0), 0);
	r.up = other;
	assert_int_equal(rig_ask(&r, &a[1], 1), 0);
	assert_int_equal(rig_ask(&r, &a[2], 2), -EBUSY);
	upstream_free(mine);
	assert_int_equal(a[0].err, -ECANCELED);
	assert_int_equal(rig_ask(&r, &a[2], 2), 0);
	rig_end(&r);
	stub_stop(&s);
}

/* ---- other ways ---- */

static void connections_go_when_the_way_is_another_and_questions_stay(void **state)
{
	struct upstream_opts o = { .count = 1, .timeout_ms = 2000 };
	struct asked a = { 0 };
	struct stub s;
	struct rig r;
	unsigned i;

	stub_start(&s, "127.0.0.1", 1, STUB_ANSWER);
	s.tcp = STUB_TCP_SILENT;
	o.servers[0].at = (struct endpoint){ .scheme = ENDPOINT_TCP, .literal = true, .addr = s.addr };
	rig_start_opts(&r, &o);
	rig_ask(&r, &a, 1);
	for (i = 0; i < 200 && s.tcp_queries < 1; i++)
		rig_run_ms(&r, 5);
	assert_int_equal(s.udp_queries, 0);
	s.tcp = STUB_TCP_SERVE;
	upstream_moved(r.up, 2);	/* of another server */
	rig_run_ms(&r, 20);
	assert_int_equal(s.tcp_conns, 1);
	upstream_moved(r.up, 1);
	rig_run(&r, 1);
	assert_int_equal(a.tag, 1);
	assert_true(a.req.tcp);
	assert_int_equal(s.tcp_conns, 2);
	assert_int_equal(rig_count(&r, COUNT_upstream_errors), 0);
	rig_end(&r);
	stub_stop(&s);
}

static void server_over_tcp_alone_is_probed_over_tcp(void **state)
{
	struct upstream_opts o = { .count = 1, .timeout_ms = 400 };
	struct asked a[3] = { 0 };
	struct stub s;
	struct rig r;
	unsigned i;

	stub_start(&s, "127.0.0.1", 1, STUB_ANSWER);
	s.tcp = STUB_TCP_SILENT;
	o.servers[0].at = (struct endpoint){ .scheme = ENDPOINT_TCP, .literal = true, .addr = s.addr };
	rig_start_opts(&r, &o);
	for (i = 0; i < 3; i++)
		rig_ask(&r, &a[i], i);
	rig_run(&r, 3);
	assert_true(has_failed(&r));
	s.tcp = STUB_TCP_SERVE;
	for (i = 0; i < 200 && has_failed(&r); i++)
		rig_run_ms(&r, 5);
	assert_false(has_failed(&r));
	assert_int_equal(s.udp_queries, 0);
	rig_end(&r);
	stub_stop(&s);
}

#define ROW(f) { #f, f, NULL, NULL, NULL }

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ROW(second_is_asked_when_the_first_is_slow),
		ROW(the_slow_one_is_not_the_first_any_more),
		ROW(quick_one_is_not_raced),
		ROW(answer_that_waits_in_the_socket_is_no_silence),
		ROW(failure_of_the_first_asks_the_second_at_once),
		ROW(failure_in_a_race_waits_for_the_other),
		ROW(silence_of_both_is_one_timeout_to_the_asker),
		ROW(object_may_go_while_a_race_has_a_loser),
		ROW(dead_server_costs_each_request_a_moment_and_is_found_out),
		ROW(failed_server_is_back_within_a_second),
		ROW(server_that_is_silent_about_names_has_not_failed),
		ROW(closed_port_fails),
		ROW(when_all_have_failed_they_are_asked_all_the_same),
		ROW(server_that_drops_edns_is_asked_without),
		ROW(refusal_of_a_probe_is_no_failure),
		ROW(fallback_is_asked_when_nobody_answers),
		ROW(fallback_is_not_asked_behind_a_failure),
		ROW(routed_name_goes_to_its_servers_alone),
		ROW(silent_route_does_not_fall_back),
		ROW(full_server_is_refused_at_once_and_counted),
		ROW(bounds_hold_for_all_objects_of_a_pool),
		ROW(connections_go_when_the_way_is_another_and_questions_stay),
		ROW(server_over_tcp_alone_is_probed_over_tcp),
	};

	return cmocka_run_group_tests_name("upstream/race", tests, NULL, NULL);
}
