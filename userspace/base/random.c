/* SPDX-License-Identifier: BSD-2-Clause */
/* random.c - a pool of the kernel's randomness per thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/random.h"

#define POOL 1024

static __thread struct {
	unsigned char bytes[POOL];
	size_t left;
} pool;

static void from_kernel(unsigned char *p, size_t size)
{
	ssize_t n;

	while (size) {
		n = getrandom(p, size, 0);
		if (n < 0 && errno != EINTR)
			abort();
		if (n > 0) {
			p += n;
			size -= (size_t)n;
		}
	}
}

void random_fill(void *p, size_t size)
{
	if (size > POOL / 4) {
		from_kernel(p, size);
		return;
	}
	if (pool.left < size) {
		from_kernel(pool.bytes, POOL);
		pool.left = POOL;
	}
	pool.left -= size;
	memcpy(p, pool.bytes + pool.left, size);
	explicit_bzero(pool.bytes + pool.left, size);
}

uint16_t random_u16(void)
{
	uint16_t v;

	random_fill(&v, sizeof(v));
	return v;
}

uint64_t random_u64(void)
{
	uint64_t v;

	random_fill(&v, sizeof(v));
	return v;
}

uint32_t random_below(uint32_t n)
{
	uint32_t v, floor = -n % n;		/* 2^32 mod n: below it the first numbers would be likelier */

	do {
		random_fill(&v, sizeof(v));
	} while (v < floor);
	return v % n;
}
