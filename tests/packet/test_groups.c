/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_groups.c - what is a group's own: how it blocks, its pause, the types it
 * does not get, what it says of the names an answer leads to, the texts of its lists.
 */
#include <string.h>
#include <bpf/libbpf.h>
#include "maps/event.h"
#include "packet/run.h"

/* Sets of this world, and what they mean to the groups 0 and 1. */
enum { NOTHING, BLOCK, ALLOW, IMPORTANT_BLOCK, ASK, IMPORTANT_ALLOW, LOCAL, KIDS_BLOCK, MEANINGLESS };
enum { ADULTS, KIDS };
#define KID   "192.0.2.77"
#define KID_6 "2001:db8::77"

static const char v4[] = "\xc0\x00\x02\x50";
static const struct fill_rr a_rr[] = { { 1, 300, v4, 4, 0 }, { 0 } };

static void answer(struct fill *f, const char *name, __u16 qtype)
{
	fill_answer(f, &(struct fill_answer){ .name = name, .qtype = qtype, .dns_flags = 0x80, .rr = a_rr });
}

static void world(struct fill *f)
{
	unsigned int g;

	fill_service(f, "192.0.2.53");
	fill_service(f, "2001:db8::53");
	fill_client(f, KID "/32", KIDS, MR_ACCESS_ALLOW);
	fill_client(f, KID_6 "/128", KIDS, MR_ACCESS_ALLOW);
	for (g = ADULTS; g <= KIDS; g++) {
		fill_verdict(f, g, BLOCK, MR_BLOCK, 7);
		fill_verdict(f, g, ALLOW, MR_ALLOW, 8);
		fill_verdict(f, g, IMPORTANT_BLOCK, MR_IMPORTANT_BLOCK, 9);
		fill_verdict(f, g, ASK, MR_ASK, 10);
		fill_verdict(f, g, IMPORTANT_ALLOW, MR_IMPORTANT_ALLOW, 11);
		fill_verdict(f, g, LOCAL, MR_LOCAL_ZONE, 12);
	}
	fill_verdict(f, KIDS, KIDS_BLOCK, MR_BLOCK, 13);
	fill_rule(f, "ads.example", BLOCK, 1, FILL_FIRST);
	fill_rule(f, "good.ads.example", ALLOW, 1, FILL_FIRST);
	fill_rule(f, "worst.good.ads.example", IMPORTANT_BLOCK, 1, FILL_FIRST);
	fill_rule(f, "regex.ads.example", ASK, 1, FILL_FIRST);
	fill_rule(f, "games.example", KIDS_BLOCK, 1, FILL_FIRST);
	fill_rule(f, "home.example", LOCAL, 1, FILL_FIRST);
	answer(f, "ads.example", 1);
	answer(f, "www.example", 1);
	answer(f, "www.example", 28);
	answer(f, "fine.good.ads.example", 28);
	answer(f, "x.worst.good.ads.example", 1);
	answer(f, "games.example", 1);
	f->conf->group[KIDS].block = (struct mr_block){ .mode = MR_BLOCK_NXDOMAIN, .ttl = 77 };
}

/* ---- pause, types ---- */

static void adults_paused(struct fill *f) { f->conf->group[ADULTS].paused = 1; }
static void kids_paused(struct fill *f) { f->conf->group[KIDS].paused = 1; }

/* The client 192.0.2.1 alone, who is in no group of his own. */
static void client_paused(struct fill *f)
{
	for (__u32 i = 0; i < MR_CLIENT_BUCKETS; i++)
		memset(&f->clients[i], 0, sizeof(f->clients[i]));
	fill_client(f, "192.0.2.1/32", ADULTS, MR_ACCESS_ALLOW);
	for (__u32 i = 0; i < MR_CLIENT_BUCKETS; i++)
		f->clients[i].way[0].outcome.flags = MR_CLIENT_PAUSED;
}

