/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub_query.c - what the stub has been asked, read from the wire and shown as text.
 *
 * Plain functions over bytes, of the stub's own for the reason in
 * tools/mrstub_answer.c.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "tools/mrstub.h"

#define HEADER 12

static uint16_t get16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

/* Step over a name that may be compressed; returns the offset behind it or -1. */
static int name_skip(const uint8_t *msg, int len, int at)
{
	while (at < len) {
		if (msg[at] >= 192)
			return at + 2;
		if (msg[at] > 63)
			return -1;
		if (!msg[at])
			return at + 1;
		at += msg[at] + 1;
	}
	return -1;
}

static int question_parse(struct stub_query *q, int len)
{
	int at = HEADER, i, n;

	while (at < len && q->msg[at] && q->msg[at] < 64)
		at += q->msg[at] + 1;
	n = at + 1 - HEADER;
	if (at + 5 > len || q->msg[at] || n > STUB_NAME_MAX)
		return -EBADMSG;
	for (i = 0; i < n; i++)
		q->name[i] = tolower(q->msg[HEADER + i]);
	q->name_len = n;
	q->type = get16(q->msg + at + 1);
	q->class = get16(q->msg + at + 3);
	q->question_end = at + 5;
	return 0;
}

/* What follows the question; only the OPT is of interest (RFC 6891 section 6.1). */
static int rest_parse(struct stub_query *q, int len)
{
	int count = get16(q->msg + 6) + get16(q->msg + 8) + get16(q->msg + 10), at = q->question_end, owner;

	for (; count; count--) {
		owner = at;
		at = name_skip(q->msg, len, at);
		if (at < 0 || at + 10 > len || at + 10 + get16(q->msg + at + 8) > len)
			return -EBADMSG;
		if (get16(q->msg + at) == TYPE_OPT) {
			if (q->edns || q->msg[owner])
				return -EBADMSG;
			q->edns = true;
			q->udp_size = get16(q->msg + at + 2) < 512 ? 512 : get16(q->msg + at + 2);
			q->edns_version = q->msg[at + 5];
			q->dnssec_ok = q->msg[at + 6] & 0x80;
		}
		at += 10 + get16(q->msg + at + 8);
	}
	return 0;
}

int stub_query_parse(const uint8_t *msg, size_t len, bool tcp, struct stub_query *ret)
{
	struct stub_query *q = ret;

	if (len < HEADER || msg[2] & 0x80)
		return -EBADMSG;
	q->msg = msg;
	q->tcp = tcp;
	q->id = get16(msg);
	q->flags = get16(msg + 2);
	q->rcode = 0;
	q->udp_size = 512;
	q->edns = q->dnssec_ok = false;
	q->edns_version = 0;
	if (get16(msg + 4) != 1 || question_parse(q, len)) {
		q->question_end = HEADER;
		q->name_len = 0;
		q->type = q->class = 0;
		q->rcode = 1;
	} else if (rest_parse(q, len)) {
		q->edns = q->dnssec_ok = false;
		q->rcode = 1;
	} else if (q->flags & 0x7800) {
		q->rcode = 4;
	}
	return 0;
}

void stub_query_text(const struct stub_query *q, char *name, char *type)
{
	int at = 0, end;

	if (!q->name_len || !q->name[0])
		*name++ = '.';
	while (at < q->name_len && q->name[at]) {
		end = at + 1 + q->name[at];
		for (at++; at < end; at++) {
			uint8_t c = q->msg[HEADER + at];

			if (c == '.' || c == '\\')
				name += sprintf(name, "\\%c", c);
			else
				name += c > ' ' && c < 127 ? sprintf(name, "%c", c) : sprintf(name, "\\%03u", c);
		}
		*name++ = '.';
	}
	*name = 0;
	stub_type_text(q->type, type);
}
