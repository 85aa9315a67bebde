/* SPDX-License-Identifier: BSD-2-Clause */
/* test_answers.c - the writer of the answer table, on a table in ordinary memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "kern/answers.h"
#include "unit/kern/make.h"

#define NOW (1000 * CLOCK_S)

enum { BUCKETS = 64, PAGES = 8 };

struct table {
	struct mr_secret secret;
	struct mr_conf conf;
	struct mr_answer_bucket buckets[BUCKETS];
	uint8_t pages[PAGES * MR_PAGE_SIZE] __attribute__((aligned(64)));
	struct filter *filter;
	struct answers a;
};

static void start(struct table *t, uint32_t max)
{
	const struct answers_maps m = { &t->conf, &t->secret, t->buckets, t->pages, filter_buckets(t->filter),
					(const __u64 *)filter_bloom(t->filter) };

	assert_int_equal(answers_init(&t->a, &m, max, BUCKETS, PAGES, NOW), 0);
}

static struct table *table_new(uint32_t max)
{
	struct table *t = aligned_alloc(64, (sizeof(*t) + 63) / 64 * 64);

	assert_non_null(t);
	memset(t, 0, sizeof(*t));
	t->secret = make_secret(1);
	t->filter = make_filter(&t->secret, 10);
	t->conf.unit[0] = *filter_unit(t->filter);
	t->conf.filter_generation = 7;
	start(t, max);
	return t;
}

static void table_free(struct table *t)
{
	answers_done(&t->a);
	filter_free(t->filter);
	free(t);
}

/* What an earlier daemon left is found by a new one. */
static void restart(struct table *t, uint32_t max)
{
	answers_done(&t->a);
	start(t, max);
}

static void put(struct table *t, struct dns_answer *a)
{
	answers_put(&t->a, a, false, t->conf.filter_generation, true, NOW);
	dns_answer_unref(a);
}

static bool holds(struct table *t, const char *name, uint16_t type)
{
	struct dns_key k = make_key(name, type);

	return answers_hold(&t->a, &k, NOW);
}

/* The one answer of the table, found as the program finds it; NULL when there is none. */
static struct mr_answer *slot_of(struct table *t, const char *name, uint16_t type)
{
	struct dns_key k = make_key(name, type);
	struct mr_name n = { .len = k.name_len };
	uint64_t place;
	uint32_t unit;

	memcpy(n.text, k.name, k.name_len);
	assert_int_equal(mr_name_hash(&n, &t->secret), 0);
	place = mr_answer_place(&n.hash[n.labels], type, k.bits, &t->secret);
	unit = mr_answer_way(&t->buckets[(uint32_t)place & (BUCKETS - 1)], place);
	return unit ? answers_at(&t->a, unit) : NULL;
}

/* ---- one answer --------------------------------------------------------- */

static void an_answer_stands_as_the_treaty_says(void **state)
{
	struct table *t = table_new(100);
	struct dns_answer *from = make_a("www.example", 300, NOW);
	struct mr_answer *s;
	const uint8_t *body;

	t->conf.recursion = 1;
	t->conf.generation[0] = 5;
	from->ad = true;
	answers_put(&t->a, from, false, t->conf.filter_generation, true, NOW);
	s = slot_of(t, "www.example", DNS_A);
	assert_non_null(s);
	body = (uint8_t *)s + mr_answer_body(s->name_len);
	assert_true(s->stamp_first && s->stamp_first == s->stamp_last);
	assert_memory_equal((uint8_t *)s + mr_answer_name(from->key.name_len), from->key.name, from->key.name_len);
	assert_true(mr_load64((uint8_t *)s + MR_ANSWER_NAME) << 8 * (8 - mr_name_pad(s->name_len)) == 0);
	assert_memory_equal(body, from->body, from->body_len);
	assert_int_equal(s->body_sum, mr_body_sum(body, s->body_len));
	assert_int_equal(s->head_sum, mr_answer_sum(s));
	assert_true(s->born == NOW && s->expires == NOW + 300 * CLOCK_S && s->stale_until == s->expires);
	assert_int_equal(s->dns_flags, DNS_RA);
	assert_int_equal(s->flags, MR_ANSWER_AD);
	assert_int_equal(s->generation, 5);
	assert_int_equal(s->ttls, 1);
	assert_int_equal(s->ttl_at[0], 6);
	assert_int_equal(s->refresh_ms, 30000);
	dns_answer_unref(from);
	table_free(t);
}

