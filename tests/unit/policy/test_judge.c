/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_judge.c - what is said of a name, weighed.
 *
 * Tables of rules with questions, and random rules whose judgement is held
 * against a slow reading of docs/adr/0008 and against the kernel's form.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "policy/count.h"
#include "policy/filter_file.h"
#include "policy/regex.h"
#include "unit/policy/court.h"
#include "unit/policy/names.h"
#include "unit/policy/rig.h"

#define A    1
#define AAAA 28
#define RULES_PER_CASE 6

#define SUB  .reach = RULE_SUBTREE
#define BELOW .reach = RULE_BELOW
#define RE(p) .kind = RULE_REGEX, .name = (p)
#define ALLOW .action = FILTER_ALLOW
#define IBLOCK .action = FILTER_IMPORTANT_BLOCK
#define IALLOW .action = FILTER_IMPORTANT_ALLOW
#define REC(n) .answer = SAID_RECORD, .value = (n)

static const struct judged {
	const char *name;
	struct said rules[RULES_PER_CASE];
	const char *qname;
	enum mr_verdict_kind kind;
	enum judge_step step;
	unsigned source, depth;
	unsigned rewrites;
	uint32_t value;			/* of the first rewrite */
	enum mr_verdict_kind kernel;	/* what its form says */
	uint16_t qtype;			/* 0: A */
	bool paused;
} judged[] = {
	{ "plain name blocks", { { .name = "a.b" } }, "a.b", MR_BLOCK, JUDGE_name, 0, 2, .kernel = MR_BLOCK },
	{ "nothing is said", { { .name = "a.b" } }, "b", MR_NONE, JUDGE_none, .kernel = MR_NONE },
	{ "below: a name below is blocked", { { .name = "b", BELOW } }, "a.b", MR_BLOCK, JUDGE_name, 0, 1, .kernel = MR_ASK },
	{ "below: the name itself is free", { { .name = "b", BELOW } }, "b", MR_NONE, JUDGE_none, .kernel = MR_ASK },
	{ "below and the very name of one source are one subtree", { { .name = "b", BELOW }, { .name = "b" } }, "a.b", MR_BLOCK, JUDGE_name, 0, 1, .kernel = MR_BLOCK },
	{ "the one subtree holds the name", { { .name = "b", BELOW }, { .name = "b" } }, "b", MR_BLOCK, JUDGE_name, 0, 1, .kernel = MR_BLOCK },
	{ "below and the very name of two sources stay two", { { .name = "b", BELOW }, { .source = 1, .name = "b" } }, "a.b", MR_BLOCK, JUDGE_name, 0, 1, .kernel = MR_ASK },
	{ "below and the very name of two actions stay two", { { .name = "b", BELOW }, { .name = "b", ALLOW } }, "b", MR_ALLOW, JUDGE_name, 0, 1, .kernel = MR_ASK },
	{ "allow beats block", { { .name = "b", SUB }, { .source = 1, .name = "b", SUB, ALLOW } }, "a.b", MR_ALLOW, JUDGE_name, 1, 1, .kernel = MR_ALLOW },
	{ "important block beats allow", { { .name = "b", SUB, IBLOCK }, { .name = "a.b", ALLOW } }, "a.b", MR_IMPORTANT_BLOCK, JUDGE_name, 0, 1, .kernel = MR_IMPORTANT_BLOCK },
	{ "important allow beats all", { { .name = "a.b", IBLOCK }, { .name = "b", SUB, IALLOW }, { .name = "a.b", REC(1) } }, "a.b", MR_IMPORTANT_ALLOW, JUDGE_name, 0, 1, .kernel = MR_IMPORTANT_ALLOW },
	{ "local name is not freed by an important allow", { { .name = "b", SUB, IALLOW }, { .source = COURT_LOCAL, .name = "a.b", REC(1) } }, "a.b", MR_NONE, JUDGE_rewrite, COURT_LOCAL, 2, 1, 1, .kernel = MR_LOCAL_ZONE },
	{ "nor are the names below one", { { .name = "x.a.b", IALLOW }, { .source = COURT_LOCAL, .name = "a.b", BELOW, REC(1) } }, "x.a.b", MR_NONE, JUDGE_rewrite, COURT_LOCAL, 2, 1, 1, .kernel = MR_LOCAL_ZONE },
	{ "important allow frees the parent of local names", { { .name = "b", SUB, IALLOW }, { .source = COURT_LOCAL, .name = "a.b", BELOW, REC(1) } }, "a.b", MR_IMPORTANT_ALLOW, JUDGE_name, 0, 1, .kernel = MR_LOCAL_ZONE },
	{ "rewrite beats important block", { { .name = "a.b", IBLOCK }, { .name = "b", SUB, REC(1) } }, "a.b", MR_NONE, JUDGE_rewrite, 0, 1, 1, 1, .kernel = MR_ASK },
	{ "more labels first", { { .name = "b", SUB }, { .source = 1, .name = "a.b", SUB } }, "a.b", MR_BLOCK, JUDGE_name, 1, 2, .kernel = MR_BLOCK },
	{ "then the lower source", { { .source = 2, .name = "a.b" }, { .source = 1, .name = "a.b" } }, "a.b", MR_BLOCK, JUDGE_name, 1, 2, .kernel = MR_BLOCK },
	{ "the very name before the subtree", { { .source = 0, .name = "a.b", SUB }, { .source = 1, .name = "a.b" } }, "a.b", MR_BLOCK, JUDGE_name, 1, 2, .kernel = MR_BLOCK },
	{ "condition holds", { { .name = "a.b", .type = A } }, "a.b", MR_BLOCK, JUDGE_rule, 0, 2, .kernel = MR_ASK },
	{ "condition does not hold", { { .name = "a.b", .type = AAAA } }, "a.b", MR_NONE, JUDGE_none, .kernel = MR_ASK },
	{ "condition does not hold, a plain name does", { { .name = "a.b", .type = AAAA, ALLOW }, { .name = "a.b" } }, "a.b", MR_BLOCK, JUDGE_name, 0, 2, .kernel = MR_ASK },
	{ "condition of a parent holds", { { .name = "b", SUB, .type = A } }, "x.a.b", MR_BLOCK, JUDGE_rule, 0, 1, .kernel = MR_ASK },
	{ "condition on names below alone", { { .name = "b", BELOW, .type = A } }, "b", MR_NONE, JUDGE_none, .kernel = MR_ASK },
	{ "name that is excepted from a subtree", { { .name = "b", SUB, .deny = "a.b" } }, "x.a.b", MR_NONE, JUDGE_none, .kernel = MR_ASK },
	{ "name beside the excepted one", { { .name = "b", SUB, .deny = "a.b" } }, "x.b", MR_BLOCK, JUDGE_rule, 0, 1, .kernel = MR_ASK },
	{ "pattern blocks a name that is on no list", { { RE("^ads\\.") } }, "ads.b", MR_BLOCK, JUDGE_regex, .kernel = MR_NONE },
	{ "pattern that does not match", { { RE("^ads\\.") } }, "b", MR_NONE, JUDGE_none, .kernel = MR_NONE },
	{ "pattern that all names but some match", { { RE("\\.b$"), .invert = true } }, "a.c", MR_BLOCK, JUDGE_regex, .kernel = MR_NONE },
	{ "inverted pattern spares what it matches", { { RE("\\.b$"), .invert = true } }, "a.b", MR_NONE, JUDGE_none, .kernel = MR_NONE },
	{ "pattern frees an exact name, known to the kernel", { { .name = "ads.b" }, { .source = 1, RE("^ads\\."), ALLOW } }, "ads.b", MR_ALLOW, JUDGE_name, 1, 2, .kernel = MR_ALLOW },
	{ "pattern that misses an exact name leaves it to the kernel", { { .name = "x.b" }, { .source = 1, RE("^ads\\."), ALLOW } }, "x.b", MR_BLOCK, JUDGE_name, 0, 2, .kernel = MR_BLOCK },
	{ "pattern may free names of a subtree: this one", { { .name = "b", SUB }, { .source = 1, RE("^ads\\."), ALLOW } }, "ads.b", MR_ALLOW, JUDGE_regex, 1, 0, .kernel = MR_ASK },
	{ "pattern may free names of a subtree: not this one", { { .name = "b", SUB }, { .source = 1, RE("^ads\\."), ALLOW } }, "x.b", MR_BLOCK, JUDGE_name, 0, 1, .kernel = MR_ASK },
	{ "pattern that is no stronger leaves the subtree to the kernel", { { .name = "b", SUB }, { .source = 1, RE("^ads\\.") } }, "ads.b", MR_BLOCK, JUDGE_name, 0, 1, .kernel = MR_BLOCK },
	{ "pattern with a condition makes an exact name a question", { { .name = "ads.b" }, { RE("^ads\\."), ALLOW, .type = A } }, "ads.b", MR_ALLOW, JUDGE_regex, 0, 0, .kernel = MR_ASK },
	{ "pattern that rewrites", { { .name = "ads.b" }, { RE("^ads\\."), REC(7) } }, "ads.b", MR_NONE, JUDGE_rewrite, 0, 0, 1, 7, .kernel = MR_ASK },
	{ "pattern stronger than an important block", { { .name = "b", SUB, IBLOCK }, { RE("^ads\\."), REC(7) } }, "ads.b", MR_NONE, JUDGE_rewrite, 0, 0, 1, 7, .kernel = MR_ASK },
	{ "two records are one answer", { { .name = "a.b", REC(1) }, { .name = "a.b", REC(2) } }, "a.b", MR_NONE, JUDGE_rewrite, 0, 2, 2, 1, .kernel = MR_ASK },
	{ "records of the nearer name alone", { { .name = "b", SUB, REC(1) }, { .name = "a.b", REC(2) } }, "a.b", MR_NONE, JUDGE_rewrite, 0, 2, 1, 2, .kernel = MR_ASK },
	{ "records of the lower source alone", { { .source = 2, .name = "a.b", REC(1) }, { .source = 1, .name = "a.b", REC(2) } }, "a.b", MR_NONE, JUDGE_rewrite, 1, 2, 1, 2, .kernel = MR_ASK },
	{ "alias stands alone", { { .name = "a.b", REC(1) }, { .name = "a.b", .answer = SAID_CNAME, .line = 2 } }, "a.b", MR_NONE, JUDGE_rewrite, 0, 2, 1, 0, .kernel = MR_ASK },
	{ "rcode stands alone", { { .name = "a.b", REC(1) }, { .name = "a.b", .answer = SAID_RCODE, .value = 3, .line = 2 } }, "a.b", MR_NONE, JUDGE_rewrite, 0, 2, 1, 0, .kernel = MR_ASK },
	{ "exception lifts all rewrites", { { .name = "a.b", REC(1) }, { .name = "a.b", SUB, .answer = SAID_ANY, ALLOW } }, "a.b", MR_NONE, JUDGE_none, .kernel = MR_ASK },
	{ "exception with a value lifts that one", { { .name = "a.b", REC(1) }, { .name = "a.b", REC(2) }, { .name = "b", SUB, REC(1), ALLOW } }, "a.b", MR_NONE, JUDGE_rewrite, 0, 2, 1, 2, .kernel = MR_ASK },
	{ "important rewrite is not lifted by a common exception", { { .name = "a.b", REC(1), IBLOCK }, { .name = "a.b", .answer = SAID_ANY, ALLOW } }, "a.b", MR_NONE, JUDGE_rewrite, 0, 2, 1, 1, .kernel = MR_ASK },
	{ "important rewrite is lifted by an important exception", { { .name = "a.b", REC(1), IBLOCK }, { .name = "a.b", .answer = SAID_ANY, IALLOW } }, "a.b", MR_NONE, JUDGE_none, .kernel = MR_ASK },
	{ "exception of rewrites leaves a block", { { .name = "a.b" }, { .name = "a.b", .answer = SAID_ANY, ALLOW } }, "a.b", MR_BLOCK, JUDGE_name, 0, 2, .kernel = MR_BLOCK },
	{ "badfilter takes a plain name away", { { .name = "a.b" }, { .source = 1, .name = "a.b", .bad = true } }, "a.b", MR_NONE, JUDGE_none, .kernel = MR_NONE },
	{ "badfilter takes a subtree away, whatever source", { { .source = 2, .name = "b", SUB }, { .source = 1, .name = "b", SUB, .bad = true } }, "a.b", MR_NONE, JUDGE_none, .kernel = MR_NONE },
	{ "badfilter of another reach takes nothing", { { .name = "a.b" }, { .name = "a.b", SUB, .bad = true } }, "a.b", MR_BLOCK, JUDGE_name, 0, 2, .kernel = MR_BLOCK },
	{ "badfilter of another action takes nothing", { { .name = "a.b", IBLOCK }, { .name = "a.b", .bad = true } }, "a.b", MR_IMPORTANT_BLOCK, JUDGE_name, 0, 2, .kernel = MR_IMPORTANT_BLOCK },
	{ "badfilter without the condition takes nothing", { { .name = "a.b", .type = A }, { .name = "a.b", .bad = true } }, "a.b", MR_BLOCK, JUDGE_rule, 0, 2, .kernel = MR_ASK },
	{ "badfilter with the condition takes it away", { { .name = "a.b", .type = A }, { .name = "a.b", .type = A, .bad = true } }, "a.b", MR_NONE, JUDGE_none, .kernel = MR_NONE },
	{ "badfilter of a pattern", { { RE("^ads\\.") }, { .source = 1, RE("^ads\\."), .bad = true } }, "ads.b", MR_NONE, JUDGE_none, .kernel = MR_NONE },
	{ "badfilter leaves what is said besides", { { .name = "a.b" }, { .name = "a.b", ALLOW }, { .name = "a.b", .bad = true } }, "a.b", MR_ALLOW, JUDGE_name, 0, 2, .kernel = MR_ALLOW },
	{ "badfilter does not take a pattern's match away", { { .name = "ads.b" }, { .name = "ads.b", .bad = true }, { .source = 1, RE("^ads\\.") } }, "ads.b", MR_BLOCK, JUDGE_name, 1, 2, .kernel = MR_BLOCK },
	{ "pause lifts a block", { { .name = "a.b" } }, "a.b", MR_NONE, JUDGE_none, .kernel = MR_BLOCK, .paused = true },
	{ "pause lifts a pattern's block", { { RE("^ads\\.") } }, "ads.b", MR_NONE, JUDGE_none, .paused = true },
	{ "pause leaves allow", { { .name = "a.b", ALLOW } }, "a.b", MR_ALLOW, JUDGE_name, 0, 2, .kernel = MR_ALLOW, .paused = true },
	{ "pause leaves a rewrite", { { .name = "a.b", REC(5) } }, "a.b", MR_NONE, JUDGE_rewrite, 0, 2, 1, 5, .kernel = MR_ASK, .paused = true },
	{ "pause lifts safe search", { { .source = COURT_SOURCES - 1, .name = "a.b", REC(5) } }, "a.b", MR_NONE, JUDGE_none, .kernel = MR_ASK, .paused = true },
	{ "safe search without a pause", { { .source = COURT_SOURCES - 1, .name = "a.b", REC(5) } }, "a.b", MR_NONE, JUDGE_rewrite, COURT_SOURCES - 1, 2, 1, 5, .kernel = MR_ASK },
};

