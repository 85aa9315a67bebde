/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_filter.c - names in, verdicts out: through the builder, the file, the
 * mapping, and the functions that the kernel uses too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include "base/random.h"
#include "policy/filter_build.h"
#include "policy/list.h"
#include "policy/secret.h"
#include "unit/policy/names.h"
#include "unit/policy/rig.h"

/* ---- semantics ---- */

static const struct judged {
	const char *name, *qname;
	unsigned group;			/* 0: all lists, 1: lists 0 and 2, 2: none */
	enum mr_verdict_kind kind;
	unsigned list, depth;
} judged[] = {
	{ "exact name is blocked", "exact.example", 0, MR_BLOCK, 0, 2 },
	{ "name below an exact one is free", "www.exact.example", 0, MR_NONE, 0, 0 },
	{ "parent of an exact one is free", "example", 0, MR_NONE, 0, 0 },
	{ "subtree holds the name itself", "tree.example", 0, MR_BLOCK, 0, 2 },
	{ "subtree holds what is below", "www.tree.example", 0, MR_BLOCK, 0, 2 },
	{ "subtree holds what is far below", "a.b.c.d.tree.example", 0, MR_BLOCK, 0, 2 },
	{ "subtree does not hold its neighbour", "atree.example", 0, MR_NONE, 0, 0 },
	{ "subtree does not hold its parent", "example", 0, MR_NONE, 0, 0 },
	{ "allow is stronger than block above it", "x.good.tree.example", 0, MR_ALLOW, 1, 3 },
	{ "allow counts only for groups with its list", "x.good.tree.example", 1, MR_BLOCK, 0, 2 },
	{ "group without lists is free", "tree.example", 2, MR_NONE, 0, 0 },
	{ "exact and subtree of one name, the stronger wins", "both.example", 0, MR_ALLOW, 1, 2 },
	{ "exact and subtree of one name, one list of two", "both.example", 1, MR_BLOCK, 0, 2 },
	{ "two lists hold a name, the stronger wins", "two.example", 0, MR_ALLOW, 1, 2 },
	{ "two lists hold a name, the group has one", "two.example", 1, MR_BLOCK, 2, 2 },
	{ "two lists block, the first is named", "twice.example", 0, MR_BLOCK, 2, 2 },
	{ "important block beats allow", "soft.hard.example", 0, MR_IMPORTANT_BLOCK, 0, 2 },
	{ "important allow beats important block", "free.hard.example", 0, MR_IMPORTANT_ALLOW, 1, 3 },
	{ "ask is a verdict", "x.maybe.example", 0, MR_ASK, 0, 2 },
	{ "top label holds all below", "a.zip", 0, MR_BLOCK, 0, 1 },
	{ "root is free", "", 0, MR_NONE, 0, 0 },
	{ "16 labels are found", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p", 0, MR_BLOCK, 0, 16 },
	{ "17 labels are below 16", "x.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p", 0, MR_BLOCK, 0, 16 },
	{ "17 labels are not the exact 16", "x.q.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p", 0, MR_NONE, 0, 0 },
	{ "deep name below a short subtree", "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17.18.tree.example", 0, MR_BLOCK, 0, 2 },
	{ "deep name that nothing holds", "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17.18.x.example", 0, MR_NONE, 0, 0 },
	{ "group that the unit has not gives ask", "exact.example", 3, MR_ASK, 0, 2 },
};

static void name_is_judged(void **state)
{
	const struct judged *t = *state;
	struct filter_builder *b = build_entries();
	struct filter_result r;
	struct world w;

	world_open(&w, compile(b, NULL), groups, COUNT_OF(groups));
	filter_builder_free(b);
	r = find(&w, t->qname, t->group);
	assert_int_equal(r.kind, t->kind);
	assert_int_equal(r.depth, t->depth);
	assert_int_equal(r.list, t->list);
	assert_int_equal(r.entry != 0, t->kind != MR_NONE);
	world_close(&w);
}

static void repeated_name_is_told(void **state)
{
	struct filter_builder *b = filter_builder_new(&secret);

	assert_int_equal(add(b, "a.example", false, 0, FILTER_BLOCK), 1);
	assert_int_equal(add(b, "a.example", false, 0, FILTER_BLOCK), 0);
	assert_int_equal(add(b, "a.example", true, 0, FILTER_BLOCK), 1);
	assert_int_equal(add(b, "a.example", false, 1, FILTER_BLOCK), 1);
	assert_int_equal(add(b, "a.example", false, 0, FILTER_ALLOW), 1);
	assert_int_equal(add(b, "a.example", false, 1, FILTER_BLOCK), 0);
	filter_builder_free(b);
}

static void builder_refuses_what_it_cannot_hold(void **state)
{
	static const uint8_t overrun[] = "\5a", cut[] = { 1, 'a', 0, 1, 'b', 0 };
	struct filter_builder *b = filter_builder_new(&secret);

	assert_int_equal(add(b, "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q", false, 0, FILTER_BLOCK), -ENAMETOOLONG);
	assert_int_equal(add_wire(b, overrun, 2, false, 0, FILTER_BLOCK), -EINVAL);
	assert_int_equal(add_wire(b, cut, sizeof(cut), false, 0, FILTER_BLOCK), -EINVAL);
	assert_int_equal(add(b, "a.example", false, FILTER_LISTS_MAX, FILTER_BLOCK), -EINVAL);
	assert_int_equal(add(b, "a.example", false, FILTER_LISTS_MAX - 1, FILTER_BLOCK), 1);
	filter_builder_free(b);
}

static void scratch_of_a_longer_name_does_not_show(void **state)
{
	struct filter_builder *b = filter_builder_new(&secret);
	struct world w;

	add(b, "a-rather-long-label-that-fills-words.example", false, 0, FILTER_BLOCK);
	add(b, "x.y", false, 0, FILTER_BLOCK);
	world_open(&w, compile(b, NULL), &everything, 1);
	assert_int_equal(find(&w, "x.y", 0).kind, MR_BLOCK);
	filter_builder_free(b);
	world_close(&w);
}

static void empty_filter_holds_nothing(void **state)
{
	struct filter_builder *b = filter_builder_new(&secret);
	struct world w;

	world_open(&w, compile(b, NULL), &everything, 1);
	filter_builder_free(b);
	assert_int_equal(find(&w, "a.example", 0).kind, MR_NONE);
	assert_int_equal(find(&w, "", 0).kind, MR_NONE);
	assert_int_equal(w.unit.entries, 0);
	assert_int_equal(w.unit.depths, 0);
	world_close(&w);
}

static void header_says_what_is_in_it(void **state)
{
	struct filter_builder *b = build_entries();
	struct filter *f = compile(b, NULL);
	const struct mr_unit *u = filter_unit(f);

	assert_int_equal(u->entries, 14);		/* names and kinds */
	assert_int_equal(u->depths, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 16);
	assert_true(u->fingerprint == secret.fingerprint);
	assert_int_equal((uintptr_t)filter_buckets(f) % 4096, 0);
	assert_int_equal((uintptr_t)filter_bloom(f) % 4096, 0);
	filter_builder_free(b);
	filter_free(f);
}

static void view_may_lie_anywhere_in_the_maps(void **state)
{
	struct filter_builder *b = build_entries();
	struct world w;

	world_open(&w, compile(b, NULL), groups, 1);
	filter_builder_free(b);
	/* as a unit of the kernel's maps would say it: its elements start at these numbers */
	w.unit.bucket_base = 4096;
	w.unit.bloom_base = 512;
	w.unit.verdict_base = 7;
	assert_int_equal(find(&w, "www.tree.example", 0).kind, MR_BLOCK);
	assert_int_equal(find(&w, "x.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p", 0).kind, MR_BLOCK);
	world_close(&w);
}

/* ---- crowds ---- */

static uint16_t numbered(uint8_t *wire, unsigned long n, const char *below)
{
	char text[64];

	snprintf(text, sizeof(text), "host-%lu.%s", n, below);
	return name_wire(text, wire);
}

static void fill(struct filter_builder *b, unsigned count)
{
	uint8_t wire[300];
	unsigned i;

	for (i = 0; i < count; i++)
		assert_int_equal(add_wire(b, wire, numbered(wire, i, "in.example"), i % 2, 0, FILTER_BLOCK), 1);
}

/* Every one of @count is there, of as many others none. */
static void check(const struct world *w, unsigned count)
{
	uint8_t wire[300];
	unsigned i;

	for (i = 0; i < count; i++) {
		if (find_wire(w, wire, numbered(wire, i, "in.example"), 0).kind != MR_BLOCK)
			fail_msg("host-%u.in.example is not found", i);
		if (find_wire(w, wire, numbered(wire, i, "out.example"), 0).kind != MR_NONE)
			fail_msg("host-%u.out.example is found", i);
	}
}

static unsigned overflows(const struct filter *f)
{
	unsigned i, n = 0;

	for (i = 0; i <= filter_unit(f)->bucket_mask; i++)
		n += filter_buckets(f)[i].way[0] & MR_ENTRY_OVERFLOW;
	return n;
}

/* 16 buckets hold 128 entries at most: displacement, overflow marks and the stash all happen. */
static void crowded_buckets_use_second_choices_and_the_stash(void **state)
{
	struct filter_builder *b;
	unsigned marks = 0, stashed = 0, round;
	struct world w;

	filter_limits.buckets_min = 16;
	for (round = 0; round < 20; round++) {
		secret_make(&secret);
		b = filter_builder_new(&secret);
		fill(b, 124);
		world_open(&w, compile(b, NULL), &everything, 1);
		check(&w, 124);
		marks += overflows(w.f);
		if (w.unit.bucket_mask == 15)
			stashed += w.unit.stash_count;
		world_close(&w);
		filter_builder_free(b);
	}
	filter_limits.buckets_min = 0;
	assert_true(marks > 0);
	assert_true(stashed > 0);
}

static void too_crowded_buckets_are_doubled(void **state)
{
	struct filter_builder *b = filter_builder_new(&secret);
	struct world w;

	filter_limits.buckets_min = 1;
	fill(b, 1000);
	world_open(&w, compile(b, NULL), &everything, 1);
	filter_limits.buckets_min = 0;
	assert_true(w.unit.bucket_mask >= 127);
	check(&w, 1000);
	world_close(&w);
	filter_builder_free(b);
}

/* More combinations than sets: the surplus is asked about, and counted. */
static void surplus_of_sets_becomes_ask(void **state)
{
	struct filter_builder *b = filter_builder_new(&secret);
	char name[32];
	uint64_t asked;
	struct world w;
	unsigned i, j;

	filter_limits.sets = 10;
	for (i = 1; i < 32; i++) {
		snprintf(name, sizeof(name), "n%u.example", i);
		for (j = 0; j < 5; j++)
			if (i >> j & 1)
				assert_int_equal(add(b, name, false, j, FILTER_BLOCK), 1);
	}
	world_open(&w, compile(b, &asked), &everything, 1);
	filter_limits.sets = MR_SET_ASK;
	assert_int_equal(asked, 31 - 9);
	assert_int_equal(w.unit.sets, 10);
	for (i = 1, j = 0; i < 32; i++) {
		snprintf(name, sizeof(name), "n%u.example", i);
		j += find(&w, name, 0).kind == MR_ASK;
		assert_int_not_equal(find(&w, name, 0).kind, MR_NONE);
	}
	assert_int_equal(j, 31 - 9);
	world_close(&w);
	filter_builder_free(b);
}

/* The real bound: 14 lists make 16,383 combinations, one more than there are numbers for. */
static void sets_reach_their_real_bound(void **state)
{
	struct filter_builder *b = filter_builder_new(&secret);
	char name[32];
	uint64_t asked;
	struct world w;
	unsigned i, j;

	for (i = 1; i < 16384; i++) {
		snprintf(name, sizeof(name), "n%u.example", i);
		for (j = 0; j < 14; j++)
			if (i >> j & 1)
				add(b, name, true, j, FILTER_BLOCK);
	}
	world_open(&w, compile(b, &asked), &everything, 1);
	assert_int_equal(asked, 1);
	assert_int_equal(w.unit.sets, MR_SET_ASK);
	for (i = 1, j = 0; i < 16384; i++) {
		snprintf(name, sizeof(name), "n%u.example", i);
		j += find(&w, name, 0).kind == MR_ASK;
		assert_int_not_equal(find(&w, name, 0).kind, MR_NONE);
	}
	assert_int_equal(j, 1);
	world_close(&w);
	filter_builder_free(b);
}

/* ---- real lists ---- */

static int take(void *arg, const struct rule_item *item)
{
	const uint8_t *name = item->name;
	uint16_t len = item->name_len;
	bool subtree = item->reach == RULE_SUBTREE;
	bool allow = item->action == FILTER_ALLOW;

	return add_wire(arg, name, len, subtree, 0, allow ? FILTER_ALLOW : FILTER_BLOCK);
}

struct looking {
	const struct world *w;
	unsigned missed, below;
};

static int look(void *arg, const struct rule_item *item)
{
	const uint8_t *name = item->name;
	uint16_t len = item->name_len;
	bool allow = item->action == FILTER_ALLOW;
	struct looking *l = arg;
	uint8_t child[256];

	l->missed += find_wire(l->w, name, len, 0).kind != (allow ? MR_ALLOW : MR_BLOCK);
	if (len + 2 > 255)
		return 1;
	child[0] = 1;
	child[1] = '!';			/* in no list */
	memcpy(child + 2, name, len);
	l->below += find_wire(l->w, child, (uint16_t)(len + 2), 0).kind != MR_NONE;
	return 1;
}

static const struct real {
	const char *file;
	unsigned entries;
	bool subtree;
} reals[] = {
	{ "hosts/hagezi-light-2022.hosts.txt", 159267, false },
	{ "adblock/hagezi-light-2022-06-08.adblock.txt", 139978, true },
};

static void every_name_of_a_list_is_found(void **state)
{
	const struct real *t = *state;
	struct filter_builder *b = filter_builder_new(&secret);
	struct list_report *r = calloc(2, sizeof(*r));
	struct looking l = { 0 };
	uint8_t wire[300];
	struct world w;
	unsigned i, wrong = 0;
	size_t size;
	char *text = list_file(t->file, &size);

	if (!text) {
		free(r);
		filter_builder_free(b);
		skip();
	}
	assert_non_null(r);
	assert_int_equal(list_parse(text, size, LIST_AUTO, false, take, b, &r[0]), 0);
	world_open(&w, compile(b, NULL), &everything, 1);
	filter_builder_free(b);
	assert_int_equal(w.unit.entries, t->entries);
	l.w = &w;
	assert_int_equal(list_parse(text, size, LIST_AUTO, false, look, &l, &r[1]), 0);
	assert_int_equal(l.missed, 0);
	assert_int_equal(l.below, t->subtree ? t->entries : 0);
	for (i = 0; i < 150000; i++)
		wrong += find_wire(&w, wire, numbered(wire, random_u64() >> 1, "invalid"), 0).kind != MR_NONE;
	assert_int_equal(wrong, 0);
	world_close(&w);
	free(text);
	free(r);
}

/* One list as plain names and as a hosts file: the same names. */
static void formats_of_one_list_agree(void **state)
{
	struct filter_builder *b = filter_builder_new(&secret);
	struct list_report *r = calloc(2, sizeof(*r));
	struct looking l = { 0 };
	struct world w;
	size_t size, other_size;
	char *text = list_file("domains/ph00lt0-2026.domains.txt", &size);
	char *other = list_file("hosts/ph00lt0-2026.hosts.txt", &other_size);

	if (!text || !other) {
		free(r);
		filter_builder_free(b);
		skip();
	}
	assert_non_null(r);
	assert_int_equal(list_parse(text, size, LIST_AUTO, false, take, b, &r[0]), 0);
	/* the same names: none is new */
	assert_int_equal(list_parse(other, other_size, LIST_AUTO, false, take, b, &r[1]), 0);
	assert_int_equal(r[1].exact, 0);
	assert_int_equal(r[1].duplicates, r[0].exact);
	world_open(&w, compile(b, NULL), &everything, 1);
	l.w = &w;
	assert_int_equal(list_parse(other, other_size, LIST_HOSTS, false, look, &l, &r[1]), 0);
	assert_int_equal(l.missed, 0);
	world_close(&w);
	filter_builder_free(b);
	free(text);
	free(other);
	free(r);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void million_names_are_built_and_found(void **state)
{
	struct filter_builder *b = filter_builder_new(&secret);
	struct rusage before, after;
	uint8_t *names = malloc(1000000 * 32), *at = names;
	struct filter_repeats repeats = { 0 };
	double a, c, d;
	struct world w;
	struct stat st;
	unsigned i;

	assert_non_null(names);
	memset(names, 0, 1000000 * 32);
	for (i = 0; i < 1000000; i++, at += 32)
		at[0] = (uint8_t)numbered(at + 1, i, "in.example");
	getrusage(RUSAGE_SELF, &before);
	a = seconds();
	for (i = 0, at = names; i < 1000000; i++, at += 32)
		assert_int_equal(filter_builder_put(b, at + 1, at[0], i % 2 ? RULE_SUBTREE : RULE_EXACT, 0, FILTER_BLOCK), 0);
	assert_int_equal(filter_builder_settle(b, &repeats), 0);
	free(names);
	assert_int_equal(repeats.exact + repeats.subtree, 0);
	c = seconds();
	world_open(&w, compile(b, NULL), &everything, 1);
	d = seconds();
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(stat(path, &st), 0);
	printf("# figure: a million names: the peak of memory grew by %ld KiB\n", after.ru_maxrss - before.ru_maxrss);
	printf("# figure: a million names: added in %.2f s, compiled and opened in %.2f s, file %.1f MB, load %.2f, %u marks, %u in the stash\n",
	       c - a, d - c, (double)st.st_size / 1e6, 1e6 / 8 / (w.unit.bucket_mask + 1.0), overflows(w.f), w.unit.stash_count);
	check(&w, 1000000);
	world_close(&w);
	filter_builder_free(b);
}

int main(void)
{
	static struct CMUnitTest tests[12 + COUNT_OF(judged) + COUNT_OF(reals)] = {
		cmocka_unit_test(repeated_name_is_told),
		cmocka_unit_test(builder_refuses_what_it_cannot_hold),
		cmocka_unit_test(scratch_of_a_longer_name_does_not_show),
		cmocka_unit_test(empty_filter_holds_nothing),
		cmocka_unit_test(header_says_what_is_in_it),
		cmocka_unit_test(view_may_lie_anywhere_in_the_maps),
		cmocka_unit_test(crowded_buckets_use_second_choices_and_the_stash),
		cmocka_unit_test(too_crowded_buckets_are_doubled),
		cmocka_unit_test(surplus_of_sets_becomes_ask),
		cmocka_unit_test(sets_reach_their_real_bound),
		cmocka_unit_test(formats_of_one_list_agree),
		cmocka_unit_test(million_names_are_built_and_found),
	};
	size_t n = 12, i;

	for (i = 0; i < COUNT_OF(judged); i++)
		tests[n++] = (struct CMUnitTest){ judged[i].name, name_is_judged, NULL, NULL, (void *)&judged[i] };
	for (i = 0; i < COUNT_OF(reals); i++)
		tests[n++] = (struct CMUnitTest){ reals[i].file, every_name_of_a_list_is_found, NULL, NULL, (void *)&reals[i] };
	return cmocka_run_group_tests_name("filter", tests, setup, teardown);
}
