/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * why.h - what the dry copy of the program found out about one packet.
 *
 * The program fastpath_why takes the same steps as fastpath, with a scratch of
 * its own, and counts, marks and reports nothing; instead it leaves this in
 * mr_why, an array of one.  Run by userspace/kern/why.c alone, one at a time.
 */
#ifndef MAPS_WHY_H
#define MAPS_WHY_H

#include "maps/stats.h"

struct mr_why {
	__u32 stat;			/* enum mr_stat: the row that would have counted */
	__u32 source;			/* enum mr_source */
	__u32 verdict;			/* enum mr_verdict_kind of the strongest entry */
	__u32 list;
	__u32 group;
	__u32 access;			/* enum mr_access */
	__u32 depth;			/* labels of the name whose entry decided */
	__u32 unit;			/* the active filter unit */
	__u64 entry;			/* that entry's word in the filter; 0: none */
	__u32 filter_generation;
	__u32 answer_unit;		/* unit number of the answer found; 0: none */
	__u32 answer_generation;
	__u32 paused;			/* not 0: blocks are lifted for the group or the client */
	__u64 expires;			/* of that answer */
	__u32 chain_set;		/* set of a name the answer leads to that decided; 0: the entry is the name's */
	__u32 pad;
};

#endif
