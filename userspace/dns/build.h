/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build.h - writing records behind a question, names compressed.
 *
 * A builder holds a whole message in the making, so that offsets are those of
 * the wire: header (left zero), question, body.  It compresses owners and the
 * names in RDATA of RFC 1035's types, the only ones that may be (RFC 3597
 * section 4); names in other RDATA come out whole, however they came in.  An
 * owner equal to the question becomes a pointer to offset 12, where each
 * client finds its own letter case.
 */
#ifndef DNS_BUILD_H
#define DNS_BUILD_H

#include "dns/answer.h"

#define DNS_LABELS_MAX 127

/* A name cut up: where its labels start, and a hash (letter case apart) of the suffix from each on. */
struct dns_cut {
	unsigned labels;
	uint8_t at[DNS_LABELS_MAX];
	uint32_t hash[DNS_LABELS_MAX + 1];	/* the last one is the root's */
};

void dns_name_cut(const uint8_t *name, struct dns_cut *ret);

#define DNS_BUILD_SLOTS 512
#define DNS_BUILD_PROBES 8
#define DNS_BUILD_RECORDS 5958		/* of eleven octets at least: more do not fit a message */

struct dns_build {
	size_t len;
	size_t max;			/* of len: what is left when an OPT with an EDE is still to come */
	uint16_t body;			/* offset of the first record */
	uint16_t ttls;
	uint16_t ttl_at[DNS_BUILD_RECORDS];	/* from the start of the body */
	struct {
		uint32_t hash;
		uint16_t at;		/* 0: free */
	} seen[DNS_BUILD_SLOTS];	/* suffixes that can be pointed to */
	uint8_t msg[65535];
};

/* Begin with the question of @key. */
void dns_build_begin(struct dns_build *b, const struct dns_key *key);

/**
 * Append the record @rr of the message @msg, with @ttl in place of its own.
 *
 * Returns 0; -EBADMSG when its RDATA is not what its type says; -EMSGSIZE.
 */
int dns_build_record(struct dns_build *b, const uint8_t *msg, size_t size, const struct dns_rr *rr, uint32_t ttl);

#endif