static void name_is_judged(void **state)
{
	const struct judged *t = *state;
	struct judge_result r;
	struct court c;
	unsigned i;

	court_init(&c);
	for (i = 0; i < RULES_PER_CASE && t->rules[i].name; i++)
		assert_int_equal(court_say(&c, &t->rules[i]), 1);
	court_open(&c);
	assert_int_equal(court_kernel(&c, t->qname, 0).verdict.kind, t->kernel);
	r = court_judge(&c, t->qname, t->qtype ? t->qtype : A, 0, t->paused, NULL);
	assert_int_equal(r.kind, t->kind);
	assert_int_equal(r.step, t->step);
	assert_int_equal(r.source, t->source);
	assert_int_equal(r.depth, t->depth);
	assert_int_equal(r.rewrites, t->rewrites);
	if (t->value)
		assert_memory_equal(r.rewrite[0]->answer->rdata, &t->value, 4);
	court_close(&c);
}

static void groups_choose_among_sources(void **state)
{
	static const struct said rules[] = {
		{ .source = 0, .name = "a.b" }, { .source = 1, .name = "a.b", ALLOW }, { .source = 2, RE("^a\\."), IBLOCK },
		{ .source = 3, .name = "a.b", REC(9) },
	};
	struct court c;
	unsigned i;

	court_init(&c);
	for (i = 0; i < COUNT_OF(rules); i++)
		court_say(&c, &rules[i]);
	memset((void *)c.uses, 0, sizeof(c.uses));
	c.uses[0][0] = 1;
	c.uses[1][0] = c.uses[1][1] = 1;
	c.uses[2][0] = c.uses[2][1] = c.uses[2][2] = 1;
	court_open(&c);
	assert_int_equal(court_judge(&c, "a.b", A, 0, false, NULL).kind, MR_BLOCK);
	assert_int_equal(court_judge(&c, "a.b", A, 1, false, NULL).kind, MR_ALLOW);
	assert_int_equal(court_judge(&c, "a.b", A, 2, false, NULL).kind, MR_IMPORTANT_BLOCK);
	assert_int_equal(court_judge(&c, "a.b", A, 3, false, NULL).kind, MR_NONE);
	assert_int_equal(court_judge(&c, "a.b", A, COURT_GROUPS, false, NULL).kind, MR_NONE);
	/* an edge of a schedule */
	c.uses[0][3] = 1;
	court_sit(&c);
	assert_int_equal(court_judge(&c, "a.b", A, 0, false, NULL).rewrites, 1);
	court_close(&c);
}

