/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rebinding.c - which addresses are of the inside: the edges of each range. */
#include "base/addr.h"
#include "resolve/rebinding.h"
#include "unit/dns/rows.h"

static const struct address_case {
	const char *name;		/* the address */
	bool inside;
} address_cases[] = {
	{ "0.0.0.0", true }, { "0.255.255.255", true }, { "1.0.0.0", false },
	{ "9.255.255.255", false }, { "10.0.0.0", true }, { "10.255.255.255", true }, { "11.0.0.0", false },
	{ "126.255.255.255", false }, { "127.0.0.1", true }, { "127.255.255.255", true }, { "128.0.0.0", false },
	{ "169.253.255.255", false }, { "169.254.0.0", true }, { "169.254.169.254", true }, { "169.255.0.0", false },
	{ "172.15.255.255", false }, { "172.16.0.0", true }, { "172.31.255.255", true }, { "172.32.0.0", false },
	{ "192.167.255.255", false }, { "192.168.0.0", true }, { "192.168.255.255", true }, { "192.169.0.0", false },
	{ "100.64.0.1", false }, { "192.0.2.1", false }, { "255.255.255.255", false },
	{ "::", true }, { "::1", true }, { "::2", true }, { "::8.8.8.8", false }, { "::10.0.0.1", true },
	{ "::ffff:10.0.0.1", true }, { "::ffff:8.8.8.8", false }, { "::1:0:0:1", false },
	{ "64:ff9b::10.0.0.1", true }, { "64:ff9b::127.0.0.1", true }, { "64:ff9b::8.8.8.8", false },
	{ "64:ff9b::192.0.0.170", false }, { "64:ff9b:1::192.168.0.1", true }, { "64:ff9b:1:2:3::8.8.8.8", false },
	{ "64:ff9b:2::192.168.0.1", false },
	{ "fbff::1", false }, { "fc00::", true }, { "fd12:3456::1", true }, { "fdff:ffff::", true }, { "fe00::1", false },
	{ "fe7f::1", false }, { "fe80::1", true }, { "febf::1", true }, { "fec0::1", true }, { "feff::1", true },
	{ "ff02::1", false }, { "2001:db8::1", false }, { "2000::10.0.0.1", false },
};

static void run_address(void **state)
{
	const struct address_case *c = *state;
	struct addr a;

	assert_int_equal(addr_parse(c->name, 53, &a), 0);
	assert_int_equal(rebinding_is_inside(a.ip), c->inside);
}

int main(void)
{
	ROWS_ADD(address_cases, run_address);
	return rows_run("rebinding");
}
