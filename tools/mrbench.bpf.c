/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench.bpf.c - what surrounds the packet path while it is measured.
 *
 * BPF_PROG_TEST_RUN with a repeat hands a program its own output, so the
 * subject is never run directly: bench_wrap restores the frame (start, length,
 * contents, from an array of frames made beforehand) and then tail-calls
 * whatever stands in bench_subject, the shipped program or bench_null.  What
 * the wrapper costs is in both and cancels in the difference.
 *
 * Loaded and driven by tools/mrbench_cells.c and tools/mrbench_maps.c;
 * bench_reflect is attached by tools/mrbench_serve.c.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "maps/filter.h"
#include "tools/mrbench_bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Sizes marked "load" are set before loading. */
#define ARRAY(name, value_type, count)              \
	struct {                                    \
		__uint(type, BPF_MAP_TYPE_ARRAY);   \
		__uint(map_flags, BPF_F_MMAPABLE);  \
		__uint(max_entries, count);         \
		__type(key, __u32);                 \
		__type(value, value_type);          \
	} name SEC(".maps")

ARRAY(bench_frames, struct bench_frame, 1);		/* load */
ARRAY(bench_line_a, struct bench_line, 1);		/* load: as big as the filter in force */
ARRAY(bench_line_b, struct bench_line, 1);		/* load: as big as the answers */
ARRAY(bench_keys, struct mr_hash, 1);			/* load: what the two look-ups below look for */
ARRAY(bench_own, struct mr_filter_bucket, 1);		/* load */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);				/* load */
	__type(key, __u64);
	__type(value, __u64);
} bench_hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} bench_subject SEC(".maps");

/* Which frames are in turn, and where the packet started in the first round; set before each run. */
__u32 bench_first = 0, bench_count = 1, bench_next = 0;
__u64 bench_home = 0, bench_seen = 0;
/* Where a chase stands, which keys are looked for, how many were found. */
__u32 bench_at = 0, bench_key = 0, bench_key_mask = 0, bench_own_mask = 0;
__u64 bench_found = 0;

SEC("xdp")
int bench_wrap(struct xdp_md *ctx)
{
	__u32 i = bench_next, len;
	struct bench_frame *f;

	if (i >= bench_count)
		i = 0;
	bench_next = i + 1;
	i += bench_first;
	f = bpf_map_lookup_elem(&bench_frames, &i);
	if (!f)
		return XDP_ABORTED;
	/* A packet pointer becomes a number by way of memory. */
	*(volatile __u64 *)&bench_seen = (__u64)ctx->data;
	if (!bench_home)
		bench_home = *(volatile __u64 *)&bench_seen;
	if (bpf_xdp_adjust_head(ctx, (int)(bench_home - bench_seen)))
		return XDP_ABORTED;
	len = f->len;
	if (len < ETH_HLEN || len > BENCH_FRAME_MAX)
		return XDP_ABORTED;
	if (bpf_xdp_adjust_tail(ctx, (int)(len - bpf_xdp_get_buff_len(ctx))))
		return XDP_ABORTED;
	if (bpf_xdp_store_bytes(ctx, 0, f->byte, len))
		return XDP_ABORTED;
	bpf_tail_call(ctx, &bench_subject, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int bench_null(struct xdp_md *ctx)
{
	return XDP_TX;
}

/* Follow BENCH_STEPS pointers: each load needs the one before. */
#define CHASE(program, map)                                       \
	SEC("xdp")                                                \
	int program(struct xdp_md *ctx)                           \
	{                                                         \
		__u32 at = bench_at, i;                           \
		struct bench_line *l;                             \
                                                                  \
		for (i = 0; i < BENCH_STEPS; i++) {               \
			l = bpf_map_lookup_elem(&map, &at);       \
			if (!l)                                   \
				return XDP_ABORTED;               \
			at = l->next;                             \
		}                                                 \
		bench_at = at;                                    \
		return XDP_TX;                                    \
	}

CHASE(bench_chase_a, bench_line_a)
CHASE(bench_chase_b, bench_line_b)

/* BENCH_FINDS look-ups in a hash map of the kernel's. */
SEC("xdp")
int bench_find_hash(struct xdp_md *ctx)
{
	__u32 k = bench_key, i, found = 0;

	for (i = 0; i < BENCH_FINDS; i++) {
		struct mr_hash *h;

		k = (k + 1) & bench_key_mask;
		h = bpf_map_lookup_elem(&bench_keys, &k);
		if (!h)
			return XDP_ABORTED;
		if (bpf_map_lookup_elem(&bench_hash, &h->h0))
			found++;
	}
	bench_key = k;
	bench_found += found;
	return XDP_TX;
}

/* The same in buckets of our own. */
SEC("xdp")
int bench_find_own(struct xdp_md *ctx)
{
	__u32 k = bench_key, i, at, found = 0;

	for (i = 0; i < BENCH_FINDS; i++) {
		struct mr_found f = { 0, 0 };
		struct mr_filter_bucket *b;
		struct mr_hash *h;

		k = (k + 1) & bench_key_mask;
		h = bpf_map_lookup_elem(&bench_keys, &k);
		if (!h)
			return XDP_ABORTED;
		at = mr_bucket_first(*h, bench_own_mask);
		b = bpf_map_lookup_elem(&bench_own, &at);
		if (!b)
			return XDP_ABORTED;
		if (mr_bucket_match(b, *h, &f)) {
			at = mr_bucket_second(*h, bench_own_mask);
			b = bpf_map_lookup_elem(&bench_own, &at);
			if (!b)
				return XDP_ABORTED;
			mr_bucket_match(b, *h, &f);
		}
		if (f.subtree)
			found++;
	}
	bench_key = k;
	bench_found += found;
	return XDP_TX;
}

/*
 * The limit of the path: an IPv4 query to port 53 goes back as it came, with
 * QR set and its checksum mended (RFC 1624 equation 3).
 */
SEC("xdp")
int bench_reflect(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end, mac[ETH_ALEN];
	struct ethhdr *eth = (void *)data;
	struct iphdr *ip = (void *)(eth + 1);
	struct udphdr *udp = (void *)(ip + 1);
	__u8 *dns = (void *)(udp + 1);
	__u32 sum;
	__be32 addr;

	if (dns + 12 > end || eth->h_proto != bpf_htons(ETH_P_IP) || ip->ihl != 5 || ip->protocol != IPPROTO_UDP ||
	    udp->dest != bpf_htons(53) || (dns[2] & 0x80))
		return XDP_PASS;
	__builtin_memcpy(mac, eth->h_dest, ETH_ALEN);
	__builtin_memcpy(eth->h_dest, eth->h_source, ETH_ALEN);
	__builtin_memcpy(eth->h_source, mac, ETH_ALEN);
	addr = ip->saddr;
	ip->saddr = ip->daddr;
	ip->daddr = addr;
	udp->dest = udp->source;
	udp->source = bpf_htons(53);
	dns[2] |= 0x80;
	if (udp->check) {
		sum = (__u16)~bpf_ntohs(udp->check) + 0x8000;
		sum = (sum & 0xffff) + (sum >> 16);
		udp->check = bpf_htons((__u16)~sum ? (__u16)~sum : 0xffff);
	}
	return XDP_TX;
}
