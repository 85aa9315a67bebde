/* SPDX-License-Identifier: BSD-2-Clause */
/* test_render.c - text that is no UTF-8, big numbers, quantiles. */
#include <stdlib.h>
#include <string.h>
#include "api/render.h"
#include "unit/api/fake.h"

#define R "\xef\xbf\xbd"

static const struct text_case {
	const char *name;
	const char *text;
	size_t size;
	const char *shown;
} text_cases[] = {
	{ "ASCII stays",                           "abc", 10, "abc" },
	{ "text ends at its size",                 "abcdef", 3, "abc" },
	{ "UTF-8 of two octets stays",             "\xc3\xbc", 10, "\xc3\xbc" },
	{ "UTF-8 of four octets stays",            "\xf0\x9f\x98\x80", 10, "\xf0\x9f\x98\x80" },
	{ "a lone octet above 127 is replaced",    "a\xff" "b", 10, "a" R "b" },
	{ "an overlong form is replaced",          "\xc0\x80", 10, R R },
	{ "an overlong form of three octets too",  "\xe0\x80\x80", 10, R R R },
	{ "a surrogate is replaced",               "\xed\xa0\x80", 10, R R R },
	{ "above U+10FFFF is replaced",            "\xf4\x90\x80\x80", 10, R R R R },
	{ "a sequence cut by the size is replaced", "\xe2\x82\xac", 2, R R },
};

static void run_text(void **state)
{
	const struct text_case *c = *state;
	json_t *o = render_text(c->text, c->size);

	assert_non_null(o);
	assert_string_equal(json_string_value(o), c->shown);
	json_decref(o);
}

static const struct quantile_case {
	const char *name;
	uint64_t count[4];
	double part;
	uint64_t ns;
} quantile_cases[] = {
	{ "without samples a quantile is 0",          { 0, 0, 0, 0 }, 0.5, 0 },
	{ "the median is the middle of one bucket",   { 0, 0, 8, 0 }, 0.5, 6 },
	{ "all are below the end of their bucket",    { 0, 0, 8, 0 }, 1.0, 8 },
	{ "a quantile falls into the bucket it ends in", { 0, 50, 0, 50 }, 0.75, 12 },
	{ "a quantile at a border is the border",     { 0, 50, 0, 50 }, 0.5, 4 },
};

static void run_quantile(void **state)
{
	const struct quantile_case *c = *state;

	assert_int_equal(render_quantile(c->count, 4, c->part), c->ns);
}

static void huge_counters_stay_numbers(void **state)
{
	json_t *o = render_u64(UINT64_MAX);

	assert_true(json_integer_value(o) == INT64_MAX);
	json_decref(o);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int main(void)
{
	struct CMUnitTest all[COUNT(text_cases) + COUNT(quantile_cases) + 1], *to = all;
	size_t i;

	for (i = 0; i < COUNT(text_cases); i++)
		*to++ = (struct CMUnitTest){ text_cases[i].name, run_text, NULL, NULL, (void *)&text_cases[i] };
	for (i = 0; i < COUNT(quantile_cases); i++)
		*to++ = (struct CMUnitTest){ quantile_cases[i].name, run_quantile, NULL, NULL, (void *)&quantile_cases[i] };
	*to++ = (struct CMUnitTest)cmocka_unit_test(huge_counters_stay_numbers);
	return _cmocka_run_group_tests("render", all, COUNT(all), NULL, NULL);
}
