/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fetch.h - what the tests of a fetch look at: the outcome, and the copy.
 */
#ifndef TESTS_LISTS_FETCH_H
#define TESTS_LISTS_FETCH_H

#include "tests/unit/lists/rig.h"

#define OLD  "0.0.0.0 old.example\n0.0.0.0 older.example\n"
#define NEW  "0.0.0.0 new.example\n"

/* The file @name of the room holds @want; "": there is none. */
void assert_file(struct rig *r, const char *name, const char *want);

/* The reason says @what, in one line. */
void assert_said(struct rig *r, const char *what);

/* A failure with @err, whose reason says @what; the copy @stays. */
void assert_failed(struct rig *r, const char *path, int err, const char *what, const char *stays);

/* A copy that an earlier fetch left. */
void put_old(struct rig *r);

/* "/old" is a good list; all else is the test's page. */
bool is_old(struct conn *c);

/* That, and another good list at every other path. */
void page_plain(struct conn *c);

#endif
