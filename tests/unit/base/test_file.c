/* SPDX-License-Identifier: BSD-2-Clause */
/* test_file.c - opening and reading what is there, whatever it is, without waiting. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/file.h"

struct open_case {
	const char *name;
	const char *path;		/* below the folder of the test, unless it starts with / */
	int err;
};

static char folder[] = "/tmp/test_file.XXXXXX";

static const struct open_case cases[] = {
	{ "a_regular_file_is_opened", "plain", 0 },
	{ "an_empty_device_is_opened", "/dev/null", 0 },
	{ "a_pipe_that_nobody_writes_to_is_refused_at_once", "pipe", -ENOTSUP },
	{ "a_folder_is_refused", ".", -EISDIR },
	{ "what_is_missing_is_said_to_be", "missing", -ENOENT },
	{ "a_link_to_itself_is_refused", "loop", -ELOOP },
};

static int make_folder(void **state)
{
	FILE *f;

	if (!mkdtemp(folder) || chdir(folder))
		return -1;
	f = fopen("plain", "w");
	if (!f || fputs("text", f) < 0 || fclose(f))
		return -1;
	return mkfifo("pipe", 0600) || symlink("loop", "loop");
}

static int remove_folder(void **state)
{
	return unlink("plain") || unlink("pipe") || unlink("loop") || chdir("/") || rmdir(folder);
}

static void opens(void **state)
{
	const struct open_case *c = *state;
	struct stat st;
	int fd = -1;
	FILE *f;

	alarm(5);			/* what waits would wait for ever */
	assert_int_equal(file_open(c->path, &fd, &st), c->err);
	errno = 0;
	f = file_stream(c->path);
	alarm(0);
	if (c->err) {
		assert_int_equal(fd, -1);
		assert_null(f);
		assert_int_equal(errno, -c->err);
		return;
	}
	assert_non_null(f);
	fclose(f);
	close(fd);
}

struct read_case {
	const char *name;
	const char *path;
	size_t max;
	int err;
	const char *text;
};

static const struct read_case read_cases[] = {
	{ "a_file_is_read_whole", "plain", 100, 0, "text" },
	{ "a_file_of_just_the_bound_is_read_whole", "plain", 4, 0, "text" },
	{ "a_longer_file_is_cut_at_the_bound", "plain", 3, 0, "tex" },
	{ "an_empty_device_is_read_as_nothing", "/dev/null", 100, 0, "" },
	{ "a_device_without_end_is_cut_at_the_bound", "/dev/zero", 3, 0, "\0\0\0" },
	{ "a_pipe_is_not_waited_for", "pipe", 100, -ENOTSUP, NULL },
	{ "a_folder_is_not_read", ".", 100, -EISDIR, NULL },
};

static void reads(void **state)
{
	const struct read_case *c = *state;
	size_t size = 0;
	char *text = NULL;

	alarm(5);
	assert_int_equal(file_read(c->path, c->max, &text, &size), c->err);
	alarm(0);
	if (c->err) {
		assert_null(text);
		return;
	}
	assert_int_equal(size, c->path[0] == '/' ? (c->path[5] == 'z' ? c->max : 0) : strlen(c->text));
	assert_memory_equal(text, c->text, size + 1);
	free(text);
}

static void what_is_written_is_there(void **state)
{
	char text[8] = "";
	size_t got = 99;
	int fd = open("written", O_RDWR | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(file_write(fd, "one", 3), 0);
	assert_int_equal(file_write(fd, "two", 3), 0);
	assert_int_equal(file_write(fd, NULL, 0), 0);
	assert_int_equal(file_sync_folder("written"), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(file_fill(fd, text, 4, &got), 0);
	assert_int_equal(got, 4);
	assert_string_equal(text, "onet");
	assert_int_equal(file_fill(fd, text, sizeof(text), &got), 0);
	assert_int_equal(got, 2);
	close(fd);
	assert_int_equal(unlink("written"), 0);
}

static void what_cannot_be_written_is_said(void **state)
{
	size_t got = 99;
	int fd = open("plain", O_RDONLY);

	assert_int_equal(file_write(fd, "x", 1), -EBADF);
	close(fd);
	fd = open("/dev/full", O_WRONLY);
	assert_int_equal(file_write(fd, "x", 1), -ENOSPC);
	close(fd);
	assert_int_equal(file_fill(-1, &got, 1, &got), -EBADF);
	assert_int_equal(got, 99);
	assert_int_equal(file_sync_folder("missing/file"), -ENOENT);
	assert_int_equal(file_sync_folder("plain/file"), -ENOTDIR);
}

#define READ_CASES (sizeof(read_cases) / sizeof(read_cases[0]))
#define CASES (sizeof(cases) / sizeof(cases[0]))

int main(void)
{
	struct CMUnitTest tests[CASES + READ_CASES + 2] = {
		[CASES + READ_CASES] = cmocka_unit_test(what_is_written_is_there), cmocka_unit_test(what_cannot_be_written_is_said),
	};
	size_t i;

	for (i = 0; i < CASES; i++)
		tests[i] = (struct CMUnitTest){ cases[i].name, opens, NULL, NULL, (void *)&cases[i] };
	for (i = 0; i < READ_CASES; i++)
		tests[CASES + i] = (struct CMUnitTest){ read_cases[i].name, reads, NULL, NULL, (void *)&read_cases[i] };
	return cmocka_run_group_tests_name("base/file", tests, make_folder, remove_folder);
}
