/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * judge.c - weighs all that is said of a name.
 *
 * Strength is what enum mr_verdict_kind orders, with rewrites in the place of
 * "ask", and local names in that of local zones.  Among rewrites those that were
 * written here come before those of lists.  Among equals the one with more labels wins, then the very name before
 * the name with all below (the kernel looks in this order), then the lower
 * source.
 */
#include <stdlib.h>
#include <string.h>
#include "dns/name.h"
#include "policy/count.h"
#include "policy/filter_file.h"
#include "policy/judge.h"
#include "policy/rules_room.h"

#define REWRITE       MR_ASK
#define LOCAL_NAME    MR_LOCAL_ZONE
#define SET_UNTOLD    UINT32_MAX	/* there was no room to keep which set it is */
#define CANDIDATES    64		/* rewrites of one name that are looked at */
#define EXCEPTIONS    32

const char *const judge_step_names[JUDGE_STEP_COUNT] = {
#define ROW(name, text) #name,
	JUDGE_STEPS(ROW)
#undef ROW
};

const char *const judge_step_texts[JUDGE_STEP_COUNT] = {
#define ROW(name, text) text,
	JUDGE_STEPS(ROW)
#undef ROW
};

/* Something that is said of the name. */
struct word {
	unsigned strength;
	unsigned depth;
	bool exact;
	bool own;			/* a rewrite that is no list's */
	unsigned source;
	enum judge_step step;
	const struct rule *rule;
	uint64_t entry;
};

struct weighing {
	const struct judge *j;
	const struct judge_question *q;
	unsigned labels;
	bool is_link;
	struct word best;
	const struct rule *rewrite[CANDIDATES], *exception[EXCEPTIONS];
	unsigned rewrites, exceptions;
};

static bool uses(const struct judge *j, unsigned group, unsigned source)
{
	return group < j->groups && source < j->group[group].sources &&
	       atomic_load_explicit(&j->group[group].uses[source], memory_order_relaxed);
}

static bool is_before(const struct word *a, const struct word *b)
{
	if (a->strength != b->strength)
		return a->strength > b->strength;
	if (a->own != b->own)
		return a->own;
	if (a->depth != b->depth)
		return a->depth > b->depth;
	if (a->exact != b->exact)
		return a->exact;
	return a->source < b->source;
}

static void weigh(struct weighing *w, const struct word *word)
{
	if (word->strength != MR_NONE && is_before(word, &w->best))
		w->best = *word;
}

/* ---- the table of names ---- */

/* The set of an entry, be it the kernel's or of a folded name; 0: it is none of this name. */
static uint32_t set_of(const struct filter_members *all, uint64_t entry, struct mr_hash hash)
{
	uint32_t set = mr_entry_set(entry), folded;

	if (set < all->sets)
		return set;
	folded = filter_folded_set(all, hash, entry & MR_ENTRY_SUBTREE);
	return folded || !all->untold ? folded : SET_UNTOLD;
}

static void weigh_entry(void *arg, uint64_t entry, struct mr_hash hash, unsigned depth, bool exact)
{
	struct weighing *w = arg;
	const struct filter_members *all = w->j->members;
	const struct filter_member *m, *end;
	uint32_t set = set_of(all, entry, hash);
	struct word word = { .depth = depth, .exact = exact, .step = JUDGE_name, .entry = entry & ~MR_ENTRY_OVERFLOW };

	if (!set)
		return;
	if (set == SET_UNTOLD) {
		word.strength = MR_BLOCK;
		word.step = JUDGE_many;
		weigh(w, &word);
		return;
	}
	for (m = filter_set_members(all, set, &end); m < end; m++) {
		word.strength = m->action & ~FILTER_BELOW;
		word.source = m->list;
		if (word.strength == MR_ASK || (m->action & FILTER_BELOW && depth == w->labels))
			continue;
		if (uses(w->j, w->q->group, m->list))
			weigh(w, &word);
	}
}

typedef void (*entry_take)(void *arg, uint64_t entry, struct mr_hash hash, unsigned depth, bool exact);

/* Hand on what the table holds for the name and its parents, in the kernel's order; words with set 0 too. */
static void each_entry(const struct judge *j, const struct judge_question *q, entry_take take, void *arg)
{
	const struct filter_view *v = &j->filter;
	const struct mr_unit *u = v->unit;
	const struct mr_name *name = q->name;
	struct mr_found found;
	struct mr_name deep;
	bool cut = false;
	uint32_t depths = MR_READ(u->depths);
	unsigned i;

	if (!name) {
		cut = filter_hash_deep(q->lower, q->len, j->secret, &deep);
		name = &deep;
	}
	for (i = name->labels + 1U; i-- > 0;) {
		if (!(depths >> i & 1))
			continue;
		found = mr_filter_find(u, v->buckets - u->bucket_base, (const __u64 *)v->bloom - u->bloom_base,
				       name->hash[i]);
		if (i == name->labels && !cut)
			take(arg, found.exact, name->hash[i], i, true);
		take(arg, found.subtree, name->hash[i], i, false);
	}
}

