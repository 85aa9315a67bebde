/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hash.h - a keyed hash for tables whose keys come from strangers.
 *
 * SipHash with one round a word and three at the end (Aumasson and Bernstein,
 * 2012): who does not know the key cannot make keys that meet.  For tables of
 * this process only; what the packet path hashes is in maps/name.h.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hash_key {
	uint64_t k[2];
};

static inline uint64_t hash_rotate(uint64_t v, unsigned bits)
{
	return v << bits | v >> (64 - bits);
}

static inline void hash_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = hash_rotate(v[1], 13) ^ v[0];
	v[3] = hash_rotate(v[3], 16) ^ v[2];
	v[0] = hash_rotate(v[0], 32) + v[3];
	v[2] += v[1];
	v[1] = hash_rotate(v[1], 17) ^ v[2];
	v[3] = hash_rotate(v[3], 21) ^ v[0];
	v[2] = hash_rotate(v[2], 32);
}

/* The last @left octets, fewer than eight, of @size before @end; one load where the hash has eight, whatever the length. */
static inline uint64_t hash_last(const uint8_t *end, size_t left, size_t size)
{
	uint64_t word = 0;

	if (size < 8 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
		memcpy(&word, end - left, left);
		return word;
	}
	memcpy(&word, end - 8, 8);
	return left ? word >> (64 - 8 * left) : 0;
}

/* Hash @size octets. */
static inline uint64_t hash_octets(const struct hash_key *key, const void *octets, size_t size)
{
	uint64_t v[4] = {
		key->k[0] ^ 0x736f6d6570736575ULL, key->k[1] ^ 0x646f72616e646f6dULL,
		key->k[0] ^ 0x6c7967656e657261ULL, key->k[1] ^ 0x7465646279746573ULL,
	};
	const uint8_t *p = octets;
	uint64_t word, last = (uint64_t)size << 56;
	size_t left = size;

	for (; left >= 8; left -= 8, p += 8) {
		memcpy(&word, p, 8);
		v[3] ^= word;
		hash_round(v);
		v[0] ^= word;
	}
	last |= hash_last(p + left, left, size);
	v[3] ^= last;
	hash_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	hash_round(v);
	hash_round(v);
	hash_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Spread a hash and a small number together; keyed as well as the hash is. */
static inline uint64_t hash_mix(uint64_t hash, uint64_t number)
{
	hash ^= number * 0x9e3779b97f4a7c15ULL;
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93ULL;
	return hash ^ hash >> 32;
}

#endif
