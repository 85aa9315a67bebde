/* SPDX-License-Identifier: BSD-2-Clause */
/* test_cache.c - bounds, eviction, expiry, flushing, a model, and many threads at once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "cache/cache.h"
#include "dns/name.h"

#define NOW (1000 * CLOCK_S)

static struct dns_key key_of(const char *name, uint16_t qtype, uint8_t bits)
{
	struct dns_key key = { .qtype = qtype, .bits = bits };
	int len = dns_name_from_text(name, strlen(name), key.name);

	if (len < 0)
		abort();
	key.name_len = (uint16_t)len;
	return key;
}

static struct dns_key numbered(unsigned n)
{
	char name[32];

	snprintf(name, sizeof(name), "n%u.test", n);
	return key_of(name, DNS_A, 0);
}

static void put(struct cache *c, struct dns_key key, uint32_t ttl, uint64_t now_ns)
{
	struct dns_answer *a = dns_answer_empty(&key, DNS_SERVFAIL, DNS_EDE_NONE, ttl, now_ns);

	assert_non_null(a);
	cache_put(c, a, now_ns);
	dns_answer_unref(a);
}

/* Ask; returns how often it was asked for by now, 0: not there. */
static unsigned ask(struct cache *c, struct dns_key key, uint64_t now_ns)
{
	struct dns_answer *a = cache_get(c, &key, now_ns);
	unsigned asked = a ? a->asked : 0;

	dns_answer_unref(a);
	return asked;
}

static struct cache_stats stats(struct cache *c)
{
	struct cache_stats s;

	cache_stats(c, &s);
	return s;
}

static void what_was_put_is_found(void **state)
{
	struct cache *c = cache_new(100, 0);

	put(c, key_of("a.test", DNS_A, 0), 60, NOW);
	assert_int_equal(ask(c, key_of("a.test", DNS_A, 0), NOW), 2);
	assert_int_equal(ask(c, key_of("a.test", DNS_A, 0), NOW), 3);
	assert_int_equal(stats(c).hits, 2);
	assert_int_equal(stats(c).misses, 0);
	assert_int_equal(stats(c).entries, 1);
	cache_free(c);
}

static void name_type_and_bits_are_all_part_of_the_key(void **state)
{
	struct cache *c = cache_new(100, 0);

	put(c, key_of("a.test", DNS_A, 0), 60, NOW);
	assert_int_equal(ask(c, key_of("a.test", DNS_AAAA, 0), NOW), 0);
	assert_int_equal(ask(c, key_of("a.test", DNS_A, DNS_KEY_DO), NOW), 0);
	assert_int_equal(ask(c, key_of("a.test", DNS_A, DNS_KEY_CD), NOW), 0);
	assert_int_equal(ask(c, key_of("b.test", DNS_A, 0), NOW), 0);
	assert_int_equal(ask(c, key_of("test", DNS_A, 0), NOW), 0);
	assert_int_equal(stats(c).misses, 5);
	cache_free(c);
}

static void an_answer_is_given_until_its_ttl_is_over(void **state)
{
	struct cache *c = cache_new(100, 0);

	put(c, numbered(1), 60, NOW);
	assert_int_equal(ask(c, numbered(1), NOW + 60 * CLOCK_S - 1), 2);
	assert_int_equal(stats(c).expired, 0);
	assert_int_equal(ask(c, numbered(1), NOW + 60 * CLOCK_S), 0);
	assert_int_equal(stats(c).expired, 1);
	assert_int_equal(stats(c).entries, 0);
	cache_free(c);
}

static void ttl_0_is_not_kept(void **state)
{
	struct cache *c = cache_new(100, 0);

	put(c, numbered(1), 0, NOW);
	assert_int_equal(stats(c).entries, 0);
	cache_free(c);
}

static void a_newer_answer_takes_the_place_and_the_count(void **state)
{
	struct cache *c = cache_new(100, 0);
	struct dns_key key = numbered(1);
	struct dns_answer *old;

	put(c, key, 60, NOW);
	old = cache_get(c, &key, NOW);
	assert_int_equal(ask(c, key, NOW), 3);
	put(c, key, 90, NOW + CLOCK_S);
	assert_int_equal(stats(c).entries, 1);
	assert_int_equal(ask(c, key, NOW + 61 * CLOCK_S), 4);
	/* who holds the old one keeps it */
	assert_int_equal(old->ttl, 60);
	dns_answer_unref(old);
	cache_free(c);
}

static void putting_the_same_answer_twice_changes_nothing(void **state)
{
	struct cache *c = cache_new(100, 0);
	struct dns_key key = numbered(1);
	struct dns_answer *a = dns_answer_empty(&key, DNS_SERVFAIL, DNS_EDE_NONE, 60, NOW);
	uint64_t bytes;

	cache_put(c, a, NOW);
	bytes = stats(c).bytes;
	cache_put(c, a, NOW);
	assert_int_equal(a->refs, 2);
	assert_int_equal(a->asked, 1);
	assert_int_equal(stats(c).entries, 1);
	assert_int_equal(stats(c).bytes, bytes);
	dns_answer_unref(a);
	cache_free(c);
}

