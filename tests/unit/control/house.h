/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * house.h - a struct control without a packet path and without workers, in a
 * state directory of its own.
 */
#ifndef TESTS_UNIT_CONTROL_HOUSE_H
#define TESTS_UNIT_CONTROL_HOUSE_H

#include "control/internal.h"
#include "kern/kern.h"

#define A_EXAMPLE "\1a\7example"
#define B_EXAMPLE "\1b\7example"
#define RULE(text) "filter:\n  rules: [\"" text "\"]\n"

struct house {
	struct control c;
	struct kern *ours, *strange;	/* the latter knows another secret, and takes no filter of ours */
};

void open_house(struct house *h);

/* Closes what is in force too. */
void close_house(struct house *h);

/* A snapshot, without a filter yet, of a configuration with @more in it; filter_compile() takes it. */
struct snapshot *say(struct house *h, const char *more);

/* What the group default gets for a name in wire form. */
enum mr_verdict_kind ask(const struct snapshot *s, const char *wire);

#endif