static void links_and_addresses_are_judged(void **state)
{
	static const struct said rules[] = {
		{ .name = "b", SUB }, { .name = "r.c", REC(1) }, { .kind = RULE_ADDRESS, .name = "192.0.2.0/24" },
		{ .source = 1, .kind = RULE_ADDRESS, .name = "192.0.2.7", ALLOW }, { .source = 2, RE("^track"), IBLOCK },
	};
	uint8_t wire[64], ip[16] = { [10] = 0xff, [11] = 0xff, 192, 0, 2, 1 };
	struct judge_question q = { .lower = wire, .qtype = A };
	struct mr_name name;
	struct judge_result r;
	struct court c;
	unsigned i;
	static const struct {
		const char *name;
		enum mr_verdict_kind kind;
	} links[] = { { "a.b", MR_BLOCK }, { "r.c", MR_NONE }, { "tracker.c", MR_IMPORTANT_BLOCK }, { "c", MR_NONE } };

	court_init(&c);
	for (i = 0; i < COUNT_OF(rules); i++)
		assert_int_equal(court_say(&c, &rules[i]), 1);
	court_open(&c);
	for (i = 0; i < COUNT_OF(links); i++) {
		memset(&name, 0, sizeof(name));
		q.len = name.len = name_wire(links[i].name, wire);
		memcpy(name.text, wire, q.len);
		assert_int_equal(mr_name_hash(&name, &secret), 0);
		q.name = &name;
		judge_link(&c.judge, &q, &r);
		assert_int_equal(r.kind, links[i].kind);
		assert_int_equal(r.step, r.kind ? JUDGE_link : JUDGE_none);
		assert_int_equal(r.rewrites, 0);
		assert_int_equal(judge_asks(&c.judge, wire, q.len), !strcmp(links[i].name, "tracker.c"));
	}
	assert_true(rules_have_address(c.judge.rules));
	judge_address(&c.judge, &q, ip, &r);
	assert_int_equal(r.kind, MR_BLOCK);
	assert_int_equal(r.step, JUDGE_address);
	ip[15] = 7;
	judge_address(&c.judge, &q, ip, &r);
	assert_int_equal(r.kind, MR_NONE);
	ip[14] = 3;
	judge_address(&c.judge, &q, ip, &r);
	assert_int_equal(r.kind, MR_NONE);
	court_close(&c);
}

