/* SPDX-License-Identifier: BSD-2-Clause */
/* read.c - the configuration's file, read whole and checked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "control/control.h"

static int one_error(struct config_errors *errors, const char *path, int err)
{
	err_where(&errors->at[0], path, 0, NULL);
	err_why(&errors->at[0], err, "the configuration cannot be read: %s", strerror(-err));
	errors->count = 1;
	return err;
}

int control_read_config(const char *path, struct config **ret, struct config_errors *reterrs)
{
	char *text = malloc(CONFIG_SIZE_MAX + 1);
	size_t size = 0;
	ssize_t n = 0;
	int fd, err;

	if (!text)
		return one_error(reterrs, path, -ENOMEM);
	err = file_open(path, &fd, NULL);
	if (err) {
		one_error(reterrs, path, err);
		goto out;
	}
	/* One octet more than allowed is read, so that config_load() can say that it is too big. */
	while (size < CONFIG_SIZE_MAX + 1 && (n = read(fd, text + size, CONFIG_SIZE_MAX + 1 - size)) > 0)
		size += (size_t)n;
	err = n < 0 ? one_error(reterrs, path, -errno) : config_load(text, size, path, ret, reterrs);
	close(fd);
out:
	free(text);
	return err;
}
