/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lmdb.c - the thread behind the cache: a queue in, groups of answers out.
 *
 * Putting is a pointer in an array under a lock that is held for some ten
 * instructions; nobody is woken for it: the thread comes by itself ten times a
 * second, and before that only when half of the array is full.  A full array
 * turns answers away, counted; they are in memory anyway.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "store/lmdb_db.h"
#include "store/lmdb_file.h"

#define QUEUE_MAX     65536		/* answers that wait */
#define QUEUE_BYTES   (32U << 20)	/* of them */
#define COMMIT_MS     100
#define SWEEP_MS      1000
#define RETRY_MS      10000		/* until a database that failed is tried again */
#define FLUSH_WAIT_S  10

struct queue {
	struct dns_answer **at;
	unsigned count;
	size_t bytes;
};

struct lmdb_flush {
	struct lmdb_flush *next;
	uint8_t name[256];
	uint16_t len;			/* 0: everything */
	bool below;
	bool done, abandoned;
	int err;
	uint64_t found;
};

struct lmdb {
	struct lmdb_opts o;
	char path[4096];
	pthread_t thread;
	struct count_shard *count;

	pthread_mutex_t lock;		/* guards all down to status */
	pthread_cond_t wake;		/* the thread */
	pthread_cond_t changed;		/* others: status, a flush that is done */
	struct queue in;
	struct lmdb_flush *flushes, **flush_last;
	bool stop;
	struct lmdb_status status;

	/* the thread's own */
	struct lmdb_db *db;
	struct queue out;
	bool loaded;			/* all that was there has been read, or there is nothing to read */
	bool distrusted;		/* a flush could not be done: what is in the file must not come back */
	uint64_t began_ns;
	uint64_t retry_ns, sweep_ns, sync_ns;
	bool unsynced;
};

static const struct count_row rows[] = { COUNT_ROWS(LMDB_COUNTERS) };
static COUNT_SET(counters, rows);

/* ---- from any thread ---- */

static void put(void *ctx, struct dns_answer *a)
{
	struct lmdb *l = ctx;
	size_t size = dns_answer_size(a);
	bool half = false;

	if (a->rcode != DNS_NOERROR && a->rcode != DNS_NXDOMAIN)
		return;
	pthread_mutex_lock(&l->lock);
	if (l->in.count == QUEUE_MAX || l->in.bytes + size > QUEUE_BYTES) {
		count_one(l->count, COUNT_durable_full);
	} else {
		half = l->in.count == QUEUE_MAX / 2 ||
		       (l->in.bytes <= QUEUE_BYTES / 2 && l->in.bytes + size > QUEUE_BYTES / 2);
		l->in.at[l->in.count++] = dns_answer_ref(a);
		l->in.bytes += size;
	}
	pthread_mutex_unlock(&l->lock);
	if (half)
		pthread_cond_signal(&l->wake);
}

struct cache_backend lmdb_backend(struct lmdb *l)
{
	return (struct cache_backend){ .put = put, .ctx = l };
}

static struct timespec in_ms(uint64_t ms)
{
	uint64_t at = clock_fine_ns() + ms * CLOCK_MS;

	return (struct timespec){ .tv_sec = (time_t)(at / CLOCK_S), .tv_nsec = (long)(at % CLOCK_S) };
}

bool lmdb_wait_loaded(struct lmdb *l, unsigned ms)
{
	struct timespec until = in_ms(ms);
	bool loaded;

	pthread_mutex_lock(&l->lock);
	while (l->status.loading && !pthread_cond_timedwait(&l->changed, &l->lock, &until))
		;
	loaded = !l->status.loading;
	pthread_mutex_unlock(&l->lock);
	return loaded;
}

void lmdb_status(struct lmdb *l, struct lmdb_status *ret)
{
	pthread_mutex_lock(&l->lock);
	*ret = l->status;
	pthread_mutex_unlock(&l->lock);
}

int lmdb_flush(struct lmdb *l, const uint8_t *lower, uint16_t len, bool below, uint64_t *ret)
{
	struct timespec until = in_ms(FLUSH_WAIT_S * 1000);
	struct lmdb_flush *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;

	if (!f)
		return err;
	if (lower)
		memcpy(f->name, lower, len);
	f->len = lower ? len : 0;
	f->below = below;
	pthread_mutex_lock(&l->lock);
	*l->flush_last = f;
	l->flush_last = &f->next;
	pthread_cond_signal(&l->wake);
	while (!f->done && !pthread_cond_timedwait(&l->changed, &l->lock, &until))
		;
	f->abandoned = !f->done;
	err = f->done ? f->err : -ETIMEDOUT;
	*ret = f->found;
	if (f->done)
		free(f);
	pthread_mutex_unlock(&l->lock);
	return err;
}

