/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * groups.c - what may change between two filters: settings and pauses of
 * groups, what sets mean, and the names that the next filter brings.
 *
 * mr_conf has the groups for the program; user space reads the door's own copy,
 * which stays where it is when mr_conf moves, and which the off form has too.
 */
#include <string.h>
#include "kern/room.h"

/*
 * Word by word: other threads read it, and the types are one word.  What stays as
 * it is is not written: their caches keep it.
 */
static void write_group(struct mr_group *to, const struct mr_group *from)
{
	const mr_word *f = (const mr_word *)from;
	mr_word *t = (mr_word *)to;
	size_t i;

	for (i = 0; i < sizeof(*to) / sizeof(*t); i++)
		if (t[i] != f[i])
			MR_WRITE(t[i], f[i]);
}

static void all_groups(const struct mr_group *groups, unsigned count, struct mr_group ret[MR_GROUPS_MAX])
{
	memset(ret, 0, MR_GROUPS_MAX * sizeof(*ret));
	memcpy(ret, groups, (count < MR_GROUPS_MAX ? count : MR_GROUPS_MAX) * sizeof(*groups));
}

bool kern_groups_differ(struct kern *k, const struct mr_group *groups, unsigned count)
{
	struct mr_group all[MR_GROUPS_MAX];

	all_groups(groups, count, all);
	return k->on && memcmp(kern_conf(k)->group, all, sizeof(all));
}

void kern_groups_publish(struct kern *k, const struct mr_group *groups, unsigned count)
{
	struct mr_group all[MR_GROUPS_MAX];
	struct mr_conf *c = k->on ? kern_conf(k) : NULL;
	uint32_t enabled;
	unsigned i;

	all_groups(groups, count, all);
	for (i = 0; i < MR_GROUPS_MAX; i++)
		write_group(&k->group[i], &all[i]);
	if (!c || !memcmp(c->group, all, sizeof(all)))
		return;
	enabled = kern_pause(k);
	for (i = 0; i < MR_GROUPS_MAX; i++)
		write_group(&c->group[i], &all[i]);
	kern_resume(k, enabled);
}

void kern_group_pause(struct kern *k, unsigned group, bool paused)
{
	if (group >= MR_GROUPS_MAX)
		return;
	MR_WRITE(k->group[group].paused, paused);
	if (k->on)
		MR_WRITE(kern_conf(k)->group[group].paused, paused);
}

void kern_sources_publish(struct kern *k, const char *const *names, unsigned count)
{
	unsigned i;

	for (i = 0; i < MR_LISTS_MAX; i++)
		mr_ede_render(&k->ede_next[i], i < count && names[i] ? names[i] : "");
}

void kern_groups_take(struct kern *k)
{
	const struct mr_conf *c = kern_conf(k);
	const struct mr_ede *ede = kern_mem(k, MAP_mr_ede);

	memcpy(k->group, c->group, sizeof(k->group));
	memcpy(k->ede_next, ede + c->unit[c->active].ede_base, sizeof(k->ede_next));
}

void kern_verdicts_write(const struct filter_view *v, const struct kern_cell *cells, size_t count)
{
	mr_word *to = (mr_word *)v->verdicts;	/* of our maps, or lent to us with the filter */
	size_t i;

	for (i = 0; i < count; i++)
		MR_WRITE(to[cells[i].at], *(const mr_word *)&cells[i].verdict);
}
