/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_probe.c - the probes and sums of the treaty, over plain memory.
 */
#include "maps/answer.h"
#include "maps/client.h"
#include "maps/filter.h"
#include "unit/maps/rows.h"

enum { BUCKETS = 16, BLOOM = 16, SETS = 16, GROUPS = 2 };

/* A unit in memory, with bases that are not 0. */
struct table {
	struct mr_unit unit;
	struct mr_filter_bucket bucket[2 * BUCKETS];
	__u64 bloom[2 * BLOOM];
	struct mr_verdict verdict[2 * SETS * GROUPS];
	struct mr_secret secret;
};

static void table_init(struct table *t)
{
	memset(t, 0, sizeof(*t));
	row_secret(&t->secret);
	t->unit.bucket_base = BUCKETS;
	t->unit.bucket_mask = BUCKETS - 1;
	t->unit.bloom_base = BLOOM;
	t->unit.bloom_mask = BLOOM - 1;
	t->unit.verdict_base = SETS * GROUPS;
	t->unit.sets = SETS;
	t->unit.groups = GROUPS;
	t->unit.depths = (1U << 17) - 1;
}

enum place { FIRST, FIRST_LAST_WAY, SECOND, SECOND_UNMARKED, STASH };

static void table_put(struct table *t, const char *name, unsigned int set, int subtree, enum place where)
{
	struct mr_filter_bucket *first, *second;
	struct mr_name n;
	struct mr_hash h;
	__u64 entry;

	row_hash(&n, name, &t->secret);
	h = n.hash[n.labels];
	entry = mr_entry(h, set, subtree);
	first = &t->bucket[t->unit.bucket_base + mr_bucket_first(h, t->unit.bucket_mask)];
	second = &t->bucket[t->unit.bucket_base + mr_bucket_second(h, t->unit.bucket_mask)];
	t->bloom[t->unit.bloom_base + mr_bloom_word(h, t->unit.bloom_mask)] |= mr_bloom_bits(h);
	switch (where) {
	case FIRST:
		first->way[0] = entry | (first->way[0] & MR_ENTRY_OVERFLOW);
		break;
	case FIRST_LAST_WAY:
		first->way[7] = entry;
		break;
	case SECOND:
		first->way[0] |= MR_ENTRY_OVERFLOW;
		/* fall through */
	case SECOND_UNMARKED:
		second->way[3] = entry;
		break;
	case STASH:
		t->unit.stash[t->unit.stash_count].h1 = h.h1;
		t->unit.stash[t->unit.stash_count++].entry = entry;
		break;
	}
}

static void table_mean(struct table *t, unsigned int group, unsigned int set, enum mr_verdict_kind kind)
{
	struct mr_verdict v = { (__u8)kind, 0, (__u16)(100 + set), 0 };

	t->verdict[t->unit.verdict_base + group * SETS + set] = v;
}

static struct mr_decision table_ask(const struct table *t, const char *name, unsigned int group)
{
	struct mr_name n;

	row_hash(&n, name, &t->secret);
	return mr_filter_decide(&t->unit, t->bucket, t->bloom, t->verdict, &n, group);
}

/* Entries of sets that mean: 1 block, 2 allow, 3 important block, 4 ask, 5 important allow, 6 local zone. */
struct decide_case {
	const char *name;
	const char *ask;
	unsigned int group;
	struct {
		const char *name;
		unsigned int set;
		int subtree;
		enum place where;
	} put[3];
	enum mr_verdict_kind kind;
	unsigned int depth;
};

