/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_list_cases.c - which rules another filter takes and which not, case by case.
 *
 * Reads ../shared/data; what is not there is skipped, saying so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "policy/list.h"

#define CASES "../shared/data/suites/derived/filter-cases.tsv"
#define CASES_MAX 100

static struct verdict {
	char rule[300];
	bool valid;
} verdicts[CASES_MAX];
static char names[CASES_MAX][400];
static unsigned verdict_count;

/* Rows "group, rule, name, question, valid|invalid ..." of one rule. */
static void read_verdicts(void)
{
	FILE *f = fopen(CASES, "re");
	char line[1000], *column[5], *p;
	struct verdict *v;
	unsigned i;

	while (f && verdict_count < CASES_MAX && fgets(line, sizeof(line), f)) {
		p = line;
		for (i = 0; i < 5; i++)
			column[i] = p ? strsep(&p, "\t\n") : NULL;
		if (*line == '#' || !column[4] || strlen(column[1]) >= sizeof(v->rule) || strstr(column[1], "\\n") ||
		    (strncmp(column[4], "valid", 5) && strncmp(column[4], "invalid", 7)))
			continue;
		v = &verdicts[verdict_count];
		v->valid = *column[4] == 'v';
		strcpy(v->rule, column[1]);
		snprintf(names[verdict_count++], sizeof(names[0]), "%s: \"%s\" is %s", column[0], column[1],
			 v->valid ? "taken" : "not taken");
	}
	if (f)
		fclose(f);
}

static int count(void *arg, const struct rule_item *item)
{
	return ++*(int *)arg;
}

static void rule_is_taken_or_not(void **state)
{
	const struct verdict *v = *state;
	struct list_report *r = calloc(1, sizeof(*r));
	int items = 0;

	assert_non_null(r);
	assert_int_equal(list_parse(v->rule, strlen(v->rule), LIST_AUTO, false, count, &items, r), 0);
	assert_int_equal(items, v->valid);
	free(r);
}

static void cases_are_there(void **state)
{
	if (!verdict_count) {
		print_message("# " CASES " is absent\n");
		skip();
	}
	assert_in_range(verdict_count, 40, CASES_MAX - 1);
}

int main(void)
{
	static struct CMUnitTest tests[CASES_MAX + 1] = { cmocka_unit_test(cases_are_there) };
	unsigned i;

	read_verdicts();
	for (i = 0; i < verdict_count; i++)
		tests[i + 1] = (struct CMUnitTest){ names[i], rule_is_taken_or_not, NULL, NULL, &verdicts[i] };
	/* not all of the array: rows that are not there are no tests */
	return _cmocka_run_group_tests("list_cases", tests, verdict_count + 1, NULL, NULL);
}
