/* SPDX-License-Identifier: BSD-2-Clause */
/* rig.c - a folder of the test's own with a state.db in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sqlite3.h>
#include "unit/store/rig.h"

char folder[64], path[96];

int make_folder(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/test_state.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/state.db", folder);
	return 0;
}

int remove_folder(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

struct state *open_ok(void)
{
	struct err_at at = { .why = "" };
	struct state *s = NULL;

	if (state_open(path, (uid_t)-1, (gid_t)-1, &s, &at))
		fail_msg("%s", at.why);
	return s;
}

int open_fails(struct err_at *at)
{
	struct state *s = NULL;
	int err;

	memset(at, 0, sizeof(*at));
	err = state_open(path, (uid_t)-1, (gid_t)-1, &s, at);
	if (!err)
		state_close(s);
	return err;
}

void put_ok(struct state *s, const char *kind, const char *name, const char *body)
{
	struct err_at at = { .why = "" };

	if (state_put(s, kind, name, body, NOW, &at))
		fail_msg("%s", at.why);
}

int see(void *arg, const struct state_object *o)
{
	struct seen *s = arg;
	size_t n = strlen(s->text);

	snprintf(s->text + n, sizeof(s->text) - n, "%s %s %s\n", o->kind, o->name, o->body);
	return 0;
}

int see_pause(void *arg, const struct state_pause *p)
{
	struct seen *s = arg;
	size_t n = strlen(s->text);

	snprintf(s->text + n, sizeof(s->text) - n, "%s %s %lld\n", p->scope, p->name, (long long)p->until_s);
	return 0;
}

void expect(struct state *s, const char *kind, const char *text)
{
	struct seen seen = { "" };

	assert_int_equal(state_each(s, kind, see, &seen, NULL), 0);
	assert_string_equal(seen.text, text);
}

/* Run SQL of the test's own on the file. */
void raw(const char *sql)
{
	char *said = NULL;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &said))
		fail_msg("%s", said);
	sqlite3_close(db);
}
