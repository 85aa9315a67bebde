/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reader.c - what readers of values need: errors, texts, fields of maps, hints.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config/reader.h"

static void note(struct reader *r, unsigned line, const char *key, const char *fmt, va_list ap)
{
	struct err_at *e;

	if (r->errs->count == CONFIG_ERRORS_MAX) {
		r->errs->more++;
		return;
	}
	e = &r->errs->at[r->errs->count++];
	err_where(e, r->file, line, key);
	vsnprintf(e->why, sizeof(e->why), fmt, ap);
}

int reader_error_line(struct reader *r, unsigned line, const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(r, line, key, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int reader_error(struct reader *r, const yaml_node_t *node, const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(r, node && !r->made ? reader_line(node) : 0, key, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

const char *reader_quote(const char *text, char *buf, size_t size)
{
	size_t i, room = size > 48 ? 48 : size;
	char *p = buf;

	*p++ = '"';
	for (i = 0; text[i] && (size_t)(p - buf) < room - 5; i++)
		*p++ = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
	strcpy(p, text[i] ? "...\"" : "\"");
	return buf;
}

bool reader_is_null(const yaml_node_t *node)
{
	const char *s = (const char *)node->data.scalar.value;

	return node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (!*s || !strcmp(s, "~") || !strcmp(s, "null"));
}

const char *reader_text(struct reader *r, const yaml_node_t *node, const char *key, const char *expected)
{
	const char *s;

	if (node->type != YAML_SCALAR_NODE) {
		reader_error(r, node, key, "expected %s, not a %s", expected,
			     node->type == YAML_MAPPING_NODE ? "map" : "list");
		return NULL;
	}
	s = (const char *)node->data.scalar.value;
	if (reader_is_null(node) || !*s) {
		reader_error(r, node, key, "expected %s, but there is no value", expected);
		return NULL;
	}
	if (strlen(s) != node->data.scalar.length) {
		reader_error(r, node, key, "expected %s, not a text with a NUL in it", expected);
		return NULL;
	}
	return s;
}

int reader_word(struct reader *r, const yaml_node_t *node, const char *key, const char *const *words, unsigned count,
		const char *expected)
{
	const char *s = reader_text(r, node, key, expected);
	char quoted[64];
	unsigned i;

	if (!s)
		return -EINVAL;
	for (i = 0; i < count; i++)
		if (!strcmp(s, words[i]))
			return (int)i;
	return reader_error(r, node, key, "expected %s, not %s", expected, reader_quote(s, quoted, sizeof(quoted)));
}

/* Find the field of that name; its index, or -ENOENT. */
static int field_find(const struct reader_field *fields, unsigned count, const char *name)
{
	unsigned i;

	for (i = 0; i < count; i++)
		if (!strcmp(fields[i].name, name))
			return (int)i;
	return -ENOENT;
}

static int field_unknown(struct reader *r, const yaml_node_t *at, const char *key, const char *name,
			 const struct reader_field *fields, unsigned count)
{
	const char *names[16], *like;
	char quoted[64];
	unsigned i;

	if (r->errs->count == CONFIG_ERRORS_MAX)
		return reader_error(r, at, key, "unknown key");
	for (i = 0; i < count && i < 16; i++)
		names[i] = fields[i].name;
	like = reader_nearest(name, names, i);
	return reader_error(r, at, key, "unknown key %s%s%s%s", reader_quote(name, quoted, sizeof(quoted)),
			    like ? "; did you mean \"" : "", like ? like : "", like ? "\"?" : "");
}

static int field_take(struct reader *r, const yaml_node_pair_t *pair, const char *key,
		      const struct reader_field *fields, unsigned count, const yaml_node_t **ret)
{
	const yaml_node_t *name = reader_node(r, pair->key);
	const char *text = reader_text(r, name, key, "the name of a key");
	char path[96];
	int i;

	if (!text)
		return -EINVAL;
	i = field_find(fields, count, text);
	if (i < 0)
		return field_unknown(r, name, key, text, fields, count);
	snprintf(path, sizeof(path), "%.60s.%s", key, fields[i].name);
	if (fields[i].planned)
		return reader_error(r, name, path, "not built yet");
	if (ret[i])
		return reader_error(r, name, path, "given twice, first in line %u", reader_line(ret[i]));
	ret[i] = reader_node(r, pair->value);
	return 0;
}

int reader_fields(struct reader *r, const yaml_node_t *node, const char *key, const struct reader_field *fields,
		  unsigned count, const yaml_node_t **ret)
{
	const yaml_node_pair_t *p;
	unsigned i;
	int err = 0;

	for (i = 0; i < count; i++)
		ret[i] = NULL;
	if (node->type != YAML_MAPPING_NODE)
		return reader_error(r, node, key, "expected a map like { name: ... }");
	for (p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; p++)
		if (field_take(r, p, key, fields, count, ret))
			err = -EINVAL;
	return err;
}

char *reader_path(const struct reader *r, const char *text)
{
	const char *slash = r->file ? strrchr(r->file, '/') : NULL;
	char *path;

	if (*text == '/' || !slash)
		return strdup(text);
	if (asprintf(&path, "%.*s/%s", (int)(slash - r->file), r->file, text) < 0)
		return NULL;
	return path;
}

/* How many letters differ (insert, drop, change); names longer than 40 are never alike. */
static unsigned distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), i, j;
	unsigned row[41], left, corner, best;

	if (la > 40 || lb > 40)
		return 99;
	for (j = 0; j <= lb; j++)
		row[j] = (unsigned)j;
	for (i = 1; i <= la; i++) {
		corner = row[0];
		row[0] = (unsigned)i;
		for (j = 1; j <= lb; j++) {
			left = row[j - 1] + 1;
			best = corner + (a[i - 1] != b[j - 1]);
			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			row[j] = left < best ? left : best;
		}
	}
	return row[lb];
}

const char *reader_nearest(const char *text, const char *const *names, unsigned count)
{
	unsigned i, d, least = (unsigned)strlen(text) / 3 + 2;
	const char *found = NULL;

	for (i = 0; i < count; i++) {
		d = distance(text, names[i]);
		if (d < least) {
			least = d;
			found = names[i];
		}
	}
	return found;
}
