/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reader.h - what the files of this room share: a document being read.
 *
 * One object per config_load().  Readers of values note every fault in the
 * errors and go on; the load fails at its end when there was any.
 */
#ifndef CONFIG_READER_H
#define CONFIG_READER_H

#include <yaml.h>
#include "config/config.h"

struct reader {
	yaml_document_t *doc;
	const char *file;		/* NULL: none */
	struct config *c;
	struct config_errors *errs;
	int err;			/* -ENOMEM once memory was out */
	bool outside;			/* the text is not the file: a default, or what was made at run time */
	const char *made;		/* name of an object that was made at run time; NULL: not one */
};

/* An option's row, as the readers need it. */
struct config_row {
	struct config_option o;
	const struct config_kind *kind;
	size_t offset;			/* of the member in struct config */
	size_t size;
};

/* Readers: 0, or -EINVAL with an error noted, or -ENOMEM.  The value is in cleared memory; they may write part of it. */
typedef int config_reader(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to);
typedef bool config_same(const void *a, const void *b, size_t size);

struct config_kind {
	config_reader *read;
	config_same *same;
};

#define KIND(kind, read, same, type, expected) \
	config_reader config_read_##read; \
	config_same config_same_##same;
#include "config/kinds.def"
#undef KIND

/**
 * Note an error at a node (NULL: no line).
 *
 * Returns -EINVAL.
 */
int reader_error(struct reader *r, const yaml_node_t *node, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The same at a line. */
int reader_error_line(struct reader *r, unsigned line, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* A node of the document by its number. */
static inline yaml_node_t *reader_node(struct reader *r, int id)
{
	return yaml_document_get_node(r->doc, id);
}

/* Of the text, which need not be the file. */
static inline unsigned reader_line(const yaml_node_t *node)
{
	return (unsigned)node->start_mark.line + 1;
}

/* True for an empty plain scalar, ~ and null. */
bool reader_is_null(const yaml_node_t *node);

/**
 * The text of a scalar, borrowed from the document.
 *
 * @expected  for the error
 *
 * Returns NULL with an error noted for anything else, no value, an empty text, and a text that holds a NUL.
 */
const char *reader_text(struct reader *r, const yaml_node_t *node, const char *key, const char *expected);

/**
 * Which of @count words the scalar is, letter case counts.
 *
 * Returns its index or -EINVAL with an error noted.
 */
int reader_word(struct reader *r, const yaml_node_t *node, const char *key, const char *const *words, unsigned count,
		const char *expected);

/* A key that a map of a list's element may have. */
struct reader_field {
	const char *name;
	bool planned;			/* not built yet */
};

/**
 * Find the values of a map's fields; unknown, repeated and planned ones are errors.
 *
 * @ret  one for each field, NULL when it is not given
 */
int reader_fields(struct reader *r, const yaml_node_t *node, const char *key, const struct reader_field *fields,
		  unsigned count, const yaml_node_t **ret);

/*
 * A path for a program: relative ones are put behind the folder of the file.  NULL
 * when memory is out; the caller frees it.
 */
char *reader_path(const struct reader *r, const char *text);

/* Text for an error: printable, cut to a readable length, in quotes.  Returns @buf. */
const char *reader_quote(const char *text, char *buf, size_t size);

/**
 * The likest of @count names, for "did you mean"; NULL when none is like it.
 */
const char *reader_nearest(const char *text, const char *const *names, unsigned count);

/* A key that is planned; the @i-th, NULL past the last. */
struct config_planned {
	const char *path;
	const char *help;
};
const struct config_planned *config_planned(unsigned i);

#endif
