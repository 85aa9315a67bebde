/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arena.h - memory that is taken bit by bit and given back at once.
 *
 * One thread, one owner.  The first block may be the owner's own memory, so a
 * small query takes nothing from the heap.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	char *at;
	char *end;
	struct arena_block *blocks;	/* from the heap, newest first */
	char *first;			/* the owner's */
	size_t first_size;
};

/**
 * Begin an arena whose first @size bytes are the owner's @first (may be NULL with 0).
 */
void arena_init(struct arena *a, void *first, size_t size);

/**
 * Take @size bytes, aligned for any type, not cleared.
 *
 * Returns NULL when memory is out.  Lives until arena_done() or arena_reset().
 */
void *arena_alloc(struct arena *a, size_t size);

/* The same, cleared. */
void *arena_zalloc(struct arena *a, size_t size);

/* A copy of @size bytes at @p; NULL when memory is out. */
void *arena_copy(struct arena *a, const void *p, size_t size);

/* Forget all that was taken; the owner's block is used again. */
void arena_reset(struct arena *a);

/* Give everything back; takes NULL. */
void arena_done(struct arena *a);

#endif
