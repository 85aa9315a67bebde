/* SPDX-License-Identifier: BSD-2-Clause */
/* rdata.c - record data from presentation text, by ldns. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ldns/ldns.h>
#include "dns/rdata.h"

static int write_rdata(const ldns_rr *rr, uint8_t *ret, size_t size, uint16_t *ret_len)
{
	const ldns_rdf *field;
	size_t i, at = 0;

	for (i = 0; i < ldns_rr_rd_count(rr); i++) {
		field = ldns_rr_rdf(rr, i);
		if (ldns_rdf_size(field) > size - at)
			return -EINVAL;
		memcpy(ret + at, ldns_rdf_data(field), ldns_rdf_size(field));
		at += ldns_rdf_size(field);
	}
	if (at > UINT16_MAX)
		return -EINVAL;
	*ret_len = (uint16_t)at;
	return 0;
}

int dns_rdata_from_text(uint16_t type, const char *text, size_t len, uint8_t *ret, size_t size, uint16_t *ret_len)
{
	char name[16];
	ldns_rr *rr = NULL;
	char *line = NULL;
	int err;

	if (memchr(text, 0, len) || memchr(text, '\n', len))
		return -EINVAL;
	snprintf(name, sizeof(name), "TYPE%u", type);
	if (asprintf(&line, ". 0 IN %s %.*s", name, (int)len, text) < 0)
		return -ENOMEM;
	err = ldns_rr_new_frm_str(&rr, line, 0, NULL, NULL) == LDNS_STATUS_OK && ldns_rr_rd_count(rr) ?
	      write_rdata(rr, ret, size, ret_len) : -EINVAL;
	ldns_rr_free(rr);
	free(line);
	return err;
}
