/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * objects.c - lists, rules, rewrites, clients and groups: shown, made, changed, taken away.
 *
 * What a body must hold is judged where the configuration file is: config/.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "api/render.h"
#include "api/request.h"

#define OK MHD_HTTP_OK

/* ---- shown ---- */

/* A picture that is made while the configuration is looked at. */
struct look {
	json_t *(*render)(const struct config *c);
	const char *name;		/* of the one that is wanted */
	json_t *made;
};

static void look_at_all(const struct config *c, void *arg)
{
	struct look *l = arg;

	l->made = l->render(c);
}

static unsigned show(struct api_request *r, json_t *(*render)(const struct config *c), json_t **ret)
{
	struct look l = { .render = render };
	int err = control_look(r->control, look_at_all, &l);

	if (err)
		return api_fail_errno(ret, err, "cannot be shown", NULL);
	*ret = l.made;
	return OK;
}

static void look_at_rules(const struct config *c, void *arg)
{
	struct look *l = arg;

	l->made = render_rules(c, l->name);
}

unsigned api_get_rules(struct api_request *r, json_t **ret)
{
	struct look l = { .name = api_param(r, "group") };
	int err = control_look(r->control, look_at_rules, &l);

	if (err)
		return api_fail_errno(ret, err, "cannot be shown", NULL);
	*ret = l.made;
	return OK;
}

unsigned api_get_rewrites(struct api_request *r, json_t **ret)
{
	return show(r, render_rewrites, ret);
}

unsigned api_get_clients(struct api_request *r, json_t **ret)
{
	return show(r, render_clients, ret);
}

unsigned api_get_groups(struct api_request *r, json_t **ret)
{
	return show(r, render_groups, ret);
}

static void look_for_client(const struct config *c, void *arg)
{
	struct look *l = arg;
	unsigned i;

	for (i = 0; i < c->clients.count && !l->made; i++)
		if (!strcmp(c->clients.at[i].name, l->name))
			l->made = render_client(&c->clients.at[i]);
}

static void look_for_group(const struct config *c, void *arg)
{
	struct look *l = arg;
	unsigned i;

	for (i = 0; i < c->groups.count && !l->made; i++)
		if (!strcmp(c->groups.at[i].name, l->name))
			l->made = render_group(&c->groups.at[i]);
}

static unsigned show_one(struct api_request *r, void (*look)(const struct config *c, void *arg), const char *kind,
			 json_t **ret)
{
	struct look l = { .name = r->name };
	int err = control_look(r->control, look, &l);

	if (err)
		return api_fail_errno(ret, err, "cannot be shown", NULL);
	*ret = l.made;
	return l.made ? OK : api_fail(ret, MHD_HTTP_NOT_FOUND, r->name, NULL, "there is no %s of this name", kind);
}

unsigned api_get_client(struct api_request *r, json_t **ret)
{
	return show_one(r, look_for_client, "client", ret);
}

unsigned api_get_group(struct api_request *r, json_t **ret)
{
	return show_one(r, look_for_group, "group", ret);
}

unsigned api_get_list(struct api_request *r, json_t **ret)
{
	struct control_list *l = calloc(CONTROL_LISTS_MAX, sizeof(*l));
	int i, count = l ? control_lists(r->control, l, CONTROL_LISTS_MAX) : -ENOMEM;

	for (i = 0; i < count; i++)
		if (!strcmp(l[i].name, r->name))
			break;
	if (i < count)
		*ret = render_list(&l[i]);
	free(l);
	if (count < 0)
		return api_fail_errno(ret, count, "no lists", NULL);
	return i < count ? OK : api_fail(ret, MHD_HTTP_NOT_FOUND, r->name, NULL, "there is no list of this name");
}

/* ---- changes ---- */

static unsigned changed(json_t **ret, const char *kind, const char *name, const char *how)
{
	*ret = json_pack("{s:s, s:o, s:s}", "kind", kind, "name", render_text(name, strlen(name)), "done", how);
	return OK;
}

/* Held by every change, so that what a PATCH has read is what it changes. */
static pthread_mutex_t changes = PTHREAD_MUTEX_INITIALIZER;

static unsigned put_locked(struct api_request *r, const char *kind, const char *name, const json_t *body, bool replace,
			   json_t **ret)
{
	char *text = json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY);
	struct err_at at = { 0 };
	int err = text ? control_object_put(r->control, kind, name, text, replace, &at) : -ENOMEM;

	free(text);
	return err ? api_fail_change(ret, err, "nothing was changed", &at) : changed(ret, kind, name, "put");
}

static unsigned put(struct api_request *r, const char *kind, const char *name, const json_t *body, bool replace,
		    json_t **ret)
{
	unsigned status;

	pthread_mutex_lock(&changes);
	status = put_locked(r, kind, name, body, replace, ret);
	pthread_mutex_unlock(&changes);
	return status;
}

static unsigned take_away(struct api_request *r, const char *kind, const char *name, json_t **ret)
{
	struct err_at at = { 0 };
	int err;

	pthread_mutex_lock(&changes);
	err = control_object_delete(r->control, kind, name, &at);
	pthread_mutex_unlock(&changes);
	return err ? api_fail_change(ret, err, "nothing was changed", &at) : changed(ret, kind, name, "deleted");
}

/* The member of the body that names the object; NULL when it has said what is wrong. */
static const char *member_text(struct api_request *r, const char *member, json_t **ret, unsigned *ret_status)
{
	const char *text = json_string_value(json_object_get(r->body, member));

	if (text && *text)
		return text;
	*ret_status = api_fail(ret, MHD_HTTP_BAD_REQUEST, member, r->route->body, "the body has no text \"%s\"", member);
	return NULL;
}

