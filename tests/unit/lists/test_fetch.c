/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fetch.c - one try to fetch one list, from servers that behave well and badly. */
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
#include <sys/mount.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/random.h"
#include "tests/unit/lists/rig.h"

#define OLD  "0.0.0.0 old.example\n0.0.0.0 older.example\n"
#define NEW  "0.0.0.0 new.example\n"

static void assert_file(struct rig *r, const char *name, const char *want)
{
	char *text = rig_file(r, name);

	assert_string_equal(text, want);
	free(text);
}

static void assert_said(struct rig *r, const char *what)
{
	if (!strstr(r->job.error, what))
		print_error("\"%s\" does not say \"%s\"\n", r->job.error, what);
	assert_non_null(strstr(r->job.error, what));
	assert_null(strchr(r->job.error, '\n'));
}

/* A failure with @err, whose reason says @what; the copy @stays. */
static void assert_failed(struct rig *r, const char *path, int err, const char *what, const char *stays)
{
	assert_int_equal(rig_fetch(r, path), LISTS_FAILED);
	assert_said(r, what);
	assert_int_equal(r->job.err, err);
	assert_file(r, "ads", stays);
	assert_file(r, "ads.new", "");
}

/* A copy that an earlier fetch left. */
static void put_old(struct rig *r)
{
	assert_int_equal(rig_fetch(r, "/old"), LISTS_CHANGED);
	assert_file(r, "ads", OLD);
}

/* "/old" is a good list; all else is the test's page. */
static bool is_old(struct conn *c)
{
	if (strcmp(c->path, "/old"))
		return false;
	conn_page(c, 200, "", OLD, strlen(OLD));
	return true;
}

/* ---- what goes well ---------------------------------------------------------- */

static void page_plain(struct conn *c)
{
	if (!is_old(c))
		conn_page(c, 200, "", NEW, strlen(NEW));
}

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

/* ---- bodies ------------------------------------------------------------------------ */

struct body_case {
	const char *path, *body;
	size_t size;
	int err;
	const char *said;
};

static const struct body_case bodies[] = {
	{ "/empty", "", 0, -ENODATA, "the answer is empty" },
	{ "/html", "<!DOCTYPE html>\n<html><body>0.0.0.0 ads.example\n", 48, -EILSEQ, "HTML" },
	{ "/html2", "\n  <HTML lang=en>\n", 18, -EILSEQ, "HTML" },
	{ "/binary", "\177ELF\2\1\1\0\0\0\0\0", 12, -EILSEQ, "refused as a list" },
	{ "/gz", "\037\213\10\0\0\0\0\0", 8, -EILSEQ, "compressed" },
	{ "/json", "{\"error\":\"rate limit\"}\n", 23, -EILSEQ, "JSON" },
	{ "/words", "404: Not Found\n", 15, -EILSEQ, "none of its lines is a rule" },
};

static void page_bodies(struct conn *c)
{
	unsigned i;

	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]) && !is_old(c); i++)
		if (!strcmp(bodies[i].path, c->path))
			conn_page(c, 200, "", bodies[i].body, bodies[i].size);
}

static void what_is_no_list_is_refused_and_the_old_one_stays(void **state)
{
	struct rig *r = rig_new(page_bodies);
	unsigned i;

	put_old(r);
	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		assert_failed(r, bodies[i].path, bodies[i].err, bodies[i].said, OLD);
	rig_free(r);
}

/* An HTML page that goes on for ever. */
static void page_endless_html(struct conn *c)
{
	char junk[4096];

	memset(junk, 'x', sizeof(junk));
	conn_say(c, "HTTP/1.1 200 OK\r\n\r\n<!doctype html>\n");
	while (conn_send(c, junk, sizeof(junk)))
		;
}

static void what_is_no_list_is_not_read_to_its_end(void **state)
{
	struct rig *r = rig_new(page_endless_html);

	r->job.max_bytes = 0;
	assert_failed(r, "/list", -EILSEQ, "HTML", "");
	rig_free(r);
}

/* One line without an end. */
static void page_endless_line(struct conn *c)
{
	char line[65536];

	memset(line, 'x', sizeof(line));
	if (is_old(c))
		return;
	conn_say(c, "HTTP/1.1 200 OK\r\n%s\r\n", strcmp(c->path, "/announced") ? "" : "Content-Length: 1073741824\r\n");
	while (conn_send(c, line, sizeof(line)))
		;
}

static void a_line_of_a_gibibyte_ends_at_the_bound(void **state)
{
	struct rig *r = rig_new(page_endless_line);

	put_old(r);
	assert_failed(r, "/line", -EMSGSIZE, "longer than 1048576 bytes", OLD);
	assert_failed(r, "/announced", -EMSGSIZE, "longer than 1048576 bytes", OLD);
	rig_free(r);
}

