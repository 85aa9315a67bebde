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
	bool dnssec;
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
	m->dnssec |= dns_type_is_dnssec(rr->type, key->qtype);
	if (rr->section == DNS_AUTHORITY) {
		m->authorities++;
		return 0;
	}
	m->answers++;
	m->chain |= dns_record_leads(msg, rr->type, rr->rdata, rr->rdata_len);
	m->found |= rr->type == key->qtype || key->qtype == DNS_ANY;
	return 0;
}

/* A record of ours: its data is whole and stands alone. */
static int add_at(struct making *m, const struct dns_key *key, const uint8_t *owner, uint16_t owner_len,
		  enum dns_section section, const struct dns_record *r, uint32_t ttl)
{
	struct dns_rr rr = { .section = section, .type = r->type, .class = DNS_IN, .ttl = ttl, .rdata = 0,
			     .rdata_len = r->rdata_len, .owner_len = owner_len };

	memcpy(rr.owner, owner, owner_len);
	return add(m, key, r->rdata, r->rdata_len, &rr);
}

static int add_own(struct making *m, const struct dns_key *key, enum dns_section section, uint16_t type,
		   const uint8_t *rdata, uint16_t len, uint32_t ttl)
{
	return add_at(m, key, key->name, key->name_len, section, &(struct dns_record){ type, len, rdata }, ttl);
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
	a->dnssec = m->dnssec;
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

/* ---- zones of ours ---- */

uint16_t dns_zone_soa(const uint8_t *zone, uint8_t ret[DNS_SOA_MAX])
{
	static const uint8_t mail[] = "\6nobody\7invalid";
	static const uint32_t number[] = { 1, 3600, 1200, 604800, 10800 };
	size_t len = (size_t)dns_name_len(zone, DNS_NAME_MAX);
	unsigned i;

	memcpy(ret, zone, len);
	memcpy(ret + len, mail, sizeof(mail));
	len += sizeof(mail);
	for (i = 0; i < sizeof(number) / sizeof(number[0]); i++, len += 4)
		dns_put32(ret + len, number[i]);
	return (uint16_t)len;
}

int dns_answer_of_zone(const struct dns_key *key, const uint8_t *zone, uint16_t rcode, const struct dns_record *record,
		       uint32_t ttl, uint32_t negative, uint64_t now_ns, struct dns_answer **ret)
{
	uint8_t rdata[DNS_SOA_MAX];
	struct dns_record soa = { .type = DNS_SOA, .rdata = rdata };
	struct making m;
	int err = begin(&m, key);

	if (!err && record)
		err = add_own(&m, key, DNS_ANSWER, record->type, record->rdata, record->rdata_len, ttl);
	if (!err && !record) {
		soa.rdata_len = dns_zone_soa(zone, rdata);
		err = add_at(&m, key, zone, (uint16_t)dns_name_len(zone, DNS_NAME_MAX), DNS_AUTHORITY, &soa, negative);
	}
	if (!err)
		err = finish(&m, key, rcode, now_ns, ret);
	if (!err)
		(*ret)->aa = true;
	free(m.build);
	return err;
}

int dns_answer_chaos(const struct dns_key *key, const char *text, uint64_t now_ns, struct dns_answer **ret)
{
	uint8_t body[DNS_RR_FIXED + 2 + 256] = { 0xc0, 0x0c, 0, DNS_TXT, 0, DNS_CH };
	size_t len = strlen(text);
	int err;

	if (len > 255)
		return -EMSGSIZE;
	dns_put16(body + 10, (uint16_t)(len + 1));
	body[12] = (uint8_t)len;
	memcpy(body + 13, text, len);
	err = dns_answer_from_body(key, DNS_NOERROR, body, (uint16_t)(13 + len), 1, 0, now_ns, ret);
	if (!err)
		(*ret)->aa = true;
	return err;
}

/* ---- aliases ---- */

static int add_all(struct making *m, const struct dns_key *key, const struct dns_answer *of, bool plain)
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
		err = plain && dns_type_is_dnssec(rr.type, key->qtype) ? 0 : add(m, key, msg, size, &rr);
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
		err = add_all(&m, key, of, false);
	if (!err)
		err = finish(&m, key, of ? of->rcode : DNS_NOERROR, of ? of->born_ns : now_ns, ret);
	free(m.build);
	return err;
}

/* ---- forms ---- */

/* All but the records. */
static void take_facts(struct dns_answer *to, const struct dns_answer *a)
{
	to->asked = a->asked;
	to->ttl = a->ttl;
	to->aa = a->aa;
	to->ad = a->ad;
	to->negative = a->negative;
	to->chain = a->chain;
	to->local = a->local;
	to->ede = a->ede;
}

static int copy(const struct dns_answer *a, const struct dns_key *key, struct dns_answer **ret)
{
	struct dns_answer *to = dns_answer_alloc(key, a->rcode, a->body, a->body_len, dns_answer_ttls(a), a->ttls, a->born_ns);

	if (!to)
		return -ENOMEM;
	to->answers = a->answers;
	to->authorities = a->authorities;
	to->dnssec = a->dnssec;
	take_facts(to, a);
	*ret = to;
	return 0;
}

int dns_answer_form(const struct dns_answer *a, uint8_t bits, struct dns_answer **ret)
{
	struct dns_key key;
	struct making m;
	int err;

	dns_answer_key(a, &key);
	key.bits = bits;
	if (bits & DNS_KEY_DO || !a->dnssec)
		return copy(a, &key, ret);
	err = begin(&m, &key);
	if (!err)
		err = add_all(&m, &key, a, true);
	if (!err)
		err = finish(&m, &key, a->rcode, a->born_ns, ret);
	if (!err)
		take_facts(*ret, a);
	free(m.build);
	return err;
}
