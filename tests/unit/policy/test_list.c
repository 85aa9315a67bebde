/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_list.c - plain lists and hosts files line by line, and how lists are read.
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
#include <sys/mman.h>
#include <cmocka.h>
#include "policy/list.h"
#include "unit/policy/item_text.h"
#include "unit/policy/names.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define L63 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk"

static const struct item_line lines[] = {
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
	{ "UTF-8 name becomes punycode", "casin\xc3\xb8.example", LIST_AUTO, "=xn--casin-zua.example ", NONE },
	{ "capitals of other alphabets become small", "\xc3\x9c" "ber.example", LIST_DOMAINS, "=xn--ber-goa.example ", NONE },
	{ "name of an alphabet that is not Latin", "\xd0\xbf\xd1\x80\xd0\xb8\xd0\xbc\xd0\xb5\xd1\x80.\xd1\x80\xd1\x84", LIST_AUTO, "=xn--e1afmkfd.xn--p1ai ", NONE },
	{ "wide dot of East Asia is a dot", "ads\xe3\x80\x82" "example", LIST_DOMAINS, "=ads.example ", NONE },
	{ "soft hyphen is no letter of a name", "a\xc2\xad" "ds.example", LIST_DOMAINS, "=ads.example ", NONE },
	{ "picture is no letter", "\xe2\x96\x88.example", LIST_DOMAINS, "", LIST_SKIP_idn },
	{ "octets that are no UTF-8", "\xff\xfe.example", LIST_DOMAINS, "", LIST_SKIP_idn },
	{ "prose in UTF-8", "\xc3\x9c" "ber diese Liste", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "punycode in capitals", "XN--BIGLOBE-KC9K.com", LIST_AUTO, "=xn--biglobe-kc9k.com ", NONE },
	{ "name of 8 characters", "abcdef.g", LIST_AUTO, "=abcdef.g ", NONE },
	{ "name of 16 characters", "abcdefgh.ijklmno", LIST_AUTO, "=abcdefgh.ijklmno ", NONE },
	{ "dot on a word's edge", "abcdefg.hijklmn.opq", LIST_AUTO, "=abcdefg.hijklmn.opq ", NONE },
	{ "two dots over a word's edge", "abcdefg..hijklmn", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "hyphen behind a dot over a word's edge", "abcdefg.-hijklmn.example", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "characters beside the letters", "a@b.example", LIST_DOMAINS, "", LIST_SKIP_syntax },
	{ "bracket between the alphabets", "a[b.example", LIST_DOMAINS, "", LIST_SKIP_syntax },
	{ "name of 253 characters", L63 "." L63 "." L63 ".abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghi", LIST_AUTO,
	  "=" L63 "." L63 "." L63 ".abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghi ", NONE },
	{ "name of 254 characters", L63 "." L63 "." L63 ".abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghij", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "list of wildcards means all below", "example.com", LIST_WILDCARD, "*example.com ", NONE },
	{ "list of wildcards with stars", "*.example.com", LIST_WILDCARD, "*example.com ", NONE },
	{ "list of wildcards without a final dot", "*.Example.com.", LIST_WILDCARD, "*example.com ", NONE },
	{ "list of wildcards and a single label", "*.com", LIST_WILDCARD, "", LIST_SKIP_single_label },
	{ "star inside a list of wildcards", "ads*.example.com", LIST_WILDCARD, "", LIST_SKIP_path },
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
	{ "hosts line for another address is a rewrite", "192.0.2.1 a.example", LIST_AUTO, "=a.example->A 192.0.2.1 ", NONE },
	{ "hosts line for another IPv6 address", "2001:db8::1 a.example", LIST_HOSTS, "=a.example->AAAA 2001:db8::1 ", NONE },
	{ "hosts name that is an address", "0.0.0.0 192.0.2.1", LIST_AUTO, "", LIST_SKIP_address },
	{ "hosts single label", "0.0.0.0 com", LIST_AUTO, "", LIST_SKIP_single_label },
	{ "hosts line for another address with several names", "192.0.2.1 a.example b.example", LIST_HOSTS,
	  "=a.example->A 192.0.2.1 =b.example->A 192.0.2.1 ", NONE },
	{ "hosts line for an address with a scope", "fe80::1%eth0 a.example", LIST_HOSTS, "", LIST_SKIP_rewrite },
	{ "hosts line with two blanks", "0.0.0.0  a.example", LIST_HOSTS, "=a.example ", NONE },
	{ "hosts line with UTF-8", "0.0.0.0 casin\xc3\xb8.example", LIST_HOSTS, "=xn--casin-zua.example ", NONE },
	{ "hosts address of five parts", "0.0.0.0.0 a.example", LIST_HOSTS, "", LIST_SKIP_syntax },
	{ "hosts bad name does not hide the next", "0.0.0.0 a..example b.example", LIST_AUTO, "=b.example ", LIST_SKIP_syntax },
	{ "address 256 is none", "256.0.0.0 a.example", LIST_AUTO, "", LIST_SKIP_syntax },
	{ "plain name is no hosts line", "a.example", LIST_HOSTS, "", LIST_SKIP_syntax },
	{ "hosts line is no plain name", "0.0.0.0 a.example", LIST_DOMAINS, "", LIST_SKIP_syntax },
};

