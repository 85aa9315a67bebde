/* SPDX-License-Identifier: BSD-2-Clause */
/* test_small.c - the small things of base: arena, errors, counters, random numbers, the hash. */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/count.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/random.h"

static void arena_uses_its_first_block_then_the_heap(void **state)
{
	char first[256];
	struct arena a;
	char *p, *q;

	arena_init(&a, first, sizeof(first));
	p = arena_alloc(&a, 100);
	assert_true(p >= first && p < first + sizeof(first));
	assert_int_equal((uintptr_t)p % alignof(max_align_t), 0);
	q = arena_alloc(&a, 10000);
	assert_non_null(q);
	assert_true(q < first || q >= first + sizeof(first));
	memset(q, 1, 10000);
	arena_reset(&a);
	assert_ptr_equal(arena_alloc(&a, 100), p);
	arena_done(&a);
}

static void arena_clears_when_asked(void **state)
{
	struct arena a;
	char *p;
	int i;

	arena_init(&a, NULL, 0);
	p = arena_zalloc(&a, 64);
	for (i = 0; i < 64; i++)
		assert_int_equal(p[i], 0);
	assert_string_equal(arena_copy(&a, "text", 5), "text");
	assert_null(arena_alloc(&a, SIZE_MAX - 3));
	arena_done(&a);
}

static void errors_say_what_is_known(void **state)
{
	struct err_at e = { 0 };
	char text[600];

	assert_int_equal(err_why(&e, -5, "expected %d", 7), -5);
	assert_string_equal(err_text(&e, text, sizeof(text)), "expected 7");
	err_where(&e, "a.yaml", 3, "cache.entries");
	assert_string_equal(err_text(&e, text, sizeof(text)), "a.yaml:3: cache.entries: expected 7");
	err_where(&e, "a.yaml", 0, NULL);
	assert_string_equal(err_text(&e, text, sizeof(text)), "a.yaml: expected 7");
	assert_int_equal(err_why(NULL, -5, "nobody listens"), -5);
}

#define TEST_COUNTERS(ROW) ROW(test_one, "one") ROW(test_two, "two")
COUNT_ENUM(test_count, TEST_COUNTERS)
static const struct count_row rows[] = { COUNT_ROWS(TEST_COUNTERS) };
static COUNT_SET(set, rows);

static void see(const struct count_row *row, uint64_t value, void *arg)
{
	if (strcmp(row->name, "test_two") == 0)
		*(uint64_t *)arg = value;
}

static void counters_add_up_over_shards(void **state)
{
	struct count_shard *a = count_shard_new(&set), *b = count_shard_new(&set);
	uint64_t seen = 0;

	assert_non_null(a);
	assert_non_null(b);
	count_one(a, COUNT_test_one);
	count_add(a, COUNT_test_two, 5);
	count_add(b, COUNT_test_two, 6);
	assert_int_equal(count_sum(&set, COUNT_test_one), 1);
	assert_int_equal(count_sum(&set, COUNT_test_two), 11);
	count_each(see, &seen);
	assert_int_equal(seen, 11);
}

static void random_numbers_stay_below_and_reach_all(void **state)
{
	unsigned seen[6] = { 0 }, i;

	for (i = 0; i < 600; i++) {
		uint32_t v = random_below(6);

		assert_true(v < 6);
		seen[v]++;
	}
	for (i = 0; i < 6; i++)
		assert_true(seen[i] > 30);
	assert_true(random_u64() != random_u64());
}

static void hash_depends_on_key_and_octets(void **state)
{
	struct hash_key k = { { 1, 2 } }, l = { { 1, 3 } };

	assert_true(hash_octets(&k, "abcdefgh", 8) == hash_octets(&k, "abcdefgh", 8));
	assert_true(hash_octets(&k, "abcdefgh", 8) != hash_octets(&l, "abcdefgh", 8));
	assert_true(hash_octets(&k, "abcdefgh", 8) != hash_octets(&k, "abcdefgi", 8));
	assert_true(hash_octets(&k, "a\0", 2) != hash_octets(&k, "a", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_uses_its_first_block_then_the_heap),
		cmocka_unit_test(arena_clears_when_asked),
		cmocka_unit_test(errors_say_what_is_known),
		cmocka_unit_test(counters_add_up_over_shards),
		cmocka_unit_test(random_numbers_stay_below_and_reach_all),
		cmocka_unit_test(hash_depends_on_key_and_octets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
