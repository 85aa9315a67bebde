/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub_heap.c - what waits for its time, the earliest first; equal times in the order of arrival.
 */
#include <errno.h>
#include <stdlib.h>

#include "tools/mrstub.h"

static bool earlier(const struct stub_timed *a, const struct stub_timed *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

static int heap_room(struct stub_heap *h)
{
	uint32_t cap = h->cap ? h->cap * 2 : 256;
	struct stub_timed **p;

	if (h->len < h->cap)
		return 0;
	p = realloc(h->item, cap * sizeof(*p));
	if (!p)
		return -ENOMEM;
	h->item = p;
	h->cap = cap;
	return 0;
}

int stub_heap_push(struct stub_heap *h, struct stub_timed *d)
{
	uint32_t i, up;

	if (heap_room(h))
		return -ENOMEM;
	d->order = h->order++;
	i = h->len++;
	for (; i && earlier(d, h->item[up = (i - 1) / 2]); i = up)
		h->item[i] = h->item[up];
	h->item[i] = d;
	return 0;
}

struct stub_timed *stub_heap_pop(struct stub_heap *h)
{
	struct stub_timed *top = h->item[0], *last = h->item[--h->len];
	uint32_t i = 0, down;

	while ((down = 2 * i + 1) < h->len) {
		if (down + 1 < h->len && earlier(h->item[down + 1], h->item[down]))
			down++;
		if (!earlier(h->item[down], last))
			break;
		h->item[i] = h->item[down];
		i = down;
	}
	h->item[i] = last;
	return top;
}
