/* SPDX-License-Identifier: BSD-2-Clause */
/* msg.c - reading queries and responses where they lie. */
#include <errno.h>
#include <string.h>
#include "dns/msg.h"
#include "dns/name.h"
#include "dns/wire.h"

#define TYPE_SIG   24			/* SIG(0), RFC 2931 */
#define TTL_MAX    0x7fffffff
#define SIZE_LEAST 512			/* RFC 6891 section 6.2.3 */

/* Options must fill their room exactly (RFC 6891 section 6.1.2). */
static bool options_fit(const uint8_t *p, size_t size)
{
	size_t len;

	while (size >= 4) {
		len = dns_get16(p + 2) + 4U;
		if (len > size)
			return false;
		p += len;
		size -= len;
	}
	return !size;
}

/* @fixed: the ten octets behind the owner; RDATA behind them is known to be there. */
static int edns_parse(const uint8_t *fixed, bool at_root, struct dns_edns *ret)
{
	if (ret->present || !at_root)
		return DNS_FORMERR;
	ret->present = true;
	ret->size = dns_get16(fixed + 2) < SIZE_LEAST ? SIZE_LEAST : dns_get16(fixed + 2);
	ret->version = fixed[5];
	ret->dnssec_ok = fixed[6] & 0x80;
	ret->options = fixed + DNS_RR_FIXED;
	ret->options_len = dns_get16(fixed + 8);
	/* what a later version means by its options is not ours to say */
	if (!ret->version && !options_fit(ret->options, ret->options_len))
		return DNS_FORMERR;
	return DNS_NOERROR;
}

/* One record of a query's additional section; moves @at behind it. */
static int additional_parse(const uint8_t *msg, size_t size, size_t *at, struct dns_edns *ret)
{
	uint8_t owner[DNS_NAME_MAX];
	size_t next = *at + 1;
	bool at_root = *at < size && !msg[*at];
	uint16_t type;

	if (!at_root && dns_name_expand(msg, size, *at, owner, &next) < 0)
		return DNS_FORMERR;
	if (size < next + DNS_RR_FIXED || size - next - DNS_RR_FIXED < dns_get16(msg + next + 8))
		return DNS_FORMERR;
	*at = next + DNS_RR_FIXED + dns_get16(msg + next + 8);
	type = dns_get16(msg + next);
	if (type == DNS_OPT)
		return edns_parse(msg + next, at_root, ret);
	return type == DNS_TSIG || type == TYPE_SIG ? DNS_FORMERR : DNS_NOERROR;
}

/* Returns the offset behind the question, or 0 when it is malformed. */
static size_t question_parse(const uint8_t *msg, size_t size, struct dns_query *ret)
{
	int len = dns_name_len(msg + DNS_HEADER, size - DNS_HEADER);
	const uint8_t *end;

	if (len < 0 || size - DNS_HEADER - (unsigned)len < 4)
		return 0;
	end = msg + DNS_HEADER + len;
	ret->qname = msg + DNS_HEADER;
	ret->qname_len = (uint16_t)len;
	ret->qtype = dns_get16(end);
	ret->qclass = dns_get16(end + 2);
	ret->question_len = (uint16_t)(len + 4);
	return DNS_HEADER + (unsigned)len + 4;
}

int dns_query_parse(const uint8_t *msg, size_t size, struct dns_query *ret)
{
	unsigned i, questions, additionals;
	size_t at = 0;
	int rcode;

	memset(ret, 0, sizeof(*ret));
	if (size < DNS_HEADER)
		return -EBADMSG;
	ret->id = dns_get16(msg);
	ret->flags = dns_get16(msg + 2);
	if (ret->flags & DNS_QR)
		return -EBADMSG;
	questions = dns_get16(msg + 4);
	additionals = dns_get16(msg + 10);
	if (questions == 1)
		at = question_parse(msg, size, ret);
	/* with another opcode the rest may mean anything, but a question can be given back */
	if (DNS_OPCODE(ret->flags))
		return DNS_NOTIMP;
	if (!at || dns_get16(msg + 6) || dns_get16(msg + 8))
		return DNS_FORMERR;
	for (i = 0; i < additionals; i++) {
		rcode = additional_parse(msg, size, &at, &ret->edns);
		if (rcode)
			return rcode;
	}
	if (at != size)
		return DNS_FORMERR;
	return ret->edns.version ? DNS_BADVERS : DNS_NOERROR;
}

int dns_response_parse(const uint8_t *msg, size_t size, struct dns_response *ret)
{
	unsigned i;
	size_t next;
	int len;

	memset(ret, 0, sizeof(*ret));
	if (size < DNS_HEADER || !(dns_get16(msg + 2) & DNS_QR) || dns_get16(msg + 4) > 1)
		return -EBADMSG;
	ret->msg = msg;
	ret->size = size;
	ret->id = dns_get16(msg);
	ret->flags = dns_get16(msg + 2);
	for (i = 0; i < 3; i++)
		ret->count[i] = dns_get16(msg + 6 + 2 * i);
	ret->at = DNS_HEADER;
	if (!dns_get16(msg + 4))
		return 0;
	len = dns_name_expand(msg, size, DNS_HEADER, ret->qname, &next);
	if (len < 0 || size - next < 4)
		return -EBADMSG;
	ret->qname_len = (uint16_t)len;
	ret->qtype = dns_get16(msg + next);
	ret->qclass = dns_get16(msg + next + 2);
	ret->has_question = true;
	ret->at = next + 4;
	return 0;
}

int dns_rr_next(struct dns_response *r, struct dns_rr *ret)
{
	unsigned s = DNS_ANSWER;
	const uint8_t *p;
	size_t next;
	int len;

	while (s <= DNS_ADDITIONAL && r->done[s] == r->count[s])
		s++;
	if (s > DNS_ADDITIONAL)
		return 0;
	len = dns_name_expand(r->msg, r->size, r->at, ret->owner, &next);
	if (len < 0 || r->size - next < DNS_RR_FIXED)
		return -EBADMSG;
	p = r->msg + next;
	ret->section = s;
	ret->owner_len = (uint16_t)len;
	ret->type = dns_get16(p);
	ret->class = dns_get16(p + 2);
	ret->ttl = dns_get32(p + 4);
	if (ret->ttl > TTL_MAX && ret->type != DNS_OPT)
		ret->ttl = 0;
	ret->rdata = next + DNS_RR_FIXED;
	ret->rdata_len = dns_get16(p + 8);
	if (r->size - ret->rdata < ret->rdata_len)
		return -EBADMSG;
	r->at = ret->rdata + ret->rdata_len;
	r->done[s]++;
	return 1;
}
