/* SPDX-License-Identifier: BSD-2-Clause */
/* test_lists.c - what is known of lists from URLs, and a fetch, with each allocation failing in its turn. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fault/alloc.h"
#include "lists/lists_read.h"
#include "lists/lists_store.h"
#include "unit/lists/rig.h"

static char folder[] = "/tmp/fault-lists-XXXXXX";
static char copies[64], file[64];

static void run_out(uv_loop_t *loop)
{
	while (uv_run(loop, UV_RUN_NOWAIT))
		usleep(1000);
}

static int keep_books(void)
{
	static const struct lists_row first[] = {
		{ "ads", "http://127.0.0.1:9/ads.txt", 3600, 0 }, { "malware", "https://127.0.0.1:9/m.txt?key=1", 86400, 1 },
	}, second[] = {
		{ "malware", "https://127.0.0.1:9/other.txt", 86400, 1 }, { "new", "http://u:p@127.0.0.1:9/n", 7200, 0 },
		{ "ads", "http://127.0.0.1:9/ads.txt", 7200, 0 },
	};
	struct lists_options o = { .folder = copies };
	struct lists_rows rows = { .row = first, .count = 2, .timeout_ms = 100 };
	struct lists_status st;
	struct err_at at = { 0 };
	struct lists *l = NULL;
	uv_loop_t loop;
	int err = uv_loop_init(&loop);

	if (err)
		return err;
	err = lists_new(&loop, &o, &l);
	if (!err)
		err = lists_set(l, &rows, &at);
	rows.row = second;
	rows.count = 3;
	if (!err) {
		err = lists_set(l, &rows, &at);
		/* on failure nothing has changed */
		assert_int_equal(lists_find(l, "new", &st), err ? -ENOENT : 0);
		assert_int_equal(lists_find(l, "ads", &st), 0);
	}
	if (!err)
		err = lists_refresh(l, NULL);
	if (!err) {
		lists_tick(l);
		assert_true(lists_sweep(l) <= 0);
	}
	lists_free(l);
	run_out(&loop);
	assert_int_equal(uv_loop_close(&loop), 0);
	return err;
}

static int read_file(void)
{
	struct err_at at = { 0 };
	char *text = NULL;
	size_t size = 0;
	int err = lists_read_file(file, &text, &size, &at);

	if (!err)
		assert_int_equal(size, strlen("||ad.example^\n"));
	free(text);
	return err;
}

static int copy(void)
{
	struct lists_meta meta = { .url = "http://u.example/", .etag = "\"1\"", .checked_s = 5, .changed_s = 5, .bytes = 3 }, got;
	struct lists_copy c;
	uint64_t bytes;
	int dir, err = lists_store_open(copies, &dir);

	if (err)
		return err;
	err = lists_copy_begin(&c, dir, "ads");
	if (!err) {
		err = lists_copy_write(&c, "abc", 3);
		if (!err)
			err = lists_copy_commit(&c);
		lists_copy_drop(&c);
	}
	if (!err)
		err = lists_store_meta(dir, "ads", &meta);
	if (!err)
		err = lists_store_look(dir, "ads", &got, &bytes);
	close(dir);
	return err;
}

/* Redirected once, with validators; of a failure that is not memory's nothing is known here. */
static void page(struct conn *c)
{
	static const char headers[] = "ETag: \"1\"\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n";
	static const char text[] = "||ad.example^\n||track.example^\n";
	char *packed;
	size_t size;

	if (!strcmp(c->path, "/moved")) {
		conn_page(c, 302, "Location: /list\r\n", "", 0);
	} else if (!strcmp(c->path, "/packed")) {
		packed = pack(text, sizeof(text) - 1, &size);
		conn_page(c, 200, "Content-Encoding: gzip\r\n", packed, size);
		free(packed);
	} else {
		conn_page(c, 200, headers, text, sizeof(text) - 1);
	}
}

static struct rig *rig;

/* What is in place afterwards is whole, or is not there. */
static int fetch_path(const char *path)
{
	enum lists_event event = rig_fetch(rig, path);
	unsigned failed = alloc_failed();
	char *got;

	alloc_fail(0);
	got = rig_file(rig, "ads");
	if (event != LISTS_FAILED || *got)
		assert_string_equal(got, "||ad.example^\n||track.example^\n");
	free(got);
	if (event == LISTS_FAILED) {
		assert_true(failed && rig->job.err < 0 && *rig->job.error);
		alloc_came();
		return -ENOMEM;
	}
	if (failed)
		alloc_came();
	return 0;
}

static int fetch_moved(void)
{
	return fetch_path("/moved");
}

static int fetch_packed(void)
{
	return fetch_path("/packed");
}

static const struct row {
	const char *name;
	int (*run)(void);
} rows[] = {
	{ "books are kept, or memory is out", keep_books },
	{ "a list is read from a file, or memory is out", read_file },
	{ "a copy is put in place, or memory is out", copy },
	{ "a list is fetched behind a redirect, or memory is out", fetch_moved },
	{ "a packed list is fetched, or memory is out", fetch_packed },
};

static void each_allocation_may_fail(void **state)
{
	const struct row *r = *state;

	printf("# figure: %s: %u runs\n", r->name, alloc_fail_each(r->run));
}

int main(void)
{
	struct CMUnitTest tests[sizeof(rows) / sizeof(rows[0])];
	static const char text[] = "||ad.example^\n";
	char command[96];
	unsigned i;
	int failed, fd;

	assert_non_null(mkdtemp(folder));
	snprintf(copies, sizeof(copies), "%s/lists", folder);
	snprintf(file, sizeof(file), "%s/list.txt", folder);
	fd = open(file, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, each_allocation_may_fail, NULL, NULL, (void *)&rows[i] };
	rig = rig_new(page);
	failed = _cmocka_run_group_tests("fault/lists", tests, i, NULL, NULL);
	rig_free(rig);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command) ? 1 : failed;
}
