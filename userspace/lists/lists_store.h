/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lists_store.h - the folder of the lists' copies.
 *
 * For each list NAME, the last good copy, and NAME.meta with what is to be
 * known about it; NAME.new while a fetch is under way.  Names are made safe
 * for files: letters, digits, '-' and '_' stay, all else is %XX, so a name
 * holds no dot and no slash.  The copy is replaced first, NAME.meta after it:
 * when only the first came about, sizes differ and the validators are not used.
 */
#ifndef LISTS_LISTS_STORE_H
#define LISTS_LISTS_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "lists/lists.h"
#include "net/http.h"

#define LISTS_FILE_NAME_MAX (3 * LISTS_NAME_MAX + 8)

struct lists_meta {
	char url[HTTP_URL_MAX];		/* that it was fetched from */
	char etag[512];			/* as sent, quotes and all; "" when none */
	char modified[128];		/* Last-Modified, as sent; "" when none */
	int64_t checked_s;		/* fetched, or found unchanged */
	int64_t changed_s;		/* fetched */
	uint64_t bytes;			/* of the copy */
};

/* A copy in the making. */
struct lists_copy {
	int dir;			/* borrowed */
	int fd;				/* -1: none */
	uint64_t bytes;
	char name[LISTS_FILE_NAME_MAX];		/* to be */
	char temporary[LISTS_FILE_NAME_MAX];
};

/* The name of the file of list @name.  Returns @buf (LISTS_FILE_NAME_MAX). */
const char *lists_store_name(const char *name, char *buf);

/* Open the folder, making it when needed.  Returns 0 with the caller's @ret_dir, or a negative errno. */
int lists_store_open(const char *folder, int *ret_dir);

/**
 * Look at what there is of a list.
 *
 * @ret  all zero when nothing is known of the copy
 *
 * Returns 0; -ENOENT when there is no copy; or another negative errno.  A side
 * file that is missing, damaged, or of a copy of another size is no error.
 */
int lists_store_look(int dir, const char *name, struct lists_meta *ret, uint64_t *ret_bytes);

/* Write the side file, whole or not at all.  Returns 0 or a negative errno. */
int lists_store_meta(int dir, const char *name, const struct lists_meta *m);

/* Begin, write to, put in place (on the disk before it has the name), give up.  Return 0 or a negative errno. */
int lists_copy_begin(struct lists_copy *c, int dir, const char *name);
int lists_copy_write(struct lists_copy *c, const char *p, size_t size);
int lists_copy_commit(struct lists_copy *c);
void lists_copy_drop(struct lists_copy *c);

/* True when what was written is, octet by octet, the copy that is in place. */
bool lists_copy_same(const struct lists_copy *c);

/*
 * Remove what belongs to no list: @is_kept is asked with names as
 * lists_store_name() gives them.  Returns how many, or a negative errno.
 */
int lists_store_sweep(int dir, bool (*is_kept)(void *arg, const char *name), void *arg);

#endif
