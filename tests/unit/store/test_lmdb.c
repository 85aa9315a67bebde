/* SPDX-License-Identifier: BSD-2-Clause */
/* test_lmdb.c - the durable cache: what comes back, what does not, its bounds, and what is done to its file. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "dns/name.h"
#include "store/lmdb.h"
#include "store/lmdb_check.h"
#include "unit/store/rig.h"

#define MIB (1U << 20)

/* One life of the daemon. */
struct life {
	struct cache *cache;
	struct lmdb *lmdb;
};

static struct lmdb_opts defaults(void)
{
	return (struct lmdb_opts){ .path = path, .sync = LMDB_SYNC_PERIODIC, .sync_interval_ms = 1000, .max_bytes = 16 * MIB };
}

static struct life begin_with(struct lmdb_opts o, size_t entries)
{
	struct life l = { .cache = cache_new(entries, 0) };
	struct cache_backend b;

	o.cache = l.cache;
	assert_int_equal(lmdb_start(&o, &l.lmdb), 0);
	b = lmdb_backend(l.lmdb);
	cache_set_backend(l.cache, &b);
	assert_true(lmdb_wait_loaded(l.lmdb, 20000));
	return l;
}

static struct life begin(void)
{
	return begin_with(defaults(), 100000);
}

static void end(struct life *l)
{
	lmdb_stop(l->lmdb);
	cache_free(l->cache);
}

static struct lmdb_status status_of(const struct life *l)
{
	struct lmdb_status s;

	lmdb_status(l->lmdb, &s);
	return s;
}

static struct dns_key key_of(const char *name, uint16_t qtype)
{
	struct dns_key key = { .qtype = qtype };
	int len = dns_name_from_text(name, strlen(name), key.name);

	assert_true(len > 0);
	key.name_len = (uint16_t)len;
	return key;
}

static struct dns_key numbered(unsigned n)
{
	char name[64];

	snprintf(name, sizeof(name), "n%u.test", n);
	return key_of(name, DNS_A);
}

/* An A record of 192.0.2.@last, @age_s old. */
static void put(struct life *l, struct dns_key key, uint32_t ttl, uint8_t last, uint32_t age_s)
{
	uint8_t body[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 192, 0, 2, last };
	uint64_t now = clock_coarse_ns();
	struct dns_answer *a;

	for (int i = 0; i < 4; i++)
		body[6 + i] = (uint8_t)(ttl >> (24 - 8 * i));
	assert_int_equal(dns_answer_from_body(&key, DNS_NOERROR, body, sizeof(body), 1, 0, now - age_s * CLOCK_S, &a), 0);
	cache_put(l->cache, a, now);
	dns_answer_unref(a);
}

/* The last octet of the address that is cached; -1: nothing. */
static int get(struct life *l, struct dns_key key)
{
	struct dns_answer *a = cache_get(l->cache, &key, clock_coarse_ns());
	int last = a ? a->body[a->body_len - 1] : -1;

	dns_answer_unref(a);
	return last;
}

static unsigned count_kept(struct life *l, unsigned from, unsigned to)
{
	unsigned n = 0;

	for (; from < to; from++)
		n += get(l, numbered(from)) >= 0;
	return n;
}

/* ---- a restart ---- */

static void an_answer_is_there_after_a_restart(void **state)
{
	struct life l = begin();
	struct dns_answer *a;
	struct dns_key key = numbered(1);

	put(&l, key, 300, 7, 100);
	end(&l);
	l = begin();
	a = cache_peek(l.cache, &key, clock_coarse_ns());
	assert_non_null(a);
	assert_int_equal(a->ttl, 300);
	assert_in_range(dns_answer_age(a, clock_coarse_ns()), 100, 102);
	assert_int_equal(a->body[a->body_len - 1], 7);
	assert_int_equal(a->ttls, 1);
	assert_int_equal(status_of(&l).loaded, 1);
	dns_answer_unref(a);
	end(&l);
}

