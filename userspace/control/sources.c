/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sources.c - the numbers of what rules come from (docs/adr/0008), and which group uses which.
 *
 * Lists first, each by its place in the configuration; then the rules for all,
 * the rewrites, safe search, and the rules of each group that has some.
 */
#include <stdio.h>
#include <string.h>
#include "control/internal.h"

void sources_number(const struct config *c, struct sources *ret)
{
	unsigned i, next = c->filter_lists.count;

	ret->lists = next;
	ret->rules = next++;
	ret->rewrites = next++;
	ret->safe_search = next++;
	for (i = 0; i < c->groups.count; i++)
		ret->group[i] = c->groups.at[i].rules.count ? next++ : SOURCE_NONE;
	ret->count = next;
}

const char *sources_name(const struct config *c, const struct sources *s, unsigned source, char *buf, size_t size)
{
	unsigned i;

	snprintf(buf, size, "%s", source == s->rules ? "rules" : source == s->rewrites ? "rewrites" :
		 source == s->safe_search ? "safe_search" : source < s->lists ? c->filter_lists.at[source].name : "");
	for (i = 0; i < c->groups.count; i++)
		if (s->group[i] == source)
			snprintf(buf, size, "group:%s", c->groups.at[i].name);
	return buf;
}

bool sources_used(const struct config *c, const struct sources *s, unsigned source, unsigned group, int64_t now_s)
{
	const struct config_group *g = &c->groups.at[group];

	if (source < s->lists)
		return config_group_uses(g, source, now_s);
	if (source == s->safe_search)
		return g->safe_search;
	if (source == s->rules || source == s->rewrites)
		return true;
	return source == s->group[group] && config_group_uses_rules(g, now_s);
}