static const struct life_case {
	const char *name;
	uint32_t ttl;
	uint32_t refresh_ms;
} life_cases[] = {
	{ "a TTL of ten seconds asks for no refresh",         10, 0 },
	{ "a TTL over ten seconds is refreshed 2 s early",    11, 2000 },
	{ "a long TTL is refreshed in the last tenth",        3600, 360000 },
};

static void run_life(void **state)
{
	const struct life_case *c = *state;
	struct table *t = table_new(100);

	put(t, make_a("www.example", c->ttl, NOW));
	assert_int_equal(slot_of(t, "www.example", DNS_A)->refresh_ms, c->refresh_ms);
	table_free(t);
}

/* ---- what is refused ---------------------------------------------------- */

static struct dns_answer *of_type(uint16_t type)
{
	struct dns_answer *a = make_a("www.example", 300, NOW);

	a->key.qtype = type;
	return a;
}

static struct dns_answer *any_type(void) { return of_type(DNS_ANY); }
static struct dns_answer *tkey_type(void) { return of_type(DNS_TKEY); }
static struct dns_answer *opt_type(void) { return of_type(DNS_OPT); }
static struct dns_answer *type_0(void) { return of_type(0); }
static struct dns_answer *type_248(void) { return of_type(248); }
static struct dns_answer *no_ttl(void) { return make_a("www.example", 0, NOW); }
static struct dns_answer *expired(void) { return make_a("www.example", 300, NOW - 300 * CLOCK_S); }
static struct dns_answer *too_big(void) { return make_txt("www.example", 1181, 300, NOW); }
static struct dns_answer *just_fits(void) { return make_txt("www.example", 1180, 300, NOW); }
static struct dns_answer *many_ttls(void) { return make_many("www.example", 17, 300, NOW); }
static struct dns_answer *sixteen_ttls(void) { return make_many("www.example", 16, 300, NOW); }
static struct dns_answer *deep(void) { return make_a("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q", 300, NOW); }
static struct dns_answer *sixteen_labels(void) { return make_a("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p", 300, NOW); }

static struct dns_answer *servfail(void)
{
	struct dns_answer *a = make_a("www.example", 300, NOW);

	a->rcode = DNS_SERVFAIL;
	return a;
}

static struct dns_answer *with_ede(void)
{
	struct dns_answer *a = make_a("www.example", 300, NOW);

	a->ede = DNS_EDE_STALE;
	return a;
}

static const struct refuse_case {
	const char *name;
	struct dns_answer *(*make)(void);
	const char *counter;		/* that must rise by one */
} refuse_cases[] = {
	{ "type ANY is refused",                         any_type,       "kern_refused_kind" },
	{ "type 249 is refused",                         tkey_type,      "kern_refused_kind" },
	{ "type 248 is published",                       type_248,       "kern_published" },
	{ "type OPT is refused",                         opt_type,       "kern_refused_kind" },
	{ "type 0 is refused",                           type_0,         "kern_refused_kind" },
	{ "TTL 0 is refused",                            no_ttl,         "kern_refused_kind" },
	{ "an answer that has just expired is refused",  expired,        "kern_refused_kind" },
	{ "SERVFAIL is refused",                         servfail,       "kern_refused_kind" },
	{ "an extended error is refused",                with_ede,       "kern_refused_kind" },
	{ "an answer over 1232 octets is refused",       too_big,        "kern_refused_size" },
	{ "an answer of 1232 octets is published",       just_fits,      "kern_published" },
	{ "seventeen TTLs are refused",                  many_ttls,      "kern_refused_ttls" },
	{ "sixteen TTLs are published",                  sixteen_ttls,   "kern_published" },
	{ "seventeen labels are refused",                deep,           "kern_refused_labels" },
	{ "sixteen labels are published",                sixteen_labels, "kern_published" },
};

