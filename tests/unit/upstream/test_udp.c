/* SPDX-License-Identifier: BSD-2-Clause */
/* test_udp.c - requests to a server that answers well or badly, over UDP. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "unit/upstream/rig.h"

/* ---- one server, one request ---- */

struct one_case {
	const char *name;
	enum stub_mode mode;
	int err;
	int rcode;			/* -1: no response */
	bool tagged;			/* with the server's own answer inside */
	unsigned udp, tcp, answers, timeouts, failures, mismatches, truncated, no_edns;
};

static const struct one_case one_cases[] = {
	{ "answer_is_given", STUB_ANSWER, 0, 0, true, 1, 0, 1, 0, 0, 0, 0, 0 },
	{ "nxdomain_is_an_answer", STUB_NXDOMAIN, 0, 3, false, 1, 0, 1, 0, 0, 0, 0, 0 },
	{ "servfail_of_the_only_server_is_given", STUB_SERVFAIL, 0, 2, false, 1, 0, 0, 0, 1, 0, 0, 0 },
	{ "refused_of_the_only_server_is_given", STUB_REFUSED, 0, 5, false, 1, 0, 0, 0, 1, 0, 0, 0 },
	{ "servfail_without_question_is_no_response", STUB_BARE_SERVFAIL, -EBADMSG, -1, false, 1, 0, 0, 0, 1, 0, 0, 0 },
	{ "silent_server_is_asked_twice", STUB_SILENT, -ETIMEDOUT, -1, false, 2, 0, 0, 2, 0, 0, 0, 0 },
	{ "truncated_answer_is_asked_again_over_tcp", STUB_TRUNCATE, 0, 0, true, 1, 1, 1, 0, 0, 0, 1, 0 },
	{ "formerr_is_asked_again_without_edns", STUB_FORMERR_EDNS, 0, 0, true, 2, 0, 1, 0, 0, 0, 0, 1 },
	{ "notimp_is_asked_again_without_edns", STUB_NOTIMP_EDNS, 0, 0, true, 2, 0, 1, 0, 0, 0, 0, 1 },
	{ "formerr_without_question_counts_too", STUB_BARE_FORMERR_EDNS, 0, 0, true, 2, 0, 1, 0, 0, 0, 0, 1 },
	{ "letter_case_of_the_question_does_not_matter", STUB_UPPER_CASE, 0, 0, true, 1, 0, 1, 0, 0, 0, 0, 0 },
	{ "wrong_id_is_waited_past", STUB_WRONG_ID, 0, 0, true, 1, 0, 1, 0, 0, 1, 0, 0 },
	{ "wrong_name_is_waited_past", STUB_WRONG_NAME, 0, 0, true, 1, 0, 1, 0, 0, 1, 0, 0 },
	{ "wrong_type_is_waited_past", STUB_WRONG_TYPE, 0, 0, true, 1, 0, 1, 0, 0, 1, 0, 0 },
	{ "wrong_class_is_waited_past", STUB_WRONG_CLASS, 0, 0, true, 1, 0, 1, 0, 0, 1, 0, 0 },
	{ "query_as_an_answer_is_waited_past", STUB_NOT_A_RESPONSE, 0, 0, true, 1, 0, 1, 0, 0, 1, 0, 0 },
	{ "short_packet_is_waited_past", STUB_SHORT, 0, 0, true, 1, 0, 1, 0, 0, 1, 0, 0 },
	{ "answer_without_question_is_waited_past", STUB_NO_QUESTION, 0, 0, true, 1, 0, 1, 0, 0, 1, 0, 0 },
	{ "answer_from_another_port_is_not_heard", STUB_OTHER_PORT, 0, 0, true, 1, 0, 1, 0, 0, 0, 0, 0 },
	{ "forgeries_alone_end_in_a_timeout", STUB_ONLY_WRONG_ID, -ETIMEDOUT, -1, false, 2, 0, 0, 2, 0, 2, 0, 0 },
};