static const struct decide_case decisions[] = {
	{ "an empty filter says none", "a.b", 0, { { 0 } }, MR_NONE, 0 },
	{ "exact: the name", "ads.com", 0, { { "ads.com", 1, 0, FIRST } }, MR_BLOCK, 2 },
	{ "exact: not below", "x.ads.com", 0, { { "ads.com", 1, 0, FIRST } }, MR_NONE, 0 },
	{ "exact: not above", "com", 0, { { "ads.com", 1, 0, FIRST } }, MR_NONE, 0 },
	{ "subtree: the name", "ads.com", 0, { { "ads.com", 1, 1, FIRST } }, MR_BLOCK, 2 },
	{ "subtree: below", "a.b.ads.com", 0, { { "ads.com", 1, 1, FIRST } }, MR_BLOCK, 2 },
	{ "subtree: the root holds all", "a.b", 0, { { ".", 1, 1, FIRST } }, MR_BLOCK, 0 },
	{ "the last way counts", "ads.com", 0, { { "ads.com", 1, 1, FIRST_LAST_WAY } }, MR_BLOCK, 2 },
	{ "the second choice counts when marked", "ads.com", 0, { { "ads.com", 1, 1, SECOND } }, MR_BLOCK, 2 },
	{ "the second choice does not count unmarked", "ads.com", 0, { { "ads.com", 1, 1, SECOND_UNMARKED } }, MR_NONE, 0 },
	{ "the stash counts", "x.ads.com", 0, { { "ads.com", 1, 1, STASH } }, MR_BLOCK, 2 },
	{ "exact and subtree of one name both count", "ads.com", 0, { { "ads.com", 2, 0, FIRST }, { "ads.com", 1, 1, SECOND } }, MR_ALLOW, 2 },
	{ "exact and subtree in one bucket both count", "ads.com", 0, { { "ads.com", 2, 0, FIRST }, { "ads.com", 1, 1, FIRST_LAST_WAY } }, MR_ALLOW, 2 },
	{ "the same entry twice in one bucket counts once", "ads.com", 0, { { "ads.com", 1, 1, FIRST }, { "ads.com", 1, 1, FIRST_LAST_WAY } }, MR_BLOCK, 2 },
	{ "below, the subtree entry alone counts", "x.ads.com", 0, { { "ads.com", 2, 0, FIRST }, { "ads.com", 1, 1, SECOND } }, MR_BLOCK, 2 },
	{ "stronger above beats weaker here", "x.ads.com", 0, { { "ads.com", 3, 1, FIRST }, { "x.ads.com", 2, 1, FIRST_LAST_WAY } }, MR_IMPORTANT_BLOCK, 2 },
	{ "stronger here beats weaker above", "x.ads.com", 0, { { "ads.com", 1, 1, FIRST }, { "x.ads.com", 2, 1, FIRST_LAST_WAY } }, MR_ALLOW, 3 },
	{ "among equals the deeper entry is named", "x.ads.com", 0, { { "ads.com", 1, 1, FIRST }, { "x.ads.com", 1, 1, FIRST_LAST_WAY } }, MR_BLOCK, 3 },
	{ "ask beats important block", "x.ads.com", 0, { { "ads.com", 3, 1, FIRST }, { "x.ads.com", 4, 1, FIRST_LAST_WAY } }, MR_ASK, 3 },
	{ "important allow beats ask", "x.ads.com", 0, { { "ads.com", 5, 1, FIRST }, { "x.ads.com", 4, 1, FIRST_LAST_WAY } }, MR_IMPORTANT_ALLOW, 2 },
	{ "a local zone beats all", "x.ads.com", 0, { { "ads.com", 5, 1, FIRST }, { "x.ads.com", 6, 1, FIRST_LAST_WAY } }, MR_LOCAL_ZONE, 3 },
	{ "another group, another meaning", "ads.com", 1, { { "ads.com", 1, 1, FIRST } }, MR_NONE, 0 },
	{ "a group that is not there asks", "ads.com", 2, { { "ads.com", 1, 1, FIRST } }, MR_ASK, 2 },
	{ "a set that is not there asks", "ads.com", 0, { { "ads.com", 16, 1, FIRST } }, MR_ASK, 2 },
};

static void decide_row(void **state)
{
	const struct decide_case *c = *state;
	struct mr_decision d;
	struct table t;
	unsigned int i;

	table_init(&t);
	for (i = 1; i <= 6; i++)
		table_mean(&t, 0, i, (enum mr_verdict_kind)i);
	for (i = 0; i < 3 && c->put[i].name; i++)
		table_put(&t, c->put[i].name, c->put[i].set, c->put[i].subtree, c->put[i].where);
	d = table_ask(&t, c->ask, c->group);
	assert_int_equal(d.verdict.kind, c->kind);
	assert_int_equal(d.depth, c->depth);
	assert_int_equal(d.entry != 0, c->kind != MR_NONE);
	assert_false(d.entry & MR_ENTRY_OVERFLOW);
}

static void the_mark_alone_is_no_entry(void **state)
{
	struct mr_filter_bucket b = { { MR_ENTRY_OVERFLOW } };
	struct mr_found found = { 0, 0 };
	struct mr_hash none = { 0, 0 };

	assert_true(mr_bucket_match(&b, none, &found));
	assert_int_equal(mr_entry_set(found.exact), 0);
	assert_int_equal(mr_entry_set(found.subtree), 0);
}