static void a_cache_of_none_keeps_nothing(void **state)
{
	struct cache *c = cache_new(0, 0);

	put(c, numbered(1), 60, NOW);
	assert_int_equal(ask(c, numbered(1), NOW), 0);
	assert_int_equal(stats(c).misses, 1);
	assert_int_equal(stats(c).entries, 0);
	assert_int_equal(cache_flush_all(c), 0);
	assert_int_equal(cache_flush_name(c, (const uint8_t *)"", 1), 0);
	cache_free(c);
	cache_free(NULL);
}

static void a_cache_of_one_keeps_the_last(void **state)
{
	struct cache *c = cache_new(1, 0);

	put(c, numbered(1), 60, NOW);
	put(c, numbered(2), 60, NOW);
	assert_int_equal(ask(c, numbered(1), NOW), 0);
	assert_int_equal(ask(c, numbered(2), NOW), 2);
	assert_int_equal(stats(c).entries, 1);
	assert_int_equal(stats(c).evicted, 1);
	cache_free(c);
}

/* The bound holds for any size, whatever the split into shards; in 20 times as many puts all shards fill. */
static void the_bound_holds_and_is_reached(void **state)
{
	static const size_t sizes[] = { 1, 2, 63, 64, 127, 128, 1000, 5003 };
	unsigned i, n;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct cache *c = cache_new(sizes[i], 0);

		for (n = 0; n < 20 * sizes[i]; n++)
			put(c, numbered(n), 60, NOW);
		assert_int_equal(stats(c).entries, sizes[i]);
		assert_int_equal(stats(c).evicted, 19 * sizes[i]);
		cache_free(c);
	}
}

static void what_is_asked_for_survives_a_flood(void **state)
{
	struct cache *c = cache_new(64, 0);
	unsigned n;

	put(c, key_of("wanted.test", DNS_A, 0), 60, NOW);
	for (n = 0; n < 1000; n++) {
		assert_true(ask(c, key_of("wanted.test", DNS_A, 0), NOW) > 0);
		put(c, numbered(n), 60, NOW);
	}
	assert_true(ask(c, key_of("wanted.test", DNS_A, 0), NOW) > 0);
	cache_free(c);
}

static void the_dead_go_before_the_living(void **state)
{
	struct cache *c = cache_new(50, 0);
	unsigned n;

	for (n = 0; n < 50; n++)
		put(c, numbered(n), n % 2 ? 1 : 60, NOW);
	for (n = 0; n < 50; n++)
		ask(c, numbered(n), NOW);
	/* all are wanted, half are dead by now: 25 may come without one of the living going */
	for (n = 100; n < 125; n++)
		put(c, numbered(n), 60, NOW + 2 * CLOCK_S);
	assert_int_equal(stats(c).evicted, 0);
	assert_int_equal(stats(c).expired, 25);
	for (n = 0; n < 50; n += 2)
		assert_true(ask(c, numbered(n), NOW + 2 * CLOCK_S) > 0);
	cache_free(c);
}

static void flushing_a_name_drops_all_its_types_and_bits_and_no_other(void **state)
{
	struct cache *c = cache_new(4096, 0);
	struct dns_key key = key_of("a.test", DNS_A, 0);
	unsigned n;

	put(c, key, 60, NOW);
	put(c, key_of("a.test", DNS_A, DNS_KEY_DO), 60, NOW);
	put(c, key_of("a.test", DNS_A, DNS_KEY_DO | DNS_KEY_CD), 60, NOW);
	put(c, key_of("a.test", DNS_HTTPS, 0), 60, NOW);
	put(c, key_of("b.a.test", DNS_A, 0), 60, NOW);
	put(c, key_of("test", DNS_A, 0), 60, NOW);
	for (n = 0; n < 500; n++)
		put(c, numbered(n), 60, NOW);
	assert_int_equal(cache_flush_name(c, key.name, key.name_len), 4);
	assert_int_equal(cache_flush_name(c, key.name, key.name_len), 0);
	assert_int_equal(stats(c).entries, 502);
	assert_int_equal(ask(c, key, NOW), 0);
	assert_int_equal(ask(c, key_of("b.a.test", DNS_A, 0), NOW), 2);
	cache_free(c);
}

static void flushing_all_leaves_an_empty_cache_that_works(void **state)
{
	struct cache *c = cache_new(1000, 0);
	uint64_t empty = stats(c).bytes;
	unsigned n;

	for (n = 0; n < 300; n++)
		put(c, numbered(n), 60, NOW);
	assert_true(stats(c).bytes > empty);
	assert_int_equal(cache_flush_all(c), 300);
	assert_int_equal(stats(c).entries, 0);
	assert_int_equal(stats(c).bytes, empty);
	for (n = 0; n < 3000; n++)
		put(c, numbered(n), 60, NOW);
	assert_int_equal(stats(c).entries, 1000);
	cache_free(c);
}

