/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter_sets.c - gives numbers to the combinations of lists that hold a name.
 *
 * Few combinations serve millions of names, so most calls end at the first
 * look into the table.  It begins with room for the kernel's numbers and grows
 * with those that are user space's alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/sum.h"
#include "policy/filter_file.h"

#define INDEX_SIZE (MR_SETS_MAX * 4)
#define ACTIONS    8

int filter_sets_init(struct filter_sets *s, uint32_t bound, uint32_t members_max)
{
	*s = (struct filter_sets){ .count = 1, .bound = bound, .members_max = members_max, .at_room = MR_SETS_MAX + 1,
				   .index_size = INDEX_SIZE };
	s->at = calloc(s->at_room, sizeof(*s->at));
	s->index = calloc(s->index_size, sizeof(*s->index));
	s->alone = calloc(FILTER_LISTS_MAX * ACTIONS, sizeof(*s->alone));
	return s->at && s->index && s->alone ? 0 : -ENOMEM;
}

void filter_sets_done(struct filter_sets *s)
{
	free(s->members);
	free(s->at);
	free(s->index);
	free(s->alone);
	*s = (struct filter_sets){ 0 };
}

static int compare(const void *a, const void *b)
{
	const struct filter_member *x = a, *y = b;

	return x->list != y->list ? (int)x->list - y->list : (int)x->action - y->action;
}

static uint32_t place(const struct filter_sets *s, uint32_t n)
{
	return s->at[n] & ~FILTER_SET_SUBTREE;
}

static bool is_set(const struct filter_sets *s, uint32_t n, const struct filter_member *m, uint32_t count, bool subtree)
{
	return place(s, n + 1) - place(s, n) == count && !(s->at[n] & FILTER_SET_SUBTREE) == !subtree &&
	       !memcmp(s->members + place(s, n), m, count * sizeof(*m));
}

static uint32_t slot_of(const struct filter_sets *s, const struct filter_member *m, uint32_t count, bool subtree)
{
	return (uint32_t)sum_bytes(count * 2 + subtree, m, count * sizeof(*m)) & (s->index_size - 1);
}

/* Room for one place more. */
static int grow_places(struct filter_sets *s)
{
	uint32_t *more;

	if (s->count + 1 < s->at_room)
		return 0;
	more = realloc(s->at, 2ULL * s->at_room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + s->at_room, 0, s->at_room * sizeof(*more));
	s->at = more;
	s->at_room *= 2;
	return 0;
}

/* Keep three of four slots free, as they are when the kernel's numbers are taken. */
static int grow_index(struct filter_sets *s)
{
	uint32_t *old = s->index, n, i;

	if (s->count < s->index_size / 4)
		return 0;
	s->index = calloc(2ULL * s->index_size, sizeof(*s->index));
	if (!s->index) {
		s->index = old;
		return -ENOMEM;
	}
	free(old);
	s->index_size *= 2;
	for (n = 1; n < s->count; n++) {
		i = slot_of(s, s->members + place(s, n), place(s, n + 1) - place(s, n), s->at[n] & FILTER_SET_SUBTREE);
		while (s->index[i])
			i = (i + 1) & (s->index_size - 1);
		s->index[i] = n;
	}
	return 0;
}

static int append(struct filter_sets *s, const struct filter_member *m, uint32_t count, bool subtree)
{
	uint32_t room = s->members_room ? s->members_room * 2 : 4096;
	struct filter_member *more;

	while (room < s->members_count + count)
		room *= 2;
	if (s->members_count + count > s->members_room) {
		if (room > FILTER_MEMBERS_MAX)
			return -ENOMEM;
		more = realloc(s->members, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->members = more;
		s->members_room = room;
	}
	memcpy(s->members + s->members_count, m, count * sizeof(*m));
	s->members_count += count;
	s->at[s->count] |= subtree ? FILTER_SET_SUBTREE : 0;
	s->at[++s->count] = s->members_count;
	return 0;
}

static int intern(struct filter_sets *s, struct filter_member *m, uint32_t count, bool subtree)
{
	uint32_t i;
	int err;

	if (count > 1)
		qsort(m, count, sizeof(*m), compare);
	for (i = slot_of(s, m, count, subtree); s->index[i]; i = (i + 1) & (s->index_size - 1))
		if (is_set(s, s->index[i], m, count, subtree))
			return (int)s->index[i];
	if (s->count >= s->bound && (s->full || s->members_count + count > s->members_max))
		return -ENOSPC;
	err = grow_places(s);
	if (!err)
		err = append(s, m, count, subtree);
	if (err)
		return err;
	s->index[i] = s->count - 1;
	err = grow_index(s);
	return err ? err : (int)s->count - 1;
}

int filter_sets_intern(struct filter_sets *s, struct filter_member *m, uint32_t count, bool subtree)
{
	uint16_t *alone;
	int set;

	/* nearly all names are on one list */
	if (count != 1 || m->action >= ACTIONS)
		return intern(s, m, count, subtree);
	alone = &s->alone[m->list * ACTIONS + m->action][subtree];
	if (*alone)
		return *alone;
	set = intern(s, m, count, subtree);
	if (set > 0 && set < MR_SETS_MAX)
		*alone = (uint16_t)set;
	return set;
}
