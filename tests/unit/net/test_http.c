/* SPDX-License-Identifier: BSD-2-Clause */
/* test_http.c - URLs taken apart and joined, gzip in pieces, requests that must not leave. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>
#include "net/gunzip.h"
#include "net/http.h"

struct url_case {
	const char *sentence, *url;
	int err;
	bool tls;
	unsigned port;
	const char *host;		/* or what the error says */
	bool is_addr;
	const char *shown;
};

static const struct url_case urls[] = {
	{ "a_plain_url", "http://lists.example/hosts.txt", 0, false, 80, "lists.example", false, "http://lists.example/hosts.txt" },
	{ "https_has_its_port", "https://lists.example", 0, true, 443, "lists.example", false, "https://lists.example/" },
	{ "letter_case_of_the_scheme_does_not_matter", "HTTPS://lists.example/", 0, true, 443, "lists.example", false,
	  "https://lists.example/" },
	{ "a_port_is_kept", "http://lists.example:8080/a", 0, false, 8080, "lists.example", false, "http://lists.example:8080/a" },
	{ "user_password_and_query_are_not_shown", "https://u:p@lists.example/a?k=v#f", 0, true, 443, "lists.example", false,
	  "https://lists.example/a" },
	{ "an_address_is_known_as_one", "http://192.0.2.1/a", 0, false, 80, "192.0.2.1", true, "http://192.0.2.1/a" },
	{ "an_ipv6_address_loses_its_brackets", "http://[2001:db8::1]:81/a", 0, false, 81, "2001:db8::1", true,
	  "http://[2001:db8::1]:81/a" },
	{ "a_number_is_the_address_that_it_means", "http://0x7f.1/a", 0, false, 80, "127.0.0.1", true, "http://127.0.0.1/a" },
	{ "file_is_refused", "file:///etc/passwd", -EINVAL, false, 0, "\"file\", expected http or https", false, NULL },
	{ "ftp_is_refused", "ftp://lists.example/a", -EINVAL, false, 0, "\"ftp\"", false, NULL },
	{ "an_unknown_scheme_is_refused", "gemini://lists.example/a", -EINVAL, false, 0, "\"gemini\"", false, NULL },
	{ "no_scheme_is_refused", "lists.example/a", -EINVAL, false, 0, "not an URL", false, NULL },
	{ "nothing_is_refused", "", -EINVAL, false, 0, "not an URL", false, NULL },
	{ "a_line_end_is_refused", "http://lists.example/a\r\nX: y", -EINVAL, false, 0, "not an URL", false, NULL },
	{ "a_blank_in_the_host_is_refused", "http://lists example/", -EINVAL, false, 0, "not an URL", false, NULL },
	{ "a_port_over_65535_is_refused", "http://lists.example:65536/", -EINVAL, false, 0, "not an URL", false, NULL },
};

static void url_row(void **state)
{
	const struct url_case *c = *state;
	struct err_at at = { .why = "" };
	struct http_url u;

	assert_int_equal(http_url_read(c->url, &u, &at), c->err);
	if (c->err) {
		assert_non_null(strstr(at.why, c->host));
		return;
	}
	assert_int_equal(u.tls, c->tls);
	assert_int_equal(u.port, c->port);
	assert_string_equal(u.host, c->host);
	assert_int_equal(u.is_addr, c->is_addr);
	assert_string_equal(u.shown, c->shown);
}

static void an_url_over_the_bound_is_refused(void **state)
{
	char url[HTTP_URL_MAX + 1], joined[HTTP_URL_MAX];
	struct http_url u;

	memset(url, 'x', sizeof(url));
	memcpy(url, "http://lists.example/", 21);
	url[HTTP_URL_MAX - 1] = '\0';
	assert_int_equal(http_url_read(url, &u, NULL), 0);
	assert_int_equal(http_url_join("http://lists.example/", url, joined), 0);
	url[HTTP_URL_MAX - 1] = 'x';
	url[HTTP_URL_MAX] = '\0';
	assert_int_equal(http_url_read(url, &u, NULL), -EINVAL);
	assert_int_equal(http_url_join("http://lists.example/", url, joined), -EINVAL);
}

