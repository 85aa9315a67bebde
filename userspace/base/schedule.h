/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schedule.h - windows of the week, by the clock on the wall.
 *
 * A schedule is in force at every instant at which its zone's clock shows a
 * time inside the window.  So an hour that the clock skips in spring is outside,
 * and one that it shows twice in autumn is inside twice; nothing else
 * is needed to be right on such days.  Pure: asks no clock, keeps nothing.
 */
#ifndef BASE_SCHEDULE_H
#define BASE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/tz.h"

#define SCHEDULE_ALL_DAYS 0x7f
#define SCHEDULE_NEVER    TZ_NEVER

struct schedule {
	uint8_t days;			/* bit 0 is Monday .. bit 6 Sunday: days on which the window begins */
	uint16_t from;			/* minutes behind midnight, 0 .. 1439 */
	uint16_t to;			/* first minute outside; at or before from: of the next day, so equal is 24 hours */
};

/* Is the window open at @t (seconds since 1970)? */
bool schedule_in_force(const struct schedule *s, const struct tz *z, int64_t t);

/**
 * The first instant after @t at which the window opens or closes.
 *
 * Looks ahead SCHEDULE_AHEAD_DAYS, which holds every edge that there is; SCHEDULE_NEVER
 * when nothing changes then: it is always open, or never.
 */
int64_t schedule_next(const struct schedule *s, const struct tz *z, int64_t t);

/* A week, and one more for a window that the clock skips. */
#define SCHEDULE_AHEAD_DAYS 16

#endif
