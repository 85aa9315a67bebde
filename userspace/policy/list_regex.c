/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_regex.c - lists of regular expressions, as Pi-hole has them.
 *
 * A line is an expression of POSIX, and reads the same in PCRE2 for what such
 * lists hold.  Behind it stand options: ";querytype=A,AAAA" or "=!A" for types
 * of questions, ";invert" for names that do not match, ";reply=" for what to
 * answer.
 */
#include "dns/msg.h"
#include "policy/list_read.h"

/* The answers that have a word; the group's way of blocking is the one that has none. */
static bool read_reply(struct list_reading *r, struct list_span s, bool *ret_answer)
{
	static const struct {
		const char *word;
		struct rule_answer answer;
	} rows[] = {
		{ "nodata", { .kind = RULE_ANSWER_RCODE, .rcode = DNS_NOERROR } },
		{ "nxdomain", { .kind = RULE_ANSWER_RCODE, .rcode = DNS_NXDOMAIN } },
		{ "refused", { .kind = RULE_ANSWER_RCODE, .rcode = DNS_REFUSED } },
		{ "none", { .kind = RULE_ANSWER_DROP } },
	};
	uint8_t ip[16];
	unsigned i;

	*ret_answer = !list_is(s, "ip");
	if (!*ret_answer)
		return true;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!list_is(s, rows[i].word))
			continue;
		r->answer = rows[i].answer;
		return true;
	}
	if (!list_address_ip(s, ip))
		return false;
	list_answer_address(r, ip);
	return true;
}

/* "!A,AAAA" means neither. */
static bool read_types(struct list_reading *r, struct list_span s)
{
	bool not = list_starts(s, "!");

	s.p += not;
	if (r->condition.types || list_types_read(r, s, ',', '!') || (not && r->condition.types_not))
		return false;
	r->condition.types_not |= not;
	return true;
}

static bool read_option(struct list_reading *r, struct list_span s, struct rule_item *item)
{
	struct list_span name = list_until(&s, '=');
	bool answer = false, good = true;

	if (list_is(name, "invert") && name.end == s.end)
		item->invert = true;
	else if (list_is(name, "querytype") && read_types(r, s))
		item->condition = &r->condition;
	else if (list_is(name, "reply"))
		good = read_reply(r, s, &answer);
	else
		good = false;
	if (answer)
		item->answer = &r->answer;
	return good;
}

bool list_take_regex(struct list_reading *r, struct list_span s)
{
	struct rule_item item = { .kind = RULE_REGEX, .action = FILTER_BLOCK };
	struct list_span pattern = list_until(&s, ';');

	memset(&r->condition, 0, sizeof(r->condition));
	while (s.p < s.end) {
		if (read_option(r, list_until(&s, ';'), &item))
			continue;
		list_skip(r, LIST_SKIP_modifier);
		return true;
	}
	if (pattern.p == pattern.end)
		return false;
	item.pattern = pattern.p;
	item.pattern_len = list_size(pattern);
	list_give(r, &item);
	return true;
}
