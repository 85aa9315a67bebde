/* SPDX-License-Identifier: BSD-2-Clause */
/* idn.c - names with letters outside ASCII, by libidn2. */
#include <errno.h>
#include <string.h>
#include <idn2.h>
#include "policy/idn.h"

bool idn_is_beyond_ascii(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if ((unsigned char)text[i] >= 0x80)
			return true;
	return false;
}

int idn_to_ascii(const char *text, size_t len, char *ret)
{
	char copy[4 * IDN_NAME_MAX + 1], *made = NULL;
	int err = -EINVAL;

	/* a zero would end the text where its writer did not */
	if (!len || len >= sizeof(copy) || memchr(text, 0, len))
		return -EINVAL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (idn2_to_ascii_8z(copy, &made, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) == IDN2_OK &&
	    strlen(made) <= IDN_NAME_MAX) {
		strcpy(ret, made);
		err = 0;
	}
	idn2_free(made);
	return err;
}
