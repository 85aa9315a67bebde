/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_list_real.c - what real lists come to, their odd lines, and how another
 * filter counts the same lists.
 *
 * Reads ../shared/data; what is not there is skipped, saying so.
 */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "policy/filter_build.h"
#include "policy/secret.h"
#include "unit/policy/item_text.h"
#include "unit/policy/names.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* ---- whole lists ---- */

static const struct real {
	const char *file;
	enum list_format format;
	const char *kept, *skipped;
} reals[] = {
	{ "adblock/adguard-dns-2017.txt", LIST_AUTO,
	  "exact=15 subtree=12514 allow=6 regex=72 address=65 duplicates=24",
	  "empty=64 cosmetic=1 path=51" },
	{ "adblock/adguard-dns-2017.txt", LIST_ADBLOCK,
	  "exact=17 subtree=12514 allow=6 regex=72 address=65 duplicates=24",
	  "empty=64 cosmetic=1 path=49" },
	{ "adblock/adguard-russian-browser-2018.txt", LIST_AUTO,
	  "exact=28 subtree=448 allow=15 regex=68 address=1",
	  "empty=2698 single_label=18 syntax=41 idn=21 cosmetic=7745 path=3502 modifier=4828" },
	{ "adblock/adguard-russian-browser-2018.txt", LIST_ADBLOCK,
	  "exact=28 subtree=448 allow=15 regex=122 address=1",
	  "empty=2698 single_label=5 idn=21 cosmetic=7745 path=3502 modifier=4828" },
	{ "adblock/adguardhome-safesearch/bing.txt", LIST_AUTO,
	  "rewrite=2",
	  "" },
	{ "adblock/adguardhome-safesearch/bing.txt", LIST_ADBLOCK,
	  "rewrite=2",
	  "" },
	{ "adblock/adguardhome-safesearch/duckduckgo.txt", LIST_AUTO,
	  "rewrite=3",
	  "" },
	{ "adblock/adguardhome-safesearch/duckduckgo.txt", LIST_ADBLOCK,
	  "rewrite=3",
	  "" },
	{ "adblock/adguardhome-safesearch/ecosia.txt", LIST_AUTO,
	  "rewrite=1",
	  "" },
	{ "adblock/adguardhome-safesearch/ecosia.txt", LIST_ADBLOCK,
	  "rewrite=1",
	  "" },
	{ "adblock/adguardhome-safesearch/google.txt", LIST_AUTO,
	  "rewrite=194",
	  "" },
	{ "adblock/adguardhome-safesearch/google.txt", LIST_ADBLOCK,
	  "rewrite=194",
	  "" },
	{ "adblock/adguardhome-safesearch/pixabay.txt", LIST_AUTO,
	  "rewrite=1",
	  "" },
	{ "adblock/adguardhome-safesearch/pixabay.txt", LIST_ADBLOCK,
	  "rewrite=1",
	  "" },
	{ "adblock/easylist-browser-2019.txt", LIST_AUTO,
	  "exact=9 subtree=896 allow=7 regex=14 address=5",
	  "empty=5 single_label=622 syntax=449 idn=2 cosmetic=1 path=13988 modifier=22981" },
	{ "adblock/easylist-browser-2019.txt", LIST_ADBLOCK,
	  "exact=9 subtree=896 allow=7 regex=1131 address=5",
	  "empty=5 idn=2 cosmetic=1 path=13942 modifier=22981" },
	{ "adblock/hagezi-light-2022-06-08.adblock.txt", LIST_AUTO,
	  "subtree=139978",
	  "empty=11" },
	{ "adblock/hagezi-light-2022-06-08.adblock.txt", LIST_ADBLOCK,
	  "subtree=139978",
	  "empty=11" },
	{ "adblock/ph00lt0-browser-2026.txt", LIST_AUTO,
	  "subtree=29500 allow=4 regex=11 bad=743",
	  "empty=19 syntax=18 cosmetic=874 path=299 modifier=765" },
	{ "adblock/ph00lt0-browser-2026.txt", LIST_ADBLOCK,
	  "subtree=29500 allow=4 regex=11 bad=743",
	  "empty=19 syntax=18 cosmetic=874 path=299 modifier=765" },
	{ "adblock/ublock-badware-2025.min.txt", LIST_AUTO,
	  "subtree=51 address=3",
	  "empty=203 cosmetic=67 path=278 modifier=3854" },
	{ "adblock/ublock-badware-2025.min.txt", LIST_ADBLOCK,
	  "subtree=51 address=3",
	  "empty=203 cosmetic=67 path=278 modifier=3854" },
	{ "adblock/ublock-privacy-2025.min.txt", LIST_AUTO,
	  "subtree=66 regex=3",
	  "empty=261 cosmetic=333 path=198 modifier=636" },
	{ "adblock/ublock-privacy-2025.min.txt", LIST_ADBLOCK,
	  "subtree=66 regex=3",
	  "empty=261 cosmetic=333 path=198 modifier=636" },
	{ "allow/anudeepND-optional.txt", LIST_AUTO,
	  "exact=143 duplicates=1",
	  "empty=82" },
	{ "allow/anudeepND-whitelist.txt", LIST_AUTO,
	  "exact=191",
	  "" },
	{ "allow/hagezi-whitelist-referral.adblock.txt", LIST_AUTO,
	  "allow=480 regex=2",
	  "" },
	{ "allow/mmotti-whitelist.list", LIST_AUTO,
	  "exact=10",
	  "empty=7" },
	{ "dnsmasq/china-apple.conf", LIST_AUTO,
	  "route=164",
	  "" },
	{ "dnsmasq/china-apple.conf", LIST_DNSMASQ,
	  "route=164",
	  "" },
	{ "dnsmasq/china-google.conf", LIST_AUTO,
	  "route=112",
	  "empty=5" },
	{ "dnsmasq/china-google.conf", LIST_DNSMASQ,
	  "route=112",
	  "empty=5" },
	{ "dnsmasq/hagezi-light-2022.dnsmasq.txt", LIST_AUTO,
	  "subtree=139978",
	  "empty=11" },
	{ "dnsmasq/hagezi-light-2022.dnsmasq.txt", LIST_DNSMASQ,
	  "subtree=139978",
	  "empty=11" },
	{ "domains/easylist-2022.domains.txt", LIST_AUTO,
	  "exact=118201",
	  "empty=38" },
	{ "domains/easylist-2022.domains.txt", LIST_DOMAINS,
	  "exact=118201",
	  "empty=38" },
	{ "domains/hagezi-fake-2022.domains.txt", LIST_AUTO,
	  "exact=14043",
	  "empty=10" },
	{ "domains/hagezi-fake-2022.domains.txt", LIST_DOMAINS,
	  "exact=14043",
	  "empty=10" },
	{ "domains/hagezi-light-2022-06-12.domains.txt", LIST_AUTO,
	  "exact=202153",
	  "empty=11" },
	{ "domains/hagezi-light-2022-06-12.domains.txt", LIST_DOMAINS,
	  "exact=202153",
	  "empty=11" },
	{ "domains/hagezi-personal-2022.domains.txt", LIST_AUTO,
	  "exact=12305",
	  "empty=10" },
	{ "domains/hagezi-personal-2022.domains.txt", LIST_DOMAINS,
	  "exact=12305",
	  "empty=10" },
	{ "domains/ph00lt0-2026.domains.txt", LIST_AUTO,
	  "exact=29498",
	  "" },
	{ "domains/ph00lt0-2026.domains.txt", LIST_DOMAINS,
	  "exact=29498",
	  "" },
	{ "hosts/hagezi-light-2022.hosts.txt", LIST_AUTO,
	  "exact=159267",
	  "empty=11" },
	{ "hosts/hagezi-light-2022.hosts.txt", LIST_HOSTS,
	  "exact=159267",
	  "empty=11" },
	{ "hosts/jawz101-subdomains-2022.hosts.txt", LIST_AUTO,
	  "exact=41050",
	  "empty=14" },
	{ "hosts/jawz101-subdomains-2022.hosts.txt", LIST_HOSTS,
	  "exact=41050",
	  "empty=14" },
	{ "hosts/ph00lt0-2026.hosts.txt", LIST_AUTO,
	  "exact=29498",
	  "" },
	{ "hosts/ph00lt0-2026.hosts.txt", LIST_HOSTS,
	  "exact=29498",
	  "" },
	{ "hosts/stevenblack-2022-converted.hosts.txt", LIST_AUTO,
	  "exact=121356",
	  "empty=14" },
	{ "hosts/stevenblack-2022-converted.hosts.txt", LIST_HOSTS,
	  "exact=121356",
	  "empty=14" },
	{ "regex/mmotti-amp.list", LIST_AUTO,
	  "regex=1",
	  "" },
	{ "regex/mmotti-amp.list", LIST_REGEX,
	  "regex=1",
	  "" },
	{ "regex/mmotti-facebook.list", LIST_AUTO,
	  "regex=1",
	  "" },
	{ "regex/mmotti-facebook.list", LIST_REGEX,
	  "regex=1",
	  "" },
	{ "regex/mmotti-twitter.list", LIST_AUTO,
	  "regex=1",
	  "empty=1" },
	{ "regex/mmotti-twitter.list", LIST_REGEX,
	  "regex=1",
	  "empty=1" },
	{ "rpz/ph00lt0-2026.rpz-body.txt", LIST_AUTO,
	  "exact=29498",
	  "" },
	{ "rpz/ph00lt0-2026.rpz-body.txt", LIST_RPZ,
	  "exact=29498",
	  "" },
	{ "unbound/hagezi-light-2022.unbound.conf", LIST_AUTO,
	  "subtree=82315",
	  "empty=11 statement=1" },
	{ "unbound/hagezi-light-2022.unbound.conf", LIST_UNBOUND,
	  "subtree=82315",
	  "empty=11 statement=1" },
	{ "wildcard/hagezi-light-2022.wildcard.txt", LIST_AUTO,
	  "subtree=129639",
	  "empty=11" },
	{ "wildcard/hagezi-light-2022.wildcard.txt", LIST_WILDCARD,
	  "subtree=129639",
	  "empty=11" },
};

