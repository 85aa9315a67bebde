/* SPDX-License-Identifier: BSD-2-Clause */
/* test_who.c - what is known of a client: by hardware address, then by the longest prefix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "policy/who.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static const char *const tags[] = { "phone", "child" };
static const struct {
	const char *prefix, *name;	/* no prefix: the hardware address 02:00:00:00:00:xx */
	uint8_t mac;
	unsigned tags;
} rows[] = {
	{ "0.0.0.0/0", "anyone", 0, 0 }, { "192.168.0.0/16", "home", 0, 1 }, { "192.168.1.0/25", "kids", 0, 2 }, { "192.168.1.7", "tablet", 0, 0 },
	{ "fd00::/8", "six", 0, 0 }, { "fd00::5", "printer", 0, 0 }, { NULL, "laptop", 1, 2 }, { NULL, "console", 9, 0 }, { "10.1.2.128/29", "odd", 0, 0 },
};

static const struct asked {
	const char *name, *ip;
	uint8_t mac;
	const char *found;
	unsigned tags;
} asked[] = {
	{ "address alone", "192.168.1.7", 0, "tablet", 0 },
	{ "longest prefix", "192.168.1.9", 0, "kids", 2 },
	{ "shorter prefix", "192.168.1.200", 0, "home", 1 },
	{ "prefix of no length", "203.0.113.1", 0, "anyone", 0 },
	{ "prefix that ends within an octet", "10.1.2.135", 0, "odd", 0 },
	{ "just behind that prefix", "10.1.2.136", 0, "anyone", 0 },
	{ "IPv6 address", "fd00::5", 0, "printer", 0 },
	{ "IPv6 prefix", "fd12::5", 0, "six", 0 },
	{ "IPv6 client of whom nothing is known", "2001:db8::1", 0, NULL, 0 },
	{ "hardware address first", "192.168.1.7", 1, "laptop", 2 },
	{ "another hardware address", "2001:db8::1", 9, "console", 0 },
	{ "hardware address that is not known", "192.168.1.7", 5, "tablet", 0 },
};

static struct who_table *table(unsigned count)
{
	struct who_row row[COUNT_OF(rows)] = { 0 };
	unsigned i;

	for (i = 0; i < count; i++) {
		row[i] = (struct who_row){ .is_mac = !rows[i].prefix, .mac = { 2, 0, 0, 0, 0, rows[i].mac }, .name = rows[i].name,
					   .tag = tags, .tags = rows[i].tags };
		if (rows[i].prefix)
			assert_int_equal(addr_prefix_parse(rows[i].prefix, &row[i].prefix), 0);
	}
	return who_new(row, count);
}

static void client_is_found(void **state)
{
	const struct asked *t = *state;
	struct who_table *w = table(COUNT_OF(rows));
	uint8_t mac[6] = { 2, 0, 0, 0, 0, t->mac };
	struct addr a;
	struct who r;

	assert_non_null(w);
	assert_int_equal(addr_parse(t->ip, 0, &a), 0);
	who_find(w, a.ip, t->mac ? mac : NULL, &r);
	assert_memory_equal(r.ip, a.ip, 16);
	assert_int_equal(r.has_mac, t->mac != 0);
	if (t->found)
		assert_string_equal(r.name, t->found);
	else
		assert_null(r.name);
	assert_int_equal(r.tags, t->tags);
	who_free(w);
}

static void table_without_rows_knows_nobody(void **state)
{
	struct who_table *w = table(0);
	uint8_t ip[16] = { 0 }, mac[6] = { 0 };
	struct who r;

	who_find(w, ip, mac, &r);
	assert_null(r.name);
	assert_true(r.has_mac);
	who_free(w);
}

int main(void)
{
	static struct CMUnitTest tests[1 + COUNT_OF(asked)] = { cmocka_unit_test(table_without_rows_knows_nobody) };
	size_t n = 1, i;

	for (i = 0; i < COUNT_OF(asked); i++)
		tests[n++] = (struct CMUnitTest){ asked[i].name, client_is_found, NULL, NULL, (void *)&asked[i] };
	return cmocka_run_group_tests_name("who", tests, NULL, NULL);
}
