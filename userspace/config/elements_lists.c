/* SPDX-License-Identifier: BSD-2-Clause */
/* elements_lists.c - readers of lists of names and of single rules. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "config/elements.h"

#define COUNT_OF(a) ((unsigned)(sizeof(a) / sizeof((a)[0])))
#define REFRESH_S     86400
#define REFRESH_MIN_S 60
#define REFRESH_MAX_S (30 * 86400)

/* ---- lists ---- */

enum { NAME, FILE_NAME, FORMAT, ACTION, URL, REFRESH, FIELDS };
static const struct reader_field fields[FIELDS] = {
	[NAME] = { "name", false },	[FILE_NAME] = { "file", false }, [FORMAT] = { "format", false },
	[ACTION] = { "action", false },	[URL] = { "url", false },	 [REFRESH] = { "refresh", false },
};

/* What sources of rules are called that are no lists, and the word for all lists. */
static bool is_taken(const char *name)
{
	return !strcmp(name, "all") || !strcmp(name, "rules") || !strcmp(name, "rewrites") || !strcmp(name, "safe_search");
}

static int read_file(struct reader *r, const yaml_node_t *node, const char *key, struct config_list *l)
{
	const char *text = reader_text(r, node, key, "the path of a file");
	char quoted[64];

	if (!text)
		return -EINVAL;
	if (r->made && *text != '/')
		return reader_error(r, node, key, "expected a path that begins with '/', not %s",
				    reader_quote(text, quoted, sizeof(quoted)));
	l->file = reader_path(r, text);
	if (!l->file)
		r->err = -ENOMEM;
	return r->err;
}

static int read_url(struct reader *r, const yaml_node_t *node, const char *key, struct config_list *l)
{
	static const char expected[] = "a URL like \"https://example.org/hosts.txt\"";
	const char *text = reader_text(r, node, key, expected), *wrong;
	char quoted[64];

	if (!text)
		return -EINVAL;
	wrong = text_url_wrong(text);
	if (wrong)
		return reader_error(r, node, key, "expected %s, not %s: %s", expected,
				    reader_quote(text, quoted, sizeof(quoted)), wrong);
	l->url = strdup(text);
	if (!l->url)
		r->err = -ENOMEM;
	return r->err;
}

static int read_refresh(struct reader *r, const yaml_node_t *node, const char *key, struct config_list *l)
{
	const struct config_row row = { .o = {
		.path = key, .expected = "never, 0, or seconds or a time with its unit (s, m, h, d)",
		.min = REFRESH_MIN_S, .max = REFRESH_MAX_S,
	} };
	const char *s = (const char *)node->data.scalar.value;

	if (node->type == YAML_SCALAR_NODE && (!strcmp(s, "never") || !strcmp(s, "0"))) {
		l->refresh_s = 0;
		return 0;
	}
	return config_read_seconds(r, node, &row, &l->refresh_s);
}

static int read_words(struct reader *r, const yaml_node_t *const *f, const char *key, struct config_list *l)
{
	static const char *const formats[] = {
		"auto", "domains", "hosts", "adblock", "wildcard", "dnsmasq", "unbound", "rpz", "regex",
	};
	static const char *const actions[] = { "block", "allow" };
	int format = 0, action = 0;
	char path[ELEMENT_KEY_MAX];

	if (f[FORMAT])
		format = reader_word(r, f[FORMAT], element_field(path, key, "format"), formats, COUNT_OF(formats),
				     "auto, domains, hosts, adblock, wildcard, dnsmasq, unbound, rpz or regex");
	if (f[ACTION])
		action = reader_word(r, f[ACTION], element_field(path, key, "action"), actions, COUNT_OF(actions),
				     "block or allow");
	if (format < 0 || action < 0)
		return -EINVAL;
	l->format = (enum config_list_format)format;
	l->action = (enum config_list_action)action;
	return 0;
}

/* Where its lines come from: one of the two. */
static int read_source(struct reader *r, const yaml_node_t *node, const yaml_node_t *const *f, const char *key,
		       struct config_list *l)
{
	char path[ELEMENT_KEY_MAX];
	int err = 0;

