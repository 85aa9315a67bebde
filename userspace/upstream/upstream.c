/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upstream.c - the way of a request through servers and transports.
 *
 * A request (struct upstream_ask) goes through its plan twice (four times, when
 * there is one server alone): first each server in turn, then again those that
 * have not responded, from another port.
 * It has one attempt (struct upstream_job) under way, or two while two servers
 * race.  The time that is left is shared evenly among the attempts that are
 * left, but an attempt gets at least SHARE_MIN_MS while the request has that
 * much: a fast answer from the third server is worth more than a thorough wait
 * for the first.
 *
 * When a request has its answer, an attempt that is still under way becomes a
 * stray: what comes is dropped, but that it came, and when, or that it did not,
 * is all that a race's loser can teach.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/random.h"
#include "dns/msg.h"
#include "dns/name.h"
#include "dns/option.h"
#include "dns/reply.h"
#include "upstream/transport.h"

#define SHARE_MIN_MS 400
#define ROUNDS       2
#define OPT_BARE     11			/* octets of an OPT without options */
#define ROUNDS_ALONE 4			/* of a single server: packets are lost, and there is nobody else */
#define PROBE_MS     1000		/* that a probe, and a stray, has */
#define STRAYS_MAX   64
#define LOOK_MS      1		/* 0 would be due again before the loop looks at its sockets */

static const struct count_row rows[] = { COUNT_ROWS(UPSTREAM_COUNTERS) };
static COUNT_SET(counters, rows);

/* Where a probe goes: every server can say something about the root. */
static const struct dns_key probe_key = { .name_len = 1, .qtype = DNS_NS };

static const struct upstream_transport *const transports[] = {
	[ENDPOINT_DNS] = &upstream_udp, [ENDPOINT_TCP] = &upstream_tcp, [ENDPOINT_TLS] = &upstream_tls,
	[ENDPOINT_HTTPS] = &upstream_https,
};

static void on_timer(uv_timer_t *t);
static void probe(struct upstream *u, unsigned server);
static void go_on(struct upstream_ask *ask);

/* ---- ends of attempts ---- */

static uint32_t since_us(const struct upstream_job *job)
{
	uint64_t us = job->sent_ns ? (clock_fine_ns() - job->sent_ns) / 1000 : 0;

	return us < UINT32_MAX ? (uint32_t)us + (job->sent_ns != 0) : UINT32_MAX;
}

static void on_probe_timer(uv_timer_t *t)
{
	struct upstream *u = t->data;
	int server;

	while ((server = upstream_pool_probe(u->pool, uv_now(u->loop))) >= 0)
		probe(u, (unsigned)server);
	if (upstream_pool_failed(u->pool))
		return;
	uv_timer_stop(t);
	u->probing = false;
}

static void start_probing(struct upstream *u, uint64_t first_ms)
{
	uint32_t ms = u->opts.probe_ms / 5;

	if (u->closing)
		return;
	u->probing = true;
	uv_timer_start(&u->probe, on_probe_timer, first_ms, ms < 10 ? 10 : ms);
}

/* Tell the pool how an attempt ended; the job is still the caller's. */
static void told(struct upstream_job *job, enum upstream_outcome outcome, bool edns, const char *why)
{
	struct upstream_end end = { .outcome = outcome, .us = since_us(job), .again = job->again, .edns = edns,
				    .letters = job->cased && outcome <= UPSTREAM_REFUSED, .why = why };
	struct upstream *u = job->up;

	switch (upstream_pool_end(u->pool, job->server, &end, uv_now(u->loop))) {
	case UPSTREAM_FELL:
		count_one(u->count, COUNT_upstream_fell);
		break;
	case UPSTREAM_ROSE:
		count_one(u->count, COUNT_upstream_rose);
		break;
	case UPSTREAM_SAME:
		break;
	}
	if (outcome >= UPSTREAM_TIMED_OUT && outcome != UPSTREAM_DROPPED && !u->probing && upstream_pool_failed(u->pool))
		start_probing(u, u->opts.probe_ms);
}

/* End an attempt that is under way: nothing is learnt of it. */
static void job_quit(struct upstream_job *job)
{
	const struct upstream_transport *via = job->via;

	job->via = NULL;
	if (via)
		via->cancel(job, false);
	told(job, UPSTREAM_DROPPED, false, NULL);
	upstream_job_leave(job);
	upstream_job_put(job);
}

