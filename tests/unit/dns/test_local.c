/* SPDX-License-Identifier: BSD-2-Clause */
/* test_local.c - answers of our own, and aliases before answers of others. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "dns/local.h"
#include "dns/name.h"
#include "dns/reply.h"
#include "unit/dns/make.h"
#include "unit/dns/rows.h"

#define BORN (1000 * CLOCK_S)
#define NOW  (1100 * CLOCK_S)

static const struct dns_ttl_limits plain = { .min = 0, .max = 86400, .negative_max = 3600, .failure = 5 };
static const struct dns_reply_limits stream = { .recursion = true, .stream = true, .udp_max = 1232 };

static void expect_section(const uint8_t *msg, int len, int section, const char *want)
{
	char *got = make_section(msg, (size_t)len, section), *lines = make_lines(want);

	assert_non_null(got);
	assert_string_equal(got, lines);
	free(got);
	free(lines);
}

/* Hold what @a says to a client now against zone-file lines. */
static void expect_reply(const struct dns_answer *a, const char *name, const char *answer, const char *authority)
{
	static uint8_t out[MAKE_SIZE];
	uint8_t ask[512];
	struct dns_query q = make_query_view(ask, name, a->key.qtype, true, false);
	int len = dns_reply_answer(&q, a, &stream, NOW, out, sizeof(out));

	assert_true(len > 0);
	assert_int_equal(out[3] & 15, a->rcode);
	expect_section(out, len, DNS_ANSWER, answer);
	expect_section(out, len, DNS_AUTHORITY, authority);
}

/* ---- records of our own ---- */

#define RDATA(s) { 0, sizeof(s) - 1, (const uint8_t *)(s) }
#define NO_RDATA { 0, 0, NULL }
#define OUR_SOA "own.test. 60 IN SOA . . 1 3600 600 86400 60\n"

static const struct local_case {
	const char *name;
	uint16_t qtype;
	uint16_t rcode;
	unsigned count;
	struct dns_record record[2];
	int err;
	const char *answer;
	const char *authority;
	bool negative;
} local_cases[] = {
	{ "an address of ours", DNS_A, 0, 1, { RDATA("\xc0\0\2\1") }, 0, "own.test. 60 IN A 192.0.2.1\n", "", false },
	{ "an RRset of ours", DNS_A, 0, 2, { RDATA("\xc0\0\2\1"), RDATA("\xc0\0\2\2") }, 0,
	  "own.test. 60 IN A 192.0.2.1\nown.test. 60 IN A 192.0.2.2\n", "", false },
	{ "an IPv6 address of ours", DNS_AAAA, 0, 1, { RDATA(" \1\r\xb8\0\0\0\0\0\0\0\0\0\0\0\1") }, 0,
	  "own.test. 60 IN AAAA 2001:db8::1\n", "", false },
	{ "a mail exchanger of ours", DNS_MX, 0, 1, { RDATA("\0\x0a\4mail\3own\4test\0") }, 0,
	  "own.test. 60 IN MX 10 mail.own.test.\n", "", false },
	{ "no data has our SOA", DNS_A, 0, 0, { NO_RDATA }, 0, "", OUR_SOA, true },
	{ "no such name has our SOA", DNS_A, DNS_NXDOMAIN, 0, { NO_RDATA }, 0, "", OUR_SOA, true },
	{ "a refusal has none", DNS_A, DNS_REFUSED, 0, { NO_RDATA }, 0, "", "", false },
	{ "an address of three octets is none", DNS_A, 0, 1, { RDATA("\xc0\0\2") }, -EBADMSG, NULL, NULL, false },
};

