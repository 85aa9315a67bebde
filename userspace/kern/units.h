/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * units.h - which 128-byte units of the answer table are in use.
 *
 * A run of neighbouring units never leaves its 4 KiB page.  Pages hang in
 * lists by their longest free run, so taking and giving back cost the same
 * however full the table is.  The caller locks.
 */
#ifndef KERN_UNITS_H
#define KERN_UNITS_H

#include <stdbool.h>
#include <stdint.h>
#include "maps/answer.h"

struct units {
	uint32_t pages;
	uint32_t in_use;		/* units, unit 0 not counted */
	uint64_t classes;		/* bit c: list c is not empty */
	uint32_t head[MR_PAGE_UNITS + 1];	/* page + 1; 0: none */
	uint32_t *used;			/* per page, bit u: unit u is taken */
	uint32_t *next;			/* per page, page + 1 */
	uint32_t *prev;
	uint8_t *class_of;		/* longest free run, 0..32 */
};

/**
 * Begin with all units free but unit 0, which never is.
 *
 * Returns 0 or -ENOMEM.
 */
int units_init(struct units *u, uint32_t pages);
void units_done(struct units *u);

/* Take a run of @n units (1..MR_PAGE_UNITS) from the fullest page that has one; 0 when there is none. */
uint32_t units_take(struct units *u, unsigned n);

/* Take that very run; false when it leaves its page or the table, or a unit of it is taken. */
bool units_take_at(struct units *u, uint32_t unit, unsigned n);

/* Give a run back. */
void units_give(struct units *u, uint32_t unit, unsigned n);

#endif