static void clients_and_tags_are_conditions(void **state)
{
	static const char *const tags[] = { "pc", "child" };
	struct who who = { .ip = { [10] = 0xff, [11] = 0xff, 10, 0, 0, 1 }, .name = "tablet", .tag = tags, .tags = 2 };
	static const struct {
		struct said rule;
		bool known, unknown;	/* blocked for that client, and for one of whom nothing is known */
	} rows[] = {
		{ { .name = "a.b", .client = "10.0.0.0/8" }, true, false },
		{ { .name = "a.b", .client = "~10.0.0.0/8" }, false, true },
		{ { .name = "a.b", .client = "10.0.0.2" }, false, false },
		{ { .name = "a.b", .client = "tablet" }, true, false },
		{ { .name = "a.b", .client = "~tablet" }, false, true },
		{ { .name = "a.b", .tag = "child" }, true, false },
		{ { .name = "a.b", .tag = "~child" }, false, true },
		{ { .name = "a.b", .tag = "phone" }, false, false },
	};
	struct court c;
	unsigned i;

	for (i = 0; i < COUNT_OF(rows); i++) {
		court_init(&c);
		court_say(&c, &rows[i].rule);
		court_open(&c);
		assert_int_equal(court_judge(&c, "a.b", A, 0, false, &who).kind == MR_BLOCK, rows[i].known);
		assert_int_equal(court_judge(&c, "a.b", A, 0, false, NULL).kind == MR_BLOCK, rows[i].unknown);
		court_close(&c);
	}
}

static void names_too_deep_for_the_kernel_are_judged(void **state)
{
	static const char *const deep = "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17.18.x.b";
	static const struct said rules[] = {
		{ .name = "b", SUB }, { .source = 1, .name = "x.b", SUB, ALLOW, .type = A }, { .source = 2, RE("^2\\."), IBLOCK },
	};
	struct judge_result r;
	struct court c;
	unsigned i;

	court_init(&c);
	for (i = 0; i < COUNT_OF(rules); i++)
		court_say(&c, &rules[i]);
	court_open(&c);
	r = court_judge(&c, deep, A, 0, false, NULL);
	assert_int_equal(r.kind, MR_ALLOW);
	assert_int_equal(r.depth, 2);
	r = court_judge(&c, deep, AAAA, 0, false, NULL);
	assert_int_equal(r.kind, MR_BLOCK);
	assert_int_equal(court_judge(&c, deep + 2, AAAA, 0, false, NULL).kind, MR_IMPORTANT_BLOCK);
	court_close(&c);
}

/* Sources 0 and 1 are lists: neither their rewrites nor their exceptions stand against what is written here. */
static void own_rewrites_come_before_those_of_lists(void **state)
{
	static const struct said rules[] = {
		{ .source = 0, .name = "a.b", REC(1) },
		{ .source = 2, .name = "b", BELOW, REC(2) },
		{ .source = 0, .name = "c.b", .action = FILTER_ALLOW, .answer = SAID_ANY },
		{ .source = 1, .name = "d", REC(3) },
		{ .source = 0, .name = "d", .action = FILTER_ALLOW, .answer = SAID_ANY },
		{ .source = 1, .name = "e", REC(4) },
		{ .source = 3, .name = "f", REC(5) },
		{ .source = 2, .name = "f", .action = FILTER_ALLOW, .answer = SAID_ANY },
	};
	struct judge_result r;
	struct court c;
	unsigned i;

	court_init(&c);
	for (i = 0; i < COUNT_OF(rules); i++)
		assert_int_equal(court_say(&c, &rules[i]), 1);
	court_open(&c);
	c.judge.lists = 2;
	r = court_judge(&c, "a.b", A, 0, false, NULL);
	assert_int_equal(r.rewrites, 1);
	assert_int_equal(r.source, 2);
	r = court_judge(&c, "c.b", A, 0, false, NULL);
	assert_int_equal(r.rewrites, 1);
	assert_int_equal(court_judge(&c, "d", A, 0, false, NULL).rewrites, 0);
	assert_int_equal(court_judge(&c, "e", A, 0, false, NULL).rewrites, 1);
	assert_int_equal(court_judge(&c, "f", A, 0, false, NULL).rewrites, 0);
	/* where a group does not use what is written here, the list's counts */
	atomic_store(&c.uses[0][2], 0);
	court_sit(&c);
	c.judge.lists = 2;
	r = court_judge(&c, "a.b", A, 0, false, NULL);
	assert_int_equal(r.rewrites, 1);
	assert_int_equal(r.source, 0);
	court_close(&c);
}

