/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdata.h - record data from presentation text, for types that are rare; knows ldns.
 */
#ifndef DNS_RDATA_H
#define DNS_RDATA_H

#include <stddef.h>
#include <stdint.h>

/**
 * Write the data of a record in wire form (names uncompressed, in their case).
 *
 * @text  as behind the type in a zone file, names absolute (RFC 1035 section 5.1, RFC 3597)
 *
 * Returns 0; -EINVAL when it is no data of that type or longer than @size;
 * -ENOMEM.  Slow: for single lines, not for millions.
 */
int dns_rdata_from_text(uint16_t type, const char *text, size_t len, uint8_t *ret, size_t size, uint16_t *ret_len);

#endif
