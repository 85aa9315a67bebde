/* SPDX-License-Identifier: BSD-2-Clause */
/* left_out.c - what the file or millctl says and is not in force, and why. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "control/internal.h"

static void done_one(struct left_out *l)
{
	free(l->kind);
	free(l->name);
	free(l->why);
}

int left_outs_add(struct left_outs *to, const char *kind, const char *name, const char *why, enum config_origin origin)
{
	struct left_out *more = realloc(to->at, (to->count + 1) * sizeof(*more)), *l;

	if (!more)
		return -ENOMEM;
	to->at = more;
	l = &more[to->count];
	*l = (struct left_out){ .kind = strdup(kind), .name = strdup(name), .why = strdup(why), .origin = origin };
	if (l->kind && l->name && l->why) {
		to->count++;
		return 0;
	}
	done_one(l);
	return -ENOMEM;
}

const struct left_out *left_outs_find(const struct left_outs *l, const char *kind, const char *name)
{
	unsigned i;

	for (i = 0; i < l->count; i++)
		if (!strcmp(l->at[i].kind, kind) && !strcmp(l->at[i].name, name))
			return &l->at[i];
	return NULL;
}

void left_outs_done(struct left_outs *l)
{
	unsigned i;

	for (i = 0; i < l->count; i++)
		done_one(&l->at[i]);
	free(l->at);
	*l = (struct left_outs){ 0 };
}
