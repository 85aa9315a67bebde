/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elements.c - readers of options that are lists, element by element.
 *
 * Errors name the element: "filter.lists[2].file".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config/reader.h"

#define COUNT_OF(a) ((unsigned)(sizeof(a) / sizeof((a)[0])))
#define KEY_MAX 96

static const char *element_key(char *buf, const struct config_row *row, unsigned i)
{
	snprintf(buf, KEY_MAX, "%s[%u]", row->o.path, i);
	return buf;
}

/* The number of elements of a list, or -EINVAL with an error noted. */
static int list_count(struct reader *r, const yaml_node_t *node, const struct config_row *row)
{
	long n;

	if (node->type != YAML_SEQUENCE_NODE)
		return reader_error(r, node, row->o.path, "expected %s in [ ]", row->o.expected);
	n = node->data.sequence.items.top - node->data.sequence.items.start;
	if (n < row->o.min || n > row->o.max)
		return reader_error(r, node, row->o.path, "expected %u to %u elements, there are %ld", row->o.min, row->o.max, n);
	return (int)n;
}

static const yaml_node_t *list_at(struct reader *r, const yaml_node_t *node, unsigned i)
{
	return reader_node(r, node->data.sequence.items.start[i]);
}

/* An element that belongs to a way of asking which is not built yet. */
static bool is_planned_server(const yaml_node_t *node)
{
	const char *s = (const char *)node->data.scalar.value;

	return node->type == YAML_MAPPING_NODE ||
	       (node->type == YAML_SCALAR_NODE && strstr(s, "://"));
}

static int read_addr(struct reader *r, const yaml_node_t *node, const char *key, struct addr *ret)
{
	static const char expected[] = "an address with or without a port, as \"192.0.2.1:53\" or \"[2001:db8::1]:53\"";
	const char *text;
	char quoted[64];

	if (is_planned_server(node))
		return reader_error(r, node, key, "%s not built yet; expected %s",
				    node->type == YAML_MAPPING_NODE ? "maps are" : "other transports are", expected);
	text = reader_text(r, node, key, expected);
	if (!text)
		return -EINVAL;
	if (addr_parse(text, 53, ret))
		return reader_error(r, node, key, "expected %s, not %s", expected, reader_quote(text, quoted, sizeof(quoted)));
	return 0;
}

int config_read_addrs(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	int n = list_count(r, node, row), i, j, err = 0;
	struct config_addrs *a = to;
	char key[KEY_MAX];

	if (n < 0)
		return n;
	for (i = 0; i < n; i++) {
		if (read_addr(r, list_at(r, node, (unsigned)i), element_key(key, row, (unsigned)i), &a->at[a->count])) {
			err = -EINVAL;
			continue;
		}
		for (j = 0; j < (int)a->count; j++)
			if (addr_same(&a->at[j], &a->at[a->count]))
				err = reader_error(r, list_at(r, node, (unsigned)i), key, "this address is there already");
		a->count++;
	}
	return err;
}

static bool is_interface_name(const char *s)
{
	return strlen(s) < 16 && strcmp(s, ".") && strcmp(s, "..") && !strpbrk(s, "/: \t\n");
}

int config_read_interfaces(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	int n = list_count(r, node, row), i, j, err = 0;
	struct config_interfaces *f = to;
	char key[KEY_MAX], quoted[64];
	const yaml_node_t *item;
	const char *text;

	for (i = 0; i < n; i++) {
		item = list_at(r, node, (unsigned)i);
		text = reader_text(r, item, element_key(key, row, (unsigned)i), "the name of an interface");
		if (text && !is_interface_name(text)) {
			reader_error(r, item, key, "expected the name of an interface (at most 15 bytes), not %s",
				     reader_quote(text, quoted, sizeof(quoted)));
			text = NULL;
		}
		for (j = 0; text && j < (int)f->count; j++)
			if (!strcmp(f->at[j], text))
				err = reader_error(r, item, key, "this interface is there already");
		if (text)
			strcpy(f->at[f->count++], text);
		else
			err = -EINVAL;
	}
	return n < 0 ? n : err;
}

int config_read_prefixes(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	static const char expected[] = "a prefix like \"10.0.0.0/8\" or \"fd00::/8\", or an address";
	int n = list_count(r, node, row), i, bad, err = 0;
	struct config_prefixes *p = to;
	char key[KEY_MAX], quoted[64];
	const yaml_node_t *item;
	const char *text;

	for (i = 0; i < n; i++) {
		item = list_at(r, node, (unsigned)i);
		text = reader_text(r, item, element_key(key, row, (unsigned)i), expected);
		bad = text ? addr_prefix_parse(text, &p->at[p->count]) : -EINVAL;
		if (text && bad)
			reader_error(r, item, key, bad == -ERANGE ? "%s%s has bits behind its length" : "expected %s, not %s",
				     bad == -ERANGE ? "" : expected, reader_quote(text, quoted, sizeof(quoted)));
		if (bad)
			err = -EINVAL;
		else
			p->count++;
	}
	return n < 0 ? n : err;
}

