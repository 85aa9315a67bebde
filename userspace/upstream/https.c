/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * https.c - asking over HTTPS (RFC 8484): each query a request of HTTP/2, many
 * at once on a connection.  The ID is 0, so that caches on the way can answer
 * (section 4.1); they say how long an answer has been there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "dns/pad.h"
#include "net/h2.h"
#include "upstream/conn.h"

#define CROWDED 100			/* requests on one connection before a second one is opened */
#define PATH_MAX_GET (ENDPOINT_PATH_MAX + 8 + UPSTREAM_QUERY_MAX * 4 / 3 + 4)

/* What is to be said goes to the stream; when it does not take all, the rest makes no sense any more. */
static int flush(struct upstream_conn *c)
{
	const uint8_t *octets;
	size_t n;
	int err = 0;

	while (!c->closing && !err && (n = h2_take(c->h2, &octets)) > 0)
		err = stream_send(&c->s, octets, n);
	if (err)
		upstream_conn_doom(c, err);
	return err;
}

/* ---- what becomes of a request ---- */

static void answered(void *arg, void *asker, const struct h2_answer *a)
{
	struct upstream_job *job = asker;

	job->request = NULL;
	if (a->age_s && a->size)
		dns_age(a->body, a->size, a->age_s);
	if (upstream_job_matches(job, a->body, a->size)) {
		upstream_conn_answered(job, a->body, a->size);
		return;
	}
	count_one(job->up->count, COUNT_upstream_mismatches);
	upstream_conn_failed(job, -EBADMSG, "the answer is none to the question");
}

static void failed(void *arg, void *asker, int err, const char *why)
{
	struct upstream_job *job = asker;

	job->request = NULL;
	upstream_conn_failed(job, err, why);
}

static const struct h2_ops ops = { answered, failed };

/* ---- requests ---- */

static char *base64url(char *at, const uint8_t *octets, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint32_t bits = 0;
	unsigned n = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		bits = bits << 8 | octets[i];
		for (n += 8; n >= 6; n -= 6)
			*at++ = digits[bits >> (n - 6) & 63];
	}
	if (n)
		*at++ = digits[bits << (6 - n) & 63];
	*at = '\0';
	return at;
}

/* "host", "host:port", "[address]:port" */
static void write_authority(const struct endpoint *at, char *ret, size_t size)
{
	bool bare = strchr(at->name, ':');
	int n = snprintf(ret, size, "%s%s%s", bare ? "[" : "", at->name, bare ? "]" : "");

	if (at->addr.port != 443)
		snprintf(ret + n, size - (size_t)n, ":%u", at->addr.port);
}

static int put(struct upstream_conn *c, struct upstream_job *job)
{
	const struct endpoint *at = &c->up->opts.servers[c->server].at;
	char authority[ENDPOINT_NAME_MAX + 16], path[PATH_MAX_GET];
	struct h2_question q = { authority, at->path, "application/dns-message", job->query, job->query_len };
	int err;

	job->id = 0;
	memset(job->query, 0, 2);
	write_authority(at, authority, sizeof(authority));
	if (c->up->opts.https_get) {
		err = snprintf(path, sizeof(path), "%s%sdns=", at->path, strchr(at->path, '?') ? "&" : "?");
		base64url(path + err, job->query, job->query_len);
		q.path = path;
		q.body = NULL;
	}
	err = h2_ask(c->h2, &q, job, &job->request);
	if (err)
		return err;
	err = flush(c);
	if (err) {
		h2_cancel(c->h2, job->request);
		job->request = NULL;
	}
	return err;
}

static void drop(struct upstream_conn *c, struct upstream_job *job)
{
	h2_cancel(c->h2, job->request);
	job->request = NULL;
	flush(c);
}

static void came(struct upstream_conn *c, const uint8_t *octets, size_t size)
{
	int err = h2_feed(c->h2, octets, size);

	if (h2_streams(c->h2))
		c->up->streams[c->server] = h2_streams(c->h2);
	if (c->closing || flush(c))
		return;
	if (!err && h2_is_over(c->h2))
		err = *h2_why(c->h2) ? -EPROTO : -ECONNRESET;
	if (err)
		upstream_conn_broke(c, err, h2_why(c->h2));
	else if (!h2_is_open(c->h2))
		upstream_conn_retire(c);
}

/* ---- connections ---- */

static int begin(struct upstream_conn *c)
{
	return h2_new(&ops, c, STREAM_MESSAGE_MAX, c->up->streams[c->server], &c->h2);
}

static void end(struct upstream_conn *c)
{
	h2_free(c->h2);
}

static unsigned room(const struct upstream_conn *c)
{
	unsigned n = c->up->streams[c->server];

	return n && n < CROWDED ? n : CROWDED;
}

static const struct upstream_over over_https = {
	.tls = true,
	.alpn = "h2",
	.alpn_needed = true,
	.octets = true,
	.queries = COUNT_upstream_https_queries,
	.begin = begin,
	.end = end,
	.put = put,
	.drop = drop,
	.came = came,
	.room = room,
};

static int https_send(struct upstream_job *job)
{
	return upstream_conn_send(job, &over_https);
}

const struct upstream_transport upstream_https = {
	.name = "https", .refused_again = true, .send = https_send, .cancel = upstream_conn_cancel,
};
