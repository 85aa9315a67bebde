/* SPDX-License-Identifier: BSD-2-Clause */
/* build.c - the builder: compression, and RDATA by type. */
#include <errno.h>
#include <string.h>
#include "dns/build.h"
#include "dns/name.h"
#include "dns/wire.h"

#define OPT_ROOM   17			/* OPT with an EDE */
#define HASH_ROOT  0x811c9dc5U

/* ---- names -------------------------------------------------------------- */

void dns_name_cut(const uint8_t *name, struct dns_cut *ret)
{
	unsigned i, at = 0;

	ret->labels = 0;
	for (; name[at]; at += name[at] + 1U)
		ret->at[ret->labels++] = (uint8_t)at;
	ret->hash[ret->labels] = HASH_ROOT;
	for (i = ret->labels; i-- > 0;)
		ret->hash[i] = dns_label_hash(name + ret->at[i], ret->hash[i + 1]);
}

/* Is @name what stands at @at of the message in the making? */
static bool stands_at(const struct dns_build *b, size_t at, const uint8_t *name)
{
	unsigned i, n;

	for (;;) {
		while (b->msg[at] > DNS_LABEL_MAX)	/* our own pointers: always backwards */
			at = dns_get16(b->msg + at) & (DNS_POINTERS_END - 1);
		n = *name;
		if (b->msg[at] != n)
			return false;
		if (!n)
			return true;
		for (i = 1; i <= n; i++)
			if (dns_lower(b->msg[at + i]) != dns_lower(name[i]))
				return false;
		at += n + 1;
		name += n + 1;
	}
}

/*
 * Probes are few and fixed: a message made to collide costs a few lookups a
 * label and is compressed worse, nothing else.
 */
static unsigned suffix_find(const struct dns_build *b, uint32_t hash, const uint8_t *name)
{
	unsigned i, s;

	for (i = 0; i < DNS_BUILD_PROBES; i++) {
		s = (hash + i) % DNS_BUILD_SLOTS;
		if (!b->seen[s].at)
			return 0;
		if (b->seen[s].hash == hash && stands_at(b, b->seen[s].at, name))
			return b->seen[s].at;
	}
	return 0;
}

static void suffix_note(struct dns_build *b, uint32_t hash, size_t at)
{
	unsigned i, s;

	if (at >= DNS_POINTERS_END)
		return;
	for (i = 0; i < DNS_BUILD_PROBES; i++) {
		s = (hash + i) % DNS_BUILD_SLOTS;
		if (b->seen[s].at)
			continue;
		b->seen[s].hash = hash;
		b->seen[s].at = (uint16_t)at;
		return;
	}
}

static int octets_put(struct dns_build *b, const uint8_t *p, size_t n)
{
	if (n > b->max - b->len)
		return -EMSGSIZE;
	memcpy(b->msg + b->len, p, n);
	b->len += n;
	return 0;
}

static int name_put(struct dns_build *b, const uint8_t *name)
{
	unsigned i, whole, to = 0;
	size_t start = b->len;
	struct dns_cut c;
	int err;

	dns_name_cut(name, &c);
	for (whole = 0; whole < c.labels; whole++) {
		to = suffix_find(b, c.hash[whole], name + c.at[whole]);
		if (to)
			break;
	}
	if (to) {
		uint8_t pointer[2] = { (uint8_t)(0xc0 | to >> 8), (uint8_t)to };

		err = octets_put(b, name, c.at[whole]);
		if (!err)
			err = octets_put(b, pointer, 2);
	} else {
		err = octets_put(b, name, (c.labels ? c.at[c.labels - 1] + name[c.at[c.labels - 1]] + 1U : 0) + 1U);
	}
	/* only what is whole behind us can be pointed to */
	for (i = 0; !err && i < whole; i++)
		suffix_note(b, c.hash[i], start + c.at[i]);
	return err;
}

/* ---- RDATA -------------------------------------------------------------- */

/*
 * RDATA by type, a letter a field: c a name that may be compressed, n a name
 * that may not, t a character-string, digits that many octets, * the rest (any
 * octets), + one or more character-strings.  A type without a row is opaque.
 */