/* An attempt has ended without a response that is of use. */
static void job_over(struct upstream_job *job, int err)
{
	struct upstream_ask *ask = job->ask;

	upstream_job_leave(job);
	upstream_job_put(job);
	if (!ask)
		return;
	ask->last_err = err;
	go_on(ask);
}

/* The request has its answer without it. */
static void let_stray(struct upstream_job *job)
{
	struct upstream *u = job->up;

	if (u->strays >= STRAYS_MAX || u->closing || job->send_err) {
		job_quit(job);
		return;
	}
	upstream_job_leave(job);
	job->ask = NULL;
	u->strays++;
	job->own_key = *job->key;
	job->key = &job->own_key;
	uv_timer_start(&job->timer, on_timer, PROBE_MS, 0);
}

static bool is_trusted(const struct upstream *u, unsigned server)
{
	const struct upstream_server *s = &u->opts.servers[server];

	return s->trust_ad && (s->at.scheme == ENDPOINT_TLS || s->at.scheme == ENDPOINT_HTTPS);
}

/* Give the outcome to the asker; the request is free by then, so that the asker may ask again at once. */
static void finish(struct upstream_ask *ask, int err, const uint8_t *msg, size_t size)
{
	struct upstream_request *req = ask->req;
	uint8_t *last = ask->last;
	unsigned i;

	ask->last = NULL;
	req->state = NULL;
	if (err && last) {		/* somebody did answer, if only to say that he cannot */
		err = 0;
		msg = last;
		size = ask->last_size;
		req->server = ask->last_server;
		req->tcp = ask->last_tcp;
	}
	for (i = 0; i < UPSTREAM_LEGS; i++)
		if (ask->leg[i])
			let_stray(ask->leg[i]);
	req->trusted = !err && is_trusted(ask->up, req->server);
	upstream_ask_put(ask);
	req->done(req, err, msg, size);
	free(last);
}

/* ---- attempts ---- */

static bool is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOBUFS || err == -ENOMEM;
}

/* Attempts of a request, at most. */
static unsigned attempts_of(const struct upstream_plan *p)
{
	return p->count * (p->count == 1 ? ROUNDS_ALONE : ROUNDS);
}

static uint64_t share_ms(const struct upstream_ask *ask, uint64_t now_ms)
{
	unsigned attempts = attempts_of(&ask->plan);
	uint64_t left = ask->deadline_ms > now_ms ? ask->deadline_ms - now_ms : 0;
	uint64_t ms = left / (attempts > ask->turn ? attempts - ask->turn + 1 : 1);

	if (ms < SHARE_MIN_MS)
		ms = SHARE_MIN_MS;
	return ms < left ? ms : left;
}

/*
 * Bend letters to a random case, each by a bit of its own (draft-vixie-dnsext-dns0x20).
 * True when there was any.
 */
static bool bend_letters(uint8_t *name, size_t len)
{
	uint8_t bits[DNS_NAME_MAX / 8 + 1];
	bool any = false;
	size_t i;

	random_fill(bits, len / 8 + 1);
	for (i = 0; i < len; i++) {
		/* length octets are below any letter */
		if (name[i] < 'a' || name[i] > 'z')
			continue;
		any = true;
		name[i] ^= (uint8_t)((bits[i / 8] >> i % 8 & 1) << 5);
	}
	return any;
}

static int write_query(struct upstream_job *job, const struct upstream_transport *via)
{
	const struct upstream_opts *o = &job->up->opts;
	const struct dns_key *key = job->key;
	uint8_t bits = o->servers[job->server].no_do ? key->bits & ~DNS_KEY_DO : key->bits | DNS_KEY_DO;
	int n = dns_query_write(job->id, key->name, key->name_len, key->qtype, bits, job->edns, job->query, sizeof(job->query));

	const struct upstream_request *r = job->ask ? job->ask->req : NULL;

	if (n < 0)
		return n;
	job->query_len = (uint16_t)n;
	if (r && r->ecs && job->edns)	/* the OPT ends the query and has no options yet */
		job->query_len = (uint16_t)dns_option_add(job->query, (size_t)n, sizeof(job->query), (size_t)n - OPT_BARE,
							  DNS_OPTION_ECS, r->ecs, r->ecs_len);
	/* other transports are not open to who guesses */
	job->cased = o->case_randomization && via == &upstream_udp && !job->small &&
		     bend_letters(job->query + DNS_HEADER, key->name_len);
	return 0;
}

