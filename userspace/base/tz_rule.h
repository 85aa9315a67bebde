/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tz_rule.h - a zone as POSIX writes it: "CET-1CEST,M3.5.0,M10.5.0/3".
 *
 * Used by tz.c for the years behind a zone file's table.
 */
#ifndef BASE_TZ_RULE_H
#define BASE_TZ_RULE_H

#include <stdbool.h>
#include <stdint.h>

/* One of a year's two jumps. */
struct tz_day {
	enum { TZ_DAY_WEEK, TZ_DAY_JULIAN, TZ_DAY_PLAIN } kind;
	int month, week;		/* WEEK: 1 .. 12; 1 .. 5, 5 is the last */
	int day;			/* WEEK: 0 (Sunday) .. 6; JULIAN: 1 .. 365 without 29 February; PLAIN: 0 .. 365 */
	int32_t time;			/* seconds behind that day's midnight by the clock before the jump; may be below 0 */
};

struct tz_rule {
	int32_t standard;		/* seconds ahead of UTC */
	int32_t summer;
	bool has_summer;
	struct tz_day begin;		/* of summer */
	struct tz_day end;
};

/* Returns 0, or -EBADMSG for what is no such text. */
int tz_rule_parse(const char *text, struct tz_rule *ret);

/* As tz_offset() and tz_next(). */
int32_t tz_rule_offset(const struct tz_rule *r, int64_t t);
int64_t tz_rule_next(const struct tz_rule *r, int64_t t);

#endif
