/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make.h - test messages out of text, made and read back by ldns, so that what
 * we write is judged by somebody else's reader.
 */
#ifndef UNIT_DNS_MAKE_H
#define UNIT_DNS_MAKE_H

#include "dns/answer.h"
#include "dns/reply.h"

#define MAKE_SIZE 65535

struct dns_key make_key(const char *name, uint16_t qtype, uint8_t bits);

/* A query as a client sends it; returns its length. */
int make_query(uint8_t *buf, const char *name, uint16_t qtype, bool edns, bool dnssec_ok);

/* The same, parsed; the view borrows @buf. */
struct dns_query make_query_view(uint8_t *buf, const char *name, uint16_t qtype, bool edns, bool dnssec_ok);

/* A response; records are lines in zone-file form, names in it compressed.  Returns its length. */
size_t make_response(uint8_t *buf, const char *name, uint16_t qtype, uint16_t rcode, const char *answer,
		     const char *authority);

/* The same records as zone-file lines in one form, for comparing; the caller frees. */
char *make_lines(const char *text);

/* One section (DNS_ANSWER, DNS_AUTHORITY) of a message in that form; NULL when ldns cannot read it. */
char *make_section(const uint8_t *msg, size_t size, int section);

#endif
