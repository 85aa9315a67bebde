/* SPDX-License-Identifier: BSD-2-Clause */
/* test_answer.c - answers out of responses: what is kept, how long it lives, how it is written. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/clock.h"
#include "dns/answer.h"
#include "dns/name.h"
#include "dns/reply.h"
#include "unit/dns/make.h"
#include "unit/dns/rows.h"

#define SAME ((const char *)1)		/* as the response has it */
#define NOW  (1000 * CLOCK_S)
#define WRONG -EBADMSG, NULL, NULL, 0, false, false	/* the end of a row: malformed, and nothing comes of it */
#define BAD  -EBADMSG, NULL, NULL, 0

static const struct dns_ttl_limits plain = { .min = 0, .max = 86400, .negative_max = 3600, .failure = 5 };
static const struct dns_ttl_limits floored = { .min = 120, .max = 600, .negative_max = 60, .failure = 5 };
static const struct dns_reply_limits stream = { .recursion = true, .stream = true, .udp_max = 1232 };

/* What @a says to whoever asks @name, as sections in text. */
static void read_back(const struct dns_answer *a, const char *name, char **ret_answer, char **ret_authority)
{
	static uint8_t out[MAKE_SIZE];
	uint8_t ask[512];
	struct dns_query q = make_query_view(ask, name, a->key.qtype, true, a->key.bits & DNS_KEY_DO);
	int len = dns_reply_answer(&q, a, &stream, NOW, out, sizeof(out));

	assert_true(len > 0);
	*ret_answer = make_section(out, (size_t)len, DNS_ANSWER);
	*ret_authority = make_section(out, (size_t)len, DNS_AUTHORITY);
	assert_non_null(*ret_answer);
	assert_non_null(*ret_authority);
}

static void expect_lines(char *got, const char *want)
{
	char *lines = make_lines(want);

	assert_string_equal(got, lines);
	free(lines);
	free(got);
}

/* ---- responses in text -------------------------------------------------- */

#define SOA300 "a.test. 300 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 60\n"
#define SIG(type) type " 8 2 300 20300101000000 20200101000000 1 a.test. c2ln\n"
#define NSEC_A "a.test. 300 IN NSEC b.a.test. A RRSIG NSEC\n"
#define NSEC3_A "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom.a.test. 300 IN NSEC3 1 1 0 - 2t7b4g4vsa5smi47k61mv5bv1a22bojr A RRSIG\n"

