/* SPDX-License-Identifier: BSD-2-Clause */
/* test_h2.c - the asking side of HTTP/2 against the library's serving side, octets carried by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <nghttp2/nghttp2.h>
#include "net/h2.h"

#define TYPE "application/dns-message"

struct asker {
	unsigned answered, failed;
	int err;
	char why[128];
	char body[64];
	size_t size;
	uint32_t age_s;
	struct h2_request *request;
};

/* How the server answers each request. */
struct say {
	const char *status, *type, *age, *body;
	bool early;			/* 103 first */
	bool trailers;			/* with another type behind */
	bool silent;
};

struct rig {
	struct h2 *h;
	nghttp2_session *server;
	const struct say *say;
	char methods[16], paths[64], lengths[16], accepts[64], types[64], authorities[64];
	char posted[256];
	size_t posted_len;
	unsigned requests, resets;
	struct asker *then;		/* asks again from within answered() */
	struct asker more;
};

static void ask(struct rig *r, struct asker *a, const char *body);

/* ---- our side ---- */

static void answered(void *arg, void *asker, const struct h2_answer *answer)
{
	struct rig *r = arg;
	struct asker *a = asker;

	a->answered++;
	a->size = answer->size;
	a->age_s = answer->age_s;
	if (answer->size && answer->size < sizeof(a->body))
		memcpy(a->body, answer->body, answer->size);
	if (r->then == a)
		ask(r, &r->more, "again");
}

static void failed(void *arg, void *asker, int err, const char *why)
{
	struct asker *a = asker;

	a->failed++;
	a->err = err;
	snprintf(a->why, sizeof(a->why), "%s", why);
}

static const struct h2_ops ops = { answered, failed };

static void ask(struct rig *r, struct asker *a, const char *body)
{
	const struct h2_question q = { "dns.example:8443", "/q", TYPE, (const uint8_t *)body, body ? strlen(body) : 0 };

	assert_int_equal(h2_ask(r->h, &q, a, &a->request), 0);
}

/* ---- the server ---- */

static ssize_t on_read(nghttp2_session *s, int32_t stream, uint8_t *buf, size_t size, uint32_t *flags,
		       nghttp2_data_source *source, void *arg)
{
	const struct say *say = ((struct rig *)arg)->say;
	const nghttp2_nv trailer = { (uint8_t *)"content-type", (uint8_t *)"text/html", 12, 9, 0 };
	size_t n = strlen(say->body);

	assert_true(n <= size);
	memcpy(buf, say->body, n);
	*flags |= NGHTTP2_DATA_FLAG_EOF;
	if (say->trailers) {
		*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
		nghttp2_submit_trailer(s, stream, &trailer, 1);
	}
	return (ssize_t)n;
}

static nghttp2_nv nv(const char *name, const char *value)
{
	return (nghttp2_nv){ (uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), 0 };
}

static void reply(struct rig *r, int32_t stream)
{
	const struct say *say = r->say;
	nghttp2_nv early = nv(":status", "103"), headers[3];
	nghttp2_data_provider body = { { .ptr = NULL }, on_read };
	size_t n = 1;

	if (say->silent)
		return;
	headers[0] = nv(":status", say->status);
	if (say->type)
		headers[n++] = nv("content-type", say->type);
	if (say->age)
		headers[n++] = nv("age", say->age);
	if (say->early)
		nghttp2_submit_headers(r->server, 0, stream, NULL, &early, 1, NULL);
	nghttp2_submit_response(r->server, stream, headers, n, say->body ? &body : NULL);
}

static int on_header(nghttp2_session *s, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
		     const uint8_t *value, size_t len, uint8_t flags, void *arg)
{
	struct rig *r = arg;
	const struct { const char *name; char *to; size_t size; } all[] = {
		{ ":method", r->methods, sizeof(r->methods) }, { ":path", r->paths, sizeof(r->paths) },
		{ ":authority", r->authorities, sizeof(r->authorities) },
		{ "content-length", r->lengths, sizeof(r->lengths) }, { "accept", r->accepts, sizeof(r->accepts) },
		{ "content-type", r->types, sizeof(r->types) },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strlen(all[i].name) == name_len && !memcmp(all[i].name, name, name_len))
			snprintf(all[i].to, all[i].size, "%.*s", (int)len, (const char *)value);
	return 0;
}

static int on_data(nghttp2_session *s, uint8_t flags, int32_t stream, const uint8_t *data, size_t len, void *arg)
{
	struct rig *r = arg;

	assert_true(r->posted_len + len < sizeof(r->posted));
	memcpy(r->posted + r->posted_len, data, len);
	r->posted_len += len;
	return 0;
}

static int on_frame(nghttp2_session *s, const nghttp2_frame *frame, void *arg)
{
	struct rig *r = arg;

	r->resets += frame->hd.type == NGHTTP2_RST_STREAM;
	if (frame->hd.type <= NGHTTP2_HEADERS && frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
		r->requests++;
		reply(r, frame->hd.stream_id);
	}
	return 0;
}

