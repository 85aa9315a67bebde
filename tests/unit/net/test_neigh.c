/* SPDX-License-Identifier: BSD-2-Clause */
/* test_neigh.c - neighbours of a network namespace of the test's own. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/addr.h"
#include "net/neigh.h"

static uv_loop_t loop;
static struct neigh *table;

static int run(const char *cmd)
{
	return system(cmd);
}

static const char *enter_namespace(void)
{
	if (geteuid())
		return "not root";
	if (unshare(CLONE_NEWNET))
		return "no namespace of our own";
	return run("ip link set lo up && ip link add v0 type veth peer name v1 && ip link del v0") ? "no veth can be made" : NULL;
}

static int setup(void **state)
{
	run("ip link del v0 2>/dev/null");
	assert_int_equal(run("ip link add v0 type veth peer name v1 && ip link set v0 up && ip link set v1 up && "
			     "ip addr add 10.9.0.1/16 dev v0"), 0);
	assert_int_equal(uv_loop_init(&loop), 0);
	return 0;
}

static int teardown(void **state)
{
	neigh_close(table);
	table = NULL;
	uv_run(&loop, UV_RUN_DEFAULT);
	return uv_loop_close(&loop);
}

static void open_table(void)
{
	struct err_at e = { 0 };

	if (neigh_open(&loop, &table, &e))
		fail_msg("neigh_open: %s", e.why);
}

/* "02:00:00:00:00:01", or "none". */
static const char *mac_of(const char *ip)
{
	static char text[32];
	uint8_t m[6];
	struct addr a;

	assert_int_equal(addr_parse(ip, 0, &a), 0);
	if (!neigh_find(table, a.ip, m))
		return "none";
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
	return text;
}

/* Turn the loop until the address has that MAC, for two seconds at most. */
static void wait_for(const char *ip, const char *mac)
{
	int i;

	for (i = 0; i < 200 && strcmp(mac_of(ip), mac); i++) {
		uv_run(&loop, UV_RUN_NOWAIT);
		usleep(10000);
	}
	assert_string_equal(mac_of(ip), mac);
}

static void neighbours_from_before_are_known(void **state)
{
	run("ip neigh add 10.9.0.7 lladdr 02:00:00:00:01:07 dev v0 nud permanent");
	run("ip neigh add 2001:db8::7 lladdr 02:00:00:00:01:08 dev v0 nud stale");
	open_table();
	assert_string_equal(mac_of("10.9.0.7"), "02:00:00:00:01:07");
	assert_string_equal(mac_of("2001:db8::7"), "02:00:00:00:01:08");
	assert_string_equal(mac_of("10.9.0.8"), "none");
	assert_string_equal(mac_of("127.0.0.1"), "none");
}

static void a_mac_is_known_by_an_address_of_its_own(void **state)
{
	uint8_t mac[6] = { 2, 0, 0, 0, 1, 7 }, ip[16];

	run("ip neigh add 2001:db8::7 lladdr 02:00:00:00:01:07 dev v0 nud permanent");
	run("ip neigh add 10.9.0.7 lladdr 02:00:00:00:01:07 dev v0 nud permanent");
	run("ip neigh add 2001:db8::8 lladdr 02:00:00:00:01:08 dev v0 nud permanent");
	open_table();
	assert_true(neigh_find_ip(table, mac, ip));
	assert_int_equal(ip[12] << 8 | ip[15], 10 << 8 | 7);
	mac[5] = 8;
	assert_true(neigh_find_ip(table, mac, ip));
	assert_int_equal(ip[0] << 8 | ip[15], 0x20 << 8 | 8);
	mac[5] = 9;
	assert_false(neigh_find_ip(table, mac, ip));
}

static void changes_are_followed(void **state)
{
	open_table();
	run("ip neigh add 10.9.0.7 lladdr 02:00:00:00:01:07 dev v0 nud permanent");
	wait_for("10.9.0.7", "02:00:00:00:01:07");
	run("ip neigh replace 10.9.0.7 lladdr 02:00:00:00:01:09 dev v0 nud reachable");
	wait_for("10.9.0.7", "02:00:00:00:01:09");
	run("ip neigh del 10.9.0.7 dev v0");
	wait_for("10.9.0.7", "none");
	run("ip neigh add fe80::7 lladdr 02:00:00:00:01:0a dev v0 nud permanent");
	wait_for("fe80::7", "02:00:00:00:01:0a");
	assert_int_equal(uv_loop_alive(&loop), 1);
}

static void neighbours_without_an_answer_are_not_known(void **state)
{
	run("ip neigh add 10.9.0.7 lladdr 02:00:00:00:01:07 dev v0 nud noarp");
	open_table();
	assert_string_equal(mac_of("10.9.0.7"), "none");
	run("ip neigh replace 10.9.0.7 lladdr 02:00:00:00:01:07 dev v0 nud reachable");
	wait_for("10.9.0.7", "02:00:00:00:01:07");
	run("ip neigh replace 10.9.0.7 dev v0 nud failed");
	wait_for("10.9.0.7", "none");
}

static void an_interface_takes_its_neighbours_along(void **state)
{
	run("ip neigh add 10.9.0.7 lladdr 02:00:00:00:01:07 dev v0 nud permanent");
	open_table();
	run("ip link del v0");
	wait_for("10.9.0.7", "none");
}