static void local_answer_says(void **state)
{
	const struct local_case *t = *state;
	struct dns_key key = make_key("own.test", t->qtype, 0);
	struct dns_record record[2];
	struct dns_answer *a = NULL;
	unsigned i;

	memcpy(record, t->record, sizeof(record));
	for (i = 0; i < 2; i++)
		record[i].type = t->qtype;
	assert_int_equal(dns_answer_local(&key, t->rcode, record, t->count, 60, NOW, &a), t->err);
	if (t->err)
		return;
	assert_int_equal(a->negative, t->negative);
	assert_int_equal(a->ttl, t->count || t->rcode != DNS_REFUSED ? 60 : 0);
	expect_reply(a, "own.test", t->answer, t->authority);
	dns_answer_unref(a);
}

/* ---- aliases ---- */

#define AWAY_SOA "away.example. 300 IN SOA ns.away.example. root.away.example. 7 3600 600 86400 60\n"

static const struct alias_case {
	const char *name;
	uint16_t qtype;
	uint16_t rcode;			/* of the target's answer */
	const char *answer;
	const char *authority;
	const char *want_answer;	/* a hundred seconds later */
	const char *want_authority;
	bool negative;
} alias_cases[] = {
	{ "an alias stands before its target's address", DNS_A, 0, "t.away.example. 300 IN A 192.0.2.1\n", "",
	  "own.test. 60 IN CNAME t.away.example.\nt.away.example. 200 IN A 192.0.2.1\n", "", false },
	{ "a chain goes on behind it", DNS_A, 0,
	  "t.away.example. 300 IN CNAME u.away.example.\nu.away.example. 300 IN A 192.0.2.1\n", "",
	  "own.test. 60 IN CNAME t.away.example.\nt.away.example. 200 IN CNAME u.away.example.\n"
	  "u.away.example. 200 IN A 192.0.2.1\n", "", false },
	{ "a target without the type", DNS_AAAA, 0, "", AWAY_SOA,
	  "own.test. 60 IN CNAME t.away.example.\n",
	  "away.example. 1 IN SOA ns.away.example. root.away.example. 7 3600 600 86400 60\n", true },
	{ "a target that is not there", DNS_A, DNS_NXDOMAIN, "", AWAY_SOA,
	  "own.test. 60 IN CNAME t.away.example.\n",
	  "away.example. 1 IN SOA ns.away.example. root.away.example. 7 3600 600 86400 60\n", true },
	{ "a target that fails fails", DNS_A, DNS_SERVFAIL, "", "", "", "", false },
};

static void alias_says(void **state)
{
	const struct alias_case *t = *state;
	struct dns_key key = make_key("own.test", t->qtype, 0), to = make_key("t.away.example", t->qtype, 0);
	struct dns_answer *of, *a;
	static uint8_t msg[MAKE_SIZE];
	size_t len = make_response(msg, "t.away.example", t->qtype, t->rcode, t->answer, t->authority);

	assert_int_equal(dns_answer_from_response(msg, len, &to, &plain, BORN, &of), 0);
	assert_int_equal(dns_answer_alias(&key, to.name, to.name_len, 60, of, NOW, &a), 0);
	dns_answer_unref(of);
	assert_int_equal(a->negative, t->negative);
	expect_reply(a, "own.test", t->want_answer, t->want_authority);
	dns_answer_unref(a);
}

static void an_alias_alone_is_a_cname(void **state)
{
	struct dns_key key = make_key("own.test", DNS_CNAME, 0), to = make_key("t.away.example", DNS_CNAME, 0);
	struct dns_answer *a;

	assert_int_equal(dns_answer_alias(&key, to.name, to.name_len, 60, NULL, NOW, &a), 0);
	assert_false(a->negative);
	expect_reply(a, "own.test", "own.test. 60 IN CNAME t.away.example.\n", "");
	dns_answer_unref(a);
}

int main(void)
{
	ROWS_ADD(local_cases, local_answer_says);
	ROWS_ADD(alias_cases, alias_says);
	rows_add("an_alias_alone_is_a_cname", an_alias_alone_is_a_cname, NULL);
	return rows_run("dns/local");
}