static void page_shrunk(struct conn *c)
{
	char big[4096];
	size_t at;

	for (at = 0; at + 32 < sizeof(big);)
		at += (size_t)sprintf(big + at, "0.0.0.0 n%zu.example\n", at);
	conn_page(c, 200, "", c->n == 1 ? big : NEW, c->n == 1 ? at : strlen(NEW));
}

static void a_list_that_shrank_to_under_a_tenth_is_taken_and_said(void **state)
{
	struct rig *r = rig_new(page_shrunk);

	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	assert_string_equal(r->job.note, "");
	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	assert_non_null(strstr(r->job.note, "shrank from 40"));
	assert_file(r, "ads", NEW);
	rig_free(r);
}

/* Fewer octets than were announced. */
static void page_short(struct conn *c)
{
	if (is_old(c))
		return;
	if (!strcmp(c->path, "/length"))
		conn_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" NEW);
	else if (!strcmp(c->path, "/chunk"))
		conn_say(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n" NEW "\r\n");
	else if (!strcmp(c->path, "/header"))
		conn_say(c, "HTTP/1.1 200 OK\r\nContent-Le");
	else if (!strcmp(c->path, "/junk"))
		conn_say(c, "220 mail.example ESMTP\r\n");
}

static void a_body_that_ended_early_is_a_failure(void **state)
{
	struct rig *r = rig_new(page_short);

	put_old(r);
	assert_failed(r, "/length", -EPROTO, "bytes remaining", OLD);
	assert_failed(r, "/chunk", -EPROTO, "chunk", OLD);
	assert_int_equal(rig_fetch(r, "/header"), LISTS_FAILED);
	assert_failed(r, "/nothing", -EPROTO, "Empty reply", OLD);
	assert_int_equal(rig_fetch(r, "/junk"), LISTS_FAILED);
	assert_file(r, "ads", OLD);
	rig_free(r);
}

/* ---- gzip ---------------------------------------------------------------------------- */

#define GZIP "Content-Encoding: gzip\r\n"

static void page_gzip(struct conn *c)
{
	char text[20000], *packed;
	size_t at, size;

	if (is_old(c))
		return;
	for (at = 0; at + 64 < sizeof(text);)
		at += (size_t)sprintf(text + at, "0.0.0.0 n%zu-%llx.example\n", at, (unsigned long long)(at * 0x9e3779b97f4a7c15ULL));
	packed = pack(text, at, &size);
	if (!strcmp(c->path, "/crc"))
		packed[size - 6] ^= 1;
	if (!strcmp(c->path, "/bits"))
		packed[size / 2] ^= 0x55;
	if (!strcmp(c->path, "/twice") && conn_say(c, "HTTP/1.1 200 OK\r\n" GZIP "\r\n") && conn_send(c, packed, size))
		conn_send(c, packed, size);
	else if (!strcmp(c->path, "/cut"))
		conn_page(c, 200, GZIP, packed, size / 2);
	else if (!strcmp(c->path, "/trailer"))
		conn_page(c, 200, GZIP, packed, size - 8);
	else if (!strcmp(c->path, "/unsaid") && conn_say(c, "HTTP/1.1 200 OK\r\n" GZIP "\r\n"))
		conn_send(c, packed, size / 2);
	else if (!strcmp(c->path, "/plain"))
		conn_page(c, 200, GZIP, text, at);
	else if (!strcmp(c->path, "/br"))
		conn_page(c, 200, "Content-Encoding: br\r\n", text, at);
	else if (strcmp(c->path, "/twice"))
		conn_page(c, 200, GZIP, packed, size);
	free(packed);
}

static void gzip_is_unpacked(void **state)
{
	struct rig *r = rig_new(page_gzip);
	char *text;

	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	assert_in_range(r->job.bytes, 19000, 20000);
	text = rig_file(r, "ads");
	assert_int_equal(strlen(text), r->job.bytes);
	assert_memory_equal(text, "0.0.0.0 n0-0.example\n", 21);
	free(text);
	rig_free(r);
}

static void several_members_of_gzip_are_one_text(void **state)
{
	struct rig *r = rig_new(page_gzip);
	uint64_t once;

	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	once = r->job.bytes;
	assert_int_equal(rig_fetch(r, "/twice"), LISTS_CHANGED);
	assert_int_equal(r->job.bytes, 2 * once);
	rig_free(r);
}

static void damaged_or_cut_gzip_is_a_failure(void **state)
{
	static const char *const paths[] = { "/crc", "/bits", "/cut", "/trailer", "/unsaid", "/plain" };
	struct rig *r = rig_new(page_gzip);
	unsigned i;

	put_old(r);
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_failed(r, paths[i], -EBADMSG, "gzip", OLD);
	assert_failed(r, "/br", -EPROTONOSUPPORT, "\"br\"", OLD);
	rig_free(r);
}

static void page_bomb(struct conn *c)
{
	size_t size, zeros = 64 << 20;
	char *text, *packed;

	if (is_old(c))
		return;
	text = malloc(zeros);
	memset(text, 'a', zeros);
	packed = pack(text, zeros, &size);
	free(text);
	conn_page(c, 200, GZIP, packed, size);
	free(packed);
}

static void a_gzip_bomb_ends_at_the_bound(void **state)
{
	struct rig *r = rig_new(page_bomb);

	put_old(r);
	assert_failed(r, "/bomb", -EMSGSIZE, "longer than 1048576 bytes", OLD);
	rig_free(r);
}

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

/* ---- the folder ---------------------------------------------------------------------------- */

static void a_folder_that_cannot_be_made_is_said(void **state)
{
	struct rig *r = rig_new(page_plain);
	int fd = open(r->lists, O_CREAT | O_WRONLY, 0600);

	close(fd);
	assert_int_equal(rig_fetch(r, "/list"), LISTS_FAILED);
	assert_said(r, r->lists);
	assert_said(r, "Not a directory");
	assert_int_equal(r->http.requests, 0);
	rig_free(r);
}

static void a_full_folder_keeps_the_old_copy(void **state)
{
	struct rig *r = rig_new(page_gzip);
	struct rlimit old, small = { 4096, 4096 };

	put_old(r);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(rig_fetch(r, "/list"), LISTS_FAILED);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(r->job.err, -EFBIG);
	assert_said(r, "cannot be written in ");
	assert_file(r, "ads", OLD);
	assert_file(r, "ads.new", "");
	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	rig_free(r);
}

/* A file system of its own in a mount namespace of its own: really full, really read-only. */
static bool mount_small(const char *where)
{
	static bool have_own;

	if (!have_own && (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)))
		return false;
	have_own = true;
	mkdir(where, 0700);
	return !mount("tmpfs", where, "tmpfs", 0, "size=8k");
}