static void run_refuse(void **state)
{
	const struct refuse_case *c = *state;
	struct table *t = table_new(100);
	uint64_t before = counted(c->counter);

	put(t, c->make());
	assert_int_equal(counted(c->counter), before + 1);
	assert_int_equal(t->a.in_use, !strcmp(c->counter, "kern_published"));
	table_free(t);
}

static void negative_answers_have_a_quarter_of_the_table(void **state)
{
	struct table *t = table_new(40);
	uint64_t before = counted("kern_refused_negative");
	char name[32];
	unsigned i;

	for (i = 0; i < 15; i++) {
		snprintf(name, sizeof(name), "x%u.example", i);
		put(t, make_nxdomain(name, 300, NOW));
	}
	assert_int_equal(t->a.negative, 10);
	assert_int_equal(counted("kern_refused_negative"), before + 5);
	put(t, make_nxdomain("x3.example", 200, NOW));	/* in its own place */
	assert_int_equal(counted("kern_refused_negative"), before + 5);
	put(t, make_a("www.example", 300, NOW));
	assert_true(holds(t, "www.example", DNS_A));
	table_free(t);
}

/* ---- replacing, flushing ------------------------------------------------ */

static void the_same_question_is_replaced_in_place(void **state)
{
	struct table *t = table_new(100);
	uint64_t before = counted("kern_replaced");
	struct mr_answer *s;
	uint32_t stamp;

	put(t, make_a("www.example", 300, NOW));
	s = slot_of(t, "www.example", DNS_A);
	stamp = s->stamp_first;
	s->hit = 1;
	s->refresh = 1;
	put(t, make_a("www.example", 600, NOW));
	assert_ptr_equal(slot_of(t, "www.example", DNS_A), s);
	assert_true(s->stamp_first == s->stamp_last && s->stamp_first != stamp);
	assert_true(s->expires == NOW + 600 * CLOCK_S);
	assert_int_equal(s->hit, 1);
	assert_int_equal(s->refresh, 0);
	assert_int_equal(t->a.in_use, 1);
	assert_int_equal(counted("kern_replaced"), before + 1);
	table_free(t);
}

static void a_bigger_answer_moves_and_the_old_units_are_free(void **state)
{
	struct table *t = table_new(100);
	struct mr_answer *old;

	put(t, make_txt("www.example", 20, 300, NOW));
	old = slot_of(t, "www.example", DNS_TXT);
	old->hit = 1;
	put(t, make_txt("www.example", 900, 300, NOW));
	assert_ptr_not_equal(slot_of(t, "www.example", DNS_TXT), old);
	assert_int_equal(old->stamp_first, 0);
	assert_int_equal(slot_of(t, "www.example", DNS_TXT)->hit, 1);
	assert_int_equal(t->a.in_use, 1);
	assert_int_equal(t->a.units.in_use, mr_answer_units(13, 12 + 900));
	table_free(t);
}

static void flushing_a_name_clears_all_its_types_and_no_other(void **state)
{
	struct table *t = table_new(100);
	struct dns_key k = make_key("www.example", DNS_A);
	struct dns_answer *with_do = make_a("www.example", 300, NOW);

	with_do->key.bits = DNS_KEY_DO;
	put(t, with_do);
	put(t, make_a("www.example", 300, NOW));
	put(t, make_txt("www.example", 50, 300, NOW));
	put(t, make_a("other.example", 300, NOW));
	assert_int_equal(answers_flush_name(&t->a, k.name, k.name_len), 3);
	assert_false(holds(t, "www.example", DNS_A));
	assert_false(holds(t, "www.example", DNS_TXT));
	assert_true(holds(t, "other.example", DNS_A));
	assert_int_equal(answers_flush_name(&t->a, k.name, k.name_len), 0);
	table_free(t);
}

static void flush_all_voids_by_generation_and_frees_everything(void **state)
{
	struct table *t = table_new(100);

	put(t, make_a("www.example", 300, NOW));
	put(t, make_nxdomain("no.example", 300, NOW));
	answers_flush_all(&t->a);
	assert_int_equal(t->conf.generation[0], 1);
	assert_int_equal(t->a.in_use, 0);
	assert_int_equal(t->a.negative, 0);
	assert_int_equal(t->a.units.in_use, 0);
	assert_null(slot_of(t, "www.example", DNS_A));
	put(t, make_a("www.example", 300, NOW));
	assert_int_equal(slot_of(t, "www.example", DNS_A)->generation, 1);
	table_free(t);
}

