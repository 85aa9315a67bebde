/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.h - a table of cases as a cmocka group, one test per row; a fixed secret.
 */
#ifndef TESTS_UNIT_MAPS_ROWS_H
#define TESTS_UNIT_MAPS_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "maps/name.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* Add a test that gets a pointer to its row. */
static inline void row_add(struct CMUnitTest *tests, size_t *n, const char *name, CMUnitTestFunction run, const void *row)
{
	struct CMUnitTest t = { name, run, NULL, NULL, (void *)(uintptr_t)row };

	tests[(*n)++] = t;
}

/* The words of splitmix64 from a known start: vectors below were computed from it by another program. */
static inline void row_secret(struct mr_secret *s)
{
	uint64_t x = 0x243f6a8885a308d3ULL, z;
	size_t i;

	for (i = 0; i < sizeof(*s); i += 8) {
		z = x += 0x9e3779b97f4a7c15ULL;
		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
		z ^= z >> 31;
		memcpy((unsigned char *)s + i, &z, 8);
	}
}

/* A name from text ("." is the root), in its own letters. */
static inline void row_name(struct mr_name *n, const char *text)
{
	size_t len = 1, label = 0;

	memset(n, 0, sizeof(*n));
	for (text += !strcmp(text, "."); *text; text++) {
		if (*text != '.') {
			n->text[len++] = (unsigned char)*text;
			continue;
		}
		n->text[label] = (unsigned char)(len - label - 1);
		label = len++;
	}
	n->text[label] = (unsigned char)(len - label - 1);
	n->len = (unsigned short)(len + (n->text[label] != 0));
}

static inline void row_hash(struct mr_name *n, const char *text, const struct mr_secret *s)
{
	row_name(n, text);
	for (int i = 0; i < n->len; i += 8)
		mr_store64(n->text + i, mr_lower8(mr_load64(n->text + i)));
	assert_int_equal(mr_name_hash(n, s), 0);
}

#endif