/* Ask job->server.  A failure is told by the timer, as any other end; returned as well. */
static int job_send(struct upstream_job *job, const struct upstream_transport *via)
{
	uint64_t ms = job->ask ? share_ms(job->ask, uv_now(job->up->loop)) : PROBE_MS;
	int n;

	job->id = random_u16();
	n = write_query(job, via);
	if (!n)
		n = via->send(job);
	job->late = false;
	job->send_err = n;
	job->via = n ? NULL : via;
	if (job->ask)
		job->ask->req->tcp = via != &upstream_udp;
	uv_timer_start(&job->timer, on_timer, n ? 0 : ms, 0);
	return n;
}

/* Begin an attempt of a request, or a probe.  Returns 0, job_send()'s error with the job under way, or another without. */
static int job_begin(struct upstream *u, struct upstream_ask *ask, unsigned server, bool again, struct upstream_job **ret)
{
	struct upstream_job *job = upstream_job_get(u);
	struct upstream_how how = { 0 };
	int err;

	*ret = NULL;
	if (!job)
		return -ENOMEM;
	job->ask = ask;
	job->probe = !ask;
	job->server = server;
	job->key = ask ? ask->req->key : &probe_key;
	err = upstream_pool_begin(u->pool, server, again, uv_now(u->loop), &job->to, &how);
	if (err) {
		upstream_job_put(job);
		return err;
	}
	if (ask) {
		ask->leg[ask->leg[0] != NULL] = job;
		ask->req->server = server;
	}
	*ret = job;
	job->edns = !how.plain || !ask;	/* a probe may find out that it was packets that were lost */
	job->without_edns = !job->edns;
	job->guessed = again && how.plain;
	job->small = how.small;
	job->again = again;
	job->sent_ns = clock_fine_ns();
	return job_send(job, transports[u->opts.servers[server].at.scheme]);
}

/* True when a leg of the request asks that server now. */
static bool is_asked(const struct upstream_ask *ask, unsigned server)
{
	unsigned i;

	for (i = 0; i < UPSTREAM_LEGS; i++)
		if (ask->leg[i] && ask->leg[i]->server == server)
			return true;
	return false;
}

/* Those of the fallback are for the case that nobody has said anything; the second round waits for the first's end. */
static bool may_ask(const struct upstream_ask *ask, unsigned place)
{
	return !(ask->responded & 1U << place) && !is_asked(ask, ask->plan.server[place]) &&
	       !(ask->plan.fallback[place] && ask->responded);
}

/* Go to the next server.  Returns -ENOENT behind the last, else job_begin()'s. */
static int next_server(struct upstream_ask *ask)
{
	struct upstream *u = ask->up;
	struct upstream_job *job;
	unsigned place;
	bool again;
	int err;

	while (ask->turn < attempts_of(&ask->plan) && uv_now(u->loop) < ask->deadline_ms) {
		again = ask->turn >= ask->plan.count;
		if (again && upstream_ask_legs(ask))
			return -ENOENT;
		place = ask->turn++ % ask->plan.count;
		if (!may_ask(ask, place))
			continue;
		err = job_begin(u, ask, ask->plan.server[place], again, &job);
		if (!job && err != -ENOMEM) {
			count_one(u->count, COUNT_upstream_server_full);
			ask->last_err = err;
			continue;	/* it had room when the plan was made */
		}
		if (job && ask->plan.fallback[place])
			count_one(u->count, COUNT_upstream_fallback);
		return err;
	}
	return -ENOENT;
}

static void go_on(struct upstream_ask *ask)
{
	int err = next_server(ask);

	if ((err == -ENOENT || err == -ENOMEM) && !upstream_ask_legs(ask))
		finish(ask, err == -ENOMEM ? err : ask->last_err, NULL, 0);
}

/* The one that is asked is silent: the next is asked as well. */
static void on_race(uv_timer_t *t)
{
	struct upstream_ask *ask = t->data;

	if (!ask->late) {
		ask->late = true;
		uv_timer_start(t, on_race, LOOK_MS, 0);
		return;
	}
	if (upstream_ask_legs(ask) == 1 && ask->turn < ask->plan.wells && next_server(ask) != -ENOENT && upstream_ask_legs(ask) == UPSTREAM_LEGS)
		count_one(ask->up->count, COUNT_upstream_races);
}

