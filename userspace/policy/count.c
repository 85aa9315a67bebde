/* SPDX-License-Identifier: BSD-2-Clause */
/* count.c - see count.h. */
#include <errno.h>
#include <stddef.h>
#include "policy/count.h"

static const struct count_row rows[] = { COUNT_ROWS(POLICY_COUNTERS) };
static COUNT_SET(counters, rows);
static _Atomic(struct count_shard *) shard;

int policy_count_open(void)
{
	struct count_shard *none = NULL, *s;

	if (atomic_load(&shard))
		return 0;
	s = count_shard_new(&counters);
	if (!s)
		return -ENOMEM;
	/* who comes second leaves an empty shard in the sum */
	atomic_compare_exchange_strong(&shard, &none, s);
	return 0;
}

void policy_count(enum policy_count row)
{
	if (!policy_count_open())
		count_shared(atomic_load(&shard), row);
}