struct join_case {
	const char *sentence, *base, *location, *want;	/* NULL: refused */
};

static const struct join_case joins[] = {
	{ "an_absolute_location", "http://a.example/b/c", "https://d.example/e", "https://d.example/e" },
	{ "a_path_from_the_root", "http://a.example:81/b/c?d", "/e", "http://a.example:81/e" },
	{ "a_path_beside", "http://a.example/b/c?d", "e", "http://a.example/b/e" },
	{ "a_path_above", "http://a.example/b/c/d", "../e", "http://a.example/b/e" },
	{ "only_a_query", "http://a.example/b/c?d", "?e", "http://a.example/b/c?e" },
	{ "another_host_of_the_same_scheme", "https://a.example/b", "//d.example/e", "https://d.example/e" },
	{ "another_host_does_not_get_the_password", "https://u:p@a.example/b", "https://d.example/e", "https://d.example/e" },
	{ "a_blank_is_escaped", "http://a.example/", "/b c", "http://a.example/b%20c" },
	{ "another_scheme_is_named_by_the_reader", "http://a.example/", "file:///etc/passwd", "file:///etc/passwd" },
	{ "what_is_no_url_is_refused", "http://a.example/", "http://[::/", NULL },
};

static void join_row(void **state)
{
	const struct join_case *c = *state;
	char joined[HTTP_URL_MAX] = "";

	assert_int_equal(http_url_join(c->base, c->location, joined), c->want ? 0 : -EINVAL);
	assert_string_equal(joined, c->want ? c->want : "");
}

static void a_name_without_addresses_is_not_looked_up(void **state)
{
	struct http_request q = { .url = "http://localhost:1/" };
	struct err_at at = { .why = "" };
	unsigned status = 0;

	assert_int_equal(http_ask(&q, &status, &at), -EHOSTUNREACH);
	assert_non_null(strstr(at.why, "no address is given for the host localhost"));
	q.url = "http://127.0.0.1:1/";
	assert_int_equal(http_ask(&q, &status, &at), -ECONNREFUSED);
	q.url = "gopher://127.0.0.1:1/";
	assert_int_equal(http_ask(&q, &status, &at), -EINVAL);
}

/* ---- gzip ------------------------------------------------------------------- */

struct text {
	size_t size;
	unsigned calls;
	int err;
	size_t biggest;
	char octets[1 << 20];
};

static int sink(void *arg, const char *p, size_t size)
{
	struct text *t = arg;

	t->calls++;
	if (t->err)
		return t->err;
	assert_true(t->size + size <= sizeof(t->octets));
	memcpy(t->octets + t->size, p, size);
	t->size += size;
	t->biggest = size > t->biggest ? size : t->biggest;
	return 0;
}

static char *zip(const char *text, size_t size, size_t *ret)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)text, .avail_in = (unsigned)size };
	char *out = malloc(size + 1024);

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = (unsigned char *)out;
	z.avail_out = (unsigned)size + 1024;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	*ret = size + 1024 - z.avail_out;
	deflateEnd(&z);
	return out;
}

static void gzip_may_come_octet_by_octet(void **state)
{
	struct text *t = calloc(1, sizeof(*t));
	struct gunzip *g;
	char *packed, text[50000];
	size_t size, i;

	for (i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i * i % 23);
	packed = zip(text, sizeof(text), &size);
	assert_int_equal(gunzip_new(&g), 0);
	for (i = 0; i < size; i++) {
		assert_false(gunzip_is_whole(g));
		assert_int_equal(gunzip_feed(g, packed + i, 1, sink, t), 0);
	}
	assert_true(gunzip_is_whole(g));
	assert_int_equal(t->size, sizeof(text));
	assert_memory_equal(t->octets, text, sizeof(text));
	gunzip_free(g);
	free(packed);
	free(t);
}

