/* SPDX-License-Identifier: BSD-2-Clause */
/* schedule.c - windows of the week: open at an instant, and until when. */
#include "base/schedule.h"

#define DAY_S 86400

/* Whether the window is open when the clock shows that many seconds since 1970 began there. */
static bool shows_open(const struct schedule *s, int64_t local)
{
	int64_t day = local / DAY_S - (local % DAY_S < 0);
	int minute = (int)((local - day * DAY_S) / 60);
	/* 1970-01-01 was a Thursday */
	int today = (int)(((day + 3) % 7 + 7) % 7), yesterday = (today + 6) % 7;
	bool over_midnight = s->to <= s->from;

	if (s->days >> today & 1 && minute >= s->from && (over_midnight || minute < s->to))
		return true;
	return over_midnight && s->days >> yesterday & 1 && minute < s->to;
}

bool schedule_in_force(const struct schedule *s, const struct tz *z, int64_t t)
{
	return shows_open(s, t + tz_offset(z, t));
}

/* The next time after @local that the clock shows midnight, from or to, if it does not jump. */
static int64_t next_mark(const struct schedule *s, int64_t local)
{
	int64_t day = local / DAY_S - (local % DAY_S < 0), midnight = day * DAY_S, next = midnight + DAY_S;
	int64_t mark[] = { midnight + s->from * 60, midnight + s->to * 60 };
	unsigned i;

	for (i = 0; i < 2; i++)
		if (mark[i] > local && mark[i] < next)
			next = mark[i];
	return next;
}

int64_t schedule_next(const struct schedule *s, const struct tz *z, int64_t t)
{
	int64_t end = t + SCHEDULE_AHEAD_DAYS * DAY_S, at, jump;
	bool now = schedule_in_force(s, z, t);
	int32_t offset;

	while (t < end) {
		offset = tz_offset(z, t);
		at = next_mark(s, t + offset) - offset;
		jump = tz_next(z, t);
		t = jump < at ? jump : at;
		if (schedule_in_force(s, z, t) != now)
			return t;
	}
	return SCHEDULE_NEVER;
}
