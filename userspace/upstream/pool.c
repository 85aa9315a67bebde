/* SPDX-License-Identifier: BSD-2-Clause */
/* pool.c - the servers as all workers see them. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "upstream/pool.h"
#include "upstream/routes.h"

#define IN_FLIGHT_DEFAULT 4096

struct member {
	struct upstream_health health;
	struct addr addr[UPSTREAM_ADDRS_MAX];
	unsigned addrs;
	unsigned at;			/* which of them is in use */
	unsigned in_flight;
	uint64_t asked;
	uint64_t ended[UPSTREAM_OUTCOMES];
	char why[UPSTREAM_WHY_MAX];
	uint64_t why_ms;
	char told[UPSTREAM_WHY_MAX];	/* the last reason that the listener has heard */
};

struct upstream_pool {
	struct upstream_opts opts;	/* constant, as are the next four */
	struct upstream_limits limits;
	struct upstream_set *sets;
	struct upstream_routes *routes;
	struct upstream_listener listen;
	char *ca;
	pthread_mutex_t lock;		/* guards what follows */
	unsigned refs;
	unsigned in_flight;
	unsigned turn;
	struct member member[UPSTREAM_SERVERS_MAX];
};

/* ---- life ---- */

static int check(const struct upstream_opts *o)
{
	unsigned i, j;

	if (o->count > UPSTREAM_SERVERS_MAX || (o->fallback && o->fallback >= o->set_count))
		return -EINVAL;
	for (i = 0; i < o->set_count; i++) {
		if (o->sets[i].count > UPSTREAM_SET_MAX)
			return -EINVAL;
		for (j = 0; j < o->sets[i].count; j++)
			if (o->sets[i].server[j] >= o->count)
				return -EINVAL;
	}
	for (i = 0; i < o->route_count; i++)
		if (o->routes[i].set >= o->set_count || !o->routes[i].set)
			return -EINVAL;
	return 0;
}

/* The sets of the options, or one of all servers: as many of them as a set takes. */
static int copy_sets(struct upstream_pool *p)
{
	struct upstream_opts *o = &p->opts;
	unsigned i;

	p->sets = calloc(o->set_count + 1, sizeof(*p->sets));
	if (!p->sets)
		return -ENOMEM;
	if (o->set_count)
		memcpy(p->sets, o->sets, o->set_count * sizeof(*p->sets));
	for (i = 0; !o->set_count && i < o->count && i < UPSTREAM_SET_MAX; i++)
		p->sets[0].server[p->sets[0].count++] = (uint8_t)i;
	o->sets = p->sets;
	if (!o->set_count)
		o->set_count = 1;
	return 0;
}

static void fill_in(struct upstream_opts *o)
{
	o->in_flight_max = o->in_flight_max ? o->in_flight_max : IN_FLIGHT_DEFAULT;
	o->server_in_flight_max = o->server_in_flight_max ? o->server_in_flight_max : o->in_flight_max;
	o->fall = o->fall ? o->fall : 3;
	o->rise = o->rise ? o->rise : 2;
	o->probe_ms = o->probe_ms ? o->probe_ms : 250;
}

static void begin_member(struct upstream_pool *p, unsigned i)
{
	const struct endpoint *at = &p->opts.servers[i].at;
	struct member *m = &p->member[i];

	if (!at->literal)
		return;
	m->addr[0] = at->addr;
	m->addrs = 1;
}

/* What was known of servers that are still there; what is in flight there is none of ours. */
static void inherit(struct upstream_pool *p, struct upstream_pool *before)
{
	unsigned i, j;

	pthread_mutex_lock(&before->lock);
	for (i = 0; i < p->opts.count; i++) {
		for (j = 0; j < before->opts.count; j++) {
			if (!endpoint_same(&p->opts.servers[i].at, &before->opts.servers[j].at))
				continue;
			p->member[i] = before->member[j];
			p->member[i].in_flight = 0;
		}
	}
	pthread_mutex_unlock(&before->lock);
}

static void destroy(struct upstream_pool *p)
{
	pthread_mutex_destroy(&p->lock);
	upstream_routes_free(p->routes);
	free(p->sets);
	free(p->ca);
	free(p);
}

