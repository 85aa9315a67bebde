/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_pairs.c - names and groups, as many as there is time for: the program,
 * the daemon's judge and a simple reading of the same rules must agree.
 *
 * Rules are made at random from few labels, so that they meet: several sources
 * speak of one name, and of its parents.  They are compiled as the daemon does
 * it and put into the program's maps.  For each pair the dry program says what
 * the kernel would do; it may pass the question up ("ask"), but never decide
 * otherwise than the judge.  Where all rules are plain names it must not ask at
 * all, unless there are more combinations of sources than it has numbers for:
 * some worlds are compiled again with few numbers.  The judge in turn must say
 * what pairs_world.c reads out of the rules with neither tables nor sets.
 *
 * In one world some rules are left out and others added when it is compiled; an
 * operator's changes in place (policy/filter_edit.h) then make of it what it is.
 *
 * 50,000 pairs; with MR_LONG=1 a million.  MR_SEED is another start.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bpf.h>
#include "packet/pairs_world.h"
#include "packet/run.h"
#include "policy/compile.h"
#include "policy/filter_edit.h"
#include "policy/judge.h"

#define FAULTS_SHOWN 5
#define EDITED       128			/* of so many rules one comes in place, and one goes so */
#define PAIRS_EDITS  0x100		/* beside enum pairs_kind */
#define FEW_SETS     150		/* room for the local names of a world */

/* What became of the pairs of a world. */
struct tally {
	unsigned pairs, told, blocked, asked, needless, deep, patterns, faults;
};

struct both {
	struct fill fill;
	struct pairs_world *world;
	struct compiled compiled;
	struct filter_members *members;
	struct mr_verdict *verdicts;
	struct mr_unit unit;
	struct judge_group group[PAIRS_GROUPS];
	struct judge judge;
	struct tally tally;
	bool few;			/* numbers of sets: the others are folded */
};

/* ---- what comes and goes in place ---- */

static bool comes(const struct both *b, unsigned i)
{
	return b->world->kind & PAIRS_EDITS && i < b->world->names && i % EDITED == 0;
}

/* What a source says of the name of a rule, with its reach: bits of enum filter_action. */
static unsigned says(const struct both *b, unsigned source, const struct rule_item *of, bool at_last)
{
	const struct pairs_world *w = b->world;
	unsigned said = 0;

	for (unsigned i = 0; i < w->names; i++)
		if (w->rule[i].source == source && (at_last || !comes(b, i)) && w->rule[i].item.reach == of->reach &&
		    w->rule[i].item.name_len == of->name_len && !memcmp(w->rule[i].item.name, of->name, of->name_len))
			said |= 1U << w->rule[i].item.action;
	return said;
}

/* A rule that nobody made: of the name of another, by a source that says nothing of it. */
static bool goes(const struct both *b, unsigned i, unsigned *ret_source)
{
	*ret_source = (b->world->rule[i].source + 1) % PAIRS_LOCAL;
	return b->world->kind & PAIRS_EDITS && i < b->world->names && i % EDITED == 1 &&
	       !says(b, *ret_source, &b->world->rule[i].item, true);
}

static int edit(struct both *b, const struct rule_item *of, unsigned source, unsigned before, unsigned after)
{
	struct filter_change ch = { .subtree = of->reach == RULE_SUBTREE, .source = (uint16_t)source, .before = before,
				    .after = after };
	static struct filter_edit e;
	struct mr_name name = { .len = of->name_len };
	struct mr_verdict cells[PAIRS_GROUPS];

	memcpy(name.text, of->name, of->name_len);
	if (mr_name_hash(&name, b->fill.secret))
		return 0;
	ch.hash = &name.hash[name.labels];
	ch.depth = name.labels;
	if (filter_edit_plan(&b->judge.filter, b->members, &ch, &e))
		return -1;
	filter_edit_members(&e, b->members);
	judge_set_verdicts(&b->judge, e.set, cells);
	for (unsigned g = 0; g < PAIRS_GROUPS; g++)
		b->verdicts[g * b->unit.sets + e.set] = b->fill.verdicts[g * b->unit.sets + e.set] = cells[g];
	filter_edit_write(&e, &(struct filter_edit_to){
		.unit = { &b->unit }, .buckets = (struct mr_filter_bucket *)b->judge.filter.buckets,
		.bloom = (uint64_t *)b->judge.filter.bloom });
	filter_edit_write(&e, &(struct filter_edit_to){
		.unit = { &b->fill.conf->unit[0] }, .buckets = b->fill.filter, .bloom = (uint64_t *)b->fill.bloom });
	return 0;
}

