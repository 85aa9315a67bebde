/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_objects.c - lists, rules, rewrites, clients and groups: what is said about
 * bad ones, what good ones come to, and those made at run time.
 *
 * A file is called /etc/millrace/x.yaml.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "config/config.h"

#define FILE_NAME "/etc/millrace/x.yaml"
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

#define LIST(fields)     "filter:\n  lists:\n  - { name: a, " fields " }\n"
#define URL(url)         LIST("url: \"" url "\"")
#define RULES(rules)     "filter:\n  rules: [" rules "]\n"
#define REWRITE(fields)  "filter:\n  rewrites:\n  - { " fields " }\n"
#define CLIENT(fields)   "clients:\n- { " fields " }\n"
#define GROUP(fields)    "groups:\n- { name: kids, " fields " }\n"
#define LISTS(group)     "filter: { lists: [{ name: ads, file: a }, { name: porn, file: b }] }\n" GROUP(group)
#define SCHEDULE(fields) GROUP("schedules: [{ " fields " }]")

static const struct bad {
	const char *name, *text;
	unsigned line;
	const char *key, *why;		/* part of it */
} bad[] = {
	/* lists */
	{ "list with file and url", LIST("file: b, url: \"https://x.example/\""), 3, "filter.lists[0].url", "either file or url" },
	{ "list with neither", LIST("format: hosts"), 3, "filter.lists[0].file", "or a url" },
	{ "url without a scheme", URL("example.org/x"), 3, "filter.lists[0].url", "does not begin with http" },
	{ "url by another scheme", URL("ftp://example.org/x"), 3, "filter.lists[0].url", "does not begin with http" },
	{ "url without a host", URL("https:///x"), 3, "filter.lists[0].url", "names no host" },
	{ "url with a password", URL("https://u:p@example.org/"), 3, "filter.lists[0].url", "would end in logs" },
	{ "url with a blank", URL("https://example.org/a b"), 3, "filter.lists[0].url", "has a blank" },
	{ "url with letters outside ASCII", URL("https://ex\xc3\xa4mple.org/"), 3, "filter.lists[0].url", "%XX" },
	{ "url with a bad port", URL("https://example.org:0/"), 3, "filter.lists[0].url", "its port" },
	{ "url with a port of letters", URL("https://example.org:http/"), 3, "filter.lists[0].url", "its port" },
	{ "url with a bad host", URL("https://exa$mple.org/"), 3, "filter.lists[0].url", "neither a DNS name" },
	{ "url with a bad address", URL("https://[::x]/"), 3, "filter.lists[0].url", "no IPv6 address" },
	{ "url that is a list", LIST("url: [x]"), 3, "filter.lists[0].url", "not a list" },
	{ "refresh of a file", LIST("file: b, refresh: 1h"), 3, "filter.lists[0].refresh", "only with url" },
	{ "refresh too often", LIST("url: \"http://x.example\", refresh: 59s"), 3, "filter.lists[0].refresh", "from 60 to 2592000, not \"59s\"" },
	{ "refresh too rarely", LIST("url: \"http://x.example\", refresh: 31d"), 3, "filter.lists[0].refresh", "from 60 to 2592000" },
	{ "refresh in words", LIST("url: \"http://x.example\", refresh: daily"), 3, "filter.lists[0].refresh", "not \"daily\"" },
	{ "list called all", "filter: { lists: [{ name: all, file: x }] }", 1, "filter.lists[0].name", "expected another name" },
	{ "list called rules", "filter: { lists: [{ name: rules, file: x }] }", 1, "filter.lists[0].name", "expected another name" },
	{ "list called ..", "filter: { lists: [{ name: .., file: x }] }", 1, "filter.lists[0].name", "'.' in front" },
	/* rules */
	{ "rules that are no list", "filter: { rules: \"||x^\" }", 1, "filter.rules", "in [ ]" },
	{ "rule that is a map", RULES("{ a: b }"), 2, "filter.rules[0]", "not a map" },
	{ "rule without text", RULES("\"||x^\", \"\""), 2, "filter.rules[1]", "there is no value" },
	{ "rule of two lines", RULES("\"a\\nb\""), 2, "filter.rules[0]", "one line" },
	/* rewrites */
	{ "rewrite that is a text", "filter: { rewrites: [x] }", 1, "filter.rewrites[0]", "expected a map" },
	{ "rewrite without a name", REWRITE("answers: [192.0.2.1]"), 3, "filter.rewrites[0].name", "missing" },
	{ "rewrite without answers", REWRITE("name: a.example"), 3, "filter.rewrites[0].answers", "missing" },
	{ "rewrite to an address gone wrong", REWRITE("name: a.example, answers: [192.0.2.500]"), 3, "filter.rewrites[0].answers[0]", "ends in a number" },
	{ "rewrite with no answer", REWRITE("name: a.example, answers: []"), 3, "filter.rewrites[0].answers", "expected 1 to 16" },
	{ "rewrite with an unknown key", REWRITE("name: a.example, answer: [192.0.2.1]"), 3, "filter.rewrites[0]", "did you mean \"answers\"" },
	{ "rewrite of an address", REWRITE("name: 192.0.2.1, answers: [192.0.2.1]"), 3, "filter.rewrites[0].name", "it is an address" },
	{ "rewrite of an IDN", REWRITE("name: \"b\xc3\xbc" "cher.example\", answers: [192.0.2.1]"), 3, "filter.rewrites[0].name", "xn--" },
	{ "rewrite with a star inside", REWRITE("name: \"a.*.example\", answers: [192.0.2.1]"), 3, "filter.rewrites[0].name", "alone" },
	{ "rewrite of everything", REWRITE("name: \"*.\", answers: [192.0.2.1]"), 3, "filter.rewrites[0].name", "1 to 253" },
	{ "rewrite with an empty label", REWRITE("name: a..example, answers: [192.0.2.1]"), 3, "filter.rewrites[0].name", "1 to 63" },
	{ "rewrite with a long label", REWRITE("name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example, answers: [192.0.2.1]"),
	  3, "filter.rewrites[0].name", "1 to 63" },
	{ "answer with a port", REWRITE("name: a.example, answers: [\"192.0.2.1:53\"]"), 3, "filter.rewrites[0].answers[0]", "without a port" },
	{ "answer in brackets", REWRITE("name: a.example, answers: [\"[::1]\"]"), 3, "filter.rewrites[0].answers[0]", "without a port" },
	{ "answer twice", REWRITE("name: a.example, answers: [192.0.2.1, 192.0.2.1]"), 3, "filter.rewrites[0].answers[1]", "there already" },
	{ "answers of both kinds", REWRITE("name: a.example, answers: [192.0.2.1, b.example]"), 3, "filter.rewrites[0].answers[1]", "not both" },
	{ "answers of both kinds, the name first", REWRITE("name: a.example, answers: [b.example, 192.0.2.1]"), 3,
	  "filter.rewrites[0].answers[1]", "not both" },
	{ "two aliases", REWRITE("name: a.example, answers: [b.example, c.example]"), 3, "filter.rewrites[0].answers[1]", "alias of one" },
	{ "alias of itself", REWRITE("name: a.example, answers: [A.example.]"), 3, "filter.rewrites[0].answers", "stand for itself" },
	{ "answer that is neither", REWRITE("name: a.example, answers: [\"a b\"]"), 3, "filter.rewrites[0].answers[0]", "or a name of the DNS" },
	{ "ttl too long", REWRITE("name: a.example, answers: [192.0.2.1], ttl: 8d"), 3, "filter.rewrites[0].ttl", "from 0 to 604800" },
	{ "rewrite twice", "filter:\n  rewrites:\n  - { name: a.example, answers: [192.0.2.1] }\n  - { name: A.example., answers: [192.0.2.2] }\n",
	  4, "filter.rewrites[1]", "that of element 0" },
	/* fetch, bootstrap, ede */
	{ "fetch too long", "filter: { fetch: { timeout_ms: 2h } }", 1, "filter.fetch.timeout_ms", "from 1000 to 3600000" },
	{ "fetch of a size with a wrong unit", "filter: { fetch: { max_bytes: 256MB } }", 1, "filter.fetch.max_bytes", "KiB, MiB, GiB" },
	{ "fetch too big", "filter: { fetch: { max_bytes: 2GiB } }", 1, "filter.fetch.max_bytes", "to 1073741824" },
	{ "fetch with an unknown key", "filter: { fetch: { timeout: 5s } }", 1, "filter.fetch.timeout", "did you mean \"filter.fetch.timeout_ms\"" },
	{ "bootstrap by name", "upstreams: { bootstrap: [dns.example] }", 1, "upstreams.bootstrap[0]", "expected an address" },
	{ "bootstrap twice", "upstreams: { bootstrap: [9.9.9.9, \"9.9.9.9:53\"] }", 1, "upstreams.bootstrap[1]", "there already" },
	{ "unknown ede", "filter: { block: { ede: full } }", 1, "filter.block.ede", "text, code or none, not \"full\"" },
	/* clients */
	{ "client without a name", CLIENT("addresses: [192.0.2.1]"), 2, "clients[0].name", "missing; expected the name of the client" },
	{ "client without addresses", CLIENT("name: tablet"), 2, "clients[0].addresses", "missing" },
	{ "client with no address", CLIENT("name: tablet, addresses: []"), 2, "clients[0].addresses", "expected 1 to 64" },
	{ "client called as an address", CLIENT("name: 192.0.2.1, addresses: [192.0.2.1]"), 2, "clients[0].name", "not the address" },
	{ "client's address is a name", CLIENT("name: tablet, addresses: [tablet.example]"), 2, "clients[0].addresses[0]", "or \"mac:02:" },
	{ "client's prefix with bits behind its length", CLIENT("name: tablet, addresses: [192.0.2.1/24]"), 2, "clients[0].addresses[0]",
	  "bits behind its length" },
	{ "hardware address too short", CLIENT("name: tablet, addresses: [\"mac:02:00:00:00:00\"]"), 2, "clients[0].addresses[0]", "or \"mac:02:" },
	{ "hardware address of many", CLIENT("name: tablet, addresses: [\"mac:01:00:5e:00:00:01\"]"), 2, "clients[0].addresses[0]", "no client's" },
	{ "hardware address of none", CLIENT("name: tablet, addresses: [\"mac:00:00:00:00:00:00\"]"), 2, "clients[0].addresses[0]", "no client's" },
	{ "tag with a big letter", CLIENT("name: tablet, addresses: [192.0.2.1], tags: [Tablet]"), 2, "clients[0].tags[0]", "small letters" },
	{ "tag twice", CLIENT("name: tablet, addresses: [192.0.2.1], tags: [x, x]"), 2, "clients[0].tags", "\"x\" is there twice" },
	{ "client twice", "clients:\n- { name: a, addresses: [192.0.2.1] }\n- { name: a, addresses: [192.0.2.2] }\n", 3, "clients[1]",
	  "that of element 0" },
	{ "address of two clients", "clients:\n- { name: a, addresses: [192.0.2.1] }\n- { name: b, addresses: [192.0.2.0/24, 192.0.2.1/32] }\n", 3,
	  "clients[1].addresses[1]", "192.0.2.1/32 is in the client \"a\" already" },
	{ "hardware address of two clients", "clients:\n- { name: a, addresses: [\"mac:02:00:00:00:00:0a\"] }\n"
	  "- { name: b, addresses: [\"MAC:02-00-00-00-00-0A\"] }\n", 3, "clients[1].addresses[0]", "mac:02:00:00:00:00:0a is in the client \"a\"" },
	/* groups */
	{ "group without a name", "groups:\n- { lists: [] }\n", 2, "groups[0].name", "missing" },
	{ "group twice", "groups:\n- { name: a }\n- { name: a }\n", 3, "groups[1]", "that of element 0" },
	{ "group with an unknown key", GROUP("schedule: []"), 2, "groups[0]", "did you mean \"schedules\"" },
	{ "group with a list that is almost there", LISTS("lists: [adz]"), 3, "groups[0].lists", "not \"adz\"; did you mean \"ads\"?" },
	{ "group with a list twice", LISTS("lists: [ads, ads]"), 3, "groups[0].lists", "\"ads\" is there already" },
	{ "group's lists are no list", GROUP("lists: ads"), 2, "groups[0].lists", "in [ ]" },
	{ "group with a client that is not there", GROUP("clients: [tablet]"), 2, "groups[0].clients[0]", "the name of a client of clients, not \"tablet\"" },
	{ "group with a client that is almost there", "clients: [{ name: tablet, addresses: [192.0.2.1] }]\n" GROUP("clients: [tablett]"), 3,
	  "groups[0].clients[0]", "did you mean \"tablet\"?" },
	{ "group with a wrong address", GROUP("clients: [192.0.2.300]"), 2, "groups[0].clients[0]", "not \"192.0.2.300\"" },
	{ "group with a client twice", GROUP("clients: [192.0.2.1, 192.0.2.1/32]"), 2, "groups[0].clients[1]", "there already" },
	{ "address in two groups", "groups:\n- { name: a, clients: [192.0.2.1] }\n- { name: b,\n    clients: [192.0.2.2,\n      192.0.2.1] }\n", 5,
	  "groups[1].clients[1]", "192.0.2.1/32 is in the group \"a\" already" },
	{ "address in two groups, by a client's name", "clients: [{ name: t, addresses: [192.0.2.1] }]\n"
	  "groups:\n- { name: a, clients: [192.0.2.1] }\n- { name: b, clients: [t] }\n", 4, "groups[1].clients[0]", "in the group \"a\" already" },
	{ "client in two groups", "clients: [{ name: t, addresses: [192.0.2.1] }]\n"
	  "groups:\n- { name: a, clients: [t] }\n- { name: b, clients: [t] }\n", 4, "groups[1].clients[0]", "in the group \"a\" already" },
	{ "group's rule without text", GROUP("rules: [\"\"]"), 2, "groups[0].rules[0]", "no value" },
	{ "group's block of an unknown mode", GROUP("block: { mode: zero }"), 2, "groups[0].block.mode", "not \"zero\"" },
	{ "group's block with an unknown key", GROUP("block: { tll: 5 }"), 2, "groups[0].block", "did you mean \"ttl\"" },
	{ "group's ttl out of range", GROUP("block: { ttl: 2d }"), 2, "groups[0].block.ttl", "from 0 to 86400" },
	{ "group's address of the wrong kind", GROUP("block: { mode: custom, ipv4: \"::1\" }"), 2, "groups[0].block.ipv4", "an IPv4 address" },
	{ "group's custom without addresses", GROUP("block: { mode: custom }"), 2, "groups[0].block.mode", "custom needs" },
	{ "group's address without custom", GROUP("block: { ipv4: 192.0.2.1 }"), 2, "groups[0].block.ipv4", "only with block.mode custom" },
	{ "safe search is a switch", GROUP("safe_search: strict"), 2, "groups[0].safe_search", "true or false" },
	{ "unknown type", GROUP("no_types: [AAAAA]"), 2, "groups[0].no_types[0]", "like AAAA, HTTPS or TYPE65, not \"AAAAA\"" },
	{ "type that has no records", GROUP("no_types: [ANY]"), 2, "groups[0].no_types[0]", "no record is of that type" },
	{ "type over 16 bits", GROUP("no_types: [TYPE65536]"), 2, "groups[0].no_types[0]", "not \"TYPE65536\"" },
	{ "type twice", GROUP("no_types: [AAAA, TYPE28]"), 2, "groups[0].no_types[1]", "there already" },
	{ "too many types", GROUP("no_types: [A, AAAA, MX, TXT, SRV]"), 2, "groups[0].no_types", "expected 0 to 4" },
	/* schedules */
	{ "schedules are a list", GROUP("schedules: { from: \"1:00\" }"), 2, "groups[0].schedules", "in [ ]" },
	{ "unknown day", SCHEDULE("days: [mon, Tue]"), 2, "groups[0].schedules[0].days[1]", "sat or sun, not \"Tue\"" },
	{ "day twice", SCHEDULE("days: [mon, mon]"), 2, "groups[0].schedules[0].days[1]", "there already" },
	{ "no day", SCHEDULE("days: []"), 2, "groups[0].schedules[0].days", "expected 1 to 7" },
	{ "from without to", SCHEDULE("from: \"21:00\""), 2, "groups[0].schedules[0].to", "missing" },
	{ "to without from", SCHEDULE("to: \"21:00\""), 2, "groups[0].schedules[0].from", "missing" },
	{ "time without minutes", SCHEDULE("from: 21, to: \"22:00\""), 2, "groups[0].schedules[0].from", "like \"21:00\", not \"21\"" },
	{ "time with sixty minutes", SCHEDULE("from: \"21:60\", to: \"22:00\""), 2, "groups[0].schedules[0].from", "not \"21:60\"" },
	{ "time behind midnight", SCHEDULE("from: \"24:00\", to: \"7:00\""), 2, "groups[0].schedules[0].from", "not \"24:00\"" },
	{ "time far behind midnight", SCHEDULE("from: \"1:00\", to: \"24:01\""), 2, "groups[0].schedules[0].to", "not \"24:01\"" },
	{ "time with seconds", SCHEDULE("from: \"1:00:00\", to: \"24:00\""), 2, "groups[0].schedules[0].from", "not \"1:00:00\"" },
	{ "zone that is not there", SCHEDULE("zone: \"Europe/Berln\""), 2, "groups[0].schedules[0].zone", "there is none of that name" },
	{ "zone that is a folder", SCHEDULE("zone: Europe"), 2, "groups[0].schedules[0].zone", "no zone's file" },
	{ "zone that is a path", SCHEDULE("zone: ../localtime"), 2, "groups[0].schedules[0].zone", "the name of a time zone" },
	{ "schedule's list that is not there", SCHEDULE("lists: [ads]"), 2, "groups[0].schedules[0].lists", "not \"ads\"" },
	{ "schedule's list that the group does not use", LISTS("lists: [ads], schedules: [{ lists: [porn] }]"), 3, "groups[0].schedules[0].lists",
	  "does not use the list \"porn\"" },
	{ "schedule for no list", LISTS("schedules: [{ lists: [] }]"), 3, "groups[0].schedules[0].lists", "expected 1 to" },
	{ "schedule with an unknown key", SCHEDULE("day: [mon]"), 2, "groups[0].schedules[0]", "did you mean \"days\"" },
};