static void all_kinds_of_answers_come_back_as_they_were(void **state)
{
	static const uint8_t soa[] = { 0xc0, 12, 0, 6, 0, 1, 0, 0, 0, 60, 0, 22, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1,
				       0, 0, 0, 1, 0, 0, 0, 60 };
	static const uint8_t cname[] = { 0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 4, 1, 'b', 0xc0, 14 };
	struct life l = begin();
	struct dns_key no = key_of("no.test", DNS_A), alias = key_of("a.test", DNS_A);
	uint64_t now = clock_coarse_ns();
	struct dns_answer *a, *b;

	assert_int_equal(dns_answer_from_body(&no, DNS_NXDOMAIN, soa, sizeof(soa), 0, 1, now, &a), 0);
	cache_put(l.cache, a, now);
	alias.bits = DNS_KEY_DO;
	assert_int_equal(dns_answer_from_body(&alias, DNS_NOERROR, cname, sizeof(cname), 1, 0, now, &b), 0);
	b->ad = true;
	b->ede = 3;
	cache_put(l.cache, b, now);
	dns_answer_unref(a);
	dns_answer_unref(b);
	end(&l);
	l = begin();
	a = cache_peek(l.cache, &no, now);
	b = cache_peek(l.cache, &alias, now);
	assert_true(a && a->negative && a->rcode == DNS_NXDOMAIN && a->authorities == 1 && !a->chain && !a->ad);
	assert_true(b && b->chain && b->ad && b->ede == 3 && b->answers == 1);
	assert_memory_equal(b->body, cname, sizeof(cname));
	dns_answer_unref(a);
	dns_answer_unref(b);
	end(&l);
}

static void failures_are_not_written(void **state)
{
	struct life l = begin();
	struct dns_key key = numbered(1);
	struct dns_answer *a = dns_answer_empty(&key, DNS_SERVFAIL, DNS_EDE_NONE, 60, clock_coarse_ns());

	cache_put(l.cache, a, clock_coarse_ns());
	dns_answer_unref(a);
	end(&l);
	l = begin();
	assert_int_equal(status_of(&l).loaded, 0);
	end(&l);
}

static void what_died_meanwhile_does_not_come_back(void **state)
{
	struct life l = begin();

	put(&l, numbered(1), 101, 1, 100);
	put(&l, numbered(2), 300, 2, 100);
	end(&l);
	usleep(1100000);
	l = begin();
	assert_int_equal(get(&l, numbered(1)), -1);
	assert_int_equal(get(&l, numbered(2)), 2);
	assert_int_equal(status_of(&l).loaded, 1);
	end(&l);
}

/* Though the older one, by its own time, would still be alive. */
static void an_answer_whose_successor_died_does_not_come_back(void **state)
{
	struct life l = begin();

	put(&l, numbered(1), 3000, 1, 100);
	usleep(150000);
	put(&l, numbered(1), 101, 2, 100);
	end(&l);
	usleep(1100000);
	l = begin();
	assert_int_equal(get(&l, numbered(1)), -1);
	end(&l);
}

static void the_youngest_of_many_to_one_key_comes_back(void **state)
{
	struct life l = begin();

	for (uint8_t i = 1; i < 50; i++)
		put(&l, numbered(1), 300, i, 0);
	usleep(150000);
	for (uint8_t i = 50; i < 100; i++)
		put(&l, numbered(1), 300, i, 0);
	end(&l);
	l = begin();
	assert_int_equal(get(&l, numbered(1)), 99);
	end(&l);
}

static void what_is_in_memory_already_stays(void **state)
{
	struct life l = begin();
	struct lmdb_opts o = defaults();
	struct dns_key key = numbered(1);

	put(&l, key, 300, 1, 0);
	end(&l);
	l.cache = cache_new(100, 0);
	o.cache = l.cache;
	put(&l, key, 300, 2, 0);
	assert_int_equal(lmdb_start(&o, &l.lmdb), 0);
	assert_true(lmdb_wait_loaded(l.lmdb, 20000));
	assert_int_equal(get(&l, key), 2);
	end(&l);
}

static void reading_back_ends_when_memory_is_full(void **state)
{
	struct cache_stats st;
	struct life l = begin();

	for (unsigned i = 0; i < 2000; i++)
		put(&l, numbered(i), 300, 1, 0);
	end(&l);
	l = begin_with(defaults(), 64);
	cache_stats(l.cache, &st);
	assert_int_equal(st.entries, 64);
	assert_int_equal(st.evicted, 0);
	/* the youngest */
	assert_int_equal(count_kept(&l, 1936, 2000), 64);
	end(&l);
}

/* ---- stale answers, cuts, signed ones ---- */

static struct life begin_stale(uint64_t stale_s)
{
	struct lmdb_opts o = defaults();
	struct life l = { .cache = cache_new(1000, 0) };
	struct cache_backend b;

