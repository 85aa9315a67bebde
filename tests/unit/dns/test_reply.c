/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_reply.c - whole responses, octet by octet.
 *
 * Blocked ones are written out here from the RFCs, not from maps/: the
 * packet path is held to the same octets elsewhere.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "dns/local.h"
#include "dns/name.h"
#include "dns/reply.h"
#include "dns/wire.h"
#include "maps/block.h"
#include "maps/config.h"
#include "unit/dns/make.h"
#include "unit/dns/rows.h"

#define W(s) s, sizeof(s) - 1
#define assert_octets(p, ...) assert_octets_(p, __VA_ARGS__)	/* so that W() counts as two */
#define assert_octets_(p, want, size) assert_memory_equal(p, want, size)
#define NOW (1000 * CLOCK_S)
#define QUESTION "\3wWw\2nl\0"		/* its letter case must come back */

static const struct dns_reply_limits udp = { .recursion = true, .udp_max = 1232 };
static const struct dns_reply_limits stream = { .recursion = true, .stream = true, .udp_max = 1232 };
static const struct dns_reply_limits alone = { .recursion = false, .udp_max = 1232 };

/* ---- blocked: mode x type x EDNS x DO ----------------------------------- */

static const struct {
	const char *name;
	uint8_t mode;
	uint8_t rcode;
	bool address;			/* A and AAAA have one */
	bool soa;			/* what has no address has a SOA */
	const char *ipv4, *ipv6;
} modes[] = {
	{ "null", MR_BLOCK_NULL, 0, true, true, "\0\0\0\0", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" },
	{ "nxdomain", MR_BLOCK_NXDOMAIN, 3, false, true, NULL, NULL },
	{ "nodata", MR_BLOCK_NODATA, 0, false, true, NULL, NULL },
	{ "refused", MR_BLOCK_REFUSED, 5, false, false, NULL, NULL },
	{ "custom", MR_BLOCK_CUSTOM, 0, true, true, "\xc0\0\2\7", "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\7" },
};

static const struct {
	const char *name;
	uint16_t type;
} types[] = {
	{ "A", DNS_A }, { "AAAA", DNS_AAAA }, { "HTTPS", DNS_HTTPS }, { "MX", DNS_MX }, { "SOA", DNS_SOA }, { "ANY",
	  DNS_ANY },
	{ "TYPE65280", 65280 },
};

static const struct {
	const char *name;
	bool edns, dnssec_ok;
} edns[] = { { "without EDNS", false, false }, { "with EDNS", true, false }, { "with DO", true, true } };

struct blocked_case {
	unsigned mode, type, edns;
};

static size_t add(uint8_t *buf, size_t at, const void *p, size_t n)
{
	memcpy(buf + at, p, n);
	return at + n;
}

/* What RFC 1035, 2308, 6891 and 8914 make of it. */
static size_t expected_blocked(const struct blocked_case *c, uint8_t *buf)
{
	uint16_t type = types[c->type].type;
	bool address = modes[c->mode].address && (type == DNS_A || type == DNS_AAAA),
		soa = !address && modes[c->mode].soa;
	uint8_t header[12] = { 0x12, 0x34, 0x81, (uint8_t)(0x80 | modes[c->mode].rcode), 0, 1, 0, address, 0, soa, 0,
			       edns[c->edns].edns };
	uint8_t type_class[4] = { (uint8_t)(type >> 8), (uint8_t)type, 0, 1 };
	size_t at = add(buf, 0, header, 12);

	at = add(buf, at, W(QUESTION));
	at = add(buf, at, type_class, 4);
	if (address && type == DNS_A) {
		at = add(buf, at, W("\xc0\x0c\0\1\0\1\0\1\x51\x80\0\4"));
		at = add(buf, at, modes[c->mode].ipv4, 4);
	} else if (address) {
		at = add(buf, at, W("\xc0\x0c\0\x1c\0\1\0\1\x51\x80\0\x10"));
		at = add(buf, at, modes[c->mode].ipv6, 16);
	}
	if (soa) {
		at = add(buf, at,
			W("\xc0\x0c\0\6\0\1\0\1\x51\x80\0\x16" "\0\0" "\0\0\0\1" "\0\0\x0e\x10" "\0\0\2\x58"));
		at = add(buf, at, W("\0\1\x51\x80" "\0\1\x51\x80"));
	}
	if (edns[c->edns].edns) {
		at = add(buf, at, W("\0\0\x29\x04\xd0\0\0"));
		at = add(buf, at, edns[c->edns].dnssec_ok ? "\x80" : "\0", 1);
		at = add(buf, at, W("\0\0\6\0\x0f\0\2\0\x0f"));
	}
	return at;
}

static void run_blocked(void **state)
{
	const struct blocked_case *c = *state;
	struct dns_block block = { .mode = modes[c->mode].mode, .ttl = 86400 };
	uint8_t ask[512], want[512], got[512];
	struct dns_query q = make_query_view(ask, "wWw.nl", types[c->type].type, edns[c->edns].edns,
		edns[c->edns].dnssec_ok);
	size_t size = expected_blocked(c, want);
	char *section;

	if (modes[c->mode].mode == MR_BLOCK_CUSTOM) {
		memcpy(block.ipv4, modes[c->mode].ipv4, 4);
		memcpy(block.ipv6, modes[c->mode].ipv6, 16);
	}
	assert_int_equal(dns_reply_blocked(&q, &block, NULL, &udp, got, sizeof(got)), size);
	assert_memory_equal(got, want, size);
	section = make_section(got, size, DNS_ANSWER);
	assert_non_null(section);
	free(section);
	/* and no octet past a buffer that is one too small */
	assert_int_equal(dns_reply_blocked(&q, &block, NULL, &udp, got, size - 1), -EMSGSIZE);
}

static struct blocked_case blocked_cases[5 * 7 * 3];
static char blocked_names[5 * 7 * 3][64];

static void add_blocked(void)
{
	unsigned m, t, e, n = 0;

	for (m = 0; m < 5; m++) {
		for (t = 0; t < 7; t++) {
			for (e = 0; e < 3; e++, n++) {
				blocked_cases[n] = (struct blocked_case){ m, t, e };
				snprintf(blocked_names[n], sizeof(blocked_names[n]), "blocked, mode %s: %s %s",
					modes[m].name,
					 types[t].name, edns[e].name);
				rows_add(blocked_names[n], run_blocked, &blocked_cases[n]);
			}
		}
	}
}

/* ---- flags -------------------------------------------------------------- */

static const struct flag_case {
	const char *name;
	uint16_t asked;			/* flags of the query */
	bool dnssec_ok;
	bool aa, ad;			/* of the answer */
	const struct dns_reply_limits *limits;
	uint16_t flags;
} flag_cases[] = {
	{ "RD is copied, RA says that we recurse", 0x0100, false, false, false, &udp, 0x8180 },
	{ "a clear RD is copied", 0x0000, false, false, false, &udp, 0x8080 },
	{ "without recursion RA is clear", 0x0100, false, false, false, &alone, 0x8100 },
	{ "CD is copied", 0x0110, false, false, false, &udp, 0x8190 },
	{ "AA is the answer's", 0x0100, false, true, false, &udp, 0x8580 },
	{ "AD for who set AD", 0x0120, false, false, true, &udp, 0x81a0 },
	{ "AD for who set DO", 0x0100, true, false, true, &udp, 0x81a0 },
	{ "no AD for others", 0x0100, false, false, true, &udp, 0x8180 },
	{ "no AD on what is not validated", 0x0120, true, false, false, &udp, 0x8180 },
	{ "Z and TC of the query are dropped", 0x0340, false, false, false, &udp, 0x8180 },
};

static void run_flag(void **state)
{
	const struct flag_case *c = *state;
	struct dns_key key = make_key("www.nl", DNS_A, 0);
	struct dns_answer *a = dns_answer_empty(&key, 0, DNS_EDE_NONE, 60, NOW);
	uint8_t ask[512], out[512];
	struct dns_query q = make_query_view(ask, "www.nl", DNS_A, c->dnssec_ok, c->dnssec_ok);

	q.flags = c->asked;
	a->aa = c->aa;
	a->ad = c->ad;
	assert_true(dns_reply_answer(&q, a, c->limits, NOW, out, sizeof(out)) > 0);
	assert_int_equal(dns_get16(out + 2), c->flags);
	dns_answer_unref(a);
}

/* ---- ageing ------------------------------------------------------------- */

static const struct age_case {
	const char *name;
	uint32_t ttl[2];
	uint64_t after_ns;
	bool local;
	uint32_t shown[2];
} age_cases[] = {
	{ "a new answer has its TTLs", { 300, 60 }, 0, false, { 300, 60 } },
	{ "less than a second is nothing", { 300, 60 }, CLOCK_S - 1, false, { 300, 60 } },
	{ "each TTL counts down", { 300, 60 }, 59 * CLOCK_S, false, { 241, 1 } },
	{ "none falls below 1", { 300, 60 }, 70 * CLOCK_S, false, { 230, 1 } },
	{ "local answers do not age", { 300, 60 }, 59 * CLOCK_S, true, { 300, 60 } },
	{ "an answer that is not kept shows 0", { 300, 0 }, 0, false, { 300, 0 } },
	{ "a clock that stepped back ages nothing", { 300, 60 }, -5 * CLOCK_S, false, { 300, 60 } },
};

static struct dns_answer *two_addresses(const uint32_t ttl[2])
{
	uint8_t body[32] = "\xc0\x0c\0\1\0\1....\0\4\xc0\0\2\1" "\xc0\x0c\0\1\0\1....\0\4\xc0\0\2\2";
	struct dns_key key = make_key("www.nl", DNS_A, 0);
	struct dns_answer *a = NULL;

	dns_put32(body + 6, ttl[0]);
	dns_put32(body + 22, ttl[1]);
	assert_int_equal(dns_answer_from_body(&key, 0, body, sizeof(body), 2, 0, NOW, &a), 0);
	return a;
}

static void run_age(void **state)
{
	const struct age_case *c = *state;
	struct dns_answer *a = two_addresses(c->ttl);
	uint8_t ask[512], out[512], before[32];
	struct dns_query q = make_query_view(ask, "wWw.nl", DNS_A, false, false);

	a->local = c->local;
	memcpy(before, a->body, 32);
	assert_int_equal(dns_reply_answer(&q, a, &udp, NOW + c->after_ns, out, sizeof(out)), 12 + 12 + 32);
	assert_octets(out + 12, W(QUESTION));
	assert_int_equal(dns_get32(out + 24 + 6), c->shown[0]);
	assert_int_equal(dns_get32(out + 24 + 22), c->shown[1]);
	assert_memory_equal(a->body, before, 32);	/* shared by others */
	dns_answer_unref(a);
}

/* ---- size --------------------------------------------------------------- */

static const struct size_case {
	const char *name;
	uint16_t body;			/* octets */
	bool edns;
	uint16_t client;		/* its EDNS size */
	const struct dns_reply_limits *limits;
	bool cut;
} size_cases[] = {
	{ "512 octets without EDNS are sent", 512 - 24, false, 0, &udp, false },
	{ "513 octets without EDNS are cut", 513 - 24, false, 0, &udp, true },
	{ "513 octets without EDNS over a stream are sent", 513 - 24, false, 0, &stream, false },
	{ "what fits the client's size with the OPT is sent", 900 - 24 - 11, true, 900, &udp, false },
	{ "an octet more than the client's size is cut", 901 - 24 - 11, true, 900, &udp, true },
	{ "our own limit is 1232", 1232 - 24 - 11, true, 4096, &udp, false },
	{ "an octet over our own limit is cut", 1233 - 24 - 11, true, 4096, &udp, true },
	{ "a stream takes 60,000 octets", 60000, true, 512, &stream, false },
};

static struct dns_answer *opaque(uint16_t size)
{
	struct dns_key key = make_key("www.nl", 65280, 0);
	uint8_t *body = calloc(1, size);
	struct dns_answer *a = NULL;

	memcpy(body, "\xc0\x0c\xff\0\0\1\0\0\0\x3c", 10);
	dns_put16(body + 10, (uint16_t)(size - 12));
	assert_int_equal(dns_answer_from_body(&key, 0, body, size, 1, 0, NOW, &a), 0);
	free(body);
	return a;
}

static void run_size(void **state)
{
	const struct size_case *c = *state;
	struct dns_answer *a = opaque(c->body);
	static uint8_t out[65535];
	uint8_t ask[512];
	struct dns_query q = make_query_view(ask, "www.nl", 65280, c->edns, false);
	int len, opt = c->edns ? 11 : 0;

	q.edns.size = c->client;
	len = dns_reply_answer(&q, a, c->limits, NOW, out, sizeof(out));
	assert_int_equal(len, 24 + opt + (c->cut ? 0 : c->body));
	assert_int_equal(dns_get16(out + 2), c->cut ? 0x8380 : 0x8180);
	assert_int_equal(dns_get16(out + 6), !c->cut);
	assert_int_equal(dns_get16(out + 10), c->edns);
	if (!c->cut)
		assert_int_equal(dns_reply_answer(&q, a, c->limits, NOW, out, (size_t)len - 1), -EMSGSIZE);
	dns_answer_unref(a);
}

/* ---- errors ------------------------------------------------------------- */

#define ASK  "\x12\x34\1\x10\0\1\0\0\0\0\0\0" "\3wWw\2nl\0\0\1\0\1"
#define ASKE "\x12\x34\1\x10\0\1\0\0\0\0\0\1" "\3wWw\2nl\0\0\1\0\1"
#define SAY(flags, qd, ar) "\x12\x34" flags "\0" qd "\0\0\0\0\0" ar

static const struct error_case {
	const char *name;
	const char *ask;
	size_t ask_len;
	uint16_t rcode;			/* 0: the one that parsing gave */
	int ede;
	const char *say;
	size_t say_len;
} error_cases[] = {
	{ "SERVFAIL without EDNS says no EDE", W(ASK), DNS_SERVFAIL, DNS_EDE_NO_REACHABLE,
	  W(SAY("\x81\x92", "\1", "\0") "\3wWw\2nl\0\0\1\0\1") },
	{ "SERVFAIL with EDNS says why", W(ASKE "\0\0\x29\x02\0\0\0\x80\0\0\0"), DNS_SERVFAIL, DNS_EDE_NO_REACHABLE,
	  W(SAY("\x81\x92", "\1", "\1") "\3wWw\2nl\0\0\1\0\1" "\0\0\x29\x04\xd0\0\0\x80\0\0\6\0\x0f\0\2\0\x16") },
	{ "an EDE of 0 is said", W(ASKE "\0\0\x29\x02\0\0\0\0\0\0\0"), DNS_SERVFAIL, DNS_EDE_OTHER,
	  W(SAY("\x81\x92", "\1", "\1") "\3wWw\2nl\0\0\1\0\1" "\0\0\x29\x04\xd0\0\0\0\0\0\6\0\x0f\0\2\0\0") },
	{ "BADVERS is split over header and OPT", W(ASKE "\0\0\x29\x02\0\0\1\0\0\0\0"), 0, DNS_EDE_NONE,
	  W(SAY("\x81\x90", "\1", "\1") "\3wWw\2nl\0\0\1\0\1" "\0\0\x29\x04\xd0\1\0\0\0\0\0") },
	{ "an rcode over 15 is SERVFAIL where there is no OPT to say it", W(ASK), 23, DNS_EDE_NONE,
	  W(SAY("\x81\x92", "\1", "\0") "\3wWw\2nl\0\0\1\0\1") },
	{ "an unreadable question is not given back", W("\x12\x34\1\0\0\1\0\0\0\0\0\0\3w"), 0, DNS_EDE_NONE,
	  W(SAY("\x81\x81", "\0", "\0")) },
	{ "another opcode comes back with NOTIMP", W("\x12\x34\x29\0\0\0\0\0\0\0\0\0"), 0, DNS_EDE_NONE,
	  W(SAY("\xa9\x84", "\0", "\0")) },
	{ "FORMERR for two OPTs has one", W("\x12\x34\1\0\0\1\0\0\0\0\0\2" "\3wWw\2nl\0\0\1\0\1"
	  "\0\0\x29\x02\0\0\0\0\0\0\0" "\0\0\x29\x02\0\0\0\0\0\0\0"), 0, DNS_EDE_NONE,
	  W(SAY("\x81\x81", "\1", "\1") "\3wWw\2nl\0\0\1\0\1" "\0\0\x29\x04\xd0\0\0\0\0\0\0") },
};

static void run_error(void **state)
{
	const struct error_case *c = *state;
	uint8_t out[512];
	struct dns_query q;
	int rcode = dns_query_parse((const uint8_t *)c->ask, c->ask_len, &q);

	assert_true(rcode >= 0);
	assert_int_equal(dns_reply_error(&q, c->rcode ? c->rcode : (uint16_t)rcode, c->ede, &udp, out, sizeof(out)),
		c->say_len);
	assert_memory_equal(out, c->say, c->say_len);
	assert_int_equal(dns_reply_error(&q, c->rcode ? c->rcode : (uint16_t)rcode, c->ede, &udp, out,
		c->say_len - 1), -EMSGSIZE);
}

/* ---- queries of our own ------------------------------------------------- */

static void a_query_is_written_as_asked(void **state)
{
	uint8_t out[64];

	assert_int_equal(dns_query_write(0xabcd, (const uint8_t *)QUESTION, 8, DNS_AAAA, 0, false, out, sizeof(out)),
		24);
	assert_octets(out, W("\xab\xcd\1\0\0\1\0\0\0\0\0\0" QUESTION "\0\x1c\0\1"));
	assert_int_equal(dns_query_write(0xabcd, (const uint8_t *)QUESTION, 8, DNS_AAAA, DNS_KEY_DO | DNS_KEY_CD,
		true, out,
					 sizeof(out)), 35);
	assert_octets(out, W("\xab\xcd\1\x10\0\1\0\0\0\0\0\1" QUESTION "\0\x1c\0\1" "\0\0\x29\x04\xd0\0\0\x80\0\0\0"));
	assert_int_equal(dns_query_write(1, (const uint8_t *)QUESTION, 8, DNS_A, 0, false, out, 23), -EMSGSIZE);
}

static void an_answer_says_its_ede_to_who_has_edns(void **state)
{
	struct dns_key key = make_key("www.nl", DNS_A, 0);
	struct dns_answer *a = dns_answer_empty(&key, DNS_SERVFAIL, DNS_EDE_CACHED_ERROR, 5, NOW);
	uint8_t ask[512], out[512];
	struct dns_query q = make_query_view(ask, "www.nl", DNS_A, true, false);

	assert_int_equal(dns_reply_answer(&q, a, &udp, NOW, out, sizeof(out)), 24 + 17);
	assert_octets(out + 24, W("\0\0\x29\x04\xd0\0\0\0\0\0\6\0\x0f\0\2\0\x0d"));
	q = make_query_view(ask, "www.nl", DNS_A, false, false);
	assert_int_equal(dns_reply_answer(&q, a, &udp, NOW, out, sizeof(out)), 24);
	dns_answer_unref(a);
}

/* ---- what a blocked answer says about why ------------------------------- */

#define FORTY "0123456789012345678901234567890123456789"

static const struct why_case {
	const char *name;
	uint8_t ede;			/* enum mr_block_ede */
	const char *list;		/* NULL: none is known */
	bool edns;
	const char *option;		/* RDLEN of the OPT and what follows; NULL: there is no OPT */
	size_t len;
} why_cases[] = {
	{ "why blocked: the list's name", MR_BLOCK_EDE_TEXT, "ads", true, W("\0\x09\0\x0f\0\5\0\x0f" "ads") },
	{ "why blocked: a name of forty octets", MR_BLOCK_EDE_TEXT, FORTY, true, W("\0\x2e\0\x0f\0\x2a\0\x0f" FORTY) },
	{ "why blocked: a longer one is cut", MR_BLOCK_EDE_TEXT, FORTY "x", true, W("\0\x2e\0\x0f\0\x2a\0\x0f" FORTY) },
	{ "why blocked: no name, the code alone", MR_BLOCK_EDE_TEXT, "", true, W("\0\6\0\x0f\0\2\0\x0f") },
	{ "why blocked: no list, the code alone", MR_BLOCK_EDE_TEXT, NULL, true, W("\0\6\0\x0f\0\2\0\x0f") },
	{ "why blocked: code", MR_BLOCK_EDE_CODE, "ads", true, W("\0\6\0\x0f\0\2\0\x0f") },
	{ "why blocked: none", MR_BLOCK_EDE_NONE, "ads", true, W("\0\0") },
	{ "why blocked: without EDNS nothing", MR_BLOCK_EDE_TEXT, "ads", false, NULL, 0 },
};

static void run_why(void **state)
{
	const struct why_case *c = *state;
	struct mr_block kernel = { .mode = MR_BLOCK_NXDOMAIN, .ttl = 60, .ede = c->ede };
	uint8_t ask[512], out[512];
	struct dns_query q = make_query_view(ask, "wWw.nl", DNS_A, c->edns, false);
	size_t start = DNS_HEADER + q.question_len + sizeof(struct mr_rr_soa);
	struct dns_block block;
	struct mr_ede text;
	int len;

	dns_block_take(&kernel, &block);
	if (c->list)
		mr_ede_render(&text, c->list);
	len = dns_reply_blocked(&q, &block, c->list ? &text : NULL, &udp, out, sizeof(out));
	assert_int_equal(len, start + (c->option ? 9 + c->len : 0));
	if (c->option)
		assert_memory_equal(out + start + 9, c->option, c->len);
}

/* An answer in the place of a blocked one has the same OPT, behind its own body. */
static void run_instead(void **state)
{
	const struct why_case *c = *state;
	struct dns_block block = { .mode = MR_BLOCK_NULL, .ttl = 60, .ede = c->ede };
	struct dns_record record = { DNS_A, 4, (const uint8_t *)"\xc0\0\2\7" };
	struct dns_key key = make_key("www.nl", DNS_A, 0);
	uint8_t ask[512], out[512];
	struct dns_query q = make_query_view(ask, "wWw.nl", DNS_A, c->edns, false);
	size_t start = DNS_HEADER + q.question_len + sizeof(struct mr_rr_a);
	struct dns_answer *a;
	struct mr_ede text;
	int len;

	assert_int_equal(dns_answer_local(&key, 0, &record, 1, 60, NOW, &a), 0);
	if (c->list)
		mr_ede_render(&text, c->list);
	len = dns_reply_instead(&q, a, &block, c->list ? &text : NULL, &udp, NOW, out, sizeof(out));
	assert_int_equal(len, start + (c->option ? 9 + c->len : 0));
	if (c->option)
		assert_memory_equal(out + start + 9, c->option, c->len);
	assert_int_equal(out[7], 1);
	dns_answer_unref(a);
}

/* Room for the body and an OPT with the code, one octet less than with the text; then one less than that. */
static void a_text_goes_before_the_answer_does(void **state)
{
	static const struct dns_block block = { .mode = MR_BLOCK_NULL, .ede = MR_BLOCK_EDE_TEXT };
	struct dns_key key = make_key("www.nl", DNS_A, 0);
	struct dns_record record[40];
	uint8_t ask[512], out[1500];
	struct dns_query q = make_query_view(ask, "www.nl", DNS_A, true, false);
	struct dns_answer *a;
	struct mr_ede text;
	unsigned i;

	for (i = 0; i < 40; i++)
		record[i] = (struct dns_record){ DNS_A, 4, (const uint8_t *)"\xc0\0\2\7" };
	assert_int_equal(dns_answer_local(&key, 0, record, 40, 60, NOW, &a), 0);
	mr_ede_render(&text, "ads");
	q.edns.size = (uint16_t)(DNS_HEADER + q.question_len + a->body_len + 11 + 9);
	assert_int_equal(dns_reply_instead(&q, a, &block, &text, &udp, NOW, out, sizeof(out)), q.edns.size);
	assert_octets(out + q.edns.size - 3, W("ads"));
	q.edns.size -= 1;
	assert_int_equal(dns_reply_instead(&q, a, &block, &text, &udp, NOW, out, sizeof(out)), q.edns.size - 2);
	assert_false(out[2] & 2);
	q.edns.size -= 3;
	assert_int_equal(dns_reply_instead(&q, a, &block, &text, &udp, NOW, out, sizeof(out)), 24 + 11 + 6);
	assert_true(out[2] & 2);
	dns_answer_unref(a);
}

static void an_error_of_its_own_is_said_first(void **state)
{
	static const struct dns_block block = { .ede = MR_BLOCK_EDE_CODE };
	struct dns_key key = make_key("www.nl", DNS_A, 0);
	struct dns_answer *a = dns_answer_empty(&key, DNS_SERVFAIL, DNS_EDE_NO_REACHABLE, 5, NOW);
	uint8_t ask[512], out[512];
	struct dns_query q = make_query_view(ask, "www.nl", DNS_A, true, false);

	assert_int_equal(dns_reply_instead(&q, a, &block, NULL, &udp, NOW, out, sizeof(out)), 24 + 17);
	assert_octets(out + 24, W("\0\0\x29\x04\xd0\0\0\0\0\0\6\0\x0f\0\2\0\x16"));
	dns_answer_unref(a);
}

static void settings_are_taken_as_they_stand(void **state)
{
	struct mr_block kernel = { .mode = MR_BLOCK_CUSTOM, .ede = MR_BLOCK_EDE_NONE, .ttl = 7 };
	struct dns_block b, withheld;

	memcpy(&kernel.ipv4, "\xc0\0\2\7", 4);
	memcpy(kernel.ipv6, "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\7", 16);
	dns_block_take(&kernel, &b);
	assert_int_equal(b.mode, MR_BLOCK_CUSTOM);
	assert_int_equal(b.ede, MR_BLOCK_EDE_NONE);
	assert_int_equal(b.ttl, 7);
	assert_memory_equal(b.ipv4, &kernel.ipv4, 4);
	assert_memory_equal(b.ipv6, kernel.ipv6, 16);
	b.ede = MR_BLOCK_EDE_TEXT;
	dns_block_withhold(&b, &withheld);
	assert_int_equal(withheld.mode, MR_BLOCK_NODATA);
	assert_int_equal(withheld.ede, MR_BLOCK_EDE_NONE);
	assert_int_equal(withheld.ttl, 7);
}

int main(void)
{
	add_blocked();
	ROWS_ADD(why_cases, run_why);
	ROWS_ADD(why_cases, run_instead);
	rows_add("a text goes before the answer does", a_text_goes_before_the_answer_does, NULL);
	rows_add("an error of its own is said first", an_error_of_its_own_is_said_first, NULL);
	rows_add("settings are taken as they stand", settings_are_taken_as_they_stand, NULL);
	ROWS_ADD(flag_cases, run_flag);
	ROWS_ADD(age_cases, run_age);
	ROWS_ADD(size_cases, run_size);
	ROWS_ADD(error_cases, run_error);
	rows_add("a query is written as asked", a_query_is_written_as_asked, NULL);
	rows_add("an answer says its EDE to who has EDNS", an_answer_says_its_ede_to_who_has_edns, NULL);
	return rows_run("dns/reply");
}
