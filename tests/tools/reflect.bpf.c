/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reflect.bpf.c - sends IPv4 UDP datagrams back to where they came from.
 *
 * For the lab's test that what XDP_TX sends arrives at the client.  Only plain
 * headers are known; the checksum is cleared (IPv4 allows it), because that of
 * a local sender is not finished.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("xdp")
int reflect(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct iphdr *ip = (void *)(eth + 1);
	struct udphdr *udp = (void *)(ip + 1);
	unsigned char mac[ETH_ALEN];
	__be32 address;
	__be16 port;

	if ((void *)(udp + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP) || ip->ihl != 5 ||
	    ip->protocol != IPPROTO_UDP)
		return XDP_PASS;
	__builtin_memcpy(mac, eth->h_dest, ETH_ALEN);
	__builtin_memcpy(eth->h_dest, eth->h_source, ETH_ALEN);
	__builtin_memcpy(eth->h_source, mac, ETH_ALEN);
	address = ip->daddr;
	ip->daddr = ip->saddr;
	ip->saddr = address;
	port = udp->dest;
	udp->dest = udp->source;
	udp->source = port;
	udp->check = 0;
	return XDP_TX;
}
