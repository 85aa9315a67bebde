/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_frames.c - which frames and messages are for the program at all.
 *
 * Everything here asks for a blocked name, so that what is answered shows that
 * nothing but the bent part kept the other rows from it.
 */
#include <arpa/inet.h>
#include <string.h>
#include "packet/run.h"

static void world(struct fill *f)
{
	fill_service(f, "192.0.2.53");
	fill_service(f, "2001:db8::53");
	fill_verdict(f, 0, 1, MR_BLOCK, 7);
	fill_rule(f, "ads.example", 1, 1, FILL_FIRST);
	fill_rule(f, ".", 1, 0, FILL_FIRST);
}

/* ---- worlds -------------------------------------------------------------- */

static void off(struct fill *f) { f->conf->enabled = 0; }
static void no_iface(struct fill *f) { f->conf->iface[0].ifindex = 77; }
static void iface_in_row_7(struct fill *f) { f->conf->iface[7] = f->conf->iface[0]; f->conf->iface[0].ifindex = 77; }
static void other_mac(struct fill *f) { f->conf->iface[0].mac[5] = 0x54; }
static void mac_of_other_iface(struct fill *f) { f->conf->iface[1] = f->conf->iface[0]; f->conf->iface[1].ifindex = 9; f->conf->iface[0].mac[0] = 0x12; }
static void no_service(struct fill *f) { f->conf->services = 0; }
static void port_5353(struct fill *f) { f->conf->port = 5353; }
static void generic(struct fill *f) { f->conf->iface[0].generic = 1; }

static void service_in_row_7(struct fill *f)
{
	f->conf->services = 0;
	for (int i = 0; i < 7; i++)
		fill_service(f, "203.0.113.9");
	fill_service(f, "192.0.2.53");
}

static void client_is_a_service(struct fill *f) { fill_service(f, "192.0.2.1"); }
static void client_is_a_service6(struct fill *f) { fill_service(f, "2001:db8::1"); }

/* ---- bends --------------------------------------------------------------- */

static void cut(struct frame *f, size_t n)
{
	f->len -= n;
}

static void to_broadcast(struct frame *f) { memset(f->b, 0xff, 6); }
static void to_multicast(struct frame *f) { f->b[0] |= 1; }
static void from_group(struct frame *f) { f->b[6] |= 1; }
static void from_our_mac(struct frame *f) { memcpy(f->b + 6, f->b, 6); }
static void arp(struct frame *f) { f->b[12] = 8; f->b[13] = 6; }
static void jumbo_type(struct frame *f) { f->b[12] = 0x12; f->b[13] = 0x34; }
static void only_ethernet(struct frame *f) { f->len = 14; }
static void cut_in_tag(struct frame *f) { f->len = 16; }
static void cut_in_ip(struct frame *f) { f->len = f->l3 + 19; }
static void cut_in_ip6(struct frame *f) { f->len = f->l3 + 39; }
static void cut_one(struct frame *f) { cut(f, 1); }
static void cut_to_udp(struct frame *f) { f->len = f->udp + 8; }
static void ip_version_5(struct frame *f) { f->b[f->l3] = 0x55; }
static void ip6_version_4(struct frame *f) { f->b[f->l3] = 0x4a; }
static void ihl_4(struct frame *f) { f->b[f->l3] = 0x44; }

static void ip_options(struct frame *f)
{
	f->b[f->l3] = 0x46;
	frame_insert(f, f->l3 + 20, "\x01\x01\x01\x00", 4);
	f->udp = f->l3 + 24;
	frame_finish(f);
}