static int edit_all(struct both *b)
{
	const struct rule_item *of;
	unsigned source, before, after;
	int err = 0;

	for (unsigned i = 0; i < b->world->names && !err; i++) {
		of = &b->world->rule[i].item;
		if (comes(b, i)) {
			source = b->world->rule[i].source;
			before = says(b, source, of, false);
			after = says(b, source, of, true);
			err = edit(b, of, source, before, after);
		} else if (goes(b, i, &source)) {
			err = edit(b, of, source, 1U << FILTER_IMPORTANT_ALLOW, 0);
		}
	}
	if (err)
		printf("# a change found no place\n");
	return err;
}

/* ---- both sides filled ---- */

static int compile_ghost(const struct both *b, struct compile *c, unsigned i)
{
	struct rule_item ghost = b->world->rule[i].item;
	unsigned source;

	if (!goes(b, i, &source))
		return 0;
	ghost.action = FILTER_IMPORTANT_ALLOW;
	return compile_item(c, source, &ghost) < 0;
}

static int compile(struct both *b)
{
	struct compile *c = compile_new(b->fill.secret);
	const struct pairs_world *w = b->world;
	int err = c ? 0 : -1;

	if (c)
		compile_local(c, PAIRS_LOCAL);
	filter_limits.sets = b->few ? FEW_SETS : MR_SET_ASK;
	for (unsigned i = 0; i < w->rules && !err; i++) {
		if (!comes(b, i))
			err = compile_item(c, w->rule[i].source, &w->rule[i].item) < 0;
		if (!err)
			err = compile_ghost(b, c, i);
	}
	if (!err)
		err = compile_finish(c, NULL, NULL, &b->compiled, NULL);
	compile_free(c);
	if (err || !b->compiled.asked == b->few)
		printf("# %s\n", err ? "the rules do not compile" : b->few ? "no name is folded" : "some names are folded");
	return err || !b->compiled.asked == b->few;
}

/* The filter as user space sees it, and what its sets mean to the groups. */
static int make_judge(struct both *b)
{
	unsigned g;

	b->members = filter_members_copy(b->compiled.filter);
	for (g = 0; g < PAIRS_GROUPS; g++)
		b->group[g] = (struct judge_group){ .uses = b->world->uses[g], .sources = PAIRS_SOURCES };
	b->unit = *filter_unit(b->compiled.filter);
	b->unit.groups = PAIRS_GROUPS;
	b->judge = (struct judge){
		.filter = { .unit = &b->unit, .buckets = filter_buckets(b->compiled.filter),
			    .bloom = filter_bloom(b->compiled.filter), .group = b->fill.conf->group },
		.members = b->members, .rules = b->compiled.rules, .secret = b->fill.secret, .group = b->group,
		.groups = PAIRS_GROUPS, .rewrites = PAIRS_LOCAL, .safe_search = UINT_MAX,
	};
	if (b->members)
		b->verdicts = judge_verdicts(&b->judge);
	b->judge.filter.verdicts = b->verdicts;
	return b->verdicts ? 0 : -1;
}

static int fill_unit(struct both *b)
{
	const struct filter *f = b->compiled.filter;
	struct fill *to = &b->fill;
	struct mr_unit *u = &to->conf->unit[0];
	uint64_t buckets = b->unit.bucket_mask + 1ULL, words = b->unit.bloom_mask + 1ULL;

	if (buckets > to->size.filter_buckets || words > to->size.bloom_words ||
	    b->unit.sets * PAIRS_GROUPS > to->size.verdicts) {
		printf("# the maps of this test are too small: %u sets\n", b->unit.sets);
		return -1;
	}
	memcpy(to->filter, filter_buckets(f), buckets * sizeof(*to->filter));
	memcpy(to->bloom, filter_bloom(f), words * sizeof(*to->bloom));
	memcpy(to->verdicts, b->verdicts, (size_t)b->unit.sets * PAIRS_GROUPS * sizeof(*b->verdicts));
	*u = b->unit;
	return 0;
}

static int fill_both(struct both *b)
{
	char prefix[32];
	int err;

	fill_reset(&b->fill);
	fill_service(&b->fill, "192.0.2.53");
	for (unsigned g = 0; g < PAIRS_GROUPS; g++) {
		snprintf(prefix, sizeof(prefix), "10.0.%u.0/24", g);
		if (fill_client(&b->fill, prefix, (__u16)g, MR_ACCESS_ALLOW))
			return -1;
		b->fill.conf->group[g].paused = b->world->paused[g];
	}
	err = compile(b);
	if (!err)
		err = make_judge(b);
	if (!err)
		err = fill_unit(b);
	return err ? err : edit_all(b);
}

static void empty_both(struct both *b)
{
	compiled_done(&b->compiled);
	filter_members_free(b->members);
	free(b->verdicts);
	b->members = NULL;
	b->verdicts = NULL;
}

