/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl_call.c - the way to the daemon: requests, its errors in words, streams.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/millctl.h"
#include "net/http.h"

#define PREFIX     "http://localhost/api/v1"
#define BODY_MAX   (16U << 20)
#define LINE_BYTES (64U << 10)		/* of a stream */
#define TIMEOUT_MS 60000		/* a reload reads every list */

/* What came of a body: all of it, or (for a stream) the line that is not yet whole. */
struct body {
	char *text;
	size_t size;
	unsigned status;
	struct ctl *c;
	void (*line)(const json_t *o);	/* NULL: no stream */
	const char *content;		/* of the request; NULL: none */
};

static int keep(struct body *b, const char *p, size_t size)
{
	char *more = realloc(b->text, b->size + size + 1);

	if (!more)
		return -ENOMEM;
	memcpy(more + b->size, p, size);
	more[b->size + size] = 0;
	b->text = more;
	b->size += size;
	return 0;
}

/* Hand over every whole line, keep the rest. */
static int take_lines(struct body *b)
{
	char *at = b->text, *end;
	json_t *o;

	while ((end = memchr(at, '\n', b->size - (size_t)(at - b->text)))) {
		*end = 0;
		if (b->c->json) {
			puts(at);
		} else {
			o = json_loads(at, 0, NULL);
			if (!o)
				return -EPROTO;
			b->line(o);
			json_decref(o);
		}
		at = end + 1;
	}
	b->size -= (size_t)(at - b->text);
	memmove(b->text, at, b->size + 1);
	/* Whoever reads a pipe behind us wants events when they happen. */
	if (fflush(stdout))
		return -EPIPE;
	return b->size > LINE_BYTES? -EMSGSIZE : 0;
}

static int on_body(void *arg, unsigned status, const char *p, size_t size)
{
	struct body *b = arg;
	int err = keep(b, p, size);

	b->status = status;
	return !err && b->line && status == 200 ? take_lines(b) : err;
}

static int unreachable(const struct ctl *c, int err, const struct err_at *at)
{
	const char *why = err == -ETIMEDOUT ? "it took too long" :
			  err == -EPROTO || err == -EMSGSIZE ? at->why : strerror(-err);

	if (err == -EPROTO || err == -ETIMEDOUT || err == -EMSGSIZE)
		fprintf(stderr, "millctl: the daemon at %s gave no answer: %s\n", c->socket, why);
	else if (err == -EACCES || err == -EPERM)
		fprintf(stderr, "millctl: %s may not be opened: %s\n"
			"Use sudo, or become a member of the group that owns it.\n", c->socket, why);
	else
		fprintf(stderr, "millctl: no daemon answers at %s: %s\n"
			"Start it with \"systemctl start millrace\" or \"millraced -c /etc/millrace/millrace.yaml\"; "
			"-s names another socket.\n", c->socket, why);
	return CTL_NO;
}

