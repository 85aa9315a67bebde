/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local.h - answers of our own making.
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

#define DNS_SOA_MAX (255 + 16 + 20)

/* Write the SOA of a zone of ours (RFC 6303 section 3); returns its length. */
uint16_t dns_zone_soa(const uint8_t *zone, uint8_t ret[DNS_SOA_MAX]);

/**
 * Make an authoritative answer out of a zone of ours.
 *
 * @zone      its name, in lower case, the question's or above it
 * @record    of the question's name; NULL: there is none, and the zone's SOA says so
 * @ttl       of the record
 * @negative  of the SOA when it stands for nothing
 *
 * Returns as dns_answer_local().
 */
int dns_answer_of_zone(const struct dns_key *key, const uint8_t *zone, uint16_t rcode, const struct dns_record *record,
		       uint32_t ttl, uint32_t negative, uint64_t now_ns, struct dns_answer **ret);

/* Make the answer to a question of class CH: a TXT record with @text, of at most 255 octets.  Returns as dns_answer_local(). */
int dns_answer_chaos(const struct dns_key *key, const char *text, uint64_t now_ns, struct dns_answer **ret);

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

#endif