static const struct response_case {
	const char *name;
	const char *qname;
	uint16_t qtype;
	uint8_t bits;
	uint16_t rcode;
	const char *answer;
	const char *authority;
	const struct dns_ttl_limits *limits;
	int err;
	const char *want_answer;
	const char *want_authority;
	uint32_t ttl;
	bool negative;
	bool chain;
} response_cases[] = {
	/* what is kept */
	{ "an address is kept", "a.test", DNS_A, 0, 0, "a.test. 300 IN A 192.0.2.1\n", "", &plain,
	  0, SAME, SAME, 300, false, false },
	{ "the order of an RRset is kept", "a.test", DNS_A, 0, 0,
	  "a.test. 300 IN A 192.0.2.3\na.test. 300 IN A 192.0.2.1\na.test. 300 IN A 192.0.2.2\n", "", &plain,
	  0, SAME, SAME, 300, false, false },
	{ "name servers in the authority section are left out", "a.test", DNS_A, 0, 0, "a.test. 300 IN A 192.0.2.1\n",
	  "a.test. 20 IN NS ns.a.test.\n", &plain, 0, SAME, "", 300, false, false },
	{ "a SOA beside an answer is left out", "a.test", DNS_A, 0, 0, "a.test. 300 IN A 192.0.2.1\n", SOA300, &plain,
	  0, SAME, "", 300, false, false },
	{ "a CNAME chain is kept whole", "w.a.test", DNS_A, 0, 0,
	  "w.a.test. 300 IN CNAME x.b.test.\nx.b.test. 60 IN CNAME y.c.test.\ny.c.test. 90 IN A 192.0.2.1\n", "",
	  &plain,
	  0, SAME, SAME, 60, false, true },
	{ "a chain out of order is put in order", "w.a.test", DNS_A, 0, 0,
	  "y.c.test. 90 IN A 192.0.2.1\nx.b.test. 60 IN CNAME y.c.test.\nw.a.test. 300 IN CNAME x.b.test.\n", "",
	  &plain, 0,
	  "w.a.test. 300 IN CNAME x.b.test.\nx.b.test. 60 IN CNAME y.c.test.\ny.c.test. 90 IN A 192.0.2.1\n", "", 60,
	  false,
	  true },
	{ "records off the chain are left out", "w.a.test", DNS_A, 0, 0,
	  "w.a.test. 300 IN CNAME x.b.test.\nevil.test. 1 IN A 192.0.2.66\nx.b.test. 60 IN A 192.0.2.1\n"
	  "x.b.test. 60 IN AAAA ::1\n", "", &plain, 0,
	  "w.a.test. 300 IN CNAME x.b.test.\nx.b.test. 60 IN A 192.0.2.1\n", "", 60, false, true },
	{ "a CNAME that is asked for is not followed", "w.a.test", DNS_CNAME, 0, 0,
	  "w.a.test. 300 IN CNAME x.b.test.\nx.b.test. 60 IN CNAME y.b.test.\n", "", &plain, 0,
	  "w.a.test. 300 IN CNAME x.b.test.\n", "", 300, false, true },
	{ "ANY keeps all of the owner and follows nothing", "w.a.test", DNS_ANY, 0, 0,
	  "w.a.test. 300 IN A 192.0.2.1\nw.a.test. 300 IN MX 5 m.a.test.\nm.a.test. 9 IN A 192.0.2.2\n", "", &plain, 0,
	  "w.a.test. 300 IN A 192.0.2.1\nw.a.test. 300 IN MX 5 m.a.test.\n", "", 300, false, false },
	{ "the chain is followed whatever the letter case", "W.a.test", DNS_A, 0, 0,
	  "w.A.test. 300 IN CNAME X.b.test.\nx.B.TEST. 60 IN A 192.0.2.1\n", "", &plain, 0,
	  /* x.B.TEST points to X.b.test in the CNAME */
	  "W.a.test. 300 IN CNAME X.b.test.\nX.b.test. 60 IN A 192.0.2.1\n", "", 60, false, true },
	{ "a DNAME comes with the CNAME that it makes", "w.a.test", DNS_A, 0, 0,
	  "a.test. 300 IN DNAME b.test.\nw.a.test. 300 IN CNAME w.b.test.\nw.b.test. 60 IN A 192.0.2.1\n", "", &plain,
	  0,
	  SAME, SAME, 60, false, true },
	{ "a DNAME without its CNAME is malformed", "w.a.test", DNS_A, 0, 0, "a.test. 300 IN DNAME b.test.\n", "",
	  &plain,
	  WRONG },
	{ "a DNAME that did not make the CNAME is left out", "w.a.test", DNS_A, 0, 0,
	  "a.test. 300 IN DNAME c.test.\nw.a.test. 300 IN CNAME w.b.test.\nw.b.test. 60 IN A 192.0.2.1\n", "", &plain,
	  0,
	  "w.a.test. 300 IN CNAME w.b.test.\nw.b.test. 60 IN A 192.0.2.1\n", "", 60, false, true },
	{ "the second of two CNAMEs is left out", "w.a.test", DNS_A, 0, 0,
	  "w.a.test. 300 IN CNAME x.test.\nw.a.test. 300 IN CNAME y.test.\nx.test. 60 IN A 192.0.2.1\n", "", &plain, 0,
	  "w.a.test. 300 IN CNAME x.test.\nx.test. 60 IN A 192.0.2.1\n", "", 60, false, true },
	{ "a loop of CNAMEs is malformed", "w.a.test", DNS_A, 0, 0,
	  "w.a.test. 300 IN CNAME x.test.\nx.test. 300 IN CNAME w.a.test.\n", "", &plain, WRONG },
	{ "a CNAME to itself is malformed", "w.a.test", DNS_A, 0, 0, "w.a.test. 300 IN CNAME w.a.test.\n", "", &plain,
	  WRONG },
	{ "another class is left out", "a.test", DNS_TXT, 0, 0, "a.test. 300 CH TXT \"x\"\n", SOA300, &plain,
	  0, "", "a.test. 60 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 60\n", 60, true, false },

	/* how long it lives */
	{ "the smallest TTL is the life", "a.test", DNS_A, 0, 0,
	  "a.test. 300 IN A 192.0.2.1\na.test. 7 IN A 192.0.2.2\n", "",
	  &plain, 0, SAME, SAME, 7, false, false },
	{ "TTLs are raised to the floor", "a.test", DNS_A, 0, 0, "a.test. 1 IN A 192.0.2.1\n", "", &floored,
	  0, "a.test. 120 IN A 192.0.2.1\n", "", 120, false, false },
	{ "TTLs are cut to the ceiling", "a.test", DNS_A, 0, 0, "a.test. 601 IN A 192.0.2.1\n", "", &floored,
	  0, "a.test. 600 IN A 192.0.2.1\n", "", 600, false, false },
	{ "TTL 0 is not kept", "a.test", DNS_A, 0, 0, "a.test. 0 IN A 192.0.2.1\n", "", &plain, 0, SAME, SAME, 0,
	  false, false },

	/* negative answers */
	{ "NXDOMAIN lives as long as the SOA's MINIMUM", "x.a.test", DNS_A, 0, DNS_NXDOMAIN, "", SOA300, &plain,
	  0, "", "a.test. 60 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 60\n", 60, true, false },
	{ "NXDOMAIN lives as long as the SOA's TTL", "x.a.test", DNS_A, 0, DNS_NXDOMAIN, "",
	  "a.test. 30 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 60\n", &plain, 0, "", SAME, 30, true, false },
	{ "NXDOMAIN lives no longer than the cap", "x.a.test", DNS_A, 0, DNS_NXDOMAIN, "",
	  "a.test. 9999 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 9999\n", &plain, 0, "",
	  "a.test. 3600 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 9999\n", 3600, true, false },
	{ "the floor is not for negative answers", "x.a.test", DNS_A, 0, DNS_NXDOMAIN, "",
	  "a.test. 30 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 60\n", &floored, 0, "", SAME, 30, true, false },
	{ "NODATA is negative", "a.test", DNS_AAAA, 0, 0, "", SOA300, &plain,
	  0, "", "a.test. 60 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 60\n", 60, true, false },
	{ "NODATA without SOA is not kept", "a.test", DNS_AAAA, 0, 0, "", "", &plain, 0, "", "", 0, true, false },
	{ "a referral is an empty answer that is not kept", "a.test", DNS_A, 0, 0, "",
	  "a.test. 300 IN NS ns.b.test.\n", &plain,
	  0, "", "", 0, true, false },
	{ "the SOA of a foreign zone does not count", "a.test", DNS_A, 0, 0, "",
	  "b.test. 300 IN SOA ns.b.test. root.b.test. 7 3600 600 86400 60\n", &plain, 0, "", "", 0, true, false },
	{ "a MINIMUM of 0 is not kept", "a.test", DNS_AAAA, 0, 0, "",
	  "a.test. 30 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 0\n", &plain, 0, "",
	  "a.test. 0 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 0\n", 0, true, false },
	{ "a chain that ends in NODATA lives as its smallest TTL", "w.b.test", DNS_AAAA, 0, 0,
	  "w.b.test. 20 IN CNAME a.test.\n", SOA300, &floored, 0, SAME,
	  "a.test. 60 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 60\n", 20, true, true },
	{ "a chain that ends in NXDOMAIN keeps the rcode", "w.b.test", DNS_A, 0, DNS_NXDOMAIN,
	  "w.b.test. 200 IN CNAME x.a.test.\n", SOA300, &plain, 0, SAME,
	  "a.test. 60 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 60\n", 60, true, true },
	{ "NXDOMAIN with the records asked for is malformed", "a.test", DNS_A, 0, DNS_NXDOMAIN,
	  "a.test. 300 IN A 192.0.2.1\n", SOA300, &plain, WRONG },

	/* failures */
	{ "SERVFAIL lives as failures do", "a.test", DNS_A, 0, DNS_SERVFAIL, "", "", &plain, 0, "", "", 5, false,
	  false },
	{ "REFUSED is not kept", "a.test", DNS_A, 0, DNS_REFUSED, "", "", &plain, 0, "", "", 0, false, false },
	{ "records of a failure are left out", "a.test", DNS_A, 0, DNS_SERVFAIL, "a.test. 300 IN A 192.0.2.1\n",
	  SOA300, &plain,
	  0, "", "", 5, false, false },

	/* DNSSEC */
	{ "signatures go to those who set DO", "a.test", DNS_A, DNS_KEY_DO, 0,
	  "a.test. 300 IN A 192.0.2.1\na.test. 300 IN RRSIG " SIG("A"), "", &plain, 0, SAME, SAME, 300, false, false },
	{ "signatures do not go to others", "a.test", DNS_A, 0, 0,
	  "a.test. 300 IN A 192.0.2.1\na.test. 300 IN RRSIG " SIG("A"), "", &plain, 0, "a.test. 300 IN A 192.0.2.1\n",
	  "", 300,
	  false, false },
	{ "signatures over other types are left out", "a.test", DNS_A, DNS_KEY_DO, 0,
	  "a.test. 300 IN A 192.0.2.1\na.test. 300 IN RRSIG " SIG("MX"), "", &plain, 0,
	  "a.test. 300 IN A 192.0.2.1\n", "", 300,
	  false, false },
	{ "a signed chain keeps a signature per link", "w.a.test", DNS_A, DNS_KEY_DO, 0,
	  "w.a.test. 300 IN CNAME a.test.\nw.a.test. 300 IN RRSIG " SIG("CNAME")
	  "a.test. 300 IN A 192.0.2.1\na.test. 300 IN RRSIG " SIG("A"), "", &plain, 0, SAME, SAME, 300, false, true },
	{ "signatures that are asked for go to all", "a.test", DNS_RRSIG, 0, 0, "a.test. 300 IN RRSIG " SIG("A"), "",
	  &plain,
	  0, SAME, SAME, 300, false, false },
	{ "keys that are asked for go to all", "a.test", DNS_DNSKEY, 0, 0, "a.test. 300 IN DNSKEY 256 3 8 AwEAAag=\n",
	  "",
	  &plain, 0, SAME, SAME, 300, false, false },
	{ "proofs of absence go to those who set DO", "x.a.test", DNS_A, DNS_KEY_DO, DNS_NXDOMAIN, "",
	  "a.test. 60 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 60\na.test. 60 IN RRSIG " SIG("SOA")
	  NSEC_A "a.test. 300 IN RRSIG " SIG("NSEC"), &plain, 0, "", SAME, 60, true, false },
	{ "proofs of absence do not go to others", "x.a.test", DNS_A, 0, DNS_NXDOMAIN, "",
	  "a.test. 60 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 60\na.test. 60 IN RRSIG " SIG("SOA")
	  NSEC3_A "a.test. 300 IN RRSIG " SIG("NSEC3"), &plain, 0, "",
	  "a.test. 60 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 60\n", 60, true, false },
	{ "proofs signed by a zone that the chain is not in are left out", "x.a.test", DNS_A, DNS_KEY_DO, DNS_NXDOMAIN, "",
	  SOA300 NSEC_A "a.test. 300 IN RRSIG NSEC 8 2 300 20300101000000 20200101000000 1 b.test. c2ln\n", &plain,
	  0, "", "a.test. 60 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 60\n", 60, true, false },
	{ "proofs of names in another zone are left out", "x.a.test", DNS_A, DNS_KEY_DO, DNS_NXDOMAIN, "",
	  SOA300 "b.test. 300 IN NSEC c.test. A RRSIG NSEC\nb.test. 300 IN RRSIG " SIG("NSEC"), &plain,
	  0, "", "a.test. 60 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 60\n", 60, true, false },
	{ "proofs without a signature are left out", "x.a.test", DNS_A, DNS_KEY_DO, DNS_NXDOMAIN, "", SOA300 NSEC_A, &plain,
	  0, "", "a.test. 60 IN SOA ns.a.test. root.a.test. 7 3600 600 86400 60\n", 60, true, false },
	{ "signatures over other sets of the authority section are left out", "x.a.test", DNS_A, DNS_KEY_DO, 0,
	  "x.a.test. 300 IN A 192.0.2.1\n", "a.test. 300 IN NS ns.a.test.\na.test. 300 IN RRSIG " SIG("NS"), &plain,
	  0, SAME, "", 300, false, false },
	{ "the parent proves that there is no DS", "a.test", DNS_DS, DNS_KEY_DO, 0, "",
	  "test. 60 IN SOA ns.test. root.test. 7 3600 600 86400 60\n"
	  "a.test. 60 IN NSEC b.test. NS RRSIG NSEC\na.test. 60 IN RRSIG NSEC 8 2 60 20300101000000 20200101000000 1 test. c2ln\n",
	  &plain, 0, "", SAME, 60, true, false },
	{ "each zone of a chain may have its proof", "w.b.test", DNS_A, DNS_KEY_DO, 0,
	  "w.b.test. 300 IN CNAME x.a.test.\nx.a.test. 300 IN A 192.0.2.1\n",
	  "v.b.test. 300 IN NSEC y.b.test. A RRSIG NSEC\nv.b.test. 300 IN RRSIG NSEC 8 2 300 20300101000000 20200101000000 1 b.test. c2ln\n"
	  NSEC_A "a.test. 300 IN RRSIG " SIG("NSEC"), &plain, 0, SAME, SAME, 300, false, true },
	{ "a SOA of a zone that the end of the chain is not in is not believed", "w.b.test", DNS_A, 0, DNS_NXDOMAIN,
	  "w.b.test. 300 IN CNAME x.a.test.\n", "b.test. 300 IN SOA ns.b.test. root.b.test. 7 3600 600 86400 60\n", &plain,
	  0, SAME, "", 0, true, true },
	{ "a SOA below the name is not believed", "a.test", DNS_A, 0, DNS_NXDOMAIN, "",
	  "x.a.test. 300 IN SOA ns.b.test. root.b.test. 7 3600 600 86400 60\n", &plain, 0, "", "", 0, true, false },
	{ "the proof of a wildcard stays with its answer", "w.a.test", DNS_A, DNS_KEY_DO, 0,
	  "w.a.test. 300 IN A 192.0.2.1\nw.a.test. 300 IN RRSIG " SIG("A"),
	  "a.test. 20 IN NS ns.a.test.\n" NSEC3_A "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom.a.test. 300 IN RRSIG " SIG("NSEC3"), &plain,
	  0, SAME, NSEC3_A "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom.a.test. 300 IN RRSIG " SIG("NSEC3"), 300, false, false },

	/* types, each written and read back */
	{ "SOA", "a.test", DNS_SOA, 0, 0, SOA300, "", &plain, 0, SAME, SAME, 300, false, false },
	{ "NS", "a.test", DNS_NS, 0, 0, "a.test. 9 IN NS ns.a.test.\na.test. 9 IN NS ns.b.test.\n", "", &plain,
	  0, SAME, SAME, 9, false, false },
	{ "MX", "a.test", DNS_MX, 0, 0, "a.test. 9 IN MX 10 mx.a.test.\na.test. 9 IN MX 0 .\n", "", &plain,
	  0, SAME, SAME, 9, false, false },
	{ "PTR", "1.2.0.192.in-addr.arpa", DNS_PTR, 0, 0, "1.2.0.192.in-addr.arpa. 9 IN PTR a.test.\n", "", &plain,
	  0, SAME, SAME, 9, false, false },
	{ "AAAA", "a.test", DNS_AAAA, 0, 0, "a.test. 9 IN AAAA 2001:db8::1\n", "", &plain, 0, SAME, SAME, 9, false,
	  false },
	{ "TXT", "a.test", DNS_TXT, 0, 0, "a.test. 9 IN TXT \"a b\" \"\" \"c\"\n", "", &plain, 0, SAME, SAME, 9,
	  false, false },
	{ "HINFO", "a.test", DNS_HINFO, 0, 0, "a.test. 9 IN HINFO \"pc\" \"linux\"\n", "", &plain, 0, SAME, SAME, 9,
	  false, 0 },
	{ "SRV", "a.test", DNS_SRV, 0, 0, "a.test. 9 IN SRV 1 2 3 s.a.test.\n", "", &plain, 0, SAME, SAME, 9, false,
	  false },
	{ "NAPTR", "a.test", 35, 0, 0, "a.test. 9 IN NAPTR 1 2 \"u\" \"E2U+sip\" \"!^.*$!sip:x@a.test!\" r.a.test.\n",
	  "",
	  &plain, 0, SAME, SAME, 9, false, false },
	{ "HTTPS", "a.test", DNS_HTTPS, 0, 0, "a.test. 9 IN HTTPS 1 . alpn=h2\n", "", &plain, 0, SAME, SAME, 9, false,
	  false },
	{ "SVCB alias", "a.test", DNS_SVCB, 0, 0, "a.test. 9 IN SVCB 0 s.a.test.\n", "", &plain, 0, SAME, SAME, 9,
	  false, true },
	{ "CAA", "a.test", 257, 0, 0, "a.test. 9 IN CAA 0 issue \"ca.test\"\n", "", &plain, 0, SAME, SAME, 9, false,
	  false },
	{ "DS", "a.test", DNS_DS, 0, 0,
	  "a.test. 9 IN DS 1 8 2 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n",
	  "", &plain, 0, SAME, SAME, 9, false, false },
	{ "an unknown type", "a.test", 65280, 0, 0, "a.test. 9 IN TYPE65280 \\# 4 c00c0001\n", "", &plain,
	  0, SAME, SAME, 9, false, false },
	{ "the root's NS", ".", DNS_NS, 0, 0, ". 9 IN NS a.root.test.\n", "", &plain, 0, SAME, SAME, 9, false, false },
};

