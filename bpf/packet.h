/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * packet.h - from the frame to the DNS message: is it a query for us?
 *
 * Pure: bytes and mr_conf in, a row of the counters out (0: go on).  Ends are
 * computed from the lengths in the headers, never from the end of the frame,
 * which may be padded.  A frame is changed nowhere here.
 */
#ifndef BPF_PACKET_H
#define BPF_PACKET_H

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include "maps/config.h"
#include "maps/stats.h"
#include "bpf/cursor.h"
#include "bpf/csum.h"

#define PACKET_VLANS_MAX 2
#define PACKET_GO_ON     0		/* MR_STAT_packets is no outcome, so its number is free */

#define PACKET_L3_MASK   31		/* 14, 18 or 22 */
#define PACKET_UDP_MASK  127		/* up to 22 + 40 */

WORLD_WIRE(struct ethhdr, wire_ethernet);
WORLD_WIRE(struct iphdr, wire_ip4);
WORLD_WIRE(struct ipv6hdr, wire_ip6);
WORLD_WIRE(struct udphdr, wire_udp);
WORLD_WIRE(__be16, wire_be16);

/* Where things are, counted from the start of the frame; addresses in host order, IPv4 mapped. */
struct packet {
	__u32 frame_len;
	__u32 l3;
	__u32 udp;
	__u32 dns_len;
	__u32 ipv6;
	__be16 source_port;
	__be16 port;
	__u64 addr_sum;			/* of both addresses: the same when they are swapped */
	struct mr_prefix source;
};

/* The address as two words of memory order, IPv4 mapped. */
struct packet_addr {
	__u64 w[2];
};

MR_INLINE struct packet_addr packet_addr4(__be32 a)
{
	struct packet_addr p = { { 0, (__u64)a << 32 | 0xffff0000 } };

	return p;
}

MR_INLINE struct packet_addr packet_addr6(const void *a)
{
	struct packet_addr p = { { mr_load64(a), mr_load64((const __u8 *)a + 8) } };

	return p;
}

MR_INLINE int packet_is_service(const struct mr_conf *conf, struct packet_addr a)
{
	__u32 count = conf->services, i;

	for (i = 0; i < MR_SERVICES_MAX; i++) {
		if (i >= count)
			break;
		if (mr_load64(&conf->service[i].addr[0]) == a.w[0] && mr_load64(&conf->service[i].addr[2]) == a.w[1])
			return 1;
	}
	return 0;
}

/* The row of the interface a frame came in by, or MR_IFACES_MAX. */
MR_INLINE __u32 packet_iface(const struct mr_conf *conf, __u32 ifindex)
{
	__u32 i;

	for (i = 0; i < MR_IFACES_MAX; i++)
		if (conf->iface[i].ifindex == ifindex)
			break;
	return i;
}

/* Whether an IPv4 source is one that is never answered: 0/8, multicast, 240/4 with the broadcast. */
MR_INLINE int packet_bad_source4(__be32 a)
{
	return ((a - 1) & 0xff) >= 223;
}

/* The same for IPv6: multicast and the unspecified address. */
MR_INLINE int packet_bad_source6(struct packet_addr a)
{
	return (a.w[0] & 0xff) == 0xff || !(a.w[0] | a.w[1]);
}

/* Extension headers, fragments among them (IANA's list). */
MR_INLINE int packet_is_ext_header(__u8 next)
{
	return next == 0 || next == 43 || next == 44 || next == 50 || next == 51 || next == 60 || next == 135 ||
	       next == 139 || next == 140 || next == 253 || next == 254;
}

/* What the IP header says; filled by packet_ip4() or packet_ip6(). */
struct packet_ip {
	__u32 header_len;
	__u32 payload_len;
	int bad_source;
	struct packet_addr from;
	struct packet_addr to;
	__u64 addr_sum;			/* of both, the mapping's ffff left out: they add nothing to it */
};

MR_INLINE enum mr_stat packet_ip4(struct cursor *c, const struct mr_conf *conf, __u32 room, struct packet_ip *ret)
{
	const wire_ip4 *ip = cursor_take(c, sizeof(*ip));
	__u32 total;

	if (!ip)
		return MR_STAT_pass_truncated;
	ret->to = packet_addr4(ip->daddr);
	ret->from = packet_addr4(ip->saddr);
	ret->bad_source = packet_bad_source4(ip->saddr);
	if (ip->version != 4 || ip->ihl < 5 || ip->protocol != IPPROTO_UDP || !packet_is_service(conf, ret->to))
		return MR_STAT_pass_other;
	if (ip->ihl > 5)
		return MR_STAT_pass_ip_options;
	if (ip->frag_off & bpf_htons(0x3fff))
		return MR_STAT_pass_fragment;
	total = bpf_ntohs(ip->tot_len);
	if (total > room || total < sizeof(*ip) + sizeof(struct udphdr))
		return MR_STAT_pass_truncated;
	ret->addr_sum = (__u64)ip->saddr + ip->daddr;
	ret->header_len = sizeof(*ip);
	ret->payload_len = total - sizeof(*ip);
	return PACKET_GO_ON;
}

