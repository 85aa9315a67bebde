/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * down.c - whether any server answers; the program then gives what is over.
 *
 * A question that nobody answered was put to every server that is meant for
 * it, so a few such in a row, without an answer in between, are taken for "all
 * are down".  Any answer ends that, and so does a while without questions:
 * the next one then goes up and tries again.
 */
#include <errno.h>
#include "base/clock.h"
#include "control/internal.h"

#define DOWN_ROW  3			/* questions in a row */
#define DOWN_LAST (30 * CLOCK_S)	/* how long the last one's end counts: the time between two tries (RFC 8767) */

static void set_down(struct control *c, bool down)
{
	if (atomic_exchange_explicit(&c->down, down, memory_order_relaxed) != down)
		kern_upstreams_down(c->kern, down);
}

/* Is it the servers' fault? */
static bool is_theirs(int err)
{
	return err && err != -ECANCELED && err != -EBUSY && err != -ENOMEM && err != -ENOENT;
}

void down_note(struct control *c, int err, uint64_t now_ns)
{
	if (!err) {
		if (atomic_load_explicit(&c->down_row, memory_order_relaxed))
			atomic_store_explicit(&c->down_row, 0, memory_order_relaxed);
		if (atomic_load_explicit(&c->down, memory_order_relaxed))
			set_down(c, false);
	} else if (is_theirs(err)) {
		atomic_store_explicit(&c->down_ns, now_ns, memory_order_relaxed);
		if (atomic_fetch_add_explicit(&c->down_row, 1, memory_order_relaxed) + 1 >= DOWN_ROW)
			set_down(c, true);
	}
}

void down_tick(struct control *c, uint64_t now_ns)
{
	if (!atomic_load_explicit(&c->down, memory_order_relaxed))
		return;
	if ((int64_t)(now_ns - atomic_load_explicit(&c->down_ns, memory_order_relaxed)) > (int64_t)DOWN_LAST)
		set_down(c, false);
}