static void is_refused(void **state)
{
	const struct bad *t = *state;
	struct config_errors errs;
	struct config *c = NULL;
	const struct err_at *e = &errs.at[0];

	assert_int_equal(config_load(t->text, strlen(t->text), FILE_NAME, &c, &errs), -EINVAL);
	assert_null(c);
	assert_string_equal(e->key, t->key);
	if (!strstr(e->why, t->why))
		fail_msg("\"%s\" is not in \"%s\"", t->why, e->why);
	assert_int_equal(errs.count, 1);
	assert_int_equal(e->line, t->line);
	assert_string_equal(e->file, FILE_NAME);
}

/* ---- good ones ---- */

static struct config *load(const char *text)
{
	struct config_errors errs;
	struct config *c = NULL;
	char buf[800];

	if (config_load(text, strlen(text), FILE_NAME, &c, &errs))
		fail_msg("%s", errs.count ? err_text(&errs.at[0], buf, sizeof(buf)) : "no reason given");
	return c;
}

static bool is_ip(const struct addr *a, const char *text)
{
	char buf[ADDR_TEXT_MAX];

	return !strcmp(addr_text(a, buf, sizeof(buf)), text);
}

static bool is_prefix(const struct config_client_addr *a, const char *text)
{
	char buf[ADDR_TEXT_MAX];

	return !a->is_mac && !strcmp(addr_prefix_text(&a->prefix, buf, sizeof(buf)), text);
}

