/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * off.c - the same door without BPF: all is accepted, nothing is published,
 * and the filter is found where the caller has it.
 */
#include <stdio.h>
#include <string.h>
#include "kern/room.h"

void kern_off(struct kern *k, const struct err_at *why)
{
	unsigned i;

	k->on = false;
	snprintf(k->reason, sizeof(k->reason), "%.*s", KERN_REASON - 1, why->why);
	for (i = 0; i < k->ifaces; i++) {
		k->iface[i].mode = KERN_OFF;
		snprintf(k->iface[i].reason, KERN_REASON, "%s", k->reason);
	}
}

void kern_off_filter(struct kern *k, const struct filter *f, const struct mr_verdict *verdicts, unsigned groups)
{
	struct mr_ede *ede = k->view.ede == k->ede_own[0] ? k->ede_own[1] : k->ede_own[0];
	struct mr_unit u = *filter_unit(f);

	u.groups = groups;
	memcpy(ede, k->ede_next, sizeof(k->ede_next));
	kern_view_set(k, &u, &(struct filter_view){ .buckets = filter_buckets(f), .bloom = filter_bloom(f),
						    .verdicts = verdicts, .ede = ede,
						    .generation = k->view.generation + 1 });
}