static void a_name_with_many_types_fills_its_own_shard_only(void **state)
{
	struct cache *c = cache_new(6400, 0);	/* 64 shards of 100 */
	unsigned n, left = 0;

	for (n = 0; n < 600; n++)
		put(c, numbered(n), 60, NOW);
	for (n = 1; n < 60000; n++)
		put(c, key_of("a.test", (uint16_t)n, 0), 60, NOW);
	for (n = 0; n < 600; n++)
		left += ask(c, numbered(n), NOW) > 0;
	assert_int_equal(stats(c).entries, 100 + left);
	assert_true(left > 500);
	cache_free(c);
}

static void who_came_first_goes_first_but_for_the_wanted(void **state)
{
	struct cache *c = cache_new(100, 0);
	unsigned n;

	for (n = 0; n < 100; n++)
		put(c, numbered(n), 60, NOW);
	ask(c, numbered(7), NOW);
	for (n = 100; n < 149; n++)
		put(c, numbered(n), 60, NOW);
	assert_int_equal(stats(c).evicted, 49);
	for (n = 0; n < 149; n++)
		assert_int_equal(ask(c, numbered(n), NOW) > 0, n == 7 || n >= 50);
	cache_free(c);
}

static void places_that_came_free_are_used_before_anyone_goes(void **state)
{
	struct cache *c = cache_new(100, 0);
	unsigned n;

	for (n = 0; n < 100; n++)
		put(c, numbered(n), 60, NOW);
	for (n = 20; n < 50; n++)
		cache_flush_name(c, numbered(n).name, numbered(n).name_len);
	for (n = 100; n < 130; n++)
		put(c, numbered(n), 60, NOW);
	assert_int_equal(stats(c).evicted, 0);
	assert_int_equal(stats(c).entries, 100);
	put(c, numbered(130), 60, NOW);
	assert_int_equal(stats(c).evicted, 1);
	assert_int_equal(ask(c, numbered(0), NOW), 0);
	cache_free(c);
}

static void an_a_record_takes_two_lines_and_its_share_of_the_index(void **state)
{
	static const uint8_t record[] = { 0xc0, 12, 0, 1, 0, 1, 0, 1, 0x51, 0x80, 0, 4, 192, 0, 2, 1 };
	struct cache *c = cache_new(10000, 0);
	uint64_t empty = stats(c).bytes;
	struct dns_key key = key_of("www.example.com", DNS_A, 0);
	struct dns_answer *a;

	assert_int_equal(dns_answer_from_body(&key, DNS_NOERROR, record, sizeof(record), 1, 0, NOW, &a), 0);
	cache_put(c, a, NOW);
	dns_answer_unref(a);
	assert_int_equal(stats(c).bytes - empty, 96);
	assert_true(empty <= 10000 * 37 + 16384);
	cache_free(c);
}

/* ---- bounds and floods -------------------------------------------------- */

static void put_result(struct cache *c, struct dns_key key, uint16_t rcode, bool cut, uint32_t ttl, uint64_t now_ns)
{
	struct dns_answer *a = dns_answer_empty(&key, rcode, DNS_EDE_NONE, ttl, now_ns);

	assert_non_null(a);
	a->cut = cut;
	cache_put(c, a, now_ns);
	dns_answer_unref(a);
}

/* 10,000 names that were asked for twice, then 2,000,000 that nobody asks for again: by entries, and by octets. */
static const struct flood_case {
	const char *name;
	size_t entries;
	uint64_t bytes_max;
} floods[] = {
	{ "a flood of unique names leaves the hot set: bounded by entries", 200000, 0 },
	{ "a flood of unique names leaves the hot set: bounded by octets", 10000000, 8 << 20 },
};

#define HOT   10000
#define FLOOD 2000000

static void the_hot_set_survives(void **state)
{
	const struct flood_case *f = *state;
	struct cache *c = cache_new(f->entries, f->bytes_max);
	unsigned n, left = 0, most = 0;
	uint64_t bytes = 0;

	for (n = 0; n < HOT; n++) {
		put(c, numbered(n), 3600, NOW);
		assert_true(ask(c, numbered(n), NOW) > 0);
	}
	for (n = HOT; n < HOT + FLOOD; n++) {
		put(c, numbered(n), 3600, NOW);
		if (n % 100000)
			continue;
		most = stats(c).entries > most ? (unsigned)stats(c).entries : most;
		bytes = stats(c).bytes > bytes ? stats(c).bytes : bytes;
	}
	for (n = 0; n < HOT; n++)
		left += ask(c, numbered(n), NOW) > 0;
	print_message("# %u of %u left; at most %u entries, %llu octets\n", left, HOT, most, (unsigned long long)bytes);
	assert_true(left >= HOT * 95 / 100);
	assert_true(most <= f->entries && (!f->bytes_max || bytes <= f->bytes_max));
	assert_true(most > HOT * 2);		/* the room is used */
	cache_free(c);
}