static bool has_urls(const struct config *c)
{
	const struct config_list *l = c->filter_lists.at;

	return c->filter_lists.count == 4 && !l[0].file && !strcmp(l[0].url, "https://example.org:8443/a?b=c") && l[0].refresh_s == 86400 &&
	       l[1].refresh_s == 3600 && !strcmp(l[1].url, "http://192.0.2.1/x") && l[2].refresh_s == 0 && l[3].refresh_s == 0 &&
	       l[0].origin == CONFIG_FROM_FILE && l[1].place.number == 1 && l[1].place.line == 4;
}

static bool has_formats(const struct config *c)
{
	unsigned i;

	for (i = 0; i < c->filter_lists.count; i++)
		if (c->filter_lists.at[i].format != (enum config_list_format)i)
			return false;
	return i == 9 && CONFIG_LIST_REGEX == 8;
}

static bool has_rules(const struct config *c)
{
	const struct config_rule *u = c->filter_rules.at;

	return c->filter_rules.count == 3 && !strcmp(u[0].text, "||tracker.example^") && !strcmp(u[1].text, "@@||good.example^") &&
	       !strcmp(u[2].text, "/^ads?[0-9]+\\./") && u[2].place.line == 5 && u[2].place.number == 2;
}

static bool has_alias_below_itself(const struct config *c)
{
	const struct config_rewrite *r = c->filter_rewrites.at;

	return c->filter_rewrites.count == 1 && r->below && !strcmp(r->name, "lan.example") && !strcmp(r->target, "nas.lan.example");
}

