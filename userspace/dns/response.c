/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * response.c - out of an upstream's response, the records that answer the
 * question, and an answer out of them.
 *
 * An index of the answer and authority sections is made in one walk; picking
 * then follows the chain of CNAMEs over the index, by the hashes of owners.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dns/answer.h"
#include "dns/build.h"
#include "dns/name.h"
#include "dns/object.h"
#include "dns/wire.h"

#define LINKS_MAX 16			/* CNAMEs in a row; more is taken for a loop */
#define ZONES_MAX 8			/* that a chain leads through and that prove something */
#define PROOFS_MAX 64			/* records of them; a proof of nonexistence needs three, each with its signatures */
#define SIGNER_AT 18			/* in the data of an RRSIG (RFC 4034 section 3.1) */
#define SOA_FIXED 20			/* the five numbers behind its names */

/* A record of the response, by where it stands. */
struct entry {
	size_t owner;
	size_t rdata;
	uint32_t hash;			/* of the owner */
	uint32_t ttl;
	uint16_t rdata_len;
	uint16_t type;
	uint16_t covers;		/* of an RRSIG */
	uint8_t section;
	bool picked;
};

/* Where the chain leads through; kept apart, since it need not be cleared. */
struct way {
	uint8_t link[LINKS_MAX + 2][DNS_NAME_MAX];	/* the question, and the targets */
	uint8_t zone[ZONES_MAX][DNS_NAME_MAX];	/* that links are in, as signatures over proofs have them */
};

struct pick {
	const uint8_t *msg;
	size_t size;
	const struct dns_key *key;
	bool dnssec;			/* signatures or proofs have been picked */
	struct entry *entry;
	unsigned entries;
	uint16_t *order;		/* the records picked, as they will be written */
	unsigned picked;
	unsigned answers;		/* of them, in the answer section */
	uint8_t name[DNS_NAME_MAX];	/* the end of the chain so far */
	struct dns_cut cut;		/* of it */
	struct way *way;
	unsigned links;			/* of it */
	unsigned zones;
	bool found;			/* the type asked for is there */
	bool chain;
	bool soa;
};

static uint32_t name_hash(const uint8_t *name)
{
	struct dns_cut c;

	dns_name_cut(name, &c);
	return c.hash[0];
}

static bool is_meta(uint16_t type)
{
	return type == DNS_OPT || (type >= DNS_TKEY && type <= DNS_ANY);
}

/* ---- the index ---------------------------------------------------------- */

static void entry_add(struct pick *p, const struct dns_rr *rr, size_t owner)
{
	struct entry *e = &p->entry[p->entries];

	if (rr->section == DNS_ADDITIONAL || rr->class != DNS_IN || is_meta(rr->type))
		return;
	*e = (struct entry){ .owner = owner, .rdata = rr->rdata, .hash = name_hash(rr->owner), .ttl = rr->ttl,
			     .rdata_len = rr->rdata_len, .type = rr->type, .section = (uint8_t)rr->section };
	if (rr->type == DNS_RRSIG && rr->rdata_len >= 2)
		e->covers = dns_get16(p->msg + rr->rdata);
	p->entries++;
}

/* Walk the whole response; @ret_rcode gets the rcode with the bits that an OPT adds. */
static int index_make(struct pick *p, struct dns_response *r, uint16_t *ret_rcode)
{
	size_t room = (r->size - r->at) / (DNS_RR_FIXED + 1), want = (size_t)r->count[0] + r->count[1], owner;
	uint16_t high = 0;
	struct dns_rr rr;
	int got;

	if (want > room)
		return -EBADMSG;
	p->entry = calloc(want + 1, sizeof(*p->entry));
	p->order = calloc(want + 1, sizeof(*p->order));
	if (!p->entry || !p->order)
		return -ENOMEM;
	for (;;) {
		owner = r->at;
		got = dns_rr_next(r, &rr);
		if (got <= 0)
			break;
		if (rr.section == DNS_ADDITIONAL && rr.type == DNS_OPT)
			high = (uint16_t)(rr.ttl >> 24);
		entry_add(p, &rr, owner);
	}
	*ret_rcode = (uint16_t)(high << 4 | DNS_RCODE(r->flags));
	return got;
}

