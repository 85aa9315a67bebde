/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pairs_world.h - rules, groups and questions made at random, and what the rules
 * say, read straight out of their list.
 *
 * The reading shares nothing with policy/ but struct rule_item: names are
 * compared as text, patterns matched by the C library.
 */
#ifndef TESTS_PACKET_PAIRS_WORLD_H
#define TESTS_PACKET_PAIRS_WORLD_H

#include <regex.h>
#include <stdatomic.h>
#include "policy/rule.h"

#define PAIRS_SOURCES  24
#define PAIRS_GROUPS   6
#define PAIRS_RULES    8000
#define PAIRS_PATTERNS_MAX 8
#define PAIRS_LOCAL    (PAIRS_SOURCES - 1)	/* the source of local names */
#define PAIRS_TEXT     300

/* What there is besides plain names. */
enum pairs_kind { PAIRS_PAUSES = 1, PAIRS_BELOW = 2, PAIRS_CONDITIONS = 4, PAIRS_REWRITES = 8, PAIRS_PATTERNS = 16 };

struct pairs_rule {
	struct rule_item item;
	unsigned source;
	unsigned labels;
	char text[PAIRS_TEXT];		/* of its name, without the final dot, or its pattern */
	uint8_t wire[256];
	struct rule_condition condition;
	struct rule_answer answer;
	regex_t regex;
	int next;			/* of the same name, number + 1 */
};

struct pairs_world {
	unsigned kind;
	uint64_t random;
	struct pairs_rule rule[PAIRS_RULES + PAIRS_PATTERNS_MAX];
	unsigned rules, names;		/* names: rules about names, the first ones */
	int first[1 << 15];		/* by hash of the name's text: a rule's number + 1 */
	_Atomic uint8_t uses[PAIRS_GROUPS][PAIRS_SOURCES];
	bool paused[PAIRS_GROUPS];
};

struct pairs_question {
	char text[PAIRS_TEXT];		/* letters as they are sent */
	uint8_t lower[256];
	uint16_t len;
	unsigned labels;
	uint16_t qtype;
	unsigned group;
	int edns;
};

struct pairs_outcome {
	enum mr_verdict_kind kind;
	bool rewritten;			/* a rewrite decided; kind is none then */
	unsigned source, depth;		/* of the rule that decided */
	bool special;			/* a rule that the kernel cannot judge is about the name, or may be */
};

/* A world from a seed; NULL when memory is out. */
struct pairs_world *pairs_new(unsigned kind, uint64_t seed);
void pairs_free(struct pairs_world *w);

/* The next question. */
void pairs_ask(struct pairs_world *w, struct pairs_question *ret);

/* What the rules say of it. */
void pairs_judge(const struct pairs_world *w, const struct pairs_question *q, struct pairs_outcome *ret);

/* Print the rules that are about it, for whoever looks for a fault. */
void pairs_print(const struct pairs_world *w, const struct pairs_question *q);

#endif
