/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tz.c - zones are as the C library has them; names and files that are none are refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "base/file.h"
#include "base/tz.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define DAY_S 86400

static const char *const zones[] = {
	"UTC", "Etc/GMT+12", "Europe/Berlin", "Europe/London", "Europe/Dublin", "Europe/Moscow", "Africa/Casablanca", "Africa/Cairo",
	"America/New_York", "America/Santiago", "America/Havana", "America/St_Johns", "America/Caracas", "America/Argentina/Buenos_Aires",
	"Antarctica/Troll", "Asia/Gaza", "Asia/Kathmandu", "Asia/Tehran", "Asia/Pyongyang", "Australia/Lord_Howe", "Australia/Sydney",
	"Pacific/Apia", "Pacific/Chatham", "Pacific/Kiritimati", "EST5EDT",
};

static int32_t library_offset(int64_t t)
{
	time_t time = t;
	struct tm tm;

	localtime_r(&time, &tm);
	return (int32_t)tm.tm_gmtoff;
}

static void offsets_are_the_library_s(void **state)
{
	const char *zone = *state;
	struct tz *z = NULL;
	int64_t t;

	setenv("TZ", zone, 1);
	tzset();
	assert_int_equal(tz_load(zone, &z), 0);
	/* 1905 .. 2129 */
	for (t = -2050000000; t < 5040000000; t += 13 * 3600 + 7)
		if (tz_offset(z, t) != library_offset(t))
			fail_msg("%s at %lld: %d, not %d", zone, (long long)t, tz_offset(z, t), library_offset(t));
	tz_free(z);
	unsetenv("TZ");
}

static void no_jump_is_missed(void **state)
{
	const char *zone = *state;
	int64_t t = -2050000000, next;
	struct tz *z = NULL;
	unsigned jumps = 0;

	assert_int_equal(tz_load(zone, &z), 0);
	while (t < 5040000000) {
		next = tz_next(z, t);
		assert_true(next > t);
		jumps += next != TZ_NEVER;
		if (next > 5040000000)
			next = 5040000000;
		for (; t < next - DAY_S; t += DAY_S / 2)
			assert_int_equal(tz_offset(z, t), tz_offset(z, next - 1));
		t = next;
	}
	assert_true(jumps < 1000);
	tz_free(z);
}

static const struct {
	const char *sentence, *name;
	int err;
} bad_names[] = {
	{ "a zone that is not there", "Europe/Berln", -ENOENT },
	{ "a folder is no zone", "Europe", -EBADMSG },
	{ "a file that is no zone", "tzdata.zi", -EBADMSG },
	{ "a path is no name", "/usr/share/zoneinfo/UTC", -EINVAL },
	{ "a name does not go up", "../zoneinfo/UTC", -EINVAL },
	{ "a name does not go up in its middle", "Europe/../UTC", -EINVAL },
	{ "a name has no blanks", "Europe/New Berlin", -EINVAL },
	{ "below a file there is nothing", "UTC/x", -ENOENT },
	{ "a name is short", "Europe/BerlinBerlinBerlinBerlinBerlinBerlinBerlinBerlinBerlinBerlinBerlin", -EINVAL },
	{ "a zone that counts leap seconds", "right/Europe/Berlin", -EBADMSG },
};

static void name_is_refused(void **state)
{
	size_t i = (size_t)(uintptr_t)*state;
	struct tz *z = NULL;
	int err = tz_load(bad_names[i].name, &z);

	/* not every system has the folder right/ */
	if (err != -ENOENT || strncmp(bad_names[i].name, "right/", 6))
		assert_int_equal(err, bad_names[i].err);
	assert_null(z);
}

static void a_file_that_was_cut_is_refused(void **state)
{
	struct tz *z = NULL;
	size_t size, i;
	char *data, *copy;

	assert_int_equal(file_read("/usr/share/zoneinfo/Europe/Berlin", 1 << 20, &data, &size), 0);
	assert_int_equal(tz_parse(data, size, &z), 0);
	tz_free(z);
	for (i = 0; i < size; i++) {
		/* of that size on the heap, so that a sanitizer sees a step too far */
		copy = malloc(i ? i : 1);
		assert_non_null(copy);
		memcpy(copy, data, i);
		z = NULL;
		assert_int_equal(tz_parse(copy, i, &z), -EBADMSG);
		assert_null(z);
		free(copy);
	}
	free(data);
}

