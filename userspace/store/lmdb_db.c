/* SPDX-License-Identifier: BSD-2-Clause */
/* lmdb_db.c - opens the database and closes it; its transactions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/sum.h"
#include "store/lmdb_file.h"
#include "store/lmdb_room.h"

#define MAGIC        "Mrcache"
#define TXN_SHARE    64			/* part of the pages that one transaction may append */
#define BLOCKS_MAX   256			/* the same, in blocks */
#define READERS      4

struct header {
	char magic[8];
	uint32_t layout;
	uint32_t pack;			/* CACHE_PACK_VERSION */
	uint64_t shape;			/* sum over sizes of parts, as this build has them */
};

/* ---- errors ---- */

int lmdb_fail(int rc, struct err_at *reterr)
{
	int err;

	switch (rc) {
	case 0:
		return 0;
	case MDB_MAP_FULL:
	case MDB_TXN_FULL:
		err = -EOVERFLOW;
		break;
	case MDB_VERSION_MISMATCH:
	case MDB_INVALID:
		err = -EPROTONOSUPPORT;
		break;
	case MDB_CORRUPTED:
	case MDB_PAGE_NOTFOUND:
	case MDB_CURSOR_FULL:
	case MDB_PAGE_FULL:
		err = -EBADMSG;
		break;
	default:
		err = rc > 0 ? -rc : -EIO;
	}
	return err_why(reterr, err, "%s", mdb_strerror(rc));
}

/* ---- a transaction ---- */

/* LMDB compares keys octet by octet. */
static uint64_t highest_first(uint64_t v)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(v) : v;
}

MDB_val lmdb_key_of(uint64_t number, uint64_t *buf)
{
	*buf = highest_first(number);
	return (MDB_val){ sizeof(*buf), buf };
}

uint64_t lmdb_number_of(const MDB_val *key)
{
	uint64_t number;

	memcpy(&number, key->mv_data, sizeof(number));
	return highest_first(number);
}

int lmdb_begin(struct lmdb_db *db, bool writes, struct err_at *reterr)
{
	int rc = mdb_txn_begin(db->env, NULL, writes ? 0 : MDB_RDONLY, &db->txn);

	if (rc)
		return lmdb_fail(rc, reterr);
	rc = mdb_cursor_open(db->txn, db->dbi, &db->cursor);
	if (rc) {
		mdb_txn_abort(db->txn);
		db->txn = NULL;
	}
	db->written = db->evicted = db->repeated = db->expired = 0;
	return lmdb_fail(rc, reterr);
}

uint64_t lmdb_pages_used(struct lmdb_db *db)
{
	MDB_stat st;

	if (mdb_stat(db->txn, db->dbi, &st))
		return 0;
	return st.ms_branch_pages + st.ms_leaf_pages + st.ms_overflow_pages;
}

static void drop_agains(struct lmdb_db *db)
{
	while (db->agains)
		dns_answer_unref(db->again[--db->agains]);
}

/* End it: commit when @err is 0.  Counts what was done. */
int lmdb_end(struct lmdb_db *db, int err, struct err_at *reterr)
{
	uint64_t used = lmdb_pages_used(db);

	mdb_cursor_close(db->cursor);
	db->cursor = NULL;
	if (err)
		mdb_txn_abort(db->txn);
	else
		err = lmdb_fail(mdb_txn_commit(db->txn), reterr);
	db->txn = NULL;
	drop_agains(db);
	if (err)
		return err;
	db->pages_used = used;
	count_add(db->count, COUNT_durable_written, db->written);
	count_add(db->count, COUNT_durable_evicted, db->evicted);
	count_add(db->count, COUNT_durable_again, db->repeated);
	count_add(db->count, COUNT_durable_expired, db->expired);
	return 0;
}

void lmdb_end_read(struct lmdb_db *db)
{
	mdb_cursor_close(db->cursor);
	mdb_txn_abort(db->txn);
	db->cursor = NULL;
	db->txn = NULL;
}

/* Go to the first block from @number on.  0, -ENODATA behind the last. */
int lmdb_seek(struct lmdb_db *db, uint64_t number, MDB_val *key, MDB_val *data, struct err_at *reterr)
{
	uint64_t buf;
	int rc;

	*key = lmdb_key_of(number, &buf);
	rc = mdb_cursor_get(db->cursor, key, data, MDB_SET_RANGE);
	return rc == MDB_NOTFOUND ? -ENODATA : lmdb_fail(rc, reterr);
}

/* ---- opening ---- */

static struct header header_here(void)
{
	const uint32_t shape[] = {
		sizeof(struct header), sizeof(struct lmdb_block), sizeof(struct cache_packed), 0x01020304,
		offsetof(struct cache_packed, born_ms), offsetof(struct cache_packed, flags),
	};

	return (struct header){ MAGIC, LAYOUT, CACHE_PACK_VERSION, sum_bytes(0, shape, sizeof(shape)) };
}

int lmdb_write_header(struct lmdb_db *db, struct err_at *reterr)
{
	struct header h = header_here();
	MDB_val data = { sizeof(h), &h }, key;
	uint64_t buf;

	key = lmdb_key_of(0, &buf);
	return lmdb_fail(mdb_put(db->txn, db->dbi, &key, &data, 0), reterr);
}

/* Whose it is: 0; -ENODATA for nobody's yet; -EPROTONOSUPPORT for another program's; -ESTALE for another build's. */
static int judge_header(struct lmdb_db *db, struct err_at *reterr)
{
	struct header h = header_here();
	MDB_val key, data;
	int err = lmdb_seek(db, 0, &key, &data, reterr);

	if (err)
		return err;
	if (lmdb_number_of(&key) || data.mv_size < sizeof(h.magic) || memcmp(data.mv_data, h.magic, sizeof(h.magic)))
		return -EPROTONOSUPPORT;
	return data.mv_size == sizeof(h) && !memcmp(data.mv_data, &h, sizeof(h)) ? 0 : -ESTALE;
}

