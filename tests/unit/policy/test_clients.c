/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_clients.c - prefixes and MACs in, outcomes out, through the functions of the kernel.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "policy/clients.h"
#include "policy/secret.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define ROWS 16
#define NOBODY 99			/* group of the fallback */

static struct mr_secret secret;

static struct clients_row row(const char *prefix, uint16_t group)
{
	struct clients_row r = { .outcome = { .group = group, .access = MR_ACCESS_ALLOW } };

	if (addr_prefix_parse(prefix, &r.prefix))
		fail_msg("%s is no prefix", prefix);
	return r;
}

static const struct mr_outcome fallback = { .group = NOBODY, .access = MR_ACCESS_REFUSE };

static unsigned group_of(const struct clients *c, const char *text)
{
	struct mr_outcome o;
	struct addr a;

	assert_int_equal(addr_parse(text, 0, &a), 0);
	o = clients_find(c, a.ip, NULL, &secret);
	assert_int_equal(o.access, o.group == NOBODY ? MR_ACCESS_REFUSE : MR_ACCESS_ALLOW);
	return o.group;
}

static const struct lookup {
	const char *name;
	const char *prefixes[ROWS];	/* their groups are 0, 1, 2 ... */
	const char *client;
	unsigned group;
} lookups[] = {
	{ "no prefix, the fallback", { NULL }, "10.0.0.1", NOBODY },
	{ "inside", { "10.0.0.0/8" }, "10.255.255.255", 0 },
	{ "first address", { "10.0.0.0/8" }, "10.0.0.0", 0 },
	{ "outside, one below", { "10.0.0.0/8" }, "9.255.255.255", NOBODY },
	{ "outside, one above", { "10.0.0.0/8" }, "11.0.0.0", NOBODY },
	{ "longest prefix wins", { "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24" }, "10.1.2.3", 2 },
	{ "longest prefix wins, given first", { "10.1.2.0/24", "10.0.0.0/8" }, "10.1.2.3", 0 },
	{ "shorter prefix beside a longer one", { "10.0.0.0/8", "10.1.0.0/16" }, "10.2.0.1", 0 },
	{ "very address", { "10.0.0.0/8", "10.1.2.3" }, "10.1.2.3", 1 },
	{ "very address's neighbour", { "10.0.0.0/8", "10.1.2.3" }, "10.1.2.2", 0 },
	{ "all of IPv4", { "0.0.0.0/0" }, "203.0.113.7", 0 },
	{ "all of IPv4 is not IPv6", { "0.0.0.0/0" }, "2001:db8::1", NOBODY },
	{ "IPv6", { "2001:db8::/32" }, "2001:db8:ffff::1", 0 },
	{ "IPv6 outside", { "2001:db8::/32" }, "2001:db9::1", NOBODY },
	{ "IPv6 length across the middle", { "2001:db8:0:8000::/65" }, "2001:db8:0:8000:7fff::1", 0 },
	{ "IPv6 length across the middle, outside", { "2001:db8:0:8000::/65" }, "2001:db8:0:8000:8000::1", NOBODY },
	{ "odd length", { "10.0.0.128/25" }, "10.0.0.129", 0 },
	{ "odd length, outside", { "10.0.0.128/25" }, "10.0.0.127", NOBODY },
	{ "private ranges are eight lengths or fewer", { "127.0.0.0/8", "::1", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
	  "169.254.0.0/16", "fc00::/7", "fe80::/10" }, "172.31.255.1", 3 },
	/* nine and more lengths: the cheap ones are split */
	{ "nine lengths, split prefix still counts", { "10.0.0.0/8", "10.0.0.0/9", "10.0.0.0/10", "10.0.0.0/11", "10.0.0.0/12", "10.0.0.0/13",
	  "10.0.0.0/14", "10.0.0.0/15", "10.0.0.0/16" }, "10.200.0.1", 0 },
	{ "nine lengths, split prefix yields to a longer one", { "10.0.0.0/8", "10.0.0.0/9", "10.0.0.0/10", "10.0.0.0/11", "10.0.0.0/12",
	  "10.0.0.0/13", "10.0.0.0/14", "10.0.0.0/15", "10.0.0.0/16" }, "10.0.7.1", 8 },
	{ "nine lengths, a middle one", { "10.0.0.0/8", "10.0.0.0/9", "10.0.0.0/10", "10.0.0.0/11", "10.0.0.0/12", "10.0.0.0/13",
	  "10.0.0.0/14", "10.0.0.0/15", "10.0.0.0/16" }, "10.5.0.1", 5 },
	{ "nine lengths, outside of all", { "10.0.0.0/8", "10.0.0.0/9", "10.0.0.0/10", "10.0.0.0/11", "10.0.0.0/12", "10.0.0.0/13",
	  "10.0.0.0/14", "10.0.0.0/15", "10.0.0.0/16" }, "11.0.0.1", NOBODY },
};

static struct clients table;		/* 64 KiB */