static void on_timer(uv_timer_t *t)
{
	struct upstream_job *job = t->data;
	const struct upstream_transport *via = job->via;
	struct upstream *u = job->up;
	char why[64];

	/* A loop that was held up runs its timers before it looks at its sockets. */
	if (!job->send_err && !job->late) {
		job->late = true;
		uv_timer_start(t, on_timer, LOOK_MS, 0);
		return;
	}
	if (job->send_err) {
		if (*job->why)
			upstream_job_refused(job, job->send_err, job->why);
		else
			upstream_job_failed(job, job->send_err);
		return;
	}
	job->via = NULL;
	if (via)
		via->cancel(job, true);
	count_one(u->count, COUNT_upstream_timeouts);
	snprintf(why, sizeof(why), "no answer%s", job->probe ? " to a probe" : "");
	told(job, UPSTREAM_TIMED_OUT, false, why);
	if (!job->probe && upstream_pool_suspected(u->pool, job->server, uv_now(u->loop)))
		probe(u, job->server);
	job_over(job, -ETIMEDOUT);
}

static void failed(struct upstream_job *job, enum upstream_outcome outcome, int err, const char *why)
{
	struct upstream *u = job->up;

	job->via = NULL;
	count_one(u->count, COUNT_upstream_errors);
	/* What we are short of says nothing about the server. */
	job->sent_ns = 0;
	told(job, is_shortage(err) ? UPSTREAM_DROPPED : outcome, false, is_shortage(err) ? NULL : why);
	/* Asked at once again the only server says the same at once again: twice is enough. */
	if (job->ask && job->ask->plan.count == 1)
		job->ask->turn += ROUNDS_ALONE / ROUNDS - 1;
	job_over(job, is_shortage(err) ? -EBUSY : err);
}

void upstream_job_failed(struct upstream_job *job, int err)
{
	failed(job, UPSTREAM_BROKE, err, strerror(-err));
}

void upstream_job_refused(struct upstream_job *job, int err, const char *why)
{
	failed(job, UPSTREAM_UNTRUSTED, err, why);
}

/* ---- responses ---- */

static bool is_failure(unsigned rcode)
{
	return rcode != DNS_NOERROR && rcode != DNS_NXDOMAIN && rcode != 6;	/* YXDOMAIN: a DNAME grew too long */
}

bool upstream_job_matches(const struct upstream_job *job, const uint8_t *msg, size_t size)
{
	const struct dns_key *key = job->key;
	struct dns_response r;

	if (dns_response_parse(msg, size, &r) || r.id != job->id || DNS_OPCODE(r.flags))
		return false;
	if (!r.has_question)
		return is_failure(DNS_RCODE(r.flags));
	return r.qtype == key->qtype && r.qclass == DNS_IN && r.qname_len == key->name_len &&
	       dns_name_equal(r.qname, key->name);
}

/* Keep a failure for the case that nobody does better; one without question is of no use to the asker. */
static void keep_failure(struct upstream_ask *ask, const struct upstream_job *job, const struct upstream_transport *via,
			 const uint8_t *msg, size_t size)
{
	if (!(msg[4] | msg[5]))
		return;
	free(ask->last);
	ask->last = malloc(size);
	ask->last_size = size;
	ask->last_server = job->server;
	ask->last_tcp = via != &upstream_udp;
	if (ask->last)
		memcpy(ask->last, msg, size);
}

static const char *rcode_text(unsigned rcode, char *buf, size_t size)
{
	static const char *const names[] = { [DNS_FORMERR] = "FORMERR", [DNS_SERVFAIL] = "SERVFAIL", [DNS_NOTIMP] = "NOTIMP",
					     [DNS_REFUSED] = "REFUSED" };

	if (rcode < sizeof(names) / sizeof(names[0]) && names[rcode])
		return names[rcode];
	snprintf(buf, size, "rcode %u", rcode);
	return buf;
}

/* A failure that may go away when it is asked otherwise.  True: it is asked again. */
static bool asked_again(struct upstream_job *job, unsigned rcode, const struct upstream_transport *via)
{
	job->sent_ns = 0;
	if ((rcode == DNS_FORMERR || rcode == DNS_NOTIMP) && job->edns) {
		/* as servers answer that know no EDNS (RFC 6891 section 7) */
		count_one(job->up->count, COUNT_upstream_no_edns);
		job->edns = false;
		job->without_edns = true;
	} else if (rcode == DNS_REFUSED && via->refused_again && !job->fresh) {
		job->fresh = true;
	} else {
		return false;
	}
	job_send(job, via);
	return true;
}

static void mark_responded(struct upstream_ask *ask, unsigned server)
{
	unsigned i;

	for (i = 0; i < ask->plan.count; i++)
		if (ask->plan.server[i] == server)
			ask->responded |= 1U << i;
}

