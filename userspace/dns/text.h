/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.h - messages and types for people; the part of dns/ that knows ldns.
 */
#ifndef DNS_TEXT_H
#define DNS_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* "AAAA", "TYPE65280"; returns @buf. */
const char *dns_type_text(uint16_t type, char *buf, size_t size);

/* Parse "AAAA" or "TYPE28", letter case apart; -EINVAL when unknown. */
int dns_type_from_text(const char *text, uint16_t *ret);

/* "NXDOMAIN", "RCODE12"; returns @buf. */
const char *dns_rcode_text(uint16_t rcode, char *buf, size_t size);

/**
 * Write a whole message as dig would, section by section.
 *
 * Returns a string of the heap, or NULL when the message is malformed or memory is out; the caller frees it.
 */
char *dns_message_text(const uint8_t *msg, size_t size);

#endif
