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

#define LIST_BODY "{ name:, file: or url:, refresh:, format:, action: }, as in filter.lists"
#define GROUP_BODY "{ clients:, lists:, rules:, block:, safe_search:, no_types:, schedules: }, as in groups"
#define PAUSE_BODY "{ scope: all, group or client (all), name: of the group or client, seconds: (0: until it is ended) }"

const struct api_route api_routes[] = {
	{ "GET", API_PREFIX, api_get_routes, {}, "this list", NULL },
	{ "GET", API_PREFIX "/status", api_get_status, {},
	  "the daemon, its interfaces and how each is attached, upstream servers, filter, reloads", NULL },
	{ "GET", API_PREFIX "/stats", api_get_stats, {},
	  "counters of the packet path and of the daemon, the cache, latency by answer source", NULL },
	{ "GET", API_PREFIX "/memory", api_get_memory, {}, "bytes of each BPF map, of the cache and of the process", NULL },
	{ "GET", API_PREFIX "/upstreams", api_get_upstreams, {},
	  "the servers that are asked: state, latency, what is in flight, errors by kind and the last one's reason", NULL },
	{ "GET", API_PREFIX "/lists", api_get_lists, {},
	  "the lists in force: lines kept, lines skipped, each reason with examples", NULL },
	{ "POST", API_PREFIX "/lists", api_post_list, {}, "make a list; it is in force when the answer comes", LIST_BODY },
	{ "GET", API_PREFIX "/lists/{name}", api_get_list, {}, "one list", NULL },
	{ "DELETE", API_PREFIX "/lists/{name}", api_delete_list, {}, "take a list away", NULL },
	{ "POST", API_PREFIX "/lists/{name}/refresh", api_post_refresh_list, {},
	  "fetch a list now; what comes of it is in the list", NULL },
	{ "POST", API_PREFIX "/refresh", api_post_refresh, {}, "fetch every list that comes from a URL now", NULL },
	{ "GET", API_PREFIX "/rules", api_get_rules, { { "group", "those of this group alone", false } },
	  "the rules that are for all groups, and those of each group", NULL },
	{ "POST", API_PREFIX "/rules", api_post_rule, {}, "make a rule, for all or for one group; it is in force when the answer comes",
	  "{ rule: a line as in a list of format adblock, group: }" },
	{ "DELETE", API_PREFIX "/rules", api_delete_rule,
	  { { "rule", "a rule as it was made", true }, { "group", "the group that it was made for", false } },
	  "take a rule away", NULL },
	{ "GET", API_PREFIX "/rewrites", api_get_rewrites, {}, "local names and what they are answered with", NULL },
	{ "PUT", API_PREFIX "/rewrites/{name}", api_put_rewrite, {}, "make or change a local name",
	  "{ answers: [addresses, or one name], ttl: }, as in filter.rewrites" },
	{ "DELETE", API_PREFIX "/rewrites/{name}", api_delete_rewrite, {}, "take a local name away", NULL },
	{ "GET", API_PREFIX "/clients", api_get_clients, {}, "clients that have a name", NULL },
	{ "GET", API_PREFIX "/clients/{name}", api_get_client, {}, "one client", NULL },
	{ "PUT", API_PREFIX "/clients/{name}", api_put_client, {}, "make or change a client",
	  "{ addresses:, tags: }, as in clients" },
	{ "DELETE", API_PREFIX "/clients/{name}", api_delete_client, {}, "take a client away", NULL },
	{ "GET", API_PREFIX "/groups", api_get_groups, {}, "groups of clients and what each uses", NULL },
	{ "GET", API_PREFIX "/groups/{name}", api_get_group, {}, "one group", NULL },
	{ "PUT", API_PREFIX "/groups/{name}", api_put_group, {}, "make or change a group", GROUP_BODY },
	{ "PATCH", API_PREFIX "/groups/{name}", api_patch_group, {},
	  "change what the body names (null: as if it had not been given), or make a group", GROUP_BODY },
	{ "DELETE", API_PREFIX "/groups/{name}", api_delete_group, {}, "take a group away", NULL },
	{ "GET", API_PREFIX "/pause", api_get_pause, {}, "pauses in force and how long each lasts", NULL },
	{ "POST", API_PREFIX "/pause", api_post_pause, {}, "lift blocks for a time", PAUSE_BODY },
	{ "DELETE", API_PREFIX "/pause", api_delete_pause,
	  { { "scope", "all, group or client; all when not given", false }, { "name", "of the group or client", false } },
	  "end a pause", NULL },
	{ "GET", API_PREFIX "/why", api_get_why,
	  { { "name", NAME_EXPECTED, true },
	    { "client", "an IPv4 or IPv6 address, mac:02:00:00:00:00:01 or the name of a client; 127.0.0.1 when not given", false },
	    { "type", "a record type such as AAAA or TYPE65; A when not given", false },
	    { "edns", "none, edns or do (EDNS with DNSSEC OK); edns when not given", false } },
	  "what the kernel and the daemon would do with a question; nothing is counted or marked", NULL },
	{ "GET", API_PREFIX "/tail", api_get_tail, {},
	  "answers as they are given, one JSON object a line, until the client or the daemon ends it", NULL },
	{ "POST", API_PREFIX "/flush", api_post_flush, { { "name", NAME_EXPECTED "; everything when not given", false } },
	  "forget cached answers, in the kernel and in the daemon", NULL },
	{ "POST", API_PREFIX "/reload", api_post_reload, {},
	  "read the configuration and the lists again; on failure the old ones stay in force", NULL },
	{ NULL, NULL, NULL, {}, NULL, NULL }
};