/* ---- one pair ---- */

static void fault(struct both *b, const struct pairs_question *q, const char *what, const struct mr_why *k,
		  const struct judge_result *j, const struct pairs_outcome *o)
{
	if (b->tally.faults++ >= FAULTS_SHOWN)
		return;
	printf("# %s type %u group %u%s: %s\n", q->text, q->qtype, q->group, b->world->paused[q->group] ? " (paused)" : "",
	       what);
	printf("#   kernel: %s, %s of %u at %u; judge: %s by %s of %u at %u, %u rewrites; rules: %s%s of %u at %u\n",
	       run_stat_name(k->stat), filter_verdict_text(k->verdict), k->list, k->depth, filter_verdict_text(j->kind),
	       judge_step_names[j->step], j->source, j->depth, j->rewrites, filter_verdict_text(o->kind),
	       o->rewritten ? " and a rewrite" : "", o->source, o->depth);
	pairs_print(b->world, q);
}

static int ask_kernel(struct both *b, const struct pairs_question *q, struct mr_why *ret)
{
	static struct frame f;
	static __u8 out[FRAME_MAX];
	char from[32];
	size_t len;

	snprintf(from, sizeof(from), "10.0.%u.1", q->group);
	frame_ask(&f, &(struct ask){ .name = q->text, .qtype = q->qtype, .from = from, .edns = q->edns });
	if (run_frame(b->fill.why_fd, f.b, f.len, out, &len) < 0)
		return -1;
	*ret = *b->fill.why;
	return 0;
}

static void ask_judge(struct both *b, const struct pairs_question *q, struct judge_result *ret)
{
	struct mr_name name = { 0 };
	struct who who = { .ip = { [10] = 0xff, [11] = 0xff, [12] = 10, [14] = (uint8_t)q->group, [15] = 1 } };
	struct judge_question jq = { .lower = q->lower, .len = q->len, .qtype = q->qtype, .group = q->group,
				     .paused = b->world->paused[q->group], .who = &who };

	memcpy(name.text, q->lower, q->len);
	name.len = q->len;
	jq.name = mr_name_hash(&name, b->fill.secret) ? NULL : &name;
	judge_name(&b->judge, &jq, ret);
}

/* The judge against the rules. */
static const char *judge_differs(const struct both *b, const struct judge_result *j, const struct pairs_outcome *o)
{
	if (j->kind != o->kind || !j->rewrites != !o->rewritten)
		return "the judge says other than the rules";
	/*
	 * Which of several equally strong rules is named: what a pattern says of an exact name is that name's since
	 * the filter was compiled; and nothing is asked about what is stronger than asking.
	 */
	if (b->world->kind & PAIRS_PATTERNS || o->kind == MR_NONE || (o->kind == MR_IMPORTANT_ALLOW && o->special))
		return NULL;
	return j->source != o->source || j->depth != o->depth ? "the judge names another rule" : NULL;
}

/* Whether the kernel asked since it has no number for the set. */
static bool is_folded(const struct both *b, const struct mr_why *k)
{
	return mr_entry_set(k->entry) >= b->unit.sets;
}

/* The kernel against the judge; counts. */
static const char *kernel_differs(struct both *b, const struct pairs_question *q, const struct mr_why *k,
				  const struct judge_result *j, const struct pairs_outcome *o)
{
	struct tally *t = &b->tally;

	if (k->stat == MR_STAT_pass_labels) {
		t->deep++;
		return q->labels <= MR_LABELS_MAX ? "passed as too deep" : NULL;
	}
	if (k->stat == MR_STAT_pass_ask || (k->stat == MR_STAT_pass_miss && k->verdict == MR_LOCAL_ZONE)) {
		t->asked++;
		t->needless += !o->special && !(b->few && is_folded(b, k));
		return NULL;
	}
	t->told++;
	t->blocked += k->stat == MR_STAT_blocked;
	if (k->stat != MR_STAT_blocked && k->stat != MR_STAT_pass_miss)
		return "passed for a reason that it has not";
	if ((k->stat == MR_STAT_blocked) != mr_verdict_blocks(k->verdict))
		return "the kernel does not do what its verdict says";
	if (k->group != q->group)
		return "the kernel takes it for another group's";
	if (k->verdict == MR_NONE && (j->step == JUDGE_regex || (j->step == JUDGE_rewrite && !j->depth))) {
		/* No table knows: the kernel has no answer for it either, unless the ask set is with that. */
		t->patterns++;
		return judge_asks(&b->judge, q->lower, q->len) ? NULL : "a pattern decides, and its answers are not marked";
	}
	if (k->verdict != j->kind)
		return "the kernel decides, and otherwise";
	/* an important allow that is told may stand beside one of a folded name */
	if (j->kind == MR_NONE || (b->few && j->kind == MR_IMPORTANT_ALLOW))
		return NULL;
	return k->list != j->source || k->depth != j->depth ? "the kernel names another rule" : NULL;
}