/* Each octet of a file turned around: refused, or a zone that still can be asked. */
static void a_damaged_file_does_no_harm(void **state)
{
	size_t size, i;
	char *data;

	assert_int_equal(file_read("/usr/share/zoneinfo/Europe/Berlin", 1 << 20, &data, &size), 0);
	for (i = 0; i < size; i++) {
		struct tz *z = NULL;

		data[i] = (char)~data[i];
		if (!tz_parse(data, size, &z)) {
			tz_offset(z, 1774742400);
			assert_true(tz_next(z, 4102444800) > 4102444800);
		}
		tz_free(z);
		data[i] = (char)~data[i];
	}
	free(data);
}

static const struct {
	const char *sentence, *tz;
	int64_t at;
	int32_t offset;
} machines[] = {
	{ "the machine's zone by name", "Europe/Berlin", 1774742400, 3600 },
	{ "the machine's zone with a colon", ":Europe/Berlin", 1782864000, 7200 },
	{ "the machine's zone by path", "/usr/share/zoneinfo/America/New_York", 1782864000, -4 * 3600 },
	{ "the machine's zone as a rule", "CET-1CEST,M3.5.0,M10.5.0/3", 1782864000, 7200 },
	{ "the machine's zone as a rule in brackets", "<+0330>-3:30", 1782864000, 12600 },
	{ "the machine's zone is empty", "", 1782864000, 0 },
};

static void machine_is(void **state)
{
	size_t i = (size_t)(uintptr_t)*state;
	struct tz *z = NULL;

	setenv("TZ", machines[i].tz, 1);
	assert_int_equal(tz_load("", &z), 0);
	assert_int_equal(tz_offset(z, machines[i].at), machines[i].offset);
	tz_free(z);
	unsetenv("TZ");
}

static const char *const bad_rules[] = {
	"C", "CEX", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0",
	"CET-1CEST,J0,J100", "CET-1CEST,J366,J100", "CET-1CEST,366,1", "CET-1CEST,M3.5.0,M10.5.0x", "CET-168", "<CET-1", "CET-1:60",
	"CET-1CEST,M3.5.0/168,M10.5.0",
};

static void rule_is_refused(void **state)
{
	struct tz *z = NULL;

	setenv("TZ", *state, 1);
	assert_int_equal(tz_load("", &z), -EBADMSG);
	assert_null(z);
	unsetenv("TZ");
}

int main(void)
{
	static struct CMUnitTest tests[2 * COUNT_OF(zones) + COUNT_OF(bad_names) + COUNT_OF(machines) + COUNT_OF(bad_rules) + 2] = {
		cmocka_unit_test(a_file_that_was_cut_is_refused),
		cmocka_unit_test(a_damaged_file_does_no_harm),
	};
	static char names[2 * COUNT_OF(zones)][80];
	size_t n = 2, i;

	for (i = 0; i < COUNT_OF(zones); i++) {
		strcat(strcpy(names[2 * i], "offsets are the library's: "), zones[i]);
		strcat(strcpy(names[2 * i + 1], "no jump is missed: "), zones[i]);
		tests[n++] = (struct CMUnitTest){ names[2 * i], offsets_are_the_library_s, NULL, NULL, (void *)zones[i] };
		tests[n++] = (struct CMUnitTest){ names[2 * i + 1], no_jump_is_missed, NULL, NULL, (void *)zones[i] };
	}
	for (i = 0; i < COUNT_OF(bad_names); i++)
		tests[n++] = (struct CMUnitTest){ bad_names[i].sentence, name_is_refused, NULL, NULL, (void *)(uintptr_t)i };
	for (i = 0; i < COUNT_OF(machines); i++)
		tests[n++] = (struct CMUnitTest){ machines[i].sentence, machine_is, NULL, NULL, (void *)(uintptr_t)i };
	for (i = 0; i < COUNT_OF(bad_rules); i++)
		tests[n++] = (struct CMUnitTest){ bad_rules[i], rule_is_refused, NULL, NULL, (void *)bad_rules[i] };
	return cmocka_run_group_tests_name("zones", tests, NULL, NULL);
}