static void start(struct rig *r, const struct say *say, uint32_t streams)
{
	const nghttp2_settings_entry settings = { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams };
	nghttp2_session_callbacks *cb;

	memset(r, 0, sizeof(*r));
	r->say = say;
	assert_int_equal(h2_new(&ops, r, 60, 0, &r->h), 0);
	nghttp2_session_callbacks_new(&cb);
	nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
	nghttp2_session_server_new(&r->server, cb, r);
	nghttp2_session_callbacks_del(cb);
	nghttp2_submit_settings(r->server, 0, &settings, 1);
}

static void finish(struct rig *r)
{
	h2_free(r->h);
	nghttp2_session_del(r->server);
}

/* Octets both ways, so many at a time, until nothing moves.  Returns the first error of ours. */
static int carry(struct rig *r, size_t piece)
{
	const uint8_t *data;
	bool moved = true;
	ssize_t n;
	int err = 0;

	while (moved) {
		moved = false;
		while ((n = (ssize_t)h2_take(r->h, &data)) > 0) {
			assert_int_equal(nghttp2_session_mem_recv(r->server, data, (size_t)n), n);
			moved = true;
		}
		while ((n = nghttp2_session_mem_send(r->server, &data)) > 0) {
			for (ssize_t at = 0, m; at < n; at += m) {
				m = n - at < (ssize_t)piece ? n - at : (ssize_t)piece;
				if (!err)
					err = h2_feed(r->h, data + at, (size_t)m);
			}
			moved = true;
		}
	}
	return err;
}

/* ---- answers ---- */

static const struct answer_case {
	const char *name;
	struct say say;
	int err;
	const char *why;		/* or the body */
	uint32_t age_s;
} cases[] = {
	{ "an_answer_is_given", { "200", TYPE, NULL, .body = "here" }, 0, "here", 0 },
	{ "its_age_is_told", { "200", TYPE, "17", .body = "here" }, 0, "here", 17 },
	{ "an_age_beyond_all_numbers_is_the_greatest", { "200", TYPE, "99999999999", .body = "here" }, 0, "here", UINT32_MAX },
	{ "an_age_that_is_no_number_is_none", { "200", TYPE, "old", .body = "here" }, 0, "here", 0 },
	{ "a_status_in_front_is_not_the_answers", { "200", TYPE, NULL, .body = "here", .early = true }, 0, "here", 0 },
	{ "trailers_say_nothing", { "200", TYPE, NULL, .body = "here", .trailers = true }, 0, "here", 0 },
	{ "an_answer_may_be_empty", { "200", TYPE, NULL, .body = NULL }, 0, "", 0 },
	{ "no_type_is_a_wrong_one", { "200", NULL, NULL, .body = "here" }, -EBADMSG, "content type is \"\"", 0 },
	{ "a_longer_type_is_a_wrong_one", { "200", TYPE "s", NULL, .body = "here" }, -EBADMSG, "dns-messages", 0 },
	{ "not_found", { "404", TYPE, NULL, .body = "here" }, -EBADMSG, "HTTP status 404", 0 },
	{ "moved", { "301", TYPE, NULL, .body = NULL }, -EBADMSG, "HTTP status 301", 0 },
	{ "only_200_is_an_answer", { "204", TYPE, NULL, .body = NULL }, -EBADMSG, "HTTP status 204", 0 },
	{ "a_longer_body_than_is_wanted",
	  { "200", TYPE, NULL, .body = "sixty octets are wanted at most, and this one has a few more." }, -EMSGSIZE, "longer", 0 },
};

static void check_answer(void **state)
{
	static const size_t pieces[] = { 4096, 1, 7 };
	const struct answer_case *c = *state;

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct asker a = { 0 };
		struct rig r;

		start(&r, &c->say, 100);
		ask(&r, &a, "question");
		assert_int_equal(carry(&r, pieces[i]), 0);
		assert_int_equal(a.answered, !c->err);
		assert_int_equal(a.failed, !!c->err);
		assert_int_equal(a.err, c->err);
		assert_int_equal(a.age_s, c->age_s);
		if (!strstr(c->err ? a.why : a.body, c->why))
			fail_msg("\"%s\" does not say \"%s\"", c->err ? a.why : a.body, c->why);
		assert_true(h2_is_open(r.h));
		assert_false(h2_is_over(r.h));
		finish(&r);
	}
}

static const struct say good = { "200", TYPE, .body = "here" }, silent = { .silent = true };

static void a_post_has_its_body(void **state)
{
	struct asker a = { 0 };
	struct rig r;

	start(&r, &good, 100);
	ask(&r, &a, "question");
	carry(&r, 4096);
	assert_string_equal(r.methods, "POST");
	assert_string_equal(r.paths, "/q");
	assert_string_equal(r.authorities, "dns.example:8443");
	assert_string_equal(r.lengths, "8");
	assert_string_equal(r.accepts, TYPE);
	assert_string_equal(r.types, TYPE);
	assert_string_equal(r.posted, "question");
	finish(&r);
}

static void a_get_has_none(void **state)
{
	struct asker a = { 0 };
	struct rig r;

	start(&r, &good, 100);
	ask(&r, &a, NULL);
	carry(&r, 4096);
	assert_string_equal(r.methods, "GET");
	assert_string_equal(r.lengths, "");
	assert_string_equal(r.types, "");
	assert_int_equal(a.answered, 1);
	finish(&r);
}

