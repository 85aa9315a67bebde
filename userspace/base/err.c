/* SPDX-License-Identifier: BSD-2-Clause */
/* err.c - details of a failure. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/err.h"

int err_why(struct err_at *e, int err, const char *fmt, ...)
{
	va_list ap;

	if (e) {
		va_start(ap, fmt);
		vsnprintf(e->why, sizeof(e->why), fmt, ap);
		va_end(ap);
	}
	return err;
}

void err_where(struct err_at *e, const char *file, unsigned line, const char *key)
{
	if (!e)
		return;
	snprintf(e->file, sizeof(e->file), "%s", file ? file : "");
	snprintf(e->key, sizeof(e->key), "%s", key ? key : "");
	e->line = line;
}

const char *err_text(const struct err_at *e, char *buf, unsigned long size)
{
	char line[16] = "";

	if (e->line)
		snprintf(line, sizeof(line), "%u:", e->line);
	snprintf(buf, size, "%s%s%s%s%s%s%s", e->file, *e->file ? ":" : "", line, *e->file || *line ? " " : "",
		 e->key, *e->key ? ": " : "", e->why);
	return buf;
}