static bool has_rewrites(const struct config *c)
{
	const struct config_rewrite *r = c->filter_rewrites.at;

	return c->filter_rewrites.count == 3 && !strcmp(r[0].name, "printer.home.example") && !r[0].below && r[0].answers == 2 &&
	       is_ip(&r[0].answer[0], "192.168.1.5") && is_ip(&r[0].answer[1], "fd00::5") && r[0].ttl == 60 && !*r[0].target &&
	       !strcmp(r[1].name, "dev.example") && r[1].below && !r[1].answers && !strcmp(r[1].target, "dev.example") &&
	       r[1].ttl == 300 && !strcmp(r[2].name, "dev.example") && !r[2].below && r[2].place.line == 5;
}

static bool has_fetch(const struct config *c)
{
	return c->filter_fetch_timeout_ms == 30000 && c->filter_fetch_max_bytes == 64 << 20 && c->filter_block_ede == CONFIG_EDE_CODE &&
	       c->upstreams_bootstrap.count == 2 && is_ip(&c->upstreams_bootstrap.at[1], "[2620:fe::fe]:53");
}

static bool has_clients(const struct config *c)
{
	const struct config_client *t = c->clients.at;
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 0xaf };

	return c->clients.count == 1 && !strcmp(t->name, "tablet") && t->addresses.count == 3 && is_prefix(&t->addresses.at[0], "192.168.1.7/32") &&
	       t->addresses.at[1].is_mac && !memcmp(t->addresses.at[1].mac, mac, 6) && is_prefix(&t->addresses.at[2], "fd00::/64") &&
	       t->tags.count == 1 && !strcmp(t->tags.at[0].text, "device_tablet");
}

