/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lists.c - which list is fetched when.
 *
 * Times are of the calendar, so that they mean something after a restart and
 * after a sleep; the timer looks at least once a minute, and no list ever
 * waits longer than its interval, so a clock that is set does no harm.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/random.h"
#include "lists/lists_fetch.h"
#include "lists/lists_store.h"

#define DELAY_FIRST_S 60
#define LOOK_S        60

struct row {
	char name[LISTS_NAME_MAX];
	char *url, *path;
	char shown[512];
	unsigned refresh_s, format;
	bool have;
	uint64_t bytes, tries, changed, unchanged, failed;
	int64_t last_try_s, last_good_s, changed_s, next_try_s;
	unsigned failures;
	char error[LISTS_WHY_MAX], note[LISTS_WHY_MAX];
};

struct lists {
	uv_loop_t *loop;
	uv_timer_t timer;
	uv_work_t work;
	char *folder, *ca_file;
	int64_t (*now_s)(void);
	lists_done done;
	void *arg;
	struct row *row;
	unsigned count;
	struct addr servers[LISTS_SERVERS_MAX];
	unsigned server_count, timeout_ms;
	uint64_t max_bytes;
	struct lists_job *job;		/* under way; its memory is its thread's, but for @cancel */
	bool closing, timer_closed;
};

static int64_t calendar_s(void)
{
	return (int64_t)time(NULL);
}

unsigned lists_delay_s(unsigned failures, unsigned refresh_s, uint32_t random)
{
	uint64_t delay = refresh_s;

	if (failures && failures < 32 && (uint64_t)DELAY_FIRST_S << (failures - 1) < delay)
		delay = (uint64_t)DELAY_FIRST_S << (failures - 1);
	return (unsigned)(delay - random % (delay / 8 + 1));
}

/* ---- what is known ------------------------------------------------------- */

static void rows_free(struct row *row, unsigned count)
{
	unsigned i;

	for (i = 0; row && i < count; i++) {
		free(row[i].url);
		free(row[i].path);
	}
	free(row);
}

static struct row *find(const struct lists *l, const char *name)
{
	unsigned i;

	for (i = 0; i < l->count; i++)
		if (!strcmp(l->row[i].name, name))
			return &l->row[i];
	return NULL;
}

static bool is_fetching(const struct lists *l, const struct row *r)
{
	return l->job && !atomic_load(&l->job->cancel) && !strcmp(l->job->name, r->name) && !strcmp(l->job->url, r->url);
}

static void status(const struct lists *l, const struct row *r, struct lists_status *ret)
{
	*ret = (struct lists_status){
		.name = r->name, .url = r->url, .shown = r->shown, .path = r->path, .have = r->have,
		.fetching = is_fetching(l, r), .bytes = r->bytes, .last_try_s = r->last_try_s,
		.last_good_s = r->last_good_s, .changed_s = r->changed_s, .next_try_s = r->next_try_s,
		.failures = r->failures, .tries = r->tries, .changed = r->changed, .unchanged = r->unchanged,
		.failed = r->failed, .error = r->error, .note = r->note,
	};
}

int lists_find(const struct lists *l, const char *name, struct lists_status *ret)
{
	const struct row *r = find(l, name);

	if (!r)
		return -ENOENT;
	status(l, r, ret);
	return 0;
}

static const char *when(int64_t s, char *buf, size_t size)
{
	time_t t = (time_t)s;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(buf, size, "%" PRId64, s);
	return buf;
}

const char *lists_say(enum lists_event event, const struct lists_status *s, char *buf, size_t size)
{
	char good[32], next[32];

	when(s->next_try_s, next, sizeof(next));
	if (event != LISTS_FAILED)
		snprintf(buf, size, "%s, %" PRIu64 " bytes%s%s", event == LISTS_CHANGED ? "fetched" : "unchanged", s->bytes,
			 *s->note ? "; " : "", s->note);
	else if (!s->have)
		snprintf(buf, size, "not fetched, and there is no earlier copy: %s; tried again at %s", s->error,
			 next);
	else if (!s->last_good_s)
		snprintf(buf, size, "not fetched, the earlier copy stays: %s; tried again at %s", s->error, next);
	else
		snprintf(buf, size, "not fetched, the copy of %s stays: %s; tried again at %s",
			 when(s->last_good_s, good, sizeof(good)), s->error, next);
	return buf;
}

/* ---- one try --------------------------------------------------------------- */

static void schedule(struct lists *l);

static void free_if_done(struct lists *l)
{
	if (!l->closing || !l->timer_closed || l->job)
		return;
	rows_free(l->row, l->count);
	free(l->folder);
	free(l->ca_file);
	free(l);
}

static void on_work(uv_work_t *w)
{
	struct lists *l = w->data;

	lists_fetch(l->job);
}

