/* SPDX-License-Identifier: BSD-2-Clause */
/* pairs_world.c - see pairs_world.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "packet/fill.h"
#include "packet/pairs_world.h"

#define TYPE_A    1
#define TYPE_AAAA 28
#define REWRITE   MR_ASK		/* its place in the order of strength */
#define LOCAL     MR_LOCAL_ZONE	/* that of local names */

static const char *const labels[] = {
	"a", "b", "c", "www", "ads", "ads1", "ads22", "cdn", "cdn7", "track", "x-track", "img", "mail", "api", "m", "shop",
	"news", "video", "stat", "metrics", "t", "s1", "eu", "us",
};
static const char *const seconds[] = {
	"alpha", "beta", "gamma", "delta", "omega", "shop", "tracker", "adnet", "media", "portal", "bank", "game",
};
static const char *const tops[] = { "com", "net", "org", "example" };
static const char *const patterns[] = {
	"^ads[0-9]+\\.", "track", "(^|\\.)cdn[0-9]*\\.", "\\.shop[0-9]+\\.com$", "^m\\.", "metrics\\..*\\.net$",
	"^(www\\.)?bank[0-9]*\\.org$",
	"^stat\\.",
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static unsigned below(struct pairs_world *w, unsigned n)
{
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return (unsigned)((w->random * 0x2545f4914f6cdd1dULL >> 32) * n >> 32);
}

static unsigned hash(const char *text)
{
	unsigned h = 5381;

	while (*text)
		h = h * 33 + (unsigned char)*text++;
	return (h ^ h >> 15) & ((1 << 15) - 1);
}

static unsigned count_labels(const char *text)
{
	unsigned n = *text != 0;

	for (; *text; text++)
		n += *text == '.';
	return n;
}

/* ---- making ---- */

/* A name of two to six labels; most have a number in their second level, so that not all meet. */
static void make_name(struct pairs_world *w, char *ret)
{
	unsigned depth = below(w, 10) < 6 ? below(w, 2) : below(w, 5), number = below(w, 120);
	size_t at = 0;

	while (depth--)
		at += (size_t)sprintf(ret + at, "%s.", labels[below(w, COUNT(labels))]);
	at += (size_t)sprintf(ret + at, "%s", seconds[below(w, COUNT(seconds))]);
	if (number)
		at += (size_t)sprintf(ret + at, "%u", number);
	sprintf(ret + at, ".%s", tops[below(w, COUNT(tops))]);
}

static enum filter_action make_action(struct pairs_world *w)
{
	unsigned n = below(w, 100);

	return n < 65 ? FILTER_BLOCK : n < 85 ? FILTER_ALLOW : n < 95 ? FILTER_IMPORTANT_BLOCK : FILTER_IMPORTANT_ALLOW;
}

static void make_condition(struct pairs_world *w, struct pairs_rule *r)
{
	struct rule_condition *c = &r->condition;

	r->item.condition = c;
	if (below(w, 2)) {
		c->types = 1;
		c->type[0] = below(w, 2) ? TYPE_A : TYPE_AAAA;
		c->types_not = below(w, 2);
		return;
	}
	c->clients = 1;
	c->client[0].kind = RULE_CLIENT_PREFIX;
	c->client[0].prefix.ip[10] = c->client[0].prefix.ip[11] = 0xff;
	c->client[0].prefix.ip[12] = 10;
	c->client[0].prefix.ip[14] = (uint8_t)below(w, PAIRS_GROUPS);
	c->client[0].prefix.len = 96 + 24;
	c->client[0].not = below(w, 2);
}

static void make_answer(struct pairs_world *w, struct pairs_rule *r)
{
	static const uint8_t address[4] = { 192, 0, 2, 99 };

	r->item.answer = &r->answer;
	r->item.action = below(w, 6) ? FILTER_BLOCK : FILTER_IMPORTANT_BLOCK;
	if (below(w, 2))
		r->answer = (struct rule_answer){ .kind = RULE_ANSWER_RCODE, .rcode = 3 };
	else
		r->answer = (struct rule_answer){ .kind = RULE_ANSWER_RECORD, .type = TYPE_A, .ttl = 60, .rdata = address,
						  .rdata_len = 4 };
}

static void make_rule(struct pairs_world *w, struct pairs_rule *r)
{
	unsigned n = below(w, 100), at = hash((make_name(w, r->text), r->text));

	r->source = below(w, PAIRS_SOURCES);
	r->labels = count_labels(r->text);
	r->item = (struct rule_item){
		.kind = RULE_NAME, .action = make_action(w), .reach = n < 50 ? RULE_EXACT : RULE_SUBTREE, .name = r->wire,
		.text = r->text, .text_len = strlen(r->text), .line = (uint64_t)(r - w->rule) + 1,
	};
	r->item.name_len = (uint16_t)fill_wire(r->text, r->wire, sizeof(r->wire));
	if (w->kind & PAIRS_BELOW && n >= 95)
		r->item.reach = RULE_BELOW;
	if (w->kind & PAIRS_CONDITIONS && below(w, 20) == 0)
		make_condition(w, r);
	if (w->kind & PAIRS_REWRITES && below(w, 20) == 0)
		make_answer(w, r);
	r->next = w->first[at];
	w->first[at] = (int)(r - w->rule) + 1;
}

static int make_pattern(struct pairs_world *w, struct pairs_rule *r, const char *pattern)
{
	snprintf(r->text, sizeof(r->text), "%s", pattern);
	r->source = below(w, PAIRS_SOURCES);
	r->item = (struct rule_item){
		.kind = RULE_REGEX, .action = make_action(w), .pattern = r->text, .pattern_len = strlen(r->text),
		.text = r->text, .text_len = strlen(r->text), .line = (uint64_t)(r - w->rule) + 1,
	};
	if (w->kind & PAIRS_CONDITIONS && below(w, 4) == 0)
		make_condition(w, r);
	if (w->kind & PAIRS_REWRITES && below(w, 4) == 0)
		make_answer(w, r);
	return regcomp(&r->regex, pattern, REG_EXTENDED | REG_NOSUB | REG_ICASE);
}

struct pairs_world *pairs_new(unsigned kind, uint64_t seed)
{
	struct pairs_world *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->kind = kind;
	w->random = seed * 0x9e3779b97f4a7c15ULL | 1;
	while (w->names < PAIRS_RULES)
		make_rule(w, &w->rule[w->names++]);
	w->rules = w->names;
	for (unsigned i = 0; kind & PAIRS_PATTERNS && i < COUNT(patterns); i++)
		if (make_pattern(w, &w->rule[w->rules++], patterns[i])) {
			w->rules--;
			pairs_free(w);
			return NULL;
		}
	for (unsigned g = 0; g < PAIRS_GROUPS; g++) {
		for (unsigned s = 0; s < PAIRS_SOURCES; s++)
			w->uses[g][s] = below(w, 3) > 0;
		w->paused[g] = kind & PAIRS_PAUSES && g % 3 == 1;
	}
	return w;
}

void pairs_free(struct pairs_world *w)
{
	if (!w)
		return;
	for (unsigned i = w->names; i < w->rules; i++)
		regfree(&w->rule[i].regex);
	free(w);
}

/* ---- asking ---- */

/* A rule's name, one below it, its parent, or any name. */
static void choose_name(struct pairs_world *w, char *ret)
{
	const char *name = w->rule[below(w, w->names)].text, *dot = strchr(name, '.');
	unsigned n = below(w, 1000), deep = 0;
	size_t at = 0;

	if (n < 450) {
		strcpy(ret, name);
	} else if (n < 750) {
		if (below(w, 4) == 0)
			at += (size_t)sprintf(ret, "%s.", labels[below(w, COUNT(labels))]);
		sprintf(ret + at, "%s.%s", labels[below(w, COUNT(labels))], name);
	} else if (n < 850) {
		strcpy(ret, strchr(dot + 1, '.') ? dot + 1 : name);
	} else if (n < 995) {
		make_name(w, ret);
	} else {
		for (deep = 10 + below(w, 9); deep--;)
			at += (size_t)sprintf(ret + at, "%s.", labels[below(w, COUNT(labels))]);
		strcpy(ret + at, name);
	}
}

void pairs_ask(struct pairs_world *w, struct pairs_question *ret)
{
	static const uint16_t types[] = { TYPE_A, TYPE_A, TYPE_AAAA, 16, 65 };
	char *p;

	choose_name(w, ret->text);
	ret->len = (uint16_t)fill_wire(ret->text, ret->lower, sizeof(ret->lower));
	ret->labels = count_labels(ret->text);
	ret->qtype = types[below(w, COUNT(types))];
	ret->group = below(w, PAIRS_GROUPS);
	ret->edns = (int)below(w, 2);
	for (p = ret->text; below(w, 4) == 0 && *p; p++)
		*p = below(w, 2) ? (char)toupper((unsigned char)*p) : *p;
}

/* ---- reading the rules ---- */

struct reading {
	const struct pairs_world *w;
	const struct pairs_question *q;
	char text[PAIRS_TEXT];		/* lower case */
	unsigned strength;
	bool exact;
	struct pairs_outcome *o;
};

static bool holds(const struct rule_condition *c, const struct pairs_question *q)
{
	bool is;

	if (!c)
		return true;
	if (c->types)
		return (c->type[0] == q->qtype) != c->types_not;
	is = c->client[0].prefix.ip[14] == q->group;
	return is != c->client[0].not;
}

/* Whether the very same is said of the names below alone: both together are one rule about the name with all below. */
static bool has_other_half(const struct pairs_world *w, const struct pairs_rule *rule)
{
	const struct pairs_rule *other;

	for (int i = w->first[hash(rule->text)]; i; i = other->next) {
		other = &w->rule[i - 1];
		if (other->item.reach == RULE_BELOW && other->source == rule->source && !strcmp(other->text, rule->text) &&
		    other->item.action == rule->item.action && !other->item.condition && !other->item.answer)
			return true;
	}
	return false;
}

static unsigned strength_of(const struct pairs_rule *rule)
{
	if (!rule->item.answer)
		return rule->item.action;
	return rule->item.kind == RULE_NAME && rule->source == PAIRS_LOCAL ? LOCAL : REWRITE;
}

static void weigh(struct reading *r, const struct pairs_rule *rule)
{
	unsigned strength = strength_of(rule);
	bool exact = rule->item.kind == RULE_NAME && rule->item.reach == RULE_EXACT &&
		     (rule->item.condition || rule->item.answer || !has_other_half(r->w, rule)), wins;
	struct pairs_outcome *o = r->o;

	if (!holds(rule->item.condition, r->q))
		return;
	if (strength != r->strength)
		wins = strength > r->strength;
	else if (rule->labels != o->depth)
		wins = rule->labels > o->depth;
	else if (exact != r->exact)
		wins = exact;
	else
		wins = rule->source < o->source;
	if (!wins)
		return;
	r->strength = strength;
	r->exact = exact;
	o->depth = rule->labels;
	o->source = rule->source;
}

/* Whether a rule of a name is about another, which is that name or below it. */
static bool is_about(const struct pairs_rule *rule, bool itself)
{
	return rule->item.reach == RULE_SUBTREE || (rule->item.reach == RULE_EXACT) == itself;
}

/* The rules of one name, which is the question's or one of its parents. */
static void read_name(struct reading *r, const char *name, bool itself)
{
	const struct pairs_rule *rule;

	for (int i = r->w->first[hash(name)]; i; i = rule->next) {
		rule = &r->w->rule[i - 1];
		if (strcmp(rule->text, name) || !r->w->uses[r->q->group][rule->source])
			continue;
		if (rule->item.reach != RULE_EXACT || itself)
			r->o->special |= rule->item.reach == RULE_BELOW || rule->item.condition || rule->item.answer;
		if (is_about(rule, itself))
			weigh(r, rule);
	}
}

static void read_patterns(struct reading *r)
{
	for (unsigned i = r->w->names; i < r->w->rules; i++) {
		const struct pairs_rule *rule = &r->w->rule[i];

		if (!r->w->uses[r->q->group][rule->source])
			continue;
		/* Any name below a subtree entry may be meant. */
		r->o->special = true;
		if (!regexec(&rule->regex, r->text, 0, NULL, 0))
			weigh(r, rule);
	}
}

void pairs_judge(const struct pairs_world *w, const struct pairs_question *q, struct pairs_outcome *ret)
{
	struct reading r = { .w = w, .q = q, .o = ret };
	const char *p;
	size_t i;

	*ret = (struct pairs_outcome){ .kind = MR_NONE };
	for (i = 0; q->text[i]; i++)
		r.text[i] = (char)tolower((unsigned char)q->text[i]);
	for (p = r.text; p; p = strchr(p, '.') ? strchr(p, '.') + 1 : NULL)
		read_name(&r, p, p == r.text);
	read_patterns(&r);
	ret->rewritten = r.strength == REWRITE || r.strength == LOCAL;
	ret->kind = ret->rewritten ? MR_NONE : (enum mr_verdict_kind)r.strength;
	/* A pause turns an outcome of "block" into none. */
	if (w->paused[q->group] && (ret->kind == MR_BLOCK || ret->kind == MR_IMPORTANT_BLOCK))
		ret->kind = MR_NONE;
}

void pairs_print(const struct pairs_world *w, const struct pairs_question *q)
{
	static const char *const reach[] = { "exact", "subtree", "below" };
	size_t len = strlen(q->text);

	for (unsigned i = 0; i < w->rules; i++) {
		const struct pairs_rule *r = &w->rule[i];
		size_t own = strlen(r->text);

		if (!w->uses[q->group][r->source])
			continue;
		if (r->item.kind == RULE_NAME && (own > len || strcasecmp(q->text + len - own, r->text)))
			continue;
		printf("#   rule of %u: %s %s %s%s%s\n", r->source, r->item.kind == RULE_NAME ? reach[r->item.reach] : "pattern",
		       r->text, filter_verdict_text(r->item.action), r->item.condition ? " if" : "",
		       r->item.answer ? " rewrite" : "");
	}
}