/* Sources 0 and 1 are lists: a "$badfilter" there takes rules of lists alone; one of source 2 those of all. */
static void lists_take_nothing_from_what_is_written_here(void **state)
{
	static const struct said rules[] = {
		{ .source = 2, .name = "own.plain" }, { .source = 0, .name = "own.plain", .bad = true },
		{ .source = 2, .name = "own.rule", .type = A }, { .source = 0, .name = "own.rule", .type = A, .bad = true },
		{ .source = 2, RE("^own[0-9]") }, { .source = 1, RE("^own[0-9]"), .bad = true },
		{ .source = 1, .name = "list.plain" }, { .source = 0, .name = "list.plain", .bad = true },
		{ .source = 1, .name = "list.rule", .type = A }, { .source = 0, .name = "list.rule", .type = A, .bad = true },
		{ .source = 1, .name = "taken.plain" }, { .source = 2, .name = "taken.plain", .bad = true },
		{ .source = 3, .name = "taken.own" }, { .source = 2, .name = "taken.own", .bad = true },
		{ .source = 3, .name = "taken.rule", .type = A }, { .source = 2, .name = "taken.rule", .type = A, .bad = true },
		{ .source = 0, .name = "taken.rule", .type = A, .bad = true },
	};
	static const struct {
		const char *name;
		enum mr_verdict_kind kind;
	} rows[] = {
		{ "own.plain", MR_BLOCK }, { "own.rule", MR_BLOCK }, { "own7.b", MR_BLOCK }, { "list.plain", MR_NONE },
		{ "list.rule", MR_NONE }, { "taken.plain", MR_NONE }, { "taken.own", MR_NONE }, { "taken.rule", MR_NONE },
	};
	struct court c;
	unsigned i;

	court_init(&c);
	compile_lists(c.compile, 2);
	for (i = 0; i < COUNT_OF(rules); i++)
		assert_int_equal(court_say(&c, &rules[i]), 1);
	court_open(&c);
	for (i = 0; i < COUNT_OF(rows); i++)
		assert_int_equal(court_judge(&c, rows[i].name, A, 0, false, NULL).kind, rows[i].kind);
	court_close(&c);
}

static void look_for_count(const struct count_row *row, uint64_t value, void *arg)
{
	uint64_t *counts = arg;

	if (!strcmp(row->name, "filter_regex_limited"))
		counts[0] = value;
	if (!strcmp(row->name, "filter_rewrites_full"))
		counts[1] = value;
	if (!strcmp(row->name, "filter_exceptions_full"))
		counts[2] = value;
}