	o.cache = l.cache;
	o.stale_s = stale_s;
	cache_keep_stale(l.cache, stale_s * CLOCK_S);
	assert_int_equal(lmdb_start(&o, &l.lmdb), 0);
	b = lmdb_backend(l.lmdb);
	cache_set_backend(l.cache, &b);
	assert_true(lmdb_wait_loaded(l.lmdb, 20000));
	return l;
}

static void a_stale_answer_comes_back_while_it_may_be_given(void **state)
{
	struct life l = begin_stale(1000);
	struct dns_key key = numbered(1);
	struct dns_answer *a;

	put(&l, key, 101, 7, 100);
	put(&l, numbered(2), 300, 2, 0);
	end(&l);
	usleep(1100000);
	l = begin_stale(1000);
	assert_int_equal(get(&l, key), -1);
	a = cache_get_stale(l.cache, &key, clock_coarse_ns());
	assert_non_null(a);
	assert_int_equal(a->body[a->body_len - 1], 7);
	dns_answer_unref(a);
	end(&l);
	l = begin_stale(0);
	assert_int_equal(status_of(&l).loaded, 1);
	assert_null(cache_get_stale(l.cache, &key, clock_coarse_ns()));
	end(&l);
}

/* NXDOMAIN, for all that is at the name and below it. */
static void put_cut(struct life *l, struct dns_key key, uint32_t age_s)
{
	static const uint8_t soa[] = { 0xc0, 12, 0, 6, 0, 1, 0, 0, 0, 101, 0, 22, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1,
				       0, 0, 0, 1, 0, 0, 0, 101 };
	uint64_t now = clock_coarse_ns();
	struct dns_answer *a;

	assert_int_equal(dns_answer_from_body(&key, DNS_NXDOMAIN, soa, sizeof(soa), 0, 1, now - age_s * CLOCK_S, &a), 0);
	a->cut = true;
	cache_put(l->cache, a, now);
	dns_answer_unref(a);
}

/* Is a question answered by a cut: of its name, or of one above? */
static bool is_cut_off(struct life *l, struct dns_key key)
{
	uint64_t now = clock_coarse_ns();
	struct dns_answer *a = cache_get(l->cache, &key, now);
	bool off;

	if (!a)
		a = cache_get_above(l->cache, &key, now);
	off = a && a->cut;
	dns_answer_unref(a);
	return off;
}

static void a_cut_comes_back_as_one(void **state)
{
	struct dns_key key = key_of("cut.test", DNS_A);
	struct lmdb_opts o = defaults();
	struct life l = begin();

	put_cut(&l, key, 0);
	end(&l);
	l = begin();
	assert_true(is_cut_off(&l, key));
	assert_true(is_cut_off(&l, key_of("cut.test", DNS_AAAA)));
	assert_true(is_cut_off(&l, key_of("www.cut.test", DNS_A)));
	end(&l);
	o.no_cuts = true;
	l = begin_with(o, 1000);
	assert_int_equal(status_of(&l).loaded, 1);
	assert_int_equal(get(&l, key), 101);
	assert_int_equal(get(&l, key_of("cut.test", DNS_AAAA)), -1);
	assert_false(is_cut_off(&l, key_of("www.cut.test", DNS_A)));
	end(&l);
}

/* In one group or in two; each to another type than the cut was asked for. */
static void a_cut_of_a_name_that_was_there_later_does_not_come_back(void **state)
{
	struct dns_key key = key_of("made.test", DNS_AAAA), key2 = key_of("made2.test", DNS_AAAA);
	struct life l = begin();

	put_cut(&l, key, 0);
	put_cut(&l, key2, 0);
	put(&l, key_of("made.test", DNS_A), 300, 1, 0);
	usleep(250000);
	put(&l, key_of("made2.test", DNS_A), 300, 2, 0);
	end(&l);
	l = begin();
	assert_int_equal(get(&l, key_of("made.test", DNS_A)), 1);
	assert_int_equal(get(&l, key_of("made2.test", DNS_A)), 2);
	assert_false(is_cut_off(&l, key));
	assert_false(is_cut_off(&l, key2));
	assert_false(is_cut_off(&l, key_of("www.made.test", DNS_A)));
	end(&l);
}

