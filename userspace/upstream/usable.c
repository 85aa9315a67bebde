/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usable.c - responses that say "no error" and are no answers.
 *
 * What they say is for the log and for millctl; the next server is asked.
 */
#include "dns/msg.h"
#include "upstream/transport.h"

/* A referral (RFC 2308 section 2.2: name servers, but no SOA) of a server that does not resolve for others. */
static bool is_referral(const struct dns_response *r, bool ns, bool soa)
{
	return DNS_RCODE(r->flags) == DNS_NOERROR && !r->count[DNS_ANSWER] && ns && !soa &&
	       !(r->flags & (DNS_AA | DNS_RA));
}

const char *upstream_unusable(const uint8_t *msg, size_t size)
{
	bool ns = false, soa = false;
	struct dns_response r;
	struct dns_rr rr;
	int more;

	if (dns_response_parse(msg, size, &r))
		return "an answer that cannot be read";
	while ((more = dns_rr_next(&r, &rr)) > 0) {
		ns |= rr.section == DNS_AUTHORITY && rr.type == DNS_NS;
		soa |= rr.section == DNS_AUTHORITY && rr.type == DNS_SOA;
	}
	if (more < 0)
		return "an answer whose records cannot be read";
	return is_referral(&r, ns, soa) ? "a referral: it does not resolve for us" : NULL;
}
