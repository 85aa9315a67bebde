/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rig.h - a small filter that most tests of filters begin with, compiled into
 * a folder of the test's own, and looking names up in it.
 */
#ifndef TESTS_UNIT_POLICY_RIG_H
#define TESTS_UNIT_POLICY_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "policy/filter_build.h"
#include "policy/judge.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define LISTS 4

extern struct mr_secret secret;
extern char folder[64], path[96];	/* of the test; of the compiled filter in it */
extern const struct judge_group everything;

/* 0: all lists; 1: lists 0 and 2; 2: none. */
#define GROUPS 3
extern const struct judge_group groups[GROUPS];

/* A secret and a folder for the group of tests; the folder goes. */
int setup(void **state);
int teardown(void **state);

/* 1 when it is new for that list, 0 when it is not, or as filter_builder_put(). */
int add_wire(struct filter_builder *b, const uint8_t *wire, uint16_t len, bool subtree, unsigned list,
	     enum filter_action action);
int add(struct filter_builder *b, const char *name, bool subtree, unsigned list, enum filter_action action);

/* A builder with the usual names; the caller frees it. */
struct filter_builder *build_entries(void);

/* Write and open, or fail the test. */
struct filter *compile(struct filter_builder *b, uint64_t *ret_asked);

struct world {
	struct filter *f;
	struct mr_verdict *verdicts;
	struct mr_unit unit;
	struct filter_view view;
};

/* Takes @f. */
void world_open(struct world *w, struct filter *f, const struct judge_group *g, unsigned count);
void world_close(struct world *w);

struct filter_result find_wire(const struct world *w, const uint8_t *wire, uint16_t len, unsigned group);
struct filter_result find(const struct world *w, const char *text, unsigned group);

#endif
