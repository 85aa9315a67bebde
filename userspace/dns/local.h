/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local.h - answers of our own making, and a look into answers of others.
 *
 * Rewrites and local names become answers here, in the form of answer.h; an
 * alias puts a CNAME of ours before what its target was answered with.
 */
#ifndef DNS_LOCAL_H
#define DNS_LOCAL_H

#include "dns/answer.h"

/* A record of the question's name. */
struct dns_record {
	uint16_t type;
	uint16_t rdata_len;
	const uint8_t *rdata;		/* names in it uncompressed */
};

/**
 * Make an answer out of records of the question's own name.
 *
 * Without records, NOERROR and NXDOMAIN get the SOA that blocked answers have
 * (maps/block.h), with @ttl as its TTL and MINIMUM (RFC 2308).
 *
 * Returns 0 with one reference in @ret; -EBADMSG when RDATA is not what its
 * type says; -EMSGSIZE when it is more than a message takes; -ENOMEM.
 */
int dns_answer_local(const struct dns_key *key, uint16_t rcode, const struct dns_record *record, unsigned count,
		     uint32_t ttl, uint64_t now_ns, struct dns_answer **ret);

/**
 * Make the answer to @key that says "an alias of @target", followed by what
 * @of, an answer to the target, says.
 *
 * A failure of the target stays that failure.  The CNAME lives @ttl seconds
 * from @now_ns on, the rest as in @of.  @of NULL: the alias alone.
 *
 * Returns as dns_answer_local().
 */
int dns_answer_alias(const struct dns_key *key, const uint8_t *target, uint16_t target_len, uint32_t ttl,
		     const struct dns_answer *of, uint64_t now_ns, struct dns_answer **ret);

/* What an answer leads to: the target of a CNAME, or an address. */
struct dns_lead {
	const uint8_t *name;		/* lower case; NULL: an address */
	uint16_t name_len;
	uint8_t ip[16];			/* IPv4 mapped; of A, AAAA, and the hints of SVCB and HTTPS (RFC 9460 section 7.3) */
};

/**
 * Call @each for every lead of the answer section, in its order, until it returns true.
 *
 * Returns 1 when it did, 0 when it did not, -EBADMSG for a body that does not parse, -ENOMEM.
 */
int dns_answer_leads(const struct dns_answer *a, bool (*each)(const struct dns_lead *lead, void *arg), void *arg);

#endif
