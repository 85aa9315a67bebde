/* SPDX-License-Identifier: BSD-2-Clause */
/* test_file.c - opening what is there, whatever it is, without waiting. */
#include <errno.h>
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
	{ "a_pipe_that_nobody_writes_to_is_refused_at_once", "pipe", -ESPIPE },
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

#define CASES (sizeof(cases) / sizeof(cases[0]))

int main(void)
{
	struct CMUnitTest tests[CASES];
	size_t i;

	for (i = 0; i < CASES; i++)
		tests[i] = (struct CMUnitTest){ cases[i].name, opens, NULL, NULL, (void *)&cases[i] };
	return cmocka_run_group_tests_name("base/file", tests, make_folder, remove_folder);
}