/* ---- full --------------------------------------------------------------- */

static void fill_table(struct table *t, unsigned count)
{
	char name[32];
	unsigned i;

	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "f%u.example", i);
		put(t, make_a(name, 300, NOW));
	}
}

static void a_full_table_evicts_what_was_not_asked_for(void **state)
{
	struct table *t = table_new(50);
	uint64_t before = counted("kern_evicted");
	char name[32];
	unsigned i;

	fill_table(t, 50);
	for (i = 0; i < 25; i++) {
		snprintf(name, sizeof(name), "f%u.example", i);
		slot_of(t, name, DNS_A)->hit = 1;
	}
	for (i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "g%u.example", i);
		put(t, make_a(name, 300, NOW));
	}
	assert_int_equal(t->a.in_use, 50);
	assert_int_equal(counted("kern_evicted"), before + 20);
	for (i = 0; i < 25; i++) {
		snprintf(name, sizeof(name), "f%u.example", i);
		assert_true(holds(t, name, DNS_A));
	}
	table_free(t);
}

static void room_for_a_big_answer_is_made_among_small_ones(void **state)
{
	struct table *t = table_new(1000);

	fill_table(t, 200);		/* 8 pages hold 127 of two units */
	put(t, make_txt("big.example", 1100, 300, NOW));
	assert_true(holds(t, "big.example", DNS_TXT));
	table_free(t);
}

static void when_all_is_hot_the_work_is_bounded_and_a_later_put_succeeds(void **state)
{
	struct table *t = table_new(40);
	uint32_t unit;

	fill_table(t, 40);
	for (unit = 1; unit < t->a.unit_count; unit++)
		if (t->a.info[unit].run)
			answers_at(&t->a, unit)->hit = 1;
	put(t, make_a("new.example", 300, NOW));
	assert_true(holds(t, "new.example", DNS_A));
	assert_int_equal(t->a.in_use, 40);
	table_free(t);
}

static void expired_answers_are_swept_by_later_puts(void **state)
{
	struct table *t = table_new(1000);
	struct dns_answer *a;
	unsigned i;

	fill_table(t, 100);
	for (i = 0; i < 100; i++) {
		a = make_a("late.example", 3000, NOW + 400 * CLOCK_S);
		answers_put(&t->a, a, false, t->conf.filter_generation, true, NOW + 400 * CLOCK_S);
		dns_answer_unref(a);
	}
	assert_int_equal(t->a.in_use, 1);
	table_free(t);
}

static void every_way_word_leads_to_its_answer_after_a_churn(void **state)
{
	struct table *t = table_new(60);
	unsigned i, ways = 0, w;
	char name[32];

	for (i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "c%u.example", i * 7 % 311);
		put(t, i % 3 ? make_a(name, 300, NOW) : make_txt(name, 1 + i % 1100, 300, NOW));
	}
	for (i = 0; i < BUCKETS; i++)
		for (w = 0; w < MR_ANSWER_WAYS; w++)
			if (t->buckets[i].way[w]) {
				assert_int_equal(t->a.info[(uint32_t)t->buckets[i].way[w]].home,
						 i * MR_ANSWER_WAYS + w);
				ways++;
			}
	assert_int_equal(ways, t->a.in_use);
	i = counted("kern_cleared_torn");
	restart(t, 60);
	assert_int_equal(t->a.in_use, ways);
	assert_int_equal(counted("kern_cleared_torn"), i);
	table_free(t);
}

/* ---- chains ------------------------------------------------------------- */

