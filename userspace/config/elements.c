/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elements.c - readers of options that are lists, element by element: what all
 * share, and those of addresses, interfaces and prefixes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config/elements.h"

const char *element_key(char *buf, const char *key, unsigned i)
{
	snprintf(buf, ELEMENT_KEY_MAX, "%.80s[%u]", key, i);
	return buf;
}

const char *element_field(char *buf, const char *key, const char *field)
{
	snprintf(buf, ELEMENT_KEY_MAX, "%.80s.%s", key, field);
	return buf;
}

int element_count(struct reader *r, const yaml_node_t *node, const struct config_option *o)
{
	long n;

	if (node->type != YAML_SEQUENCE_NODE)
		return reader_error(r, node, o->path, "expected %s in [ ]", o->expected);
	n = node->data.sequence.items.top - node->data.sequence.items.start;
	if (n < o->min || n > o->max)
		return reader_error(r, node, o->path, "expected %u to %u elements, there are %ld", o->min, o->max, n);
	return (int)n;
}

const yaml_node_t *element_at(struct reader *r, const yaml_node_t *node, unsigned i)
{
	return reader_node(r, node->data.sequence.items.start[i]);
}

unsigned element_line(const struct reader *r, const yaml_node_t *node)
{
	return r->outside ? 0 : reader_line(node);
}

int element_array(struct reader *r, const yaml_node_t *node, const struct config_option *o, size_t size,
		  element_reader *read, void *to)
{
	int n = element_count(r, node, o), i, err = 0;
	struct element_array *a = to;
	char key[ELEMENT_KEY_MAX];

	if (n <= 0)
		return n;
	a->at = calloc((size_t)n, size);
	if (!a->at) {
		r->err = -ENOMEM;
		return -ENOMEM;
	}
	a->count = (unsigned)n;
	for (i = 0; i < n; i++)
		if (read(r, element_at(r, node, (unsigned)i), element_key(key, o->path, (unsigned)i), (unsigned)i,
			 (char *)a->at + (size_t)i * size))
			err = -EINVAL;
	return r->err ? r->err : err;
}

int element_name(struct reader *r, const yaml_node_t *node, const yaml_node_t *map, const char *key, const char *what,
		 char *ret)
{
	static const char expected[] = "a name of letters, digits, '-', '_' and '.', at most 63 bytes, "
				       "not '-' or '.' in front";
	const char *text = r->made;
	char quoted[64], path[ELEMENT_KEY_MAX];

	element_field(path, key, "name");
	if (node)
		text = reader_text(r, node, path, expected);
	else if (!text)
		return reader_error(r, map, path, "missing; expected the name of the %s", what);
	if (!text)
		return -EINVAL;
	if (strlen(text) >= CONFIG_NAME_MAX || !*text || *text == '-' || *text == '.' ||
	    text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")])
		return reader_error(r, node, path, "expected %s, not %s", expected,
				    reader_quote(text, quoted, sizeof(quoted)));
	if (r->made && strcmp(text, r->made))
		return reader_error(r, node, path, "expected \"%.63s\", as it is called elsewhere", r->made);
	strcpy(ret, text);
	return 0;
}

static int read_ref(struct reader *r, const yaml_node_t *node, const char *key, unsigned number, void *to)
{
	const char *text = reader_text(r, node, key, "a name");
	struct config_ref *ref = to;
	char quoted[64];

	if (!text)
		return -EINVAL;
	if (strlen(text) >= CONFIG_NAME_MAX)
		return reader_error(r, node, key, "expected a name of at most 63 bytes, not %s",
				    reader_quote(text, quoted, sizeof(quoted)));
	strcpy(ref->name, text);
	ref->line = element_line(r, node);
	return 0;
}

int element_refs(struct reader *r, const yaml_node_t *node, const char *key, unsigned min, struct config_refs *to)
{
	const struct config_option o = {
		.path = key, .expected = "names of lists", .min = min, .max = CONFIG_LISTS_MAX,
	};

	return element_array(r, node, &o, sizeof(*to->at), read_ref, to);
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
		return reader_error(r, node, key, "expected %s, not %s", expected,
				    reader_quote(text, quoted, sizeof(quoted)));
	return 0;
}

int config_read_addrs(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	int n = element_count(r, node, &row->o), i, j, err = 0;
	struct config_addrs *a = to;
	char key[ELEMENT_KEY_MAX];

	if (n < 0)
		return n;
	for (i = 0; i < n; i++) {
		if (read_addr(r, element_at(r, node, (unsigned)i), element_key(key, row->o.path, (unsigned)i),
			      &a->at[a->count])) {
			err = -EINVAL;
			continue;
		}
		for (j = 0; j < (int)a->count; j++)
			if (addr_same(&a->at[j], &a->at[a->count]))
				err = reader_error(r, element_at(r, node, (unsigned)i), key, "this address is there already");
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
	int n = element_count(r, node, &row->o), i, j, err = 0;
	struct config_interfaces *f = to;
	char key[ELEMENT_KEY_MAX], quoted[64];
	const yaml_node_t *item;
	const char *text;

	for (i = 0; i < n; i++) {
		item = element_at(r, node, (unsigned)i);
		text = reader_text(r, item, element_key(key, row->o.path, (unsigned)i), "the name of an interface");
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
	int n = element_count(r, node, &row->o), i, bad, err = 0;
	struct config_prefixes *p = to;
	char key[ELEMENT_KEY_MAX], quoted[64];
	const yaml_node_t *item;
	const char *text;

	for (i = 0; i < n; i++) {
		item = element_at(r, node, (unsigned)i);
		text = reader_text(r, item, element_key(key, row->o.path, (unsigned)i), expected);
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
