/* SPDX-License-Identifier: BSD-2-Clause */
/* list_rewrite.c - what a rule says to answer: values of $dnsrewrite, and records of other formats. */
#include <errno.h>
#include <netinet/in.h>
#include "dns/msg.h"
#include "policy/list_read.h"

static int answer_rcode(struct list_reading *r, uint16_t rcode)
{
	r->answer = (struct rule_answer){ .kind = RULE_ANSWER_RCODE, .rcode = rcode };
	return 0;
}

void list_answer_address(struct list_reading *r, const uint8_t ip[16])
{
	bool v4 = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)ip);

	r->answer = (struct rule_answer){
		.kind = RULE_ANSWER_RECORD, .type = v4 ? DNS_A : DNS_AAAA, .rdata = r->rdata,
		.rdata_len = v4 ? 4 : 16,
	};
	memcpy(r->rdata, v4 ? ip + 12 : ip, r->answer.rdata_len);
}

int list_answer_record(struct list_reading *r, uint16_t type, struct list_span text)
{
	uint16_t len;
	int err = list_rdata(type, text, r->rdata, sizeof(r->rdata), &len);

	if (err)
		return err;
	r->answer = (struct rule_answer){
		.kind = type == DNS_CNAME ? RULE_ANSWER_CNAME : RULE_ANSWER_RECORD, .type = type, .rdata = r->rdata,
		.rdata_len = len,
	};
	return 0;
}

/* The four that make sense as an answer; others are refused. */
static bool read_rcode(struct list_span s, uint16_t *ret)
{
	static const struct {
		const char *name;
		uint16_t rcode;
	} rows[] = {
		{ "NOERROR", DNS_NOERROR }, { "SERVFAIL", DNS_SERVFAIL }, { "NXDOMAIN", DNS_NXDOMAIN },
		{ "REFUSED", DNS_REFUSED },
	};
	unsigned i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!list_is(s, rows[i].name))
			continue;
		*ret = rows[i].rcode;
		return true;
	}
	return false;
}

/* A word of capitals alone is meant as an rcode. */
static bool is_shouted(struct list_span s)
{
	for (; s.p < s.end; s.p++)
		if (*s.p < 'A' || *s.p > 'Z')
			return false;
	return true;
}

/* "REFUSED", an address, or a name. */
static int read_short(struct list_reading *r, struct list_span s)
{
	uint16_t rcode;
	uint8_t ip[16];

	if (read_rcode(s, &rcode))
		return answer_rcode(r, rcode);
	if (is_shouted(s))
		return -EINVAL;
	if (!list_is(s, "0") && list_address_ip(s, ip)) {
		list_answer_address(r, ip);
		return 0;
	}
	return list_answer_record(r, DNS_CNAME, s);
}

int list_rewrite_read(struct list_reading *r, struct list_span value, bool exception)
{
	struct list_span rcode_text, type_text;
	uint16_t rcode, type;

	if (value.p == value.end && exception) {
		r->answer = (struct rule_answer){ .kind = RULE_ANSWER_ANY };
		return 0;
	}
	if (value.p == value.end)
		return answer_rcode(r, DNS_NOERROR);
	if (!list_has(value, ';'))
		return read_short(r, value);
	rcode_text = list_until(&value, ';');
	if (!list_has(value, ';') || !read_rcode(rcode_text, &rcode))
		return -EINVAL;
	type_text = list_until(&value, ';');
	/* records go with NOERROR alone */
	if (rcode != DNS_NOERROR || (type_text.p == type_text.end && value.p == value.end))
		return answer_rcode(r, rcode);
	type = list_type(type_text);
	return type ? list_answer_record(r, type, value) : -EINVAL;
}
