/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.h - opening and reading files that others may have put in place of what
 * we expect; writing whole.
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
 * Returns 0; -EISDIR for a folder; -ENOTSUP for a pipe or a socket; or the
 * negative errno of open().
 */
int file_open(const char *path, int *ret_fd, struct stat *ret);

/**
 * Read a file whole into memory: a mapping of a file that somebody cuts short
 * would end us.
 *
 * @max       bytes at most: what is longer is cut there, so a caller that
 *            must tell asks for one more than it allows
 * @ret       the contents (the caller's) and a zero behind them
 * @ret_size  bytes, without that zero
 *
 * Returns 0; -ENOMEM; the negative errno of file_open() or read().
 */
int file_read(const char *path, size_t max, char **ret, size_t *ret_size);

/* The same as file_open(), a stream; NULL with errno set. */
FILE *file_stream(const char *path);

/* Read until @size bytes are there or the file ends; @ret says how many there are.  0 or the negative errno of read(). */
int file_fill(int fd, void *to, size_t size, size_t *ret);

/* Write all of it.  0 or the negative errno of write(). */
int file_write(int fd, const void *p, size_t size);

/**
 * Sync the folder that @path is in, so that a new name there outlives a power cut.
 *
 * Returns 0, also where a file system knows no such thing; a negative errno.
 */
int file_sync_folder(const char *path);

#endif