/* ---- special rules ---- */

static void note_exception(struct weighing *w, const struct rule *rule)
{
	if (w->exceptions < EXCEPTIONS)
		w->exception[w->exceptions++] = rule;
	else
		policy_count(COUNT_filter_exceptions_full);
}

static void note_rewrite(struct weighing *w, const struct rule *rule)
{
	if (w->rewrites < CANDIDATES)
		w->rewrite[w->rewrites++] = rule;
	else
		policy_count(COUNT_filter_rewrites_full);
}

static void weigh_rule(const struct rule *rule, void *arg)
{
	struct weighing *w = arg;
	const struct judge_question *q = w->q;

	if (!uses(w->j, q->group, rule->source) || !rule_applies(rule, q->lower, q->len, q->qtype, q->who))
		return;
	if (!rule->answer) {
		weigh(w, &(struct word){
			.strength = rule->action, .depth = rule->labels, .source = rule->source, .rule = rule,
			.exact = rule->kind == RULE_NAME && rule->reach == RULE_EXACT,
			.step = rule->kind == RULE_REGEX ? JUDGE_regex : JUDGE_rule });
		return;
	}
	if (w->is_link || (q->paused && rule->source == w->j->safe_search))
		return;
	if (rule_strength(rule) == MR_NONE)
		note_exception(w, rule);
	else
		note_rewrite(w, rule);
}

static bool same_answer(const struct rule_answer *a, const struct rule_answer *b)
{
	return a->kind == b->kind && a->rcode == b->rcode && a->type == b->type && a->rdata_len == b->rdata_len &&
	       (!a->rdata_len || !memcmp(a->rdata, b->rdata, a->rdata_len));
}

static bool is_own(const struct judge *j, const struct rule *rule)
{
	return rule->source >= j->lists;
}

/*
 * "@@...$dnsrewrite" lifts all rewrites, with a value that one; important
 * rewrites by important exceptions alone, those written here by such alone.
 */
static bool is_lifted(const struct weighing *w, const struct rule *rule)
{
	const struct rule *e;
	unsigned i;

	for (i = 0; i < w->exceptions; i++) {
		e = w->exception[i];
		if (rule->action == FILTER_IMPORTANT_BLOCK && e->action != FILTER_IMPORTANT_ALLOW)
			continue;
		if (is_own(w->j, rule) && !is_own(w->j, e))
			continue;
		if (e->answer->kind == RULE_ANSWER_ANY || same_answer(e->answer, rule->answer))
			return true;
	}
	return false;
}

static unsigned strength_of_rewrite(const struct judge *j, const struct rule *rule)
{
	return rule->kind == RULE_NAME && rule->source == j->rewrites ? LOCAL_NAME : REWRITE;
}

static bool is_rewrite(unsigned strength)
{
	return strength == REWRITE || strength == LOCAL_NAME;
}

static struct word word_of_rewrite(const struct judge *j, const struct rule *rule)
{
	return (struct word){
		.own = is_own(j, rule),
		.strength = strength_of_rewrite(j, rule), .depth = rule->labels, .source = rule->source,
		.step = JUDGE_rewrite, .rule = rule,
		.exact = rule->kind == RULE_NAME && rule->reach == RULE_EXACT };
}

/* What cannot stand beside other answers. */
static bool stands_alone(const struct rule_answer *a, unsigned turn)
{
	if (!turn)
		return a->kind == RULE_ANSWER_CNAME;
	return a->kind == RULE_ANSWER_DROP || a->kind == RULE_ANSWER_TCP || (a->kind == RULE_ANSWER_RCODE && a->rcode);
}

/* The rewrites of the source and the name that decided. */
static void tell_rewrites(const struct weighing *w, struct judge_result *ret)
{
	struct word word;
	unsigned i, turn;

	for (i = 0; i < w->rewrites; i++) {
		word = word_of_rewrite(w->j, w->rewrite[i]);
		if (word.strength != w->best.strength || word.depth != w->best.depth || word.exact != w->best.exact ||
		    word.source != w->best.source)
			continue;
		if (ret->rewrites < JUDGE_REWRITES_MAX)
			ret->rewrite[ret->rewrites++] = w->rewrite[i];
		else
			policy_count(COUNT_filter_rewrites_full);
	}
	for (turn = 0; turn < 2; turn++)
		for (i = 0; i < ret->rewrites; i++)
			if (stands_alone(ret->rewrite[i]->answer, turn)) {
				ret->rule = ret->rewrite[0] = ret->rewrite[i];
				ret->rewrites = 1;
				return;
			}
}

