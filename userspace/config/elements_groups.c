/* SPDX-License-Identifier: BSD-2-Clause */
/* elements_groups.c - the reader of groups of clients. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "config/elements.h"

enum { NAME, CLIENTS, LISTS, RULES, BLOCK, SAFE_SEARCH, NO_TYPES, SCHEDULES, FIELDS };
static const struct reader_field fields[FIELDS] = {
	[NAME] = { "name", false },		  [CLIENTS] = { "clients", false },   [LISTS] = { "lists", false },
	[RULES] = { "rules", false },		  [BLOCK] = { "block", false },
	[SAFE_SEARCH] = { "safe_search", false }, [NO_TYPES] = { "no_types", false }, [SCHEDULES] = { "schedules", false },
};

enum { MODE, TTL, IPV4, IPV6, EDE, BLOCK_FIELDS };
static const struct reader_field block_fields[BLOCK_FIELDS] = {
	[MODE] = { "mode", false }, [TTL] = { "ttl", false },	[IPV4] = { "ipv4", false },
	[IPV6] = { "ipv6", false }, [EDE] = { "ede", false },
};

/* The row of filter.block's option of that name: what it says holds here too. */
static const struct config_option *block_option(const char *field)
{
	const struct config_option *o;
	unsigned i;

	for (i = 0; (o = config_option(i)); i++)
		if (!strncmp(o->path, "filter.block.", 13) && !strcmp(o->path + 13, field))
			return o;
	return NULL;
}

/* Read a field of block as the option is read; true when it was given. */
static bool read_block_field(struct reader *r, const yaml_node_t *node, const char *key, const char *field,
			     config_reader *read, void *to, int *err)
{
	char path[ELEMENT_KEY_MAX];
	struct config_row row;

	if (!node)
		return false;
	row.o = *block_option(field);
	row.o.path = element_field(path, key, field);
	if (read(r, node, &row, to))
		*err = -EINVAL;
	return true;
}

static int read_block(struct reader *r, const yaml_node_t *node, const char *key, struct config_block *b)
{
	const yaml_node_t *f[BLOCK_FIELDS];
	int err = reader_fields(r, node, key, block_fields, BLOCK_FIELDS, f);

	b->line = element_line(r, node);
	if (node->type != YAML_MAPPING_NODE)
		return err;
	b->own_mode = read_block_field(r, f[MODE], key, "mode", config_read_block_mode, &b->mode, &err);
	b->own_ttl = read_block_field(r, f[TTL], key, "ttl", config_read_seconds, &b->ttl, &err);
	b->own_ipv4 = read_block_field(r, f[IPV4], key, "ipv4", config_read_ipv4, &b->ipv4, &err);
	b->own_ipv6 = read_block_field(r, f[IPV6], key, "ipv6", config_read_ipv6, &b->ipv6, &err);
	b->own_ede = read_block_field(r, f[EDE], key, "ede", config_read_ede, &b->ede, &err);
	return err;
}

/* What is no address is the name of a client; whether there is one is seen when all are known. */
static int read_member(struct reader *r, const yaml_node_t *node, const char *key, unsigned number, void *to)
{
	const char *text = reader_text(r, node, key, "an address, a prefix, \"mac:...\" or the name of a client");
	struct config_member *m = to;
	struct addr_prefix p;

	if (!text)
		return -EINVAL;
	m->line = element_line(r, node);
	if (strpbrk(text, ":/") || strlen(text) >= CONFIG_NAME_MAX || !addr_prefix_parse(text, &p))
		return element_client_addr(r, node, key, number, &m->addr);
	strcpy(m->name, text);
	return 0;
}

static bool same_member(const struct config_member *a, const struct config_member *b)
{
	if (*a->name || *b->name)
		return !strcmp(a->name, b->name);
	return client_addr_same(&a->addr, &b->addr);
}

static int read_members(struct reader *r, const yaml_node_t *node, const char *key, struct config_members *m)
{
	const struct config_option o = {
		.path = key, .expected = "addresses, prefixes, \"mac:...\" or names of clients", .min = 0,
		.max = CONFIG_GROUP_CLIENTS_MAX,
	};
	int err = element_array(r, node, &o, sizeof(*m->at), read_member, m);
	char path[ELEMENT_KEY_MAX];
	unsigned i, j;

	for (i = 0; !err && i < m->count; i++)
		for (j = 0; j < i; j++)
			if (same_member(&m->at[i], &m->at[j]))
				err = reader_error(r, element_at(r, node, i), element_key(path, key, i),
						   "this client is there already");
	return err;
}

static int read_types(struct reader *r, const yaml_node_t *node, const char *key, struct config_types *t)
{
	static const char expected[] = "a type of records like AAAA, HTTPS or TYPE65";
	const struct config_option o = { .path = key, .expected = "types of records", .min = 0, .max = CONFIG_NO_TYPES_MAX };
	int n = element_count(r, node, &o), i, bad, err = 0;
	char path[ELEMENT_KEY_MAX], quoted[64];
	const yaml_node_t *item;
	const char *text;
	unsigned j;

	for (i = 0; i < n; i++) {
		item = element_at(r, node, (unsigned)i);
		text = reader_text(r, item, element_key(path, key, (unsigned)i), expected);
		bad = text ? text_dns_type(text, &t->at[t->count]) : -EINVAL;
		if (text && bad)
			reader_error(r, item, path, "expected %s, not %s%s", expected,
				     reader_quote(text, quoted, sizeof(quoted)),
				     bad == -EDOM ? ": no record is of that type" : "");
		for (j = 0; !bad && j < t->count; j++)
			if (t->at[j] == t->at[t->count])
				bad = reader_error(r, item, path, "this type is there already");
		if (bad)
			err = -EINVAL;
		else
			t->count++;
	}
	return n < 0 ? n : err;
}