static void client_has_this_group(void **state)
{
	const struct lookup *t = *state;
	struct clients_row rows[ROWS];
	struct err_at e = { 0 };
	unsigned n;

	for (n = 0; n < ROWS && t->prefixes[n]; n++)
		rows[n] = row(t->prefixes[n], (uint16_t)n);
	if (clients_build(rows, n, fallback, &secret, &table, &e))
		fail_msg("%s", e.why);
	assert_true(table.lens <= MR_CLIENT_LENS);
	assert_int_equal(group_of(&table, t->client), t->group);
}

/* What the table must say, the slow way. */
static unsigned reference(const struct clients_row *rows, unsigned count, const struct addr *a)
{
	unsigned i, group = NOBODY;
	int best = -1;

	for (i = 0; i < count; i++) {
		if (rows[i].prefix.len <= best || !addr_in_prefix(a->ip, &rows[i].prefix))
			continue;
		best = rows[i].prefix.len;
		group = rows[i].outcome.group;
	}
	return group;
}

static void random_tables_agree_with_the_slow_way(void **state)
{
	struct clients_row rows[12];
	unsigned round, i, bit, built = 0;
	struct addr a;

	for (round = 0; round < 200; round++) {
		for (i = 0; i < COUNT_OF(rows); i++) {
			memset(&rows[i], 0, sizeof(rows[i]));
			rows[i].prefix.len = (uint8_t)(96 + 8 + random_below(14));
			rows[i].outcome.group = (uint16_t)i;
			memset(rows[i].prefix.ip + 10, 0xff, 2);
			rows[i].prefix.ip[12] = 10;
			for (bit = 104; bit < rows[i].prefix.len; bit++)
				rows[i].prefix.ip[bit / 8] |= (uint8_t)(random_below(4) == 0 ? 0x80 >> bit % 8 : 0);
		}
		if (clients_build(rows, COUNT_OF(rows), fallback, &secret, &table, NULL))
			continue;	/* the same prefix twice, or no room */
		built++;
		for (i = 0; i < 300; i++) {
			a = (struct addr){ .ip = { [10] = 0xff, [11] = 0xff, [12] = 10 } };
			a.ip[13] = (uint8_t)(random_u16() & random_u16());
			a.ip[14] = (uint8_t)(random_u16() & random_u16());
			assert_int_equal(clients_find(&table, a.ip, NULL, &secret).group, reference(rows, COUNT_OF(rows), &a));
		}
	}
	assert_true(built > 20);
}

static void many_addresses_fit(void **state)
{
	static struct clients_row rows[100];
	char text[32];
	unsigned i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		snprintf(text, sizeof(text), "10.0.%u.%u", i / 10, i % 10);
		rows[i] = row(text, (uint16_t)(i % 50));
	}
	assert_int_equal(clients_build(rows, COUNT_OF(rows), fallback, &secret, &table, NULL), 0);
	assert_int_equal(table.count, COUNT_OF(rows));
	assert_int_equal(group_of(&table, "10.0.9.9"), 49);
	assert_int_equal(group_of(&table, "10.0.10.0"), NOBODY);
}

static void same_prefix_for_two_things_is_refused(void **state)
{
	struct clients_row rows[] = { row("10.0.0.0/8", 1), row("10.0.0.0/8", 2) };
	struct err_at e = { 0 };

	assert_int_equal(clients_build(rows, 2, fallback, &secret, &table, &e), -EEXIST);
	assert_non_null(strstr(e.why, "10.0.0.0/8 is given twice"));
	rows[1].outcome.group = 1;
	assert_int_equal(clients_build(rows, 2, fallback, &secret, &table, &e), 0);
	assert_int_equal(table.count, 1);
}

static void lengths_too_far_apart_are_refused(void **state)
{
	static const char *const prefixes[] = { "::/0", "2000::/3", "2001::/20", "2001:db8::/36", "2001:db8::/52", "2001:db8::/68",
						"2001:db8::/84", "2001:db8::/100", "2001:db8::/116", "2001:db8::1" };
	struct clients_row rows[COUNT_OF(prefixes)];
	struct err_at e = { 0 };
	unsigned i;

	for (i = 0; i < COUNT_OF(prefixes); i++)
		rows[i] = row(prefixes[i], (uint16_t)i);
	table.count = 12345;
	assert_int_equal(clients_build(rows, COUNT_OF(rows), fallback, &secret, &table, &e), -ENOSPC);
	assert_non_null(strstr(e.why, "lengths are in use; 8 are possible"));
	assert_int_equal(table.count, 12345);		/* written on success only */
}

static void more_rows_than_the_table_are_refused(void **state)
{
	unsigned count = MR_CLIENT_BUCKETS * MR_CLIENT_WAYS + 1, i;
	struct clients_row *rows = calloc(count, sizeof(*rows));
	struct err_at e = { 0 };

	assert_non_null(rows);
	for (i = 0; i < count; i++) {
		rows[i].prefix.len = 128;
		rows[i].prefix.ip[14] = (uint8_t)(i >> 8);
		rows[i].prefix.ip[15] = (uint8_t)i;
	}
	assert_int_equal(clients_build(rows, count, fallback, &secret, &table, &e), -ENOSPC);
	assert_non_null(strstr(e.why, "at most 2048 prefixes"));
	free(rows);
}