static void run_response(void **state)
{
	const struct response_case *c = *state;
	static uint8_t msg[MAKE_SIZE];
	struct dns_key key = make_key(c->qname, c->qtype, c->bits);
	size_t size = make_response(msg, c->qname, c->qtype, c->rcode, c->answer, c->authority);
	struct dns_answer *a = NULL;
	char *answer, *authority;

	assert_int_equal(dns_answer_from_response(msg, size, &key, c->limits, NOW, &a), c->err);
	if (c->err) {
		assert_null(a);
		return;
	}
	if (a->dnssec && !(c->bits & DNS_KEY_DO)) {
		struct dns_answer *whole = a;

		assert_int_equal(dns_answer_form(whole, 0, &a), 0);
		assert_false(a->dnssec);
		dns_answer_unref(whole);
	}
	assert_int_equal(a->rcode, c->rcode);
	assert_int_equal(a->ttl, c->ttl);
	assert_int_equal(a->negative, c->negative);
	assert_int_equal(a->chain, c->chain);
	assert_false(a->aa || a->ad || a->local);
	assert_int_equal(a->ttls, a->answers + a->authorities);
	read_back(a, c->qname, &answer, &authority);
	expect_lines(answer, c->want_answer == SAME ? c->answer : c->want_answer);
	expect_lines(authority, c->want_authority == SAME ? c->authority : c->want_authority);
	dns_answer_unref(a);
}

