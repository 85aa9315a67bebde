/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_list_formats.c - lists in the languages of other programs: dnsmasq,
 * unbound, response policy zones, Pi-hole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "unit/policy/item_text.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static const struct item_line lines[] = {
	/* dnsmasq */
	{ "dnsmasq block", "address=/ads.example.com/#", LIST_DNSMASQ, "*ads.example.com ", NONE },
	{ "dnsmasq block in a list of anything", "address=/ads.example.com/#", LIST_AUTO, "*ads.example.com ", NONE },
	{ "dnsmasq interface in a list of anything", "interface=eth0", LIST_AUTO, "", LIST_SKIP_statement },
	{ "dnsmasq range in a list of anything", "dhcp-range=192.168.0.50,192.168.0.150,12h", LIST_AUTO, "", LIST_SKIP_statement },
	{ "dnsmasq option without a value in a list of anything", "no-resolv", LIST_AUTO, "", LIST_SKIP_statement },
	{ "dnsmasq option with a remark in a list of anything", "bogus-priv # why", LIST_AUTO, "", LIST_SKIP_statement },
	{ "dnsmasq option with blanks in a list of anything", "cache-size = 1000", LIST_AUTO, "", LIST_SKIP_statement },
	{ "dnsmasq server without a zone in a list of anything", "server=192.0.2.1", LIST_AUTO, "", LIST_SKIP_statement },
	{ "dnsmasq record in a list of anything", "host-record=a.example,192.0.2.1", LIST_AUTO, "", LIST_SKIP_statement },
	{ "dnsmasq word that wants a value is a word", "interface", LIST_AUTO, "", LIST_SKIP_single_label },
	{ "no option of dnsmasq is what it was", "interfaces=eth0", LIST_AUTO, "", LIST_SKIP_path },
	{ "a name that begins as an option of dnsmasq", "interface.example", LIST_AUTO, "=interface.example ", NONE },
	{ "dnsmasq block without a target", "address=/ads.example.com/", LIST_DNSMASQ, "*ads.example.com ", NONE },
	{ "dnsmasq block by a sink", "address=/ads.example.com/0.0.0.0", LIST_DNSMASQ, "*ads.example.com ", NONE },
	{ "dnsmasq block by a sink of IPv6", "address=/ads.example.com/::", LIST_DNSMASQ, "*ads.example.com ", NONE },
	{ "dnsmasq block of several", "address=/a.example/b.example/#", LIST_DNSMASQ, "*a.example *b.example ", NONE },
	{ "dnsmasq block with a leading dot", "address=/.a.example/#", LIST_DNSMASQ, "*a.example ", NONE },
	{ "dnsmasq block with a star", "address=/*.a.example/#", LIST_DNSMASQ, "*a.example ", NONE },
	{ "dnsmasq block with a comment", "address=/a.example/# # why", LIST_DNSMASQ, "*a.example ", NONE },
	{ "dnsmasq block of a top label", "address=/zip/#", LIST_DNSMASQ, "*zip ", NONE },
	{ "dnsmasq block of UTF-8", "address=/casin\xc3\xb8.example/#", LIST_DNSMASQ, "*xn--casin-zua.example ", NONE },
	{ "dnsmasq rewrite", "address=/a.example/192.0.2.1", LIST_DNSMASQ, "*a.example->A 192.0.2.1 ", NONE },
	{ "dnsmasq rewrite of IPv6", "address=/a.example/2001:db8::1", LIST_DNSMASQ, "*a.example->AAAA 2001:db8::1 ", NONE },
	{ "dnsmasq rewrite to a name", "address=/a.example/b.example.", LIST_DNSMASQ, "", LIST_SKIP_rewrite },
	{ "dnsmasq address of all names", "address=/#/192.0.2.1", LIST_DNSMASQ, "", LIST_SKIP_statement },
	{ "dnsmasq address without slashes", "address=/a.example", LIST_DNSMASQ, "", LIST_SKIP_syntax },
	{ "dnsmasq address of localhost", "address=/localhost/127.0.0.1", LIST_DNSMASQ, "", LIST_SKIP_local_name },
	{ "dnsmasq address of no name", "address=/a..example/#", LIST_DNSMASQ, "", LIST_SKIP_syntax },
	{ "dnsmasq address of an address", "address=/192.0.2.1/#", LIST_DNSMASQ, "", LIST_SKIP_address },
	{ "dnsmasq server", "server=/a1.mzstatic.com/114.114.114.114", LIST_AUTO, "^a1.mzstatic.com ", NONE },
	{ "dnsmasq server with a port", "server=/a.example/192.0.2.1#5353", LIST_DNSMASQ, "^a.example ", NONE },
	{ "dnsmasq server of several zones", "server=/a.example/b.example/192.0.2.1", LIST_DNSMASQ, "^a.example ^b.example ", NONE },
	{ "dnsmasq server of a single label", "server=/lan/192.168.0.1", LIST_DNSMASQ, "^lan ", NONE },
	{ "dnsmasq server of names without dots", "server=//192.168.0.1", LIST_DNSMASQ, "", LIST_SKIP_statement },
	{ "dnsmasq local zone", "local=/lan/", LIST_AUTO, "^lan ", NONE },
	{ "dnsmasq server of all", "server=192.0.2.1", LIST_DNSMASQ, "", LIST_SKIP_statement },
	{ "dnsmasq other statement", "cache-size=1000", LIST_DNSMASQ, "", LIST_SKIP_statement },
	{ "dnsmasq other statement in a list of anything", "cache-size=1000", LIST_AUTO, "", LIST_SKIP_statement },
	{ "dnsmasq comment", "# address=/a.example/#", LIST_DNSMASQ, "", LIST_SKIP_empty },
	{ "dnsmasq and a bare name", "a.example", LIST_DNSMASQ, "", LIST_SKIP_statement },
	/* unbound */
	{ "unbound zone", "local-zone: \"ads.example.com.\" always_null", LIST_UNBOUND, "*ads.example.com ", NONE },
	{ "unbound zone in a list of anything", "local-zone: \"ads.example.com.\" always_null", LIST_AUTO, "*ads.example.com ", NONE },
	{ "unbound zone of type always_nxdomain", "local-zone: \"a.example\" always_nxdomain", LIST_UNBOUND, "*a.example ", NONE },
	{ "unbound zone of type always_nodata", "local-zone: \"a.example\" always_nodata", LIST_UNBOUND, "*a.example ", NONE },
	{ "unbound zone of type always_refuse", "local-zone: \"a.example\" always_refuse", LIST_UNBOUND, "*a.example ", NONE },
	{ "unbound zone of type always_deny", "local-zone: \"a.example\" always_deny", LIST_UNBOUND, "*a.example ", NONE },
	{ "unbound zone of type refuse", "local-zone: \"a.example\" refuse", LIST_UNBOUND, "*a.example ", NONE },
	{ "unbound zone of type deny", "local-zone: \"a.example\" deny", LIST_UNBOUND, "*a.example ", NONE },
	{ "unbound zone of type static", "local-zone: \"a.example\" static", LIST_UNBOUND, "*a.example ", NONE },
	{ "unbound zone of type redirect", "local-zone: \"a.example\" redirect", LIST_UNBOUND, "*a.example ", NONE },
	{ "unbound zone of type inform_deny", "local-zone: \"a.example\" inform_deny", LIST_UNBOUND, "*a.example ", NONE },
	{ "unbound zone of type transparent", "local-zone: \"a.example\" transparent", LIST_UNBOUND, "", LIST_SKIP_statement },
	{ "unbound zone of type typetransparent", "local-zone: \"a.example\" typetransparent", LIST_UNBOUND, "", LIST_SKIP_statement },
	{ "unbound zone of type nodefault", "local-zone: \"a.example\" nodefault", LIST_UNBOUND, "", LIST_SKIP_statement },
	{ "unbound zone of type inform", "local-zone: \"a.example\" inform", LIST_UNBOUND, "", LIST_SKIP_statement },
	{ "unbound zone of type always_transparent", "local-zone: \"a.example\" always_transparent", LIST_UNBOUND, "", LIST_SKIP_statement },
	{ "unbound zone of type block_a", "local-zone: \"a.example\" block_a", LIST_UNBOUND, "", LIST_SKIP_statement },
	{ "unbound zone of type ipset", "local-zone: \"a.example\" ipset", LIST_UNBOUND, "", LIST_SKIP_statement },
	{ "unbound zone without a type", "local-zone: \"a.example\"", LIST_UNBOUND, "", LIST_SKIP_statement },
	{ "unbound zone without quotes", "local-zone: a.example. static", LIST_UNBOUND, "*a.example ", NONE },
	{ "unbound zone with a comment", "local-zone: \"a.example\" static # why", LIST_UNBOUND, "*a.example ", NONE },
	{ "unbound zone with blanks in front", "    local-zone:  \"A.Example\"\tstatic", LIST_UNBOUND, "*a.example ", NONE },
	{ "unbound zone of a top label", "local-zone: \"zip.\" always_nxdomain", LIST_UNBOUND, "*zip ", NONE },
	{ "unbound zone of localhost", "local-zone: \"localhost.\" static", LIST_UNBOUND, "", LIST_SKIP_local_name },
	{ "unbound zone that is no name", "local-zone: \"a..example\" static", LIST_UNBOUND, "", LIST_SKIP_syntax },
	{ "unbound data of a sink", "local-data: \"a.example A 0.0.0.0\"", LIST_AUTO, "=a.example ", NONE },
	{ "unbound data", "local-data: \"a.example. 3600 IN A 192.0.2.1\"", LIST_UNBOUND, "=a.example->A 192.0.2.1(3600) ", NONE },
	{ "unbound data of text that looks like a sink", "local-data: \"a.example TXT 0.0.0.0\"", LIST_UNBOUND,
	  "=a.example->TXT 07302e302e302e30 ", NONE },
	{ "unbound data of IPv6", "local-data: \"a.example AAAA 2001:db8::1\"", LIST_UNBOUND, "=a.example->AAAA 2001:db8::1 ", NONE },
	{ "unbound data with a TTL", "local-data: \"a.example 60 CNAME b.example.\"", LIST_UNBOUND, "=a.example->CNAME b.example(60) ", NONE },
	{ "unbound data of text", "local-data: 'a.example TXT \"x; \\\"y\\\"\"'", LIST_UNBOUND, "=a.example->TXT 06783b20227922 ", NONE },
	{ "unbound data of mail", "local-data: \"a.example MX 10 b.example\"", LIST_UNBOUND, "=a.example->MX 000a0162076578616d706c6500 ", NONE },
	{ "unbound data of the zone itself", "local-data: \"a.example NS ns.example\"", LIST_UNBOUND, "", LIST_SKIP_statement },
	{ "unbound data with a bad address", "local-data: \"a.example A 192.0.2\"", LIST_UNBOUND, "", LIST_SKIP_rewrite },
	{ "unbound data without a type", "local-data: \"a.example\"", LIST_UNBOUND, "", LIST_SKIP_rewrite },
	{ "unbound data of nothing", "local-data:", LIST_UNBOUND, "", LIST_SKIP_syntax },
	{ "unbound pointer", "local-data-ptr: \"192.0.2.1 a.example\"", LIST_UNBOUND, "", LIST_SKIP_statement },
	{ "unbound section", "server:", LIST_AUTO, "", LIST_SKIP_statement },
	{ "unbound other statement", "verbosity: 1", LIST_UNBOUND, "", LIST_SKIP_statement },
	{ "unbound and prose", "no statement", LIST_UNBOUND, "", LIST_SKIP_syntax },
	/* RPZ */
	{ "RPZ name", "ads.example.com CNAME .", LIST_RPZ, "=ads.example.com ", NONE },
	{ "RPZ name in a list of anything", "ads.example.com CNAME .", LIST_AUTO, "=ads.example.com ", NONE },
	{ "RPZ names below", "*.ads.example.com CNAME .", LIST_AUTO, ">ads.example.com ", NONE },
	{ "RPZ name with class and TTL", "ads.example 60 IN CNAME .", LIST_RPZ, "=ads.example ", NONE },
	{ "RPZ name with TTL behind the class", "ads.example IN 60 CNAME .", LIST_RPZ, "=ads.example ", NONE },
	{ "RPZ name with a comment", "ads.example CNAME . ; why", LIST_AUTO, "=ads.example ", NONE },
	{ "RPZ name in capitals", "ADS.Example cname .", LIST_RPZ, "=ads.example ", NONE },
	{ "RPZ no data", "ads.example CNAME *.", LIST_RPZ, "=ads.example->NOERROR ", NONE },
	{ "RPZ passthru", "ads.example CNAME rpz-passthru.", LIST_RPZ, "+=ads.example ", NONE },
	{ "RPZ passthru below", "*.ads.example CNAME rpz-passthru.", LIST_RPZ, "+>ads.example ", NONE },
	{ "RPZ passthru of old", "ads.example CNAME ads.example.", LIST_RPZ, "+=ads.example ", NONE },
	{ "RPZ drop", "ads.example CNAME rpz-drop.", LIST_RPZ, "=ads.example->DROP ", NONE },
	{ "RPZ TCP only", "ads.example CNAME rpz-tcp-only.", LIST_RPZ, "=ads.example->TCP ", NONE },
	{ "RPZ alias", "ads.example CNAME garden.example.", LIST_RPZ, "=ads.example->CNAME garden.example ", NONE },
	{ "RPZ alias below", "*.ads.example 60 CNAME garden.example.", LIST_RPZ, ">ads.example->CNAME garden.example(60) ", NONE },
	{ "RPZ alias with the question in front", "ads.example CNAME *.garden.example.", LIST_RPZ, "", LIST_SKIP_rewrite },
	{ "RPZ address", "ads.example A 192.0.2.1", LIST_RPZ, "=ads.example->A 192.0.2.1 ", NONE },
	{ "RPZ text with a semicolon", "ads.example TXT \"a;b\"", LIST_RPZ, "=ads.example->TXT 03613b62 ", NONE },
	{ "RPZ bad address", "ads.example A 192.0.2.256", LIST_RPZ, "", LIST_SKIP_rewrite },
	{ "RPZ address of clients", "24.0.2.0.192.rpz-client-ip CNAME .", LIST_RPZ, "", LIST_SKIP_trigger },
	{ "RPZ name of servers", "ns.example.rpz-nsdname CNAME .", LIST_RPZ, "", LIST_SKIP_trigger },
	{ "RPZ address of servers", "32.1.2.0.192.rpz-nsip CNAME .", LIST_RPZ, "", LIST_SKIP_trigger },
	{ "RPZ address of answers", "24.0.2.0.192.rpz-ip CNAME .", LIST_RPZ, "@192.0.2.0/24 ", NONE },
	{ "RPZ address of answers in IPv6", "48.zz.1.db8.2001.rpz-ip CNAME .", LIST_RPZ, "@2001:db8:1::/48 ", NONE },
	{ "RPZ address of answers with a gap inside", "128.1.zz.db8.2001.rpz-ip CNAME .", LIST_RPZ, "@2001:db8::1/128 ", NONE },
	{ "RPZ address of answers with a gap in front", "128.1.zz.rpz-ip CNAME .", LIST_RPZ, "@::1/128 ", NONE },
	{ "RPZ address of answers in full", "128.8.7.6.5.4.3.db8.2001.rpz-ip CNAME .", LIST_RPZ, "@2001:db8:3:4:5:6:7:8/128 ", NONE },
	{ "RPZ address of answers that is none", "24.0.2.0.300.rpz-ip CNAME .", LIST_RPZ, "", LIST_SKIP_trigger },
	{ "RPZ address of answers with a length too long", "33.0.2.0.192.rpz-ip CNAME .", LIST_RPZ, "", LIST_SKIP_trigger },
	{ "RPZ address of answers with nine groups", "128.9.8.7.6.5.4.3.db8.2001.rpz-ip CNAME .", LIST_RPZ, "", LIST_SKIP_trigger },
	{ "RPZ address of answers that passes", "24.0.2.0.192.rpz-ip CNAME rpz-passthru.", LIST_RPZ, "", LIST_SKIP_trigger },
	{ "RPZ time to live", "$TTL 300", LIST_RPZ, "", LIST_SKIP_statement },
	{ "RPZ other directive", "$INCLUDE other.zone", LIST_RPZ, "", LIST_SKIP_statement },
	{ "RPZ start of authority", "@ SOA localhost. root.localhost. 1 2 3 4 5", LIST_AUTO, "", LIST_SKIP_statement },
	{ "RPZ name server", "@ IN NS localhost.", LIST_RPZ, "", LIST_SKIP_statement },
	{ "RPZ name server of the record before", " NS localhost.", LIST_RPZ, "", LIST_SKIP_syntax },
	{ "RPZ top label", "*.zip CNAME .", LIST_RPZ, ">zip ", NONE },
	{ "RPZ comment", "; ads.example CNAME .", LIST_RPZ, "", LIST_SKIP_empty },
	{ "RPZ record of no type", "ads.example BOGUS .", LIST_RPZ, "", LIST_SKIP_syntax },
	{ "RPZ record without data", "ads.example CNAME", LIST_RPZ, "", LIST_SKIP_syntax },
	{ "RPZ and a bare name", "ads.example", LIST_RPZ, "", LIST_SKIP_syntax },
	{ "RPZ 17 labels", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.qq CNAME .", LIST_RPZ, "", LIST_SKIP_deep },
	{ "prose that names a type", "he has A name", LIST_AUTO, "", LIST_SKIP_syntax },
	/* regular expressions of Pi-hole */
	{ "expression as it stands", "^(.+[_.-])?amp(project)?\\.", LIST_REGEX, "/^(.+[_.-])?amp(project)?\\./ ", NONE },
	{ "expression that begins with a class", "[0-9]{8}", LIST_REGEX, "/[0-9]{8}/ ", NONE },
	{ "class alone", "[a-z]", LIST_REGEX, "/[a-z]/ ", NONE },
	{ "expression for types", "^ads;querytype=A,AAAA", LIST_REGEX, "/^ads/{A|AAAA} ", NONE },
	{ "expression for all types but one", "^ads;querytype=!A", LIST_REGEX, "/^ads/{~A} ", NONE },
	{ "expression for all types but two", "^ads;querytype=!A,AAAA", LIST_REGEX, "/^ads/{~A|~AAAA} ", NONE },
	{ "expression turned around", "^ads;invert", LIST_REGEX, "~/^ads/ ", NONE },
	{ "expression answered with nodata", "^ads;reply=nodata", LIST_REGEX, "/^ads/->NOERROR ", NONE },
	{ "expression answered with nxdomain", "^ads;reply=nxdomain", LIST_REGEX, "/^ads/->NXDOMAIN ", NONE },
	{ "expression answered with refused", "^ads;reply=refused", LIST_REGEX, "/^ads/->REFUSED ", NONE },
	{ "expression answered with none", "^ads;reply=none", LIST_REGEX, "/^ads/->DROP ", NONE },
	{ "expression answered with 192.0.2.1", "^ads;reply=192.0.2.1", LIST_REGEX, "/^ads/->A 192.0.2.1 ", NONE },
	{ "expression answered with 2001:db8::1", "^ads;reply=2001:db8::1", LIST_REGEX, "/^ads/->AAAA 2001:db8::1 ", NONE },
	{ "expression answered as blocks are", "^ads;reply=ip", LIST_REGEX, "/^ads/ ", NONE },
	{ "expression with several options", "^ads;querytype=HTTPS;reply=nodata;invert", LIST_REGEX, "~/^ads/{HTTPS}->NOERROR ", NONE },
	{ "expression with an option not known", "^ads;bogus=1", LIST_REGEX, "", LIST_SKIP_modifier },
	{ "expression with a type not known", "^ads;querytype=BOGUS", LIST_REGEX, "", LIST_SKIP_modifier },
	{ "expression with a reply not known", "^ads;reply=maybe", LIST_REGEX, "", LIST_SKIP_modifier },
	{ "options alone", ";invert", LIST_REGEX, "", LIST_SKIP_syntax },
	{ "comment among expressions", "# ^ads", LIST_REGEX, "", LIST_SKIP_empty },
	{ "expression in a list of anything", "(^|\\.)ads[0-9]*\\.", LIST_AUTO, "/(^|\\.)ads[0-9]*\\./ ", NONE },
	{ "expression with options in a list of anything", "^ads\\.;querytype=A", LIST_AUTO, "/^ads\\./{A} ", NONE },
};

