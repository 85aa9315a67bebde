/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_filter.c - "mrbench filter": what a verdict costs in user space.
 *
 * Half of the names of BENCH_BLOCKED stand in a hosts list, as the very names,
 * the other half in an adblock list, with all below; both are compiled as the
 * daemon compiles them.  An operation begins with the name as it came in a
 * query and ends with the judge's verdict: lower case, hashed, looked up with
 * all its parents, weighed.  Names are asked for at random, so most operations
 * find nothing in the CPU's caches.  In a batch the name is hashed and its
 * memory asked for some names ahead, as resolve/ahead.c does it.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "dns/name.h"
#include "policy/compile.h"
#include "policy/filter_file.h"
#include "policy/judge.h"
#include "policy/secret.h"
#include "tools/mrbench.h"
#include "tools/mrbench_user.h"

#define LISTS     2
#define TARGET_NS 250

struct verdicts {
	struct mr_secret secret;
	struct compiled compiled;
	struct filter_members *members;
	struct mr_verdict *cells;
	struct mr_unit unit;
	struct mr_group mr_group;
	_Atomic uint8_t uses[LISTS];
	struct judge_group group;
	struct judge judge;
	uint32_t domains;
	uint64_t random;
	struct asking {			/* one operation */
		struct verdicts *all;
		struct bench_name asked;
		enum mr_verdict_kind expected;
		struct mr_name name;	/* zero behind the name that is in it */
		bool hashed;
		struct judge_result found;
	} asking[BENCH_BATCH];
};

/* Each other name, from number @first, as lines of a list. */
static int add_list(struct verdicts *v, struct compile *c, unsigned source, enum list_format format)
{
	struct list_report *report = calloc(1, sizeof(*report));
	size_t size = 0, room = (size_t)v->domains * BENCH_LINE / LISTS;
	/* Mapped: what the heap keeps of a freed text is not the filter's. */
	char *text = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), name[BENCH_LINE];
	struct bench_name n;
	int err = report && text != MAP_FAILED ? 0 : -ENOMEM;

	for (uint32_t i = source; i < v->domains && !err; i += LISTS) {
		bench_name(BENCH_BLOCKED, i, &n);
		bench_name_text(&n, name);
		size += (size_t)sprintf(text + size, format == LIST_HOSTS ? "0.0.0.0 %s\n" : "||%s^\n", name);
	}
	if (!err)
		err = compile_list(c, source, text, size, format, false, report);
	if (text != MAP_FAILED)
		munmap(text, room);
	free(report);
	return err;
}

static int compile(struct verdicts *v, struct err_at *reterr)
{
	struct compile *c = compile_new(&v->secret);
	int err = c ? add_list(v, c, 0, LIST_HOSTS) : -ENOMEM;

	if (!err)
		err = add_list(v, c, 1, LIST_ADBLOCK);
	if (!err)
		err = compile_finish(c, NULL, NULL, &v->compiled, reterr);
	compile_free(c);
	malloc_trim(0);		/* as control does */
	return err;
}

static int build(struct verdicts *v, struct err_at *reterr)
{
	int err = compile(v, reterr);

	if (err)
		return err;
	v->members = filter_members_copy(v->compiled.filter);
	if (!v->members)
		return -ENOMEM;
	v->unit = *filter_unit(v->compiled.filter);
	v->unit.groups = 1;
	for (unsigned i = 0; i < LISTS; i++)
		v->uses[i] = 1;
	v->group = (struct judge_group){ .uses = v->uses, .sources = LISTS };
	v->judge = (struct judge){
		.filter = { .unit = &v->unit, .buckets = filter_buckets(v->compiled.filter),
			    .bloom = filter_bloom(v->compiled.filter), .group = &v->mr_group },
		.members = v->members, .rules = v->compiled.rules, .group = &v->group, .groups = 1, .rewrites = UINT32_MAX,
		.safe_search = UINT32_MAX,
	};
	v->cells = judge_verdicts(&v->judge);
	if (!v->cells)
		return -ENOMEM;
	v->judge.filter.verdicts = v->cells;
	return 0;
}

/* ---- one operation ---- */