int upstream_pool_new(const struct upstream_opts *opts, struct upstream_pool *before, const struct upstream_listener *listen,
		      struct upstream_pool **ret)
{
	struct upstream_pool *p;
	unsigned i;
	int err = check(opts);

	if (err)
		return err;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	p->refs = 1;
	p->opts = *opts;
	fill_in(&p->opts);
	p->limits = (struct upstream_limits){ p->opts.fall, p->opts.rise, p->opts.probe_ms };
	if (listen)
		p->listen = *listen;
	if (opts->ca) {
		p->ca = strdup(opts->ca);
		p->opts.ca = p->ca;
		err = p->ca ? 0 : -ENOMEM;
	}
	if (!err)
		err = copy_sets(p);
	if (!err)
		err = upstream_routes_new(opts->routes, opts->route_count, &p->routes);
	p->opts.routes = NULL;
	if (err) {
		destroy(p);
		return err;
	}
	for (i = 0; i < p->opts.count; i++)
		begin_member(p, i);
	if (before)
		inherit(p, before);
	*ret = p;
	return 0;
}

struct upstream_pool *upstream_pool_ref(struct upstream_pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->refs++;
	pthread_mutex_unlock(&p->lock);
	return p;
}

void upstream_pool_unref(struct upstream_pool *p)
{
	bool last;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	last = --p->refs == 0;
	pthread_mutex_unlock(&p->lock);
	if (last)
		destroy(p);
}

const struct upstream_opts *upstream_pool_opts(const struct upstream_pool *p)
{
	return &p->opts;
}

/* ---- requests ---- */

/* One of the set's that should be measured, but for the @first, which is asked anyway. */
static int to_measure(struct upstream_pool *p, const struct upstream_set *set, unsigned first, uint64_t now_ms)
{
	struct member *m;
	unsigned i;

	if (p->opts.strategy != UPSTREAM_PARALLEL_BEST && p->opts.strategy != UPSTREAM_LATENCY)
		return -1;
	for (i = 0; i < set->count; i++) {
		m = &p->member[set->server[i]];
		if (set->server[i] != first && m->addrs && upstream_health_measure(&m->health, now_ms))
			return set->server[i];
	}
	return -1;
}

static bool is_full(const struct upstream_pool *p, const struct member *m)
{
	return m->in_flight >= p->opts.server_in_flight_max;
}

/* Those of a set as the strategy sees them. */
static void see(struct upstream_pool *p, const struct upstream_set *set, struct upstream_seen *seen, unsigned *full)
{
	struct member *m;
	unsigned i;

	for (i = 0; set && i < set->count; i++) {
		m = &p->member[set->server[i]];
		seen[set->server[i]] = (struct upstream_seen){ &m->health, m->addrs && !is_full(p, m) };
		*full += m->addrs && is_full(p, m);
	}
}

int upstream_pool_enter(struct upstream_pool *p, const struct dns_key *key, uint64_t now_ms, struct upstream_plan *ret,
			int *ret_measure, unsigned *ret_full)
{
	unsigned number = upstream_routes_find(p->routes, key);
	const struct upstream_set *set = &p->sets[number], *fallback = NULL;
	struct upstream_seen seen[UPSTREAM_SERVERS_MAX];
	int err = 0;

	if (!number && p->opts.fallback)
		fallback = &p->sets[p->opts.fallback];
	*ret_full = 0;
	*ret_measure = -1;
	if (!set->count)
		return -ENOENT;
	pthread_mutex_lock(&p->lock);
	see(p, set, seen, ret_full);
	see(p, fallback, seen, ret_full);
	upstream_strategy_plan(p->opts.strategy, seen, set, fallback, p->turn++, now_ms, ret);
	if (p->in_flight >= p->opts.in_flight_max)
		err = -EBUSY;
	else if (!ret->count)
		err = *ret_full ? -EBUSY : -EHOSTUNREACH;
	else
		p->in_flight++;
	if (!err)
		*ret_measure = to_measure(p, set, ret->server[0], now_ms);
	pthread_mutex_unlock(&p->lock);
	return err;
}

void upstream_pool_leave(struct upstream_pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->in_flight--;
	pthread_mutex_unlock(&p->lock);
}

/* ---- attempts ---- */

