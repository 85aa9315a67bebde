/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regex.h - regular expressions over names, one and many.
 *
 * A pattern is matched without case against a name as text without its final
 * dot.  Work is bounded: a match that takes too many steps is no match, what
 * all patterns take for a query together is paid from one purse, and both are
 * counted.  Immutable once made; any thread may match.
 */
#ifndef POLICY_REGEX_H
#define POLICY_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGEX_PATTERN_MAX 4096
#define REGEX_TEXT_MAX    256
#define REGEX_STEPS_MAX   (2U << 20)	/* that all patterns may take for one query: some milliseconds at worst */

struct regex;

/* How a match ended. */
enum regex_outcome {
	REGEX_NO,
	REGEX_YES,
	REGEX_LIMIT,			/* it takes too many steps */
	REGEX_SPENT			/* there are not enough steps left */
};

/**
 * Compile a pattern, without the machine code that makes it fast.
 *
 * Returns 0 with @ret for regex_free(); -EINVAL when it does not compile or is longer than REGEX_PATTERN_MAX; -ENOMEM.
 */
int regex_new(const char *pattern, size_t len, struct regex **ret);
void regex_free(struct regex *r);

/*
 * Why a pattern does not compile, in words, and where in it; false when it does.
 */
bool regex_wrong(const char *pattern, size_t len, size_t *ret_at, char *buf, size_t size);

/* The octets that a compiled pattern takes; its machine code, which only small ones get, may take five times as many on top. */
size_t regex_size(const struct regex *r);

/* Match alone, with all the steps of a query: never REGEX_SPENT. */
enum regex_outcome regex_match(const struct regex *r, const char *text, size_t len);

/* A name as the text that patterns are matched against; labels' octets as they are.  Returns its length. */
size_t regex_text(const uint8_t *wire, uint16_t len, char ret[REGEX_TEXT_MAX]);

/* ---- many ---- */

struct regex_set;

/* A pattern as a member of a set. */
struct regex_member {
	const char *pattern;		/* borrowed while the set is made */
	size_t len;
	struct regex *regex;		/* borrowed for the set's life; made faster by it */
	bool invert;			/* it is about the names that do not match */
};

/* Returns the set for regex_set_free(), or NULL when memory is out. */
struct regex_set *regex_set_new(const struct regex_member *members, unsigned count);
void regex_set_free(struct regex_set *s);

/**
 * Call @each with the number of every member that is about the text, until it
 * returns false.
 *
 * @left  in: steps that they may take together; out: what is left of them.  0
 *        when they did not suffice; the members that come then are not tried,
 *        and none is the next time
 */
void regex_set_each(const struct regex_set *s, const char *text, size_t len, uint32_t *left,
		    bool (*each)(unsigned number, void *arg), void *arg);

/* How often a member's match took too many steps, and all members together more than were left. */
uint64_t regex_set_limited(const struct regex_set *s);
uint64_t regex_set_spent(const struct regex_set *s);

/* Steps that heavy matches took, of all members and of one. */
uint64_t regex_set_heavy(const struct regex_set *s);
uint64_t regex_set_heavy_of(const struct regex_set *s, unsigned number);

#endif
