/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter_build.h - the builder of filters, as compile.c uses it.
 *
 * Names come in as hashes alone.  They are put down in 256 parts, by the bits
 * of the hash that say where in the buckets they will stand: what is then done
 * with them part by part stays in the CPU's cache.
 */
#ifndef POLICY_FILTER_BUILD_H
#define POLICY_FILTER_BUILD_H

#include "policy/filter_file.h"
#include "policy/rule.h"

#define FILTER_PARTS 256
#define FILTER_CHUNK 128		/* items */
#define FILTER_SLAB  (2U << 20)		/* octets */

/* "This list says this of this name."  All that is said of a name hangs together as a chain. */
struct filter_item {
	uint64_t h0;
	uint64_t h1;
	uint64_t next : 24;		/* of the same name: number in its part + 1 */
	uint64_t set : 14;		/* of the entry, when this item stands for it */
	uint64_t list : 10;
	uint64_t depth : 5;
	uint64_t action : 3;
	uint64_t reach : 2;		/* enum rule_reach */
	uint64_t head : 1;		/* the chain begins here */
	uint64_t gone : 1;		/* taken away */
	uint64_t entry : 1;		/* it stands for an entry of the filter */
};
_Static_assert(sizeof(struct filter_item) == 24, "an item has grown");
_Static_assert(FILTER_LISTS_MAX <= 1 << 10, "list numbers do not fit an item");

struct filter_part {
	struct filter_item **chunk;
	uint32_t chunks, chunks_room;
	uint32_t count;
	uint32_t settled;		/* items that are in chains; the rest was put down since */
	uint32_t *index;		/* item number + 1 of heads, by h0 */
	uint32_t index_mask;
};

/* Memory that goes back to the system for certain when it is freed, whatever the heap keeps. */
struct filter_slab {
	struct filter_slab *next;
	size_t used;
};

/* Take @size octets, aligned for any item; NULL when memory is out.  @slabs begins as NULL. */
void *filter_slab_take(struct filter_slab **slabs, size_t size);
void filter_slab_free(struct filter_slab **slabs);

struct filter_builder {
	const struct mr_secret *secret;
	unsigned local;			/* the source of local names */
	bool has_local;			/* some have been put down */
	uint64_t count;
	struct filter_slab *slabs;	/* of the chunks */
	struct filter_part part[FILTER_PARTS];
};

static inline struct filter_item *filter_item_at(const struct filter_part *p, uint32_t n)
{
	return &p->chunk[n / FILTER_CHUNK][n % FILTER_CHUNK];
}

/* Items that were there already. */
struct filter_repeats {
	uint64_t exact;			/* of block actions */
	uint64_t subtree;
	uint64_t allow;
};

/**
 * Put down that a list says something of a name; whether it is new is told by
 * filter_builder_settle().
 *
 * Returns 0, -EINVAL, -ENAMETOOLONG or -ENOMEM.
 */
int filter_builder_put(struct filter_builder *b, const uint8_t *name, uint16_t len, enum rule_reach reach,
		       unsigned list, enum filter_action action);

/**
 * Sort out what was put down since the last time.
 *
 * @ret  counts of what was there already are added; FILTER_ASK is not counted
 *
 * Returns 0 or -ENOMEM.
 */
int filter_builder_settle(struct filter_builder *b, struct filter_repeats *ret);

/* Take away what sources below @lists have said so far of a name with that reach and action; 0 or as filter_builder_put(). */
int filter_builder_remove(struct filter_builder *b, const uint8_t *name, uint16_t len, enum rule_reach reach,
			  enum filter_action action, unsigned lists);

/**
 * Make the compiled filter: in memory, for filter_free(), or as a file at @path
 * (through a temporary file, synced and renamed).
 *
 * @rules  the sum of the special rules that belong to it
 *
 * Every set over the bound of MR_SETS_MAX is user space's alone, and its names
 * are folded; how many that are, with those that there was no room for
 * (filter_untold()), is written to @ret_asked.
 *
 * Returns 0 or a negative errno with @reterr; an older file at @path is then
 * untouched, unless it was the last step, syncing the folder, that failed.
 */
int filter_make(struct filter_builder *b, uint64_t rules, struct filter **ret, uint64_t *ret_asked,
		struct err_at *reterr);
int filter_write(struct filter_builder *b, uint64_t rules, const char *path, uint64_t *ret_asked,
		 struct err_at *reterr);

/* Replace a file through a temporary one, synced; the older file is untouched unless syncing the folder failed. */
int filter_replace(const char *path, const void *p, size_t size, struct err_at *reterr);

#endif