static bool has_group(const struct config *c)
{
	const struct config_group *d = &c->groups.at[0], *k = &c->groups.at[1];
	const struct config_schedule *s = k->schedules.at;

	return c->groups.count == 2 && !strcmp(d->name, "default") && d->uses[0] && d->uses[1] && !strcmp(k->name, "kids") && !k->uses[0] &&
	       k->uses[1] && k->clients.count == 3 && is_prefix(&k->clients.at[0].addr, "192.168.1.0/25") && k->clients.at[1].addr.is_mac &&
	       !strcmp(k->clients.at[2].name, "tablet") && k->clients.at[2].client == 0 && k->rules.count == 1 &&
	       !strcmp(k->rules.at[0].text, "||games.example^") && k->block.mode == CONFIG_BLOCK_NXDOMAIN && k->block.ttl == 60 &&
	       k->block.ede == CONFIG_EDE_TEXT && k->safe_search && k->no_types.count == 2 && k->no_types.at[0] == 28 &&
	       k->no_types.at[1] == 65 && k->schedules.count == 2 && s[0].window.days == 3 && s[0].window.from == 21 * 60 &&
	       s[0].window.to == 7 * 60 && !strcmp(s[0].zone, "Europe/Berlin") && s[0].all && s[0].tz && s[1].window.days == SCHEDULE_ALL_DAYS &&
	       s[1].window.from == 0 && s[1].window.to == 0 && !*s[1].zone && !s[1].all && s[1].uses[1] && !s[1].uses[0] && s[1].tz &&
	       d->block.mode == CONFIG_BLOCK_NULL_ADDRESS && d->block.ttl == 10;
}

