/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c - types, rcodes and messages for people, by ldns. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <ldns/ldns.h>
#include "dns/msg.h"
#include "dns/text.h"

const char *dns_type_text(uint16_t type, char *buf, size_t size)
{
	char *name = ldns_rr_type2str(type);

	if (name)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "TYPE%u", type);
	free(name);
	return buf;
}

int dns_type_from_text(const char *text, uint16_t *ret)
{
	unsigned long v;
	ldns_rr_type t;
	char *end;

	if (!strncasecmp(text, "TYPE", 4)) {
		/* strtoul() would take blanks and signs */
		if (text[4] < '0' || text[4] > '9')
			return -EINVAL;
		v = strtoul(text + 4, &end, 10);
		if (*end || v > UINT16_MAX)
			return -EINVAL;
		*ret = (uint16_t)v;
		return 0;
	}
	t = ldns_get_rr_type_by_name(text);
	if (!t)
		return -EINVAL;
	*ret = (uint16_t)t;
	return 0;
}

const char *dns_rcode_text(uint16_t rcode, char *buf, size_t size)
{
	const ldns_lookup_table *row = ldns_lookup_by_id(ldns_rcodes, rcode);

	/* ldns stops at 10, and says NOTIMPL where the registry and everybody else say NOTIMP */
	if (rcode == DNS_BADVERS)
		snprintf(buf, size, "BADVERS");
	else if (rcode == DNS_NOTIMP)
		snprintf(buf, size, "NOTIMP");
	else if (row)
		snprintf(buf, size, "%s", row->name);
	else
		snprintf(buf, size, "RCODE%u", rcode);
	return buf;
}

/* ldns tells when, how long and from whom too; a message alone knows none of these. */
static bool is_of_message(const char *line)
{
	return strncmp(line, ";; Query time:", 14) && strncmp(line, ";; WHEN:", 8) && strncmp(line, ";; SERVER:", 10);
}

static void keep_lines(char *text)
{
	char *from = text, *to = text, *end;
	size_t n;

	for (; *from; from += n) {
		end = strchr(from, '\n');
		n = end ? (size_t)(end - from) + 1 : strlen(from);
		if (!is_of_message(from))
			continue;
		memmove(to, from, n);
		to += n;
	}
	*to = 0;
}

char *dns_message_text(const uint8_t *msg, size_t size)
{
	ldns_pkt *pkt = NULL;
	char *text = NULL;

	if (ldns_wire2pkt(&pkt, msg, size) == LDNS_STATUS_OK)
		text = ldns_pkt2str(pkt);
	ldns_pkt_free(pkt);
	if (text)
		keep_lines(text);
	return text;
}