static void octets_are_bounded_whatever_the_sizes(void **state)
{
	static uint8_t body[30000];
	struct cache *c = cache_new(1000000, 1 << 20);
	struct dns_answer *a;
	unsigned n, at = 0;

	/* TXT records of 255 octets and less, as many as fit */
	for (n = 0; n < 2000; n++) {
		struct dns_key key = numbered(n);
		unsigned count = n * 7 % 100 + 1;

		for (at = 0; at < count * 268; at += 268) {
			memcpy(body + at, "\300\14\0\20\0\1\0\0\16\20\1\0\377", 13);
			memset(body + at + 13, 'x', 255);
		}
		key.qtype = DNS_TXT;
		assert_int_equal(dns_answer_from_body(&key, DNS_NOERROR, body, (uint16_t)at, (uint16_t)count, 0, NOW, &a), 0);
		cache_put(c, a, NOW);
		dns_answer_unref(a);
		assert_true(stats(c).bytes <= 1 << 20);
	}
	assert_true(stats(c).bytes > 1 << 19);
	assert_true(stats(c).evicted > 1000);
	cache_free(c);
}

static void an_answer_bigger_than_its_share_is_refused(void **state)
{
	struct cache *c = cache_new(100, 32768);
	static uint8_t body[60000];
	struct dns_key key = numbered(1);
	struct dns_answer *a;

	put(c, numbered(2), 60, NOW);
	memcpy(body, "\300\14\2\0\0\1\0\0\16\20", 10);	/* TYPE512 */
	body[10] = (sizeof(body) - 12) >> 8;
	body[11] = (sizeof(body) - 12) & 255;
	assert_int_equal(dns_answer_from_body(&key, DNS_NOERROR, body, sizeof(body), 1, 0, NOW, &a), 0);
	cache_put(c, a, NOW);
	dns_answer_unref(a);
	assert_int_equal(stats(c).refused, 1);
	assert_int_equal(stats(c).entries, 1);
	assert_int_equal(ask(c, numbered(2), NOW), 2);
	cache_free(c);
}

static void tables_take_no_more_than_half(void **state)
{
	struct cache *c = cache_new(100000000, 1 << 20);

	assert_true(stats(c).bytes < (1 << 19) + 65536);
	assert_true(stats(c).entries_max > 10000);
	cache_free(c);
}

/* It went, asked for by nobody; it comes back, and then a flood does not move it. */
static void who_comes_back_soon_stays(void **state)
{
	struct cache *c = cache_new(100, 0);
	unsigned n;

	for (n = 0; n < 101; n++)
		put(c, numbered(n), 60, NOW);
	assert_int_equal(ask(c, numbered(0), NOW), 0);
	put(c, numbered(0), 60, NOW);
	for (n = 1000; n < 2000; n++)
		put(c, numbered(n), 60, NOW);
	assert_int_equal(ask(c, numbered(0), NOW), 2);
	cache_free(c);
}

static void what_has_died_among_the_settled_makes_room(void **state)
{
	struct cache *c = cache_new(100, 0);
	unsigned n;

	for (n = 0; n < 80; n++) {
		put(c, numbered(n), 10, NOW);
		ask(c, numbered(n), NOW);
	}
	for (n = 100; n < 200; n++)
		put(c, numbered(n), 60, NOW);		/* those move on */
	for (n = 200; n < 400; n++)
		put(c, numbered(n), 60, NOW + 20 * CLOCK_S);
	for (n = 0; n < 80; n++)
		assert_int_equal(ask(c, numbered(n), NOW), 0);
	assert_int_equal(stats(c).entries, 100);
	cache_free(c);
}

/* ---- cuts --------------------------------------------------------------- */

static struct dns_key above(const char *name, uint8_t bits)
{
	return key_of(name, DNS_A, bits);
}

static unsigned covers(struct cache *c, struct dns_key key, uint64_t now_ns)
{
	struct dns_answer *a = cache_get_above(c, &key, now_ns);
	unsigned len = a ? a->key.name_len : 0;

	dns_answer_unref(a);
	return len;
}

static void a_cut_answers_for_all_types_of_its_name(void **state)
{
	struct cache *c = cache_new(100, 0);

	put_result(c, key_of("x.test", DNS_A, 0), DNS_NXDOMAIN, true, 60, NOW);
	assert_int_equal(ask(c, key_of("x.test", DNS_A, 0), NOW), 2);
	assert_int_equal(ask(c, key_of("x.test", DNS_MX, 0), NOW), 3);
	assert_int_equal(ask(c, key_of("x.test", DNS_MX, DNS_KEY_DO), NOW), 0);
	assert_int_equal(ask(c, key_of("x.test", DNS_A, 0), NOW + 60 * CLOCK_S), 0);
	assert_int_equal(stats(c).entries, 0);
	cache_free(c);
}

