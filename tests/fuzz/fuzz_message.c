/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_message.c - whatever comes over port 53, as a query and as a response.
 *
 * Holds that what we write can be read again and says what it should: replies
 * have the counts they announce, end where they end, and an answer made out of
 * our own reply is that answer; one that leads to names is marked so.
 *
 * fuzz-sources: userspace/dns/msg.c userspace/dns/name.c userspace/dns/again.c userspace/dns/answer.c userspace/dns/build.c userspace/dns/leads.c userspace/dns/response.c userspace/dns/reply.c userspace/base/bug.c userspace/base/log.c userspace/base/slab.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "dns/leads.h"
#include "dns/name.h"
#include "dns/reply.h"
#include "dns/wire.h"
#include "maps/config.h"
#include "maps/ede.h"

#define NOW (1000 * CLOCK_S)
#define HOLDS(x)                                                        \
	do {                                                            \
		if (!(x)) {                                             \
			fprintf(stderr, "does not hold: %s\n", #x);     \
			abort();                                        \
		}                                                       \
	} while (0)

static const struct dns_ttl_limits limits = { .min = 1, .max = 86400, .negative_max = 3600, .failure = 5 };
static const struct dns_reply_limits stream = { .recursion = true, .stream = true, .udp_max = 1232 };
static const struct dns_reply_limits udp = { .recursion = true, .udp_max = 1232 };
static uint8_t out[65535];

/* A whole reply: it parses, its records are all there, nothing stands behind them, one OPT if and only if asked for. */
static void reply_holds(const uint8_t *msg, int len, const struct dns_query *q)
{
	struct dns_response r;
	struct dns_rr rr;
	unsigned opts = 0;
	int got;

	HOLDS(len >= DNS_HEADER);
	HOLDS(!dns_response_parse(msg, (size_t)len, &r));
	HOLDS(r.id == q->id && r.has_question == (q->qname != NULL));
	HOLDS(!q->qname || !memcmp(msg + DNS_HEADER, q->qname, q->question_len));
	while ((got = dns_rr_next(&r, &rr)) > 0)
		opts += rr.type == DNS_OPT && rr.section == DNS_ADDITIONAL;
	HOLDS(!got && r.at == (size_t)len);
	HOLDS(opts == q->edns.present && r.count[DNS_ADDITIONAL] == opts);
}

static void as_query(const uint8_t *msg, size_t size)
{
	struct dns_block block = { .ttl = 60, .ede = size & 3 };
	struct mr_ede ede;
	struct dns_query q;
	int rcode = dns_query_parse(msg, size, &q), len;

	if (rcode < 0)
		return;
	len = dns_reply_error(&q, rcode ? (uint16_t)rcode : DNS_REFUSED, DNS_EDE_OTHER, &udp, out, sizeof(out));
	HOLDS(len <= 512);
	reply_holds(out, len, &q);
	if (rcode)
		return;
	HOLDS(q.edns.size >= 512 || !q.edns.present);
	mr_ede_render(&ede, "a list with a name of more than forty octets");
	for (block.mode = MR_BLOCK_NULL; block.mode <= MR_BLOCK_CUSTOM; block.mode++) {
		len = dns_reply_blocked(&q, &block, &ede, &udp, out, sizeof(out));
		HOLDS(len <= 512);
		reply_holds(out, len, &q);
	}
}

static void same_again(const struct dns_answer *a, const uint8_t *reply, size_t size)
{
	struct dns_answer *b = NULL;
	struct dns_key key;

	dns_answer_key(a, &key);
	HOLDS(!dns_answer_from_response(reply, size, &key, &limits, NOW, &b));
	HOLDS(b->body_len == a->body_len && !memcmp(b->body, a->body, a->body_len));
	HOLDS(b->ttl == a->ttl && b->negative == a->negative && b->chain == a->chain && b->rcode == a->rcode);
	dns_answer_unref(b);
	HOLDS(!dns_answer_from_body(&key, a->rcode, a->body, a->body_len, a->answers, a->authorities, NOW, &b));
	HOLDS(b->ttls == a->ttls && !memcmp(dns_answer_ttls(b), dns_answer_ttls(a), a->ttls * sizeof(uint16_t)));
	dns_answer_unref(b);
}

static bool note_name(const struct dns_lead *lead, void *arg)
{
	*(bool *)arg |= lead->name != NULL;
	return false;
}

static void as_response(const uint8_t *msg, size_t size, uint8_t bits)
{
	struct dns_response r;
	struct dns_rr rr;
	struct dns_key key;
	struct dns_query q;
	struct dns_answer *a;
	uint8_t ask[512];
	bool named = false;
	int len;

	if (dns_response_parse(msg, size, &r))
		return;
	while (dns_rr_next(&r, &rr) > 0)
		HOLDS(rr.owner_len <= DNS_NAME_MAX && rr.rdata + rr.rdata_len <= size);
	key = (struct dns_key){ .name_len = r.qname_len, .qtype = r.qtype, .bits = bits };
	dns_name_lower(key.name, r.qname, r.qname_len);
	if (!r.has_question || dns_answer_from_response(msg, size, &key, &limits, NOW, &a))
		return;
	len = dns_query_write(r.id, r.qname, r.qname_len, r.qtype, bits, true, ask, sizeof(ask));
	HOLDS(len > 0 && !dns_query_parse(ask, (size_t)len, &q));
	len = dns_reply_answer(&q, a, &stream, NOW, out, sizeof(out));
	reply_holds(out, len, &q);
	HOLDS(!dns_answer_leads(a, note_name, &named) && (a->chain || !named));
	if (a->rcode == DNS_NOERROR || a->rcode == DNS_NXDOMAIN)
		same_again(a, out, (size_t)len);
	/* old enough that every TTL is at its least */
	len = dns_reply_answer(&q, a, &udp, NOW + 100000 * CLOCK_S, out, sizeof(out));
	HOLDS(len <= 1232);
	reply_holds(out, len, &q);
	dns_answer_unref(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *msg;

	if (size > 65535)
		return 0;
	as_query(data, size);
	if (size < DNS_HEADER)
		return 0;
	/* the same octets as a response, with and without DO */
	msg = malloc(size);
	HOLDS(msg);
	memcpy(msg, data, size);
	msg[2] |= 0x80;
	as_response(msg, size, 0);
	as_response(msg, size, DNS_KEY_DO);
	free(msg);
	return 0;
}