static bool has_default_first(const struct config *c)
{
	return c->groups.count == 3 && !strcmp(c->groups.at[0].name, "default") && c->groups.at[0].clients.count == 1 &&
	       !strcmp(c->groups.at[1].name, "a") && !strcmp(c->groups.at[2].name, "b") && c->groups.at[0].place.number == 2;
}

static bool has_block_of_filter(const struct config *c)
{
	const struct config_block *b = &c->groups.at[1].block;

	return b->mode == CONFIG_BLOCK_CUSTOM && b->ttl == 5 && is_ip(&b->ipv4, "192.0.2.9") && is_ip(&b->ipv6, "2001:db8::1") &&
	       b->own_ipv4 && !b->own_mode && b->ede == CONFIG_EDE_NONE;
}

static bool has_times(const struct config *c)
{
	const struct config_schedule *s = c->groups.at[1].schedules.at;

	return s[0].window.from == 7 * 60 + 5 && s[0].window.to == 0 && s[0].all && s[1].window.days == (1 << 5 | 1 << 6);
}

static const struct good {
	const char *name, *text;
	bool (*holds)(const struct config *c);
} good[] = {
	{ "lists from urls have a refresh", "filter:\n  lists:\n  - { name: a, url: \"https://example.org:8443/a?b=c\" }\n"
	  "  - { name: b, url: \"http://192.0.2.1/x\", refresh: 1h }\n  - { name: c, url: \"HTTPS://[2001:db8::1]:8080\", refresh: never }\n"
	  "  - { name: d, url: \"http://example.org\", refresh: 0 }\n", has_urls },
	{ "lists have nine formats", "filter: { lists: [{ name: a, file: x, format: auto }, { name: b, file: x, format: domains }, "
	  "{ name: c, file: x, format: hosts }, { name: d, file: x, format: adblock }, { name: e, file: x, format: wildcard }, "
	  "{ name: f, file: x, format: dnsmasq }, { name: g, file: x, format: unbound }, { name: h, file: x, format: rpz }, "
	  "{ name: i, file: x, format: regex }] }", has_formats },
	{ "rules stand as they are, with their line", "filter:\n  rules:\n  - \"||tracker.example^\"\n  - '@@||good.example^'\n"
	  "  - \"/^ads?[0-9]+\\\\./\"\n", has_rules },
	{ "rewrite of all below a name to one of them", REWRITE("name: \"*.lan.example\", answers: [nas.lan.example]"),
	  has_alias_below_itself },
	{ "rewrites are addresses or an alias", "filter:\n  rewrites:\n"
	  "  - { name: Printer.HOME.example., answers: [\"192.168.1.5\", \"fd00::5\"], ttl: 1m }\n"
	  "  - { name: \"*.dev.example\", answers: [dev.example] }\n  - { name: dev.example, answers: [192.0.2.1] }\n", has_rewrites },
	{ "fetch, bootstrap and ede", "filter: { fetch: { timeout_ms: 30s, max_bytes: 64MiB }, block: { ede: code } }\n"
	  "upstreams: { bootstrap: [9.9.9.9, \"2620:fe::fe\"] }", has_fetch },
	{ "clients have addresses, prefixes, hardware addresses and tags", CLIENT("name: tablet, addresses: [192.168.1.7, "
	  "\"mac:02:00:00:00:00:aF\", \"fd00::/64\"], tags: [device_tablet]"), has_clients },
	{ "a group has all of its keys", "groups:\n- { name: kids, clients: [192.168.1.0/25, \"mac:02:00:00:00:00:01\", tablet], lists: [ads], "
	  "rules: [\"||games.example^\"], block: { mode: nxdomain, ttl: 60 }, safe_search: true, no_types: [aaaa, TYPE65], "
	  "schedules: [{ days: [mon, tue], from: \"21:00\", to: \"07:00\", zone: Europe/Berlin, lists: [all] }, { lists: [ads] }] }\n"
	  "clients: [{ name: tablet, addresses: [192.168.1.7, \"mac:02:00:00:00:00:01\"] }]\n"
	  "filter: { lists: [{ name: starter, file: a }, { name: ads, file: b }] }\n", has_group },
	{ "the group default is the first wherever it stands", "groups: [{ name: a }, { name: b }, { name: default, clients: [192.0.2.1] }]",
	  has_default_first },
	{ "what a group's block does not say is that of filter.block", "filter: { block: { mode: custom, ttl: 5, ipv4: 192.0.2.1, "
	  "ipv6: \"2001:db8::1\", ede: none } }\n" GROUP("block: { ipv4: 192.0.2.9 }"), has_block_of_filter },
	{ "times may be short and end at 24:00", GROUP("schedules: [{ from: 7:05, to: 24:00 }, { days: [sun, sat] }]"), has_times },
};

