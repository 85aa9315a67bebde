/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot.c - references to the policy in force. */
#include <stdlib.h>
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
		config_free(s->config);
	}
	free(s->owned.tags);
	free(s->clients);
	snapshot_unref(s->base);
	free(s);
}
