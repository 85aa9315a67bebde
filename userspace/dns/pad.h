/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pad.h - queries whose length does not tell what they ask for.
 */
#ifndef DNS_PAD_H
#define DNS_PAD_H

#include <stddef.h>
#include <stdint.h>

#define DNS_PAD_BLOCK 128

/**
 * Make the length of a query a multiple of DNS_PAD_BLOCK octets (RFC 8467
 * section 4.1) by the option Padding (RFC 7830), behind those that its OPT has.
 *
 * @size  room in @msg
 *
 * Returns the new length; the old one, and the query as it was, when its OPT
 * is not alone behind the question, or there is no room.
 */
size_t dns_query_pad(uint8_t *msg, size_t len, size_t size);

/**
 * Take @seconds off the TTL of every record, as after waiting somewhere on the
 * way (RFC 8484 section 5.1); none falls below 0.
 *
 * Returns 0, or -EBADMSG when a record cannot be read: those before it are changed.
 */
int dns_age(uint8_t *msg, size_t size, uint32_t seconds);

#endif
