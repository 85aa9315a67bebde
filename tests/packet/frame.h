/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame.h - make a query's frame from a description; tell a reply's in words.
 */
#ifndef TESTS_PACKET_FRAME_H
#define TESTS_PACKET_FRAME_H

#include <stddef.h>
#include "maps/types.h"

#define FRAME_MAX 4096
#define NO_FLAGS  (-1)			/* for ask.flags, where 0 means RD alone */
#define ZERO      (-1)			/* for fields whose 0 means a default */

/* A query; every field may be left out but the name. */
struct ask {
	const char *name;		/* text, \DDD for odd octets; in these very letters */
	int qtype;			/* A */
	int qclass;			/* IN */
	int flags;			/* RD */
	int edns;			/* has an OPT */
	int size;			/* its size: 1232 */
	int dnssec_ok;
	int version;
	const char *options;
	int options_len;
	const char *trail;		/* octets behind the message, inside the datagram */
	int trail_len;
	int vlans;			/* tags in the frame */
	int outer_ad;			/* the first of them is 802.1ad */
	int ipv6;
	const char *mac;		/* the source's, 02:00:00:00:00:01 */
	const char *from;		/* addresses */
	const char *to;
	int sport;			/* 40000 */
	int dport;			/* 53 */
	int frame_len;			/* pad the frame to this length */
};

struct frame {
	__u8 b[FRAME_MAX];
	size_t len;
	size_t l3;
	size_t udp;
	size_t dns;
	size_t question;		/* end of the question */
	size_t end;			/* of the datagram; padding follows */
	int ipv6;
};

/* Build the frame of a query. */
void frame_ask(struct frame *f, const struct ask *a);

/* After a change behind the UDP header, with f->end moved: lengths and checksums once more. */
void frame_finish(struct frame *f);

/* Put octets in front of offset at, moving all that follows. */
void frame_insert(struct frame *f, size_t at, const void *octets, size_t n);

/*
 * Describe a reply in a line, "NOERROR ra rd; an A 10 0.0.0.0; opt 1232 ede 15",
 * having checked everything that must hold for each: addresses, ports and MACs
 * swapped, tags kept, lengths, both checksums, id and the question's very octets.
 * What does not hold is named in the line, in capitals.
 */
void frame_tell(const struct frame *query, const __u8 *reply, size_t len, char *ret, size_t room);

#endif
