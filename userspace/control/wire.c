/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire.c - the workers, and their doors to upstream and to the packet path.
 *
 * Fills in the tables of resolve/ops.h with the real things.  Each worker has
 * its own upstream object; when a reload changes the servers the old object
 * stays until its last request has ended, so that no query is lost.
 */
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "control/internal.h"
#include "net/udp.h"

#define DRAIN_MS 2000			/* that running queries have at the end */

struct wire_upstream {
	struct wire_upstream *next;
	struct upstream *up;
	struct upstream_pool *pool;	/* the one it asks; its reference keeps the address from being another pool's */
	unsigned requests;		/* under way */
};

struct wire {
	struct control *control;
	struct worker *worker;
	uv_loop_t *loop;
	struct resolver resolver;
	struct wire_upstream *upstream;	/* in use; NULL: no servers */
	struct wire_upstream *retired;	/* each goes, at a tick, after its last request */
};

/* ---- upstream ---- */

struct request {
	struct upstream_request up;
	struct wire_upstream *of;
	struct query *query;
};

static void on_response(struct upstream_request *up, int err, const uint8_t *msg, size_t size)
{
	struct request *r = up->arg;
	struct wire_upstream *u = r->of;
	struct query *q = r->query;

	q->upstream_trusted = up->trusted;
	/* The query, and the request in its arena, may be gone after this. */
	query_upstream_done(q, err, msg, size, up->server, clock_coarse_ns());
	u->requests--;
}

