/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alloc.h - fail the n-th allocation.
 *
 * The linker puts the functions of alloc.c before the C library's and pcre2's
 * (Makefile: FAULT_WRAP), for all that is linked in; sqlite is told to use
 * them.  What a library of the system allocates within itself is not seen.
 */
#ifndef TESTS_FAULT_ALLOC_H
#define TESTS_FAULT_ALLOC_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* The @n-th allocation of this thread from now on fails; 0: none.  So servers that a test runs beside do not. */
void alloc_fail(unsigned n);

/* True when it has come; say so again, after alloc_fail(0). */
bool alloc_failed(void);
void alloc_came(void);

/* Have sqlite allocate with what fails; before anything is opened. */
void alloc_take_sqlite(void);

/*
 * Run @run with the first, the second ... allocation failing, until one run
 * comes to none that fails: each must return 0 or -ENOMEM, that one 0.  Returns
 * how many runs there were.
 */
unsigned alloc_fail_each(int (*run)(void));

#endif
