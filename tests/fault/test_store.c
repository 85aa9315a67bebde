/* SPDX-License-Identifier: BSD-2-Clause */
/* test_store.c - the state database with each allocation failing in its turn, sqlite's too. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fault/alloc.h"
#include "store/state.h"

static char folder[] = "/tmp/fault-store-XXXXXX";
static char path[64];

static void remove_files(void)
{
	char beside[80];

	unlink(path);
	snprintf(beside, sizeof(beside), "%s-wal", path);
	unlink(beside);
	snprintf(beside, sizeof(beside), "%s-shm", path);
	unlink(beside);
}

static int see(void *arg, const struct state_object *o)
{
	++*(unsigned *)arg;
	return 0;
}

static int see_pause(void *arg, const struct state_pause *p)
{
	++*(unsigned *)arg;
	return 0;
}

static int open_one(struct state **ret)
{
	struct err_at at = { 0 };

	return state_open(path, (uid_t)-1, (gid_t)-1, ret, &at);
}

static int make_new(void)
{
	struct state *s = NULL;
	int err;

	remove_files();
	err = open_one(&s);
	state_close(s);
	return err;
}

static unsigned long turn;

/* Two objects in one transaction, and all else that is done to a database. */
static int write_all(void)
{
	struct state_pause p = { "group", "kids", 77 };
	struct err_at at = { 0 };
	struct state *s = NULL;
	unsigned objects = 0, pauses = 0;
	char name[32];
	int err = open_one(&s);

	snprintf(name, sizeof(name), "rule-%lu", ++turn);
	if (!err)
		err = state_begin(s, &at);
	if (!err)
		err = state_put(s, "rule", name, "{}", 1700000000, &at);
	if (!err)
		err = state_put(s, "twin", name, "{}", 1700000000, &at);
	if (!err)
		err = state_commit(s, &at);
	if (!err)
		err = state_pause_set(s, &p, &at);
	if (!err)
		err = state_each(s, NULL, see, &objects, &at);
	if (!err)
		err = state_pause_each(s, see_pause, &pauses, &at);
	if (!err)
		err = state_delete(s, "twin", name, &at);
	if (!err)
		err = state_put(s, "twin", name, "{}", 1700000000, &at);
	if (!err)
		err = state_pause_clear(s, "group", "kids", &at);
	state_close(s);
	if (!err)
		assert_true(objects >= 2 && pauses == 1);
	return err;
}

static void a_new_database_is_made_or_memory_is_out(void **state)
{
	printf("# figure: a new database: %u runs\n", alloc_fail_each(make_new));
}

static void changes_are_made_or_memory_is_out_and_none_by_half(void **state)
{
	struct state *s = NULL;
	unsigned rules = 0, twins = 0;
	struct err_at at = { 0 };

	remove_files();
	assert_int_equal(make_new(), 0);
	printf("# figure: changes: %u runs\n", alloc_fail_each(write_all));
	assert_int_equal(open_one(&s), 0);
	assert_string_equal(state_damage(s), "");
	assert_int_equal(state_each(s, "rule", see, &rules, &at), 0);
	assert_int_equal(state_each(s, "twin", see, &twins, &at), 0);
	assert_true(rules >= 1);
	/* a run may have ended between the deletion of a twin and its return */
	assert_true(twins <= rules);
	state_close(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_database_is_made_or_memory_is_out),
		cmocka_unit_test(changes_are_made_or_memory_is_out_and_none_by_half),
	};
	int failed;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/state.db", folder);
	alloc_take_sqlite();
	failed = cmocka_run_group_tests_name("fault/store", tests, NULL, NULL);
	remove_files();
	rmdir(folder);
	return failed;
}
