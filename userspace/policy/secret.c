/* SPDX-License-Identifier: BSD-2-Clause */
/* secret.c - makes the secret, and its form on disk. */
#include <errno.h>
#include <string.h>
#include "base/random.h"
#include "base/sum.h"
#include "policy/secret.h"

/* "mrsecre" and the version of struct mr_secret */
static const uint8_t magic[8] = { 'm', 'r', 's', 'e', 'c', 'r', 'e', 1 };

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

void secret_write(const struct mr_secret *s, uint8_t ret[SECRET_SIZE])
{
	memcpy(ret, magic, sizeof(magic));
	memcpy(ret + sizeof(magic), s, sizeof(*s));
}

int secret_read(const uint8_t *p, size_t size, struct mr_secret *ret, struct err_at *reterr)
{
	struct mr_secret s;

	if (size != SECRET_SIZE)
		return err_why(reterr, -EBADMSG, "expected %zu bytes, there are %zu", SECRET_SIZE, size);
	if (memcmp(p, magic, sizeof(magic)))
		return err_why(reterr, -EBADMSG, "not a secret of this version");
	memcpy(&s, p + sizeof(magic), sizeof(s));
	if (s.fingerprint != fingerprint(&s))
		return err_why(reterr, -EBADMSG, "damaged: the fingerprint is not that of the rest");
	*ret = s;
	explicit_bzero(&s, sizeof(s));
	return 0;
}