static uint32_t any(struct asking *a)
{
	return (uint32_t)((bench_random(&a->all->random) >> 32) * a->all->domains >> 32);
}

static void choose_blocked(void *arg)
{
	struct asking *a = arg;

	bench_name(BENCH_BLOCKED, any(a), &a->asked);
	a->expected = MR_BLOCK;
}

static void choose_below(void *arg)
{
	struct asking *a = arg;

	bench_name(BENCH_BLOCKED, any(a) | 1, &a->asked);
	memmove(a->asked.wire + 4, a->asked.wire, a->asked.len);
	memcpy(a->asked.wire, "\3www", 4);
	a->asked.len = (uint16_t)(a->asked.len + 4);
	a->expected = MR_BLOCK;
}

static void choose_unknown(void *arg)
{
	struct asking *a = arg;

	bench_name(BENCH_UNKNOWN, any(a), &a->asked);
	a->expected = MR_NONE;
}

static void choose_mixed(void *arg)
{
	static void (*const choose[])(void *arg) = { choose_blocked, choose_below, choose_unknown };
	struct asking *a = arg;

	choose[(bench_random(&a->all->random) >> 32) % 3](arg);
}

static void ahead(void *arg)
{
	struct asking *a = arg;
	uint16_t before = a->name.len, len = a->asked.len;

	dns_name_lower(a->name.text, a->asked.wire, len);
	if (before > len)
		memset(a->name.text + len, 0, before - len);
	a->name.len = len;
	a->hashed = !mr_name_hash(&a->name, &a->all->secret);
	if (a->hashed)
		filter_ahead(&a->all->judge.filter, &a->name);
}

static void decide(void *arg)
{
	struct asking *a = arg;
	struct judge_question q = { .lower = a->name.text, .len = a->name.len, .name = &a->name, .qtype = 1 };

	if (a->hashed)
		judge_name(&a->all->judge, &q, &a->found);
}

static bool decided(void *arg)
{
	struct asking *a = arg;
	bool is = a->hashed && a->found.kind == a->expected;

	a->found.kind = MR_VERDICTS;
	return is;
}

static const struct bench_op ops[] = {
	{ "blocked", choose_blocked, ahead, NULL, decide, decided },
	{ "below a subtree", choose_below, ahead, NULL, decide, decided },
	{ "unknown", choose_unknown, ahead, NULL, decide, decided },
	{ "mixed", choose_mixed, ahead, NULL, decide, decided },
};

static int measure(struct verdicts *v, struct bench_report *r, struct err_at *reterr)
{
	int err = 0;

	for (unsigned i = 0; i < BENCH_BATCH; i++)
		v->asking[i].all = v;
	for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]) && !err; i++)
		err = bench_time(&ops[i], v->asking, r->o->iters, &r->cell[r->cells++], reterr);
	if (!err)
		report_figure(r, "alone_p95_ns", "a verdict, mixed, alone: ns, p95", r->cell[r->cells - 1].p95);
	for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]) && !err; i++)
		err = bench_time_batch(&ops[i], v->asking, sizeof(*v->asking), r->o->iters, &r->cell[r->cells++], reterr);
	if (!err)
		report_target(r, "P9 filter", "a verdict, mixed, in a batch: ns, p95", r->cell[r->cells - 1].p95, TARGET_NS,
			      false, true);
	return err;
}

int bench_filter(struct bench_report *r, struct err_at *reterr)
{
	static struct verdicts v;
	struct bench_memory before;
	size_t size;
	int err = bench_memory(&before);

	v.domains = r->o->domains & ~1U;
	v.random = r->o->seed;
	secret_make(&v.secret);
	bench_progress("a filter of %u names", v.domains);
	if (!err)
		err = build(&v, reterr);
	if (!err)
		err = report_memory(r, &before, size = v.compiled.filter->size + sizeof(*v.cells) * v.unit.sets);
	if (!err)
		err = report_miss(r, size, reterr);
	if (!err)
		err = measure(&v, r, reterr);
	filter_members_free(v.members);
	compiled_done(&v.compiled);
	free(v.cells);
	return err;
}