static void more_fragments(struct frame *f) { f->b[f->l3 + 6] |= 0x20; }
static void fragment_offset(struct frame *f) { f->b[f->l3 + 7] = 1; }
static void fragment_offset_high(struct frame *f) { f->b[f->l3 + 6] |= 0x10; }
static void dont_fragment(struct frame *f) { f->b[f->l3 + 6] |= 0x40; frame_finish(f); }
static void tcp(struct frame *f) { f->b[f->l3 + 9] = 6; }
static void icmp(struct frame *f) { f->b[f->l3 + 9] = 1; }
static void tcp6(struct frame *f) { f->b[f->l3 + 6] = 6; }
static void icmp6(struct frame *f) { f->b[f->l3 + 6] = 58; }
static void no_next(struct frame *f) { f->b[f->l3 + 6] = 59; }
static void hop_by_hop(struct frame *f) { f->b[f->l3 + 6] = 0; }
static void routing(struct frame *f) { f->b[f->l3 + 6] = 43; }
static void fragment6(struct frame *f) { f->b[f->l3 + 6] = 44; }
static void dest_options(struct frame *f) { f->b[f->l3 + 6] = 60; }
static void total_one_more(struct frame *f) { f->b[f->l3 + 3]++; }
static void total_one_less(struct frame *f) { f->b[f->l3 + 3]--; }
static void total_27(struct frame *f) { f->b[f->l3 + 2] = 0; f->b[f->l3 + 3] = 27; }
static void payload_one_more(struct frame *f) { f->b[f->l3 + 5]++; }
static void payload_one_less(struct frame *f) { f->b[f->l3 + 5]--; }
static void payload_7(struct frame *f) { f->b[f->l3 + 4] = 0; f->b[f->l3 + 5] = 7; }
static void udp_one_more(struct frame *f) { f->b[f->udp + 5]++; }
static void udp_one_less(struct frame *f) { f->b[f->udp + 5]--; }
static void no_checksum(struct frame *f) { f->b[f->udp + 6] = f->b[f->udp + 7] = 0; }
static void wrong_checksum(struct frame *f) { f->b[f->udp + 6] ^= 0x5a; }