static void weigh_rewrites(struct weighing *w)
{
	struct word word;
	unsigned i, kept = 0;

	for (i = 0; i < w->rewrites; i++)
		if (!is_lifted(w, w->rewrite[i]))
			w->rewrite[kept++] = w->rewrite[i];
	w->rewrites = kept;
	for (i = 0; i < kept; i++) {
		word = word_of_rewrite(w->j, w->rewrite[i]);
		weigh(w, &word);
	}
}

/* ---- what the kernel is told ---- */

static unsigned strongest_regex(const struct judge *j, unsigned group)
{
	unsigned source, strength = MR_NONE;

	if (!rules_have_regex(j->rules))
		return MR_NONE;
	for (source = 0; source < j->group[group].sources && source < FILTER_LISTS_MAX; source++)
		if (uses(j, group, source) && rules_regex_strength(j->rules, source) > strength)
			strength = rules_regex_strength(j->rules, source);
	return strength;
}

/* A local name is stronger than what else the kernel is told, else an important allow rule would take it away. */
static unsigned kind_of(const struct judge *j, struct filter_member m)
{
	unsigned kind = filter_member_kind(m);

	return kind == MR_ASK && m.list == j->rewrites ? MR_LOCAL_ZONE : kind;
}

static struct mr_verdict verdict_of(const struct judge *j, unsigned group, uint32_t set, unsigned regex)
{
	struct mr_verdict v = { .kind = MR_NONE };
	const struct filter_member *m, *end;

	for (m = filter_set_members(j->members, set, &end); m < end; m++)
		if (kind_of(j, *m) > v.kind && uses(j, group, m->list))
			v = (struct mr_verdict){ .kind = (uint8_t)kind_of(j, *m), .list = m->list };
	/* a name below may be meant by a pattern that is stronger */
	if (v.kind != MR_NONE && v.kind < regex && filter_set_is_subtree(j->members, set))
		v.kind = MR_ASK;
	return v;
}

struct mr_verdict *judge_verdicts(const struct judge *j)
{
	uint32_t sets = j->members->sets, s;
	struct mr_verdict *v = calloc((size_t)j->groups * sets + 1, sizeof(*v));
	unsigned g, regex;

	for (g = 0; v && g < j->groups; g++) {
		regex = strongest_regex(j, g);
		for (s = 0; s < sets; s++)
			v[(size_t)g * sets + s] = verdict_of(j, g, s, regex);
	}
	return v;
}

/* ---- judging ---- */

static bool is_block(unsigned kind)
{
	return kind == MR_BLOCK || kind == MR_IMPORTANT_BLOCK;
}

/* As the kernel: a pause turns an outcome of "block" into none. */
static void lift(const struct judge_question *q, struct judge_result *ret)
{
	if (q->paused && is_block(ret->kind))
		*ret = (struct judge_result){ .kind = MR_NONE };
}

/* All the words, when the kernel's step ends in "ask", or knows nothing of patterns. */
static void judge_slowly(const struct judge *j, const struct judge_question *q, bool is_link, bool asked,
			 struct judge_result *ret)
{
	struct weighing w;

	w.j = j;
	w.q = q;
	w.is_link = is_link;
	w.labels = dns_name_labels(q->lower);
	w.best = (struct word){ .strength = MR_NONE };
	w.rewrites = w.exceptions = 0;
	if (asked)
		each_entry(j, q, weigh_entry, &w);
	/* also when the kernel has not to ask: an exception may lift what a pattern rewrites */
	rules_each_name(j->rules, q->lower, q->len, weigh_rule, &w);
	rules_each_regex(j->rules, q->lower, q->len, q->steps, weigh_rule, &w);
	weigh_rewrites(&w);
	ret->kind = is_rewrite(w.best.strength) ? MR_NONE : (enum mr_verdict_kind)w.best.strength;
	ret->step = w.best.strength == MR_NONE ? JUDGE_none : w.best.step;
	ret->source = w.best.source;
	ret->depth = w.best.depth;
	ret->entry = w.best.entry;
	ret->rule = w.best.rule;
	if (is_rewrite(w.best.strength))
		tell_rewrites(&w, ret);
}

/* Where the kernel decides nothing; it answers names in local zones, but knows no others of them. */
static bool is_asked(unsigned kind)
{
	return kind == MR_ASK || kind == MR_LOCAL_ZONE;
}

