/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fetch.c - one try to fetch one list: requests, validators, statuses, hosts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/random.h"
#include "tests/unit/lists/fetch.h"

/* ---- what goes well ---------------------------------------------------------- */

static void a_list_is_fetched_and_kept(void **state)
{
	struct rig *r = rig_new(page_plain);
	struct stat st;
	char path[128];

	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	assert_file(r, "ads", NEW);
	assert_int_equal(r->job.bytes, strlen(NEW));
	assert_string_equal(r->job.note, "");
	snprintf(path, sizeof(path), "%s/ads", r->lists);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	rig_free(r);
}

static void the_same_octets_are_no_change(void **state)
{
	struct rig *r = rig_new(page_plain);
	struct stat a, b;
	char path[128];

	snprintf(path, sizeof(path), "%s/ads", r->lists);
	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	assert_int_equal(stat(path, &a), 0);
	assert_int_equal(rig_fetch(r, "/list"), LISTS_UNCHANGED);
	assert_int_equal(stat(path, &b), 0);
	assert_int_equal(a.st_ino, b.st_ino);
	assert_file(r, "ads.new", "");
	rig_free(r);
}

static void page_host(struct conn *c)
{
	char host[128], agent[128], encoding[128];

	conn_header(c, "Host", host, sizeof(host));
	conn_header(c, "User-Agent", agent, sizeof(agent));
	conn_header(c, "Accept-Encoding", encoding, sizeof(encoding));
	conn_say(c, "HTTP/1.0 200 OK\r\n\r\n# %s %s %s %s\n", c->path, host, agent, encoding);
}

static void the_request_is_what_a_server_expects(void **state)
{
	struct rig *r = rig_new(page_host);
	char want[256];

	assert_int_equal(rig_fetch(r, "/a/list?token=x"), LISTS_CHANGED);
	snprintf(want, sizeof(want), "# /a/list?token=x lists.example:%u millrace/" MR_VERSION " gzip\n", r->http.addr.port);
	assert_file(r, "ads", want);
	rig_free(r);
}

static void an_address_as_host_is_not_resolved(void **state)
{
	struct rig *r = rig_new(page_plain);

	r->job.server_count = 0;
	assert_int_equal(rig_fetch_url(r, rig_url(r, "127.0.0.1", "/list")), LISTS_CHANGED);
	assert_int_equal(r->names.udp, 0);
	rig_free(r);
}

static void localhost_is_this_machine_and_nobody_is_asked(void **state)
{
	struct rig *r = rig_new(page_plain);

	assert_int_equal(rig_fetch_url(r, rig_url(r, "localhost", "/list")), LISTS_CHANGED);
	assert_int_equal(r->names.udp, 0);
	rig_free(r);
}

static void a_final_dot_of_the_host_does_no_harm(void **state)
{
	struct rig *r = rig_new(page_plain);

	assert_int_equal(rig_fetch_url(r, rig_url(r, "LISTS.example.", "/list")), LISTS_CHANGED);
	rig_free(r);
}

static void a_proxy_of_the_environment_is_not_used(void **state)
{
	struct rig *r = rig_new(page_plain);

	setenv("http_proxy", "http://127.0.0.1:1/", 1);
	setenv("ALL_PROXY", "http://127.0.0.1:1/", 1);
	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	unsetenv("http_proxy");
	unsetenv("ALL_PROXY");
	rig_free(r);
}

/* ---- validators ---------------------------------------------------------------- */

#define DATE "Sat, 28 Nov 2026 10:00:00 GMT"

static void page_etag(struct conn *c)
{
	char v[64];

	if (!strcmp(conn_header(c, "If-None-Match", v, sizeof(v)), "W/\"v1\""))
		conn_say(c, "HTTP/1.1 304 Not Modified\r\nETag: W/\"v1\"\r\n\r\n");
	else
		conn_page(c, 200, "ETag: W/\"v1\"\r\n", *v ? "# wrong tag\n" : NEW, *v ? 12 : strlen(NEW));
}

static void an_etag_is_given_back_and_304_keeps_the_copy(void **state)
{
	struct rig *r = rig_new(page_etag);
	char *meta;

	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	r->job.now_s = 2000000;
	assert_int_equal(rig_fetch(r, "/list"), LISTS_UNCHANGED);
	assert_int_equal(r->http.requests, 2);
	assert_file(r, "ads", NEW);
	meta = rig_file(r, "ads.meta");
	assert_non_null(strstr(meta, "checked: 2000000\nchanged: 1000000\n"));
	free(meta);
	rig_free(r);
}

