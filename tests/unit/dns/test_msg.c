/* SPDX-License-Identifier: BSD-2-Clause */
/* test_msg.c - queries and responses as they came, most of them broken. */
#include <errno.h>
#include <string.h>
#include "dns/msg.h"
#include "unit/dns/rows.h"

#define W(s) s, sizeof(s) - 1
#define HEAD(flags, qd, an, ns, ar) "\x12\x34" flags "\0" qd "\0" an "\0" ns "\0" ar
#define RD    "\x01\x00"
#define ASK   HEAD(RD, "\1", "\0", "\0", "\0")
#define ASK1  HEAD(RD, "\1", "\0", "\0", "\1")
#define Q     "\1a\2nl\0" "\0\1" "\0\1"
#define OPT(size, version, flags, rdlen) "\0" "\0\x29" size "\0" version flags rdlen
#define OPT0  OPT("\x04\xd0", "\0", "\0\0", "\0\0")
#define LONG_OWNER "\1b\2nl\0"

/* ---- queries ------------------------------------------------------------ */

static const struct query_case {
	const char *name;
	const char *msg;
	size_t size;
	int rcode;
	bool question;
	bool edns;
	uint16_t edns_size;
	bool dnssec_ok;
} query_cases[] = {
	{ "a plain query", W(ASK Q), DNS_NOERROR, true, false, 0, false },
	{ "a query with EDNS", W(ASK1 Q OPT0), DNS_NOERROR, true, true, 1232, false },
	{ "DO is read", W(ASK1 Q OPT("\x10\x00", "\0", "\x80\0", "\0\0")), DNS_NOERROR, true, true, 4096, true },
	{ "an EDNS size below 512 is 512", W(ASK1 Q OPT("\0\x64", "\0", "\0\0", "\0\0")), DNS_NOERROR, true, true,
	  512, 0 },
	{ "an EDNS size of 0 is 512", W(ASK1 Q OPT("\0\0", "\0", "\0\0", "\0\0")), DNS_NOERROR, true, true, 512, 0 },
	{ "EDNS options are passed over",
	  W(ASK1 Q OPT("\x04\xd0", "\0", "\0\0", "\0\x0c") "\0\x0a\0\x08" "cookie!!"), DNS_NOERROR, true, true, 1232,
	  0 },
	{ "EDNS version 1 is BADVERS", W(ASK1 Q OPT("\x04\xd0", "\1", "\0\0", "\0\0")), DNS_BADVERS, true, true, 1232,
	  0 },
	{ "a later version's options are not judged",
	  W(ASK1 Q OPT("\x04\xd0", "\1", "\0\0", "\0\3") "abc"), DNS_BADVERS, true, true, 1232, 0 },
	{ "an option past the OPT is FORMERR",
	  W(ASK1 Q OPT("\x04\xd0", "\0", "\0\0", "\0\5") "\0\x0a\0\x08" "c"), DNS_FORMERR, true, true, 1232, 0 },
	{ "half an option header is FORMERR",
	  W(ASK1 Q OPT("\x04\xd0", "\0", "\0\0", "\0\3") "\0\x0a\0"), DNS_FORMERR, true, true, 1232, 0 },
	{ "two OPTs are FORMERR", W(HEAD(RD, "\1", "\0", "\0", "\2") Q OPT0 OPT0), DNS_FORMERR, true, true, 1232, 0 },
	{ "an OPT that is not at the root is FORMERR",
	  W(ASK1 Q LONG_OWNER "\0\x29\x04\xd0\0\0\0\0\0\0"), DNS_FORMERR, true, false, 0, 0 },
	{ "an OPT past the end is FORMERR", W(ASK1 Q OPT("\x04\xd0", "\0", "\0\0", "\0\1")), DNS_FORMERR, true, false,
	  0, 0 },
	{ "half an OPT is FORMERR", W(ASK1 Q "\0\0\x29\x04\xd0\0\0"), DNS_FORMERR, true, false, 0, 0 },
	{ "a missing OPT is FORMERR", W(ASK1 Q), DNS_FORMERR, true, false, 0, 0 },
	{ "a TSIG is FORMERR: no keys are held",
	  W(HEAD(RD, "\1", "\0", "\0", "\1") Q "\1k\0" "\0\xfa\0\xff\0\0\0\0\0\0"), DNS_FORMERR, true, false, 0, 0 },
	{ "a SIG(0) is FORMERR",
	  W(HEAD(RD, "\1", "\0", "\0", "\1") Q "\0" "\0\x18\0\xff\0\0\0\0\0\0"), DNS_FORMERR, true, false, 0, 0 },
	{ "another additional record is passed over",
	  W(HEAD(RD, "\1", "\0", "\0", "\2") Q "\xc0\x0c" "\0\1\0\1\0\0\0\0\0\4\x7f\0\0\1" OPT0), DNS_NOERROR, true,
	  true,
	  1232, 0 },
	{ "an octet behind the message is FORMERR", W(ASK Q "\0"), DNS_FORMERR, true, false, 0, 0 },
	{ "an octet behind the OPT is FORMERR", W(ASK1 Q OPT0 "x"), DNS_FORMERR, true, true, 1232, 0 },
	{ "no question is FORMERR", W(HEAD(RD, "\0", "\0", "\0", "\0")), DNS_FORMERR, false, false, 0, 0 },
	{ "two questions are FORMERR", W(HEAD(RD, "\2", "\0", "\0", "\0") Q Q), DNS_FORMERR, false, false, 0, 0 },
	{ "an answer in a query is FORMERR",
	  W(HEAD(RD, "\1", "\1", "\0", "\0") Q "\xc0\x0c\0\1\0\1\0\0\0\0\0\4\x7f\0\0\1"), DNS_FORMERR, true, false, 0,
	  0 },
	{ "an authority record in a query is FORMERR",
	  W(HEAD(RD, "\1", "\0", "\1", "\0") Q "\xc0\x0c\0\1\0\1\0\0\0\0\0\4\x7f\0\0\1"), DNS_FORMERR, true, false, 0,
	  0 },
	{ "a pointer in the question is FORMERR", W(ASK "\1a\xc0\x0c\0\1\0\1"), DNS_FORMERR, false, false, 0, 0 },
	{ "half a question is FORMERR", W(ASK "\1a\2nl\0\0\1\0"), DNS_FORMERR, false, false, 0, 0 },
	{ "a header alone is FORMERR", W(ASK), DNS_FORMERR, false, false, 0, 0 },
	{ "opcode NOTIFY is NOTIMP", W(HEAD("\x20\x00", "\1", "\0", "\0", "\0") Q), DNS_NOTIMP, true, false, 0, 0 },
	{ "opcode UPDATE is NOTIMP", W(HEAD("\x28\x00", "\1", "\0", "\0", "\0") Q), DNS_NOTIMP, true, false, 0, 0 },
	{ "a broken message of another opcode is NOTIMP", W(HEAD("\x78\x00", "\7", "\7", "\7", "\7")), DNS_NOTIMP,
	  false,
	  false, 0, 0 },
	{ "a response is not answered", W(HEAD("\x81\x80", "\1", "\0", "\0", "\0") Q), -EBADMSG, false, false, 0, 0 },
	{ "eleven octets are not answered", W("\x12\x34\1\0\0\1\0\0\0\0\0"), -EBADMSG, false, false, 0, 0 },
	{ "nothing is not answered", W(""), -EBADMSG, false, false, 0, 0 },
	{ "the Z bit is passed over", W(HEAD("\x01\x40", "\1", "\0", "\0", "\0") Q), DNS_NOERROR, true, false, 0, 0 },
};