static void no_aaaa(struct fill *f) { f->conf->group[ADULTS].nodata[0] = 28; }
static void no_aaaa_paused(struct fill *f) { no_aaaa(f); adults_paused(f); }
static void no_aaaa_refused(struct fill *f) { no_aaaa(f); f->conf->group[ADULTS].block = (struct mr_block){ .mode = MR_BLOCK_REFUSED, .ttl = 5 }; }

static void four_types(struct fill *f)
{
	static const __u16 types[MR_GROUP_TYPES] = { 65, 64, 65280, 28 };

	memcpy(f->conf->group[ADULTS].nodata, types, sizeof(types));
}

static const char *why_says_paused(struct fill *f, const struct outcome *o)
{
	return o->why->paused && o->why->verdict == MR_NONE && o->why->group == ADULTS ? NULL : "paused, verdict or group";
}

/* ---- MACs ---- */

#define TABLET "02:00:00:00:01:07"
#define PHONE  "02:00:00:00:01:08"

static void tablet(struct fill *f) { fill_mac(f, TABLET, (struct mr_outcome){ .group = KIDS }); }

static void tablet_alone(struct fill *f)
{
	f->conf->client_lens = 0;
	tablet(f);
}

static void tablet_paused(struct fill *f)
{
	fill_mac(f, TABLET, (struct mr_outcome){ .group = KIDS, .flags = MR_CLIENT_PAUSED });
}

static void tablet_refused(struct fill *f)
{
	fill_mac(f, TABLET, (struct mr_outcome){ .group = KIDS, .access = MR_ACCESS_REFUSE });
}

/* A MAC of the adults at an address of the kids. */
static void phone_of_an_adult(struct fill *f) { fill_mac(f, PHONE, (struct mr_outcome){ .group = ADULTS }); }

static void macs_off(struct fill *f)
{
	tablet(f);
	f->conf->client_macs = 0;
}

/* A prefix row whose words are those of the MAC is not the MAC's row. */
static void mac_as_prefix(struct fill *f)
{
	fill_client(f, "::/0", KIDS, MR_ACCESS_ALLOW);
	f->conf->client_macs = 1;
}

/* Let the program remember the address with that MAC, in a generation that no other row has. */
static void remember(struct fill *f, const char *mac)
{
	static __u32 generation;
	static struct frame q;
	static __u8 out[FRAME_MAX];
	size_t len;

	f->conf->client_generation = ++generation;
	frame_ask(&q, &(struct ask){ "games.example", .mac = mac });
	for (int i = 0; i < 2; i++) {
		run_frame(f->fd, q.b, q.len, out, &len);
		run_frame(f->why_fd, q.b, q.len, out, &len);
	}
}

static void tablet_remembered(struct fill *f) { tablet(f); remember(f, TABLET); }
static void phone_remembered(struct fill *f) { tablet(f); remember(f, PHONE); }

/* Remembered while MACs were not looked at; then there is one. */
static void no_mac_remembered(struct fill *f)
{
	remember(f, TABLET);
	tablet(f);
}

/* ---- chains ---- */

/* Answers whose names are not in the filter, but links of their chains are. */
static void chain(struct fill *f, const __u16 *sets, unsigned int count)
{
	struct fill_answer a = { .name = "alias.example", .qtype = 1, .dns_flags = 0x80, .rr = a_rr, .flags = MR_ANSWER_CHAIN };

	memcpy(a.chain, sets, count * sizeof(*sets));
	fill_answer(f, &a);
	a.name = "free.good.ads.example";
	fill_answer(f, &a);
}

#define CHAIN(name, ...)                                                        \
	static void name(struct fill *f)                                        \
	{                                                                       \
		static const __u16 sets[] = { __VA_ARGS__ };                    \
		chain(f, sets, sizeof(sets) / sizeof(*sets));                   \
	}

