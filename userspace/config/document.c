/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * document.c - the parser's run over a text, bounded.
 *
 * A first pass over the events checks depth, tags and the number of documents
 * before anything is built: libyaml's loader would take time that grows with
 * the square of the nesting.
 */
#include <errno.h>
#include <string.h>
#include "config/document.h"
#include "config/reader.h"

#define NESTING_MAX 16

static int fail(const char *file, unsigned line, struct config_errors *errs, const char *why)
{
	struct reader r = { .file = file, .errs = errs };

	return reader_error_line(&r, line, NULL, "%s", why);
}

static unsigned line_of_offset(const char *text, size_t size, size_t offset)
{
	unsigned line = 1;
	size_t i;

	for (i = 0; i < offset && i < size; i++)
		line += text[i] == '\n';
	return line;
}

/* What the parser complains about. */
static int parser_error(const yaml_parser_t *p, const char *text, size_t size, const char *file, struct config_errors *errs)
{
	struct reader r = { .file = file, .errs = errs };
	const char *problem = p->problem ? p->problem : "broken";

	if (p->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	if (p->error == YAML_READER_ERROR)
		return reader_error_line(&r, line_of_offset(text, size, p->problem_offset), NULL, "not YAML: %s", problem);
	return reader_error_line(&r, (unsigned)p->problem_mark.line + 1, NULL, "not YAML: %s%s%s", problem,
				 p->context ? ", " : "", p->context ? p->context : "");
}

static bool has_tag(const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		return e->data.scalar.tag;
	case YAML_SEQUENCE_START_EVENT:
		return e->data.sequence_start.tag;
	case YAML_MAPPING_START_EVENT:
		return e->data.mapping_start.tag;
	default:
		return false;
	}
}

/* What is wrong with an event of ours, or NULL; @depth and @documents are kept. */
static const char *judge(const yaml_event_t *e, unsigned *depth, unsigned *documents)
{
	if (e->type == YAML_DOCUMENT_START_EVENT && ++*documents > 1)
		return "expected one document, another one starts here";
	if (e->type == YAML_SEQUENCE_START_EVENT || e->type == YAML_MAPPING_START_EVENT)
		++*depth;
	if (e->type == YAML_SEQUENCE_END_EVENT || e->type == YAML_MAPPING_END_EVENT)
		--*depth;
	if (*depth > NESTING_MAX)
		return "nested too deep";
	return has_tag(e) ? "tags (!) have no use here" : NULL;
}

static int check_events(const char *text, size_t size, const char *file, struct config_errors *errs)
{
	unsigned depth = 0, documents = 0, line;
	const char *wrong;
	yaml_parser_t p;
	yaml_event_t e;
	bool end;
	int err = 0;

	if (!yaml_parser_initialize(&p))
		return -ENOMEM;
	yaml_parser_set_input_string(&p, (const unsigned char *)text, size);
	do {
		if (!yaml_parser_parse(&p, &e)) {
			err = parser_error(&p, text, size, file, errs);
			break;
		}
		wrong = judge(&e, &depth, &documents);
		line = (unsigned)e.start_mark.line + 1;
		end = e.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&e);
		if (wrong)
			err = fail(file, line, errs, wrong);
	} while (!end && !err);
	yaml_parser_delete(&p);
	return err;
}

int document_load(const char *text, size_t size, const char *file, yaml_document_t *ret, struct config_errors *errs)
{
	yaml_parser_t p;
	int err;

	if (size > CONFIG_SIZE_MAX)
		return fail(file, 0, errs, "longer than 1 MiB");
	err = check_events(text, size, file, errs);
	if (err)
		return err;
	if (!yaml_parser_initialize(&p))
		return -ENOMEM;
	yaml_parser_set_input_string(&p, (const unsigned char *)text, size);
	if (!yaml_parser_load(&p, ret))
		err = parser_error(&p, text, size, file, errs);
	yaml_parser_delete(&p);
	return err;
}
