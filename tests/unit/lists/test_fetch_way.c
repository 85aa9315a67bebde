/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fetch_way.c - the way of a fetch: time that runs out, and redirects. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/clock.h"
#include "tests/unit/lists/fetch.h"

/* ---- time ------------------------------------------------------------------------------ */

/* An octet now and then: never silent, never done. */
static void page_slow(struct conn *c)
{
	conn_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
	while (conn_send(c, "#", 1))
		conn_wait(c, 20);
}

static void a_slow_server_runs_out_of_time(void **state)
{
	struct rig *r = rig_new(page_slow);
	uint64_t begin = clock_fine_ns();

	r->job.timeout_ms = 400;
	assert_failed(r, "/list", -ETIMEDOUT, "timed out", "");
	assert_in_range(clock_fine_ns() - begin, 300 * CLOCK_MS, 3000 * CLOCK_MS);
	rig_free(r);
}

static void a_stall_ends_a_request_before_its_time(void **state)
{
	struct rig *r = rig_new(page_slow);
	struct http_request q = { .url = rig_url(r, "127.0.0.1", "/list"), .timeout_ms = 20000, .stall_s = 1 };
	uint64_t begin = clock_fine_ns();
	struct err_at at = { .why = "" };
	unsigned status = 0;

	assert_int_equal(http_ask(&q, &status, &at), -ETIMEDOUT);
	assert_non_null(strstr(at.why, "too slow"));
	assert_in_range(clock_fine_ns() - begin, 900 * CLOCK_MS, 8000 * CLOCK_MS);
	rig_free(r);
}

static void page_silent(struct conn *c)
{
	conn_wait(c, 60000);
}

static void a_silent_server_runs_out_of_time(void **state)
{
	struct rig *r = rig_new(page_silent);

	r->job.timeout_ms = 300;
	assert_failed(r, "/list", -ETIMEDOUT, "timed out", "");
	rig_free(r);
}

/* Each hop is quick enough, all together are not. */
static void page_slow_hops(struct conn *c)
{
	char to[64];

	conn_wait(c, 300);
	snprintf(to, sizeof(to), "Location: /%u\r\n", c->n);
	conn_page(c, 302, to, "", 0);
}

static void the_time_is_for_all_redirects_together(void **state)
{
	struct rig *r = rig_new(page_slow_hops);

	r->job.timeout_ms = 700;
	assert_failed(r, "/list", -ETIMEDOUT, "time", "");
	assert_in_range(r->http.requests, 2, 3);
	rig_free(r);
}

static void *cancel_soon(void *arg)
{
	usleep(150000);
	atomic_store(&((struct rig *)arg)->job.cancel, true);
	return NULL;
}

static void a_fetch_can_be_cancelled_while_nothing_comes(void **state)
{
	struct rig *r = rig_new(page_silent);
	uint64_t begin = clock_fine_ns();
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, r), 0);
	assert_failed(r, "/list", -ECANCELED, "cancelled", "");
	assert_in_range(clock_fine_ns() - begin, 100 * CLOCK_MS, 10000 * CLOCK_MS);
	pthread_join(thread, NULL);
	rig_free(r);
}

static void a_fetch_can_be_cancelled_while_its_name_is_asked_for(void **state)
{
	struct rig *r = rig_new(page_silent);
	uint64_t begin = clock_fine_ns();
	pthread_t thread;

	r->names.mode = NAMES_SILENT;
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, r), 0);
	assert_failed(r, "/list", -ECANCELED, "cancelled", "");
	assert_in_range(clock_fine_ns() - begin, 100 * CLOCK_MS, 10000 * CLOCK_MS);
	pthread_join(thread, NULL);
	rig_free(r);
}

/* ---- redirects --------------------------------------------------------------------------- */

struct redirect_case {
	const char *path, *location;	/* "%u" in it: the port */
};