/* ---- responses octet by octet ------------------------------------------- */

#define W(s) s, sizeof(s) - 1
#define OWNER "\xc0\x0c"
#define FIXED(type) "\0" type "\0\1\0\0\0\x3c"
/* The question is a.test: "a" at 12, "test" at 14, RDATA of the first record at 36. */

static const struct raw_case {
	const char *name;
	uint16_t qtype;
	const char *records;
	size_t size;
	uint16_t count;
	int err;
	const char *want;		/* lines, or NULL: not compared */
	const char *body;		/* what is written; NULL: not compared */
	size_t body_len;
} raw_cases[] = {
	{ "an owner equal to the question is a pointer to it", DNS_A,
	  W("\1A\4TEST\0" FIXED("\1") "\0\4\xc0\0\2\1"), 1, 0, "a.test. 60 IN A 192.0.2.1\n",
	  W(OWNER FIXED("\1") "\0\4\xc0\0\2\1") },
	{ "a whole name in an MX is compressed", DNS_MX,
	  W(OWNER FIXED("\x0f") "\0\x0b\0\1\2mx\4test\0"), 1, 0, "a.test. 60 IN MX 1 mx.test.\n",
	  W(OWNER FIXED("\x0f") "\0\7\0\1\2mx\xc0\x0e") },
	{ "names in RDATA are pointed to by later ones", DNS_MX,
	  W(OWNER FIXED("\x0f") "\0\x0a\0\1\1m\4best\0" OWNER FIXED("\x0f") "\0\x0a\0\2\1M\4BEST\0"), 2, 0,
	  "a.test. 60 IN MX 1 m.best.\na.test. 60 IN MX 2 m.best.\n",
	  W(OWNER FIXED("\x0f") "\0\x0a\0\1\1m\4best\0" OWNER FIXED("\x0f") "\0\4\0\2\xc0\x26") },
	{ "a compressed SRV target is expanded and stays so", DNS_SRV,
	  W(OWNER FIXED("\x21") "\0\x0a\0\1\0\2\0\3\1s\xc0\x0c"), 1, 0, "a.test. 60 IN SRV 1 2 3 s.a.test.\n",
	  W(OWNER FIXED("\x21") "\0\x10\0\1\0\2\0\3\1s\1a\4test\0") },
	{ "a compressed RRSIG signer is expanded", DNS_RRSIG,
	  W(OWNER FIXED("\x2e") "\0\x17\0\1\x08\2\0\0\0\x3c\x70\0\0\0\x60\0\0\0\0\1\xc0\x0c" "sig"), 1, 0, NULL,
	  W(OWNER FIXED("\x2e") "\0\x1d\0\1\x08\2\0\0\0\x3c\x70\0\0\0\x60\0\0\0\0\1\1a\4test\0" "sig") },
	{ "a compressed DNAME target is expanded", DNS_DNAME,
	  W(OWNER FIXED("\x27") "\0\4\1d\xc0\x0e"), 1, 0, "a.test. 60 IN DNAME d.test.\n",
	  W(OWNER FIXED("\x27") "\0\x08\1d\4test\0") },
	{ "pointers in an unknown type are octets like others", 65280,
	  W(OWNER "\xff\0\0\1\0\0\0\x3c" "\0\2\xc0\x0c"), 1, 0, NULL, W(OWNER "\xff\0\0\1\0\0\0\x3c" "\0\2\xc0\x0c") },
	{ "an empty unknown RDATA is kept", 65280, W(OWNER "\xff\0\0\1\0\0\0\x3c" "\0\0"), 1, 0, NULL,
	  W(OWNER "\xff\0\0\1\0\0\0\x3c" "\0\0") },
	{ "a TTL of 2^31 is 0", DNS_A, W(OWNER "\0\1\0\1\x80\0\0\0\0\4\xc0\0\2\1"), 1, 0,
	  "a.test. 0 IN A 192.0.2.1\n", NULL, 0 },
	{ "an A of three octets is malformed", DNS_A, W(OWNER FIXED("\1") "\0\3\xc0\0\2"), 1, BAD },
	{ "an A of five octets is malformed", DNS_A, W(OWNER FIXED("\1") "\0\5\xc0\0\2\1\1"), 1, BAD },
	{ "an A of none is malformed", DNS_A, W(OWNER FIXED("\1") "\0\0"), 1, BAD },
	{ "an AAAA of four octets is malformed", DNS_AAAA, W(OWNER FIXED("\x1c") "\0\4\xc0\0\2\1"), 1, BAD },
	{ "a CNAME with octets behind is malformed", DNS_CNAME, W(OWNER FIXED("\5") "\0\4\1x\0y"), 1, BAD },
	{ "a CNAME past its RDATA is malformed", DNS_CNAME, W(OWNER FIXED("\5") "\0\3\1x\1y\0"), 1, BAD },
	{ "a link past its RDATA is malformed", DNS_A, W(OWNER FIXED("\5") "\0\2\1x\0"), 1, BAD },
	{ "a CNAME that points to itself is malformed", DNS_CNAME, W(OWNER FIXED("\5") "\0\2\xc0\x24"), 1, BAD },
	{ "a CNAME that points forwards is malformed", DNS_CNAME, W(OWNER FIXED("\5") "\0\2\xc0\x30"), 1, BAD },
	{ "an MX without exchange is malformed", DNS_MX, W(OWNER FIXED("\x0f") "\0\2\0\1"), 1, BAD },
	{ "an MX of one octet is malformed", DNS_MX, W(OWNER FIXED("\x0f") "\0\1\0"), 1, BAD },
	{ "a SOA cut short is malformed", DNS_SOA, W(OWNER FIXED("\6") "\0\6\0\0\0\0\0\1"), 1, BAD },
	{ "a TXT string past its RDATA is malformed", DNS_TXT, W(OWNER FIXED("\x10") "\0\3\3ab"), 1, BAD },
	{ "a TXT without a string is malformed", DNS_TXT, W(OWNER FIXED("\x10") "\0\0"), 1, BAD },
	{ "an RRSIG cut in its numbers is malformed", DNS_RRSIG, W(OWNER FIXED("\x2e") "\0\4\0\1\x08\2"), 1, BAD },
	{ "a missing record is malformed", DNS_A, W(OWNER FIXED("\1") "\0\4\xc0\0\2\1"), 2, BAD },
	{ "more records than fit are malformed", DNS_A, W(OWNER FIXED("\1") "\0\4\xc0\0\2\1"), 65535, BAD },
	{ "a broken record off the chain but sound as a record is left out", DNS_A,
	  W("\1x\0" FIXED("\1") "\0\1\0" OWNER FIXED("\1") "\0\4\xc0\0\2\1"), 2, 0, "a.test. 60 IN A 192.0.2.1\n",
	  NULL, 0 },
};

