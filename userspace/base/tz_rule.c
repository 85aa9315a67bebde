/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tz_rule.c - years as POSIX rules have them (IEEE 1003.1 section 8.3; hours up to 167 and below 0: RFC 9636 section 3.3.2).
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include "base/tz.h"
#include "base/tz_rule.h"

#define DAY_S 86400

/* ---- reading ---- */

/* A number up to @max; moves @p behind it. */
static bool take_number(const char **p, int max, int *ret)
{
	const char *s = *p;
	int n = 0;

	while (isdigit((unsigned char)*s) && n <= max)
		n = n * 10 + *s++ - '0';
	if (s == *p || n > max)
		return false;
	*p = s;
	*ret = n;
	return true;
}

static bool take_char(const char **p, char c)
{
	if (**p != c)
		return false;
	++*p;
	return true;
}

/* "CET", "<+0330>": at least three letters, or anything of these in brackets. */
static bool take_name(const char **p)
{
	const char *s = *p;
	bool quoted = *s == '<';

	for (s += quoted; isalpha((unsigned char)*s) ||
	     (quoted && (isdigit((unsigned char)*s) || *s == '+' || *s == '-')); s++)
		;
	if (s - *p < 3 || (quoted && *s != '>'))
		return false;
	*p = s + quoted;
	return true;
}

/* "[+-]hh[:mm[:ss]]" in seconds. */
static bool take_time(const char **p, int32_t *ret)
{
	bool below = take_char(p, '-');
	int h, m = 0, s = 0;

	if (!below)
		take_char(p, '+');
	if (!take_number(p, 167, &h))
		return false;
	if (take_char(p, ':') && !take_number(p, 59, &m))
		return false;
	if (take_char(p, ':') && !take_number(p, 59, &s))
		return false;
	*ret = (below ? -1 : 1) * (h * 3600 + m * 60 + s);
	return true;
}

/* ",M3.5.0/2": a day of the year and the time of the jump. */
static bool take_day(const char **p, struct tz_day *ret)
{
	bool ok;

	*ret = (struct tz_day){ .kind = TZ_DAY_PLAIN, .time = 2 * 3600 };
	if (!take_char(p, ','))
		return false;
	if (take_char(p, 'M')) {
		ret->kind = TZ_DAY_WEEK;
		ok = take_number(p, 12, &ret->month) && take_char(p, '.') && take_number(p, 5, &ret->week) &&
		     take_char(p, '.') && take_number(p, 6, &ret->day) && ret->month && ret->week;
	} else if (take_char(p, 'J')) {
		ret->kind = TZ_DAY_JULIAN;
		ok = take_number(p, 365, &ret->day) && ret->day;
	} else {
		ok = take_number(p, 365, &ret->day);
	}
	return ok && (!take_char(p, '/') || take_time(p, &ret->time));
}

int tz_rule_parse(const char *text, struct tz_rule *ret)
{
	const char *p = text;
	struct tz_rule r = { 0 };

	if (!take_name(&p) || !take_time(&p, &r.standard))
		return -EBADMSG;
	/* POSIX counts how far the clock is behind. */
	r.standard = -r.standard;
	r.has_summer = *p;
	if (r.has_summer) {
		if (!take_name(&p))
			return -EBADMSG;
		r.summer = r.standard + 3600;
		if (*p != ',') {
			if (!take_time(&p, &r.summer))
				return -EBADMSG;
			r.summer = -r.summer;
		}
		if (!take_day(&p, &r.begin) || !take_day(&p, &r.end))
			return -EBADMSG;
	}
	if (*p || r.standard <= -2 * DAY_S || r.standard >= 2 * DAY_S || r.summer <= -2 * DAY_S || r.summer >= 2 * DAY_S)
		return -EBADMSG;
	*ret = r;
	return 0;
}

/* ---- years ---- */

static bool is_leap(int64_t year)
{
	return year % 4 == 0 && (year % 100 || year % 400 == 0);
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* Days from 1970-01-01 to the first of January. */
static int64_t year_begin(int64_t year)
{
	int64_t y = year - 1;

	return 365 * (year - 1970) + (floor_div(y, 4) - 492) - (floor_div(y, 100) - 19) + (floor_div(y, 400) - 4);
}

static int64_t year_of(int64_t day)
{
	int64_t year = 1970 + floor_div(day * 400, 146097);

	while (year_begin(year) > day)
		year--;
	while (year_begin(year + 1) <= day)
		year++;
	return year;
}

static const int days_before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365 };

/* The day a rule names in a year, as days since 1970. */
static int64_t day_in(const struct tz_day *d, int64_t year)
{
	bool leap = is_leap(year);
	int64_t first, day, next;

	if (d->kind == TZ_DAY_PLAIN)
		return year_begin(year) + d->day;
	if (d->kind == TZ_DAY_JULIAN)
		return year_begin(year) + d->day - 1 + (leap && d->day > 59);
	first = year_begin(year) + days_before[d->month - 1] + (leap && d->month > 2);
	next = year_begin(year) + days_before[d->month] + (leap && d->month > 1);
	/* 1970-01-01 was a Thursday */
	day = first + ((d->day - (first + 4)) % 7 + 7) % 7 + 7 * (d->week - 1);
	return day < next ? day : day - 7;
}

static int64_t begin_in(const struct tz_rule *r, int64_t year)
{
	return day_in(&r->begin, year) * DAY_S + r->begin.time - r->standard;
}

static int64_t end_in(const struct tz_rule *r, int64_t year)
{
	return day_in(&r->end, year) * DAY_S + r->end.time - r->summer;
}

static int64_t year_at(const struct tz_rule *r, int64_t t)
{
	return year_of(floor_div(t + r->standard, DAY_S));
}

int32_t tz_rule_offset(const struct tz_rule *r, int64_t t)
{
	int64_t begin, end, latest_begin = INT64_MIN, latest_end = INT64_MIN, year, i;

	if (!r->has_summer)
		return r->standard;
	/* The last jump decides; in the south it may be one of the year before. */
	year = year_at(r, t);
	for (i = year - 1; i <= year + 1; i++) {
		begin = begin_in(r, i);
		end = end_in(r, i);
		if (begin <= t && begin > latest_begin)
			latest_begin = begin;
		if (end <= t && end > latest_end)
			latest_end = end;
	}
	return latest_begin >= latest_end ? r->summer : r->standard;
}

int64_t tz_rule_next(const struct tz_rule *r, int64_t t)
{
	int64_t year, i, at, next = TZ_NEVER;

	if (!r->has_summer)
		return TZ_NEVER;
	year = year_at(r, t);
	for (i = year - 1; i <= year + 2; i++) {
		at = begin_in(r, i);
		if (at > t && at < next)
			next = at;
		at = end_in(r, i);
		if (at > t && at < next)
			next = at;
	}
	return next;
}
