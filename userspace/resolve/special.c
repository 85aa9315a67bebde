/* SPDX-License-Identifier: BSD-2-Clause */
/* special.c - the table of special names, and what is said of each. */
#include <string.h>
#include "dns/local.h"
#include "dns/name.h"
#include "resolve/resolver.h"
#include "resolve/special.h"

#define TTL 10800			/* seconds (RFC 6303 section 3) */

enum kind {
	EMPTY,				/* SOA and NS, and nothing below (RFC 6303 section 3) */
	HOST,				/* this machine, as all names below are */
	NAMED,				/* a reverse zone with the name of this machine in it */
	NODATA,				/* all names exist and have nothing (RFC 9462 section 6.4) */
};

/* A zone; with @to, all those one label below whose label is a number @from .. @to. */
struct special {
	const char *zone;		/* wire form */
	uint16_t len;
	enum kind kind;
	uint8_t from, to;
	const char *host;		/* NAMED: the name that has the PTR record */
	uint16_t host_len;
};

#define V4 "\7in-addr\4arpa"
#define V6 "\3ip6\4arpa"
#define ZERO8 "\1" "0" "\1" "0" "\1" "0" "\1" "0" "\1" "0" "\1" "0" "\1" "0" "\1" "0"
#define ZERO31 ZERO8 ZERO8 ZERO8 "\1" "0" "\1" "0" "\1" "0" "\1" "0" "\1" "0" "\1" "0" "\1" "0"

#define ZONE(zone, kind)        { zone, sizeof(zone), kind, 0, 0, NULL, 0 }
#define RANGE(zone, from, to)   { zone, sizeof(zone), EMPTY, from, to, NULL, 0 }
#define HAS_NAME(zone, host)    { zone, sizeof(zone), NAMED, 0, 0, host, sizeof(host) }

static const struct special specials[] = {
	ZONE("\11localhost", HOST),				/* RFC 6761 */
	ZONE("\7invalid", EMPTY),
	ZONE("\5onion", EMPTY),					/* RFC 7686 */
	ZONE("\4home\4arpa", EMPTY),				/* RFC 8375 */
	ZONE("\10resolver\4arpa", NODATA),			/* RFC 9462 */
	ZONE("\1" "0" V4, EMPTY),				/* RFC 6303 */
	ZONE("\2" "10" V4, EMPTY),
	RANGE("\3" "100" V4, 64, 127),				/* RFC 7793 */
	HAS_NAME("\3" "127" V4, "\1" "1" "\1" "0" "\1" "0" "\3" "127" V4),
	ZONE("\3" "254" "\3" "169" V4, EMPTY),
	RANGE("\3" "172" V4, 16, 31),
	ZONE("\1" "2" "\1" "0" "\3" "192" V4, EMPTY),
	ZONE("\3" "168" "\3" "192" V4, EMPTY),
	ZONE("\3" "100" "\2" "51" "\3" "198" V4, EMPTY),
	ZONE("\3" "113" "\1" "0" "\3" "203" V4, EMPTY),
	ZONE("\3" "255" "\3" "255" "\3" "255" "\3" "255" V4, EMPTY),
	ZONE("\1" "0" ZERO31 V6, EMPTY),
	HAS_NAME("\1" "1" ZERO31 V6, "\1" "1" ZERO31 V6),
	ZONE("\1" "d" "\1" "f" V6, EMPTY),
	ZONE("\1" "8" "\1" "e" "\1" "f" V6, EMPTY),
	ZONE("\1" "9" "\1" "e" "\1" "f" V6, EMPTY),
	ZONE("\1" "a" "\1" "e" "\1" "f" V6, EMPTY),
	ZONE("\1" "b" "\1" "e" "\1" "f" V6, EMPTY),
	ZONE("\1" "8" "\1" "b" "\1" "d" "\1" "0" "\1" "1" "\1" "0" "\1" "0" "\1" "2" V6, EMPTY),
};

#define SPECIALS (sizeof(specials) / sizeof(specials[0]))

/* ---- which one is it? ---- */

static const uint8_t *last_label(const uint8_t *name)
{
	const uint8_t *last = name;

	for (; *name; name += *name + 1)
		last = name;
	return last;
}

static bool is_label(const uint8_t *label, const char *word)
{
	return *label == strlen(word) && !memcmp(label + 1, word, *label);
}

/* Nearly no name goes further. */
static bool may_be_special(const uint8_t *top)
{
	return is_label(top, "arpa") || is_label(top, "localhost") || is_label(top, "invalid") || is_label(top, "onion");
}

/* Where the suffix of @len octets begins, when it begins with a label; NULL: it does not. */
static const uint8_t *suffix_of(const struct dns_key *key, uint16_t len)
{
	const uint8_t *p = key->name, *want = key->name + key->name_len - len;

	if (len > key->name_len)
		return NULL;
	while (p < want)
		p += *p + 1;
	return p == want ? p : NULL;
}

/* The label before @at, when it is a number without leading zeros; else -1. */
static int number_before(const struct dns_key *key, const uint8_t *at, const uint8_t **ret_label)
{
	const uint8_t *p = key->name;
	int n = 0;
	unsigned i;

	if (p == at)
		return -1;
	while (p + *p + 1 < at)
		p += *p + 1;
	if (*p > 3 || p[1] == '0')
		return -1;
	for (i = 1; i <= *p; i++) {
		if (p[i] < '0' || p[i] > '9')
			return -1;
		n = n * 10 + p[i] - '0';
	}
	*ret_label = p;
	return n;
}