static void is_taken(void **state)
{
	const struct good *t = *state;
	struct config *c = load(t->text);

	assert_true(t->holds(c));
	config_free(c);
}

/* ---- changes ---- */

static const struct change {
	const char *name, *before, *after, *keys;
} changes[] = {
	{ "a list's refresh", URL("http://x.example"), LIST("url: \"http://x.example\", refresh: 1h"), "filter.lists " },
	{ "a file becomes a url", LIST("file: x"), URL("http://x.example"), "filter.lists " },
	{ "a rule", RULES("a.example"), RULES("b.example"), "filter.rules " },
	{ "a rule more", RULES("a.example"), RULES("a.example, b.example"), "filter.rules " },
	{ "a rule's line is none", RULES("a.example"), "filter:\n\n\n  rules: [a.example]", "" },
	{ "an answer", REWRITE("name: a.example, answers: [192.0.2.1]"), REWRITE("name: a.example, answers: [192.0.2.2]"), "filter.rewrites " },
	{ "a rewrite's ttl", REWRITE("name: a.example, answers: [b.example]"), REWRITE("name: a.example, answers: [b.example], ttl: 1"),
	  "filter.rewrites " },
	{ "a rewrite of all below", REWRITE("name: a.example, answers: [b.example]"), REWRITE("name: \"*.a.example\", answers: [b.example]"),
	  "filter.rewrites " },
	{ "a client's address", CLIENT("name: a, addresses: [192.0.2.1]"), CLIENT("name: a, addresses: [192.0.2.2]"), "clients " },
	{ "a client's tag", CLIENT("name: a, addresses: [192.0.2.1]"), CLIENT("name: a, addresses: [192.0.2.1], tags: [x]"), "clients " },
	{ "a group's client", GROUP("clients: [192.0.2.1]"), GROUP("clients: [192.0.2.2]"), "groups " },
	{ "a group's rule", GROUP("rules: [a.example]"), GROUP("rules: [b.example]"), "groups " },
	{ "a group's block", GROUP("block: { ttl: 10 }"), GROUP("block: { ttl: 11 }"), "groups " },
	{ "filter.block is not the groups'", GROUP("rules: []"), "filter: { block: { ttl: 99 } }\n" GROUP("rules: []"), "filter.block.ttl " },
	{ "a group's types", GROUP("no_types: [A]"), GROUP("no_types: [AAAA]"), "groups " },
	{ "a group's safe search", GROUP("safe_search: no"), GROUP("safe_search: yes"), "groups " },
	{ "a schedule's day", SCHEDULE("days: [mon]"), SCHEDULE("days: [tue]"), "groups " },
	{ "a schedule's time", SCHEDULE("from: \"1:00\", to: \"2:00\""), SCHEDULE("from: \"1:00\", to: \"3:00\""), "groups " },
	{ "a schedule's zone", SCHEDULE("zone: UTC"), SCHEDULE("zone: Europe/Berlin"), "groups " },
	{ "a schedule's lists", LISTS("schedules: [{ lists: [ads] }]"), LISTS("schedules: [{ lists: [porn] }]"), "groups " },
	{ "groups that are the same", LISTS("schedules: [{ lists: [ads] }], rules: [a], clients: [192.0.2.1], block: { ttl: 5 }"),
	  LISTS("schedules: [{ lists: [ads] }], rules: [a], clients: [192.0.2.1], block: { ttl: 5 }"), "" },
	{ "fetch and bootstrap", "", "filter: { fetch: { max_bytes: 1MiB, timeout_ms: 5s } }\nupstreams: { bootstrap: [192.0.2.1] }",
	  "upstreams.bootstrap filter.fetch.timeout_ms filter.fetch.max_bytes " },
};

