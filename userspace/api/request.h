/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request.h - what a handler is given, and how it fails.
 *
 * A handler returns an HTTP status and, in @ret, the JSON to send with it (the
 * caller's); or it sets request->stream.  Every error goes through
 * api_fail(), so all errors look alike.
 */
#ifndef API_REQUEST_H
#define API_REQUEST_H

#include <jansson.h>
#include <microhttpd.h>
#include <stdbool.h>
#include "api/api.h"

#define API_PARAMS_MAX 4
#define API_PREFIX     "/api/v1"

/* What streams share with api_stop(). */
struct api_life {
	_Atomic bool stopping;		/* the daemon ends: streams must too */
	_Atomic unsigned streams;	/* that have not ended yet */
};

struct api_request;

struct api_param {
	const char *name;
	const char *expected;
	bool required;
};

struct api_route {
	const char *method;
	const char *path;
	unsigned (*handle)(struct api_request *r, json_t **ret);
	struct api_param param[API_PARAMS_MAX];		/* the last ones may be empty */
	const char *help;
};

struct api_request {
	struct control *control;
	struct api_life *life;
	struct MHD_Connection *connection;
	const struct api_route *route;
	const char *value[API_PARAMS_MAX];		/* of route->param; NULL: not given */
	struct MHD_Response *stream;			/* set by a handler instead of JSON */
};

/* The table, ended by a row without a method. */
extern const struct api_route api_routes[];

/**
 * Find the row, check the parameters, call the handler.
 *
 * @ret_allow  on 405: the methods that the path knows (static or of the table)
 *
 * Returns the HTTP status.
 */
unsigned api_dispatch(struct api_request *r, const char *method, const char *path, json_t **ret,
		      const char **ret_allow);

/* The table as JSON. */
json_t *api_routes_json(void);

/**
 * Describe a failure.
 *
 * @where     parameter, file or path that is to blame; NULL when none
 * @expected  what would have been right; NULL when that says nothing
 *
 * Returns @status, so that "return api_fail(...)" reads well.
 */
unsigned api_fail(json_t **ret, unsigned status, const char *where, const char *expected, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* The same from a negative errno of control/ and its details (may be NULL). */
unsigned api_fail_errno(json_t **ret, int err, const char *what, const struct err_at *at);

/* Handlers: handlers.c and tail.c. */
unsigned api_get_routes(struct api_request *r, json_t **ret);
unsigned api_get_status(struct api_request *r, json_t **ret);
unsigned api_get_stats(struct api_request *r, json_t **ret);
unsigned api_get_memory(struct api_request *r, json_t **ret);
unsigned api_get_lists(struct api_request *r, json_t **ret);
unsigned api_get_why(struct api_request *r, json_t **ret);
unsigned api_get_tail(struct api_request *r, json_t **ret);
unsigned api_post_flush(struct api_request *r, json_t **ret);
unsigned api_post_reload(struct api_request *r, json_t **ret);

#endif