static void add(char *to, size_t size, const char *name, uint64_t count)
{
	size_t n = strlen(to);

	if (count)
		snprintf(to + n, size - n, "%s%s=%llu", n ? " " : "", name, (unsigned long long)count);
}

static void kept_text(const struct list_report *r, char *ret, size_t size)
{
	*ret = '\0';
	add(ret, size, "exact", r->exact);
	add(ret, size, "subtree", r->subtree);
	add(ret, size, "allow", r->allow);
	add(ret, size, "regex", r->regex);
	add(ret, size, "rewrite", r->rewrite);
	add(ret, size, "address", r->address);
	add(ret, size, "route", r->route);
	add(ret, size, "bad", r->bad);
	add(ret, size, "duplicates", r->duplicates);
}

static void skipped_text(const struct list_report *r, char *ret, size_t size)
{
	unsigned i;

	*ret = '\0';
	for (i = 0; i < LIST_SKIP_COUNT; i++)
		add(ret, size, list_skip_names[i], r->skipped[i]);
}

static int build(void *arg, const struct rule_item *i)
{
	struct filter_repeats r = { 0 };
	int err;

	if (!rule_is_plain(i))
		return 1;
	err = filter_builder_put(arg, i->name, i->name_len, i->reach, 0, i->action);
	if (!err)
		err = filter_builder_settle(arg, &r);
	return err ? err : !(r.exact + r.subtree + r.allow);
}

