/* SPDX-License-Identifier: BSD-2-Clause */
/* local.c - answers of our own: records, aliases; and the leads of an answer. */
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
#define SVC_IPV4_HINT 4
#define SVC_IPV6_HINT 6

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
	m->chain |= rr->type == DNS_CNAME || rr->type == DNS_DNAME;
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

/* ---- a message around a body, so that its pointers mean something ---- */

static uint8_t *message_of(const struct dns_answer *a, size_t *ret_size)
{
	size_t start = DNS_HEADER + a->key.name_len + 4U;
	uint8_t *msg = calloc(1, start + a->body_len);

	if (!msg)
		return NULL;
	dns_put16(msg + 2, DNS_QR);
	dns_put16(msg + 4, 1);
	dns_put16(msg + 6, a->answers);
	dns_put16(msg + 8, a->authorities);
	memcpy(msg + DNS_HEADER, a->key.name, a->key.name_len);
	dns_put16(msg + start - 4, a->key.qtype);
	dns_put16(msg + start - 2, DNS_IN);
	memcpy(msg + start, a->body, a->body_len);
	*ret_size = start + a->body_len;
	return msg;
}

/* ---- aliases ---- */

static int add_all(struct making *m, const struct dns_key *key, const struct dns_answer *of)
{
	size_t size;
	uint8_t *msg = message_of(of, &size);
	struct dns_response r;
	struct dns_rr rr;
	int err;

	if (!msg)
		return -ENOMEM;
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

/* ---- leads ---- */

struct looking {
	bool (*each)(const struct dns_lead *lead, void *arg);
	void *arg;
};

static bool tell_v4(const struct looking *l, const uint8_t *p)
{
	struct dns_lead lead = { .ip = { [10] = 0xff, [11] = 0xff } };

	memcpy(lead.ip + 12, p, 4);
	return l->each(&lead, l->arg);
}

static bool tell_v6(const struct looking *l, const uint8_t *p)
{
	struct dns_lead lead = { 0 };

	memcpy(lead.ip, p, 16);
	return l->each(&lead, l->arg);
}

/* Addresses among the parameters of a service binding. */
static int look_at_hints(const struct looking *l, const uint8_t *msg, const struct dns_rr *rr)
{
	size_t at = rr->rdata + 2, end = rr->rdata + rr->rdata_len;
	unsigned key, len, i;
	int n = rr->rdata_len < 3 ? -EBADMSG : dns_name_len(msg + at, end - at);

	if (n < 0)
		return n;
	for (at += (unsigned)n; at + 4 <= end; at += len) {
		key = dns_get16(msg + at);
		len = dns_get16(msg + at + 2);
		at += 4;
		if (len > end - at)
			return -EBADMSG;
		for (i = 0; key == SVC_IPV4_HINT && i + 4 <= len; i += 4)
			if (tell_v4(l, msg + at + i))
				return 1;
		for (i = 0; key == SVC_IPV6_HINT && i + 16 <= len; i += 16)
			if (tell_v6(l, msg + at + i))
				return 1;
	}
	return 0;
}

static int look_at(const struct looking *l, const uint8_t *msg, const struct dns_rr *rr)
{
	uint8_t name[DNS_NAME_MAX];
	struct dns_lead lead = { .name = name };
	int n;

	switch (rr->type) {
	case DNS_CNAME:
		n = dns_name_expand(msg, rr->rdata + rr->rdata_len, rr->rdata, name, NULL);
		if (n < 0)
			return n;
		dns_name_lower(name, name, (size_t)n);
		lead.name_len = (uint16_t)n;
		return l->each(&lead, l->arg);
	case DNS_A:
		return rr->rdata_len == 4 ? tell_v4(l, msg + rr->rdata) : -EBADMSG;
	case DNS_AAAA:
		return rr->rdata_len == 16 ? tell_v6(l, msg + rr->rdata) : -EBADMSG;
	case DNS_SVCB:
	case DNS_HTTPS:
		return look_at_hints(l, msg, rr);
	default:
		return 0;
	}
}

int dns_answer_leads(const struct dns_answer *a, bool (*each)(const struct dns_lead *lead, void *arg), void *arg)
{
	struct looking l = { each, arg };
	size_t size;
	uint8_t *msg = message_of(a, &size);
	struct dns_response r;
	struct dns_rr rr;
	int got;

	if (!msg)
		return -ENOMEM;
	got = dns_response_parse(msg, size, &r);
	while (!got) {
		got = dns_rr_next(&r, &rr);
		if (got <= 0 || rr.section != DNS_ANSWER) {
			got = got < 0 ? got : 0;
			break;
		}
		got = look_at(&l, msg, &rr);
	}
	free(msg);
	return got;
}
