/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lmdb_log.c - appending answers to the log, making room in it, flushing.
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
#include <string.h>
#include "base/clock.h"
#include "base/sum.h"
#include "store/lmdb_room.h"

#define PAGES_SPARE  24			/* for the trees' upper levels */

/* ---- blocks ---- */

/* Is it what was written?  Then its answers can be walked. */
bool lmdb_block_read(const MDB_val *data, struct lmdb_block *ret)
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
	key = lmdb_key_of(number, &buf);
	return lmdb_fail(mdb_cursor_put(db->cursor, &key, &data, flags), reterr);
}

static void block_clear(struct lmdb_db *db)
{
	db->head = (struct lmdb_block){ .last_end_ms = INT64_MIN };
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

bool lmdb_is_dead(const struct lmdb_db *db, int64_t end_ms, const struct cache_moment *now)
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
	struct lmdb_block b;
	size_t left;
	int err = lmdb_seek(db, 1, &key, &data, reterr);

	if (err)
		return err;
	at = (const uint8_t *)data.mv_data + sizeof(b);
	left = lmdb_block_read(&data, &b) ? b.size : 0;
	for (; left && !cache_packed_read(at, left, &p); at += p.size, left -= p.size) {
		bool dead = lmdb_is_dead(db, cache_packed_end(&p), now);

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
	return lmdb_fail(mdb_cursor_del(db->cursor, 0), reterr);
}

/* What may be in use, so that the transactions to come find free pages. */
static uint64_t pages_bound(const struct lmdb_db *db)
{
	return db->pages - db->pages / 4 - PAGES_SPARE;
}

static int make_room(struct lmdb_db *db, const struct cache_moment *now, struct err_at *reterr)
{
	int err = 0;

	while (!err && lmdb_pages_used(db) > pages_bound(db))
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
	int err = lmdb_begin(db, true, reterr);

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
	err = lmdb_end(db, err, reterr);
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
	const uint8_t *at = (const uint8_t *)data->mv_data + sizeof(struct lmdb_block);
	struct cache_packed p;
	unsigned gone = 0;
	struct lmdb_block b;
	size_t left;

	block_clear(db);
	left = lmdb_block_read(data, &b) ? b.size : 0;
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
	int err = lmdb_begin(db, true, reterr);

	if (err)
		return err;
	while (!err && changed < db->blocks_max) {
		err = lmdb_seek(db, *number, &key, &data, reterr);
		if (err)
			break;
		*number = lmdb_number_of(&key) + 1;
		gone = block_without(db, &data, f);
		if (!gone)
			continue;
		found += gone;
		changed++;
		if (db->head.count)
			err = block_put(db, *number - 1, MDB_CURRENT, reterr);
		else
			err = lmdb_fail(mdb_cursor_del(db->cursor, 0), reterr);
	}
	if (err == -ENODATA)
		*number = UINT64_MAX;
	err = lmdb_end(db, err == -ENODATA ? 0 : err, reterr);
	if (!err)
		f->found = found;
	return err;
}

static int flush_everything(struct lmdb_db *db, struct flush *f, struct err_at *reterr)
{
	MDB_val key, data;
	struct lmdb_block b;
	uint64_t at;
	int err = lmdb_begin(db, true, reterr);

	if (err)
		return err;
	for (at = 1; !lmdb_seek(db, at, &key, &data, reterr); at = lmdb_number_of(&key) + 1)
		f->found += lmdb_block_read(&data, &b) ? b.count : 0;
	err = lmdb_fail(mdb_drop(db->txn, db->dbi, 0), reterr);
	if (!err)
		err = lmdb_write_header(db, reterr);
	return lmdb_end(db, err, reterr);
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