static void what_a_cut_took_the_place_of_does_not_come_back(void **state)
{
	struct dns_key key = key_of("gone.test", DNS_A), dead = key_of("dead.test", DNS_A);
	struct life l = begin();

	put(&l, key, 300, 1, 0);
	put(&l, key_of("gone.test", DNS_AAAA), 300, 1, 0);
	put(&l, dead, 300, 1, 0);
	put_cut(&l, key, 0);
	put_cut(&l, dead, 100);		/* it ends before it is read back */
	end(&l);
	usleep(1100000);
	l = begin();
	assert_true(is_cut_off(&l, key));
	assert_true(is_cut_off(&l, key_of("gone.test", DNS_AAAA)));
	assert_int_equal(get(&l, dead), -1);
	end(&l);
}

static void a_cut_in_memory_keeps_what_is_read_back_away(void **state)
{
	struct dns_key key = key_of("gone.test", DNS_A);
	struct lmdb_opts o = defaults();
	struct life l = begin();

	put(&l, key, 300, 1, 0);
	end(&l);
	l.cache = o.cache = cache_new(100, 0);
	put_cut(&l, key_of("gone.test", DNS_AAAA), 0);
	assert_int_equal(lmdb_start(&o, &l.lmdb), 0);
	assert_true(lmdb_wait_loaded(l.lmdb, 20000));
	assert_true(is_cut_off(&l, key));
	end(&l);
}

static void a_signed_answer_comes_back_whole(void **state)
{
	static const uint8_t body[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1,
					0xc0, 12, 0, 46, 0, 1, 0, 0, 0, 60, 0, 20, 0, 1, 13, 1, 0, 0, 0, 60,
					0, 0, 0, 2, 0, 0, 0, 1, 0, 7, 0, 9 };
	struct dns_key key = key_of("s.test", DNS_A);
	struct life l = begin();
	uint64_t now = clock_coarse_ns();
	struct dns_answer *a, *plain;

	assert_int_equal(dns_answer_from_body(&key, DNS_NOERROR, body, sizeof(body), 2, 0, now, &a), 0);
	assert_true(a->dnssec);
	cache_put(l.cache, a, now);
	dns_answer_unref(a);
	end(&l);
	l = begin();
	a = cache_peek(l.cache, &key, now);
	assert_true(a && a->dnssec && a->answers == 2);
	assert_int_equal(a->body_len, sizeof(body));
	assert_memory_equal(a->body, body, sizeof(body));
	assert_int_equal(dns_answer_form(a, 0, &plain), 0);
	assert_int_equal(plain->answers, 1);
	dns_answer_unref(plain);
	dns_answer_unref(a);
	end(&l);
}

static void reading_back_ends_when_memory_has_no_octets_left(void **state)
{
	struct life l = begin();
	struct cache_stats st;
	struct lmdb_opts o = defaults();

	for (unsigned i = 0; i < 5000; i++)
		put(&l, numbered(i), 300, 1, 0);
	end(&l);
	l.cache = o.cache = cache_new(100000, 256 * 1024);
	assert_int_equal(lmdb_start(&o, &l.lmdb), 0);
	assert_true(lmdb_wait_loaded(l.lmdb, 20000));
	cache_stats(l.cache, &st);
	assert_in_range(st.entries, 500, 4000);
	assert_true(st.entries < st.entries_max);
	assert_in_range(st.bytes, 200 * 1024, 256 * 1024);
	assert_int_equal(st.evicted, 0);
	end(&l);
}

static void big_answers_come_back(void **state)
{
	struct dns_key key = key_of("big.test", 16);
	struct life l = begin();
	uint8_t *body = calloc(1, 60000);
	struct dns_answer *a;
	size_t n = 0;

	for (unsigned i = 0; i < 200; i++) {
		static const uint8_t txt[] = { 0xc0, 12, 0, 16, 0, 1, 0, 0, 1, 44, 1, 0, 255 };

		memcpy(body + n, txt, sizeof(txt));
		memset(body + n + sizeof(txt), 'a' + (int)(i % 26), 255);
		n += sizeof(txt) + 255;
	}
	assert_int_equal(dns_answer_from_body(&key, DNS_NOERROR, body, (uint16_t)n, 200, 0, clock_coarse_ns(), &a), 0);
	cache_put(l.cache, a, clock_coarse_ns());
	dns_answer_unref(a);
	end(&l);
	l = begin();
	a = cache_peek(l.cache, &key, clock_coarse_ns());
	assert_non_null(a);
	assert_int_equal(a->body_len, n);
	assert_memory_equal(a->body, body, n);
	dns_answer_unref(a);
	free(body);
	end(&l);
}