static int one_pair(struct both *b)
{
	struct pairs_question q;
	struct pairs_outcome o;
	struct judge_result j;
	struct mr_why k;
	const char *what;

	pairs_ask(b->world, &q);
	pairs_judge(b->world, &q, &o);
	ask_judge(b, &q, &j);
	if (ask_kernel(b, &q, &k))
		return -1;
	b->tally.pairs++;
	what = judge_differs(b, &j, &o);
	if (what)
		fault(b, &q, what, &k, &j, &o);
	what = kernel_differs(b, &q, &k, &j, &o);
	if (what)
		fault(b, &q, what, &k, &j, &o);
	return 0;
}

/* ---- worlds ---- */

static const struct {
	const char *name;
	unsigned kind;
	bool few;
} worlds[] = {
	{ "plain names, allowed, blocked, important or not", 0 },
	{ "and groups that are paused", PAIRS_PAUSES },
	{ "and names below alone", PAIRS_BELOW },
	{ "and conditions on type and client", PAIRS_CONDITIONS },
	{ "and rewrites", PAIRS_REWRITES },
	{ "and regular expressions", PAIRS_PATTERNS },
	{ "and all of it", PAIRS_PAUSES | PAIRS_BELOW | PAIRS_CONDITIONS | PAIRS_REWRITES | PAIRS_PATTERNS },
	{ "plain names, some changed in place", PAIRS_EDITS, false },
	{ "plain names, many of them folded", 0, true },
	{ "all of it, many names folded",
	  PAIRS_PAUSES | PAIRS_BELOW | PAIRS_CONDITIONS | PAIRS_REWRITES | PAIRS_PATTERNS, true },
};
#define WORLDS (sizeof(worlds) / sizeof(worlds[0]))

static void row(unsigned *number, bool good, const char *text, const char *world)
{
	printf("%s %u - %s: %s\n", good ? "ok" : "not ok", ++*number, world, text);
}

/* Returns how many rows failed. */
static unsigned run_world(struct both *b, unsigned i, uint64_t seed, unsigned pairs, unsigned *number)
{
	bool special = worlds[i].kind & ~(unsigned)(PAIRS_PAUSES | PAIRS_EDITS) || worlds[i].few, broken, good[2];
	struct tally *t = &b->tally;

	memset(t, 0, sizeof(*t));
	b->few = worlds[i].few;
	b->world = pairs_new(worlds[i].kind, seed + i);
	broken = !b->world || fill_both(b);
	while (!broken && t->pairs < pairs)
		broken = one_pair(b);
	good[0] = !broken && !t->faults && t->blocked > t->pairs / 50;
	good[1] = !broken && !t->needless && !t->asked == !special;
	row(number, good[0], "the kernel, the judge and a reading of the rules agree", worlds[i].name);
	row(number, good[1], worlds[i].few ? "the kernel asks about names of special rules and folded ones alone" :
	    special ? "the kernel asks about names of special rules alone" : "the kernel never asks",
	    worlds[i].name);
	printf("# figure: %s: %u pairs, the kernel told %u (%u blocked), asked about %u (%.2f %%), left %u to patterns, "
	       "%u too deep\n", worlds[i].name, t->pairs, t->told, t->blocked, t->asked, 100.0 * t->asked / (t->pairs ? t->pairs : 1),
	       t->patterns, t->deep);
	empty_both(b);
	pairs_free(b->world);
	return !good[0] + !good[1];
}

int main(void)
{
	/* Twice 16,384 buckets of 64 octets are plenty for 20,000 names. */
	static const struct fill_size size = { 16384, 16384, 64, 16384 * PAIRS_GROUPS, 64 };
	const char *seed = getenv("MR_SEED"), *longer = getenv("MR_LONG");
	uint64_t start = seed ? strtoull(seed, NULL, 0) : 0x5eed;
	unsigned number = 0, failed = 0, pairs = longer && *longer == '1' ? 1000000 : 50000;
	static struct both b;

	if (run_open_sized(&b.fill, &size))
		return !!b.fill.skel;
	printf("# seed %#llx\n", (unsigned long long)start);
	for (unsigned i = 0; i < WORLDS; i++)
		failed += run_world(&b, i, start, (pairs + WORLDS - 1) / WORLDS, &number);
	printf("1..%u\n", number);
	fill_close(&b.fill);
	return failed != 0;
}
