/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * secret.h - the secret that names and clients are hashed with.
 *
 * Made once for an installation; control keeps it, octet for octet, in the
 * state folder (0600).  Everything that holds hashes carries its fingerprint.
 */
#ifndef POLICY_SECRET_H
#define POLICY_SECRET_H

#include <stdbool.h>
#include "maps/name.h"

/* Make a new one from the kernel's randomness. */
void secret_make(struct mr_secret *ret);

/**
 * True when the fingerprint is that of the rest: what was read from a file is
 * whole.  If it is not, a new one must be made, and all that was hashed with
 * the old one is void.
 */
bool secret_valid(const struct mr_secret *s);

#endif
