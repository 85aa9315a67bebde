/* SPDX-License-Identifier: BSD-2-Clause */
/* secret.c - makes the secret, and knows a whole one. */
#include "base/random.h"
#include "base/sum.h"
#include "policy/secret.h"

/* Of all behind the fingerprint; never 0, which means "no secret". */
static uint64_t fingerprint(const struct mr_secret *s)
{
	const uint8_t *rest = (const uint8_t *)s + sizeof(s->fingerprint);
	uint64_t sum = sum_bytes(0, rest, sizeof(*s) - sizeof(s->fingerprint));

	return sum ? sum : 1;
}

void secret_make(struct mr_secret *ret)
{
	/* NH adds its keys before it multiplies, so no key is a weak one */
	random_fill(ret, sizeof(*ret));
	ret->fingerprint = fingerprint(ret);
}

bool secret_valid(const struct mr_secret *s)
{
	return s->fingerprint == fingerprint(s);
}
