/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lmdb_db.c - the log of answers in LMDB.
 *
 * Keys are numbers that rise (eight octets, the highest first); number 0 is the
 * header, all others are blocks of some answers.  Writing appends, so that a
 * group of answers costs some pages one after the other, whatever their names;
 * room is made at the other end.  Answers there that are still in use are
 * appended again: so the log keeps what the cache in memory keeps.  Reading
 * back goes from the youngest to the oldest, and of two answers to one key the
 * first that is met counts.
 */
#include <errno.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/sum.h"
#include "store/lmdb_db.h"
#include "store/lmdb_file.h"
#include "store/lmdb_seen.h"

#define MAGIC        "Mrcache"
#define LAYOUT       1			/* of blocks and keys; that of answers is CACHE_PACK_VERSION */
#define BLOCK_FULL   1900		/* octets, so that two of them fill a page */
#define ANSWER_MAX   (sizeof(struct cache_packed) + 256 + 65536)
#define PAGES_SPARE  24			/* for the trees' upper levels */
#define TXN_SHARE    64			/* part of the pages that one transaction may append */
#define BLOCKS_MAX   256			/* the same, in blocks */
#define AGAIN_MAX    8192		/* answers that one transaction moves */
#define CREDIT_MAX   65536
#define LOAD_BLOCKS  256
#define REFUSED_MAX  1000			/* answers without room in a row: the cache is full, and not just a part of it */
#define SWEEP_BLOCKS 256
#define READERS      4

struct header {
	char magic[8];
	uint32_t layout;
	uint32_t pack;			/* CACHE_PACK_VERSION */
	uint64_t shape;			/* sum over sizes of parts, as this build has them */
};

struct block {
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
	struct block head;		/* of the block that is being filled */
	uint8_t *block;			/* its octets */
};

/* ---- errors ---- */

static int fail(int rc, struct err_at *reterr)
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

static MDB_val key_of(uint64_t number, uint64_t *buf)
{
	*buf = highest_first(number);
	return (MDB_val){ sizeof(*buf), buf };
}

static uint64_t number_of(const MDB_val *key)
{
	uint64_t number;

	memcpy(&number, key->mv_data, sizeof(number));
	return highest_first(number);
}

static int begin(struct lmdb_db *db, bool writes, struct err_at *reterr)
{
	int rc = mdb_txn_begin(db->env, NULL, writes ? 0 : MDB_RDONLY, &db->txn);

	if (rc)
		return fail(rc, reterr);
	rc = mdb_cursor_open(db->txn, db->dbi, &db->cursor);
	if (rc) {
		mdb_txn_abort(db->txn);
		db->txn = NULL;
	}
	db->written = db->evicted = db->repeated = db->expired = 0;
	return fail(rc, reterr);
}