static void one_may_ask_from_within_an_answer(void **state)
{
	struct asker a = { 0 };
	struct rig r;

	start(&r, &good, 100);
	r.then = &a;
	ask(&r, &a, "question");
	carry(&r, 4096);
	assert_int_equal(r.more.answered, 1);
	assert_int_equal(r.requests, 2);
	finish(&r);
}

static void what_is_cancelled_is_not_told(void **state)
{
	struct asker a[2] = { 0 };
	struct rig r;

	start(&r, &silent, 100);
	ask(&r, &a[0], "question");
	ask(&r, &a[1], "question");
	carry(&r, 4096);
	h2_cancel(r.h, a[0].request);
	carry(&r, 4096);
	assert_int_equal(r.resets, 1);
	h2_cancel(r.h, a[1].request);
	ask(&r, &a[0], "question");
	h2_cancel(r.h, a[0].request);		/* before it went out */
	carry(&r, 4096);
	assert_int_equal(a[0].answered + a[0].failed + a[1].answered + a[1].failed, 0);
	finish(&r);
}

static void beyond_what_the_server_takes_requests_wait(void **state)
{
	struct asker a[5] = { 0 };
	struct rig r;

	start(&r, &good, 1);
	assert_int_equal(h2_streams(r.h), 0);
	carry(&r, 4096);
	assert_int_equal(h2_streams(r.h), 1);
	for (unsigned i = 0; i < 5; i++)
		ask(&r, &a[i], "question");
	carry(&r, 4096);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(a[i].answered, 1);
	assert_int_equal(r.resets, 0);
	finish(&r);
}

static void requests_are_bounded(void **state)
{
	static struct asker a[H2_REQUESTS_MAX + 1];
	const struct h2_question q = { "a", "/", TYPE, NULL, 0 };
	struct rig r;

	start(&r, &silent, 100);
	for (unsigned i = 0; i < H2_REQUESTS_MAX; i++)
		ask(&r, &a[i], NULL);
	assert_int_equal(h2_ask(r.h, &q, &a[H2_REQUESTS_MAX], &a[H2_REQUESTS_MAX].request), -EBUSY);
	carry(&r, 4096);
	assert_int_equal(r.requests, 100);
	finish(&r);
}

static void at_a_good_bye_those_not_begun_are_told(void **state)
{
	const struct h2_question q = { "a", "/", TYPE, NULL, 0 };
	struct asker a[3] = { 0 };
	struct rig r;

	start(&r, &silent, 2);
	carry(&r, 4096);
	for (unsigned i = 0; i < 3; i++)
		ask(&r, &a[i], "question");
	carry(&r, 4096);
	nghttp2_submit_goaway(r.server, 0, 1, NGHTTP2_NO_ERROR, NULL, 0);
	assert_int_equal(carry(&r, 4096), 0);
	assert_int_equal(a[0].failed, 0);	/* the server works on it */
	assert_int_equal(a[1].err, -EAGAIN);	/* it does not on that one */
	assert_int_equal(a[2].err, -EAGAIN);	/* and has never seen this one */
	assert_false(h2_is_open(r.h));
	assert_int_equal(h2_ask(r.h, &q, &a[1], &a[1].request), -EAGAIN);
	assert_false(h2_is_over(r.h));
	r.say = &good;
	reply(&r, 1);
	carry(&r, 4096);
	assert_int_equal(a[0].answered, 1);
	assert_true(h2_is_over(r.h));
	finish(&r);
}

static void what_is_not_http_2_ends_it_with_a_reason(void **state)
{
	static const char text[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
	const uint8_t *data;
	struct rig r;

	start(&r, &good, 100);
	if (!h2_feed(r.h, (const uint8_t *)text, sizeof(text) - 1)) {
		while (h2_take(r.h, &data))
			;
		assert_true(h2_is_over(r.h));
	}
	assert_true(*h2_why(r.h));
	finish(&r);
}

#define ROW(f) { #f, f, NULL, NULL, NULL }
#define CASES (sizeof(cases) / sizeof(cases[0]))

int main(void)
{
	static const struct CMUnitTest fixed[] = {
		ROW(a_post_has_its_body),
		ROW(a_get_has_none),
		ROW(one_may_ask_from_within_an_answer),
		ROW(what_is_cancelled_is_not_told),
		ROW(beyond_what_the_server_takes_requests_wait),
		ROW(requests_are_bounded),
		ROW(at_a_good_bye_those_not_begun_are_told),
		ROW(what_is_not_http_2_ends_it_with_a_reason),
	};
	struct CMUnitTest tests[CASES + sizeof(fixed) / sizeof(fixed[0])];

	for (size_t i = 0; i < CASES; i++)
		tests[i] = (struct CMUnitTest){ cases[i].name, check_answer, NULL, NULL, (void *)&cases[i] };
	memcpy(tests + CASES, fixed, sizeof(fixed));
	return cmocka_run_group_tests_name("net/h2", tests, NULL, NULL);
}