unsigned api_post_list(struct api_request *r, json_t **ret)
{
	unsigned status = 0;
	const char *name = member_text(r, "name", ret, &status);

	return name ? put(r, "list", name, r->body, false, ret) : status;
}

unsigned api_delete_list(struct api_request *r, json_t **ret)
{
	return take_away(r, "list", r->name, ret);
}

/* What a rule of a group is called; the caller's. */
static char *group_rule_name(const char *group, const char *rule)
{
	char *name = NULL;

	return asprintf(&name, "%s %s", group, rule) < 0 ? NULL : name;
}

/* To the user it is a rule, of a group. */
static unsigned as_rule(unsigned status, const char *group, const char *rule, json_t *answer)
{
	if (status != OK)
		return status;
	json_object_set_new(answer, "kind", json_string("rule"));
	json_object_set_new(answer, "name", render_text(rule, strlen(rule)));
	json_object_set_new(answer, "group", render_text(group, strlen(group)));
	return status;
}

unsigned api_post_rule(struct api_request *r, json_t **ret)
{
	unsigned status = 0;
	const char *rule = member_text(r, "rule", ret, &status), *group = NULL;
	char *name;

	if (rule && json_object_get(r->body, "group"))
		group = member_text(r, "group", ret, &status);
	if (status)
		return status;
	if (!group)
		return put(r, "rule", rule, r->body, false, ret);
	name = group_rule_name(group, rule);
	status = name ? put(r, CONFIG_GROUP_RULE, name, r->body, false, ret) :
			api_fail_errno(ret, -ENOMEM, "nothing was changed", NULL);
	free(name);
	return as_rule(status, group, rule, *ret);
}

unsigned api_delete_rule(struct api_request *r, json_t **ret)
{
	const char *rule = api_param(r, "rule"), *group = api_param(r, "group");
	unsigned status;
	char *name;

	if (!group)
		return take_away(r, "rule", rule, ret);
	name = group_rule_name(group, rule);
	status = name ? take_away(r, CONFIG_GROUP_RULE, name, ret) :
			api_fail_errno(ret, -ENOMEM, "nothing was changed", NULL);
	free(name);
	return as_rule(status, group, rule, *ret);
}

/* One spelling for each name, the one that is shown: without capitals and the final dot. */
static const char *plain_name(struct api_request *r)
{
	size_t len = strlen(r->name), i;

	for (i = 0; i < len; i++)
		if (r->name[i] >= 'A' && r->name[i] <= 'Z')
			r->name[i] = (char)(r->name[i] - 'A' + 'a');
	if (len > 1 && r->name[len - 1] == '.' && r->name[len - 2] != '.')
		r->name[len - 1] = '\0';
	return r->name;
}

unsigned api_put_rewrite(struct api_request *r, json_t **ret)
{
	return put(r, "rewrite", plain_name(r), r->body, true, ret);
}

unsigned api_delete_rewrite(struct api_request *r, json_t **ret)
{
	return take_away(r, "rewrite", plain_name(r), ret);
}

unsigned api_put_client(struct api_request *r, json_t **ret)
{
	return put(r, "client", r->name, r->body, true, ret);
}

unsigned api_delete_client(struct api_request *r, json_t **ret)
{
	return take_away(r, "client", r->name, ret);
}

unsigned api_put_group(struct api_request *r, json_t **ret)
{
	/* shown with the group, and objects of their own */
	json_object_del(r->body, "added_rules");
	return put(r, "group", r->name, r->body, true, ret);
}

/* RFC 7396: null takes a member away.  The depth of a body is bounded. */
static void merge(json_t *to, json_t *patch)
{
	const char *key;
	json_t *value;

	json_object_foreach(patch, key, value) {
		if (json_is_null(value)) {
			json_object_del(to, key);
		} else if (json_is_object(value)) {
			if (!json_is_object(json_object_get(to, key)))
				json_object_set_new(to, key, json_object());
			merge(json_object_get(to, key), value);
		} else {
			json_object_set(to, key, value);
		}
	}
}

/* What PUT takes of what GET gives. */
static void strip(json_t *group)
{
	json_object_del(group, "name");
	json_object_del(group, "origin");
	json_object_del(group, "added_rules");
	if (json_is_null(json_object_get(group, "lists")))
		json_object_del(group, "lists");
}

unsigned api_patch_group(struct api_request *r, json_t **ret)
{
	struct look l = { .name = r->name };
	unsigned status;
	int err;

	pthread_mutex_lock(&changes);
	err = control_look(r->control, look_for_group, &l);
	if (!l.made)
		l.made = json_object();
	strip(l.made);
	merge(l.made, r->body);
	status = err ? api_fail_errno(ret, err, "nothing was changed", NULL) : put_locked(r, "group", r->name, l.made, true, ret);
	pthread_mutex_unlock(&changes);
	json_decref(l.made);
	return status;
}

unsigned api_delete_group(struct api_request *r, json_t **ret)
{
	return take_away(r, "group", r->name, ret);
}

/* ---- refreshes ---- */

static unsigned refresh(struct api_request *r, const char *name, json_t **ret)
{
	struct err_at at = { 0 };
	int err = control_refresh(r->control, name, &at);

	if (err)
		return api_fail_change(ret, err, "not fetched", &at);
	*ret = json_pack("{s:s?, s:b}", "list", name, "begun", 1);
	return OK;
}

unsigned api_post_refresh(struct api_request *r, json_t **ret)
{
	return refresh(r, NULL, ret);
}

unsigned api_post_refresh_list(struct api_request *r, json_t **ret)
{
	return refresh(r, r->name, ret);
}
