/* SPDX-License-Identifier: BSD-2-Clause */
/* elements_clients.c - the reader of clients with a name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "config/elements.h"

enum { NAME, ADDRESSES, TAGS, FIELDS };
static const struct reader_field fields[FIELDS] = {
	[NAME] = { "name", false }, [ADDRESSES] = { "addresses", false }, [TAGS] = { "tags", false },
};

int element_client_addr(struct reader *r, const yaml_node_t *node, const char *key, unsigned number, void *to)
{
	static const char expected[] = "an address, a prefix like \"10.0.0.0/8\", or \"mac:02:00:00:00:00:01\"";
	const char *text = reader_text(r, node, key, expected);
	char quoted[64];
	int err;

	if (!text)
		return -EINVAL;
	err = text_client_addr(text, to);
	if (!err)
		return 0;
	reader_quote(text, quoted, sizeof(quoted));
	if (err == -ERANGE)
		return reader_error(r, node, key, "%s has bits behind its length", quoted);
	if (err == -EDOM)
		return reader_error(r, node, key, "%s is no client's: it is of many, or of none", quoted);
	return reader_error(r, node, key, "expected %s, not %s", expected, quoted);
}

static int read_tag(struct reader *r, const yaml_node_t *node, const char *key, unsigned number, void *to)
{
	static const char expected[] = "a tag of small letters, digits, '-' and '_', at most 31 bytes";
	const char *text = reader_text(r, node, key, expected);
	struct config_tag *t = to;
	char quoted[64];

	if (!text)
		return -EINVAL;
	if (strlen(text) >= CONFIG_TAG_MAX || text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_")])
		return reader_error(r, node, key, "expected %s, not %s", expected,
				    reader_quote(text, quoted, sizeof(quoted)));
	strcpy(t->text, text);
	return 0;
}

static int read_tags(struct reader *r, const yaml_node_t *node, const char *key, struct config_tags *t)
{
	const struct config_option o = { .path = key, .expected = "tags", .min = 0, .max = CONFIG_TAGS_MAX };
	int err = element_array(r, node, &o, sizeof(*t->at), read_tag, t);
	unsigned i, j;

	for (i = 0; i < t->count; i++)
		for (j = 0; j < i; j++)
			if (*t->at[i].text && !strcmp(t->at[i].text, t->at[j].text))
				err = reader_error(r, node, key, "the tag \"%s\" is there twice", t->at[i].text);
	return err;
}

/* A name that could be an address could never be told from one in a group's clients. */
static int check_name(struct reader *r, const yaml_node_t *node, const char *key, const char *name)
{
	struct addr_prefix p;

	if (addr_prefix_parse(name, &p))
		return 0;
	return reader_error(r, node, key, "expected a name, not the address \"%s\"", name);
}

int element_client(struct reader *r, const yaml_node_t *node, const char *key, unsigned number, void *to)
{
	struct config_client *c = to;
	const yaml_node_t *f[FIELDS];
	char path[ELEMENT_KEY_MAX];
	const struct config_option addresses = {
		.path = path, .expected = "addresses, prefixes or \"mac:...\"", .min = 1, .max = CONFIG_CLIENT_ADDRS_MAX,
	};
	int bad, err = 0;

	c->origin = r->made ? CONFIG_FROM_STATE : CONFIG_FROM_FILE;
	c->place = (struct config_place){ number, element_line(r, node) };
	bad = reader_fields(r, node, key, fields, FIELDS, f);
	if (node->type != YAML_MAPPING_NODE)
		return bad;
	if (element_name(r, f[NAME], node, key, "client", c->name) ||
	    check_name(r, f[NAME], element_field(path, key, "name"), c->name))
		err = -EINVAL;
	element_field(path, key, "addresses");
	if (f[ADDRESSES])
		err = element_array(r, f[ADDRESSES], &addresses, sizeof(*c->addresses.at), element_client_addr, &c->addresses)
			      ? -EINVAL : err;
	else if (!bad)
		err = reader_error(r, node, path, "missing; expected addresses, prefixes or \"mac:...\" in [ ]");
	if (f[TAGS] && read_tags(r, f[TAGS], element_field(path, key, "tags"), &c->tags))
		err = -EINVAL;
	return bad ? bad : err;
}

void client_done(struct config_client *c)
{
	free(c->addresses.at);
	free(c->tags.at);
}

int config_read_clients(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	return element_array(r, node, &row->o, sizeof(struct config_client), element_client, to);
}

bool client_addr_same(const struct config_client_addr *a, const struct config_client_addr *b)
{
	if (a->is_mac != b->is_mac)
		return false;
	if (a->is_mac)
		return !memcmp(a->mac, b->mac, sizeof(a->mac));
	return a->prefix.len == b->prefix.len && !memcmp(a->prefix.ip, b->prefix.ip, sizeof(a->prefix.ip));
}

static bool same_client(const struct config_client *a, const struct config_client *b)
{
	unsigned i;

	if (strcmp(a->name, b->name) || a->addresses.count != b->addresses.count || a->tags.count != b->tags.count)
		return false;
	for (i = 0; i < a->addresses.count; i++)
		if (!client_addr_same(&a->addresses.at[i], &b->addresses.at[i]))
			return false;
	for (i = 0; i < a->tags.count; i++)
		if (strcmp(a->tags.at[i].text, b->tags.at[i].text))
			return false;
	return true;
}

bool config_same_clients(const void *a, const void *b, size_t size)
{
	const struct config_clients *x = a, *y = b;
	unsigned i;

	if (x->count != y->count)
		return false;
	for (i = 0; i < x->count; i++)
		if (!same_client(&x->at[i], &y->at[i]))
			return false;
	return true;
}