/* ---- picking ------------------------------------------------------------ */

static void pick_entry(struct pick *p, unsigned i)
{
	struct entry *e = &p->entry[i];

	if (e->picked)
		return;
	e->picked = true;
	p->order[p->picked++] = (uint16_t)i;
	p->dnssec |= dns_type_is_dnssec(e->type, p->key->qtype);
	if (e->section != DNS_ANSWER)
		return;
	p->answers++;
	p->chain |= dns_record_leads(p->msg, e->type, e->rdata, e->rdata_len);
}

static const uint8_t *owner_of(const struct pick *p, const struct entry *e, uint8_t buf[DNS_NAME_MAX])
{
	dns_name_expand(p->msg, p->size, e->owner, buf, NULL);
	return buf;
}

/* Is it in that section, at the end of the chain? */
static bool is_here(const struct pick *p, const struct entry *e, enum dns_section section)
{
	uint8_t owner[DNS_NAME_MAX];

	return e->section == section && e->hash == p->cut.hash[0] && dns_name_equal(owner_of(p, e, owner), p->name);
}

/* The signatures over records like @like: same owner, their type, same section. */
static void pick_signatures(struct pick *p, const struct entry *like)
{
	uint8_t a[DNS_NAME_MAX], b[DNS_NAME_MAX];
	unsigned i;

	owner_of(p, like, a);
	for (i = 0; i < p->entries; i++) {
		const struct entry *e = &p->entry[i];

		if (e->type == DNS_RRSIG && e->covers == like->type && e->section == like->section &&
		    e->hash == like->hash && dns_name_equal(owner_of(p, e, b), a))
			pick_entry(p, i);
	}
}

/* The records asked for, where the chain stands. */
static bool pick_asked(struct pick *p)
{
	const struct entry *first = NULL;
	unsigned i;

	for (i = 0; i < p->entries; i++) {
		if (p->key->qtype != DNS_ANY && p->entry[i].type != p->key->qtype)
			continue;
		if (!is_here(p, &p->entry[i], DNS_ANSWER))
			continue;
		pick_entry(p, i);
		first = first ? first : &p->entry[i];
	}
	if (first && p->key->qtype != DNS_ANY)
		pick_signatures(p, first);
	return first;
}

static struct entry *find_cname(const struct pick *p)
{
	unsigned i;

	for (i = 0; i < p->entries; i++)
		if (p->entry[i].type == DNS_CNAME && is_here(p, &p->entry[i], DNS_ANSWER))
			return &p->entry[i];
	return NULL;
}

/* May it own a DNAME above the end of the chain?  By hash, so that a message full of DNAMEs costs little. */
static bool may_be_above(const struct pick *p, const struct entry *e)
{
	unsigned i;

	for (i = 1; i <= p->cut.labels; i++)
		if (p->cut.hash[i] == e->hash)
			return true;
	return false;
}

/* The DNAME of which a CNAME at the end of the chain is made (RFC 6672). */
static struct entry *find_dname(const struct pick *p)
{
	uint8_t owner[DNS_NAME_MAX];
	unsigned i;

	for (i = 0; i < p->entries; i++) {
		struct entry *e = &p->entry[i];

		if (e->type == DNS_DNAME && e->section == DNS_ANSWER && may_be_above(p, e) &&
		    dns_name_is_in(p->name, owner_of(p, e, owner)))
			return e;
	}
	return NULL;
}

static int target_of(const struct pick *p, const struct entry *e, uint8_t ret[DNS_NAME_MAX])
{
	size_t next;
	int len = dns_name_expand(p->msg, e->rdata + e->rdata_len, e->rdata, ret, &next);

	return len < 0 || next != e->rdata + e->rdata_len ? -EBADMSG : 0;
}

static void go_to(struct pick *p, const uint8_t *name)
{
	memcpy(p->name, name, (size_t)dns_name_len(name, DNS_NAME_MAX));
	dns_name_cut(p->name, &p->cut);
	if (p->links < LINKS_MAX + 2)
		memcpy(p->way->link[p->links++], p->name, sizeof(p->name));
}