static bool knows_edns(const struct upstream_job *job, unsigned rcode)
{
	return job->edns && rcode != DNS_FORMERR && rcode != DNS_NOTIMP;
}

/* A response for nobody: to a probe, or behind another server's. */
static void on_stray(struct upstream_job *job, bool edns)
{
	if (!job->probe)
		count_one(job->up->count, COUNT_upstream_late);
	told(job, UPSTREAM_ANSWERED, edns, NULL);
	upstream_job_put(job);
}

static void on_failure(struct upstream_job *job, unsigned rcode, const struct upstream_transport *via,
		       const uint8_t *msg, size_t size)
{
	struct upstream_ask *ask = job->ask;
	struct upstream *u = job->up;
	char text[16];

	if (job->probe) {		/* it lives, and may have its reasons not to speak of the root */
		on_stray(job, knows_edns(job, rcode));
		return;
	}
	if (asked_again(job, rcode, via))
		return;
	count_one(u->count, COUNT_upstream_failures);
	told(job, rcode == DNS_REFUSED ? UPSTREAM_REFUSED : UPSTREAM_SERVFAIL,
	     knows_edns(job, rcode), rcode_text(rcode, text, sizeof(text)));
	if (ask) {
		mark_responded(ask, job->server);
		keep_failure(ask, job, via, msg, size);
	} else {
		count_one(u->count, COUNT_upstream_late);
	}
	job_over(job, -EBADMSG);
}

/* What says "no error" and is no answer: the next server is asked, and this is given to nobody. */
static void on_unusable(struct upstream_job *job, const char *why)
{
	struct upstream *u = job->up;

	count_one(u->count, COUNT_upstream_failures);
	told(job, UPSTREAM_SERVFAIL, job->edns, why);
	if (job->ask)
		mark_responded(job->ask, job->server);
	else if (!job->probe)
		count_one(u->count, COUNT_upstream_late);
	job_over(job, -EBADMSG);
}

/* Errors may come without a question. */
static bool has_other_letters(const struct upstream_job *job, const uint8_t *msg, size_t size)
{
	return job->cased && (msg[4] | msg[5]) && size >= (size_t)DNS_HEADER + job->key->name_len &&
	       memcmp(msg + DNS_HEADER, job->query + DNS_HEADER, job->key->name_len);
}

/*
 * A forgery that got all but the letters right, or a server that does not
 * repeat them: over TCP nobody needs to be believed (RFC 7766).
 */
static void on_other_letters(struct upstream_job *job)
{
	struct upstream *u = job->up;

	count_one(u->count, COUNT_upstream_letters);
	if (upstream_pool_other_letters(u->pool, job->server, uv_now(u->loop)))
		count_one(u->count, COUNT_upstream_small);
	job->sent_ns = 0;
	job_send(job, &upstream_tcp);
}

void upstream_job_response(struct upstream_job *job, const uint8_t *msg, size_t size)
{
	const struct upstream_transport *via = job->via;
	unsigned flags = (unsigned)msg[2] << 8 | msg[3];
	struct upstream_ask *ask = job->ask;
	struct upstream *u = job->up;
	const char *why;

	job->via = NULL;
	if ((ask || job->probe) && has_other_letters(job, msg, size)) {
		on_other_letters(job);
		return;
	}
	if (is_failure(DNS_RCODE(flags))) {
		on_failure(job, DNS_RCODE(flags), via, msg, size);
		return;
	}
	why = flags & DNS_TC || job->probe ? NULL : upstream_unusable(msg, size);
	if (why) {
		on_unusable(job, why);
		return;
	}
	if (job->without_edns && upstream_pool_set_plain(u->pool, job->server, uv_now(u->loop)) && job->guessed)
		probe(u, job->server);
	if (!ask) {
		on_stray(job, job->edns);
		return;
	}
	if (flags & DNS_TC && via == &upstream_udp) {
		count_one(u->count, COUNT_upstream_truncated);
		job->sent_ns = 0;
		job_send(job, &upstream_tcp);
		return;
	}
	count_one(u->count, COUNT_upstream_answers);
	told(job, UPSTREAM_ANSWERED, job->edns, NULL);
	ask->req->server = job->server;		/* not the one that was asked last */
	ask->req->tcp = via != &upstream_udp;
	upstream_job_leave(job);
	upstream_job_put(job);
	finish(ask, 0, msg, size);
}

/* ---- probes ---- */