static size_t raw_response(uint8_t *msg, uint16_t flags, uint16_t qtype, uint16_t answers, const void *records,
	size_t size)
{
	static const uint8_t question[] = "\1a\4test";

	memset(msg, 0, 12);
	msg[2] = (uint8_t)(flags >> 8);
	msg[3] = (uint8_t)flags;
	msg[5] = 1;
	msg[6] = (uint8_t)(answers >> 8);
	msg[7] = (uint8_t)answers;
	memcpy(msg + 12, question, 8);
	msg[20] = (uint8_t)(qtype >> 8);
	msg[21] = (uint8_t)qtype;
	msg[22] = 0;
	msg[23] = 1;
	memcpy(msg + 24, records, size);
	return 24 + size;
}

static void run_raw(void **state)
{
	const struct raw_case *c = *state;
	struct dns_key key = make_key("a.test", c->qtype, 0);
	uint8_t *msg = malloc(24 + c->size);
	size_t size = raw_response(msg, 0x8180, c->qtype, c->count, c->records, c->size);
	struct dns_answer *a = NULL;
	char *answer, *authority;

	assert_int_equal(dns_answer_from_response(msg, size, &key, &plain, NOW, &a), c->err);
	free(msg);
	if (c->err)
		return;
	if (c->body) {
		assert_int_equal(a->body_len, c->body_len);
		assert_memory_equal(a->body, c->body, c->body_len);
	}
	if (c->want) {
		read_back(a, "a.test", &answer, &authority);
		expect_lines(answer, c->want);
		free(authority);
	}
	dns_answer_unref(a);
}