static void a_cut_is_found_from_below_the_nearest_first(void **state)
{
	struct cache *c = cache_new(1000, 0);

	assert_int_equal(covers(c, above("a.b.x.test", 0), NOW), 0);
	put_result(c, key_of("x.test", DNS_A, 0), DNS_NXDOMAIN, true, 60, NOW);
	put_result(c, key_of("y.test", DNS_A, 0), DNS_NXDOMAIN, false, 60, NOW);
	assert_int_equal(covers(c, above("a.b.x.test", 0), NOW), 8);
	assert_int_equal(covers(c, above("b.x.test", 0), NOW), 8);
	assert_int_equal(covers(c, above("x.test", 0), NOW), 0);
	assert_int_equal(covers(c, above("test", 0), NOW), 0);
	assert_int_equal(covers(c, above("ax.test", 0), NOW), 0);
	assert_int_equal(covers(c, above("a.y.test", 0), NOW), 0);
	assert_int_equal(covers(c, above("b.x.test", DNS_KEY_CD), NOW), 0);
	put_result(c, key_of("b.x.test", DNS_A, 0), DNS_NXDOMAIN, true, 60, NOW);
	assert_int_equal(covers(c, above("a.b.x.test", 0), NOW), 10);
	put_result(c, key_of("test", DNS_A, 0), DNS_NXDOMAIN, true, 60, NOW);
	assert_int_equal(covers(c, above("z.test", 0), NOW), 6);
	assert_int_equal(covers(c, above(".", 0), NOW), 0);
	assert_int_equal(covers(c, above("a.b.x.test", 0), NOW + 60 * CLOCK_S), 0);
	assert_int_equal(stats(c).covered, 4);
	cache_free(c);
}

static void a_cut_and_other_results_take_each_others_place(void **state)
{
	struct cache *c = cache_new(1000, 0);

	put_result(c, key_of("x.test", DNS_A, 0), DNS_NOERROR, false, 60, NOW);
	put_result(c, key_of("x.test", DNS_MX, 0), DNS_NOERROR, false, 60, NOW);
	put_result(c, key_of("x.test", DNS_A, 0), DNS_NXDOMAIN, true, 60, NOW);
	assert_int_equal(stats(c).entries, 2);		/* the MX is there as long as it lives */
	assert_int_equal(covers(c, above("a.x.test", 0), NOW), 8);
	put_result(c, key_of("x.test", DNS_TXT, 0), DNS_NOERROR, false, 60, NOW);
	assert_int_equal(stats(c).entries, 2);
	assert_int_equal(covers(c, above("a.x.test", 0), NOW), 0);
	assert_int_equal(ask(c, key_of("x.test", DNS_A, 0), NOW), 0);
	cache_free(c);
}

static void a_failure_is_not_put_where_a_result_is(void **state)
{
	struct cache *c = cache_new(1000, 0);
	struct dns_key key = numbered(1);

	put(c, key, 5, NOW);
	assert_false(cache_failed(c, &key, NOW));
	put_result(c, key, DNS_NOERROR, false, 60, NOW);
	put(c, key, 5, NOW + CLOCK_S);
	assert_int_equal(ask(c, key, NOW + 50 * CLOCK_S), 2);
	assert_true(cache_failed(c, &key, NOW + CLOCK_S));
	put(c, key, 5, NOW + 60 * CLOCK_S);
	assert_int_equal(ask(c, key, NOW + 61 * CLOCK_S), 3);
	/* nor where a cut is */
	put_result(c, numbered(2), DNS_NXDOMAIN, true, 60, NOW);
	put(c, numbered(2), 90, NOW);
	assert_int_equal(ask(c, numbered(2), NOW + 61 * CLOCK_S), 0);
	cache_free(c);
}

/* ---- what is stale ------------------------------------------------------ */

static bool is_stale(struct cache *c, struct dns_key key, uint64_t now_ns)
{
	struct dns_answer *a = cache_get_stale(c, &key, now_ns);

	dns_answer_unref(a);
	return a;
}

