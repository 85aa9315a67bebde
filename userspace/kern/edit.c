/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edit.c - one entry of the filter in force, changed where packets look.
 *
 * Then filter_generation is raised, under the lock of the answers: an answer
 * whose chain was judged by the entry as it was is given no more, nor put there.
 */
#include <errno.h>
#include "kern/room.h"
#include "policy/filter_edit.h"

/* A set that nobody has seen yet: its cells first. */
static void write_cells(struct kern *k, uint32_t set, const struct mr_verdict *cells)
{
	const struct mr_unit *u = k->view.unit;
	mr_word *to = (mr_word *)k->view.verdicts + set;
	unsigned g;

	for (g = 0; g < u->groups; g++)
		MR_WRITE(to[(size_t)g * u->sets], ((const mr_word *)cells)[g]);
}

int kern_filter_edit(struct kern *k, const struct filter_edit *e, const struct mr_verdict *cells,
		     struct filter_view *ret)
{
	struct mr_conf *c = k->on ? kern_conf(k) : NULL;
	struct filter_view view;
	struct filter_edit_to to;

	if (!k->view.unit && !kern_filter_view(k, &view))
		return -ENOENT;
	to = (struct filter_edit_to){
		.unit = { (struct mr_unit *)k->view.unit, c ? &c->unit[c->active] : NULL },
		.buckets = (struct mr_filter_bucket *)k->view.buckets,	/* of our maps, or lent to us with the filter */
		.bloom = (uint64_t *)k->view.bloom,
	};
	if (c)
		pthread_mutex_lock(&k->answers.lock);
	if (e->is_new)
		write_cells(k, e->set, cells);
	filter_edit_write(e, &to);
	if (e->where != FILTER_EDIT_NOTHING) {
		k->view.generation++;
		if (c)
			MR_WRITE(c->filter_generation, k->view.generation);
	}
	if (c)
		pthread_mutex_unlock(&k->answers.lock);
	*ret = k->view;
	return 0;
}
