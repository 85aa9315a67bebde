/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * db.h - opening a database of ours: its way of writing, its schema, its damage.
 *
 * Knows nothing of tables.  Errors of SQLite become errno and a sentence.
 */
#ifndef STORE_DB_H
#define STORE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <sys/types.h>
#include "base/err.h"

/* What SQLite said, as errno, with the database's own words in @reterr. */
int db_fail(sqlite3 *db, struct err_at *reterr);

/* Run statements that give no rows. */
int db_run(sqlite3 *db, const char *sql, struct err_at *reterr);

struct db_opts {
	const char *path;
	uid_t uid;			/* of a new file, when root makes it; -1: as it comes */
	gid_t gid;
	int application;		/* PRAGMA application_id */
	const char *const *steps;	/* schema.h */
	int version;			/* how many steps there are */
	const char *const *statements;	/* which the tables must take; NULL ends them */
};

/* Says why a database is only read; "" when it is written too. */
#define DB_WHY_MAX 256

/**
 * Open as state_open() says, but a damaged file is an error.
 *
 * @ret_read_only  a buffer of DB_WHY_MAX
 *
 * Returns as state_open(); -EBADMSG for a damaged file, closed and untouched.
 */
int db_open(const struct db_opts *o, sqlite3 **ret, char *ret_read_only, struct err_at *reterr);

/**
 * Move a damaged database aside: PATH becomes PATH.damaged, or PATH.damaged.2 ... 9.
 *
 * Returns 0 or a negative errno with @reterr; -EEXIST when all of these names are taken.
 */
int db_set_aside(const char *path, struct err_at *reterr);

/* Write the name of the last file that was set aside and is still there; false when there is none. */
bool db_aside(const char *path, char *buf, size_t size);

#endif