/* Take one CNAME, and the DNAME behind it, and go where it points. */
static int follow_link(struct pick *p)
{
	struct entry *cname = find_cname(p), *dname = find_dname(p);
	uint8_t target[DNS_NAME_MAX], suffix[DNS_NAME_MAX];
	int err;

	if (!cname)
		return dname ? -EBADMSG : -ENOENT;	/* a DNAME comes with the CNAME that it makes */
	err = target_of(p, cname, target);
	if (!err && dname)
		err = target_of(p, dname, suffix);
	if (err)
		return err;
	if (cname->picked)
		return -EBADMSG;
	if (dname && dns_name_is_in(target, suffix)) {
		pick_entry(p, (unsigned)(dname - p->entry));
		pick_signatures(p, dname);
	}
	pick_entry(p, (unsigned)(cname - p->entry));
	pick_signatures(p, cname);
	go_to(p, target);
	return 0;
}

static int pick_answer(struct pick *p)
{
	unsigned links;
	int err;

	go_to(p, p->key->name);
	for (links = 0; links <= LINKS_MAX; links++) {
		p->found = pick_asked(p);
		if (p->found)
			return 0;
		err = follow_link(p);
		if (err)
			return err == -ENOENT ? 0 : err;
	}
	return -EBADMSG;
}

static bool is_proof(const struct entry *e)
{
	uint16_t type = e->type == DNS_RRSIG ? e->covers : e->type;

	return e->section == DNS_AUTHORITY && (type == DNS_NSEC || type == DNS_NSEC3);
}

static bool is_above_link(const struct pick *p, const uint8_t *zone)
{
	unsigned i;

	for (i = 0; i < p->links; i++)
		if (dns_name_is_in(p->way->link[i], zone))
			return true;
	return false;
}

static bool is_in_zone(const struct pick *p, const uint8_t *name)
{
	unsigned i;

	for (i = 0; i < p->zones; i++)
		if (dns_name_is_in(name, p->way->zone[i]))
			return true;
	return false;
}

/* The zones that have something to prove here are those that signed it, if the chain leads through them. */
static void find_zones(struct pick *p)
{
	uint8_t signer[DNS_NAME_MAX];
	unsigned i;

	for (i = 0; i < p->entries && p->zones < ZONES_MAX; i++) {
		struct entry *e = &p->entry[i];

		if (e->type != DNS_RRSIG || !is_proof(e) || e->rdata_len <= SIGNER_AT ||
		    dns_name_expand(p->msg, e->rdata + e->rdata_len, e->rdata + SIGNER_AT, signer, NULL) < 0)
			continue;
		if (is_above_link(p, signer) && !is_in_zone(p, signer))
			memcpy(p->way->zone[p->zones++], signer, sizeof(signer));
	}
}

/* Proofs of others than these zones, and unsigned ones, are none (RFC 4035 section 3.1.3). */
static void pick_proofs(struct pick *p)
{
	uint8_t owner[DNS_NAME_MAX];
	unsigned i, count = 0;

	find_zones(p);
	for (i = 0; i < p->entries && p->zones && count < PROOFS_MAX; i++) {
		if (!is_proof(&p->entry[i]) || !is_in_zone(p, owner_of(p, &p->entry[i], owner)))
			continue;
		pick_entry(p, i);
		count++;
	}
}

/* The SOA of a negative answer, and with DO the proofs; of a zone that the chain's end is not in, nothing is believed. */
static void pick_authority(struct pick *p)
{
	uint8_t owner[DNS_NAME_MAX];
	unsigned i;

	for (i = 0; i < p->entries && !p->found && !p->soa; i++) {
		struct entry *e = &p->entry[i];

		if (e->section != DNS_AUTHORITY || e->type != DNS_SOA || !dns_name_is_in(p->name, owner_of(p, e, owner)))
			continue;
		p->soa = true;
		pick_entry(p, i);
		pick_signatures(p, e);
	}
	pick_proofs(p);
}

