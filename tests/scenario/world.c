/* SPDX-License-Identifier: BSD-2-Clause */
/* world.c - the fake world of the scenarios. */
#include <errno.h>
#include <stdio.h>
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
		w->published[w->publishes++] = a->key;
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
	w->builder = filter_builder_new(&w->secret);
	if (config_load("", 0, NULL, &w->config, &errors) || !w->builder) {
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
	filter_builder_free(w->builder);
	config_free(w->config);
	free(w);
}

static int make_filter(struct world *w, struct snapshot *s)
{
	char path[] = "/tmp/scenario-filter-XXXXXX";
	static const bool both[2] = { true, true }, first[2] = { true, false };
	const struct filter_group groups[WORLD_GROUPS] = { { .uses = both, .lists = 2 }, { .uses = first, .lists = 2 } };
	struct err_at at = { 0 };
	uint64_t asked;
	int fd = mkstemp(path), err;

	if (fd < 0)
		return -errno;
	close(fd);
	err = filter_builder_write(w->builder, path, &asked, &at);
	if (!err)
		err = filter_open(path, &w->secret, &s->filter_owned, &at);
	unlink(path);
	if (err) {
		printf("# %s\n", at.why);
		return err;
	}
	s->verdicts_owned = filter_verdicts(s->filter_owned, groups, WORLD_GROUPS);
	w->unit = *filter_unit(s->filter_owned);
	w->unit.groups = WORLD_GROUPS;
	s->filter = (struct filter_view){
		.unit = &w->unit, .buckets = filter_buckets(s->filter_owned),
		.bloom = filter_bloom(s->filter_owned), .verdicts = s->verdicts_owned, .group = w->group,
		.ede = w->ede,
	};
	return s->verdicts_owned ? 0 : -ENOMEM;
}

/* What control/snapshot.c derives from a configuration, for the options that scenarios set. */
static void derive(struct snapshot *s)
{
	const struct config *f = s->config;

	s->block.mode = (uint8_t)f->filter_block_mode;
	s->block.ttl = f->filter_block_ttl;
	memcpy(s->block.ipv4, f->filter_block_ipv4.ip + 12, sizeof(s->block.ipv4));
	memcpy(s->block.ipv6, f->filter_block_ipv6.ip, sizeof(s->block.ipv6));
	s->udp.recursion = f->upstreams_servers.count > 0;
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

static void group_of(const struct snapshot *s, struct mr_block *ret)
{
	ret->mode = s->block.mode;
	ret->ttl = s->block.ttl;
	memcpy(&ret->ipv4, s->block.ipv4, 4);
	memcpy(ret->ipv6, s->block.ipv6, 16);
}

static struct config *copy_config(const struct config *from)
{
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
	s->config = copy_config(w->config);
	s->clients = calloc(1, sizeof(*s->clients));
	for (i = 0; i < p->count; i++)
		rows[i].prefix = p->at[i];
	err = s->config && s->clients ? clients_build(rows, p->count, fallback, &w->secret, s->clients, &at) : -ENOMEM;
	if (!err)
		err = make_filter(w, s);
	if (err) {
		snapshot_unref(s);
		return err;
	}
	derive(s);
	group_of(s, &w->group[0].block);
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
	query_start(c->query);
}

void world_answer(struct world *w, int err, const uint8_t *msg, size_t len)
{
	struct query *q = w->out[0];

	memmove(w->out, w->out + 1, --w->outs * sizeof(w->out[0]));
	query_upstream_done(q, err, msg, len, 0, w->now_ns);
}
