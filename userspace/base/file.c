/* SPDX-License-Identifier: BSD-2-Clause */
/* file.c - opening and reading files without waiting; writing whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"

static int judge(int fd, struct stat *ret)
{
	if (fstat(fd, ret))
		return -errno;
	if (S_ISDIR(ret->st_mode))
		return -EISDIR;
	return S_ISFIFO(ret->st_mode) || S_ISSOCK(ret->st_mode) ? -ENOTSUP : 0;
}

int file_open(const char *path, int *ret_fd, struct stat *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	struct stat st;

	if (fd < 0)
		return -errno;
	err = judge(fd, &st);
	if (err) {
		close(fd);
		return err;
	}
	if (ret)
		*ret = st;
	*ret_fd = fd;
	return 0;
}

int file_fill(int fd, void *to, size_t size, size_t *ret)
{
	size_t got = 0;
	ssize_t n;

	while (got < size) {
		n = read(fd, (char *)to + got, size - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		got += (size_t)n;
	}
	*ret = got;
	return 0;
}

int file_read(const char *path, size_t max, char **ret, size_t *ret_size)
{
	char *text = NULL;
	struct stat st;
	size_t size;
	int fd, err;

	err = file_open(path, &fd, &st);
	if (err)
		return err;
	if (S_ISREG(st.st_mode) && (uintmax_t)st.st_size < max)
		max = (size_t)st.st_size;	/* a device does not say how much there is */
	text = malloc(max + 1);
	if (!text) {
		err = -ENOMEM;
		goto out;
	}
	err = file_fill(fd, text, max, &size);
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

FILE *file_stream(const char *path)
{
	int fd, err = file_open(path, &fd, NULL);
	FILE *f;

	if (err) {
		errno = -err;
		return NULL;
	}
	f = fdopen(fd, "r");
	if (!f)
		close(fd);
	return f;
}

int file_write(int fd, const void *p, size_t size)
{
	const char *from = p;
	ssize_t n;

	while (size) {
		n = write(fd, from, size);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			from += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

int file_sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[4200];
	int fd, err = 0;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fsync(fd) && errno != EINVAL && errno != EROFS)
		err = -errno;
	close(fd);
	return err;
}