CHAIN(link_blocked, BLOCK)
CHAIN(link_blocked_last, MEANINGLESS, MEANINGLESS, MEANINGLESS, MEANINGLESS, MEANINGLESS, MEANINGLESS, MEANINGLESS, BLOCK)
CHAIN(link_allowed, ALLOW)
CHAIN(links_block_allow, BLOCK, ALLOW)
CHAIN(links_allow_block, ALLOW, BLOCK)
CHAIN(links_important, ALLOW, IMPORTANT_BLOCK, BLOCK)
CHAIN(links_saved, IMPORTANT_BLOCK, IMPORTANT_ALLOW)
CHAIN(links_ask, BLOCK, ASK, IMPORTANT_BLOCK)
CHAIN(links_ask_saved, ASK, IMPORTANT_ALLOW)
CHAIN(link_local, LOCAL)
CHAIN(link_meaningless, MEANINGLESS)
CHAIN(link_unknown, MR_SET_ASK)
CHAIN(link_kids, KIDS_BLOCK)

static void link_blocked_paused(struct fill *f) { link_blocked(f); adults_paused(f); }
static void links_ask_paused(struct fill *f) { links_ask(f); adults_paused(f); }
static void link_old_filter(struct fill *f) { link_blocked(f); f->conf->filter_generation++; }

static void link_blocked_client_paused(struct fill *f) { link_blocked(f); client_paused(f); }
static void links_withheld(struct fill *f) { link_blocked(f); f->conf->group[ADULTS].nodata[0] = 1; }

static const char *why_names_the_link(struct fill *f, const struct outcome *o)
{
	if (o->why->verdict != MR_BLOCK || o->why->list != 7 || o->why->chain_set != BLOCK)
		return "verdict, list or set";
	return o->why->answer_unit && o->why->source == MR_SOURCE_BLOCKED ? NULL : "unit or source";
}

static const char *why_names_the_asking_link(struct fill *f, const struct outcome *o)
{
	return o->why->verdict == MR_ASK && o->why->chain_set == ASK ? NULL : "verdict or set";
}

static struct mr_event last_event;

static int on_event(void *ctx, void *data, size_t len)
{
	if (len == sizeof(last_event))
		memcpy(&last_event, data, len);
	return 0;
}

static int events(struct fill *f)
{
	struct ring_buffer *rb = ring_buffer__new(f->ring_fd, on_event, NULL, NULL);
	int n = rb ? ring_buffer__consume(rb) : -1;

	ring_buffer__free(rb);
	return n;
}

static void link_blocked_logged(struct fill *f)
{
	link_blocked(f);
	events(f);
	f->conf->events = 1;
}

static const char *event_names_the_link(struct fill *f, const struct outcome *o)
{
	if (events(f) != 1 || last_event.source != MR_SOURCE_BLOCKED || last_event.verdict != MR_BLOCK)
		return "event, source or verdict";
	return last_event.list == 7 && last_event.size == o->len - o->query->dns ? NULL : "list or size";
}

/* ---- texts ---- */

#define FORTY "0123456789012345678901234567890123456789"

static void name_lists(struct fill *f)
{
	fill_source(f, 7, "starter");
	fill_source(f, 9, "worst");
	fill_source(f, 13, "games for the kids");
}

static void texts(struct fill *f) { name_lists(f); }
static void text_one(struct fill *f) { fill_source(f, 7, "x"); }
static void text_forty(struct fill *f) { fill_source(f, 7, FORTY); }
static void text_longer(struct fill *f) { fill_source(f, 7, FORTY "0"); }
static void text_utf8(struct fill *f) { fill_source(f, 7, "012345678901234567890123456789012345678\xc3\xa4"); }
static void code_only(struct fill *f) { name_lists(f); f->conf->group[ADULTS].block.ede = MR_BLOCK_EDE_CODE; }
static void no_ede(struct fill *f) { name_lists(f); f->conf->group[ADULTS].block.ede = MR_BLOCK_EDE_NONE; }
static void text_of_link(struct fill *f) { name_lists(f); link_blocked(f); }
static void text_custom(struct fill *f) { name_lists(f); f->conf->group[ADULTS].block.mode = MR_BLOCK_CUSTOM; }
static void text_refused(struct fill *f) { name_lists(f); f->conf->group[ADULTS].block.mode = MR_BLOCK_REFUSED; }
static void text_unnamed(struct fill *f) { fill_source(f, 8, "another"); }
static void text_withheld(struct fill *f) { name_lists(f); f->conf->group[ADULTS].nodata[0] = 1; }

