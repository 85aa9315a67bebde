/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fetch_body.c - what servers send as a list, and a folder that does not take it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
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
#include <unistd.h>
#include <cmocka.h>
#include "tests/unit/lists/fetch.h"

/* ---- bodies ------------------------------------------------------------------------ */

struct body_case {
	const char *path, *body;
	size_t size;
	int err;
	const char *said;
};

static const struct body_case bodies[] = {
	{ "/empty", "", 0, -ENODATA, "the answer is empty" },
	{ "/html", "<!DOCTYPE html>\n<html><body>0.0.0.0 ads.example\n", 48, -EILSEQ, "HTML" },
	{ "/html2", "\n  <HTML lang=en>\n", 18, -EILSEQ, "HTML" },
	{ "/binary", "\177ELF\2\1\1\0\0\0\0\0", 12, -EILSEQ, "refused as a list" },
	{ "/gz", "\037\213\10\0\0\0\0\0", 8, -EILSEQ, "compressed" },
	{ "/json", "{\"error\":\"rate limit\"}\n", 23, -EILSEQ, "JSON" },
	{ "/words", "404: Not Found\n", 15, -EILSEQ, "none of its lines is a rule" },
};

static void page_bodies(struct conn *c)
{
	unsigned i;

	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]) && !is_old(c); i++)
		if (!strcmp(bodies[i].path, c->path))
			conn_page(c, 200, "", bodies[i].body, bodies[i].size);
}

static void what_is_no_list_is_refused_and_the_old_one_stays(void **state)
{
	struct rig *r = rig_new(page_bodies);
	unsigned i;

	put_old(r);
	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		assert_failed(r, bodies[i].path, bodies[i].err, bodies[i].said, OLD);
	rig_free(r);
}

/* An HTML page that goes on for ever. */
static void page_endless_html(struct conn *c)
{
	char junk[4096];

	memset(junk, 'x', sizeof(junk));
	conn_say(c, "HTTP/1.1 200 OK\r\n\r\n<!doctype html>\n");
	while (conn_send(c, junk, sizeof(junk)))
		;
}

static void what_is_no_list_is_not_read_to_its_end(void **state)
{
	struct rig *r = rig_new(page_endless_html);

	r->job.max_bytes = 0;
	assert_failed(r, "/list", -EILSEQ, "HTML", "");
	rig_free(r);
}

/* One line without an end. */
static void page_endless_line(struct conn *c)
{
	char line[65536];

	memset(line, 'x', sizeof(line));
	if (is_old(c))
		return;
	conn_say(c, "HTTP/1.1 200 OK\r\n%s\r\n", strcmp(c->path, "/announced") ? "" : "Content-Length: 1073741824\r\n");
	while (conn_send(c, line, sizeof(line)))
		;
}

static void a_line_of_a_gibibyte_ends_at_the_bound(void **state)
{
	struct rig *r = rig_new(page_endless_line);

	put_old(r);
	assert_failed(r, "/line", -EMSGSIZE, "longer than 1048576 bytes", OLD);
	assert_failed(r, "/announced", -EMSGSIZE, "longer than 1048576 bytes", OLD);
	rig_free(r);
}

static void page_shrunk(struct conn *c)
{
	char big[4096];
	size_t at;

	for (at = 0; at + 32 < sizeof(big);)
		at += (size_t)sprintf(big + at, "0.0.0.0 n%zu.example\n", at);
	conn_page(c, 200, "", c->n == 1 ? big : NEW, c->n == 1 ? at : strlen(NEW));
}

static void a_list_that_shrank_to_under_a_tenth_is_taken_and_said(void **state)
{
	struct rig *r = rig_new(page_shrunk);

	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	assert_string_equal(r->job.note, "");
	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	assert_non_null(strstr(r->job.note, "shrank from 40"));
	assert_file(r, "ads", NEW);
	rig_free(r);
}

