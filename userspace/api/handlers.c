/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handlers.c - from checked parameters to control, and from its picture to JSON.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "api/render.h"
#include "api/request.h"
#include "dns/name.h"
#include "dns/text.h"

#define OK MHD_HTTP_OK

const char *api_param(const struct api_request *r, const char *name)
{
	unsigned i;

	for (i = 0; i < API_PARAMS_MAX && r->route->param[i].name; i++)
		if (!strcmp(r->route->param[i].name, name))
			return r->value[i];
	return NULL;
}

unsigned api_bad_param(const struct api_request *r, const char *name, json_t **ret)
{
	const char *expected = NULL;
	unsigned i;

	for (i = 0; i < API_PARAMS_MAX && r->route->param[i].name; i++)
		if (!strcmp(r->route->param[i].name, name))
			expected = r->route->param[i].expected;
	return api_fail(ret, MHD_HTTP_BAD_REQUEST, name, expected, "\"%s\" is not a value for \"%s\"", api_param(r, name), name);
}

unsigned api_get_routes(struct api_request *r, json_t **ret)
{
	*ret = json_pack("{s:s, s:s, s:o}", "name", "millrace", "version", MR_VERSION, "routes", api_routes_json());
	return OK;
}

unsigned api_get_status(struct api_request *r, json_t **ret)
{
	struct control_status *s = calloc(1, sizeof(*s));
	int err = s ? control_status(r->control, s) : -ENOMEM;

	if (!err)
		*ret = render_status(s);
	free(s);
	return err ? api_fail_errno(ret, err, "no status", NULL) : OK;
}

unsigned api_get_stats(struct api_request *r, json_t **ret)
{
	struct control_stats s = { 0 };
	int err = control_stats(r->control, &s);

	if (err)
		return api_fail_errno(ret, err, "no statistics", NULL);
	*ret = render_stats(&s);
	return OK;
}

unsigned api_get_memory(struct api_request *r, json_t **ret)
{
	struct control_memory m = { 0 };
	int err = control_memory(r->control, &m);

	if (err)
		return api_fail_errno(ret, err, "memory unknown", NULL);
	*ret = render_memory(&m);
	return OK;
}

unsigned api_get_upstreams(struct api_request *r, json_t **ret)
{
	struct control_upstreams *u = calloc(1, sizeof(*u));
	int err = u ? control_upstreams(r->control, u) : -ENOMEM;

	if (!err)
		*ret = render_upstreams(u);
	free(u);
	return err ? api_fail_errno(ret, err, "upstream servers unknown", NULL) : OK;
}

unsigned api_get_lists(struct api_request *r, json_t **ret)
{
	struct control_list *l = calloc(CONTROL_LISTS_MAX, sizeof(*l));
	int count = l ? control_lists(r->control, l, CONTROL_LISTS_MAX) : -ENOMEM;

	if (count >= 0)
		*ret = render_lists(l, (unsigned)count);
	free(l);
	return count < 0 ? api_fail_errno(ret, count, "no lists", NULL) : OK;
}

static bool parse_name(const char *text, uint8_t *name, uint16_t *ret_len)
{
	int len = dns_name_from_text(text, strlen(text), name);

	if (len < 0)
		return false;
	*ret_len = (uint16_t)len;
	return true;
}

/* "none", "edns" (also when not given) or "do". */
static bool parse_edns(const char *text, struct kern_why_query *q)
{
	q->edns = !text || strcmp(text, "none");
	q->dnssec_ok = text && !strcmp(text, "do");
	return !text || !q->edns || q->dnssec_ok || !strcmp(text, "edns");
}

unsigned api_get_why(struct api_request *r, json_t **ret)
{
	const char *client = api_param(r, "client"), *type = api_param(r, "type");
	struct kern_why_query q = { .qtype = 1 };
	struct control_client asker;
	struct control_why *w;
	uint8_t name[DNS_NAME_MAX + 1];
	int err = 0;

	if (!parse_name(api_param(r, "name"), name, &q.name_len))
		return api_bad_param(r, "name", ret);
	if (addr_parse(client ? client : "127.0.0.1", 0, &q.client) < 0) {
		err = control_find_client(r->control, client, &asker);
		if (err && err != -ENOENT)
			return api_fail_errno(ret, err, "cannot ask", NULL);
		q.client = asker.addr;
		q.mac = !err && asker.has_mac ? asker.mac : NULL;
	}
	if (err || q.client.port)
		return api_bad_param(r, "client", ret);
	if (type && dns_type_from_text(type, &q.qtype) < 0)
		return api_bad_param(r, "type", ret);
	if (!parse_edns(api_param(r, "edns"), &q))
		return api_bad_param(r, "edns", ret);
	q.name = name;
	w = calloc(1, sizeof(*w));
	err = w ? control_why(r->control, &q, w) : -ENOMEM;
	if (!err)
		*ret = render_why(&q, w);
	free(w);
	return err ? api_fail_errno(ret, err, "cannot ask", NULL) : OK;
}

unsigned api_post_flush(struct api_request *r, json_t **ret)
{
	const char *text = api_param(r, "name");
	struct control_flushed f = { 0 };
	char shown[DNS_NAME_TEXT_MAX];
	uint8_t name[DNS_NAME_MAX + 1];
	uint16_t len = 0;
	int err;

	if (text && !parse_name(text, name, &len))
		return api_bad_param(r, "name", ret);
	if (text)
		dns_name_lower(name, name, len);
	err = control_flush(r->control, text ? name : NULL, len, &f);
	if (err)
		return api_fail_errno(ret, err, "not flushed", NULL);
	*ret = json_pack("{s:o, s:o, s:o}", "name", text ? json_string(dns_name_text(name, shown, sizeof(shown))) :
			 json_null(), "kernel", render_u64(f.kernel), "cache", render_u64(f.cache));
	return OK;
}

unsigned api_post_reload(struct api_request *r, json_t **ret)
{
	struct err_at at = { 0 };
	int err = control_ask_reload(r->control, &at);

	if (err)
		return api_fail_errno(ret, err, "not reloaded, what was in force stays", &at);
	*ret = json_pack("{s:b}", "reloaded", 1);
	return OK;
}
