/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter_build.c - collects what lists say of names.
 *
 * An item is put down behind the others of its part.  Chains are made later,
 * a part at a time, with an index of the names of that part; a repeated item
 * is then dropped.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "policy/filter_build.h"

#define ITEMS_MAX      (64U << 20)
#define PART_ITEMS_MAX ((1U << 24) - 2)
#define PART_SHIFT     10		/* of h1: the bits of the bucket's number above these are the part's */

struct filter_builder *filter_builder_new(const struct mr_secret *secret)
{
	struct filter_builder *b = calloc(1, sizeof(*b));

	if (b) {
		b->secret = secret;
		b->local = UINT_MAX;
	}
	return b;
}

void filter_builder_free(struct filter_builder *b)
{
	struct filter_part *p;

	if (!b)
		return;
	for (p = b->part; p < b->part + FILTER_PARTS; p++) {
		free(p->chunk);
		free(p->index);
	}
	filter_slab_free(&b->slabs);
	free(b);
}

/* ---- memory ---- */

void *filter_slab_take(struct filter_slab **slabs, size_t size)
{
	struct filter_slab *s = *slabs;
	void *p;

	size = (size + 15) & ~(size_t)15;
	if (!s || FILTER_SLAB - s->used < size) {
		s = mmap(NULL, FILTER_SLAB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (s == MAP_FAILED)
			return NULL;
		s->next = *slabs;
		s->used = (sizeof(*s) + 15) & ~(size_t)15;
		*slabs = s;
	}
	p = (uint8_t *)s + s->used;
	s->used += size;
	return p;
}

void filter_slab_free(struct filter_slab **slabs)
{
	struct filter_slab *s;

	while ((s = *slabs)) {
		*slabs = s->next;
		munmap(s, FILTER_SLAB);
	}
}

/* ---- hashing ---- */

/* The number of labels; -EINVAL for what is no name, -ENAMETOOLONG for more labels than the filter has. */
static int count_labels(const uint8_t *name, uint16_t len)
{
	unsigned at = 0;
	int labels = 0;

	if (!len || len > MR_NAME_MAX)
		return -EINVAL;
	for (; name[at]; labels++) {
		if (name[at] > 63 || at + name[at] + 1U >= len)
			return -EINVAL;
		at += name[at] + 1U;
	}
	if (at + 1U != len)
		return -EINVAL;
	return labels > MR_LABELS_MAX ? -ENAMETOOLONG : labels;
}

/* The hash of maps/name.h for the name alone: none of its parents. */
static struct mr_hash hash_name(const uint8_t *name, uint16_t len, const struct mr_secret *s)
{
	uint32_t words = (len + 7U) >> 3, j;
	uint64_t h0 = 0, h1 = 0, w, first = 0;

	for (j = 0; j + 1 < words; j++) {
		w = mr_load64(name + len - 8 * (j + 1));
		h0 += mr_nh(w, s->name[j][0]);
		h1 += mr_nh(w, s->name[j][1]);
	}
	memcpy(&first, name, len < 8 ? len : 8);
	w = first << (8 * mr_name_pad(len));
	h0 += mr_nh(w, s->name[j][0]);
	h1 += mr_nh(w, s->name[j][1]);
	return (struct mr_hash){ mr_finish(h0), mr_finish(h1) };
}

static int make_item(const struct filter_builder *b, const uint8_t *name, uint16_t len, struct filter_item *ret)
{
	int labels = count_labels(name, len);
	struct mr_hash h;

	if (labels < 0)
		return labels;
	h = hash_name(name, len, b->secret);
	ret->h0 = h.h0;
	ret->h1 = h.h1;
	ret->depth = (unsigned)labels;
	return 0;
}

static struct filter_part *part_of(struct filter_builder *b, const struct filter_item *it)
{
	return &b->part[(it->h1 >> PART_SHIFT) % FILTER_PARTS];
}

/* ---- putting down ---- */

static int add_chunk(struct filter_part *p, struct filter_slab **slabs)
{
	uint32_t room = p->chunks_room ? p->chunks_room * 2 : 8;
	struct filter_item **more;

	if (p->chunks == p->chunks_room) {
		more = realloc(p->chunk, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->chunk = more;
		p->chunks_room = room;
	}
	p->chunk[p->chunks] = filter_slab_take(slabs, FILTER_CHUNK * sizeof(struct filter_item));
	if (!p->chunk[p->chunks])
		return -ENOMEM;
	p->chunks++;
	return 0;
}

static int put(struct filter_builder *b, struct filter_part *p, const struct filter_item *it)
{
	if (b->count >= ITEMS_MAX || p->count >= PART_ITEMS_MAX)
		return -ENOMEM;
	if (p->count / FILTER_CHUNK == p->chunks && add_chunk(p, &b->slabs))
		return -ENOMEM;
	*filter_item_at(p, p->count++) = *it;
	b->count++;
	return 0;
}

int filter_builder_put(struct filter_builder *b, const uint8_t *name, uint16_t len, enum rule_reach reach,
		       unsigned list, enum filter_action action)
{
	struct filter_item it = { .list = list, .action = action, .reach = reach };
	int err = list < FILTER_LISTS_MAX ? make_item(b, name, len, &it) : -EINVAL;

	b->has_local |= list == b->local && action == FILTER_ASK;
	return err ? err : put(b, part_of(b, &it), &it);
}

/* ---- chains ---- */

static uint32_t slot_of(const struct filter_part *p, uint64_t h0)
{
	return (uint32_t)(h0 >> 24) & p->index_mask;
}

/* An index with room for all items that were put down. */
static int grow_index(struct filter_part *p)
{
	uint32_t mask = p->index ? p->index_mask : 15, n, i, *index;

	if (p->index && p->count <= p->index_mask / 4 * 3)
		return 0;
	while (p->count > mask / 4 * 3)
		mask = mask * 2 + 1;
	index = calloc(mask + 1ULL, sizeof(*index));
	if (!index)
		return -ENOMEM;
	free(p->index);
	p->index = index;
	p->index_mask = mask;
	for (n = 0; n < p->settled; n++) {
		if (!filter_item_at(p, n)->head)
			continue;
		for (i = slot_of(p, filter_item_at(p, n)->h0); index[i]; i = (i + 1) & mask)
			;
		index[i] = n + 1;
	}
	return 0;
}

/* The slot of a name: of its head, or the empty one where it would be. */
static uint32_t find_slot(const struct filter_part *p, const struct filter_item *it)
{
	const struct filter_item *head;
	uint32_t i;

	for (i = slot_of(p, it->h0); p->index[i]; i = (i + 1) & p->index_mask) {
		head = filter_item_at(p, p->index[i] - 1);
		if (head->h0 == it->h0 && head->h1 == it->h1)
			break;
	}
	return i;
}

/* Hang item number @n, which is @it, on its name's chain; false when the same is there. */
static bool hang(struct filter_part *p, struct filter_item *it, uint32_t n)
{
	uint32_t slot = find_slot(p, it);
	struct filter_item *at;

	it->head = !p->index[slot];
	if (it->head) {
		p->index[slot] = n + 1;
		return true;
	}
	for (at = filter_item_at(p, p->index[slot] - 1);; at = filter_item_at(p, at->next - 1)) {
		if (at->list == it->list && at->action == it->action && at->reach == it->reach) {
			if (!at->gone)
				return false;
			at->gone = 0;		/* said again after it was taken away */
			return false;
		}
		if (!at->next)
			break;
	}
	at->next = n + 1;
	return true;
}

static void count_repeat(struct filter_repeats *r, const struct filter_item *it)
{
	if (it->action == FILTER_ALLOW || it->action == FILTER_IMPORTANT_ALLOW)
		r->allow++;
	else if (it->action != FILTER_ASK && it->reach == RULE_EXACT)
		r->exact++;
	else if (it->action != FILTER_ASK)
		r->subtree++;
}

static int settle(struct filter_builder *b, struct filter_part *p, struct filter_repeats *ret)
{
	uint32_t n, to = p->settled;
	struct filter_item it;

	if (p->settled == p->count)
		return 0;
	if (grow_index(p))
		return -ENOMEM;
	for (n = p->settled; n < p->count; n++) {
		it = *filter_item_at(p, n);
		if (hang(p, &it, to))
			*filter_item_at(p, to++) = it;
		else
			count_repeat(ret, &it);
	}
	b->count -= p->count - to;
	p->settled = p->count = to;
	return 0;
}

int filter_builder_settle(struct filter_builder *b, struct filter_repeats *ret)
{
	struct filter_part *p;
	int err = 0;

	for (p = b->part; p < b->part + FILTER_PARTS && !err; p++)
		err = settle(b, p, ret);
	return err;
}

int filter_builder_remove(struct filter_builder *b, const uint8_t *name, uint16_t len, enum rule_reach reach,
			  enum filter_action action, unsigned lists)
{
	struct filter_item like = { 0 }, *it;
	struct filter_repeats r = { 0 };
	struct filter_part *p;
	uint32_t n;
	int err = make_item(b, name, len, &like);

	if (err)
		return err;
	p = part_of(b, &like);
	err = settle(b, p, &r);
	if (err || !p->index)
		return err;
	for (n = p->index[find_slot(p, &like)]; n; n = it->next) {
		it = filter_item_at(p, n - 1);
		if (it->reach == reach && it->action == action && it->list < lists)
			it->gone = 1;
	}
	return 0;
}
