/* SPDX-License-Identifier: BSD-2-Clause */
/* test_regex.c - one pattern, many patterns, and patterns that mean harm. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "policy/regex.h"
#include "policy/regex_set.h"
#include "unit/policy/names.h"
#include "unit/policy/rig.h"

static const struct one {
	const char *name, *pattern, *text;
	enum regex_outcome outcome;
} ones[] = {
	{ "matches anywhere", "ads", "my.ads.example", REGEX_YES },
	{ "letter case does not matter", "ADS", "my.ads.example", REGEX_YES },
	{ "case of the name does not matter", "ads", "MY.ADS.example", REGEX_YES },
	{ "anchor at the start", "^ads", "my.ads.example", REGEX_NO },
	{ "anchor at the end", "ads$", "my.ads", REGEX_YES },
	{ "end is the end alone", "ads$", "my.ads\n", REGEX_NO },
	{ "dot is any octet", "a.b", "a\xff" "b", REGEX_YES },
	{ "POSIX class", "^[[:alpha:]]+$", "abc", REGEX_YES },
	{ "look ahead", "^(?!www)", "www.example", REGEX_NO },
	{ "back reference", "^(.)\\1", "aab", REGEX_YES },
	{ "hostile pattern ends", "^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", REGEX_LIMIT },
	{ "hostile alternation ends", "^(a|aa|aaa)*$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", REGEX_LIMIT },
	{ "empty pattern matches", "", "a", REGEX_YES },
	{ "empty name", "^$", "", REGEX_YES },
};

static void pattern_is_matched(void **state)
{
	const struct one *t = *state;
	struct regex *r;
	struct regex_set *s;
	struct regex_member m = { t->pattern, strlen(t->pattern), NULL, false };

	assert_int_equal(regex_new(t->pattern, strlen(t->pattern), &r), 0);
	assert_int_equal(regex_match(r, t->text, strlen(t->text)), t->outcome);
	/* with machine code */
	m.regex = r;
	s = regex_set_new(&m, 1);
	assert_non_null(s);
	assert_int_equal(regex_match(r, t->text, strlen(t->text)), t->outcome);
	regex_set_free(s);
	regex_free(r);
}

static const struct gram {
	const char *pattern;
	bool literal;
} grams[] = {
	{ "ads", true }, { "^ad", true }, { "ad$", true }, { "ad", false }, { "^ads?\\.", true }, { "^ad?s", false }, { "a.b.c", false },
	{ "foo|bar", true }, { "foo|ba", false }, { "(foo)", false }, { "(foo)bar", true }, { "x(a|b)tracker", true }, { "[abc]", false },
	{ "[]abc]xyz", true }, { "[^]abc]x", false }, { "[[:alpha:]]xyz", true }, { "[a[:]b]xyz", true }, { "a{300}b", false },
	{ "abc{0}", false }, { "abcd{0}", true }, { "ab+c", false }, { "\\.ru$", true }, { "\\x41bc", false }, { "a\\Qbc.\\Ed", false },
	{ "(?i)abcd", false }, { "(?#abc)d", false }, { "(*UCP)abcd", false }, { "abc\\d+", true }, { "^", false }, { "$", false }, { "", false },
	{ "a{b|c}def", false }, { "(a\\cA)xyz", false }, { "\\bads\\b", true }, { "^[a-z]{7,}\\.(com|info)$", false },
};

static bool has_literal(const char *pattern)
{
	uint32_t unused[REGEX_BRANCHES_MAX];

	return regex_grams(pattern, strlen(pattern), unused) > 0;
}

static void text_that_must_be_there_is_found(void **state)
{
	const struct gram *t = *state;

	assert_int_equal(has_literal(t->pattern), t->literal);
}

