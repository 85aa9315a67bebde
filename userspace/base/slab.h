/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slab.h - memory for a great many small objects, in huge pages.
 *
 * An object takes its size rounded up to SLAB_GRAIN and nothing more; objects
 * of one size stand together.  Memory comes in regions of 2 MB, for which huge
 * pages are asked from the second on: a small process stays small, and one
 * that holds a million objects has a TLB that reaches them.  Where the kernel
 * has none to give, or transparent_hugepage is "never", all is the same but
 * for the speed.  Of regions in which nothing is left all but one go back to
 * the kernel.
 *
 * Any thread, any time; one lock, held for some ten instructions.
 */
#ifndef BASE_SLAB_H
#define BASE_SLAB_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define SLAB_GRAIN   32
#define SLAB_MAX     1024		/* octets of the biggest object; bigger ones are the heap's */
#define SLAB_CLASSES (SLAB_MAX / SLAB_GRAIN)

struct slab {
	pthread_mutex_t lock;		/* guards all below, and the heads of regions and spans */
	struct slab_span *room[SLAB_CLASSES];	/* spans with room, by the size of their objects */
	struct slab_span *spare;	/* spans that hold nothing */
	size_t regions;
	size_t idle;			/* regions that hold nothing: one at most is kept */
};

#define SLAB_INIT { .lock = PTHREAD_MUTEX_INITIALIZER }

/**
 * Take @size octets, aligned for any type (SLAB_GRAIN up to SLAB_MAX), not cleared.
 *
 * Returns NULL when memory is out.
 */
void *slab_alloc(struct slab *s, size_t size);

/* Give back what was taken with the same @size; takes NULL. */
void slab_free(struct slab *s, void *p, size_t size);

/* What an object of @size takes. */
size_t slab_size(size_t size);

/* Octets that the slab has from the kernel. */
size_t slab_bytes(struct slab *s);

/**
 * Map @size octets of zeroes for a table that is read at random: in huge pages from 2 MB on, if there are any.
 *
 * Returns NULL when memory is out.
 */
void *huge_map(size_t size);
void huge_unmap(void *p, size_t size);	/* takes NULL */

#endif