static void report_counts_lines_and_keeps_examples(void **state)
{
	static const char text[] = "a.example\n\nprose here\nmore prose\nand more\nand yet more\n||b.example^\r\n@@||c.example^\n# x\nlast.example";
	struct list_report *r = calloc(1, sizeof(*r));
	struct item_texts s = { "" };

	assert_non_null(r);
	assert_int_equal(list_parse(text, sizeof(text) - 1, LIST_AUTO, false, item_text_take, &s, r), 0);
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
	struct item_texts s = { "" };

	assert_non_null(r);
	assert_non_null(text);
	memset(text, 'a', size);
	strcpy(text + size, "\nb.example\n");
	assert_int_equal(list_parse(text, strlen(text), LIST_AUTO, false, item_text_take, &s, r), 0);
	assert_string_equal(s.text, "=b.example ");
	assert_int_equal(r->skipped[LIST_SKIP_too_long], 1);
	assert_int_equal(strlen(r->example[LIST_SKIP_too_long][0].text), 79);
	free(text);
	free(r);
}

static int refuse(void *arg, const struct rule_item *item)
{
	return ++*(int *)arg == 2 ? -ENOMEM : 1;
}

static void sink_error_ends_the_reading(void **state)
{
	static const char text[] = "a.example\nb.example\nc.example\n";
	struct list_report *r = calloc(1, sizeof(*r));
	int calls = 0;

	assert_non_null(r);
	assert_int_equal(list_parse(text, sizeof(text) - 1, LIST_AUTO, false, refuse, &calls, r), -ENOMEM);
	assert_int_equal(calls, 2);
	free(r);
}

/* Each pair: a list with its format, and in a list of what is allowed what it gives. */
static void allowing_list_turns_blocks_around(void **state)
{
	static const char text[] = "a.example\n0.0.0.0 b.example\n192.0.2.1 c.example\n||d.example^$important\n@@||e.example^\n"
				   "|f.example^$dnsrewrite=192.0.2.1\n/^x[0-9]/\n";
	struct list_report *r = calloc(1, sizeof(*r));
	struct item_texts s = { "" };

	assert_non_null(r);
	assert_int_equal(list_parse(text, sizeof(text) - 1, LIST_AUTO, true, item_text_take, &s, r), 0);
	assert_string_equal(s.text, "+=a.example +=b.example +=c.example +!*d.example +*e.example +/^x[0-9]/ ");
	assert_int_equal(r->allow, 5);
	assert_int_equal(r->regex, 1);
	assert_int_equal(r->skipped[LIST_SKIP_rewrite], 1);
	free(r);
}

