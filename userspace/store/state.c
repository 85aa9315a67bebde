/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * state.c - objects and pauses in state.db.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "store/db.h"
#include "store/schema.h"
#include "store/state.h"

struct state {
	sqlite3 *db;
	bool changing;			/* between begin and commit */
	char damage[512];
	char read_only[DB_WHY_MAX];
	char *path;
	uid_t uid;
	gid_t gid;
};

/* All that is asked of the database; db_open() tries whether its tables take them. */
enum { READ_OBJECTS, READ_PAUSES, PUT_OBJECT, DELETE_OBJECT, SET_PAUSE, CLEAR_PAUSE, STATEMENTS };
static const char *const statements[STATEMENTS + 1] = {
	[READ_OBJECTS] = "SELECT kind, name, body, created, changed FROM object WHERE ?1 IS NULL OR kind = ?1 ORDER BY rowid",
	[READ_PAUSES] = "SELECT scope, name, until FROM pause ORDER BY rowid",
	[PUT_OBJECT] = "INSERT INTO object (kind, name, body, created, changed) VALUES (?1, ?2, ?3, ?4, ?4)"
		       " ON CONFLICT (kind, name) DO UPDATE SET body = ?3, changed = ?4",
	[DELETE_OBJECT] = "DELETE FROM object WHERE kind = ?1 AND name = ?2",
	[SET_PAUSE] = "INSERT INTO pause (scope, name, until) VALUES (?1, ?2, ?3)"
		      " ON CONFLICT (scope, name) DO UPDATE SET until = ?3",
	[CLEAR_PAUSE] = "DELETE FROM pause WHERE scope = ?1 AND name = ?2",
};

static int open_file(const struct state *s, sqlite3 **ret, char *ret_read_only, struct err_at *reterr)
{
	struct db_opts o = { .path = s->path, .uid = s->uid, .gid = s->gid, .application = SCHEMA_APPLICATION,
			     .steps = schema_steps, .version = SCHEMA_VERSION, .statements = statements };

	return db_open(&o, ret, ret_read_only, reterr);
}

int state_open(const char *path, uid_t uid, gid_t gid, struct state **ret, struct err_at *reterr)
{
	struct state *s = calloc(1, sizeof(*s));
	char aside[4096];
	int err;

	if (!s)
		return err_why(reterr, -ENOMEM, "out of memory");
	s->path = strdup(path);
	s->uid = uid;
	s->gid = gid;
	err = s->path ? open_file(s, &s->db, s->read_only, reterr) : err_why(reterr, -ENOMEM, "out of memory");
	if (err == -EBADMSG) {
		err = db_set_aside(path, reterr);
		if (!err)
			err = open_file(s, &s->db, s->read_only, reterr);
	}
	if (err) {
		state_close(s);
		return err;
	}
	if (db_aside(path, aside, sizeof(aside)))
		snprintf(s->damage, sizeof(s->damage), "the state database was damaged and lies in %.300s: "
			 "what millctl had made is not in force unless it was made again; "
			 "remove that file when it is done with",
			 aside);
	*ret = s;
	return 0;
}

