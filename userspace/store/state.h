/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * state.h - the state database: what was made by millctl or the API, and pauses.
 *
 * One file (state.db), one connection, one thread: control's.  A change that
 * was acknowledged is on the disk.  What the objects say is not known here:
 * bodies are text.  Only this room knows sqlite3.
 */
#ifndef STORE_STATE_H
#define STORE_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"

#define STATE_KIND_MAX 32		/* bytes, each with its end */
#define STATE_NAME_MAX 4224
#define STATE_BODY_MAX (1U << 20)

struct state;

/* An object as it is stored; borrowed for the call. */
struct state_object {
	const char *kind;		/* "list", "rule" ... */
	const char *name;		/* unique within its kind */
	const char *body;		/* JSON */
	int64_t created_s;		/* since 1970 */
	int64_t changed_s;
};

struct state_pause {
	const char *scope;		/* "all", "group" or "client" */
	const char *name;		/* of the group or client; "" for all */
	int64_t until_s;		/* since 1970; 0: until it is ended */
};

/**
 * Open the database, make it when there is none, bring its schema up to date.
 *
 * A file that is damaged (its pages do not agree, or it is no database) is
 * moved aside as PATH.damaged, and an empty one takes its place: state_damage().
 * One that cannot be written is opened for reading: state_put() and the like
 * then fail with -EROFS.
 *
 * @uid  @gid  owner of what is made, when root opens it; -1: as it comes
 *
 * Returns 0; -EPROTONOSUPPORT when a newer version wrote it, or it is a
 * database of something else (it is not touched); -EBUSY when another process
 * keeps it locked; -EROFS, -EACCES, -ENOSPC when it can be neither made nor
 * read; -EIO; -ENOMEM.  @reterr says why.
 */
int state_open(const char *path, uid_t uid, gid_t gid, struct state **ret, struct err_at *reterr);

/* Takes NULL.  A transaction that is open is undone. */
void state_close(struct state *s);

/* What is to be said of a damaged file that lies beside the database; "" when there is none. */
const char *state_damage(const struct state *s);

/* Why the database cannot be written, with its name; "" when it can. */
const char *state_read_only(const struct state *s);

/**
 * Can the database be written?  One that was opened for reading is opened anew.
 *
 * All changes ask that themselves.  Returns 0 or a negative errno with
 * @reterr: the reason as it is now, which state_read_only() says from then on.
 */
int state_writable(struct state *s, struct err_at *reterr);

/**
 * Call @each for every object of a kind (NULL: of all), in the order in which they were made.
 *
 * Returns 0; what @each returned when that was not 0, which ends it; or a negative errno with @reterr.
 */
int state_each(struct state *s, const char *kind, int (*each)(void *arg, const struct state_object *o), void *arg,
	       struct err_at *reterr);

/**
 * Changes between these two are one: all of them are on the disk when
 * state_commit() returned 0, none of them when it failed or was never called.
 * A change outside is a transaction of its own.
 *
 * All changes return 0 or, with @reterr, -EROFS, -ENOSPC (disk full), -EBUSY,
 * -EIO, -EINVAL (a name or body over its bound, or empty), -ENOMEM: what was
 * there before stays.
 */
int state_begin(struct state *s, struct err_at *reterr);
int state_commit(struct state *s, struct err_at *reterr);
void state_rollback(struct state *s);

/* Make an object or replace its body; @now_s since 1970. */
int state_put(struct state *s, const char *kind, const char *name, const char *body, int64_t now_s,
	      struct err_at *reterr);

/* Also -ENOENT when there is no such object. */
int state_delete(struct state *s, const char *kind, const char *name, struct err_at *reterr);

/* Set a pause, or another end of it. */
int state_pause_set(struct state *s, const struct state_pause *p, struct err_at *reterr);

/* Forget a pause; also -ENOENT. */
int state_pause_clear(struct state *s, const char *scope, const char *name, struct err_at *reterr);

/* As state_each(). */
int state_pause_each(struct state *s, int (*each)(void *arg, const struct state_pause *p), void *arg,
		     struct err_at *reterr);

#endif
