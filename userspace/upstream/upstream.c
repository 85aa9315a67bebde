/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upstream.c - the way of a request through servers and transports.
 *
 * Every server is asked once in the order of the pool; a single one twice, the
 * second time from another port.  The time that is left is shared evenly among
 * the attempts that are left, but an attempt gets at least SHARE_MIN_MS while
 * the request has that much: a fast answer from the third server is worth
 * more than a thorough wait for the first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "dns/msg.h"
#include "dns/name.h"
#include "dns/reply.h"
#include "upstream/transport.h"

#define SHARE_MIN_MS      400
#define IN_FLIGHT_DEFAULT 4096

static const struct count_row rows[] = { COUNT_ROWS(UPSTREAM_COUNTERS) };
static COUNT_SET(counters, rows);

static void on_timer(uv_timer_t *t);

/* ---- jobs ---- */

static void on_timer_closed(uv_handle_t *h)
{
	struct upstream_job *job = h->data;

	upstream_handle_closed(job->up);
}

static struct upstream_job *job_make(struct upstream *u)
{
	struct upstream_job *job;

	if (u->made == u->opts.in_flight_max)
		return NULL;
	job = calloc(1, sizeof(*job));
	if (!job)
		return NULL;
	job->up = u;
	job->fd = -1;
	job->index = u->made;
	uv_timer_init(u->loop, &job->timer);
	job->timer.data = job;
	u->handles++;
	u->jobs[u->made++] = job;
	return job;
}

static struct upstream_job *job_get(struct upstream *u, struct upstream_request *req)
{
	struct upstream_job *job = u->free;

	if (job)
		u->free = job->next_free;
	else
		job = job_make(u);
	if (!job)
		return NULL;
	job->req = req;
	job->turn = 0;
	job->answered = 0;
	job->last_err = -ETIMEDOUT;
	job->last = NULL;
	u->in_flight++;
	return job;
}

static void job_put(struct upstream_job *job)
{
	struct upstream *u = job->up;

	uv_timer_stop(&job->timer);
	free(job->last);
	job->last = NULL;
	job->req = NULL;
	job->next_free = u->free;
	u->free = job;
	u->in_flight--;
}

/* End the attempt under way, if there is one. */
static void job_quit(struct upstream_job *job, bool late)
{
	const struct upstream_transport *via = job->via;

	job->via = NULL;
	if (via)
		via->cancel(job, late);
}

/* Give the outcome to the asker; the job is free by then, so that the asker may ask again at once. */
static void finish(struct upstream_job *job, int err, const uint8_t *msg, size_t size)
{
	struct upstream_request *req = job->req;
	uint8_t *last = job->last;

	job->last = NULL;
	req->state = NULL;
	req->server = job->server;
	if (err && last) {		/* somebody did answer, if only to say that he cannot */
		err = 0;
		msg = last;
		size = job->last_size;
		req->server = job->last_server;
		req->tcp = job->last_tcp;
	}
	job_put(job);
	req->done(req, err, msg, size);
	free(last);
}

/* ---- attempts ---- */

static bool is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOBUFS || err == -ENOMEM;
}

static uint64_t share_ms(const struct upstream_job *job, uint64_t now_ms)
{
	uint64_t left = job->deadline_ms > now_ms ? job->deadline_ms - now_ms : 0;
	uint64_t ms = left / (job->attempts - job->turn + 1);

	if (ms < SHARE_MIN_MS)
		ms = SHARE_MIN_MS;
	return ms < left ? ms : left;
}

/* Ask job->server.  A failure is told by the timer, as any other end; returned as well. */
static int attempt(struct upstream_job *job, const struct upstream_transport *via)
{
	const struct dns_key *key = job->req->key;
	uint64_t now_ms = uv_now(job->up->loop);
	int n;

	job->id = random_u16();
	n = dns_query_write(job->id, key->name, key->name_len, key->qtype, key->bits, job->edns, job->query,
			    sizeof(job->query));
	if (n >= 0) {
		job->query_len = (uint16_t)n;
		n = via->send(job);
	}
	job->send_err = n;
	job->via = n ? NULL : via;
	job->req->tcp = via == &upstream_tcp;
	uv_timer_start(&job->timer, on_timer, n ? 0 : share_ms(job, now_ms), 0);
	return n;
}

/* Go to the next server that has not answered yet.  Returns -ENOENT behind the last, else attempt()'s. */
static int next_server(struct upstream_job *job)
{
	struct upstream *u = job->up;
	uint64_t now_ms = uv_now(u->loop);

	while (job->turn < job->attempts && now_ms < job->deadline_ms) {
		job->server = job->order[job->turn++ % u->opts.count];
		if (job->answered & 1U << job->server)
			continue;
		job->edns = !upstream_pool_is_plain(&u->pool, job->server, now_ms);
		job->without_edns = false;
		return attempt(job, &upstream_udp);
	}
	return -ENOENT;
}

static void go_on(struct upstream_job *job)
{
	if (next_server(job) == -ENOENT)
		finish(job, job->last_err, NULL, 0);
}

static void on_timer(uv_timer_t *t)
{
	struct upstream_job *job = t->data;
	struct upstream *u = job->up;

	if (job->send_err) {
		upstream_job_failed(job, job->send_err);
		return;
	}
	job_quit(job, true);
	count_one(u->count, COUNT_upstream_timeouts);
	upstream_pool_timed_out(&u->pool, job->server, uv_now(u->loop));
	job->last_err = -ETIMEDOUT;
	go_on(job);
}

void upstream_job_failed(struct upstream_job *job, int err)
{
	job->via = NULL;
	count_one(job->up->count, COUNT_upstream_errors);
	job->last_err = is_shortage(err) ? -EBUSY : err;
	go_on(job);
}

