/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl_config.c - check a configuration and print the reference, without a daemon.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "config/config.h"
#include "tools/millctl.h"

static json_t *error_row(const struct err_at *e)
{
	return json_pack("{s:s, s:i, s:s, s:s}", "file", e->file, "line", (int)e->line, "key", e->key, "why", e->why);
}

static void print_json(json_t *o)
{
	json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
}

static int report(const struct ctl *c, int err, const struct config_errors *errors)
{
	json_t *rows = json_array();
	char line[800];
	unsigned i;

	for (i = 0; i < errors->count; i++) {
		json_array_append_new(rows, error_row(&errors->at[i]));
		if (!c->json)
			fprintf(stderr, "%s\n", err_text(&errors->at[i], line, sizeof(line)));
	}
	if (c->json)
		print_json(json_pack("{s:b, s:s, s:o}", "ok", !err, "file", c->arg, "errors", rows));
	else
		json_decref(rows);
	if (errors->more && !c->json)
		fprintf(stderr, "and %u more\n", errors->more);
	if (!c->json && !err)
		printf("%s: a good configuration\n", c->arg);
	else if (!c->json && !errors->count)
		fprintf(stderr, "millctl: %s: %s\n", c->arg, strerror(-err));
	return err ? CTL_USAGE : CTL_OK;
}

int ctl_config_check(struct ctl *c)
{
	struct config_errors *errors = calloc(1, sizeof(*errors));
	struct config *config = NULL;
	char *text = NULL;
	size_t size = 0;
	int err = errors ? file_read(c->arg, CONFIG_SIZE_MAX + 1, &text, &size) : -ENOMEM;

	if (!errors) {
		fprintf(stderr, "millctl: out of memory\n");
		return CTL_NO;
	}
	if (err) {
		errors->count = 1;
		err_where(&errors->at[0], c->arg, 0, NULL);
		err_why(&errors->at[0], err, "cannot be read: %s", strerror(-err));
	} else {
		err = config_load(text, size, c->arg, &config, errors);
	}
	err = report(c, err, errors);
	config_free(config);
	free(errors);
	free(text);
	return err;
}

int ctl_config_reference(struct ctl *c)
{
	const struct config_option *o;
	json_t *rows;
	char *text;
	unsigned i;

	if (!c->json) {
		text = config_reference();
		if (!text) {
			fprintf(stderr, "millctl: out of memory\n");
			return CTL_NO;
		}
		fputs(text, stdout);
		free(text);
		return CTL_OK;
	}
	rows = json_array();
	for (i = 0; (o = config_option(i)); i++)
		json_array_append_new(rows, json_pack("{s:s, s:s, s:s?, s:I, s:I, s:b, s:s}", "path", o->path, "expected",
						      o->expected, "default", o->fallback, "min", (json_int_t)o->min,
						      "max", (json_int_t)o->max, "restart", o->restart, "help", o->help));
	print_json(json_pack("{s:o}", "options", rows));
	return CTL_OK;
}
