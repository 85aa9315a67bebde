/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leads.h - what an answer leads to: the one walk over it that policy and the
 * kernel's table of answers rest on (docs/adr/0011).
 */
#ifndef DNS_LEADS_H
#define DNS_LEADS_H

#include "dns/answer.h"

/* Another name, or an address. */
struct dns_lead {
	const uint8_t *name;		/* lower case; NULL: an address */
	uint16_t name_len;
	uint8_t ip[16];			/* IPv4 mapped; of A, AAAA, and the hints of SVCB and HTTPS (RFC 9460 section 7.3) */
};

/**
 * Call @each for every lead of an answer, in the order of its records, until it returns true.
 *
 * Only records on the chain count: in the answer section, of the question's
 * name or of what a CNAME before has made of it.  Leads are the target of a
 * CNAME; the TargetName of SVCB and HTTPS, unless it is "." or the owner (RFC
 * 9460 section 2.5); and addresses.  What is no data of its type leads nowhere.
 *
 * Returns 1 when @each did, 0 when it did not, -EBADMSG for a body that does
 * not parse, -ENOMEM for one over 2,000 octets when memory is out.
 */
int dns_answer_leads(const struct dns_answer *a, bool (*each)(const struct dns_lead *lead, void *arg), void *arg);

#endif