static void text_other_unit(struct fill *f)
{
	name_lists(f);
	f->conf->active = 1;
	fill_source(f, 7, "newer");
	fill_verdict(f, ADULTS, BLOCK, MR_BLOCK, 7);
	fill_rule(f, "ads.example", BLOCK, 1, FILL_FIRST);
}

static void list_beyond(struct fill *f)
{
	f->conf->unit[0].ede_base = MR_LISTS_MAX;
	fill_verdict(f, ADULTS, BLOCK, MR_BLOCK, MR_LISTS_MAX);
}

#define BLOCKED(s)   .stat = MR_STAT_blocked, .says = s
#define WITHHELD(s)  .stat = MR_STAT_withheld, .says = s
#define CACHED(s)    .stat = MR_STAT_cached, .says = s
#define PASSES(s)    .stat = MR_STAT_pass_##s
#define A_BLOCKED    "NOERROR rd ra; an A 10 0.0.0.0"
#define SOA(ttl)     "; ns SOA " #ttl " . . 1 3600 600 86400 " #ttl
#define A_FINE       "NOERROR rd ra; an A 300 192.0.2.80"
#define EDE          "; opt 1232 ede 15"
#define ALIAS        { "alias.example" }
#define ALIAS_E      { "alias.example", .edns = 1 }
#define ADS_E        { "ads.example", .edns = 1 }

