/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter_file.h - the compiled filter as a file, and what building it shares.
 *
 * One header page, then five parts, each from a page of its own: buckets,
 * Bloom words, set_at (set s has the members set_at[s] to set_at[s + 1], and a
 * mark when it is of subtree entries), members and folded names.  Little-endian,
 * as all of maps/.  Padding is zero and summed too.  The image in memory is the
 * file, octet for octet.
 *
 * The kernel has numbers for unit.sets sets.  Those that came later are user
 * space's alone: their names are folded, that is, the kernel's entry says
 * MR_SET_ASK, and a row beside it which set that stands for.
 */
#ifndef POLICY_FILTER_FILE_H
#define POLICY_FILTER_FILE_H

#include "policy/filter.h"

#define FILTER_MAGIC   0x746c6972666d7264ULL
#define FILTER_VERSION 3
#define FILTER_PAGE    4096
#define FILTER_MEMBERS_MAX (64U << 20)
#define FILTER_SPARE_SETS    256	/* of no names, for what is changed in place */
#define FILTER_SPARE_MEMBERS 16384	/* the same, in memory */
#define FILTER_FOLDED_MAX  (1U << 20)		/* folded names; a row of 24 octets each */
#define FILTER_FOLDED_MEMBERS_MAX (16U << 20)	/* members of all sets, up to which sets of folded names are taken */

/* Mark of a set of subtree entries, in set_at; the rest is a number of a member. */
#define FILTER_SET_SUBTREE 0x80000000U
/* Mark of a member's action: of the names below alone, so the kernel has to ask. */
#define FILTER_BELOW       0x100U

/* A list's word about the names of a set. */
struct filter_member {
	uint16_t list;
	uint16_t action;		/* enum filter_action, perhaps with FILTER_BELOW */
};

/* What the kernel can tell of a member. */
static inline unsigned filter_member_kind(struct filter_member m)
{
	return m.action & FILTER_BELOW ? (unsigned)MR_ASK : m.action;
}

/* A folded name: its whole hash, and the set of one of its entries.  In order of h0, then h1; a name has two at most. */
struct filter_folded {
	uint64_t h0;
	uint64_t h1;
	uint32_t set;			/* which also tells the kind of the entry */
	uint32_t pad;
};

/* The members of all sets, and the folded names, in one piece of memory. */
struct filter_members {
	uint32_t sets;			/* that the kernel's entries have numbers of, spare ones included; those of folded names follow */
	uint32_t folded;
	uint64_t untold;		/* names with the ask set that are not among the folded: there was no room */
	const uint32_t *at;		/* a place for each set, and one */
	const struct filter_member *member;
	const struct filter_folded *row;
	uint32_t used;			/* sets below it have members (0 apart): the others are for filter_edit.h */
	uint32_t room;			/* members that there is room for behind the last one */
};

static inline bool filter_set_is_subtree(const struct filter_members *m, uint32_t set)
{
	return (MR_READ(m->at[set]) & FILTER_SET_SUBTREE) != 0;
}

/* Members of a set that there is: from the result to @ret_end. */
static inline const struct filter_member *filter_set_members(const struct filter_members *m, uint32_t set,
							     const struct filter_member **ret_end)
{
	*ret_end = m->member + (MR_READ(m->at[set + 1]) & ~FILTER_SET_SUBTREE);
	return m->member + (MR_READ(m->at[set]) & ~FILTER_SET_SUBTREE);
}

/* The set of an entry whose own says MR_SET_ASK; 0 when the name is not among the folded. */
uint32_t filter_folded_set(const struct filter_members *m, struct mr_hash h, bool subtree);

struct filter_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size;		/* of this struct */
	uint64_t size;			/* of the file */
	uint64_t sum;			/* of the whole file, with 0 here */
	uint32_t members;
	uint32_t sets;			/* with those of folded names */
	uint32_t folded;
	uint32_t pad;
	uint64_t untold;		/* names that could not even be folded */
	uint64_t rules;			/* sum of the file of special rules that belongs to it; 0: none */
	struct mr_unit unit;		/* bases 0; groups 0 */
};

/* Where the parts start, in bytes; all of it follows from the counts. */
struct filter_layout {
	uint64_t buckets;
	uint64_t bloom;
	uint64_t set_at;
	uint64_t members;
	uint64_t folded;
	uint64_t size;
};

struct filter {
	uint8_t *image;			/* mapped */
	size_t size;
};

/* Of the unit's tables and the counts that a header has. */
struct filter_layout filter_layout(const struct filter_header *h);

/* Sum of an image, its field taken as 0. */
uint64_t filter_sum(const uint8_t *image, size_t size);

/* The sum of the file of special rules that belongs to a filter. */
uint64_t filter_rules(const struct filter *f);

/* Names that the kernel asks about since it has no number for their set; of those, such as nobody can tell about. */
uint64_t filter_asked(const struct filter *f);
uint64_t filter_untold(const struct filter *f);

/* ---- sets, while building ---- */

struct filter_sets {
	struct filter_member *members;
	uint32_t *at;			/* count + 1 places */
	uint32_t at_room;
	uint32_t count;			/* sets, the empty set 0 included */
	uint32_t members_count;
	uint32_t members_room;
	uint32_t *index;		/* hash table of set numbers, 0: empty */
	uint32_t index_size;		/* a power of two */
	uint32_t bound;			/* numbers from here on are user space's alone */
	uint32_t members_max;		/* of all, up to which such numbers are given away */
	bool full;			/* no more of these */
	uint16_t (*alone)[2];		/* the sets of one member, by its list, action and kind; 0: not seen */
};

/*
 * @bound: sets 1 .. bound - 1 are the kernel's.  Returns 0 or -ENOMEM;
 * filter_sets_done() either way.
 */
int filter_sets_init(struct filter_sets *s, uint32_t bound, uint32_t members_max);
void filter_sets_done(struct filter_sets *s);

/**
 * The number of the set with these members (@m is put in order).
 *
 * Returns its number, -ENOSPC when it is new and would be user space's alone,
 * but there is no room for more of those, or -ENOMEM.
 */
int filter_sets_intern(struct filter_sets *s, struct filter_member *m, uint32_t count, bool subtree);

/* ---- placement, while building ---- */

/* A name to be placed. */
struct filter_place_item {
	uint64_t h0;
	uint64_t h1;
	uint16_t set;
	bool subtree;
};

/* Hand all names to @take, in the same order each time, until it returns an error; that error, or 0. */
typedef int (*filter_place_take)(void *to, const struct filter_place_item *item);
typedef int (*filter_place_each)(const void *from, filter_place_take take, void *to);

/**
 * Put names into @buckets (cleared, unit->bucket_mask + 1 of them), the unit's
 * stash, and their bits into @bloom (unit->bloom_mask + 1 words).
 *
 * It is quickest when names whose buckets are near each other follow each other.
 *
 * Returns 0; -ENOSPC when neither choice nor the stash has room: try more
 * buckets; -ENOMEM.
 */
int filter_place(struct mr_filter_bucket *buckets, uint64_t *bloom, filter_place_each each, const void *from,
		 struct mr_unit *unit);

/* ---- for tests: sizes that force what is rare ---- */
struct filter_limits {
	uint32_t sets;			/* filter_sets_init()'s bound */
	uint32_t folded;		/* names */
	uint32_t folded_members;	/* filter_sets_init()'s other bound */
	uint32_t buckets_min;		/* power of two to begin with; 0: by the number of names */
};
extern struct filter_limits filter_limits;

#endif
