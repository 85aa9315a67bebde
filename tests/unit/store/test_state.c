/* SPDX-License-Identifier: BSD-2-Clause */
/* test_state.c - the state database: objects, pauses, transactions, its file and its schema. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "unit/store/rig.h"

/* ---- changes ---- */

static void what_was_put_is_there_after_opening_again(void **state)
{
	struct state *s = open_ok();

	put_ok(s, "rule", "||a.example^", "\"||a.example^\"");
	put_ok(s, "list", "ads", "{}");
	state_close(s);
	s = open_ok();
	expect(s, NULL, "rule ||a.example^ \"||a.example^\"\nlist ads {}\n");
	expect(s, "list", "list ads {}\n");
	expect(s, "group", "");
	state_close(s);
}

static int keep_times(void *arg, const struct state_object *o)
{
	int64_t *times = arg;

	times[0] = o->created_s;
	times[1] = o->changed_s;
	return 0;
}

static void a_second_put_replaces_the_body_and_keeps_place_and_birth(void **state)
{
	struct state *s = open_ok();
	int64_t times[2];

	put_ok(s, "list", "a", "1");
	put_ok(s, "list", "b", "2");
	assert_int_equal(state_put(s, "list", "a", "3", NOW + 5, NULL), 0);
	expect(s, "list", "list a 3\nlist b 2\n");
	assert_int_equal(state_delete(s, "list", "b", NULL), 0);
	assert_int_equal(state_each(s, "list", keep_times, times, NULL), 0);
	assert_int_equal(times[0], NOW);
	assert_int_equal(times[1], NOW + 5);
	state_close(s);
}

static void one_name_may_be_of_two_kinds(void **state)
{
	struct state *s = open_ok();

	put_ok(s, "group", "x", "1");
	put_ok(s, "client", "x", "2");
	assert_int_equal(state_delete(s, "group", "x", NULL), 0);
	expect(s, NULL, "client x 2\n");
	state_close(s);
}

static void what_is_not_there_cannot_be_deleted(void **state)
{
	struct err_at at = { .why = "" };
	struct state *s = open_ok();

	assert_int_equal(state_delete(s, "rule", "nothing", &at), -ENOENT);
	assert_string_equal(at.why, "there is no rule \"nothing\"");
	state_close(s);
}

static void changes_that_are_rolled_back_leave_nothing(void **state)
{
	struct state *s = open_ok();

	put_ok(s, "list", "a", "1");
	assert_int_equal(state_begin(s, NULL), 0);
	put_ok(s, "list", "b", "2");
	assert_int_equal(state_delete(s, "list", "a", NULL), 0);
	state_rollback(s);
	expect(s, NULL, "list a 1\n");
	assert_int_equal(state_begin(s, NULL), 0);
	put_ok(s, "list", "c", "3");
	state_close(s);
	s = open_ok();
	expect(s, NULL, "list a 1\n");
	state_close(s);
}

static void a_missing_object_does_not_end_a_transaction(void **state)
{
	struct state *s = open_ok();

	assert_int_equal(state_begin(s, NULL), 0);
	put_ok(s, "list", "a", "1");
	assert_int_equal(state_delete(s, "list", "b", NULL), -ENOENT);
	assert_int_equal(state_commit(s, NULL), 0);
	expect(s, NULL, "list a 1\n");
	state_close(s);
}

static int stop(void *arg, const struct state_object *o)
{
	++*(int *)arg;
	return -ECANCELED;
}

static void a_walk_ends_when_it_is_told_to(void **state)
{
	struct state *s = open_ok();
	int calls = 0;

	put_ok(s, "list", "a", "1");
	put_ok(s, "list", "b", "2");
	assert_int_equal(state_each(s, NULL, stop, &calls, NULL), -ECANCELED);
	assert_int_equal(calls, 1);
	state_close(s);
}

static void names_and_bodies_have_bounds(void **state)
{
	static char big[STATE_BODY_MAX + 1];
	struct err_at at = { .why = "" };
	struct state *s = open_ok();

	memset(big, 'x', STATE_BODY_MAX);
	assert_int_equal(state_put(s, "list", "a", big, NOW, &at), -EINVAL);
	assert_string_equal(at.why, "the body is longer than 1048575 bytes");
	assert_int_equal(state_put(s, "list", "", "1", NOW, &at), -EINVAL);
	assert_string_equal(at.why, "the name is empty");
	big[STATE_NAME_MAX] = '\0';
	assert_int_equal(state_put(s, "list", big, "1", NOW, &at), -EINVAL);
	expect(s, NULL, "");
	state_close(s);
}

static void text_that_looks_like_sql_is_text(void **state)
{
	struct state *s = open_ok();

	put_ok(s, "rule", "'); DROP TABLE object; --", "'");
	expect(s, NULL, "rule '); DROP TABLE object; -- '\n");
	state_close(s);
}

/* ---- pauses ---- */