static void what_is_over_is_kept_as_long_as_told(void **state)
{
	struct cache *c = cache_new(1000, 0);

	cache_keep_stale(c, 100 * CLOCK_S);
	put_result(c, numbered(1), DNS_NOERROR, false, 60, NOW);
	put_result(c, numbered(2), DNS_NXDOMAIN, true, 60, NOW);
	put(c, numbered(3), 60, NOW);
	assert_false(is_stale(c, numbered(1), NOW + 59 * CLOCK_S));
	for (unsigned n = 1; n <= 3; n++)
		assert_int_equal(ask(c, numbered(n), NOW + 60 * CLOCK_S), 0);
	assert_true(is_stale(c, numbered(1), NOW + 60 * CLOCK_S));
	assert_true(is_stale(c, numbered(2), NOW + 60 * CLOCK_S));
	assert_false(is_stale(c, numbered(3), NOW + 60 * CLOCK_S));	/* failures are not */
	assert_true(is_stale(c, numbered(1), NOW + 160 * CLOCK_S - 1));
	assert_false(is_stale(c, numbered(1), NOW + 160 * CLOCK_S));
	assert_int_equal(stats(c).entries, 2);
	assert_int_equal(ask(c, numbered(1), NOW + 160 * CLOCK_S), 0);
	assert_int_equal(stats(c).entries, 1);
	assert_int_equal(covers(c, above("a.n2.test", 0), NOW + 61 * CLOCK_S), 0);
	cache_free(c);
}

static void a_failed_renewal_is_noted_in_the_newest(void **state)
{
	struct cache *c = cache_new(1000, 0);
	struct dns_key key = numbered(1);
	struct dns_answer *a;

	cache_keep_stale(c, 1000 * CLOCK_S);
	put_result(c, key, DNS_NOERROR, false, 10, NOW);
	assert_true(cache_failed(c, &key, NOW + 20 * CLOCK_S));
	a = cache_get_stale(c, &key, NOW + 20 * CLOCK_S);
	assert_int_equal(a->tried_s, 1000 + 20 + 1);
	dns_answer_unref(a);
	/* the name goes; for another type it is known to be gone */
	key.qtype = DNS_AAAA;
	put_result(c, key, DNS_NXDOMAIN, true, 10, NOW + 30 * CLOCK_S);
	key.qtype = DNS_A;
	a = cache_get_stale(c, &key, NOW + 50 * CLOCK_S);
	assert_int_equal(a->rcode, DNS_NXDOMAIN);
	dns_answer_unref(a);
	cache_free(c);
}

static void what_may_be_given_once_ends_what_is_stale(void **state)
{
	struct cache *c = cache_new(1000, 0);

	cache_keep_stale(c, 1000 * CLOCK_S);
	put_result(c, numbered(1), DNS_NOERROR, false, 60, NOW);
	put_result(c, numbered(1), DNS_NOERROR, false, 0, NOW + CLOCK_S);
	assert_int_equal(ask(c, numbered(1), NOW + CLOCK_S), 2);	/* what lives does */
	put_result(c, numbered(1), DNS_NOERROR, false, 0, NOW + 61 * CLOCK_S);
	assert_false(is_stale(c, numbered(1), NOW + 61 * CLOCK_S));
	cache_free(c);
}

/* ---- reading and flushing ----------------------------------------------- */

static void flushing_below_a_name_leaves_what_is_beside(void **state)
{
	static const char *const names[] = { "x.test", "a.x.test", "b.a.x.test", "ax.test", "test", "x.test.org", "." };
	struct cache *c = cache_new(1000, 0);
	struct dns_key key = key_of("x.test", DNS_A, 0);

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put(c, key_of(names[i], DNS_A, 0), 60, NOW);
	put(c, key_of("a.x.test", DNS_MX, DNS_KEY_DO), 60, NOW);
	assert_int_equal(cache_flush_below(c, key.name, key.name_len), 4);
	assert_int_equal(stats(c).entries, 4);
	assert_int_equal(ask(c, key_of("ax.test", DNS_A, 0), NOW), 2);
	assert_int_equal(cache_flush_below(c, (const uint8_t *)"", 1), 4);
	cache_free(c);
}

static void an_empty_cache_answers_nothing_else_either(void **state)
{
	struct cache *c = cache_new(0, 0);
	struct dns_key key = numbered(1);
	struct dns_answer *list[1];

	cache_keep_stale(c, CLOCK_S);
	put_result(c, key, DNS_NXDOMAIN, true, 60, NOW);
	assert_null(cache_get_above(c, &key, NOW));
	assert_null(cache_get_stale(c, &key, NOW));
	assert_false(cache_failed(c, &key, NOW));
	assert_int_equal(cache_flush_below(c, key.name, key.name_len), 0);
	assert_int_equal(cache_list_name(c, key.name, key.name_len, NOW, list, 1), 0);
	cache_free(c);
}

static void all_of_a_name_are_listed(void **state)
{
	struct cache *c = cache_new(1000, 0);
	struct dns_key key = key_of("x.test", DNS_A, 0);
	struct dns_answer *list[4];
	unsigned n;

	put(c, key, 60, NOW);
	put(c, key_of("x.test", DNS_MX, 0), 60, NOW);
	put_result(c, key_of("x.test", DNS_TXT, DNS_KEY_DO), DNS_NXDOMAIN, true, 10, NOW);
	put(c, key_of("a.x.test", DNS_A, 0), 60, NOW);
	n = cache_list_name(c, key.name, key.name_len, NOW, list, 4);
	assert_int_equal(n, 3);
	while (n)
		dns_answer_unref(list[--n]);
	n = cache_list_name(c, key.name, key.name_len, NOW + 10 * CLOCK_S, list, 1);
	assert_int_equal(n, 1);
	dns_answer_unref(list[0]);
	cache_free(c);
}