/* ---- MACs ---- */

static const uint8_t tablet[6] = { 2, 0, 0, 0, 1, 7 }, phone[6] = { 2, 0, 0, 0, 1, 8 };

static struct clients_row mac_row(const uint8_t mac[6], uint16_t group)
{
	struct clients_row r = { .is_mac = true, .outcome = { .group = group, .access = MR_ACCESS_ALLOW } };

	memcpy(r.mac, mac, 6);
	return r;
}

static unsigned group_of_mac(const struct clients *c, const char *text, const uint8_t *mac)
{
	struct addr a;

	assert_int_equal(addr_parse(text, 0, &a), 0);
	return clients_find(c, a.ip, mac, &secret).group;
}

static void a_mac_decides_before_any_address(void **state)
{
	struct clients_row rows[] = { row("10.0.0.0/8", 1), mac_row(tablet, 2), row("10.0.0.7", 3), mac_row(tablet, 2) };

	assert_int_equal(clients_build(rows, COUNT_OF(rows), fallback, &secret, &table, NULL), 0);
	assert_int_equal(table.count, 3);
	assert_int_equal(table.macs, 1);
	assert_int_equal(table.lens, 2);
	assert_int_equal(group_of_mac(&table, "10.0.0.7", tablet), 2);
	assert_int_equal(group_of_mac(&table, "2001:db8::1", tablet), 2);
	assert_int_equal(group_of_mac(&table, "10.0.0.7", phone), 3);
	assert_int_equal(group_of_mac(&table, "10.0.0.8", phone), 1);
	assert_int_equal(group_of_mac(&table, "10.0.0.7", NULL), 3);
	assert_int_equal(group_of_mac(&table, "192.0.2.1", phone), NOBODY);
}

static void macs_alone_make_a_table(void **state)
{
	struct clients_row rows[] = { mac_row(tablet, 2), mac_row(phone, 3) };

	assert_int_equal(clients_build(rows, COUNT_OF(rows), fallback, &secret, &table, NULL), 0);
	assert_int_equal(table.macs, 2);
	assert_int_equal(table.lens, 0);
	assert_int_equal(group_of_mac(&table, "192.0.2.1", phone), 3);
	assert_int_equal(group_of_mac(&table, "192.0.2.1", NULL), NOBODY);
}

/* Splitting shorter prefixes leaves MACs alone. */
static void macs_stay_when_prefixes_are_split(void **state)
{
	struct clients_row rows[10] = { mac_row(tablet, 20) };
	unsigned i;

	for (i = 0; i < 9; i++) {
		char text[32];

		snprintf(text, sizeof(text), "10.0.0.0/%u", 16 + i);
		rows[i + 1] = row(text, (uint16_t)i);
	}
	assert_int_equal(clients_build(rows, COUNT_OF(rows), fallback, &secret, &table, NULL), 0);
	assert_int_equal(table.macs, 1);
	assert_int_equal(group_of_mac(&table, "10.0.0.1", tablet), 20);
	assert_int_equal(group_of_mac(&table, "10.0.0.1", phone), 8);
}

static void a_mac_for_two_things_is_refused(void **state)
{
	struct clients_row rows[] = { mac_row(tablet, 2), mac_row(tablet, 3) };
	struct err_at e = { 0 };

	assert_int_equal(clients_build(rows, 2, fallback, &secret, &table, &e), -EEXIST);
	assert_non_null(strstr(e.why, "02:00:00:00:01:07 is given twice"));
	rows[1] = rows[0];
	rows[1].outcome.flags = MR_CLIENT_PAUSED;
	assert_int_equal(clients_build(rows, 2, fallback, &secret, &table, &e), -EEXIST);
}

int main(void)
{
	static struct CMUnitTest tests[9 + COUNT_OF(lookups)] = {
		cmocka_unit_test(random_tables_agree_with_the_slow_way),
		cmocka_unit_test(many_addresses_fit),
		cmocka_unit_test(same_prefix_for_two_things_is_refused),
		cmocka_unit_test(lengths_too_far_apart_are_refused),
		cmocka_unit_test(more_rows_than_the_table_are_refused),
		cmocka_unit_test(a_mac_decides_before_any_address),
		cmocka_unit_test(macs_alone_make_a_table),
		cmocka_unit_test(macs_stay_when_prefixes_are_split),
		cmocka_unit_test(a_mac_for_two_things_is_refused),
	};
	size_t n = 9, i;

	secret_make(&secret);
	for (i = 0; i < COUNT_OF(lookups); i++)
		tests[n++] = (struct CMUnitTest){ lookups[i].name, client_has_this_group, NULL, NULL, (void *)&lookups[i] };
	return cmocka_run_group_tests_name("clients", tests, NULL, NULL);
}
