/* SPDX-License-Identifier: BSD-2-Clause */
/* test_read.c - lists from files that others have their hands on. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "lists/lists_read.h"
#include "tests/unit/lists/rig.h"

#define TEXT "0.0.0.0 ads.example\n"

struct desk {
	char folder[64], path[96];
	unsigned times;			/* that the file was changed */
	unsigned until;			/* change it so often */
	const char *how;
};

static void put(const char *path, const char *text, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | flags, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static struct desk *desk_new(const char *text)
{
	struct desk *d = calloc(1, sizeof(*d));

	make_folder(d->folder, sizeof(d->folder));
	snprintf(d->path, sizeof(d->path), "%s/list.txt", d->folder);
	if (text)
		put(d->path, text, 0);
	return d;
}

static void desk_free(struct desk *d)
{
	remove_folder(d->folder);
	free(d);
}

static void a_file_is_read_whole(void **state)
{
	struct desk *d = desk_new(TEXT TEXT);
	struct err_at at = { .why = "" };
	size_t size = 0;
	char *text = NULL;

	assert_int_equal(lists_read_file(d->path, &text, &size, &at), 0);
	assert_string_equal(text, TEXT TEXT);
	assert_int_equal(size, strlen(TEXT TEXT));
	free(text);
	desk_free(d);
}

static void an_empty_file_is_an_empty_text(void **state)
{
	struct desk *d = desk_new("");
	size_t size = 1;
	char *text = NULL;

	assert_int_equal(lists_read_file(d->path, &text, &size, NULL), 0);
	assert_int_equal(size, 0);
	assert_string_equal(text, "");
	free(text);
	desk_free(d);
}

static void assert_refused(const char *path, int err, const char *said)
{
	struct err_at at = { .why = "" };
	char *text = NULL;
	size_t size;

	assert_int_equal(lists_read_file(path, &text, &size, &at), err);
	assert_null(text);
	assert_string_equal(at.file, path);
	assert_non_null(strstr(at.why, said));
}

static void what_is_no_plain_file_is_refused_without_waiting(void **state)
{
	struct desk *d = desk_new(NULL);

	assert_refused(d->folder, -EISDIR, "a folder");
	assert_int_equal(mkfifo(d->path, 0600), 0);
	assert_refused(d->path, -ENOTSUP, "no plain file");
	assert_refused("/dev/zero", -ENOTSUP, "no plain file");
	unlink(d->path);
	assert_refused(d->path, -ENOENT, "No such file");
	desk_free(d);
}

static void a_file_over_a_gibibyte_is_refused_unread(void **state)
{
	struct desk *d = desk_new(TEXT);

	assert_int_equal(truncate(d->path, (off_t)LISTS_FILE_MAX + 1), 0);
	assert_refused(d->path, -EFBIG, "larger than 1073741824 bytes");
	desk_free(d);
}

static void a_bound_is_the_last_size_that_is_taken(void **state)
{
	struct desk *d = desk_new(TEXT);
	struct lists_reading r = { .max = strlen(TEXT) };
	char *text = NULL;
	size_t size;

	assert_int_equal(lists_read_with(&r, d->path, &text, &size, NULL), 0);
	free(text);
	r.max--;
	assert_int_equal(lists_read_with(&r, d->path, &text, &size, NULL), -EFBIG);
	desk_free(d);
}

static void change(void *arg)
{
	struct timespec times[2] = { { 0, UTIME_NOW }, { 1000 + ((struct desk *)arg)->times, 0 } };
	struct desk *d = arg;

	if (d->times == d->until)
		return;
	d->times++;
	if (!strcmp(d->how, "grows"))
		put(d->path, TEXT, O_APPEND);
	else if (!strcmp(d->how, "shrinks"))
		assert_int_equal(truncate(d->path, (off_t)(200 - 20 * d->times)), 0);
	else
		assert_int_equal(utimensat(AT_FDCWD, d->path, times, 0), 0);
}

static const char *const ways[] = { "grows", "shrinks", "is_written_over" };

static void a_file_that_changes_once_is_read_again(void **state)
{
	unsigned i;

	for (i = 0; i < 3; i++) {
		struct desk *d = desk_new(TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT);
		struct lists_reading r = { .max = 1000, .between = change, .arg = d };
		char *text = NULL;
		struct stat st;
		size_t size;

		d->how = ways[i];
		d->until = 1;
		assert_int_equal(lists_read_with(&r, d->path, &text, &size, NULL), 0);
		assert_int_equal(stat(d->path, &st), 0);
		assert_int_equal(size, st.st_size);
		assert_int_equal(strlen(text), st.st_size);
		free(text);
		desk_free(d);
	}
}

static void a_file_that_keeps_changing_is_refused(void **state)
{
	unsigned i;

	for (i = 0; i < 3; i++) {
		struct desk *d = desk_new(TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT);
		struct lists_reading r = { .max = 1000, .between = change, .arg = d };
		struct err_at at = { .why = "" };
		char *text = NULL;
		size_t size;

		d->how = ways[i];
		d->until = 10;
		assert_int_equal(lists_read_with(&r, d->path, &text, &size, &at), -EAGAIN);
		assert_null(text);
		assert_int_equal(d->times, 2);
		assert_non_null(strstr(at.why, "changes while it is read"));
		desk_free(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_whole),
		cmocka_unit_test(an_empty_file_is_an_empty_text),
		cmocka_unit_test(what_is_no_plain_file_is_refused_without_waiting),
		cmocka_unit_test(a_file_over_a_gibibyte_is_refused_unread),
		cmocka_unit_test(a_bound_is_the_last_size_that_is_taken),
		cmocka_unit_test(a_file_that_changes_once_is_read_again),
		cmocka_unit_test(a_file_that_keeps_changing_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