static void collect(const struct config_option *o, void *arg)
{
	strcat(arg, o->path);
	strcat(arg, " ");
}

static void is_changed(void **state)
{
	const struct change *t = *state;
	struct config *before = load(t->before), *after = load(t->after);
	char keys[1000] = "";

	/* all of them are live */
	assert_int_equal(config_changes(before, after, collect, keys), 0);
	assert_string_equal(keys, t->keys);
	config_free(before);
	config_free(after);
}

/* ---- in force? ---- */

/* 2026-11-30 is a Monday; windows in UTC */
#define MONDAY 1795996800LL

static void lists_of_schedules_are_in_force_inside(void **state)
{
	struct config *c = load(LISTS("schedules: [{ days: [mon], from: \"9:00\", to: \"10:00\", zone: UTC, lists: [ads] }, "
				      "{ days: [mon], from: \"11:00\", to: \"12:00\", zone: UTC, lists: [ads] }]"));
	const struct config_group *g = &c->groups.at[1];

	assert_false(config_group_uses(g, 0, MONDAY + 8 * 3600));
	assert_true(config_group_uses(g, 0, MONDAY + 9 * 3600));
	assert_false(config_group_uses(g, 0, MONDAY + 10 * 3600));
	assert_true(config_group_uses(g, 0, MONDAY + 11 * 3600));
	assert_true(config_group_uses(g, 1, MONDAY + 8 * 3600));
	assert_true(config_group_uses_rules(g, MONDAY + 8 * 3600));
	assert_false(config_group_uses(g, 2, MONDAY));
	assert_int_equal(config_group_edge(g, MONDAY), MONDAY + 9 * 3600);
	assert_int_equal(config_group_edge(g, MONDAY + 9 * 3600), MONDAY + 10 * 3600);
	assert_int_equal(config_group_edge(g, MONDAY + 10 * 3600), MONDAY + 11 * 3600);
	assert_int_equal(config_group_edge(&c->groups.at[0], MONDAY), SCHEDULE_NEVER);
	assert_true(config_group_uses(&c->groups.at[0], 0, MONDAY));
	config_free(c);
}

static void all_is_for_lists_and_rules(void **state)
{
	struct config *c = load(LISTS("lists: [ads], schedules: [{ from: \"9:00\", to: \"10:00\", zone: UTC }]"));
	const struct config_group *g = &c->groups.at[1];

	assert_false(config_group_uses(g, 0, MONDAY));
	assert_false(config_group_uses_rules(g, MONDAY));
	assert_true(config_group_uses(g, 0, MONDAY + 9 * 3600));
	assert_true(config_group_uses_rules(g, MONDAY + 9 * 3600));
	/* not one of the group's */
	assert_false(config_group_uses(g, 1, MONDAY + 9 * 3600));
	config_free(c);
}

int main(void)
{
	static struct CMUnitTest tests[COUNT_OF(bad) + COUNT_OF(good) + COUNT_OF(changes) + 2] = {
		cmocka_unit_test(lists_of_schedules_are_in_force_inside),
		cmocka_unit_test(all_is_for_lists_and_rules),
	};
	size_t n = 2, i;

	for (i = 0; i < COUNT_OF(bad); i++)
		tests[n++] = (struct CMUnitTest){ bad[i].name, is_refused, NULL, NULL, (void *)&bad[i] };
	for (i = 0; i < COUNT_OF(good); i++)
		tests[n++] = (struct CMUnitTest){ good[i].name, is_taken, NULL, NULL, (void *)&good[i] };
	for (i = 0; i < COUNT_OF(changes); i++)
		tests[n++] = (struct CMUnitTest){ changes[i].name, is_changed, NULL, NULL, (void *)&changes[i] };
	return cmocka_run_group_tests_name("objects", tests, NULL, NULL);
}
