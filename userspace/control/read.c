/* SPDX-License-Identifier: BSD-2-Clause */
/* read.c - the configuration's file, read whole and checked. */
#define LOG_ROOM "control"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/log.h"
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
	size_t size;
	char *text;
	int err;

	/* One octet more than allowed, so that config_load() can say that it is too big. */
	err = file_read(path, CONFIG_SIZE_MAX + 1, &text, &size);
	if (err)
		return one_error(reterrs, path, err);
	err = config_load(text, size, path, ret, reterrs);
	free(text);
	return err && !reterrs->count ? one_error(reterrs, path, err) : err;
}

void control_log_errors(const struct config_errors *errors)
{
	char text[1024];
	unsigned i;

	for (i = 0; i < errors->count; i++)
		log_err("%s", err_text(&errors->at[i], text, sizeof(text)));
	if (errors->more)
		log_err("%u more errors", errors->more);
}
