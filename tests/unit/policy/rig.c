/* SPDX-License-Identifier: BSD-2-Clause */
/* rig.c - the small filter of rig.h. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "policy/secret.h"
#include "unit/policy/names.h"
#include "unit/policy/rig.h"

struct mr_secret secret;
char folder[64], path[96];
static _Atomic uint8_t all[FILTER_LISTS_MAX] = { [0 ... FILTER_LISTS_MAX - 1] = 1 };
const struct judge_group everything = { all, FILTER_LISTS_MAX };

static _Atomic uint8_t some[LISTS] = { 1, 0, 1, 0 }, none[LISTS];
const struct judge_group groups[GROUPS] = { { all, FILTER_LISTS_MAX }, { some, LISTS }, { none, LISTS } };

static const struct {
	const char *name;
	bool subtree;
	unsigned list;
	enum filter_action action;
} entries[] = {
	{ "exact.example", false, 0, FILTER_BLOCK },
	{ "tree.example", true, 0, FILTER_BLOCK },
	{ "good.tree.example", true, 1, FILTER_ALLOW },
	{ "both.example", false, 0, FILTER_BLOCK },
	{ "both.example", true, 1, FILTER_ALLOW },
	{ "two.example", false, 2, FILTER_BLOCK },
	{ "two.example", false, 1, FILTER_ALLOW },
	{ "twice.example", false, 3, FILTER_BLOCK },
	{ "twice.example", false, 2, FILTER_BLOCK },
	{ "hard.example", true, 0, FILTER_IMPORTANT_BLOCK },
	{ "soft.hard.example", true, 1, FILTER_ALLOW },
	{ "free.hard.example", true, 1, FILTER_IMPORTANT_ALLOW },
	{ "maybe.example", true, 0, FILTER_ASK },
	{ "zip", true, 0, FILTER_BLOCK },
	{ "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p", true, 0, FILTER_BLOCK },
	{ "q.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p", false, 0, FILTER_BLOCK },
};

struct filter_builder *build_entries(void)
{
	struct filter_builder *b = filter_builder_new(&secret);
	size_t i;

	assert_non_null(b);
	for (i = 0; i < COUNT_OF(entries); i++)
		assert_int_equal(add(b, entries[i].name, entries[i].subtree, entries[i].list, entries[i].action), 1);
	return b;
}

int setup(void **state)
{
	secret_make(&secret);
	strcpy(folder, "/tmp/mr-test-filter-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/filter", folder);
	return 0;
}

int teardown(void **state)
{
	unlink(path);
	return rmdir(folder);
}

int add_wire(struct filter_builder *b, const uint8_t *wire, uint16_t len, bool subtree, unsigned list,
	     enum filter_action action)
{
	struct filter_repeats before = { 0 }, r = { 0 };
	int err = filter_builder_settle(b, &before);

	if (!err)
		err = filter_builder_put(b, wire, len, subtree ? RULE_SUBTREE : RULE_EXACT, list, action);
	if (!err)
		err = filter_builder_settle(b, &r);
	return err ? err : !(r.exact + r.subtree + r.allow);
}

int add(struct filter_builder *b, const char *name, bool subtree, unsigned list, enum filter_action action)
{
	uint8_t wire[300];

	return add_wire(b, wire, name_wire(name, wire), subtree, list, action);
}

struct filter *compile(struct filter_builder *b, uint64_t *ret_asked)
{
	struct filter *f = NULL;
	struct err_at e = { 0 };
	uint64_t asked = 0;

	if (filter_write(b, 0, path, &asked, &e) || filter_open(path, &secret, &f, &e))
		fail_msg("%s", e.why);
	if (ret_asked)
		*ret_asked = asked;
	return f;
}

static struct mr_verdict *make_verdicts(const struct filter *f, const struct judge_group *g, unsigned count)
{
	struct filter_members *members = filter_members_copy(f);
	struct rules_builder *b = rules_builder_new();
	struct judge j = { .members = members, .group = g, .groups = count, .rewrites = UINT_MAX, .safe_search = UINT_MAX };
	struct rules *no_rules = NULL;
	struct mr_verdict *v;

	assert_non_null(members);
	assert_non_null(b);
	assert_int_equal(rules_builder_make(b, &no_rules), 0);
	j.rules = no_rules;
	v = judge_verdicts(&j);
	rules_free(no_rules);
	rules_builder_free(b);
	filter_members_free(members);
	return v;
}

void world_open(struct world *w, struct filter *f, const struct judge_group *g, unsigned count)
{
	w->f = f;
	w->verdicts = make_verdicts(f, g, count);
	assert_non_null(w->verdicts);
	w->unit = *filter_unit(f);
	w->unit.groups = count;
	w->view = (struct filter_view){ .unit = &w->unit, .buckets = filter_buckets(f), .bloom = filter_bloom(f), .verdicts = w->verdicts };
}

void world_close(struct world *w)
{
	free(w->verdicts);
	filter_free(w->f);
}

struct filter_result find_wire(const struct world *w, const uint8_t *wire, uint16_t len, unsigned group)
{
	static struct mr_name name;
	struct filter_result r;

	memset(&name, 0, sizeof(name));
	memcpy(name.text, wire, len);
	name.len = len;
	if (mr_name_hash(&name, &secret))
		filter_find_deep(&w->view, wire, len, &secret, group, &r);
	else
		filter_find(&w->view, &name, group, &r);
	return r;
}

struct filter_result find(const struct world *w, const char *text, unsigned group)
{
	uint8_t wire[300];

	return find_wire(w, wire, name_wire(text, wire), group);
}
