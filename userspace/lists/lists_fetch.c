/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lists_fetch.c - one try to fetch one list.
 *
 * struct fetch is that try; its hops are requests, each to a host that was
 * just resolved.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/clock.h"
#include "lists/lists_fetch.h"
#include "lists/lists_resolve.h"
#include "lists/lists_store.h"
#include "policy/list.h"

#define HEAD_MAX   4096			/* octets that a list is judged by */
#define STALL_S    20
#define SHRUNK     10			/* a tenth of what it was is odd */
#define RETRY_MAX  86400

struct fetch {
	struct lists_job *j;
	struct lists_meta have;		/* of the copy in place */
	uint64_t have_bytes;
	bool have_copy;
	bool conditional;
	uint64_t deadline_ns;
	int dir;
	struct http_url at;		/* where we are */
	char url[HTTP_URL_MAX];
	char seen[LISTS_REDIRECTS_MAX][HTTP_URL_MAX];
	unsigned hops;
	unsigned status;
	bool not_ours;			/* the status says that the body is none for us */
	struct lists_copy copy;
	char head[HEAD_MAX];
	size_t head_len;
	bool judged;
	/* of the last response */
	char etag[512], modified[128], location[HTTP_URL_MAX], retry_after[32];
};

/* Say what failed, after where. */
static int fail(struct fetch *f, int err, const char *why)
{
	snprintf(f->j->error, sizeof(f->j->error), "%s%s%s", f->at.shown, *f->at.shown ? ": " : "", why);
	return err;
}

static int fail_store(struct fetch *f, int err, const char *what)
{
	snprintf(f->j->error, sizeof(f->j->error), "%s in %s: %s", what, f->j->folder, strerror(-err));
	return err;
}

static bool is_cancelled(void *arg)
{
	struct fetch *f = arg;

	return atomic_load(&f->j->cancel);
}

static int refuse(struct fetch *f, const char *why)
{
	char text[256];

	if (!why)
		return 0;
	snprintf(text, sizeof(text), "refused as a list: %s", why);
	return fail(f, -EILSEQ, text);
}

static int judge(struct fetch *f)
{
	f->judged = true;
	return refuse(f, list_refuse(f->head, f->head_len));
}

/* All of it is on the disk. */
static int judge_whole(struct fetch *f)
{
	char *text = mmap(NULL, f->copy.bytes, PROT_READ, MAP_PRIVATE, f->copy.fd, 0);
	const char *why;

	if (text == MAP_FAILED)
		return fail_store(f, -errno, "cannot be read again");
	why = list_refuse_whole(text, f->copy.bytes, (enum list_format)f->j->format);
	munmap(text, f->copy.bytes);
	return refuse(f, why);
}

/* Keep the beginning until there is enough to judge by. */
static int look(struct fetch *f, const char *p, size_t size)
{
	size_t room = HEAD_MAX - f->head_len;

	if (f->judged)
		return 0;
	memcpy(f->head + f->head_len, p, size < room ? size : room);
	f->head_len += size < room ? size : room;
	return f->head_len == HEAD_MAX ? judge(f) : 0;
}

static int on_body(void *arg, unsigned status, const char *p, size_t size)
{
	struct fetch *f = arg;
	int err;

	if (status != 200) {
		f->status = status;
		f->not_ours = true;
		return -ECANCELED;	/* the page that says so is not read */
	}
	err = look(f, p, size);
	if (err)
		return err;
	if (f->copy.fd < 0)
		err = lists_copy_begin(&f->copy, f->dir, f->j->name);
	err = err ? err : lists_copy_write(&f->copy, p, size);
	return err ? fail_store(f, err, "cannot be written") : 0;
}

static int64_t left_ms(const struct fetch *f)
{
	int64_t left = (int64_t)(f->deadline_ns - clock_fine_ns());

	return left / (int64_t)CLOCK_MS;
}

/* The addresses of the host we are at. */
static int resolve(struct fetch *f, struct addr *ret, unsigned *ret_count)
{
	struct lists_resolver r = { f->j->servers, f->j->server_count, f->deadline_ns, &f->j->cancel };
	struct err_at at = { .why = "" };
	int err = 0;

	*ret_count = 0;
	if (!f->at.is_addr)
		err = lists_resolve(&r, f->at.host, ret, HTTP_ADDRS_MAX, ret_count, &at);
	return err ? fail(f, err, at.why) : 0;
}

