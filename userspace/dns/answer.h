/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * answer.h - one complete answer, in the very form that the kernel's table
 * holds it: the answer and authority sections as they go on the wire behind
 * the question, names compressed against the question at offset 12, and the
 * offsets of all TTLs.
 *
 * Immutable once made, shared by reference between threads: the cache, the
 * queries that wait for it and the publisher.  Without ID, question, OPT:
 * those are the query's (dns/reply.h adds them).
 */
#ifndef DNS_ANSWER_H
#define DNS_ANSWER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "dns/msg.h"

enum dns_key_bit { DNS_KEY_DO = 1, DNS_KEY_CD = 2 };	/* equal to enum mr_answer_key */

/* What an answer is an answer to. */
struct dns_key {
	uint8_t name[256];		/* lower case, zero behind */
	uint16_t name_len;
	uint16_t qtype;			/* class IN */
	uint8_t bits;			/* enum dns_key_bit */
};

bool dns_key_same(const struct dns_key *a, const struct dns_key *b);

/*
 * One block of memory: this head, the name, the TTLs' offsets, the body.  So
 * an A record of a name of usual length takes 96 octets, two lines of the
 * CPU's caches.
 */
struct dns_answer {
	_Atomic unsigned refs;
	_Atomic unsigned asked;		/* how often it was given; statistics, not part of the answer */
	uint64_t born_ns;		/* coarse clock */
	uint32_t ttl;			/* smallest of all TTLs, clamped: the life in seconds; 0: do not keep */
	uint32_t slot;			/* of the cache that holds it, which alone uses this and wanted */
	bool wanted;
	bool aa : 1;
	bool ad : 1;
	bool negative : 1;		/* NXDOMAIN or NODATA */
	bool chain : 1;			/* it leads to other names: by a CNAME, DNAME, or the target of an SVCB or HTTPS */
	bool dnssec : 1;		/* it has signatures or proofs that were not asked for by their type */
	bool local : 1;			/* from a local zone: TTLs do not age */
	uint16_t rcode;
	int16_t ede;			/* enum dns_ede or DNS_EDE_NONE */
	uint16_t answers;
	uint16_t authorities;
	uint16_t ttls;			/* of dns_answer_ttls() */
	uint16_t body_len;
	const uint8_t *body;
	struct {			/* as struct dns_key */
		uint16_t name_len;
		uint16_t qtype;
		uint8_t bits;
		uint8_t name[];
	} key;
};

/* Where in the body TTLs stand: offsets, rising, directly before it. */
static inline const uint16_t *dns_answer_ttls(const struct dns_answer *a)
{
	return (const uint16_t *)(const void *)a->body - a->ttls;
}

/* What @a is an answer to, as a key of its own. */
void dns_answer_key(const struct dns_answer *a, struct dns_key *ret);

/* How TTLs are bent when an answer is made. */
struct dns_ttl_limits {
	uint32_t min;			/* positive answers only */
	uint32_t max;
	uint32_t negative_max;
	uint32_t failure;		/* life of SERVFAIL */
};

/**
 * Make an answer out of an upstream's response to @key.
 *
 * Names are compressed anew against the question; records of another class,
 * OPT and the additional section are left out; the authority section is kept
 * for negative answers (SOA) and for proofs (NSEC, NSEC3), all with their
 * signatures: dns_answer_form() is what clients get of them; NS sets are not
 * (minimal answers).  Records that are not on the CNAME chain from the question are left out (RFC 2181 section 5.4.1).
 * Every TTL is bent to the limits; a negative answer lives min(SOA TTL, SOA
 * MINIMUM, negative_max) and without SOA gets ttl 0 (RFC 2308 section 5).
 * A response with another rcode makes an answer without records, which lives
 * limits.failure when it is SERVFAIL and 0 otherwise.  aa, ad and ede are left
 * unset: whether an upstream's AD is to be believed, the caller knows, and he
 * may set it before he shares the answer.
 *
 * Returns 0 with one reference for the caller in @ret; -EBADMSG when the
 * response is malformed, truncated (TC), a loop of CNAMEs or longer chain than
 * 16, or answers another question (one without a question is taken for
 * FORMERR, SERVFAIL, NOTIMP and REFUSED); -EMSGSIZE when it is over 65,535
 * octets rebuilt, an OPT included; -ENOMEM.
 */
int dns_answer_from_response(const uint8_t *msg, size_t size, const struct dns_key *key,
			     const struct dns_ttl_limits *limits, uint64_t now_ns, struct dns_answer **ret);

/**
 * Make the form of @a for clients who set DO, or for those who did not.
 *
 * With DNS_KEY_DO in @bits it is a copy, without it signatures and proofs are
 * taken out unless they were asked for by their type (RFC 4035 section 3.2.1).
 * The key of the form has @bits, the rest is as in @a.
 *
 * Returns 0 with one reference in @ret; -ENOMEM; -EBADMSG for a body that does not parse.
 */
int dns_answer_form(const struct dns_answer *a, uint8_t bits, struct dns_answer **ret);

/**
 * Make an answer without records: a failure or a refusal.
 *
 * Returns NULL when memory is out.
 */
struct dns_answer *dns_answer_empty(const struct dns_key *key, uint16_t rcode, int ede, uint32_t ttl, uint64_t now_ns);

/**
 * Make an answer with the body of @len octets given; TTL offsets are found.
 *
 * Returns -EBADMSG when the body does not parse behind that question.
 */
int dns_answer_from_body(const struct dns_key *key, uint16_t rcode, const uint8_t *body, uint16_t len,
			 uint16_t answers, uint16_t authorities, uint64_t now_ns, struct dns_answer **ret);

struct dns_answer *dns_answer_ref(struct dns_answer *a);
void dns_answer_unref(struct dns_answer *a);	/* takes NULL */

/* Seconds since it was made, rounded down. */
uint32_t dns_answer_age(const struct dns_answer *a, uint64_t now_ns);

/* True while it may be given. */
bool dns_answer_fresh(const struct dns_answer *a, uint64_t now_ns);

/* Bytes of memory it takes, for bounds. */
size_t dns_answer_size(const struct dns_answer *a);

#endif
