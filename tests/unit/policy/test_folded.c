/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_folded.c - names on more combinations of lists than the kernel has numbers for.
 *
 * The daemon judges each of them as if its combination had a number: held
 * against a reading of the items one by one, and, with all kinds of rules,
 * against filters of so few of the same names that each has one.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "dns/name.h"
#include "policy/compile.h"
#include "policy/filter_file.h"
#include "policy/judge.h"
#include "unit/policy/names.h"
#include "unit/policy/rig.h"

#define A       1
#define SOURCES 24
#define LOCAL   20			/* the source of local names; lists are below it */
#define PANEL   3			/* groups */
#define NAMES   40000
#define FEW     5000			/* names whose combinations have numbers for certain */
#define PARENTS 50
#define QUESTIONS 2			/* the name, and one below */

/* What is compiled, with a judge. */
struct folded {
	struct compile *compile;
	struct compiled made;
	struct filter_members *members;
	struct mr_unit unit;
	struct mr_verdict *verdicts;
	struct judge_group group[PANEL];
	_Atomic uint8_t uses[PANEL][SOURCES];
	struct judge judge;
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185ULL;
	x = (x ^ x >> 27) * 0x81dadef4bc2dd44dULL;
	return x ^ x >> 33;
}

static void folded_init(struct folded *f)
{
	unsigned g, i;

	memset(f, 0, sizeof(*f));
	f->compile = compile_new(&secret);
	assert_non_null(f->compile);
	compile_lists(f->compile, LOCAL);
	compile_local(f->compile, LOCAL);
	for (g = 0; g < PANEL; g++)
		for (i = 0; i < SOURCES; i++)
			f->uses[g][i] = i >= LOCAL || !g || mix(g * SOURCES + i) % 3;
}

static void say(struct folded *f, unsigned source, struct rule_item *i, const char *name)
{
	uint8_t wire[300];

	i->text = name;
	i->text_len = strlen(name);
	if (i->kind == RULE_REGEX) {
		i->pattern = name;
		i->pattern_len = i->text_len;
	} else {
		i->name = wire;
		i->name_len = name_wire(name, wire);
	}
	assert_in_range(compile_item(f->compile, source, i), 0, 1);
}

/* Make a judge of what is compiled. */
static void folded_sit(struct folded *f)
{
	unsigned g;

	f->members = filter_members_copy(f->made.filter);
	assert_non_null(f->members);
	f->unit = *filter_unit(f->made.filter);
	f->unit.groups = PANEL;
	for (g = 0; g < PANEL; g++)
		f->group[g] = (struct judge_group){ f->uses[g], SOURCES };
	f->judge = (struct judge){
		.filter = { .unit = &f->unit, .buckets = filter_buckets(f->made.filter), .bloom = filter_bloom(f->made.filter) },
		.members = f->members, .rules = f->made.rules, .secret = &secret, .group = f->group, .groups = PANEL,
		.lists = LOCAL, .rewrites = LOCAL, .safe_search = UINT_MAX,
	};
	f->verdicts = judge_verdicts(&f->judge);
	assert_non_null(f->verdicts);
	f->judge.filter.verdicts = f->verdicts;
}

static void folded_open(struct folded *f)
{
	struct err_at e = { 0 };

	if (compile_finish(f->compile, NULL, NULL, &f->made, &e))
		fail_msg("%s", e.why);
	folded_sit(f);
}

static void folded_close(struct folded *f)
{
	free(f->verdicts);
	filter_members_free(f->members);
	compiled_done(&f->made);
	compile_free(f->compile);
}

static void hash_text(const char *text, struct mr_name *ret)
{
	uint8_t wire[300];

	memset(ret, 0, sizeof(*ret));
	ret->len = name_wire(text, wire);
	memcpy(ret->text, wire, ret->len);
	assert_int_equal(mr_name_hash(ret, &secret), 0);
}

static struct judge_result judge_text(const struct folded *f, const char *text, unsigned group)
{
	struct mr_name name;
	struct judge_result r;

	hash_text(text, &name);
	judge_name(&f->judge, &(struct judge_question){ .lower = name.text, .len = name.len, .name = &name, .qtype = A,
							.group = group }, &r);
	return r;
}