/* ---- whose answer it is ------------------------------------------------- */

static const struct match_case {
	const char *name;
	uint16_t flags;
	const char *asked;
	uint16_t qtype;
	bool question;
	int err;
} match_cases[] = {
	{ "the question asked is answered", 0x8180, "a.test", DNS_A, true, 0 },
	{ "letter case of the question does not matter", 0x8180, "A.tEST", DNS_A, true, 0 },
	{ "another name is refused", 0x8180, "b.test", DNS_A, true, -EBADMSG },
	{ "another type is refused", 0x8180, "a.test", DNS_AAAA, true, -EBADMSG },
	{ "TC is refused", 0x8380, "a.test", DNS_A, true, -EBADMSG },
	{ "another opcode is refused", 0xa080, "a.test", DNS_A, true, -EBADMSG },
	{ "a query is refused", 0x0100, "a.test", DNS_A, true, -EBADMSG },
	{ "NOERROR without a question is refused", 0x8180, "a.test", DNS_A, false, -EBADMSG },
	{ "NXDOMAIN without a question is refused", 0x8183, "a.test", DNS_A, false, -EBADMSG },
	{ "FORMERR without a question is taken", 0x8181, "a.test", DNS_A, false, 0 },
	{ "SERVFAIL without a question is taken", 0x8182, "a.test", DNS_A, false, 0 },
	{ "NOTIMP without a question is taken", 0x8184, "a.test", DNS_A, false, 0 },
	{ "REFUSED without a question is taken", 0x8185, "a.test", DNS_A, false, 0 },
};

