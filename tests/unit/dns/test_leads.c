/* SPDX-License-Identifier: BSD-2-Clause */
/* test_leads.c - what answers lead to, and what of a response has no say in it. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "dns/leads.h"
#include "dns/name.h"
#include "unit/dns/make.h"
#include "unit/dns/rows.h"

#define BORN (1000 * CLOCK_S)

static const struct dns_ttl_limits plain = { .min = 0, .max = 86400, .negative_max = 3600, .failure = 5 };

struct seen {
	char text[2048];
	unsigned left;			/* stop at that many */
};

static bool see(const struct dns_lead *lead, void *arg)
{
	struct seen *s = arg;
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char buf[DNS_NAME_TEXT_MAX];

	if (lead->name)
		dns_name_text(lead->name, buf, sizeof(buf));
	else if (!memcmp(lead->ip, mapped, 12))
		inet_ntop(AF_INET, lead->ip + 12, buf, sizeof(buf));
	else
		inet_ntop(AF_INET6, lead->ip, buf, sizeof(buf));
	snprintf(s->text + strlen(s->text), sizeof(s->text) - strlen(s->text), "%.250s ", buf);
	return !--s->left;
}

static void expect(struct dns_answer *a, const char *want)
{
	struct seen s = { .left = 1000 };

	assert_int_equal(dns_answer_leads(a, see, &s), 0);
	assert_string_equal(s.text, want);
	dns_answer_unref(a);
}

/* ---- responses ---- */

static const struct lead_case {
	const char *name;
	uint16_t qtype;
	const char *answer;
	const char *authority;
	const char *want;
	bool chain;
} lead_cases[] = {
	{ "an address", DNS_A, "q.test. 300 IN A 192.0.2.1\n", "", "192.0.2.1 ", false },
	{ "an IPv6 address", DNS_AAAA, "q.test. 300 IN AAAA 2001:db8::1\n", "", "2001:db8::1 ", false },
	{ "links come lower-cased, in order", DNS_A,
	  "q.test. 300 IN CNAME Up.Test.\nup.test. 300 IN CNAME c.example.\nc.example. 300 IN A 192.0.2.1\n", "",
	  "up.test c.example 192.0.2.1 ", true },
	{ "links in another order are followed all the same", DNS_A,
	  "c.example. 300 IN A 192.0.2.1\nup.test. 300 IN CNAME c.example.\nq.test. 300 IN CNAME up.test.\n", "",
	  "up.test c.example 192.0.2.1 ", true },
	{ "hints of a service binding", DNS_HTTPS,
	  "q.test. 300 IN HTTPS 1 . alpn=h2 ipv4hint=192.0.2.1,192.0.2.2 ipv6hint=2001:db8::1\n", "",
	  "192.0.2.1 192.0.2.2 2001:db8::1 ", false },
	{ "the target of HTTPS in alias form", DNS_HTTPS, "q.test. 300 IN HTTPS 0 Pool.Example.\n", "", "pool.example ", true },
	{ "the target of HTTPS in service form, and its hints", DNS_HTTPS,
	  "q.test. 300 IN HTTPS 1 pool.example. alpn=h2 ipv4hint=192.0.2.1\n", "", "pool.example 192.0.2.1 ", true },
	{ "the target of SVCB", DNS_SVCB, "q.test. 300 IN SVCB 2 pool.example. port=53\n", "", "pool.example ", true },
	{ "the targets of all bindings", DNS_HTTPS,
	  "q.test. 300 IN HTTPS 1 a.example.\nq.test. 300 IN HTTPS 2 b.example.\nq.test. 300 IN HTTPS 3 .\n", "",
	  "a.example b.example ", true },
	{ "a target that is the owner leads nowhere", DNS_HTTPS, "q.test. 300 IN HTTPS 1 Q.test. alpn=h2\n", "", "", true },
	{ "an alias without a target says that there is no service", DNS_HTTPS, "q.test. 300 IN HTTPS 0 .\n", "", "", false },
	{ "a binding behind a link", DNS_HTTPS,
	  "q.test. 300 IN CNAME c.example.\nc.example. 300 IN HTTPS 1 d.example.\n", "", "c.example d.example ", true },
	{ "a binding of the end of the chain is no lead", DNS_HTTPS,
	  "q.test. 300 IN CNAME c.example.\nc.example. 300 IN HTTPS 1 c.example.\n", "", "c.example ", true },
	{ "a text leads nowhere", DNS_TXT, "q.test. 300 IN TXT \"192.0.2.1\"\n", "", "", false },
	{ "a mail exchanger leads nowhere", DNS_MX, "q.test. 300 IN MX 1 mail.example.\n", "", "", false },
	{ "a link of another name does not count", DNS_A,
	  "q.test. 300 IN A 192.0.2.1\nother.test. 300 IN CNAME bad.example.\n", "", "192.0.2.1 ", false },
	{ "a link in the authority section does not count", DNS_A, "q.test. 300 IN A 192.0.2.1\n",
	  "q.test. 300 IN CNAME bad.example.\n", "192.0.2.1 ", false },
	{ "a link in the authority section makes no chain of an empty answer", DNS_A, "",
	  "q.test. 300 IN CNAME bad.example.\ntest. 300 IN SOA . . 1 3600 600 86400 10\n", "", false },
	{ "a binding in the authority section does not count", DNS_HTTPS, "q.test. 300 IN HTTPS 1 .\n",
	  "q.test. 300 IN HTTPS 0 bad.example.\n", "", false },
};