static enum mr_verdict_kind kernel_says(const struct folded *f, const char *text, unsigned group)
{
	const struct filter_view *v = &f->judge.filter;
	struct mr_name name;

	hash_text(text, &name);
	return (enum mr_verdict_kind)mr_filter_decide(v->unit, v->buckets, (const __u64 *)v->bloom, v->verdicts, &name,
						      group).verdict.kind;
}

static const char *name_of(unsigned i, bool below, char *buf)
{
	sprintf(buf, "%sn%u.p%u.test", below ? "x." : "", i, i % PARENTS);
	return buf;
}

/* ---- plain names, read one by one ---- */

/* What a list says of name number @i, if anything. */
static bool item_of(unsigned i, unsigned list, struct rule_item *ret)
{
	uint64_t r = mix(i * 64ULL + list);
	unsigned action = r >> 8 & 15;

	if (!(r & 1))
		return false;
	*ret = (struct rule_item){
		.kind = RULE_NAME, .reach = r >> 1 & 3 ? RULE_EXACT : RULE_SUBTREE,
		.action = action < 10 ? FILTER_BLOCK : action < 13 ? FILTER_ALLOW : action < 15 ? FILTER_IMPORTANT_BLOCK :
			  FILTER_IMPORTANT_ALLOW,
		.line = list * 100000ULL + i + 1,
	};
	return true;
}

struct read {
	unsigned kind, source, depth;
};

/* The strongest of the items; among equals those of the very name, then the lower list. */
static struct read read_items(const struct folded *f, unsigned i, bool below, unsigned group)
{
	struct read best = { .kind = MR_NONE };
	struct rule_item item;
	unsigned reach, list;

	for (reach = 0; reach < 2; reach++)
		for (list = 0; list < LOCAL; list++)
			if (f->uses[group][list] && item_of(i, list, &item) && (item.reach == RULE_EXACT) == !reach &&
			    !(below && !reach) && (unsigned)item.action > best.kind)
				best = (struct read){ (unsigned)item.action, list, 3 };
	return best;
}

static void names_on_forty_thousand_combinations_are_judged_one_by_one(void **state)
{
	unsigned i, g, list, below, told = 0, kinds[MR_VERDICTS] = { 0 };
	struct rule_item item;
	struct judge_result r;
	struct folded f;
	struct read want;
	char text[64];

	folded_init(&f);
	for (i = 0; i < NAMES; i++)
		for (list = 0; list < LOCAL; list++)
			if (item_of(i, list, &item))
				say(&f, list, &item, name_of(i, false, text));
	folded_open(&f);
	assert_int_equal(f.unit.sets, MR_SET_ASK);
	assert_true(f.members->folded > 40000);
	assert_int_equal(f.made.asked, f.members->folded);
	assert_int_equal(f.made.untold, 0);
	for (i = 0; i < NAMES; i++)
		for (below = 0; below < QUESTIONS; below++)
			for (g = 0; g < PANEL; g++) {
				r = judge_text(&f, name_of(i, below, text), g);
				want = read_items(&f, i, below, g);
				if (r.kind != want.kind || (r.kind && (r.source != want.source || r.depth != want.depth)))
					fail_msg("%s for group %u: %s of %u at %u, the lists say %s of %u at %u", text, g,
						 filter_verdict_text(r.kind), r.source, r.depth, filter_verdict_text(want.kind),
						 want.source, want.depth);
				assert_int_equal(r.step, r.kind ? JUDGE_name : JUDGE_none);
				kinds[r.kind]++;
				list = kernel_says(&f, text, g);
				told += list != MR_ASK;
				if (list != MR_ASK)
					assert_int_equal(list, r.kind);
			}
	for (g = MR_NONE; g <= MR_IMPORTANT_ALLOW; g++)
		assert_true(g == MR_ASK || kinds[g] > 50);
	printf("# figure: %u folded names; of %u judgements the kernel told %u\n", f.members->folded,
	       NAMES * QUESTIONS * PANEL, told);
	folded_close(&f);
}

/* ---- all kinds of rules, held against a filter without folded names ---- */

static const uint8_t address[4] = { 192, 0, 2, 7 };