/* ---- responses ---- */

static bool is_failure(unsigned rcode)
{
	return rcode != DNS_NOERROR && rcode != DNS_NXDOMAIN && rcode != 6;	/* YXDOMAIN: a DNAME grew too long */
}

bool upstream_job_matches(const struct upstream_job *job, const uint8_t *msg, size_t size)
{
	const struct dns_key *key = job->req->key;
	struct dns_response r;

	if (dns_response_parse(msg, size, &r) || r.id != job->id || DNS_OPCODE(r.flags))
		return false;
	if (!r.has_question)
		return is_failure(DNS_RCODE(r.flags));
	return r.qtype == key->qtype && r.qclass == DNS_IN && r.qname_len == key->name_len &&
	       dns_name_equal(r.qname, key->name);
}

/* Keep a failure for the case that nobody does better; one without question is of no use to the asker. */
static void keep_failure(struct upstream_job *job, const uint8_t *msg, size_t size)
{
	if (!(msg[4] | msg[5]))
		return;
	free(job->last);
	job->last = malloc(size);
	job->last_size = size;
	job->last_server = job->server;
	job->last_tcp = job->req->tcp;
	if (job->last)
		memcpy(job->last, msg, size);
}

static void on_failure(struct upstream_job *job, unsigned rcode, const struct upstream_transport *via,
		       const uint8_t *msg, size_t size)
{
	struct upstream *u = job->up;

	if ((rcode == DNS_FORMERR || rcode == DNS_NOTIMP) && job->edns) {
		/* as servers answer that know no EDNS (RFC 6891 section 7) */
		count_one(u->count, COUNT_upstream_no_edns);
		job->edns = false;
		job->without_edns = true;
		attempt(job, via);
		return;
	}
	count_one(u->count, COUNT_upstream_failures);
	upstream_pool_failed(&u->pool, job->server);
	job->answered |= 1U << job->server;
	job->last_err = -EBADMSG;
	keep_failure(job, msg, size);
	go_on(job);
}

void upstream_job_response(struct upstream_job *job, const uint8_t *msg, size_t size)
{
	const struct upstream_transport *via = job->via;
	unsigned flags = (unsigned)msg[2] << 8 | msg[3];
	struct upstream *u = job->up;

	job->via = NULL;
	if (is_failure(DNS_RCODE(flags))) {
		on_failure(job, DNS_RCODE(flags), via, msg, size);
		return;
	}
	upstream_pool_answered(&u->pool, job->server);
	if (job->without_edns)
		upstream_pool_set_plain(&u->pool, job->server, uv_now(u->loop));
	if (flags & DNS_TC && via == &upstream_udp) {
		count_one(u->count, COUNT_upstream_truncated);
		attempt(job, &upstream_tcp);
		return;
	}
	count_one(u->count, COUNT_upstream_answers);
	finish(job, 0, msg, size);
}

/* ---- the asker's side ---- */

int upstream_ask(struct upstream *u, struct upstream_request *r)
{
	struct upstream_job *job;
	int err;

	if (!u->opts.count)
		return -ENOENT;
	if (u->closing)
		return -EBUSY;
	job = job_get(u, r);
	if (!job) {
		count_one(u->count, COUNT_upstream_full);
		return u->in_flight == u->opts.in_flight_max ? -EBUSY : -ENOMEM;
	}
	r->up = u;
	r->state = job;
	r->server = 0;
	r->tcp = false;
	job->deadline_ms = uv_now(u->loop) + u->opts.timeout_ms;
	job->attempts = u->opts.count > 1 ? u->opts.count : 2;
	upstream_pool_order(&u->pool, uv_now(u->loop), job->order);
	err = next_server(job);
	if (!is_shortage(err))
		return 0;		/* any other failure moves on to the next server */
	job_put(job);
	r->state = NULL;
	count_one(u->count, COUNT_upstream_full);
	return err == -ENOMEM ? -ENOMEM : -EBUSY;
}

/* ---- beginning and end ---- */

static void destroy(struct upstream *u)
{
	unsigned i;

	for (i = 0; i < u->made; i++)
		free(u->jobs[i]);
	free(u->jobs);
	free(u->buf);
	free(u);
}

void upstream_handle_closed(struct upstream *u)
{
	if (--u->handles == 0)
		destroy(u);
}

int upstream_new(uv_loop_t *loop, const struct upstream_opts *opts, struct upstream **ret)
{
	struct upstream *u = calloc(1, sizeof(*u));
	int err = -ENOMEM;

	if (!u)
		return err;
	u->loop = loop;
	u->epoll_fd = -1;
	u->opts = *opts;
	if (!u->opts.in_flight_max)
		u->opts.in_flight_max = IN_FLIGHT_DEFAULT;
	upstream_pool_init(&u->pool, opts->count);
	u->count = count_shard_new(&counters);
	u->jobs = calloc(u->opts.in_flight_max, sizeof(struct upstream_job *));
	if (u->count && u->jobs)
		err = upstream_udp_start(u);
	if (err)
		upstream_free(u);
	else
		*ret = u;
	return err;
}

void upstream_free(struct upstream *u)
{
	struct upstream_job *job;
	unsigned i;

	if (!u)
		return;
	u->closing = true;
	for (i = 0; i < u->made; i++) {
		job = u->jobs[i];
		if (!job->req)
			continue;
		job_quit(job, false);
		free(job->last);
		job->last = NULL;
		finish(job, -ECANCELED, NULL, 0);
	}
	upstream_udp_stop(u);
	upstream_tcp_stop(u);
	for (i = 0; i < u->made; i++)
		uv_close((uv_handle_t *)&u->jobs[i]->timer, on_timer_closed);
	if (!u->handles)
		destroy(u);
}