static void probe(struct upstream *u, unsigned server)
{
	struct upstream_job *job;

	if (u->closing)
		return;
	job_begin(u, NULL, server, false, &job);
	if (job)
		count_one(u->count, COUNT_upstream_probes);
}

void upstream_moved(struct upstream *u, uint64_t servers)
{
	unsigned i;

	if (u->closing)
		return;
	for (i = 0; i < u->opts.count; i++)
		if (servers & 1ULL << i)
			upstream_conns_moved(u, i);
	if (upstream_pool_failed(u->pool))
		start_probing(u, 0);
}

/* ---- the asker's side ---- */

int upstream_ask(struct upstream *u, struct upstream_request *r)
{
	uint64_t now_ms = uv_now(u->loop);
	struct upstream_plan plan;
	struct upstream_ask *ask;
	unsigned full;
	int measure, err;

	if (u->closing)
		return -EBUSY;
	err = upstream_pool_enter(u->pool, r->key, now_ms, &plan, &measure, &full);
	count_add(u->count, COUNT_upstream_server_full, full);
	if (err) {
		if (err == -EBUSY)
			count_one(u->count, COUNT_upstream_full);
		return err;
	}
	ask = upstream_ask_get(u, r);
	if (!ask) {
		upstream_pool_leave(u->pool);
		return -ENOMEM;
	}
	ask->plan = plan;
	ask->deadline_ms = now_ms + u->opts.timeout_ms;
	r->up = u;
	r->state = ask;
	r->server = plan.server[0];
	r->tcp = false;
	err = next_server(ask);
	if (upstream_ask_legs(ask) && !is_shortage(err)) {	/* any other failure moves on to the next server */
		ask->late = false;
		if (plan.race_ms)
			uv_timer_start(&ask->race, on_race, plan.race_ms, 0);
		if (measure >= 0)
			probe(u, (unsigned)measure);
		return 0;
	}
	if (ask->leg[0])
		job_quit(ask->leg[0]);
	upstream_ask_put(ask);
	r->state = NULL;
	count_one(u->count, COUNT_upstream_full);
	return err == -ENOMEM ? -ENOMEM : -EBUSY;
}

/* ---- beginning and end ---- */

static void destroy(struct upstream *u)
{
	upstream_jobs_free(u);
	upstream_conns_done(u);
	free(u->buf);
	upstream_pool_unref(u->pool);
	free(u);
}

void upstream_handle_closed(struct upstream *u)
{
	if (--u->handles == 0)
		destroy(u);
}

static void on_probe_closed(uv_handle_t *h)
{
	upstream_handle_closed(h->data);
}

int upstream_open(uv_loop_t *loop, struct upstream_pool *pool, struct upstream **ret)
{
	struct upstream *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return -ENOMEM;
	u->loop = loop;
	u->epoll_fd = -1;
	u->pool = upstream_pool_ref(pool);
	u->opts = *upstream_pool_opts(pool);
	uv_timer_init(loop, &u->probe);
	u->probe.data = u;
	u->handles++;
	upstream_conns_start(u);
	u->count = count_shard_new(&counters);
	err = u->count ? upstream_udp_start(u) : -ENOMEM;
	if (err) {
		upstream_free(u);
		return err;
	}
	if (upstream_pool_failed(pool))
		start_probing(u, 0);
	*ret = u;
	return 0;
}

int upstream_new(uv_loop_t *loop, const struct upstream_opts *opts, struct upstream **ret)
{
	struct upstream_pool *pool;
	int err = upstream_pool_new(opts, NULL, NULL, &pool);

	if (err)
		return err;
	err = upstream_open(loop, pool, ret);
	upstream_pool_unref(pool);
	return err;
}

/* Requests end first, each with its error; then what is left are strays and probes. */
static void end_all(struct upstream *u)
{
	struct upstream_ask *ask;
	unsigned i;

	for (ask = u->asks; ask; ask = ask->next) {
		if (!ask->req)
			continue;
		free(ask->last);
		ask->last = NULL;
		finish(ask, -ECANCELED, NULL, 0);
	}
	for (i = 0; i < u->made; i++)
		if (u->jobs[i]->used)
			job_quit(u->jobs[i]);
}

void upstream_free(struct upstream *u)
{
	if (!u)
		return;
	u->closing = true;
	end_all(u);
	upstream_udp_stop(u);
	upstream_conns_stop(u);
	upstream_jobs_close(u);
	uv_close((uv_handle_t *)&u->probe, on_probe_closed);
}
