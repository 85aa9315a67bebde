/* SPDX-License-Identifier: BSD-2-Clause */
/* alloc.c - see alloc.h. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fault/alloc.h"

static _Thread_local unsigned left;	/* allocations until the one that fails; 0: none does */
static _Thread_local bool came;

static bool fails(void)
{
	if (!left || --left)
		return false;
	came = true;
	errno = ENOMEM;
	return true;
}

void alloc_fail(unsigned n)
{
	came = false;
	left = n;
}

bool alloc_failed(void)
{
	return came;
}

void alloc_came(void)
{
	came = true;
}

unsigned alloc_fail_each(int (*run)(void))
{
	bool failed = true;
	unsigned n;
	int err;

	for (n = 1; failed; n++) {
		alloc_fail(n);
		err = run();
		failed = alloc_failed();
		alloc_fail(0);
		if (err && (err != -ENOMEM || !failed))
			fail_msg("allocation %u failed and the outcome is %d", n, err);
	}
	return n - 1;
}

/* ---- instead of the C library's ---- */

#define WRAP(type, name, params, args, failure)            \
	type __real_##name params;                         \
	type __wrap_##name params;                         \
	type __wrap_##name params                          \
	{                                                  \
		return fails() ? failure : __real_##name args; \
	}

WRAP(void *, malloc, (size_t size), (size), NULL)
WRAP(void *, calloc, (size_t count, size_t size), (count, size), NULL)
WRAP(void *, realloc, (void *p, size_t size), (p, size), NULL)
WRAP(char *, strdup, (const char *s), (s), NULL)
WRAP(FILE *, open_memstream, (char **p, size_t *size), (p, size), NULL)
WRAP(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL)

int __wrap_asprintf(char **ret, const char *format, ...);

int __wrap_asprintf(char **ret, const char *format, ...)
{
	va_list args;
	int n;

	if (fails())
		return -1;
	va_start(args, format);
	n = vasprintf(ret, format, args);
	va_end(args);
	return n;
}

/* ---- instead of pcre2's ---- */

WRAP(pcre2_match_data_8 *, pcre2_match_data_create_8, (uint32_t n, pcre2_general_context_8 *c), (n, c), NULL)
WRAP(pcre2_match_context_8 *, pcre2_match_context_create_8, (pcre2_general_context_8 *c), (c), NULL)
WRAP(int, pcre2_jit_compile_8, (pcre2_code_8 *c, uint32_t options), (c, options), PCRE2_ERROR_NOMEMORY)

pcre2_code_8 *__real_pcre2_compile_8(PCRE2_SPTR8 p, PCRE2_SIZE len, uint32_t options, int *why, PCRE2_SIZE *at,
				     pcre2_compile_context_8 *c);
pcre2_code_8 *__wrap_pcre2_compile_8(PCRE2_SPTR8 p, PCRE2_SIZE len, uint32_t options, int *why, PCRE2_SIZE *at,
				     pcre2_compile_context_8 *c);

pcre2_code_8 *__wrap_pcre2_compile_8(PCRE2_SPTR8 p, PCRE2_SIZE len, uint32_t options, int *why, PCRE2_SIZE *at,
				     pcre2_compile_context_8 *c)
{
	if (!fails())
		return __real_pcre2_compile_8(p, len, options, why, at, c);
	*why = PCRE2_ERROR_HEAP_FAILED;
	*at = 0;
	return NULL;
}

/* ---- sqlite's ---- */

static sqlite3_mem_methods theirs;

static void *sqlite_malloc(int size)
{
	return fails() ? NULL : theirs.xMalloc(size);
}

static void *sqlite_realloc(void *p, int size)
{
	return fails() ? NULL : theirs.xRealloc(p, size);
}

void alloc_take_sqlite(void)
{
	sqlite3_mem_methods ours;

	assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &theirs), SQLITE_OK);
	ours = theirs;
	ours.xMalloc = sqlite_malloc;
	ours.xRealloc = sqlite_realloc;
	assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &ours), SQLITE_OK);
}
