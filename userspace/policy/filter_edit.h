/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter_edit.h - changes what one source says of one name, in a filter in force.
 *
 * An entry is one word, so whoever reads meanwhile sees the old one or the new
 * one.  A change is planned first, which touches nothing and says whether it can
 * be made; then it is made, which cannot fail: in this order, members of a new
 * set, its verdicts, and the entry with what leads there.  One thread makes changes.
 *
 * What the filter does not hold must be known: members that stand for patterns,
 * conditions or other names are not told from written ones here.
 */
#ifndef POLICY_FILTER_EDIT_H
#define POLICY_FILTER_EDIT_H

#include "policy/filter_file.h"

#define FILTER_EDIT_MEMBERS 256		/* of a set that is made by a change */

/* What is to change. */
struct filter_change {
	const struct mr_hash *hash;	/* of the name */
	unsigned depth;			/* its labels */
	bool subtree;			/* it is about the name and all below, else about the very name */
	uint16_t source;
	unsigned before, after;		/* bit FILTER_x: the source says that */
};

/* A change that can be made as long as nothing else is. */
struct filter_edit {
	struct mr_hash hash;
	unsigned depth;
	bool subtree;
	bool is_new;			/* the set is to be made, as the next one */
	enum { FILTER_EDIT_NOTHING, FILTER_EDIT_FIRST, FILTER_EDIT_SECOND, FILTER_EDIT_STASH } where;
	unsigned way;			/* of that bucket, or row of the stash */
	uint32_t old;			/* the set of the entry as it is; 0: there is none */
	uint32_t set;			/* as it will be; 0: it goes */
	struct filter_member member[FILTER_EDIT_MEMBERS];
	unsigned members;
};

/* A filter in memory that can be written. */
struct filter_edit_to {
	struct mr_unit *unit[2];	/* its header, wherever there are copies of it; the second may be NULL */
	struct mr_filter_bucket *buckets;	/* its own first ones */
	uint64_t *bloom;
};

/**
 * Find out what a change comes to.
 *
 * Returns 0 with @ret; -EAGAIN when it takes a new compilation: no room for the
 * entry, its set or the set's members, a set whose members are not known, or the
 * source says now what is neither @change->before nor ->after.
 */
int filter_edit_plan(const struct filter_view *v, const struct filter_members *m, const struct filter_change *change,
		     struct filter_edit *ret);

/* Note the members of a new set: before its verdicts. */
void filter_edit_members(const struct filter_edit *e, struct filter_members *m);

/* Change the entry: after the verdicts of its set. */
void filter_edit_write(const struct filter_edit *e, const struct filter_edit_to *to);

/* Make a filter's own memory writable, its file not: 0 or a negative errno. */
int filter_edit_allow(struct filter *f);

#endif
