/* SPDX-License-Identifier: BSD-2-Clause */
/* answer.c - the object: making, sharing, ageing. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/slab.h"
#include "dns/answer.h"
#include "dns/build.h"
#include "dns/name.h"
#include "dns/object.h"
#include "dns/wire.h"

/* Millions of answers may be kept, and each look-up goes to another one: so they are in huge pages. */
static struct slab memory = SLAB_INIT;

/* Leaks and uses after the end are looked for in the heap only. */
#ifdef __SANITIZE_ADDRESS__
#define IN_HEAP true
#else
#define IN_HEAP false
#endif

static void *memory_take(size_t size)
{
	return IN_HEAP ? malloc(size) : slab_alloc(&memory, size);
}

static void memory_give(void *p, size_t size)
{
	if (IN_HEAP)
		free(p);
	else
		slab_free(&memory, p, size);
}

/* Where the parts stand in the block. */
struct layout {
	size_t ttls, body, size;
};

static struct layout layout_of(size_t name_len, size_t body_len, size_t ttls)
{
	size_t name_end = offsetof(struct dns_answer, key.name) + name_len, align = _Alignof(uint16_t);
	size_t at = (name_end + align - 1) / align * align, body = at + ttls * sizeof(uint16_t), size = body + body_len;

	return (struct layout){ at, body, size < sizeof(struct dns_answer) ? sizeof(struct dns_answer) : size };
}

struct dns_answer *dns_answer_alloc(const struct dns_key *key, uint16_t rcode, const uint8_t *body, size_t len,
				    const uint16_t *ttl_at, uint16_t ttls, uint64_t now_ns)
{
	struct layout l = layout_of(key->name_len, len, ttls);
	struct dns_answer *a = memory_take(l.size);

	if (!a)
		return NULL;
	memset(a, 0, sizeof(*a));
	atomic_init(&a->refs, 1);
	atomic_init(&a->asked, 1);
	a->key.name_len = key->name_len;
	a->key.qtype = key->qtype;
	a->key.bits = key->bits;
	memcpy(a->key.name, key->name, key->name_len);
	a->rcode = rcode;
	a->ede = DNS_EDE_NONE;
	a->born_ns = now_ns;
	a->ttls = ttls;
	a->body_len = (uint16_t)len;
	a->body = (uint8_t *)a + l.body;
	if (len)
		memcpy((uint8_t *)a + l.body, body, len);
	if (ttls)
		memcpy((char *)a + l.ttls, ttl_at, ttls * sizeof(*ttl_at));
	return a;
}

struct dns_answer *dns_answer_empty(const struct dns_key *key, uint16_t rcode, int ede, uint32_t ttl, uint64_t now_ns)
{
	struct dns_answer *a = dns_answer_alloc(key, rcode, NULL, 0, NULL, 0, now_ns);

	if (!a)
		return NULL;
	a->ede = (int16_t)ede;
	a->ttl = ttl;
	return a;
}

size_t dns_answer_message_size(const struct dns_answer *a)
{
	return DNS_HEADER + a->key.name_len + 4U + a->body_len;
}

void dns_answer_message(const struct dns_answer *a, uint8_t *msg)
{
	uint8_t *p = msg + DNS_HEADER;

	memset(msg, 0, DNS_HEADER);
	dns_put16(msg + 2, DNS_QR);
	dns_put16(msg + 4, 1);
	dns_put16(msg + 6, a->answers);
	dns_put16(msg + 8, a->authorities);
	p = mempcpy(p, a->key.name, a->key.name_len);
	dns_put16(p, a->key.qtype);
	dns_put16(p + 2, DNS_IN);
	if (a->body_len)
		memcpy(p + 4, a->body, a->body_len);
}

bool dns_record_leads(const uint8_t *msg, uint16_t type, size_t rdata, uint16_t len)
{
	uint8_t target[DNS_NAME_MAX];

	if (type != DNS_SVCB && type != DNS_HTTPS)
		return type == DNS_CNAME || type == DNS_DNAME;
	/* behind the priority; the root is the owner itself */
	return len > 2 && dns_name_expand(msg, rdata + len, rdata + 2, target, NULL) > 1;
}

/* What the walk over a body finds out. */
struct body_facts {
	uint16_t ttl_at[DNS_BUILD_RECORDS];
	uint16_t ttls;
	uint32_t ttl;
	bool chain;
	bool dnssec;
	bool found;			/* a record of the type asked for */
};

