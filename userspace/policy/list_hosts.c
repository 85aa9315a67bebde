/* SPDX-License-Identifier: BSD-2-Clause */
/* list_hosts.c - hosts files and lists of bare names. */
#include "policy/list_read.h"

/* Read a bare name into r->name; the rules against junk hold.  False when it was skipped. */
static bool take_plain_name(struct list_reading *r, struct list_span s)
{
	int bad = list_name_read(s, &r->name);

	if (bad && list_is_address(s, NULL))
		bad = list_is(s, "0.0.0.0") ? LIST_SKIP_local_name : LIST_SKIP_address;
	else if (!bad && list_name_is_local(&r->name))
		bad = LIST_SKIP_local_name;
	else if (!bad && r->name.labels == 1)
		bad = LIST_SKIP_single_label;
	if (bad == LIST_SKIP_single_label)
		list_fault(r, s, "a name of two labels or more, or \"||name^\" for one of one label");
	else if (bad == LIST_SKIP_address)
		list_fault(r, s, "a name; \"||1.2.3.4^\" is about an address in answers");
	else if (bad && bad != LIST_SKIP_local_name)
		list_fault_name(r, s);
	if (bad)
		list_skip(r, (enum list_skip)bad);
	return !bad;
}

bool list_take_hosts(struct list_reading *r, struct list_span s)
{
	struct list_span address = list_word(&s);

	if (!list_is_address(address, NULL) || s.p == s.end)
		return false;
	while (s.p < s.end && !r->err)
		if (take_plain_name(r, list_word(&s)))
			list_give_address(r, RULE_EXACT, address);
	return true;
}

bool list_take_domain(struct list_reading *r, struct list_span s, bool below)
{
	bool star = list_size(s) > 2 && s.p[0] == '*' && s.p[1] == '.';

	if (star)
		s.p += 2;
	if (list_has(s, ' ') || list_has(s, '\t'))
		return false;
	if (list_name_read(s, &r->name) == LIST_SKIP_syntax && !list_is_address(s, NULL))
		return false;
	if (take_plain_name(r, s))
		list_give_name(r, star || below ? RULE_SUBTREE : RULE_EXACT, FILTER_BLOCK);
	return true;
}