void state_close(struct state *s)
{
	if (!s)
		return;
	/* Closing undoes what is not committed. */
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

const char *state_damage(const struct state *s)
{
	return s->damage;
}

const char *state_read_only(const struct state *s)
{
	return s->read_only;
}

/* ---- reading ---- */

static const char *text(sqlite3_stmt *q, int column)
{
	const char *t = (const char *)sqlite3_column_text(q, column);

	return t ? t : "";
}

/* Step through a query (taken); @row hands one row on. */
static int each_row(struct state *s, sqlite3_stmt *q, int (*row)(sqlite3_stmt *q, void *arg), void *arg,
		    struct err_at *reterr)
{
	int code, err = 0;

	while ((code = sqlite3_step(q)) == SQLITE_ROW && !err)
		err = row(q, arg);
	if (code != SQLITE_DONE && !err)
		err = db_fail(s->db, reterr);
	sqlite3_finalize(q);
	return err;
}

struct object_each {
	int (*each)(void *arg, const struct state_object *o);
	void *arg;
};

static int object_row(sqlite3_stmt *q, void *arg)
{
	const struct object_each *e = arg;
	struct state_object o = { .kind = text(q, 0), .name = text(q, 1), .body = text(q, 2),
				  .created_s = sqlite3_column_int64(q, 3), .changed_s = sqlite3_column_int64(q, 4) };

	return e->each(e->arg, &o);
}

int state_each(struct state *s, const char *kind, int (*each)(void *arg, const struct state_object *o), void *arg,
	       struct err_at *reterr)
{
	struct object_each e = { .each = each, .arg = arg };
	sqlite3_stmt *q;

	if (sqlite3_prepare_v2(s->db, statements[READ_OBJECTS], -1, &q, NULL) != SQLITE_OK)
		return db_fail(s->db, reterr);
	if (kind)
		sqlite3_bind_text(q, 1, kind, -1, SQLITE_STATIC);
	return each_row(s, q, object_row, &e, reterr);
}

struct pause_each {
	int (*each)(void *arg, const struct state_pause *p);
	void *arg;
};

static int pause_row(sqlite3_stmt *q, void *arg)
{
	const struct pause_each *e = arg;
	struct state_pause p = { .scope = text(q, 0), .name = text(q, 1), .until_s = sqlite3_column_int64(q, 2) };

	return e->each(e->arg, &p);
}

int state_pause_each(struct state *s, int (*each)(void *arg, const struct state_pause *p), void *arg,
		     struct err_at *reterr)
{
	struct pause_each e = { .each = each, .arg = arg };
	sqlite3_stmt *q;

	if (sqlite3_prepare_v2(s->db, statements[READ_PAUSES], -1, &q, NULL) != SQLITE_OK)
		return db_fail(s->db, reterr);
	return each_row(s, q, pause_row, &e, reterr);
}

/* ---- changing ---- */

int state_writable(struct state *s, struct err_at *reterr)
{
	char read_only[DB_WHY_MAX] = "";
	struct err_at at = { 0 };
	sqlite3 *db = NULL;
	int err;

	if (!*s->read_only)
		return 0;
	err = open_file(s, &db, read_only, &at);
	if (err)
		return err_why(reterr, err == -ENOMEM || err == -EBUSY ? err : -EROFS,
			       "the state database cannot be opened again: %s", at.why);
	/* What is read is what lies there now, too. */
	sqlite3_close(s->db);
	s->db = db;
	memcpy(s->read_only, read_only, sizeof(read_only));
	return *read_only ? err_why(reterr, -EROFS, "the state database cannot be written: %s", read_only) : 0;
}

int state_begin(struct state *s, struct err_at *reterr)
{
	int err = state_writable(s, reterr);

	if (!err)
		err = db_run(s->db, "BEGIN IMMEDIATE", reterr);
	s->changing = !err;
	return err;
}

int state_commit(struct state *s, struct err_at *reterr)
{
	int err = db_run(s->db, "COMMIT", reterr);

	if (err)
		state_rollback(s);
	s->changing = false;
	return err;
}

void state_rollback(struct state *s)
{
	if (!s->changing)
		return;
	/* Some errors have undone it already: then there is nothing to undo. */
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	s->changing = false;
}

static int bounded(const char *what, const char *value, size_t max, struct err_at *reterr)
{
	if (!*value)
		return err_why(reterr, -EINVAL, "the %s is empty", what);
	if (strlen(value) >= max)
		return err_why(reterr, -EINVAL, "the %s is longer than %zu bytes", what, max - 1);
	return 0;
}

/* Run a statement (its texts are bound, NULL ends them; then a number, if @number is asked for). */
static int change(struct state *s, const char *sql, const char *const *texts, const int64_t *number, struct err_at *reterr)
{
	sqlite3_stmt *q = NULL;
	int err = state_writable(s, reterr), i = 0;

	if (err)
		return err;
	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
		return db_fail(s->db, reterr);
	for (; texts[i]; i++)
		sqlite3_bind_text(q, i + 1, texts[i], -1, SQLITE_STATIC);
	if (number)
		sqlite3_bind_int64(q, i + 1, *number);
	if (sqlite3_step(q) != SQLITE_DONE)
		err = db_fail(s->db, reterr);
	sqlite3_finalize(q);
	return err;
}

int state_put(struct state *s, const char *kind, const char *name, const char *body, int64_t now_s, struct err_at *reterr)
{
	const char *texts[] = { kind, name, body, NULL };
	int err = bounded("kind", kind, STATE_KIND_MAX, reterr);

	if (!err)
		err = bounded("name", name, STATE_NAME_MAX, reterr);
	if (!err)
		err = bounded("body", body, STATE_BODY_MAX, reterr);
	if (err)
		return err;
	return change(s, statements[PUT_OBJECT], texts, &now_s, reterr);
}

int state_delete(struct state *s, const char *kind, const char *name, struct err_at *reterr)
{
	const char *texts[] = { kind, name, NULL };
	int err = change(s, statements[DELETE_OBJECT], texts, NULL, reterr);

	if (!err && !sqlite3_changes(s->db))
		err = err_why(reterr, -ENOENT, "there is no %s \"%.200s\"", kind, name);
	return err;
}

int state_pause_set(struct state *s, const struct state_pause *p, struct err_at *reterr)
{
	const char *texts[] = { p->scope, p->name, NULL };

	return change(s, statements[SET_PAUSE], texts, &p->until_s, reterr);
}

int state_pause_clear(struct state *s, const char *scope, const char *name, struct err_at *reterr)
{
	const char *texts[] = { scope, name, NULL };
	int err = change(s, statements[CLEAR_PAUSE], texts, NULL, reterr);

	if (!err && !sqlite3_changes(s->db))
		err = err_why(reterr, -ENOENT, "there is no such pause");
	return err;
}