/* One request; its status in f->status. */
static int hop(struct fetch *f)
{
	char none_match[600] = "", since[200] = "";
	const char *headers[] = { NULL, NULL, NULL };
	struct http_want wants[] = {
		{ "ETag", f->etag, sizeof(f->etag) }, { "Last-Modified", f->modified, sizeof(f->modified) },
		{ "Location", f->location, sizeof(f->location) },
		{ "Retry-After", f->retry_after, sizeof(f->retry_after) },
	};
	struct addr addrs[HTTP_ADDRS_MAX];
	struct http_request q = {
		.url = f->url, .stall_s = STALL_S, .body_max = f->j->max_bytes, .addrs = addrs, .headers = headers,
		.wants = wants, .want_count = sizeof(wants) / sizeof(wants[0]), .gzip = true, .ca_file = f->j->ca_file,
		.body = on_body, .cancelled = is_cancelled, .arg = f,
	};
	struct err_at at = { .why = "" };
	unsigned n = 0;
	int err;

	if (f->conditional && *f->have.etag) {
		snprintf(none_match, sizeof(none_match), "If-None-Match: %s", f->have.etag);
		headers[n++] = none_match;
	}
	if (f->conditional && *f->have.modified) {
		snprintf(since, sizeof(since), "If-Modified-Since: %s", f->have.modified);
		headers[n++] = since;
	}
	err = resolve(f, addrs, &q.addr_count);
	if (err)
		return err;
	if (left_ms(f) <= 0)
		return fail(f, -ETIMEDOUT, "the time for the whole try is over");
	q.timeout_ms = (unsigned)left_ms(f) + 1;
	*f->j->error = '\0';
	err = http_ask(&q, &f->status, &at);
	if (f->not_ours)
		return 0;
	/* what the body function has said is more than what libcurl says of it */
	return err && !*f->j->error ? fail(f, err, at.why) : err;
}

