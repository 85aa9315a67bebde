/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot.c - a policy made whole, and put in force. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "control/internal.h"
#include "maps/block.h"

#define FAILURE_TTL 5			/* seconds that a failure is remembered (RFC 9520 section 3.2) */

static int make_clients(struct control *c, struct snapshot *s, struct err_at *reterr)
{
	const struct config_prefixes *p = &s->config->access_allow;
	struct mr_outcome fallback = {
		.access = s->config->access_default == CONFIG_ACCESS_ALLOW ? MR_ACCESS_ALLOW : MR_ACCESS_REFUSE,
	};
	struct clients_row *rows;
	unsigned i;
	int err;

	s->clients = calloc(1, sizeof(*s->clients));
	rows = calloc(p->count + 1, sizeof(*rows));
	if (!s->clients || !rows) {
		free(rows);
		return -ENOMEM;
	}
	for (i = 0; i < p->count; i++) {
		rows[i].prefix = p->at[i];
		rows[i].outcome.access = MR_ACCESS_ALLOW;
	}
	err_where(reterr, NULL, 0, "access.allow");
	err = clients_build(rows, p->count, fallback, &c->secret, s->clients, reterr);
	free(rows);
	return err;
}

static void derive(struct snapshot *s)
{
	const struct config *f = s->config;

	s->block.mode = (uint8_t)f->filter_block_mode;
	s->block.ttl = f->filter_block_ttl;
	memcpy(s->block.ipv4, f->filter_block_ipv4.ip + 12, sizeof(s->block.ipv4));
	memcpy(s->block.ipv6, f->filter_block_ipv6.ip, sizeof(s->block.ipv6));
	s->udp.recursion = f->upstreams_servers.count > 0;
	s->udp.udp_max = MR_EDNS_SIZE;
	s->tcp = s->udp;
	s->tcp.stream = true;
	s->ttl.min = f->cache_min_ttl;
	s->ttl.max = f->cache_max_ttl;
	s->ttl.negative_max = f->cache_negative_ttl_max;
	s->ttl.failure = FAILURE_TTL;
	s->admit_after = f->fastpath_admit_after;
	s->prefetch = f->cache_prefetch;
}

int snapshot_make(struct control *c, struct config *config, struct snapshot **ret, struct err_at *reterr)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	int err;

	if (!s) {
		config_free(config);
		return -ENOMEM;
	}
	s->refs = 1;
	s->config = config;
	s->secret = &c->secret;
	err = make_clients(c, s, reterr);
	if (err) {
		snapshot_unref(s);
		return err;
	}
	derive(s);
	*ret = s;
	return 0;
}

/* The block as the packet path knows it. */
static struct mr_block kernel_block(const struct snapshot *s)
{
	struct mr_block b = { .mode = s->block.mode, .ttl = s->block.ttl };

	memcpy(&b.ipv4, s->block.ipv4, sizeof(b.ipv4));
	memcpy(b.ipv6, s->block.ipv6, sizeof(b.ipv6));
	return b;
}

/* All groups alike, as the configuration has one way of blocking. */
static void publish_groups(struct control *c, const struct snapshot *s)
{
	struct mr_group groups[CONFIG_GROUPS_MAX] = { 0 };
	unsigned i;

	for (i = 0; i < s->config->groups.count; i++)
		groups[i].block = kernel_block(s);
	kern_groups_publish(c->kern, groups, s->config->groups.count);
}

static void take_list_names(struct control *c, const struct config *config)
{
	const struct config_lists *l = &config->filter_lists;
	char (*names)[CONFIG_NAME_MAX] = calloc(l->count + 1, sizeof(*names));
	unsigned i;

	for (i = 0; names && i < l->count; i++)
		memcpy(names[i], l->at[i].name, CONFIG_NAME_MAX);
	pthread_mutex_lock(&c->names_lock);
	free(c->list_names);
	c->list_names = names;
	c->list_names_count = names ? l->count : 0;
	pthread_mutex_unlock(&c->names_lock);
}

void snapshot_apply(struct control *c, struct snapshot *s)
{
	struct snapshot *old = c->snapshot;

	kern_configure(c->kern, s->udp.recursion);
	publish_groups(c, s);
	kern_clients_publish(c->kern, s->clients);
	take_list_names(c, s->config);
	c->snapshot = s;
	wire_snapshot(c, s);
	snapshot_unref(old);
}
