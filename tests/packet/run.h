/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run.h - rows of map state, frame in, verdict, counter and frame out.
 *
 * Each row is run through fastpath_why first, which must change nothing but
 * mr_why, then through fastpath, which must say and send the same.
 */
#ifndef TESTS_PACKET_RUN_H
#define TESTS_PACKET_RUN_H

#include "packet/fill.h"
#include "packet/frame.h"

/* Rows leave out what they do not mean. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

struct outcome;

struct row {
	const char *name;		/* a sentence */
	struct ask ask;
	void (*bend)(struct frame *f);	/* what the description cannot say */
	void (*world)(struct fill *f);	/* changes to the suite's own world */
	enum mr_stat stat;		/* the one row of ANSWER or PASS that counts */
	const char *says;		/* of an answer: frame_tell()'s line */
	enum mr_stat mark;		/* a MARK row that counts once; 0: none does */
	/* Looks further; returns what is wrong, or NULL. */
	const char *(*also)(struct fill *f, const struct outcome *o);
};

struct outcome {
	const struct frame *query;
	const __u8 *reply;
	size_t len;
	const struct mr_why *why;
};

/**
 * Run a table in a world of its own per row, printing TAP.
 *
 * @world  fills the maps after fill_reset()
 *
 * Returns the exit status of the suite.  Where BPF cannot be used, one SKIP row
 * says why.
 */
int run_rows(void (*world)(struct fill *f), const struct row *rows, size_t count);

/* Load with the sizes of these suites; 0, or 1 after having printed the SKIP row or the failure. */
int run_open(struct fill *f);
/* The same with other sizes. */
int run_open_sized(struct fill *f, const struct fill_size *size);

/* Put one frame through a program; returns its XDP action or a negative errno. */
int run_frame(int prog_fd, const void *in, size_t len, void *out, size_t *ret_len);

/* The name of a counter. */
const char *run_stat_name(enum mr_stat stat);

#endif
