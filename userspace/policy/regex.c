/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regex.c - the only file that knows pcre2.
 *
 * Anchors are as written; "." and classes match octets.  pcre2 counts steps
 * anew for each octet that a match may begin at, and does not tell how many it
 * took; so a pattern is tried with few steps at first, which are paid for
 * whether they are taken or not.  One for which they do not suffice is heavy:
 * it is tried again from one octet after the other, each time with eight times
 * the steps, so that what is paid is what was taken, within a factor of eight.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "policy/regex_set.h"

#define STEPS_MAX    20000		/* from one octet */
#define STEPS_FIRST  16			/* from each octet, of nearly all patterns that people write */
#define STEPS_ANCHOR 64			/* the same of one that begins at the first octet alone */
#define STEPS_CALL   32			/* what a call costs by itself */
#define HEAP_MAX_KIB 256
#define QUICK_MAX    (16U << 10)	/* octets; machine code of larger patterns takes milliseconds to make and 200,000 octets */

struct regex {
	pcre2_code *code;
	bool quick;			/* has machine code */
	bool anchored;			/* matches begin at the first octet alone */
	uint16_t first;			/* steps from an octet that it may take at first */
};

/* What a thread matches with; only whether there is a match is asked, so one pair is enough. */
struct mine {
	pcre2_match_data *data;
	pcre2_match_context *context;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t mine_key;
static bool ready;			/* there is the key; else nothing compiles */

static void free_mine(void *arg)
{
	struct mine *m = arg;

	pcre2_match_data_free(m->data);
	pcre2_match_context_free(m->context);
	free(m);
}

static void make_key(void)
{
	ready = pthread_key_create(&mine_key, free_mine) == 0;
}

#define COMPILE_FLAGS \
	(PCRE2_CASELESS | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT)

bool regex_wrong(const char *pattern, size_t len, size_t *ret_at, char *buf, size_t size)
{
	pcre2_code *code;
	PCRE2_SIZE at = 0;
	int why;

	*ret_at = 0;
	if (len > REGEX_PATTERN_MAX) {
		snprintf(buf, size, "it is longer than %d octets", REGEX_PATTERN_MAX);
		return true;
	}
	code = pcre2_compile((PCRE2_SPTR)pattern, len, COMPILE_FLAGS, &why, &at, NULL);
	pcre2_code_free(code);
	if (code)
		return false;
	if (pcre2_get_error_message(why, (PCRE2_UCHAR *)buf, size) < 0)
		snprintf(buf, size, "it does not compile");
	*ret_at = at < len ? at : len;
	return true;
}

int regex_new(const char *pattern, size_t len, struct regex **ret)
{
	uint32_t options = 0;
	struct regex *r;
	PCRE2_SIZE at;
	int why;

	pthread_once(&once, make_key);
	if (!ready)
		return -ENOMEM;
	if (len > REGEX_PATTERN_MAX)
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->code = pcre2_compile((PCRE2_SPTR)pattern, len, COMPILE_FLAGS, &why, &at, NULL);
	if (!r->code) {
		free(r);
		return why == PCRE2_ERROR_NOMEMORY || why == PCRE2_ERROR_HEAP_FAILED ? -ENOMEM : -EINVAL;
	}
	pcre2_pattern_info(r->code, PCRE2_INFO_ALLOPTIONS, &options);
	r->anchored = options & PCRE2_ANCHORED;
	r->first = r->anchored ? STEPS_ANCHOR : STEPS_FIRST;
	*ret = r;
	return 0;
}

void regex_branches(struct regex *r, unsigned branches)
{
	r->first = (uint16_t)(r->first * branches);
}

void regex_free(struct regex *r)
{
	if (!r)
		return;
	pcre2_code_free(r->code);
	free(r);
}

size_t regex_size(const struct regex *r)
{
	size_t size = 0;

	pcre2_pattern_info(r->code, PCRE2_INFO_SIZE, &size);
	return size;
}

void regex_quicken(struct regex *r)
{
	if (!r->quick && regex_size(r) <= QUICK_MAX)
		r->quick = pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE) == 0;
}

