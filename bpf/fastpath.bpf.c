/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * fastpath.bpf.c - the life of a packet.
 */
#include "bpf/maps.h"
#include "maps/layout.c"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("xdp")
int fastpath(struct xdp_md *ctx)
{
	__u32 zero = 0;
	struct mr_stats *s = bpf_map_lookup_elem(&mr_stats, &zero);

	if (s)
		s->count[MR_STAT_packets]++;
	return XDP_PASS;
}

SEC("xdp")
int fastpath_why(struct xdp_md *ctx)
{
	return XDP_PASS;
}
