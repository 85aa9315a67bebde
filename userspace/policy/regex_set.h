/* SPDX-License-Identifier: BSD-2-Clause */
/* regex_set.h - what the files of regular expressions say to each other. */
#ifndef POLICY_REGEX_SET_H
#define POLICY_REGEX_SET_H

#include "policy/regex.h"

/* Make machine code for a pattern, when the machine allows it and the pattern is not too large. */
void regex_quicken(struct regex *r);

/* Say that a pattern is the branches of so many, each of which may take what one takes at first. */
void regex_branches(struct regex *r, unsigned branches);

/**
 * Match, and pay for the steps.
 *
 * @left       as in regex_set_each()
 * @ret_heavy  what was paid beyond the first try; 0 for nearly all patterns
 */
enum regex_outcome regex_try(const struct regex *r, const char *text, size_t len, uint32_t *left, uint32_t *ret_heavy);

/*
 * A gram is three letters in a row of a name with a mark at each of its ends,
 * 6 bits each.  All that is no letter, digit, '-', '_' or '.' is one letter.
 */
#define REGEX_GRAMS (1U << 18)
#define REGEX_BRANCHES_MAX 32

enum { REGEX_LETTER_OTHER, REGEX_LETTER_START, REGEX_LETTER_END, REGEX_LETTERS_FROM };

unsigned regex_letter(char c);

/**
 * Find a gram for each branch of a pattern, so that a text without any of them does not match.
 *
 * Returns how many, or 0 when some branch has none or too little is understood of the pattern.
 */
unsigned regex_grams(const char *pattern, size_t len, uint32_t ret[REGEX_BRANCHES_MAX]);

/* True when the pattern means the same as a part of a larger one. */
bool regex_may_be_part(const char *pattern, size_t len);

#endif