struct deciding {
	const struct judge *j;
	unsigned group;
	struct mr_decision d;
};

/* What the kernel would say of an entry if it had a number for each set. */
static void decide_entry(void *arg, uint64_t entry, struct mr_hash hash, unsigned depth, bool exact)
{
	struct deciding *to = arg;
	const struct judge *j = to->j;
	const struct mr_unit *u = j->filter.unit;
	uint32_t set;

	if (mr_entry_set(entry) < j->members->sets) {
		mr_filter_weigh(u, j->filter.verdicts - u->verdict_base, to->group, entry, depth, &to->d);
		return;
	}
	set = set_of(j->members, entry, hash);
	if (set == SET_UNTOLD)
		mr_decide(&to->d, (struct mr_verdict){ .kind = MR_ASK }, entry, depth);
	else if (set)
		mr_decide(&to->d, verdict_of(j, to->group, set, strongest_regex(j, to->group)), entry, depth);
}

/* The kernel's decision; where it asks, or something is stronger than asking, the sets of folded names count too. */
static void find(const struct judge *j, const struct judge_question *q, struct filter_result *ret)
{
	struct deciding folded = { .j = j, .group = q->group, .d.verdict.kind = MR_NONE };

	if (q->name)
		filter_find(&j->filter, q->name, q->group, ret);
	else
		filter_find_deep(&j->filter, q->lower, q->len, j->secret, q->group, ret);
	if (ret->kind < MR_ASK || !j->members->folded || q->group >= j->groups)
		return;
	each_entry(j, q, decide_entry, &folded);
	ret->kind = (enum mr_verdict_kind)folded.d.verdict.kind;
	ret->list = folded.d.verdict.list;
	ret->depth = folded.d.depth;
	ret->entry = folded.d.entry;
}

static void judge(const struct judge *j, const struct judge_question *q, bool is_link, struct judge_result *ret)
{
	struct filter_result r;

	find(j, q, &r);
	ret->kind = r.kind;
	ret->step = r.kind == MR_NONE ? JUDGE_none : JUDGE_name;
	ret->source = r.list;
	ret->depth = r.depth;
	ret->entry = r.entry;
	ret->rule = NULL;
	ret->rewrites = 0;
	ret->unknown = r.kind == MR_NONE;
	if (is_asked(r.kind) || (r.kind == MR_NONE && rules_have_regex(j->rules)))
		judge_slowly(j, q, is_link, is_asked(r.kind), ret);
	lift(q, ret);
}

void judge_name(const struct judge *j, const struct judge_question *q, struct judge_result *ret)
{
	judge(j, q, false, ret);
}

void judge_link(const struct judge *j, const struct judge_question *q, struct judge_result *ret)
{
	judge(j, q, true, ret);
	if (ret->kind != MR_NONE)
		ret->step = JUDGE_link;
}

/* A prefix's length stands for labels: the longest wins, and they come longest first. */
static void weigh_address(const struct rule *rule, void *arg)
{
	struct weighing *w = arg;
	const struct judge_question *q = w->q;

	if (!uses(w->j, q->group, rule->source) || !rule_applies(rule, q->lower, q->len, q->qtype, q->who))
		return;
	if (rule->action > w->best.strength)
		w->best = (struct word){ .strength = rule->action, .source = rule->source, .step = JUDGE_address,
					 .rule = rule };
}

void judge_address(const struct judge *j, const struct judge_question *q, const uint8_t ip[16],
		   struct judge_result *ret)
{
	struct weighing w = { .j = j, .q = q };

	*ret = (struct judge_result){ .kind = MR_NONE };
	if (!rules_have_address(j->rules))
		return;
	rules_each_address(j->rules, ip, weigh_address, &w);
	if (!is_block(w.best.strength))
		return;
	ret->kind = (enum mr_verdict_kind)w.best.strength;
	ret->step = JUDGE_address;
	ret->source = w.best.source;
	ret->rule = w.best.rule;
	lift(q, ret);
}

bool judge_asks_within(const struct judge *j, const uint8_t *lower, uint16_t len, uint32_t *steps)
{
	return rules_any_regex(j->rules, lower, len, steps);
}

bool judge_asks(const struct judge *j, const uint8_t *lower, uint16_t len)
{
	return judge_asks_within(j, lower, len, NULL);
}

void judge_set_verdicts(const struct judge *j, uint32_t set, struct mr_verdict *ret)
{
	unsigned g;

	for (g = 0; g < j->groups; g++)
		ret[g] = verdict_of(j, g, set, strongest_regex(j, g));
}