static void parse_into_filter(const char *text, size_t size, enum list_format format, struct list_report *r)
{
	struct filter_builder *b;
	struct mr_secret secret;

	secret_make(&secret);
	b = filter_builder_new(&secret);
	assert_non_null(b);
	assert_int_equal(list_parse(text, size, format, false, build, b, r), 0);
	filter_builder_free(b);
}

static uint64_t sum_of(const struct list_report *r)
{
	uint64_t sum = r->exact + r->subtree + r->allow + r->regex + r->rewrite + r->address + r->route + r->bad + r->duplicates;
	unsigned i;

	for (i = 0; i < LIST_SKIP_COUNT; i++)
		sum += r->skipped[i];
	return sum;
}

/* The text of a list, or the test ends here. */
static char *need_list(const char *file, size_t *ret_size)
{
	char *text = list_file(file, ret_size);

	if (!text) {
		print_message("# ../shared/data/lists/%s is absent\n", file);
		skip();
	}
	return text;
}

static void list_comes_to_this(void **state)
{
	const struct real *t = *state;
	char kept[300], skipped[300];
	struct list_report *r;
	size_t size;
	char *text = need_list(t->file, &size);

	r = calloc(1, sizeof(*r));
	assert_non_null(r);
	parse_into_filter(text, size, t->format, r);
	kept_text(r, kept, sizeof(kept));
	skipped_text(r, skipped, sizeof(skipped));
	assert_string_equal(kept, t->kept);
	assert_string_equal(skipped, t->skipped);
	/* all of these have one name a line */
	assert_int_equal(sum_of(r), r->lines);
	free(r);
	free(text);
}

/* ---- odd lines ---- */