static struct dns_answer *answer_of(uint16_t qtype, const char *answer, const char *authority)
{
	struct dns_key key = make_key("q.test", qtype, 0);
	static uint8_t msg[MAKE_SIZE];
	struct dns_answer *a;

	assert_int_equal(dns_answer_from_response(msg, make_response(msg, "q.test", qtype, 0, answer, authority), &key,
						  &plain, BORN, &a), 0);
	return a;
}

static void answer_leads_to(void **state)
{
	const struct lead_case *t = *state;
	struct dns_answer *a = answer_of(t->qtype, t->answer, t->authority);

	assert_int_equal(a->chain, t->chain);
	expect(a, t->want);
}

static void the_additional_section_has_no_say(void **state)
{
	struct dns_key key = make_key("q.test", DNS_A, 0);
	static uint8_t msg[MAKE_SIZE];
	size_t size = make_response(msg, "q.test", DNS_A, 0, "q.test. 300 IN A 192.0.2.1\nq.test. 300 IN CNAME b.test.\n", "");
	struct dns_answer *a;

	msg[7] = 1;			/* the last record is an additional one */
	msg[11] = 1;
	assert_int_equal(dns_answer_from_response(msg, size, &key, &plain, BORN, &a), 0);
	assert_false(a->chain);
	expect(a, "192.0.2.1 ");
}

/* ---- bodies ---- */

#define HEAD(owner, type, len) owner 0, type, 0, DNS_IN, 0, 0, 1, 44, 0, len
#define OURS  0xc0, 12,
#define OTHER 5, 'o', 't', 'h', 'e', 'r', 0,
#define BODY(...) { __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ })

static const struct body_case {
	const char *name;
	uint16_t qtype;
	uint8_t body[96];
	size_t size;
	uint16_t answers, authorities;
	const char *want;
} body_cases[] = {
	{ "a record off the chain leads nowhere", DNS_A,
	  BODY(HEAD(OTHER, DNS_CNAME, 5), 3, 'b', 'a', 'd', 0, HEAD(OURS, DNS_A, 4), 192, 0, 2, 1), 2, 0, "192.0.2.1 " },
	{ "an authority record leads nowhere", DNS_A,
	  BODY(HEAD(OURS, DNS_A, 4), 192, 0, 2, 1, HEAD(OURS, DNS_CNAME, 5), 3, 'b', 'a', 'd', 0), 1, 1, "192.0.2.1 " },
	{ "hints that run over leave the target and what follows", DNS_HTTPS,
	  BODY(HEAD(OURS, DNS_HTTPS, 11), 0, 1, 3, 'b', 'a', 'd', 0, 0, 4, 0, 9, HEAD(OURS, DNS_HTTPS, 7), 0, 2, 3, 't', 'w', 'o', 0),
	  2, 0, "bad two " },
	{ "a hint is read up to its end", DNS_HTTPS,
	  BODY(HEAD(OURS, DNS_HTTPS, 13), 0, 1, 0, 0, 4, 0, 6, 192, 0, 2, 1, 9, 9), 1, 0, "192.0.2.1 " },
	{ "a binding cut short leads nowhere", DNS_HTTPS, BODY(HEAD(OURS, DNS_HTTPS, 2), 0, 1), 1, 0, "" },
	{ "a binding whose name runs over leads nowhere", DNS_HTTPS,
	  BODY(HEAD(OURS, DNS_HTTPS, 5), 0, 1, 9, 'b', 'a', HEAD(OURS, DNS_HTTPS, 7), 0, 2, 3, 't', 'w', 'o', 0), 2, 0, "two " },
	{ "an address of three octets leads nowhere", DNS_A,
	  BODY(HEAD(OURS, DNS_A, 3), 192, 0, 2, HEAD(OURS, DNS_A, 4), 192, 0, 2, 1), 2, 0, "192.0.2.1 " },
};

static void body_leads_to(void **state)
{
	const struct body_case *t = *state;
	struct dns_key key = make_key("q.test", t->qtype, 0);
	struct dns_answer *a;

	assert_int_equal(dns_answer_from_body(&key, 0, t->body, (uint16_t)t->size, t->answers, t->authorities, BORN, &a), 0);
	expect(a, t->want);
}

/* ---- */

static void looking_ends_when_told(void **state)
{
	struct dns_answer *a = answer_of(DNS_A, lead_cases[2].answer, "");
	struct seen s = { .left = 2 };

	assert_int_equal(dns_answer_leads(a, see, &s), 1);
	assert_string_equal(s.text, "up.test c.example ");
	dns_answer_unref(a);
}

static void looking_ends_at_a_target_when_told(void **state)
{
	struct dns_answer *a = answer_of(DNS_HTTPS, lead_cases[6].answer, "");
	struct seen s = { .left = 1 };

	assert_int_equal(dns_answer_leads(a, see, &s), 1);
	assert_string_equal(s.text, "pool.example ");
	dns_answer_unref(a);
}

static void a_large_answer_is_looked_at_whole(void **state)
{
	static char lines[16384], want[4096];
	unsigned i;

	lines[0] = want[0] = 0;
	for (i = 1; i < 100; i++) {
		sprintf(lines + strlen(lines), "q.test. 300 IN HTTPS %u target-number-%u.example. port=443\n", i, i);
		if (i < 40)
			sprintf(want + strlen(want), "target-number-%u.example ", i);
	}
	struct dns_answer *a = answer_of(DNS_HTTPS, lines, "");
	struct seen s = { .left = 39 };

	assert_true(a->body_len > 2048);
	assert_int_equal(dns_answer_leads(a, see, &s), 1);
	assert_string_equal(s.text, want);
	dns_answer_unref(a);
}

int main(void)
{
	ROWS_ADD(lead_cases, answer_leads_to);
	rows_add("the_additional_section_has_no_say", the_additional_section_has_no_say, NULL);
	ROWS_ADD(body_cases, body_leads_to);
	rows_add("looking_ends_when_told", looking_ends_when_told, NULL);
	rows_add("looking_ends_at_a_target_when_told", looking_ends_at_a_target_when_told, NULL);
	rows_add("a_large_answer_is_looked_at_whole", a_large_answer_is_looked_at_whole, NULL);
	return rows_run("dns/leads");
}
