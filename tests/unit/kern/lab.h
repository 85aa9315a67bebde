/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab.h - real BPF for the tests of this folder: mount and network namespaces
 * of the test's own, in them a bpffs and a veth pair kern0 - kern1.  Nothing
 * of the host is touched.
 */
#ifndef TESTS_UNIT_KERN_LAB_H
#define TESTS_UNIT_KERN_LAB_H

#include "kern/kern.h"
#include "unit/kern/make.h"

extern char root[64];			/* of the pins */

/* Enter the namespaces; NULL, or why BPF cannot be tested here. */
const char *enter_lab(void);
void leave_lab(void);

/* Run the tests, or say of each that it was skipped and why; the exit status. */
int run_in_lab(const char *group, const struct CMUnitTest *tests, size_t count);

/* Make the veth pair anew; close what a failed test left open. */
int setup(void **state);
int teardown(void **state);

int run(const char *cmd);
int pair_up(void);

/* Rows of main(): a test by its name; a test for each row of a table, whose rows begin with a name. */
#define TEST(f) tests[n++] = (struct CMUnitTest){ #f, f, setup, teardown, NULL }
#define ROWS(array, run)                                                                                       \
	for (i = 0; i < sizeof(array) / sizeof((array)[0]); i++)                                                                     \
		tests[n++] = (struct CMUnitTest){ (array)[i].name, run, setup, teardown, (void *)&(array)[i] }

/* Options for kern0 with all its addresses. */
struct kern_opts options(void);

/* Open, or fail the test; stop() closes. */
struct kern *open_with(const struct kern_opts *o, unsigned secret);
struct kern *open_usual(void);
void stop(struct kern *k, bool detach);

struct kern_status status_of(struct kern *k);
unsigned files_in(const char *path);
bool is_there(const char *name);	/* below root */
uint32_t program_on(const char *ifname);

/* A program of somebody else's that passes everything. */
int foreign_program(void);

/* Publish a filter of that many names; the view that user space gets. */
struct filter_view publish(struct kern *k, unsigned names);

/* Put an A record; is there one? */
void put_a(struct kern *k, const char *name);
bool holds(struct kern *k, const char *name);

/* Ask the dry copy for an A record. */
struct kern_why_result ask(struct kern *k, const char *name, const char *client);

#endif
