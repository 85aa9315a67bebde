/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lmdb.h - the cache's answers on disk, so that a restart begins with them.
 *
 * Stands behind the cache (cache/backend.h).  A thread of its own is the only
 * one that touches the database: it takes what the cache kept from a bounded
 * queue and commits it in groups, some times a second.  No other thread ever
 * waits for it but who flushes.  Whatever is wrong with the database, the cache
 * in memory goes on alone, and the database is tried again.
 *
 * The database is a log (docs/adr/0018): blocks of answers in the order in which they
 * came.  Only this room knows lmdb.
 */
#ifndef STORE_LMDB_H
#define STORE_LMDB_H

#include <sys/types.h>
#include "base/err.h"
#include "cache/backend.h"

struct lmdb;

/* As enum config_lmdb_sync. */
enum lmdb_sync {
	LMDB_SYNC_FULL,			/* each commit is on the disk before the next */
	LMDB_SYNC_NO_META,		/* its pages are, what makes them count comes with the next: a power cut undoes the last */
	LMDB_SYNC_PERIODIC,		/* each sync_interval_ms; a power cut may damage it, which is found at the start */
	LMDB_SYNC_NONE,			/* when the kernel likes; the same */
};

struct lmdb_opts {
	const char *path;		/* of the file; PATH-lock lies beside it */
	enum lmdb_sync sync;
	unsigned sync_interval_ms;
	uint64_t max_bytes;		/* of the file */
	uint64_t stale_s;		/* answers are kept so long behind their end */
	bool no_cuts;			/* a cut is read back as an answer to its question alone */
	struct cache *cache;		/* outlives this */
};

#define LMDB_COUNTERS(ROW) \
	ROW(durable_written,  "answers written to the durable cache") \
	ROW(durable_commits,  "groups in which they were") \
	ROW(durable_full,     "answers not written: too many waited") \
	ROW(durable_failed,   "answers not written: the database took none") \
	ROW(durable_loaded,   "answers read back at the start") \
	ROW(durable_expired,  "answers found dead, at the start or later") \
	ROW(durable_unread,   "answers that could not be read back") \
	ROW(durable_again,    "answers in use written again before their room was taken") \
	ROW(durable_evicted,  "answers that had to go from the database") \
	ROW(durable_flushed,  "answers flushed from it")

/**
 * Start the thread, which opens the database, or makes one, and reads it back.
 *
 * What is wrong with the file is told by lmdb_status().  Returns 0, -ENOMEM,
 * or -EAGAIN when there is no thread to be had.
 */
int lmdb_start(const struct lmdb_opts *o, struct lmdb **ret);

/* What the cache is given; valid until lmdb_stop(). */
struct cache_backend lmdb_backend(struct lmdb *l);

/* Wait until what was on the disk is in memory, @ms at most; false when it is not yet. */
bool lmdb_wait_loaded(struct lmdb *l, unsigned ms);

/**
 * Forget the answers of a name, with @below also those of all names below it;
 * everything when @lower is NULL.
 *
 * What the cache kept before the call is forgotten too.  Waits until it is
 * committed.  Returns 0; -ETIMEDOUT after ten seconds (it will be done);
 * -ENOMEM; -EIO and the like when the database cannot be written: then it is
 * thrown away as a whole before it is used again.
 *
 * @ret  how many answers went
 */
int lmdb_flush(struct lmdb *l, const uint8_t *lower, uint16_t len, bool below, uint64_t *ret);

struct lmdb_status {
	bool open;			/* the database takes answers */
	bool loading;			/* what was on the disk is still read */
	uint64_t loaded;
	uint64_t load_ms;		/* that it took */
	uint64_t bytes;			/* in use in the file */
	uint64_t bytes_max;
	char why[512];			/* it is not open, or the last commit failed; "" otherwise */
	char note[512];			/* what happened to an older file; "" otherwise */
};
void lmdb_status(struct lmdb *l, struct lmdb_status *ret);

/* Write what waits, close, free.  Nobody may put any more.  Takes NULL. */
void lmdb_stop(struct lmdb *l);

/* As root: give files of an earlier run to the user that the daemon becomes.  0 or a negative errno with @reterr. */
int lmdb_own(const char *path, uid_t uid, gid_t gid, struct err_at *reterr);

#endif
