/* SPDX-License-Identifier: BSD-2-Clause */
/* test_endpoint.c - addresses of servers as one types them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/endpoint.h"

#define LABEL63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct good {
	const char *text;
	enum endpoint_scheme scheme;
	bool literal;
	const char *host;
	uint16_t port;
	const char *name, *path, *shown;
} good[] = {
	{ "9.9.9.9", ENDPOINT_DNS, true, "9.9.9.9", 53, "9.9.9.9", "", "9.9.9.9:53" },
	{ "9.9.9.9:5353", ENDPOINT_DNS, true, "9.9.9.9", 5353, "9.9.9.9", "", "9.9.9.9:5353" },
	{ "2620:fe::fe", ENDPOINT_DNS, true, "2620:fe::fe", 53, "2620:fe::fe", "", "[2620:fe::fe]:53" },
	{ "[2620:fe::fe]", ENDPOINT_DNS, true, "2620:fe::fe", 53, "2620:fe::fe", "", "[2620:fe::fe]:53" },
	{ "[2620:fe::fe]:54", ENDPOINT_DNS, true, "2620:fe::fe", 54, "2620:fe::fe", "", "[2620:fe::fe]:54" },
	{ "udp://9.9.9.9", ENDPOINT_DNS, true, "9.9.9.9", 53, "9.9.9.9", "", "9.9.9.9:53" },
	{ "UDP://DNS.Example.", ENDPOINT_DNS, false, "dns.example", 53, "dns.example", "", "udp://dns.example" },
	{ "udp://dns.example:5353", ENDPOINT_DNS, false, "dns.example", 5353, "dns.example", "", "udp://dns.example:5353" },
	{ "tcp://1.1.1.1", ENDPOINT_TCP, true, "1.1.1.1", 53, "1.1.1.1", "", "tcp://1.1.1.1" },
	{ "tcp://[::1]:5", ENDPOINT_TCP, true, "::1", 5, "::1", "", "tcp://[::1]:5" },
	{ "tls://1.1.1.1", ENDPOINT_TLS, true, "1.1.1.1", 853, "1.1.1.1", "", "tls://1.1.1.1" },
	{ "tls://1.1.1.1#cloudflare-dns.com", ENDPOINT_TLS, true, "1.1.1.1", 853, "cloudflare-dns.com", "",
	  "tls://1.1.1.1#cloudflare-dns.com" },
	{ "tls://[2606:4700::1111]:8853#One.One.", ENDPOINT_TLS, true, "2606:4700::1111", 8853, "one.one", "",
	  "tls://[2606:4700::1111]:8853#one.one" },
	{ "tls://dns.quad9.net", ENDPOINT_TLS, false, "dns.quad9.net", 853, "dns.quad9.net", "", "tls://dns.quad9.net" },
	{ "tls://dns.quad9.net#9.9.9.9", ENDPOINT_TLS, false, "dns.quad9.net", 853, "9.9.9.9", "", "tls://dns.quad9.net#9.9.9.9" },
	{ "https://dns.quad9.net/dns-query", ENDPOINT_HTTPS, false, "dns.quad9.net", 443, "dns.quad9.net", "/dns-query",
	  "https://dns.quad9.net/dns-query" },
	{ "https://dns.quad9.net", ENDPOINT_HTTPS, false, "dns.quad9.net", 443, "dns.quad9.net", "/dns-query",
	  "https://dns.quad9.net/dns-query" },
	{ "https://dns.quad9.net/dns-query{?dns}", ENDPOINT_HTTPS, false, "dns.quad9.net", 443, "dns.quad9.net", "/dns-query",
	  "https://dns.quad9.net/dns-query" },
	{ "https://1.1.1.1:8443/", ENDPOINT_HTTPS, true, "1.1.1.1", 8443, "1.1.1.1", "/", "https://1.1.1.1:8443/" },
	{ "https://[2620:fe::fe]/a/b", ENDPOINT_HTTPS, true, "2620:fe::fe", 443, "2620:fe::fe", "/a/b", "https://[2620:fe::fe]/a/b" },
	{ "tcp://_dns.a1.b-2.3x", ENDPOINT_TCP, false, "_dns.a1.b-2.3x", 53, "_dns.a1.b-2.3x", "", "tcp://_dns.a1.b-2.3x" },
};

static void is_read(void **state)
{
	const struct good *t = *state;
	char buf[ENDPOINT_TEXT_MAX];
	struct endpoint e, again;
	struct err_at at = { 0 };
	struct addr a;

	if (endpoint_parse(t->text, &e, &at))
		fail_msg("%s", at.why);
	assert_int_equal(e.scheme, t->scheme);
	assert_int_equal(e.literal, t->literal);
	assert_string_equal(e.host, t->host);
	assert_int_equal(e.addr.port, t->port);
	assert_string_equal(e.name, t->name);
	assert_string_equal(e.path, t->path);
	assert_string_equal(endpoint_text(&e, buf, sizeof(buf)), t->shown);
	if (t->literal) {
		assert_int_equal(addr_parse(t->host, t->port, &a), 0);
		assert_true(addr_same(&a, &e.addr));
	}
	assert_int_equal(endpoint_parse(buf, &again, &at), 0);
	assert_true(endpoint_same(&e, &again));
}

static const struct bad {
	const char *name, *text, *why;
} bad[] = {
	{ "an empty text", "", "not \"\"" },
	{ "a name without a scheme", "dns.example", "a name needs udp://" },
	{ "an address that has too many parts", "1.1.1.1.1", "not \"1.1.1.1.1\"" },
	{ "an address out of range is no name", "tls://1.1.1.256", "expected an address" },
	{ "a port out of range", "1.1.1.1:65536", "expected an address" },
	{ "port 0 of a name", "tls://dns.example:0", "expected an address" },
	{ "a port that is no number", "tls://dns.example:x", "expected an address" },
	{ "a port with a sign", "tls://dns.example:+853", "expected an address" },
	{ "an unknown scheme", "sdns://AQ", "expected an address" },
	{ "no host behind the scheme", "tls://", "expected an address" },
	{ "no host before the path", "https:///dns-query", "expected an address" },
	{ "an IPv6 address without brackets beside a scheme", "tcp://2620:fe::fe", "expected an address" },
	{ "an empty name of the certificate", "tls://1.1.1.1#", "expected an address" },
	{ "a name of the certificate with a blank", "tls://1.1.1.1#a b", "expected an address" },
	{ "a name where there is no certificate", "tcp://1.1.1.1#a", "expected an address" },
	{ "a path where there is none", "tls://1.1.1.1/dns-query", "expected an address" },
	{ "a fragment", "https://dns.example/q#x", "expected an address" },
	{ "a query", "https://dns.example/q?x", "expected an address" },
	{ "a user", "https://me@dns.example/q", "expected an address" },
	{ "a blank in the path", "https://dns.example/a b", "expected an address" },
	{ "an empty label", "udp://a..example", "expected an address" },
	{ "a label of 64", "udp://a" LABEL63 ".example", "expected an address" },
	{ "a name of 255", "udp://" LABEL63 "." LABEL63 "." LABEL63 "." LABEL63, "expected an address" },
	{ "a blank behind the address", "1.1.1.1 ", "expected an address" },
};

static void is_refused(void **state)
{
	const struct bad *t = *state;
	struct endpoint e = { .scheme = ENDPOINT_TCP };
	struct err_at at = { 0 };

	assert_int_equal(endpoint_parse(t->text, &e, &at), -EINVAL);
	assert_int_equal(e.scheme, ENDPOINT_TCP);
	if (!strstr(at.why, t->why))
		fail_msg("\"%s\" is not in \"%s\"", t->why, at.why);
}

static void text_longer_than_any_is_refused(void **state)
{
	char text[4096];
	struct endpoint e;

	memset(text, 'a', sizeof(text));
	memcpy(text, "https://", 8);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(endpoint_parse(text, &e, NULL), -EINVAL);
	text[500] = '\0';
	text[20] = '/';
	assert_int_equal(endpoint_parse(text, &e, NULL), -EINVAL);
	text[20 + ENDPOINT_PATH_MAX - 1] = '\0';
	assert_int_equal(endpoint_parse(text, &e, NULL), 0);
}

static const struct pair {
	const char *name, *a, *b;
	bool same;
} pairs[] = {
	{ "the scheme udp goes without saying", "1.1.1.1", "udp://1.1.1.1:53", true },
	{ "a port makes another server", "1.1.1.1", "1.1.1.1:54", false },
	{ "a scheme makes another server", "1.1.1.1", "tcp://1.1.1.1", false },
	{ "letter case makes none", "udp://a.example", "udp://A.EXAMPLE.", true },
	{ "a name for the certificate makes another", "tls://1.1.1.1", "tls://1.1.1.1#a", false },
	{ "a path makes another", "https://a.example", "https://a.example/q", false },
	{ "a name is not its address", "udp://a.example", "udp://b.example", false },
};

static void is_compared(void **state)
{
	const struct pair *t = *state;
	struct endpoint a, b;

	assert_int_equal(endpoint_parse(t->a, &a, NULL), 0);
	assert_int_equal(endpoint_parse(t->b, &b, NULL), 0);
	assert_int_equal(endpoint_same(&a, &b), t->same);
}

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

int main(void)
{
	struct CMUnitTest tests[COUNT_OF(good) + COUNT_OF(bad) + COUNT_OF(pairs) + 1];
	size_t i, n = 0;

	for (i = 0; i < COUNT_OF(good); i++)
		tests[n++] = (struct CMUnitTest){ good[i].text, is_read, NULL, NULL, (void *)&good[i] };
	for (i = 0; i < COUNT_OF(bad); i++)
		tests[n++] = (struct CMUnitTest){ bad[i].name, is_refused, NULL, NULL, (void *)&bad[i] };
	for (i = 0; i < COUNT_OF(pairs); i++)
		tests[n++] = (struct CMUnitTest){ pairs[i].name, is_compared, NULL, NULL, (void *)&pairs[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(text_longer_than_any_is_refused);
	return cmocka_run_group_tests_name("base/endpoint", tests, NULL, NULL);
}
