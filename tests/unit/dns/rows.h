/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.h - each row of a table is a test of its own.
 *
 *	static const struct case cases[] = { { "a sentence", ... }, ... };
 *	ROWS_ADD(cases, run_case);	-- run_case(const struct case *)'s row is *state
 *	return rows_run("group");
 */
#ifndef UNIT_DNS_ROWS_H
#define UNIT_DNS_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static struct CMUnitTest *rows_tests;
static size_t rows_count;

static inline void rows_add(const char *name, CMUnitTestFunction f, const void *row)
{
	rows_tests = realloc(rows_tests, (rows_count + 1) * sizeof(*rows_tests));
	if (!rows_tests)
		abort();
	rows_tests[rows_count++] = (struct CMUnitTest){ name, f, NULL, NULL, (void *)(uintptr_t)row };
}

#define ROWS_ADD(table, f)                                                                      \
	do {                                                                                    \
		for (size_t i_ = 0; i_ < sizeof(table) / sizeof((table)[0]); i_++)              \
			rows_add((table)[i_].name, f, &(table)[i_]);                            \
	} while (0)

static inline int rows_run(const char *group)
{
	int failed = _cmocka_run_group_tests(group, rows_tests, rows_count, NULL, NULL);

	free(rows_tests);
	return failed;
}

#endif
