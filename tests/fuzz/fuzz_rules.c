/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_rules.c - a file of special rules that is not one; and patterns, whose
 * quick way (the text that a match must hold) may leave out no match.
 *
 * The first octet chooses: even, the rest is a file of rules; odd, it is a
 * pattern and texts, a line each.
 *
 * fuzz-sources: userspace/policy/regex*.c userspace/policy/rules*.c userspace/policy/rule_pack.c userspace/policy/count.c userspace/base/count.c userspace/dns/name.c userspace/dns/msg.c userspace/base/arena.c userspace/base/addr.c userspace/base/random.c userspace/base/bug.c userspace/base/log.c
 */
#include <stdlib.h>
#include <string.h>
#include "policy/regex.h"
#include "policy/rules_room.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* What was read can be written, and is then the same. */
static void try_file(const uint8_t *data, size_t size)
{
	struct rules *r, *again;
	uint8_t *saved;
	size_t saved_size;

	if (rules_load(data, size, &r))
		return;
	must(rules_save(r, &saved, &saved_size) == 0);
	must(rules_load(saved, saved_size, &again) == 0);
	must(rules_count(again) == rules_count(r));
	free(saved);
	rules_free(again);
	rules_free(r);
}

static bool note(unsigned number, void *arg)
{
	must(number == 0);
	++*(unsigned *)arg;
	return true;
}

static void try_text(const struct regex_set *s, const struct regex *r, const char *text, size_t len)
{
	enum regex_outcome o;
	uint32_t left = REGEX_STEPS_MAX;
	unsigned found = 0;

	if (len >= REGEX_TEXT_MAX)
		return;
	o = regex_match(r, text, len);
	regex_set_each(s, text, len, &left, note, &found);
	must(found == (o == REGEX_YES));
}

static void try_pattern(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size, *stop = memchr(p, '\n', size);
	struct regex_member m = { .pattern = p, .len = stop ? (size_t)(stop - p) : size };
	struct regex_set *s;

	if (!stop || regex_new(m.pattern, m.len, &m.regex))
		return;
	s = regex_set_new(&m, 1);
	must(s != NULL);
	for (p = stop + 1; p < end; p = stop + 1) {
		stop = memchr(p, '\n', (size_t)(end - p));
		if (!stop)
			stop = end;
		try_text(s, m.regex, p, (size_t)(stop - p));
	}
	regex_set_free(s);
	regex_free(m.regex);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] % 2)
		try_pattern(data + 1, size - 1);
	else
		try_file(data + 1, size - 1);
	return 0;
}