/* Fewer octets than were announced. */
static void page_short(struct conn *c)
{
	if (is_old(c))
		return;
	if (!strcmp(c->path, "/length"))
		conn_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" NEW);
	else if (!strcmp(c->path, "/chunk"))
		conn_say(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n" NEW "\r\n");
	else if (!strcmp(c->path, "/header"))
		conn_say(c, "HTTP/1.1 200 OK\r\nContent-Le");
	else if (!strcmp(c->path, "/junk"))
		conn_say(c, "220 mail.example ESMTP\r\n");
}

static void a_body_that_ended_early_is_a_failure(void **state)
{
	struct rig *r = rig_new(page_short);

	put_old(r);
	assert_failed(r, "/length", -EPROTO, "bytes remaining", OLD);
	assert_failed(r, "/chunk", -EPROTO, "chunk", OLD);
	assert_int_equal(rig_fetch(r, "/header"), LISTS_FAILED);
	assert_failed(r, "/nothing", -EPROTO, "Empty reply", OLD);
	assert_int_equal(rig_fetch(r, "/junk"), LISTS_FAILED);
	assert_file(r, "ads", OLD);
	rig_free(r);
}

/* ---- gzip ---------------------------------------------------------------------------- */

#define GZIP "Content-Encoding: gzip\r\n"

static void page_gzip(struct conn *c)
{
	char text[20000], *packed;
	size_t at, size;

	if (is_old(c))
		return;
	for (at = 0; at + 64 < sizeof(text);)
		at += (size_t)sprintf(text + at, "0.0.0.0 n%zu-%llx.example\n", at, (unsigned long long)(at * 0x9e3779b97f4a7c15ULL));
	packed = pack(text, at, &size);
	if (!strcmp(c->path, "/crc"))
		packed[size - 6] ^= 1;
	if (!strcmp(c->path, "/bits"))
		packed[size / 2] ^= 0x55;
	if (!strcmp(c->path, "/twice") && conn_say(c, "HTTP/1.1 200 OK\r\n" GZIP "\r\n") && conn_send(c, packed, size))
		conn_send(c, packed, size);
	else if (!strcmp(c->path, "/cut"))
		conn_page(c, 200, GZIP, packed, size / 2);
	else if (!strcmp(c->path, "/trailer"))
		conn_page(c, 200, GZIP, packed, size - 8);
	else if (!strcmp(c->path, "/unsaid") && conn_say(c, "HTTP/1.1 200 OK\r\n" GZIP "\r\n"))
		conn_send(c, packed, size / 2);
	else if (!strcmp(c->path, "/plain"))
		conn_page(c, 200, GZIP, text, at);
	else if (!strcmp(c->path, "/br"))
		conn_page(c, 200, "Content-Encoding: br\r\n", text, at);
	else if (strcmp(c->path, "/twice"))
		conn_page(c, 200, GZIP, packed, size);
	free(packed);
}

static void gzip_is_unpacked(void **state)
{
	struct rig *r = rig_new(page_gzip);
	char *text;

	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	assert_in_range(r->job.bytes, 19000, 20000);
	text = rig_file(r, "ads");
	assert_int_equal(strlen(text), r->job.bytes);
	assert_memory_equal(text, "0.0.0.0 n0-0.example\n", 21);
	free(text);
	rig_free(r);
}

static void several_members_of_gzip_are_one_text(void **state)
{
	struct rig *r = rig_new(page_gzip);
	uint64_t once;

	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	once = r->job.bytes;
	assert_int_equal(rig_fetch(r, "/twice"), LISTS_CHANGED);
	assert_int_equal(r->job.bytes, 2 * once);
	rig_free(r);
}

static void damaged_or_cut_gzip_is_a_failure(void **state)
{
	static const char *const paths[] = { "/crc", "/bits", "/cut", "/trailer", "/unsaid", "/plain" };
	struct rig *r = rig_new(page_gzip);
	unsigned i;

	put_old(r);
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_failed(r, paths[i], -EBADMSG, "gzip", OLD);
	assert_failed(r, "/br", -EPROTONOSUPPORT, "\"br\"", OLD);
	rig_free(r);
}

static void page_bomb(struct conn *c)
{
	size_t size, zeros = 64 << 20;
	char *text, *packed;

	if (is_old(c))
		return;
	text = malloc(zeros);
	memset(text, 'a', zeros);
	packed = pack(text, zeros, &size);
	free(text);
	conn_page(c, 200, GZIP, packed, size);
	free(packed);
}

static void a_gzip_bomb_ends_at_the_bound(void **state)
{
	struct rig *r = rig_new(page_bomb);

	put_old(r);
	assert_failed(r, "/bomb", -EMSGSIZE, "longer than 1048576 bytes", OLD);
	rig_free(r);
}

/* ---- the folder ---------------------------------------------------------------------------- */

static void a_folder_that_cannot_be_made_is_said(void **state)
{
	struct rig *r = rig_new(page_plain);
	int fd = open(r->lists, O_CREAT | O_WRONLY, 0600);

	close(fd);
	assert_int_equal(rig_fetch(r, "/list"), LISTS_FAILED);
	assert_said(r, r->lists);
	assert_said(r, "Not a directory");
	assert_int_equal(r->http.requests, 0);
	rig_free(r);
}

static void a_full_folder_keeps_the_old_copy(void **state)
{
	struct rig *r = rig_new(page_gzip);
	struct rlimit old, small = { 4096, 4096 };

	put_old(r);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(rig_fetch(r, "/list"), LISTS_FAILED);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(r->job.err, -EFBIG);
	assert_said(r, "cannot be written in ");
	assert_file(r, "ads", OLD);
	assert_file(r, "ads.new", "");
	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	rig_free(r);
}

/* A file system of its own in a mount namespace of its own: really full, really read-only. */
static bool mount_small(const char *where)
{
	static bool have_own;

	if (!have_own && (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)))
		return false;
	have_own = true;
	mkdir(where, 0700);
	return !mount("tmpfs", where, "tmpfs", 0, "size=8k");
}

