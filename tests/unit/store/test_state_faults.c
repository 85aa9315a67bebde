/* SPDX-License-Identifier: BSD-2-Clause */
/* test_state_faults.c - the state database on damaged, full and read-only disks, and after sudden death. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sqlite3.h>
#include "unit/store/rig.h"

/* ---- damage ---- */

static void write_at(const char *file, off_t at, const char *bytes, size_t size)
{
	int fd = open(file, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, size, at), (ssize_t)size);
	close(fd);
}

static void fill(unsigned objects)
{
	struct state *s = open_ok();
	char name[32];
	unsigned i;

	assert_int_equal(state_begin(s, NULL), 0);
	for (i = 0; i < objects; i++) {
		snprintf(name, sizeof(name), "list-%u", i);
		put_ok(s, "list", name, "{}");
	}
	assert_int_equal(state_commit(s, NULL), 0);
	state_close(s);
}

static void no_database_at_all(void)
{
	write_at(path, 0, "this is a text and no database, and that is soon seen: it does not begin as one does", 84);
}

static void pages_overwritten(void)
{
	char junk[4096];

	fill(400);
	memset(junk, 0xa5, sizeof(junk));
	write_at(path, 2 * 4096, junk, sizeof(junk));
}

static void cut_short(void)
{
	fill(400);
	assert_int_equal(truncate(path, 3 * 4096 + 100), 0);
}

static void damaged_with_a_log(void)
{
	char wal[112];

	no_database_at_all();
	snprintf(wal, sizeof(wal), "%s-wal", path);
	write_at(wal, 0, "junk", 4);
}

/* All pages are whole, and no page says so. */
static void a_column_renamed(void)
{
	fill(4);
	raw("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'changed', 'chamged') WHERE name = 'object'");
}

static void a_table_lost(void)
{
	fill(4);
	raw("DROP TABLE pause");
}

static void another_text_encoding(void)
{
	fill(4);
	write_at(path, 59, "\2", 1);
}

static void a_format_unknown_to_sqlite(void)
{
	fill(4);
	write_at(path, 47, "\x2d", 1);
}

static const struct damage_case {
	const char *name;
	void (*damage)(void);
} damage_cases[] = {
	{ "a_text_in_its_place_is_moved_aside", no_database_at_all },
	{ "a_database_with_a_page_overwritten_is_moved_aside", pages_overwritten },
	{ "a_database_cut_short_is_moved_aside", cut_short },
	{ "a_column_of_another_name_is_damage", a_column_renamed },
	{ "a_lost_table_is_damage", a_table_lost },
	{ "another_text_encoding_is_damage", another_text_encoding },
	{ "a_format_unknown_to_sqlite_is_damage", a_format_unknown_to_sqlite },
	{ "a_log_beside_a_damaged_file_goes_with_it", damaged_with_a_log },
};

static void damage_is_set_aside(void **state)
{
	const struct damage_case *c = *state;
	char aside[128];
	struct state *s;
	struct stat was, is;

	c->damage();
	assert_int_equal(stat(path, &was), 0);
	s = open_ok();
	snprintf(aside, sizeof(aside), "%s.damaged", path);
	assert_non_null(strstr(state_damage(s), aside));
	assert_int_equal(stat(aside, &is), 0);
	assert_int_equal(was.st_ino, is.st_ino);
	expect(s, NULL, "");
	put_ok(s, "list", "new", "1");
	state_close(s);
	/* said for as long as the file lies there */
	s = open_ok();
	expect(s, NULL, "list new 1\n");
	assert_string_not_equal(state_damage(s), "");
	state_close(s);
	assert_int_equal(unlink(aside), 0);
	s = open_ok();
	assert_string_equal(state_damage(s), "");
	state_close(s);
}

static void a_second_damaged_file_does_not_replace_the_first(void **state)
{
	char aside[128];
	unsigned i;
	struct err_at at;

	for (i = 1; i <= 9; i++) {
		no_database_at_all();
		state_close(open_ok());
		snprintf(aside, sizeof(aside), i == 1 ? "%s.damaged" : "%s.damaged.%u", path, i);
		assert_int_equal(access(aside, F_OK), 0);
	}
	no_database_at_all();
	assert_int_equal(open_fails(&at), -EEXIST);
	assert_non_null(strstr(at.why, "remove some"));
	assert_int_equal(access(path, F_OK), 0);
}

/* ---- disks that take nothing ---- */

