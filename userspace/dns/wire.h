/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire.h - numbers and octets of the wire, for the files of this room.
 *
 * Network order in, host order out, at any alignment.
 */
#ifndef DNS_WIRE_H
#define DNS_WIRE_H

#include <stdint.h>

#define DNS_RR_FIXED 10			/* type, class, TTL and RDLENGTH behind an owner */
#define DNS_MESSAGE_MAX 65535
#define DNS_POINTERS_END 0x4000		/* a compression pointer reaches offsets below this */

static inline uint16_t dns_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t dns_get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void dns_put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void dns_put32(uint8_t *p, uint32_t v)
{
	dns_put16(p, (uint16_t)(v >> 16));
	dns_put16(p + 2, (uint16_t)v);
}

static inline uint8_t dns_lower(uint8_t c)
{
	return (uint8_t)(c + ((uint8_t)(c - 'A') < 26) * 32);
}

/* Hash one label, length byte and all, onto the hash of what stands right of it; letter case apart. */
static inline uint32_t dns_label_hash(const uint8_t *label, uint32_t right)
{
	unsigned i, n = label[0] + 1U;

	for (i = 0; i < n; i++)
		right = (right ^ dns_lower(label[i])) * 0x01000193;
	return right;
}

#endif
