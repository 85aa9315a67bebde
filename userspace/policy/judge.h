/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * judge.h - what the filter says of a question: the reference for the kernel.
 *
 * Takes the kernel's steps (filter.h), as if each name's set had a number there,
 * and where those end in "ask" goes on to the members of the sets, the special
 * rules and the regular expressions
 * (docs/adr/0008).  The outcome is never "ask".
 */
#ifndef POLICY_JUDGE_H
#define POLICY_JUDGE_H

#include <stdatomic.h>
#include "policy/filter.h"
#include "policy/rules.h"

#define JUDGE_REWRITES_MAX 32

/* Which sources a group uses at this moment; control changes it at schedule edges, any thread reads. */
struct judge_group {
	_Atomic uint8_t *uses;		/* by source number */
	unsigned sources;
};

/* All that a judgement rests on; part of the snapshot, borrowed from there. */
struct judge {
	struct filter_view filter;
	const struct filter_members *members;
	const struct rules *rules;
	const struct mr_secret *secret;	/* for names too deep for the kernel */
	const struct judge_group *group;
	unsigned groups;
	unsigned lists;			/* sources below it are lists: their rewrites come behind the others */
	unsigned rewrites;		/* number of the source of local names, which nothing frees; UINT_MAX: none */
	unsigned safe_search;		/* number of that source, lifted by a pause; UINT_MAX: none */
};

struct judge_question {
	const uint8_t *lower;		/* lower-case wire form */
	uint16_t len;
	const struct mr_name *name;	/* the same hashed; NULL when it has too many labels */
	uint16_t qtype;
	unsigned group;
	bool paused;			/* blocks and safe search are lifted */
	const struct who *who;		/* may be NULL */
	uint32_t *steps;		/* that patterns may still take for the query; NULL: REGEX_STEPS_MAX for this name */
};

/* The step that decided, for "why"; texts in judge_step_texts. */
#define JUDGE_STEPS(ROW) \
	ROW(none,    "nothing matches") \
	ROW(name,    "a name of a list") \
	ROW(rule,    "a rule with a condition") \
	ROW(regex,   "a regular expression") \
	ROW(rewrite, "a rewrite") \
	ROW(link,    "a name that the answer leads to") \
	ROW(address, "an address in the answer") \
	ROW(many,    "the name is on too many combinations of lists to tell them apart")

enum judge_step {
#define ROW(name, text) JUDGE_##name,
	JUDGE_STEPS(ROW)
#undef ROW
	JUDGE_STEP_COUNT
};
extern const char *const judge_step_names[JUDGE_STEP_COUNT];
extern const char *const judge_step_texts[JUDGE_STEP_COUNT];

struct judge_result {
	enum mr_verdict_kind kind;	/* NONE, BLOCK, ALLOW, IMPORTANT_BLOCK or IMPORTANT_ALLOW; NONE with rewrites */
	enum judge_step step;
	bool unknown;			/* to the kernel: patterns alone have decided, if anything */
	unsigned source;		/* of what decided */
	unsigned depth;			/* labels of the name that matched; 0 for patterns */
	uint64_t entry;			/* of the table of names; 0: none */
	const struct rule *rule;	/* NULL: a plain name */
	/*
	 * What to answer: one alias, or one rcode, drop or TC; or records, whose RRset is
	 * all of them of the question's type.
	 */
	const struct rule *rewrite[JUDGE_REWRITES_MAX];
	unsigned rewrites;
};

/* Judge the question's name. */
void judge_name(const struct judge *j, const struct judge_question *q, struct judge_result *ret);

/*
 * Judge a name that the answer leads to (q->lower, q->name; dns/leads.h) after the question
 * was judged "none": rewrites do not apply.
 */
void judge_link(const struct judge *j, const struct judge_question *q, struct judge_result *ret);

/* Judge an address of the answer: BLOCK or IMPORTANT_BLOCK with step address, or NONE. */
void judge_address(const struct judge *j, const struct judge_question *q, const uint8_t ip[16],
		   struct judge_result *ret);

/*
 * True when a regular expression of any source matches the name, or may: an answer that holds it is not for the
 * kernel alone.  @steps as in struct judge_question.
 */
bool judge_asks_within(const struct judge *j, const uint8_t *lower, uint16_t len, uint32_t *steps);
bool judge_asks(const struct judge *j, const uint8_t *lower, uint16_t len);

/**
 * The kernel's verdicts: (group, set) for the sources that the groups use now.
 *
 * Returns an array of groups * unit->sets cells on the heap (the caller's), or NULL when memory is out.
 */
struct mr_verdict *judge_verdicts(const struct judge *j);

/* The same for one set: @ret has a cell for each group. */
void judge_set_verdicts(const struct judge *j, uint32_t set, struct mr_verdict *ret);

#endif
