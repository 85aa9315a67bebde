/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.h - the compiled filter: millions of names, ready for both worlds.
 *
 * Compiled from lists by a builder, saved as one file, mapped at start, and
 * copied as it is into the inactive unit of the kernel's tables.  Layouts are
 * those of maps/filter.h, so user space and kernel look names up alike.
 * Immutable once open.
 *
 * A set is "which lists hold this name, and as what".  Sets mean nothing until
 * groups turn them into verdicts: judge_verdicts() in judge.h.
 */
#ifndef POLICY_FILTER_H
#define POLICY_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "maps/config.h"
#include "maps/ede.h"
#include "maps/filter.h"

#define FILTER_LISTS_MAX 1024

/* What a line of a list says about a name; ordered as enum mr_verdict_kind orders them. */
enum filter_action {
	FILTER_BLOCK = MR_BLOCK,
	FILTER_ALLOW = MR_ALLOW,
	FILTER_IMPORTANT_BLOCK = MR_IMPORTANT_BLOCK,
	FILTER_ASK = MR_ASK,
	FILTER_IMPORTANT_ALLOW = MR_IMPORTANT_ALLOW,
};

/* The word for a verdict, as the API and millctl say it; "?" for what is none. */
const char *filter_verdict_text(unsigned kind);

/* ---- building ---- */

struct filter;
struct filter_builder;

/**
 * Begin a filter whose tags are made with @secret (borrowed until finished).
 *
 * Returns NULL when memory is out.
 */
struct filter_builder *filter_builder_new(const struct mr_secret *secret);
void filter_builder_free(struct filter_builder *b);

/* ---- reading ---- */

/**
 * Map a compiled filter.
 *
 * Returns 0; -ENOENT when there is none; -ESTALE when it was made with another
 * secret or by another version; -EBADMSG when its checksum or bounds do not
 * hold (a file is input); other negative errno.  @reterr says what and why.
 */
int filter_open(const char *path, const struct mr_secret *secret, struct filter **ret, struct err_at *reterr);

void filter_free(struct filter *f);

/* Its parts as they go into a unit: bases are 0, verdicts come from judge_verdicts(). */
const struct mr_unit *filter_unit(const struct filter *f);
const struct mr_filter_bucket *filter_buckets(const struct filter *f);
const uint64_t *filter_bloom(const struct filter *f);

/*
 * The members of all sets, with the sets of folded names (filter_file.h), kept
 * when the filter itself is in the kernel's maps alone: member m of set s is one
 * of set_at[s] .. set_at[s + 1].
 */
struct filter_members;
struct filter_members *filter_members_copy(const struct filter *f);	/* NULL when memory is out */
void filter_members_free(struct filter_members *m);

/* ---- looking up ---- */

/*
 * Where a filter stands in memory: a mapped file, or a unit of the kernel's
 * maps.  The pointers are to the unit's own first elements: what the unit's
 * bases say is already in them.
 */
struct filter_view {
	const struct mr_unit *unit;
	const struct mr_filter_bucket *buckets;	/* number unit->bucket_base of the map */
	const uint64_t *bloom;			/* number unit->bloom_base */
	const struct mr_verdict *verdicts;	/* number unit->verdict_base */
	const struct mr_group *group;		/* mode of blocking, pause and types of each group; changes at any time */
	const struct mr_ede *ede;		/* names of its sources, rendered; number unit->ede_base of the map */
	uint32_t generation;			/* filter_generation under which it is in force */
};

struct filter_result {
	enum mr_verdict_kind kind;
	unsigned list;
	unsigned depth;			/* labels of the name that matched */
	uint64_t entry;			/* its word; 0: none */
};

/*
 * Ask for all lines of the table that judging the name will look at: who has
 * many names to judge does this some names ahead (base/row.h).
 */
void filter_ahead(const struct filter_view *v, const struct mr_name *name);

/**
 * Judge a hashed name for a group, exactly as the kernel does.
 */
void filter_find(const struct filter_view *v, const struct mr_name *name, unsigned group, struct filter_result *ret);

/**
 * Judge a name too deep for the kernel (more than MR_LABELS_MAX labels): by its
 * MR_LABELS_MAX rightmost labels, since no entry is deeper.
 */
void filter_find_deep(const struct filter_view *v, const uint8_t *lower, uint16_t len, const struct mr_secret *s,
		      unsigned group, struct filter_result *ret);

/**
 * Hash the MR_LABELS_MAX rightmost labels of a name, or all of it when it has
 * no more.
 *
 * Returns whether something was cut: then @ret stands for parents alone.
 */
bool filter_hash_deep(const uint8_t *lower, uint16_t len, const struct mr_secret *s, struct mr_name *ret);

#endif