static void what_is_left_out_is_counted(void **state)
{
	uint64_t before[3] = { 0 }, after[3] = { 0 };
	struct court c;
	unsigned i;

	assert_int_equal(policy_count_open(), 0);
	court_init(&c);
	for (i = 0; i < 100; i++)
		court_say(&c, &(struct said){ .name = "a.b", REC(i), .line = i + 1 });
	for (i = 0; i < 40; i++)
		court_say(&c, &(struct said){ .name = "a.b", ALLOW, REC(1000 + i), .line = i + 101 });
	court_say(&c, &(struct said){ RE("^(a+a+)+9{9}") });
	court_open(&c);
	count_each(look_for_count, before);
	assert_int_equal(court_judge(&c, "a.b", A, 0, false, NULL).rewrites, JUDGE_REWRITES_MAX);
	assert_int_equal(court_judge(&c, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa9.c", A, 0, false, NULL).kind, MR_NONE);
	count_each(look_for_count, after);
	assert_int_equal(after[0] - before[0], 1);
	/* of 100 rewrites 64 are looked at, of which an answer takes 32 */
	assert_int_equal(after[1] - before[1], 100 - 64 + 64 - JUDGE_REWRITES_MAX);
	assert_int_equal(after[2] - before[2], 40 - 32);
	court_close(&c);
}

/* All names of a query are paid from one purse; what was not tried for it says nothing, and nobody else may say "none". */
static void steps_are_those_of_the_query(void **state)
{
	uint8_t wire[64];
	uint32_t steps = REGEX_STEPS_MAX, few;
	struct mr_name name = { 0 };
	struct judge_question q = { .lower = wire, .name = &name, .qtype = A, .steps = &steps };
	struct judge_result r;
	struct court c;

	court_init(&c);
	court_say(&c, &(struct said){ RE("^(?=ad)") });
	court_say(&c, &(struct said){ .name = "x.b" });
	court_open(&c);
	q.len = name.len = name_wire("ad.b", wire);
	memcpy(name.text, wire, q.len);
	assert_int_equal(mr_name_hash(&name, &secret), 0);
	judge_name(&c.judge, &q, &r);
	assert_int_equal(r.kind, MR_BLOCK);
	assert_in_range(steps, 1, REGEX_STEPS_MAX - 1);
	few = steps = REGEX_STEPS_MAX - steps;
	judge_link(&c.judge, &q, &r);
	assert_int_equal(r.kind, MR_BLOCK);
	assert_int_equal(steps, 0);
	judge_link(&c.judge, &q, &r);
	assert_int_equal(r.kind, MR_NONE);
	steps = few - 1;
	judge_link(&c.judge, &q, &r);
	assert_int_equal(r.kind, MR_NONE);
	assert_int_equal(rules_regex_spent(c.judge.rules), 1);
	q.len = (uint16_t)name_wire("other.b", wire);
	assert_false(judge_asks(&c.judge, wire, q.len));
	assert_true(judge_asks_within(&c.judge, wire, q.len, &steps));
	court_close(&c);
}

static void worst_expressions_come_first(void **state)
{
	const struct rule *worst[RULES_WORST_MAX];
	struct court c;

	court_init(&c);
	court_say(&c, &(struct said){ RE("^(?=a)a*a*[b-z]x"), .line = 1 });
	court_say(&c, &(struct said){ RE("^(?=a)b"), .line = 2 });
	court_say(&c, &(struct said){ RE("^(?=a)a*a*a*[b-z]x"), .line = 3 });
	court_say(&c, &(struct said){ RE("^(?=a)a*a*a*a*a*[b-z]x"), .line = 4 });
	court_open(&c);
	assert_int_equal(rules_regex_worst(c.judge.rules, worst, 2), 0);
	court_judge(&c, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa9.example", A, 0, false, NULL);
	assert_int_equal(rules_regex_worst(c.judge.rules, worst, 2), 2);
	assert_int_equal(worst[0]->line, 4);
	assert_int_equal(worst[1]->line, 3);
	assert_int_equal(rules_regex_worst(c.judge.rules, worst, 100), 3);
	assert_int_equal(worst[2]->line, 1);
	court_close(&c);
}

/* ---- a slow reading ---- */

#define SAYINGS 24
static const char *const universe[] = {
	"a", "b", "a.b", "b.b", "c.b", "a.a.b", "b.a.b", "ab.b", "ads.b", "x.ads.b", "a.b.a.b", "c.c.c.b", "c", "a.c",
};
static const char *const patterns[] = {
	"^a", "b$", "\\.a\\.", "^ads?\\.", "(a|c)\\.b$", "[ab]\\.c", "^[^.]+$", "ads", "a.a|^c\\.c", "x{1,2}\\.ads", "^(?!a)",
};

static unsigned below(unsigned n)
{
	static uint64_t state = 0x5eed;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(state >> 33) % n;
}

static struct said random_saying(unsigned line)
{
	static const enum filter_action actions[] = { FILTER_BLOCK, FILTER_BLOCK, FILTER_ALLOW, FILTER_IMPORTANT_BLOCK, FILTER_IMPORTANT_ALLOW };
	struct said s = { .source = below(COURT_SOURCES), .action = actions[below(5)], .line = line };

	if (!below(4)) {
		s.kind = RULE_REGEX;
		s.name = patterns[below(COUNT_OF(patterns))];
		s.invert = !below(10);
	} else {
		s.reach = below(3);
		s.name = universe[below(COUNT_OF(universe))];
	}
	s.bad = !below(12);
	if (!below(5)) {
		s.type = below(2) ? A : AAAA;
		s.type_not = !below(3);
	}
	if (!below(8))
		s.deny = universe[below(COUNT_OF(universe))];
	if (!below(4)) {
		s.answer = 1 + below(5);
		s.value = s.answer == SAID_RECORD ? below(3) : s.answer == SAID_RCODE ? 3 : 0;
		if (s.answer == SAID_ANY && (s.action == FILTER_BLOCK || s.action == FILTER_IMPORTANT_BLOCK))
			s.answer = SAID_DROP;
	}
	return s;
}

static bool is_below(const char *name, const char *parent)
{
	size_t n = strlen(name), p = strlen(parent);

	return n > p && name[n - p - 1] == '.' && !strcmp(name + n - p, parent);
}

static unsigned labels_of(const char *name)
{
	unsigned n = 1;

	for (; *name; name++)
		n += *name == '.';
	return n;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Same pattern, action, conditions and answer. */
static bool says_same(const struct said *a, const struct said *b)
{
	return a->kind == b->kind && a->action == b->action && a->reach == b->reach && same_text(a->name, b->name) &&
	       a->invert == b->invert && a->type == b->type && a->type_not == b->type_not && same_text(a->deny, b->deny) &&
	       a->answer == b->answer && a->value == b->value;
}

static bool matches(const struct said *s, const char *name)
{
	struct regex *r;
	bool yes;

	if (s->kind == RULE_REGEX) {
		assert_int_equal(regex_new(s->name, strlen(s->name), &r), 0);
		yes = regex_match(r, name, strlen(name)) == REGEX_YES;
		regex_free(r);
		return yes != s->invert;
	}
	return (s->reach != RULE_BELOW && !strcmp(s->name, name)) || (s->reach != RULE_EXACT && is_below(name, s->name));
}

static bool holds(const struct said *s, const char *name, uint16_t qtype)
{
	if (s->deny && (!strcmp(s->deny, name) || is_below(name, s->deny)))
		return false;
	return !s->type || (s->type == qtype) != s->type_not;
}

struct saying {
	const struct said *s;
	unsigned strength, depth;
	bool exact;
};

/* Strength, labels, the very name, source; and the order in the source. */
static bool goes_before(const struct saying *a, const struct saying *b)
{
	if (a->strength != b->strength)
		return a->strength > b->strength;
	if (a->depth != b->depth)
		return a->depth > b->depth;
	if (a->exact != b->exact)
		return a->exact;
	if (a->s->source != b->s->source)
		return a->s->source < b->s->source;
	return a->s->line < b->s->line;
}

static bool allows(const struct said *s)
{
	return s->action == FILTER_ALLOW || s->action == FILTER_IMPORTANT_ALLOW;
}

struct reading {
	struct said all[SAYINGS];
	unsigned count;
	struct saying words[SAYINGS];	/* of one name, for one group */
	unsigned found;
};

static bool lifted(const struct reading *r, const bool *counts, const struct said *s)
{
	unsigned i;

	for (i = 0; i < r->count; i++) {
		const struct said *e = &r->all[i];

		if (!counts[i] || !e->answer || !allows(e) || (s->action == FILTER_IMPORTANT_BLOCK && e->action != FILTER_IMPORTANT_ALLOW))
			continue;
		if (e->answer == SAID_ANY || (e->answer == s->answer && e->value == s->value))
			return true;
	}
	return false;
}

static unsigned strength_of(const struct said *s)
{
	if (!s->answer)
		return s->action;
	return s->kind == RULE_NAME && s->source == COURT_LOCAL ? MR_LOCAL_ZONE : MR_ASK;
}

static bool is_rewritten(const struct saying *w)
{
	return w->strength == MR_ASK || w->strength == MR_LOCAL_ZONE;
}

/* All that counts, strongest first. */
static void read_slowly(struct reading *r, const struct court *c, const char *name, uint16_t qtype, unsigned group, bool paused)
{
	bool counts[SAYINGS];
	unsigned i, j;

	for (i = 0; i < r->count; i++) {
		const struct said *s = &r->all[i];

		counts[i] = !s->bad && c->uses[group][s->source] && matches(s, name) && holds(s, name, qtype);
		for (j = 0; j < r->count; j++)
			if (r->all[j].bad && says_same(&r->all[j], s))
				counts[i] = false;
		if (paused && s->answer && s->source == COURT_SOURCES - 1)
			counts[i] = false;
	}
	r->found = 0;
	for (i = 0; i < r->count; i++) {
		const struct said *s = &r->all[i];
		struct saying w = { s, strength_of(s), s->kind == RULE_REGEX ? 0 : labels_of(s->name), s->kind == RULE_NAME && s->reach == RULE_EXACT };

		if (!counts[i] || (s->answer && (allows(s) || lifted(r, counts, s))))
			continue;
		for (j = r->found++; j > 0 && goes_before(&w, &r->words[j - 1]); j--)
			r->words[j] = r->words[j - 1];
		r->words[j] = w;
	}
}

static void hold_against(const struct reading *r, const struct judge_result *g, bool paused)
{
	const struct saying *first = &r->words[0];
	enum mr_verdict_kind kind = r->found && !is_rewritten(first) ? (enum mr_verdict_kind)first->strength : MR_NONE;
	unsigned i, alone = 0, n = 0;

	if (paused && (kind == MR_BLOCK || kind == MR_IMPORTANT_BLOCK))
		kind = MR_NONE;
	assert_int_equal(g->kind, kind);
	if (!r->found || !is_rewritten(first)) {
		assert_int_equal(g->rewrites, 0);
		/* important allow is final, whoever else says it; a name's match of a pattern counts as written */
		if (kind != MR_NONE && kind != MR_IMPORTANT_ALLOW && g->step != JUDGE_name)
			assert_int_equal(g->source, first->s->source);
		return;
	}
	assert_int_equal(g->step, JUDGE_rewrite);
	assert_int_equal(g->source, first->s->source);
	assert_int_equal(g->depth, first->depth);
	for (i = 0; i < r->found; i++) {
		const struct saying *w = &r->words[i];

		if (w->strength != first->strength || w->depth != first->depth || w->exact != first->exact || w->s->source != first->s->source)
			break;
		alone += w->s->answer != SAID_RECORD;
		n++;
	}
	assert_int_equal(g->rewrites, alone ? 1 : n);
	for (i = 0; !alone && i < n; i++)
		assert_int_equal(g->rewrite[i]->line, r->words[i].s->line);
}

/* The long way comes to the same; what is important and allowed needs no more words. */
static void hold_slowly(const struct court *c, const char *name, uint16_t qtype, unsigned group, const struct judge_result *g)
{
	uint8_t wire[300];
	struct mr_name hash = { 0 };
	struct judge_question q = { .lower = wire, .len = name_wire(name, wire), .name = &hash, .qtype = qtype, .group = group };
	struct judge_result r;

	hash.len = q.len;
	memcpy(hash.text, wire, q.len);
	assert_int_equal(mr_name_hash(&hash, &secret), 0);
	r = court_judge_slowly(c, &q);
	assert_int_equal(r.kind, g->kind);
	assert_int_equal(r.rewrites, g->rewrites);
	if (g->kind != MR_NONE && g->kind != MR_IMPORTANT_ALLOW) {
		assert_int_equal(r.source, g->source);
		assert_int_equal(r.depth, g->depth);
	}
}

static void hold_kernel(const struct court *c, const char *name, unsigned group, const struct judge_result *g)
{
	struct mr_decision d = court_kernel(c, name, group);
	uint8_t wire[300];
	uint16_t len = name_wire(name, wire);

	if (d.verdict.kind == MR_ASK || d.verdict.kind == MR_LOCAL_ZONE)
		return;
	if (d.verdict.kind == MR_NONE && judge_asks(&c->judge, wire, len))
		return;			/* its answers go with the ask set */
	assert_int_equal(g->kind, d.verdict.kind);
	assert_int_equal(g->rewrites, 0);
	/* who else frees a name that is freed may stand beside a folded name */
	if (g->kind == MR_NONE || (c->made.asked && g->kind == MR_IMPORTANT_ALLOW))
		return;
	assert_int_equal(g->source, d.verdict.list);
	assert_int_equal(g->depth, d.depth);
	assert_true(g->entry == d.entry);
}

/* Sets that the kernel has numbers for; with few of them names are folded, and nothing else changes. */
static const uint32_t bounds[] = { MR_SET_ASK, 4, 1 };

static void judgement_is_as_written(void **state)
{
	unsigned round, i, g, n, paused, judgements = 0, folded = 0;
	bool all;
	struct judge_result got;
	struct reading r;
	struct court c;

	for (round = 0; round < 4500; round++) {
		filter_limits.sets = bounds[round % COUNT_OF(bounds)];
		court_init(&c);
		r.count = 0;
		n = 1 + below(SAYINGS);
		for (i = 0; i < n; i++) {
			r.all[r.count] = random_saying(i + 1);
			/* what a source says twice it says once */
			if (court_say(&c, &r.all[r.count]) == 1)
				r.count++;
		}
		for (g = 0; g < COURT_GROUPS; g++)
			for (i = 0; i < COURT_SOURCES; i++)
				c.uses[g][i] = below(3) > 0;
		court_open(&c);
		all = !c.made.asked;
		for (i = 0; i < COUNT_OF(universe); i++)
			for (g = 0; g < COURT_GROUPS; g++)
				for (paused = 0; paused < 2; paused++) {
					got = court_judge(&c, universe[i], g % 2 ? A : AAAA, g, paused, NULL);
					read_slowly(&r, &c, universe[i], g % 2 ? A : AAAA, g, paused);
					hold_against(&r, &got, paused);
					folded += !all;
					/* the real bound has room for all local names */
					if (!paused && (all || got.source != COURT_LOCAL))
						hold_kernel(&c, universe[i], g, &got);
					if (!paused && all)
						hold_slowly(&c, universe[i], g % 2 ? A : AAAA, g, &got);
					judgements++;
				}
		court_close(&c);
	}
	filter_limits.sets = MR_SET_ASK;
	assert_true(folded > judgements / 3);
	printf("# figure: %u judgements of random rules held against the slow reading, %u beside folded names\n", judgements,
	       folded);
}

/* ---- real lists ---- */

static const struct {
	const char *file;
	enum list_format format;
	bool allow;
} reals[COURT_SOURCES] = {
	{ "hosts/stevenblack-2022-converted.hosts.txt", LIST_AUTO, false },
	{ "adblock/hagezi-light-2022-06-08.adblock.txt", LIST_AUTO, false },
	{ "adblock/adguard-dns-2017.txt", LIST_ADBLOCK, false },
	{ "allow/anudeepND-whitelist.txt", LIST_AUTO, true },
	{ "regex/mmotti-facebook.list", LIST_REGEX, false },
	{ "adblock/easylist-browser-2019.txt", LIST_ADBLOCK, false },
	{ "rpz/ph00lt0-2026.rpz-body.txt", LIST_RPZ, false },
	{ "adblock/adguardhome-safesearch/google.txt", LIST_ADBLOCK, false },
};

/* The kernel's form, the short way and the long way to a judgement agree. */
static void check_pair(const struct court *c, const struct judge_question *q, unsigned *counts)
{
	const struct filter_view *v = &c->judge.filter;
	struct mr_decision d = mr_filter_decide(v->unit, v->buckets, (const __u64 *)v->bloom, v->verdicts, q->name, q->group);
	struct judge_result slow = court_judge_slowly(c, q), quick;

	judge_name(&c->judge, q, &quick);
	assert_int_equal(quick.kind, slow.kind);
	assert_int_equal(quick.rewrites, slow.rewrites);
	if (quick.kind != MR_NONE && slow.step == JUDGE_name) {
		assert_int_equal(quick.source, slow.source);
		assert_int_equal(quick.depth, slow.depth);
	}
	counts[quick.rewrites ? MR_LOCAL_ZONE : quick.kind]++;
	if (d.verdict.kind == MR_ASK || d.verdict.kind == MR_LOCAL_ZONE)
		counts[MR_ASK]++;
	else if (d.verdict.kind != MR_NONE || !judge_asks(&c->judge, q->lower, q->len))
		assert_int_equal(quick.kind, d.verdict.kind);
}

struct pairs {
	const struct court *c;
	unsigned counts[MR_VERDICTS], pairs;
};

/* A name of a list and one below it, for all groups. */
static int check_item(void *arg, const struct rule_item *i)
{
	struct pairs *p = arg;
	struct judge_question q = { .qtype = A };
	struct mr_name name;
	unsigned below_it;

	if (i->kind != RULE_NAME || i->name_len > 200)
		return 1;
	for (below_it = 0; below_it < 2; below_it++) {
		memset(&name, 0, sizeof(name));
		memcpy(name.text, "\3ads", 4);
		memcpy(name.text + 4 * below_it, i->name, i->name_len);
		q.len = name.len = (uint16_t)(i->name_len + 4 * below_it);
		if (mr_name_hash(&name, &secret))
			continue;
		q.name = &name;
		q.lower = name.text;
		for (q.group = 0; q.group < COURT_GROUPS; q.group++, p->pairs++)
			check_pair(p->c, &q, p->counts);
	}
	return 1;
}

static void long_and_short_way_agree_on_real_lists(void **state)
{
	struct list_report *r = calloc(1, sizeof(*r));
	struct pairs p = { 0 };
	char *text[COURT_SOURCES];
	size_t size[COURT_SOURCES];
	struct court c;
	unsigned i, g;

	court_init(&c);
	p.c = &c;
	for (i = 0; i < COURT_SOURCES; i++) {
		text[i] = list_file(reals[i].file, &size[i]);
		if (!text[i]) {
			while (i-- > 0)
				free(text[i]);
			compile_free(c.compile);
			free(r);
			skip();
			return;
		}
		assert_int_equal(compile_list(c.compile, i, text[i], size[i], reals[i].format, reals[i].allow, r), 0);
	}
	for (g = 1; g < COURT_GROUPS; g++)
		for (i = 0; i < COURT_SOURCES; i++)
			c.uses[g][i] = (0x36c5a94u >> (g * 8 + i) & 1);
	court_open(&c);
	for (i = 0; i < COURT_SOURCES; i++)
		assert_int_equal(list_parse(text[i], size[i], reals[i].format, reals[i].allow, check_item, &p, r), 0);
	assert_true(p.pairs > 1000000);
	printf("# figure: %u pairs of real lists: %u none, %u block, %u allow, %u rewritten; the kernel asks %u; %u special rules\n", p.pairs,
	       p.counts[MR_NONE], p.counts[MR_BLOCK] + p.counts[MR_IMPORTANT_BLOCK], p.counts[MR_ALLOW] + p.counts[MR_IMPORTANT_ALLOW],
	       p.counts[MR_LOCAL_ZONE], p.counts[MR_ASK], rules_count(c.made.rules));
	court_close(&c);
	for (i = 0; i < COURT_SOURCES; i++)
		free(text[i]);
	free(r);
}

/* ---- speed ---- */

static int by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

#define MANY   1000000
#define SAMPLES 20000
#define BATCH  8
static void blocked_names_are_judged_quickly(void **state)
{
	struct mr_name *names = calloc(SAMPLES / 10 * BATCH, sizeof(*names)), now[BATCH];
	uint64_t *took = calloc(SAMPLES, sizeof(*took)), start;
	struct judge_result r;
	struct court c;
	char text[40];
	uint8_t wire[300];
	unsigned i, j, blocked = 0;

	assert_non_null(names);
	assert_non_null(took);
	court_init(&c);
	for (i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "host-%u.in.example", i);
		struct rule_item item = { .kind = RULE_NAME, .action = FILTER_BLOCK, .name = wire, .name_len = name_wire(text, wire) };

		assert_int_equal(compile_item(c.compile, 0, &item), 1);
	}
	court_open(&c);
	for (i = 0; i < SAMPLES / 10 * BATCH; i++) {
		snprintf(text, sizeof(text), "host-%u.in.example", below(MANY));
		names[i].len = name_wire(text, wire);
		memcpy(names[i].text, wire, names[i].len);
		assert_int_equal(mr_name_hash(&names[i], &secret), 0);
	}
	for (i = 0; i < SAMPLES; i++) {
		/* a name that was asked for has just been read */
		for (j = 0; j < BATCH; j++)
			now[j] = names[(i * BATCH + j) % (SAMPLES / 10 * BATCH)];
		start = now_ns();
		for (j = 0; j < BATCH; j++) {
			judge_name(&c.judge, &(struct judge_question){ .lower = now[j].text, .len = now[j].len, .name = &now[j], .qtype = A }, &r);
			blocked += r.kind == MR_BLOCK;
		}
		took[i] = (now_ns() - start) / BATCH;
	}
	assert_int_equal(blocked, SAMPLES * BATCH);
	qsort(took, SAMPLES, sizeof(*took), by_time);
	printf("# figure: judge_name of a blocked name of a million: p50 %lu ns, p95 %lu ns, p99 %lu ns (batches of %d)\n",
	       (unsigned long)took[SAMPLES / 2], (unsigned long)took[SAMPLES * 95 / 100], (unsigned long)took[SAMPLES * 99 / 100], BATCH);
	court_close(&c);
	free(names);
	free(took);
}

int main(void)
{
	static struct CMUnitTest tests[13 + COUNT_OF(judged)] = {
		cmocka_unit_test(groups_choose_among_sources),
		cmocka_unit_test(links_and_addresses_are_judged),
		cmocka_unit_test(clients_and_tags_are_conditions),
		cmocka_unit_test(names_too_deep_for_the_kernel_are_judged),
		cmocka_unit_test(steps_are_those_of_the_query),
		cmocka_unit_test(worst_expressions_come_first),
		cmocka_unit_test(lists_take_nothing_from_what_is_written_here),
		cmocka_unit_test(what_is_left_out_is_counted),
		cmocka_unit_test(own_rewrites_come_before_those_of_lists),
		cmocka_unit_test(judgement_is_as_written),
		cmocka_unit_test(long_and_short_way_agree_on_real_lists),
		cmocka_unit_test(blocked_names_are_judged_quickly),
	};
	size_t n = 12, i;

	for (i = 0; i < COUNT_OF(judged); i++)
		tests[n++] = (struct CMUnitTest){ judged[i].name, name_is_judged, NULL, NULL, (void *)&judged[i] };
	return _cmocka_run_group_tests("judge", tests, n, setup, teardown);
}
