/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.h - opening files that others may have put in place of what we expect.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdio.h>
#include <sys/stat.h>

/**
 * Open a file for reading, without ever waiting: an open() of a pipe that
 * nobody writes to would hold up its thread, and a daemon, for ever.
 *
 * @ret_fd  the caller's to close
 * @ret     what it is; may be NULL
 *
 * Returns 0; -EISDIR for a folder; -ESPIPE for a pipe or a socket; or the
 * negative errno of open().
 */
int file_open(const char *path, int *ret_fd, struct stat *ret);

/* The same as a stream; NULL with errno set. */
FILE *file_stream(const char *path);

#endif
