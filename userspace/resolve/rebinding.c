/* SPDX-License-Identifier: BSD-2-Clause */
/* rebinding.c - finds addresses of the inside, and refuses answers that have them. */
#include <string.h>
#include "dns/leads.h"
#include "dns/local.h"
#include "resolve/rebinding.h"
#include "resolve/resolver.h"

#define REFUSED_TTL 60			/* seconds, at most */

struct inside {
	uint8_t bits;			/* of the prefix */
	uint8_t ip[16];
};

static const struct inside v4[] = {
	{ 8, { 0 } }, { 8, { 10 } }, { 8, { 127 } }, { 16, { 169, 254 } }, { 12, { 172, 16 } }, { 16, { 192, 168 } },
};

static const struct inside v6[] = {
	{ 7, { 0xfc } },		/* unique local (RFC 4193) */
	{ 10, { 0xfe, 0x80 } },		/* of the link */
	{ 10, { 0xfe, 0xc0 } },		/* of the site (RFC 3879) */
};

/* Prefixes whose last 32 bits are an IPv4 address: compatible (:: and ::1 are such), mapped, translated (RFC 6052, 8215). */
static const struct inside carriers[] = {
	{ 96, { 0 } }, { 96, { [10] = 0xff, [11] = 0xff } }, { 96, { 0, 0x64, 0xff, 0x9b } }, { 48, { 0, 0x64, 0xff, 0x9b, 0, 1 } },
};

static bool is_in(const uint8_t *ip, const struct inside *p)
{
	unsigned whole = p->bits / 8, rest = p->bits % 8;

	return !memcmp(ip, p->ip, whole) && (!rest || !((ip[whole] ^ p->ip[whole]) >> (8 - rest)));
}

static bool is_in_any(const uint8_t *ip, const struct inside *p, unsigned count)
{
	for (; count; p++, count--)
		if (is_in(ip, p))
			return true;
	return false;
}

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

bool rebinding_is_inside(const uint8_t ip[16])
{
	return is_in_any(ip, v6, COUNT_OF(v6)) ||
	       (is_in_any(ip, carriers, COUNT_OF(carriers)) && is_in_any(ip + 12, v4, COUNT_OF(v4)));
}

static bool is_lead_inside(const struct dns_lead *lead, void *arg)
{
	return !lead->name && rebinding_is_inside(lead->ip);
}

static bool has_addresses(uint16_t qtype)
{
	return qtype == DNS_A || qtype == DNS_AAAA || qtype == DNS_HTTPS || qtype == DNS_SVCB;
}

void rebinding_check(struct query *q, uint64_t now_ns)
{
	const struct snapshot *s = q->snapshot;
	struct dns_answer *a = q->answer, *refused;

	if (!s->rebinding || !a || a->negative || !has_addresses(q->key.qtype))
		return;
	/* what cannot be looked at for want of memory is not given either */
	if (!dns_answer_leads(a, is_lead_inside, NULL) || suffixes_cover(s->inside, q->key.name, q->key.name_len))
		return;
	count_one(q->resolver->count, COUNT_rebinding_refused);
	if (dns_answer_local(&q->key, DNS_NOERROR, NULL, 0, a->ttl < REFUSED_TTL ? a->ttl : REFUSED_TTL, now_ns, &refused))
		refused = NULL;		/* SERVFAIL */
	else
		refused->ede = DNS_EDE_REBINDING;
	dns_answer_unref(a);
	q->answer = refused;
}