/* ---- flushing ---- */

struct flush_case {
	const char *sentence;
	const char *name;		/* NULL: all */
	bool below;
	const char *stays;		/* of a.test b.a.test c.b.a.test xa.test test */
};

static const struct flush_case flush_cases[] = {
	{ "a name is flushed alone", "a.test", false, "b.a.test c.b.a.test xa.test test" },
	{ "a name is flushed with what is below", "a.test", true, "xa.test test" },
	{ "a suffix without an answer of its own is flushed", "b.a.test", true, "a.test xa.test test" },
	{ "a name that is not there takes nothing along", "z.test", true, "a.test b.a.test c.b.a.test xa.test test" },
	{ "the root takes all below", ".", true, "" },
	{ "all is flushed", NULL, false, "" },
};

static struct dns_key filler(unsigned n)
{
	char name[64];

	snprintf(name, sizeof(name), "n%u.filler.example", n);
	return key_of(name, DNS_A);
}

static void flushed_names_do_not_come_back(void **state)
{
	static const char *const names[] = { "a.test", "b.a.test", "c.b.a.test", "xa.test", "test" };
	const struct flush_case *t = *state;
	struct dns_key key = t->name ? key_of(t->name, DNS_A) : (struct dns_key){ 0 };
	char stays[128] = "";
	struct life l;
	uint64_t found;
	unsigned i, gone = 0;

	assert_int_equal(make_folder(NULL), 0);
	l = begin();
	for (i = 0; i < COUNT(names); i++)
		put(&l, key_of(names[i], DNS_A), 300, 1, 0);
	for (i = 0; i < 3000; i++)
		put(&l, filler(i), 300, 1, 0);
	/* at once: what waits is flushed too */
	assert_int_equal(lmdb_flush(l.lmdb, t->name ? key.name : NULL, key.name_len, t->below, &found), 0);
	end(&l);
	l = begin();
	for (i = 0; i < COUNT(names); i++) {
		if (get(&l, key_of(names[i], DNS_A)) < 0) {
			gone++;
			continue;
		}
		strcat(stays, *stays ? " " : "");
		strcat(stays, names[i]);
	}
	assert_string_equal(stays, t->stays);
	if (t->name && strcmp(t->name, "."))
		assert_int_equal(found, gone);
	else
		assert_int_equal(found, 3005);
	end(&l);
	remove_folder(NULL);
}

static void after_a_flush_it_takes_answers_again(void **state)
{
	struct life l = begin();
	uint64_t found;

	put(&l, numbered(1), 300, 1, 0);
	assert_int_equal(lmdb_flush(l.lmdb, NULL, 0, false, &found), 0);
	put(&l, numbered(2), 300, 2, 0);
	end(&l);
	l = begin();
	assert_int_equal(get(&l, numbered(1)), -1);
	assert_int_equal(get(&l, numbered(2)), 2);
	end(&l);
}

/* ---- many threads ---- */

struct putter {
	struct life *life;
	unsigned from;
};

static void *put_many(void *arg)
{
	const struct putter *p = arg;

	for (unsigned i = 0; i < 3000; i++) {
		put(p->life, numbered(p->from + i), 300, 1, 0);
		get(p->life, numbered(p->from + i / 2));
	}
	return NULL;
}

static void many_threads_put_while_another_flushes(void **state)
{
	struct life l = begin();
	struct putter p[4];
	pthread_t thread[COUNT(p)];
	uint64_t found;
	unsigned i;

	for (i = 0; i < COUNT(p); i++) {
		p[i] = (struct putter){ &l, i * 10000 };
		assert_int_equal(pthread_create(&thread[i], NULL, put_many, &p[i]), 0);
	}
	for (i = 0; i < 5; i++) {
		struct dns_key key = numbered(100000);

		put(&l, key, 300, 1, 0);
		assert_int_equal(lmdb_flush(l.lmdb, key.name, key.name_len, true, &found), 0);
		assert_int_equal(found, 1);
		status_of(&l);
	}
	for (i = 0; i < COUNT(p); i++)
		pthread_join(thread[i], NULL);
	end(&l);
	l = begin();
	for (i = 0; i < COUNT(p); i++)
		assert_int_equal(count_kept(&l, i * 10000, i * 10000 + 3000), 3000);
	assert_int_equal(get(&l, numbered(100000)), -1);
	end(&l);
}

