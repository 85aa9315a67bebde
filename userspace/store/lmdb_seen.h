/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lmdb_seen.h - the keys that were met while a log is read backwards: the first
 * one met is the youngest, and all others are void, be it alive or not.
 */
#ifndef STORE_LMDB_SEEN_H
#define STORE_LMDB_SEEN_H

#include "base/hash.h"
#include "cache/cache.h"

struct lmdb_seen {
	struct hash_key key;
	uint64_t *at;			/* hashes, 0: free */
	size_t size;			/* a power of two, or 0 */
	size_t count;
};

void lmdb_seen_init(struct lmdb_seen *s);
void lmdb_seen_done(struct lmdb_seen *s);

/* Note a key.  Returns 1 when it is new, 0 when it was met before, -ENOMEM. */
int lmdb_seen_add(struct lmdb_seen *s, const struct dns_key *key);

#endif
