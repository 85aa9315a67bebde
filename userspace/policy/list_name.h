/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_name.h - names as lists write them, read into lower-case wire form.
 *
 * The hot path of reading lists: eight octets at a time, each looked at once.
 */
#ifndef POLICY_LIST_NAME_H
#define POLICY_LIST_NAME_H

#include <stdbool.h>
#include <stdint.h>
#include "policy/list_line.h"

struct list_name {
	uint8_t wire[272];		/* whole words are written, so more than the 255 of a name */
	unsigned len;			/* root octet included; 0: what was read is no name */
	unsigned labels;
};

/**
 * Read name characters from @p as far as they go, at most to @end.
 *
 * Letters, digits, '-', '_' and '.' are name characters.  They are no name
 * (@ret->len is 0) when a label is empty, over 63 or begins with '-', the whole
 * is over 255, or the top label is a number (RFC 3696 section 2).  Depth is not
 * looked at.  Returns how many characters there were; one final dot counts and
 * is dropped.
 */
unsigned list_name_scan(const char *p, const char *end, struct list_name *ret);

/**
 * Read a whole word as a name; letters outside ASCII become punycode.
 *
 * Returns 0; LIST_SKIP_syntax, LIST_SKIP_idn, or LIST_SKIP_deep (then the name
 * is there all the same).
 */
int list_name_read(struct list_span word, struct list_name *ret);

/* Names of a hosts file that mean the machine itself or its network: localhost, ip6-allnodes ... */
bool list_name_is_local(const struct list_name *n);

#endif