static void a_full_disk_keeps_the_old_copy(void **state)
{
	struct rig *r = rig_new(page_gzip);

	if (!mount_small(r->lists)) {
		rig_free(r);
		skip();
	}
	put_old(r);
	assert_failed(r, "/list", -ENOSPC, "No space left on device", OLD);
	umount2(r->lists, MNT_DETACH);
	rig_free(r);
}

static void a_folder_that_is_read_only_keeps_the_old_copy(void **state)
{
	struct rig *r = rig_new(page_plain);

	if (!mount_small(r->lists)) {
		rig_free(r);
		skip();
	}
	put_old(r);
	assert_int_equal(mount(NULL, r->lists, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	assert_failed(r, "/list", -EROFS, "Read-only file system", OLD);
	umount2(r->lists, MNT_DETACH);
	rig_free(r);
}

static void what_stands_in_the_way_of_the_temporary_file_is_not_written_through(void **state)
{
	struct rig *r = rig_new(page_plain);
	char link[128], target[128];
	struct stat st;

	put_old(r);
	snprintf(link, sizeof(link), "%s/ads.new", r->lists);
	snprintf(target, sizeof(target), "%s/precious", r->folder);
	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(rig_fetch(r, "/list"), LISTS_CHANGED);
	assert_int_equal(stat(target, &st), -1);
	assert_file(r, "ads", NEW);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_list_is_refused_and_the_old_one_stays),
		cmocka_unit_test(what_is_no_list_is_not_read_to_its_end),
		cmocka_unit_test(a_line_of_a_gibibyte_ends_at_the_bound),
		cmocka_unit_test(a_list_that_shrank_to_under_a_tenth_is_taken_and_said),
		cmocka_unit_test(a_body_that_ended_early_is_a_failure),
		cmocka_unit_test(gzip_is_unpacked),
		cmocka_unit_test(several_members_of_gzip_are_one_text),
		cmocka_unit_test(damaged_or_cut_gzip_is_a_failure),
		cmocka_unit_test(a_gzip_bomb_ends_at_the_bound),
		cmocka_unit_test(a_folder_that_cannot_be_made_is_said),
		cmocka_unit_test(a_full_folder_keeps_the_old_copy),
		cmocka_unit_test(a_full_disk_keeps_the_old_copy),
		cmocka_unit_test(a_folder_that_is_read_only_keeps_the_old_copy),
		cmocka_unit_test(what_stands_in_the_way_of_the_temporary_file_is_not_written_through),
	};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
