/* SPDX-License-Identifier: BSD-2-Clause */
/* lmdb_read.c - reading the log back, the youngest first, and finding what is dead in it. */
#include <errno.h>
#include "store/lmdb_room.h"

#define LOAD_BLOCKS  256
#define REFUSED_MAX  1000			/* answers without room in a row: the cache is full, and not just a part of it */
#define SWEEP_BLOCKS 256

/* ---- reading back ---- */

/* Returns false when the cache is full. */
static bool load_answer(struct lmdb_db *db, const uint8_t *at, const struct cache_packed *p,
			const struct cache_moment *now)
{
	struct dns_answer *a;
	bool room;
	int err;

	err = lmdb_is_dead(db, cache_packed_end(p), now) ? -ESTALE : cache_unpack(at, p, now, &a);
	if (err) {
		count_one(db->count, err == -ESTALE ? COUNT_durable_expired : COUNT_durable_unread);
		return true;
	}
	a->cut = a->cut && !db->no_cuts;
	room = cache_load(db->cache, a, now->coarse_ns);
	dns_answer_unref(a);
	if (room)
		count_one(db->count, COUNT_durable_loaded);
	db->refused = room ? 0 : db->refused + 1;
	return db->refused < REFUSED_MAX;
}

/*
 * Note the key, and that of what cache_put() dropped for its sake: a cut took the
 * place of the answer to its question, any other one that of the name's cut.
 * Returns as lmdb_seen_add() for the first of them.
 */
static int note(struct lmdb_db *db, const uint8_t *at, const struct cache_packed *p)
{
	struct dns_key key;
	int new, err;

	cache_packed_key(at, p, &key);
	new = lmdb_seen_add(&db->seen, &key);
	key.qtype = p->flags & CACHE_PACKED_CUT ? p->qtype : 0;
	err = lmdb_seen_add(&db->seen, &key);
	return err < 0 ? err : new;
}

/* 1, 0 when there is no use in going on. */
static int load_block(struct lmdb_db *db, const MDB_val *data, const struct cache_moment *now)
{
	const uint8_t *at = data->mv_data, *from[UINT8_MAX + 1];
	struct cache_packed p;
	unsigned n = 0;
	struct lmdb_block b;
	size_t left;
	int new;

	if (!lmdb_block_read(data, &b)) {
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
		new = note(db, from[n], &p);
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

	err = lmdb_begin(db, false, reterr);
	if (err)
		return err;
	key = lmdb_key_of(db->load_at, &buf);
	rc = mdb_cursor_get(db->cursor, &key, &data, MDB_SET_RANGE);
	/* what is at or behind load_at has been read, or came since */
	rc = mdb_cursor_get(db->cursor, &key, &data, rc == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
	for (; !rc && more && blocks < LOAD_BLOCKS; blocks++) {
		db->load_at = lmdb_number_of(&key);
		more = db->load_at ? load_block(db, &data, now) : 0;
		rc = mdb_cursor_get(db->cursor, &key, &data, MDB_PREV);
	}
	lmdb_end_read(db);
	if (rc && rc != MDB_NOTFOUND)
		return lmdb_fail(rc, reterr);
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
	struct lmdb_block b;

	for (n = 0; n < SWEEP_BLOCKS; n++) {
		if (lmdb_seek(db, db->sweep_at, &key, &data, reterr)) {
			db->sweep_at = 1;
			break;
		}
		db->sweep_at = lmdb_number_of(&key) + 1;
		if (!lmdb_block_read(&data, &b) || lmdb_is_dead(db, b.last_end_ms, now))
			ret[dead++] = lmdb_number_of(&key);
	}
	return dead;
}

int lmdb_db_sweep(struct lmdb_db *db, const struct cache_moment *now, struct err_at *reterr)
{
	uint64_t number[SWEEP_BLOCKS];
	unsigned dead, i;
	MDB_val key, data;
	struct lmdb_block b;
	int err = lmdb_begin(db, false, reterr);

	if (err)
		return err;
	dead = find_dead(db, now, number, reterr);
	lmdb_end_read(db);
	if (!dead)
		return 0;
	err = lmdb_begin(db, true, reterr);
	if (err)
		return err;
	for (i = 0; i < dead && !err; i++) {
		err = lmdb_seek(db, number[i], &key, &data, reterr);
		if (err)
			break;
		db->expired += lmdb_block_read(&data, &b) ? b.count : 0;
		err = lmdb_fail(mdb_cursor_del(db->cursor, 0), reterr);
	}
	return lmdb_end(db, err, reterr);
}
