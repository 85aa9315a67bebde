/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrdocs.c - prints those pages of docs/ that come from tables in the source.
 *
 * usage: mrdocs configuration > docs/CONFIGURATION.md
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config/config.h"

struct page {
	const char *name;
	char *(*print)(void);
};

static const struct page pages[] = {
	{ "configuration", config_reference },
};

static int usage(FILE *to, int status)
{
	unsigned i;

	fputs("usage: mrdocs PAGE\npages:", to);
	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		fprintf(to, " %s", pages[i].name);
	fputc('\n', to);
	return status;
}

static int print(const struct page *p)
{
	char *text = p->print();
	int failed;

	if (!text) {
		fputs("mrdocs: out of memory\n", stderr);
		return 1;
	}
	failed = fputs(text, stdout) == EOF || fflush(stdout);
	free(text);
	if (failed)
		perror("mrdocs: standard output");
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	unsigned i;

	for (i = 0; argc == 2 && i < sizeof(pages) / sizeof(pages[0]); i++)
		if (!strcmp(pages[i].name, argv[1]))
			return print(&pages[i]);
	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return usage(stdout, 0);
	return usage(stderr, 2);
}
