/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compile_line.c - finds the line that a verdict is from.
 *
 * Reads the list once more; the first line that says of the name what was
 * found is the answer.  A pattern is looked for too: a name that was on some
 * list when the filter was compiled got its matches as if they were written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dns/name.h"
#include "policy/compile.h"
#include "policy/judge.h"
#include "policy/regex.h"

struct looking {
	const struct judge_result *found;
	const uint8_t *name;		/* the part of it that matched */
	uint16_t len;
	char text[REGEX_TEXT_MAX];	/* of the whole name */
	size_t text_len;
	uint64_t line, pattern_line;
	char *ret;
	size_t ret_size;
};

static void take_text(struct looking *l, const struct rule_item *i)
{
	size_t n = i->text_len < l->ret_size - 1 ? i->text_len : l->ret_size - 1;

	if (!l->ret_size)
		return;
	memcpy(l->ret, i->text, n);
	l->ret[n] = '\0';
}

static bool is_name(const struct looking *l, const struct rule_item *i)
{
	bool subtree = l->found->entry & MR_ENTRY_SUBTREE;

	return !i->condition && !i->answer && !i->badfilter && (subtree || i->reach == RULE_EXACT) &&
	       i->name_len == l->len && !memcmp(i->name, l->name, l->len);
}

static bool is_pattern(const struct looking *l, const struct rule_item *i)
{
	struct regex *r;
	bool yes;

	if (i->condition || i->answer || i->badfilter || regex_new(i->pattern, i->pattern_len, &r))
		return false;
	yes = (regex_match(r, l->text, l->text_len) == REGEX_YES) != i->invert;
	regex_free(r);
	return yes;
}

static int look(void *arg, const struct rule_item *i)
{
	struct looking *l = arg;

	if ((unsigned)i->action != (unsigned)l->found->kind)
		return 1;
	if (i->kind == RULE_NAME && is_name(l, i)) {
		l->line = i->line;
		take_text(l, i);
		return -ECANCELED;	/* enough */
	}
	if (i->kind == RULE_REGEX && !l->pattern_line && is_pattern(l, i)) {
		l->pattern_line = i->line;
		take_text(l, i);
	}
	return 1;
}

/* A special rule is known by its line. */
static int look_for_rule(void *arg, const struct rule_item *i)
{
	struct looking *l = arg;

	if (i->line != l->found->rule->line)
		return 1;
	l->line = i->line;
	take_text(l, i);
	return -ECANCELED;
}

uint64_t compile_line(const char *text, size_t size, enum list_format format, bool allow, const uint8_t *lower,
		      uint16_t len, const struct judge_result *found, char *ret, size_t ret_size)
{
	struct looking l = { .found = found, .name = lower, .ret = ret, .ret_size = ret_size };
	struct list_report *report = calloc(1, sizeof(*report));
	unsigned labels;

	if (!report)
		return 0;
	for (labels = dns_name_labels(lower); labels > found->depth; labels--)
		l.name += *l.name + 1;
	l.len = (uint16_t)(lower + len - l.name);
	l.text_len = regex_text(lower, len, l.text);
	list_parse(text, size, format, allow, found->rule ? look_for_rule : look, &l, report);
	free(report);
	return l.line ? l.line : l.pattern_line;
}
