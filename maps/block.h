/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * block.h - the records that a blocked answer is made of, byte for byte.
 *
 * Used by bpf/reply.h and by the daemon, so that both say the same: an A or
 * AAAA record in the modes that have one, else a SOA (RFC 2308) whose owner is
 * the question, with root names and the block TTL as its TTL and MINIMUM;
 * REFUSED has neither.  With EDNS, Extended DNS Error 15 (RFC 8914) rides in
 * the OPT, with the text of ede.h where the group wants it.  With the longest
 * name and the longest text that is no more than any client takes; but a frame
 * that cannot grow so far goes without the text.  A type that the group does not
 * get is answered as a name without data, without an error.
 */
#ifndef MAPS_BLOCK_H
#define MAPS_BLOCK_H

#include "maps/ede.h"

#define MR_OWNER_QUESTION 0xc00c	/* compression pointer to offset 12 */
#define MR_EDNS_SIZE      1232		/* what our OPT announces */
#define MR_SOA_SERIAL     1
#define MR_SOA_REFRESH    3600
#define MR_SOA_RETRY      600
#define MR_SOA_EXPIRE     86400

struct mr_rr_head {
	__be16 owner;
	__be16 type;
	__be16 class;
	__be32 ttl;
	__be16 rdlen;
} __attribute__((packed));

struct mr_rr_a {
	struct mr_rr_head head;
	__be32 addr;
} __attribute__((packed));

struct mr_rr_aaaa {
	struct mr_rr_head head;
	__be32 addr[4];
} __attribute__((packed));

struct mr_rr_soa {
	struct mr_rr_head head;
	__u8 mname;
	__u8 rname;
	__be32 serial;
	__be32 refresh;
	__be32 retry;
	__be32 expire;
	__be32 minimum;
} __attribute__((packed));

/* The OPT of every answer to a query that had one (RFC 6891), and the EDE option behind it. */
struct mr_opt {
	__u8 root;
	__be16 type;
	__be16 size;
	__u8 rcode_high;
	__u8 version;
	__be16 flags;			/* DO, as in the query */
	__be16 rdlen;
} __attribute__((packed));

struct mr_opt_ede {
	__be16 code;
	__be16 len;
	__be16 info;
} __attribute__((packed));

_Static_assert(12 + MR_NAME_MAX + 4 + sizeof(struct mr_rr_soa) + 8 + 9 + MR_EDE_TEXT_MAX <= 512,
	       "a blocked answer with a text is one for all clients");

#endif
