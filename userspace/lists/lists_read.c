/* SPDX-License-Identifier: BSD-2-Clause */
/* lists_read.c - lists from files. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "lists/lists_read.h"

#define TRIES 2

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Read @size octets and look for one more: fewer or more means that it changes. */
static int fill(int fd, char *text, size_t size)
{
	size_t got;
	int err = file_fill(fd, text, size + 1, &got);

	return err ? err : got == size ? 0 : -EAGAIN;
}

/* -EAGAIN when the file changed meanwhile. */
static int read_once(const struct lists_reading *r, const char *path, char **ret, size_t *ret_size)
{
	struct stat before, after;
	char *text = NULL;
	size_t size;
	int fd, err;

	err = file_open(path, &fd, &before);
	if (err)
		return err;
	size = (size_t)before.st_size;
	err = !S_ISREG(before.st_mode) ? -ENOTSUP : (uint64_t)before.st_size > r->max ? -EFBIG : 0;
	if (err)
		goto out;
	text = malloc(size + 1);
	if (!text) {
		err = -ENOMEM;
		goto out;
	}
	if (r->between)
		r->between(r->arg);
	err = fill(fd, text, size);
	if (!err && fstat(fd, &after))
		err = -errno;
	if (!err && !is_same(&before, &after))
		err = -EAGAIN;
	if (err)
		goto out;
	text[size] = '\0';
	*ret = text;
	*ret_size = size;
	text = NULL;		/* now the caller's */
out:
	free(text);
	close(fd);
	return err;
}

int lists_read_with(const struct lists_reading *r, const char *path, char **ret, size_t *ret_size, struct err_at *reterr)
{
	int err = -EAGAIN, i;

	for (i = 0; i < TRIES && err == -EAGAIN; i++)
		err = read_once(r, path, ret, ret_size);
	if (!err)
		return 0;
	err_where(reterr, path, 0, NULL);
	switch (err) {
	case -EAGAIN:
		return err_why(reterr, err, "it changes while it is read, twice over: put a whole file in its place");
	case -EISDIR:
		return err_why(reterr, err, "it is a folder, expected a file");
	case -ENOTSUP:
		return err_why(reterr, err, "it is no plain file (a pipe, a socket or a device)");
	case -EFBIG:
		return err_why(reterr, err, "it is larger than %" PRIu64 " bytes", r->max);
	}
	return err_why(reterr, err, "%s", strerror(-err));
}

int lists_read_file(const char *path, char **ret, size_t *ret_size, struct err_at *reterr)
{
	struct lists_reading r = { .max = LISTS_FILE_MAX };

	return lists_read_with(&r, path, ret, ret_size, reterr);
}