/* An error of the API's in words. */
static int refused(const struct ctl *c, unsigned status, const json_t *o)
{
	const json_t *e = ctl_get(o, "error");
	const char *why = ctl_text(e, "why"), *where = ctl_text(e, "where"), *expected = ctl_text(e, "expected");

	if (c->json && o) {
		json_dumpf(o, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (!e) {
		fprintf(stderr, "millctl: what answers at %s is not the daemon's API (HTTP status %u)\n", c->socket, status);
	} else {
		fprintf(stderr, "millctl: %s\n", ctl_text(e, "what"));
		if (*ctl_text(e, "file"))
			fprintf(stderr, "  file      %s\n", ctl_text(e, "file"));
		if (ctl_number(e, "line"))
			fprintf(stderr, "  line      %llu\n", (unsigned long long)ctl_number(e, "line"));
		if (*ctl_text(e, "key"))
			fprintf(stderr, "  key       %s\n", ctl_text(e, "key"));
		if (*where && !*why)
			fprintf(stderr, "  where     %s\n", where);
		if (*expected)
			fprintf(stderr, "  expected  %s\n", expected);
	}
	return status == 400 ? CTL_USAGE : CTL_NO;
}

static int perform(struct ctl *c, const char *method, const char *path, unsigned timeout_ms, struct body *b)
{
	static const char *const json_header[] = { "Content-Type: application/json", NULL };
	struct err_at at = { .why = "" };
	char url[16384];
	struct http_request q = {
		.method = method, .url = url, .socket = c->socket, .timeout_ms = timeout_ms,
		.body_max = b->line ? 0 : BODY_MAX, .body = on_body, .arg = b, .content = b->content,
		.content_size = b->content ? strlen(b->content) : 0, .headers = b->content ? json_header : NULL,
	};
	int err;

	if ((size_t)snprintf(url, sizeof(url), PREFIX "%s", path) >= sizeof(url)) {
		fprintf(stderr, "millctl: the arguments are too long\n");
		return CTL_USAGE;
	}
	err = http_ask(&q, &b->status, &at);
	return err ? unreachable(c, err, &at) : CTL_OK;
}

static int ask(struct ctl *c, const char *method, const char *path, const char *content, json_t **ret)
{
	struct body b = { .c = c, .content = content };
	json_t *o;
	int err = perform(c, method, path, TIMEOUT_MS, &b);

	if (!err) {
		o = b.text ? json_loads(b.text, 0, NULL) : NULL;
		if (o && b.status == 200)
			*ret = json_incref(o);
		else
			err = refused(c, b.status, o);
		json_decref(o);
	}
	free(b.text);
	return err;
}

int ctl_ask(struct ctl *c, const char *method, const char *path, json_t **ret)
{
	return ask(c, method, path, NULL, ret);
}

/* Print or show an answer (taken). */
static int show_answer(struct ctl *c, int err, json_t *o, int (*show)(struct ctl *c, const json_t *o))
{
	if (!err && c->json) {
		json_dumpf(o, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (!err) {
		err = show(c, o);
	}
	json_decref(o);
	return err;
}

int ctl_show(struct ctl *c, const char *method, const char *path, int (*show)(struct ctl *c, const json_t *o))
{
	json_t *o = NULL;
	int err = ask(c, method, path, NULL, &o);

	return show_answer(c, err, o, show);
}

int ctl_send(struct ctl *c, const char *method, const char *path, json_t *body,
	     int (*show)(struct ctl *c, const json_t *o))
{
	char *content = body ? json_dumps(body, JSON_COMPACT) : NULL;
	json_t *o = NULL;
	int err = CTL_NO;

	if (content)
		err = ask(c, method, path, content, &o);
	else
		fprintf(stderr, "millctl: out of memory, or an argument is not UTF-8\n");
	free(content);
	json_decref(body);
	return show_answer(c, err, o, show);
}

int ctl_stream(struct ctl *c, const char *path, void (*line)(const json_t *o))
{
	struct body b = { .c = c, .line = line };
	json_t *o;
	int err = perform(c, "GET", path, 0, &b);

	if (!err && b.status != 200) {
		o = b.text ? json_loads(b.text, 0, NULL) : NULL;
		err = refused(c, b.status, o);
		json_decref(o);
	}
	free(b.text);
	return err;
}

bool ctl_path_name(char *buf, size_t size, const char *before, const char *name, const char *behind)
{
	size_t n = (size_t)snprintf(buf, size, "%s", before);

	if (n >= size || !http_escape(name, buf + n, size - n))
		return false;
	n += strlen(buf + n);
	return (size_t)snprintf(buf + n, size - n, "%s", behind) < size - n;
}

int ctl_wrong(const char *fmt, ...)
{
	va_list ap;

	fputs("millctl: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return CTL_USAGE;
}

bool ctl_path(char *buf, size_t size, const char *path, ...)
{
	size_t n = (size_t)snprintf(buf, size, "%s", path);
	const char *name, *value;
	char mark = '?';
	va_list ap;
	bool fits = n < size;

	va_start(ap, path);
	while (fits && (name = va_arg(ap, const char *))) {
		value = va_arg(ap, const char *);
		if (!value)
			continue;
		n += (size_t)snprintf(buf + n, size - n, "%c%s=", mark, name);
		fits = n < size && http_escape(value, buf + n, size - n);
		if (fits)
			n += strlen(buf + n);
		mark = '&';
	}
	va_end(ap);
	return fits;
}

const json_t *ctl_get(const json_t *o, const char *path)
{
	const char *dot;
	char key[64];

	while (o && (dot = strchr(path, '.'))) {
		snprintf(key, sizeof(key), "%.*s", (int)(dot - path), path);
		o = json_object_get(o, key);
		path = dot + 1;
	}
	return o ? json_object_get(o, path) : NULL;
}

const char *ctl_text(const json_t *o, const char *path)
{
	const char *s = json_string_value(ctl_get(o, path));

	return s ? s : "";
}

uint64_t ctl_number(const json_t *o, const char *path)
{
	json_int_t v = json_integer_value(ctl_get(o, path));

	return v < 0 ? 0 : (uint64_t)v;
}

bool ctl_bool(const json_t *o, const char *path)
{
	return json_is_true(ctl_get(o, path));
}