static void bloom_and_depths_come_first(void **state)
{
	struct table t;

	table_init(&t);
	table_mean(&t, 0, 1, MR_BLOCK);
	table_put(&t, "ads.com", 1, 1, FIRST);
	t.unit.depths = 1U << 3;
	assert_int_equal(table_ask(&t, "ads.com", 0).verdict.kind, MR_NONE);
	t.unit.depths = 1U << 2;
	assert_int_equal(table_ask(&t, "ads.com", 0).verdict.kind, MR_BLOCK);
	memset(t.bloom, 0, sizeof(t.bloom));
	assert_int_equal(table_ask(&t, "ads.com", 0).verdict.kind, MR_NONE);
}

static void if_zero_is_right_at_the_edges(void **state)
{
	assert_true(mr_if_zero(0) == ~0ULL);
	assert_true(mr_if_zero(1) == 0);
	assert_true(mr_if_zero(1ULL << 48) == 0);
	assert_true(mr_if_zero((1ULL << 63) - 1) == 0);
}

/* ---- clients ------------------------------------------------------------- */

struct cut_case {
	const char *name;
	__u32 len;
	__u64 hi;
	__u64 lo;
};

static const struct cut_case cuts[] = {
	{ "cut to 0", 0, 0, 0 },
	{ "cut to 1", 1, 1ULL << 63, 0 },
	{ "cut to 63", 63, ~1ULL, 0 },
	{ "cut to 64", 64, ~0ULL, 0 },
	{ "cut to 65", 65, ~0ULL, 1ULL << 63 },
	{ "cut to 120", 120, ~0ULL, ~0xffULL },
	{ "cut to 127", 127, ~0ULL, ~1ULL },
	{ "cut to 128", 128, ~0ULL, ~0ULL },
};

static void cut_row(void **state)
{
	const struct cut_case *c = *state;
	struct mr_prefix all = { ~0ULL, ~0ULL }, p = mr_prefix_cut(all, c->len);

	assert_true(p.hi == c->hi);
	assert_true(p.lo == c->lo);
}

static void client_tags_are_as_computed_elsewhere(void **state)
{
	struct mr_prefix four = { 0, 0xffffc0000200ULL }, six = { 0x20010db800000000ULL, 0 };
	struct mr_secret s;

	row_secret(&s);
	assert_true(mr_client_tag(four, 120, &s) == 0x8fbc4632f411fbc4ULL);
	assert_true(mr_client_tag(six, 32, &s) == 0xaf15a93ef9e495b0ULL);
}

static void the_longest_prefix_decides(void **state)
{
	static struct mr_client_bucket table[MR_CLIENT_BUCKETS];
	static const __u8 lens[] = { 128, 120, 0 };
	struct mr_outcome none = { 9, MR_ACCESS_ALLOW, 0 };
	struct mr_prefix a = { 0, 0xffffc0000207ULL }, b = { 0, 0xffffc0000208ULL }, far = { 1, 1 };
	struct mr_secret s;
	unsigned int i;
	__u64 tag;

	row_secret(&s);
	memset(table, 0, sizeof(table));
	for (i = 0; i < 2; i++) {
		tag = mr_client_tag(mr_prefix_cut(a, lens[i]), lens[i], &s);
		table[mr_client_bucket_of(tag)].way[i].tag = tag;
		table[mr_client_bucket_of(tag)].way[i].len = lens[i];
		table[mr_client_bucket_of(tag)].way[i].outcome.group = (__u16)(i + 1);
	}
	assert_int_equal(mr_client_find(table, lens, 3, a, &s, none).group, 1);
	assert_int_equal(mr_client_find(table, lens, 3, b, &s, none).group, 2);
	assert_int_equal(mr_client_find(table, lens, 3, far, &s, none).group, 9);
	assert_int_equal(mr_client_find(table, lens, 0, a, &s, none).group, 9);
}

/* ---- answers ------------------------------------------------------------- */

static void places_are_as_computed_elsewhere(void **state)
{
	struct mr_secret s;
	struct mr_name n;

	row_secret(&s);
	row_hash(&n, "www.example.com", &s);
	assert_true(mr_answer_place(&n.hash[3], 1, 0, &s) == 0xf56f01113b6f05aaULL);
	assert_true(mr_answer_place(&n.hash[3], 28, MR_KEY_DO | MR_KEY_CD, &s) == 0x7f294d0fff8592b6ULL);
	assert_true(mr_answer_place(&n.hash[3], 28, MR_KEY_ANY, &s) == 0x68bca171a67978b2ULL);
}

