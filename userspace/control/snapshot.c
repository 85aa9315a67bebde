/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot.c - a policy made whole, and put in force. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "control/internal.h"
#include "maps/block.h"
#include "maps/config.h"

#define FAILURE_TTL 5			/* seconds that a failure is remembered (RFC 9520 section 3.2) */

static void derive(struct snapshot *s)
{
	const struct config *f = s->config;

	s->udp.recursion = f->upstreams_servers.count || f->upstreams_routes.count;
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
	err = clients_make(c, s, reterr);
	if (!err)
		err = clients_name(s);
	if (!err)
		err = snapshot_names(s);
	if (err) {
		snapshot_unref(s);
		return err;
	}
	derive(s);
	*ret = s;
	return 0;
}

static struct mr_group kernel_group(const struct control *c, const struct config_group *g)
{
	static const uint8_t edes[] = {
		[CONFIG_EDE_NONE] = MR_BLOCK_EDE_NONE, [CONFIG_EDE_CODE] = MR_BLOCK_EDE_CODE,
		[CONFIG_EDE_TEXT] = MR_BLOCK_EDE_TEXT,
	};
	struct mr_group to = {
		.block = { .mode = (uint8_t)g->block.mode, .ede = edes[g->block.ede], .ttl = g->block.ttl },
		.paused = pause_of_group(c, g->name),
	};
	unsigned i;

	memcpy(&to.block.ipv4, g->block.ipv4.ip + 12, sizeof(to.block.ipv4));
	memcpy(to.block.ipv6, g->block.ipv6.ip, sizeof(to.block.ipv6));
	for (i = 0; i < g->no_types.count && i < MR_GROUP_TYPES; i++)
		to.nodata[i] = g->no_types.at[i];
	return to;
}

static void kernel_groups(const struct control *c, const struct config_groups *g, struct mr_group *ret)
{
	unsigned i;

	for (i = 0; i < g->count; i++)
		ret[i] = kernel_group(c, &g->at[i]);
}

static void take_source_names(struct control *c, const struct config *config)
{
	char (*names)[SOURCE_NAME_MAX];
	struct sources n;
	unsigned i;

	sources_number(config, &n);
	names = calloc(n.count, sizeof(*names));
	for (i = 0; names && i < n.count; i++)
		sources_name(config, &n, i, names[i], sizeof(names[i]));
	pthread_mutex_lock(&c->names_lock);
	free(c->list_names);
	c->list_names = names;
	c->list_names_count = names ? n.count : 0;
	pthread_mutex_unlock(&c->names_lock);
}

struct snapshot *snapshot_root(struct snapshot *s)
{
	while (s && s->base)
		s = s->base;
	return s;
}

static void hand_over(struct control *c, struct snapshot *s)
{
	struct snapshot *old = c->snapshot;

	kern_clients_publish(c->kern, s->clients);
	upstreams_apply(c, s->config, old ? old->config : NULL);
	c->snapshot = s;
	wire_snapshot(c, s);
	snapshot_unref(old);
}

/*
 * From the swap to the hand-over the kernel is at the new filter and the workers
 * at the old one: nothing that waits, or takes long, may stand between.
 *
 * Cells and addresses say groups by number: where those change, packets are left
 * to user space meanwhile, which takes all of a snapshot at once.
 */
int snapshot_apply(struct control *c, struct snapshot *s, const struct filter *f, const struct mr_verdict *verdicts,
		   bool *ret_mapped, struct err_at *reterr)
{
	bool forget = rules_have_regex(s->judge.rules) || rules_have_address(s->judge.rules);
	struct mr_group groups[CONFIG_GROUPS_MAX] = { 0 };
	unsigned count = s->config->groups.count, how = forget ? KERN_FORGET : 0;
	struct filter_view view;
	int err;

	kernel_groups(c, &s->config->groups, groups);
	s->judge.filter.verdicts = verdicts;
	edges_add(&c->edges, s);
	if (kern_groups_differ(c->kern, groups, count) || kern_clients_differ(c->kern, s->clients))
		how |= KERN_HOLD;
	err = kern_filter_swap(c->kern, f, verdicts, s->judge.groups, how, &view, ret_mapped, reterr);
	if (!err) {
		edges_move(&c->edges, s, &view);
		kern_configure(c->kern, s->udp.recursion);
		kern_groups_publish(c->kern, groups, count);
		hand_over(c, s);
		kern_release(c->kern);
	}
	edges_only(&c->edges, snapshot_root(c->snapshot));
	if (err)
		return err;
	take_source_names(c, s->config);
	/* An answer of the packet path was not looked at by patterns that are new; one put there from now on is. */
	if (forget)
		kern_flush_all(c->kern);
	kern_filter_settle(c->kern);
	return 0;
}

void snapshot_apply_edited(struct control *c, struct snapshot *s)
{
	kern_configure(c->kern, s->udp.recursion);
	hand_over(c, s);
	take_source_names(c, s->config);
}

int snapshot_renew_clients(struct control *c, struct err_at *reterr)
{
	struct snapshot *s = malloc(sizeof(*s)), *base = c->snapshot;
	int err;

	/* Not one behind another: whoever has the configuration has all but the clients. */
	if (base->base && base->config == base->base->config)
		base = base->base;
	if (!s)
		return -ENOMEM;
	*s = *base;
	atomic_init(&s->refs, 1);
	s->base = snapshot_ref(base);
	s->owned = (struct snapshot_owned){ 0 };
	s->clients = NULL;
	err = clients_make(c, s, reterr);
	if (err)
		snapshot_unref(s);
	else
		hand_over(c, s);
	return err;
}
