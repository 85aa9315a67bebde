/* SPDX-License-Identifier: BSD-2-Clause */
/* again.c - what was answered once, for other questions and in another order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dns/answer.h"
#include "dns/build.h"
#include "dns/object.h"
#include "dns/wire.h"

#define TYPES_COMPRESSED 16		/* below it, but for A, are the types whose data others may point into */

/* ---- for another question ---- */

/* The answer as a response, returns its length. */
static size_t message_of(const struct dns_answer *a, uint8_t *msg)
{
	size_t at = DNS_HEADER;

	memset(msg, 0, DNS_HEADER);
	dns_put16(msg + 2, DNS_QR);
	dns_put16(msg + 4, 1);
	dns_put16(msg + 6, a->answers);
	dns_put16(msg + 8, a->authorities);
	memcpy(msg + at, a->key.name, a->key.name_len);
	at += a->key.name_len;
	dns_put16(msg + at, a->key.qtype);
	dns_put16(msg + at + 2, DNS_IN);
	at += 4;
	if (a->body_len)
		memcpy(msg + at, a->body, a->body_len);
	return at + a->body_len;
}

static int write_again(const uint8_t *msg, size_t size, struct dns_build *b)
{
	struct dns_response r;
	struct dns_rr rr;
	int err;

	err = dns_response_parse(msg, size, &r);
	while (!err && (err = dns_rr_next(&r, &rr)) > 0)
		err = dns_build_record(b, msg, size, &rr, rr.ttl);
	return err;
}

int dns_answer_for(const struct dns_answer *a, const struct dns_key *key, struct dns_answer **ret)
{
	struct dns_build *b = malloc(sizeof(*b));
	uint8_t *msg = malloc(DNS_HEADER + a->key.name_len + 4U + a->body_len);
	struct dns_answer *made;
	int err = -ENOMEM;

	if (!b || !msg)
		goto out;
	dns_build_begin(b, key);
	err = write_again(msg, message_of(a, msg), b);
	if (err)
		goto out;
	made = dns_answer_alloc(key, a->rcode, b->msg + b->body, b->len - b->body, b->ttl_at, b->ttls, a->born_ns);
	if (!made) {
		err = -ENOMEM;
		goto out;
	}
	made->ttl = a->ttl;
	made->answers = a->answers;
	made->authorities = a->authorities;
	made->aa = a->aa;
	made->ad = a->ad;
	made->negative = a->negative;
	made->chain = a->chain;
	made->dnssec = a->dnssec;
	made->ede = a->ede;
	*ret = made;
out:
	free(b);
	free(msg);
	return err;
}

int dns_answer_stale(const struct dns_answer *a, const struct dns_key *key, uint32_t ttl, uint64_t now_ns,
		     struct dns_answer **ret)
{
	struct dns_answer *made;
	int err = dns_answer_for(a, key, &made);
	unsigned i;

	if (err)
		return err;
	for (i = 0; i < made->ttls; i++)	/* nobody else has it yet */
		dns_put32((uint8_t *)(uintptr_t)made->body + dns_answer_ttls(made)[i], ttl);
	made->ttl = ttl;
	made->born_ns = now_ns;
	atomic_init(&made->asked, atomic_load_explicit(&a->asked, memory_order_relaxed));	/* whose turn it is */
	made->ede = a->rcode == DNS_NXDOMAIN ? DNS_EDE_STALE_NXDOMAIN : DNS_EDE_STALE;
	*ret = made;
	return 0;
}

/* ---- in another order ---- */

/* Neighbouring records of one size. */
struct run {
	size_t at;
	size_t size;
	size_t ttl;			/* where in each the TTL stands */
	unsigned count;
};

/* The last ones of the type asked for; count is below 2 when there is nothing to turn. */
static struct run find_run(const struct dns_answer *a)
{
	const uint16_t *ttl = dns_answer_ttls(a);
	struct run run = { 0 };
	size_t at = 0, size;
	unsigned i;

	for (i = 0; i < a->answers; i++, at += size) {
		size = ttl[i] + 6U + dns_get16(a->body + ttl[i] + 4) - at;
		if (dns_get16(a->body + ttl[i] - 4) != a->key.qtype) {
			if (run.count)
				break;
		} else if (run.count && run.size == size && run.ttl == ttl[i] - at) {
			run.count++;
		} else {
			run = (struct run){ at, size, ttl[i] - at, 1 };
		}
	}
	return run;
}

void dns_answer_rotate(const struct dns_answer *a, unsigned by, uint8_t *body)
{
	struct run run;
	size_t head;

	if (a->answers < 2 || (a->key.qtype < TYPES_COMPRESSED && a->key.qtype != DNS_A))
		return;
	run = find_run(a);
	if (run.count < 2)
		return;
	head = by % run.count * run.size;
	memcpy(body + run.at, a->body + run.at + head, run.count * run.size - head);
	memcpy(body + run.at + run.count * run.size - head, a->body + run.at, head);
}
