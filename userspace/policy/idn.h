/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * idn.h - names with letters outside ASCII (IDNA 2008, RFC 5891); the door to libidn2.
 */
#ifndef POLICY_IDN_H
#define POLICY_IDN_H

#include <stdbool.h>
#include <stddef.h>

#define IDN_NAME_MAX 254		/* characters of a name as text, final dot included */

/* True when some octet is not ASCII. */
bool idn_is_beyond_ascii(const char *text, size_t len);

/**
 * Turn UTF-8 into its "xn--" form, lower-case; mapped as UTS 46 has it, not transitional.
 *
 * @ret  room for IDN_NAME_MAX + 1 octets
 *
 * Returns 0, or -EINVAL when there is no such form or it is too long.
 */
int idn_to_ascii(const char *text, size_t len, char *ret);

#endif
