/* SPDX-License-Identifier: BSD-2-Clause */
/* pad.c - queries whose length does not tell what they ask for, and answers that have waited on the way. */
#include <string.h>
#include "dns/msg.h"
#include "dns/pad.h"
#include "dns/wire.h"

#define OPTION_PADDING 12
#define OPT_FIXED (1 + DNS_RR_FIXED)

/* Where the only record begins behind the only question; 0: it is not like that. */
static size_t find_opt(const uint8_t *msg, size_t len)
{
	static const uint8_t counts[8] = { 0, 1, 0, 0, 0, 0, 0, 1 };
	size_t at = DNS_HEADER;

	if (len < DNS_HEADER || memcmp(msg + 4, counts, sizeof(counts)))
		return 0;
	while (at < len && msg[at])
		at += 1U + msg[at];
	at += 1 + 4;
	if (at + OPT_FIXED > len || msg[at] || dns_get16(msg + at + 1) != DNS_OPT)
		return 0;
	return at + OPT_FIXED + dns_get16(msg + at + OPT_FIXED - 2) == len ? at : 0;
}

size_t dns_query_pad(uint8_t *msg, size_t len, size_t size)
{
	size_t opt = find_opt(msg, len), to = (len + 4 + DNS_PAD_BLOCK - 1) / DNS_PAD_BLOCK * DNS_PAD_BLOCK;

	if (!opt || to > size)
		return len;
	dns_put16(msg + opt + OPT_FIXED - 2, (uint16_t)(to - opt - OPT_FIXED));
	dns_put16(msg + len, OPTION_PADDING);
	dns_put16(msg + len + 2, (uint16_t)(to - len - 4));
	memset(msg + len + 4, 0, to - len - 4);
	return to;
}

int dns_age(uint8_t *msg, size_t size, uint32_t seconds)
{
	struct dns_response r;
	struct dns_rr rr;
	int n = dns_response_parse(msg, size, &r);

	while (!n && (n = dns_rr_next(&r, &rr)) > 0) {
		n = 0;
		if (rr.type != DNS_OPT)		/* has no TTL there */
			dns_put32(msg + rr.rdata - 6, rr.ttl > seconds ? rr.ttl - seconds : 0);
	}
	return n;
}
