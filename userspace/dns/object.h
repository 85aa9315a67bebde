/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object.h - the object struct dns_answer, for the files of this room.
 */
#ifndef DNS_OBJECT_H
#define DNS_OBJECT_H

#include "dns/answer.h"

/**
 * Take memory for an answer and copy in key, body and TTL offsets.
 *
 * Counts, negative, chain and ttl are zero: the caller fills them in.
 *
 * Returns NULL when memory is out.
 */
struct dns_answer *dns_answer_alloc(const struct dns_key *key, uint16_t rcode, const uint8_t *body, size_t len,
				    const uint16_t *ttl_at, uint16_t ttls, uint64_t now_ns);

/*
 * The answer as a message, header and question before its body: so that the body's pointers mean something.
 *
 * @msg  room for dns_answer_message_size() octets
 */
size_t dns_answer_message_size(const struct dns_answer *a);
void dns_answer_message(const struct dns_answer *a, uint8_t *msg);

/* Whether a record of that type is for those alone who set DO or asked for the type, for dns_answer.dnssec. */
static inline bool dns_type_is_dnssec(uint16_t type, uint16_t qtype)
{
	return (type == DNS_RRSIG || type == DNS_NSEC || type == DNS_NSEC3) && type != qtype;
}

/* Whether a record of the answer section of @msg leads to another name, for dns_answer.chain. */
bool dns_record_leads(const uint8_t *msg, uint16_t type, size_t rdata, uint16_t len);

#endif