/* What a sender leaves that counts on its hardware: the sum of the pseudo header. */
static void unfinished(struct frame *f)
{
	unsigned long sum = 17 + f->end - f->udp;
	size_t from = f->ipv6 ? f->l3 + 8 : f->l3 + 12, n = f->ipv6 ? 32 : 8;

	for (size_t i = 0; i < n; i += 2)
		sum += (unsigned long)(f->b[from + i] << 8 | f->b[from + i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	f->b[f->udp + 6] = (__u8)(sum >> 8);
	f->b[f->udp + 7] = (__u8)sum;
}

static void end_at(struct frame *f, size_t dns_len)
{
	f->end = f->dns + dns_len;
	f->len = f->end;
	frame_finish(f);
}

static void dns_0(struct frame *f) { end_at(f, 0); }
static void dns_11(struct frame *f) { end_at(f, 11); }
static void dns_12(struct frame *f) { end_at(f, 12); }
static void dns_16(struct frame *f) { end_at(f, 16); }
static void without_class(struct frame *f) { end_at(f, f->question - f->dns - 2); }
static void without_tail(struct frame *f) { end_at(f, f->question - f->dns - 4); }
static void in_the_name(struct frame *f) { end_at(f, 20); }

static void set(struct frame *f, size_t at, unsigned int v)
{
	f->b[at] = (__u8)(v >> 8);
	f->b[at + 1] = (__u8)v;
	frame_finish(f);
}

static void qd_0(struct frame *f) { set(f, f->dns + 4, 0); }
static void qd_2(struct frame *f) { set(f, f->dns + 4, 2); }
static void qd_256(struct frame *f) { set(f, f->dns + 4, 256); }
static void an_1(struct frame *f) { set(f, f->dns + 6, 1); }
static void ns_1(struct frame *f) { set(f, f->dns + 8, 1); }
static void ar_2(struct frame *f) { set(f, f->dns + 10, 2); }
static void ar_257(struct frame *f) { set(f, f->dns + 10, 257); }
static void ar_1_missing(struct frame *f) { set(f, f->dns + 10, 1); }
static void ar_0_with_opt(struct frame *f) { set(f, f->dns + 10, 0); }

static void pointer(struct frame *f) { set(f, f->dns + 12, 0xc00c); }
static void pointer_inside(struct frame *f) { set(f, f->dns + 16, 0xc00c); }
static void label_64(struct frame *f) { f->b[f->dns + 12] = 64; frame_finish(f); }
static void label_128(struct frame *f) { f->b[f->dns + 12] = 128; frame_finish(f); }
static void label_too_long(struct frame *f) { f->b[f->dns + 16] = 63; frame_finish(f); }

/* A name of 256 octets in all: three labels of 63 and one of 62. */
static void name_256(struct frame *f)
{
	static char name[256];
	size_t first = f->dns + 12, old = f->question - 4 - first;

	memset(name, 'x', sizeof(name));
	name[0] = name[64] = name[128] = 63;
	name[192] = 62;
	name[255] = 0;
	memmove(f->b + first, f->b + first + old, f->end - first - old);
	f->end -= old;
	f->len = f->end;
	frame_insert(f, first, name, 256);
	f->question = first + 260;
	frame_finish(f);
}

static void opt_owner(struct frame *f) { f->b[f->question] = 1; frame_finish(f); }
static void opt_is_tsig(struct frame *f) { set(f, f->question + 1, 250); }
static void opt_is_a(struct frame *f) { set(f, f->question + 1, 1); }
static void opt_is_297(struct frame *f) { set(f, f->question + 1, 256 + 41); }
static void opt_cut(struct frame *f) { end_at(f, f->question - f->dns + 10); }
static void opt_rdlen_more(struct frame *f) { set(f, f->question + 9, 1); }
static void opt_rdlen_less(struct frame *f) { set(f, f->question + 9, 8); }
static void opt_z_bits(struct frame *f) { set(f, f->question + 7, 0x7fff); }
static void opt_rcode(struct frame *f) { f->b[f->question + 5] = 9; frame_finish(f); }

/* ---- rows ---------------------------------------------------------------- */

#define A_BLOCKED "NOERROR rd ra; an A 10 0.0.0.0"
#define AAAA_SOA  "NOERROR rd ra; ns SOA 10 . . 1 3600 600 86400 10"
#define ANSWERED  .stat = MR_STAT_blocked, .says = A_BLOCKED
#define WITH_OPT  .stat = MR_STAT_blocked, .says = A_BLOCKED "; opt 1232 ede 15"
#define PASSES(s) .stat = MR_STAT_pass_##s
#define Q         { "ads.example" }
#define Q6        { "ads.example", .ipv6 = 1 }
#define E         { "ads.example", .edns = 1 }
#define OPTIONS(s) { "ads.example", .edns = 1, .options = s, .options_len = sizeof(s) - 1 }

static const struct row rows[] = {
	{ "a plain query is answered", Q, ANSWERED },
	{ "a plain query over IPv6 is answered", Q6, ANSWERED },
	{ "switched off: all passes", Q, .world = off, PASSES(disabled) },
	/* interface, MAC, address, port */
	{ "an interface without a row passes", Q, .world = no_iface, PASSES(other) },
	{ "the last row of interfaces counts", Q, .world = iface_in_row_7, ANSWERED },
	{ "another MAC passes", Q, .world = other_mac, PASSES(other) },
	{ "the MAC of another interface passes", Q, .world = mac_of_other_iface, PASSES(other) },
	{ "to the Ethernet broadcast: passes", Q, .bend = to_broadcast, PASSES(other) },
	{ "to an Ethernet group: passes", Q, .bend = to_multicast, PASSES(other) },
	{ "an address that is no service passes", { "ads.example", .to = "192.0.2.54" }, PASSES(other) },
	{ "an IPv6 address that is no service passes", { "ads.example", .ipv6 = 1, .to = "2001:db8::54" }, PASSES(other) },
	{ "an IPv6 address that differs high up passes", { "ads.example", .ipv6 = 1, .to = "2002:db8::53" }, PASSES(other) },
	{ "no service at all: passes", Q, .world = no_service, PASSES(other) },
	{ "the last row of services counts", Q, .world = service_in_row_7, ANSWERED },
	{ "another port passes", { "ads.example", .dport = 54 }, PASSES(other) },
	{ "another port of ours is answered", { "ads.example", .dport = 5353 }, .world = port_5353, ANSWERED },
	{ "port 53 passes when ours is another", Q, .world = port_5353, PASSES(other) },
	/* sources */
	{ "source port 0 passes", { "ads.example", .sport = ZERO }, PASSES(source) },
	{ "source port 53 is answered", { "ads.example", .sport = 53 }, ANSWERED },
	{ "our own address as source passes", { "ads.example", .from = "192.0.2.53" }, PASSES(source) },
	{ "another service address of ours as source passes", Q, .world = client_is_a_service, PASSES(source) },
	{ "our own IPv6 address as source passes", Q6, .world = client_is_a_service6, PASSES(source) },
	{ "the broadcast address as source passes", { "ads.example", .from = "255.255.255.255" }, PASSES(source) },
	{ "an IPv4 multicast source passes", { "ads.example", .from = "224.0.0.251" }, PASSES(source) },
	{ "source 0.0.0.0 passes", { "ads.example", .from = "0.0.0.0" }, PASSES(source) },
	{ "source 223.255.255.254 is answered", { "ads.example", .from = "223.255.255.254" }, ANSWERED },
	{ "an IPv6 multicast source passes", { "ads.example", .ipv6 = 1, .from = "ff02::1" }, PASSES(source) },
	{ "source :: passes", { "ads.example", .ipv6 = 1, .from = "::" }, PASSES(source) },
	{ "an Ethernet group as source passes", Q, .bend = from_group, PASSES(source) },
	{ "our own MAC as source passes", Q, .bend = from_our_mac, PASSES(source) },
	/* Ethernet */
	{ "ARP passes", Q, .bend = arp, PASSES(other) },
	{ "an unknown EtherType passes", Q, .bend = jumbo_type, PASSES(other) },
	{ "nothing behind the Ethernet header passes", Q, .bend = only_ethernet, PASSES(truncated) },
	{ "one tag", { "ads.example", .vlans = 1 }, ANSWERED },
	{ "one 802.1ad tag", { "ads.example", .vlans = 1, .outer_ad = 1 }, ANSWERED },
	{ "two tags", { "ads.example", .vlans = 2, .outer_ad = 1 }, ANSWERED },
	{ "two 802.1Q tags", { "ads.example", .vlans = 2 }, ANSWERED },
	{ "three tags pass", { "ads.example", .vlans = 3 }, PASSES(other) },
	{ "cut in a tag: passes", { "ads.example", .vlans = 1 }, .bend = cut_in_tag, PASSES(truncated) },
	{ "a tagged query of another address passes", { "ads.example", .vlans = 1, .to = "192.0.2.54" }, PASSES(other) },
	/* IPv4 */
	{ "cut in the IPv4 header: passes", Q, .bend = cut_in_ip, PASSES(truncated) },
	{ "IP version 5 passes", Q, .bend = ip_version_5, PASSES(other) },
	{ "a header length of 16 passes", Q, .bend = ihl_4, PASSES(other) },
	{ "IPv4 options pass", Q, .bend = ip_options, PASSES(ip_options) },
	{ "a first fragment passes", Q, .bend = more_fragments, PASSES(fragment) },
	{ "a later fragment passes", Q, .bend = fragment_offset, PASSES(fragment) },
	{ "a late fragment passes", Q, .bend = fragment_offset_high, PASSES(fragment) },
	{ "DF is no fragment", Q, .bend = dont_fragment, ANSWERED },
	{ "TCP passes", Q, .bend = tcp, PASSES(other) },
	{ "ICMP passes", Q, .bend = icmp, PASSES(other) },
	{ "a frame one octet too short passes", Q, .bend = cut_one, PASSES(truncated) },
	{ "a frame without the datagram passes", Q, .bend = cut_to_udp, PASSES(truncated) },
	{ "an IP length over the frame passes", Q, .bend = total_one_more, PASSES(truncated) },
	{ "an IP length under the datagram passes", Q, .bend = total_one_less, PASSES(udp_length) },
	{ "an IP length without room for UDP passes", Q, .bend = total_27, PASSES(truncated) },
	{ "padding behind the datagram is no part of it", { "ads.example", .frame_len = 60 }, ANSWERED },
	{ "much padding is no part of it", { "ads.example", .frame_len = 1400 }, ANSWERED },
	{ "padding behind an OPT is no part of it", { "ads.example", .edns = 1, .frame_len = 90 }, WITH_OPT },
	/* IPv6 */
	{ "cut in the IPv6 header: passes", Q6, .bend = cut_in_ip6, PASSES(truncated) },
	{ "version 4 under the IPv6 EtherType passes", Q6, .bend = ip6_version_4, PASSES(other) },
	{ "TCP over IPv6 passes", Q6, .bend = tcp6, PASSES(other) },
	{ "ICMPv6 passes", Q6, .bend = icmp6, PASSES(other) },
	{ "no next header passes", Q6, .bend = no_next, PASSES(other) },
	{ "hop-by-hop options pass", Q6, .bend = hop_by_hop, PASSES(ext_header) },
	{ "a routing header passes", Q6, .bend = routing, PASSES(ext_header) },
	{ "an IPv6 fragment passes", Q6, .bend = fragment6, PASSES(ext_header) },
	{ "destination options pass", Q6, .bend = dest_options, PASSES(ext_header) },
	{ "an IPv6 length over the frame passes", Q6, .bend = payload_one_more, PASSES(truncated) },
	{ "an IPv6 length under the datagram passes", Q6, .bend = payload_one_less, PASSES(udp_length) },
	{ "an IPv6 length without room for UDP passes", Q6, .bend = payload_7, PASSES(truncated) },
	{ "padding over IPv6 is no part of it", { "ads.example", .ipv6 = 1, .frame_len = 200 }, ANSWERED },
	/* UDP */
	{ "a UDP length one over passes", Q, .bend = udp_one_more, PASSES(udp_length) },
	{ "a UDP length one under passes", Q, .bend = udp_one_less, PASSES(udp_length) },
	{ "an IPv4 query without a checksum is answered with one", Q, .bend = no_checksum, ANSWERED },
	{ "an IPv6 query without a checksum passes", Q6, .bend = no_checksum, PASSES(unfinished) },
	{ "a wrong checksum is not looked at", Q, .bend = wrong_checksum, ANSWERED },
	{ "native mode: an unfinished checksum is answered with a whole one", E, .bend = unfinished, WITH_OPT },
	{ "native mode: the same over IPv6", { "ads.example", .ipv6 = 1, .edns = 1 }, .bend = unfinished, WITH_OPT },
	{ "generic mode: an unfinished checksum passes", Q, .bend = unfinished, .world = generic, PASSES(unfinished) },
	{ "generic mode: the same over IPv6", Q6, .bend = unfinished, .world = generic, PASSES(unfinished) },
	{ "generic mode: a finished checksum is answered", Q, .world = generic, ANSWERED },
	{ "generic mode: no checksum over IPv4 is answered", Q, .bend = no_checksum, .world = generic, ANSWERED },
	/* the DNS header */
	{ "an empty datagram passes", Q, .bend = dns_0, PASSES(short) },
	{ "eleven octets pass", Q, .bend = dns_11, PASSES(short) },
	{ "a header alone passes", Q, .bend = dns_12, PASSES(short) },
	{ "sixteen octets pass", Q, .bend = dns_16, PASSES(short) },
	{ "QR passes", { "ads.example", .flags = 0x8100 }, PASSES(response) },
	{ "opcode STATUS passes", { "ads.example", .flags = 0x1100 }, PASSES(opcode) },
	{ "opcode NOTIFY passes", { "ads.example", .flags = 0x2100 }, PASSES(opcode) },
	{ "opcode UPDATE passes", { "ads.example", .flags = 0x2900 }, PASSES(opcode) },
	{ "AA in a query passes", { "ads.example", .flags = 0x0500 }, PASSES(flags) },
	{ "TC in a query passes", { "ads.example", .flags = 0x0300 }, PASSES(flags) },
	{ "RA in a query passes", { "ads.example", .flags = 0x0180 }, PASSES(flags) },
	{ "Z in a query passes", { "ads.example", .flags = 0x0140 }, PASSES(flags) },
	{ "an rcode in a query passes", { "ads.example", .flags = 0x0101 }, PASSES(flags) },
	{ "AD in a query is answered", { "ads.example", .flags = 0x0120 }, ANSWERED },
	{ "CD in a query is copied", { "ads.example", .flags = 0x0110 }, .stat = MR_STAT_blocked, .says = "NOERROR rd ra cd; an A 10 0.0.0.0" },
	{ "no question passes", Q, .bend = qd_0, PASSES(counts) },
	{ "two questions pass", Q, .bend = qd_2, PASSES(counts) },
	{ "256 questions pass", Q, .bend = qd_256, PASSES(counts) },
	{ "an answer in a query passes", Q, .bend = an_1, PASSES(counts) },
	{ "an authority in a query passes", Q, .bend = ns_1, PASSES(counts) },
	{ "two additionals pass", E, .bend = ar_2, PASSES(counts) },
	{ "257 additionals pass", E, .bend = ar_257, PASSES(counts) },
	/* the question */
	{ "a compression pointer as the name passes", Q, .bend = pointer, PASSES(name) },
	{ "a compression pointer in the name passes", Q, .bend = pointer_inside, PASSES(name) },
	{ "a label of 64 passes", Q, .bend = label_64, PASSES(name) },
	{ "a label of type 10 passes", Q, .bend = label_128, PASSES(name) },
	{ "a label that runs past the message passes", Q, .bend = label_too_long, PASSES(name) },
	{ "a message that ends in the name passes", Q, .bend = in_the_name, PASSES(name) },
	{ "a name of 256 octets passes", Q, .bend = name_256, PASSES(name) },
	{ "a name of 255 octets is answered", { "012345678901234567890123456789012345678901234567890123456789012.012345678901234567890123456789012345678901234567890123456789012.012345678901234567890123456789012345678901234567890123456789012.0123456789012345678901234567890123456789012345678.ads.example", 16, .edns = 1 }, .stat = MR_STAT_blocked, .says = AAAA_SOA "; opt 1232 ede 15" },
	{ "a name of 254 octets over IPv6 with two tags is answered", { "012345678901234567890123456789012345678901234567890123456789012.012345678901234567890123456789012345678901234567890123456789012.012345678901234567890123456789012345678901234567890123456789012.012345678901234567890123456789012345678901234567.ads.example", 16, .edns = 1, .ipv6 = 1, .vlans = 2 }, .stat = MR_STAT_blocked, .says = AAAA_SOA "; opt 1232 ede 15" },
	{ "sixteen labels are answered", { "a.b.c.d.e.f.g.h.i.j.k.l.m.n.ads.example" }, ANSWERED },
	{ "seventeen labels pass", { "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.ads.example" }, PASSES(labels) },
	{ "127 labels pass", { "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a" }, PASSES(labels) },
	{ "the root is answered", { "." }, ANSWERED },
	{ "the root with EDNS over IPv6 is answered", { ".", .edns = 1, .ipv6 = 1 }, WITH_OPT },
	{ "a message that ends behind the name passes", Q, .bend = without_tail, PASSES(short) },
	{ "a message that ends behind the type passes", Q, .bend = without_class, PASSES(short) },
	{ "class CH passes", { "ads.example", .qclass = 3 }, PASSES(class) },
	{ "class ANY passes", { "ads.example", .qclass = 255 }, PASSES(class) },
	{ "class 0 passes", { "ads.example", .qclass = ZERO }, PASSES(class) },
	{ "class 257 passes", { "ads.example", .qclass = 257 }, PASSES(class) },
	{ "type 0 passes", { "ads.example", ZERO }, PASSES(type) },
	{ "type OPT passes", { "ads.example", 41 }, PASSES(type) },
	{ "type TKEY passes", { "ads.example", 249 }, PASSES(type) },
	{ "type IXFR passes", { "ads.example", 251 }, PASSES(type) },
	{ "type AXFR passes", { "ads.example", 252 }, PASSES(type) },
	{ "type ANY passes", { "ads.example", 255 }, PASSES(type) },
	{ "octets behind the question pass", { "ads.example", .trail = "x", .trail_len = 1 }, PASSES(trailing) },
	{ "an OPT that is not counted is trailing", E, .bend = ar_0_with_opt, PASSES(trailing) },
	/* EDNS */
	{ "an OPT is answered by an OPT", E, WITH_OPT },
	{ "an OPT that is counted but absent passes", Q, .bend = ar_1_missing, PASSES(additional) },
	{ "an OPT that is cut passes", E, .bend = opt_cut, PASSES(additional) },
	{ "an OPT with an owner passes", E, .bend = opt_owner, PASSES(additional) },
	{ "a TSIG passes", E, .bend = opt_is_tsig, PASSES(additional) },
	{ "an additional A passes", E, .bend = opt_is_a, PASSES(additional) },
	{ "an additional of type 297 passes", E, .bend = opt_is_297, PASSES(additional) },
	{ "octets behind the OPT pass", { "ads.example", .edns = 1, .trail = "\0\0\x29", .trail_len = 3 }, PASSES(trailing) },
	{ "an OPT longer than the message passes", E, .bend = opt_rdlen_more, PASSES(edns_option) },
	{ "an OPT shorter than the message passes", OPTIONS("\0\x0a\0\x08" "12345678"), .bend = opt_rdlen_less, PASSES(trailing) },
	{ "EDNS version 1 passes", { "ads.example", .edns = 1, .version = 1 }, PASSES(edns_version) },
	{ "EDNS version 255 passes", { "ads.example", .edns = 1, .version = 255 }, PASSES(edns_version) },
	{ "EDNS size 0 is answered", { "ads.example", .edns = 1, .size = ZERO }, WITH_OPT },
	{ "EDNS size 65535 is answered", { "ads.example", .edns = 1, .size = 65535 }, WITH_OPT },
	{ "unknown EDNS flags are not copied, DO unset", E, .bend = opt_z_bits, WITH_OPT },
	{ "an extended rcode in a query is not looked at", E, .bend = opt_rcode, WITH_OPT },
	{ "a client's cookie", OPTIONS("\0\x0a\0\x08" "12345678"), WITH_OPT },
	{ "a client's and a server's cookie", OPTIONS("\0\x0a\0\x10" "1234567812345678"), WITH_OPT },
	{ "the longest cookie", OPTIONS("\0\x0a\0\x28" "1234567812345678123456781234567812345678"), WITH_OPT },
	{ "a cookie of 7 passes", OPTIONS("\0\x0a\0\x07" "1234567"), PASSES(edns_option) },
	{ "a cookie of 9 passes", OPTIONS("\0\x0a\0\x09" "123456789"), PASSES(edns_option) },
	{ "a cookie of 15 passes", OPTIONS("\0\x0a\0\x0f" "123456781234567"), PASSES(edns_option) },
	{ "a cookie of 41 passes", OPTIONS("\0\x0a\0\x29" "12345678123456781234567812345678123456781"), PASSES(edns_option) },
	{ "padding", OPTIONS("\0\x0c\0\x05" "\0\0\0\0\0"), WITH_OPT },
	{ "empty padding", OPTIONS("\0\x0c\0\0"), WITH_OPT },
	{ "cookie and padding", OPTIONS("\0\x0a\0\x08" "12345678" "\0\x0c\0\x03" "\0\0\0"), WITH_OPT },
	{ "eight options", OPTIONS("\0\x0c\0\0" "\0\x0c\0\0" "\0\x0c\0\0" "\0\x0c\0\0" "\0\x0c\0\0" "\0\x0c\0\0" "\0\x0c\0\0" "\0\x0c\0\0"), WITH_OPT },
	{ "nine options pass", OPTIONS("\0\x0c\0\0" "\0\x0c\0\0" "\0\x0c\0\0" "\0\x0c\0\0" "\0\x0c\0\0" "\0\x0c\0\0" "\0\x0c\0\0" "\0\x0c\0\0" "\0\x0c\0\0"), PASSES(edns_option) },
	{ "a client subnet passes", OPTIONS("\0\x08\0\x07" "\0\x01\x18\0\xc0\0\x02"), PASSES(edns_option) },
	{ "a client subnet behind a cookie passes", OPTIONS("\0\x0a\0\x08" "12345678" "\0\x08\0\x07" "\0\x01\x18\0\xc0\0\x02"), PASSES(edns_option) },
	{ "NSID passes", OPTIONS("\0\x03\0\0"), PASSES(edns_option) },
	{ "keepalive passes", OPTIONS("\0\x0b\0\0"), PASSES(edns_option) },
	{ "option 65001 passes", OPTIONS("\xfd\xe9\0\x01" "x"), PASSES(edns_option) },
	{ "option 256 + 10 passes", OPTIONS("\x01\x0a\0\x08" "12345678"), PASSES(edns_option) },
	{ "an option header of three octets passes", OPTIONS("\0\x0c\0"), PASSES(edns_option) },
	{ "an option that is longer than the OPT passes", OPTIONS("\0\x0c\0\x06" "\0\0\0\0\0"), PASSES(edns_option) },
};

int main(void)
{
	return run_rows(world, rows, sizeof(rows) / sizeof(*rows));
}