/* Let files grow up to @bytes; writing over it fails. */
static void limit_files(rlim_t bytes)
{
	struct rlimit r;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &r);
	r.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

/* Run a test in a process with mounts of its own; it exits with 77 where this machine allows none. */
static void in_child(void (*run)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
			_exit(77);
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* An object that needs many pages, all or nothing. */
static int put_big(struct state *s, struct err_at *at)
{
	static char body[200000];
	int err = state_begin(s, at);

	memset(body, 'x', sizeof(body) - 1);
	if (!err)
		err = state_put(s, "list", "big", body, NOW, at);
	if (!err)
		return state_commit(s, at);
	state_rollback(s);
	return err;
}

static void each_write_that_fails_leaves_the_old_state(void **state)
{
	struct err_at at = { .why = "" };
	struct state *s = open_ok();
	unsigned failed = 0;
	rlim_t room;
	int err = -1;

	put_ok(s, "list", "old", "1");
	for (room = 4096; err && room < 4000000; room += 12000) {
		limit_files(room);
		err = put_big(s, &at);
		limit_files(RLIM_INFINITY);
		if (!err)
			break;
		failed++;
		assert_int_equal(err, -EIO);
		assert_non_null(strstr(at.why, path));
		expect(s, NULL, "list old 1\n");
	}
	assert_int_equal(err, 0);
	assert_in_range(failed, 10, 200);
	state_close(s);
	s = open_ok();
	assert_int_equal(state_delete(s, "list", "big", NULL), 0);
	expect(s, NULL, "list old 1\n");
	state_close(s);
}

static void on_full_disk(void)
{
	struct err_at at = { .why = "" };
	struct seen seen = { "" };
	struct state *s;

	if (mount("none", folder, "tmpfs", 0, "size=192k"))
		_exit(77);
	if (state_open(path, (uid_t)-1, (gid_t)-1, &s, &at) || state_put(s, "list", "old", "1", NOW, &at))
		_exit(1);
	if (put_big(s, &at) != -ENOSPC || !strstr(at.why, "full"))
		_exit(2);
	if (state_each(s, NULL, see, &seen, NULL) || strcmp(seen.text, "list old 1\n"))
		_exit(3);
	/* what fits is still taken */
	if (state_put(s, "list", "old", "2", NOW, &at))
		_exit(4);
	state_close(s);
}

static void a_full_disk_leaves_the_old_state(void **state)
{
	in_child(on_full_disk);
}

static void on_no_room(void)
{
	struct err_at at = { .why = "" };
	struct state *s;

	if (mount("none", folder, "tmpfs", 0, "size=4k"))
		_exit(77);
	if (state_open(path, (uid_t)-1, (gid_t)-1, &s, &at) != -ENOSPC || !strstr(at.why, path))
		_exit(1);
}

static void a_full_disk_refuses_a_new_file_with_the_reason(void **state)
{
	in_child(on_no_room);
}

static void on_read_only(void)
{
	struct err_at at = { .why = "" };
	struct seen seen = { "" };
	struct state *s;

	if (mount(folder, folder, NULL, MS_BIND, NULL) || mount(NULL, folder, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL))
		_exit(77);
	if (state_open(path, (uid_t)-1, (gid_t)-1, &s, &at))
		_exit(1);
	if (!strstr(state_read_only(s), "Read-only file system"))
		_exit(2);
	if (state_put(s, "list", "a", "1", NOW, &at) != -EROFS || !strstr(at.why, "cannot be written"))
		_exit(3);
	if (state_begin(s, &at) != -EROFS || state_delete(s, "list", "list-0", &at) != -EROFS)
		_exit(4);
	if (state_each(s, NULL, see, &seen, NULL) || strcmp(seen.text, "list list-0 {}\nlist list-1 {}\n"))
		_exit(5);
	if (state_pause_set(s, &(struct state_pause){ "all", "", 0 }, &at) != -EROFS || !strstr(at.why, path) ||
	    !strstr(at.why, "Read-only file system"))
		_exit(6);
	/* what can be written again is, without another open */
	if (mount(NULL, folder, NULL, MS_BIND | MS_REMOUNT, NULL))
		_exit(77);
	if (state_put(s, "list", "a", "1", NOW, &at) || *state_read_only(s))
		_exit(7);
	if (state_begin(s, &at) || state_put(s, "list", "b", "1", NOW, &at) || state_commit(s, &at))
		_exit(8);
	seen.text[0] = '\0';
	if (state_each(s, NULL, see, &seen, NULL) ||
	    strcmp(seen.text, "list list-0 {}\nlist list-1 {}\nlist a 1\nlist b 1\n"))
		_exit(9);
	state_close(s);
}

static void a_read_only_file_system_is_read_and_says_so(void **state)
{
	fill(2);
	in_child(on_read_only);
}

static void a_missing_folder_is_said(void **state)
{
	struct err_at at = { .why = "" };
	struct state *s;

	assert_int_equal(state_open("/nonexistent/state.db", (uid_t)-1, (gid_t)-1, &s, &at), -ENOENT);
	assert_string_equal(at.why, "/nonexistent/state.db: cannot be opened: No such file or directory");
}

static void a_locked_database_is_busy_and_whole(void **state)
{
	struct err_at at = { .why = "" };
	struct state *s = open_ok();
	sqlite3 *other;

	put_ok(s, "list", "a", "1");
	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(state_put(s, "list", "b", "1", NOW, &at), -EBUSY);
	assert_non_null(strstr(at.why, "locked"));
	expect(s, NULL, "list a 1\n");
	sqlite3_close(other);
	put_ok(s, "list", "b", "1");
	state_close(s);
}

/* ---- sudden death ---- */

/* Make pairs, each in a transaction, and say the number of each that was acknowledged; until killed. */
static void make_pairs(int fd, unsigned first)
{
	struct state *s = NULL;
	char a[32], b[32];
	unsigned i;

	if (state_open(path, (uid_t)-1, (gid_t)-1, &s, NULL))
		_exit(1);
	for (i = first;; i++) {
		snprintf(a, sizeof(a), "a-%u", i);
		snprintf(b, sizeof(b), "b-%u", i);
		if (state_begin(s, NULL) || state_put(s, "list", a, "1", NOW, NULL) ||
		    state_put(s, "list", b, "1", NOW, NULL) || state_commit(s, NULL))
			_exit(2);
		if (write(fd, &i, sizeof(i)) != sizeof(i))
			_exit(3);
	}
}

struct pairs {
	unsigned a, b, bad;
};

static int count_pairs(void *arg, const struct state_object *o)
{
	struct pairs *p = arg;
	unsigned *next = o->name[0] == 'a' ? &p->a : &p->b;

	if ((unsigned)atoi(o->name + 2) != (*next)++)
		p->bad++;
	return 0;
}

static void killed_in_the_middle_acknowledged_pairs_are_whole(void **state)
{
	unsigned round, seen, next = 0, last;
	struct pairs p = { 0 };
	struct state *s;
	int fds[2];
	pid_t pid;

	for (round = 0; round < 8; round++) {
		assert_int_equal(pipe(fds), 0);
		pid = fork();
		if (!pid)
			make_pairs(fds[1], next);
		close(fds[1]);
		last = next;
		for (seen = 0; seen < 10 + 7 * round; seen++)
			assert_int_equal(read(fds[0], &last, sizeof(last)), sizeof(last));
		usleep(137 * round);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		while (read(fds[0], &last, sizeof(last)) == sizeof(last))
			;
		close(fds[0]);
		s = open_ok();
		memset(&p, 0, sizeof(p));
		assert_int_equal(state_each(s, "list", count_pairs, &p, NULL), 0);
		assert_string_equal(state_damage(s), "");
		state_close(s);
		assert_int_equal(p.bad, 0);
		assert_int_equal(p.a, p.b);
		assert_true(p.a > last);
		next = p.a;
	}
}

static const struct CMUnitTest tests[] = {
	TEST(a_second_damaged_file_does_not_replace_the_first),
	TEST(each_write_that_fails_leaves_the_old_state),
	TEST(a_full_disk_leaves_the_old_state),
	TEST(a_full_disk_refuses_a_new_file_with_the_reason),
	TEST(a_read_only_file_system_is_read_and_says_so),
	TEST(a_missing_folder_is_said),
	TEST(a_locked_database_is_busy_and_whole),
	TEST(killed_in_the_middle_acknowledged_pairs_are_whole),
};

int main(void)
{
	struct CMUnitTest all[COUNT(damage_cases) + COUNT(tests)];
	size_t i;

	for (i = 0; i < COUNT(damage_cases); i++)
		all[i] = (struct CMUnitTest){ damage_cases[i].name, damage_is_set_aside, make_folder, remove_folder,
					      (void *)&damage_cases[i] };
	memcpy(all + i, tests, sizeof(tests));
	return _cmocka_run_group_tests("store/state_faults", all, COUNT(all), NULL, NULL);
}
