/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lmdb_room.h - what the files of the database share: lmdb_db.c opens it and has
 * its transactions, lmdb_log.c writes and takes away, lmdb_read.c reads back.
 */
#ifndef STORE_LMDB_ROOM_H
#define STORE_LMDB_ROOM_H

#include <lmdb.h>
#include "store/lmdb_db.h"
#include "store/lmdb_seen.h"

#define LAYOUT       1			/* of blocks and keys; that of answers is CACHE_PACK_VERSION */
#define BLOCK_FULL   1900		/* octets, so that two of them fill a page */
#define ANSWER_MAX   (sizeof(struct cache_packed) + 256 + 65536)
#define AGAIN_MAX    8192		/* answers that one transaction moves */
#define CREDIT_MAX   65536

struct lmdb_block {
	uint64_t sum;			/* over all behind it */
	int64_t last_end_ms;		/* when the last of them dies */
	uint32_t size;			/* of the answers, which follow */
	uint16_t count;
	uint16_t zero;
};

struct lmdb_db {
	MDB_env *env;
	MDB_dbi dbi;
	int fd;				/* keeps the lock */
	enum lmdb_sync sync;
	struct cache *cache;
	struct count_shard *count;
	int64_t stale_ms;
	bool no_cuts;
	uint64_t page_size, pages;	/* of the bound */
	uint64_t pages_used;		/* as of the last commit */
	unsigned blocks_max;		/* that one transaction appends */
	uint64_t next;			/* number of the next block */
	uint64_t load_at;		/* read back down from here */
	uint64_t sweep_at;
	struct lmdb_seen seen;
	unsigned refused;		/* answers read back that found no room, in a row */
	/* a transaction's */
	MDB_txn *txn;
	MDB_cursor *cursor;
	struct dns_answer **again;	/* room for AGAIN_MAX */
	unsigned agains;
	unsigned credit;		/* answers that may be moved before others go */
	unsigned written, evicted, repeated, expired;
	struct lmdb_block head;		/* of the block that is being filled */
	uint8_t *block;			/* its octets */
};

/* ---- lmdb_db.c ---- */

/* LMDB's error as errno, with its words in @reterr; 0 for success. */
int lmdb_fail(int rc, struct err_at *reterr);

/* Keys: eight octets, the highest first; @buf lives as long as the key. */
MDB_val lmdb_key_of(uint64_t number, uint64_t *buf);
uint64_t lmdb_number_of(const MDB_val *key);

/* Begin a transaction, with a cursor. */
int lmdb_begin(struct lmdb_db *db, bool writes, struct err_at *reterr);

/* End one that writes: commit when @err is 0, and count what was done.  Returns @err, or how the commit went. */
int lmdb_end(struct lmdb_db *db, int err, struct err_at *reterr);

/* End one that reads. */
void lmdb_end_read(struct lmdb_db *db);

/* Go to the first block from @number on.  0, -ENODATA behind the last. */
int lmdb_seek(struct lmdb_db *db, uint64_t number, MDB_val *key, MDB_val *data, struct err_at *reterr);

/* Pages of the data, within a transaction. */
uint64_t lmdb_pages_used(struct lmdb_db *db);

int lmdb_write_header(struct lmdb_db *db, struct err_at *reterr);

/* ---- lmdb_log.c ---- */

/* Is it what was written?  Then its answers can be walked. */
bool lmdb_block_read(const MDB_val *data, struct lmdb_block *ret);

/* Must what ended then not be given any more, be it as a stale answer? */
bool lmdb_is_dead(const struct lmdb_db *db, int64_t end_ms, const struct cache_moment *now);

#endif
