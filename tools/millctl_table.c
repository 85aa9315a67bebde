/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl_table.c - aligned tables, and numbers for people.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/millctl.h"

#define COLUMNS_MAX 10
#define GAP         2

struct table {
	const char *columns;
	unsigned count;			/* of columns */
	char **cell;
	size_t rows;
	unsigned width[COLUMNS_MAX];
};

static void *need(void *p)
{
	if (!p) {
		fprintf(stderr, "millctl: out of memory\n");
		exit(CTL_NO);
	}
	return p;
}

/* Columns on the screen: octets of UTF-8 that begin a character. */
static unsigned width_of(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

struct table *table_new(const char *columns)
{
	struct table *t = need(calloc(1, sizeof(*t)));

	t->columns = columns;
	t->count = (unsigned)strlen(columns);
	return t;
}

void table_row(struct table *t, ...)
{
	const char *text;
	va_list ap;
	unsigned i, w;

	t->cell = need(realloc(t->cell, (t->rows + 1) * t->count * sizeof(*t->cell)));
	va_start(ap, t);
	for (i = 0; i < t->count; i++) {
		text = va_arg(ap, const char *);
		t->cell[t->rows * t->count + i] = need(strdup(text));
		w = width_of(text);
		if (w > t->width[i])
			t->width[i] = w;
	}
	va_end(ap);
	t->rows++;
}

static void print_row(const struct table *t, char **cell, unsigned indent)
{
	unsigned i, pad, owed = indent;		/* blanks are written only before something */

	for (i = 0; i < t->count; i++) {
		pad = t->width[i] - width_of(cell[i]);
		if (t->columns[i] == 'r')
			owed += pad;
		if (*cell[i]) {
			printf("%*s%s", (int)owed, "", cell[i]);
			owed = 0;
		}
		owed += GAP + (t->columns[i] == 'r' ? 0 : pad);
	}
	putchar('\n');
}

void table_print(struct table *t, unsigned indent)
{
	size_t i;

	for (i = 0; i < t->rows; i++)
		print_row(t, t->cell + i * t->count, indent);
	for (i = 0; i < t->rows * t->count; i++)
		free(t->cell[i]);
	free(t->cell);
	free(t);
}

/* A row of a table has at most COLUMNS_MAX numbers. */
static char *next_buffer(void)
{
	static char ring[2 * COLUMNS_MAX][48];
	static unsigned at;

	return ring[at++ % (2 * COLUMNS_MAX)];
}
#define BUFFER 48

const char *show_number(uint64_t v)
{
	char *buf = next_buffer(), plain[24];
	int n = snprintf(plain, sizeof(plain), "%llu", (unsigned long long)v);
	int i, out = 0;

	for (i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			buf[out++] = ',';
		buf[out++] = plain[i];
	}
	buf[out] = 0;
	return buf;
}

const char *show_count(uint64_t v, const char *one, const char *many)
{
	char *buf = next_buffer();

	snprintf(buf, BUFFER, "%s %s", show_number(v), v == 1 ? one : many);
	return buf;
}

const char *show_origin(const json_t *o)
{
	return strcmp(ctl_text(o, "origin"), "state") ? ctl_text(o, "origin") : "millctl";
}

const char *show_bytes(uint64_t v)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	char *buf = next_buffer();
	double d = (double)v;
	unsigned u = 0;

	while (d >= 1024 && u + 1 < sizeof(unit) / sizeof(unit[0])) {
		d /= 1024;
		u++;
	}
	snprintf(buf, BUFFER, u ? "%.1f %s" : "%.0f %s", d, unit[u]);
	return buf;
}

const char *show_ns(uint64_t v)
{
	char *buf = next_buffer();

	if (v < 10000)
		snprintf(buf, BUFFER, "%llu ns", (unsigned long long)v);
	else if (v < 1000000)
		snprintf(buf, BUFFER, "%.1f us", (double)v / 1e3);
	else
		snprintf(buf, BUFFER, "%.1f ms", (double)v / 1e6);
	return buf;
}

const char *show_duration(uint64_t s)
{
	char *buf = next_buffer();
	unsigned long long d = s / 86400, h = s / 3600 % 24, m = s / 60 % 60;

	if (d)
		snprintf(buf, BUFFER, "%llu d %llu h", d, h);
	else if (h)
		snprintf(buf, BUFFER, "%llu h %llu min", h, m);
	else if (m)
		snprintf(buf, BUFFER, "%llu min %llu s", m, (unsigned long long)s % 60);
	else
		snprintf(buf, BUFFER, "%llu s", (unsigned long long)s);
	return buf;
}

const char *show_percent(double part)
{
	char *buf = next_buffer();

	snprintf(buf, BUFFER, "%.1f %%", 100 * part);
	return buf;
}