static const struct row rows[] = {
	/* how a group blocks */
	{ "a group blocks in its own mode and with its own TTL", { "ads.example", .from = KID }, BLOCKED("NXDOMAIN rd ra" SOA(77)) },
	{ "the other group blocks in its own", { "ads.example" }, BLOCKED(A_BLOCKED) },
	{ "the same over IPv6", { "ads.example", .from = KID_6, .ipv6 = 1, .edns = 1 }, BLOCKED("NXDOMAIN rd ra" SOA(77) EDE) },
	{ "a name that only one group blocks", { "games.example", .from = KID }, BLOCKED("NXDOMAIN rd ra" SOA(77)) },
	{ "the other group gets it", { "games.example" }, CACHED(A_FINE) },
	/* pauses */
	{ "a paused group gets what is blocked", { "ads.example" }, .world = adults_paused, CACHED(A_FINE), .also = why_says_paused },
	{ "a paused group gets what is blocked with importance", { "x.worst.good.ads.example" }, .world = adults_paused, CACHED(A_FINE) },
	{ "the pause of a group is not the other's", { "ads.example" }, .world = kids_paused, BLOCKED(A_BLOCKED) },
	{ "a paused group misses what is not in the table", { "y.ads.example" }, .world = adults_paused, PASSES(miss) },
	{ "a pause does not lift what is asked", { "regex.ads.example" }, .world = adults_paused, PASSES(ask) },
	{ "a paused client gets what is blocked", { "ads.example" }, .world = client_paused, CACHED(A_FINE), .also = why_says_paused },
	{ "the pause of a client is not another's", { "ads.example", .from = "192.0.2.2" }, .world = client_paused, BLOCKED(A_BLOCKED) },
	/* types */
	{ "a type that a group does not get has no data", { "www.example", 28 }, .world = no_aaaa, WITHHELD("NOERROR rd ra" SOA(10)) },
	{ "that is no blocking, so no EDE says so", { "www.example", 28, .edns = 1, .dnssec_ok = 1 }, .world = no_aaaa, WITHHELD("NOERROR rd ra" SOA(10) "; opt 1232 do") },
	{ "another type of the name is given", { "www.example" }, .world = no_aaaa, CACHED(A_FINE) },
	{ "another group gets the type", { "www.example", 28, .from = KID }, .world = no_aaaa, CACHED("NOERROR rd ra; an A 300 192.0.2.80") },
	{ "a type is withheld whether or not there is an answer", { "no.example", 28 }, .world = no_aaaa, WITHHELD("NOERROR rd ra" SOA(10)) },
	{ "a blocked name is blocked for that type too", { "ads.example", 28 }, .world = no_aaaa, BLOCKED("NOERROR rd ra; an AAAA 10 ::") },
	{ "what is allowed is not withheld", { "fine.good.ads.example", 28 }, .world = no_aaaa, CACHED("NOERROR rd ra; an A 300 192.0.2.80") },
	{ "what is asked is asked", { "regex.ads.example", 28 }, .world = no_aaaa, PASSES(ask) },
	{ "what is in a local zone is not withheld", { "home.example", 28 }, .world = no_aaaa, PASSES(miss) },
	{ "a pause gives no type back", { "www.example", 28 }, .world = no_aaaa_paused, WITHHELD("NOERROR rd ra" SOA(10)) },
	{ "a pause makes a blocked name one whose type is withheld", { "ads.example", 28 }, .world = no_aaaa_paused, WITHHELD("NOERROR rd ra" SOA(10)) },
	{ "a pause brings no allowing rule forth that the lifted block was stronger than", { "x.worst.good.ads.example", 28 }, .world = no_aaaa_paused, WITHHELD("NOERROR rd ra" SOA(10)) },
	{ "a type is withheld as no data in any mode", { "www.example", 28 }, .world = no_aaaa_refused, WITHHELD("NOERROR rd ra" SOA(5)) },
	{ "four types: the first", { "www.example", 65 }, .world = four_types, WITHHELD("NOERROR rd ra" SOA(10)) },
	{ "four types: the second", { "www.example", 64 }, .world = four_types, WITHHELD("NOERROR rd ra" SOA(10)) },
	{ "four types: the third, a high number", { "www.example", 65280 }, .world = four_types, WITHHELD("NOERROR rd ra" SOA(10)) },
	{ "four types: the fourth", { "www.example", 28 }, .world = four_types, WITHHELD("NOERROR rd ra" SOA(10)) },
	{ "four types: no other", { "www.example" }, .world = four_types, CACHED(A_FINE) },
	{ "RD clear and withheld: passes", { "www.example", 28, .flags = NO_FLAGS }, .world = no_aaaa, PASSES(rd) },
	/* MACs */
	{ "a MAC puts a client into its group", { "games.example", .mac = TABLET }, .world = tablet, BLOCKED("NXDOMAIN rd ra" SOA(77)) },
	{ "a MAC does so over IPv6", { "games.example", .mac = TABLET, .ipv6 = 1 }, .world = tablet, BLOCKED("NXDOMAIN rd ra" SOA(77)) },
	{ "a MAC does so in a tagged frame", { "games.example", .mac = TABLET, .vlans = 2 }, .world = tablet, BLOCKED("NXDOMAIN rd ra" SOA(77)) },
	{ "a MAC does so where no prefix is configured", { "games.example", .mac = TABLET }, .world = tablet_alone, BLOCKED("NXDOMAIN rd ra" SOA(77)) },
	{ "another MAC stays in the default group", { "games.example", .mac = PHONE }, .world = tablet_alone, CACHED(A_FINE) },
	{ "a MAC decides before the address", { "games.example", .mac = PHONE, .from = KID }, .world = phone_of_an_adult, CACHED(A_FINE) },
	{ "a MAC decides before the address over IPv6", { "games.example", .mac = PHONE, .from = KID_6, .ipv6 = 1 }, .world = phone_of_an_adult, CACHED(A_FINE) },
	{ "a MAC without a row leaves it to the address", { "games.example", .mac = TABLET, .from = KID }, .world = phone_of_an_adult, BLOCKED("NXDOMAIN rd ra" SOA(77)) },
	{ "a paused MAC gets what is blocked", { "games.example", .mac = TABLET }, .world = tablet_paused, CACHED(A_FINE) },
	{ "a MAC without access passes", { "games.example", .mac = TABLET }, .world = tablet_refused, PASSES(access) },
	{ "no row of a MAC is looked for where there are none", { "games.example", .mac = TABLET }, .world = macs_off, CACHED(A_FINE) },
	{ "a prefix of no bits is no MAC", { "games.example", .mac = "00:00:00:00:00:00" }, .world = mac_as_prefix, BLOCKED("NXDOMAIN rd ra" SOA(77)) },
	{ "what is remembered of a MAC is its own", { "games.example", .mac = TABLET }, .world = tablet_remembered, BLOCKED("NXDOMAIN rd ra" SOA(77)) },
	{ "what is remembered of a MAC is not another's at that address", { "games.example", .mac = PHONE }, .world = tablet_remembered, CACHED(A_FINE) },
	{ "what is remembered of an address is not that of a MAC there", { "games.example", .mac = TABLET }, .world = phone_remembered, BLOCKED("NXDOMAIN rd ra" SOA(77)) },
	{ "what was remembered without MACs does not hold with them", { "games.example", .mac = TABLET }, .world = no_mac_remembered, BLOCKED("NXDOMAIN rd ra" SOA(77)) },
	/* chains */
	{ "a link that is blocked blocks the answer", ALIAS, .world = link_blocked, BLOCKED(A_BLOCKED), .also = why_names_the_link },
	{ "the same with EDNS", ALIAS_E, .world = link_blocked, BLOCKED(A_BLOCKED EDE) },
	{ "the last of eight links counts", ALIAS, .world = link_blocked_last, BLOCKED(A_BLOCKED) },
	{ "a link is blocked as the client's group blocks", { "alias.example", .from = KID }, .world = link_blocked, BLOCKED("NXDOMAIN rd ra" SOA(77)) },
	{ "a link that another group blocks is given", ALIAS, .world = link_kids, CACHED(A_FINE) },
	{ "a link that the client's group blocks is not", { "alias.example", .from = KID }, .world = link_kids, BLOCKED("NXDOMAIN rd ra" SOA(77)) },
	{ "an allowed link is given", ALIAS, .world = link_allowed, CACHED(A_FINE) },
	{ "a link without a meaning is given", ALIAS, .world = link_meaningless, CACHED(A_FINE) },
	{ "the strongest link wins: allow over block", ALIAS, .world = links_block_allow, CACHED(A_FINE) },
	{ "the strongest link wins, in any order", ALIAS, .world = links_allow_block, CACHED(A_FINE) },
	{ "the strongest link wins: important block over allow", ALIAS, .world = links_important, BLOCKED(A_BLOCKED) },
	{ "the strongest link wins: important allow over important block", ALIAS, .world = links_saved, CACHED(A_FINE) },
	{ "a link that only user space can judge passes", ALIAS, .world = links_ask, PASSES(ask), .also = why_names_the_asking_link },
	{ "important allow is stronger than that", ALIAS, .world = links_ask_saved, CACHED(A_FINE) },
	{ "a set that the unit does not know asks", ALIAS, .world = link_unknown, PASSES(ask) },
	{ "a link in a local zone passes", ALIAS, .world = link_local, PASSES(ask) },
	{ "a question that is allowed frees its chain", { "free.good.ads.example" }, .world = link_blocked, CACHED(A_FINE) },
	{ "a question that is allowed frees what is asked", { "free.good.ads.example" }, .world = link_unknown, CACHED(A_FINE) },
	{ "a paused group gets a chain with a blocked link", ALIAS, .world = link_blocked_paused, CACHED(A_FINE) },
	{ "a paused client gets a chain with a blocked link", ALIAS, .world = link_blocked_client_paused, CACHED(A_FINE) },
	{ "a pause does not lift what a link asks", ALIAS, .world = links_ask_paused, PASSES(ask) },
	{ "a chain that was judged under another filter passes", ALIAS, .world = link_old_filter, PASSES(generation) },
	{ "a withheld type does not look at the chain", ALIAS, .world = links_withheld, WITHHELD("NOERROR rd ra" SOA(10)) },
	{ "RD clear and a blocked link: passes", { "alias.example", .flags = NO_FLAGS }, .world = link_blocked, PASSES(rd) },
	{ "the event of a blocked link names its list", ALIAS, .world = link_blocked_logged, BLOCKED(A_BLOCKED), .also = event_names_the_link },
	/* texts */
	{ "the EDE says which list it was", ADS_E, .world = texts, BLOCKED(A_BLOCKED EDE " \"starter\""), .mark = 0 },
	{ "the EDE of the strongest entry", { "x.worst.good.ads.example", .edns = 1 }, .world = texts, BLOCKED(A_BLOCKED EDE " \"worst\"") },
	{ "the EDE of another group's list", { "games.example", .from = KID, .edns = 1, .dnssec_ok = 1 }, .world = texts, BLOCKED("NXDOMAIN rd ra" SOA(77) "; opt 1232 do ede 15 \"games for the kids\"") },
	{ "without EDNS there is no text", { "ads.example" }, .world = texts, BLOCKED(A_BLOCKED) },
	{ "the EDE of a link's list", ALIAS_E, .world = text_of_link, BLOCKED(A_BLOCKED EDE " \"starter\"") },
	{ "a text of one octet", ADS_E, .world = text_one, BLOCKED(A_BLOCKED EDE " \"x\"") },
	{ "a text of forty octets", ADS_E, .world = text_forty, BLOCKED(A_BLOCKED EDE " \"" FORTY "\"") },
	{ "a longer name is cut", ADS_E, .world = text_longer, BLOCKED(A_BLOCKED EDE " \"" FORTY "\"") },
	{ "a name is cut between characters", ADS_E, .world = text_utf8, BLOCKED(A_BLOCKED EDE " \"012345678901234567890123456789012345678\"") },
	{ "a text behind an AAAA, over IPv6, at an odd offset", { "x.ads.example", 28, .edns = 1, .ipv6 = 1 }, .world = texts, BLOCKED("NOERROR rd ra; an AAAA 10 ::" EDE " \"starter\"") },
	{ "a text behind a SOA at an odd offset", { "x.ads.example", 16, .edns = 1 }, .world = text_forty, BLOCKED("NOERROR rd ra" SOA(10) EDE " \"" FORTY "\"") },
	{ "a text behind a SOA at an even offset", { "xy.ads.example", 16, .edns = 1 }, .world = text_forty, BLOCKED("NOERROR rd ra" SOA(10) EDE " \"" FORTY "\"") },
	{ "a text without records", ADS_E, .world = text_refused, BLOCKED("REFUSED rd ra" EDE " \"starter\"") },
	{ "a text in custom mode", { "ads.example", 28, .edns = 1 }, .world = text_custom, BLOCKED("NOERROR rd ra; an AAAA 10 ::" EDE " \"starter\"") },
	{ "a text with two tags", { "ads.example", .edns = 1, .vlans = 2 }, .world = texts, BLOCKED(A_BLOCKED EDE " \"starter\"") },
	{ "a text in a frame that was longer than the answer", { "ads.example", .edns = 1, .frame_len = 300 }, .world = texts, BLOCKED(A_BLOCKED EDE " \"starter\"") },
	{ "a list without a name: the code alone", ADS_E, .world = text_unnamed, BLOCKED(A_BLOCKED EDE) },
	{ "a group may want the code alone", ADS_E, .world = code_only, BLOCKED(A_BLOCKED EDE) },
	{ "a group may want no EDE", ADS_E, .world = no_ede, BLOCKED(A_BLOCKED "; opt 1232") },
	{ "a withheld type has no text", { "www.example", .edns = 1 }, .world = text_withheld, WITHHELD("NOERROR rd ra" SOA(10) "; opt 1232") },
	{ "names change with the filter", ADS_E, .world = text_other_unit, BLOCKED(A_BLOCKED EDE " \"newer\"") },
	{ "a list behind the last name: the code alone", ADS_E, .world = list_beyond, BLOCKED(A_BLOCKED EDE) },
};

int main(void)
{
	return run_rows(world, rows, sizeof(rows) / sizeof(*rows));
}
