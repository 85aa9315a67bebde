/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tcp.c - requests that go on over TCP: kept, shared, broken connections. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "unit/upstream/rig.h"

/* All of these servers truncate over UDP. */
static void start(struct rig *r, struct stub *s, unsigned count, enum stub_tcp tcp, uint32_t timeout_ms)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		stub_start(&s[i], "127.0.0.1", (uint8_t)(i + 1), STUB_TRUNCATE);
		s[i].tcp = tcp;
	}
	rig_start(r, s, count, timeout_ms, 0);
}

static void connection_is_kept_for_the_next_request(void **state)
{
	struct asked a[5] = { 0 };
	struct stub s;
	struct rig r;
	unsigned i;

	start(&r, &s, 1, STUB_TCP_SERVE, 2000);
	for (i = 0; i < 5; i++) {
		rig_ask(&r, &a[i], i);
		rig_run(&r, i + 1);
		assert_int_equal(a[i].tag, 1);
		assert_true(a[i].req.tcp);
	}
	assert_int_equal(s.tcp_conns, 1);
	assert_int_equal(s.tcp_queries, 5);
	rig_end(&r);
	stub_stop(&s);
}

static void requests_share_a_connection_and_are_answered_in_any_order(void **state)
{
	struct asked a[10] = { 0 };
	struct stub s;
	struct rig r;
	unsigned i;

	start(&r, &s, 1, STUB_TCP_REVERSE, 3000);
	for (i = 0; i < 10; i++)
		rig_ask(&r, &a[i], i);
	rig_run(&r, 10);
	for (i = 0; i < 10; i++) {
		assert_int_equal(a[i].tag, 1);
		assert_memory_equal(a[i].msg + 12, a[i].key.name, a[i].key.name_len);
	}
	assert_int_equal(s.tcp_conns, 1);
	assert_int_equal(rig_count(&r, COUNT_upstream_tcp_queries), 10);
	rig_end(&r);
	stub_stop(&s);
}

static void a_crowd_gets_a_second_connection_and_no_third(void **state)
{
	struct asked *a = calloc(120, sizeof(*a));
	struct stub s;
	struct rig r;
	unsigned i;

	start(&r, &s, 1, STUB_TCP_SILENT, 1500);
	for (i = 0; i < 120; i++)
		rig_ask(&r, &a[i], i);
	for (i = 0; i < 100 && s.tcp_queries < 120; i++)
		rig_run_ms(&r, 5);
	assert_int_equal(s.tcp_queries, 120);
	assert_int_equal(s.tcp_conns, 2);
	rig_end(&r);
	stub_stop(&s);
	free(a);
}

static void kept_connection_that_broke_is_replaced_once(void **state)
{
	struct asked a[4] = { 0 };
	struct stub s;
	struct rig r;
	unsigned i;

	start(&r, &s, 1, STUB_TCP_ONE_EACH, 2000);
	for (i = 0; i < 4; i++) {
		rig_ask(&r, &a[i], i);
		rig_run(&r, i + 1);
		assert_int_equal(a[i].tag, 1);
	}
	assert_int_equal(s.tcp_conns, 4);
	assert_int_equal(rig_count(&r, COUNT_upstream_errors), 0);
	rig_end(&r);
	stub_stop(&s);
}

static void fresh_connection_that_breaks_is_an_error(void **state)
{
	struct asked a = { 0 };
	struct stub s[2];
	struct rig r;

	start(&r, s, 2, STUB_TCP_CLOSE, 2000);
	s[1].tcp = STUB_TCP_SERVE;
	rig_ask(&r, &a, 1);
	rig_run(&r, 1);
	assert_int_equal(a.tag, 2);
	assert_int_equal(a.req.server, 1);
	assert_int_equal(s[0].tcp_conns, 1);
	assert_int_equal(rig_count(&r, COUNT_upstream_errors), 1);
	rig_end(&r);
	stub_stop(&s[0]);
	stub_stop(&s[1]);
}

static void server_that_always_closes_ends_in_that_error(void **state)
{
	struct asked a = { 0 };
	struct stub s;
	struct rig r;

	start(&r, &s, 1, STUB_TCP_CLOSE, 2000);
	rig_ask(&r, &a, 1);
	rig_run(&r, 1);
	assert_int_equal(a.err, -ECONNRESET);
	assert_int_equal(rig_count(&r, COUNT_upstream_errors), 2);
	rig_end(&r);
	stub_stop(&s);
}

static void silence_over_tcp_moves_on_and_retires_the_connection(void **state)
{
	struct asked a[2] = { 0 };
	struct stub s[2];
	struct rig r;

	start(&r, s, 2, STUB_TCP_SILENT, 1200);
	s[1].tcp = STUB_TCP_SERVE;
	rig_ask(&r, &a[0], 1);
	rig_run(&r, 1);
	assert_int_equal(a[0].tag, 2);
	assert_int_equal(rig_count(&r, COUNT_upstream_timeouts), 1);
	rig_run_ms(&r, 50);
	assert_int_equal(s[0].tcp_open, 0);
	assert_int_equal(s[1].tcp_open, 1);
	rig_end(&r);
	stub_stop(&s[0]);
	stub_stop(&s[1]);
}

static void answer_that_nobody_asked_is_dropped(void **state)
{
	struct asked a = { 0 };
	struct stub s;
	struct rig r;

	start(&r, &s, 1, STUB_TCP_WRONG_ID, 2000);
	rig_ask(&r, &a, 1);
	rig_run(&r, 1);
	assert_int_equal(a.tag, 1);
	assert_int_equal(rig_count(&r, COUNT_upstream_mismatches), 1);
	rig_end(&r);
	stub_stop(&s);
}

static void waiting_requests_end_when_the_object_goes(void **state)
{
	struct asked a[3] = { 0 };
	struct stub s;
	struct rig r;
	unsigned i;

	start(&r, &s, 1, STUB_TCP_SILENT, 5000);
	for (i = 0; i < 3; i++)
		rig_ask(&r, &a[i], i);
	for (i = 0; i < 200 && s.tcp_queries < 3; i++)
		rig_run_ms(&r, 5);
	rig_end(&r);
	for (i = 0; i < 3; i++) {
		assert_int_equal(a[i].ended, 1);
		assert_int_equal(a[i].err, -ECANCELED);
	}
	stub_stop(&s);
}

#define ROW(f) { #f, f, NULL, NULL, NULL }

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ROW(connection_is_kept_for_the_next_request),
		ROW(requests_share_a_connection_and_are_answered_in_any_order),
		ROW(a_crowd_gets_a_second_connection_and_no_third),
		ROW(kept_connection_that_broke_is_replaced_once),
		ROW(fresh_connection_that_breaks_is_an_error),
		ROW(server_that_always_closes_ends_in_that_error),
		ROW(silence_over_tcp_moves_on_and_retires_the_connection),
		ROW(answer_that_nobody_asked_is_dropped),
		ROW(waiting_requests_end_when_the_object_goes),
	};

	return cmocka_run_group_tests_name("upstream/tcp", tests, NULL, NULL);
}