/* What of a group has a form of its own. */
static int read_parts(struct reader *r, const yaml_node_t *const *f, const char *key, struct config_group *g)
{
	char path[ELEMENT_KEY_MAX];
	const struct config_row safe = { .o = { .path = path, .expected = "true or false" } };
	const struct config_option rules = {
		.path = path, .expected = "rules, each a text in quotes,", .min = 0, .max = CONFIG_RULES_MAX,
	};
	const struct config_option schedules = {
		.path = path, .expected = "{ days:, from:, to:, zone:, lists: }", .min = 0, .max = CONFIG_SCHEDULES_MAX,
	};
	int err = 0;

	g->all_lists = !f[LISTS];
	if (f[LISTS] && element_refs(r, f[LISTS], element_field(path, key, "lists"), 0, &g->list_names))
		err = -EINVAL;
	if (f[CLIENTS] && read_members(r, f[CLIENTS], element_field(path, key, "clients"), &g->clients))
		err = -EINVAL;
	if (f[BLOCK] && read_block(r, f[BLOCK], element_field(path, key, "block"), &g->block))
		err = -EINVAL;
	if (f[NO_TYPES] && read_types(r, f[NO_TYPES], element_field(path, key, "no_types"), &g->no_types))
		err = -EINVAL;
	element_field(path, key, "safe_search");
	if (f[SAFE_SEARCH] && config_read_bool(r, f[SAFE_SEARCH], &safe, &g->safe_search))
		err = -EINVAL;
	element_field(path, key, "rules");
	if (f[RULES] && element_array(r, f[RULES], &rules, sizeof(*g->rules.at), element_rule, &g->rules))
		err = -EINVAL;
	element_field(path, key, "schedules");
	if (f[SCHEDULES] &&
	    element_array(r, f[SCHEDULES], &schedules, sizeof(*g->schedules.at), element_schedule, &g->schedules))
		err = -EINVAL;
	return err;
}

int element_group(struct reader *r, const yaml_node_t *node, const char *key, unsigned number, void *to)
{
	const yaml_node_t *f[FIELDS];
	struct config_group *g = to;
	int err;

	g->origin = r->made ? CONFIG_FROM_STATE : CONFIG_FROM_FILE;
	g->place = (struct config_place){ number, element_line(r, node) };
	err = reader_fields(r, node, key, fields, FIELDS, f);
	if (node->type != YAML_MAPPING_NODE)
		return err;
	if (element_name(r, f[NAME], node, key, "group", g->name))
		err = -EINVAL;
	if (read_parts(r, f, key, g))
		err = -EINVAL;
	return err;
}

void group_done(struct config_group *g)
{
	unsigned i;

	for (i = 0; i < g->schedules.count; i++)
		schedule_done(&g->schedules.at[i]);
	free(g->schedules.at);
	free(g->list_names.at);
	free(g->clients.at);
	rules_done(&g->rules);
	free(g->uses);
}

int config_read_groups(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	return element_array(r, node, &row->o, sizeof(struct config_group), element_group, to);
}

/* ---- the same? ---- */

static bool same_members(const struct config_members *a, const struct config_members *b)
{
	unsigned i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (!same_member(&a->at[i], &b->at[i]))
			return false;
	return true;
}

static bool same_schedules(const struct config_schedules *a, const struct config_schedules *b, unsigned lists)
{
	const struct config_schedule *p, *q;
	unsigned i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++) {
		p = &a->at[i];
		q = &b->at[i];
		if (p->window.days != q->window.days || p->window.from != q->window.from || p->window.to != q->window.to ||
		    strcmp(p->zone, q->zone) || p->all != q->all || memcmp(p->uses, q->uses, lists * sizeof(bool)))
			return false;
	}
	return true;
}

/* What the group itself says: the rest is an option of its own. */
static bool same_block(const struct config_block *a, const struct config_block *b)
{
	return a->own_mode == b->own_mode && a->own_ttl == b->own_ttl && a->own_ede == b->own_ede &&
	       a->own_ipv4 == b->own_ipv4 && a->own_ipv6 == b->own_ipv6 &&
	       (!a->own_mode || a->mode == b->mode) && (!a->own_ttl || a->ttl == b->ttl) &&
	       (!a->own_ede || a->ede == b->ede) && (!a->own_ipv4 || addr_same(&a->ipv4, &b->ipv4)) &&
	       (!a->own_ipv6 || addr_same(&a->ipv6, &b->ipv6));
}

static bool same_group(const struct config_group *a, const struct config_group *b)
{
	return !strcmp(a->name, b->name) && a->lists == b->lists && !memcmp(a->uses, b->uses, a->lists * sizeof(bool)) &&
	       same_members(&a->clients, &b->clients) && rules_same(&a->rules, &b->rules) &&
	       same_block(&a->block, &b->block) && a->safe_search == b->safe_search &&
	       a->no_types.count == b->no_types.count && !memcmp(a->no_types.at, b->no_types.at, sizeof(a->no_types.at)) &&
	       same_schedules(&a->schedules, &b->schedules, a->lists);
}

bool config_same_groups(const void *a, const void *b, size_t size)
{
	const struct config_groups *x = a, *y = b;
	unsigned i;

	if (x->count != y->count)
		return false;
	for (i = 0; i < x->count; i++)
		if (!same_group(&x->at[i], &y->at[i]))
			return false;
	return true;
}
