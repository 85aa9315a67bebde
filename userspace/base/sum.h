/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sum.h - a fast 64-bit sum over bytes, against accidents.
 *
 * For checksums of files of our own and for tables whose keys nobody chooses.
 * Not keyed: whoever may choose the bytes can make two texts with one sum.
 */
#ifndef BASE_SUM_H
#define BASE_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Spread a word over all its bits; a bijection. */
static inline uint64_t sum_mix(uint64_t v)
{
	v ^= v >> 32;
	v *= 0xd6e8feb86659fd93ULL;
	v ^= v >> 32;
	v *= 0xd6e8feb86659fd93ULL;
	return v ^ v >> 32;
}

/**
 * Sum @size bytes; @seed chains sums of parts.
 *
 * Four lanes side by side, so that one multiply need not wait for another.
 * Each step is a bijection of its lane, so one changed word always changes
 * the sum.
 */
static inline uint64_t sum_bytes(uint64_t seed, const void *p, size_t size)
{
	uint64_t lane[4] = { seed, ~seed, seed ^ 0x9e3779b97f4a7c15ULL, seed + size }, w[4];
	const unsigned char *at = p;
	size_t i, left = size;

	for (; left >= sizeof(w); left -= sizeof(w), at += sizeof(w)) {
		memcpy(w, at, sizeof(w));
		for (i = 0; i < 4; i++) {
			lane[i] = (lane[i] ^ w[i]) * 0x9fb21c651e98df25ULL;
			lane[i] ^= lane[i] >> 29;
		}
	}
	memset(w, 0, sizeof(w));
	memcpy(w, at, left);
	for (i = 0; i < 4; i++)
		lane[i] = sum_mix(lane[i] ^ w[i]);
	return sum_mix(lane[0] + sum_mix(lane[1] + sum_mix(lane[2] + sum_mix(lane[3]))));
}

#endif
