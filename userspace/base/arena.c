/* SPDX-License-Identifier: BSD-2-Clause */
/* arena.c - memory that is given back at once. */
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"

#define BLOCK 4096
#define ALIGN alignof(max_align_t)

struct arena_block {
	struct arena_block *next;
	alignas(max_align_t) char data[];
};

static void use_first(struct arena *a)
{
	uintptr_t skew = -(uintptr_t)a->first & (ALIGN - 1);

	a->at = a->first_size > skew ? a->first + skew : a->first;
	a->end = a->first_size > skew ? a->first + a->first_size : a->first;
}

void arena_init(struct arena *a, void *first, size_t size)
{
	*a = (struct arena){ .first = first, .first_size = size };
	use_first(a);
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b;
	size_t room;
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + ALIGN - 1) & ~(ALIGN - 1);
	if (size > (size_t)(a->end - a->at)) {
		room = size > BLOCK ? size : BLOCK;
		b = malloc(sizeof(*b) + room);
		if (!b)
			return NULL;
		b->next = a->blocks;
		a->blocks = b;
		a->at = b->data;
		a->end = b->data + room;
	}
	p = a->at;
	a->at += size;
	return p;
}

void *arena_zalloc(struct arena *a, size_t size)
{
	void *p = arena_alloc(a, size);

	return p ? memset(p, 0, size) : NULL;
}

void *arena_copy(struct arena *a, const void *p, size_t size)
{
	void *to = arena_alloc(a, size);

	return to ? memcpy(to, p, size) : NULL;
}

void arena_reset(struct arena *a)
{
	struct arena_block *b;

	while ((b = a->blocks)) {
		a->blocks = b->next;
		free(b);
	}
	use_first(a);
}

void arena_done(struct arena *a)
{
	if (a)
		arena_reset(a);
}