/* What a source says of a name where there is all of it: names below alone, conditions, answers. */
static bool special_item_of(unsigned i, unsigned source, struct rule_condition *c, struct rule_answer *a,
			    struct rule_item *ret)
{
	uint64_t r = mix(i * 64ULL + source + 7777777);

	*c = (struct rule_condition){ .types = 1, .type = { r >> 40 & 1 ? A : 28 } };
	*a = (struct rule_answer){ .kind = RULE_ANSWER_RECORD, .type = A, .rdata = address, .rdata_len = 4 };
	if (source == LOCAL) {
		*ret = (struct rule_item){ .kind = RULE_NAME, .action = FILTER_BLOCK, .reach = i % 2 ? RULE_EXACT : RULE_BELOW,
					   .answer = a, .line = i + 1 };
		return i % 37 == 5;
	}
	if (!item_of(i, source, ret))
		return false;
	if (r % 16 == 0)
		ret->reach = RULE_BELOW;
	if (r % 97 == 1)
		ret->condition = c;
	if (r % 97 == 2 && ret->action == FILTER_BLOCK)
		ret->answer = a;
	return true;
}

static void say_parents(struct folded *f)
{
	struct rule_item all[] = {
		{ .kind = RULE_NAME, .reach = RULE_SUBTREE, .action = FILTER_IMPORTANT_ALLOW },
		{ .kind = RULE_NAME, .reach = RULE_SUBTREE, .action = FILTER_BLOCK },
		{ .kind = RULE_NAME, .reach = RULE_SUBTREE, .action = FILTER_ALLOW },
	};
	char text[32];
	unsigned i;

	for (i = 0; i < PARENTS; i++) {
		sprintf(text, "p%u.test", i);
		if (i % 5)
			say(f, (i * 7) % LOCAL, &all[i % 3], text);
		if (i % 7 == 0)
			say(f, (i * 3) % LOCAL, &all[1], text);
	}
	say(f, 4, &(struct rule_item){ .kind = RULE_REGEX, .action = FILTER_ALLOW }, "^x\\.n[0-9]*3\\.");
	say(f, 9, &(struct rule_item){ .kind = RULE_REGEX, .action = FILTER_IMPORTANT_BLOCK }, "^n[0-9]*77\\.");
}

static void say_specials(struct folded *f, unsigned from, unsigned to)
{
	struct rule_condition condition;
	struct rule_answer answer;
	struct rule_item item;
	unsigned i, source;
	char text[64];

	for (i = from; i < to; i++)
		for (source = 0; source <= LOCAL; source++)
			if (special_item_of(i, source, &condition, &answer, &item))
				say(f, source, &item, name_of(i, false, text));
}

/* Where an entry stands does not matter, nor the number of its set. */
static void hold_same(const char *name, unsigned group, const struct judge_result *a, const struct judge_result *b)
{
	const uint64_t numbers = (uint64_t)(MR_SETS_MAX - 1) << MR_ENTRY_SET_SHIFT;
	unsigned i, differ = a->kind != b->kind || a->step != b->step || a->unknown != b->unknown || a->source != b->source ||
			     a->depth != b->depth || (a->entry | numbers) != (b->entry | numbers) || !a->rule != !b->rule ||
			     a->rewrites != b->rewrites;

	if (!differ && a->rule)
		differ = a->rule->line != b->rule->line;
	for (i = 0; !differ && i < a->rewrites; i++)
		differ = a->rewrite[i]->line != b->rewrite[i]->line;
	if (differ)
		fail_msg("%s for group %u: folded %s by %s of %u at %u, %u rewrites; else %s by %s of %u at %u, %u rewrites", name,
			 group, filter_verdict_text(a->kind), judge_step_names[a->step], a->source, a->depth, a->rewrites,
			 filter_verdict_text(b->kind), judge_step_names[b->step], b->source, b->depth, b->rewrites);
}

