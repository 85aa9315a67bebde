/* SPDX-License-Identifier: BSD-2-Clause */
/* local.c - answers of our own: records, aliases. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dns/build.h"
#include "dns/local.h"
#include "dns/name.h"
#include "dns/object.h"
#include "dns/wire.h"
#include "maps/block.h"

#define SOA_RDATA (sizeof(struct mr_rr_soa) - sizeof(struct mr_rr_head))

/* ---- an answer in the making ---- */

struct making {
	struct dns_build *build;
	uint16_t answers;
	uint16_t authorities;
	uint32_t ttl;			/* the smallest */
	bool chain;
	bool found;			/* a record of the type asked for */
};

static int begin(struct making *m, const struct dns_key *key)
{
	*m = (struct making){ .build = malloc(sizeof(*m->build)), .ttl = UINT32_MAX };
	if (!m->build)
		return -ENOMEM;
	dns_build_begin(m->build, key);
	return 0;
}

static int add(struct making *m, const struct dns_key *key, const uint8_t *msg, size_t size, const struct dns_rr *rr)
{
	int err = dns_build_record(m->build, msg, size, rr, rr->ttl);

	if (err)
		return err;
	if (rr->ttl < m->ttl)
		m->ttl = rr->ttl;
	if (rr->section == DNS_AUTHORITY) {
		m->authorities++;
		return 0;
	}
	m->answers++;
	m->chain |= dns_record_leads(msg, rr->type, rr->rdata, rr->rdata_len);
	m->found |= rr->type == key->qtype || key->qtype == DNS_ANY;
	return 0;
}

/* A record of ours: @rdata is whole and stands alone. */
static int add_own(struct making *m, const struct dns_key *key, enum dns_section section, uint16_t type,
		   const uint8_t *rdata, uint16_t len, uint32_t ttl)
{
	struct dns_rr rr = { .section = section, .type = type, .class = DNS_IN, .ttl = ttl, .rdata = 0, .rdata_len = len,
			     .owner_len = key->name_len };

	memcpy(rr.owner, key->name, key->name_len);
	return add(m, key, rdata, len, &rr);
}

static int finish(struct making *m, const struct dns_key *key, uint16_t rcode, uint64_t born_ns,
		  struct dns_answer **ret)
{
	struct dns_build *b = m->build;
	struct dns_answer *a = dns_answer_alloc(key, rcode, b->msg + b->body, b->len - b->body, b->ttl_at, b->ttls, born_ns);

	if (!a)
		return -ENOMEM;
	a->answers = m->answers;
	a->authorities = m->authorities;
	a->chain = m->chain;
	a->negative = rcode == DNS_NXDOMAIN || (rcode == DNS_NOERROR && !m->found);
	a->ttl = b->ttls ? m->ttl : 0;
	*ret = a;
	return 0;
}

static void write_soa(uint8_t rdata[SOA_RDATA], uint32_t ttl)
{
	memset(rdata, 0, 2);		/* root names */
	dns_put32(rdata + 2, MR_SOA_SERIAL);
	dns_put32(rdata + 6, MR_SOA_REFRESH);
	dns_put32(rdata + 10, MR_SOA_RETRY);
	dns_put32(rdata + 14, MR_SOA_EXPIRE);
	dns_put32(rdata + 18, ttl);
}

int dns_answer_local(const struct dns_key *key, uint16_t rcode, const struct dns_record *record, unsigned count,
		     uint32_t ttl, uint64_t now_ns, struct dns_answer **ret)
{
	uint8_t soa[SOA_RDATA];
	struct making m;
	unsigned i;
	int err = begin(&m, key);

	for (i = 0; !err && i < count; i++)
		err = add_own(&m, key, DNS_ANSWER, record[i].type, record[i].rdata, record[i].rdata_len, ttl);
	if (!err && !count && (rcode == DNS_NOERROR || rcode == DNS_NXDOMAIN)) {
		write_soa(soa, ttl);
		err = add_own(&m, key, DNS_AUTHORITY, DNS_SOA, soa, sizeof(soa), ttl);
	}
	if (!err)
		err = finish(&m, key, rcode, now_ns, ret);
	free(m.build);
	return err;
}

/* ---- aliases ---- */

static int add_all(struct making *m, const struct dns_key *key, const struct dns_answer *of)
{
	size_t size = dns_answer_message_size(of);
	uint8_t *msg = malloc(size);
	struct dns_response r;
	struct dns_rr rr;
	int err;

	if (!msg)
		return -ENOMEM;
	dns_answer_message(of, msg);
	err = dns_response_parse(msg, size, &r);
	while (!err) {
		err = dns_rr_next(&r, &rr);
		if (err <= 0)
			break;
		err = add(m, key, msg, size, &rr);
	}
	free(msg);
	return err;
}

static bool is_failure(const struct dns_answer *a)
{
	return a->rcode != DNS_NOERROR && a->rcode != DNS_NXDOMAIN;
}

int dns_answer_alias(const struct dns_key *key, const uint8_t *target, uint16_t target_len, uint32_t ttl,
		     const struct dns_answer *of, uint64_t now_ns, struct dns_answer **ret)
{
	struct making m;
	int err;

	if (of && is_failure(of)) {
		*ret = dns_answer_empty(key, of->rcode, of->ede, of->ttl, of->born_ns);
		return *ret ? 0 : -ENOMEM;
	}
	err = begin(&m, key);
	/* all TTLs age from the birth of what follows */
	if (!err)
		err = add_own(&m, key, DNS_ANSWER, DNS_CNAME, target, target_len,
			      ttl + (of ? dns_answer_age(of, now_ns) : 0));
	if (!err && of)
		err = add_all(&m, key, of);
	if (!err)
		err = finish(&m, key, of ? of->rcode : DNS_NOERROR, of ? of->born_ns : now_ns, ret);
	free(m.build);
	return err;
}
