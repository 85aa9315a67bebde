/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_pass.bpf.c - the program that the far end of a veth needs.
 *
 * What XDP_TX sends on a veth is dropped, uncounted, unless the peer has an
 * XDP program as well.  tools/lab attaches this one, natively, to the client's
 * and the upstream's ends.  It has no maps and passes every frame.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("xdp")
int lab_pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}
