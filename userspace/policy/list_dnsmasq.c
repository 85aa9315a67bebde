/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_dnsmasq.c - statements of dnsmasq's configuration that are about names.
 *
 * "address=/a.example/b.example/#": both names with all below; '#' or nothing
 * in the end is a block, an address what to answer.  "server=/zone/address" and
 * "local=/zone/" are servers for zones, counted as routes.  All else that
 * dnsmasq(8) knows is a statement, in lists of any format.
 */
#include <stdlib.h>
#include "policy/list_read.h"

/* Options of dnsmasq 2.90 that say nothing here; '=': with a value, '.': without, '?': either. */
static const char *const options[] = {
	"?add-cpe-id", "?add-mac", "?add-subnet", "=addn-hosts", "=address", "=alias", ".all-servers", "=auth-peer",
	"=auth-sec-servers", "=auth-server",
	"=auth-soa", "=auth-ttl", "=auth-zone", ".bind-dynamic", ".bind-interfaces", ".bogus-priv", "=bogus-nxdomain",
	"?bootp-dynamic", "=bridge-interface", "=caa-record", "=cache-rr", "=cache-size", ".clear-on-reload", "=cname",
	"=conf-dir", "=conf-file", "=conf-script", ".connmark-allowlist-enable", ".conntrack", "?dhcp-alternate-port",
	".dhcp-authoritative", "=dhcp-boot", "?dhcp-broadcast", "=dhcp-circuitid", ".dhcp-client-update", "=dhcp-duid",
	".dhcp-fqdn", "?dhcp-generate-names", "=dhcp-host", "=dhcp-hostsdir", "=dhcp-hostsfile", "=dhcp-ignore",
	"?dhcp-ignore-names", "=dhcp-lease-max", "=dhcp-leasefile", "=dhcp-mac", "=dhcp-match", "=dhcp-name-match",
	".dhcp-no-override", "=dhcp-option", "=dhcp-option-force", "=dhcp-option-pxe", "=dhcp-optsdir", "=dhcp-optsfile",
	"?dhcp-proxy", "=dhcp-pxe-vendor", "=dhcp-range", ".dhcp-rapid-commit", "=dhcp-relay", "=dhcp-remoteid",
	"=dhcp-reply-delay", "=dhcp-script", "=dhcp-scriptuser", ".dhcp-sequential-ip", "=dhcp-subscrid", "=dhcp-ttl",
	"=dhcp-userclass", "=dhcp-vendorclass", ".dns-loop-detect", "=dns-forward-max", "=dns-rr", ".dnssec",
	"?dnssec-check-unsigned", ".dnssec-debug", "=dnssec-limits", ".dnssec-no-timecheck", "=dnssec-timestamp", "=domain",
	".domain-needed", "=domain-suffix", "=dumpfile", "=dumpmask", "=dynamic-host", "=edns-packet-max", "?enable-dbus",
	".enable-ra", "?enable-tftp", "?enable-ubus", ".expand-hosts", "?fast-dns-retry", ".filter-A", ".filter-AAAA",
	"=filter-rr", ".filterwin2k", "=group", "=host-record", "=hostsdir", "=ignore-address", "=interface",
	"=interface-name", "=ipset", ".keep-in-foreground", ".leasefile-ro", "?leasequery", "=listen-address", "=local",
	"?local-service", "=local-ttl", ".localise-queries", ".localmx", "?log-async", ".log-debug", ".log-dhcp",
	"=log-facility", "?log-queries", "=max-cache-ttl", "=max-port", "=max-ttl", "=min-cache-ttl", "=min-port",
	"=mx-host", "=mx-target", "=naptr-record", "=neg-ttl", "=nftset", ".no-daemon", "=no-dhcp-interface",
	"=no-dhcpv4-interface", "=no-dhcpv6-interface", ".no-hosts", ".no-ident", ".no-negcache", ".no-ping", ".no-poll",
	".no-resolv", ".no-round-robin", "=pid-file", "=port", "=port-limit", ".proxy-dnssec", "=ptr-record", "=pxe-prompt",
	"=pxe-service", "=query-port", ".quiet-dhcp", ".quiet-dhcp6", ".quiet-ra", ".quiet-tftp", "=ra-param",
	".read-ethers", "=rebind-domain-ok", ".rebind-localhost-ok", "=resolv-file", "=rev-server", ".script-arp",
	".script-on-renewal", ".selfmx", "=server", "=servers-file", "=shared-network", "=srv-host", ".stop-dns-rebind",
	".strict-order", ".strip-mac", ".strip-subnet", "=synth-domain", "=tag-if", "?tftp-lowercase", "=tftp-max",
	"=tftp-mtu", ".tftp-no-blocksize", ".tftp-no-fail", "=tftp-port-range", "=tftp-root", ".tftp-secure",
	".tftp-single-port", "?tftp-unique-root", "=trust-anchor", "=txt-record", "?umbrella", "?use-stale-cache", "=user",
};