static void run_match(void **state)
{
	const struct match_case *c = *state;
	struct dns_key key = make_key(c->asked, c->qtype, 0);
	uint8_t msg[64];
	size_t size = raw_response(msg, c->flags, DNS_A, 0, "", 0);
	struct dns_answer *a = NULL;

	if (!c->question) {
		msg[5] = 0;
		size = 12;
	}
	assert_int_equal(dns_answer_from_response(msg, size, &key, &plain, NOW, &a), c->err);
	assert_int_equal(a == NULL, c->err != 0);
	if (a)
		assert_int_equal(a->rcode, c->flags & 15);
	dns_answer_unref(a);
}

static void the_rcode_gets_its_upper_bits_from_the_opt(void **state)
{
	static const uint8_t opt[] = "\0\0\x29\x04\xd0\1\0\0\0\0\0";
	struct dns_key key = make_key("a.test", DNS_A, 0);
	struct dns_answer *a = NULL;
	uint8_t msg[64];
	size_t size = raw_response(msg, 0x8180, DNS_A, 0, opt, 11);

	msg[11] = 1;
	assert_int_equal(dns_answer_from_response(msg, size, &key, &plain, NOW, &a), 0);
	assert_int_equal(a->rcode, DNS_BADVERS);
	assert_int_equal(a->ttl, 0);
	dns_answer_unref(a);
}

static void chain_of(char *text, unsigned links)
{
	unsigned i;

	for (*text = 0, i = 0; i < links; i++)
		sprintf(text + strlen(text), "n%u.test. 60 IN CNAME n%u.test.\n", i, i + 1);
	sprintf(text + strlen(text), "n%u.test. 60 IN A 192.0.2.1\n", links);
}

static void sixteen_links_are_followed_and_seventeen_are_not(void **state)
{
	struct dns_key key = make_key("n0.test", DNS_A, 0);
	static uint8_t msg[MAKE_SIZE];
	struct dns_answer *a = NULL;
	char text[2000];

	chain_of(text, 16);
	assert_int_equal(dns_answer_from_response(msg, make_response(msg, "n0.test", DNS_A, 0, text, ""), &key,
		&plain, NOW, &a), 0);
	assert_int_equal(a->answers, 17);
	dns_answer_unref(a);
	a = NULL;
	chain_of(text, 17);
	assert_int_equal(dns_answer_from_response(msg, make_response(msg, "n0.test", DNS_A, 0, text, ""), &key,
		&plain, NOW, &a),
			 -EBADMSG);
	assert_null(a);
}

/* Many names, more than the table of suffixes holds and beyond what a pointer reaches. */
static void a_message_of_50000_octets_reads_back_the_same(void **state)
{
	static uint8_t msg[MAKE_SIZE];
	struct dns_key key = make_key("a.test", DNS_MX, 0);
	struct dns_answer *a = NULL;
	char *text = malloc(200000), *lines, *answer, *authority;
	size_t at = 0, size;
	unsigned i;

	for (i = 0; i < 1200; i++)
		at += (size_t)sprintf(text + at, "a.test. 60 IN MX %u m%u.x%u.%u-a-longer-label.Test%u.test.\n", i, i,
			i % 700, i, i % 5);
	size = make_response(msg, "a.test", DNS_MX, 0, text, "");
	lines = make_lines(text);
	free(text);
	assert_true(size > 50000);
	assert_int_equal(dns_answer_from_response(msg, size, &key, &plain, NOW, &a), 0);
	assert_int_equal(a->answers, 1200);
	read_back(a, "a.test", &answer, &authority);
	/* a suffix comes back in the letter case of its first occurrence */
	assert_int_equal(strcasecmp(answer, lines), 0);
	free(lines);
	free(answer);
	free(authority);
	dns_answer_unref(a);
}

static void what_grows_over_65535_octets_is_refused(void **state)
{
	uint8_t *msg = malloc(65535), record[] = "\xc0\x0c\0\x21\0\1\0\0\0\x3c\0\x08\0\1\0\2\0\3\xc0\x18";
	struct dns_key key = make_key("a.test", DNS_SRV, 0);
	struct dns_answer *a = NULL;
	size_t size, at;
	unsigned i, n = 3000;

	/* the first record's target is a name of 200 octets, which the others point to */
	size = raw_response(msg, 0x8180, DNS_SRV, (uint16_t)(n + 1), "\xc0\x0c\0\x21\0\1\0\0\0\x3c\0\xcf\0\1\0\2\0\3",
		18);
	at = size;
	for (i = 0; i < 4; i++) {
		msg[size] = 49;
		memset(msg + size + 1, 'x', 49);
		size += 50;
	}
	msg[size++] = 0;
	record[18] = (uint8_t)(0xc0 | at >> 8);
	record[19] = (uint8_t)at;
	for (i = 0; i < n; i++, size += 20)
		memcpy(msg + size, record, 20);
	assert_true(size < 65535);
	assert_int_equal(dns_answer_from_response(msg, size, &key, &plain, NOW, &a), -EMSGSIZE);
	assert_null(a);
	free(msg);
}

/* ---- the object --------------------------------------------------------- */

