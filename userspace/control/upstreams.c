/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upstreams.c - the servers to ask: from the configuration to the pool that all
 * workers share, what becomes of it when the network changes, and its picture.
 */
#define LOG_ROOM "control"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "control/internal.h"
#include "dns/name.h"
#include "net/sock.h"
#include "net/tls.h"

_Static_assert(CONFIG_SERVERS_ALL == UPSTREAM_SERVERS_MAX && CONFIG_SERVERS_MAX == UPSTREAM_SET_MAX &&
	       CONFIG_PINS_MAX == UPSTREAM_PINS_MAX, "the same bounds");
_Static_assert((int)CONFIG_LATENCY == (int)UPSTREAM_LATENCY, "the same order");

/* ---- from the configuration ---- */

/* Options with room for their sets and routes. */
struct made {
	struct upstream_opts opts;
	struct upstream_set *sets;
	struct upstream_route *routes;
};

static struct upstream_server server_of(const struct config_server *s)
{
	struct upstream_server to = { .at = s->at, .trust_ad = s->trust_ad, .no_do = s->no_do, .pins = s->pins };

	memcpy(to.pin, s->pin, sizeof(to.pin));
	return to;
}

static bool same_server(const struct upstream_server *a, const struct config_server *b)
{
	return endpoint_same(&a->at, &b->at) && a->trust_ad == b->trust_ad && a->no_do == b->no_do && a->pins == b->pins &&
	       !memcmp(a->pin, b->pin, a->pins * sizeof(a->pin[0]));
}

/* The servers of a set, each with the number that it has in all sets. */
static void add_set(struct made *m, const struct config_servers *s)
{
	struct upstream_set *set = &m->sets[m->opts.set_count++];
	struct upstream_opts *o = &m->opts;
	unsigned i, n;

	for (i = 0; i < s->count; i++) {
		for (n = 0; n < o->count && !same_server(&o->servers[n], &s->at[i]); n++)
			;
		if (n == UPSTREAM_SERVERS_MAX)
			continue;	/* the configuration's bound is the same */
		if (n == o->count)
			o->servers[o->count++] = server_of(&s->at[i]);
		set->server[set->count++] = (uint8_t)n;
	}
}

static void add_route(struct made *m, const struct config_route *r)
{
	struct upstream_route *to = &m->routes[m->opts.route_count];
	uint8_t name[DNS_NAME_MAX];
	int len = dns_name_from_text(r->zone, strlen(r->zone), name);

	if (len < 0)
		return;			/* the configuration's rule for names is stricter */
	dns_name_lower(to->zone, name, (size_t)len);
	to->zone_len = (uint16_t)len;
	to->set = m->opts.set_count;
	m->opts.route_count++;
	add_set(m, &r->servers);
}

static void made_free(struct made *m)
{
	if (!m)
		return;
	free(m->sets);
	free(m->routes);
	free(m);
}

static struct made *make(const struct config *f)
{
	struct made *m = calloc(1, sizeof(*m));
	unsigned i;

	if (!m)
		return NULL;
	m->sets = calloc(f->upstreams_routes.count + 2, sizeof(*m->sets));
	m->routes = calloc(f->upstreams_routes.count + 1, sizeof(*m->routes));
	if (!m->sets || !m->routes) {
		made_free(m);
		return NULL;
	}
	add_set(m, &f->upstreams_servers);
	if (f->upstreams_fallback.count) {
		m->opts.fallback = 1;
		add_set(m, &f->upstreams_fallback);
	}
	for (i = 0; i < f->upstreams_routes.count; i++)
		add_route(m, &f->upstreams_routes.at[i]);
	m->opts.sets = m->sets;
	m->opts.routes = m->routes;
	m->opts.strategy = (enum upstream_strategy)f->upstreams_strategy;
	m->opts.timeout_ms = f->upstreams_timeout_ms;
	m->opts.in_flight_max = f->upstreams_max_in_flight;
	m->opts.server_in_flight_max = f->upstreams_server_max_in_flight;
	m->opts.fall = f->upstreams_health_fall;
	m->opts.rise = f->upstreams_health_rise;
	m->opts.probe_ms = f->upstreams_health_probe_ms;
	m->opts.case_randomization = f->upstreams_case_randomization;
	m->opts.https_get = f->upstreams_https_get;
	m->opts.ca = *f->upstreams_ca ? f->upstreams_ca : NULL;
	return m;
}

static void note_difference(const struct config_option *o, void *arg)
{
	if (!strncmp(o->path, "upstreams.", strlen("upstreams.")) && !strstr(o->path, ".rebinding."))
		*(bool *)arg = true;
}

/* ---- what is told ---- */

static void on_news(void *arg, const struct upstream_news *n)
{
	if (n->change == UPSTREAM_FELL)
		log_warn("upstream server %s has failed: %s", n->server, *n->why ? n->why : "no answer");
	else if (n->change == UPSTREAM_ROSE)
		log_info("upstream server %s is back", n->server);
	else
		log_warn("upstream server %s: %s", n->server, n->why);
}

/* ---- the network ---- */

/* Where packets to each server leave now; returns those for which that is another place than before. */
static uint64_t look_at_sources(struct control *c)
{
	struct addr at, from;
	uint64_t moved = 0;
	unsigned i;

	for (i = 0; i < upstream_pool_opts(c->pool)->count; i++) {
		/* no way at all is not another one: what is open may live on when it is back */
		if (!upstream_pool_addr(c->pool, i, &at) || sock_source(&at, &from))
			continue;
		if (!addr_same(&from, &c->source[i]))
			moved |= 1ULL << i;
		c->source[i] = from;
	}
	return moved;
}

