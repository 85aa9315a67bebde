/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * court.h - compile items and lines, and judge names by them.
 *
 * An item is written as a row: names are text, and what is not said is what
 * most rules are (a block of a very name).
 */
#ifndef TESTS_UNIT_POLICY_COURT_H
#define TESTS_UNIT_POLICY_COURT_H

#include "policy/compile.h"
#include "policy/judge.h"

#define COURT_GROUPS  4
#define COURT_SOURCES 8
#define COURT_LOCAL   (COURT_SOURCES - 2)	/* the source of local names */

/* An item as a test says it. */
struct said {
	unsigned source;
	enum rule_kind kind;
	enum filter_action action;	/* 0: block */
	enum rule_reach reach;
	bool bad;
	const char *name;		/* or pattern, or prefix */
	bool invert;
	uint16_t type;			/* $dnstype; 0: none */
	bool type_not;
	const char *client;		/* a prefix, or the name of a client; "~" in front: not */
	const char *tag;		/* the same */
	const char *deny;
	enum { SAID_BLOCK, SAID_ANY, SAID_RCODE, SAID_RECORD, SAID_CNAME, SAID_DROP } answer;
	uint32_t value;			/* rcode, or the address of a record */
	uint64_t line;
};

struct court {
	struct compile *compile;
	struct compiled made;
	struct mr_unit unit;
	struct mr_verdict *verdicts, *asking;
	struct filter_members *members;
	struct judge judge;
	struct judge_group group[COURT_GROUPS];
	_Atomic uint8_t uses[COURT_GROUPS][COURT_SOURCES];
};

/* Begin; every group uses every source. */
void court_init(struct court *c);

/* Add an item; what compile_item() says. */
int court_say(struct court *c, const struct said *s);

/* Compile in memory and make verdicts. */
void court_open(struct court *c);

/* Make verdicts of what is compiled; again after uses were changed. */
void court_sit(struct court *c);
void court_close(struct court *c);

/* Judge a name. */
struct judge_result court_judge(const struct court *c, const char *name, uint16_t qtype, unsigned group, bool paused,
				const struct who *who);

/* Judge a name in wire form, hashed or NULL, by all that is said of it: as if the kernel's form were "ask" for each set. */
struct judge_result court_judge_slowly(const struct court *c, const struct judge_question *q);

/* The kernel's decision. */
struct mr_decision court_kernel(const struct court *c, const char *name, unsigned group);

#endif
