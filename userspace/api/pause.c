/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pause.c - pauses: shown, begun, ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "api/render.h"
#include "api/request.h"

static unsigned bad_member(const struct api_request *r, const char *member, json_t **ret, const char *what)
{
	return api_fail(ret, MHD_HTTP_BAD_REQUEST, member, r->route->body, "%s", what);
}

static int scope_of(const char *text)
{
	int i;

	for (i = 0; i < CONTROL_SCOPES; i++)
		if (!strcmp(text, control_scope_names[i]))
			return i;
	return -1;
}

/* A scope and its name belong together; 0 or the status. */
static unsigned check_scope(const struct api_request *r, int scope, const char *name, json_t **ret)
{
	if (scope < 0)
		return api_fail(ret, MHD_HTTP_BAD_REQUEST, "scope", "all, group or client", "this is no scope");
	if (scope == CONTROL_SCOPE_ALL && *name)
		return api_fail(ret, MHD_HTTP_BAD_REQUEST, "name", "no name", "a pause for all has no name");
	if (scope != CONTROL_SCOPE_ALL && !*name)
		return api_fail(ret, MHD_HTTP_BAD_REQUEST, "name", "the name of the group or client",
				"a pause for a %s needs its name", control_scope_names[scope]);
	return 0;
}

static unsigned shown(json_t **ret, enum control_scope scope, const char *name, bool paused)
{
	*ret = json_pack("{s:s, s:o, s:b}", "scope", control_scope_names[scope], "name", render_text(name, strlen(name)),
			 "paused", paused);
	return MHD_HTTP_OK;
}

unsigned api_post_pause(struct api_request *r, json_t **ret)
{
	const char *scope = "all", *name = "", *key;
	struct err_at at = { 0 };
	json_int_t seconds = 0;
	unsigned status;
	json_t *value;
	int err;

	json_object_foreach(r->body, key, value) {
		if (!strcmp(key, "scope") && json_is_string(value))
			scope = json_string_value(value);
		else if (!strcmp(key, "name") && json_is_string(value))
			name = json_string_value(value);
		else if (!strcmp(key, "seconds") && json_is_integer(value))
			seconds = json_integer_value(value);
		else
			return bad_member(r, key, ret, "this is no member of a pause, or not of that kind");
	}
	if (seconds < 0 || seconds > CONTROL_PAUSE_MAX_S)
		return bad_member(r, "seconds", ret, "a pause lasts 0 (until it is ended) to 31622400 seconds");
	status = check_scope(r, scope_of(scope), name, ret);
	if (status)
		return status;
	err = control_pause(r->control, (enum control_scope)scope_of(scope), name, (uint32_t)seconds, &at);
	if (err)
		return api_fail_change(ret, err, "not paused", &at);
	return shown(ret, (enum control_scope)scope_of(scope), name, true);
}

unsigned api_delete_pause(struct api_request *r, json_t **ret)
{
	const char *scope = api_param(r, "scope"), *name = api_param(r, "name");
	int number = scope_of(scope ? scope : "all"), err;
	unsigned status = check_scope(r, number, name ? name : "", ret);
	struct err_at at = { 0 };

	if (status)
		return status;
	err = control_resume(r->control, (enum control_scope)number, name ? name : "", &at);
	if (err)
		return api_fail_change(ret, err, "nothing was changed", &at);
	return shown(ret, (enum control_scope)number, name ? name : "", false);
}

unsigned api_get_pause(struct api_request *r, json_t **ret)
{
	struct control_pause *p = calloc(CONTROL_PAUSES_MAX, sizeof(*p));
	int i, count = p ? control_pauses(r->control, p, CONTROL_PAUSES_MAX) : -ENOMEM;
	json_t *all = json_array();

	for (i = 0; i < count; i++)
		json_array_append_new(all, json_pack("{s:s, s:o, s:o}", "scope", control_scope_names[p[i].scope], "name",
						     render_text(p[i].name, sizeof(p[i].name)), "left_s",
						     p[i].left_s ? render_u64(p[i].left_s) : json_null()));
	free(p);
	if (count < 0) {
		json_decref(all);
		return api_fail_errno(ret, count, "no pauses", NULL);
	}
	*ret = json_pack("{s:o}", "pauses", all);
	return MHD_HTTP_OK;
}
