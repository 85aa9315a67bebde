/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routes.c - every route, one row each, and the way from a request to its row.
 *
 * The list that GET /api/v1 answers with is made from these rows.
 */
#include <stdio.h>
#include <string.h>
#include "api/render.h"
#include "api/request.h"

#define NAME_EXPECTED "a domain name, with or without the final dot (\\DDD and \\X escapes as in zone files)"

const struct api_route api_routes[] = {
	{ "GET", API_PREFIX, api_get_routes, {}, "this list" },
	{ "GET", API_PREFIX "/status", api_get_status, {},
	  "the daemon, its interfaces and how each is attached, upstream servers, filter, reloads" },
	{ "GET", API_PREFIX "/stats", api_get_stats, {},
	  "counters of the packet path and of the daemon, the cache, latency by answer source" },
	{ "GET", API_PREFIX "/memory", api_get_memory, {}, "bytes of each BPF map, of the cache and of the process" },
	{ "GET", API_PREFIX "/lists", api_get_lists, {},
	  "the lists in force: lines kept, lines skipped, each reason with examples" },
	{ "GET", API_PREFIX "/why", api_get_why,
	  { { "name", NAME_EXPECTED, true },
	    { "client", "an IPv4 or IPv6 address; 127.0.0.1 when not given", false },
	    { "type", "a record type such as AAAA or TYPE65; A when not given", false },
	    { "edns", "none, edns or do (EDNS with DNSSEC OK); edns when not given", false } },
	  "what the kernel and the daemon would do with a question; nothing is counted or marked" },
	{ "GET", API_PREFIX "/tail", api_get_tail, {},
	  "answers as they are given, one JSON object a line, until the client or the daemon ends it" },
	{ "POST", API_PREFIX "/flush", api_post_flush, { { "name", NAME_EXPECTED "; everything when not given", false } },
	  "forget cached answers, in the kernel and in the daemon" },
	{ "POST", API_PREFIX "/reload", api_post_reload, {},
	  "read the configuration and the lists again; on failure the old ones stay in force" },
	{ NULL, NULL, NULL, {}, NULL }
};

static const struct api_route *find(const char *method, const char *path, const char **ret_allow)
{
	const struct api_route *r;

	for (r = api_routes; r->method; r++) {
		if (strcmp(r->path, path))
			continue;
		if (!strcmp(r->method, method))
			return r;
		*ret_allow = r->method;		/* no path has two */
	}
	return NULL;
}

/* State of the walk over a query string. */
struct walk {
	struct api_request *r;
	unsigned status;		/* 0 while all is well */
	json_t **ret;
};

static const char *params_text(const struct api_route *r, char *buf, size_t size)
{
	unsigned i;

	snprintf(buf, size, "%s", r->param[0].name ? "" : "no parameters");
	for (i = 0; i < API_PARAMS_MAX && r->param[i].name; i++)
		snprintf(buf + strlen(buf), size - strlen(buf), "%s%s", i ? ", " : "", r->param[i].name);
	return buf;
}

static enum MHD_Result take_param(void *arg, enum MHD_ValueKind kind, const char *key, size_t key_size,
				  const char *value, size_t size)
{
	struct walk *w = arg;
	const struct api_route *route = w->r->route;
	char known[128];
	unsigned i;

	for (i = 0; i < API_PARAMS_MAX && route->param[i].name; i++)
		if (!strcmp(route->param[i].name, key))
			break;
	if (i == API_PARAMS_MAX || !route->param[i].name)
		w->status = api_fail(w->ret, MHD_HTTP_BAD_REQUEST, key, params_text(route, known, sizeof(known)),
				     "this route does not know the parameter \"%s\"", key);
	else if (w->r->value[i])
		w->status = api_fail(w->ret, MHD_HTTP_BAD_REQUEST, key, route->param[i].expected,
				     "the parameter \"%s\" is given twice", key);
	else if (!value || !*value)
		w->status = api_fail(w->ret, MHD_HTTP_BAD_REQUEST, key, route->param[i].expected,
				     "the parameter \"%s\" is empty", key);
	else if (strlen(value) != size)
		w->status = api_fail(w->ret, MHD_HTTP_BAD_REQUEST, key, route->param[i].expected,
				     "the parameter \"%s\" holds a zero byte", key);
	else
		w->r->value[i] = value;
	return w->status ? MHD_NO : MHD_YES;
}

static unsigned check_params(struct api_request *r, json_t **ret)
{
	struct walk w = { .r = r, .ret = ret };
	unsigned i;

	MHD_get_connection_values_n(r->connection, MHD_GET_ARGUMENT_KIND, take_param, &w);
	for (i = 0; !w.status && i < API_PARAMS_MAX && r->route->param[i].name; i++)
		if (r->route->param[i].required && !r->value[i])
			w.status = api_fail(ret, MHD_HTTP_BAD_REQUEST, r->route->param[i].name,
					    r->route->param[i].expected, "the parameter \"%s\" is missing",
					    r->route->param[i].name);
	return w.status;
}

unsigned api_dispatch(struct api_request *r, const char *method, const char *path, json_t **ret,
		      const char **ret_allow)
{
	const char *allow = NULL;
	unsigned status;

	r->route = find(method, path, &allow);
	if (!r->route && allow) {
		*ret_allow = allow;
		return api_fail(ret, MHD_HTTP_METHOD_NOT_ALLOWED, path, allow, "%s is not a method of this path", method);
	}
	if (!r->route) {
		status = api_fail(ret, MHD_HTTP_NOT_FOUND, path, "a path of \"routes\"", "there is no such path");
		json_object_set_new(json_object_get(*ret, "error"), "routes", api_routes_json());
		return status;
	}
	status = check_params(r, ret);
	return status ? status : r->route->handle(r, ret);
}

json_t *api_routes_json(void)
{
	json_t *all = json_array(), *params;
	const struct api_route *r;
	unsigned i;

	for (r = api_routes; r->method; r++) {
		params = json_array();
		for (i = 0; i < API_PARAMS_MAX && r->param[i].name; i++)
			json_array_append_new(params, json_pack("{s:s, s:b, s:s}", "name", r->param[i].name, "required",
								r->param[i].required, "expected", r->param[i].expected));
		json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:o}", "method", r->method, "path", r->path, "help",
						     r->help, "parameters", params));
	}
	return all;
}
