/* SPDX-License-Identifier: BSD-2-Clause */
/* resolver.c - what the queries of one worker share. */
#include <errno.h>
#include "resolve/resolver.h"

#define NEAR_END_MIN_S 2
#define SECOND_NS      1000000000ULL

static const struct count_row rows[] = { COUNT_ROWS(RESOLVE_COUNTERS) };
static COUNT_SET(counters, rows);

int resolver_init(struct resolver *r)
{
	r->count = count_shard_new(&counters);
	return r->count ? 0 : -ENOMEM;
}

void resolver_done(struct resolver *r)
{
	snapshot_unref(r->snapshot);
	r->snapshot = NULL;
}

void resolver_set_snapshot(struct resolver *r, struct snapshot *s)
{
	snapshot_unref(r->snapshot);
	r->snapshot = s;
}

bool resolver_nears_end(const struct dns_answer *a, uint64_t now_ns)
{
	uint64_t last = a->ttl / 10 > NEAR_END_MIN_S ? a->ttl / 10 : NEAR_END_MIN_S;

	return a->ttl > 10 && now_ns + last * SECOND_NS >= a->born_ns + a->ttl * SECOND_NS;
}