static void check_one(const struct one_case *c, const char *ip)
{
	unsigned probes;
	struct asked a = { 0 };
	struct stub s;
	struct rig r;

	stub_start(&s, ip, 7, c->mode);
	rig_start(&r, &s, 1, 800, 0);
	assert_int_equal(rig_ask(&r, &a, 1), 0);
	rig_run(&r, 1);
	assert_int_equal(a.err, c->err);
	assert_int_equal(a.rcode, c->rcode);
	assert_int_equal(a.tag, c->tagged ? 7 : -1);
	assert_int_equal(a.req.tcp, c->tcp > 0);
	assert_false(a.too_early);
	probes = rig_count(&r, COUNT_upstream_probes);
	assert_int_equal(rig_count(&r, COUNT_upstream_queries) - probes, c->udp);
	assert_int_equal(rig_count(&r, COUNT_upstream_tcp_queries), c->tcp);
	assert_int_equal(rig_count(&r, COUNT_upstream_answers), c->answers);
	assert_int_equal(rig_count(&r, COUNT_upstream_timeouts), c->timeouts);
	assert_int_equal(rig_count(&r, COUNT_upstream_failures), c->failures);
	assert_in_range(rig_count(&r, COUNT_upstream_mismatches), c->mismatches, c->mismatches + probes);
	assert_int_equal(rig_count(&r, COUNT_upstream_truncated), c->truncated);
	assert_int_equal(rig_count(&r, COUNT_upstream_no_edns), c->no_edns);
	assert_int_equal(rig_count(&r, COUNT_upstream_errors), 0);
	rig_end(&r);
	assert_int_equal(a.ended, 1);
	stub_stop(&s);
}

static void one_server(void **state)
{
	check_one(*state, "127.0.0.1");
}

static void answer_is_given_over_ipv6(void **state)
{
	check_one(&one_cases[0], "::1");
}

static void truncated_answer_is_asked_again_over_ipv6(void **state)
{
	static const struct one_case c = { "", STUB_TRUNCATE, 0, 0, true, 1, 1, 1, 0, 0, 0, 1, 0 };

	check_one(&c, "::1");
}

/* ---- ports and IDs ---- */

