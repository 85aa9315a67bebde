/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_config.c - bad configurations and what is said about them, good ones
 * and their values, changes, and the printed reference.
 *
 * The file is called /etc/millrace/x.yaml in all of them.
 */
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

#define PIN "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

/* Five routes with 13 servers each are 65. */
#define SERVERS13(n) "[" #n ".0.0.1," #n ".0.0.2," #n ".0.0.3," #n ".0.0.4," #n ".0.0.5," #n ".0.0.6," #n ".0.0.7," #n ".0.0.8," \
	#n ".0.0.9," #n ".0.0.10," #n ".0.0.11," #n ".0.0.12," #n ".0.0.13]"
#define ROUTE13(n) "  - { zone: z" #n ".example, servers: " SERVERS13(n) " }\n"
#define MANY_SERVERS "upstreams:\n  routes:\n" ROUTE13(1) ROUTE13(2) ROUTE13(3) ROUTE13(4) ROUTE13(5)

/* ---- bad ones ---- */

static const struct bad {
	const char *name, *text;
	unsigned line;
	const char *key, *why;		/* part of it */
	unsigned count;			/* errors in all */
} bad[] = {
	{ "unknown section has the nearest one as a hint", "cash:\n  entries: 5\n", 1, "cash",
	  "unknown key \"cash\"; did you mean \"cache\"?", 1 },
	{ "section without its last letter has a hint", "upstream:\n  servers: []\n", 1, "upstream", "did you mean \"upstreams\"?", 1 },
	{ "section in a section has a hint", "filter:\n  blocks: { ttl: 5 }\n", 2, "filter.blocks", "did you mean \"filter.block\"?", 1 },
	{ "unknown key is named with its line", "cache:\n  prefetch: true\n  entires: 500\n", 3, "cache.entires",
	  "did you mean \"cache.entries\"", 1 },
	{ "unknown key without a like has no hint", "server:\n  qqqqqqqqqqqqqqq: 1\n", 2, "server.qqqqqqqqqqqqqqq", "unknown key", 1 },
	{ "key given twice", "cache:\n  entries: 500\n  entries: 600\n", 3, "cache.entries", "given twice, first in line 2", 1 },
	{ "section given twice", "cache:\n  entries: 500\nstate: /x\ncache:\n  min_ttl: 5\n", 4, "cache", "first in line 1", 1 },
	{ "key of a list's element given twice", "filter:\n  lists:\n  - { name: a, file: b,\n      file: c }\n", 4,
	  "filter.lists[0].file", "given twice", 1 },
	{ "key of the schema that is not built", "rate_limit: { enabled: true }\n", 1, "rate_limit", "not built yet", 1 },
	{ "key below such a key says the same", "query_log:\n  retention: { days: 1 }\n", 2, "query_log.retention", "not built yet", 1 },
	{ "a backend that there is not", "cache: { backend: redis }\n", 1, "cache.backend", "memory or lmdb, not", 1 },
	{ "a way to sync that there is not", "cache: { lmdb: { sync: always } }\n", 1, "cache.lmdb.sync",
	  "full, no_meta, periodic or none, not", 1 },
	{ "a durable cache of too few bytes", "cache: { lmdb: { max_bytes: 4KiB } }\n", 1, "cache.lmdb.max_bytes", "not \"4KiB\"", 1 },
	{ "a sync interval under its bound", "cache: { lmdb: { sync_interval_ms: 5 } }\n", 1, "cache.lmdb.sync_interval_ms", "not \"5\"", 1 },
	{ "a durable cache without a path", "cache: { lmdb: { path: }}\n", 1, "cache.lmdb.path", "there is no value", 1 },
	{ "zones are not ignored, even empty", "zones: []\n", 1, "zones", "not built yet", 1 },
	{ "api.listen is not built", "api: { listen: [\"127.0.0.1:8080\"] }\n", 1, "api.listen", "not built yet", 1 },
	{ "unknown strategy", "upstreams:\n  strategy: best\n", 2, "upstreams.strategy", "parallel_best, ordered, round_robin, random or latency", 1 },
	{ "route without a zone", "upstreams:\n  routes:\n  - { servers: [1.1.1.1] }\n", 3, "upstreams.routes[0].zone", "missing", 1 },
	{ "route without servers", "upstreams:\n  routes:\n  - { zone: corp.example }\n", 3, "upstreams.routes[0].servers", "missing", 1 },
	{ "route with an empty list of servers", "upstreams: { routes: [{ zone: corp.example, servers: [] }] }\n", 1,
	  "upstreams.routes[0].servers", "expected 1 to 16 elements", 1 },
	{ "route for an address", "upstreams: { routes: [{ zone: 10.0.0.1, servers: [1.1.1.1] }] }\n", 1, "upstreams.routes[0].zone", "it is an address", 1 },
	{ "route's server is looked at too", "upstreams: { routes: [{ zone: a.example, servers: [1.1.1.1, nowhere] }] }\n", 1,
	  "upstreams.routes[0].servers[1]", "expected an address", 1 },
	{ "two routes of one zone, letter case and final dot apart", "upstreams:\n  routes:\n  - { zone: a.example, servers: [1.1.1.1] }\n"
	  "  - { zone: b.example, servers: [1.1.1.1] }\n  - { zone: A.Example., servers: [9.9.9.9] }\n", 5, "upstreams.routes[2]",
	  "the zone is that of element 0", 1 },
	{ "fallback is servers", "upstreams: { fallback: [1.1.1.1, x] }\n", 1, "upstreams.fallback[1]", "expected an address", 1 },
	{ "more than 64 servers in all", MANY_SERVERS, 3, "upstreams.routes", "expected at most 64 different servers", 1 },
	{ "suffix that is no name", "upstreams: { rebinding: { allow: [\"a b\"] } }\n", 1, "upstreams.rebinding.allow[0]", "expected a name of the DNS", 1 },
	{ "query log can only be off", "query_log: { enabled: true }\n", 1, "query_log.enabled", "not built yet", 1 },
	{ "query log's path is not built", "query_log: { path: x }\n", 1, "query_log.path", "not built yet", 1 },
	{ "dispatcher is not built", "fastpath: { attach: dispatcher }\n", 1, "fastpath.attach", "not built yet", 1 },
	{ "server with an unknown scheme", "upstreams: { servers: [\"quic://1.1.1.1\"] }\n", 1, "upstreams.servers[0]", "expected an address", 1 },
	{ "server as a map without an address", "upstreams: { servers: [{ trust_ad: true }] }\n", 1, "upstreams.servers[0].address", "missing", 1 },
	{ "server as a map with an unknown key", "upstreams: { servers: [{ address: 1.1.1.1, trustad: true }] }\n", 1,
	  "upstreams.servers[0]", "did you mean \"trust_ad\"", 1 },
	{ "server's switch is one", "upstreams: { servers: [{ address: 1.1.1.1, dnssec_ok: 5 }] }\n", 1, "upstreams.servers[0].dnssec_ok", "true or false", 1 },
	{ "pin that is too short", "upstreams: { servers: [{ address: 1.1.1.1, pin: [abc] }] }\n", 1, "upstreams.servers[0].pin[0]", "44 letters, not \"abc\"", 1 },
	{ "pin of a server without a certificate", "upstreams: { servers: [{ address: 1.1.1.1, pin: \"" PIN "\" }] }\n", 1,
	  "upstreams.servers[0].pin", "only with tls:// or https://", 1 },
	{ "name of a server without a certificate", "upstreams: { servers: [{ address: 1.1.1.1, name: one.example }] }\n", 1,
	  "upstreams.servers[0].name", "only with tls:// or https://", 1 },
	{ "server by name needs a scheme", "upstreams: { servers: [dns.example] }\n", 1, "upstreams.servers[0]", "a name needs udp://", 1 },
	{ "mistyped address is no name", "upstreams: { servers: [\"udp://1.1.1.256\"] }\n", 1, "upstreams.servers[0]", "expected an address", 1 },
	{ "server with port 0", "upstreams: { servers: [\"1.1.1.1:0\"] }\n", 1, "upstreams.servers[0]", "expected an address", 1 },
	{ "server given twice", "upstreams: { servers: [1.1.1.1, \"1.1.1.1:53\"] }\n", 1, "upstreams.servers[1]", "there already", 1 },
	{ "servers are a list", "upstreams: { servers: 1.1.1.1 }\n", 1, "upstreams.servers", "expected a list", 1 },
	{ "too many servers", "upstreams: { servers: [1.0.0.1,1.0.0.2,1.0.0.3,1.0.0.4,1.0.0.5,1.0.0.6,1.0.0.7,1.0.0.8,1.0.0.9,"
	  "1.0.0.10,1.0.0.11,1.0.0.12,1.0.0.13,1.0.0.14,1.0.0.15,1.0.0.16,1.0.0.17] }\n", 1, "upstreams.servers", "there are 17", 1 },
	{ "list without a file", "filter:\n  lists:\n  - name: a\n", 3, "filter.lists[0].file", "missing", 1 },
	{ "list without a name", "filter: { lists: [ { file: a } ] }\n", 1, "filter.lists[0].name", "missing", 1 },
	{ "list with an unknown format", "filter: { lists: [ { name: a, file: b, format: rpzz } ] }\n", 1, "filter.lists[0].format",
	  "dnsmasq, unbound, rpz or regex, not \"rpzz\"", 1 },
	{ "list with an unknown action", "filter: { lists: [ { name: a, file: b, action: drop } ] }\n", 1, "filter.lists[0].action",
	  "block or allow", 1 },
	{ "list with an unknown key has a hint", "filter: { lists: [ { name: a, flie: b } ] }\n", 1, "filter.lists[0]", "did you mean \"file\"", 1 },
	{ "list's name with a space", "filter: { lists: [ { name: a b, file: c } ] }\n", 1, "filter.lists[0].name", "a name of letters", 1 },
	{ "two lists of one name", "filter:\n  lists:\n  - { name: a, file: b }\n  - { name: a, file: c }\n", 4, "filter.lists[1]",
	  "that of element 0", 1 },
	{ "list that is no map", "filter: { lists: [ads] }\n", 1, "filter.lists[0]", "expected a map", 1 },
	{ "group with a list that is not there", "groups:\n- { name: default, lists: [ads] }\n", 2, "groups[0].lists", "not \"ads\"", 1 },
	{ "group default twice", "groups:\n- { name: default }\n- { name: default }\n", 3, "groups[1]", "that of element 0", 1 },
	{ "number with a unit that it has not", "cache: { entries: 10s }\n", 1, "cache.entries", "not \"10s\"", 1 },
	{ "number in quotes", "cache: { entries: \"500\" }\n", 1, "cache.entries", "not a text in quotes", 1 },
	{ "number with a leading zero would be octal", "cache: { entries: 0500 }\n", 1, "cache.entries", "not \"0500\"", 1 },
	{ "number in hex", "cache: { entries: 0x500 }\n", 1, "cache.entries", "not \"0x500\"", 1 },
	{ "number with a fraction", "cache: { entries: 500.0 }\n", 1, "cache.entries", "not \"500.0\"", 1 },
	{ "number below zero", "cache: { entries: -1 }\n", 1, "cache.entries", "not \"-1\"", 1 },
	{ "number over 64 bits", "cache: { entries: 99999999999999999999999 }\n", 1, "cache.entries", "from 16 to 100000000", 1 },
	{ "number too small", "fastpath:\n  answers: 3\n", 2, "fastpath.answers", "a number from 1024 to 16777216, not \"3\"", 1 },
	{ "number too big", "server: { workers: 1000 }\n", 1, "server.workers", "auto or a number from 1 to 64", 1 },
	{ "workers in words", "server: { workers: many }\n", 1, "server.workers", "auto or a number", 1 },
	{ "time out of range by its unit", "cache: { max_ttl: 8d }\n", 1, "cache.max_ttl", "from 1 to 604800, not \"8d\"", 1 },
	{ "time with an unknown unit", "cache: { max_ttl: 8x }\n", 1, "cache.max_ttl", "not \"8x\"", 1 },
	{ "time in base sixty", "cache: { max_ttl: 1:30 }\n", 1, "cache.max_ttl", "not \"1:30\"", 1 },
	{ "no value", "cache:\n  max_ttl:\n", 2, "cache.max_ttl", "there is no value", 1 },
	{ "map where a number belongs", "cache: { entries: { a: 1 } }\n", 1, "cache.entries", "not a map", 1 },
	{ "list where a switch belongs", "cache: { prefetch: [true] }\n", 1, "cache.prefetch", "not a list", 1 },
	{ "switch with a number", "cache: { prefetch: 1 }\n", 1, "cache.prefetch", "true or false, not \"1\"", 1 },
	{ "switch in quotes", "cache: { prefetch: \"true\" }\n", 1, "cache.prefetch", "not a text in quotes", 1 },
	{ "switch with a letter", "cache: { prefetch: y }\n", 1, "cache.prefetch", "not \"y\"", 1 },
	{ "section that is a scalar", "cache: 5\n", 1, "cache", "expected a map", 1 },
	{ "file that is a list", "- cache\n", 1, "", "expected a map", 1 },
	{ "file that is a word", "hello\n", 1, "", "expected a map", 1 },
	{ "unknown mode", "fastpath: { mode: fast }\n", 1, "fastpath.mode", "auto, native, generic or off, not \"fast\"", 1 },
	{ "unknown block mode", "filter: { block: { mode: zero } }\n", 1, "filter.block.mode", "not \"zero\"", 1 },
	{ "custom without addresses", "filter:\n  block:\n    mode: custom\n", 3, "filter.block.mode", "custom needs", 1 },
	{ "address without custom", "filter:\n  block:\n    ipv4: 192.0.2.1\n", 3, "filter.block.ipv4", "only with", 1 },
	{ "IPv6 address for A", "filter: { block: { mode: custom, ipv4: \"::1\" } }\n", 1, "filter.block.ipv4", "expected an IPv4 address", 1 },
	{ "IPv4 address for AAAA", "filter: { block: { mode: custom, ipv6: 1.2.3.4 } }\n", 1, "filter.block.ipv6", "expected an IPv6 address", 1 },
	{ "least TTL over the greatest", "cache:\n  min_ttl: 100\n  max_ttl: 50\n", 2, "cache.min_ttl", "more than cache.max_ttl (50)", 1 },
	{ "listen without an address", "server: { listen: [] }\n", 1, "server.listen", "expected 1 to 32", 1 },
	{ "listen on a port alone", "server: { listen: [53] }\n", 1, "server.listen[0]", "expected an address", 1 },
	{ "listen twice on the same", "server: { listen: [127.0.0.1, \"127.0.0.1:53\"] }\n", 1, "server.listen[1]", "there already", 1 },
	{ "listen in brackets without quotes", "server: { listen: [[::1]] }\n", 1, "", "not YAML", 1 },
	{ "interface's name too long", "fastpath: { interfaces: [abcdefghijklmnop] }\n", 1, "fastpath.interfaces[0]", "at most 15 bytes", 1 },
	{ "interface twice", "fastpath: { interfaces: [a, a] }\n", 1, "fastpath.interfaces[1]", "there already", 1 },
	{ "prefix with bits behind its length", "access: { allow: [10.0.0.1/8] }\n", 1, "access.allow[0]", "bits behind its length", 1 },
	{ "prefix that is too long", "access: { allow: [10.0.0.0/33] }\n", 1, "access.allow[0]", "expected a prefix", 1 },
	{ "access for a name", "access: { allow: [lan] }\n", 1, "access.allow[0]", "not \"lan\"", 1 },
	{ "unknown default of access", "access: { default: drop }\n", 1, "access.default", "refuse or allow", 1 },
	{ "socket's path too long", "api: { socket: /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	  "aaaaaaaaaaaaaaaaaaaaaaaa }\n", 1, "api.socket", "longer than 107 bytes", 1 },
	{ "user with a space", "server: { user: \"a b\" }\n", 1, "server.user", "the name of a user", 1 },
	{ "text with a NUL", "state: \"a\\0b\"\n", 1, "state", "NUL", 1 },
	{ "empty path", "state: \"\"\n", 1, "state", "no value", 1 },
	{ "two documents", "cache: { entries: 500 }\n---\ncache: { entries: 600 }\n", 2, "", "expected one document", 1 },
	{ "tags", "cache: { entries: !!int 500 }\n", 1, "", "tags", 1 },
	{ "open bracket", "cache: { entries: 500\nstate: /x\n", 2, "", "not YAML", 1 },
	{ "tab as indentation", "cache:\n\tentries: 500\n", 2, "", "not YAML", 1 },
	{ "control character", "cache:\n  # \x01\n  entries: 500\n", 2, "", "not YAML: control characters", 1 },
	{ "version of more than 63 octets", "server: { version: \"0123456789012345678901234567890123456789012345678901234567890123\" }\n", 1,
	  "server.version", "a text of at most 63 octets", 1 },
	{ "unknown word for subnets", "upstreams: { ecs: add }\n", 1, "upstreams.ecs", "strip or forward", 1 },
	{ "special zone that is no name", "upstreams: { forward_special: [\"a..b\"] }\n", 1, "upstreams.forward_special[0]", "a name of the DNS", 1 },
	{ "broken UTF-8", "state: /a\nserver:\n  user: \xc3\x28\n", 3, "", "not YAML", 1 },
	{ "alias without an anchor", "state: *x\n", 1, "", "not YAML", 1 },
	{ "nested too deep", "a: [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]\n", 1, "", "nested too deep", 1 },
	{ "a map that holds itself", "&a cache: &b { entries: *b }\n", 1, "cache.entries", "not a map", 1 },
	{ "key that is a list", "? [a]\n: 5\n", 1, "", "the name of a key", 1 },
	{ "all errors are said, in the order of lines", "groups:\n- { name: default, lists: [x] }\ncache: { entries: 1 }\nbogus: 1\n", 2,
	  "groups[0].lists", "not \"x\"", 3 },
	{ "one of many in a list does not hide the others", "upstreams: { servers: [a, b, 1.1.1.1, \"tls:/c\"] }\n", 1, "upstreams.servers[0]",
	  "expected an address", 3 },
};

