/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regex_gram.c - text that every match of a pattern must hold.
 *
 * Reads a pattern's outermost level: runs of plain letters, between what may
 * vary.  It is enough to be right about what it takes; what it does not
 * understand ends a run, or the reading.
 */
#include <string.h>
#include "policy/regex_set.h"

unsigned regex_letter(char c)
{
	if (c >= 'A' && c <= 'Z')
		c = (char)(c | 32);
	if (c >= 'a' && c <= 'z')
		return REGEX_LETTERS_FROM + (unsigned)(c - 'a');
	if (c >= '0' && c <= '9')
		return REGEX_LETTERS_FROM + 26 + (unsigned)(c - '0');
	return c == '.' ? REGEX_LETTERS_FROM + 36 : c == '-' ? REGEX_LETTERS_FROM + 37 :
	       c == '_' ? REGEX_LETTERS_FROM + 38 : REGEX_LETTER_OTHER;
}

struct reader {
	const char *start, *p, *end;
	unsigned run[REGEX_PATTERN_MAX];	/* letters in a row */
	unsigned count;
	bool found;			/* a gram in this branch */
	uint32_t gram;
	unsigned worth;
};

/* The rarer a gram is among names, the better: marks of the ends and digits before letters, dots last. */
static unsigned worth_of(const unsigned *l)
{
	static const char common[] = "aeinorst";
	unsigned i, worth = 0;

	for (i = 0; i < 3; i++) {
		if (l[i] < REGEX_LETTERS_FROM)
			worth += 2;
		else if (l[i] == regex_letter('.'))
			worth += 1;
		else
			worth += strchr(common, 'a' + (int)(l[i] - REGEX_LETTERS_FROM)) ? 3 : 4;
	}
	return worth;
}

static void end_run(struct reader *r)
{
	unsigned i, worth;

	for (i = 0; i + 3 <= r->count; i++) {
		worth = worth_of(&r->run[i]);
		if (r->found && worth <= r->worth)
			continue;
		r->found = true;
		r->worth = worth;
		r->gram = r->run[i] << 12 | r->run[i + 1] << 6 | r->run[i + 2];
	}
	r->count = 0;
}

static void add_letter(struct reader *r, unsigned letter)
{
	if (letter == REGEX_LETTER_OTHER)
		end_run(r);
	else
		r->run[r->count++] = letter;
}

/* Behind "[:alpha:]" and the like, or @p when it is none. */
static const char *skip_named(const char *p, const char *end)
{
	const char *at = p + 2;

	if (end - p < 4 || p[1] != ':')
		return p;
	for (; at < end && ((*at >= 'a' && *at <= 'z') || *at == '^'); at++)
		;
	return end - at > 1 && at[0] == ':' && at[1] == ']' ? at + 1 : p;
}

/* Move behind "[...]"; false when it does not end, or is hard to follow. */
static bool skip_class(struct reader *r)
{
	const char *p = r->p + 1;

	if (p < r->end && *p == '^')
		p++;
	if (p < r->end && *p == ']')
		p++;
	for (; p < r->end && *p != ']'; p++) {
		if (*p == '[')
			p = skip_named(p, r->end);
		else if (*p == '\\' && (++p == r->end || *p == 'c' || *p == 'Q'))
			return false;
	}
	r->p = p + 1;
	return p < r->end;
}

/* A group whose kind changes what others mean, or that cannot be followed here. */
static bool is_strange(const char *p, const char *end)
{
	return end - p > 1 && ((p[1] == '?' && (end - p < 3 || !strchr(":=!<>", p[2]))) || p[1] == '*');
}

/* Move behind "(...)", which may hold others. */
static bool skip_group(struct reader *r)
{
	unsigned depth = 0;

	while (r->p < r->end) {
		if (*r->p == '[') {
			if (!skip_class(r))
				return false;
			continue;
		}
		if (*r->p == '\\') {
			if (r->end - r->p > 1 && (r->p[1] == 'Q' || r->p[1] == 'c'))
				return false;
			r->p++;
		} else if (*r->p == '(') {
			if (is_strange(r->p, r->end))
				return false;
			depth++;
		} else if (*r->p == ')' && !--depth) {
			r->p++;
			return true;
		}
		r->p++;
	}
	return false;
}

/* What follows may say that the last letter need not be there, or be there often. */
static void read_quantifier(struct reader *r)
{
	char c = *r->p++;

	if (c != '+' && r->count)
		r->count--;
	end_run(r);
	/* numbers of a "{2,5}" are no letters */
	while (c == '{' && r->p < r->end && ((*r->p >= '0' && *r->p <= '9') || *r->p == ','))
		r->p++;
}

/* "\." is a dot, "\d" a class; "\x41" and "\1" are not understood. */
static bool read_escape(struct reader *r)
{
	char c = r->end - r->p > 1 ? r->p[1] : 'Q';

	r->p += 2;
	if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
		end_run(r);
		return strchr("dDwWsSbBhHvV", c) != NULL;
	}
	add_letter(r, regex_letter(c));
	return true;
}

static bool read_one(struct reader *r)
{
	switch (*r->p) {
	case '(':
		end_run(r);
		return skip_group(r);
	case '[':
		end_run(r);
		return skip_class(r);
	case '\\':
		return read_escape(r);
	case '?':
	case '*':
	case '+':
	case '{':
		read_quantifier(r);
		return true;
	case '^':
		end_run(r);
		if (r->p == r->start)
			add_letter(r, REGEX_LETTER_START);
		break;
	case '$':
		if (r->p + 1 == r->end || r->p[1] == '|')
			add_letter(r, REGEX_LETTER_END);
		end_run(r);
		break;
	case '.':
	case ')':
	case ']':
	case '}':
		end_run(r);
		break;
	default:
		add_letter(r, regex_letter(*r->p));
	}
	r->p++;
	return true;
}

unsigned regex_grams(const char *pattern, size_t len, uint32_t ret[REGEX_BRANCHES_MAX])
{
	struct reader r;
	unsigned count = 0;

	r.start = r.p = pattern;
	r.end = pattern + len;
	r.count = 0;
	r.found = false;
	if (len > REGEX_PATTERN_MAX)
		return 0;
	for (;;) {
		if (r.p < r.end && *r.p != '|') {
			if (!read_one(&r))
				return 0;
			continue;
		}
		end_run(&r);
		if (!r.found || count == REGEX_BRANCHES_MAX)
			return 0;
		ret[count++] = r.gram;
		r.found = false;
		if (r.p >= r.end)
			return count;
		r.start = ++r.p;
	}
}

bool regex_may_be_part(const char *pattern, size_t len)
{
	const char *p, *end = pattern + len;

	for (p = pattern; p < end; p++) {
		if (*p == '(' && is_strange(p, end))
			return false;
		if (*p == '(' && end - p > 3 && p[1] == '?' && p[2] == '<' && p[3] != '=' && p[3] != '!')
			return false;		/* a name may be given once */
		if (*p == '\\' && ++p < end && ((*p >= '0' && *p <= '9') || strchr("gkQEKG", *p)))
			return false;
	}
	return true;
}