static int open_table(struct lmdb_db *db, struct err_at *reterr)
{
	MDB_val key, data;
	int err;

	err = lmdb_fail(mdb_txn_begin(db->env, NULL, 0, &db->txn), reterr);
	if (err)
		return err;
	err = lmdb_fail(mdb_dbi_open(db->txn, NULL, 0, &db->dbi), reterr);
	if (!err)
		err = lmdb_fail(mdb_cursor_open(db->txn, db->dbi, &db->cursor), reterr);
	if (err) {
		mdb_txn_abort(db->txn);
		db->txn = NULL;
		return err;
	}
	err = judge_header(db, reterr);
	if (err == -ENODATA)
		err = lmdb_write_header(db, reterr);
	if (!err && !mdb_cursor_get(db->cursor, &key, &data, MDB_LAST))
		db->next = lmdb_number_of(&key) + 1;
	return lmdb_end(db, err, reterr);
}

static int open_env(struct lmdb_db *db, const struct lmdb_opts *o, struct err_at *reterr)
{
	static const unsigned flags[] = { 0, MDB_NOMETASYNC, MDB_NOSYNC, MDB_NOSYNC };
	MDB_envinfo info;
	MDB_stat st;
	int err;

	err = lmdb_fail(mdb_env_create(&db->env), reterr);
	if (!err)
		err = lmdb_fail(mdb_env_set_mapsize(db->env, o->max_bytes), reterr);
	if (!err)
		err = lmdb_fail(mdb_env_set_maxreaders(db->env, READERS), reterr);
	if (!err)
		err = lmdb_fail(mdb_env_open(db->env, o->path, MDB_NOSUBDIR | flags[o->sync], 0600), reterr);
	if (!err)
		err = lmdb_fail(mdb_env_stat(db->env, &st), reterr);
	if (!err)
		err = lmdb_fail(mdb_env_info(db->env, &info), reterr);
	if (err)
		return err;
	db->page_size = st.ms_psize;
	db->pages = o->max_bytes / db->page_size;
	db->blocks_max = (unsigned)(db->pages / TXN_SHARE * 2);
	if (db->blocks_max > BLOCKS_MAX)
		db->blocks_max = BLOCKS_MAX;
	return info.me_last_pgno < db->pages ? open_table(db, reterr) : -EFBIG;
}

static int open_once(const struct lmdb_opts *o, struct count_shard *count, struct lmdb_db **ret, char *ret_note,
		     size_t note_size, struct err_at *reterr)
{
	struct lmdb_db *db = calloc(1, sizeof(*db));
	int err = -ENOMEM;

	if (!db)
		return err;
	db->fd = -1;
	db->sync = o->sync;
	db->cache = o->cache;
	db->count = count;
	db->stale_ms = (int64_t)o->stale_s * 1000;
	db->no_cuts = o->no_cuts;
	db->next = 1;
	db->load_at = UINT64_MAX;
	db->sweep_at = 1;
	lmdb_seen_init(&db->seen);
	db->credit = CREDIT_MAX;
	db->block = malloc(sizeof(struct lmdb_block) + BLOCK_FULL + ANSWER_MAX);
	db->again = malloc(AGAIN_MAX * sizeof(*db->again));
	if (db->block && db->again)
		err = lmdb_file_open(o->path, &db->fd, ret_note, note_size, reterr);
	if (!err) {
		err = open_env(db, o, reterr);
		if (err)
			err_why(reterr, err, "%s: %s", o->path, strerror(-err));
	}
	if (err)
		lmdb_db_close(db);
	else
		*ret = db;
	return err;
}

int lmdb_db_open(const struct lmdb_opts *o, struct count_shard *count, struct lmdb_db **ret, char *ret_note,
		 size_t note_size, struct err_at *reterr)
{
	char note[512] = "";
	int err = open_once(o, count, ret, ret_note, note_size, reterr);

	if (err == -EPROTONOSUPPORT) {
		err = lmdb_file_foreign(o->path, note, sizeof(note), reterr);
	} else if (err == -ESTALE || err == -EFBIG) {
		snprintf(note, sizeof(note), "%s was %s: the durable cache begins anew", o->path,
			 err == -ESTALE ? "written by another version" : "bigger than it may be now");
		err = lmdb_db_remove(o->path, reterr);
	} else {
		return err;
	}
	if (!err)
		err = open_once(o, count, ret, ret_note, note_size, reterr);
	if (!err && *note)
		snprintf(ret_note, note_size, "%s", note);
	return err;
}

void lmdb_db_close(struct lmdb_db *db)
{
	if (!db)
		return;
	if (db->env && db->sync != LMDB_SYNC_NONE)
		mdb_env_sync(db->env, 1);
	if (db->env)
		mdb_env_close(db->env);
	if (db->fd >= 0)
		close(db->fd);
	lmdb_seen_done(&db->seen);
	free(db->block);
	free(db->again);
	free(db);
}

int lmdb_db_remove(const char *path, struct err_at *reterr)
{
	char lock[4200];

	snprintf(lock, sizeof(lock), "%s-lock", path);
	if (unlink(path) && errno != ENOENT)
		return err_why(reterr, -errno, "%s: cannot be removed: %s", path, strerror(errno));
	unlink(lock);
	return 0;
}

int lmdb_db_sync(struct lmdb_db *db, struct err_at *reterr)
{
	return lmdb_fail(mdb_env_sync(db->env, 1), reterr);
}

uint64_t lmdb_db_bytes(const struct lmdb_db *db)
{
	return db->pages_used * db->page_size;
}