int upstream_pool_begin(struct upstream_pool *p, unsigned server, bool again, uint64_t now_ms, struct addr *ret_to,
			struct upstream_how *ret_how)
{
	struct member *m = &p->member[server];
	int err = 0;

	pthread_mutex_lock(&p->lock);
	if (!m->addrs)
		err = -EHOSTUNREACH;
	else if (is_full(p, m))
		err = -EBUSY;
	if (!err) {
		m->in_flight++;
		m->asked++;
		upstream_health_asked(&m->health, now_ms);
		*ret_to = m->addr[m->at];
		ret_how->plain = m->health.plain_until_ms > now_ms || (again && !m->health.edns);
		ret_how->small = m->health.small_until_ms > now_ms;
	}
	pthread_mutex_unlock(&p->lock);
	return err;
}

static enum upstream_change learn(struct upstream_pool *p, struct member *m, const struct upstream_end *end, uint64_t now_ms)
{
	bool good = end->outcome == UPSTREAM_ANSWERED;

	if (end->edns) {
		m->health.edns = true;
		m->health.plain_until_ms = 0;
	}
	if (end->letters)
		m->health.other_letters = 0;
	switch (end->outcome) {
	case UPSTREAM_ANSWERED:
	case UPSTREAM_SERVFAIL:
	case UPSTREAM_REFUSED:
		return upstream_health_responded(&m->health, &p->limits, good, good ? end->us : 0, now_ms);
	case UPSTREAM_DROPPED:
	case UPSTREAM_OUTCOMES:
		return UPSTREAM_SAME;
	default:
		if (end->again)
			return UPSTREAM_SAME;
		/* Another address of its name may be better. */
		if (m->addrs > 1 && m->health.bad + 1 >= p->limits.fall)
			m->at = (m->at + 1) % m->addrs;
		return upstream_health_lost(&m->health, &p->limits, end->us, now_ms);
	}
}

enum upstream_change upstream_pool_end(struct upstream_pool *p, unsigned server, const struct upstream_end *end,
				       uint64_t now_ms)
{
	struct member *m = &p->member[server];
	char text[ENDPOINT_TEXT_MAX], told[UPSTREAM_WHY_MAX];
	enum upstream_change change;
	bool news;

	pthread_mutex_lock(&p->lock);
	m->in_flight--;
	m->ended[end->outcome]++;
	change = learn(p, m, end, now_ms);
	if (end->why) {
		snprintf(m->why, sizeof(m->why), "%s", end->why);
		m->why_ms = now_ms;
	}
	news = change != UPSTREAM_SAME || (end->outcome == UPSTREAM_UNTRUSTED && strcmp(m->why, m->told));
	if (news) {
		memcpy(told, m->why, sizeof(told));
		memcpy(m->told, m->why, sizeof(m->told));
		if (change == UPSTREAM_ROSE)
			*m->told = '\0';	/* the same reason is news again */
	}
	pthread_mutex_unlock(&p->lock);
	if (news && p->listen.told)
		p->listen.told(p->listen.arg, &(struct upstream_news){
			endpoint_text(&p->opts.servers[server].at, text, sizeof(text)), change, told });
	return change;
}

bool upstream_pool_other_letters(struct upstream_pool *p, unsigned server, uint64_t now_ms)
{
	struct upstream_health *h = &p->member[server].health;
	bool news = false;

	pthread_mutex_lock(&p->lock);
	if (++h->other_letters >= UPSTREAM_LETTERS) {
		news = h->small_until_ms <= now_ms;
		h->small_until_ms = now_ms + UPSTREAM_PLAIN_MS;
		h->other_letters = 0;
	}
	pthread_mutex_unlock(&p->lock);
	return news;
}

bool upstream_pool_set_plain(struct upstream_pool *p, unsigned server, uint64_t now_ms)
{
	struct upstream_health *h = &p->member[server].health;
	bool new;

	pthread_mutex_lock(&p->lock);
	new = h->plain_until_ms <= now_ms;
	if (new)
		h->plain_until_ms = now_ms + UPSTREAM_PLAIN_MS;
	pthread_mutex_unlock(&p->lock);
	return new;
}

/* ---- probes ---- */