/* Write the outcome into the row. */
static void note(struct lists *l, struct row *r, const struct lists_job *j)
{
	int64_t now = l->now_s();
	unsigned delay;

	r->last_try_s = now;
	r->tries++;
	memcpy(r->error, j->error, sizeof(r->error));
	if (j->event == LISTS_FAILED) {
		r->failed++;
		r->failures++;
	} else {
		r->failures = 0;
		r->have = true;
		r->last_good_s = now;
		memcpy(r->note, j->note, sizeof(r->note));
	}
	r->unchanged += j->event == LISTS_UNCHANGED;
	if (j->event == LISTS_CHANGED) {
		r->changed++;
		r->changed_s = now;
		r->bytes = j->bytes;
	}
	delay = lists_delay_s(r->failures, r->refresh_s, (uint32_t)random_u64());
	if (j->event == LISTS_FAILED && j->retry_after_s > delay)
		delay = j->retry_after_s < r->refresh_s ? j->retry_after_s : r->refresh_s;
	r->next_try_s = now + delay;
}

static void on_worked(uv_work_t *w, int code)
{
	struct lists *l = w->data;
	struct lists_job *j = l->job;
	enum lists_event event = j->event;
	struct lists_status s;
	struct row *r;

	l->job = NULL;
	r = l->closing || atomic_load(&j->cancel) ? NULL : find(l, j->name);
	if (r) {
		note(l, r, j);
		status(l, r, &s);
	}
	free(j);
	if (r && l->done)
		l->done(l->arg, event, &s);
	if (l->closing)
		free_if_done(l);
	else
		schedule(l);
}

static bool start(struct lists *l, struct row *r)
{
	struct lists_job *j = calloc(1, sizeof(*j));

	if (!j)
		return false;
	memcpy(j->name, r->name, sizeof(j->name));
	snprintf(j->url, sizeof(j->url), "%s", r->url);
	j->format = r->format;
	memcpy(j->servers, l->servers, sizeof(j->servers));
	j->server_count = l->server_count;
	j->folder = l->folder;
	j->ca_file = l->ca_file;
	j->timeout_ms = l->timeout_ms;
	j->max_bytes = l->max_bytes;
	j->now_s = l->now_s();
	atomic_init(&j->cancel, false);
	l->job = j;
	if (!uv_queue_work(l->loop, &l->work, on_work, on_worked))
		return true;
	l->job = NULL;
	free(j);
	return false;
}

/* ---- when ------------------------------------------------------------------ */

static struct row *next(struct lists *l)
{
	struct row *first = NULL;
	unsigned i;

	for (i = 0; i < l->count; i++)
		if (!first || l->row[i].next_try_s < first->next_try_s)
			first = &l->row[i];
	return first;
}

static void on_timer(uv_timer_t *t)
{
	lists_tick(t->data);
}

static void schedule(struct lists *l)
{
	const struct row *r = next(l);
	int64_t wait;

	uv_timer_stop(&l->timer);
	if (!r || l->job)
		return;
	wait = r->next_try_s - l->now_s();
	wait = wait < 0 ? 0 : wait > LOOK_S ? LOOK_S : wait;
	uv_timer_start(&l->timer, on_timer, (uint64_t)wait * 1000, 0);
}

void lists_tick(struct lists *l)
{
	int64_t now = l->now_s();
	struct row *r;
	unsigned i;

	for (i = 0; i < l->count; i++)		/* the clock was set back */
		if (l->row[i].next_try_s > now + l->row[i].refresh_s)
			l->row[i].next_try_s = now + l->row[i].refresh_s;
	r = next(l);
	if (r && !l->job && r->next_try_s <= now && !start(l, r))
		r->next_try_s = now + DELAY_FIRST_S;	/* no memory now */
	schedule(l);
}

int lists_refresh(struct lists *l, const char *name)
{
	struct row *r = name ? find(l, name) : NULL;
	unsigned i;

	if (name && !r)
		return -ENOENT;
	for (i = 0; i < l->count; i++)
		if (!r || r == &l->row[i])
			l->row[i].next_try_s = 0;
	schedule(l);
	return 0;
}

/* ---- rows ------------------------------------------------------------------ */

/* What an earlier run left. */
static void take_over(struct lists *l, struct row *r, int dir)
{
	struct lists_meta *m = malloc(sizeof(*m));

	if (m && !lists_store_look(dir, r->name, m, &r->bytes)) {
		r->have = true;
		r->last_good_s = m->checked_s;
		r->changed_s = m->changed_s;
		if (!strcmp(m->url, r->url))
			r->next_try_s = m->checked_s + lists_delay_s(0, r->refresh_s, (uint32_t)random_u64());
	}
	free(m);
}

static int row_init(struct lists *l, struct row *r, const struct lists_row *from, struct err_at *reterr)
{
	char file[LISTS_FILE_NAME_MAX];
	struct http_url u;
	int err;

	err_where(reterr, NULL, 0, from->name);
	if (!*from->name || strlen(from->name) >= LISTS_NAME_MAX)
		return err_why(reterr, -EINVAL, "the name of a list is 1 to %d characters long", LISTS_NAME_MAX - 1);
	err = http_url_read(from->url, &u, reterr);
	if (err)
		return err;
	if (!from->refresh_s)
		return err_why(reterr, -EINVAL, "a list's refresh interval is not 0");
	strcpy(r->name, from->name);
	memcpy(r->shown, u.shown, sizeof(r->shown));
	r->refresh_s = from->refresh_s;
	r->format = from->format;
	r->url = strdup(from->url);
	if (!r->url || asprintf(&r->path, "%s/%s", l->folder, lists_store_name(r->name, file)) < 0) {
		r->path = NULL;
		return err_why(reterr, -ENOMEM, "out of memory");
	}
	return 0;
}