static struct mine *my_own(void)
{
	struct mine *m = pthread_getspecific(mine_key);

	if (m)
		return m;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->data = pcre2_match_data_create(1, NULL);
	m->context = pcre2_match_context_create(NULL);
	if (!m->data || !m->context || pthread_setspecific(mine_key, m)) {
		free_mine(m);
		return NULL;
	}
	pcre2_set_depth_limit(m->context, STEPS_MAX);
	pcre2_set_heap_limit(m->context, HEAP_MAX_KIB);
	return m;
}

/* Match, beginning at the octets @from to @to alone. */
static int match(const struct regex *r, const char *text, size_t len, size_t from, size_t to, uint32_t steps,
		 const struct mine *m)
{
	pcre2_set_match_limit(m->context, steps);
	pcre2_set_offset_limit(m->context, to);
	return r->quick ? pcre2_jit_match(r->code, (PCRE2_SPTR)text, len, from, 0, m->data, m->context)
			: pcre2_match(r->code, (PCRE2_SPTR)text, len, from, 0, m->data, m->context);
}

static bool pay(uint32_t *left, uint32_t steps)
{
	bool can = *left >= steps;

	*left -= can ? steps : *left;
	return can;
}

static enum regex_outcome outcome_of(int n)
{
	return n >= 0 ? REGEX_YES : n == PCRE2_ERROR_NOMATCH ? REGEX_NO : REGEX_LIMIT;
}

/* From one octet, with more and more steps. */
static enum regex_outcome match_from(const struct regex *r, const char *text, size_t len, size_t from, uint32_t *left,
				     const struct mine *m)
{
	uint32_t steps = STEPS_FIRST;
	int n;

	for (;; steps = steps * 8 < STEPS_MAX ? steps * 8 : STEPS_MAX) {
		if (!pay(left, steps + STEPS_CALL))
			return REGEX_SPENT;
		n = match(r, text, len, from, from, steps, m);
		if (n != PCRE2_ERROR_MATCHLIMIT || steps == STEPS_MAX)
			return outcome_of(n);
	}
}

enum regex_outcome regex_try(const struct regex *r, const char *text, size_t len, uint32_t *left, uint32_t *ret_heavy)
{
	const struct mine *m = my_own();
	size_t starts = r->anchored ? 1 : len + 1, from;
	enum regex_outcome o = REGEX_NO;
	uint32_t had;
	int n;

	*ret_heavy = 0;
	if (!m)
		return REGEX_LIMIT;
	if (!pay(left, r->first * (uint32_t)starts + STEPS_CALL))
		return REGEX_SPENT;
	n = match(r, text, len, 0, PCRE2_UNSET, r->first, m);
	if (n != PCRE2_ERROR_MATCHLIMIT)
		return outcome_of(n);
	had = *left;
	for (from = 0; from < starts && o == REGEX_NO; from++)
		o = match_from(r, text, len, from, left, m);
	*ret_heavy = had - *left;
	return o;
}

enum regex_outcome regex_match(const struct regex *r, const char *text, size_t len)
{
	uint32_t left = REGEX_STEPS_MAX, heavy;
	enum regex_outcome o = regex_try(r, text, len, &left, &heavy);

	return o == REGEX_SPENT ? REGEX_LIMIT : o;
}

size_t regex_text(const uint8_t *wire, uint16_t len, char ret[REGEX_TEXT_MAX])
{
	size_t n = 0, at = 0;

	while (at < len && wire[at] && at + wire[at] < len) {
		if (at)
			ret[n++] = '.';
		memcpy(ret + n, wire + at + 1, wire[at]);
		n += wire[at];
		at += wire[at] + 1U;
	}
	return n;
}