static void what_is_unpacked_comes_in_small_parts(void **state)
{
	struct text *t = calloc(1, sizeof(*t));
	char *zeros = calloc(1, 1 << 20), *packed;
	struct gunzip *g;
	size_t size;

	packed = zip(zeros, 1 << 20, &size);
	assert_in_range(size, 100, 4096);
	assert_int_equal(gunzip_new(&g), 0);
	assert_int_equal(gunzip_feed(g, packed, size, sink, t), 0);
	assert_true(gunzip_is_whole(g));
	assert_int_equal(t->size, 1 << 20);
	assert_in_range(t->biggest, 1, 16384);
	gunzip_free(g);
	/* and a sink that has enough ends it there */
	t->calls = 0;
	t->err = -EMSGSIZE;
	assert_int_equal(gunzip_new(&g), 0);
	assert_int_equal(gunzip_feed(g, packed, size, sink, t), -EMSGSIZE);
	assert_int_equal(t->calls, 1);
	gunzip_free(g);
	gunzip_free(NULL);
	free(packed);
	free(zeros);
	free(t);
}

static void each_cut_and_each_changed_octet_of_the_end_is_noticed(void **state)
{
	struct text *t = calloc(1, sizeof(*t));
	struct gunzip *g;
	size_t size, i;
	char *packed = zip("0.0.0.0 ads.example\n", 20, &size);

	for (i = 0; i < size; i++) {
		assert_int_equal(gunzip_new(&g), 0);
		assert_int_equal(gunzip_feed(g, packed, i, sink, t), 0);
		assert_false(gunzip_is_whole(g));
		gunzip_free(g);
	}
	for (i = size - 8; i < size; i++) {
		packed[i] ^= 1;
		assert_int_equal(gunzip_new(&g), 0);
		assert_int_equal(gunzip_feed(g, packed, size, sink, t), -EBADMSG);
		gunzip_free(g);
		packed[i] ^= 1;
	}
	free(packed);
	free(t);
}

static void octets_behind_the_end_are_no_gzip(void **state)
{
	struct text *t = calloc(1, sizeof(*t));
	struct gunzip *g;
	size_t size;
	char *packed = zip("x", 1, &size);

	assert_int_equal(gunzip_new(&g), 0);
	assert_int_equal(gunzip_feed(g, packed, size, sink, t), 0);
	assert_int_equal(gunzip_feed(g, "more", 4, sink, t), -EBADMSG);
	gunzip_free(g);
	free(packed);
	free(t);
}

int main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(an_url_over_the_bound_is_refused),
		cmocka_unit_test(a_name_without_addresses_is_not_looked_up),
		cmocka_unit_test(gzip_may_come_octet_by_octet),
		cmocka_unit_test(what_is_unpacked_comes_in_small_parts),
		cmocka_unit_test(each_cut_and_each_changed_octet_of_the_end_is_noticed),
		cmocka_unit_test(octets_behind_the_end_are_no_gzip),
	};
	enum { URLS = sizeof(urls) / sizeof(urls[0]), JOINS = sizeof(joins) / sizeof(joins[0]),
	       OTHERS = sizeof(others) / sizeof(others[0]) };
	struct CMUnitTest tests[URLS + JOINS + OTHERS];
	unsigned i;

	for (i = 0; i < URLS; i++)
		tests[i] = (struct CMUnitTest){ urls[i].sentence, url_row, NULL, NULL, (void *)(uintptr_t)&urls[i] };
	for (i = 0; i < JOINS; i++)
		tests[URLS + i] = (struct CMUnitTest){ joins[i].sentence, join_row, NULL, NULL, (void *)(uintptr_t)&joins[i] };
	memcpy(tests + URLS + JOINS, others, sizeof(others));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