static void bad_patterns_are_refused(void **state)
{
	static const char *const bad[] = { "(", "[", "a{2,1}", "*", "(?<n>a)(?<n>b)", "\\C", "((a{1000}){1000}){1000}", "\\" };
	char *longest = malloc(REGEX_PATTERN_MAX + 1);
	struct regex *r;
	unsigned i;

	for (i = 0; i < COUNT_OF(bad); i++)
		if (regex_new(bad[i], strlen(bad[i]), &r) != -EINVAL)
			fail_msg("%s", bad[i]);
	memset(longest, 'a', REGEX_PATTERN_MAX + 1);
	assert_int_equal(regex_new(longest, REGEX_PATTERN_MAX + 1, &r), -EINVAL);
	assert_int_equal(regex_new(longest, REGEX_PATTERN_MAX, &r), 0);
	regex_free(r);
	free(longest);
}

/* ---- many ---- */

struct many {
	struct regex_member *m;
	unsigned count;
	struct regex_set *set;
	uint8_t *seen;
};

static void many_add(struct many *a, const char *pattern, size_t len, bool invert)
{
	struct regex *r;

	if (regex_new(pattern, len, &r))
		return;
	a->m = realloc(a->m, (a->count + 1) * sizeof(*a->m));
	a->m[a->count++] = (struct regex_member){ pattern, len, r, invert };
}

static void many_open(struct many *a)
{
	a->set = regex_set_new(a->m, a->count);
	a->seen = calloc(a->count + 1, 1);
	assert_non_null(a->set);
	assert_non_null(a->seen);
}

static void many_close(struct many *a)
{
	unsigned i;

	regex_set_free(a->set);
	for (i = 0; i < a->count; i++)
		regex_free(a->m[i].regex);
	free(a->m);
	free(a->seen);
}

static bool see(unsigned number, void *arg)
{
	((uint8_t *)arg)[number]++;
	return true;
}

/* Returns the steps that it took. */
static uint32_t many_try(const struct many *a, const char *text, size_t len)
{
	uint32_t left = REGEX_STEPS_MAX;

	regex_set_each(a->set, text, len, &left, see, a->seen);
	return REGEX_STEPS_MAX - left;
}

/* The set finds what its members match one by one, each once. */
static unsigned many_check(struct many *a, const char *text)
{
	size_t len = strlen(text);
	unsigned i, hits = 0;
	bool want;

	memset(a->seen, 0, a->count);
	many_try(a, text, len);
	for (i = 0; i < a->count; i++) {
		want = (regex_match(a->m[i].regex, text, len) == REGEX_YES) != a->m[i].invert;
		if (a->seen[i] != want)
			fail_msg("\"%.*s\" on \"%s\": %d, expected %d", (int)a->m[i].len, a->m[i].pattern, text, a->seen[i], want);
		hits += want;
	}
	return hits;
}

static unsigned below(unsigned n)
{
	static uint64_t state = 0x5eed;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(state >> 33) % n;
}

static const char *random_pattern(char *buf)
{
	static const char *const parts[] = {
		"a", "b", "ab", "abc", "ad", "ads", "\\.", "^", "$", "|", ".", "a?", "b+", "c*", "[ab]", "[^a.]", "(a|b)", "(ab)?", "(?:abc)",
		"a{2}", "b{0,2}", "\\d", "\\b", "x-y", "_", "(?=a)", "(?!b)", "[]a]", "[[:alpha:]]", "A", "\\-", "3", "a{b|c}", "[a[:]b]", "a+?", "b?+",
	};
	unsigned i, n = 1 + below(7);

	*buf = '\0';
	for (i = 0; i < n; i++)
		strcat(buf, parts[below(COUNT_OF(parts))]);
	return buf;
}

static const char *random_name(char *buf)
{
	static const char letters[] = "aabbccd.dsx-y_3{]";
	unsigned i, n = below(14);

	for (i = 0; i < n; i++)
		buf[i] = letters[below(sizeof(letters) - 1)];
	buf[n] = '\0';
	return buf;
}