static bool is_redirect(unsigned status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Go where the response says, when we may. */
static int redirect(struct fetch *f)
{
	bool tls = f->at.tls;
	char next[HTTP_URL_MAX], text[384];
	struct err_at at = { .why = "" };
	struct http_url u;
	unsigned i;

	if (f->hops == LISTS_REDIRECTS_MAX)
		return fail(f, -ELOOP, "redirected more than 5 times");
	if (!*f->location || http_url_join(f->url, f->location, next))
		return fail(f, -EPROTO, "a redirect whose Location is missing, no URL, or too long");
	if (http_url_read(next, &u, &at)) {
		snprintf(text, sizeof(text), "redirected to an URL that is not followed: %.300s", at.why);
		return fail(f, -EINVAL, text);
	}
	if (tls && !u.tls)
		return fail(f, -EPROTO, "redirected from https to http, which is not followed");
	memcpy(f->seen[f->hops++], f->url, HTTP_URL_MAX);
	for (i = 0; i < f->hops; i++)
		if (!strcmp(f->seen[i], next))
			return fail(f, -ELOOP, "redirected in a circle");
	memcpy(f->url, next, HTTP_URL_MAX);
	f->at = u;
	return 0;
}

/* Requests until one is no redirect. */
static int ask(struct fetch *f)
{
	int err;

	for (;;) {
		f->not_ours = false;
		f->status = 0;
		err = hop(f);
		if (err || !is_redirect(f->status))
			return err;
		err = redirect(f);
		if (err)
			return err;
	}
}

static int write_meta(struct fetch *f, const struct lists_meta *m)
{
	int err = lists_store_meta(f->dir, f->j->name, m);

	if (err)
		snprintf(f->j->note, sizeof(f->j->note),
			 "its side file in %s cannot be written, so it will be fetched anew after a restart: %s",
			 f->j->folder, strerror(-err));
	return 0;
}

/* The server has what we have. */
static int keep(struct fetch *f)
{
	struct lists_meta m = f->have;

	m.checked_s = f->j->now_s;
	f->j->event = LISTS_UNCHANGED;
	return write_meta(f, &m);
}

static void fill_meta(const struct fetch *f, struct lists_meta *m, bool same)
{
	memset(m, 0, sizeof(*m));
	memcpy(m->url, f->j->url, sizeof(m->url));	/* of the configuration: another one there drops the validators */
	memcpy(m->etag, f->etag, sizeof(m->etag));
	memcpy(m->modified, f->modified, sizeof(m->modified));
	m->checked_s = f->j->now_s;
	m->changed_s = same && f->have.changed_s ? f->have.changed_s : f->j->now_s;
	m->bytes = f->copy.bytes;
}

/* The copy in place is known to be of another URL. */
static bool is_other_url(const struct fetch *f)
{
	return *f->have.url && strcmp(f->have.url, f->j->url);
}

/* A whole body is on the disk. */
static int take(struct fetch *f)
{
	bool same = f->have_copy && lists_copy_same(&f->copy);
	struct lists_meta m;
	int err = 0;

	fill_meta(f, &m, same);
	f->j->bytes = f->copy.bytes;
	if (f->have_copy && !is_other_url(f) && f->copy.bytes < f->have_bytes / SHRUNK)
		snprintf(f->j->note, sizeof(f->j->note), "it shrank from %" PRIu64 " to %" PRIu64 " bytes; it was taken",
			 f->have_bytes, f->copy.bytes);
	if (same)
		lists_copy_drop(&f->copy);
	else
		err = lists_copy_commit(&f->copy);
	if (err)
		return fail_store(f, err, "cannot be put in place");
	f->j->event = same ? LISTS_UNCHANGED : LISTS_CHANGED;
	return write_meta(f, &m);
}

static int conclude(struct fetch *f)
{
	char text[64];
	long wait;
	int err;

	if (is_cancelled(f))
		return fail(f, -ECANCELED, "cancelled");
	if (f->status == 304 && f->conditional)
		return keep(f);
	if (f->status == 200) {
		if (!f->copy.bytes)
			return fail(f, -ENODATA, "the answer is empty");
		err = f->judged ? 0 : judge(f);
		err = err ? err : judge_whole(f);
		return err ? err : take(f);
	}
	wait = strtol(f->retry_after, NULL, 10);	/* a date is not worth a calendar: the back-off serves */
	f->j->retry_after_s = wait > 0 && wait <= RETRY_MAX ? (unsigned)wait : 0;
	snprintf(text, sizeof(text), "HTTP status %u", f->status);
	return fail(f, -EREMOTEIO, text);
}

/* What there is, and whether the server may be asked if that is still good. */
static int look_at_copy(struct fetch *f)
{
	int err = lists_store_look(f->dir, f->j->name, &f->have, &f->have_bytes);

	if (err && err != -ENOENT)
		return fail_store(f, err, "the copy cannot be read");
	f->have_copy = !err;
	f->conditional = f->have_copy && !is_other_url(f) && (*f->have.etag || *f->have.modified);
	return 0;
}

static int try(struct fetch *f)
{
	struct err_at at = { .why = "" };
	int err;

	err = lists_store_open(f->j->folder, &f->dir);
	if (err)
		return fail_store(f, err, "cannot be kept");
	err = look_at_copy(f);
	if (err)
		return err;
	memcpy(f->url, f->j->url, sizeof(f->url));
	err = http_url_read(f->url, &f->at, &at);
	if (err)
		return fail(f, err, at.why);
	err = ask(f);
	return err ? err : conclude(f);
}

void lists_fetch(struct lists_job *j)
{
	struct fetch *f = calloc(1, sizeof(*f));

	*j->error = *j->note = '\0';
	j->event = LISTS_FAILED;
	j->err = -ENOMEM;
	if (!f) {
		snprintf(j->error, sizeof(j->error), "out of memory");
		return;
	}
	f->j = j;
	f->dir = f->copy.fd = -1;
	f->deadline_ns = clock_fine_ns() + j->timeout_ms * CLOCK_MS;
	j->err = try(f);
	if (j->err)
		j->event = LISTS_FAILED;
	lists_copy_drop(&f->copy);
	if (f->dir >= 0)
		close(f->dir);
	free(f);
}
