/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_schedule.c - windows of the week at an instant, on days that have 23 and 25 hours too.
 *
 * Instants are UTC.  In 2026 the clocks of Europe/Berlin jump on 29 March
 * (01:00 UTC) and 25 October (01:00 UTC), those of America/New_York on 8 March
 * (07:00 UTC) and 1 November (06:00 UTC).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "base/schedule.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define BERLIN   "Europe/Berlin"
#define NEW_YORK "America/New_York"
#define EVERY    SCHEDULE_ALL_DAYS
#define H(hour, minute) ((hour) * 60 + (minute))

enum { MON = 1, TUE = 2, WED = 4, THU = 8, FRI = 16, SAT = 32, SUN = 64 };

static const struct row {
	const char *name, *zone;
	struct schedule s;
	const char *at;
	bool open;
	const char *next;		/* NULL: never */
} rows[] = {
	/* plain days: 2026-11-30 is a Monday */
	{ "before a window of the day", "UTC", { EVERY, H(9, 0), H(17, 0) }, "2026-11-30 08:59:59", false, "2026-11-30 09:00:00" },
	{ "a window begins with its first second", "UTC", { EVERY, H(9, 0), H(17, 0) }, "2026-11-30 09:00:00", true, "2026-11-30 17:00:00" },
	{ "a window's last second", "UTC", { EVERY, H(9, 0), H(17, 0) }, "2026-11-30 16:59:59", true, "2026-11-30 17:00:00" },
	{ "the end is outside", "UTC", { EVERY, H(9, 0), H(17, 0) }, "2026-11-30 17:00:00", false, "2026-12-01 09:00:00" },
	{ "a window until midnight", "UTC", { EVERY, H(22, 0), H(0, 0) }, "2026-11-30 23:59:59", true, "2026-12-01 00:00:00" },
	{ "a window from midnight", "UTC", { EVERY, H(0, 0), H(6, 0) }, "2026-11-30 00:00:00", true, "2026-11-30 06:00:00" },
	{ "one minute", "UTC", { EVERY, H(12, 0), H(12, 1) }, "2026-11-30 12:00:59", true, "2026-11-30 12:01:00" },
	{ "over midnight, in the evening", "UTC", { EVERY, H(21, 0), H(7, 0) }, "2026-11-30 22:00:00", true, "2026-12-01 07:00:00" },
	{ "over midnight, in the morning", "UTC", { EVERY, H(21, 0), H(7, 0) }, "2026-11-30 06:59:59", true, "2026-11-30 07:00:00" },
	{ "over midnight, at noon", "UTC", { EVERY, H(21, 0), H(7, 0) }, "2026-11-30 12:00:00", false, "2026-11-30 21:00:00" },
	/* days of the week */
	{ "Monday's window is not Sunday's", "UTC", { MON, H(9, 0), H(17, 0) }, "2026-11-29 10:00:00", false, "2026-11-30 09:00:00" },
	{ "after Monday's window it is a week", "UTC", { MON, H(9, 0), H(17, 0) }, "2026-11-30 17:00:00", false, "2026-12-07 09:00:00" },
	{ "a night belongs to the day it begins on", "UTC", { MON, H(21, 0), H(7, 0) }, "2026-12-01 06:00:00", true, "2026-12-01 07:00:00" },
	{ "the morning before is of another day", "UTC", { MON, H(21, 0), H(7, 0) }, "2026-11-30 06:00:00", false, "2026-11-30 21:00:00" },
	{ "Sunday's night ends on Monday", "UTC", { SUN, H(21, 0), H(7, 0) }, "2026-11-30 06:00:00", true, "2026-11-30 07:00:00" },
	{ "two days that follow", "UTC", { MON | TUE, H(21, 0), H(7, 0) }, "2026-12-01 07:00:00", false, "2026-12-01 21:00:00" },
	{ "weekdays, on Friday evening", "UTC", { MON | TUE | WED | THU | FRI, H(8, 0), H(16, 0) }, "2026-12-04 16:00:00", false,
	  "2026-12-07 08:00:00" },
	/* whole days */
	{ "from and to equal is the whole day", "UTC", { MON, 0, 0 }, "2026-11-30 00:00:00", true, "2026-12-01 00:00:00" },
	{ "the whole day is not the day before", "UTC", { MON, 0, 0 }, "2026-11-29 23:59:59", false, "2026-11-30 00:00:00" },
	{ "whole days that touch have no edge between", "UTC", { SAT | SUN, 0, 0 }, "2026-11-28 12:00:00", true, "2026-11-30 00:00:00" },
	{ "all whole days never change", "UTC", { EVERY, 0, 0 }, "2026-11-30 12:00:00", true, NULL },
	{ "24 hours from six are every hour", "UTC", { EVERY, H(6, 0), H(6, 0) }, "2026-11-30 12:00:00", true, NULL },
	{ "24 hours from six on Monday end on Tuesday", "UTC", { MON, H(6, 0), H(6, 0) }, "2026-12-01 05:00:00", true, "2026-12-01 06:00:00" },
	{ "no day is never", "UTC", { 0, 0, 0 }, "2026-11-30 12:00:00", false, NULL },
	/* zones */
	{ "the zone's hour counts, in winter", BERLIN, { EVERY, H(21, 0), H(7, 0) }, "2026-11-30 20:00:00", true, "2026-12-01 06:00:00" },
	{ "the zone's hour counts, in summer", BERLIN, { EVERY, H(21, 0), H(7, 0) }, "2026-07-01 19:00:00", true, "2026-07-02 05:00:00" },
	{ "the zone's day counts", NEW_YORK, { SUN, H(20, 0), H(23, 0) }, "2026-11-30 02:00:00", true, "2026-11-30 04:00:00" },
	{ "a zone with half an hour", "Asia/Kolkata", { EVERY, H(9, 0), H(17, 0) }, "2026-11-30 03:30:00", true, "2026-11-30 11:30:00" },
	{ "a zone ahead by fourteen hours", "Pacific/Kiritimati", { TUE, 0, 0 }, "2026-11-30 10:00:00", true, "2026-12-01 10:00:00" },
	/* Berlin, 29 March: 02:00 is followed by 03:00 */
	{ "Berlin's night in spring has an hour less", BERLIN, { EVERY, H(21, 0), H(7, 0) }, "2026-03-28 20:00:00", true, "2026-03-29 05:00:00" },
	{ "Berlin in spring, from inside the hour that is skipped: with the jump", BERLIN, { EVERY, H(2, 30), H(5, 0) },
	  "2026-03-29 00:00:00", false, "2026-03-29 01:00:00" },
	{ "Berlin in spring, that window is open behind the jump", BERLIN, { EVERY, H(2, 30), H(5, 0) }, "2026-03-29 01:00:00", true,
	  "2026-03-29 03:00:00" },
	{ "Berlin in spring, to inside the hour that is skipped: with the jump", BERLIN, { EVERY, H(1, 0), H(2, 30) },
	  "2026-03-29 00:30:00", true, "2026-03-29 01:00:00" },
	{ "Berlin in spring, a window in the skipped hour is left out", BERLIN, { EVERY, H(2, 10), H(2, 50) }, "2026-03-28 12:00:00", false,
	  "2026-03-30 00:10:00" },
	{ "Berlin in spring, Sunday's window in the skipped hour waits a week", BERLIN, { SUN, H(2, 10), H(2, 50) }, "2026-03-23 12:00:00",
	  false, "2026-04-05 00:10:00" },
	{ "Berlin's Sunday in spring has 23 hours", BERLIN, { SUN, 0, 0 }, "2026-03-28 23:00:00", true, "2026-03-29 22:00:00" },
	/* Berlin, 25 October: 03:00 is followed by 02:00 */
	{ "Berlin's night in autumn has an hour more", BERLIN, { EVERY, H(21, 0), H(7, 0) }, "2026-10-24 19:00:00", true, "2026-10-25 06:00:00" },
	{ "Berlin in autumn, the hour that comes twice: first", BERLIN, { EVERY, H(2, 0), H(2, 30) }, "2026-10-25 00:00:00", true,
	  "2026-10-25 00:30:00" },
	{ "Berlin in autumn, the hour that comes twice: between", BERLIN, { EVERY, H(2, 0), H(2, 30) }, "2026-10-25 00:30:00", false,
	  "2026-10-25 01:00:00" },
	{ "Berlin in autumn, the hour that comes twice: again", BERLIN, { EVERY, H(2, 0), H(2, 30) }, "2026-10-25 01:00:00", true,
	  "2026-10-25 01:30:00" },
	{ "Berlin in autumn, all of the two hours is one window", BERLIN, { EVERY, H(2, 0), H(3, 0) }, "2026-10-25 00:00:00", true,
	  "2026-10-25 02:00:00" },
	{ "Berlin's Sunday in autumn has 25 hours", BERLIN, { SUN, 0, 0 }, "2026-10-24 22:00:00", true, "2026-10-25 23:00:00" },
	{ "Berlin's Saturday night in autumn is no Sunday's", BERLIN, { SAT, H(23, 0), H(3, 0) }, "2026-10-25 01:59:59", true,
	  "2026-10-25 02:00:00" },
	/* New York, 8 March: 02:00 is followed by 03:00; 1 November: 02:00 is followed by 01:00 */
	{ "New York's night in spring has an hour less", NEW_YORK, { EVERY, H(21, 0), H(7, 0) }, "2026-03-08 02:00:00", true, "2026-03-08 11:00:00" },
	{ "New York in spring, from inside the hour that is skipped", NEW_YORK, { SUN, H(2, 15), H(4, 0) }, "2026-03-08 06:59:59", false,
	  "2026-03-08 07:00:00" },
	{ "New York in autumn, the hour that comes twice: between", NEW_YORK, { SUN, H(1, 0), H(1, 45) }, "2026-11-01 05:45:00", false,
	  "2026-11-01 06:00:00" },
	{ "New York in autumn, the hour that comes twice: again", NEW_YORK, { SUN, H(1, 0), H(1, 45) }, "2026-11-01 06:30:00", true,
	  "2026-11-01 06:45:00" },
	{ "New York's Sunday in autumn has 25 hours", NEW_YORK, { SUN, 0, 0 }, "2026-11-01 04:00:00", true, "2026-11-02 05:00:00" },
	/* clocks that jump at midnight, or by half an hour */
	{ "a day without its midnight begins with the jump", "Africa/Cairo", { FRI, 0, 0 }, "2026-04-23 21:59:59", false, "2026-04-23 22:00:00" },
	{ "a day without its midnight ends as all", "Africa/Cairo", { FRI, 0, 0 }, "2026-04-23 22:00:00", true, "2026-04-24 21:00:00" },
	{ "a jump of half an hour", "Australia/Lord_Howe", { SUN, H(2, 10), H(6, 0) }, "2026-10-03 15:00:00", false, "2026-10-03 15:30:00" },
	/* leap days: 2028-02-29 is a Tuesday */
	{ "a leap day is a day of the week", "UTC", { TUE, H(9, 0), H(17, 0) }, "2028-02-29 10:00:00", true, "2028-02-29 17:00:00" },
	{ "the night before a leap day", BERLIN, { MON, H(21, 0), H(7, 0) }, "2028-02-29 05:00:00", true, "2028-02-29 06:00:00" },
	{ "the day behind a leap day", "UTC", { WED, 0, 0 }, "2028-02-29 12:00:00", false, "2028-03-01 00:00:00" },
	/* far away */
	{ "a year behind the zone's table", BERLIN, { EVERY, H(2, 30), H(5, 0) }, "2060-03-28 01:00:00", true, "2060-03-28 03:00:00" },
	{ "before 1970", "UTC", { THU, H(9, 0), H(17, 0) }, "1969-12-25 10:00:00", true, "1969-12-25 17:00:00" },
};

