/* SPDX-License-Identifier: BSD-2-Clause */
/* fetch.c - what the tests of a fetch look at. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tests/unit/lists/fetch.h"

void assert_file(struct rig *r, const char *name, const char *want)
{
	char *text = rig_file(r, name);

	assert_string_equal(text, want);
	free(text);
}

void assert_said(struct rig *r, const char *what)
{
	if (!strstr(r->job.error, what))
		print_error("\"%s\" does not say \"%s\"\n", r->job.error, what);
	assert_non_null(strstr(r->job.error, what));
	assert_null(strchr(r->job.error, '\n'));
}

void assert_failed(struct rig *r, const char *path, int err, const char *what, const char *stays)
{
	assert_int_equal(rig_fetch(r, path), LISTS_FAILED);
	assert_said(r, what);
	assert_int_equal(r->job.err, err);
	assert_file(r, "ads", stays);
	assert_file(r, "ads.new", "");
}

void put_old(struct rig *r)
{
	assert_int_equal(rig_fetch(r, "/old"), LISTS_CHANGED);
	assert_file(r, "ads", OLD);
}

bool is_old(struct conn *c)
{
	if (strcmp(c->path, "/old"))
		return false;
	conn_page(c, 200, "", OLD, strlen(OLD));
	return true;
}

void page_plain(struct conn *c)
{
	if (!is_old(c))
		conn_page(c, 200, "", NEW, strlen(NEW));
}