static uint64_t pages_used(struct lmdb_db *db)
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
static int end(struct lmdb_db *db, int err, struct err_at *reterr)
{
	uint64_t used = pages_used(db);

	mdb_cursor_close(db->cursor);
	db->cursor = NULL;
	if (err)
		mdb_txn_abort(db->txn);
	else
		err = fail(mdb_txn_commit(db->txn), reterr);
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

static void end_read(struct lmdb_db *db)
{
	mdb_cursor_close(db->cursor);
	mdb_txn_abort(db->txn);
	db->cursor = NULL;
	db->txn = NULL;
}

/* Go to the first block from @number on.  0, -ENODATA behind the last. */
static int seek(struct lmdb_db *db, uint64_t number, MDB_val *key, MDB_val *data, struct err_at *reterr)
{
	uint64_t buf;
	int rc;

	*key = key_of(number, &buf);
	rc = mdb_cursor_get(db->cursor, key, data, MDB_SET_RANGE);
	return rc == MDB_NOTFOUND ? -ENODATA : fail(rc, reterr);
}

/* ---- blocks ---- */

/* Is it what was written?  Then its answers can be walked. */
static bool block_read(const MDB_val *data, struct block *ret)
{
	const uint8_t *p = data->mv_data;

	if (data->mv_size < sizeof(*ret))
		return false;
	memcpy(ret, p, sizeof(*ret));
	return ret->size == data->mv_size - sizeof(*ret) &&
	       ret->sum == sum_bytes(LAYOUT, p + sizeof(ret->sum), data->mv_size - sizeof(ret->sum));
}

static int block_put(struct lmdb_db *db, uint64_t number, unsigned flags, struct err_at *reterr)
{
	MDB_val data = { sizeof(db->head) + db->head.size, db->block }, key;
	uint64_t buf;

	memcpy(db->block, &db->head, sizeof(db->head));
	db->head.sum = sum_bytes(LAYOUT, db->block + sizeof(db->head.sum), data.mv_size - sizeof(db->head.sum));
	memcpy(db->block, &db->head.sum, sizeof(db->head.sum));
	key = key_of(number, &buf);
	return fail(mdb_cursor_put(db->cursor, &key, &data, flags), reterr);
}

static void block_clear(struct lmdb_db *db)
{
	db->head = (struct block){ .last_end_ms = INT64_MIN };
}

/* Room for a packed answer in the block that is being filled. */
static uint8_t *block_add(struct lmdb_db *db, size_t size, int64_t end_ms)
{
	uint8_t *at = db->block + sizeof(db->head) + db->head.size;

	db->head.size += (uint32_t)size;
	db->head.count++;
	if (end_ms > db->head.last_end_ms)
		db->head.last_end_ms = end_ms;
	return at;
}

static int block_append(struct lmdb_db *db, struct err_at *reterr)
{
	int err;

	if (!db->head.count)
		return 0;
	err = block_put(db, db->next, MDB_APPEND, reterr);
	db->next++;
	db->written += db->head.count;
	block_clear(db);
	return err;
}

/* ---- making room ---- */

static bool is_dead(const struct lmdb_db *db, int64_t end_ms, const struct cache_moment *now)
{
	return end_ms + db->stale_ms <= now->wall_ms;
}

/* The answer in memory that @p is a copy of, if it has been asked for again; a reference. */
static struct dns_answer *in_use(struct lmdb_db *db, const uint8_t *at, const struct cache_packed *p,
				 const struct cache_moment *now)
{
	struct dns_answer *a;
	struct dns_key key;
	int64_t born_ms;

	cache_packed_key(at, p, &key);
	a = cache_peek(db->cache, &key, now->coarse_ns);
	if (!a)
		return NULL;
	born_ms = now->wall_ms - (int64_t)(now->coarse_ns - a->born_ns) / (int64_t)CLOCK_MS;
	/* a younger one stands further on in the log */
	if (atomic_load_explicit(&a->asked, memory_order_relaxed) > 1 && born_ms < p->born_ms + 1000)
		return a;
	dns_answer_unref(a);
	return NULL;
}

/*
 * Take the oldest block away.  Of its answers those in use are kept for this
 * transaction's end, but in the long run no more than others go: else a log that
 * is too small for what is in use would go round for ever.
 */
static int evict_block(struct lmdb_db *db, const struct cache_moment *now, struct err_at *reterr)
{
	MDB_val key, data;
	struct cache_packed p;
	struct dns_answer *a;
	const uint8_t *at;
	struct block b;
	size_t left;
	int err = seek(db, 1, &key, &data, reterr);

	if (err)
		return err;
	at = (const uint8_t *)data.mv_data + sizeof(b);
	left = block_read(&data, &b) ? b.size : 0;
	for (; left && !cache_packed_read(at, left, &p); at += p.size, left -= p.size) {
		bool dead = is_dead(db, cache_packed_end(&p), now);

		a = dead || !db->credit || db->agains == AGAIN_MAX ? NULL : in_use(db, at, &p, now);
		if (a) {
			db->again[db->agains++] = a;
			db->credit--;
			continue;
		}
		*(dead ? &db->expired : &db->evicted) += 1;
		if (db->credit < CREDIT_MAX)
			db->credit++;
	}
	return fail(mdb_cursor_del(db->cursor, 0), reterr);
}

/* What may be in use, so that the transactions to come find free pages. */
static uint64_t pages_bound(const struct lmdb_db *db)
{
	return db->pages - db->pages / 4 - PAGES_SPARE;
}

static int make_room(struct lmdb_db *db, const struct cache_moment *now, struct err_at *reterr)
{
	int err = 0;

	while (!err && pages_used(db) > pages_bound(db))
		err = evict_block(db, now, reterr);
	return err == -ENODATA ? 0 : err;
}

/* ---- writing ---- */

static int add_answer(struct lmdb_db *db, struct dns_answer *a, const struct cache_moment *now, unsigned *blocks,
		      struct err_at *reterr)
{
	size_t size = cache_packed_size(a);
	int64_t end_ms;
	int err = 0;

	if (size > ANSWER_MAX)
		return 0;
	if (db->head.count && db->head.size + size > BLOCK_FULL) {
		err = block_append(db, reterr);
		/* a big one takes as much of the transaction as so many blocks */
		*blocks += 1;
	}
	*blocks += (unsigned)(size / BLOCK_FULL);
	end_ms = now->wall_ms + ((int64_t)(a->born_ns - now->coarse_ns) / (int64_t)CLOCK_MS) + (int64_t)a->ttl * 1000;
	cache_pack(a, now, block_add(db, size, end_ms));
	return err;
}

/* One transaction; tells in @ret how many of @at it took. */
static int write_some(struct lmdb_db *db, struct dns_answer *const *at, unsigned count,
		      const struct cache_moment *now, unsigned *ret, struct err_at *reterr)
{
	uint64_t next = db->next;
	unsigned n = 0, blocks = 0;
	int err = begin(db, true, reterr);

	if (err)
		return err;
	block_clear(db);
	err = make_room(db, now, reterr);
	for (; !err && db->agains; db->repeated++) {
		struct dns_answer *a = db->again[--db->agains];

		err = add_answer(db, a, now, &blocks, reterr);
		dns_answer_unref(a);
	}
	for (; !err && n < count && (!n || blocks < db->blocks_max); n++)
		err = add_answer(db, at[n], now, &blocks, reterr);
	if (!err)
		err = block_append(db, reterr);
	err = end(db, err, reterr);
	if (err) {
		db->next = next;
		return err;
	}
	count_one(db->count, COUNT_durable_commits);
	*ret = n;
	return 0;
}

int lmdb_db_write(struct lmdb_db *db, struct dns_answer *const *at, unsigned count, const struct cache_moment *now,
		  struct err_at *reterr)
{
	unsigned n = 0;
	int err = 0;

	for (; !err && count; at += n, count -= n)
		err = write_some(db, at, count, now, &n, reterr);
	return err;
}

/* ---- flushing ---- */

struct flush {
	const uint8_t *lower;
	uint16_t len;
	bool below;
	uint64_t found;
};

static bool is_meant(const struct flush *f, const uint8_t *at, const struct cache_packed *p)
{
	const uint8_t *name = at + sizeof(*p);
	uint16_t len = p->name_len;

	if (f->below)
		for (; len > f->len; len -= *name + 1U, name += *name + 1U)
			;
	return len == f->len && !memcmp(name, f->lower, len);
}

/* Fill db->block with those of a block that stay; returns how many go. */
static unsigned block_without(struct lmdb_db *db, const MDB_val *data, const struct flush *f)
{
	const uint8_t *at = (const uint8_t *)data->mv_data + sizeof(struct block);
	struct cache_packed p;
	unsigned gone = 0;
	struct block b;
	size_t left;

	block_clear(db);
	left = block_read(data, &b) ? b.size : 0;
	for (; left && !cache_packed_read(at, left, &p); at += p.size, left -= p.size) {
		if (is_meant(f, at, &p))
			gone++;
		else
			memcpy(block_add(db, p.size, cache_packed_end(&p)), at, p.size);
	}
	return gone;
}

/* Go through blocks from *@number on; ends at its bound of changed blocks, and says where it stands. */
static int flush_some(struct lmdb_db *db, struct flush *f, uint64_t *number, struct err_at *reterr)
{
	unsigned changed = 0, gone;
	MDB_val key, data;
	uint64_t found = f->found;
	int err = begin(db, true, reterr);

	if (err)
		return err;
	while (!err && changed < db->blocks_max) {
		err = seek(db, *number, &key, &data, reterr);
		if (err)
			break;
		*number = number_of(&key) + 1;
		gone = block_without(db, &data, f);
		if (!gone)
			continue;
		found += gone;
		changed++;
		if (db->head.count)
			err = block_put(db, *number - 1, MDB_CURRENT, reterr);
		else
			err = fail(mdb_cursor_del(db->cursor, 0), reterr);
	}
	if (err == -ENODATA)
		*number = UINT64_MAX;
	err = end(db, err == -ENODATA ? 0 : err, reterr);
	if (!err)
		f->found = found;
	return err;
}

static int write_header(struct lmdb_db *db, struct err_at *reterr);

static int flush_everything(struct lmdb_db *db, struct flush *f, struct err_at *reterr)
{
	MDB_val key, data;
	struct block b;
	uint64_t at;
	int err = begin(db, true, reterr);

	if (err)
		return err;
	for (at = 1; !seek(db, at, &key, &data, reterr); at = number_of(&key) + 1)
		f->found += block_read(&data, &b) ? b.count : 0;
	err = fail(mdb_drop(db->txn, db->dbi, 0), reterr);
	if (!err)
		err = write_header(db, reterr);
	return end(db, err, reterr);
}

int lmdb_db_flush(struct lmdb_db *db, const uint8_t *lower, uint16_t len, bool below, uint64_t *ret,
		  struct err_at *reterr)
{
	struct flush f = { lower, len, below, 0 };
	uint64_t number = 1;
	int err = 0;

	if (!lower)
		err = flush_everything(db, &f, reterr);
	else
		while (!err && number != UINT64_MAX)
			err = flush_some(db, &f, &number, reterr);
	/* It must be as sure as the answers were. */
	if (!err && db->sync != LMDB_SYNC_NONE)
		err = lmdb_db_sync(db, reterr);
	if (err)
		return err;
	count_add(db->count, COUNT_durable_flushed, f.found);
	*ret = f.found;
	return 0;
}

/* ---- reading back ---- */

/* Returns false when the cache is full. */
static bool load_answer(struct lmdb_db *db, const uint8_t *at, const struct cache_packed *p,
			const struct cache_moment *now)
{
	struct dns_answer *a;
	bool room;
	int err;

	err = is_dead(db, cache_packed_end(p), now) ? -ESTALE : cache_unpack(at, p, now, &a);
	if (err) {
		count_one(db->count, err == -ESTALE ? COUNT_durable_expired : COUNT_durable_unread);
		return true;
	}
	room = cache_load(db->cache, a, now->coarse_ns);
	dns_answer_unref(a);
	if (room)
		count_one(db->count, COUNT_durable_loaded);
	db->refused = room ? 0 : db->refused + 1;
	return db->refused < REFUSED_MAX;
}

/* 1, 0 when there is no use in going on. */
static int load_block(struct lmdb_db *db, const MDB_val *data, const struct cache_moment *now)
{
	const uint8_t *at = data->mv_data, *from[UINT8_MAX + 1];
	struct cache_packed p;
	struct dns_key key;
	unsigned n = 0;
	struct block b;
	size_t left;
	int new;

	if (!block_read(data, &b)) {
		count_one(db->count, COUNT_durable_unread);
		return 1;
	}
	at += sizeof(b);
	for (left = b.size; left && n <= UINT8_MAX && !cache_packed_read(at, left, &p); at += p.size, left -= p.size)
		from[n++] = at;
	/* within a block too the last one is the youngest */
	while (n--) {
		if (cache_packed_read(from[n], b.size, &p))
			continue;
		cache_packed_key(from[n], &p, &key);
		new = lmdb_seen_add(&db->seen, &key);
		if (new < 0 || (new && !load_answer(db, from[n], &p, now)))
			return 0;
	}
	return 1;
}

int lmdb_db_load(struct lmdb_db *db, const struct cache_moment *now, struct err_at *reterr)
{
	unsigned blocks = 0;
	MDB_val key, data;
	uint64_t buf;
	int more = 1, rc, err;

	err = begin(db, false, reterr);
	if (err)
		return err;
	key = key_of(db->load_at, &buf);
	rc = mdb_cursor_get(db->cursor, &key, &data, MDB_SET_RANGE);
	/* what is at or behind load_at has been read, or came since */
	rc = mdb_cursor_get(db->cursor, &key, &data, rc == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
	for (; !rc && more && blocks < LOAD_BLOCKS; blocks++) {
		db->load_at = number_of(&key);
		more = db->load_at ? load_block(db, &data, now) : 0;
		rc = mdb_cursor_get(db->cursor, &key, &data, MDB_PREV);
	}
	end_read(db);
	if (rc && rc != MDB_NOTFOUND)
		return fail(rc, reterr);
	more = more && !rc;
	if (!more)
		lmdb_seen_done(&db->seen);
	return more;
}

/* ---- the dead ---- */

/* Numbers of those of the next blocks in which nothing lives; returns how many. */
static unsigned find_dead(struct lmdb_db *db, const struct cache_moment *now, uint64_t *ret, struct err_at *reterr)
{
	MDB_val key, data;
	unsigned n, dead = 0;
	struct block b;

	for (n = 0; n < SWEEP_BLOCKS; n++) {
		if (seek(db, db->sweep_at, &key, &data, reterr)) {
			db->sweep_at = 1;
			break;
		}
		db->sweep_at = number_of(&key) + 1;
		if (!block_read(&data, &b) || is_dead(db, b.last_end_ms, now))
			ret[dead++] = number_of(&key);
	}
	return dead;
}

int lmdb_db_sweep(struct lmdb_db *db, const struct cache_moment *now, struct err_at *reterr)
{
	uint64_t number[SWEEP_BLOCKS];
	unsigned dead, i;
	MDB_val key, data;
	struct block b;
	int err = begin(db, false, reterr);

	if (err)
		return err;
	dead = find_dead(db, now, number, reterr);
	end_read(db);
	if (!dead)
		return 0;
	err = begin(db, true, reterr);
	if (err)
		return err;
	for (i = 0; i < dead && !err; i++) {
		err = seek(db, number[i], &key, &data, reterr);
		if (err)
			break;
		db->expired += block_read(&data, &b) ? b.count : 0;
		err = fail(mdb_cursor_del(db->cursor, 0), reterr);
	}
	return end(db, err, reterr);
}

/* ---- opening ---- */

static struct header header_here(void)
{
	const uint32_t shape[] = {
		sizeof(struct header), sizeof(struct block), sizeof(struct cache_packed), 0x01020304,
		offsetof(struct cache_packed, born_ms), offsetof(struct cache_packed, flags),
	};

	return (struct header){ MAGIC, LAYOUT, CACHE_PACK_VERSION, sum_bytes(0, shape, sizeof(shape)) };
}

static int write_header(struct lmdb_db *db, struct err_at *reterr)
{
	struct header h = header_here();
	MDB_val data = { sizeof(h), &h }, key;
	uint64_t buf;

	key = key_of(0, &buf);
	return fail(mdb_put(db->txn, db->dbi, &key, &data, 0), reterr);
}

/* Whose it is: 0; -ENODATA for nobody's yet; -EPROTONOSUPPORT for another program's; -ESTALE for another build's. */
static int judge_header(struct lmdb_db *db, struct err_at *reterr)
{
	struct header h = header_here();
	MDB_val key, data;
	int err = seek(db, 0, &key, &data, reterr);

	if (err)
		return err;
	if (number_of(&key) || data.mv_size < sizeof(h.magic) || memcmp(data.mv_data, h.magic, sizeof(h.magic)))
		return -EPROTONOSUPPORT;
	return data.mv_size == sizeof(h) && !memcmp(data.mv_data, &h, sizeof(h)) ? 0 : -ESTALE;
}

static int open_table(struct lmdb_db *db, struct err_at *reterr)
{
	MDB_val key, data;
	int err;

	err = fail(mdb_txn_begin(db->env, NULL, 0, &db->txn), reterr);
	if (err)
		return err;
	err = fail(mdb_dbi_open(db->txn, NULL, 0, &db->dbi), reterr);
	if (!err)
		err = fail(mdb_cursor_open(db->txn, db->dbi, &db->cursor), reterr);
	if (err) {
		mdb_txn_abort(db->txn);
		db->txn = NULL;
		return err;
	}
	err = judge_header(db, reterr);
	if (err == -ENODATA)
		err = write_header(db, reterr);
	if (!err && !mdb_cursor_get(db->cursor, &key, &data, MDB_LAST))
		db->next = number_of(&key) + 1;
	return end(db, err, reterr);
}

static int open_env(struct lmdb_db *db, const struct lmdb_opts *o, struct err_at *reterr)
{
	static const unsigned flags[] = { 0, MDB_NOMETASYNC, MDB_NOSYNC, MDB_NOSYNC };
	MDB_envinfo info;
	MDB_stat st;
	int err;

	err = fail(mdb_env_create(&db->env), reterr);
	if (!err)
		err = fail(mdb_env_set_mapsize(db->env, o->max_bytes), reterr);
	if (!err)
		err = fail(mdb_env_set_maxreaders(db->env, READERS), reterr);
	if (!err)
		err = fail(mdb_env_open(db->env, o->path, MDB_NOSUBDIR | flags[o->sync], 0600), reterr);
	if (!err)
		err = fail(mdb_env_stat(db->env, &st), reterr);
	if (!err)
		err = fail(mdb_env_info(db->env, &info), reterr);
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
	db->next = 1;
	db->load_at = UINT64_MAX;
	db->sweep_at = 1;
	lmdb_seen_init(&db->seen);
	db->credit = CREDIT_MAX;
	db->block = malloc(sizeof(struct block) + BLOCK_FULL + ANSWER_MAX);
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
	return fail(mdb_env_sync(db->env, 1), reterr);
}

uint64_t lmdb_db_bytes(const struct lmdb_db *db)
{
	return db->pages_used * db->page_size;
}