static void an_answer_dies_when_its_ttl_is_over(void **state)
{
	struct dns_key key = make_key("a.test", DNS_A, 0);
	struct dns_answer *a = dns_answer_empty(&key, DNS_SERVFAIL, DNS_EDE_NO_REACHABLE, 5, NOW);

	assert_int_equal(dns_answer_age(a, NOW - 1), 0);
	assert_int_equal(dns_answer_age(a, NOW + CLOCK_S - 1), 0);
	assert_int_equal(dns_answer_age(a, NOW + CLOCK_S), 1);
	assert_true(dns_answer_fresh(a, NOW));
	assert_true(dns_answer_fresh(a, NOW + 5 * CLOCK_S - 1));
	assert_false(dns_answer_fresh(a, NOW + 5 * CLOCK_S));
	assert_true(dns_answer_size(a) >= sizeof(*a));
	assert_int_equal(a->ede, DNS_EDE_NO_REACHABLE);
	assert_int_equal(a->asked, 1);
	dns_answer_unref(dns_answer_ref(a));
	dns_answer_unref(a);
	dns_answer_unref(NULL);
}

static const struct body_case {
	const char *name;
	uint16_t qtype;
	uint16_t rcode;
	const char *body;
	uint16_t len;
	uint16_t answers;
	uint16_t authorities;
	int err;
	uint32_t ttl;
	bool negative;
	bool chain;
} body_cases[] = {
	{ "an A", DNS_A, 0, W(OWNER FIXED("\1") "\0\4\xc0\0\2\1"), 1, 0, 0, 60, false, false },
	{ "a CNAME alone is a negative chain", DNS_A, 0, W(OWNER FIXED("\5") "\0\4\1b\xc0\x0e"), 1, 0, 0, 60, true,
	  true },
	{ "a SOA in the authority section", DNS_A, 3,
	  W(OWNER FIXED("\6") "\0\x16\0\0\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1"), 0, 1, 0, 60, true, false },
	{ "no records", DNS_A, DNS_REFUSED, W(""), 0, 0, 0, 0, false, false },
	{ "an octet too many is malformed", DNS_A, 0, W(OWNER FIXED("\1") "\0\4\xc0\0\2\1\0"), 1, 0, -EBADMSG, 0,
	  false, false },
	{ "a record too few is malformed", DNS_A, 0, W(OWNER FIXED("\1") "\0\4\xc0\0\2\1"), 1, 1, -EBADMSG, 0, false,
	  false },
	{ "a record cut short is malformed", DNS_A, 0, W(OWNER FIXED("\1") "\0\4\xc0\0\2"), 1, 0, -EBADMSG, 0, false,
	  false },
	{ "an owner that points forwards is malformed", DNS_A, 0, W("\xc0\x18" FIXED("\1") "\0\4\xc0\0\2\1"), 1, 0,
	  -EBADMSG,
	  0, false, false },
};

static void run_body(void **state)
{
	const struct body_case *c = *state;
	struct dns_key key = make_key("a.test", c->qtype, 0);
	struct dns_answer *a = NULL;

	assert_int_equal(dns_answer_from_body(&key, c->rcode, (const uint8_t *)c->body, c->len, c->answers,
		c->authorities,
					      NOW, &a), c->err);
	assert_int_equal(a == NULL, c->err != 0);
	if (!a)
		return;
	assert_int_equal(a->ttl, c->ttl);
	assert_int_equal(a->negative, c->negative);
	assert_int_equal(a->chain, c->chain);
	assert_int_equal(a->ttls, c->answers + c->authorities);
	if (a->ttls)
		assert_int_equal(dns_answer_ttls(a)[0], 6);
	assert_memory_equal(a->body, c->body, c->len);
	dns_answer_unref(a);
}

/* Ninety signed proofs: enough of them for any answer are taken, the rest is left. */
static void proofs_are_bounded(void **state)
{
	static uint8_t msg[MAKE_SIZE];
	static char text[90 * 160];
	struct dns_key key = make_key("x.a.test", DNS_A, DNS_KEY_DO);
	struct dns_answer *a = NULL;
	size_t len = 0, size;
	unsigned i;

	for (i = 0; i < 90; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "n%u.a.test. 300 IN NSEC o.a.test. A\nn%u.a.test. 300 IN RRSIG "
					SIG("NSEC"), i, i);
	size = make_response(msg, "x.a.test", DNS_A, DNS_NXDOMAIN, "", text);
	assert_int_equal(dns_answer_from_response(msg, size, &key, &plain, NOW, &a), 0);
	assert_int_equal(a->authorities, 64);
	dns_answer_unref(a);
}

int main(void)
{
	rows_add("proofs are bounded", proofs_are_bounded, NULL);
	ROWS_ADD(response_cases, run_response);
	ROWS_ADD(raw_cases, run_raw);
	ROWS_ADD(match_cases, run_match);
	ROWS_ADD(body_cases, run_body);
	rows_add("the rcode gets its upper bits from the OPT", the_rcode_gets_its_upper_bits_from_the_opt, NULL);
	rows_add("sixteen links are followed and seventeen are not", sixteen_links_are_followed_and_seventeen_are_not,
		NULL);
	rows_add("a message of 50,000 octets reads back the same", a_message_of_50000_octets_reads_back_the_same, NULL);
	rows_add("what grows over 65,535 octets is refused", what_grows_over_65535_octets_is_refused, NULL);
	rows_add("an answer dies when its TTL is over", an_answer_dies_when_its_ttl_is_over, NULL);
	return rows_run("dns/answer");
}
