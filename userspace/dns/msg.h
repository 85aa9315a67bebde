/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * msg.h - messages as they came: read-only views, nothing copied.
 *
 * All numbers are host order.  A view borrows the octets it was parsed from.
 */
#ifndef DNS_MSG_H
#define DNS_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNS_HEADER 12
#define DNS_PORT   53

/* Header flags, as in the second 16-bit word (RFC 1035 section 4.1.1, RFC 2535). */
enum dns_flag {
	DNS_QR = 0x8000,
	DNS_AA = 0x0400,
	DNS_TC = 0x0200,
	DNS_RD = 0x0100,
	DNS_RA = 0x0080,
	DNS_Z  = 0x0040,
	DNS_AD = 0x0020,
	DNS_CD = 0x0010,
};
#define DNS_OPCODE(flags) (((flags) >> 11) & 15)
#define DNS_RCODE(flags)  ((flags) & 15)

enum dns_rcode {
	DNS_NOERROR = 0, DNS_FORMERR = 1, DNS_SERVFAIL = 2, DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4, DNS_REFUSED = 5, DNS_BADVERS = 16,
};

enum dns_type {
	DNS_A = 1, DNS_NS = 2, DNS_CNAME = 5, DNS_SOA = 6, DNS_PTR = 12, DNS_HINFO = 13, DNS_MX = 15, DNS_TXT = 16,
	DNS_AAAA = 28, DNS_SRV = 33, DNS_DNAME = 39, DNS_OPT = 41, DNS_DS = 43, DNS_RRSIG = 46, DNS_NSEC = 47,
	DNS_DNSKEY = 48, DNS_NSEC3 = 50, DNS_SVCB = 64, DNS_HTTPS = 65, DNS_TKEY = 249, DNS_TSIG = 250,
	DNS_IXFR = 251, DNS_AXFR = 252, DNS_MAILB = 253, DNS_MAILA = 254, DNS_ANY = 255,
};
#define DNS_IN 1
#define DNS_CH 3

/* Extended DNS Errors (RFC 8914). */
enum dns_ede {
	DNS_EDE_NONE = -1, DNS_EDE_OTHER = 0, DNS_EDE_STALE = 3, DNS_EDE_CACHED_ERROR = 13, DNS_EDE_NOT_READY = 14,
	DNS_EDE_BLOCKED = 15, DNS_EDE_PROHIBITED = 18, DNS_EDE_NOT_AUTHORITATIVE = 20, DNS_EDE_NOT_SUPPORTED = 21,
	DNS_EDE_NO_REACHABLE = 22, DNS_EDE_NETWORK = 23,
	/* with a text, whose number stands above the code */
	DNS_EDE_REBINDING = 1 << 8 | DNS_EDE_BLOCKED,
};
#define DNS_EDE_CODE(ede) ((ede) & 0xff)

/* The EDNS part of a query (RFC 6891). */
struct dns_edns {
	bool present;
	bool dnssec_ok;
	uint8_t version;
	uint16_t size;			/* as the sender said, raised to 512 */
	const uint8_t *options;
	uint16_t options_len;
};

/* A query as far as it could be read. */
struct dns_query {
	uint16_t id;
	uint16_t flags;
	const uint8_t *qname;		/* as sent, letter case and all; NULL when unreadable */
	uint16_t qname_len;
	uint16_t qtype;
	uint16_t qclass;
	uint16_t question_len;		/* name, type and class */
	struct dns_edns edns;
};

/**
 * Read a query.
 *
 * Returns the rcode that it deserves: DNS_NOERROR when it can be worked on,
 * DNS_FORMERR, DNS_NOTIMP (another opcode), DNS_BADVERS (EDNS version above
 * 0); or -EBADMSG when it must not be answered at all: shorter than a header,
 * or QR set.  @ret is filled as far as reading went, so that an error answer
 * can be made from it.  Strict: one question, no answer or authority records,
 * at most one OPT and that at the root, nothing behind the message.  A TSIG
 * or SIG(0) record makes FORMERR: we hold no keys.
 */
int dns_query_parse(const uint8_t *msg, size_t size, struct dns_query *ret);

enum dns_section { DNS_ANSWER, DNS_AUTHORITY, DNS_ADDITIONAL };

/* A resource record where it stands in a message. */
struct dns_rr {
	enum dns_section section;
	uint8_t owner[256];		/* whole, letter case as sent */
	uint16_t owner_len;
	uint16_t type;
	uint16_t class;
	uint32_t ttl;			/* above 2^31 - 1: 0 (RFC 2181 section 8); of an OPT as it stands */
	size_t rdata;			/* offset in the message */
	uint16_t rdata_len;
};

/* A response, header and question read; walk its records with dns_rr_next(). */
struct dns_response {
	const uint8_t *msg;
	size_t size;
	uint16_t id;
	uint16_t flags;
	uint16_t count[3];		/* per section */
	uint8_t qname[256];
	uint16_t qname_len;
	uint16_t qtype;
	uint16_t qclass;
	bool has_question;
	size_t at;			/* the walk */
	unsigned done[3];
};

/**
 * Read header and question of a response.
 *
 * Returns 0, or -EBADMSG: short, QR clear, more than one question, a
 * malformed name.  One without a question is accepted (has_question false).
 */
int dns_response_parse(const uint8_t *msg, size_t size, struct dns_response *ret);

/**
 * Read the next record.
 *
 * Returns 1 with @ret filled, 0 behind the last, or -EBADMSG.
 */
int dns_rr_next(struct dns_response *r, struct dns_rr *ret);

#endif
