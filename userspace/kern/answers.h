/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * answers.h - the one writer of the answer table (maps/answer.h).
 *
 * Beside the table in the kernel's maps stands an index that only the daemon
 * sees: which units are in use, where the way word of each answer is, and all
 * answers of a name.  After a start from pins it is built anew from the table.
 */
#ifndef KERN_ANSWERS_H
#define KERN_ANSWERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/count.h"
#include "dns/answer.h"
#include "kern/units.h"
#include "maps/config.h"

/* Where the table and what judges its chains are mapped. */
struct answers_maps {
	struct mr_conf *conf;
	const struct mr_secret *secret;
	struct mr_answer_bucket *buckets;
	uint8_t *pages;
	const struct mr_filter_bucket *filter;
	const __u64 *bloom;
};

/* What is known of an answer, by its first unit. */
struct answers_info {
	uint32_t home;			/* bucket * MR_ANSWER_WAYS + way */
	uint32_t name_hash;
	uint32_t next;			/* first unit of the next answer in this chain of names; 0: none */
	uint8_t run;			/* units; 0: no answer starts here */
	uint8_t negative;
};

struct answers {
	pthread_mutex_t lock;		/* guards all of this struct, the table in the maps, generations and the flip */
	struct answers_maps m;
	bool closed;			/* between two filters: nothing is put there */
	uint32_t bucket_mask;
	uint32_t unit_count;
	struct units units;
	struct answers_info *info;
	uint32_t *heads;		/* of the chains of names */
	uint32_t head_mask;
	uint32_t in_use;
	uint32_t max;
	uint32_t negative;
	uint32_t negative_max;
	uint64_t stale_ns;		/* how long behind its end an answer may be given; 0: it may not */
	uint32_t stamp;			/* of the last write */
	uint32_t hand;			/* unit that the clock hand looks at next */
	uint32_t broom;			/* the same for expired answers */
	struct count_shard *counts;	/* written under the lock */
};

/**
 * Begin with an index of an empty table, or of the one found in the maps.
 *
 * @max  answers; @pages of the table
 *
 * Half-written and impossible answers are cleared and counted, expired ones
 * dropped.  Returns 0 or -ENOMEM.
 */
int answers_init(struct answers *a, const struct answers_maps *maps, uint32_t max, uint32_t buckets, uint32_t pages,
		 uint64_t now_ns);
void answers_done(struct answers *a);

/*
 * @ask, @generation  see kern_answer_put()
 * @admit  false: only in the place of an older answer to the same question
 */
void answers_put(struct answers *a, const struct dns_answer *from, bool ask, uint32_t generation, bool admit,
		 uint64_t now_ns);

/* Is there a live one? */
bool answers_hold(struct answers *a, const struct dns_key *key, uint64_t now_ns);
unsigned answers_flush_name(struct answers *a, const uint8_t *lower, uint16_t len);

/* The same for a name and all names below; looks at every one. */
unsigned answers_flush_below(struct answers *a, const uint8_t *lower, uint16_t len);
void answers_flush_all(struct answers *a);

/* From now on answers may be given so long behind their end; those that are there too long by that go. */
void answers_serve_stale(struct answers *a, uint64_t ns);

/* ---- between the files of this room, under the lock ---- */

struct mr_answer *answers_at(const struct answers *a, uint32_t unit);

/* Will no query be answered with it any more: its time is over, or its generation? */
bool answers_is_dead(const struct answers *a, const struct mr_answer *s, uint64_t now_ns);

/* Note an answer that stands in the table, its units taken; take it out again, way word first. */
void answers_link(struct answers *a, uint32_t unit, unsigned run, uint32_t home, uint32_t name_hash, bool negative);
void answers_remove(struct answers *a, uint32_t unit);

/* Rebuild the index from the table; called once, by answers_init(). */
void answers_revive(struct answers *a, uint64_t now_ns);

/**
 * Collect the sets of the names that @from leads to (dns/leads.h).
 *
 * @ask   the ask set is one of them
 * @sets  room for MR_CHAIN_MAX; when more match, one becomes MR_SET_ASK, so that user space judges
 *
 * Returns how many were written.
 */
unsigned answers_chain(const struct answers *a, const struct dns_answer *from, bool ask, uint16_t *sets);

#endif
