/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_filter.c - "mrbench filter": what a verdict costs in user space.
 *
 * The names of BENCH_BLOCKED stand in the filter, in turn as the very name (of
 * list 0) and with all below (of list 1).  An operation begins with the name as
 * it came in a query and ends with the verdict: lower case, hashed, looked up
 * with all its parents, weighed.  Names are asked for at random, so most
 * operations find nothing in the CPU's caches.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dns/name.h"
#include "policy/filter_file.h"
#include "policy/secret.h"
#include "tools/mrbench.h"
#include "tools/mrbench_user.h"

#define LISTS     2
#define TARGET_NS 250

struct verdicts {
	struct mr_secret secret;
	struct filter *filter;
	struct mr_verdict *cells;
	struct mr_unit unit;
	struct filter_view view;
	uint32_t domains;
	uint64_t random;
	/* of the operation at hand */
	struct bench_name asked;
	enum mr_verdict_kind expected;
	struct mr_name name;		/* zero behind the name that is in it */
	struct filter_result found;
};

static int build(struct verdicts *v, struct err_at *reterr)
{
	const bool uses[LISTS] = { true, true };
	const struct filter_group group = { uses, LISTS };
	struct filter_builder *b = filter_builder_new(&v->secret);
	struct bench_name name;
	uint64_t asked;
	int err = b ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < v->domains && err >= 0; i++) {
		bench_name(BENCH_BLOCKED, i, &name);
		err = filter_builder_add(b, name.wire, name.len, i & 1, i & 1, FILTER_BLOCK);
	}
	if (err >= 0)
		err = filter_builder_make(b, &v->filter, &asked, reterr);
	filter_builder_free(b);
	if (err)
		return err;
	v->cells = filter_verdicts(v->filter, &group, 1);
	if (!v->cells)
		return -ENOMEM;
	v->unit = *filter_unit(v->filter);
	v->unit.groups = 1;
	v->view = (struct filter_view){ .unit = &v->unit, .buckets = filter_buckets(v->filter),
					.bloom = filter_bloom(v->filter), .verdicts = v->cells };
	return 0;
}

/* ---- one operation ---- */

static uint32_t any(struct verdicts *v)
{
	return (uint32_t)((bench_random(&v->random) >> 32) * v->domains >> 32);
}

static void choose_blocked(void *arg)
{
	struct verdicts *v = arg;

	bench_name(BENCH_BLOCKED, any(v), &v->asked);
	v->expected = MR_BLOCK;
}

static void choose_below(void *arg)
{
	struct verdicts *v = arg;

	bench_name(BENCH_BLOCKED, any(v) | 1, &v->asked);
	memmove(v->asked.wire + 4, v->asked.wire, v->asked.len);
	memcpy(v->asked.wire, "\3www", 4);
	v->asked.len = (uint16_t)(v->asked.len + 4);
	v->expected = MR_BLOCK;
}

static void choose_unknown(void *arg)
{
	struct verdicts *v = arg;

	bench_name(BENCH_UNKNOWN, any(v), &v->asked);
	v->expected = MR_NONE;
}

static void choose_mixed(void *arg)
{
	static void (*const choose[])(void *arg) = { choose_blocked, choose_below, choose_unknown };
	struct verdicts *v = arg;

	choose[(bench_random(&v->random) >> 32) % 3](arg);
}

static void decide(void *arg)
{
	struct verdicts *v = arg;
	uint16_t before = v->name.len, len = v->asked.len;

	dns_name_lower(v->name.text, v->asked.wire, len);
	if (before > len)
		memset(v->name.text + len, 0, before - len);
	v->name.len = len;
	if (!mr_name_hash(&v->name, &v->secret))
		filter_find(&v->view, &v->name, 0, &v->found);
}

static bool decided(void *arg)
{
	struct verdicts *v = arg;

	return v->found.kind == v->expected;
}

static const struct bench_op ops[] = {
	{ "blocked", choose_blocked, decide, decided },
	{ "below a subtree", choose_below, decide, decided },
	{ "unknown", choose_unknown, decide, decided },
	{ "mixed", choose_mixed, decide, decided },
};

int bench_filter(struct bench_report *r, struct err_at *reterr)
{
	struct verdicts v = { .domains = r->o->domains & ~1U, .random = r->o->seed };
	struct bench_memory before;
	int err = bench_memory(&before);

	secret_make(&v.secret);
	bench_progress("a filter of %u names", v.domains);
	if (!err)
		err = build(&v, reterr);
	if (!err)
		err = report_memory(r, &before, v.filter->size + sizeof(*v.cells) * v.unit.sets);
	if (!err)
		err = report_miss(r, v.filter->size);
	for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]) && !err; i++)
		err = bench_time(&ops[i], &v, r->o->iters, &r->cell[r->cells++], reterr);
	if (!err)
		report_target(r, "P9 filter", "a verdict, mixed: ns, p95", r->cell[r->cells - 1].p95, TARGET_NS, false, true);
	filter_free(v.filter);
	free(v.cells);
	return err;
}
