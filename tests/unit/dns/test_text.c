/* SPDX-License-Identifier: BSD-2-Clause */
/* test_text.c - types, rcodes and messages for people. */
#include <errno.h>
#include <string.h>
#include "dns/msg.h"
#include "dns/text.h"
#include "unit/dns/make.h"
#include "unit/dns/rows.h"

static const struct type_case {
	const char *name;		/* also the text */
	int type;			/* -EINVAL: not taken */
	const char *back;
} type_cases[] = {
	{ "A", 1, "A" }, { "aaaa", 28, "AAAA" }, { "TYPE28", 28, "AAAA" }, { "type65280", 65280, "TYPE65280" },
	{ "https", 65, "HTTPS" }, { "SVCB", 64, "SVCB" }, { "any", 255, "ANY" }, { "AXFR", 252, "AXFR" }, { "TYPE0",
	  0, "TYPE0" },
	{ "TYPE65536", -EINVAL, NULL }, { "TYPE", -EINVAL, NULL }, { "TYPE-1", -EINVAL, NULL }, { "TYPE 1", -EINVAL,
	  NULL },
	{ "TYPE1x", -EINVAL, NULL }, { "", -EINVAL, NULL }, { "A ", -EINVAL, NULL }, { "NOSUCH", -EINVAL, NULL },
};

static void run_type(void **state)
{
	const struct type_case *c = *state;
	uint16_t type = 0;
	char buf[32];
	int err = dns_type_from_text(c->name, &type);

	assert_int_equal(err, c->type < 0 ? c->type : 0);
	if (!err) {
		assert_int_equal(type, c->type);
		assert_string_equal(dns_type_text(type, buf, sizeof(buf)), c->back);
	}
}

static const struct rcode_case {
	const char *name;		/* also the text */
	uint16_t rcode;
} rcode_cases[] = {
	{ "NOERROR", 0 }, { "FORMERR", 1 }, { "SERVFAIL", 2 }, { "NXDOMAIN", 3 }, { "NOTIMP", 4 }, { "REFUSED", 5 },
	{ "RCODE12", 12 }, { "BADVERS", 16 }, { "RCODE4095", 4095 },
};

static void run_rcode(void **state)
{
	const struct rcode_case *c = *state;
	char buf[32];

	assert_string_equal(dns_rcode_text(c->rcode, buf, sizeof(buf)), c->name);
}

static void a_message_is_written_section_by_section(void **state)
{
	uint8_t msg[512], query[512];
	size_t size = make_response(msg, "www.nl", DNS_A, DNS_NXDOMAIN, "www.nl. 60 IN CNAME b.nl.\n",
				    "nl. 30 IN SOA ns.nl. root.nl. 1 2 3 4 5\n");
	char *text = dns_message_text(msg, size);

	assert_non_null(text);
	assert_non_null(strstr(text, "rcode: NXDOMAIN"));
	assert_non_null(strstr(text, "ANSWER SECTION:\nwww.nl.\t60\tIN\tCNAME\tb.nl.\n"));
	assert_non_null(strstr(text, "AUTHORITY SECTION:\nnl.\t30\tIN\tSOA\tns.nl. root.nl. 1 2 3 4 5\n"));
	assert_non_null(strstr(text, "MSG SIZE"));
	assert_null(strstr(text, "WHEN"));
	assert_null(strstr(text, "Query time"));
	free(text);
	size = (size_t)make_query(query, "www.nl", DNS_A, true, true);
	text = dns_message_text(query, size);
	assert_non_null(text);
	assert_non_null(strstr(text, "EDNS: version 0; flags: do"));
	free(text);
	assert_null(dns_message_text(msg, 20));
	assert_null(dns_message_text(msg, 0));
}

int main(void)
{
	ROWS_ADD(type_cases, run_type);
	ROWS_ADD(rcode_cases, run_rcode);
	rows_add("a message is written section by section", a_message_is_written_section_by_section, NULL);
	return rows_run("dns/text");
}