/* ---- the answer --------------------------------------------------------- */

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t bend(const struct pick *p, const struct entry *e, const struct dns_ttl_limits *l)
{
	uint32_t ttl = least(e->ttl, l->max);

	if (p->found)
		return ttl < l->min ? l->min : ttl;
	if (e->section == DNS_AUTHORITY)
		ttl = least(ttl, l->negative_max);
	if (e->type == DNS_SOA && e->rdata_len >= SOA_FIXED)
		ttl = least(ttl, dns_get32(p->msg + e->rdata + e->rdata_len - 4));
	return ttl;
}

static int write_picked(const struct pick *p, const struct dns_ttl_limits *l, struct dns_build *b, uint32_t *ret_ttl)
{
	uint32_t ttl = p->found || p->soa ? UINT32_MAX : 0, bent;
	struct dns_rr rr = { .class = DNS_IN };
	unsigned i;
	int err;

	for (i = 0; i < p->picked; i++) {
		const struct entry *e = &p->entry[p->order[i]];

		owner_of(p, e, rr.owner);
		rr.type = e->type;
		rr.rdata = e->rdata;
		rr.rdata_len = e->rdata_len;
		bent = bend(p, e, l);
		ttl = least(ttl, bent);
		err = dns_build_record(b, p->msg, p->size, &rr, bent);
		if (err)
			return err;
	}
	*ret_ttl = ttl;
	return 0;
}

static int build(const struct pick *p, uint16_t rcode, const struct dns_ttl_limits *l, uint64_t now_ns,
		 struct dns_answer **ret)
{
	struct dns_build *b = malloc(sizeof(*b));
	struct dns_answer *a = NULL;
	uint32_t ttl;
	int err = -ENOMEM;

	if (!b)
		goto out;
	dns_build_begin(b, p->key);
	err = write_picked(p, l, b, &ttl);
	if (err)
		goto out;
	a = dns_answer_alloc(p->key, rcode, b->msg + b->body, b->len - b->body, b->ttl_at, b->ttls, now_ns);
	if (!a) {
		err = -ENOMEM;
		goto out;
	}
	a->answers = (uint16_t)p->answers;
	a->authorities = (uint16_t)(p->picked - p->answers);
	a->negative = !p->found;
	a->chain = p->chain;
	a->dnssec = p->dnssec;
	a->ttl = ttl;
	*ret = a;
out:
	free(b);
	return err;
}

static bool is_failure(uint16_t rcode)
{
	return rcode != DNS_NOERROR && rcode != DNS_NXDOMAIN;
}

/* Servers that fail early may leave the question out. */
static bool may_lack_question(uint16_t rcode)
{
	return rcode == DNS_FORMERR || rcode == DNS_SERVFAIL || rcode == DNS_NOTIMP || rcode == DNS_REFUSED;
}

static bool answers_key(const struct dns_response *r, const struct dns_key *key)
{
	if (DNS_OPCODE(r->flags) || r->flags & DNS_TC)
		return false;
	if (!r->has_question)
		return may_lack_question(DNS_RCODE(r->flags));
	return r->qtype == key->qtype && r->qclass == DNS_IN && r->qname_len == key->name_len &&
	       dns_name_equal(r->qname, key->name);
}

int dns_answer_from_response(const uint8_t *msg, size_t size, const struct dns_key *key,
			     const struct dns_ttl_limits *limits, uint64_t now_ns, struct dns_answer **ret)
{
	struct way way;
	struct pick p = { .msg = msg, .size = size, .key = key, .way = &way };
	struct dns_response r;
	uint16_t rcode;
	int err;

	err = dns_response_parse(msg, size, &r);
	if (err)
		goto out;
	err = answers_key(&r, key) ? index_make(&p, &r, &rcode) : -EBADMSG;
	if (err)
		goto out;
	if (is_failure(rcode)) {
		*ret = dns_answer_empty(key, rcode, DNS_EDE_NONE, rcode == DNS_SERVFAIL ? limits->failure : 0, now_ns);
		err = *ret ? 0 : -ENOMEM;
		goto out;
	}
	err = pick_answer(&p);
	if (!err && p.found && rcode == DNS_NXDOMAIN)
		err = -EBADMSG;
	if (err)
		goto out;
	pick_authority(&p);
	err = build(&p, rcode, limits, now_ns, ret);
out:
	free(p.entry);
	free(p.order);
	return err;
}
