/* SPDX-License-Identifier: BSD-2-Clause */
/* count.c - shards of counters and the registry of their sets. */
#include <stdlib.h>
#include "base/count.h"

static _Atomic(struct count_set *) sets;

static void list_set(struct count_set *set)
{
	if (atomic_flag_test_and_set(&set->listed))
		return;
	set->next = atomic_load(&sets);
	while (!atomic_compare_exchange_weak(&sets, &set->next, set))
		;
}

struct count_shard *count_shard_new(struct count_set *set)
{
	struct count_shard *s = calloc(1, sizeof(*s) + set->count * sizeof(s->value[0]));

	if (!s)
		return NULL;
	s->set = set;
	s->next = atomic_load(&set->shards);
	while (!atomic_compare_exchange_weak(&set->shards, &s->next, s))
		;
	list_set(set);
	return s;
}

uint64_t count_sum(const struct count_set *set, unsigned row)
{
	const struct count_shard *s;
	uint64_t sum = 0;

	for (s = atomic_load(&set->shards); s; s = s->next)
		sum += atomic_load_explicit(&s->value[row], memory_order_relaxed);
	return sum;
}

void count_each(void (*each)(const struct count_row *row, uint64_t value, void *arg), void *arg)
{
	const struct count_set *set;
	unsigned i;

	for (set = atomic_load(&sets); set; set = set->next)
		for (i = 0; i < set->count; i++)
			each(&set->rows[i], count_sum(set, i), arg);
}
