/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * body.c - the body of a request: one JSON object, bounded in size and depth.
 */
#include <stdbool.h>
#include <string.h>
#include "api/request.h"

/* How deep arrays and objects stand in one another; what is no JSON is judged by who reads it. */
static unsigned depth_of(const char *text, size_t size)
{
	unsigned depth = 0, deepest = 0;
	bool quoted = false;
	size_t i;

	for (i = 0; i < size; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && (text[i] == '{' || text[i] == '['))
			depth++;
		else if (!quoted && depth && (text[i] == '}' || text[i] == ']'))
			depth--;
		if (depth > deepest)
			deepest = depth;
	}
	return deepest;
}

unsigned api_body_read(struct api_request *r, const char *text, size_t size, json_t **ret)
{
	const char *expected = r->route->body;
	json_error_t why;

	if (!expected)
		return size ? api_fail(ret, MHD_HTTP_BAD_REQUEST, "body", "no body",
				       "this route takes no body, and this one had %zu bytes", size) : 0;
	if (!size)
		return api_fail(ret, MHD_HTTP_BAD_REQUEST, "body", expected, "the body is missing");
	if (depth_of(text, size) > API_DEPTH_MAX)
		return api_fail(ret, MHD_HTTP_BAD_REQUEST, "body", expected,
				"arrays and objects of the body stand more than %u deep in one another", API_DEPTH_MAX);
	r->body = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
	if (!r->body)
		return api_fail(ret, MHD_HTTP_BAD_REQUEST, "body", expected, "the body is not JSON: line %d, column %d: %s",
				why.line, why.column, why.text);
	if (json_is_object(r->body))
		return 0;
	return api_fail(ret, MHD_HTTP_BAD_REQUEST, "body", expected, "the body is JSON, but no object");
}