/* A filter of few of the names, none of which is folded, says the same of them; returns answers of local names. */
static unsigned hold_against_few(const struct folded *f, unsigned from, unsigned to)
{
	unsigned i, g, below, locals = 0;
	struct judge_result got, want;
	struct folded few;
	char text[64];

	folded_init(&few);
	say_parents(&few);
	say_specials(&few, from, to);
	folded_open(&few);
	assert_int_equal(few.made.asked, 0);
	for (i = from; i < to; i++)
		for (below = 0; below < QUESTIONS; below++)
			for (g = 0; g < PANEL; g++) {
				got = judge_text(f, name_of(i, below, text), g);
				want = judge_text(&few, text, g);
				hold_same(text, g, &got, &want);
				locals += got.rewrites && got.source == LOCAL;
				/* the kernel knows local names as such, whatever else is said of them */
				if (got.rewrites && got.source == LOCAL)
					assert_int_equal(kernel_says(f, text, g), MR_LOCAL_ZONE);
			}
	folded_close(&few);
	return locals;
}

static void folded_names_are_judged_as_if_each_combination_had_a_number(void **state)
{
	unsigned from, locals = 0;
	struct folded f;

	folded_init(&f);
	say_parents(&f);
	say_specials(&f, 0, NAMES);
	folded_open(&f);
	assert_true(f.members->folded > NAMES);
	for (from = 0; from < NAMES; from += FEW)
		locals += hold_against_few(&f, from, from + FEW);
	assert_true(locals > NAMES / 37);
	folded_close(&f);
}

/* The next start begins with what stands on disk: the same words, and the same numbers of names for the status. */
static void folded_names_are_kept_in_the_file(void **state)
{
	char rules[128], text[64];
	struct judge_result r, want;
	struct err_at e = { 0 };
	struct folded f, again;
	unsigned i, g;

	snprintf(rules, sizeof(rules), "%s/rules", folder);
	filter_limits.sets = 100;
	filter_limits.folded = 4000;
	folded_init(&f);
	say_parents(&f);
	say_specials(&f, 0, FEW);
	if (compile_finish(f.compile, path, rules, &f.made, &e))
		fail_msg("%s", e.why);
	filter_limits.sets = MR_SET_ASK;
	filter_limits.folded = FILTER_FOLDED_MAX;
	folded_sit(&f);
	folded_init(&again);
	if (compile_open(path, rules, &secret, &again.made, &e))
		fail_msg("%s", e.why);
	folded_sit(&again);
	assert_int_equal(f.made.untold, f.made.asked - 4000);
	assert_true(f.made.untold > 1000);
	assert_int_equal(again.made.asked, f.made.asked);
	assert_int_equal(again.made.untold, f.made.untold);
	for (i = 0; i < FEW; i++)
		for (g = 0; g < PANEL; g++) {
			r = judge_text(&again, name_of(i, true, text), g);
			want = judge_text(&f, text, g);
			hold_same(text, g, &r, &want);
		}
	folded_close(&f);
	folded_close(&again);
	unlink(rules);
}

/* ---- bounds ---- */

/* Names on every combination of five lists, all of which allow them. */
static void say_allowed(struct folded *f)
{
	struct rule_item item = { .kind = RULE_NAME, .action = FILTER_ALLOW };
	char text[16];
	unsigned i, j;

	for (i = 1; i < 32; i++)
		for (j = 0; j < 5; j++)
			if (i >> j & 1) {
				sprintf(text, "n%u.b", i);
				say(f, j, &item, text);
			}
}

static const struct bound {
	const char *name;
	uint32_t sets, folded, members;
	unsigned asked, untold;
} bounds[] = {
	{ "all combinations have numbers", MR_SET_ASK, 100, 100, 0, 0 },
	{ "names without a number are folded", 4, 100, 100, 28, 0 },
	{ "all names are folded", 1, 100, 100, 31, 0 },
	{ "as many names as there is room for are folded", 4, 10, 100, 28, 18 },
	{ "the last name has room", 4, 28, 100, 28, 0 },
	{ "the last name has no room", 4, 27, 100, 28, 1 },
	{ "nothing is folded without room", 4, 0, 100, 28, 28 },
	{ "no set is kept beyond the room for members", 4, 100, 0, 28, 28 },
};

