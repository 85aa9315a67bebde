/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rig.h - a folder of the test's own with a state.db in it, and looks into that.
 */
#ifndef TESTS_UNIT_STORE_RIG_H
#define TESTS_UNIT_STORE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "store/state.h"

#define NOW 1700000100
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

extern char folder[64], path[96];

/* Setup and teardown of each test. */
int make_folder(void **state);
int remove_folder(void **state);
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, make_folder, remove_folder)

/* Open, or fail the test. */
struct state *open_ok(void);

/* Open what shall not open; returns the error. */
int open_fails(struct err_at *at);

void put_ok(struct state *s, const char *kind, const char *name, const char *body);

/* What state_each() or state_pause_each() handed on, a line a row. */
struct seen {
	char text[4096];
};
int see(void *arg, const struct state_object *o);
int see_pause(void *arg, const struct state_pause *p);

/* All objects of a kind (NULL: all) are these. */
void expect(struct state *s, const char *kind, const char *text);

/* Run SQL of the test's own on the file. */
void raw(const char *sql);

#endif
