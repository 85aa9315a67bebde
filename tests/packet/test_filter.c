/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_filter.c - names that the filter knows, and what a blocked answer is.
 */
#include <string.h>
#include "packet/run.h"

/* Sets of this world, and what they mean to group 0. */
enum { NOTHING, BLOCK, ALLOW, IMPORTANT_BLOCK, ASK, IMPORTANT_ALLOW, LOCAL, MEANINGLESS };

static const char v4[] = "\xc0\x00\x02\x50";

static void world(struct fill *f)
{
	static const struct fill_rr a[] = { { 1, 300, v4, 4, 0 }, { 0 } };

	fill_service(f, "192.0.2.53");
	fill_service(f, "2001:db8::53");
	fill_verdict(f, 0, BLOCK, MR_BLOCK, 7);
	fill_verdict(f, 0, ALLOW, MR_ALLOW, 8);
	fill_verdict(f, 0, IMPORTANT_BLOCK, MR_IMPORTANT_BLOCK, 9);
	fill_verdict(f, 0, ASK, MR_ASK, 10);
	fill_verdict(f, 0, IMPORTANT_ALLOW, MR_IMPORTANT_ALLOW, 11);
	fill_verdict(f, 0, LOCAL, MR_LOCAL_ZONE, 12);
	fill_rule(f, "ads.example", BLOCK, 1, FILL_FIRST);
	fill_rule(f, "exact.example", BLOCK, 0, FILL_FIRST);
	fill_rule(f, "good.ads.example", ALLOW, 1, FILL_FIRST);
	fill_rule(f, "worst.good.ads.example", IMPORTANT_BLOCK, 1, FILL_FIRST);
	fill_rule(f, "saved.worst.good.ads.example", IMPORTANT_ALLOW, 0, FILL_FIRST);
	fill_rule(f, "regex.ads.example", ASK, 1, FILL_FIRST);
	fill_rule(f, "home.example", LOCAL, 1, FILL_FIRST);
	fill_rule(f, "nothing.example", MEANINGLESS, 1, FILL_FIRST);
	fill_rule(f, "second.example", BLOCK, 1, FILL_SECOND);
	fill_rule(f, "stash.example", BLOCK, 1, FILL_STASH);
	fill_rule(f, "both.example", ALLOW, 0, FILL_FIRST);
	fill_rule(f, "both.example", BLOCK, 1, FILL_SECOND);
	fill_answer(f, &(struct fill_answer){ .name = "fine.good.ads.example", .qtype = 1, .dns_flags = 0x80, .rr = a });
	fill_answer(f, &(struct fill_answer){ .name = "saved.worst.good.ads.example", .qtype = 1, .dns_flags = 0x80, .rr = a });
	fill_answer(f, &(struct fill_answer){ .name = "nothing.example", .qtype = 1, .dns_flags = 0x80, .rr = a });
	fill_answer(f, &(struct fill_answer){ .name = "both.example", .qtype = 1, .dns_flags = 0x80, .rr = a });
	fill_answer(f, &(struct fill_answer){ .name = "below.exact.example", .qtype = 1, .dns_flags = 0x80, .rr = a });
	fill_answer(f, &(struct fill_answer){ .name = "a.home.example", .qtype = 1, .dns_flags = 0x80, .rr = a });
}

static void nxdomain(struct fill *f) { f->conf->group[0].block.mode = MR_BLOCK_NXDOMAIN; }
static void nodata(struct fill *f) { f->conf->group[0].block.mode = MR_BLOCK_NODATA; }
static void refused(struct fill *f) { f->conf->group[0].block.mode = MR_BLOCK_REFUSED; }
static void no_recursion(struct fill *f) { f->conf->recursion = 0; }
static void long_ttl(struct fill *f) { f->conf->group[0].block.ttl = 0x01020304; }
static void ttl_zero(struct fill *f) { f->conf->group[0].block.ttl = 0; }

