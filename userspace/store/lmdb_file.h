/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lmdb_file.h - the file that LMDB is going to map: whose it is, whether it is
 * whole, and where it goes when it is not.
 */
#ifndef STORE_LMDB_FILE_H
#define STORE_LMDB_FILE_H

#include <stddef.h>
#include "base/err.h"

/**
 * Open the file, make it when there is none, lock it, look through it.
 *
 * A damaged one becomes PATH.damaged, in the place of an earlier one: it held
 * a copy of what others know.  One of another program becomes PATH.foreign (.2
 * ... 9), and none is ever replaced.
 *
 * @ret_fd    keeps the lock; the caller's
 * @ret_note  says what became of the older file, "" when it is the one
 *
 * Returns 0; -EBUSY when another process has it; -EEXIST when no name is left
 * for a foreign one; the negative errno of the system; all with @reterr.
 */
int lmdb_file_open(const char *path, int *ret_fd, char *ret_note, size_t note_size, struct err_at *reterr);

/* Move a file aside that turned out to be another program's.  As above. */
int lmdb_file_foreign(const char *path, char *ret_note, size_t note_size, struct err_at *reterr);

/* Move a damaged file aside. */
int lmdb_file_damaged(const char *path, const char *why, char *ret_note, size_t note_size, struct err_at *reterr);

#endif