static const struct odd {
	const char *file;
	unsigned line;
	const char *kind, *items;
	enum list_skip skip;
} odds[] = {
	{ "adblock/adguard-dns-2017.txt", 22, "IP-only/IP rule", "@104.154.237.93/32 ", NONE },
	{ "adblock/adguard-dns-2017.txt", 6017, "trailing dot", "/(?:^|\\.)admulti\\./ ", NONE },
	{ "adblock/adguard-dns-2017.txt", 773, "mid-wildcard", "/(?:^|\\.)anet.*\\.tradedoubler\\.com$/ ", NONE },
	{ "adblock/adguard-dns-2017.txt", 6431, "path", "", LIST_SKIP_path },
	{ "adblock/adguard-dns-2017.txt", 6861, "punycode", "*hi.xn--d1accz.su ", NONE },
	{ "adblock/adguard-dns-2017.txt", 12804, "exception", "+*t.appsflyer.com ", NONE },
	{ "adblock/adguard-dns-2017.txt", 3445, "third-party", "", LIST_SKIP_path },
	{ "adblock/adguard-dns-2017.txt", 5835, "underscore", "", LIST_SKIP_path },
	{ "adblock/adguard-dns-2017.txt", 5548, "port", "", LIST_SKIP_path },
	{ "adblock/adguard-dns-2017.txt", 6959, "upper case", "/(?:^|\\.)iphone-caviar\\.ru.*entranceid/ ", NONE },
	{ "adblock/adguard-dns-2017.txt", 5851, "cosmetic rule", "", LIST_SKIP_cosmetic },
	{ "adblock/adguard-russian-browser-2018.txt", 4230, "cosmetic rule", "", LIST_SKIP_cosmetic },
	{ "adblock/adguard-russian-browser-2018.txt", 82, "third-party", "", LIST_SKIP_modifier },
	{ "adblock/adguard-russian-browser-2018.txt", 322, "path", "", LIST_SKIP_path },
	{ "adblock/adguard-russian-browser-2018.txt", 274, "upper case", "", LIST_SKIP_path },
	{ "adblock/adguard-russian-browser-2018.txt", 4219, "exception", "", LIST_SKIP_path },
	{ "adblock/adguard-russian-browser-2018.txt", 80, "non-ascii", "", LIST_SKIP_empty },
	{ "adblock/adguard-russian-browser-2018.txt", 273, "underscore", "", LIST_SKIP_path },
	{ "adblock/adguard-russian-browser-2018.txt", 496, "trailing dot", "/(?:^|\\.)adserver1\\./ ", NONE },
	{ "adblock/adguard-russian-browser-2018.txt", 243, "important", "", LIST_SKIP_modifier },
	{ "adblock/adguard-russian-browser-2018.txt", 4540, "long line>300", "", LIST_SKIP_cosmetic },
	{ "adblock/adguard-russian-browser-2018.txt", 615, "mid-wildcard", "", LIST_SKIP_modifier },
	{ "adblock/adguard-russian-browser-2018.txt", 4566, "regex rule", "", LIST_SKIP_modifier },
	{ "adblock/adguard-russian-browser-2018.txt", 332, "IP-only/IP rule", "", LIST_SKIP_modifier },
	{ "adblock/adguard-russian-browser-2018.txt", 5845, "punycode", "", LIST_SKIP_cosmetic },
	{ "adblock/adguard-russian-browser-2018.txt", 8727, "single label", "", LIST_SKIP_syntax },
	{ "adblock/adguard-russian-browser-2018.txt", 15247, "port", "", LIST_SKIP_path },
	{ "adblock/adguardhome-safesearch/bing.txt", 1, "upper case", "=www.bing.com->CNAME strict.bing.com ", NONE },
	{ "adblock/adguardhome-safesearch/duckduckgo.txt", 1, "upper case", "=duckduckgo.com->CNAME safe.duckduckgo.com ", NONE },
	{ "adblock/adguardhome-safesearch/ecosia.txt", 1, "upper case", "=www.ecosia.org->CNAME strict-safe-search.ecosia.org ", NONE },
	{ "adblock/adguardhome-safesearch/google.txt", 1, "upper case", "=www.google.ad->CNAME forcesafesearch.google.com ", NONE },
	{ "adblock/adguardhome-safesearch/pixabay.txt", 1, "upper case", "=pixabay.com->CNAME safesearch.pixabay.com ", NONE },
	{ "adblock/easylist-browser-2019.txt", 3, "third-party", "", LIST_SKIP_modifier },
	{ "adblock/easylist-browser-2019.txt", 13563, "path", "", LIST_SKIP_path },
	{ "adblock/easylist-browser-2019.txt", 7787, "exception", "", LIST_SKIP_modifier },
	{ "adblock/easylist-browser-2019.txt", 101, "trailing dot", "", LIST_SKIP_syntax },
	{ "adblock/easylist-browser-2019.txt", 21, "underscore", "", LIST_SKIP_path },
	{ "adblock/easylist-browser-2019.txt", 20, "upper case", "", LIST_SKIP_path },
	{ "adblock/easylist-browser-2019.txt", 104, "hyphen edge", "", LIST_SKIP_syntax },
	{ "adblock/easylist-browser-2019.txt", 2, "long line>300", "", LIST_SKIP_modifier },
	{ "adblock/easylist-browser-2019.txt", 113, "single label", "", LIST_SKIP_syntax },
	{ "adblock/easylist-browser-2019.txt", 13801, "IP-only/IP rule", "", LIST_SKIP_modifier },
	{ "adblock/easylist-browser-2019.txt", 7988, "mid-wildcard", "", LIST_SKIP_modifier },
	{ "adblock/easylist-browser-2019.txt", 1347, "regex rule", "", LIST_SKIP_modifier },
	{ "adblock/easylist-browser-2019.txt", 8129, "port", "", LIST_SKIP_modifier },
	{ "adblock/easylist-browser-2019.txt", 7797, "non-ascii", "", LIST_SKIP_modifier },
	{ "adblock/hagezi-light-2022-06-08.adblock.txt", 6563, "punycode", "*a8aspconv.xn--biglobe-kc9k.com ", NONE },
	{ "adblock/hagezi-light-2022-06-08.adblock.txt", 2749, "localhost line", "*1-localhost.net.daraz.com ", NONE },
	{ "adblock/ph00lt0-browser-2026.txt", 6, "modifier", "", LIST_SKIP_modifier },
	{ "adblock/ph00lt0-browser-2026.txt", 200, "cosmetic rule", "", LIST_SKIP_cosmetic },
	{ "adblock/ph00lt0-browser-2026.txt", 207, "badfilter", "", LIST_SKIP_syntax },
	{ "adblock/ph00lt0-browser-2026.txt", 203, "inline comment", "", LIST_SKIP_syntax },
	{ "adblock/ph00lt0-browser-2026.txt", 7, "upper case", "", LIST_SKIP_modifier },
	{ "adblock/ph00lt0-browser-2026.txt", 15, "underscore", "", LIST_SKIP_modifier },
	{ "adblock/ph00lt0-browser-2026.txt", 782, "path", "", LIST_SKIP_path },
	{ "adblock/ph00lt0-browser-2026.txt", 781, "third-party", "", LIST_SKIP_modifier },
	{ "adblock/ph00lt0-browser-2026.txt", 444, "hyphen edge", "", LIST_SKIP_cosmetic },
	{ "adblock/ph00lt0-browser-2026.txt", 780, "mid-wildcard", "/-gdprlock$/ ", NONE },
	{ "adblock/ph00lt0-browser-2026.txt", 10820, "non-ascii", "*xn--casinonstved-ddb.dk ", NONE },
	{ "adblock/ph00lt0-browser-2026.txt", 30357, "punycode", "*xn----9sbhgocsfmg4a1kfg.xn--p1ai ", NONE },
	{ "adblock/ph00lt0-browser-2026.txt", 30911, "exception", "+*1e100.net ", NONE },
	{ "adblock/ph00lt0-browser-2026.txt", 16870, "long line>300", "", LIST_SKIP_modifier },
	{ "adblock/ph00lt0-browser-2026.txt", 31798, "important", "", LIST_SKIP_modifier },
	{ "adblock/ublock-badware-2025.min.txt", 17, "path", "", LIST_SKIP_modifier },
	{ "adblock/ublock-badware-2025.min.txt", 30, "upper case", "", LIST_SKIP_cosmetic },
	{ "adblock/ublock-badware-2025.min.txt", 340, "regex rule", "", LIST_SKIP_modifier },
	{ "adblock/ublock-badware-2025.min.txt", 125, "underscore", "", LIST_SKIP_modifier },
	{ "adblock/ublock-badware-2025.min.txt", 259, "mid-wildcard", "", LIST_SKIP_modifier },
	{ "adblock/ublock-badware-2025.min.txt", 126, "long line>300", "", LIST_SKIP_cosmetic },
	{ "adblock/ublock-badware-2025.min.txt", 881, "punycode", "", LIST_SKIP_modifier },
	{ "adblock/ublock-badware-2025.min.txt", 2774, "hyphen edge", "", LIST_SKIP_modifier },
	{ "adblock/ublock-badware-2025.min.txt", 357, "IP-only/IP rule", "@5.61.55.143/32 ", NONE },
	{ "adblock/ublock-badware-2025.min.txt", 3197, "port", "", LIST_SKIP_modifier },
	{ "adblock/ublock-badware-2025.min.txt", 3787, "exception", "", LIST_SKIP_modifier },
	{ "adblock/ublock-badware-2025.min.txt", 1, "non-ascii", "", LIST_SKIP_empty },
	{ "adblock/ublock-badware-2025.min.txt", 4051, "label>63", "", LIST_SKIP_path },
	{ "adblock/ublock-privacy-2025.min.txt", 9, "modifier", "", LIST_SKIP_modifier },
	{ "adblock/ublock-privacy-2025.min.txt", 35, "cosmetic rule", "", LIST_SKIP_cosmetic },
	{ "adblock/ublock-privacy-2025.min.txt", 49, "hyphen edge", "", LIST_SKIP_modifier },
	{ "adblock/ublock-privacy-2025.min.txt", 112, "regex rule", "", LIST_SKIP_modifier },
	{ "adblock/ublock-privacy-2025.min.txt", 33, "important", "", LIST_SKIP_modifier },
	{ "adblock/ublock-privacy-2025.min.txt", 133, "long line>300", "", LIST_SKIP_cosmetic },
	{ "adblock/ublock-privacy-2025.min.txt", 319, "localhost line", "", LIST_SKIP_modifier },
	{ "adblock/ublock-privacy-2025.min.txt", 86, "exception", "", LIST_SKIP_modifier },
	{ "adblock/ublock-privacy-2025.min.txt", 1025, "trailing dot", "", LIST_SKIP_path },
	{ "adblock/ublock-privacy-2025.min.txt", 1, "non-ascii", "", LIST_SKIP_empty },
	{ "adblock/ublock-privacy-2025.min.txt", 72, "badfilter", "", LIST_SKIP_modifier },
	{ "adblock/ublock-privacy-2025.min.txt", 185, "third-party", "", LIST_SKIP_modifier },
	{ "adblock/ublock-privacy-2025.min.txt", 201, "port", "", LIST_SKIP_modifier },
	{ "adblock/ublock-privacy-2025.min.txt", 294, "denyallow", "", LIST_SKIP_modifier },
	{ "adblock/ublock-privacy-2025.min.txt", 313, "mid-wildcard", "/(?:^|\\.)telemetry.*\\.transcend\\.io$/ ", NONE },
	{ "adblock/ublock-privacy-2025.min.txt", 954, "trailing space", "", LIST_SKIP_cosmetic },
	{ "allow/hagezi-whitelist-referral.adblock.txt", 1, "exception", "+*5014.xg4ken.com ", NONE },
	{ "allow/hagezi-whitelist-referral.adblock.txt", 248, "punycode", "+*adservice.google.xn--mxtq1m ", NONE },
	{ "dnsmasq/china-apple.conf", 1, "path", "^a1.mzstatic.com ", NONE },
	{ "dnsmasq/china-google.conf", 6, "path", "^265.com ", NONE },
	{ "dnsmasq/china-google.conf", 4, "non-ascii", "", LIST_SKIP_empty },
	{ "dnsmasq/china-google.conf", 99, "punycode", "^redirector.xn--ngstr-lra8j.com ", NONE },
	{ "dnsmasq/hagezi-light-2022.dnsmasq.txt", 12, "path", "*000-038.net.daraz.com ", NONE },
	{ "dnsmasq/hagezi-light-2022.dnsmasq.txt", 6563, "punycode", "*a8aspconv.xn--biglobe-kc9k.com ", NONE },
	{ "dnsmasq/hagezi-light-2022.dnsmasq.txt", 2749, "localhost line", "*1-localhost.net.daraz.com ", NONE },
	{ "domains/easylist-2022.domains.txt", 2809, "punycode", "=a8aspconv.xn--biglobe-kc9k.com ", NONE },
	{ "domains/hagezi-fake-2022.domains.txt", 13746, "punycode", "=www.xn--80awro.xn--p1ai ", NONE },
	{ "domains/hagezi-light-2022-06-12.domains.txt", 6936, "punycode", "=a8aspconv.xn--biglobe-kc9k.com ", NONE },
	{ "domains/hagezi-light-2022-06-12.domains.txt", 2740, "localhost line", "=1-localhost.net.daraz.com ", NONE },
	{ "domains/hagezi-personal-2022.domains.txt", 12056, "punycode", "=www.xn--bstabettingsidorna-ltb.se ", NONE },
	{ "domains/ph00lt0-2026.domains.txt", 28960, "punycode", "=xn----9sbhgocsfmg4a1kfg.xn--p1ai ", NONE },
	{ "hosts/hagezi-light-2022.hosts.txt", 74953, "punycode", "=secret.xn--oogle-wmc.com ", NONE },
	{ "hosts/hagezi-light-2022.hosts.txt", 7854, "localhost line", "=ads.localhost.net.ar ", NONE },
	{ "hosts/jawz101-subdomains-2022.hosts.txt", 40724, "punycode", "=xn--l-trc-events-04b.taboola.com ", NONE },
	{ "hosts/ph00lt0-2026.hosts.txt", 28960, "punycode", "=xn----9sbhgocsfmg4a1kfg.xn--p1ai ", NONE },
	{ "hosts/stevenblack-2022-converted.hosts.txt", 3210, "punycode", "=a8aspconv.xn--biglobe-kc9k.com ", NONE },
	{ "hosts/stevenblack-2022-converted.hosts.txt", 16, "0.0.0.0 0.0.0.0", "=0.0.0.0.beeglivesex.com ", NONE },
	{ "hosts/stevenblack-2022-converted.hosts.txt", 12533, "localhost line", "=authenticate.localhost.net.daraz.com ", NONE },
	{ "regex/mmotti-amp.list", 1, "trailing dot", "/^(.+[_.-])?amp(project)?\\./ ", NONE },
	{ "rpz/ph00lt0-2026.rpz-body.txt", 1, "upper case", "=000037.cc ", NONE },
	{ "rpz/ph00lt0-2026.rpz-body.txt", 28960, "punycode", "=xn----9sbhgocsfmg4a1kfg.xn--p1ai ", NONE },
	{ "unbound/hagezi-light-2022.unbound.conf", 13, "underscore", "*000123456789.online ", NONE },
	{ "unbound/hagezi-light-2022.unbound.conf", 69471, "punycode", "*tencent.xn--io0a7i ", NONE },
	{ "unbound/hagezi-light-2022.unbound.conf", 5809, "localhost line", "*ads.localhost.net.ar ", NONE },
	{ "wildcard/hagezi-light-2022.wildcard.txt", 3932, "punycode", "*a8aspconv.xn--biglobe-kc9k.com ", NONE },
	{ "wildcard/hagezi-light-2022.wildcard.txt", 8724, "localhost line", "*ads.localhost.net.ar ", NONE },
};

