/* SPDX-License-Identifier: BSD-2-Clause */
/* world.c - the fake world of the scenarios. */
#include <errno.h>
#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "policy/secret.h"
#include "resolve/flight.h"
#include "tests/scenario/world.h"

#define SECOND 1000000000ULL

static int fake_ask(void *ctx, struct query *q)
{
	struct world *w = ctx;

	if (!q->snapshot->config->upstreams_servers.count)
		return -ENOENT;
	if (w->outs == WORLD_ASKS)
		return -EBUSY;
	w->out[w->outs++] = q;
	return 0;
}

static void fake_publish(void *ctx, const struct dns_answer *a, bool ask, uint32_t generation)
{
	struct world *w = ctx;

	if (w->publishes < WORLD_ASKS)
		dns_answer_key(a, &w->published[w->publishes++]);
}

/* The fake packet path forgets at once, so that each offer is seen. */
static bool fake_holds(void *ctx, const struct dns_key *key)
{
	return false;
}

static void fake_answered(void *ctx, const struct query *q)
{
}

static void fake_wake(void *ctx, struct query *q)
{
	struct world *w = ctx;

	query_wake(q, w->now_ns);
}

static void on_done(struct query *q)
{
	struct world_client *c = q->owner;

	c->ended = true;
	c->query = NULL;
	c->source = q->source;
	c->reply_len = q->reply_len;
	if (q->reply_len)		/* else there is no reply at all */
		memcpy(c->reply, q->reply, q->reply_len);
	query_free(q);
}

struct world *world_new(void)
{
	struct config_errors errors = { 0 };
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->now_ns = 1000 * SECOND;
	secret_make(&w->secret);
	if (config_load("", 0, NULL, &w->config, &errors)) {
		world_free(w);
		return NULL;
	}
	w->config->upstreams_servers.count = 1;
	w->config->access_default = CONFIG_ACCESS_ALLOW;
	w->config->access_allow.count = 0;
	w->resolver = (struct resolver){
		.cache = cache_new(1000),
		.flights = flights_new(1000),
		.upstream = { .ask = fake_ask, .ctx = w },
		.kern = { .publish = fake_publish, .holds = fake_holds, .ctx = w },
		.events = { .answered = fake_answered, .wake = fake_wake, .ctx = w },
		.owner = w,
	};
	if (resolver_init(&w->resolver)) {
		world_free(w);
		return NULL;
	}
	return w;
}

/* Far more names than there are places, so that every shard of the table fills. */
int world_crowd(struct world *w)
{
	unsigned i;

	for (i = 0; i < 4000; i++) {
		struct query *q = calloc(1, sizeof(*q));

		if (!q)
			return -1;
		q->key.name[0] = 6;
		snprintf((char *)q->key.name + 1, 7, "%06u", i);
		q->key.name_len = 8;
		if (flight_join(w->resolver.flights, q, false) != FLIGHT_LEADS) {
			free(q);
			continue;
		}
		q->next_waiter = w->crowd;
		w->crowd = q;
	}
	return 0;
}

static void crowd_leaves(struct world *w)
{
	struct query *q;

	while ((q = w->crowd)) {
		w->crowd = q->next_waiter;
		flight_land(w->resolver.flights, q, NULL);
		free(q);
	}
}

void world_free(struct world *w)
{
	if (!w)
		return;
	while (w->outs)
		world_answer(w, -ECANCELED, NULL, 0);
	crowd_leaves(w);
	resolver_done(&w->resolver);
	cache_free(w->resolver.cache);
	flights_free(w->resolver.flights);
	free(w->rule);
	config_free(w->config);
	free(w);
}

/* ---- rules ---- */

#define WORLD_RULES 256

/* A rule with all that it borrows. */
struct world_rule {
	unsigned source;
	struct rule_item item;
	struct rule_answer answer;
	uint8_t name[256];
	uint8_t rdata[512];
	char pattern[256];
};

int world_rule(struct world *w, unsigned source, const struct rule_item *item)
{
	struct world_rule *r;

	if (!w->rule)
		w->rule = calloc(WORLD_RULES, sizeof(*w->rule));
	if (!w->rule || w->rules == WORLD_RULES || item->name_len > sizeof(r->name) || item->pattern_len > sizeof(r->pattern))
		return -1;
	r = &w->rule[w->rules++];
	r->source = source;
	r->item = *item;
	r->item.line = w->rules;
	r->item.text = "a rule of the scenario";
	r->item.text_len = strlen(r->item.text);
	if (item->name)
		r->item.name = memcpy(r->name, item->name, item->name_len);
	if (item->pattern)
		r->item.pattern = memcpy(r->pattern, item->pattern, item->pattern_len);
	if (!item->answer)
		return 0;
	if (item->answer->rdata_len > sizeof(r->rdata))
		return -1;
	r->answer = *item->answer;
	r->answer.rdata = memcpy(r->rdata, item->answer->rdata ? item->answer->rdata : r->rdata, item->answer->rdata_len);
	r->item.answer = &r->answer;
	return 0;
}

