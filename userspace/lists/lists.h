/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lists.h - lists: fetched from URLs and kept fresh, or read from files.
 *
 * One object on a uv loop; all calls and callbacks are on that loop's thread.
 * Given rows, it keeps the last good copy of each list in a folder and calls
 * back after each try.  One list is fetched at a time, on a thread of uv's
 * pool; nothing here waits for it.
 *
 * A copy is replaced as a whole or not at all: whatever fails, the last good
 * one stays where it is.  After a good try the next is due after the refresh
 * interval, after a failure after 1, 2, 4 ... minutes, never more than the
 * interval; up to an eighth is taken off at random, so that machines that
 * failed together do not come back together.  Both outlive a restart, as the
 * time of the last good try is kept beside the copy.
 *
 * Nothing is logged: the callback is told.
 */
#ifndef LISTS_LISTS_H
#define LISTS_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>
#include "base/addr.h"
#include "base/err.h"

#define LISTS_MAX         1024
#define LISTS_NAME_MAX    64		/* with its end */
#define LISTS_SERVERS_MAX 16
#define LISTS_WHY_MAX     1024
#define LISTS_FILE_MAX    (1ULL << 30)	/* of a list read from a file */

struct lists;

enum lists_event {
	LISTS_CHANGED,			/* a new copy is in place */
	LISTS_UNCHANGED,		/* the server has what we have */
	LISTS_FAILED,			/* the last good copy, if there is one, stays */
};

/* What is known of a list.  Times are seconds since 1970, 0: never. */
struct lists_status {
	const char *name;
	const char *url;		/* as configured: may hold a password */
	const char *shown;		/* the same without user, password and query */
	const char *path;		/* of the copy */
	bool have;			/* there is a good copy at @path */
	bool fetching;			/* at this moment */
	uint64_t bytes;			/* of the copy */
	int64_t last_try_s;
	int64_t last_good_s;		/* last time that the copy was fetched or found unchanged */
	int64_t changed_s;		/* when the copy was fetched */
	int64_t next_try_s;
	unsigned failures;		/* in a row */
	uint64_t tries, changed, unchanged, failed;	/* since the start */
	const char *error;		/* why the last try failed; "" when it did not */
	const char *note;		/* what is odd about the copy though it was taken; "" when nothing */
};

/*
 * After a try.  @s and what it points to are borrowed for the call, and gone
 * after lists_set(); any function here may be called from within.
 */
typedef void (*lists_done)(void *arg, enum lists_event event, const struct lists_status *s);

struct lists_options {
	const char *folder;		/* made when it is not there; 0700 */
	const char *ca_file;		/* PEM of the authorities trusted for https; NULL: the system's */
	int64_t (*now_s)(void);		/* seconds since 1970; NULL: the clock (tests give another) */
	lists_done done;
	void *arg;
};

struct lists_row {
	const char *name;		/* unique */
	const char *url;		/* http or https */
	unsigned refresh_s;
	unsigned format;		/* enum list_format, of policy/list.h */
};

struct lists_rows {
	const struct lists_row *row;
	unsigned count;			/* .. LISTS_MAX */
	const struct addr *servers;	/* that names are asked of, in order, with ports; not our own listeners */
	unsigned server_count;		/* .. LISTS_SERVERS_MAX */
	unsigned timeout_ms;		/* for one try, names and redirects included; not 0 */
	uint64_t max_bytes;		/* of a list, unpacked; 0: no bound */
};

/**
 * Make the object; it does nothing until it is given rows.
 *
 * Returns 0; -ENOMEM; or uv's error.
 */
int lists_new(uv_loop_t *loop, const struct lists_options *o, struct lists **ret);

/**
 * End it: a fetch under way is cancelled (within some tenths of a second),
 * nobody is called back any more.  The memory goes when the loop has run its
 * callbacks, so run the loop until it has no handles left.  NULL is taken.
 */
void lists_free(struct lists *l);

/**
 * Replace the rows; all is copied.
 *
 * A list of the same name keeps its state; with another URL it is due at
 * once, its copy staying in place until there is a new one.  A new name takes
 * over the copy that an earlier run left.  A fetch whose row is gone or
 * changed is cancelled.  Files of lists that are gone stay: lists_sweep().
 *
 * Returns 0; -EINVAL with @reterr for too many rows or servers, a name that
 * comes twice or is too long, an URL that is none; -ENOMEM.  On failure
 * nothing has changed.
 */
int lists_set(struct lists *l, const struct lists_rows *rows, struct err_at *reterr);

/**
 * Make a list due now, or all with a @name of NULL.
 *
 * Returns 0, or -ENOENT when there is no such list.
 */
int lists_refresh(struct lists *l, const char *name);

/* Start what is due; the object's own timer does it at the right time, at least once a minute. */
void lists_tick(struct lists *l);

/* Remove files in the folder of lists that have no row.  Returns how many, or a negative errno. */
int lists_sweep(struct lists *l);

/**
 * What is known of the list of this name; -ENOENT when there is none.
 *
 * @ret  points into the object: good until the loop runs on
 */
int lists_find(const struct lists *l, const char *name, struct lists_status *ret);

/**
 * Say what happened and what comes: "not fetched, the copy of ... stays:
 * https://host/path: HTTP status 404; tried again at ...".  Returns @buf.
 */
const char *lists_say(enum lists_event event, const struct lists_status *s, char *buf, size_t size);

/**
 * Seconds from a try to the next.
 *
 * @failures   in a row; 0: the try was good
 * @random     any number: takes off up to an eighth
 */
unsigned lists_delay_s(unsigned failures, unsigned refresh_s, uint32_t random);

/**
 * Read a list from a file, any thread.
 *
 * A file that changes while it is read is read once more, and then refused:
 * half of one list and half of another is neither.
 *
 * @ret       the text and a zero behind it, the caller's
 * @ret_size  bytes without that zero
 *
 * Returns 0; -EISDIR; -ENOTSUP for what is no plain file; -EFBIG over
 * LISTS_FILE_MAX; -EAGAIN when it kept changing; -ENOMEM; or the errno of
 * open() or read().  @reterr says why, with the path.
 */
int lists_read_file(const char *path, char **ret, size_t *ret_size, struct err_at *reterr);

#endif