/* ---- the thread ---- */

static struct cache_moment moment(void)
{
	return (struct cache_moment){ clock_coarse_ns(), (int64_t)(clock_ns(CLOCK_REALTIME) / CLOCK_MS) };
}

/* Tell why it does not go on, or with NULL that it does. */
static void tell(struct lmdb *l, const char *why)
{
	pthread_mutex_lock(&l->lock);
	l->status.open = l->db != NULL;
	snprintf(l->status.why, sizeof(l->status.why), "%s", why ? why : "");
	l->status.bytes = l->db ? lmdb_db_bytes(l->db) : 0;
	pthread_mutex_unlock(&l->lock);
}

static void tell_loaded(struct lmdb *l)
{
	l->loaded = true;
	pthread_mutex_lock(&l->lock);
	if (l->status.loading)
		l->status.load_ms = (clock_fine_ns() - l->began_ns) / CLOCK_MS;
	l->status.loading = false;
	l->status.loaded = atomic_load_explicit(&l->count->value[COUNT_durable_loaded], memory_order_relaxed);
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

/* Close after an error; it is opened anew later, at once when that may help. */
static void give_up(struct lmdb *l, int err, const struct err_at *at)
{
	struct err_at ignored = { 0 };
	char why[512], note[512] = "";

	snprintf(why, sizeof(why), "%.200s: %.200s", l->path, *at->why ? at->why : strerror(-err));
	lmdb_db_close(l->db);
	l->db = NULL;
	l->retry_ns = clock_fine_ns() + RETRY_MS * CLOCK_MS;
	/* A log without room for itself is thrown away; one that LMDB finds damaged goes aside. */
	if (err == -EOVERFLOW && !lmdb_db_remove(l->path, &ignored))
		l->retry_ns = 0;
	if (err == -EBADMSG && !lmdb_file_damaged(l->path, at->why, note, sizeof(note), &ignored)) {
		pthread_mutex_lock(&l->lock);
		snprintf(l->status.note, sizeof(l->status.note), "%s", note);
		pthread_mutex_unlock(&l->lock);
		l->retry_ns = 0;
	}
	tell(l, why);
	/* what is in memory by now is not read again */
	tell_loaded(l);
}

static void open_db(struct lmdb *l)
{
	struct err_at at = { 0 };
	uint64_t flushed;
	char note[512] = "";
	int err;

	err = lmdb_db_open(&l->o, l->count, &l->db, note, sizeof(note), &at);
	if (!err && l->distrusted)
		err = lmdb_db_flush(l->db, NULL, 0, false, &flushed, &at);
	if (err) {
		lmdb_db_close(l->db);
		l->db = NULL;
		l->retry_ns = clock_fine_ns() + RETRY_MS * CLOCK_MS;
		tell(l, *at.why ? at.why : strerror(-err));
		tell_loaded(l);
		return;
	}
	l->distrusted = false;
	if (*note) {
		pthread_mutex_lock(&l->lock);
		memcpy(l->status.note, note, sizeof(note));
		pthread_mutex_unlock(&l->lock);
	}
	tell(l, NULL);
}

static void write_out(struct lmdb *l)
{
	struct cache_moment now = moment();
	struct err_at at = { 0 };
	unsigned i;
	int err = 0;

	if (!l->db) {
		count_add(l->count, COUNT_durable_failed, l->out.count);
	} else if (l->out.count) {
		err = lmdb_db_write(l->db, l->out.at, l->out.count, &now, &at);
		l->unsynced = true;
		if (err) {
			count_add(l->count, COUNT_durable_failed, l->out.count);
			give_up(l, err, &at);
		} else {
			tell(l, NULL);
		}
	}
	for (i = 0; i < l->out.count; i++)
		dns_answer_unref(l->out.at[i]);
	l->out.count = 0;
	l->out.bytes = 0;
}

static void run_flush(struct lmdb *l, struct lmdb_flush *f)
{
	struct err_at at = { 0 };
	int err = -EIO;

	if (l->db)
		err = lmdb_db_flush(l->db, f->len ? f->name : NULL, f->len, f->below, &f->found, &at);
	if (err)
		l->distrusted = true;
	if (err && l->db) {
		give_up(l, err, &at);
		lmdb_db_remove(l->path, &at);
	}
	pthread_mutex_lock(&l->lock);
	f->err = err;
	f->done = true;
	if (f->abandoned)
		free(f);
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

static void load_some(struct lmdb *l)
{
	struct cache_moment now = moment();
	struct err_at at = { 0 };
	int more = lmdb_db_load(l->db, &now, &at);

	if (more < 0)
		give_up(l, more, &at);
	else if (!more)
		tell_loaded(l);
}

/* What is done from time to time. */
static void tick(struct lmdb *l)
{
	uint64_t ns = clock_fine_ns();
	struct cache_moment now = moment();
	struct err_at at = { 0 };
	int err = 0;

	if (l->db && l->o.sync == LMDB_SYNC_PERIODIC && l->unsynced && ns >= l->sync_ns) {
		err = lmdb_db_sync(l->db, &at);
		l->unsynced = false;
		l->sync_ns = ns + l->o.sync_interval_ms * CLOCK_MS;
	}
	if (!err && l->db && l->loaded && ns >= l->sweep_ns) {
		err = lmdb_db_sweep(l->db, &now, &at);
		l->sweep_ns = ns + SWEEP_MS * CLOCK_MS;
	}
	if (err)
		give_up(l, err, &at);
	if (!l->db && ns >= l->retry_ns)
		open_db(l);
}

static uint64_t wait_ms(const struct lmdb *l)
{
	if (l->db && !l->loaded)
		return 0;
	if (l->db && l->o.sync == LMDB_SYNC_PERIODIC && l->o.sync_interval_ms < COMMIT_MS)
		return l->o.sync_interval_ms;
	return COMMIT_MS;
}

/* Wait for the next turn and take what there is; false when that was the last. */
static bool take(struct lmdb *l, struct lmdb_flush **ret_flushes)
{
	struct timespec until = in_ms(wait_ms(l));
	struct queue empty = l->out;
	bool stop;

	pthread_mutex_lock(&l->lock);
	while (!l->stop && !l->flushes && l->in.count < QUEUE_MAX / 2 && l->in.bytes <= QUEUE_BYTES / 2 &&
	       !pthread_cond_timedwait(&l->wake, &l->lock, &until))
		;
	l->out = l->in;
	l->in = empty;
	*ret_flushes = l->flushes;
	l->flushes = NULL;
	l->flush_last = &l->flushes;
	stop = l->stop;
	pthread_mutex_unlock(&l->lock);
	return !stop;
}

static void *run(void *arg)
{
	struct lmdb *l = arg;
	struct lmdb_flush *flushes, *f;
	bool more;

	pthread_setname_np(pthread_self(), "durable");
	open_db(l);
	do {
		more = take(l, &flushes);
		write_out(l);
		while ((f = flushes)) {
			flushes = f->next;
			run_flush(l, f);
		}
		if (l->db && !l->loaded && more)
			load_some(l);
		tick(l);
	} while (more);
	lmdb_db_close(l->db);
	return NULL;
}

/* ---- life ---- */

static void done(struct lmdb *l)
{
	if (!l)
		return;
	free(l->in.at);
	free(l->out.at);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->wake);
	pthread_cond_destroy(&l->changed);
	free(l);
}

int lmdb_start(const struct lmdb_opts *o, struct lmdb **ret)
{
	struct lmdb *l = calloc(1, sizeof(*l));
	pthread_condattr_t attr;
	int err;

	if (!l)
		return -ENOMEM;
	l->o = *o;
	snprintf(l->path, sizeof(l->path), "%s", o->path);
	l->o.path = l->path;
	pthread_mutex_init(&l->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&l->wake, &attr);
	pthread_cond_init(&l->changed, &attr);
	pthread_condattr_destroy(&attr);
	l->flush_last = &l->flushes;
	l->status.loading = true;
	l->status.bytes_max = o->max_bytes;
	l->began_ns = clock_fine_ns();
	l->in.at = malloc(QUEUE_MAX * sizeof(*l->in.at));
	l->out.at = malloc(QUEUE_MAX * sizeof(*l->out.at));
	l->count = count_shard_new(&counters);
	err = l->in.at && l->out.at && l->count ? -pthread_create(&l->thread, NULL, run, l) : -ENOMEM;
	if (err) {
		done(l);
		return err;
	}
	*ret = l;
	return 0;
}

void lmdb_stop(struct lmdb *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->stop = true;
	pthread_cond_signal(&l->wake);
	pthread_mutex_unlock(&l->lock);
	pthread_join(l->thread, NULL);
	done(l);
}
