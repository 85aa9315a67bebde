/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object.h - making the object struct dns_answer, for the files of this room.
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

#endif