static void what_has_no_room_is_counted_and_blocked(void **state)
{
	const struct bound *b = *state;
	unsigned i, many = 0, g;
	struct judge_result r;
	struct folded f;
	char text[16];

	filter_limits.sets = b->sets;
	filter_limits.folded = b->folded;
	filter_limits.folded_members = b->members;
	folded_init(&f);
	say_allowed(&f);
	folded_open(&f);
	filter_limits = (struct filter_limits){ .sets = MR_SET_ASK, .folded = FILTER_FOLDED_MAX,
						.folded_members = FILTER_FOLDED_MEMBERS_MAX };
	assert_int_equal(f.made.asked, b->asked);
	assert_int_equal(f.made.untold, b->untold);
	for (g = 0; g < PANEL; g++)
		for (i = 1; i < 32; i++) {
			sprintf(text, "n%u.b", i);
			r = judge_text(&f, text, g);
			assert_int_equal(r.kind, r.step == JUDGE_many ? MR_BLOCK : r.step == JUDGE_name ? MR_ALLOW : MR_NONE);
			many += r.step == JUDGE_many;
			if (!g)
				assert_int_not_equal(r.kind, MR_NONE);
		}
	assert_int_equal(many, PANEL * b->untold);
	assert_int_equal(judge_text(&f, "n99.b", 0).kind, MR_NONE);
	folded_close(&f);
}

/* Sets that many names share are kept once, whatever they are: 24 octets each name. */
static void names_of_one_combination_share_its_set(void **state)
{
	struct rule_item item = { .kind = RULE_NAME, .action = FILTER_BLOCK };
	struct folded f;
	char text[64];
	unsigned i;

	filter_limits.sets = 1;
	folded_init(&f);
	for (i = 0; i < 1000; i++) {
		say(&f, 1, &item, name_of(i, false, text));
		say(&f, 3, &item, text);
	}
	folded_open(&f);
	filter_limits.sets = MR_SET_ASK;
	assert_int_equal(f.members->folded, 1000);
	assert_int_equal(f.members->at[2] & ~FILTER_SET_SUBTREE, 2);
	assert_int_equal(judge_text(&f, name_of(999, false, text), 0).source, 1);
	folded_close(&f);
}

/* ---- what is stronger than asking, and links ---- */

/* Even when no number is left for a local name, the daemon keeps it. */
static void a_folded_local_name_is_not_freed(void **state)
{
	struct rule_answer answer = { .kind = RULE_ANSWER_RECORD, .type = A, .rdata = address, .rdata_len = 4 };
	struct rule_item item = { .kind = RULE_NAME, .action = FILTER_IMPORTANT_ALLOW, .reach = RULE_SUBTREE };
	struct judge_result r;
	struct folded f;
	unsigned sets;

	for (sets = 1; sets < 4; sets++) {
		filter_limits.sets = sets;
		folded_init(&f);
		say(&f, 2, &item, "b");
		say(&f, 3, &(struct rule_item){ .kind = RULE_NAME, .action = FILTER_BLOCK }, "nas.b");
		say(&f, LOCAL, &(struct rule_item){ .kind = RULE_NAME, .action = FILTER_BLOCK, .answer = &answer, .line = 1 },
		    "nas.b");
		folded_open(&f);
		r = judge_text(&f, "nas.b", 0);
		assert_int_equal(r.rewrites, 1);
		assert_int_equal(r.source, LOCAL);
		assert_int_equal(judge_text(&f, "x.b", 0).kind, MR_IMPORTANT_ALLOW);
		/* and the first number is its own */
		assert_int_equal(kernel_says(&f, "nas.b", 0), sets > 1 ? MR_LOCAL_ZONE : MR_ASK);
		folded_close(&f);
	}
	filter_limits.sets = MR_SET_ASK;
}

static void links_that_are_folded_are_judged(void **state)
{
	struct rule_item block = { .kind = RULE_NAME, .action = FILTER_BLOCK, .reach = RULE_SUBTREE };
	struct rule_item allow = { .kind = RULE_NAME, .action = FILTER_ALLOW };
	struct judge_result r;
	struct mr_name name;
	struct folded f;
	unsigned g;

	filter_limits.sets = 1;
	folded_init(&f);
	for (g = 0; g < PANEL; g++)
		f.uses[g][1] = g == 1;
	say(&f, 1, &block, "ads.b");
	say(&f, 1, &allow, "good.ads.b");
	folded_open(&f);
	filter_limits.sets = MR_SET_ASK;
	hash_text("x.ads.b", &name);
	for (g = 0; g < PANEL; g++) {
		judge_link(&f.judge, &(struct judge_question){ .lower = name.text, .len = name.len, .name = &name, .qtype = A,
							       .group = g }, &r);
		assert_int_equal(r.kind, g == 1 ? MR_BLOCK : MR_NONE);
		assert_int_equal(r.step, g == 1 ? JUDGE_link : JUDGE_none);
	}
	hash_text("good.ads.b", &name);
	judge_link(&f.judge, &(struct judge_question){ .lower = name.text, .len = name.len, .name = &name, .qtype = A,
						       .group = 1 }, &r);
	assert_int_equal(r.kind, MR_ALLOW);
	folded_close(&f);
}

