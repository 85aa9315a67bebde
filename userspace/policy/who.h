/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * who.h - what the configuration says about a client, beside its group.
 *
 * Names and tags, for conditions of rules, the log and people.  The table of
 * groups and access, which the kernel reads too, is clients.h.
 */
#ifndef POLICY_WHO_H
#define POLICY_WHO_H

#include <stdbool.h>
#include <stdint.h>
#include "base/addr.h"

struct who {
	uint8_t ip[16];
	bool has_mac;
	uint8_t mac[6];
	const char *name;		/* of the configuration's client; NULL: none */
	const char *const *tag;
	unsigned tags;
};

/* One way to know a client. */
struct who_row {
	bool is_mac;
	uint8_t mac[6];
	struct addr_prefix prefix;
	const char *name;		/* borrowed for the table's life */
	const char *const *tag;		/* the same */
	unsigned tags;
};

struct who_table;

/* Returns the table for who_free(), rows copied, or NULL when memory is out. */
struct who_table *who_new(const struct who_row *rows, unsigned count);
void who_free(struct who_table *t);

/* Fill @ret for an address and, when it is known, a hardware address: that first, then the longest prefix. */
void who_find(const struct who_table *t, const uint8_t ip[16], const uint8_t *mac, struct who *ret);

#endif
