/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * suffixes.h - a set of zones: which names are in one of them.
 *
 * Made with a snapshot out of what the configuration lists, read by queries on
 * any thread, immutable.
 */
#ifndef RESOLVE_SUFFIXES_H
#define RESOLVE_SUFFIXES_H

#include <stdbool.h>
#include <stdint.h>

struct suffixes;

/* An empty set with room for @max zones; NULL when memory is out. */
struct suffixes *suffixes_new(unsigned max);
void suffixes_free(struct suffixes *s);		/* takes NULL */

/**
 * Add a zone, given as text.
 *
 * Returns 0; -EINVAL when it is no name; -ENOSPC.
 */
int suffixes_add(struct suffixes *s, const char *zone);

/* All are in; look-ups may begin. */
void suffixes_ready(struct suffixes *s);

/**
 * Find the longest of the zones that a name is, or is below.
 *
 * @lower  wire form, lower case
 *
 * Returns its length in wire form, or 0.  Cost: a search among the zones for
 * each label of the name; nothing when there are none.  Takes NULL.
 */
uint16_t suffixes_longest(const struct suffixes *s, const uint8_t *lower, uint16_t len);

/* True when a name is one of the zones or below one. */
static inline bool suffixes_cover(const struct suffixes *s, const uint8_t *lower, uint16_t len)
{
	return suffixes_longest(s, lower, len) != 0;
}

#endif
