/* SPDX-License-Identifier: BSD-2-Clause */
/* test_addr.c - addresses and prefixes as people write them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/addr.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct addr_case {
	const char *name, *text, *back;	/* back NULL: refused */
} addrs[] = {
	{ "address takes the port given", "192.0.2.1", "192.0.2.1:53" },
	{ "address keeps its own port", "192.0.2.1:5353", "192.0.2.1:5353" },
	{ "IPv6 needs no brackets without a port", "2001:db8::1", "[2001:db8::1]:53" },
	{ "IPv6 in brackets with a port", "[2001:db8::1]:5353", "[2001:db8::1]:5353" },
	{ "IPv6 in brackets without a port", "[::1]", "[::1]:53" },
	{ "mapped IPv4 is IPv4", "::ffff:192.0.2.1", "192.0.2.1:53" },
	{ "scope by number", "fe80::1%7", "[fe80::1%7]:53" },
	{ "port 0 is refused", "192.0.2.1:0", NULL },
	{ "port 65536 is refused", "192.0.2.1:65536", NULL },
	{ "port with a sign is refused", "192.0.2.1:+53", NULL },
	{ "empty port is refused", "192.0.2.1:", NULL },
	{ "IPv4 in brackets is refused", "[192.0.2.1]:53", NULL },
	{ "bracket without its end is refused", "[2001:db8::1", NULL },
	{ "text behind the bracket is refused", "[2001:db8::1]53", NULL },
	{ "name is refused", "dns.example", NULL },
	{ "empty text is refused", "", NULL },
	{ "short IPv4 is refused", "10.1", NULL },
	{ "scope that is no interface is refused", "fe80::1%nosuch0", NULL },
};

static void check_addr(void **state)
{
	const struct addr_case *c = *state;
	char text[ADDR_TEXT_MAX];
	struct addr a;

	if (!c->back) {
		assert_int_equal(addr_parse(c->text, 53, &a), -EINVAL);
		return;
	}
	assert_int_equal(addr_parse(c->text, 53, &a), 0);
	assert_string_equal(addr_text(&a, text, sizeof(text)), c->back);
}

static const struct prefix_case {
	const char *name, *text;
	int err;
	const char *back, *in, *out;
} prefixes[] = {
	{ "IPv4 prefix", "10.0.0.0/8", 0, "10.0.0.0/8", "10.255.0.1", "11.0.0.1" },
	{ "prefix that ends within an octet", "172.16.0.0/12", 0, "172.16.0.0/12", "172.31.255.255", "172.32.0.0" },
	{ "address is its longest prefix", "192.0.2.1", 0, "192.0.2.1/32", "192.0.2.1", "192.0.2.2" },
	{ "IPv6 prefix", "fd00::/8", 0, "fd00::/8", "fdff::1", "fe00::1" },
	{ "everything of IPv4", "0.0.0.0/0", 0, "0.0.0.0/0", "203.0.113.9", "2001:db8::1" },
	{ "everything", "::/0", 0, "::/0", "203.0.113.9", NULL },
	{ "IPv6 address", "::1", 0, "::1/128", "::1", "::2" },
	{ "bits behind the length are refused", "10.0.0.1/8", -ERANGE, NULL, NULL, NULL },
	{ "IPv4 length over 32 is refused", "10.0.0.0/33", -EINVAL, NULL, NULL, NULL },
	{ "IPv6 length over 128 is refused", "::/129", -EINVAL, NULL, NULL, NULL },
	{ "no length behind the slash is refused", "10.0.0.0/", -EINVAL, NULL, NULL, NULL },
	{ "scope in a prefix is refused", "fe80::1%lo/64", -EINVAL, NULL, NULL, NULL },
	{ "word is refused", "lan", -EINVAL, NULL, NULL, NULL },
};

static void check_prefix(void **state)
{
	const struct prefix_case *c = *state;
	char text[ADDR_TEXT_MAX];
	struct addr_prefix p;
	struct addr a;

	assert_int_equal(addr_prefix_parse(c->text, &p), c->err);
	if (c->err)
		return;
	assert_string_equal(addr_prefix_text(&p, text, sizeof(text)), c->back);
	assert_int_equal(addr_parse(c->in, 0, &a), 0);
	assert_true(addr_in_prefix(a.ip, &p));
	if (!c->out)
		return;
	assert_int_equal(addr_parse(c->out, 0, &a), 0);
	assert_false(addr_in_prefix(a.ip, &p));
}

static void sockaddrs_go_there_and_back(void **state)
{
	static const char *const texts[] = { "192.0.2.1:5353", "[2001:db8::1]:53", "[fe80::1%3]:53" };
	struct sockaddr_storage ss;
	struct addr a, b;
	unsigned i;

	for (i = 0; i < COUNT(texts); i++) {
		assert_int_equal(addr_parse(texts[i], 0, &a), 0);
		assert_true(addr_to_sockaddr(&a, &ss) > 0);
		addr_from_sockaddr((struct sockaddr *)&ss, &b);
		assert_true(addr_same(&a, &b));
	}
}

static void any_is_known_in_both_families(void **state)
{
	struct addr a;

	assert_int_equal(addr_parse("0.0.0.0", 53, &a), 0);
	assert_true(addr_is_any(&a) && addr_is_v4(&a));
	assert_int_equal(addr_parse("::", 53, &a), 0);
	assert_true(addr_is_any(&a) && !addr_is_v4(&a));
	assert_int_equal(addr_parse("127.0.0.1", 53, &a), 0);
	assert_false(addr_is_any(&a));
}

int main(void)
{
	struct CMUnitTest tests[COUNT(addrs) + COUNT(prefixes) + 2];
	unsigned i, n = 0;

	for (i = 0; i < COUNT(addrs); i++)
		tests[n++] = (struct CMUnitTest){ .name = addrs[i].name, .test_func = check_addr,
						  .initial_state = (void *)&addrs[i] };
	for (i = 0; i < COUNT(prefixes); i++)
		tests[n++] = (struct CMUnitTest){ .name = prefixes[i].name, .test_func = check_prefix,
						  .initial_state = (void *)&prefixes[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(sockaddrs_go_there_and_back);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(any_is_known_in_both_families);
	return _cmocka_run_group_tests("addr", tests, n, NULL, NULL);
}
