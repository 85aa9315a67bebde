/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slab.c - regions of 2 MB, cut into spans, cut into objects of one size.
 *
 * A region is aligned to its size, so that an object's address leads to its
 * span.  The first span of a region holds the heads of the others.  A span
 * with room is on the list of its size, an empty one on the list of spares, a
 * full one on none.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "base/slab.h"

#define REGION (2UL << 20)
#define SPAN   (32UL << 10)
#define SPANS  (REGION / SPAN)

struct object {
	struct object *next;
};

struct slab_span {
	struct slab_span *next, **link;	/* on the list it is on; link: what points here */
	struct object *free;		/* given back */
	uint16_t fresh;			/* objects that were never taken: from here on */
	uint16_t used;
	uint16_t size;			/* of its objects */
};

struct region {
	struct slab_span span[SPANS];	/* span[0] is this head itself */
	unsigned used;			/* spans that hold something */
};

_Static_assert(sizeof(struct region) <= SPAN, "heads of spans fit into the first one");

/* ---- pages -------------------------------------------------------------- */

static void *map_aligned(size_t size)
{
	char *p = mmap(NULL, size + REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before;

	if (p == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)p & (REGION - 1);
	if (before)
		munmap(p, before);
	munmap(p + before + size, REGION - before);
	return p + before;
}

static size_t whole_pages(size_t size)
{
	size_t page = size < REGION ? 65536 : REGION;	/* no page that is not huge is bigger */

	return (size + page - 1) / page * page;
}

void *huge_map(size_t size)
{
	void *p = map_aligned(whole_pages(size));

	/* advice: what is not followed costs time only */
	if (p && size >= REGION)
		madvise(p, whole_pages(size), MADV_HUGEPAGE);
	return p;
}

void huge_unmap(void *p, size_t size)
{
	if (p)
		munmap(p, whole_pages(size));
}

/* ---- spans, under the lock ---------------------------------------------- */

static struct region *region_of(void *p)
{
	return (struct region *)((uintptr_t)p & ~(REGION - 1));
}

static char *objects_of(struct slab_span *sp)
{
	struct region *r = region_of(sp);

	return (char *)r + (size_t)(sp - r->span) * SPAN;
}

static void list_add(struct slab_span **list, struct slab_span *sp)
{
	sp->next = *list;
	sp->link = list;
	if (*list)
		(*list)->link = &sp->next;
	*list = sp;
}

static void list_remove(struct slab_span *sp)
{
	*sp->link = sp->next;
	if (sp->next)
		sp->next->link = sp->link;
}

static int region_new(struct slab *s)
{
	struct region *r = map_aligned(REGION);

	if (!r)
		return -1;
	if (s->regions++)
		madvise(r, REGION, MADV_HUGEPAGE);
	s->idle++;
	for (unsigned i = SPANS - 1; i; i--)
		list_add(&s->spare, &r->span[i]);
	return 0;
}

static void region_free(struct slab *s, struct region *r)
{
	for (unsigned i = 1; i < SPANS; i++)
		list_remove(&r->span[i]);
	munmap(r, REGION);
	s->regions--;
	s->idle--;
}

/* A spare span becomes one for objects of @size. */
static struct slab_span *span_new(struct slab *s, size_t size)
{
	struct slab_span *sp;

	if (!s->spare && region_new(s))
		return NULL;
	sp = s->spare;
	list_remove(sp);
	sp->free = NULL;
	sp->fresh = sp->used = 0;
	sp->size = (uint16_t)size;
	s->idle -= !region_of(sp)->used++;
	list_add(&s->room[size / SLAB_GRAIN - 1], sp);
	return sp;
}

static void span_emptied(struct slab *s, struct slab_span *sp)
{
	list_remove(sp);
	list_add(&s->spare, sp);
	if (--region_of(sp)->used)
		return;
	/* one stays, or who takes and gives one object by turns would map and unmap each time */
	if (++s->idle > 1)
		region_free(s, region_of(sp));
}

/* ---- objects ------------------------------------------------------------ */

static bool full(const struct slab_span *sp)
{
	return !sp->free && (sp->fresh + 1UL) * sp->size > SPAN;
}

static void *take(struct slab *s, size_t size)
{
	struct slab_span *sp = s->room[size / SLAB_GRAIN - 1];
	struct object *o;

	if (!sp)
		sp = span_new(s, size);
	if (!sp)
		return NULL;
	o = sp->free;
	if (o)
		sp->free = o->next;
	else
		o = (struct object *)(void *)(objects_of(sp) + (size_t)sp->fresh++ * sp->size);
	sp->used++;
	if (full(sp))
		list_remove(sp);
	return o;
}

static void give(struct slab *s, struct object *o)
{
	struct region *r = region_of(o);
	struct slab_span *sp = &r->span[((uintptr_t)o & (REGION - 1)) / SPAN];

	if (full(sp))
		list_add(&s->room[sp->size / SLAB_GRAIN - 1], sp);
	o->next = sp->free;
	sp->free = o;
	if (!--sp->used)
		span_emptied(s, sp);
}

size_t slab_size(size_t size)
{
	return size ? (size + SLAB_GRAIN - 1) / SLAB_GRAIN * SLAB_GRAIN : SLAB_GRAIN;
}

void *slab_alloc(struct slab *s, size_t size)
{
	void *p;

	size = slab_size(size);
	if (size > SLAB_MAX)
		return malloc(size);
	pthread_mutex_lock(&s->lock);
	p = take(s, size);
	pthread_mutex_unlock(&s->lock);
	return p;
}

void slab_free(struct slab *s, void *p, size_t size)
{
	if (!p || slab_size(size) > SLAB_MAX) {
		free(p);
		return;
	}
	pthread_mutex_lock(&s->lock);
	give(s, p);
	pthread_mutex_unlock(&s->lock);
}

size_t slab_bytes(struct slab *s)
{
	size_t bytes;

	pthread_mutex_lock(&s->lock);
	bytes = s->regions * REGION;
	pthread_mutex_unlock(&s->lock);
	return bytes;
}
