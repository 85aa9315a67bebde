/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot.c - references to the policy in force, and its sets of names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "resolve/snapshot.h"

struct snapshot *snapshot_ref(struct snapshot *s)
{
	atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
	return s;
}

void snapshot_unref(struct snapshot *s)
{
	if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) > 1)
		return;
	filter_free(s->owned.filter);
	free(s->owned.verdicts);
	filter_members_free(s->owned.members);
	rules_free(s->owned.rules);
	free(s->owned.groups);
	if (!s->base || s->config != s->base->config) {
		who_free(s->who);
		suffixes_free(s->inside);
		suffixes_free(s->unspecial);
		config_free(s->config);
	}
	free(s->owned.tags);
	free(s->clients);
	snapshot_unref(s->base);
	free(s);
}

/* A route of the root is about names that have no other: it makes none of them ours. */
static int add_routes(struct suffixes *to, const struct config_routes *routes)
{
	unsigned i;
	int err = 0;

	for (i = 0; i < routes->count && !err; i++)
		if (routes->at[i].zone[0] && strcmp(routes->at[i].zone, "."))
			err = suffixes_add(to, routes->at[i].zone);
	return err;
}

/* The zones listed, and those of routes. */
static int make_set(const struct config *c, const struct config_suffixes *listed, struct suffixes **ret)
{
	struct suffixes *s = suffixes_new(listed->count + c->upstreams_routes.count);
	unsigned i;
	int err;

	if (!s)
		return -ENOMEM;
	*ret = s;
	err = add_routes(s, &c->upstreams_routes);
	for (i = 0; i < listed->count && !err; i++)
		err = suffixes_add(s, listed->at[i].name);
	suffixes_ready(s);
	return err;
}

int snapshot_names(struct snapshot *s)
{
	const struct config *c = s->config;
	int err = make_set(c, &c->upstreams_forward_special, &s->unspecial);

	s->rebinding = c->upstreams_rebinding_protect;
	return err ? err : make_set(c, &c->upstreams_rebinding_allow, &s->inside);
}