static void is_refused(void **state)
{
	const struct bad *t = *state;
	struct config_errors errs;
	struct config *c = NULL;
	const struct err_at *e = &errs.at[0];

	assert_int_equal(config_load(t->text, strlen(t->text), FILE_NAME, &c, &errs), -EINVAL);
	assert_null(c);
	assert_int_equal(errs.count, t->count);
	assert_string_equal(e->file, FILE_NAME);
	assert_string_equal(e->key, t->key);
	if (!strstr(e->why, t->why))
		fail_msg("\"%s\" is not in \"%s\"", t->why, e->why);
	assert_int_equal(e->line, t->line);
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

static bool is_addr(const struct addr *a, const char *text)
{
	char buf[ADDR_TEXT_MAX];

	return !strcmp(addr_text(a, buf, sizeof(buf)), text);
}

static bool is_prefix(const struct addr_prefix *p, const char *text)
{
	char buf[ADDR_TEXT_MAX];

	return !strcmp(addr_prefix_text(p, buf, sizeof(buf)), text);
}

static bool has_defaults(const struct config *c)
{
	return c->server_listen.count == 2 && is_addr(&c->server_listen.at[0], "127.0.0.1:53") &&
	       is_addr(&c->server_listen.at[1], "[::1]:53") && c->server_workers == 0 && !strcmp(c->server_user, "millrace") &&
	       c->fastpath_interfaces.count == 0 && c->fastpath_mode == CONFIG_MODE_AUTO && c->fastpath_attach == CONFIG_ATTACH_LINK &&
	       !c->fastpath_required && c->fastpath_answers == 200000 && c->fastpath_admit_after == 2 &&
	       c->upstreams_servers.count == 0 && !c->upstreams_servers_given && c->upstreams_timeout_ms == 2000 &&
	       c->upstreams_strategy == CONFIG_PARALLEL_BEST && c->upstreams_fallback.count == 0 && c->upstreams_routes.count == 0 &&
	       c->upstreams_max_in_flight == 8192 && c->upstreams_server_max_in_flight == 4096 && c->upstreams_case_randomization &&
	       c->upstreams_rebinding_protect && c->upstreams_rebinding_allow.count == 0 && !*c->upstreams_ca &&
	       c->cache_entries == 200000 && c->cache_min_ttl == 0 && c->cache_max_ttl == 86400 &&
	       c->cache_negative_ttl_max == 3600 && c->cache_prefetch && c->filter_block_mode == CONFIG_BLOCK_NULL_ADDRESS &&
	       c->filter_block_ttl == 10 && is_addr(&c->filter_block_ipv4, "0.0.0.0") && is_addr(&c->filter_block_ipv6, "::") &&
	       c->filter_block_ede == CONFIG_EDE_TEXT && c->upstreams_bootstrap.count == 0 && c->filter_rules.count == 0 &&
	       c->filter_rewrites.count == 0 && c->filter_fetch_timeout_ms == 60000 && c->filter_fetch_max_bytes == 256 << 20 &&
	       c->clients.count == 0 && c->filter_lists.count == 0 && c->groups.count == 1 && !strcmp(c->groups.at[0].name, "default") &&
	       c->access_allow.count == 8 && is_prefix(&c->access_allow.at[0], "127.0.0.0/8") &&
	       is_prefix(&c->access_allow.at[1], "::1/128") && is_prefix(&c->access_allow.at[7], "fe80::/10") &&
	       c->access_default == CONFIG_ACCESS_REFUSE && !c->query_log_enabled &&
	       !strcmp(c->api_socket, "/run/millrace/api.sock") && !strcmp(c->state, "/var/lib/millrace");
}

static bool has_listen(const struct config *c)
{
	return c->server_listen.count == 3 && is_addr(&c->server_listen.at[0], "0.0.0.0:5353") &&
	       is_addr(&c->server_listen.at[1], "[::]:53") && is_addr(&c->server_listen.at[2], "[2001:db8::1]:853");
}

static bool has_servers(const struct config *c)
{
	return c->upstreams_servers_given && c->upstreams_servers.count == 3 && is_addr(&c->upstreams_servers.at[0].at.addr, "9.9.9.9:53") &&
	       is_addr(&c->upstreams_servers.at[1].at.addr, "10.53.1.2:5300") &&
	       is_addr(&c->upstreams_servers.at[2].at.addr, "[2620:fe::fe]:53");
}

static bool has_upstreams(const struct config *c)
{
	const struct config_server *s = c->upstreams_servers.at;
	const struct config_route *r = c->upstreams_routes.at;

	return c->upstreams_strategy == CONFIG_ORDERED && c->upstreams_servers.count == 3 && s[0].at.scheme == ENDPOINT_TCP &&
	       s[0].trust_ad && s[0].no_do && !s[1].trust_ad && !s[1].no_do && !s[1].at.literal && s[1].at.scheme == ENDPOINT_DNS &&
	       !strcmp(s[1].at.host, "dns.example") && s[1].at.addr.port == 5353 && !s[2].no_do &&
	       c->upstreams_fallback.count == 1 && is_addr(&c->upstreams_fallback.at[0].at.addr, "8.8.8.8:53") &&
	       c->upstreams_routes.count == 2 && !strcmp(r[0].zone, "corp.example") && r[0].servers.count == 1 &&
	       is_addr(&r[0].servers.at[0].at.addr, "10.0.0.53:53") && r[1].servers.count == 2 && c->upstreams_max_in_flight == 100 &&
	       c->upstreams_server_max_in_flight == 50 && c->upstreams_health_fall == 2 && c->upstreams_health_rise == 1 &&
	       c->upstreams_health_probe_ms == 1000 && !c->upstreams_case_randomization && !c->upstreams_rebinding_protect &&
	       c->upstreams_rebinding_allow.count == 1 && !strcmp(c->upstreams_rebinding_allow.at[0].name, "lan.example") &&
	       !strcmp(c->upstreams_ca, "/etc/millrace/ca.pem");
}

static bool has_secure_servers(const struct config *c)
{
	const struct config_server *s = c->upstreams_servers.at;

	return c->upstreams_servers.count == 3 && c->upstreams_https_get && s[0].at.scheme == ENDPOINT_TLS && s[0].at.addr.port == 853 &&
	       !strcmp(s[0].at.name, "one.example") && s[1].at.scheme == ENDPOINT_HTTPS && s[1].at.addr.port == 443 &&
	       !strcmp(s[1].at.host, "dns.example") && !strcmp(s[1].at.path, "/dns-query") && s[2].pins == 1 && s[2].trust_ad &&
	       !strcmp(s[2].at.name, "two.example");
}

static bool has_no_servers(const struct config *c)
{
	return c->upstreams_servers_given && c->upstreams_servers.count == 0;
}

static bool has_units(const struct config *c)
{
	return c->cache_min_ttl == 90 * 60 && c->cache_max_ttl == 2 * 86400 && c->cache_negative_ttl_max == 7 &&
	       c->filter_block_ttl == 3600 && c->upstreams_timeout_ms == 3000;
}

static bool has_lists(const struct config *c)
{
	const struct config_list *l = c->filter_lists.at;

	return c->filter_lists.count == 3 && !strcmp(l[0].name, "ads") && !strcmp(l[0].file, "/etc/millrace/lists/ads.txt") &&
	       l[0].format == CONFIG_LIST_AUTO && l[0].action == CONFIG_LIST_BLOCK && !strcmp(l[1].file, "/srv/b") &&
	       l[1].format == CONFIG_LIST_HOSTS && l[1].action == CONFIG_LIST_ALLOW && l[2].format == CONFIG_LIST_ADBLOCK &&
	       c->groups.at[0].lists == 3 && c->groups.at[0].uses[0] && c->groups.at[0].uses[1] && c->groups.at[0].uses[2];
}

static bool has_some_lists(const struct config *c)
{
	return c->groups.at[0].lists == 2 && !c->groups.at[0].uses[0] && c->groups.at[0].uses[1];
}

static bool has_no_lists_used(const struct config *c)
{
	return c->groups.at[0].lists == 1 && !c->groups.at[0].uses[0];
}

static bool has_fastpath(const struct config *c)
{
	return c->fastpath_interfaces.count == 2 && !strcmp(c->fastpath_interfaces.at[0], "eth0") &&
	       !strcmp(c->fastpath_interfaces.at[1], "enp3s0.7") && c->fastpath_mode == CONFIG_MODE_OFF && c->fastpath_required &&
	       c->fastpath_answers == 4096 && c->fastpath_admit_after == 1;
}

static bool has_yes(const struct config *c)
{
	return c->fastpath_required && !c->cache_prefetch;
}

static bool has_custom(const struct config *c)
{
	return c->filter_block_mode == CONFIG_BLOCK_CUSTOM && is_addr(&c->filter_block_ipv4, "192.0.2.1") &&
	       is_addr(&c->filter_block_ipv6, "::");
}

static bool has_paths(const struct config *c)
{
	return !strcmp(c->state, "/etc/millrace/var") && !strcmp(c->api_socket, "/etc/millrace/run/api.sock");
}

static bool has_access(const struct config *c)
{
	return c->access_default == CONFIG_ACCESS_ALLOW && c->access_allow.count == 2 && is_prefix(&c->access_allow.at[0], "10.0.0.0/8") &&
	       is_prefix(&c->access_allow.at[1], "fd53::2/128");
}

static bool has_no_access(const struct config *c)
{
	return c->access_allow.count == 0;
}

static bool has_anchor(const struct config *c)
{
	return c->cache_min_ttl == 60 && c->filter_block_ttl == 60;
}

static bool has_workers(const struct config *c)
{
	return c->server_workers == 4 && !strcmp(c->server_user, "yes");
}

static const struct good {
	const char *name, *text;
	bool (*holds)(const struct config *c);
} good[] = {
	{ "empty file gives the defaults", "", has_defaults },
	{ "comments alone give the defaults", "# nothing\n\n# here\n", has_defaults },
	{ "empty document gives the defaults", "---\n", has_defaults },
	{ "no group at all is the group default", "groups: []\n", has_defaults },
	{ "sections without keys give the defaults", "server:\n  # listen: x\ncache:\nfilter:\n  block:\n", has_defaults },
	{ "byte order mark and CRLF are fine", "\xef\xbb\xbf" "cache:\r\n  prefetch: true\r\n", has_defaults },
	{ "listen takes addresses with and without ports", "server: { listen: [\"0.0.0.0:5353\", \"::\", \"[2001:db8::1]:853\"] }", has_listen },
	{ "servers take addresses with and without ports", "upstreams: { servers: [9.9.9.9, \"10.53.1.2:5300\", \"2620:fe::fe\"] }", has_servers },
	{ "upstreams have strategy, routes, fallback and bounds",
	  "upstreams:\n  strategy: ordered\n"
	  "  servers: [{ address: \"tcp://9.9.9.9\", trust_ad: true, dnssec_ok: false }, \"udp://DNS.example.:5353\", { address: 1.1.1.1 }]\n"
	  "  fallback: [8.8.8.8]\n"
	  "  routes:\n  - { zone: Corp.Example., servers: [10.0.0.53] }\n  - { zone: lan, servers: [10.0.0.53, \"tcp://10.0.0.54\"] }\n"
	  "  max_in_flight: 100\n  server_max_in_flight: 50\n  health: { fall: 2, rise: 1, probe_ms: 1s }\n"
	  "  case_randomization: false\n  rebinding: { protect: false, allow: [lan.example.] }\n  ca: ca.pem\n", has_upstreams },
	{ "servers over TLS and HTTPS have names and pins",
	  "upstreams:\n  servers: [\"tls://1.1.1.1#one.example\", \"https://dns.example\", { address: \"tls://[2620:fe::fe]:8853\", "
	  "pin: \"" PIN "\", name: two.example, trust_ad: true }]\n  https_get: true\n", has_secure_servers },
	{ "no servers is not the same as no key", "upstreams: { servers: [] }", has_no_servers },
	{ "times carry units", "cache: { min_ttl: 90m, max_ttl: 2d, negative_ttl_max: 7s }\nfilter: { block: { ttl: 1h } }\n"
	  "upstreams: { timeout_ms: 3s }", has_units },
	{ "lists have formats, actions and files beside the configuration", "filter:\n  lists:\n  - { name: ads, file: lists/ads.txt }\n"
	  "  - { name: b, file: /srv/b, format: hosts, action: allow }\n  - { name: c, file: c, format: adblock, action: block }\n", has_lists },
	{ "group default uses the lists that it names", "groups: [{ name: default, lists: [b] }]\nfilter:\n  lists:\n"
	  "  - { name: a, file: a }\n  - { name: b, file: b }\n", has_some_lists },
	{ "group default can use none", "filter: { lists: [{ name: a, file: a }] }\ngroups: [{ name: default, lists: [] }]", has_no_lists_used },
	{ "fastpath takes its values, off is a word", "fastpath: { interfaces: [eth0, enp3s0.7], mode: off, required: true, answers: 4096, "
	  "admit_after: 1, attach: link }", has_fastpath },
	{ "yes and off are switches", "fastpath: { required: Yes }\ncache: { prefetch: off }", has_yes },
	{ "custom takes one address", "filter: { block: { mode: custom, ipv4: 192.0.2.1 } }", has_custom },
	{ "relative paths start beside the configuration", "state: var\napi: { socket: run/api.sock }", has_paths },
	{ "access takes prefixes and addresses", "access: { allow: [10.0.0.0/8, \"fd53::2\"], default: allow }", has_access },
	{ "access may be nobody's", "access: { allow: [] }", has_no_access },
	{ "anchors are fine", "cache: { min_ttl: &t 60 }\nfilter: { block: { ttl: *t } }", has_anchor },
	{ "a text may look like a switch", "server: { user: yes, workers: 4 }", has_workers },
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
	const char *name, *before, *after;
	const char *keys;		/* those that differ, each with a blank behind */
	unsigned restarts;
} changes[] = {
	{ "nothing changes", "cache: { entries: 500 }", "cache:\n  entries: 500\n", "", 0 },
	{ "a TTL is live", "", "cache: { max_ttl: 1h }", "cache.max_ttl ", 0 },
	{ "listen needs a restart", "", "server: { listen: [127.0.0.2] }", "server.listen ", 1 },
	{ "some of each", "state: /a", "state: /b\nfastpath: { mode: off, admit_after: 3 }", "fastpath.mode fastpath.admit_after state ", 2 },
	{ "a route's server is a change of routes", "upstreams: { routes: [{ zone: a, servers: [1.1.1.1] }] }",
	  "upstreams: { routes: [{ zone: a, servers: [1.1.1.2] }] }", "upstreams.routes ", 0 },
	{ "what is believed of a server is a change of servers", "upstreams: { servers: [1.1.1.1] }",
	  "upstreams: { servers: [{ address: 1.1.1.1, trust_ad: true }] }", "upstreams.servers ", 0 },
	{ "the same server in two ways of writing is no change", "upstreams: { servers: [1.1.1.1] }",
	  "upstreams: { servers: [\"udp://1.1.1.1:53\"] }", "", 0 },
	{ "no servers differ from no key", "", "upstreams: { servers: [] }", "upstreams.servers ", 0 },
	{ "a list's file", "filter: { lists: [{ name: a, file: a }] }", "filter: { lists: [{ name: a, file: b }] }", "filter.lists ", 0 },
	{ "a list more changes the group that uses all", "filter: { lists: [{ name: a, file: a }] }",
	  "filter: { lists: [{ name: a, file: a }, { name: b, file: b }] }", "filter.lists groups ", 0 },
	{ "what a group uses", "filter: { lists: [{ name: a, file: a }] }",
	  "filter: { lists: [{ name: a, file: a }] }\ngroups: [{ name: default, lists: [] }]", "groups ", 0 },
	{ "access", "", "access: { allow: [10.0.0.0/8], default: allow }", "access.allow access.default ", 0 },
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

	assert_int_equal(config_changes(before, after, collect, keys), t->restarts);
	assert_string_equal(keys, t->keys);
	config_free(before);
	config_free(after);
}

/* ---- the rest ---- */

static char *read_file(const char *path, size_t *ret_size)
{
	FILE *f = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	assert_non_null(f);
	assert_non_null(text);
	*ret_size = fread(text, 1, (1 << 20) - 1, f);
	fclose(f);
	return text;
}

static void reference_lists_every_row(void **state)
{
	char *text = config_reference(), line[200];
	const struct config_option *o;
	unsigned i;

	assert_non_null(text);
	for (i = 0; (o = config_option(i)); i++) {
		snprintf(line, sizeof(line), "\n### `%s`\n", o->path);
		assert_non_null(strstr(text, line));
		assert_non_null(strstr(text, o->help));
	}
	assert_true(i > 20);
	assert_non_null(strstr(text, "* `rate_limit`"));
	free(text);
}

static void reference_in_docs_is_the_printed_one(void **state)
{
	char *text = config_reference(), *file;
	size_t size;

	assert_non_null(text);
	file = read_file("docs/CONFIGURATION.md", &size);
	assert_string_equal(file, text);
	free(file);
	free(text);
}

static void sample_in_docs_says_the_defaults(void **state)
{
	struct config *c, *d = load("");
	char keys[1000] = "", *text;
	size_t size;

	text = read_file("docs/millrace.yaml", &size);
	c = load(text);
	assert_true(has_defaults(c));
	assert_int_equal(config_changes(c, d, collect, keys), 0);
	assert_string_equal(keys, "");
	config_free(c);
	config_free(d);
	free(text);
}

static void size_is_bounded(void **state)
{
	size_t size = CONFIG_SIZE_MAX + 1;
	char *text = malloc(size);
	struct config_errors errs;
	struct config *c = NULL;

	assert_non_null(text);
	memset(text, '\n', size);
	assert_int_equal(config_load(text, size, FILE_NAME, &c, &errs), -EINVAL);
	assert_non_null(strstr(errs.at[0].why, "longer than 1 MiB"));
	memset(text, '[', size);
	assert_int_equal(config_load(text, size - 1, FILE_NAME, &c, &errs), -EINVAL);
	assert_non_null(strstr(errs.at[0].why, "too deep"));
	free(text);
}

static void errors_are_bounded_and_counted(void **state)
{
	char text[40 * 16] = "";
	struct config_errors errs;
	struct config *c = NULL;
	int i;

	for (i = 0; i < 40; i++)
		sprintf(text + strlen(text), "bogus%d: 1\n", i);
	assert_int_equal(config_load(text, strlen(text), NULL, &c, &errs), -EINVAL);
	assert_int_equal(errs.count, CONFIG_ERRORS_MAX);
	assert_int_equal(errs.more, 40 - CONFIG_ERRORS_MAX);
	assert_string_equal(errs.at[0].file, "");
}

static void text_need_not_end_in_nul(void **state)
{
	struct config_errors errs;
	struct config *c = NULL;

	assert_int_equal(config_load("state: /abc", 9, NULL, &c, &errs), 0);
	assert_string_equal(c->state, "/a");
	config_free(c);
}

int main(void)
{
	static struct CMUnitTest tests[COUNT_OF(bad) + COUNT_OF(good) + COUNT_OF(changes) + 6] = {
		cmocka_unit_test(reference_lists_every_row),
		cmocka_unit_test(reference_in_docs_is_the_printed_one),
		cmocka_unit_test(sample_in_docs_says_the_defaults),
		cmocka_unit_test(size_is_bounded),
		cmocka_unit_test(errors_are_bounded_and_counted),
		cmocka_unit_test(text_need_not_end_in_nul),
	};
	size_t n = 6, i;

	for (i = 0; i < COUNT_OF(bad); i++)
		tests[n++] = (struct CMUnitTest){ bad[i].name, is_refused, NULL, NULL, (void *)&bad[i] };
	for (i = 0; i < COUNT_OF(good); i++)
		tests[n++] = (struct CMUnitTest){ good[i].name, is_taken, NULL, NULL, (void *)&good[i] };
	for (i = 0; i < COUNT_OF(changes); i++)
		tests[n++] = (struct CMUnitTest){ changes[i].name, is_changed, NULL, NULL, (void *)&changes[i] };
	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