/* The zone that @key is in; @ret_apex: where in the key its name begins. */
static const struct special *find(const struct dns_key *key, const uint8_t **ret_apex)
{
	const struct special *s;
	const uint8_t *apex;
	int n;

	for (s = specials; s < specials + SPECIALS; s++) {
		apex = suffix_of(key, s->len);
		if (!apex || memcmp(apex, s->zone, s->len))
			continue;
		if (s->to) {
			n = number_before(key, apex, &apex);
			if (n < s->from || n > s->to)
				continue;
		}
		*ret_apex = apex;
		return s;
	}
	return NULL;
}

/* ---- what is said ---- */

static enum step_result give(struct query *q, const uint8_t *apex, uint16_t rcode, const struct dns_record *record,
			     uint64_t now_ns)
{
	uint32_t negative = q->snapshot->ttl.negative_max < TTL ? q->snapshot->ttl.negative_max : TTL;

	q->source = QUERY_BY_SELF;
	if (!dns_answer_of_zone(&q->key, apex, rcode, record, TTL, negative, now_ns, &q->answer))
		return STEP_DONE;
	q->rcode = DNS_SERVFAIL;
	q->ede = DNS_EDE_OTHER;
	return STEP_DONE;
}

static enum step_result give_host(struct query *q, const uint8_t *apex, uint64_t now_ns)
{
	static const uint8_t v4[4] = { 127, 0, 0, 1 }, v6[16] = { [15] = 1 };
	static const struct dns_record a = { DNS_A, sizeof(v4), v4 }, aaaa = { DNS_AAAA, sizeof(v6), v6 };

	if (q->key.qtype == DNS_AAAA)
		return give(q, apex, DNS_NOERROR, &aaaa, now_ns);
	return give(q, apex, DNS_NOERROR, q->key.qtype == DNS_A || q->key.qtype == DNS_ANY ? &a : NULL, now_ns);
}

/* Names on the way to the one that has a record exist (RFC 8020). */
static enum step_result give_named(struct query *q, const struct special *s, const uint8_t *apex, uint64_t now_ns)
{
	static const uint8_t host[] = "\11localhost";
	static const struct dns_record ptr = { DNS_PTR, sizeof(host), host };
	uint16_t len = q->key.name_len;
	bool exists = len <= s->host_len && !memcmp(q->key.name, s->host + s->host_len - len, len);

	if (exists && len == s->host_len && (q->key.qtype == DNS_PTR || q->key.qtype == DNS_ANY))
		return give(q, apex, DNS_NOERROR, &ptr, now_ns);
	return give(q, apex, exists ? DNS_NOERROR : DNS_NXDOMAIN, NULL, now_ns);
}

static enum step_result say(struct query *q, const struct special *s, const uint8_t *apex, uint64_t now_ns)
{
	bool at_apex = apex == q->key.name;
	uint8_t soa[DNS_SOA_MAX];
	struct dns_record own = { .type = q->key.qtype };

	if (at_apex && q->key.qtype == DNS_SOA) {
		own.rdata = soa;
		own.rdata_len = dns_zone_soa(apex, soa);
		return give(q, apex, DNS_NOERROR, &own, now_ns);
	}
	if (at_apex && q->key.qtype == DNS_NS) {
		own.rdata = apex;
		own.rdata_len = (uint16_t)(q->key.name + q->key.name_len - apex);
		return give(q, apex, DNS_NOERROR, &own, now_ns);
	}
	switch (s->kind) {
	case HOST:
		return give_host(q, apex, now_ns);
	case NAMED:
		return give_named(q, s, apex, now_ns);
	case NODATA:
		return give(q, apex, DNS_NOERROR, NULL, now_ns);
	default:
		return give(q, apex, at_apex ? DNS_NOERROR : DNS_NXDOMAIN, NULL, now_ns);
	}
}

/*
 * Whether a zone is signed says its parent, whose name is not special: those
 * under arpa are delegated without a key, and who validates must get to see
 * that (RFC 8375 section 4, RFC 6303 section 8).
 */
static bool is_of_parent(const struct query *q, const struct special *s, const uint8_t *top, const uint8_t *apex)
{
	return q->key.qtype == DNS_DS && apex == q->key.name && is_label(top, "arpa") && s->kind != NODATA;
}

enum step_result special_name(struct query *q, uint64_t now_ns)
{
	const uint8_t *top = last_label(q->key.name), *apex;
	const struct special *s;

	if (!may_be_special(top))
		return STEP_NEXT;
	s = find(&q->key, &apex);
	if (!s || is_of_parent(q, s, top, apex) || suffixes_cover(q->snapshot->unspecial, q->key.name, q->key.name_len))
		return STEP_NEXT;
	if (q->refresh) {		/* of an answer from before a reload: it ends with its time */
		q->silent = true;
		return STEP_DONE;
	}
	count_one(q->resolver->count, COUNT_queries_special);
	return say(q, s, apex, now_ns);
}

/* ---- class CH ---- */

bool special_chaos(struct query *q, uint64_t now_ns)
{
	static const struct { const char *name; uint16_t len; bool version; } names[] = {
		{ "\7version\4bind", 14, true }, { "\7version\6server", 16, true },
		{ "\10hostname\4bind", 15, false }, { "\2id\6server", 11, false },
	};
	const struct config *c = q->snapshot->config;
	const char *text;
	unsigned i;

	if (q->key.qtype != DNS_TXT && q->key.qtype != DNS_ANY)
		return false;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (q->key.name_len != names[i].len || memcmp(q->key.name, names[i].name, names[i].len))
			continue;
		text = names[i].version ? c->server_version : c->server_identity;
		if (!*text || dns_answer_chaos(&q->key, text, now_ns, &q->answer))
			return false;
		q->source = QUERY_BY_SELF;
		return true;
	}
	return false;
}
