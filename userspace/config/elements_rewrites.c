/* SPDX-License-Identifier: BSD-2-Clause */
/* elements_rewrites.c - the reader of local names and what they are answered with. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "config/elements.h"

#define TTL_S     300
#define TTL_MAX_S 604800

enum { NAME, ANSWERS, TTL, FIELDS };
static const struct reader_field fields[FIELDS] = {
	[NAME] = { "name", false }, [ANSWERS] = { "answers", false }, [TTL] = { "ttl", false },
};

static int read_name(struct reader *r, const yaml_node_t *node, const yaml_node_t *map, const char *key,
		     struct config_rewrite *w)
{
	static const char expected[] = "a name of the DNS, or \"*.\" and one for all below it";
	const char *text = r->made, *wrong;
	char quoted[64];

	if (node)
		text = reader_text(r, node, key, expected);
	else if (!text)
		return reader_error(r, map, key, "missing; expected %s", expected);
	if (!text)
		return -EINVAL;
	if (r->made && strcmp(text, r->made))
		return reader_error(r, node, key, "expected \"%.200s\", as it is called elsewhere", r->made);
	w->below = !strncmp(text, "*.", 2);
	wrong = text_dns_name_wrong(text + (w->below ? 2 : 0), w->name);
	if (wrong) {
		*w->name = '\0';
		return reader_error(r, node, key, "expected %s, not %s: %s", expected,
				    reader_quote(text, quoted, sizeof(quoted)), wrong);
	}
	return 0;
}

/* No name of the DNS ends in a number: 192.0.2.500 is an address gone wrong. */
static bool ends_in_number(const char *name)
{
	const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;

	return *last && !last[strspn(last, "0123456789")];
}

/* One address, or one name; both kinds together mean nothing. */
static int read_answer(struct reader *r, const yaml_node_t *node, const char *key, struct config_rewrite *w)
{
	static const char expected[] = "an address without a port, or a name of the DNS";
	const char *text = reader_text(r, node, key, expected), *wrong;
	char quoted[64], name[CONFIG_DNS_NAME_MAX];
	struct addr a;
	unsigned i;

	if (!text)
		return -EINVAL;
	if (!addr_parse(text, 0, &a)) {
		if (a.port || a.scope || *text == '[')
			return reader_error(r, node, key, "expected %s, not %s", expected,
					    reader_quote(text, quoted, sizeof(quoted)));
		for (i = 0; i < w->answers; i++)
			if (addr_same_ip(&w->answer[i], &a))
				return reader_error(r, node, key, "this address is there already");
		w->answer[w->answers++] = a;
	} else {
		wrong = text_dns_name_wrong(text, name);
		if (wrong)
			return reader_error(r, node, key, "expected %s, not %s: %s", expected,
					    reader_quote(text, quoted, sizeof(quoted)), wrong);
		if (ends_in_number(name))
			return reader_error(r, node, key, "expected %s, not %s: no name ends in a number", expected,
					    reader_quote(text, quoted, sizeof(quoted)));
		if (*w->target)
			return reader_error(r, node, key, "there is a name already: a name is an alias of one other alone");
		strcpy(w->target, name);
	}
	if (*w->target && w->answers)
		return reader_error(r, node, key, "expected either addresses or one name, not both");
	return 0;
}

static int read_answers(struct reader *r, const yaml_node_t *node, const char *key, struct config_rewrite *w)
{
	const struct config_option o = {
		.path = key, .expected = "addresses, or one name,", .min = 1, .max = CONFIG_ANSWERS_MAX,
	};
	int n = element_count(r, node, &o), i, err = 0;
	char path[ELEMENT_KEY_MAX];

	for (i = 0; i < n; i++)
		if (read_answer(r, element_at(r, node, (unsigned)i), element_key(path, key, (unsigned)i), w))
			err = -EINVAL;
	if (n > 0 && !err && *w->target && !w->below && !strcmp(w->name, w->target))
		err = reader_error(r, node, key, "\"%.100s\" would stand for itself", w->target);
	return n < 0 ? n : err;
}

int element_rewrite(struct reader *r, const yaml_node_t *node, const char *key, unsigned number, void *to)
{
	struct config_rewrite *w = to;
	const yaml_node_t *f[FIELDS];
	char path[ELEMENT_KEY_MAX];
	const struct config_row ttl = { .o = {
		.path = path, .expected = "seconds, or a time with its unit (s, m, h, d)", .min = 0, .max = TTL_MAX_S,
	} };
	int bad, err = 0;

	w->origin = r->made ? CONFIG_FROM_STATE : CONFIG_FROM_FILE;
	w->place = (struct config_place){ number, element_line(r, node) };
	w->ttl = TTL_S;
	bad = reader_fields(r, node, key, fields, FIELDS, f);
	if (node->type != YAML_MAPPING_NODE)
		return bad;
	if (read_name(r, f[NAME], node, element_field(path, key, "name"), w))
		err = -EINVAL;
	element_field(path, key, "answers");
	if (f[ANSWERS])
		err = read_answers(r, f[ANSWERS], path, w) ? -EINVAL : err;
	else if (!bad)
		err = reader_error(r, node, path, "missing; expected addresses, or one name, in [ ]");
	element_field(path, key, "ttl");
	if (f[TTL] && config_read_seconds(r, f[TTL], &ttl, &w->ttl))
		err = -EINVAL;
	return bad ? bad : err;
}

int config_read_rewrites(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	return element_array(r, node, &row->o, sizeof(struct config_rewrite), element_rewrite, to);
}

bool config_same_rewrites(const void *a, const void *b, size_t size)
{
	const struct config_rewrites *x = a, *y = b;
	const struct config_rewrite *p, *q;
	unsigned i, j;

	if (x->count != y->count)
		return false;
	for (i = 0; i < x->count; i++) {
		p = &x->at[i];
		q = &y->at[i];
		if (strcmp(p->name, q->name) || p->below != q->below || strcmp(p->target, q->target) || p->ttl != q->ttl ||
		    p->answers != q->answers)
			return false;
		for (j = 0; j < p->answers; j++)
			if (!addr_same(&p->answer[j], &q->answer[j]))
				return false;
	}
	return true;
}
