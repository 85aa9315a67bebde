/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render_objects.c - the configuration's objects as JSON, written as one would write them in the file.
 *
 * What a GET shows, without "origin", can be sent with PUT again.
 */
#include <stdio.h>
#include <string.h>
#include "api/render.h"
#include "dns/text.h"

static json_t *text(const char *s)
{
	return render_text(s, strlen(s));
}

static json_t *origin(enum config_origin o)
{
	return json_string(o == CONFIG_FROM_FILE ? "file" : "state");
}

static json_t *line(const struct config_place *p)
{
	return p->line ? json_integer(p->line) : json_null();
}

static json_t *client_addr(const struct config_client_addr *a)
{
	char buf[ADDR_TEXT_MAX];
	struct addr one = { .port = 0 };

	memcpy(one.ip, a->prefix.ip, sizeof(one.ip));
	if (!a->is_mac)
		return json_string(a->prefix.len < 128 ? addr_prefix_text(&a->prefix, buf, sizeof(buf)) :
				   addr_text(&one, buf, sizeof(buf)));
	snprintf(buf, sizeof(buf), "mac:%02x:%02x:%02x:%02x:%02x:%02x", a->mac[0], a->mac[1], a->mac[2], a->mac[3], a->mac[4],
		 a->mac[5]);
	return json_string(buf);
}

static json_t *refs(const struct config_refs *r)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < r->count; i++)
		json_array_append_new(all, text(r->at[i].name));
	return all;
}

/* ---- rules ---- */

static void add_rules(json_t *all, const struct config_rules *r, const char *group)
{
	unsigned i;

	for (i = 0; i < r->count; i++)
		json_array_append_new(all, json_pack("{s:o, s:s?, s:o, s:o}", "rule", text(r->at[i].text), "group", group,
						     "origin", origin(r->at[i].origin), "line", line(&r->at[i].place)));
}

json_t *render_rules(const struct config *c, const char *group)
{
	json_t *all = json_array();
	unsigned i;

	if (!group)
		add_rules(all, &c->filter_rules, NULL);
	for (i = 0; i < c->groups.count; i++)
		if (!group || !strcmp(c->groups.at[i].name, group))
			add_rules(all, &c->groups.at[i].rules, c->groups.at[i].name);
	return json_pack("{s:o}", "rules", all);
}

/* ---- rewrites ---- */

static json_t *rewrite(const struct config_rewrite *w)
{
	char name[CONFIG_DNS_NAME_MAX + 2], buf[ADDR_TEXT_MAX];
	json_t *answers = json_array();
	unsigned i;

	for (i = 0; i < w->answers; i++)
		json_array_append_new(answers, json_string(addr_text(&w->answer[i], buf, sizeof(buf))));
	if (!w->answers)
		json_array_append_new(answers, text(w->target));
	snprintf(name, sizeof(name), "%s%s", w->below ? "*." : "", w->name);
	return json_pack("{s:o, s:o, s:o, s:o}", "name", text(name), "answers", answers, "ttl", json_integer(w->ttl), "origin",
			 origin(w->origin));
}

json_t *render_rewrites(const struct config *c)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < c->filter_rewrites.count; i++)
		json_array_append_new(all, rewrite(&c->filter_rewrites.at[i]));
	return json_pack("{s:o}", "rewrites", all);
}

/* ---- clients ---- */

json_t *render_client(const struct config_client *k)
{
	json_t *addresses = json_array(), *tags = json_array();
	unsigned i;

	for (i = 0; i < k->addresses.count; i++)
		json_array_append_new(addresses, client_addr(&k->addresses.at[i]));
	for (i = 0; i < k->tags.count; i++)
		json_array_append_new(tags, text(k->tags.at[i].text));
	return json_pack("{s:o, s:o, s:o, s:o}", "name", text(k->name), "addresses", addresses, "tags", tags, "origin",
			 origin(k->origin));
}