static void note_record(struct body_facts *f, const struct dns_key *key, const uint8_t *msg, const struct dns_rr *rr,
			size_t body)
{
	f->ttl_at[f->ttls++] = (uint16_t)(rr->rdata - 6 - body);
	if (rr->ttl < f->ttl)
		f->ttl = rr->ttl;
	f->dnssec |= dns_type_is_dnssec(rr->type, key->qtype);
	if (rr->section != DNS_ANSWER)
		return;
	f->chain |= dns_record_leads(msg, rr->type, rr->rdata, rr->rdata_len);
	f->found |= rr->type == key->qtype || key->qtype == DNS_ANY;
}

static int walk_body(const uint8_t *msg, size_t size, const struct dns_key *key, struct body_facts *f)
{
	struct dns_response r;
	struct dns_rr rr;
	size_t body;
	int err;

	err = dns_response_parse(msg, size, &r);
	if (err)
		return err;
	body = r.at;
	f->ttls = 0;
	f->ttl = UINT32_MAX;
	f->chain = f->dnssec = f->found = false;
	while ((err = dns_rr_next(&r, &rr)) > 0)
		note_record(f, key, msg, &rr, body);
	if (!err && r.at != size)
		err = -EBADMSG;
	return err;
}

int dns_answer_from_body(const struct dns_key *key, uint16_t rcode, const uint8_t *body, uint16_t len,
			 uint16_t answers, uint16_t authorities, uint64_t now_ns, struct dns_answer **ret)
{
	size_t start = DNS_HEADER + key->name_len + 4U;
	struct body_facts *f = malloc(sizeof(*f));
	uint8_t *msg = calloc(1, start + len);
	struct dns_answer *a;
	int err = -ENOMEM;

	if (!f || !msg)
		goto out;
	dns_put16(msg + 2, DNS_QR);
	dns_put16(msg + 4, 1);
	dns_put16(msg + 6, answers);
	dns_put16(msg + 8, authorities);
	memcpy(msg + DNS_HEADER, key->name, key->name_len);
	dns_put16(msg + start - 4, key->qtype);
	dns_put16(msg + start - 2, DNS_IN);
	if (len)
		memcpy(msg + start, body, len);
	err = start + len > DNS_MESSAGE_MAX ? -EBADMSG : walk_body(msg, start + len, key, f);
	if (err)
		goto out;
	a = dns_answer_alloc(key, rcode, body, len, f->ttl_at, f->ttls, now_ns);
	if (!a) {
		err = -ENOMEM;
		goto out;
	}
	a->answers = answers;
	a->authorities = authorities;
	a->chain = f->chain;
	a->dnssec = f->dnssec;
	a->negative = rcode == DNS_NXDOMAIN || (rcode == DNS_NOERROR && !f->found);
	a->ttl = f->ttls ? f->ttl : 0;
	*ret = a;
out:
	free(f);
	free(msg);
	return err;
}

bool dns_key_same(const struct dns_key *a, const struct dns_key *b)
{
	return a->qtype == b->qtype && a->bits == b->bits && a->name_len == b->name_len &&
	       memcmp(a->name, b->name, a->name_len) == 0;
}

void dns_answer_key(const struct dns_answer *a, struct dns_key *ret)
{
	*ret = (struct dns_key){ .name_len = a->key.name_len, .qtype = a->key.qtype, .bits = a->key.bits };
	memcpy(ret->name, a->key.name, a->key.name_len);
}

static size_t size_of(const struct dns_answer *a)
{
	return layout_of(a->key.name_len, a->body_len, a->ttls).size;
}

struct dns_answer *dns_answer_ref(struct dns_answer *a)
{
	atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
	return a;
}

void dns_answer_unref(struct dns_answer *a)
{
	if (a && atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) == 1)
		memory_give(a, size_of(a));
}

uint32_t dns_answer_age(const struct dns_answer *a, uint64_t now_ns)
{
	int64_t lived = (int64_t)(now_ns - a->born_ns);	/* it may be older than the machine's clock */
	uint64_t s = lived > 0 ? (uint64_t)lived / CLOCK_S : 0;

	return s > UINT32_MAX ? UINT32_MAX : (uint32_t)s;
}

bool dns_answer_fresh(const struct dns_answer *a, uint64_t now_ns)
{
	return dns_answer_age(a, now_ns) < a->ttl;
}

size_t dns_answer_size(const struct dns_answer *a)
{
	return slab_size(size_of(a));
}
