/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lmdb_db.h - the database behind lmdb.c, for its thread alone.
 *
 * Errors: -EBADMSG for damage; -EPROTONOSUPPORT for a file of another program;
 * -EOVERFLOW when its bound leaves no room even to make room; -EBUSY when
 * another process has it; what the system says.  All come with @reterr; after one of them
 * there is nothing to do but to close.
 */
#ifndef STORE_LMDB_DB_H
#define STORE_LMDB_DB_H

#include "base/count.h"
#include "store/lmdb.h"

COUNT_ENUM(lmdb_count, LMDB_COUNTERS)

struct lmdb_db;

/**
 * Open the file or make it.
 *
 * One that is damaged or not ours is moved aside, one of another build's layout
 * is emptied; @ret_note (of @note_size) says so, "" otherwise.
 */
int lmdb_db_open(const struct lmdb_opts *o, struct count_shard *count, struct lmdb_db **ret, char *ret_note,
		 size_t note_size, struct err_at *reterr);

/* With what was committed on the disk, unless sync is none.  Takes NULL. */
void lmdb_db_close(struct lmdb_db *db);

/* Throw the file away; the next open makes another. */
int lmdb_db_remove(const char *path, struct err_at *reterr);

/* Append answers, in groups that are committed each. */
int lmdb_db_write(struct lmdb_db *db, struct dns_answer *const *at, unsigned count, const struct cache_moment *now,
		  struct err_at *reterr);

/* As lmdb_flush(). */
int lmdb_db_flush(struct lmdb_db *db, const uint8_t *lower, uint16_t len, bool below, uint64_t *ret,
		  struct err_at *reterr);

/* Give some blocks to the cache, the youngest first; 1 when there are more, 0 when that was all. */
int lmdb_db_load(struct lmdb_db *db, const struct cache_moment *now, struct err_at *reterr);

/* Look at some blocks and drop those in which all is dead. */
int lmdb_db_sweep(struct lmdb_db *db, const struct cache_moment *now, struct err_at *reterr);

/* Have the disk take what was committed. */
int lmdb_db_sync(struct lmdb_db *db, struct err_at *reterr);

/* Octets in use as of the last commit. */
uint64_t lmdb_db_bytes(const struct lmdb_db *db);

#endif