static const struct chain_case {
	const char *name;
	const char *target;
	unsigned sets;
	struct dns_answer *(*make)(const char *name, const char *target, uint32_t ttl, uint64_t now_ns);
	uint16_t type;
} chain_cases[] = {
	{ "a link in the filter leaves its set",                  "n3.example", 1, make_cname, DNS_A },
	{ "a link below a filtered name leaves its set",          "a.b.n3.example", 1, make_cname, DNS_A },
	{ "a link above a filtered name leaves none",             "example", 0, make_cname, DNS_A },
	{ "a link of more labels than the kernel's leaves its set too",
	  "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.n3.example", 1, make_cname, DNS_A },
	{ "a link that nobody filters leaves none",               "fine.example", 0, make_cname, DNS_A },
	{ "a target of HTTPS in the filter leaves its set",       "n3.example", 1, make_https, DNS_HTTPS },
	{ "a target of HTTPS below a filtered name leaves it",    "a.n3.example", 1, make_https, DNS_HTTPS },
	{ "a target of HTTPS that nobody filters leaves none",    "fine.example", 0, make_https, DNS_HTTPS },
};

static void run_chain(void **state)
{
	const struct chain_case *c = *state;
	struct table *t = table_new(100);
	struct mr_answer *s;

	put(t, c->make("www.example", c->target, 300, NOW));
	s = slot_of(t, "www.example", c->type);
	assert_non_null(s);
	assert_true(s->flags & MR_ANSWER_CHAIN);
	assert_int_equal(s->filter_generation, 7);
	assert_int_equal(s->chain_len, c->sets);
	assert_int_equal(s->chain[0] != 0, c->sets);
	t->conf.filter_generation = 8;
	assert_false(holds(t, "www.example", c->type));
	table_free(t);
}

static void a_target_that_is_the_owner_is_no_chain(void **state)
{
	struct table *t = table_new(100);
	struct mr_answer *s;

	put(t, make_https("www.example", ".", 300, NOW));
	s = slot_of(t, "www.example", DNS_HTTPS);
	assert_non_null(s);
	assert_false(s->flags & MR_ANSWER_CHAIN);
	table_free(t);
}

/* What follows a record off the chain is off it too. */
static void a_link_of_another_name_leaves_none(void **state)
{
	static const uint8_t body[] = {
		5, 'o', 't', 'h', 'e', 'r', 0, 0, DNS_CNAME, 0, DNS_IN, 0, 0, 1, 44, 0, 12,
		2, 'n', '3', 7, 'e', 'x', 'a', 'm', 'p', 'l', 'e', 0,
	};
	struct table *t = table_new(100);
	struct dns_key k = make_key("www.example", DNS_A);
	struct dns_answer *a = NULL;

	assert_int_equal(dns_answer_from_body(&k, DNS_NOERROR, body, sizeof(body), 1, 0, NOW, &a), 0);
	put(t, a);
	assert_int_equal(slot_of(t, "www.example", DNS_A)->chain_len, 0);
	table_free(t);
}

/* ---- taking over -------------------------------------------------------- */

static void break_stamp(struct table *t, struct mr_answer *s) { s->stamp_last++; }
static void break_body(struct table *t, struct mr_answer *s) { ((uint8_t *)s)[mr_answer_body(s->name_len)] ^= 1; }
static void break_name(struct table *t, struct mr_answer *s) { ((uint8_t *)s)[mr_answer_name(s->name_len) + 1] = 'W'; }
static void break_head(struct table *t, struct mr_answer *s) { s->expires++; }
static void break_len(struct table *t, struct mr_answer *s) { s->body_len = 60000; }

static void break_way(struct table *t, struct mr_answer *s)
{
	uint32_t unit = ((uint8_t *)s - t->pages) / MR_UNIT_SIZE;
	__u64 *way = &t->buckets[t->a.info[unit].home / MR_ANSWER_WAYS].way[t->a.info[unit].home % MR_ANSWER_WAYS];

	*way = (*way & ~0xffffffffULL) | 0x7fffffff;
}

static void break_bucket(struct table *t, struct mr_answer *s)
{
	uint32_t unit = ((uint8_t *)s - t->pages) / MR_UNIT_SIZE, home = t->a.info[unit].home;

	__u64 *way = &t->buckets[home / MR_ANSWER_WAYS].way[home % MR_ANSWER_WAYS];

	t->buckets[(home / MR_ANSWER_WAYS + 1) % BUCKETS].way[0] = *way;
	*way = 0;
}