MR_INLINE enum mr_stat packet_ip6(struct cursor *c, const struct mr_conf *conf, __u32 room, struct packet_ip *ret)
{
	const wire_ip6 *ip = cursor_take(c, sizeof(*ip));
	__u32 payload;

	if (!ip)
		return MR_STAT_pass_truncated;
	ret->to = packet_addr6(&ip->daddr);
	ret->from = packet_addr6(&ip->saddr);
	ret->bad_source = packet_bad_source6(ret->from);
	if (ip->version != 6 || !packet_is_service(conf, ret->to))
		return MR_STAT_pass_other;
	if (ip->nexthdr != IPPROTO_UDP)
		return packet_is_ext_header(ip->nexthdr) ? MR_STAT_pass_ext_header : MR_STAT_pass_other;
	payload = bpf_ntohs(ip->payload_len);
	if (payload + sizeof(*ip) > room || payload < sizeof(struct udphdr))
		return MR_STAT_pass_truncated;
	ret->addr_sum = mr_sum_add(mr_sum_add(mr_sum_add(mr_sum_add(0, ret->from.w[0]), ret->from.w[1]),
					      ret->to.w[0]), ret->to.w[1]);
	ret->header_len = sizeof(*ip);
	ret->payload_len = payload;
	return PACKET_GO_ON;
}

MR_INLINE struct mr_prefix packet_prefix(struct packet_addr a)
{
	struct mr_prefix p = { __builtin_bswap64(a.w[0]), __builtin_bswap64(a.w[1]) };

	return p;
}

/*
 * Whether the checksum of a query says that its sender left it to hardware:
 * then it is the sum of the pseudo header, not complemented.  Only in generic
 * mode does the kernel go on to finish it, in the wrong place once we have
 * grown the frame.  IPv6 without a checksum is not for us either (RFC 8200).
 */
MR_INLINE int packet_unfinished(const wire_udp *udp, __u64 addr_sum, int generic, int ipv6)
{
	if (ipv6 && !udp->check)
		return 1;
	return generic && udp->check == (__u16)mr_sum_fold(addr_sum + bpf_htons(IPPROTO_UDP) + udp->len);
}

/**
 * Find the DNS message of a frame that is a UDP datagram to one of our
 * services on the interface it came in by.
 *
 * @ifindex  of that interface
 * @zero     see mr_name_walk()
 * @ret      filled on success only
 *
 * Returns PACKET_GO_ON or the row of the counters for passing the frame.
 */
MR_INLINE enum mr_stat packet_parse(const struct world_frame *f, const struct mr_conf *conf, __u32 ifindex, __u32 zero,
				    struct packet *ret)
{
	struct cursor c = cursor_at(f, 0);
	const wire_ethernet *eth = cursor_take(&c, sizeof(*eth));
	__u32 row = packet_iface(conf, ifindex), l3 = sizeof(*eth), len = c.end - (__u8 *)world_data(f), i;
	const __u64 mac_mask = ~0ULL >> 16;
	__u64 mac, to, from, rest;
	struct packet_ip ip = { 0 };
	const wire_udp *udp;
	const wire_be16 *tag;
	enum mr_stat stat;
	__be16 proto;

	if (!eth)
		return MR_STAT_pass_truncated;
	if (row >= MR_IFACES_MAX)
		return MR_STAT_pass_other;
	mac = mr_load64(conf->iface[row & (MR_IFACES_MAX - 1)].mac) & mac_mask;
	to = mr_load64(eth->h_dest) & mac_mask;
	rest = mr_load64(eth->h_source);	/* and the protocol */
	from = rest & mac_mask;
	if (to != mac)
		return MR_STAT_pass_other;
	proto = rest >> 48;
	MR_UNROLL
	for (i = 0; i < PACKET_VLANS_MAX; i++) {
		if (proto != bpf_htons(ETH_P_8021Q) && proto != bpf_htons(ETH_P_8021AD))
			break;
		tag = cursor_take(&c, 4);
		if (!tag)
			return MR_STAT_pass_truncated;
		proto = tag[1];
		l3 += 4;
	}
	l3 = (l3 + zero) & PACKET_L3_MASK;
	c = cursor_at(f, l3);
	if (proto == bpf_htons(ETH_P_IP))
		stat = packet_ip4(&c, conf, len - l3, &ip);
	else if (proto == bpf_htons(ETH_P_IPV6))
		stat = packet_ip6(&c, conf, len - l3, &ip);
	else
		stat = MR_STAT_pass_other;
	if (stat)
		return stat;

	ret->frame_len = len;
	ret->l3 = l3;
	ret->ipv6 = ((ip.header_len == sizeof(struct ipv6hdr)) + zero) & 1;
	ret->udp = (l3 + ip.header_len) & PACKET_UDP_MASK;
	ret->udp = (ret->udp + zero) & PACKET_UDP_MASK;
	ret->source = packet_prefix(ip.from);
	ret->addr_sum = ip.addr_sum;
	c = cursor_at(f, ret->udp);
	udp = cursor_take(&c, sizeof(*udp));
	if (!udp)
		return MR_STAT_pass_truncated;
	if (udp->dest != bpf_htons(conf->port))
		return MR_STAT_pass_other;
	if (ip.bad_source || !udp->source || from == mac || (from & 1) || packet_is_service(conf, ip.from))
		return MR_STAT_pass_source;
	if (bpf_ntohs(udp->len) != ip.payload_len)
		return MR_STAT_pass_udp_length;
	if (packet_unfinished(udp, ret->addr_sum, conf->iface[row & (MR_IFACES_MAX - 1)].generic, ret->ipv6))
		return MR_STAT_pass_unfinished;
	ret->source_port = udp->source;
	ret->port = udp->dest;
	ret->dns_len = ip.payload_len - sizeof(*udp);
	return PACKET_GO_ON;
}

#endif
