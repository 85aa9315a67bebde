/* SPDX-License-Identifier: BSD-2-Clause */
/* test_https.c - requests over HTTPS: what HTTP/2 brings along. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "unit/upstream/peer.h"
#include "unit/upstream/rig.h"
#include "upstream/transport.h"

#define DAY 86400L
#define NAME "dns.example"

static struct certs authority, good;
static char trusted[] = "/tmp/mr-upstream-XXXXXX";

static void start(struct rig *r, struct peer *p, const char *path, bool get)
{
	struct upstream_opts o = { .count = 1, .timeout_ms = 6000, .ca = trusted, .https_get = get };

	p->https = true;
	peer_start(p, "127.0.0.1", 1, &good);
	peer_server(p, NAME, &o.servers[0]);
	snprintf(o.servers[0].at.path, sizeof(o.servers[0].at.path), "%s", path);
	rig_start_opts(r, &o);
}

static void finish(struct rig *r, struct peer *p)
{
	rig_end(r);
	peer_stop(p);
}

static void ask_one(struct rig *r, struct asked *a, unsigned i)
{
	assert_int_equal(rig_ask(r, a, i), 0);
	rig_run(r, r->done + 1);
}

/* ---- answers that are none, and those that are ---- */

static const struct answer_case {
	const char *name;
	enum peer_mode mode;
	const char *alpn;
	int err;
	size_t size;			/* of the answer; 0: as usual */
	const char *why;
} answers[] = {
	{ "an_answer_is_given", PEER_SERVE, "\2h2", 0, 0, "" },
	{ "another_status_than_200_is_a_failure", PEER_STATUS, "\2h2", -EBADMSG, 0, "HTTP status 503" },
	{ "another_content_type_is_a_failure", PEER_TYPE, "\2h2", -EBADMSG, 0, "content type is \"text/html\"" },
	{ "a_content_type_has_no_letter_case_and_may_have_parameters", PEER_TYPE_PARAMETER, "\2h2", 0, 0, "" },
	{ "a_body_longer_than_a_message_is_a_failure", PEER_BIG, "\2h2", -EMSGSIZE, 0, "longer than a message" },
	{ "the_longest_message_is_taken", PEER_LONGEST, "\2h2", 0, 65535, "" },
	{ "an_empty_body_is_a_failure", PEER_EMPTY, "\2h2", -EBADMSG, 0, "none to the question" },
	{ "an_answer_to_another_question_is_a_failure", PEER_WRONG_QUESTION, "\2h2", -EBADMSG, 0, "none to the question" },
	{ "a_stream_that_is_reset_is_a_failure", PEER_RESET, "\2h2", -EPROTO, 0, "INTERNAL_ERROR" },
	{ "what_is_not_http_2_is_a_failure", PEER_GARBAGE, "\2h2", -EPROTO, 0, "" },
	{ "a_server_without_http_2_is_a_failure", PEER_SERVE, NULL, -EPROTO, 0, "does not offer the protocol" },
	{ "a_server_with_http_1_alone_is_a_failure", PEER_SERVE, "\10http/1.1", -EPROTO, 0, "protocol" },
};

static void check_answer(void **state)
{
	const struct answer_case *c = *state;
	struct peer p = { .alpn = c->alpn, .mode = (int)c->mode };
	struct upstream_picture seen;
	struct asked a = { 0 };
	struct rig r;

	start(&r, &p, "/dns-query", false);
	ask_one(&r, &a, 1);
	assert_int_equal(a.err, c->err);
	assert_int_equal(a.tag, c->err ? -1 : 1);
	if (c->size)
		assert_int_equal(a.size, c->size);
	assert_true(upstream_pool_look(r.up->pool, 0, 0, &seen));
	if (!strstr(seen.why, c->why))
		fail_msg("\"%s\" does not say \"%s\"", seen.why, c->why);
	assert_int_equal(!!*seen.why, !!c->err);
	/* bad answers are no reason to leave a connection; each of two attempts was told the same */
	assert_int_equal(rig_count(&r, COUNT_upstream_errors), c->err ? 2 : 0);
	assert_int_equal(rig_count(&r, COUNT_upstream_timeouts), 0);
	assert_int_equal(p.conns, c->err == -EPROTO && c->mode != PEER_RESET ? 2 : 1);
	finish(&r, &p);
}

/* ---- how it asks ---- */

static void it_posts_with_id_0(void **state)
{
	struct peer p = { .alpn = "\2h2" };
	struct asked a = { 0 };
	struct rig r;

	start(&r, &p, "/dns-query", false);
	ask_one(&r, &a, 1);
	assert_int_equal(a.tag, 1);
	assert_int_equal(p.posts, 1);
	assert_int_equal(p.gets, 0);
	assert_int_equal(p.with_id, 0);
	assert_int_equal(p.odd_sizes, 0);
	finish(&r, &p);
}

static void it_gets_when_told_so(void **state)
{
	struct peer p = { .alpn = "\2h2" };
	struct asked a[3] = { 0 };
	struct rig r;

	start(&r, &p, "/dns-query", true);
	for (unsigned i = 0; i < 3; i++) {
		ask_one(&r, &a[i], i);
		assert_int_equal(a[i].tag, 1);
		assert_memory_equal(a[i].msg + 12, a[i].key.name, a[i].key.name_len);
	}
	assert_int_equal(p.gets, 3);
	assert_int_equal(p.posts, 0);
	assert_int_equal(p.with_id, 0);
	assert_int_equal(p.odd_sizes, 0);
	finish(&r, &p);
}

