/* SPDX-License-Identifier: BSD-2-Clause */
/* option.c - options found, added, and one of them looked into. */
#include <string.h>
#include "dns/msg.h"
#include "dns/option.h"
#include "dns/wire.h"

#define OPT_FIXED (1 + DNS_RR_FIXED)
#define ECS_FIXED 4			/* family, source and scope prefix lengths */

const uint8_t *dns_option_find(const uint8_t *options, size_t size, uint16_t code, uint16_t *ret_len)
{
	uint16_t len;

	for (; size >= 4; options += 4 + len, size -= 4U + len) {
		len = dns_get16(options + 2);
		if (len > size - 4)
			return NULL;
		if (dns_get16(options) != code)
			continue;
		*ret_len = len;
		return options + 4;
	}
	return NULL;
}

/* The OPT of a response; false: it has none. */
static bool find_opt(const uint8_t *msg, size_t size, struct dns_rr *ret)
{
	struct dns_response r;

	if (dns_response_parse(msg, size, &r))
		return false;
	while (dns_rr_next(&r, ret) > 0)
		if (ret->section == DNS_ADDITIONAL && ret->type == DNS_OPT)
			return true;
	return false;
}

const uint8_t *dns_option_find_in(const uint8_t *msg, size_t size, uint16_t code, uint16_t *ret_len)
{
	struct dns_rr opt;

	return find_opt(msg, size, &opt) ? dns_option_find(msg + opt.rdata, opt.rdata_len, code, ret_len) : NULL;
}

size_t dns_option_opt(const uint8_t *msg, size_t size)
{
	struct dns_rr opt;

	return find_opt(msg, size, &opt) ? opt.rdata - OPT_FIXED : 0;
}

size_t dns_option_add(uint8_t *msg, size_t len, size_t size, size_t opt, uint16_t code, const uint8_t *data, uint16_t n)
{
	if (!opt || len < opt + OPT_FIXED || len + 4 + n > size ||
	    opt + OPT_FIXED + dns_get16(msg + opt + OPT_FIXED - 2) != len)
		return len;
	dns_put16(msg + len, code);
	dns_put16(msg + len + 2, n);
	memcpy(msg + len + 4, data, n);
	len += 4U + n;
	dns_put16(msg + opt + OPT_FIXED - 2, (uint16_t)(len - opt - OPT_FIXED));
	return len;
}

bool dns_ecs_fine(const uint8_t *data, size_t len)
{
	unsigned family, bits, octets;

	if (len < ECS_FIXED)
		return false;
	family = dns_get16(data);
	bits = data[2];
	octets = (bits + 7) / 8;
	if (data[3] || len != ECS_FIXED + octets || (family != 1 && family != 2) || bits > (family == 1 ? 32U : 128U))
		return false;
	return bits % 8 == 0 || !(data[len - 1] & (0xff >> bits % 8));
}

bool dns_ecs_answers(const uint8_t *data, size_t len, const uint8_t *asked, size_t asked_len)
{
	return len == asked_len && len >= ECS_FIXED && !memcmp(data, asked, 3) &&
	       !memcmp(data + ECS_FIXED, asked + ECS_FIXED, len - ECS_FIXED);
}