static int by_value(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

static unsigned distinct(uint16_t *v, unsigned n)
{
	unsigned i, k = 1;

	qsort(v, n, sizeof(*v), by_value);
	for (i = 1; i < n; i++)
		k += v[i] != v[i - 1];
	return k;
}

/* Of 200 in some 64,000, eleven or more pairs alike have a chance below 10^-12, as has a half that is not used. */
static void ports_and_ids_are_drawn_from_the_whole_range(void **state)
{
	struct asked a[200] = { 0 };
	unsigned i, n = 200;
	struct stub s;
	struct rig r;

	stub_start(&s, "127.0.0.1", 1, STUB_ANSWER);
	rig_start(&r, &s, 1, 3000, 0);
	for (i = 0; i < n; i++) {
		assert_int_equal(rig_ask(&r, &a[i], i), 0);
		rig_run(&r, i + 1);
		assert_int_equal(a[i].tag, 1);
	}
	rig_end(&r);
	stub_stop(&s);
	assert_int_equal(s.udp_queries, n);
	assert_true(distinct(s.ports, n) > n - 11);
	assert_true(distinct(s.ids, n) > n - 11);
	assert_in_range(s.ports[0], 1024, 32767);
	assert_true(s.ports[n - 1] > 32768);
	assert_true(s.ids[0] < 32768 && s.ids[n - 1] >= 32768);
}

/* A loss of packets is not the end of a question. */
static void silent_server_alone_is_asked_four_times(void **state)
{
	struct asked a = { 0 };
	struct stub s;
	struct rig r;

	stub_start(&s, "127.0.0.1", 7, STUB_SILENT);
	rig_start(&r, &s, 1, 2400, 0);
	assert_int_equal(rig_ask(&r, &a, 1), 0);
	rig_run(&r, 1);
	assert_int_equal(a.err, -ETIMEDOUT);
	assert_int_equal(rig_count(&r, COUNT_upstream_queries) - rig_count(&r, COUNT_upstream_probes), 4);
	rig_end(&r);
	stub_stop(&s);
}

static void retry_comes_from_another_port_with_another_id(void **state)
{
	struct asked a = { 0 };
	struct stub s;
	struct rig r;

	stub_start(&s, "127.0.0.1", 1, STUB_SILENT);
	rig_start(&r, &s, 1, 400, 0);
	rig_ask(&r, &a, 1);
	while (!s.udp_queries)
		rig_run_ms(&r, 20);
	s.mode = STUB_ANSWER;			/* too late for the first attempt */
	rig_run(&r, 1);
	rig_end(&r);
	stub_stop(&s);
	/* half of 400 is below the least share, so the first attempt takes all the time */
	assert_int_equal(a.err, -ETIMEDOUT);
	assert_in_range(s.udp_queries, 1, 2);	/* and a probe */

	stub_start(&s, "127.0.0.1", 1, STUB_SILENT);
	rig_start(&r, &s, 1, 1000, 0);
	memset(&a, 0, sizeof(a));
	rig_ask(&r, &a, 1);
	while (!s.udp_queries)
		rig_run_ms(&r, 20);
	s.mode = STUB_ANSWER;
	rig_run(&r, 1);
	rig_end(&r);
	stub_stop(&s);
	assert_int_equal(a.tag, 1);
	assert_in_range(s.udp_queries, 2, 4);	/* with probes: does it live, does it know EDNS? */
	assert_true(s.ports[0] != s.ports[1] || s.ids[0] != s.ids[1]);
}

/* ---- many servers ---- */

struct two_case {
	const char *name;
	enum stub_mode first, second;
	int err;
	int tag;
	int rcode;
	unsigned server;
};

static const struct two_case two_cases[] = {
	{ "first_server_is_enough", STUB_ANSWER, STUB_ANSWER, 0, 1, 0, 0 },
	{ "silence_moves_on_to_the_next", STUB_SILENT, STUB_ANSWER, 0, 2, 0, 1 },
	{ "servfail_moves_on_to_the_next", STUB_SERVFAIL, STUB_ANSWER, 0, 2, 0, 1 },
	{ "refused_moves_on_to_the_next", STUB_REFUSED, STUB_ANSWER, 0, 2, 0, 1 },
	{ "bare_servfail_moves_on_to_the_next", STUB_BARE_SERVFAIL, STUB_ANSWER, 0, 2, 0, 1 },
	{ "nxdomain_does_not_move_on", STUB_NXDOMAIN, STUB_ANSWER, 0, -1, 3, 0 },
	{ "last_of_two_failures_is_given", STUB_SERVFAIL, STUB_REFUSED, 0, -1, 5, 1 },
	{ "failure_is_better_than_silence", STUB_SERVFAIL, STUB_SILENT, 0, -1, 2, 0 },
	{ "failure_after_silence_is_given", STUB_SILENT, STUB_SERVFAIL, 0, -1, 2, 1 },
	{ "silence_of_all_is_a_timeout", STUB_SILENT, STUB_SILENT, -ETIMEDOUT, -1, -1, 1 },
};

static void two_servers(void **state)
{
	const struct two_case *c = *state;
	struct asked a = { 0 };
	struct stub s[2];
	struct rig r;

	stub_start(&s[0], "127.0.0.1", 1, c->first);
	stub_start(&s[1], "127.0.0.1", 2, c->second);
	rig_start(&r, s, 2, 800, 0);
	assert_int_equal(rig_ask(&r, &a, 1), 0);
	rig_run(&r, 1);
	assert_int_equal(a.err, c->err);
	assert_int_equal(a.tag, c->tag);
	assert_int_equal(a.rcode, c->rcode);
	assert_int_equal(a.req.server, c->server);
	assert_true(s[0].udp_queries + s[1].udp_queries <= 4 + rig_count(&r, COUNT_upstream_probes));
	rig_end(&r);
	stub_stop(&s[0]);
	stub_stop(&s[1]);
}

static void closed_port_moves_on_at_once(void **state)
{
	struct asked a = { 0 };
	struct stub s[2];
	struct rig r;

	stub_start(&s[0], "127.0.0.1", 1, STUB_ANSWER);
	stub_start(&s[1], "127.0.0.1", 2, STUB_ANSWER);
	stub_stop(&s[0]);
	rig_start(&r, s, 2, 60000, 0);		/* its share would outlast the test's patience */
	assert_int_equal(rig_ask(&r, &a, 1), 0);
	rig_run(&r, 1);
	assert_int_equal(a.tag, 2);
	assert_int_equal(rig_count(&r, COUNT_upstream_errors), 1);
	rig_end(&r);
	stub_stop(&s[1]);
}

static void closed_port_of_the_only_server_is_refused(void **state)
{
	struct asked a = { 0 };
	struct stub s;
	struct rig r;

	stub_start(&s, "127.0.0.1", 1, STUB_ANSWER);
	stub_stop(&s);
	rig_start(&r, &s, 1, 60000, 0);
	assert_int_equal(rig_ask(&r, &a, 1), 0);
	rig_run(&r, 1);
	assert_int_equal(a.err, -ECONNREFUSED);
	assert_false(a.too_early);
	rig_end(&r);
}

/* To broadcast takes a permission that our sockets do not have: connect() itself fails, and done must still come later. */
static void failing_send_is_told_later(void **state)
{
	struct upstream_opts o = { .count = 1, .timeout_ms = 2000 };
	struct asked a = { 0 };
	struct rig r;

	assert_int_equal(addr_parse("255.255.255.255:53", 0, &o.servers[0].at.addr), 0);
	o.servers[0].at.literal = true;
	rig_start_opts(&r, &o);
	assert_int_equal(rig_ask(&r, &a, 1), 0);
	assert_int_equal(a.ended, 0);
	rig_run(&r, 1);
	assert_true(a.err < 0 && a.err != -ETIMEDOUT);
	assert_int_equal(rig_count(&r, COUNT_upstream_errors), 2);
	rig_end(&r);
}

static void dead_first_server_costs_few_requests_their_time(void **state)
{
	struct asked a[20] = { 0 };
	struct stub s[2];
	struct rig r;
	unsigned i;

	stub_start(&s[0], "127.0.0.1", 1, STUB_SILENT);
	stub_start(&s[1], "127.0.0.1", 2, STUB_ANSWER);
	rig_start(&r, s, 2, 800, 0);
	for (i = 0; i < 20; i++) {
		assert_int_equal(rig_ask(&r, &a[i], i), 0);
		rig_run(&r, i + 1);
		assert_int_equal(a[i].tag, 2);
	}
	assert_in_range(rig_count(&r, COUNT_upstream_timeouts), 3, 4);	/* probes count too */
	assert_int_equal(rig_count(&r, COUNT_upstream_fell), 1);
	rig_end(&r);
	stub_stop(&s[0]);
	stub_stop(&s[1]);
}

static void time_of_a_request_is_kept_with_many_servers(void **state)
{
	struct asked a = { 0 };
	struct stub s[4];
	struct rig r;
	unsigned i, asked;

	for (i = 0; i < 4; i++)
		stub_start(&s[i], "127.0.0.1", (uint8_t)i, STUB_SILENT);
	rig_start(&r, s, 4, 600, 0);
	assert_int_equal(rig_ask(&r, &a, 1), 0);
	rig_run(&r, 1);
	assert_int_equal(a.err, -ETIMEDOUT);
	asked = rig_count(&r, COUNT_upstream_queries) - rig_count(&r, COUNT_upstream_probes);
	rig_end(&r);
	for (i = 0; i < 4; i++)
		stub_stop(&s[i]);
	assert_int_equal(asked, 2);		/* 400 ms, then the 200 that were left */
}

static void server_without_edns_is_remembered(void **state)
{
	struct asked a[3] = { 0 };
	struct stub s;
	struct rig r;
	unsigned i;

	stub_start(&s, "127.0.0.1", 4, STUB_FORMERR_EDNS);
	rig_start(&r, &s, 1, 2000, 0);
	for (i = 0; i < 3; i++) {
		rig_ask(&r, &a[i], i);
		rig_run(&r, i + 1);
		assert_int_equal(a[i].tag, 4);
	}
	assert_int_equal(rig_count(&r, COUNT_upstream_no_edns), 1);
	assert_int_equal(s.with_edns, 1);
	assert_int_equal(s.udp_queries, 4);
	rig_end(&r);
	stub_stop(&s);
}

/* ---- bounds ---- */

static void without_servers_there_is_nobody_to_ask(void **state)
{
	struct upstream_opts o = { .timeout_ms = 1000 };
	struct asked a = { 0 };
	struct rig r;

	rig_start_opts(&r, &o);
	assert_int_equal(rig_ask(&r, &a, 1), -ENOENT);
	rig_end(&r);
	assert_int_equal(a.ended, 0);
}

static void requests_over_the_bound_are_refused_and_counted(void **state)
{
	struct asked a[5] = { 0 };
	struct stub s;
	struct rig r;
	int i;

	stub_start(&s, "127.0.0.1", 1, STUB_SILENT);
	rig_start(&r, &s, 1, 1000, 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(rig_ask(&r, &a[i], (unsigned)i), 0);
	assert_int_equal(rig_ask(&r, &a[3], 3), -EBUSY);
	assert_int_equal(rig_count(&r, COUNT_upstream_full), 1);
	/* those that ended make room */
	rig_run(&r, 3);
	s.mode = STUB_ANSWER;
	assert_int_equal(rig_ask(&r, &a[4], 4), 0);
	rig_run(&r, 4);
	assert_int_equal(a[4].tag, 1);
	assert_int_equal(a[3].ended, 0);
	rig_end(&r);
	stub_stop(&s);
}

static void without_descriptors_a_request_is_refused_and_counted(void **state)
{
	struct asked a = { 0 }, b = { 0 };
	struct rlimit old, low;
	struct stub s;
	struct rig r;
	int err;

	stub_start(&s, "127.0.0.1", 1, STUB_ANSWER);
	rig_start(&r, &s, 1, 1000, 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = old;
	low.rlim_cur = (rlim_t)dup(0);
	close((int)low.rlim_cur);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	err = rig_ask(&r, &a, 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(err, -EBUSY);
	assert_int_equal(rig_count(&r, COUNT_upstream_full), 1);
	assert_int_equal(rig_ask(&r, &b, 2), 0);
	rig_run(&r, 1);
	assert_int_equal(b.tag, 1);
	assert_int_equal(a.ended, 0);
	rig_end(&r);
	stub_stop(&s);
}

static void many_requests_at_once_are_all_answered(void **state)
{
	struct asked *a = calloc(500, sizeof(*a));
	struct stub s;
	struct rig r;
	unsigned i, done = 0, round;

	stub_start(&s, "127.0.0.1", 9, STUB_ANSWER);
	rig_start(&r, &s, 1, 5000, 0);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 100; i++)
			assert_int_equal(rig_ask(&r, &a[round * 100 + i], i), 0);
		done += 100;
		rig_run(&r, done);
	}
	for (i = 0; i < 500; i++)
		assert_int_equal(a[i].tag, 9);
	assert_int_equal(rig_count(&r, COUNT_upstream_answers), 500);
	rig_end(&r);
	stub_stop(&s);
	free(a);
}

/* ---- the asker's side ---- */

static struct asked *second;

static void ask_second(struct asked *a)
{
	assert_int_equal(rig_ask(a->rig, second, 2), 0);
}

static void request_may_be_made_when_another_ends(void **state)
{
	struct asked a = { .then = ask_second }, b = { 0 };
	struct stub s;
	struct rig r;

	second = &b;
	stub_start(&s, "127.0.0.1", 1, STUB_ANSWER);
	rig_start(&r, &s, 1, 1000, 1);		/* so the place of the first must be free by then */
	rig_ask(&r, &a, 1);
	rig_run(&r, 2);
	assert_int_equal(b.tag, 1);
	rig_end(&r);
	stub_stop(&s);
}

static void waiting_requests_end_when_the_object_goes(void **state)
{
	struct asked a[3] = { 0 };
	struct stub s;
	struct rig r;
	int i;

	stub_start(&s, "127.0.0.1", 1, STUB_SILENT);
	rig_start(&r, &s, 1, 5000, 0);
	for (i = 0; i < 3; i++)
		rig_ask(&r, &a[i], (unsigned)i);
	rig_run_ms(&r, 20);
	rig_end(&r);
	for (i = 0; i < 3; i++) {
		assert_int_equal(a[i].ended, 1);
		assert_int_equal(a[i].err, -ECANCELED);
	}
	stub_stop(&s);
}

#define ONE  (sizeof(one_cases) / sizeof(one_cases[0]))
#define TWO  (sizeof(two_cases) / sizeof(two_cases[0]))
#define ROW(f) { #f, f, NULL, NULL, NULL }

int main(void)
{
	static const struct CMUnitTest fixed[] = {
		ROW(answer_is_given_over_ipv6),
		ROW(truncated_answer_is_asked_again_over_ipv6),
		ROW(ports_and_ids_are_drawn_from_the_whole_range),
		ROW(silent_server_alone_is_asked_four_times),
		ROW(retry_comes_from_another_port_with_another_id),
		ROW(closed_port_moves_on_at_once),
		ROW(closed_port_of_the_only_server_is_refused),
		ROW(failing_send_is_told_later),
		ROW(dead_first_server_costs_few_requests_their_time),
		ROW(time_of_a_request_is_kept_with_many_servers),
		ROW(server_without_edns_is_remembered),
		ROW(without_servers_there_is_nobody_to_ask),
		ROW(requests_over_the_bound_are_refused_and_counted),
		ROW(without_descriptors_a_request_is_refused_and_counted),
		ROW(many_requests_at_once_are_all_answered),
		ROW(request_may_be_made_when_another_ends),
		ROW(waiting_requests_end_when_the_object_goes),
	};
	struct CMUnitTest tests[ONE + TWO + sizeof(fixed) / sizeof(fixed[0])];
	size_t i;

	for (i = 0; i < ONE; i++)
		tests[i] = (struct CMUnitTest){ one_cases[i].name, one_server, NULL, NULL, (void *)&one_cases[i] };
	for (i = 0; i < TWO; i++)
		tests[ONE + i] = (struct CMUnitTest){ two_cases[i].name, two_servers, NULL, NULL, (void *)&two_cases[i] };
	memcpy(tests + ONE + TWO, fixed, sizeof(fixed));
	return cmocka_run_group_tests_name("upstream/udp", tests, NULL, NULL);
}