json_t *render_clients(const struct config *c)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < c->clients.count; i++)
		json_array_append_new(all, render_client(&c->clients.at[i]));
	return json_pack("{s:o}", "clients", all);
}

/* ---- groups ---- */

static json_t *block(const struct config_block *b)
{
	static const char *const modes[] = {
		[CONFIG_BLOCK_NULL_ADDRESS] = "null_address", [CONFIG_BLOCK_NXDOMAIN] = "nxdomain",
		[CONFIG_BLOCK_NODATA] = "nodata", [CONFIG_BLOCK_REFUSED] = "refused", [CONFIG_BLOCK_CUSTOM] = "custom",
	};
	static const char *const edes[] = {
		[CONFIG_EDE_NONE] = "none", [CONFIG_EDE_CODE] = "code", [CONFIG_EDE_TEXT] = "text",
	};
	char buf[ADDR_TEXT_MAX];
	json_t *o = json_object();

	if (b->own_mode)
		json_object_set_new(o, "mode", json_string(modes[b->mode]));
	if (b->own_ttl)
		json_object_set_new(o, "ttl", json_integer(b->ttl));
	if (b->own_ipv4)
		json_object_set_new(o, "ipv4", json_string(addr_text(&b->ipv4, buf, sizeof(buf))));
	if (b->own_ipv6)
		json_object_set_new(o, "ipv6", json_string(addr_text(&b->ipv6, buf, sizeof(buf))));
	if (b->own_ede)
		json_object_set_new(o, "ede", json_string(edes[b->ede]));
	return o;
}

static json_t *minutes(unsigned at)
{
	char buf[16];

	snprintf(buf, sizeof(buf), "%02u:%02u", at / 60 % 24, at % 60);
	return json_string(buf);
}

static json_t *schedule(const struct config_schedule *s)
{
	static const char *const day[] = { "mon", "tue", "wed", "thu", "fri", "sat", "sun" };
	json_t *days = json_array(), *o;
	unsigned i;

	for (i = 0; i < 7; i++)
		if (s->window.days & 1U << i)
			json_array_append_new(days, json_string(day[i]));
	o = json_pack("{s:o, s:o, s:o, s:o}", "days", days, "from", minutes(s->window.from), "to", minutes(s->window.to), "lists",
		      s->all ? json_pack("[s]", "all") : refs(&s->lists));
	if (*s->zone)
		json_object_set_new(o, "zone", text(s->zone));
	return o;
}

static json_t *schedules(const struct config_group *g)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < g->schedules.count; i++)
		json_array_append_new(all, schedule(&g->schedules.at[i]));
	return all;
}

static json_t *members(const struct config_group *g)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < g->clients.count; i++)
		json_array_append_new(all, *g->clients.at[i].name ? text(g->clients.at[i].name) : client_addr(&g->clients.at[i].addr));
	return all;
}

json_t *render_group(const struct config_group *g)
{
	json_t *rules = json_array(), *added = json_array(), *types = json_array();
	char buf[32];
	unsigned i;

	for (i = 0; i < g->rules.count; i++)
		json_array_append_new(g->rules.at[i].added ? added : rules, text(g->rules.at[i].text));
	for (i = 0; i < g->no_types.count; i++)
		json_array_append_new(types, json_string(dns_type_text(g->no_types.at[i], buf, sizeof(buf))));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o}", "name", text(g->name), "clients", members(g), "lists",
			 g->all_lists ? json_null() : refs(&g->list_names), "rules", rules, "added_rules", added, "block",
			 block(&g->block),
			 "safe_search", g->safe_search, "no_types", types, "schedules", schedules(g), "origin",
			 origin(g->origin));
}

json_t *render_groups(const struct config *c)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < c->groups.count; i++)
		json_array_append_new(all, render_group(&c->groups.at[i]));
	return json_pack("{s:o}", "groups", all);
}
