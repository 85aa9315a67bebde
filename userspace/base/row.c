/* SPDX-License-Identifier: BSD-2-Clause */
/* row.c - things to do one after the other, whose memory is asked for ahead. */
#include "base/row.h"

static void *at(const struct row *r, unsigned number)
{
	return r->thing[number % ROW_FAR];
}

static void run_first(struct row *r)
{
	r->ops->run(at(r, r->done++));
}

void row_add(struct row *r, void *thing)
{
	if (r->added - r->done == ROW_FAR)
		run_first(r);
	r->thing[r->added++ % ROW_FAR] = thing;
	r->ops->ahead(thing);
	if (r->added - r->neared > ROW_NEAR)
		r->ops->near(at(r, r->neared++));
}

void row_end(struct row *r)
{
	while (r->done != r->added) {
		/* what is done next would wait as long for its second lines now as then */
		if (r->neared == r->done)
			r->neared++;
		if (r->neared != r->added)
			r->ops->near(at(r, r->neared++));
		run_first(r);
	}
}