static int compile_rules(const struct world *w, struct snapshot *s)
{
	struct compile *c = compile_new(&w->secret);
	struct err_at at = { 0 };
	struct compiled made;
	unsigned i;
	int err = c ? 0 : -ENOMEM;

	for (i = 0; err >= 0 && i < w->rules; i++)
		err = compile_item(c, w->rule[i].source, &w->rule[i].item);
	if (err >= 0)
		err = compile_finish(c, NULL, NULL, &made, &at);
	compile_free(c);
	if (err) {
		printf("# rule %u: %s\n", i, at.why);
		return err;
	}
	s->owned.filter = made.filter;
	s->owned.rules = made.rules;
	s->owned.members = filter_members_copy(made.filter);
	return s->owned.members ? 0 : -ENOMEM;
}

/* All use all, but the second group, which uses the first list. */
static struct judge_group *make_groups(void)
{
	struct judge_group *g = calloc(1, WORLD_GROUPS * (sizeof(*g) + WORLD_SOURCES));
	unsigned i, n;

	for (i = 0; g && i < WORLD_GROUPS; i++) {
		g[i].uses = (_Atomic uint8_t *)(g + WORLD_GROUPS) + i * WORLD_SOURCES;
		g[i].sources = WORLD_SOURCES;
		for (n = 0; n < WORLD_SOURCES; n++)
			g[i].uses[n] = i != 1 || n == WORLD_BLOCKS;
	}
	return g;
}

static int make_filter(struct world *w, struct snapshot *s)
{
	int err = compile_rules(w, s);

	if (err)
		return err;
	s->owned.groups = make_groups();
	if (!s->owned.groups)
		return -ENOMEM;
	w->unit = *filter_unit(s->owned.filter);
	w->unit.groups = WORLD_GROUPS;
	s->judge = (struct judge){
		.filter = { .unit = &w->unit, .buckets = filter_buckets(s->owned.filter),
			    .bloom = filter_bloom(s->owned.filter), .group = w->group, .ede = w->ede },
		.members = s->owned.members, .rules = s->owned.rules, .group = s->owned.groups, .groups = WORLD_GROUPS,
		.lists = WORLD_SAFE, .rewrites = WORLD_LOCAL, .safe_search = WORLD_SAFE, .secret = &w->secret,
	};
	s->owned.verdicts = judge_verdicts(&s->judge);
	s->judge.filter.verdicts = s->owned.verdicts;
	return s->owned.verdicts ? 0 : -ENOMEM;
}

/* What control/snapshot.c derives from a configuration, for the options that scenarios set. */
static void derive(struct snapshot *s)
{
	const struct config *f = s->config;

	s->udp.recursion = f->upstreams_servers.count || f->upstreams_routes.count;
	s->udp.udp_max = 1232;
	s->tcp = s->udp;
	s->tcp.stream = true;
	s->ttl.min = f->cache_min_ttl;
	s->ttl.max = f->cache_max_ttl;
	s->ttl.negative_max = f->cache_negative_ttl_max;
	s->ttl.failure = 5;
	s->admit_after = f->fastpath_admit_after;
	s->prefetch = f->cache_prefetch;
}

static void block_as(const struct config *f, struct mr_block *ret)
{
	ret->mode = (uint8_t)f->filter_block_mode;
	ret->ttl = f->filter_block_ttl;
	memcpy(&ret->ipv4, f->filter_block_ipv4.ip + 12, sizeof(ret->ipv4));
	memcpy(ret->ipv6, f->filter_block_ipv6.ip, sizeof(ret->ipv6));
}

int world_zone(struct world *w, enum world_zones list, const char *zone)
{
	if (w->zones[list] == 8)
		return -1;
	snprintf(w->zone[list][w->zones[list]++], sizeof(w->zone[0][0]), "%s", zone);
	return 0;
}

static int copy_suffixes(const struct world *w, enum world_zones list, struct config_suffixes *to)
{
	unsigned i;

	free(to->at);
	to->count = 0;
	to->at = calloc(w->zones[list] + 1, sizeof(*to->at));
	for (i = 0; to->at && i < w->zones[list]; i++)
		snprintf(to->at[to->count++].name, sizeof(to->at[0].name), "%s", w->zone[list][i]);
	return to->at ? 0 : -ENOMEM;
}