static void take_one(struct list_reading *r, struct list_span name, struct list_span target, bool route)
{
	struct rule_item item = { .kind = RULE_ROUTE, .reach = RULE_SUBTREE };

	/* a leading dot or "*." says what is so anyway */
	if (list_starts(name, "*."))
		name.p++;
	if (list_starts(name, "."))
		name.p++;
	if (!list_size(name) || list_is(name, "#"))
		list_skip(r, LIST_SKIP_statement);	/* names of one label, and all names */
	else if (!list_take_name(r, name))
		return;
	else if (route) {
		item.name = r->name.wire;
		item.name_len = (uint16_t)r->name.len;
		list_give(r, &item);
	} else if (list_name_is_local(&r->name)) {
		list_skip(r, LIST_SKIP_local_name);
	} else if (!list_size(target) || list_is(target, "#")) {
		list_give_name(r, RULE_SUBTREE, FILTER_BLOCK);
	} else if (list_is_address(target, NULL)) {
		list_give_address(r, RULE_SUBTREE, target);
	} else {
		list_skip(r, LIST_SKIP_rewrite);
	}
}

/* Where the names of "/name/name/target" end; NULL when it is not of that form. */
static const char *find_target(struct list_span s)
{
	const char *slash = list_starts(s, "/") ? memrchr(s.p, '/', list_size(s)) : NULL;

	return slash && slash > s.p ? slash + 1 : NULL;
}

/* One of its options, as it would stand in its file. */
static bool is_option(struct list_span s)
{
	struct list_span key = { s.p, s.p };
	char kind;
	size_t i;

	while (key.end < s.end && (((*key.end | 32) >= 'a' && (*key.end | 32) <= 'z') || *key.end == '-' ||
				   (*key.end >= '0' && *key.end <= '9')))
		key.end++;
	s.p = key.end;
	s = list_trim(s);
	if (key.p == key.end || *key.p < 'a' || *key.p > 'z' || (s.p < s.end && *s.p != '='))
		return false;
	kind = s.p < s.end ? '=' : '.';
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if ((*options[i] == kind || *options[i] == '?') && list_is(key, options[i] + 1))
			return true;
	return false;
}

bool list_take_dnsmasq(struct list_reading *r, struct list_span s)
{
	bool address = list_starts(s, "address=/"), server = list_starts(s, "server=/"), local = list_starts(s, "local=/");
	struct list_span names, target;

	if (!address && !server && !local) {
		if (r->format != LIST_DNSMASQ && !is_option(list_without_remark(s)))
			return false;
		list_fault(r, s, "address=/name/ of dnsmasq, or another rule");
		list_skip(r, LIST_SKIP_statement);
		return true;
	}
	s = list_without_remark(s);
	list_until(&s, '=');
	target = (struct list_span){ find_target(s), s.end };
	if (!target.p) {
		list_skip(r, LIST_SKIP_syntax);
		return true;
	}
	names = (struct list_span){ s.p + 1, target.p - 1 };
	do
		take_one(r, list_until(&names, '/'), target, !address);
	while (names.p < names.end && !r->err);
	return true;
}