static const struct redirect_case redirects[] = {
	{ "/1", "/2" }, { "/2", "3?x=y" }, { "/3?x=y", "./deep/../4" }, { "/4", "//lists.example:%u/5" },
	{ "/5", "http://lists.example:%u/list" },
	{ "/six", "/1" },
	{ "/loop", "/loop2" }, { "/loop2", "/loop" },
	{ "/mirror", "http://mirror.example:%u/list" },
	{ "/nowhere", "http://nowhere.example:%u/list" },
	{ "/address", "http://127.0.0.1:%u/list" },
	{ "/file", "file:///etc/passwd" }, { "/ftp", "ftp://lists.example/list" }, { "/gopher", "gopher://127.0.0.1:%u/x" },
	{ "/bad", "http://[::/" },
};

static void page_redirects(struct conn *c)
{
	char to[256];
	unsigned i;

	for (i = 0; i < sizeof(redirects) / sizeof(redirects[0]); i++) {
		if (strcmp(redirects[i].path, c->path))
			continue;
		strcpy(to, "Location: ");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(to + 10, sizeof(to) - 10, redirects[i].location, c->server->addr.port);
#pragma GCC diagnostic pop
		strcat(to, "\r\n");
		conn_page(c, i % 2 ? 301 : 307, to, "moved", 5);
		return;
	}
	if (!strcmp(c->path, "/without"))
		conn_page(c, 302, "", "moved", 5);
	else
		conn_page(c, 200, "", NEW, strlen(NEW));
}

static void five_redirects_are_followed(void **state)
{
	struct rig *r = rig_new(page_redirects);

	assert_int_equal(rig_fetch(r, "/1"), LISTS_CHANGED);
	assert_int_equal(r->http.requests, 6);
	assert_file(r, "ads", NEW);
	rig_free(r);
}

static void six_redirects_are_not(void **state)
{
	struct rig *r = rig_new(page_redirects);

	assert_failed(r, "/six", -ELOOP, "more than 5", "");
	rig_free(r);
}

static void a_circle_of_redirects_is_seen(void **state)
{
	struct rig *r = rig_new(page_redirects);

	assert_failed(r, "/loop", -ELOOP, "circle", "");
	assert_int_equal(r->http.requests, 2);
	rig_free(r);
}

static void the_host_of_a_redirect_is_resolved_by_us(void **state)
{
	struct rig *r = rig_new(page_redirects);
	unsigned before;

	assert_int_equal(rig_fetch(r, "/address"), LISTS_CHANGED);
	before = r->names.udp;
	assert_int_equal(before, 2);			/* A and AAAA of lists.example */
	assert_int_equal(rig_fetch(r, "/mirror"), LISTS_UNCHANGED);
	assert_int_equal(r->names.udp - before, 4);	/* and of mirror.example */
	assert_failed(r, "/nowhere", -ENOENT, "nowhere.example does not exist", NEW);
	rig_free(r);
}

static void redirects_to_anything_but_http_are_refused(void **state)
{
	struct rig *r = rig_new(page_redirects);

	assert_failed(r, "/file", -EINVAL, "\"file\", expected http or https", "");
	assert_failed(r, "/ftp", -EINVAL, "\"ftp\"", "");
	assert_failed(r, "/gopher", -EINVAL, "\"gopher\"", "");
	assert_failed(r, "/bad", -EPROTO, "Location", "");
	assert_failed(r, "/without", -EPROTO, "Location", "");
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_server_runs_out_of_time),
		cmocka_unit_test(a_stall_ends_a_request_before_its_time),
		cmocka_unit_test(a_silent_server_runs_out_of_time),
		cmocka_unit_test(the_time_is_for_all_redirects_together),
		cmocka_unit_test(a_fetch_can_be_cancelled_while_nothing_comes),
		cmocka_unit_test(a_fetch_can_be_cancelled_while_its_name_is_asked_for),
		cmocka_unit_test(five_redirects_are_followed),
		cmocka_unit_test(six_redirects_are_not),
		cmocka_unit_test(a_circle_of_redirects_is_seen),
		cmocka_unit_test(the_host_of_a_redirect_is_resolved_by_us),
		cmocka_unit_test(redirects_to_anything_but_http_are_refused),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