	if (f[FILE_NAME] && read_file(r, f[FILE_NAME], element_field(path, key, "file"), l))
		err = -EINVAL;
	if (f[URL] && read_url(r, f[URL], element_field(path, key, "url"), l))
		err = -EINVAL;
	if (f[URL] && f[FILE_NAME])
		err = reader_error(r, f[URL], element_field(path, key, "url"), "expected either file or url, not both");
	l->refresh_s = f[URL] ? REFRESH_S : 0;
	if (f[REFRESH] && !f[URL])
		err = reader_error(r, f[REFRESH], element_field(path, key, "refresh"),
				   "only with url; a file is read at each reload");
	else if (f[REFRESH] && read_refresh(r, f[REFRESH], element_field(path, key, "refresh"), l))
		err = -EINVAL;
	if (!f[URL] && !f[FILE_NAME])
		err = reader_error(r, node, element_field(path, key, "file"),
				   "missing; expected the path of a file, or a url");
	return err;
}

int element_list(struct reader *r, const yaml_node_t *node, const char *key, unsigned number, void *to)
{
	const yaml_node_t *f[FIELDS];
	struct config_list *l = to;
	char path[ELEMENT_KEY_MAX];
	int err = 0, bad;

	l->origin = r->made ? CONFIG_FROM_STATE : CONFIG_FROM_FILE;
	l->place = (struct config_place){ number, element_line(r, node) };
	bad = reader_fields(r, node, key, fields, FIELDS, f);
	if (node->type != YAML_MAPPING_NODE)
		return bad;
	if (element_name(r, f[NAME], node, key, "list", l->name))
		err = -EINVAL;
	else if (is_taken(l->name))
		err = reader_error(r, f[NAME], element_field(path, key, "name"),
				   "expected another name: all, rules, rewrites and safe_search have a meaning already");
	/* A mistyped key is not a missing one too. */
	if ((!bad || f[FILE_NAME] || f[URL]) && (!err || f[FILE_NAME] || f[URL]) && read_source(r, node, f, key, l))
		err = -EINVAL;
	if (read_words(r, f, key, l))
		err = -EINVAL;
	return bad ? bad : err;
}

void list_done(struct config_list *l)
{
	free(l->file);
	free(l->url);
}

int config_read_lists(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	return element_array(r, node, &row->o, sizeof(struct config_list), element_list, to);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool config_same_lists(const void *a, const void *b, size_t size)
{
	const struct config_lists *x = a, *y = b;
	const struct config_list *p, *q;
	unsigned i;

	if (x->count != y->count)
		return false;
	for (i = 0; i < x->count; i++) {
		p = &x->at[i];
		q = &y->at[i];
		if (strcmp(p->name, q->name) || !same_text(p->file, q->file) || !same_text(p->url, q->url) ||
		    p->refresh_s != q->refresh_s || p->format != q->format || p->action != q->action)
			return false;
	}
	return true;
}

/* ---- rules ---- */

/* FNV-1a */
static uint32_t sum_of(const char *text)
{
	uint32_t sum = 2166136261U;

	while (*text)
		sum = (sum ^ (uint8_t)*text++) * 16777619U;
	return sum;
}

int element_rule(struct reader *r, const yaml_node_t *node, const char *key, unsigned number, void *to)
{
	static const char expected[] = "a rule like \"||example.org^\"";
	static const struct reader_field field = { "rule", false };
	const yaml_node_t *value = node;
	struct config_rule *u = to;
	const char *text;

	u->origin = r->made ? CONFIG_FROM_STATE : CONFIG_FROM_FILE;
	u->place = (struct config_place){ number, element_line(r, node) };
	if (r->made && node->type == YAML_MAPPING_NODE) {
		if (reader_fields(r, node, key, &field, 1, &value))
			return -EINVAL;
		if (!value)
			return reader_error(r, node, key, "rule is missing; expected %s", expected);
	}
	text = reader_text(r, value, key, expected);
	if (!text)
		return -EINVAL;
	if (strlen(text) > CONFIG_RULE_MAX)
		return reader_error(r, value, key, "expected %s, but this is longer than %d bytes", expected,
				    CONFIG_RULE_MAX);
	if (strpbrk(text, "\r\n"))
		return reader_error(r, value, key, "expected %s, one line", expected);
	u->sum = sum_of(text);
	u->text = strdup(text);
	if (!u->text)
		r->err = -ENOMEM;
	return r->err;
}

void rule_done(struct config_rule *u)
{
	free(u->text);
}

void rules_done(struct config_rules *u)
{
	unsigned i;

	for (i = 0; i < u->count; i++)
		rule_done(&u->at[i]);
	free(u->at);
}

int config_read_rules(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	return element_array(r, node, &row->o, sizeof(struct config_rule), element_rule, to);
}

bool rules_same(const struct config_rules *a, const struct config_rules *b)
{
	unsigned i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (strcmp(a->at[i].text, b->at[i].text))
			return false;
	return true;
}

bool config_same_rules(const void *a, const void *b, size_t size)
{
	return rules_same(a, b);
}