static void custom(struct fill *f)
{
	static const __u8 six[16] = { 0x20, 1, 0x0d, 0xb8, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 0x66 };

	f->conf->group[0].block.mode = MR_BLOCK_CUSTOM;
	memcpy(&f->conf->group[0].block.ipv4, "\xc6\x33\x64\x07", 4);
	memcpy(f->conf->group[0].block.ipv6, six, 16);
}

static void block_root(struct fill *f) { fill_rule(f, ".", BLOCK, 1, FILL_FIRST); }
static void block_root_exactly(struct fill *f) { fill_rule(f, ".", BLOCK, 0, FILL_FIRST); }
static void block_com(struct fill *f) { fill_rule(f, "com", BLOCK, 1, FILL_FIRST); }

static void other_unit(struct fill *f)
{
	f->conf->active = 1;
	fill_verdict(f, 0, 3, MR_BLOCK, 21);
	fill_rule(f, "unit-one.example", 3, 1, FILL_FIRST);
}

static void kids(struct fill *f)
{
	fill_client(f, "192.0.2.0/24", 1, MR_ACCESS_ALLOW);
	fill_verdict(f, 1, MEANINGLESS, MR_BLOCK, 30);
}

static void kids_default(struct fill *f)
{
	f->conf->client_default.group = 1;
	fill_verdict(f, 1, MEANINGLESS, MR_BLOCK, 30);
}

static void nested_clients(struct fill *f)
{
	kids(f);
	fill_client(f, "192.0.0.0/16", 2, MR_ACCESS_REFUSE);
	fill_client(f, "192.0.2.1/32", 0, MR_ACCESS_ALLOW);
}

static void kids_six(struct fill *f)
{
	fill_client(f, "2001:db8::/32", 1, MR_ACCESS_ALLOW);
	fill_verdict(f, 1, MEANINGLESS, MR_BLOCK, 30);
}

static void no_access(struct fill *f) { fill_client(f, "192.0.2.0/30", 0, MR_ACCESS_REFUSE); }
static void access_denied(struct fill *f) { f->conf->client_default.access = MR_ACCESS_REFUSE; }
static void unknown_group(struct fill *f) { f->conf->client_default.group = 4; }
static void unknown_set(struct fill *f) { fill_rule(f, "far.example", 9000, 1, FILL_FIRST); }

/* A way 0 that is empty but for the overflow mark, in the first bucket of a name of set 0's tag. */
static void all_overflow(struct fill *f)
{
	for (__u32 i = 0; i < f->size.filter_buckets; i++)
		f->filter[i].way[0] |= MR_ENTRY_OVERFLOW;
}

static void no_depth(struct fill *f) { f->conf->unit[0].depths &= ~(1U << 2); }
static void no_bloom(struct fill *f) { memset(f->bloom, 0, f->size.bloom_words * 8); }

static const char *why_names_the_entry(struct fill *f, const struct outcome *o)
{
	if (o->why->verdict != MR_IMPORTANT_BLOCK || o->why->list != 9 || o->why->depth != 4)
		return "verdict, list or depth";
	if (mr_entry_set(o->why->entry) != IMPORTANT_BLOCK || !(o->why->entry & MR_ENTRY_SUBTREE))
		return "the entry";
	return o->why->unit == 0 && o->why->source == MR_SOURCE_BLOCKED && o->why->group == 0 ? NULL : "unit, source or group";
}

static const char *why_names_the_group(struct fill *f, const struct outcome *o)
{
	return o->why->group == 1 && o->why->list == 30 ? NULL : "group or list";
}

#define A_BLOCKED   "NOERROR rd ra; an A 10 0.0.0.0"
#define SOA_BLOCKED "; ns SOA 10 . . 1 3600 600 86400 10"
#define A_FINE      "NOERROR rd ra; an A 300 192.0.2.80"