static void run_query(void **state)
{
	const struct query_case *c = *state;
	uint8_t *msg = malloc(c->size + !c->size);
	struct dns_query q;

	memcpy(msg, c->msg, c->size);
	if (c->size)
		msg = realloc(msg, c->size);
	assert_int_equal(dns_query_parse(msg, c->size, &q), c->rcode);
	assert_int_equal(q.qname != NULL, c->question);
	assert_int_equal(q.edns.present, c->edns);
	assert_int_equal(q.edns.size, c->edns_size);
	assert_int_equal(q.edns.dnssec_ok, c->dnssec_ok);
	if (c->size >= 12)
		assert_int_equal(q.id, 0x1234);
	if (c->question) {
		assert_int_equal(q.qname_len, 6);
		assert_int_equal(q.question_len, 10);
		assert_int_equal(q.qtype, DNS_A);
		assert_int_equal(q.qclass, DNS_IN);
	}
	free(msg);
}

static void no_prefix_of_a_query_is_read_past_its_end(void **state)
{
	static const char whole[] = ASK1 Q OPT("\x04\xd0", "\0", "\0\0", "\0\x0c") "\0\x0a\0\x08" "cookie!!";
	struct dns_query q;
	size_t size;

	for (size = 0; size < sizeof(whole) - 1; size++) {
		uint8_t *msg = malloc(size + !size);

		memcpy(msg, whole, size);
		assert_int_not_equal(dns_query_parse(msg, size, &q), DNS_NOERROR);
		free(msg);
	}
	assert_int_equal(dns_query_parse((const uint8_t *)whole, sizeof(whole) - 1, &q), DNS_NOERROR);
	assert_int_equal(q.edns.options_len, 12);
}