/* A group that there is not uses nothing; and a name deeper than the table is judged by its parents. */
static void names_out_of_bounds_are_judged_beside_folded_ones(void **state)
{
	struct rule_item block = { .kind = RULE_NAME, .action = FILTER_BLOCK, .reach = RULE_SUBTREE };
	static const char deep[] = "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.ads.b";
	struct judge_result r;
	struct folded f;
	uint8_t wire[300];
	uint16_t len = name_wire(deep, wire);

	filter_limits.sets = 1;
	folded_init(&f);
	say(&f, 1, &block, "ads.b");
	say(&f, 5, &(struct rule_item){ .kind = RULE_REGEX, .action = FILTER_ALLOW }, "^nothing$");
	folded_open(&f);
	filter_limits.sets = MR_SET_ASK;
	assert_int_equal(judge_text(&f, "ads.b", PANEL).kind, MR_NONE);
	judge_name(&f.judge, &(struct judge_question){ .lower = wire, .len = len, .qtype = A }, &r);
	assert_int_equal(r.kind, MR_BLOCK);
	assert_int_equal(r.depth, 2);
	folded_close(&f);
}

/* ---- why ---- */

static void the_line_of_a_folded_name_is_found(void **state)
{
	static const char text[] = "# a list\n||other.b^\n@@||n1.b^$important\n||n1.b^\n";
	struct list_report report = { 0 };
	char line[64];
	struct judge_result r;
	struct folded f;
	uint8_t wire[300];
	uint16_t len = name_wire("x.n1.b", wire);

	filter_limits.sets = 1;
	folded_init(&f);
	assert_int_equal(compile_list(f.compile, 4, text, sizeof(text) - 1, LIST_AUTO, false, &report), 0);
	folded_open(&f);
	filter_limits.sets = MR_SET_ASK;
	r = judge_text(&f, "x.n1.b", 0);
	assert_int_equal(r.kind, MR_IMPORTANT_ALLOW);
	assert_int_equal(r.source, 4);
	assert_int_equal(compile_line(text, sizeof(text) - 1, LIST_AUTO, false, wire, len, &r, line, sizeof(line)), 3);
	assert_string_equal(line, "@@||n1.b^$important");
	len = name_wire("other.b", wire);
	r = judge_text(&f, "other.b", 0);
	assert_int_equal(compile_line(text, sizeof(text) - 1, LIST_AUTO, false, wire, len, &r, line, sizeof(line)), 2);
	folded_close(&f);
}

int main(void)
{
	static struct CMUnitTest tests[8 + COUNT_OF(bounds)] = {
		cmocka_unit_test(names_on_forty_thousand_combinations_are_judged_one_by_one),
		cmocka_unit_test(folded_names_are_judged_as_if_each_combination_had_a_number),
		cmocka_unit_test(folded_names_are_kept_in_the_file),
		cmocka_unit_test(names_of_one_combination_share_its_set),
		cmocka_unit_test(a_folded_local_name_is_not_freed),
		cmocka_unit_test(links_that_are_folded_are_judged),
		cmocka_unit_test(names_out_of_bounds_are_judged_beside_folded_ones),
		cmocka_unit_test(the_line_of_a_folded_name_is_found),
	};
	size_t n = 8, i;

	for (i = 0; i < COUNT_OF(bounds); i++)
		tests[n++] = (struct CMUnitTest){ bounds[i].name, what_has_no_room_is_counted_and_blocked, NULL, NULL,
						  (void *)&bounds[i] };
	return _cmocka_run_group_tests("folded", tests, n, setup, teardown);
}