/* ---- bounds ---- */

static off_t file_size(void)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

static void the_file_never_grows_over_its_bound(void **state)
{
	struct lmdb_opts o = defaults();
	struct life l;
	unsigned i, n;

	o.max_bytes = MIB;
	l = begin_with(o, 1000);
	for (n = 0; n < 40; n++) {
		for (i = 0; i < 2000; i++)
			put(&l, numbered(n * 2000 + i), 300, 1, 0);
		usleep(20000);
	}
	end(&l);
	assert_in_range(file_size(), MIB / 2, MIB);
	l = begin_with(o, 100000);
	assert_string_equal(status_of(&l).why, "");
	assert_string_equal(status_of(&l).note, "");
	assert_true(status_of(&l).loaded > 3000);
	/* what came last is there */
	assert_int_equal(count_kept(&l, 79000, 80000), 1000);
	end(&l);
}

static void a_name_in_use_stays_while_others_pass_through(void **state)
{
	struct dns_key cut = key_of("cut.test", DNS_A);
	struct lmdb_opts o = defaults();
	struct life l;
	unsigned i, n;

	o.max_bytes = MIB;
	l = begin_with(o, 4000);
	for (i = 0; i < 100; i++)
		put(&l, numbered(i), 3000, 5, 0);
	put_cut(&l, cut, 0);
	for (n = 0; n < 40; n++) {
		for (i = 0; i < 100; i++)
			assert_int_equal(get(&l, numbered(i)), 5);
		assert_true(is_cut_off(&l, cut));
		for (i = 0; i < 800; i++)
			put(&l, numbered(1000 + n * 800 + i), 300, 1, 0);
		usleep(130000);
	}
	end(&l);
	l = begin_with(o, 100000);
	assert_true(status_of(&l).loaded < 30000);
	assert_int_equal(count_kept(&l, 0, 100), 100);
	assert_true(is_cut_off(&l, cut));
	end(&l);
}

static void a_file_over_a_smaller_bound_is_begun_anew(void **state)
{
	struct lmdb_opts o = defaults();
	struct life l = begin();

	for (unsigned i = 0; i < 30000; i++)
		put(&l, numbered(i), 300, 1, 0);
	end(&l);
	assert_true(file_size() > (off_t)MIB);
	o.max_bytes = MIB;
	l = begin_with(o, 1000);
	assert_non_null(strstr(status_of(&l).note, "bigger than it may be"));
	put(&l, numbered(1), 300, 1, 0);
	end(&l);
	assert_true(file_size() <= (off_t)MIB);
}

static void dead_answers_are_swept(void **state)
{
	struct life l = begin();
	uint64_t full;

	for (unsigned i = 0; i < 2000; i++)
		put(&l, numbered(i), 102, 1, 100);
	usleep(500000);
	full = status_of(&l).bytes;
	assert_true(full > 100000);
	usleep(3500000);
	put(&l, numbered(5000), 300, 1, 0);
	usleep(300000);
	assert_true(status_of(&l).bytes < full / 4);
	end(&l);
}

/* ---- what is done to the file ---- */

static void write_at(const char *file, off_t at, const void *bytes, size_t size)
{
	int fd = open(file, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, size, at), (ssize_t)size);
	close(fd);
}

static void fill(void)
{
	struct life l = begin();

	for (unsigned i = 0; i < 20000; i++)
		put(&l, numbered(i), 3000, 1, 0);
	usleep(300000);
	for (unsigned i = 0; i < 100; i++)
		put(&l, numbered(i), 3000, 2, 0);
	end(&l);
}

static void is_a_text(void)
{
	write_at(path, 0, "this is a text, as somebody may have written it there by mistake", 64);
}

static void is_cut_in_half(void)
{
	fill();
	assert_int_equal(truncate(path, file_size() / 2), 0);
}

static void is_cut_to_less_than_its_metas(void)
{
	fill();
	assert_int_equal(truncate(path, 5000), 0);
}

static void has_zeroes_in_the_middle(void)
{
	static const char zero[65536];

	fill();
	write_at(path, 10 * 4096, zero, sizeof(zero));
}

static void has_junk_in_every_tenth_page(void)
{
	char junk[4096];

	fill();
	memset(junk, 0xa5, sizeof(junk));
	for (off_t at = 20 * 4096; at < file_size(); at += 10 * 4096)
		write_at(path, at, junk, sizeof(junk));
}