static void a_full_disk_keeps_the_old_copy(void **state)
{
	struct rig *r = rig_new(page_gzip);

	if (!mount_small(r->lists)) {
		rig_free(r);
		skip();
	}
	put_old(r);
	assert_failed(r, "/list", -ENOSPC, "No space left on device", OLD);
	umount2(r->lists, MNT_DETACH);
	rig_free(r);
}

static void a_folder_that_is_read_only_keeps_the_old_copy(void **state)
{
	struct rig *r = rig_new(page_plain);

	if (!mount_small(r->lists)) {
		rig_free(r);
		skip();
	}
	put_old(r);
	assert_int_equal(mount(NULL, r->lists, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	assert_failed(r, "/list", -EROFS, "Read-only file system", OLD);
	umount2(r->lists, MNT_DETACH);
	rig_free(r);
}

static void what_stands_in_the_way_of_the_temporary_file_is_not_written_through(void **state)
{
	struct rig *r = rig_new(page_plain);
	char link[128], target[128];
	struct stat st;

	put_old(r);
	snprintf(link, sizeof(link), "%s/ads.new", r->lists);
	snprintf(target, sizeof(target), "%s/precious", r->folder);
	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	assert_int_equal(stat(target, &st), -1);
	assert_file(r, "ads", NEW);
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
		cmocka_unit_test(what_is_no_list_is_refused_and_the_old_one_stays),
		cmocka_unit_test(what_is_no_list_is_not_read_to_its_end),
		cmocka_unit_test(a_line_of_a_gibibyte_ends_at_the_bound),
		cmocka_unit_test(a_list_that_shrank_to_under_a_tenth_is_taken_and_said),
		cmocka_unit_test(a_body_that_ended_early_is_a_failure),
		cmocka_unit_test(gzip_is_unpacked),
		cmocka_unit_test(several_members_of_gzip_are_one_text),
		cmocka_unit_test(damaged_or_cut_gzip_is_a_failure),
		cmocka_unit_test(a_gzip_bomb_ends_at_the_bound),
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
		cmocka_unit_test(a_name_that_does_not_exist_is_said_with_its_server),
		cmocka_unit_test(a_host_that_does_not_listen_is_a_failure),
		cmocka_unit_test(a_host_with_ipv6_addresses_is_reached),
		cmocka_unit_test(an_url_with_a_password_is_not_repeated_in_errors),
		cmocka_unit_test(a_folder_that_cannot_be_made_is_said),
		cmocka_unit_test(a_full_folder_keeps_the_old_copy),
		cmocka_unit_test(a_full_disk_keeps_the_old_copy),
		cmocka_unit_test(a_folder_that_is_read_only_keeps_the_old_copy),
		cmocka_unit_test(what_stands_in_the_way_of_the_temporary_file_is_not_written_through),
	};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
