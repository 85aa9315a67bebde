/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local.c - makes items of local names, of safe search and of canaries.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "dns/msg.h"
#include "dns/name.h"
#include "policy/local.h"

#define SAFE_TTL 300

static int wire(const char *text, uint8_t *name, uint16_t *ret_len)
{
	int len = dns_name_from_text(text, strlen(text), name);

	if (len < 0)
		return -EINVAL;
	dns_name_lower(name, name, (uint16_t)len);
	*ret_len = (uint16_t)len;
	return 0;
}

static int hand_on(const uint8_t *name, uint16_t len, bool below, const struct rule_answer *a, const char *text,
		   unsigned line, local_sink sink, void *arg)
{
	struct rule_item i = {
		.kind = RULE_NAME, .action = FILTER_BLOCK, .reach = below ? RULE_BELOW : RULE_EXACT, .name = name,
		.name_len = len, .answer = a, .line = line, .text = text, .text_len = strlen(text),
	};
	int err = sink(arg, &i);

	return err < 0 ? err : 0;
}

/* "5.1.168.192.in-addr.arpa", or nibbles under ip6.arpa (RFC 3596 section 2.5). */
static void reverse_name(const struct addr *a, char *buf, size_t size)
{
	size_t n = 0;
	int i;

	if (addr_is_v4(a)) {
		snprintf(buf, size, "%u.%u.%u.%u.in-addr.arpa", a->ip[15], a->ip[14], a->ip[13], a->ip[12]);
		return;
	}
	for (i = 15; i >= 0; i--)
		n += (size_t)snprintf(buf + n, size - n, "%x.%x.", a->ip[i] & 15U, a->ip[i] >> 4U);
	snprintf(buf + n, size - n, "ip6.arpa");
}

static int add_address(const struct local_name *l, const struct addr *a, const uint8_t *name, uint16_t len, const char *text,
		       local_sink sink, void *arg)
{
	struct rule_answer answer = { .kind = RULE_ANSWER_RECORD, .ttl = l->ttl };
	uint8_t back[DNS_NAME_MAX + 1];
	char reverse[80];
	uint16_t back_len;
	int err;

	answer.type = addr_is_v4(a) ? DNS_A : DNS_AAAA;
	answer.rdata = addr_is_v4(a) ? a->ip + 12 : a->ip;
	answer.rdata_len = addr_is_v4(a) ? 4 : 16;
	err = hand_on(name, len, l->below, &answer, text, l->number + 1, sink, arg);
	if (err || l->below)
		return err;
	reverse_name(a, reverse, sizeof(reverse));
	err = wire(reverse, back, &back_len);
	if (err)
		return err;
	answer.type = DNS_PTR;
	answer.rdata = name;
	answer.rdata_len = len;
	return hand_on(back, back_len, false, &answer, text, l->number + 1, sink, arg);
}

int local_items(const struct local_name *l, local_sink sink, void *arg)
{
	struct rule_answer alias = { .kind = RULE_ANSWER_CNAME, .ttl = l->ttl };
	uint8_t name[DNS_NAME_MAX + 1], target[DNS_NAME_MAX + 1];
	char text[DNS_NAME_TEXT_MAX + 2];
	uint16_t len;
	unsigned i;
	int err = wire(l->name, name, &len);

	snprintf(text, sizeof(text), "%s%s", l->below ? "*." : "", l->name);
	for (i = 0; i < l->answers && !err; i++)
		err = add_address(l, &l->answer[i], name, len, text, sink, arg);
	if (err || l->answers)
		return err;
	err = wire(l->target, target, &alias.rdata_len);
	alias.rdata = target;
	return err ? err : hand_on(name, len, l->below, &alias, text, l->number + 1, sink, arg);
}

static const struct safe {
	const char *name;
	const char *target;
} safes[] = {
#define SAFE(name, target) { name, target },
#include "policy/safe_search.def"
#undef SAFE
};

int local_safe_search(local_sink sink, void *arg)
{
	struct rule_answer alias = { .kind = RULE_ANSWER_CNAME, .ttl = SAFE_TTL };
	uint8_t name[DNS_NAME_MAX + 1], target[DNS_NAME_MAX + 1];
	uint16_t len;
	unsigned i;
	int err = 0;

	for (i = 0; i < sizeof(safes) / sizeof(safes[0]) && !err; i++) {
		err = wire(safes[i].name, name, &len);
		if (!err)
			err = wire(safes[i].target, target, &alias.rdata_len);
		alias.rdata = target;
		if (!err)
			err = hand_on(name, len, false, &alias, safes[i].name, i + 1, sink, arg);
	}
	return err;
}

/* Firefox asks the first before it turns to a resolver of its own, Apple's devices the others before Private Relay. */
static const char *const canaries[] = { "use-application-dns.net", "mask.icloud.com", "mask-h2.icloud.com" };

int local_canaries(local_sink sink, void *arg)
{
	struct rule_answer none = { .kind = RULE_ANSWER_RCODE, .rcode = DNS_NXDOMAIN };
	uint8_t name[DNS_NAME_MAX + 1];
	uint16_t len;
	unsigned i;
	int err = 0;

	for (i = 0; i < sizeof(canaries) / sizeof(canaries[0]) && !err; i++) {
		err = wire(canaries[i], name, &len);
		if (!err)
			err = hand_on(name, len, false, &none, canaries[i], 0, sink, arg);
	}
	return err;
}
