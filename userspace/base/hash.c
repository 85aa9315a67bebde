/* SPDX-License-Identifier: BSD-2-Clause */
/* hash.c - SipHash with one round a word and three at the end. */
#include <string.h>
#include "base/hash.h"

static inline uint64_t rotl(uint64_t v, int n)
{
	return v << n | v >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] = rotl(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] = rotl(v[2], 32);
}

uint64_t hash_bytes(const struct hash_key *key, const void *p, size_t size)
{
	uint64_t v[4] = {
		key->k0 ^ 0x736f6d6570736575ULL, key->k1 ^ 0x646f72616e646f6dULL,
		key->k0 ^ 0x6c7967656e657261ULL, key->k1 ^ 0x7465646279746573ULL,
	};
	const unsigned char *at = p;
	uint64_t w;
	size_t left;

	for (left = size; left >= 8; left -= 8, at += 8) {
		memcpy(&w, at, 8);
		v[3] ^= w;
		sip_round(v);
		v[0] ^= w;
	}
	w = (uint64_t)size << 56;
	while (left--)
		w |= (uint64_t)at[left] << 8 * left;
	v[3] ^= w;
	sip_round(v);
	v[0] ^= w;
	v[2] ^= 0xff;
	sip_round(v);
	sip_round(v);
	sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