/* What one interface loses another may have. */
static void an_address_that_moved_stays(void **state)
{
	open_table();
	run("ip neigh add fe80::7 lladdr 02:00:00:00:01:07 dev v0 nud permanent");
	wait_for("fe80::7", "02:00:00:00:01:07");
	run("ip neigh add fe80::7 lladdr 02:00:00:00:01:08 dev v1 nud permanent");
	wait_for("fe80::7", "02:00:00:00:01:08");
	run("ip neigh del fe80::7 dev v0; ip neigh add fe80::8 lladdr 02:00:00:00:01:09 dev v0 nud permanent");
	wait_for("fe80::8", "02:00:00:00:01:09");
	assert_string_equal(mac_of("fe80::7"), "02:00:00:00:01:08");
}

/* Let ip(8) run a command for 10.9.1.0 and as many addresses that follow. */
static void batch(unsigned count, const char *before, const char *behind)
{
	FILE *p = popen("ip -batch -", "w");
	unsigned i;

	assert_non_null(p);
	for (i = 0; i < count; i++)
		fprintf(p, "neigh %s 10.9.%u.%u %s\n", before, 1 + i / 256, i % 256, behind);
	assert_int_equal(pclose(p), 0);
}

struct search {
	const char *name;
	uint64_t value;
};

static void compare_name(const struct count_row *row, uint64_t value, void *arg)
{
	struct search *s = arg;

	if (!strcmp(row->name, s->name))
		s->value = value;
}

static uint64_t value_of(const char *name)
{
	struct search s = { name, 0 };

	count_each(compare_name, &s);
	return s.value;
}

static void a_full_table_is_counted_and_keeps_what_it_has(void **state)
{
	uint64_t before;

	open_table();
	before = value_of("neigh_full");
	neigh_close(table);
	table = NULL;
	batch(NEIGH_MAX + 500, "add", "lladdr 02:00:00:00:02:00 dev v0 nud permanent");
	open_table();
	assert_true(value_of("neigh_full") >= before + 500);
}

/* Nobody turns the loop while thousands of changes come: then all is read anew. */
static void lost_changes_are_made_good(void **state)
{
	uint64_t again;

	open_table();
	again = value_of("neigh_again");
	batch(3000, "add", "lladdr 02:00:00:00:02:00 dev v0 nud permanent");
	wait_for("10.9.12.100", "02:00:00:00:02:00");
	batch(3000, "replace", "lladdr 02:00:00:00:03:00 dev v0 nud permanent");
	run("ip link set v0 down");
	wait_for("10.9.1.0", "none");
	wait_for("10.9.12.100", "none");
	assert_true(value_of("neigh_again") > again);
}

static atomic_bool stop;
static atomic_uint torn;

/* A reader on another thread sees one MAC or the other, or none while there is none. */
static void *read_on(void *arg)
{
	static const uint8_t ip[16] = { [10] = 0xff, [11] = 0xff, 10, 9, 0, 7 };
	uint8_t m[6];

	while (!atomic_load(&stop))
		if (neigh_find(table, ip, m) && (m[0] != m[5] || m[1] != m[4] || m[2] != m[3]))
			atomic_fetch_add(&torn, 1);
	return NULL;
}

static void readers_see_whole_macs(void **state)
{
	pthread_t reader;
	int i;

	open_table();
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&reader, NULL, read_on, NULL), 0);
	for (i = 0; i < 20; i++) {
		run("ip -batch - <<-E\n"
		    "neigh replace 10.9.0.7 lladdr 02:11:22:22:11:02 dev v0 nud permanent\n"
		    "neigh replace 10.9.0.7 lladdr 06:33:44:44:33:06 dev v0 nud permanent\n"
		    "neigh del 10.9.0.7 dev v0\nE\n");
		uv_run(&loop, UV_RUN_NOWAIT);
	}
	atomic_store(&stop, true);
	pthread_join(reader, NULL);
	assert_int_equal(torn, 0);
}

static void without_a_table_nothing_is_known(void **state)
{
	static const uint8_t ip[16] = { 0 };
	uint8_t m[6], found[16];

	assert_false(neigh_find(NULL, ip, m));
	assert_false(neigh_find_ip(NULL, m, found));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(neighbours_from_before_are_known),
		TEST(a_mac_is_known_by_an_address_of_its_own),
		TEST(changes_are_followed),
		TEST(neighbours_without_an_answer_are_not_known),
		TEST(an_interface_takes_its_neighbours_along),
		TEST(an_address_that_moved_stays),
		TEST(a_full_table_is_counted_and_keeps_what_it_has),
		TEST(lost_changes_are_made_good),
		TEST(readers_see_whole_macs),
		TEST(without_a_table_nothing_is_known),
	};
	const char *why_not = enter_namespace();
	size_t i;

	for (i = 0; why_not && i < sizeof(tests) / sizeof(tests[0]); i++)
		printf("ok %zu - %s # SKIP %s\n", i + 1, tests[i].name, why_not);
	return why_not ? 0 : cmocka_run_group_tests_name("net/neigh", tests, NULL, NULL);
}