static void pauses_are_kept_and_cleared(void **state)
{
	struct state *s = open_ok();
	struct seen seen = { "" };

	assert_int_equal(state_pause_set(s, &(struct state_pause){ "group", "kids", 5 }, NULL), 0);
	assert_int_equal(state_pause_set(s, &(struct state_pause){ "all", "", 0 }, NULL), 0);
	assert_int_equal(state_pause_set(s, &(struct state_pause){ "group", "kids", 9 }, NULL), 0);
	state_close(s);
	s = open_ok();
	assert_int_equal(state_pause_each(s, see_pause, &seen, NULL), 0);
	assert_string_equal(seen.text, "group kids 9\nall  0\n");
	assert_int_equal(state_pause_clear(s, "all", "", NULL), 0);
	assert_int_equal(state_pause_clear(s, "all", "", NULL), -ENOENT);
	seen.text[0] = '\0';
	assert_int_equal(state_pause_each(s, see_pause, &seen, NULL), 0);
	assert_string_equal(seen.text, "group kids 9\n");
	state_close(s);
}

static void a_pause_of_an_unknown_scope_is_refused(void **state)
{
	struct state *s = open_ok();

	assert_int_equal(state_pause_set(s, &(struct state_pause){ "world", "x", 5 }, NULL), -EINVAL);
	state_close(s);
}

/* ---- the file ---- */

static void a_new_file_is_for_its_owner_alone(void **state)
{
	struct stat st;

	state_close(open_ok());
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void version_1_is_brought_up_to_date(void **state)
{
	struct seen seen = { "" };
	struct state *s;
	char sql[4096];
	size_t n;
	FILE *f = fopen("tests/unit/store/state_v1.sql", "r");

	if (!f)
		skip();
	n = fread(sql, 1, sizeof(sql) - 1, f);
	sql[n] = '\0';
	fclose(f);
	raw(sql);
	s = open_ok();
	expect(s, NULL, "rule ||tracker.example^ \"||tracker.example^\"\nlist ads {\"url\": \"https://lists.example/ads.txt\"}\n");
	assert_int_equal(state_pause_set(s, &(struct state_pause){ "all", "", 7 }, NULL), 0);
	assert_int_equal(state_pause_each(s, see_pause, &seen, NULL), 0);
	assert_string_equal(seen.text, "all  7\n");
	state_close(s);
}

static void a_step_that_fails_leaves_the_old_version(void **state)
{
	struct err_at at;
	struct state *s;

	state_close(open_ok());
	/* as if version 2 had never been; but its table is in the way */
	raw("PRAGMA user_version = 1; INSERT INTO object VALUES ('list', 'a', '1', 0, 0)");
	assert_int_not_equal(open_fails(&at), 0);
	if (!strstr(at.why, "table pause already exists"))
		fail_msg("%s", at.why);
	raw("DROP TABLE pause");
	s = open_ok();
	expect(s, NULL, "list a 1\n");
	state_close(s);
}

static void a_newer_schema_is_refused_and_not_touched(void **state)
{
	struct err_at at;
	struct stat before, after;

	state_close(open_ok());
	raw("CREATE TABLE future (x); PRAGMA user_version = 99");
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(open_fails(&at), -EPROTONOSUPPORT);
	assert_non_null(strstr(at.why, "a newer millraced wrote it (schema 99, this one knows 2)"));
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}

static void a_database_of_another_program_is_refused(void **state)
{
	struct err_at at;

	raw("CREATE TABLE bookmarks (url)");
	assert_int_equal(open_fails(&at), -EPROTONOSUPPORT);
	assert_non_null(strstr(at.why, "a database of another program"));
}

static void a_folder_in_its_place_is_refused(void **state)
{
	struct err_at at;

	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_not_equal(open_fails(&at), 0);
	assert_non_null(strstr(at.why, path));
}

static void a_pipe_in_its_place_is_not_waited_for(void **state)
{
	struct err_at at;

	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(5);
	assert_int_equal(open_fails(&at), -EPROTONOSUPPORT);
	alarm(0);
}

static const struct CMUnitTest tests[] = {
	TEST(what_was_put_is_there_after_opening_again),
	TEST(a_second_put_replaces_the_body_and_keeps_place_and_birth),
	TEST(one_name_may_be_of_two_kinds),
	TEST(what_is_not_there_cannot_be_deleted),
	TEST(changes_that_are_rolled_back_leave_nothing),
	TEST(a_missing_object_does_not_end_a_transaction),
	TEST(a_walk_ends_when_it_is_told_to),
	TEST(names_and_bodies_have_bounds),
	TEST(text_that_looks_like_sql_is_text),
	TEST(pauses_are_kept_and_cleared),
	TEST(a_pause_of_an_unknown_scope_is_refused),
	TEST(a_new_file_is_for_its_owner_alone),
	TEST(version_1_is_brought_up_to_date),
	TEST(a_step_that_fails_leaves_the_old_version),
	TEST(a_newer_schema_is_refused_and_not_touched),
	TEST(a_database_of_another_program_is_refused),
	TEST(a_folder_in_its_place_is_refused),
	TEST(a_pipe_in_its_place_is_not_waited_for),
};

int main(void)
{
	return cmocka_run_group_tests_name("store/state", tests, NULL, NULL);
}