static void set_finds_what_its_members_match(void **state)
{
	static char patterns[80][200];
	unsigned round, i, hits = 0, literal = 0;
	char name[32];
	struct many a;

	for (round = 0; round < 60; round++) {
		memset(&a, 0, sizeof(a));
		for (i = 0; i < COUNT_OF(patterns); i++) {
			random_pattern(patterns[i]);
			many_add(&a, patterns[i], strlen(patterns[i]), !below(16));
			literal += has_literal(patterns[i]);
		}
		many_open(&a);
		for (i = 0; i < 300; i++)
			hits += many_check(&a, random_name(name));
		many_close(&a);
	}
	assert_true(hits > 1000);
	assert_true(literal > 500);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Patterns that people use, one a line; ownership of the text stays in @ret_text. */
static void add_lines(struct many *a, char *text)
{
	char *p, *end;

	for (p = text; *p; p = end + 1) {
		end = strchrnul(p, '\n');
		if (end > p && *p != '#')
			many_add(a, p, (size_t)(end - p), false);
		if (!*end)
			break;
	}
}

static void patterns_of_real_lists_agree(void **state)
{
	static const char *const lists[] = { "regex/mmotti-amp.list", "regex/mmotti-facebook.list", "regex/mmotti-twitter.list" };
	char *text[COUNT_OF(lists)] = { NULL }, *names = list_file("../names/opendns-top-10k-2014.txt", &(size_t){ 0 }), *p, *end;
	struct many a = { 0 };
	double start;
	unsigned n = 0, i;
	size_t size;

	if (!names)
		skip();
	for (i = 0; i < COUNT_OF(lists); i++) {
		text[i] = list_file(lists[i], &size);
		assert_non_null(text[i]);
		add_lines(&a, text[i]);
	}
	many_open(&a);
	for (p = names; *p; p = end + 1, n++) {
		end = strchrnul(p, '\n');
		if (!*end)
			break;
		*end = '\0';
		many_check(&a, p);
	}
	assert_true(n > 9000);
	start = seconds();
	for (p = names, i = 0; i < n; i++, p += strlen(p) + 1)
		many_try(&a, p, strlen(p));
	printf("# figure: %u patterns tried on a name in %.0f ns (%u names)\n", a.count, (seconds() - start) / n * 1e9, n);
	many_close(&a);
	for (i = 0; i < COUNT_OF(lists); i++)
		free(text[i]);
	free(names);
}

static void steps_are_bounded_and_counted(void **state)
{
	char text[REGEX_TEXT_MAX] = "";
	struct many a = { 0 };
	double start;
	unsigned i;

	memset(text, 'a', 249);
	text[249] = '!';
	many_add(&a, "^(a+)+$", 7, false);
	many_add(&a, "(a|aa|a.)+$", 11, false);
	many_add(&a, "^(a+)*$", 7, true);
	many_open(&a);
	assert_int_equal(regex_set_limited(a.set), 0);
	start = seconds();
	for (i = 0; i < 100; i++)
		many_try(&a, text, 250);
	start = (seconds() - start) / 100;
	printf("# figure: hostile patterns on a name of 250 octets: %.2f ms\n", start * 1e3);
	assert_true(regex_set_limited(a.set) >= 100);
	/* an inverted pattern that cannot be decided says nothing either */
	assert_int_equal(a.seen[2], 0);
	assert_true(start < 0.1);
	many_close(&a);
}

/* What one name costs is bounded, however many patterns mean harm. */
static void many_hostile_patterns_cost_what_some_do(void **state)
{
	static char patterns[1000][48];
	char text[REGEX_TEXT_MAX] = "";
	struct many a = { 0 };
	unsigned i;

	memset(text, 'a', 249);
	text[249] = '!';
	for (i = 0; i < COUNT_OF(patterns); i++) {
		snprintf(patterns[i], sizeof(patterns[i]), "^(a+[a%u]*)+$", i);
		many_add(&a, patterns[i], strlen(patterns[i]), false);
	}
	many_open(&a);
	many_try(&a, text, 250);
	assert_in_range(regex_set_limited(a.set), 1, 100);
	assert_int_equal(many_check(&a, "aaaa"), COUNT_OF(patterns));
	many_close(&a);
}

/* None of these takes too many steps by itself; what they take grew with their number. */
static void the_sum_of_many_heavy_patterns_is_bounded(void **state)
{
	static char patterns[2000][48];
	uint32_t left = REGEX_STEPS_MAX;
	struct many a = { 0 };
	unsigned i, heavy = 0;
	char text[64];
	double start;

	memset(text, 'a', 32);
	strcpy(text + 32, "9.example");
	/* a light one before and behind them */
	many_add(&a, "^aaa", 4, false);
	for (i = 0; i < COUNT_OF(patterns); i++) {
		snprintf(patterns[i], sizeof(patterns[i]), "^(?!%u)a*a*a*[b-z]x", i);
		many_add(&a, patterns[i], strlen(patterns[i]), false);
	}
	many_add(&a, "example$", 8, false);
	many_add(&a, "^(?=aa)", 7, false);
	many_open(&a);
	start = seconds();
	for (i = 0; i < 100; i++)
		assert_int_equal(many_try(&a, text, strlen(text)), REGEX_STEPS_MAX);
	start = (seconds() - start) / 100;
	printf("# figure: 2000 heavy patterns on a name: %.2f ms\n", start * 1e3);
	assert_true(start < 0.05);
	assert_int_equal(regex_set_limited(a.set), 0);
	assert_int_equal(regex_set_spent(a.set), 100);
	/* those that came first were tried, what came behind was not */
	assert_int_equal(a.seen[0], 100);
	assert_int_equal(a.seen[2002], 0);
	for (i = 1; i <= COUNT_OF(patterns); i++)
		heavy += regex_set_heavy_of(a.set, i) > 0;
	assert_in_range(heavy, 50, 1999);
	assert_int_equal(regex_set_heavy_of(a.set, 0), 0);
	/* another name is not to suffer for it, and a purse that is empty stays so */
	assert_int_equal(many_check(&a, "aaaa.example"), 3);
	regex_set_each(a.set, text, strlen(text), &left, see, a.seen);
	regex_set_each(a.set, "aaaa.example", 12, &left, see, a.seen);
	assert_int_equal(left, 0);
	assert_int_equal(regex_set_spent(a.set), 101);
	assert_int_equal(a.seen[2002], 1);
	many_close(&a);
}

/* As many as anybody writes, each of which has to be tried, are all tried. */
static void thousands_of_ordinary_patterns_are_all_tried(void **state)
{
	static const char text[] = "some-name-of-ordinary-length.example.com";
	static char patterns[3000][64];
	struct many a = { 0 };
	unsigned i;

	for (i = 0; i < COUNT_OF(patterns); i++) {
		snprintf(patterns[i], sizeof(patterns[i]), i % 2 ? "^(.+[_.-])?(ad)s?%u?(serv(er|ice)s?)?[0-9]*[_.-]" :
			 "([_.-]|^)(ad|tr)[sxv]?%u?[0-9]*[_.-]", i);
		many_add(&a, patterns[i], strlen(patterns[i]), false);
	}
	many_add(&a, "[a-z]om$", 8, false);
	many_open(&a);
	printf("# figure: %u patterns take %u steps of %u\n", a.count, many_try(&a, text, strlen(text)), REGEX_STEPS_MAX);
	assert_int_equal(a.seen[3000], 1);
	assert_int_equal(regex_set_spent(a.set), 0);
	many_close(&a);
}

/* A search that would begin anew at each of 250 octets is paid for all of them. */
static void a_search_is_bounded_over_all_octets_that_it_begins_at(void **state)
{
	static char patterns[200][32];
	struct many a = { 0 };
	char text[250];
	double start;
	unsigned i;

	memset(text, 'a', sizeof(text));
	for (i = 0; i < COUNT_OF(patterns); i++) {
		snprintf(patterns[i], sizeof(patterns[i]), "a.*a[^b].*[!=%u].", i);
		many_add(&a, patterns[i], strlen(patterns[i]), false);
	}
	many_open(&a);
	start = seconds();
	for (i = 0; i < 20; i++)
		many_try(&a, text, sizeof(text));
	start = (seconds() - start) / 20;
	printf("# figure: 200 searches from everywhere on a name of 250 octets: %.2f ms\n", start * 1e3);
	assert_int_equal(regex_set_spent(a.set), 20);
	assert_true(start < 0.05);
	many_close(&a);
}

static double time_of(const struct many *a, const char *text)
{
	double start = seconds();
	unsigned i;

	for (i = 0; i < 20; i++)
		many_try(a, text, strlen(text));
	return seconds() - start;
}

/* Each is tried once, under whichever of its grams comes first: to know that must not cost more than trying. */
static void many_patterns_of_the_same_texts_are_tried_once(void **state)
{
	static char patterns[4000][48];
	struct many a = { 0 };
	double one, both;
	unsigned i;

	for (i = 0; i < COUNT_OF(patterns); i++) {
		snprintf(patterns[i], sizeof(patterns[i]), "bcd[0-9]%ux|xyz[0-9]%ux", i, i);
		many_add(&a, patterns[i], strlen(patterns[i]), false);
	}
	many_open(&a);
	assert_int_equal(many_check(&a, "bcd71x.xyz82x.bcd9"), 2);
	time_of(&a, "bcd");
	one = time_of(&a, "bcd.bcd.bcd.bcd");
	both = time_of(&a, "bcd.xyz.bcd.xyz");
	printf("# figure: %u patterns of one text: %.2f ms, of two: %.2f ms\n", a.count, one * 50, both * 50);
	assert_true(both < 4 * one);
	many_close(&a);
}

static void text_is_the_name_without_its_final_dot(void **state)
{
	static const uint8_t wire[] = "\3www\7example\0";
	char text[REGEX_TEXT_MAX];

	assert_int_equal(regex_text(wire, 13, text), 11);
	assert_memory_equal(text, "www.example", 11);
	assert_int_equal(regex_text((const uint8_t *)"", 1, text), 0);
}

int main(void)
{
	static struct CMUnitTest tests[10 + COUNT_OF(ones) + COUNT_OF(grams)] = {
		cmocka_unit_test(bad_patterns_are_refused),
		cmocka_unit_test(set_finds_what_its_members_match),
		cmocka_unit_test(patterns_of_real_lists_agree),
		cmocka_unit_test(steps_are_bounded_and_counted),
		cmocka_unit_test(many_hostile_patterns_cost_what_some_do),
		cmocka_unit_test(the_sum_of_many_heavy_patterns_is_bounded),
		cmocka_unit_test(thousands_of_ordinary_patterns_are_all_tried),
		cmocka_unit_test(a_search_is_bounded_over_all_octets_that_it_begins_at),
		cmocka_unit_test(many_patterns_of_the_same_texts_are_tried_once),
		cmocka_unit_test(text_is_the_name_without_its_final_dot),
	};
	static char names[COUNT_OF(grams)][80];
	size_t n = 10, i;

	for (i = 0; i < COUNT_OF(ones); i++)
		tests[n++] = (struct CMUnitTest){ ones[i].name, pattern_is_matched, NULL, NULL, (void *)&ones[i] };
	for (i = 0; i < COUNT_OF(grams); i++) {
		snprintf(names[i], sizeof(names[i]), "pattern %zu %s text that must be there", i, grams[i].literal ? "has" : "has no");
		tests[n++] = (struct CMUnitTest){ names[i], text_that_must_be_there_is_found, NULL, NULL, (void *)&grams[i] };
	}
	return cmocka_run_group_tests_name("regex", tests, NULL, NULL);
}