static void odd_line_gives_this(void **state)
{
	const struct odd *t = *state;
	size_t size;
	char *text = need_list(t->file, &size), *p = text, *end;
	struct item_line line = { .format = LIST_AUTO, .items = t->items, .skip = t->skip };
	void *row = &line;
	unsigned i;

	for (i = 1; i < t->line && p; i++) {
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	assert_non_null(p);
	end = strchr(p, '\n');
	if (end)
		*end = '\0';
	line.text = p;
	item_line_is_judged(&row);
	free(text);
}

/* ---- Pi-hole's counts ---- */

/*
 * What Pi-hole takes from a list as exact names and as "||name^", and by how
 * many we differ, duplicates not taken out.  Nothing may differ without a
 * reason.
 */
static const struct other {
	const char *file;
	int exact, subtree;
	const char *why;
} others[] = {
	{ "adblock/adguard-dns-2017.txt", 15, 181, "15 rules \"://name^\" are names; 65 addresses and 2 patterns \"||ads.^\" are none; 126 whole names without an end, 80 with \"/\" for an end and 42 \"what is below\" are" },
	{ "adblock/adguard-russian-browser-2018.txt", -4, 94, "4 names of files begin with \"-\"; beside the names that both have: 61 \"what is below\", 16 without an end, 15 with \"/\", 1 important, 1 in Cyrillic letters" },
	{ "adblock/adguardhome-safesearch/bing.txt", 0, 0, NULL },
	{ "adblock/adguardhome-safesearch/duckduckgo.txt", 0, 0, NULL },
	{ "adblock/adguardhome-safesearch/ecosia.txt", 0, 0, NULL },
	{ "adblock/adguardhome-safesearch/google.txt", 0, 0, NULL },
	{ "adblock/adguardhome-safesearch/pixabay.txt", 0, 0, NULL },
	{ "adblock/easylist-browser-2019.txt", -18, -5, "18 pieces of URLs begin with \"-\" or \".\"; 5 addresses" },
	{ "adblock/hagezi-light-2022-06-08.adblock.txt", 0, 0, NULL },
	{ "adblock/ph00lt0-browser-2026.txt", 0, 6, "6 names with letters outside ASCII" },
	{ "adblock/ublock-badware-2025.min.txt", 0, -3, "3 addresses" },
	{ "adblock/ublock-privacy-2025.min.txt", 0, 0, NULL },
	{ "allow/anudeepND-optional.txt", 0, 0, NULL },
	{ "allow/anudeepND-whitelist.txt", 0, 0, NULL },
	{ "allow/hagezi-whitelist-referral.adblock.txt", 0, 0, NULL },
	{ "allow/mmotti-whitelist.list", 0, 0, NULL },
	{ "dnsmasq/china-apple.conf", 0, 0, NULL },
	{ "dnsmasq/china-google.conf", 0, 0, NULL },
	{ "dnsmasq/hagezi-light-2022.dnsmasq.txt", 0, 139978, "dnsmasq is no format of Pi-hole's lists" },
	{ "domains/easylist-2022.domains.txt", 0, 0, NULL },
	{ "domains/hagezi-fake-2022.domains.txt", 0, 0, NULL },
	{ "domains/hagezi-light-2022-06-12.domains.txt", 0, 0, NULL },
	{ "domains/hagezi-personal-2022.domains.txt", 0, 0, NULL },
	{ "domains/ph00lt0-2026.domains.txt", 0, 0, NULL },
	{ "hosts/hagezi-light-2022.hosts.txt", 0, 0, NULL },
	{ "hosts/jawz101-subdomains-2022.hosts.txt", 0, 0, NULL },
	{ "hosts/ph00lt0-2026.hosts.txt", 0, 0, NULL },
	{ "hosts/stevenblack-2022-converted.hosts.txt", 0, 0, NULL },
	{ "regex/mmotti-amp.list", 0, 0, NULL },
	{ "regex/mmotti-facebook.list", 0, 0, NULL },
	{ "regex/mmotti-twitter.list", 0, 0, NULL },
	{ "rpz/ph00lt0-2026.rpz-body.txt", 0, 0, NULL },
	{ "unbound/hagezi-light-2022.unbound.conf", 0, 82315, "unbound is no format of Pi-hole's lists" },
	{ "wildcard/hagezi-light-2022.wildcard.txt", 0, 129639, "\"*.name\" is no name for Pi-hole" },
};

#define COUNTS "../shared/data/suites/derived/ftl-checklist-counts.tsv"

/* Pi-hole's two counts of a list; false when they are not there. */
static bool find_counts(const char *file, long *ret_exact, long *ret_subtree)
{
	FILE *f = fopen(COUNTS, "re");
	char line[300], name[200];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%199s %ld %ld", name, ret_exact, ret_subtree) == 3 && !strcmp(name, file);
	if (f)
		fclose(f);
	return found;
}

static int take(void *arg, const struct rule_item *item)
{
	return 1;
}

static void difference_is_explained(void **state)
{
	const struct other *t = *state;
	struct list_report *r;
	long exact, subtree;
	size_t size;
	char *text;

	if (!find_counts(t->file, &exact, &subtree)) {
		print_message("# " COUNTS " is absent\n");
		skip();
	}
	text = need_list(t->file, &size);
	r = calloc(1, sizeof(*r));
	assert_non_null(r);
	assert_int_equal(list_parse(text, size, LIST_AUTO, false, take, NULL, r), 0);
	assert_int_equal((long)r->exact - exact, t->exact);
	assert_int_equal((long)r->subtree - subtree, t->subtree);
	assert_int_equal(t->exact || t->subtree, t->why != NULL);
	if (t->why)
		printf("# %s: exact %+d, subtree %+d: %s\n", t->file, t->exact, t->subtree, t->why);
	free(r);
	free(text);
}

/* Each list that was counted has its row. */
static void no_counted_list_is_left_out(void **state)
{
	FILE *f = fopen(COUNTS, "re");
	unsigned rows = 0;
	char line[300];

	if (!f) {
		print_message("# " COUNTS " is absent\n");
		skip();
	}
	while (fgets(line, sizeof(line), f))
		rows += *line != '#' && *line != '\n';
	fclose(f);
	assert_int_equal(rows, COUNT_OF(others));
}

#define LISTS "../shared/data/lists"

static int has_row(const char *path, const struct stat *st, int kind, struct FTW *place)
{
	unsigned i;

	if (kind != FTW_F)
		return 0;
	for (i = 0; i < COUNT_OF(reals); i++)
		if (!strcmp(reals[i].file, path + sizeof(LISTS)))
			return 0;
	print_message("# %s has no row\n", path);
	return 1;
}

static void no_list_is_left_out(void **state)
{
	if (access(LISTS, R_OK)) {
		print_message("# " LISTS " is absent\n");
		skip();
	}
	assert_int_equal(nftw(LISTS, has_row, 8, FTW_PHYS), 0);
}

int main(void)
{
	static struct CMUnitTest tests[COUNT_OF(reals) + COUNT_OF(odds) + COUNT_OF(others) + 2] = {
		cmocka_unit_test(no_counted_list_is_left_out), cmocka_unit_test(no_list_is_left_out),
	};
	static char names[COUNT_OF(reals) + COUNT_OF(odds) + COUNT_OF(others)][160];
	size_t n = 2, i;

	for (i = 0; i < COUNT_OF(reals); i++) {
		snprintf(names[n - 2], sizeof(names[0]), "%s as %s comes to this", reals[i].file, list_format_names[reals[i].format]);
		tests[n] = (struct CMUnitTest){ names[n - 2], list_comes_to_this, NULL, NULL, (void *)&reals[i] };
		n++;
	}
	for (i = 0; i < COUNT_OF(odds); i++) {
		snprintf(names[n - 2], sizeof(names[0]), "%s line %u (%s) gives this", odds[i].file, odds[i].line, odds[i].kind);
		tests[n] = (struct CMUnitTest){ names[n - 2], odd_line_gives_this, NULL, NULL, (void *)&odds[i] };
		n++;
	}
	for (i = 0; i < COUNT_OF(others); i++) {
		snprintf(names[n - 2], sizeof(names[0]), "%s is counted as by Pi-hole, or we know why not", others[i].file);
		tests[n] = (struct CMUnitTest){ names[n - 2], difference_is_explained, NULL, NULL, (void *)&others[i] };
		n++;
	}
	return cmocka_run_group_tests_name("list_real", tests, NULL, NULL);
}