static void has_pages_in_each_others_place(void)
{
	char page[4096];
	int fd;

	fill();
	fd = open(path, O_RDWR);
	for (off_t at = 8; at < 40; at++) {
		assert_int_equal(pread(fd, page, sizeof(page), at * 4096), 4096);
		assert_int_equal(pwrite(fd, page, sizeof(page), (at + 1) * 4096), 4096);
	}
	close(fd);
}

struct damage_case {
	const char *sentence;
	void (*make)(void);
	const char *aside;		/* the old file's new name */
};

static const struct damage_case damage_cases[] = {
	{ "a text goes aside as foreign", is_a_text, ".foreign" },
	{ "a file cut in half goes aside as damaged", is_cut_in_half, ".damaged" },
	{ "a file cut to less than its head goes aside", is_cut_to_less_than_its_metas, ".damaged" },
	{ "a file with a hole goes aside as damaged", has_zeroes_in_the_middle, ".damaged" },
	{ "a file with junk in it goes aside as damaged", has_junk_in_every_tenth_page, ".damaged" },
	{ "a file with old pages in it goes aside as damaged", has_pages_in_each_others_place, ".damaged" },
};

static void it_begins_anew_beside(void **state)
{
	const struct damage_case *t = *state;
	char aside[160];
	struct life l;

	assert_int_equal(make_folder(NULL), 0);
	t->make();
	l = begin();
	assert_string_equal(status_of(&l).why, "");
	assert_non_null(strstr(status_of(&l).note, t->aside));
	assert_int_equal(status_of(&l).loaded, 0);
	snprintf(aside, sizeof(aside), "%s%s", path, t->aside);
	assert_int_equal(access(aside, F_OK), 0);
	put(&l, numbered(1), 300, 1, 0);
	end(&l);
	l = begin();
	assert_string_equal(status_of(&l).note, "");
	assert_int_equal(get(&l, numbered(1)), 1);
	end(&l);
	remove_folder(NULL);
}

/* Every octet of the pages' heads in turn: taken or refused, but never the end of us. */
static void no_octet_of_a_page_head_can_end_the_process(void **state)
{
	uint8_t was[64], now[64];
	struct err_at at;
	unsigned page, i, refused = 0;
	int fd, err;

	fill();
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(lmdb_check(fd, &at), 0);
	for (page = 0; page < 24; page++) {
		assert_int_equal(pread(fd, was, sizeof(was), page * 4096), sizeof(was));
		for (i = 0; i < sizeof(was); i++) {
			memcpy(now, was, sizeof(now));
			now[i] ^= 0xff;
			assert_int_equal(pwrite(fd, now, sizeof(now), page * 4096), sizeof(now));
			err = lmdb_check(fd, &at);
			assert_true(err == 0 || err == -EBADMSG || err == -EPROTONOSUPPORT);
			refused += err != 0;
		}
		assert_int_equal(pwrite(fd, was, sizeof(was), page * 4096), sizeof(was));
	}
	assert_true(refused > 100);
	assert_int_equal(lmdb_check(fd, &at), 0);
	close(fd);
}

static void another_process_keeps_its_file(void **state)
{
	struct life l;
	int fd;

	fill();
	fd = open(path, O_RDWR);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	l = begin();
	assert_false(status_of(&l).open);
	assert_non_null(strstr(status_of(&l).why, "another process uses it"));
	put(&l, numbered(1), 300, 1, 0);
	assert_int_equal(get(&l, numbered(1)), 1);
	end(&l);
	close(fd);
	l = begin();
	assert_int_equal(status_of(&l).loaded, 20000);
	end(&l);
}

static void a_folder_that_is_not_there_is_told(void **state)
{
	struct lmdb_opts o = defaults();
	char nowhere[160];
	uint64_t found;
	struct life l;

	snprintf(nowhere, sizeof(nowhere), "%s/no/cache.lmdb", folder);
	o.path = nowhere;
	l = begin_with(o, 100);
	assert_false(status_of(&l).open);
	assert_non_null(strstr(status_of(&l).why, nowhere));
	assert_int_equal(lmdb_flush(l.lmdb, NULL, 0, false, &found), -EIO);
	end(&l);
}

/* ---- sudden death ---- */

static const char *const sync_names[] = { "full", "no_meta", "periodic", "none" };