/* What lines mean together. */
static const struct whole {
	const char *name, *text;
	enum list_format format;
	const char *items;
	uint64_t statements;
} wholes[] = {
	{ "data of a redirect zone hold for all below",
	  "local-zone: \"a.example\" redirect\nlocal-data: \"a.example A 192.0.2.1\"\nlocal-data: \"a.example AAAA ::\"\n"
	  "local-zone: \"b.example\" static\nlocal-data: \"a.example A 192.0.2.1\"\n", LIST_UNBOUND,
	  "*a.example *a.example->A 192.0.2.1 *a.example *b.example =a.example->A 192.0.2.1 ", 0 },
	{ "RPZ name and what is below it are a subtree",
	  "a.example CNAME .\n*.a.example CNAME .\n*.b.example CNAME .\nb.example CNAME *.\n*.b.example CNAME .\n", LIST_RPZ,
	  "=a.example *a.example >b.example =b.example->NOERROR >b.example ", 0 },
	{ "RPZ owners are relative to the SOA's owner",
	  "$TTL 30\nrpz.example. IN SOA localhost. root.localhost. (\n\t2026113001 ; serial\n\t3600 900\n\t86400 30 )\n"
	  "\tNS localhost.\na.example.rpz.example. CNAME .\nb.example CNAME rpz.example.\nc.example. CNAME .\n", LIST_RPZ,
	  "=a.example =b.example->CNAME rpz.example(30) =c.example ", 6 },
	{ "RPZ owners are relative to the origin", "$ORIGIN RPZ.example.\na.example.rpz.EXAMPLE. CNAME .\n32.1.2.0.192.rpz-ip.rpz.example. CNAME .\n",
	  LIST_AUTO, "=a.example @192.0.2.1/32 ", 1 },
	{ "RPZ record without an owner has the one before", "a.example A 192.0.2.1\n\tA 192.0.2.2\n  60 IN AAAA ::1\n", LIST_RPZ,
	  "=a.example->A 192.0.2.1 =a.example->A 192.0.2.2 =a.example->AAAA ::1(60) ", 0 },
	{ "SOA in a list of anything hides no line behind it", "@ SOA a. b. ( 1\n2 3 4 5 )\na.example CNAME .\nb.example\n", LIST_AUTO,
	  "=a.example =b.example ", 2 },
	{ "list of anything holds lines of all formats",
	  "0.0.0.0 a.example\nb.example\n*.c.example\n||d.example^\naddress=/e.example/\nlocal-zone: \"f.example\" static\n"
	  "g.example CNAME .\nserver=/h.example/192.0.2.1\n/^i[0-9]/\n", LIST_AUTO,
	  "=a.example =b.example *c.example *d.example *e.example *f.example =g.example ^h.example /^i[0-9]/ ", 0 },
};

static void lines_mean_this_together(void **state)
{
	const struct whole *t = *state;
	struct list_report *r = calloc(1, sizeof(*r));
	struct item_texts s = { "" };
	unsigned i;

	assert_non_null(r);
	assert_int_equal(list_parse(t->text, strlen(t->text), t->format, false, item_text_take, &s, r), 0);
	assert_string_equal(s.text, t->items);
	for (i = 0; i < LIST_SKIP_COUNT; i++)
		assert_int_equal(r->skipped[i], i == LIST_SKIP_statement ? t->statements : 0);
	free(r);
}

int main(void)
{
	static struct CMUnitTest tests[COUNT_OF(lines) + COUNT_OF(wholes)];
	size_t n = 0, i;

	for (i = 0; i < COUNT_OF(lines); i++)
		tests[n++] = (struct CMUnitTest){ lines[i].name, item_line_is_judged, NULL, NULL, (void *)&lines[i] };
	for (i = 0; i < COUNT_OF(wholes); i++)
		tests[n++] = (struct CMUnitTest){ wholes[i].name, lines_mean_this_together, NULL, NULL, (void *)&wholes[i] };
	return cmocka_run_group_tests_name("list_formats", tests, NULL, NULL);
}