static int ask(void *ctx, struct query *q)
{
	struct wire *w = ctx;
	struct request *r;
	int err;

	if (!w->upstream)
		return -ENOENT;
	r = arena_zalloc(&q->arena, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->up.key = &q->key;
	r->up.done = on_response;
	r->up.arg = r;
	r->up.ecs = q->ecs;
	r->up.ecs_len = q->ecs_len;
	r->of = w->upstream;
	r->query = q;
	err = upstream_ask(w->upstream->up, &r->up);
	if (!err)
		w->upstream->requests++;
	return err;
}

static void retire(struct wire *w)
{
	if (!w->upstream)
		return;
	w->upstream->next = w->retired;
	w->retired = w->upstream;
	w->upstream = NULL;
}

/* Free those retired ones that nobody waits for any more. */
static void reap(struct wire *w)
{
	struct wire_upstream **at = &w->retired, *u;

	while ((u = *at)) {
		if (u->requests) {
			at = &u->next;
			continue;
		}
		*at = u->next;
		upstream_free(u->up);
		free(u);
	}
}

/* Ask the servers of the control's pool from now on. */
static int renew_upstream(struct wire *w)
{
	struct upstream_pool *pool = w->control->pool;
	struct wire_upstream *u;
	int err;

	if (pool == (w->upstream ? w->upstream->pool : NULL))
		return 0;
	if (!pool) {
		retire(w);
		return 0;
	}
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->pool = pool;
	err = upstream_open(w->loop, pool, &u->up);
	if (err) {
		free(u);
		return err;
	}
	retire(w);
	w->upstream = u;
	return 0;
}

/* ---- the packet path ---- */

static void publish(void *ctx, const struct dns_answer *a, bool ask, uint32_t generation)
{
	struct wire *w = ctx;

	kern_answer_put(w->control->kern, a, ask, generation, clock_coarse_ns());
}

static bool holds(void *ctx, const struct dns_key *key)
{
	struct wire *w = ctx;

	return kern_answer_holds(w->control->kern, key, clock_coarse_ns());
}

static bool find_mac(void *ctx, const struct addr *client, uint8_t ret[6])
{
	const struct control *c = ctx;

	return neigh_find(c->neigh, client->ip, ret);
}

/* ---- events ---- */

static void answered(void *ctx, const struct query *q)
{
	struct wire *w = ctx;

	if (atomic_load_explicit(&w->control->tails, memory_order_relaxed))
		tail_query(w->control, q);
}

/* In query.wake_slot: the query is found by its place. */
struct wake {
	struct worker_job job;
};
_Static_assert(sizeof(struct wake) <= sizeof(((struct query *)0)->wake_slot), "a wake-up fits the query");

static void run_wake(struct worker_job *job)
{
	query_wake((struct query *)((char *)job - offsetof(struct query, wake_slot)), clock_coarse_ns());
}

static void wake(void *ctx, struct query *q)
{
	struct wake *j = (struct wake *)q->wake_slot;
	struct wire *w = q->resolver->owner;

	j->job.run = run_wake;
	/* Its worker has ended, and with it everybody who could touch the query. */
	if (!worker_post(w->worker, &j->job)) {
		query_abandon(q);
		query_wake(q, clock_coarse_ns());
	}
}

/* ---- workers ---- */

static int on_start(void *arg, unsigned index, struct worker *worker, uv_loop_t *loop, struct resolver **ret)
{
	struct wire *w = arg;
	struct control *c = w->control;
	struct resolver *r = &w->resolver;
	int err;

	w->loop = loop;
	*r = (struct resolver){
		.cache = c->cache,
		.flights = c->flights,
		.upstream = { .ask = ask, .ctx = w },
		.kern = { .publish = publish, .holds = holds, .ctx = w },
		.neighbours = { .mac = find_mac, .ctx = c },
		.events = { .answered = answered, .wake = wake, .ctx = w },
		.owner = w,
	};
	err = resolver_init(r);
	if (err)
		return err;
	err = renew_upstream(w);
	if (err)
		return err;
	resolver_set_snapshot(r, snapshot_ref(c->snapshot));
	*ret = r;
	return 0;
}

static void on_stop(void *arg, struct resolver *r)
{
	struct wire *w = arg;
	struct wire_upstream *u;

	retire(w);
	/* What is still under way ends now, each with its error. */
	for (u = w->retired; u; u = u->next)
		upstream_free(u->up);
}

static void on_free(void *arg, struct resolver *r)
{
	struct wire *w = arg;
	struct wire_upstream *u;

	while ((u = w->retired)) {
		w->retired = u->next;
		free(u);
	}
	resolver_done(r);
}

static void on_tick(void *arg)
{
	struct wire *w = arg;

	reap(w);
	kern_heartbeat(w->control->kern, clock_coarse_ns());
}

/* Another server that shares the port would lose clients to us, and we to it. */
static int probe(const struct config_addrs *l, struct err_at *reterr)
{
	char text[ADDR_TEXT_MAX];
	unsigned i;
	int err;

	for (i = 0; i < l->count; i++) {
		err = udp_probe(&l->at[i]);
		if (err)
			return err_why(reterr, err, "cannot listen on %s over UDP: %s",
				       addr_text(&l->at[i], text, sizeof(text)), strerror(-err));
	}
	return 0;
}

int wire_open(struct control *c, const struct config *config, struct err_at *reterr)
{
	struct worker_opts o = {
		.listen = config->server_listen.at,
		.listens = config->server_listen.count,
		.ops = { .start = on_start, .stop = on_stop, .free = on_free, .tick = on_tick },
	};
	unsigned i;
	int err;

	err_where(reterr, NULL, 0, "server.listen");
	err = probe(&config->server_listen, reterr);
	if (err)
		return err;
	c->wire = calloc(c->workers, sizeof(*c->wire));
	if (!c->wire)
		return -ENOMEM;
	for (i = 0; i < c->workers; i++) {
		c->wire[i].control = c;
		o.index = i;
		o.ops.arg = &c->wire[i];
		err_where(reterr, NULL, 0, "server.listen");
		err = worker_open(&o, &c->wire[i].worker, reterr);
		if (err)
			return err;
	}
	return 0;
}

int wire_start(struct control *c, struct err_at *reterr)
{
	unsigned i;
	int err = 0;

	for (i = 0; i < c->workers && !err; i++)
		err = worker_start(c->wire[i].worker, reterr);
	return err;
}

void wire_stop(struct control *c)
{
	unsigned i;

	/* All are told before one is waited for: the time to drain is that of the daemon, not of each. */
	for (i = 0; c->wire && i < c->workers; i++)
		if (c->wire[i].worker)
			worker_end(c->wire[i].worker, DRAIN_MS);
	for (i = 0; c->wire && i < c->workers; i++)
		if (c->wire[i].worker)
			worker_stop(c->wire[i].worker, DRAIN_MS);
}

void wire_free(struct control *c)
{
	unsigned i;

	for (i = 0; c->wire && i < c->workers; i++)
		worker_free(c->wire[i].worker);
	free(c->wire);
	c->wire = NULL;
}

static void run_call(struct worker_job *job)
{
	struct wire_call *call = (struct wire_call *)job;

	call->run(call);
}

bool wire_call(struct control *c, unsigned index, struct wire_call *call)
{
	struct wire *w = &c->wire[index % c->workers];

	call->resolver = &w->resolver;
	call->job.run = run_call;
	return worker_post(w->worker, &call->job);
}

/* ---- a new snapshot ---- */

struct hand_over {
	struct wire_call call;
	struct snapshot *snapshot;
	sem_t *taken;
};

static void take_snapshot(struct wire_call *call)
{
	struct hand_over *h = (struct hand_over *)call;
	struct wire *w = call->resolver->owner;

	/* Without memory for another set of servers the worker goes on asking the old ones. */
	renew_upstream(w);
	resolver_set_snapshot(call->resolver, snapshot_ref(h->snapshot));
	sem_post(h->taken);
}

void wire_snapshot(struct control *c, struct snapshot *s)
{
	struct hand_over h[CONFIG_WORKERS_MAX];
	unsigned i, asked = 0;
	sem_t taken;

	sem_init(&taken, 0, 0);
	for (i = 0; i < c->workers; i++) {
		h[i] = (struct hand_over){ .call.run = take_snapshot, .snapshot = s, .taken = &taken };
		if (wire_call(c, i, &h[i].call))
			asked++;
	}
	while (asked--)
		while (sem_wait(&taken))
			;
	sem_destroy(&taken);
}

void wire_settle(struct control *c)
{
	wire_snapshot(c, c->snapshot);
}

/* ---- ways to servers ---- */

struct moved {
	struct wire_call call;
	uint64_t servers;
	struct upstream_pool *pool;	/* whose numbers those are; a reference */
};

static void run_moved(struct wire_call *call)
{
	struct moved *m = (struct moved *)call;
	struct wire *w = call->resolver->owner;

	if (w->upstream && w->upstream->pool == m->pool)
		upstream_moved(w->upstream->up, m->servers);
	upstream_pool_unref(m->pool);
	free(m);
}

void wire_moved(struct control *c, uint64_t servers)
{
	struct moved *m;
	unsigned i;

	for (i = 0; c->wire && i < c->workers; i++) {
		m = calloc(1, sizeof(*m));
		if (!m)
			return;		/* connections that are dead are found to be so, only later */
		m->call.run = run_moved;
		m->servers = servers;
		m->pool = upstream_pool_ref(c->pool);
		if (wire_call(c, i, &m->call))
			continue;
		upstream_pool_unref(m->pool);
		free(m);
	}
}

/* ---- refreshes ---- */

struct refresh {
	struct wire_call call;
	struct dns_key key;
};

static void run_refresh(struct wire_call *call)
{
	struct refresh *r = (struct refresh *)call;

	resolver_refresh(call->resolver, &r->key, clock_coarse_ns());
	free(r);
}

void wire_refresh(struct control *c, const struct dns_key *key)
{
	struct refresh *r = calloc(1, sizeof(*r));

	if (!r)
		return;			/* the answer dies on time and is asked for anew */
	r->call.run = run_refresh;
	r->key = *key;
	if (!wire_call(c, key->name[1] + key->name_len, &r->call))
		free(r);
}
