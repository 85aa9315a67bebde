/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reply.h - whole responses: header, the client's own question, body, OPT.
 *
 * The reference for what the kernel sends: the same octets but for the ID.
 */
#ifndef DNS_REPLY_H
#define DNS_REPLY_H

#include "dns/answer.h"

/* How a client can be answered. */
struct dns_reply_limits {
	bool recursion;			/* RA */
	bool stream;			/* TCP: up to 65,535, no truncation */
	uint16_t udp_max;		/* our own limit, 1232 */
};

/**
 * Write the response that gives @a to the query @q.
 *
 * ID, opcode, RD, CD and the question are the query's, letter case untouched;
 * AA from the answer; AD when the answer is validated and the query had DO or
 * AD (RFC 6840 section 5.7); TTLs less the answer's age (not for local ones),
 * never below 1 on a live answer; the RRset begins with another record each
 * time that the answer has been given (dns_answer_rotate()); exactly one OPT when the query had one
 * (version 0, size 1232, DO copied, EDE when the answer has one), none
 * otherwise.  Over a datagram that is longer than min(client's size, udp_max),
 * 512 without EDNS, the answer is cut to header, question and OPT with TC.
 *
 * @buf  room of @size octets
 *
 * Returns the length, or -EMSGSIZE when it does not fit @buf.
 */
int dns_reply_answer(const struct dns_query *q, const struct dns_answer *a, const struct dns_reply_limits *l,
		     uint64_t now_ns, uint8_t *buf, size_t size);

/**
 * Write a response without records: @rcode (BADVERS and the like take the OPT's
 * upper bits) with @ede (or DNS_EDE_NONE) for clients with EDNS.
 *
 * Works on a query that was only partly readable: without a question QDCOUNT is 0.
 */
int dns_reply_error(const struct dns_query *q, uint16_t rcode, int ede, const struct dns_reply_limits *l,
		    uint8_t *buf, size_t size);

/* Write a response that says no more than "ask over TCP" (TC). */
int dns_reply_stump(const struct dns_query *q, const struct dns_reply_limits *l, uint8_t *buf, size_t size);

/* What a blocked name is answered with. */
struct dns_block {
	uint8_t mode;			/* enum mr_block_mode */
	uint8_t ede;			/* enum mr_block_ede */
	uint32_t ttl;
	uint8_t ipv4[4];		/* MR_BLOCK_CUSTOM */
	uint8_t ipv6[16];
};

struct mr_block;
struct mr_ede;

/* The settings of a group as they stand in the kernel's configuration, where any word may change at any time. */
void dns_block_take(const struct mr_block *from, struct dns_block *ret);

/* What a type is answered with that a group does not get: a name without data, without an error. */
void dns_block_withhold(const struct dns_block *of, struct dns_block *ret);

/**
 * Write the response to a blocked question, octet for octet the kernel's (maps/block.h).
 *
 * @text  rendered name of the list that blocks (maps/ede.h), for MR_BLOCK_EDE_TEXT; NULL: none is known
 */
int dns_reply_blocked(const struct dns_query *q, const struct dns_block *b, const struct mr_ede *text,
		      const struct dns_reply_limits *l, uint8_t *buf, size_t size);

/**
 * Write @a as dns_reply_answer() does, as what a rule says in the place of the
 * true answer: with the extended error of a blocked one (@b, @text as above),
 * unless it has its own.  A text for which there is no room is left out.
 */
int dns_reply_instead(const struct dns_query *q, const struct dns_answer *a, const struct dns_block *b,
		      const struct mr_ede *text, const struct dns_reply_limits *l, uint64_t now_ns, uint8_t *buf,
		      size_t size);

/**
 * Write a query to an upstream: our ID and flags, the name with the letters of
 * @name, OPT 1232 (DO from key bits) when @edns.
 *
 * Returns the length, or -EMSGSIZE when it does not fit @buf.
 */
int dns_query_write(uint16_t id, const uint8_t *name, uint16_t name_len, uint16_t qtype, uint8_t key_bits, bool edns,
		    uint8_t *buf, size_t size);

#endif