static int copy_zones(const struct world *w, struct config *to)
{
	struct config_routes *r = &to->upstreams_routes;
	unsigned i;

	free(r->at);
	r->count = 0;
	r->at = calloc(w->zones[WORLD_ROUTE] + 1, sizeof(*r->at));
	for (i = 0; r->at && i < w->zones[WORLD_ROUTE]; i++)
		snprintf(r->at[r->count++].zone, sizeof(r->at[0].zone), "%s", w->zone[WORLD_ROUTE][i]);
	if (!r->at || copy_suffixes(w, WORLD_SPECIAL, &to->upstreams_forward_special))
		return -ENOMEM;
	return copy_suffixes(w, WORLD_REBINDING, &to->upstreams_rebinding_allow);
}

static struct config *copy_config(const struct world *w)
{
	const struct config *from = w->config;
	struct config_errors errors = { 0 };
	struct config *to;

	if (config_load("", 0, NULL, &to, &errors))
		return NULL;
	to->upstreams_servers = from->upstreams_servers;
	to->filter_block_mode = from->filter_block_mode;
	to->filter_block_ttl = from->filter_block_ttl;
	to->filter_block_ipv4 = from->filter_block_ipv4;
	to->filter_block_ipv6 = from->filter_block_ipv6;
	to->cache_min_ttl = from->cache_min_ttl;
	to->cache_max_ttl = from->cache_max_ttl;
	to->cache_negative_ttl_max = from->cache_negative_ttl_max;
	to->fastpath_admit_after = from->fastpath_admit_after;
	to->cache_prefetch = from->cache_prefetch;
	to->upstreams_ecs = from->upstreams_ecs;
	to->upstreams_rebinding_protect = from->upstreams_rebinding_protect;
	memcpy(to->server_version, from->server_version, sizeof(to->server_version));
	memcpy(to->server_identity, from->server_identity, sizeof(to->server_identity));
	if (copy_zones(w, to)) {
		config_free(to);
		return NULL;
	}
	return to;
}

int world_snapshot(struct world *w)
{
	const struct config_prefixes *p = &w->config->access_allow;
	struct mr_outcome fallback = w->anybody;
	struct snapshot *s = calloc(1, sizeof(*s));
	struct clients_row rows[8] = { 0 };
	struct err_at at = { 0 };
	unsigned i;
	int err;

	if (!s)
		return -ENOMEM;
	fallback.access = p->count ? MR_ACCESS_REFUSE : MR_ACCESS_ALLOW;
	s->refs = 1;
	s->secret = &w->secret;
	s->config = copy_config(w);
	s->clients = calloc(1, sizeof(*s->clients));
	for (i = 0; i < p->count; i++)
		rows[i].prefix = p->at[i];
	err = s->config && s->clients ? clients_build(rows, p->count, fallback, &w->secret, s->clients, &at) : -ENOMEM;
	if (!err)
		err = make_filter(w, s);
	if (!err)
		err = snapshot_names(s);
	if (err) {
		snapshot_unref(s);
		return err;
	}
	derive(s);
	block_as(s->config, &w->group[0].block);
	resolver_set_snapshot(&w->resolver, s);
	w->running = true;
	return 0;
}

struct world_client *world_client(struct world *w, const char *tag, bool make)
{
	unsigned i;

	for (i = 0; i < w->clients; i++)
		if (strcmp(w->client[i].tag, tag) == 0)
			return &w->client[i];
	if (!make || w->clients == WORLD_TAGS)
		return NULL;
	snprintf(w->client[w->clients].tag, sizeof(w->client[0].tag), "%s", tag);
	return &w->client[w->clients++];
}

void world_ask(struct world *w, struct world_client *c, enum query_proto proto, const uint8_t *msg, size_t len,
	       const struct addr *from)
{
	c->ended = false;
	c->query = query_new(&w->resolver, proto, msg, len, from, from, w->now_ns, on_done, c);
	/* as server/ does it: UDP in a row, TCP at once */
	if (proto == QUERY_UDP) {
		query_ahead(c->query);
		query_ahead_answer(c->query);
	}
	query_start(c->query);
}

void world_answer(struct world *w, int err, const uint8_t *msg, size_t len)
{
	struct query *q = w->out[0];

	memmove(w->out, w->out + 1, --w->outs * sizeof(w->out[0]));
	query_upstream_done(q, err, msg, len, 0, w->now_ns);
}