int upstream_pool_probe(struct upstream_pool *p, uint64_t now_ms)
{
	int found = -1;
	unsigned i;

	pthread_mutex_lock(&p->lock);
	for (i = 0; i < p->opts.count && found < 0; i++)
		if (p->member[i].addrs && upstream_health_probe(&p->member[i].health, &p->limits, now_ms))
			found = (int)i;
	pthread_mutex_unlock(&p->lock);
	return found;
}

bool upstream_pool_suspected(struct upstream_pool *p, unsigned server, uint64_t now_ms)
{
	bool suspected;

	pthread_mutex_lock(&p->lock);
	suspected = upstream_health_suspected(&p->member[server].health, &p->limits, now_ms);
	pthread_mutex_unlock(&p->lock);
	return suspected;
}

unsigned upstream_pool_failed(struct upstream_pool *p)
{
	unsigned i, n = 0;

	pthread_mutex_lock(&p->lock);
	for (i = 0; i < p->opts.count; i++)
		n += p->member[i].health.failed;
	pthread_mutex_unlock(&p->lock);
	return n;
}

/* ---- where they are ---- */

bool upstream_pool_set_addrs(struct upstream_pool *p, unsigned server, const struct addr *addrs, unsigned count)
{
	struct member *m = &p->member[server];
	struct addr used;
	bool had, moved;
	unsigned i;

	if (count > UPSTREAM_ADDRS_MAX)
		count = UPSTREAM_ADDRS_MAX;
	pthread_mutex_lock(&p->lock);
	had = m->addrs;
	used = m->addr[m->at];
	m->at = 0;
	m->addrs = count;
	for (i = 0; i < count; i++) {
		m->addr[i] = addrs[i];
		m->addr[i].port = p->opts.servers[server].at.addr.port;
		if (had && addr_same(&m->addr[i], &used))
			m->at = i;
	}
	moved = had && (!count || !addr_same(&m->addr[m->at], &used));
	if (moved)			/* what was learnt is of another machine */
		m->health = (struct upstream_health){ .failed = false };
	pthread_mutex_unlock(&p->lock);
	return moved;
}

void upstream_pool_set_why(struct upstream_pool *p, unsigned server, const char *why)
{
	struct member *m = &p->member[server];

	pthread_mutex_lock(&p->lock);
	if (!m->addrs)
		snprintf(m->why, sizeof(m->why), "%s", why);
	pthread_mutex_unlock(&p->lock);
}

bool upstream_pool_addr(struct upstream_pool *p, unsigned server, struct addr *ret)
{
	struct member *m = &p->member[server];
	bool there;

	pthread_mutex_lock(&p->lock);
	there = m->addrs;
	if (there)
		*ret = m->addr[m->at];
	pthread_mutex_unlock(&p->lock);
	return there;
}

void upstream_pool_doubt(struct upstream_pool *p, uint64_t now_ms)
{
	unsigned i;

	pthread_mutex_lock(&p->lock);
	for (i = 0; i < p->opts.count; i++)
		upstream_health_doubt(&p->member[i].health, now_ms);
	pthread_mutex_unlock(&p->lock);
}

/* ---- pictures ---- */

bool upstream_pool_look(struct upstream_pool *p, unsigned server, uint64_t now_ms, struct upstream_picture *ret)
{
	const struct member *m = &p->member[server];

	if (server >= p->opts.count)
		return false;
	memset(ret, 0, sizeof(*ret));
	endpoint_text(&p->opts.servers[server].at, ret->server, sizeof(ret->server));
	pthread_mutex_lock(&p->lock);
	ret->resolved = m->addrs;
	ret->addr = m->addr[m->at];
	ret->failed = m->health.failed;
	ret->since_ms = m->health.changed_ms;
	ret->latency_us = m->health.latency_us;
	ret->in_flight = m->in_flight;
	ret->plain = m->health.plain_until_ms > now_ms;
	ret->asked = m->asked;
	memcpy(ret->ended, m->ended, sizeof(ret->ended));
	memcpy(ret->why, m->why, sizeof(ret->why));
	ret->why_ms = m->why_ms;
	pthread_mutex_unlock(&p->lock);
	return true;
}

unsigned upstream_pool_in_flight(struct upstream_pool *p)
{
	unsigned n;

	pthread_mutex_lock(&p->lock);
	n = p->in_flight;
	pthread_mutex_unlock(&p->lock);
	return n;
}