static int64_t instant(const char *text)
{
	struct tm tm = { 0 };

	assert_int_equal(sscanf(text, "%d-%d-%d %d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec), 6);
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return timegm(&tm);
}

static void assert_instant(int64_t is, const char *expected)
{
	char text[32] = "never";
	time_t t = is;
	struct tm tm;

	if (is != SCHEDULE_NEVER)
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", gmtime_r(&t, &tm));
	assert_string_equal(text, expected ? expected : "never");
}

static void window_is(void **state)
{
	const struct row *r = *state;
	int64_t at = instant(r->at);
	struct tz *z = NULL;

	assert_int_equal(tz_load(r->zone, &z), 0);
	assert_int_equal(schedule_in_force(&r->s, z, at), r->open);
	assert_instant(schedule_next(&r->s, z, at), r->next);
	tz_free(z);
}

/* Small numbers that look like chance and are the same in each run. */
static uint32_t chance(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

/* Every edge is where a look at each minute finds one, in weeks with and without a jump. */
static void edges_are_those_of_every_minute(void **state)
{
	static const char *const zones[] = { BERLIN, NEW_YORK, "Africa/Cairo", "Australia/Lord_Howe", "America/Havana", "Asia/Kathmandu" };
	static const char *const weeks[] = { "2026-03-06 00:00:00", "2026-03-27 00:00:00", "2026-10-23 00:00:00", "2026-10-30 00:00:00" };
	uint32_t seed = 1, i;

	for (i = 0; i < 200; i++) {
		struct schedule s = { (uint8_t)chance(&seed, 128), (uint16_t)chance(&seed, 1440), (uint16_t)chance(&seed, 1440) };
		int64_t t = instant(weeks[i % COUNT_OF(weeks)]), edge = t, end = t + 5 * 86400;
		struct tz *z = NULL;
		bool open;

		/* half of them short and at night, where the jumps are */
		if (i % 2) {
			s.from = (uint16_t)chance(&seed, 240);
			s.to = (uint16_t)chance(&seed, 240);
		}
		assert_int_equal(tz_load(zones[i % COUNT_OF(zones)], &z), 0);
		open = schedule_in_force(&s, z, t);
		edge = schedule_next(&s, z, t);
		for (t += 60; t < end; t += 60) {
			if (schedule_in_force(&s, z, t) == open) {
				assert_true(edge > t);
				continue;
			}
			assert_int_equal(edge, t);
			open = !open;
			edge = schedule_next(&s, z, t);
		}
		tz_free(z);
	}
}

int main(void)
{
	static struct CMUnitTest tests[COUNT_OF(rows) + 1] = { cmocka_unit_test(edges_are_those_of_every_minute) };
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++)
		tests[1 + i] = (struct CMUnitTest){ rows[i].name, window_is, NULL, NULL, (void *)&rows[i] };
	return cmocka_run_group_tests_name("schedules", tests, NULL, NULL);
}