static void page_date(struct conn *c)
{
	char v[64];

	if (!strcmp(conn_header(c, "If-Modified-Since", v, sizeof(v)), DATE))
		conn_say(c, "HTTP/1.1 304 Not Modified\r\n\r\n");
	else
		conn_page(c, 200, "Last-Modified: " DATE "\r\n", NEW, strlen(NEW));
}

static void last_modified_is_given_back_and_304_keeps_the_copy(void **state)
{
	struct rig *r = rig_new(page_date);

	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	assert_int_equal(rig_fetch(r, "/list"), LISTS_UNCHANGED);
	assert_int_equal(rig_fetch(r, "/list"), LISTS_UNCHANGED);
	assert_file(r, "ads", NEW);
	rig_free(r);
}

/* Answers 304 to whoever gives a validator, and counts in the body who does not. */
static void page_any_validator(struct conn *c)
{
	char a[64], b[64];

	if (*conn_header(c, "If-None-Match", a, sizeof(a)) || *conn_header(c, "If-Modified-Since", b, sizeof(b)))
		conn_say(c, "HTTP/1.1 304 Not Modified\r\n\r\n");
	else
		conn_page(c, 200, "ETag: \"v1\"\r\nLast-Modified: " DATE "\r\n", NEW, strlen(NEW));
}

static void another_url_drops_the_validators(void **state)
{
	struct rig *r = rig_new(page_any_validator);

	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	assert_int_equal(rig_fetch(r, "/other"), LISTS_UNCHANGED);	/* fetched whole: the octets are the same */
	assert_int_equal(r->job.bytes, strlen(NEW));
	assert_int_equal(rig_fetch(r, "/other"), LISTS_UNCHANGED);	/* by 304 now */
	rig_free(r);
}

static void validators_of_a_copy_that_is_gone_or_damaged_are_not_used(void **state)
{
	struct rig *r = rig_new(page_any_validator);
	char path[128];

	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	snprintf(path, sizeof(path), "%s/ads", r->lists);
	assert_int_equal(truncate(path, 3), 0);
	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	assert_file(r, "ads", NEW);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	assert_file(r, "ads", NEW);
	rig_free(r);
}

static void a_damaged_side_file_costs_a_fetch_and_no_more(void **state)
{
	struct rig *r = rig_new(page_any_validator);
	char path[128], junk[9000];
	int fd;

	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	snprintf(path, sizeof(path), "%s/ads.meta", r->lists);
	random_fill(junk, sizeof(junk));
	fd = open(path, O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, junk, sizeof(junk)), sizeof(junk));
	close(fd);
	assert_int_equal(rig_fetch(r, "/list"), LISTS_UNCHANGED);
	assert_int_equal(r->job.bytes, strlen(NEW));
	rig_free(r);
}

static void page_304(struct conn *c)
{
	if (!is_old(c))
		conn_say(c, "HTTP/1.1 304 Not Modified\r\n\r\n");
}

static void a_304_that_nobody_asked_for_is_a_failure(void **state)
{
	struct rig *r = rig_new(page_304);

	assert_failed(r, "/list", -EREMOTEIO, "HTTP status 304", "");
	rig_free(r);
}

/* ---- statuses -------------------------------------------------------------------- */

static void page_status(struct conn *c)
{
	if (is_old(c))
		return;
	conn_page(c, (unsigned)atoi(c->path + 1), !strcmp(c->path, "/503") ? "Retry-After: 3600\r\n" : "", NEW, strlen(NEW));
}

static void other_statuses_keep_the_last_good_copy(void **state)
{
	static const char *const paths[] = { "/404", "/410", "/403", "/500", "/502", "/204", "/206", "/300" };
	struct rig *r = rig_new(page_status);
	char want[64];
	unsigned i;

	put_old(r);
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(want, sizeof(want), "%s: HTTP status %s", paths[i], paths[i] + 1);
		assert_failed(r, paths[i], -EREMOTEIO, want, OLD);
		assert_int_equal(r->job.retry_after_s, 0);
	}
	rig_free(r);
}

static void retry_after_is_heard(void **state)
{
	struct rig *r = rig_new(page_status);

	assert_failed(r, "/503", -EREMOTEIO, "HTTP status 503", "");
	assert_int_equal(r->job.retry_after_s, 3600);
	rig_free(r);
}

static void page_endless_404(struct conn *c)
{
	char junk[4096];

	memset(junk, 'x', sizeof(junk));
	conn_say(c, "HTTP/1.1 404 Not Found\r\n\r\n");
	while (conn_send(c, junk, sizeof(junk)))
		;
}