static void a_path_with_a_query_gets_another_parameter(void **state)
{
	struct peer p = { .alpn = "\2h2" };
	struct asked a = { 0 };
	struct rig r;

	start(&r, &p, "/resolve?tenant=7", true);
	ask_one(&r, &a, 1);
	assert_int_equal(a.tag, 1);
	finish(&r, &p);
}

static void time_in_a_cache_on_the_way_is_taken_off_the_ttl(void **state)
{
	struct peer p = { .alpn = "\2h2", .mode = PEER_AGE };
	struct asked a = { 0 };
	struct rig r;

	start(&r, &p, "/dns-query", true);
	ask_one(&r, &a, 1);
	assert_int_equal(a.tag, 1);
	assert_int_equal(a.msg[a.size - 7], 60 - 20);
	finish(&r, &p);
}

/* ---- connections ---- */

static void a_server_that_says_good_bye_is_asked_on_a_fresh_connection(void **state)
{
	struct peer p = { .alpn = "\2h2", .mode = PEER_LATE_GOAWAY, .limit = 3 };
	struct asked a[5] = { 0 };
	struct rig r;

	start(&r, &p, "/dns-query", false);
	for (unsigned i = 0; i < 5; i++)
		rig_ask(&r, &a[i], i);
	rig_run(&r, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(a[i].tag, 1);
	assert_int_equal(p.conns, 2);
	assert_int_equal(rig_count(&r, COUNT_upstream_errors), 0);
	rig_run_ms(&r, 30);
	assert_int_equal(p.open, 1);
	finish(&r, &p);
}

static void a_stream_that_was_not_begun_is_asked_on_a_fresh_connection(void **state)
{
	struct peer p = { .alpn = "\2h2", .mode = PEER_LATE_REFUSED_STREAM, .limit = 2 };
	struct asked a[5] = { 0 };
	struct rig r;

	start(&r, &p, "/dns-query", false);
	for (unsigned i = 0; i < 5; i++) {
		ask_one(&r, &a[i], i);
		assert_int_equal(a[i].tag, 1);
	}
	assert_int_equal(p.conns, 3);
	assert_int_equal(rig_count(&r, COUNT_upstream_errors), 0);
	finish(&r, &p);
}

static void more_than_the_server_works_on_at_once_wait_their_turn(void **state)
{
	struct peer p = { .alpn = "\2h2", .streams_max = 3 };
	struct asked a[60] = { 0 };
	struct rig r;

	start(&r, &p, "/dns-query", false);
	ask_one(&r, &a[0], 0);
	for (unsigned i = 1; i < 60; i++)
		rig_ask(&r, &a[i], i);
	rig_run(&r, 60);
	for (unsigned i = 0; i < 60; i++)
		assert_int_equal(a[i].tag, 1);
	assert_int_equal(p.conns, 2);
	assert_int_equal(rig_count(&r, COUNT_upstream_errors), 0);
	finish(&r, &p);
}

static void many_long_answers_do_not_stop_for_want_of_a_window(void **state)
{
	struct peer p = { .alpn = "\2h2", .mode = PEER_LONGEST };
	struct asked a[20] = { 0 };
	struct rig r;

	start(&r, &p, "/dns-query", false);
	for (unsigned i = 0; i < 20; i++)
		rig_ask(&r, &a[i], i);
	rig_run(&r, 20);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(a[i].size, 65535);
	assert_int_equal(p.conns, 1);
	finish(&r, &p);
}

#define ANSWERS (sizeof(answers) / sizeof(answers[0]))
#define ROW(f) { #f, f, NULL, NULL, NULL }

int main(void)
{
	static const struct CMUnitTest fixed[] = {
		ROW(it_posts_with_id_0),
		ROW(it_gets_when_told_so),
		ROW(a_path_with_a_query_gets_another_parameter),
		ROW(time_in_a_cache_on_the_way_is_taken_off_the_ttl),
		ROW(a_server_that_says_good_bye_is_asked_on_a_fresh_connection),
		ROW(a_stream_that_was_not_begun_is_asked_on_a_fresh_connection),
		ROW(more_than_the_server_works_on_at_once_wait_their_turn),
		ROW(many_long_answers_do_not_stop_for_want_of_a_window),
	};
	struct CMUnitTest tests[ANSWERS + sizeof(fixed) / sizeof(fixed[0])];
	int failed;

	authority = certs_make(NULL, NULL, -DAY, DAY);
	good = certs_make(&authority, "DNS:" NAME, -DAY, DAY);
	certs_write(&authority, trusted);
	for (size_t i = 0; i < ANSWERS; i++)
		tests[i] = (struct CMUnitTest){ answers[i].name, check_answer, NULL, NULL, (void *)&answers[i] };
	memcpy(tests + ANSWERS, fixed, sizeof(fixed));
	failed = cmocka_run_group_tests_name("upstream/https", tests, NULL, NULL);
	unlink(trusted);
	certs_free(&authority);
	certs_free(&good);
	return failed;
}
