/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * whole.h - what the files that check a whole configuration share.
 */
#ifndef CONFIG_WHOLE_H
#define CONFIG_WHOLE_H

#include "config/elements.h"

struct whole {
	struct config *c;
	struct config_errors *errs;
	int err;			/* -EINVAL once an error was noted, or -ENOMEM */
};

/* Where an object is to be found: what its errors begin with. */
struct spot {
	const char *list;		/* of the file: "filter.lists" */
	const char *kind;		/* of what was made at run time: "list" */
	const char *name;
	enum config_origin origin;
	struct config_place place;
};

struct spot whole_spot_client(const struct config_client *c);
struct spot whole_spot_group(const struct config_group *g);

/* Note an error about a field of an object (NULL: the object). */
void whole_fault(struct whole *w, const struct spot *s, const char *field, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* No more errors are shown, so no hint is worth its time: it is the longest part of a bad file's check. */
bool whole_is_full(const struct whole *w);

/* ---- whole_clients.c ---- */

/* Find the clients that a group names. */
void whole_members(struct whole *w, struct config_group *g);

/* Each address has one client at most, or, once whole_members() was called for all groups, one group at most. */
void whole_owners(struct whole *w, bool of_groups);

#endif
