/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hash.h - the keyed hash of user space's own tables: SipHash-1-3.
 *
 * For tables whose keys a stranger chooses; the key is random and never leaves
 * the process.  Names that the kernel looks up too are hashed by maps/name.h.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
	uint64_t k0;
	uint64_t k1;
};

/* Hash @size octets. */
uint64_t hash_bytes(const struct hash_key *key, const void *p, size_t size);

#endif