static const struct torn_case {
	const char *name;
	void (*damage)(struct table *t, struct mr_answer *s);
} torn_cases[] = {
	{ "taking over clears an answer with unequal stamps",        break_stamp },
	{ "taking over clears an answer whose body was changed",     break_body },
	{ "taking over clears an answer whose name was changed",     break_name },
	{ "taking over clears an answer whose head was changed",     break_head },
	{ "taking over clears an answer that leaves its page",       break_len },
	{ "taking over clears a way word that leads out of the table", break_way },
	{ "taking over clears an answer in a foreign bucket",        break_bucket },
};

static void run_torn(void **state)
{
	const struct torn_case *c = *state;
	struct table *t = table_new(100);
	uint64_t before = counted("kern_cleared_torn");

	put(t, make_a("www.example", 300, NOW));
	put(t, make_a("other.example", 300, NOW));
	c->damage(t, slot_of(t, "www.example", DNS_A));
	restart(t, 100);
	assert_int_equal(counted("kern_cleared_torn"), before + 1);
	assert_null(slot_of(t, "www.example", DNS_A));
	assert_true(holds(t, "other.example", DNS_A));
	assert_int_equal(t->a.in_use, 1);
	table_free(t);
}

static void taking_over_keeps_whole_answers_and_can_flush_them(void **state)
{
	struct table *t = table_new(100);
	struct dns_key k = make_key("www.example", DNS_A);
	uint32_t stamp;

	put(t, make_a("www.example", 300, NOW));
	put(t, make_a("www.example", 500, NOW));
	put(t, make_nxdomain("no.example", 300, NOW));
	stamp = t->a.stamp;
	restart(t, 100);
	assert_true(holds(t, "www.example", DNS_A));
	assert_int_equal(t->a.in_use, 2);
	assert_int_equal(t->a.negative, 1);
	assert_true(t->a.stamp >= stamp);
	assert_int_equal(answers_flush_name(&t->a, k.name, k.name_len), 1);
	table_free(t);
}

/* A daemon that died between its tables' growth and their pins has left answers of a generation that comes again. */
static void taking_over_clears_answers_of_other_generations(void **state)
{
	struct table *t = table_new(100);

	put(t, make_a("www.example", 300, NOW));
	t->conf.filter_generation = 8;
	put(t, make_cname("chain.example", "n3.example", 300, NOW));
	t->conf.generation[0]++;
	put(t, make_a("flush.example", 300, NOW));
	t->conf.generation[0]--;
	t->conf.filter_generation = 7;
	restart(t, 100);
	t->conf.filter_generation = 8;
	assert_false(holds(t, "chain.example", DNS_A));
	assert_true(holds(t, "www.example", DNS_A));
	t->conf.generation[0]++;
	assert_false(holds(t, "flush.example", DNS_A));
	assert_int_equal(t->a.in_use, 1);
	table_free(t);
}

/* ---- threads ------------------------------------------------------------ */

static void *churn(void *arg)
{
	struct table *t = arg;
	struct dns_key k;
	char name[32];
	unsigned i;

	for (i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "t%u.example", i % 97);
		put(t, i % 5 ? make_a(name, 300, NOW) : make_txt(name, i % 900 + 1, 300, NOW));
		k = make_key(name, DNS_A);
		if (i % 7 == 0)
			answers_flush_name(&t->a, k.name, k.name_len);
		answers_hold(&t->a, &k, NOW);
	}
	return NULL;
}

static void threads_may_put_and_flush_at_once(void **state)
{
	struct table *t = table_new(80);
	uint64_t torn = counted("kern_cleared_torn");
	pthread_t other;
	uint32_t in_use;

	assert_int_equal(pthread_create(&other, NULL, churn, t), 0);
	churn(t);
	answers_flush_all(&t->a);
	pthread_join(other, NULL);
	in_use = t->a.in_use;
	restart(t, 80);
	assert_int_equal(t->a.in_use, in_use);
	assert_int_equal(counted("kern_cleared_torn"), torn);
	table_free(t);
}

/* ---- behind the end ----------------------------------------------------- */

#define LATER (NOW + 400 * CLOCK_S)

