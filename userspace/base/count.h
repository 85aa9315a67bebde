/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * count.h - counters of user space, and the registry that readers walk.
 *
 * A room lists its counters once (an X macro makes the enum and the rows),
 * each thread that counts has a shard of its own, and a reader sums the
 * shards.  A shard has one writer, so counting is a plain add; readers see
 * each counter whole, at most a moment old.
 *
 *	#define CACHE_COUNTERS(ROW) \
 *		ROW(cache_hits,   "answers taken from the cache") \
 *		ROW(cache_misses, "questions the cache had no answer to")
 *	COUNT_ENUM(cache_count, CACHE_COUNTERS)
 *	static const struct count_row rows[] = { COUNT_ROWS(CACHE_COUNTERS) };
 *
 * Names become metrics as millrace_<name>_total.
 */
#ifndef BASE_COUNT_H
#define BASE_COUNT_H

#include <stdatomic.h>
#include <stdint.h>

struct count_row {
	const char *name;
	const char *help;
};

#define COUNT_ENUM_ROW(name, help) COUNT_##name,
#define COUNT_TABLE_ROW(name, help) { #name, help },
#define COUNT_ENUM(tag, LIST) enum tag { LIST(COUNT_ENUM_ROW) tag##_rows };
#define COUNT_ROWS(LIST) LIST(COUNT_TABLE_ROW)

/* One thread's counters of one room; made by count_shard_new(). */
struct count_shard {
	struct count_set *set;
	struct count_shard *next;
	_Atomic uint64_t value[];
};

/* The counters of one room, in all threads; static, listed in the registry at first use. */
struct count_set {
	const struct count_row *rows;
	unsigned count;
	_Atomic(struct count_shard *) shards;
	struct count_set *next;
	atomic_flag listed;
};

#define COUNT_SET(name, table) \
	struct count_set name = { .rows = (table), .count = sizeof(table) / sizeof((table)[0]), .listed = ATOMIC_FLAG_INIT }

/**
 * Make a shard of @set for the calling thread.
 *
 * Returns NULL when memory is out.  Shards are never freed: counts of a thread
 * that has ended still count.
 */
struct count_shard *count_shard_new(struct count_set *set);

/* Add @n; only the shard's thread. */
static inline void count_add(struct count_shard *s, unsigned row, uint64_t n)
{
	atomic_store_explicit(&s->value[row], atomic_load_explicit(&s->value[row], memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static inline void count_one(struct count_shard *s, unsigned row)
{
	count_add(s, row, 1);
}

/* Add one to a shard that several threads write; for what is rare. */
static inline void count_shared(struct count_shard *s, unsigned row)
{
	atomic_fetch_add_explicit(&s->value[row], 1, memory_order_relaxed);
}

/* Sum of a row over all shards. */
uint64_t count_sum(const struct count_set *set, unsigned row);

/* Call @each for every row of every set that has a shard, in the order they came. */
void count_each(void (*each)(const struct count_row *row, uint64_t value, void *arg), void *arg);

#endif