/* The state of the row of the same name, if there was one; else that of the folder. */
static void inherit(struct lists *l, struct row *r, int dir)
{
	struct row *old = find(l, r->name), fresh = *r;

	if (!old) {
		if (dir >= 0)
			take_over(l, r, dir);
		return;
	}
	*r = *old;
	memcpy(r->shown, fresh.shown, sizeof(r->shown));
	r->url = fresh.url;
	r->path = fresh.path;
	r->refresh_s = fresh.refresh_s;
	r->format = fresh.format;
	/* what was refused as a list of one format may be one of another */
	if (strcmp(old->url, r->url) || (old->format != r->format && old->failures)) {
		r->next_try_s = 0;
		r->failures = 0;
		*r->error = '\0';
	}
}

static int check(const struct lists_rows *rows, struct err_at *reterr)
{
	unsigned i, k;

	if (rows->count > LISTS_MAX)
		return err_why(reterr, -EINVAL, "%u lists, expected at most %d", rows->count, LISTS_MAX);
	if (rows->server_count > LISTS_SERVERS_MAX)
		return err_why(reterr, -EINVAL, "%u servers, expected at most %d", rows->server_count, LISTS_SERVERS_MAX);
	if (!rows->timeout_ms)
		return err_why(reterr, -EINVAL, "no time to fetch in (timeout_ms 0)");
	for (i = 0; i < rows->count; i++)
		for (k = 0; k < i; k++)
			if (!strcmp(rows->row[i].name, rows->row[k].name)) {
				err_where(reterr, NULL, 0, rows->row[i].name);
				return err_why(reterr, -EINVAL, "two lists have this name");
			}
	return 0;
}

int lists_set(struct lists *l, const struct lists_rows *rows, struct err_at *reterr)
{
	struct row *made = NULL;
	int err, dir = -1;
	unsigned i;

	err = check(rows, reterr);
	if (err)
		return err;
	made = calloc(rows->count + 1, sizeof(*made));
	err = made ? 0 : err_why(reterr, -ENOMEM, "out of memory");
	for (i = 0; i < rows->count && !err; i++)
		err = row_init(l, &made[i], &rows->row[i], reterr);
	if (err) {
		rows_free(made, rows->count);
		return err;
	}
	if (rows->count && lists_store_open(l->folder, &dir))
		dir = -1;			/* each try will say so */
	for (i = 0; i < rows->count; i++)
		inherit(l, &made[i], dir);
	if (dir >= 0)
		close(dir);
	rows_free(l->row, l->count);
	l->row = made;
	l->count = rows->count;
	if (rows->server_count)
		memcpy(l->servers, rows->servers, rows->server_count * sizeof(l->servers[0]));
	l->server_count = rows->server_count;
	l->timeout_ms = rows->timeout_ms;
	l->max_bytes = rows->max_bytes;
	if (l->job && (!find(l, l->job->name) || strcmp(find(l, l->job->name)->url, l->job->url)))
		atomic_store(&l->job->cancel, true);
	schedule(l);
	return 0;
}

static bool is_kept(void *arg, const char *name)
{
	const struct lists *l = arg;
	char file[LISTS_FILE_NAME_MAX];
	unsigned i;

	for (i = 0; i < l->count; i++)
		if (!strcmp(lists_store_name(l->row[i].name, file), name))
			return true;
	return l->job && !strcmp(lists_store_name(l->job->name, file), name);
}

int lists_sweep(struct lists *l)
{
	int dir, count = lists_store_open(l->folder, &dir);

	if (count)
		return count;
	count = lists_store_sweep(dir, is_kept, l);
	close(dir);
	return count;
}

/* ---- begin and end ----------------------------------------------------------- */

static void on_closed(uv_handle_t *h)
{
	struct lists *l = h->data;

	l->timer_closed = true;
	free_if_done(l);
}

int lists_new(uv_loop_t *loop, const struct lists_options *o, struct lists **ret)
{
	struct lists *l = calloc(1, sizeof(*l));
	int err = -ENOMEM;

	if (!l)
		return err;
	l->loop = loop;
	l->folder = strdup(o->folder);
	l->ca_file = o->ca_file ? strdup(o->ca_file) : NULL;
	l->now_s = o->now_s ? o->now_s : calendar_s;
	l->done = o->done;
	l->arg = o->arg;
	l->timer.data = l->work.data = l;
	if (l->folder && (l->ca_file || !o->ca_file))
		err = uv_timer_init(loop, &l->timer);
	if (err) {
		free(l->folder);
		free(l->ca_file);
		free(l);
		return err;
	}
	*ret = l;
	return 0;
}

void lists_free(struct lists *l)
{
	if (!l)
		return;
	l->closing = true;
	if (l->job)
		atomic_store(&l->job->cancel, true);
	uv_close((uv_handle_t *)&l->timer, on_closed);
}
