/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * units.c - the allocator of units.h.
 */
#include "kern/units.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t mask_of(unsigned n)
{
	return n >= 32 ? ~0U : (1U << n) - 1;
}

/* Length of the longest run of set bits. */
static unsigned longest(uint32_t free_bits)
{
	unsigned n = 0;

	for (; free_bits; free_bits &= free_bits >> 1)
		n++;
	return n;
}

static void unlink_page(struct units *u, uint32_t page)
{
	unsigned c = u->class_of[page];

	if (u->prev[page])
		u->next[u->prev[page] - 1] = u->next[page];
	else
		u->head[c] = u->next[page];
	if (u->next[page])
		u->prev[u->next[page] - 1] = u->prev[page];
	if (!u->head[c])
		u->classes &= ~(1ULL << c);
}

static void link_page(struct units *u, uint32_t page)
{
	unsigned c = longest(~u->used[page]);

	u->class_of[page] = c;
	u->prev[page] = 0;
	u->next[page] = u->head[c];
	if (u->head[c])
		u->prev[u->head[c] - 1] = page + 1;
	u->head[c] = page + 1;
	u->classes |= 1ULL << c;
}

static void set_used(struct units *u, uint32_t page, uint32_t used)
{
	unlink_page(u, page);
	u->used[page] = used;
	link_page(u, page);
}

int units_init(struct units *u, uint32_t pages)
{
	uint32_t p;

	*u = (struct units){ .pages = pages };
	u->used = calloc(pages, sizeof(*u->used));
	u->next = calloc(pages, sizeof(*u->next));
	u->prev = calloc(pages, sizeof(*u->prev));
	u->class_of = calloc(pages, sizeof(*u->class_of));
	if (!u->used || !u->next || !u->prev || !u->class_of) {
		units_done(u);
		return -ENOMEM;
	}
	u->used[0] = 1;
	for (p = pages; p-- > 0;)
		link_page(u, p);
	return 0;
}

void units_done(struct units *u)
{
	free(u->used);
	free(u->next);
	free(u->prev);
	free(u->class_of);
	*u = (struct units){ 0 };
}

uint32_t units_take(struct units *u, unsigned n)
{
	uint64_t fit = u->classes & (~0ULL << n);
	uint32_t page, at, run, i;

	if (!fit)
		return 0;
	page = u->head[__builtin_ctzll(fit)] - 1;
	at = ~u->used[page];
	for (i = 1; i < n; i++)		/* leaves a bit where a run of n begins */
		at &= at >> 1;
	run = __builtin_ctz(at);
	set_used(u, page, u->used[page] | mask_of(n) << run);
	u->in_use += n;
	return page * MR_PAGE_UNITS + run;
}

bool units_take_at(struct units *u, uint32_t unit, unsigned n)
{
	uint32_t page = unit / MR_PAGE_UNITS, at = unit % MR_PAGE_UNITS;

	if (!n || page >= u->pages || at + n > MR_PAGE_UNITS || (u->used[page] & mask_of(n) << at))
		return false;
	set_used(u, page, u->used[page] | mask_of(n) << at);
	u->in_use += n;
	return true;
}

void units_give(struct units *u, uint32_t unit, unsigned n)
{
	uint32_t page = unit / MR_PAGE_UNITS, at = unit % MR_PAGE_UNITS;

	set_used(u, page, u->used[page] & ~(mask_of(n) << at));
	u->in_use -= n;
}
