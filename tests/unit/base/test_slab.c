/* SPDX-License-Identifier: BSD-2-Clause */
/* test_slab.c - objects that do not overlap, regions that come and go, and many threads at once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/slab.h"

#define REGION (2UL << 20)

/* ---- objects of one size ---- */

static const struct size_case {
	const char *name;
	size_t size, takes;
} sizes[] = {
	{ "an object of no octets is one all the same", 0, 32 },
	{ "an object of one octet takes a grain", 1, 32 },
	{ "a whole grain takes no more", 32, 32 },
	{ "one octet more takes two", 33, 64 },
	{ "three grains", 96, 96 },
	{ "objects that do not fill a span evenly", 700, 704 },
	{ "the biggest", 1024, 1024 },
	{ "a bigger one, of the heap", 1025, 1056 },
	{ "a much bigger one, of the heap", 70000, 70016 },
};

/* More than two regions of the biggest; each keeps what was written into it. */
static void objects_do_not_overlap(void **state)
{
	const struct size_case *c = *state;
	struct slab s = SLAB_INIT;
	enum { COUNT = 5000 };
	static uint8_t *p[COUNT];
	size_t size = c->size ? c->size : 1;

	assert_int_equal(slab_size(c->size), c->takes);
	for (unsigned i = 0; i < COUNT; i++) {
		p[i] = slab_alloc(&s, c->size);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % (size > SLAB_MAX ? 16 : SLAB_GRAIN), 0);
		memset(p[i], (int)(i % 251), size);
	}
	for (unsigned i = 0; i < COUNT; i++) {
		assert_int_equal(p[i][0], i % 251);
		assert_int_equal(memcmp(p[i], p[i] + 1, size - 1), 0);
	}
	/* every other one, then as many new ones: no memory is asked for */
	size_t bytes = slab_bytes(&s);
	for (unsigned i = 0; i < COUNT; i += 2)
		slab_free(&s, p[i], c->size);
	for (unsigned i = 0; i < COUNT; i += 2) {
		p[i] = slab_alloc(&s, c->size);
		memset(p[i], 255, size);
	}
	assert_int_equal(slab_bytes(&s), bytes);
	for (unsigned i = 0; i < COUNT; i++) {
		assert_int_equal(p[i][size - 1], i % 2 ? i % 251 : 255);
		slab_free(&s, p[i], c->size);
	}
	assert_int_equal(slab_bytes(&s), size > SLAB_MAX ? 0 : REGION);
}

/* ---- regions ---- */

static void a_region_that_is_empty_goes_back_and_one_stays(void **state)
{
	struct slab s = SLAB_INIT;
	enum { COUNT = 3 * 2048 };	/* of 1 KB: four regions, since each has a span for itself */
	static void *p[COUNT];

	for (unsigned i = 0; i < COUNT; i++)
		p[i] = slab_alloc(&s, 1024);
	assert_int_equal(slab_bytes(&s), 4 * REGION);
	for (unsigned i = 0; i < COUNT - 1; i++)
		slab_free(&s, p[i], 1024);
	/* the one with the last object, and an idle one */
	assert_int_equal(slab_bytes(&s), 2 * REGION);
	slab_free(&s, p[COUNT - 1], 1024);
	assert_int_equal(slab_bytes(&s), REGION);
	slab_free(&s, NULL, 1024);
}

static void spans_change_to_another_size(void **state)
{
	struct slab s = SLAB_INIT;
	enum { COUNT = 2048 - 32 };	/* of 1 KB: a region */
	static void *p[COUNT];

	for (unsigned round = 0; round < 4; round++) {
		size_t size = round % 2 ? 512 : 1024;

		for (unsigned i = 0; i < COUNT; i++)
			p[i] = slab_alloc(&s, size);
		assert_int_equal(slab_bytes(&s), REGION);
		for (unsigned i = 0; i < COUNT; i++)
			slab_free(&s, p[i], size);
	}
}

static void a_table_is_zero_and_aligned_when_it_is_big(void **state)
{
	static const size_t of[] = { 1, 4096, REGION - 1, REGION, REGION + 1, 5 * REGION + 64 };

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		char *p = huge_map(of[i]);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % REGION, 0);
		assert_true(!p[0] && !p[of[i] / 2] && !p[of[i] - 1]);
		p[of[i] - 1] = 1;
		huge_unmap(p, of[i]);
	}
	huge_unmap(NULL, 1);
}

/* ---- threads ---- */

#define THREADS 4
#define ROUNDS  100000
#define PLACES  512

static struct slab shared = SLAB_INIT;
static _Atomic(uint8_t *) place[PLACES];	/* objects; the first two octets are their size, the last one their mark */
static _Atomic unsigned wrong;

static void give_back(uint8_t *p)
{
	uint16_t size;

	if (!p)
		return;
	memcpy(&size, p, 2);
	if (p[size - 1] != (uint8_t)(size * 7))
		wrong++;
	slab_free(&shared, p, size);
}

/* Put a new object in place of another one, which mostly another thread made. */
static void *trade(void *arg)
{
	uint32_t r = 12345 + *(unsigned *)arg;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint16_t size;
		uint8_t *p;

		r = r * 1664525 + 1013904223;
		size = (uint16_t)(3 + (r >> 16) % SLAB_MAX);
		p = slab_alloc(&shared, size);
		memcpy(p, &size, 2);
		p[size - 1] = (uint8_t)(size * 7);
		give_back(atomic_exchange(&place[(r >> 8) % PLACES], p));
	}
	return NULL;
}

static void threads_free_what_others_took(void **state)
{
	pthread_t thread[THREADS];
	unsigned number[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		number[i] = i;
		assert_int_equal(pthread_create(&thread[i], NULL, trade, &number[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < PLACES; i++)
		give_back(atomic_exchange(&place[i], NULL));
	assert_int_equal(wrong, 0);
	assert_int_equal(slab_bytes(&shared), REGION);
}

#define TEST(f) { #f, f, NULL, NULL, NULL }
#define SIZES   (sizeof(sizes) / sizeof(sizes[0]))

int main(void)
{
	struct CMUnitTest tests[SIZES + 4] = {
		[SIZES] = TEST(a_region_that_is_empty_goes_back_and_one_stays),
		TEST(spans_change_to_another_size),
		TEST(a_table_is_zero_and_aligned_when_it_is_big),
		TEST(threads_free_what_others_took),
	};

	for (unsigned i = 0; i < SIZES; i++)
		tests[i] = (struct CMUnitTest){ sizes[i].name, objects_do_not_overlap, NULL, NULL, (void *)&sizes[i] };
	return cmocka_run_group_tests_name("slab", tests, NULL, NULL);
}