static const struct row rows[] = {
	/* block modes */
	{ "a blocked A is 0.0.0.0", { "ads.example" }, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "a blocked AAAA is ::", { "ads.example", 28 }, .stat = MR_STAT_blocked, .says = "NOERROR rd ra; an AAAA 10 ::" },
	{ "a blocked MX is NODATA with a SOA", { "ads.example", 15 }, .stat = MR_STAT_blocked, .says = "NOERROR rd ra" SOA_BLOCKED },
	{ "a blocked HTTPS is NODATA with a SOA", { "ads.example", 65 }, .stat = MR_STAT_blocked, .says = "NOERROR rd ra" SOA_BLOCKED },
	{ "a blocked type 248 is still answered", { "ads.example", 248 }, .stat = MR_STAT_blocked, .says = "NOERROR rd ra" SOA_BLOCKED },
	{ "a blocked type 256 is answered", { "ads.example", 256 }, .stat = MR_STAT_blocked, .says = "NOERROR rd ra" SOA_BLOCKED },
	{ "nxdomain mode: A", { "ads.example" }, .world = nxdomain, .stat = MR_STAT_blocked, .says = "NXDOMAIN rd ra" SOA_BLOCKED },
	{ "nxdomain mode: TXT", { "ads.example", 16 }, .world = nxdomain, .stat = MR_STAT_blocked, .says = "NXDOMAIN rd ra" SOA_BLOCKED },
	{ "nodata mode: A", { "ads.example" }, .world = nodata, .stat = MR_STAT_blocked, .says = "NOERROR rd ra" SOA_BLOCKED },
	{ "nodata mode: AAAA", { "ads.example", 28 }, .world = nodata, .stat = MR_STAT_blocked, .says = "NOERROR rd ra" SOA_BLOCKED },
	{ "refused mode: A", { "ads.example" }, .world = refused, .stat = MR_STAT_blocked, .says = "REFUSED rd ra" },
	{ "refused mode with EDNS", { "ads.example", 28, .edns = 1 }, .world = refused, .stat = MR_STAT_blocked, .says = "REFUSED rd ra; opt 1232 ede 15" },
	{ "custom mode: A", { "ads.example" }, .world = custom, .stat = MR_STAT_blocked, .says = "NOERROR rd ra; an A 10 198.51.100.7" },
	{ "custom mode: AAAA", { "ads.example", 28 }, .world = custom, .stat = MR_STAT_blocked, .says = "NOERROR rd ra; an AAAA 10 2001:db8:1:2:3:4:5:66" },
	{ "custom mode: SRV is NODATA", { "ads.example", 33 }, .world = custom, .stat = MR_STAT_blocked, .says = "NOERROR rd ra" SOA_BLOCKED },
	{ "custom mode: AAAA, odd name, EDNS, IPv6", { "xads.ads.example", 28, .edns = 1, .ipv6 = 1 }, .world = custom, .stat = MR_STAT_blocked, .says = "NOERROR rd ra; an AAAA 10 2001:db8:1:2:3:4:5:66; opt 1232 ede 15" },
	{ "the block TTL stands in the record, all four octets", { "ads.example" }, .world = long_ttl, .stat = MR_STAT_blocked, .says = "NOERROR rd ra; an A 16909060 0.0.0.0" },
	{ "the block TTL stands in an AAAA", { "ads.example", 28 }, .world = long_ttl, .stat = MR_STAT_blocked, .says = "NOERROR rd ra; an AAAA 16909060 ::" },
	{ "the block TTL stands in the SOA twice", { "ads.example", 16 }, .world = long_ttl, .stat = MR_STAT_blocked, .says = "NOERROR rd ra; ns SOA 16909060 . . 1 3600 600 86400 16909060" },
	{ "a block TTL of 0 is sent as 0", { "ads.example" }, .world = ttl_zero, .stat = MR_STAT_blocked, .says = "NOERROR rd ra; an A 0 0.0.0.0" },
	{ "RA is clear where nothing is forwarded", { "ads.example" }, .world = no_recursion, .stat = MR_STAT_blocked, .says = "NOERROR rd; an A 10 0.0.0.0" },
	/* flags and EDNS of blocked answers */
	{ "a blocked answer has one OPT with EDE 15 when the query has EDNS", { "ads.example", .edns = 1 }, .stat = MR_STAT_blocked, .says = A_BLOCKED "; opt 1232 ede 15" },
	{ "DO is copied", { "ads.example", .edns = 1, .dnssec_ok = 1 }, .stat = MR_STAT_blocked, .says = A_BLOCKED "; opt 1232 do ede 15" },
	{ "a blocked SOA with EDNS at an odd offset", { "x.ads.example", 16, .edns = 1, .dnssec_ok = 1 }, .stat = MR_STAT_blocked, .says = "NOERROR rd ra" SOA_BLOCKED "; opt 1232 do ede 15" },
	{ "a blocked SOA with EDNS at an even offset", { "xy.ads.example", 16, .edns = 1 }, .stat = MR_STAT_blocked, .says = "NOERROR rd ra" SOA_BLOCKED "; opt 1232 ede 15" },
	{ "CD is copied, AD is not set", { "ads.example", .flags = 0x0130 }, .stat = MR_STAT_blocked, .says = "NOERROR rd ra cd; an A 10 0.0.0.0" },
	{ "RD clear and blocked: passes", { "ads.example", .flags = NO_FLAGS }, .stat = MR_STAT_pass_rd },
	{ "a cookie is ignored and not echoed", { "ads.example", .edns = 1, .options = "\0\x0a\0\x08" "12345678", .options_len = 12 }, .stat = MR_STAT_blocked, .says = A_BLOCKED "; opt 1232 ede 15" },
	{ "padding is ignored and not echoed; the frame shrinks", { "ads.example", .edns = 1, .options = "\0\x0c\0\x50" "0000000000000000000000000000000000000000" "0000000000000000000000000000000000000000", .options_len = 84 }, .stat = MR_STAT_blocked, .says = A_BLOCKED "; opt 1232 ede 15" },
	/* the wire */
	{ "letter case returns as it came", { "AdS.eXamPLE" }, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "IPv6", { "ads.example", .ipv6 = 1 }, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "IPv6, odd name, EDNS", { "z.ads.example", 28, .ipv6 = 1, .edns = 1 }, .stat = MR_STAT_blocked, .says = "NOERROR rd ra; an AAAA 10 ::; opt 1232 ede 15" },
	{ "one VLAN tag", { "ads.example", .vlans = 1 }, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "two VLAN tags, 802.1ad outside", { "ads.example", .vlans = 2, .outer_ad = 1, .edns = 1 }, .stat = MR_STAT_blocked, .says = A_BLOCKED "; opt 1232 ede 15" },
	{ "two VLAN tags, IPv6", { "ads.example", 16, .vlans = 2, .ipv6 = 1 }, .stat = MR_STAT_blocked, .says = "NOERROR rd ra" SOA_BLOCKED },
	{ "a frame padded to 60 octets is cut to the answer", { "ads.example", .frame_len = 120 }, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "a refused root is shorter than 60 octets", { ".", 1, .frame_len = 60 }, .world = refused, .stat = MR_STAT_pass_miss },
	{ "the tail grows for a SOA", { "ads.example", 16 }, .stat = MR_STAT_blocked, .mark = MR_STAT_grown_tail, .says = "NOERROR rd ra" SOA_BLOCKED },
	/* where entries stand */
	{ "a subtree entry covers what is below", { "a.b.c.ads.example" }, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "a name that only ends alike is not below", { "xads.example" }, .stat = MR_STAT_pass_miss },
	{ "an exact entry covers the name", { "exact.example" }, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "an exact entry covers nothing below", { "below.exact.example" }, .stat = MR_STAT_cached, .says = A_FINE },
	{ "an entry in its second choice is found", { "x.second.example" }, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "an entry in the stash is found", { "x.stash.example" }, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "the overflow mark of an empty way 0 is no entry", { "nothing.example" }, .world = all_overflow, .stat = MR_STAT_cached, .says = A_FINE },
	{ "an entry is found though its bucket's way 0 is marked", { "ads.example" }, .world = all_overflow, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "both kinds count: exact allow frees the name", { "both.example" }, .stat = MR_STAT_cached, .says = A_FINE },
	{ "both kinds count: subtree block holds below", { "x.both.example" }, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "an entry for the root blocks all", { "any.thing.at.all" }, .world = block_root, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "the root itself can be blocked", { "." }, .world = block_root, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "an exact entry for the root blocks nothing else", { "any.thing" }, .world = block_root_exactly, .stat = MR_STAT_pass_miss },
	{ "an exact entry for the root blocks the root", { "." }, .world = block_root_exactly, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "a whole top-level domain", { "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.com" }, .world = block_com, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "a depth that has no entry is not looked at", { "ads.example" }, .world = no_depth, .stat = MR_STAT_pass_miss },
	{ "a name that is not in the Bloom filter is not looked for", { "ads.example" }, .world = no_bloom, .stat = MR_STAT_pass_miss },
	{ "the other unit is in force when it is active", { "x.unit-one.example" }, .world = other_unit, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "the first unit is not asked while the other is active", { "ads.example" }, .world = other_unit, .stat = MR_STAT_pass_miss },
	{ "octets above 127, NUL and dots in labels are just octets", { "\\000\\255a\\046.ads.example" }, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "a label of 63 octets", { "012345678901234567890123456789012345678901234567890123456789012.ads.example" }, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "labels of 7, 8, 15, 16 and 17 octets", { "1234567.12345678.123456789012345.1234567890123456.12345678901234567.ads.example", 16, .edns = 1 }, .stat = MR_STAT_blocked, .says = "NOERROR rd ra" SOA_BLOCKED "; opt 1232 ede 15" },
	/* strength */
	{ "allow beats block", { "fine.good.ads.example" }, .stat = MR_STAT_cached, .says = A_FINE },
	{ "important block beats allow", { "x.worst.good.ads.example" }, .stat = MR_STAT_blocked, .says = A_BLOCKED, .also = why_names_the_entry },
	{ "important allow beats important block", { "saved.worst.good.ads.example" }, .stat = MR_STAT_cached, .says = A_FINE },
	{ "ask beats block and passes", { "regex.ads.example" }, .stat = MR_STAT_pass_ask },
	{ "a set without a meaning is none", { "nothing.example" }, .stat = MR_STAT_cached, .says = A_FINE },
	{ "a name of a local zone gets no forwarded answer", { "a.home.example" }, .stat = MR_STAT_pass_miss },
	{ "a set that the unit does not know asks", { "far.example" }, .world = unknown_set, .stat = MR_STAT_pass_ask },
	{ "a group that the unit does not know asks", { "ads.example" }, .world = unknown_group, .stat = MR_STAT_pass_ask },
	/* clients */
	{ "a prefix puts a client into its group", { "nothing.example" }, .world = kids, .stat = MR_STAT_blocked, .says = A_BLOCKED, .also = why_names_the_group },
	{ "another client stays in the default group", { "nothing.example", .from = "198.51.100.9" }, .world = kids, .stat = MR_STAT_cached, .says = A_FINE },
	{ "the longest prefix decides: address", { "nothing.example" }, .world = nested_clients, .stat = MR_STAT_cached, .says = A_FINE },
	{ "the longest prefix decides: network", { "nothing.example", .from = "192.0.2.2" }, .world = nested_clients, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "the longest prefix decides: wider network", { "nothing.example", .from = "192.0.3.2" }, .world = nested_clients, .stat = MR_STAT_pass_access },
	{ "the default group may be any", { "nothing.example" }, .world = kids_default, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "an IPv6 prefix puts a client into its group", { "nothing.example", .ipv6 = 1 }, .world = kids_six, .stat = MR_STAT_blocked, .says = A_BLOCKED },
	{ "an IPv6 client outside stays", { "nothing.example", .ipv6 = 1, .from = "2001:db9::1" }, .world = kids_six, .stat = MR_STAT_cached, .says = A_FINE },
	{ "an IPv4 prefix holds no IPv6 client", { "nothing.example", .ipv6 = 1 }, .world = kids, .stat = MR_STAT_cached, .says = A_FINE },
	{ "a client without access passes, blocked name or not", { "ads.example" }, .world = no_access, .stat = MR_STAT_pass_access },
	{ "access can be denied by default", { "nothing.example" }, .world = access_denied, .stat = MR_STAT_pass_access },
};

int main(void)
{
	return run_rows(world, rows, sizeof(rows) / sizeof(*rows));
}