static void every_way_is_found(void **state)
{
	struct mr_answer_bucket b;
	int i;

	for (i = 0; i < MR_ANSWER_WAYS; i++) {
		memset(&b, 0, sizeof(b));
		b.way[(i + 1) % MR_ANSWER_WAYS] = 0x77ULL << 32 | 9;
		b.way[i] = 0x12345678ULL << 32 | 77;
		assert_int_equal(mr_answer_way(&b, 0x12345678ULL << 32 | 5), 77);
		assert_int_equal(mr_answer_way(&b, 0x12345679ULL << 32 | 5), 0);
	}
}

static void body_sums_are_plain_sums(void **state)
{
	__u8 body[MR_BODY_MAX + 8];
	unsigned long plain;
	unsigned int len, i;

	for (i = 0; i < sizeof(body); i++)
		body[i] = (__u8)(i * 151 + 7);
	for (len = 0; len <= MR_BODY_MAX; len++) {
		plain = 0;
		for (i = 0; i < len; i++)
			plain += i & 1 ? body[i] : (unsigned long)body[i] << 8;
		while (plain >> 16)
			plain = (plain & 0xffff) + (plain >> 16);
		assert_int_equal(mr_body_sum(body, len), plain);
	}
}

static void folding_ends_below_17_bits(void **state)
{
	static const __u64 sums[] = { 0, 1, 0xffff, 0x10000, 0xffffffff, 0x100000000ULL, ~0ULL, ~0ULL - 1, 0x8000000000000000ULL };
	size_t i;

	for (i = 0; i < COUNT(sums); i++) {
		assert_in_range(mr_sum_fold(sums[i]), sums[i] ? 1 : 0, 0xffff);
		assert_int_equal(mr_sum_fold(sums[i]) % 65535, sums[i] % 65535);
	}
}

/* All summed bytes count; stamps, marks and generation do not, nor does head_sum itself. */
static void the_head_sum_covers_what_it_says(void **state)
{
	struct mr_answer a, copy;
	unsigned int was, i;
	int counts;

	memset(&a, 0x5a, sizeof(a));
	was = mr_answer_sum(&a);
	assert_int_equal(mr_answer_take(&copy, &a), was);
	for (i = 0; i < sizeof(a); i++) {
		((__u8 *)&a)[i] ^= 1;
		counts = i >= offsetof(struct mr_answer, born) &&
			 (i < offsetof(struct mr_answer, head_sum) || i >= offsetof(struct mr_answer, ttl_at));
		assert_int_equal(mr_answer_sum(&a) != was, counts);
		((__u8 *)&a)[i] ^= 1;
	}
}

static void the_longest_answer_fits_its_units(void **state)
{
	unsigned int name, max = 0;

	for (name = 1; name <= MR_NAME_MAX; name++)
		if (mr_answer_units(name, MR_MESSAGE_MAX - 12 - 4 - name) > max)
			max = mr_answer_units(name, MR_MESSAGE_MAX - 12 - 4 - name);
	assert_true(max <= MR_ANSWER_UNITS_MAX);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(decisions) + COUNT(cuts) + 16];
	size_t n = 0, i;

	for (i = 0; i < COUNT(decisions); i++)
		row_add(tests, &n, decisions[i].name, decide_row, &decisions[i]);
	for (i = 0; i < COUNT(cuts); i++)
		row_add(tests, &n, cuts[i].name, cut_row, &cuts[i]);
	row_add(tests, &n, "the overflow mark alone is no entry", the_mark_alone_is_no_entry, NULL);
	row_add(tests, &n, "Bloom filter and depths come first", bloom_and_depths_come_first, NULL);
	row_add(tests, &n, "mr_if_zero is right at the edges", if_zero_is_right_at_the_edges, NULL);
	row_add(tests, &n, "client tags are as computed elsewhere", client_tags_are_as_computed_elsewhere, NULL);
	row_add(tests, &n, "the longest prefix decides", the_longest_prefix_decides, NULL);
	row_add(tests, &n, "places of answers are as computed elsewhere", places_are_as_computed_elsewhere, NULL);
	row_add(tests, &n, "an answer is found in every way of its bucket", every_way_is_found, NULL);
	row_add(tests, &n, "body sums are plain sums, for each length", body_sums_are_plain_sums, NULL);
	row_add(tests, &n, "folding a sum ends in 16 bits, not 0", folding_ends_below_17_bits, NULL);
	row_add(tests, &n, "the head sum covers what it says", the_head_sum_covers_what_it_says, NULL);
	row_add(tests, &n, "the longest answer fits its units", the_longest_answer_fits_its_units, NULL);
	return _cmocka_run_group_tests("probe", tests, n, NULL, NULL);
}
