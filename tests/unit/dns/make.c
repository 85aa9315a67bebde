/* SPDX-License-Identifier: BSD-2-Clause */
/* make.c - test messages by ldns. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <ldns/ldns.h>
#include "dns/name.h"
#include "unit/dns/make.h"

struct dns_key make_key(const char *name, uint16_t qtype, uint8_t bits)
{
	struct dns_key key = { .qtype = qtype, .bits = bits };
	int len = dns_name_from_text(name, strlen(name), key.name);

	assert(len > 0);
	key.name_len = (uint16_t)len;
	dns_name_lower(key.name, key.name, key.name_len);
	return key;
}

int make_query(uint8_t *buf, const char *name, uint16_t qtype, bool edns, bool dnssec_ok)
{
	uint8_t wire[DNS_NAME_MAX];
	int len = dns_name_from_text(name, strlen(name), wire);

	assert(len > 0);
	return dns_query_write(0x1234, wire, (uint16_t)len, qtype, dnssec_ok ? DNS_KEY_DO : 0, edns, buf, 512);
}

struct dns_query make_query_view(uint8_t *buf, const char *name, uint16_t qtype, bool edns, bool dnssec_ok)
{
	int len = make_query(buf, name, qtype, edns, dnssec_ok);
	struct dns_query q;

	if (dns_query_parse(buf, (size_t)len, &q))
		abort();
	return q;
}

/* Calls @each for every record in @text. */
static void each_record(const char *text, void (*each)(ldns_rr *rr, void *arg), void *arg)
{
	char *copy = strdup(text), *save = NULL, *line;
	ldns_rr *rr;

	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (ldns_rr_new_frm_str(&rr, line, 0, NULL, NULL) != LDNS_STATUS_OK) {
			fprintf(stderr, "not a record: %s\n", line);
			abort();
		}
		each(rr, arg);
	}
	free(copy);
}

static void push_answer(ldns_rr *rr, void *arg)
{
	ldns_pkt_push_rr(arg, LDNS_SECTION_ANSWER, rr);
}

static void push_authority(ldns_rr *rr, void *arg)
{
	ldns_pkt_push_rr(arg, LDNS_SECTION_AUTHORITY, rr);
}

size_t make_response(uint8_t *buf, const char *name, uint16_t qtype, uint16_t rcode, const char *answer,
		     const char *authority)
{
	ldns_pkt *pkt = ldns_pkt_query_new(ldns_dname_new_frm_str(name), qtype, LDNS_RR_CLASS_IN, LDNS_RD | LDNS_RA);
	uint8_t *wire;
	size_t size;

	assert(pkt);
	ldns_pkt_set_qr(pkt, true);
	ldns_pkt_set_rcode(pkt, (uint8_t)rcode);
	each_record(answer, push_answer, pkt);
	each_record(authority, push_authority, pkt);
	if (ldns_pkt2wire(&wire, pkt, &size) != LDNS_STATUS_OK || size > MAKE_SIZE)
		abort();
	memcpy(buf, wire, size);
	free(wire);
	ldns_pkt_free(pkt);
	return size;
}

static void append(char **all, const char *more)
{
	size_t n = strlen(*all);

	*all = realloc(*all, n + strlen(more) + 1);
	assert(*all);
	strcpy(*all + n, more);
}

static void append_record(ldns_rr *rr, void *arg)
{
	char *line = ldns_rr2str(rr);

	append(arg, line);
	free(line);
	ldns_rr_free(rr);
}

char *make_lines(const char *text)
{
	char *all = strdup("");

	each_record(text, append_record, &all);
	return all;
}

char *make_section(const uint8_t *msg, size_t size, int section)
{
	ldns_rr_list *list;
	ldns_pkt *pkt;
	char *all, *line;
	size_t i;

	if (ldns_wire2pkt(&pkt, msg, size) != LDNS_STATUS_OK)
		return NULL;
	list = section == DNS_ANSWER ? ldns_pkt_answer(pkt) : ldns_pkt_authority(pkt);
	all = strdup("");
	for (i = 0; i < ldns_rr_list_rr_count(list); i++) {
		line = ldns_rr2str(ldns_rr_list_rr(list, i));
		append(&all, line);
		free(line);
	}
	ldns_pkt_free(pkt);
	return all;
}
