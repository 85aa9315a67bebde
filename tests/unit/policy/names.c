/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - names from text, files of real lists. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "unit/policy/names.h"

uint16_t name_wire(const char *text, uint8_t *ret)
{
	uint8_t *len = ret, *p = ret + 1;

	for (; *text; text++) {
		if (*text != '.') {
			*p++ = (uint8_t)*text;
			continue;
		}
		*len = (uint8_t)(p - len - 1);
		len = p++;
	}
	*len = (uint8_t)(p - len - 1);
	if (*len)
		*p++ = 0;
	return (uint16_t)(p - ret);
}

const char *name_text(const uint8_t *wire, char *buf)
{
	char *to = buf;

	for (; *wire; wire += *wire + 1) {
		if (to > buf)
			*to++ = '.';
		memcpy(to, wire + 1, *wire);
		to += *wire;
	}
	*to = '\0';
	return buf;
}

char *list_file(const char *name, size_t *ret_size)
{
	char path[300], *text = NULL;
	long size;
	FILE *f;

	snprintf(path, sizeof(path), "../shared/data/lists/%s", name);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	if (!fseek(f, 0, SEEK_END) && (size = ftell(f)) >= 0 && (text = malloc((size_t)size + 1))) {
		rewind(f);
		*ret_size = fread(text, 1, (size_t)size, f);
		text[*ret_size] = '\0';
	}
	fclose(f);
	return text;
}