/* All that is asked of a long line is where it ends. */
static void line_of_a_gibibyte_costs_one_look(void **state)
{
	size_t size = 1UL << 30;
	char *text = mmap(NULL, size + 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct list_report *r = calloc(1, sizeof(*r));
	struct item_texts s = { "" };
	struct timespec a, b;

	assert_non_null(r);
	assert_true(text != MAP_FAILED);
	/* untouched pages of a private mapping are one page of zeros */
	memcpy(text + size, "\nb.example\n", 11);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	assert_int_equal(list_parse(text, size + 11, LIST_AUTO, false, item_text_take, &s, r), 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	assert_string_equal(s.text, "=b.example ");
	assert_int_equal(r->skipped[LIST_SKIP_too_long], 1);
	printf("# figure: a line of 1 GiB is passed over in %.2f s\n",
	       (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9);
	munmap(text, size + 20);
	free(r);
}

static int no_pattern(void *arg, const struct rule_item *item)
{
	return item->kind == RULE_REGEX ? -EINVAL : -ENAMETOOLONG;
}

static void sink_that_knows_better_makes_it_skipped(void **state)
{
	static const char text[] = "/(/\na.example\n";
	struct list_report *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	assert_int_equal(list_parse(text, sizeof(text) - 1, LIST_AUTO, false, no_pattern, NULL, r), 0);
	assert_int_equal(r->skipped[LIST_SKIP_regex], 1);
	assert_int_equal(r->skipped[LIST_SKIP_deep], 1);
	assert_string_equal(r->example[LIST_SKIP_regex][0].text, "/(/");
	free(r);
}

/* ---- what is no list at all ---- */

#define TEXT(t) t, sizeof(t) - 1
static const struct refusal {
	const char *name, *text;
	size_t size;
	const char *why;		/* NULL: it may be a list */
} refusals[] = {
	{ "HTML page is refused", TEXT("<!DOCTYPE html>\n<html>"), "it is an HTML page" },
	{ "HTML page with blanks and a mark in front is refused", TEXT("\xef\xbb\xbf\r\n  <HTML lang=en>"), "it is an HTML page" },
	{ "HTML page behind a comment is refused", TEXT("<!-- x -->\n<head>"), "it is an HTML page" },
	{ "XML is refused", TEXT("<?xml version='1.0'?>"), "it is an HTML page" },
	{ "gzip is refused", TEXT("\x1f\x8b\x08\0\0\0\0\0"), "it is compressed (gzip)" },
	{ "xz is refused", TEXT("\xfd" "7zXZ\0\0"), "it is compressed (xz)" },
	{ "zip is refused", TEXT("PK\x03\x04rest"), "it is compressed (zip)" },
	{ "zstd is refused", TEXT("\x28\xb5\x2f\xfdrest"), "it is compressed (zstd)" },
	{ "program is refused", TEXT("\x7f" "ELF\2\1\1"), "it is a program" },
	{ "UTF-16 is refused", TEXT("\xff\xfe" "a\0.\0"), "it is UTF-16, not UTF-8" },
	{ "zero octet is refused", TEXT("a.example\n\0"), "it is not text" },
	{ "many control characters are refused", TEXT("\1\2\3\4\5\6\7\1\2\3\4\5\6\7\1\2\3\4\5\6\7\1\2\3\4\5\6\7\1\2\3\4\5\6\7"),
	  "it is not text" },
	{ "list is not refused", TEXT("# a list\r\n0.0.0.0\ta.example\r\n"), NULL },
	{ "list of rules is not refused", TEXT("[Adblock Plus 2.0]\n! Title\n||a.example^\n"), NULL },
	{ "list with a mark in front is not refused", TEXT("\xef\xbb\xbf# a list\na.example\n"), NULL },
	{ "list that begins with a regular expression is not refused", TEXT("(^|\\.)ads\\.\n"), NULL },
	{ "empty text is not refused", TEXT(""), NULL },
	{ "JSON is refused", TEXT("{\n \"message\": \"Not Found\"\n}"), "it is JSON" },
	{ "JSON array is refused", TEXT(" [\n{\"a.example\": 1}]"), "it is JSON" },
	{ "list that begins with a class of letters is not refused", TEXT("[a-z]+\\.example\n"), NULL },
};

static const struct whole {
	const char *name;
	enum list_format format;
	const char *text;
	bool refused;
} wholes[] = {
	{ "words of a server are no list", LIST_AUTO, "Sorry, we are down.\nTry again later.\n", true },
	{ "status as text is no list", LIST_AUTO, "404: Not Found", true },
	{ "comments and words are no list", LIST_AUTO, "# title\n\nSome words of a page\n", true },
	{ "names that are none in its format are no list", LIST_HOSTS, "one.example.\ntwo.example.\n", true },
	{ "words with one rule are a list", LIST_AUTO, "Sorry, we are down.\na.example\n", false },
	{ "comments are a list that is empty", LIST_AUTO, "# nothing\n! either\n\n", false },
	{ "rules for page elements are a list", LIST_AUTO, "example.com##.ad\nwords that are none\n", false },
	{ "what every hosts file has is a list", LIST_AUTO, "127.0.0.1 localhost\n", false },
	{ "empty text is a list", LIST_AUTO, "", false },
};

static void whole_text_is_refused_or_not(void **state)
{
	const struct whole *t = *state;
	const char *why = list_refuse_whole(t->text, strlen(t->text), t->format);

	if (t->refused)
		assert_string_equal(why ? why : "taken", "none of its lines is a rule");
	else
		assert_null(why);
}

static void what_no_list_has_is_found_behind_its_beginning(void **state)
{
	size_t size = 3 << 20;
	char *text = malloc(size);

	assert_non_null(text);
	memset(text, 'a', size);
	assert_non_null(list_refuse_whole(text, size, LIST_AUTO));
	memcpy(text + size - 12, "\nb.example\n\n", 12);
	assert_null(list_refuse_whole(text, size, LIST_AUTO));
	text[size / 2] = '\0';
	assert_string_equal(list_refuse_whole(text, size, LIST_AUTO), "it is not text");
	free(text);
}

static void text_is_refused_or_not(void **state)
{
	const struct refusal *t = *state;
	const char *why = list_refuse(t->text, t->size);

	if (t->why)
		assert_string_equal(why ? why : "taken", t->why);
	else
		assert_null(why);
}

/* ---- speed ---- */

static int take(void *arg, const struct rule_item *item)
{
	return 1;
}

/* Not asserted: the machine is whose it is. */
static void print_speed(const char *file, const char *what)
{
	struct list_report *r = calloc(1, sizeof(*r));
	struct timespec a, b;
	size_t size;
	char *text = list_file(file, &size);
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
	printf("# figure: %s is parsed at %.1f million lines a second\n", what, (double)r->lines / s / 1e6);
	free(text);
	free(r);
}

static void speed_is_printed(void **state)
{
	print_speed("hosts/hagezi-light-2022.hosts.txt", "a hosts list");
	print_speed("domains/hagezi-light-2022-06-12.domains.txt", "a list of names");
	print_speed("adblock/hagezi-light-2022-06-08.adblock.txt", "a list of rules");
}

int main(void)
{
	static struct CMUnitTest tests[COUNT_OF(lines) + COUNT_OF(refusals) + COUNT_OF(wholes) + 8] = {
		cmocka_unit_test(report_counts_lines_and_keeps_examples),
		cmocka_unit_test(line_over_64k_is_skipped_and_the_next_is_read),
		cmocka_unit_test(line_of_a_gibibyte_costs_one_look),
		cmocka_unit_test(what_no_list_has_is_found_behind_its_beginning),
		cmocka_unit_test(sink_error_ends_the_reading),
		cmocka_unit_test(sink_that_knows_better_makes_it_skipped),
		cmocka_unit_test(allowing_list_turns_blocks_around),
		cmocka_unit_test(speed_is_printed),
	};
	size_t n = 8, i;

	for (i = 0; i < COUNT_OF(lines); i++)
		tests[n++] = (struct CMUnitTest){ lines[i].name, item_line_is_judged, NULL, NULL, (void *)&lines[i] };
	for (i = 0; i < COUNT_OF(refusals); i++)
		tests[n++] = (struct CMUnitTest){ refusals[i].name, text_is_refused_or_not, NULL, NULL, (void *)&refusals[i] };
	for (i = 0; i < COUNT_OF(wholes); i++)
		tests[n++] = (struct CMUnitTest){ wholes[i].name, whole_text_is_refused_or_not, NULL, NULL, (void *)&wholes[i] };
	return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
