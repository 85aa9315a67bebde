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
#define API_NAME_MAX   512		/* bytes of a name in a path, with its end */
#define API_BODY_MAX   (1U << 20)	/* bytes of a body */
#define API_DEPTH_MAX  8		/* arrays and objects in one another */

/* What streams share with api_stop(). */
struct api_life {
	_Atomic bool stopping;		/* the daemon ends: streams must too */
};

struct api_request;

struct api_param {
	const char *name;
	const char *expected;
	bool required;
};

struct api_route {
	const char *method;
	const char *path;		/* one segment may be "{name}": any name */
	unsigned (*handle)(struct api_request *r, json_t **ret);
	struct api_param param[API_PARAMS_MAX];		/* the last ones may be empty */
	const char *help;
	const char *body;		/* the JSON object that is expected; NULL: no body is taken */
};

struct api_request {
	struct control *control;
	struct api_life *life;
	struct MHD_Connection *connection;
	const struct api_route *route;
	const char *value[API_PARAMS_MAX];		/* of route->param; NULL: not given */
	char name[API_NAME_MAX];			/* what stands for {name} */
	json_t *body;					/* an object; NULL where the route takes none */
	char allow[64];					/* on 405: the methods that the path knows */
	struct MHD_Response *stream;			/* set by a handler instead of JSON */
};

/* The table, ended by a row without a method. */
extern const struct api_route api_routes[];

/**
 * Find the row, check the parameters and the body, call the handler.
 *
 * @text  the body as it came, @size bytes, with a zero behind; NULL: none
 *
 * Returns the HTTP status.
 */
unsigned api_dispatch(struct api_request *r, const char *method, const char *path, const char *text, size_t size,
		      json_t **ret);

/**
 * Read a body into r->body (body.c).
 *
 * Returns 0, or the HTTP status of what is wrong with it.
 */
unsigned api_body_read(struct api_request *r, const char *text, size_t size, json_t **ret);

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

/* The same from those functions of control/ that change objects: they say what is not there (404) or not ours to change (409). */
unsigned api_fail_change(json_t **ret, int err, const char *what, const struct err_at *at);

/* ---- for handlers ---- */

/* Value of a parameter of the route by its name; NULL when it was not given. */
const char *api_param(const struct api_request *r, const char *name);

/* Say that a parameter's value is not what its row expects. */
unsigned api_bad_param(const struct api_request *r, const char *name, json_t **ret);

/* Handlers: handlers.c, objects.c, pause.c and tail.c. */
unsigned api_get_routes(struct api_request *r, json_t **ret);
unsigned api_get_status(struct api_request *r, json_t **ret);
unsigned api_get_stats(struct api_request *r, json_t **ret);
unsigned api_get_memory(struct api_request *r, json_t **ret);
unsigned api_get_upstreams(struct api_request *r, json_t **ret);
unsigned api_get_lists(struct api_request *r, json_t **ret);
unsigned api_get_why(struct api_request *r, json_t **ret);
unsigned api_get_tail(struct api_request *r, json_t **ret);
unsigned api_post_flush(struct api_request *r, json_t **ret);
unsigned api_post_reload(struct api_request *r, json_t **ret);
unsigned api_get_list(struct api_request *r, json_t **ret);
unsigned api_post_list(struct api_request *r, json_t **ret);
unsigned api_delete_list(struct api_request *r, json_t **ret);
unsigned api_post_refresh(struct api_request *r, json_t **ret);
unsigned api_post_refresh_list(struct api_request *r, json_t **ret);
unsigned api_get_rules(struct api_request *r, json_t **ret);
unsigned api_post_rule(struct api_request *r, json_t **ret);
unsigned api_delete_rule(struct api_request *r, json_t **ret);
unsigned api_get_rewrites(struct api_request *r, json_t **ret);
unsigned api_put_rewrite(struct api_request *r, json_t **ret);
unsigned api_delete_rewrite(struct api_request *r, json_t **ret);
unsigned api_get_clients(struct api_request *r, json_t **ret);
unsigned api_get_client(struct api_request *r, json_t **ret);
unsigned api_put_client(struct api_request *r, json_t **ret);
unsigned api_delete_client(struct api_request *r, json_t **ret);
unsigned api_get_groups(struct api_request *r, json_t **ret);
unsigned api_get_group(struct api_request *r, json_t **ret);
unsigned api_put_group(struct api_request *r, json_t **ret);
unsigned api_patch_group(struct api_request *r, json_t **ret);
unsigned api_delete_group(struct api_request *r, json_t **ret);
unsigned api_get_pause(struct api_request *r, json_t **ret);
unsigned api_post_pause(struct api_request *r, json_t **ret);
unsigned api_delete_pause(struct api_request *r, json_t **ret);

#endif
