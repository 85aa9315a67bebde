/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fail.c - every error the API answers with has this one form.
 *
 * {"error": {"status", "what", "where", "expected"}}; where is null when
 * nothing is to blame.  Faults in files add "file", "line", "key".
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/render.h"
#include "api/request.h"

static json_t *optional(const char *s)
{
	return s && *s ? render_text(s, strlen(s)) : json_null();
}

unsigned api_fail(json_t **ret, unsigned status, const char *where, const char *expected, const char *fmt, ...)
{
	char what[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	*ret = json_pack("{s:{s:i, s:o, s:o, s:o}}", "error", "status", (int)status, "what", optional(what), "where",
			 optional(where), "expected", optional(expected));
	return status;
}

/* The HTTP status of a failure of control's. */
static unsigned status_of(int err)
{
	switch (-err) {
	case EBUSY:
	case ESHUTDOWN:
	case ETIMEDOUT:
	case ENOMEM:
	case EAGAIN:
		return MHD_HTTP_SERVICE_UNAVAILABLE;
	case EIO:
		return MHD_HTTP_INTERNAL_SERVER_ERROR;
	case ENOSPC:
		return MHD_HTTP_INSUFFICIENT_STORAGE;
	default:
		return MHD_HTTP_UNPROCESSABLE_CONTENT;
	}
}

/* The HTTP status of a change that was not made. */
static unsigned status_of_change(int err)
{
	switch (-err) {
	case ENOENT:
		return MHD_HTTP_NOT_FOUND;
	case EEXIST:
	case EPERM:
		return MHD_HTTP_CONFLICT;
	case EROFS:
	case EACCES:
		return MHD_HTTP_INTERNAL_SERVER_ERROR;
	default:
		return status_of(err);
	}
}

static unsigned describe(json_t **ret, unsigned status, int err, const char *what, const struct err_at *at)
{
	json_t *e;

	if (at && *at->why)
		api_fail(ret, status, NULL, NULL, "%s: %s", what, at->why);
	else
		api_fail(ret, status, NULL, NULL, "%s: %s", what,
			 err == -ESHUTDOWN ? "the daemon is stopping" : strerror(abs(err)));
	e = json_object_get(*ret, "error");
	if (!e || !at)
		return status;
	json_object_set_new(e, "file", optional(at->file));
	json_object_set_new(e, "line", at->line ? json_integer(at->line) : json_null());
	json_object_set_new(e, "key", optional(at->key));
	json_object_set_new(e, "why", optional(at->why));
	return status;
}

unsigned api_fail_errno(json_t **ret, int err, const char *what, const struct err_at *at)
{
	return describe(ret, status_of(err), err, what, at);
}

unsigned api_fail_change(json_t **ret, int err, const char *what, const struct err_at *at)
{
	return describe(ret, status_of_change(err), err, what, at);
}