/* True when @path is what @pattern says; the name in it goes to @ret_name. */
static bool matches(const char *pattern, const char *path, char *ret_name)
{
	const char *hole = strstr(pattern, "{name}"), *end;
	size_t before = hole ? (size_t)(hole - pattern) : 0, len;

	if (!hole)
		return !strcmp(pattern, path);
	if (strncmp(pattern, path, before))
		return false;
	path += before;
	end = strchrnul(path, '/');
	len = (size_t)(end - path);
	if (!len || len >= API_NAME_MAX || strcmp(end, hole + strlen("{name}")))
		return false;
	memcpy(ret_name, path, len);
	ret_name[len] = '\0';
	return true;
}

/* The row of a request; without one r->allow has the methods of the path, if that is known. */
static const struct api_route *find(struct api_request *r, const char *method, const char *path)
{
	const struct api_route *at;
	size_t n = 0;

	for (at = api_routes; at->method; at++) {
		if (!matches(at->path, path, r->name))
			continue;
		if (!strcmp(at->method, method))
			return at;
		n += (size_t)snprintf(r->allow + n, sizeof(r->allow) - n, "%s%s", n ? ", " : "", at->method);
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

unsigned api_dispatch(struct api_request *r, const char *method, const char *path, const char *text, size_t size,
		      json_t **ret)
{
	unsigned status;

	r->route = find(r, method, path);
	if (!r->route && *r->allow)
		return api_fail(ret, MHD_HTTP_METHOD_NOT_ALLOWED, path, r->allow, "%s is not a method of this path", method);
	if (!r->route) {
		status = api_fail(ret, MHD_HTTP_NOT_FOUND, path, "a path of \"routes\"", "there is no such path");
		json_object_set_new(json_object_get(*ret, "error"), "routes", api_routes_json());
		return status;
	}
	status = check_params(r, ret);
	if (!status)
		status = api_body_read(r, text, size, ret);
	if (!status)
		status = r->route->handle(r, ret);
	json_decref(r->body);
	r->body = NULL;
	return status;
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
		json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:o, s:s?}", "method", r->method, "path", r->path,
						     "help", r->help, "parameters", params, "body", r->body));
	}
	return all;
}
