/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * secret.h - the secret that names and clients are hashed with.
 *
 * Made once for an installation; control keeps its bytes in the state folder
 * (0600).  Everything that holds hashes carries its fingerprint.
 */
#ifndef POLICY_SECRET_H
#define POLICY_SECRET_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "maps/name.h"

#define SECRET_SIZE (8 + sizeof(struct mr_secret))	/* bytes of its file */

/* Make a new one from the kernel's randomness. */
void secret_make(struct mr_secret *ret);

/* Write it as it is kept: a magic number with the version, then the secret. */
void secret_write(const struct mr_secret *s, uint8_t ret[SECRET_SIZE]);

/**
 * Read what secret_write() wrote.
 *
 * Returns 0; -EBADMSG with @reterr when the size, the magic number or the
 * fingerprint is not right: then a new one must be made, and all that was
 * hashed with the old one is void.
 */
int secret_read(const uint8_t *p, size_t size, struct mr_secret *ret, struct err_at *reterr);

#endif
