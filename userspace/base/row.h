/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * row.h - things to do one after the other, whose memory is asked for ahead.
 *
 * What is done with one thing waits for memory: for lines that its key leads
 * to, then for lines whose addresses stand in those.  In a row the first ones
 * of a thing are asked for while the ROW_FAR things before it are done, the
 * second ones while the last few of these are.  All are done in the order in
 * which they came, each as if it were alone; asking ahead changes nothing but
 * the time.
 */
#ifndef BASE_ROW_H
#define BASE_ROW_H

#define ROW_FAR  8			/* things between asking for the first lines and doing; a power of two */
#define ROW_NEAR 4			/* things between the first lines and the second */

struct row_ops {
	void (*ahead)(void *thing);	/* ask for the first lines */
	void (*near)(void *thing);	/* read these and ask for the second; left out where it comes too late */
	void (*run)(void *thing);	/* do it; must not touch the row */
};

/* Begins as { .ops = ... }. */
struct row {
	const struct row_ops *ops;
	unsigned added, neared, done;	/* so many things, ever */
	void *thing[ROW_FAR];
};

/* Add a thing; when ROW_FAR others wait, the first of them is done before. */
void row_add(struct row *r, void *thing);

/* Do all that wait. */
void row_end(struct row *r);

#endif
