/* SPDX-License-Identifier: BSD-2-Clause */
/* lists_read.h - lists_read_file() with its bound and a moment to change the file at, for its tests. */
#ifndef LISTS_LISTS_READ_H
#define LISTS_LISTS_READ_H

#include "lists/lists.h"

struct lists_reading {
	uint64_t max;			/* bytes */
	void (*between)(void *arg);	/* called after the file was opened and before it is read; may be NULL */
	void *arg;
};

int lists_read_with(const struct lists_reading *r, const char *path, char **ret, size_t *ret_size, struct err_at *reterr);

#endif
