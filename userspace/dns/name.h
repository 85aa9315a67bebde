/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * name.h - domain names in wire form (RFC 1035 section 3.1).
 *
 * A name is its octets, root byte included, at most 255 long, no compression;
 * a length is a wire length.  Text form is RFC 1035 section 5.1: \DDD and \X
 * escapes, with or without the final dot.
 */
#ifndef DNS_NAME_H
#define DNS_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNS_NAME_MAX      255
#define DNS_LABEL_MAX     63
#define DNS_NAME_TEXT_MAX 1024		/* every octet escaped, dots, the end */

/**
 * Read an uncompressed name that starts at @p.
 *
 * Returns its length, or -EBADMSG when it runs past @size octets, is longer
 * than 255, or holds a compression pointer or a reserved label type.
 */
int dns_name_len(const uint8_t *p, size_t size);

/**
 * Read a possibly compressed name at @at of message @msg and write it whole.
 *
 * @ret   room for DNS_NAME_MAX octets
 * @next  offset just behind the name as it stands at @at; may be NULL
 *
 * Returns the length of the whole name, or -EBADMSG when it is malformed;
 * pointers must point backwards (RFC 1035 section 4.1.4), so there is no loop.
 */
int dns_name_expand(const uint8_t *msg, size_t size, size_t at, uint8_t *ret, size_t *next);

/* Copy with letters lower-cased; @to may be @from. */
void dns_name_lower(uint8_t *to, const uint8_t *from, size_t len);

/* Same name, letter case apart (RFC 4343). */
bool dns_name_equal(const uint8_t *a, const uint8_t *b);

/* True when @name is @parent or below it. */
bool dns_name_is_in(const uint8_t *name, const uint8_t *parent);

/* Number of labels, root not counted. */
unsigned dns_name_labels(const uint8_t *name);

/**
 * Parse text; "" is no name, "." is the root.
 *
 * Returns the wire length, or -EINVAL: empty label, label over 63 octets,
 * name over 255, bad escape.  Letters keep their case.
 */
int dns_name_from_text(const char *text, size_t len, uint8_t *ret);

/* Write text without the final dot ("." for the root); dots and unprintable octets in labels escaped.  Returns @buf. */
const char *dns_name_text(const uint8_t *name, char *buf, size_t size);

#endif