static void the_page_of_an_error_is_not_read(void **state)
{
	struct rig *r = rig_new(page_endless_404);

	assert_failed(r, "/list", -EREMOTEIO, "HTTP status 404", "");
	rig_free(r);
}

/* ---- names and hosts ------------------------------------------------------------------------ */

static void a_name_that_does_not_exist_is_said_with_its_server(void **state)
{
	struct rig *r = rig_new(page_plain);

	assert_int_equal(rig_fetch_url(r, rig_url(r, "nobody.example", "/list")), LISTS_FAILED);
	assert_int_equal(r->job.err, -ENOENT);
	assert_said(r, "nobody.example does not exist");
	r->names.mode = NAMES_SERVFAIL;
	assert_failed(r, "/list", -EREMOTEIO, "rcode 2", "");
	r->job.server_count = 0;
	assert_failed(r, "/list", -EHOSTUNREACH, "no server to ask", "");
	rig_free(r);
}

static void a_host_that_does_not_listen_is_a_failure(void **state)
{
	struct rig *r = rig_new(page_plain);

	put_old(r);
	assert_int_equal(rig_fetch_url(r, "http://lists.example:1/list"), LISTS_FAILED);
	assert_int_equal(r->job.err, -ECONNREFUSED);
	assert_said(r, "http://lists.example:1/list: ");
	assert_file(r, "ads", OLD);
	rig_free(r);
}

static void a_host_with_ipv6_addresses_is_reached(void **state)
{
	struct rig *r = rig_new(page_plain);
	struct server six;
	char url[128];

	assert_int_equal(rig_fetch_url(r, rig_url(r, "dead.example", "/list")), LISTS_CHANGED);
	if (!server_start_at(&six, "::1", page_plain, NULL)) {
		rig_free(r);
		skip();
	}
	snprintf(url, sizeof(url), "http://six.example:%u/list", six.addr.port);
	assert_int_equal(rig_fetch_url(r, url), LISTS_UNCHANGED);
	snprintf(url, sizeof(url), "http://dead.example:%u/list", six.addr.port);
	assert_int_equal(rig_fetch_url(r, url), LISTS_UNCHANGED);
	snprintf(url, sizeof(url), "http://[::1]:%u/list", six.addr.port);
	assert_int_equal(rig_fetch_url(r, url), LISTS_UNCHANGED);
	assert_int_equal(six.requests, 3);
	server_stop(&six);
	rig_free(r);
}

static void an_url_with_a_password_is_not_repeated_in_errors(void **state)
{
	struct rig *r = rig_new(page_status);
	char url[128];

	snprintf(url, sizeof(url), "http://me:hush@lists.example:%u/404?token=hush", r->http.addr.port);
	assert_int_equal(rig_fetch_url(r, url), LISTS_FAILED);
	assert_said(r, "http://lists.example:");
	assert_null(strstr(r->job.error, "hush"));
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_is_fetched_and_kept),
		cmocka_unit_test(the_same_octets_are_no_change),
		cmocka_unit_test(the_request_is_what_a_server_expects),
		cmocka_unit_test(an_address_as_host_is_not_resolved),
		cmocka_unit_test(localhost_is_this_machine_and_nobody_is_asked),
		cmocka_unit_test(a_final_dot_of_the_host_does_no_harm),
		cmocka_unit_test(a_proxy_of_the_environment_is_not_used),
		cmocka_unit_test(an_etag_is_given_back_and_304_keeps_the_copy),
		cmocka_unit_test(last_modified_is_given_back_and_304_keeps_the_copy),
		cmocka_unit_test(another_url_drops_the_validators),
		cmocka_unit_test(validators_of_a_copy_that_is_gone_or_damaged_are_not_used),
		cmocka_unit_test(a_damaged_side_file_costs_a_fetch_and_no_more),
		cmocka_unit_test(a_304_that_nobody_asked_for_is_a_failure),
		cmocka_unit_test(other_statuses_keep_the_last_good_copy),
		cmocka_unit_test(retry_after_is_heard),
		cmocka_unit_test(the_page_of_an_error_is_not_read),
		cmocka_unit_test(a_name_that_does_not_exist_is_said_with_its_server),
		cmocka_unit_test(a_host_that_does_not_listen_is_a_failure),
		cmocka_unit_test(a_host_with_ipv6_addresses_is_reached),
		cmocka_unit_test(an_url_with_a_password_is_not_repeated_in_errors),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