/* The child churns until it is killed; the parent says when. */
static void churn_until_killed(enum lmdb_sync sync)
{
	struct lmdb_opts o = defaults();
	struct life l;

	o.sync = sync;
	o.sync_interval_ms = 50;
	o.max_bytes = 2 * MIB;
	l = begin_with(o, 5000);
	for (unsigned i = 0; i < 100; i++)
		put(&l, numbered(i), 3000, 9, 0);
	for (unsigned i = 1000;; i++) {
		put(&l, numbered(i), 3000, 1, 0);
		if (i % 50 == 0) {
			for (unsigned hot = 0; hot < 100; hot++)
				get(&l, numbered(hot));
			usleep(500);
		}
	}
}

static void kill_in_churn_leaves_it_readable(void **state)
{
	enum lmdb_sync sync = (enum lmdb_sync)(uintptr_t)*state;
	struct lmdb_opts o = defaults();
	struct life l;
	unsigned round;
	int fd, status;
	pid_t child;

	assert_int_equal(make_folder(NULL), 0);
	o.max_bytes = 2 * MIB;
	for (round = 0; round < 4; round++) {
		struct err_at at = { 0 };

		child = fork();
		if (!child) {
			churn_until_killed(sync);
			_exit(1);
		}
		usleep(900000 + round * 37000);
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		fd = open(path, O_RDWR);
		if (lmdb_check(fd, &at))
			fail_msg("%s", at.why);
		close(fd);
		l = begin_with(o, 100000);
		assert_string_equal(status_of(&l).why, "");
		assert_string_equal(status_of(&l).note, "");
		assert_true(status_of(&l).loaded > 1000);
		assert_int_equal(count_kept(&l, 0, 100), 100);
		end(&l);
	}
	remove_folder(NULL);
}

int main(void)
{
	static const struct CMUnitTest fixed[] = {
		TEST(an_answer_is_there_after_a_restart),
		TEST(all_kinds_of_answers_come_back_as_they_were),
		TEST(failures_are_not_written),
		TEST(what_died_meanwhile_does_not_come_back),
		TEST(an_answer_whose_successor_died_does_not_come_back),
		TEST(the_youngest_of_many_to_one_key_comes_back),
		TEST(what_is_in_memory_already_stays),
		TEST(reading_back_ends_when_memory_is_full),
		TEST(a_stale_answer_comes_back_while_it_may_be_given),
		TEST(a_cut_comes_back_as_one),
		TEST(a_cut_of_a_name_that_was_there_later_does_not_come_back),
		TEST(what_a_cut_took_the_place_of_does_not_come_back),
		TEST(a_cut_in_memory_keeps_what_is_read_back_away),
		TEST(a_signed_answer_comes_back_whole),
		TEST(reading_back_ends_when_memory_has_no_octets_left),
		TEST(big_answers_come_back),
		TEST(after_a_flush_it_takes_answers_again),
		TEST(many_threads_put_while_another_flushes),
		TEST(the_file_never_grows_over_its_bound),
		TEST(a_name_in_use_stays_while_others_pass_through),
		TEST(a_file_over_a_smaller_bound_is_begun_anew),
		TEST(dead_answers_are_swept),
		TEST(no_octet_of_a_page_head_can_end_the_process),
		TEST(another_process_keeps_its_file),
		TEST(a_folder_that_is_not_there_is_told),
	};
	struct CMUnitTest tests[COUNT(fixed) + COUNT(flush_cases) + COUNT(damage_cases) + COUNT(sync_names)];
	static char names[COUNT(sync_names)][80];
	size_t n = 0, i;

	for (i = 0; i < COUNT(fixed); i++)
		tests[n++] = fixed[i];
	for (i = 0; i < COUNT(flush_cases); i++)
		tests[n++] = (struct CMUnitTest){ flush_cases[i].sentence, flushed_names_do_not_come_back, NULL, NULL,
						  (void *)&flush_cases[i] };
	for (i = 0; i < COUNT(damage_cases); i++)
		tests[n++] = (struct CMUnitTest){ damage_cases[i].sentence, it_begins_anew_beside, NULL, NULL,
						  (void *)&damage_cases[i] };
	for (i = 0; i < COUNT(sync_names); i++) {
		snprintf(names[i], sizeof(names[i]), "kill in churn leaves it readable, sync: %s", sync_names[i]);
		tests[n++] = (struct CMUnitTest){ names[i], kill_in_churn_leaves_it_readable, NULL, NULL, (void *)(uintptr_t)i };
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