/* Put at a later time, the one of 300 s at NOW being over. */
static void put_later(struct table *t, struct dns_answer *a, bool admit)
{
	answers_put(&t->a, a, false, t->conf.filter_generation, admit, LATER);
	dns_answer_unref(a);
}

static struct table *table_of_one_over(void)
{
	struct table *t = table_new(100);

	answers_serve_stale(&t->a, 1000 * CLOCK_S);
	put(t, make_a("www.example", 300, NOW));
	return t;
}

static void an_answer_may_be_given_behind_its_end_as_long_as_told(void **state)
{
	struct table *t = table_of_one_over();
	const struct mr_answer *s = slot_of(t, "www.example", DNS_A);

	assert_true(s->expires == NOW + 300 * CLOCK_S && s->stale_until == NOW + 1300 * CLOCK_S);
	assert_int_equal(s->head_sum, mr_answer_sum(s));
	table_free(t);
}

static void what_is_over_is_not_held_but_stays(void **state)
{
	struct table *t = table_of_one_over();
	struct dns_key k = make_key("www.example", DNS_A);

	assert_true(answers_hold(&t->a, &k, NOW));
	assert_false(answers_hold(&t->a, &k, LATER));
	for (unsigned i = 0; i < 200; i++)
		put_later(t, make_a("other.example", 300, LATER), true);
	assert_non_null(slot_of(t, "www.example", DNS_A));
	table_free(t);
}

static void what_is_over_survives_a_restart(void **state)
{
	struct table *t = table_of_one_over();

	slot_of(t, "www.example", DNS_A)->hit = 1;
	restart(t, 100);
	assert_non_null(slot_of(t, "www.example", DNS_A));
	answers_serve_stale(&t->a, 1000 * CLOCK_S);
	assert_non_null(slot_of(t, "www.example", DNS_A));
	answers_serve_stale(&t->a, 999 * CLOCK_S);
	assert_null(slot_of(t, "www.example", DNS_A));
	table_free(t);
}

static void a_local_answer_is_never_over(void **state)
{
	struct table *t = table_of_one_over();
	struct dns_answer *a = make_a("local.example", 300, NOW);

	a->local = true;
	put(t, a);
	assert_true(slot_of(t, "local.example", DNS_A)->stale_until == NOW + 300 * CLOCK_S);
	table_free(t);
}

static void who_is_not_admitted_takes_only_the_place_of_an_older_one(void **state)
{
	struct table *t = table_of_one_over();

	put_later(t, make_a("new.example", 300, LATER), false);
	assert_null(slot_of(t, "new.example", DNS_A));
	put_later(t, make_a("www.example", 300, LATER), false);
	assert_true(slot_of(t, "www.example", DNS_A)->born == LATER);
	table_free(t);
}

static struct dns_answer *of_ttl_0(void) { return make_a("www.example", 0, LATER); }
static struct dns_answer *too_many(void) { return make_many("www.example", 17, 300, LATER); }
static struct dns_answer *another(void) { return make_a("example", 0, LATER); }

static struct dns_answer *gone(void)
{
	struct dns_answer *a = make_nxdomain("www.example", 60, LATER);

	a->key.qtype = DNS_AAAA;
	a->cut = true;
	return a;
}

static const struct end_case {
	const char *name;
	struct dns_answer *(*make)(void);
	bool ends;
} end_cases[] = {
	{ "a TTL of 0 ends what is over", of_ttl_0, true },
	{ "an answer that is not for the kernel ends what is over", too_many, true },
	{ "a name that is gone ends what is over of its other types", gone, true },
	{ "another name ends nothing", another, false },
};

static void run_end(void **state)
{
	const struct end_case *c = *state;
	struct table *t = table_of_one_over();

	put_later(t, c->make(), false);
	if (c->ends)
		assert_null(slot_of(t, "www.example", DNS_A));
	else
		assert_non_null(slot_of(t, "www.example", DNS_A));
	table_free(t);
}

/* What lives is not ended by what may be given once, nor by a name that is said to be gone. */
static void what_lives_is_not_ended(void **state)
{
	struct table *t = table_of_one_over();
	struct dns_answer *once = of_ttl_0(), *cut = gone();

	answers_put(&t->a, once, false, t->conf.filter_generation, false, NOW);
	answers_put(&t->a, cut, false, t->conf.filter_generation, false, NOW);
	dns_answer_unref(once);
	dns_answer_unref(cut);
	assert_non_null(slot_of(t, "www.example", DNS_A));
	table_free(t);
}

