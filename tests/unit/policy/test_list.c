/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_list.c - lines of lists, and what real lists come to.
 *
 * A row's names are written "=name" (the very name), "*name" (and all below),
 * "+" in front when it allows; each with a blank behind.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "policy/list.h"
#include "unit/policy/names.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define NONE LIST_SKIP_COUNT
#define L63 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk"

static const struct line {
	const char *name, *text;
	enum list_format format;
	const char *names;
	enum list_skip skip;		/* one, unless NONE */
} lines[] = {
	/* plain names */
	{ "plain name is exact", "ads.example.com", LIST_AUTO, "=ads.example.com ", NONE },
	{ "plain name in a list of domains", "ads.example.com", LIST_DOMAINS, "=ads.example.com ", NONE },
	{ "upper case becomes lower", "ADS.Example.COM", LIST_AUTO, "=ads.example.com ", NONE },
	{ "final dot goes", "ads.example.com.", LIST_AUTO, "=ads.example.com ", NONE },
	{ "blanks around go", " \tads.example.com \t", LIST_AUTO, "=ads.example.com ", NONE },
	{ "CR goes", "ads.example.com\r", LIST_AUTO, "=ads.example.com ", NONE },
	{ "byte order mark goes", "\xef\xbb\xbf" "ads.example.com", LIST_AUTO, "=ads.example.com ", NONE },
	{ "inline comment goes", "ads.example.com # why", LIST_AUTO, "=ads.example.com ", NONE },
	{ "inline comment without a blank goes", "ads.example.com#why", LIST_DOMAINS, "=ads.example.com ", NONE },
	{ "underscore is a letter", "_dmarc.ads_x.example.com", LIST_AUTO, "=_dmarc.ads_x.example.com ", NONE },
	{ "punycode is a name", "xn--l-trc-events-04b.taboola.com", LIST_AUTO, "=xn--l-trc-events-04b.taboola.com ", NONE },
	{ "hyphen at the end of a label", "ads-.example.com", LIST_AUTO, "=ads-.example.com ", NONE },
	{ "name that begins like an address", "0.0.0.0.beeglivesex.com", LIST_AUTO, "=0.0.0.0.beeglivesex.com ", NONE },
	{ "label of 63 octets", L63 ".com", LIST_AUTO, "=" L63 ".com ", NONE },
	{ "wildcard is the name and all below", "*.ads.example.com", LIST_AUTO, "*ads.example.com ", NONE },
	{ "wildcard in a list of domains", "*.example.com", LIST_DOMAINS, "*example.com ", NONE },
	{ "single label is junk", "com", LIST_AUTO, "", LIST_SKIP_single_label },
	{ "single label with a dot is junk", "com.", LIST_AUTO, "", LIST_SKIP_single_label },
	{ "wildcard of a single label is junk", "*.com", LIST_AUTO, "", LIST_SKIP_single_label },
	{ "localhost is local", "localhost", LIST_AUTO, "", LIST_SKIP_local_name },
	{ "localhost.localdomain is local", "localhost.localdomain", LIST_DOMAINS, "", LIST_SKIP_local_name },
	{ "name below localhost is not", "ads.localhost.net.ar", LIST_DOMAINS, "=ads.localhost.net.ar ", NONE },
	{ "address is no name", "192.0.2.1", LIST_AUTO, "", LIST_SKIP_address },
	{ "IPv6 address is no name", "2001:db8::1", LIST_AUTO, "", LIST_SKIP_address },
	{ "number on top is no name", "version.1", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "number with a dot is no name", "3.14", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "empty label", "ads..example.com", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "leading dot", ".example.com", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "hyphen at the start of a label", "-120x60-.example.com", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "label of 64 octets", L63 "x.com", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "name over 255", L63 "." L63 "." L63 "." L63, LIST_AUTO, "", LIST_SKIP_syntax },
	{ "UTF-8 name is not read yet", "casin\xc3\xb8.example", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "16 labels fit", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.pp", LIST_AUTO, "=a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.pp ", NONE },
	{ "17 labels are too deep", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.qq", LIST_AUTO, "", LIST_SKIP_deep },
	/* comments and prose */
	{ "empty line", "\n", LIST_AUTO, "", LIST_SKIP_empty },
	{ "blank line", " \t\r", LIST_AUTO, "", LIST_SKIP_empty },
	{ "comment", "# ads.example.com", LIST_AUTO, "", LIST_SKIP_empty },
	{ "comment without a blank", "#ads.example.com", LIST_AUTO, "", LIST_SKIP_empty },
	{ "comment of two hashes", "## ads.example.com", LIST_AUTO, "", LIST_SKIP_empty },
	{ "line of hashes", "#################", LIST_AUTO, "", LIST_SKIP_empty },
	{ "commented hosts line", "#::1 localhost ip6-localhost", LIST_HOSTS, "", LIST_SKIP_empty },
	{ "adblock comment", "! Title: ads.example.com", LIST_AUTO, "", LIST_SKIP_empty },
	{ "adblock heading", "[Adblock Plus 2.0]", LIST_AUTO, "", LIST_SKIP_empty },
	{ "prose", "This list blocks ads.example.com and more.", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "prose with a name in front", "ads.example.com is bad", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "prose in a list of domains", "to the site", LIST_DOMAINS, "", LIST_SKIP_syntax },
	{ "HTML", "<html><head><title>404 Not Found</title></head>", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "HTML with a link", "<a href=\"https://example.com/\">x</a>", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "RPZ line", "ads.example.com CNAME .", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "unbound line", "local-zone: \"ads.example.com.\" always_null", LIST_AUTO, "", LIST_SKIP_syntax },
	/* hosts */
	{ "hosts line", "0.0.0.0 ads.example.com", LIST_AUTO, "=ads.example.com ", NONE },
	{ "hosts line as such", "0.0.0.0 ads.example.com", LIST_HOSTS, "=ads.example.com ", NONE },
	{ "hosts line with tabs", "127.0.0.1\t\tads.example.com", LIST_AUTO, "=ads.example.com ", NONE },
	{ "several names a line", "0.0.0.0 a.example b.example\tc.example", LIST_AUTO, "=a.example =b.example =c.example ", NONE },
	{ "sink 127.0.1.1", "127.0.1.1 a.example", LIST_AUTO, "=a.example ", NONE },
	{ "sink ::", ":: a.example", LIST_AUTO, "=a.example ", NONE },
	{ "sink ::1", "::1 a.example", LIST_AUTO, "=a.example ", NONE },
	{ "sink ::0", "::0 a.example", LIST_AUTO, "=a.example ", NONE },
	{ "sink 0", "0 a.example", LIST_AUTO, "=a.example ", NONE },
	{ "hosts comment", "0.0.0.0 a.example # b.example", LIST_AUTO, "=a.example ", NONE },
	{ "hosts comment without a blank", "0.0.0.0 a.example#b.example", LIST_AUTO, "=a.example ", NONE },
	{ "hosts name that begins like an address", "0.0.0.0 0.0.0.0.beeglivesex.com", LIST_AUTO, "=0.0.0.0.beeglivesex.com ", NONE },
	{ "hosts line with CR, capitals and a dot", "0.0.0.0 A.Example.\r", LIST_HOSTS, "=a.example ", NONE },
	{ "hosts 0.0.0.0 names itself", "0.0.0.0 0.0.0.0", LIST_AUTO, "", LIST_SKIP_local_name },
	{ "hosts localhost", "127.0.0.1 localhost", LIST_AUTO, "", LIST_SKIP_local_name },
	{ "hosts ip6-allnodes", "ff02::1 ip6-allnodes", LIST_AUTO, "", LIST_SKIP_local_name },
	{ "hosts broadcasthost", "255.255.255.255 broadcasthost", LIST_AUTO, "", LIST_SKIP_local_name },
	{ "hosts localhost with a scope", "fe80::1%lo0 localhost", LIST_AUTO, "", LIST_SKIP_local_name },
	{ "hosts line for another address is a rewrite", "192.0.2.1 a.example", LIST_AUTO, "", LIST_SKIP_rewrite },
	{ "hosts line for another IPv6 address", "2001:db8::1 a.example", LIST_HOSTS, "", LIST_SKIP_rewrite },
	{ "hosts name that is an address", "0.0.0.0 192.0.2.1", LIST_AUTO, "", LIST_SKIP_address },
	{ "hosts single label", "0.0.0.0 com", LIST_AUTO, "", LIST_SKIP_single_label },
	{ "hosts bad name does not hide the next", "0.0.0.0 a..example b.example", LIST_AUTO, "=b.example ", LIST_SKIP_syntax },
	{ "address 256 is none", "256.0.0.0 a.example", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "plain name is no hosts line", "a.example", LIST_HOSTS, "", LIST_SKIP_syntax },
	{ "hosts line is no plain name", "0.0.0.0 a.example", LIST_DOMAINS, "", LIST_SKIP_syntax },
	/* adblock */
	{ "rule for a subtree", "||ads.example.com^", LIST_AUTO, "*ads.example.com ", NONE },
	{ "rule as such", "||ads.example.com^", LIST_ADBLOCK, "*ads.example.com ", NONE },
	{ "rule with a final dot", "||ads.example.com.^", LIST_AUTO, "*ads.example.com ", NONE },
	{ "rule for what begins with a label", "||ads.^", LIST_AUTO, "", LIST_SKIP_path },
	{ "rule with an end", "||ads.example.com^|", LIST_AUTO, "*ads.example.com ", NONE },
	{ "rule for a top label is meant", "||zip^", LIST_AUTO, "*zip ", NONE },
	{ "rule that allows", "@@||good.example.com^", LIST_AUTO, "+*good.example.com ", NONE },
	{ "rule for the very name", "|www.example.com^", LIST_AUTO, "=www.example.com ", NONE },
	{ "rule that allows the very name", "@@|www.example.com^", LIST_ADBLOCK, "+=www.example.com ", NONE },
	{ "rule in capitals", "||ADS.Example.com^", LIST_AUTO, "*ads.example.com ", NONE },
	{ "rule with a comment behind", "@@||1e100.net^ # discovery^", LIST_AUTO, "+*1e100.net ", NONE },
	{ "rule with modifiers", "||ads.example.com^$third-party", LIST_AUTO, "", LIST_SKIP_modifier },
	{ "rule with an important modifier", "||ads.example.com^$important", LIST_ADBLOCK, "", LIST_SKIP_modifier },
	{ "rule that allows with modifiers", "@@||a.example^$popup", LIST_AUTO, "", LIST_SKIP_modifier },
	{ "rewrite", "|www.bing.com^$dnsrewrite=NOERROR;CNAME;strict.bing.com", LIST_AUTO, "", LIST_SKIP_modifier },
	{ "modifiers alone", "$csp=worker-src 'none',domain=a.example", LIST_AUTO, "", LIST_SKIP_modifier },
	{ "rule without an end is a part of an URL", "||admulti.", LIST_AUTO, "", LIST_SKIP_path },
	{ "rule with a port", "||xxuhter.ru:8040", LIST_AUTO, "", LIST_SKIP_path },
	{ "rule with a path", "||cloudkillers.com/?", LIST_AUTO, "", LIST_SKIP_path },
	{ "rule with a path and a caret", "||example.com/x^", LIST_AUTO, "", LIST_SKIP_path },
	{ "rule with a star inside", "||anet*.tradedoubler.com^", LIST_AUTO, "", LIST_SKIP_path },
	{ "rule with a star in front", "||*.example.com^", LIST_AUTO, "", LIST_SKIP_path },
	{ "rule with text behind the caret", "||google.com^amp", LIST_AUTO, "", LIST_SKIP_path },
	{ "rule for an URL", "|http://j.gs/omnigy*.swf", LIST_AUTO, "", LIST_SKIP_path },
	{ "rule for a part of an URL", "://gj7.ru^", LIST_AUTO, "", LIST_SKIP_path },
	{ "rule for a query", "&Ads_DFP=", LIST_AUTO, "", LIST_SKIP_path },
	{ "rule for an address", "||104.154.237.93^", LIST_AUTO, "", LIST_SKIP_address },
	{ "rule with UTF-8", "||casin\xc3\xb8.example^", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "broken exception", "@||x.example^", LIST_AUTO, "", LIST_SKIP_path },
	{ "exception without a rule", "@@x.example", LIST_AUTO, "", LIST_SKIP_path },
	{ "path", "/getThumbs?uid=", LIST_AUTO, "", LIST_SKIP_path },
	{ "URL", "https://ads.example.com/x.js", LIST_AUTO, "", LIST_SKIP_path },
	{ "dnsmasq line", "address=/ads.example.com/#", LIST_AUTO, "", LIST_SKIP_path },
	{ "piece of an URL without marks", "-120x60-", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "page element", "example.com##.ad", LIST_AUTO, "", LIST_SKIP_cosmetic },
	{ "page element everywhere", "##.ad-banner", LIST_AUTO, "", LIST_SKIP_cosmetic },
	{ "page element exception", "example.com#@#.ad", LIST_AUTO, "", LIST_SKIP_cosmetic },
	{ "page element extended", "example.com#?#div:has(> a)", LIST_AUTO, "", LIST_SKIP_cosmetic },
	{ "page style", "a.example,b.example#$#.x { left: -3000px!important; }", LIST_AUTO, "", LIST_SKIP_cosmetic },
	{ "page script", "example.com##+js(set-cookie, 1, -1)", LIST_AUTO, "", LIST_SKIP_cosmetic },
	{ "page HTML rule", "example.com$$script[tag-content=\"x\"]", LIST_AUTO, "", LIST_SKIP_cosmetic },
	{ "page element in a list of domains", "example.com##.ad", LIST_DOMAINS, "", LIST_SKIP_cosmetic },
	{ "regular expression", "/^ads?[0-9]+\\./", LIST_AUTO, "", LIST_SKIP_regex },
	{ "regular expression with modifiers", "/\\.ru\\/[a-z]{5,12}/$script", LIST_AUTO, "", LIST_SKIP_regex },
	{ "regular expression that allows", "@@/^stats?\\./", LIST_AUTO, "", LIST_SKIP_regex },
	{ "regular expression of POSIX", "^(.+[_.-])?amp(project)?\\.", LIST_AUTO, "", LIST_SKIP_regex },
	{ "plain name in adblock syntax is a part of an URL", "example.com/", LIST_ADBLOCK, "", LIST_SKIP_path },
};

struct seen {
	char names[400];
};

static int see(void *arg, const struct rule_item *item)
{
	const uint8_t *name = item->name;
	uint16_t len = item->name_len;
	bool subtree = item->reach == RULE_SUBTREE;
	bool allow = item->action == FILTER_ALLOW;
	struct seen *s = arg;
	char buf[260];

	snprintf(s->names + strlen(s->names), sizeof(s->names) - strlen(s->names), "%s%c%s ", allow ? "+" : "", subtree ? '*' : '=',
		 name_text(name, buf));
	return strlen(buf) + 2 == len ? 1 : -EIO;
}

static void line_is_judged(void **state)
{
	const struct line *t = *state;
	struct list_report *r = calloc(1, sizeof(*r));
	struct seen s = { "" };
	unsigned i;

	assert_non_null(r);
	assert_int_equal(list_parse(t->text, strlen(t->text), t->format, false, see, &s, r), 0);
	assert_string_equal(s.names, t->names);
	for (i = 0; i < LIST_SKIP_COUNT; i++)
		if (r->skipped[i] != (i == t->skip))
			fail_msg("skipped as %s: %d", list_skip_names[i], (int)r->skipped[i]);
	assert_int_equal(r->lines, 1);
	free(r);
}

static void report_counts_lines_and_keeps_examples(void **state)
{
	static const char text[] = "a.example\n\nprose here\nmore prose\nand more\nand yet more\n||b.example^\r\n@@||c.example^\n# x\nlast.example";
	struct list_report *r = calloc(1, sizeof(*r));
	struct seen s = { "" };

	assert_non_null(r);
	assert_int_equal(list_parse(text, sizeof(text) - 1, LIST_AUTO, false, see, &s, r), 0);
	assert_int_equal(r->lines, 10);
	assert_int_equal(r->exact, 2);
	assert_int_equal(r->subtree, 1);
	assert_int_equal(r->allow, 1);
	assert_int_equal(r->skipped[LIST_SKIP_syntax], 4);
	assert_int_equal(r->skipped[LIST_SKIP_empty], 2);
	assert_int_equal(r->example[LIST_SKIP_syntax][0].line, 3);
	assert_string_equal(r->example[LIST_SKIP_syntax][2].text, "and more");
	free(r);
}

static void line_over_64k_is_skipped_and_the_next_is_read(void **state)
{
	size_t size = 70000;
	char *text = malloc(size + 20);
	struct list_report *r = calloc(1, sizeof(*r));
	struct seen s = { "" };

	assert_non_null(r);
	assert_non_null(text);
	memset(text, 'a', size);
	strcpy(text + size, "\nb.example\n");
	assert_int_equal(list_parse(text, strlen(text), LIST_AUTO, false, see, &s, r), 0);
	assert_string_equal(s.names, "=b.example ");
	assert_int_equal(r->skipped[LIST_SKIP_too_long], 1);
	assert_int_equal(strlen(r->example[LIST_SKIP_too_long][0].text), 79);
	free(text);
	free(r);
}

static int refuse(void *arg, const struct rule_item *item)
{
	return ++*(int *)arg == 2 ? -ENOSPC : 1;
}

static void sink_error_ends_the_reading(void **state)
{
	static const char text[] = "a.example\nb.example\nc.example\n";
	struct list_report *r = calloc(1, sizeof(*r));
	int calls = 0;

	assert_non_null(r);
	assert_int_equal(list_parse(text, sizeof(text) - 1, LIST_AUTO, false, refuse, &calls, r), -ENOSPC);
	assert_int_equal(calls, 2);
	free(r);
}

/* ---- real lists ---- */

/*
 * What they come to.  The counts are those of another filter's judgement, but:
 * rules for addresses (65) and patterns like "||ads.^" (2) of the DNS list of
 * 2017 and rules with a '*' inside (2 of the referral list) are no names here;
 * wildcards are.
 */
static const struct real {
	const char *file;
	enum list_format format;
	uint64_t exact, subtree, allow;
} reals[] = {
	{ "hosts/hagezi-light-2022.hosts.txt", LIST_AUTO, 159267, 0, 0 },
	{ "hosts/stevenblack-2022-converted.hosts.txt", LIST_AUTO, 121356, 0, 0 },
	{ "hosts/jawz101-subdomains-2022.hosts.txt", LIST_AUTO, 41050, 0, 0 },
	{ "hosts/ph00lt0-2026.hosts.txt", LIST_HOSTS, 29498, 0, 0 },
	{ "domains/hagezi-light-2022-06-12.domains.txt", LIST_AUTO, 202153, 0, 0 },
	{ "domains/easylist-2022.domains.txt", LIST_DOMAINS, 118201, 0, 0 },
	{ "domains/hagezi-fake-2022.domains.txt", LIST_AUTO, 14043, 0, 0 },
	{ "domains/hagezi-personal-2022.domains.txt", LIST_AUTO, 12305, 0, 0 },
	{ "domains/ph00lt0-2026.domains.txt", LIST_AUTO, 29498, 0, 0 },
	{ "adblock/hagezi-light-2022-06-08.adblock.txt", LIST_AUTO, 0, 139978, 0 },
	{ "adblock/adguard-dns-2017.txt", LIST_AUTO, 0, 12357 - 65 - 2, 6 },
	{ "adblock/adguardhome-safesearch/google.txt", LIST_AUTO, 0, 0, 0 },
	{ "wildcard/hagezi-light-2022.wildcard.txt", LIST_AUTO, 0, 129639, 0 },
	{ "allow/anudeepND-whitelist.txt", LIST_AUTO, 191, 0, 0 },
	{ "allow/hagezi-whitelist-referral.adblock.txt", LIST_AUTO, 0, 0, 482 - 2 },
	{ "dnsmasq/hagezi-light-2022.dnsmasq.txt", LIST_AUTO, 0, 0, 0 },
	{ "unbound/hagezi-light-2022.unbound.conf", LIST_AUTO, 0, 0, 0 },
	{ "rpz/ph00lt0-2026.rpz-body.txt", LIST_AUTO, 0, 0, 0 },
	{ "regex/mmotti-twitter.list", LIST_AUTO, 0, 0, 0 },
};

static int take(void *arg, const struct rule_item *item)
{
	return 1;
}

static void list_comes_to_these_names(void **state)
{
	const struct real *t = *state;
	struct list_report *r = calloc(1, sizeof(*r));
	uint64_t skipped = 0;
	size_t size;
	char *text = list_file(t->file, &size);
	unsigned i;

	if (!text) {
		free(r);
		skip();
	}
	assert_non_null(r);
	assert_int_equal(list_parse(text, size, t->format, false, take, NULL, r), 0);
	assert_int_equal(r->exact, t->exact);
	assert_int_equal(r->subtree, t->subtree);
	assert_int_equal(r->allow, t->allow);
	for (i = 0; i < LIST_SKIP_COUNT; i++)
		skipped += r->skipped[i];
	/* one name a line in all of these */
	assert_int_equal(r->exact + r->subtree + r->allow + skipped, r->lines);
	free(text);
	free(r);
}

/* Browser lists hold rules for browsers; what is left must be names, and few. */
static void browser_list_gives_no_junk(void **state)
{
	struct list_report *r = calloc(1, sizeof(*r));
	size_t size;
	char *text = list_file("adblock/easylist-browser-2019.txt", &size);

	if (!text) {
		free(r);
		skip();
	}
	assert_non_null(r);
	assert_int_equal(list_parse(text, size, LIST_ADBLOCK, false, take, NULL, r), 0);
	assert_int_equal(r->exact, 0);
	assert_int_equal(r->subtree, 901 - 5);	/* addresses */
	assert_true(r->skipped[LIST_SKIP_modifier] > 20000);
	free(text);
	free(r);
}

/* Not asserted: the machine is whose it is. */
static void speed_is_printed(void **state)
{
	struct list_report *r = calloc(1, sizeof(*r));
	struct timespec a, b;
	size_t size;
	char *text = list_file("hosts/hagezi-light-2022.hosts.txt", &size);
	double s;
	int i;

	if (!text) {
		free(r);
		skip();
	}
	assert_non_null(r);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	for (i = 0; i < 10; i++)
		assert_int_equal(list_parse(text, size, LIST_AUTO, false, take, NULL, r), 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	s = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
	assert_true(r->lines > 1000000);
	printf("# figure: a hosts list is parsed at %.1f million lines a second\n", (double)r->lines / s / 1e6);
	free(text);
	free(r);
}

int main(void)
{
	static struct CMUnitTest tests[COUNT_OF(lines) + COUNT_OF(reals) + 5] = {
		cmocka_unit_test(report_counts_lines_and_keeps_examples),
		cmocka_unit_test(line_over_64k_is_skipped_and_the_next_is_read),
		cmocka_unit_test(sink_error_ends_the_reading),
		cmocka_unit_test(browser_list_gives_no_junk),
		cmocka_unit_test(speed_is_printed),
	};
	size_t n = 5, i;

	for (i = 0; i < COUNT_OF(lines); i++)
		tests[n++] = (struct CMUnitTest){ lines[i].name, line_is_judged, NULL, NULL, (void *)&lines[i] };
	for (i = 0; i < COUNT_OF(reals); i++)
		tests[n++] = (struct CMUnitTest){ reals[i].file, list_comes_to_these_names, NULL, NULL, (void *)&reals[i] };
	return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
