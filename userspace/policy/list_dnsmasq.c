/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_dnsmasq.c - statements of dnsmasq's configuration that are about names.
 *
 * "address=/a.example/b.example/#": both names with all below; '#' or nothing
 * in the end is a block, an address what to answer.  "server=/zone/address" and
 * "local=/zone/" are servers for zones, counted as routes.
 */
#include "policy/list_read.h"

static void take_one(struct list_reading *r, struct list_span name, struct list_span target, bool route)
{
	struct rule_item item = { .kind = RULE_ROUTE, .reach = RULE_SUBTREE };

	/* a leading dot or "*." says what is so anyway */
	if (list_starts(name, "*."))
		name.p++;
	if (list_starts(name, "."))
		name.p++;
	if (!list_size(name) || list_is(name, "#"))
		list_skip(r, LIST_SKIP_statement);	/* names of one label, and all names */
	else if (!list_take_name(r, name))
		return;
	else if (route) {
		item.name = r->name.wire;
		item.name_len = (uint16_t)r->name.len;
		list_give(r, &item);
	} else if (list_name_is_local(&r->name)) {
		list_skip(r, LIST_SKIP_local_name);
	} else if (!list_size(target) || list_is(target, "#")) {
		list_give_name(r, RULE_SUBTREE, FILTER_BLOCK);
	} else if (list_is_address(target, NULL)) {
		list_give_address(r, RULE_SUBTREE, target);
	} else {
		list_skip(r, LIST_SKIP_rewrite);
	}
}

/* Where the names of "/name/name/target" end; NULL when it is not of that form. */
static const char *find_target(struct list_span s)
{
	const char *slash = list_starts(s, "/") ? memrchr(s.p, '/', list_size(s)) : NULL;

	return slash && slash > s.p ? slash + 1 : NULL;
}

bool list_take_dnsmasq(struct list_reading *r, struct list_span s)
{
	bool address = list_starts(s, "address=/"), server = list_starts(s, "server=/"), local = list_starts(s, "local=/");
	struct list_span names, target;

	if (!address && !server && !local) {
		if (r->format != LIST_DNSMASQ)
			return false;
		list_skip(r, LIST_SKIP_statement);
		return true;
	}
	s = list_without_remark(s);
	list_until(&s, '=');
	target = (struct list_span){ find_target(s), s.end };
	if (!target.p) {
		list_skip(r, LIST_SKIP_syntax);
		return true;
	}
	names = (struct list_span){ s.p + 1, target.p - 1 };
	do
		take_one(r, list_until(&names, '/'), target, !address);
	while (names.p < names.end && !r->err);
	return true;
}
