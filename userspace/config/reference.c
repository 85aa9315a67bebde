/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reference.c - the manual of all options, printed from their rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config/reader.h"

static const char intro[] =
	"# Configuration\n"
	"\n"
	"<!-- Made by `build/mrdocs configuration` from userspace/config/options.def; edit that. -->\n"
	"\n"
	"One YAML file, `/etc/millrace/millrace.yaml`. Everything has a default: an empty file is a working caching\n"
	"forwarder. A path like `cache.max_ttl` means the key `max_ttl` in the map `cache`.\n"
	"\n"
	"* An unknown key, a key given twice, a wrong type and a value out of range are errors, with file and line;\n"
	"  `millctl config check FILE` says all of them. A server that runs keeps its old configuration then.\n"
	"* Numbers are decimal and stand without quotes. Times carry their unit (`10s`, `24h`) or are in the unit of\n"
	"  their name. Switches are `true` and `false` (`yes`, `no`, `on`, `off` are understood).\n"
	"* IPv6 addresses stand in quotes, since YAML gives brackets and colons a meaning of their own.\n"
	"* A change of an option marked *restart* waits for the next start; all others take effect at a reload.\n";

static void print_default(FILE *f, const struct config_option *o)
{
	if (o->fallback)
		fprintf(f, "* default: `%s`\n", o->fallback);
	else
		fputs("* default: none\n", f);
}

static void print_option(FILE *f, const struct config_option *o)
{
	fprintf(f, "\n### `%s`\n\n%s\n\n* value: %s", o->path, o->help, o->expected);
	if (o->max)
		fprintf(f, !strncmp(o->expected, "a list", 6) ? ", %u to %u of them" : ", %u to %u", o->min, o->max);
	fputc('\n', f);
	print_default(f, o);
	if (o->restart)
		fputs("* restart\n", f);
}

/* True when the first parts of two paths differ. */
static bool other_section(const char *a, const char *b)
{
	size_t n = strcspn(a, ".");

	return n != strcspn(b, ".") || strncmp(a, b, n);
}

char *config_reference(void)
{
	const struct config_planned *p;
	const struct config_option *o;
	const char *before = "";
	char *text = NULL;
	size_t size;
	unsigned i;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs(intro, f);
	for (i = 0; (o = config_option(i)); i++) {
		if (other_section(o->path, before))
			fprintf(f, "\n## %.*s\n", (int)strcspn(o->path, "."), o->path);
		before = o->path;
		print_option(f, o);
	}
	fputs("\n## Not built yet\n\nThese keys have their place, and giving one is an error until it works.\n\n", f);
	for (i = 0; (p = config_planned(i)); i++)
		fprintf(f, "* `%s`: %s\n", p->path, p->help);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