/* ---- lists of names ---- */

enum { LIST_NAME, LIST_FILE, LIST_FORMAT, LIST_ACTION, LIST_URL, LIST_REFRESH, LIST_FIELDS };
static const struct reader_field list_fields[LIST_FIELDS] = {
	[LIST_NAME] = { "name", false },     [LIST_FILE] = { "file", false }, [LIST_FORMAT] = { "format", false },
	[LIST_ACTION] = { "action", false }, [LIST_URL] = { "url", true },    [LIST_REFRESH] = { "refresh", true },
};

/* A name that can stand on a command line and in a metric's label. */
static int read_name(struct reader *r, const yaml_node_t *node, const char *key, char *ret)
{
	static const char expected[] = "a name of letters, digits, '-', '_' and '.', at most 63 bytes";
	const char *text = reader_text(r, node, key, expected);
	char quoted[64];

	if (!text)
		return -EINVAL;
	if (strlen(text) >= CONFIG_NAME_MAX ||
	    text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")])
		return reader_error(r, node, key, "expected %s, not %s", expected, reader_quote(text, quoted, sizeof(quoted)));
	strcpy(ret, text);
	return 0;
}

static int list_file(struct reader *r, const yaml_node_t *node, const char *key, struct config_list *l)
{
	const char *text = reader_text(r, node, key, "the path of a file");

	if (!text)
		return -EINVAL;
	l->file = reader_path(r, text);
	if (!l->file)
		r->err = -ENOMEM;
	return r->err;
}

static int list_words(struct reader *r, const yaml_node_t *const *f, const char *key, struct config_list *l)
{
	static const char *const formats[] = { "auto", "domains", "hosts", "adblock" };
	static const char *const actions[] = { "block", "allow" };
	int format = 0, action = 0;
	char path[KEY_MAX];

	if (f[LIST_FORMAT]) {
		snprintf(path, sizeof(path), "%.80s.format", key);
		format = reader_word(r, f[LIST_FORMAT], path, formats, COUNT_OF(formats), "auto, domains, hosts or adblock");
	}
	if (f[LIST_ACTION]) {
		snprintf(path, sizeof(path), "%.80s.action", key);
		action = reader_word(r, f[LIST_ACTION], path, actions, COUNT_OF(actions), "block or allow");
	}
	if (format < 0 || action < 0)
		return -EINVAL;
	l->format = (enum config_list_format)format;
	l->action = (enum config_list_action)action;
	return 0;
}

static int read_list(struct reader *r, const yaml_node_t *node, const char *key, struct config_list *l)
{
	int err = 0;
	const yaml_node_t *f[LIST_FIELDS];
	char path[KEY_MAX];

	if (reader_fields(r, node, key, list_fields, LIST_FIELDS, f))
		err = -EINVAL;
	if (node->type != YAML_MAPPING_NODE)
		return err;
	snprintf(path, sizeof(path), "%.80s.name", key);
	if (!f[LIST_NAME])
		err = reader_error(r, node, path, "missing; expected the name of the list");
	else if (read_name(r, f[LIST_NAME], path, l->name))
		err = -EINVAL;
	snprintf(path, sizeof(path), "%.80s.file", key);
	if (f[LIST_FILE] && list_file(r, f[LIST_FILE], path, l))
		err = -EINVAL;
	if (!f[LIST_FILE] && !err)
		err = reader_error(r, node, path, "missing; expected the path of a file");
	if (list_words(r, f, key, l))
		err = -EINVAL;
	return err;
}

int config_read_lists(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	int n = list_count(r, node, row), i, j, err = 0;
	struct config_lists *l = to;
	char key[KEY_MAX];

	if (n <= 0)
		return n;
	l->at = calloc((size_t)n, sizeof(*l->at));
	if (!l->at) {
		r->err = -ENOMEM;
		return -ENOMEM;
	}
	l->count = (unsigned)n;
	for (i = 0; i < n; i++) {
		if (read_list(r, list_at(r, node, (unsigned)i), element_key(key, row, (unsigned)i), &l->at[i]))
			err = -EINVAL;
		for (j = 0; j < i && *l->at[i].name; j++)
			if (!strcmp(l->at[j].name, l->at[i].name))
				err = reader_error(r, list_at(r, node, (unsigned)i), key, "the name \"%s\" is that of element %d",
						   l->at[i].name, j);
	}
	return err;
}

bool config_same_lists(const void *a, const void *b, size_t size)
{
	const struct config_lists *x = a, *y = b;
	unsigned i;

	if (x->count != y->count)
		return false;
	for (i = 0; i < x->count; i++)
		if (strcmp(x->at[i].name, y->at[i].name) || strcmp(x->at[i].file, y->at[i].file) ||
		    x->at[i].format != y->at[i].format || x->at[i].action != y->at[i].action)
			return false;
	return true;
}

/* ---- groups ---- */

enum { GROUP_NAME, GROUP_LISTS, GROUP_CLIENTS, GROUP_SAFE_SEARCH, GROUP_SCHEDULES, GROUP_FIELDS };
static const struct reader_field group_fields[GROUP_FIELDS] = {
	[GROUP_NAME] = { "name", false },	[GROUP_LISTS] = { "lists", false },
	[GROUP_CLIENTS] = { "clients", true },	[GROUP_SAFE_SEARCH] = { "safe_search", true },
	[GROUP_SCHEDULES] = { "schedules", true },
};

/* Mark the list of that name as used. */
static int group_use(struct reader *r, const yaml_node_t *node, const char *key, struct config_group *g)
{
	const struct config_lists *l = &r->c->filter_lists;
	const char *text = reader_text(r, node, key, "the name of a list");
	char quoted[64];
	unsigned i;

	if (!text)
		return -EINVAL;
	for (i = 0; i < l->count; i++) {
		if (!strcmp(l->at[i].name, text)) {
			g->uses[i] = true;
			return 0;
		}
	}
	return reader_error(r, node, key, "expected the name of a list of filter.lists, not %s",
			    reader_quote(text, quoted, sizeof(quoted)));
}

static int group_lists(struct reader *r, const yaml_node_t *node, const char *key, struct config_group *g)
{
	const yaml_node_item_t *p;
	int err = 0;

	if (node->type != YAML_SEQUENCE_NODE)
		return reader_error(r, node, key, "expected names of lists in [ ]");
	if (node->data.sequence.items.top - node->data.sequence.items.start > CONFIG_LISTS_MAX)
		return reader_error(r, node, key, "expected at most %d names", CONFIG_LISTS_MAX);
	for (p = node->data.sequence.items.start; p < node->data.sequence.items.top; p++)
		if (group_use(r, reader_node(r, *p), key, g))
			err = -EINVAL;
	return err;
}

static int read_group(struct reader *r, const yaml_node_t *node, const char *key, struct config_group *g)
{
	const yaml_node_t *f[GROUP_FIELDS];
	char path[KEY_MAX];
	int err = 0;
	unsigned i;

	if (reader_fields(r, node, key, group_fields, GROUP_FIELDS, f))
		err = -EINVAL;
	if (node->type != YAML_MAPPING_NODE)
		return err;
	snprintf(path, sizeof(path), "%.80s.name", key);
	if (!f[GROUP_NAME])
		err = reader_error(r, node, path, "missing; expected the name of the group");
	else if (read_name(r, f[GROUP_NAME], path, g->name))
		err = -EINVAL;
	else if (strcmp(g->name, "default"))
		err = reader_error(r, f[GROUP_NAME], path, "other groups than \"default\" are not built yet");
	g->uses = calloc(r->c->filter_lists.count + 1, sizeof(bool));
	if (!g->uses) {
		r->err = -ENOMEM;
		return -ENOMEM;
	}
	g->lists = r->c->filter_lists.count;
	snprintf(path, sizeof(path), "%.80s.lists", key);
	if (f[GROUP_LISTS])
		return group_lists(r, f[GROUP_LISTS], path, g) ? -EINVAL : err;
	for (i = 0; i < g->lists; i++)
		g->uses[i] = true;
	return err;
}

int config_read_groups(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	int n = list_count(r, node, row), i, err = 0;
	struct config_groups *g = to;
	char key[KEY_MAX];

	if (n < 0)
		return n;
	g->at = calloc((size_t)n, sizeof(*g->at));
	if (!g->at) {
		r->err = -ENOMEM;
		return -ENOMEM;
	}
	g->count = (unsigned)n;
	for (i = 0; i < n; i++) {
		if (read_group(r, list_at(r, node, (unsigned)i), element_key(key, row, (unsigned)i), &g->at[i]))
			err = -EINVAL;
		else if (i > 0)
			err = reader_error(r, list_at(r, node, (unsigned)i), key, "the group \"default\" is there already");
	}
	return err;
}

bool config_same_groups(const void *a, const void *b, size_t size)
{
	const struct config_groups *x = a, *y = b;
	unsigned i;

	if (x->count != y->count)
		return false;
	for (i = 0; i < x->count; i++)
		if (strcmp(x->at[i].name, y->at[i].name) || x->at[i].lists != y->at[i].lists ||
		    memcmp(x->at[i].uses, y->at[i].uses, x->at[i].lists * sizeof(bool)))
			return false;
	return true;
}

bool config_same_addrs(const void *a, const void *b, size_t size)
{
	const struct config_addrs *x = a, *y = b;
	unsigned i;

	if (x->count != y->count)
		return false;
	for (i = 0; i < x->count; i++)
		if (!addr_same(&x->at[i], &y->at[i]))
			return false;
	return true;
}