/* ---- responses ---------------------------------------------------------- */

#define SAY(an) HEAD("\x81\x80", "\1", an, "\0", "\0")
#define A_RR    "\xc0\x0c\0\1\0\1\0\0\1\x2c\0\4\xc0\0\2\1"

static const struct response_case {
	const char *name;
	const char *msg;
	size_t size;
	int parsed;			/* of the header */
	int records;			/* read until the end, or -EBADMSG */
	uint32_t ttl;			/* of the last */
} response_cases[] = {
	{ "a response with a record", W(SAY("\1") Q A_RR), 0, 1, 300 },
	{ "a response without records", W(SAY("\0") Q), 0, 0, 0 },
	{ "a response without a question", W(HEAD("\x81\x85", "\0", "\0", "\0", "\0")), 0, 0, 0 },
	{ "octets behind the last record do not matter", W(SAY("\1") Q A_RR "junk"), 0, 1, 300 },
	{ "sections are walked in turn",
	  W(HEAD("\x81\x80", "\1", "\1", "\1", "\1") Q A_RR A_RR OPT("\x04\xd0", "\0", "\x80\0", "\0\0")), 0, 3,
	  0x8000 },
	{ "a TTL of 2^31 is 0", W(SAY("\1") Q "\xc0\x0c\0\1\0\1\x80\0\0\0\0\4\xc0\0\2\1"), 0, 1, 0 },
	{ "a TTL of 2^31 - 1 is as it is", W(SAY("\1") Q "\xc0\x0c\0\1\0\1\x7f\xff\xff\xff\0\4\xc0\0\2\1"), 0, 1,
	  0x7fffffff },
	{ "the TTL field of an OPT is left alone",
	  W(HEAD("\x81\x80", "\1", "\0", "\0", "\1") Q "\0\0\x29\x04\xd0\xff\0\x80\0\0\0"), 0, 1, 0xff008000 },
	{ "a query is refused", W(ASK Q), -EBADMSG, 0, 0 },
	{ "two questions are refused", W(HEAD("\x81\x80", "\2", "\0", "\0", "\0") Q Q), -EBADMSG, 0, 0 },
	{ "a short header is refused", W("\x12\x34\x81\x80\0"), -EBADMSG, 0, 0 },
	{ "a question that points is refused", W(SAY("\0") "\xc0\x0c\0\1\0\1"), -EBADMSG, 0, 0 },
	{ "half a question is refused", W(SAY("\0") "\1a\2nl\0\0\1\0"), -EBADMSG, 0, 0 },
	{ "a missing record is refused", W(SAY("\1") Q), 0, -EBADMSG, 0 },
	{ "a record cut in its owner is refused", W(SAY("\1") Q "\xc0"), 0, -EBADMSG, 0 },
	{ "a record cut in its numbers is refused", W(SAY("\1") Q "\xc0\x0c\0\1\0\1\0\0\1\x2c\0"), 0, -EBADMSG, 0 },
	{ "RDATA past the end is refused", W(SAY("\1") Q "\xc0\x0c\0\1\0\1\0\0\1\x2c\0\5\xc0\0\2\1"), 0, -EBADMSG, 0 },
	{ "RDATA far past the end is refused", W(SAY("\1") Q "\xc0\x0c\0\1\0\1\0\0\1\x2c\xff\xff\xc0"), 0, -EBADMSG,
	  0 },
	{ "an owner that loops is refused", W(SAY("\1") Q "\xc0\x16\0\1\0\1\0\0\1\x2c\0\0"), 0, -EBADMSG, 0 },
	{ "an owner that points forwards is refused", W(SAY("\1") Q "\xc0\x18\1a\0\0\1\0\1\0\0\1\x2c\0\0"), 0,
	  -EBADMSG, 0 },
};

static void run_response(void **state)
{
	const struct response_case *c = *state;
	uint8_t *msg = malloc(c->size);
	struct dns_response r;
	struct dns_rr rr = { .ttl = 0 };
	int got = 0, n = 0;

	memcpy(msg, c->msg, c->size);
	assert_int_equal(dns_response_parse(msg, c->size, &r), c->parsed);
	if (!c->parsed) {
		while ((got = dns_rr_next(&r, &rr)) > 0)
			n++;
		assert_int_equal(got < 0 ? got : n, c->records);
		if (got == 0 && n)
			assert_int_equal(rr.ttl, c->ttl);
	}
	free(msg);
}

int main(void)
{
	ROWS_ADD(query_cases, run_query);
	ROWS_ADD(response_cases, run_response);
	rows_add("no prefix of a query is read past its end", no_prefix_of_a_query_is_read_past_its_end, NULL);
	return rows_run("dns/msg");
}
