/* SPDX-License-Identifier: BSD-2-Clause */
/* names.h - what the tests of this folder share: names from text, files of real lists. */
#ifndef TESTS_UNIT_POLICY_NAMES_H
#define TESTS_UNIT_POLICY_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Wire form of a lower-case text without escapes; returns the length. */
uint16_t name_wire(const char *text, uint8_t *ret);

/* Text of a wire name without the final dot. */
const char *name_text(const uint8_t *wire, char *buf);

/* Read a file of ../shared/data/lists; NULL when it is absent.  The caller frees it. */
char *list_file(const char *name, size_t *ret_size);

#endif