/* ---- against a model ---------------------------------------------------- */

/*
 * As many names as there is room for, so that nobody is evicted and a list of
 * who dies when says all; in a full index of few buckets many are not where
 * they belong, and who is removed must not hide who went on from there.
 */
static const struct model_case {
	const char *name;
	unsigned size;
	uint32_t ttl_max;
	bool types;			/* the same name, other types: all tags alike */
} models[] = {
	{ "one bucket: all puts, gets and flushes are as a list has them", 3, 20, false },
	{ "two buckets", 7, 20, false },
	{ "four buckets", 15, 40, false },
	{ "a full shard", 127, 300, false },
	{ "a full shard whose entries hardly die", 127, 30000, false },
	{ "a full shard of types of one name", 127, 300, true },
};

static void a_list_agrees(void **state)
{
	const struct model_case *m = *state;
	struct cache *c = cache_new(m->size, 0);
	uint64_t dies[128] = { 0 }, now = NOW;
	uint32_t r = 1, left = 0;

	for (unsigned i = 0; i < 30000; i++, now += CLOCK_S / 4) {
		unsigned n = (r = r * 1664525 + 1013904223) / 65536 % m->size, what = r >> 8 & 7;
		struct dns_key key = m->types ? key_of("a.test", (uint16_t)(1 + n), 0) : numbered(n);

		assert_int_equal(ask(c, key, now) > 0, dies[n] > now);
		if (what < 4) {
			uint32_t ttl = 1 + (r >> 20) % m->ttl_max;

			put(c, key, ttl, now);
			dies[n] = now + ttl * CLOCK_S;
		} else if (what == 7 && !m->types) {
			assert_int_equal(cache_flush_name(c, key.name, key.name_len), dies[n] > now);
			dies[n] = 0;
		}
	}
	for (unsigned n = 0; n < m->size; n++)
		left += dies[n] > now;
	assert_int_equal(stats(c).evicted, 0);
	assert_true(stats(c).entries >= left && stats(c).entries <= m->size);
	cache_flush_all(c);
	assert_int_equal(stats(c).entries, 0);
	cache_free(c);
}

/* ---- asking ahead ------------------------------------------------------- */

/* All of a cache that is full, so that some stand in other buckets than their own; then of none. */
static void asking_ahead_changes_nothing(void **state)
{
	struct cache *c = cache_new(1000, 0), *none = cache_new(0, 0);
	struct cache_stats before, after;

	for (unsigned i = 0; i < 1200; i++)
		put(c, numbered(i), 60, NOW);
	before = stats(c);
	for (unsigned i = 0; i < 1300; i++) {
		struct dns_key key = numbered(i);

		cache_ahead(c, &key, cache_hash(c, &key));
		cache_ahead_answer(c, &key, cache_hash(c, &key));
		cache_ahead(none, &key, cache_hash(none, &key));
		cache_ahead_answer(none, &key, cache_hash(none, &key));
	}
	after = stats(c);
	assert_memory_equal(&before, &after, sizeof(before));
	cache_free(c);
	cache_free(none);
}

static void a_hashed_key_finds_what_the_key_finds(void **state)
{
	struct cache *c = cache_new(1000, 0), *none = cache_new(0, 0);
	unsigned found = 0;

	/* so many that each shard is full, however the names fall */
	for (unsigned i = 0; i < 3000; i++)
		put(c, numbered(i), 60, NOW);
	for (unsigned i = 0; i < 3100; i++) {
		struct dns_key key = numbered(i);
		struct dns_answer *a = cache_get(c, &key, NOW), *b = cache_get_hashed(c, &key, cache_hash(c, &key), NOW);

		assert_ptr_equal(a, b);
		found += a != NULL;
		dns_answer_unref(a);
		dns_answer_unref(b);
		assert_null(cache_get_hashed(none, &key, cache_hash(none, &key), NOW));
	}
	assert_int_equal(found, 1000);
	assert_int_equal(stats(c).hits, 2000);
	assert_int_equal(stats(c).misses, 4200);
	assert_int_equal(stats(none).misses, 3100);
	cache_free(c);
	cache_free(none);
}

/* ---- threads ------------------------------------------------------------ */

#define THREADS 4
#define ROUNDS  20000

struct crowd {
	struct cache *cache;
	unsigned number;
	unsigned wrong;
	unsigned asked;
};