static void on_change(void *arg)
{
	struct control *c = arg;

	if (!c->pool)
		return;
	upstream_pool_doubt(c->pool, clock_fine_ns() / CLOCK_MS);
	wire_moved(c, look_at_sources(c));
	if (c->names)
		names_retry(c->names);
}

void upstreams_watch(struct control *c)
{
	struct err_at at = { 0 };

	if (change_open(c->loop, on_change, c, &c->change, &at))
		log_warn("a failed upstream server is found to be back a moment later: %s", at.why);
}

void upstreams_close(struct control *c)
{
	change_close(c->change);
	names_free(c->names);
	c->change = NULL;
	c->names = NULL;
}

/* ---- in force ---- */

/* Said once for each configuration: the clock is set before long, or never. */
static void look_at_clock(struct upstream_pool *p)
{
	const struct upstream_opts *o = upstream_pool_opts(p);
	unsigned i;

	for (i = 0; i < o->count; i++) {
		if (o->servers[i].at.scheme < ENDPOINT_TLS || tls_clock_is_set())
			continue;
		log_warn("the clock is not set: until it is, times in certificates of upstream servers do not count");
		return;
	}
}

static int renew(struct control *c, const struct config *config)
{
	static const struct upstream_listener listen = { .told = on_news };
	struct upstream_pool *pool = NULL, *old = c->pool;
	struct names *names = NULL;
	struct made *m = make(config);
	int err = 0;

	if (!m)
		return -ENOMEM;
	if (m->opts.count)
		err = upstream_pool_new(&m->opts, old, &listen, &pool);
	made_free(m);
	if (err)
		return err;
	c->pool = pool;
	if (pool)
		err = names_new(c, config, &names);
	if (err) {
		c->pool = old;
		upstream_pool_unref(pool);
		return err;
	}
	names_free(c->names);
	c->names = names;
	upstream_pool_unref(old);
	if (pool) {
		look_at_clock(pool);
		look_at_sources(c);
	}
	return 0;
}

void upstreams_apply(struct control *c, const struct config *config, const struct config *before)
{
	bool differs = !before || (!c->pool && (config->upstreams_servers.count || config->upstreams_routes.count));
	int err;

	if (before && before != config)
		config_changes(before, config, note_difference, &differs);
	if (!differs)
		return;
	err = renew(c, config);
	if (err)
		log_err("the upstream servers stay as they were: %s", strerror(-err));
}

/* ---- pictures ---- */

/* What a server is for: names of sets, as many as find room. */
static void note_use(struct control_upstream *u, const char *use)
{
	size_t n = strlen(u->used_for);

	if (n + strlen(use) + 2 < sizeof(u->used_for))
		sprintf(u->used_for + n, "%s%s", n ? " " : "", use);
	u->uses++;
}

/* Sets are in this order: servers, fallback when there is one, routes as in the configuration. */
static const char *set_name(const struct upstream_opts *o, const struct config_routes *routes, unsigned set)
{
	unsigned first = o->fallback ? 2 : 1;

	if (!set)
		return "servers";
	if (set == o->fallback)
		return "fallback";
	return set - first < routes->count ? routes->at[set - first].zone : "";
}

static void note_uses(const struct upstream_opts *o, const struct config_routes *routes, struct control_upstreams *to)
{
	const struct upstream_set *set;
	unsigned i, j;

	for (i = 0; i < o->set_count; i++) {
		set = &o->sets[i];
		for (j = 0; j < set->count; j++)
			note_use(&to->at[set->server[j]], set_name(o, routes, i));
	}
}

static void picture(const struct upstream_picture *p, uint64_t now_ms, struct control_upstream *to)
{
	memcpy(to->server, p->server, sizeof(to->server));
	to->state = !p->resolved ? CONTROL_UPSTREAM_UNRESOLVED : p->failed ? CONTROL_UPSTREAM_FAILED : CONTROL_UPSTREAM_WELL;
	to->addr = p->addr;
	to->since_s = p->since_ms && p->since_ms < now_ms ? (now_ms - p->since_ms) / 1000 : 0;
	to->changed = p->since_ms != 0;
	to->latency_us = p->latency_us;
	to->in_flight = p->in_flight;
	to->edns = !p->plain;
	to->asked = p->asked;
	to->answers = p->ended[UPSTREAM_ANSWERED];
	to->servfail = p->ended[UPSTREAM_SERVFAIL];
	to->refused = p->ended[UPSTREAM_REFUSED];
	to->timeouts = p->ended[UPSTREAM_TIMED_OUT];
	to->network = p->ended[UPSTREAM_BROKE];
	to->untrusted = p->ended[UPSTREAM_UNTRUSTED];
	memcpy(to->why, p->why, sizeof(to->why));
	to->why_s = p->why_ms && p->why_ms < now_ms ? (now_ms - p->why_ms) / 1000 : 0;
}

static int do_upstreams(struct control *c, void *arg)
{
	uint64_t now_ms = clock_fine_ns() / CLOCK_MS;
	struct control_upstreams *to = arg;
	const struct upstream_opts *o;
	struct upstream_picture p;

	memset(to, 0, sizeof(*to));
	if (!c->pool)
		return 0;
	o = upstream_pool_opts(c->pool);
	to->strategy = (enum config_strategy)o->strategy;
	to->in_flight = upstream_pool_in_flight(c->pool);
	to->in_flight_max = o->in_flight_max;
	to->server_in_flight_max = o->server_in_flight_max;
	while (to->count < UPSTREAM_SERVERS_MAX && upstream_pool_look(c->pool, to->count, now_ms, &p))
		picture(&p, now_ms, &to->at[to->count++]);
	note_uses(o, &c->snapshot->config->upstreams_routes, to);
	return 0;
}

int control_upstreams(struct control *c, struct control_upstreams *ret)
{
	return call_control(c, do_upstreams, ret);
}
