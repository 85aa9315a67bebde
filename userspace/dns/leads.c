/* SPDX-License-Identifier: BSD-2-Clause */
/* leads.c - follows the chain of an answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dns/leads.h"
#include "dns/name.h"
#include "dns/object.h"
#include "dns/wire.h"

#define SMALL 2048			/* nearly every answer; a larger one takes memory */
#define SVC_IPV4_HINT 4
#define SVC_IPV6_HINT 6

struct walk {
	const uint8_t *msg;
	uint8_t here[DNS_NAME_MAX];	/* the end of the chain so far, lower case */
	bool (*each)(const struct dns_lead *lead, void *arg);
	void *arg;
};

static bool tell_v4(const struct walk *w, const uint8_t *p)
{
	struct dns_lead lead = { .ip = { [10] = 0xff, [11] = 0xff } };

	memcpy(lead.ip + 12, p, 4);
	return w->each(&lead, w->arg);
}

static bool tell_v6(const struct walk *w, const uint8_t *p)
{
	struct dns_lead lead = { 0 };

	memcpy(lead.ip, p, 16);
	return w->each(&lead, w->arg);
}

static bool tell_name(const struct walk *w, const uint8_t *lower, int len)
{
	struct dns_lead lead = { .name = lower, .name_len = (uint16_t)len };

	return w->each(&lead, w->arg);
}

/* The chain goes on at the target. */
static bool tell_alias(struct walk *w, size_t end, size_t at)
{
	uint8_t target[DNS_NAME_MAX];
	int n = dns_name_expand(w->msg, end, at, target, NULL);

	if (n < 0)
		return false;
	dns_name_lower(w->here, target, (size_t)n);
	return tell_name(w, w->here, n);
}

/* Addresses among the parameters of a service binding. */
static bool tell_hints(const struct walk *w, size_t at, size_t end)
{
	const uint8_t *p;
	unsigned key, len, i;

	for (; at + 4 <= end; at += len) {
		key = dns_get16(w->msg + at);
		len = dns_get16(w->msg + at + 2);
		at += 4;
		p = w->msg + at;
		if (len > end - at)
			return false;
		for (i = 0; key == SVC_IPV4_HINT && i + 4 <= len; i += 4)
			if (tell_v4(w, p + i))
				return true;
		for (i = 0; key == SVC_IPV6_HINT && i + 16 <= len; i += 16)
			if (tell_v6(w, p + i))
				return true;
	}
	return false;
}

/* An alias (priority 0) and a service are asked for under their target; a target of "." is the owner itself. */
static bool tell_binding(const struct walk *w, size_t at, size_t end)
{
	uint8_t target[DNS_NAME_MAX];
	int n = end - at < 3 ? -EBADMSG : dns_name_expand(w->msg, end, at + 2, target, &at);

	if (n < 0)
		return false;
	dns_name_lower(target, target, (size_t)n);
	if (n > 1 && !dns_name_equal(target, w->here) && tell_name(w, target, n))
		return true;
	return tell_hints(w, at, end);
}

static bool tell(struct walk *w, const struct dns_rr *rr)
{
	size_t at = rr->rdata, end = rr->rdata + rr->rdata_len;

	if (rr->class != DNS_IN || !dns_name_equal(rr->owner, w->here))
		return false;
	switch (rr->type) {
	case DNS_CNAME:
		return tell_alias(w, end, at);
	case DNS_A:
		return rr->rdata_len == 4 && tell_v4(w, w->msg + at);
	case DNS_AAAA:
		return rr->rdata_len == 16 && tell_v6(w, w->msg + at);
	case DNS_SVCB:
	case DNS_HTTPS:
		return tell_binding(w, at, end);
	default:
		return false;
	}
}

static int follow(struct walk *w, size_t size)
{
	struct dns_response r;
	struct dns_rr rr;
	int got = dns_response_parse(w->msg, size, &r);

	while (!got) {
		got = dns_rr_next(&r, &rr);
		if (got < 0)
			return got;
		if (!got || rr.section != DNS_ANSWER)
			return 0;
		got = tell(w, &rr);
	}
	return got;
}

int dns_answer_leads(const struct dns_answer *a, bool (*each)(const struct dns_lead *lead, void *arg), void *arg)
{
	struct walk w = { .each = each, .arg = arg };
	size_t size = dns_answer_message_size(a);
	uint8_t small[SMALL], *big = NULL;
	int got;

	if (size > sizeof(small)) {
		big = malloc(size);
		if (!big)
			return -ENOMEM;
	}
	dns_answer_message(a, big ? big : small);
	w.msg = big ? big : small;
	memcpy(w.here, a->key.name, a->key.name_len);
	got = follow(&w, size);
	free(big);
	return got;
}
