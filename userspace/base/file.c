/* SPDX-License-Identifier: BSD-2-Clause */
/* file.c - opening files without waiting. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "base/file.h"

static int judge(int fd, struct stat *ret)
{
	if (fstat(fd, ret))
		return -errno;
	if (S_ISDIR(ret->st_mode))
		return -EISDIR;
	return S_ISFIFO(ret->st_mode) || S_ISSOCK(ret->st_mode) ? -ESPIPE : 0;
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