static void flushing_below_a_name_clears_that_and_all_below(void **state)
{
	struct table *t = table_new(100);
	struct dns_key k = make_key("b.example", DNS_A);

	put(t, make_a("b.example", 300, NOW));
	put(t, make_a("a.b.example", 300, NOW));
	put(t, make_a("ab.example", 300, NOW));
	put(t, make_a("example", 300, NOW));
	assert_int_equal(answers_flush_below(&t->a, k.name, k.name_len), 2);
	assert_true(holds(t, "ab.example", DNS_A) && holds(t, "example", DNS_A));
	assert_int_equal(answers_flush_below(&t->a, (const uint8_t *)"", 1), 2);
	table_free(t);
}

static void addresses_turn_with_each_publication(void **state)
{
	struct table *t = table_new(100);
	unsigned seen = 0, i;

	for (i = 0; i < 4; i++) {
		put(t, make_many("www.example", 4, 300, NOW));
		const struct mr_answer *s = slot_of(t, "www.example", DNS_A);
		const uint8_t *body = (const uint8_t *)s + mr_answer_body(s->name_len);

		seen |= 1U << (body[15] & 31);
		assert_int_equal(s->body_sum, mr_body_sum(body, s->body_len));
	}
	assert_int_equal(__builtin_popcount(seen), 4);
	table_free(t);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define ROWS(array, run)                                                                                  \
	for (i = 0; i < COUNT(array); i++)                                                                \
		tests[n++] = (struct CMUnitTest){ (array)[i].name, run, NULL, NULL, (void *)&(array)[i] }

int main(void)
{
	struct CMUnitTest tests[80] = {
		cmocka_unit_test(an_answer_stands_as_the_treaty_says),
		cmocka_unit_test(negative_answers_have_a_quarter_of_the_table),
		cmocka_unit_test(the_same_question_is_replaced_in_place),
		cmocka_unit_test(a_bigger_answer_moves_and_the_old_units_are_free),
		cmocka_unit_test(flushing_a_name_clears_all_its_types_and_no_other),
		cmocka_unit_test(flush_all_voids_by_generation_and_frees_everything),
		cmocka_unit_test(a_full_table_evicts_what_was_not_asked_for),
		cmocka_unit_test(room_for_a_big_answer_is_made_among_small_ones),
		cmocka_unit_test(when_all_is_hot_the_work_is_bounded_and_a_later_put_succeeds),
		cmocka_unit_test(expired_answers_are_swept_by_later_puts),
		cmocka_unit_test(every_way_word_leads_to_its_answer_after_a_churn),
		cmocka_unit_test(threads_may_put_and_flush_at_once),
		cmocka_unit_test(a_target_that_is_the_owner_is_no_chain),
		cmocka_unit_test(a_link_of_another_name_leaves_none),
		cmocka_unit_test(taking_over_keeps_whole_answers_and_can_flush_them),
		cmocka_unit_test(taking_over_clears_answers_of_other_generations),
		cmocka_unit_test(an_answer_may_be_given_behind_its_end_as_long_as_told),
		cmocka_unit_test(what_is_over_is_not_held_but_stays),
		cmocka_unit_test(what_is_over_survives_a_restart),
		cmocka_unit_test(a_local_answer_is_never_over),
		cmocka_unit_test(who_is_not_admitted_takes_only_the_place_of_an_older_one),
		cmocka_unit_test(what_lives_is_not_ended),
		cmocka_unit_test(flushing_below_a_name_clears_that_and_all_below),
		cmocka_unit_test(addresses_turn_with_each_publication),
	};
	size_t n = 0, i;

	while (tests[n].name)
		n++;

	ROWS(life_cases, run_life);
	ROWS(refuse_cases, run_refuse);
	ROWS(chain_cases, run_chain);
	ROWS(torn_cases, run_torn);
	ROWS(end_cases, run_end);
	return _cmocka_run_group_tests("answers", tests, n, NULL, NULL);
}
