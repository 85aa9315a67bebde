/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clients.h - the table of clients (maps/client.h) as both worlds read it.
 *
 * Built from prefixes and MACs by control, copied into mr_clients by kern, read by the
 * daemon itself for queries that pass.  Immutable once built.
 */
#ifndef POLICY_CLIENTS_H
#define POLICY_CLIENTS_H

#include "base/addr.h"
#include "base/err.h"
#include "maps/client.h"

struct clients {
	struct mr_client_bucket bucket[MR_CLIENT_BUCKETS];
	struct mr_outcome fallback;
	unsigned lens;			/* of len, longest first */
	uint8_t len[MR_CLIENT_LENS];
	unsigned macs;			/* rows that are MACs */
	unsigned count;			/* all rows */
};

struct clients_row {
	bool is_mac;
	uint8_t mac[6];
	struct addr_prefix prefix;	/* unless it is a MAC */
	struct mr_outcome outcome;
};

/**
 * Build the table.  When more than MR_CLIENT_LENS prefix lengths are in use,
 * shorter prefixes are split into ones of a used length where that fits.
 *
 * Returns 0; -ENOSPC when the rows fit in no way (said in @reterr: how many
 * lengths or rows, and what is possible); -EEXIST for a prefix or a MAC given
 * twice with different outcomes.
 */
int clients_build(const struct clients_row *rows, unsigned count, struct mr_outcome fallback,
		  const struct mr_secret *secret, struct clients *ret, struct err_at *reterr);

/* The outcome for a client: by its MAC if that is known and has a row, else by its address.  @mac may be NULL. */
struct mr_outcome clients_find(const struct clients *c, const uint8_t ip[16], const uint8_t *mac,
			       const struct mr_secret *secret);

#endif