static const struct {
	uint16_t type;
	const char *fields;
} layouts[] = {
	{ DNS_A, "4" },
	{ DNS_NS, "c" },
	{ 3, "c" },			/* MD */
	{ 4, "c" },			/* MF */
	{ DNS_CNAME, "c" },
	{ DNS_SOA, "cc44444" },
	{ 7, "c" },			/* MB */
	{ 8, "c" },			/* MG */
	{ 9, "c" },			/* MR */
	{ 11, "41*" },			/* WKS */
	{ DNS_PTR, "c" },
	{ DNS_HINFO, "tt" },
	{ 14, "cc" },			/* MINFO */
	{ DNS_MX, "2c" },
	{ DNS_TXT, "+" },
	{ 17, "nn" },			/* RP */
	{ 18, "2n" },			/* AFSDB */
	{ 21, "2n" },			/* RT */
	{ 24, "288n*" },		/* SIG */
	{ 26, "2nn" },			/* PX */
	{ DNS_AAAA, "88" },
	{ 30, "n*" },			/* NXT */
	{ DNS_SRV, "222n" },
	{ 35, "22tttn" },		/* NAPTR */
	{ 36, "2n" },			/* KX */
	{ DNS_DNAME, "n" },
	{ DNS_DS, "4*" },
	{ 44, "2*" },			/* SSHFP */
	{ DNS_RRSIG, "288n*" },
	{ DNS_NSEC, "n*" },
	{ DNS_DNSKEY, "4*" },
	{ DNS_NSEC3, "4tt*" },
	{ 51, "4t" },			/* NSEC3PARAM */
	{ 52, "3*" },			/* TLSA */
	{ 53, "3*" },			/* SMIMEA */
	{ DNS_SVCB, "2n*" },
	{ DNS_HTTPS, "2n*" },
	{ 99, "+" },			/* SPF */
	{ 107, "2n" },			/* LP */
	{ 108, "6" },			/* EUI48 */
	{ 109, "8" },			/* EUI64 */
	{ 256, "4*" },			/* URI */
	{ 257, "1t*" },			/* CAA */
};

static const char *layout_of(uint16_t type)
{
	unsigned i;

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].type == type)
			return layouts[i].fields;
	return "*";
}

/* Length of the field @f that starts at @p, names aside; @left octets are there. */
static size_t field_len(char f, const uint8_t *p, size_t left)
{
	size_t n = 0;

	if (f == '*')
		return left;
	if (f == 't')
		return left ? p[0] + 1U : 1;
	if (f != '+')
		return (size_t)(f - '0');
	do
		n += n < left ? p[n] + 1U : 1;
	while (n < left);
	return n;
}

static int rdata_put(struct dns_build *b, const uint8_t *msg, const struct dns_rr *rr)
{
	const char *f = layout_of(rr->type);
	size_t at = rr->rdata, end = rr->rdata + rr->rdata_len, n;
	uint8_t name[DNS_NAME_MAX];
	int len, err = 0;

	for (; *f && !err; f++) {
		if (*f == 'c' || *f == 'n') {
			/* the name as it stands here must end within the RDATA */
			len = dns_name_expand(msg, end, at, name, &at);
			if (len < 0)
				return -EBADMSG;
			err = *f == 'c' ? name_put(b, name) : octets_put(b, name, (unsigned)len);
			continue;
		}
		n = field_len(*f, msg + at, end - at);
		if (n > end - at)
			return -EBADMSG;
		err = octets_put(b, msg + at, n);
		at += n;
	}
	if (!err && at != end)
		err = -EBADMSG;
	return err;
}

/* ---- records ------------------------------------------------------------ */

void dns_build_begin(struct dns_build *b, const struct dns_key *key)
{
	struct dns_cut c;
	unsigned i;

	b->ttls = 0;
	b->max = DNS_MESSAGE_MAX - OPT_ROOM;
	memset(b->seen, 0, sizeof(b->seen));
	memset(b->msg, 0, DNS_HEADER);
	b->msg[5] = 1;
	memcpy(b->msg + DNS_HEADER, key->name, key->name_len);
	b->len = DNS_HEADER + key->name_len;
	dns_put16(b->msg + b->len, key->qtype);
	dns_put16(b->msg + b->len + 2, DNS_IN);
	b->len += 4;
	b->body = (uint16_t)b->len;
	dns_name_cut(key->name, &c);
	for (i = 0; i < c.labels; i++)
		suffix_note(b, c.hash[i], DNS_HEADER + c.at[i]);
}

int dns_build_record(struct dns_build *b, const uint8_t *msg, size_t size, const struct dns_rr *rr, uint32_t ttl)
{
	uint8_t fixed[DNS_RR_FIXED] = { 0 };
	size_t at;
	int err;

	if (b->ttls == DNS_BUILD_RECORDS)
		return -EMSGSIZE;
	if (size < rr->rdata + rr->rdata_len)
		return -EBADMSG;
	err = name_put(b, rr->owner);
	at = b->len;
	dns_put16(fixed, rr->type);
	dns_put16(fixed + 2, rr->class);
	dns_put32(fixed + 4, ttl);
	if (!err)
		err = octets_put(b, fixed, sizeof(fixed));
	if (!err)
		err = rdata_put(b, msg, rr);
	if (!err && b->len - at - sizeof(fixed) > UINT16_MAX)
		err = -EMSGSIZE;
	if (err)
		return err;
	dns_put16(b->msg + at + 8, (uint16_t)(b->len - at - sizeof(fixed)));
	b->ttl_at[b->ttls++] = (uint16_t)(at + 4 - b->body);
	return 0;
}