static void *crowd_run(void *arg)
{
	struct crowd *w = arg;
	uint32_t r = 12345 + w->number;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		struct dns_key key;
		struct dns_answer *a;

		r = r * 1664525 + 1013904223;
		key = numbered((r >> 16) % 700);
		cache_ahead(w->cache, &key, cache_hash(w->cache, &key));
		cache_ahead_answer(w->cache, &key, cache_hash(w->cache, &key));
		a = cache_get(w->cache, &key, NOW + i * CLOCK_MS);
		w->asked++;
		if (a && (a->key.name_len != key.name_len || memcmp(a->key.name, key.name, key.name_len)))
			w->wrong++;
		if (!a) {
			a = dns_answer_empty(&key, DNS_SERVFAIL, DNS_EDE_NONE, 3, NOW + i * CLOCK_MS);
			cache_put(w->cache, a, NOW + i * CLOCK_MS);
		}
		if (!(r >> 16 & 1023))
			cache_flush_name(w->cache, key.name, key.name_len);
		if (!(r >> 16 & 8191))
			cache_flush_all(w->cache);
		dns_answer_unref(a);
	}
	return NULL;
}

static void many_threads_see_only_what_they_asked_for(void **state)
{
	struct cache *c = cache_new(512, 0);
	struct crowd crowd[THREADS];
	pthread_t thread[THREADS];
	unsigned i, wrong = 0, asked = 0;
	struct cache_stats s;

	for (i = 0; i < THREADS; i++) {
		crowd[i] = (struct crowd){ .cache = c, .number = i };
		assert_int_equal(pthread_create(&thread[i], NULL, crowd_run, &crowd[i]), 0);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		wrong += crowd[i].wrong;
		asked += crowd[i].asked;
	}
	s = stats(c);
	assert_int_equal(wrong, 0);
	assert_int_equal(s.hits + s.misses, asked);
	assert_true(s.hits > 0 && s.evicted > 0 && s.expired > 0);
	assert_true(s.entries <= 512);
	cache_free(c);
}

#define TEST(f) cmocka_unit_test(f)
#define TESTS   35
#define MODELS  (sizeof(models) / sizeof(models[0]))
#define FLOODS  (sizeof(floods) / sizeof(floods[0]))

int main(void)
{
	struct CMUnitTest tests[TESTS + MODELS + FLOODS] = {
		TEST(what_was_put_is_found),
		TEST(name_type_and_bits_are_all_part_of_the_key),
		TEST(an_answer_is_given_until_its_ttl_is_over),
		TEST(ttl_0_is_not_kept),
		TEST(a_newer_answer_takes_the_place_and_the_count),
		TEST(putting_the_same_answer_twice_changes_nothing),
		TEST(a_cache_of_none_keeps_nothing),
		TEST(a_cache_of_one_keeps_the_last),
		TEST(the_bound_holds_and_is_reached),
		TEST(what_is_asked_for_survives_a_flood),
		TEST(the_dead_go_before_the_living),
		TEST(flushing_a_name_drops_all_its_types_and_bits_and_no_other),
		TEST(flushing_all_leaves_an_empty_cache_that_works),
		TEST(a_name_with_many_types_fills_its_own_shard_only),
		TEST(who_came_first_goes_first_but_for_the_wanted),
		TEST(places_that_came_free_are_used_before_anyone_goes),
		TEST(asking_ahead_changes_nothing),
		TEST(a_hashed_key_finds_what_the_key_finds),
		TEST(an_a_record_takes_two_lines_and_its_share_of_the_index),
		TEST(many_threads_see_only_what_they_asked_for),
		TEST(octets_are_bounded_whatever_the_sizes),
		TEST(an_answer_bigger_than_its_share_is_refused),
		TEST(tables_take_no_more_than_half),
		TEST(who_comes_back_soon_stays),
		TEST(what_has_died_among_the_settled_makes_room),
		TEST(a_cut_answers_for_all_types_of_its_name),
		TEST(a_cut_is_found_from_below_the_nearest_first),
		TEST(a_cut_and_other_results_take_each_others_place),
		TEST(a_failure_is_not_put_where_a_result_is),
		TEST(what_is_over_is_kept_as_long_as_told),
		TEST(a_failed_renewal_is_noted_in_the_newest),
		TEST(what_may_be_given_once_ends_what_is_stale),
		TEST(flushing_below_a_name_leaves_what_is_beside),
		TEST(all_of_a_name_are_listed),
		TEST(an_empty_cache_answers_nothing_else_either),
	};

	for (unsigned i = 0; i < MODELS; i++)
		tests[TESTS + i] = (struct CMUnitTest){ models[i].name, a_list_agrees, NULL, NULL, (void *)&models[i] };
	for (unsigned i = 0; i < FLOODS; i++)
		tests[TESTS + MODELS + i] =
			(struct CMUnitTest){ floods[i].name, the_hot_set_survives, NULL, NULL, (void *)&floods[i] };
	return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
