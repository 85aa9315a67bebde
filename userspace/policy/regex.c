/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regex.c - the only file that knows pcre2.
 *
 * Anchors are as written; "." and classes match octets.  The limits are of
 * steps and of memory, so that no pattern and no name of 253 octets costs more
 * than about a millisecond.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "policy/regex_set.h"

#define STEPS_MAX    20000
#define HEAP_MAX_KIB 256
#define QUICK_MAX    (16U << 10)	/* octets; machine code of larger patterns takes milliseconds to make and 200,000 octets */

struct regex {
	pcre2_code *code;
	bool quick;			/* has machine code */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t data_key;		/* each thread's match data */
static pcre2_match_context *limits;	/* NULL: memory was out, then nothing compiles */
static pcre2_compile_context *bounds;

static void free_data(void *data)
{
	pcre2_match_data_free(data);
}

static void make_contexts(void)
{
	pcre2_match_context *m = pcre2_match_context_create(NULL);
	pcre2_compile_context *c = pcre2_compile_context_create(NULL);

	if (!m || !c || pthread_key_create(&data_key, free_data)) {
		pcre2_match_context_free(m);
		pcre2_compile_context_free(c);
		return;
	}
	pcre2_set_match_limit(m, STEPS_MAX);
	pcre2_set_depth_limit(m, STEPS_MAX);
	pcre2_set_heap_limit(m, HEAP_MAX_KIB);
	limits = m;
	bounds = c;
}

#define COMPILE_FLAGS (PCRE2_CASELESS | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C)

bool regex_wrong(const char *pattern, size_t len, size_t *ret_at, char *buf, size_t size)
{
	pcre2_code *code;
	PCRE2_SIZE at = 0;
	int why;

	pthread_once(&once, make_contexts);
	*ret_at = 0;
	if (len > REGEX_PATTERN_MAX) {
		snprintf(buf, size, "it is longer than %d octets", REGEX_PATTERN_MAX);
		return true;
	}
	code = pcre2_compile((PCRE2_SPTR)pattern, len, COMPILE_FLAGS, &why, &at, bounds);
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
	struct regex *r;
	PCRE2_SIZE at;
	int why;

	pthread_once(&once, make_contexts);
	if (!limits)
		return -ENOMEM;
	if (len > REGEX_PATTERN_MAX)
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->code = pcre2_compile((PCRE2_SPTR)pattern, len, COMPILE_FLAGS, &why, &at, bounds);
	if (!r->code) {
		free(r);
		return why == PCRE2_ERROR_NOMEMORY || why == PCRE2_ERROR_HEAP_FAILED ? -ENOMEM : -EINVAL;
	}
	*ret = r;
	return 0;
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

/* This thread's; only whether there is a match is asked, so one pair is enough. */
static pcre2_match_data *my_data(void)
{
	pcre2_match_data *d = pthread_getspecific(data_key);

	if (d)
		return d;
	d = pcre2_match_data_create(1, NULL);
	if (d && pthread_setspecific(data_key, d)) {
		pcre2_match_data_free(d);
		return NULL;
	}
	return d;
}

enum regex_outcome regex_match(const struct regex *r, const char *text, size_t len)
{
	pcre2_match_data *d = my_data();
	int n;

	if (!d)
		return REGEX_LIMIT;
	n = r->quick ? pcre2_jit_match(r->code, (PCRE2_SPTR)text, len, 0, 0, d, limits)
		     : pcre2_match(r->code, (PCRE2_SPTR)text, len, 0, 0, d, limits);
	if (n >= 0)
		return REGEX_YES;
	return n == PCRE2_ERROR_NOMATCH ? REGEX_NO : REGEX_LIMIT;
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
