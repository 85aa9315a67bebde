/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_report.c - what was measured in user space, as a table or as JSON.
 *
 * A figure that was not measured is null and says why; none is made up.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <jansson.h>
#include "tools/mrbench_user.h"

static struct bench_figure *figure_new(struct bench_report *r, const char *name, const char *what)
{
	static struct bench_figure too_many;
	struct bench_figure *f = r->figures < BENCH_FIGURES ? &r->figure[r->figures++] : &too_many;

	*f = (struct bench_figure){ .name = name, .what = what };
	return f;
}

void report_figure(struct bench_report *r, const char *name, const char *what, double value)
{
	figure_new(r, name, what)->value = value;
}

void report_missing(struct bench_report *r, const char *name, const char *what, const char *why)
{
	struct bench_figure *f = figure_new(r, name, what);

	snprintf(f->why, sizeof(f->why), "%s", why[0] ? why : "unknown");
}

void report_target(struct bench_report *r, const char *id, const char *what, double value, double target, bool at_least,
		   bool measured)
{
	if (r->targets < BENCH_TARGETS)
		r->target[r->targets++] = (struct bench_target){ id, what, value, target, at_least, measured };
}

int report_memory(struct bench_report *r, const struct bench_memory *before, uint64_t accounted)
{
	struct bench_memory now;
	int err = bench_memory(&now);

	if (err)
		return err;
	report_figure(r, "accounted_bytes", "memory by our own accounting", (double)accounted);
	report_figure(r, "pss_grown_bytes", "PSS grown", (double)now.pss - (double)before->pss);
	report_figure(r, "rss_grown_bytes", "VmRSS grown", (double)now.rss - (double)before->rss);
	return 0;
}

static bool met(const struct bench_target *t)
{
	return t->measured && (t->at_least ? t->value >= t->target : t->value <= t->target);
}

/* ---- text ---- */

/* A number as people read it: thousands apart, decimals where it is small. */
static const char *readable(double v, char *buf, size_t size)
{
	char digits[64];
	size_t len, at = 0;

	if (v > -1000 && v < 1000) {
		snprintf(buf, size, v == (double)(long long)v ? "%.0f" : "%.3f", v);
		return buf;
	}
	len = (size_t)snprintf(digits, sizeof(digits), "%.0f", v);
	for (size_t i = 0; i < len && at + 2 < size; i++) {
		if (i && (len - i) % 3 == 0 && digits[i - 1] != '-')
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = 0;
	return buf;
}

static void print_cells(const struct bench_report *r)
{
	if (!r->cells)
		return;
	printf("nanoseconds of single operations, the clock's own %.0f taken off\n%-32s %8s %8s %8s %8s %10s %10s\n",
	       bench_clock_ns(), "", "mean", "p50", "p95", "p99", "max", "hits");
	for (unsigned i = 0; i < r->cells; i++)
		printf("  %-30s %8.0f %8.0f %8.0f %8.0f %10.0f %10u\n", r->cell[i].name, r->cell[i].mean, r->cell[i].p50,
		       r->cell[i].p95, r->cell[i].p99, r->cell[i].max, r->cell[i].hits);
}

static void print_text(const struct bench_report *r)
{
	char a[64], b[64];

	printf("# mrbench %s: %s names, %s operations a cell, seed %#llx, %s build\n", r->command,
	       readable(r->o->domains, a, sizeof(a)), readable(r->o->iters, b, sizeof(b)),
	       (unsigned long long)r->o->seed, bench_build());
	print_cells(r);
	for (unsigned i = 0; i < r->figures; i++) {
		const struct bench_figure *f = &r->figure[i];

		if (f->why[0])
			printf("  %-20s unavailable: %s  (%s)\n", f->name, f->why, f->what);
		else
			printf("  %-20s %14s  %s\n", f->name, readable(f->value, a, sizeof(a)), f->what);
	}
	for (unsigned i = 0; i < r->targets; i++) {
		const struct bench_target *t = &r->target[i];

		printf("  %-12s %-44s %12s  target %10s  %s\n", t->id, t->what,
		       t->measured ? readable(t->value, a, sizeof(a)) : "unavailable", readable(t->target, b, sizeof(b)),
		       !t->measured ? "unavailable" : met(t) ? "met" : "MISSED");
	}
}

/* ---- JSON ---- */

static json_t *json_cells(const struct bench_report *r)
{
	json_t *all = json_object();

	for (unsigned i = 0; i < r->cells; i++) {
		const struct bench_cell *c = &r->cell[i];

		json_object_set_new(all, c->name, json_pack("{s:i, s:i, s:f, s:f, s:f, s:f, s:f}", "ops", (int)c->ops,
							    "hits", (int)c->hits, "mean_ns", c->mean, "p50_ns", c->p50,
							    "p95_ns", c->p95, "p99_ns", c->p99, "max_ns", c->max));
	}
	return all;
}

static json_t *json_targets(const struct bench_report *r)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < r->targets; i++) {
		const struct bench_target *t = &r->target[i];

		json_array_append_new(all, json_pack("{s:s, s:s, s:o, s:f, s:o}", "id", t->id, "what", t->what, "value",
						     t->measured ? json_real(t->value) : json_null(), "target", t->target,
						     "met", t->measured ? json_boolean(met(t)) : json_null()));
	}
	return all;
}

static void print_json(const struct bench_report *r)
{
	json_t *out = json_object(), *missing = json_object();

	json_object_set_new(out, "command", json_string(r->command));
	json_object_set_new(out, "build", json_string(bench_build()));
	json_object_set_new(out, "domains", json_integer(r->o->domains));
	json_object_set_new(out, "iters", json_integer(r->o->iters));
	json_object_set_new(out, "seed", json_integer((json_int_t)r->o->seed));
	json_object_set_new(out, "clock_ns", json_real(bench_clock_ns()));
	json_object_set_new(out, "cells", json_cells(r));
	for (unsigned i = 0; i < r->figures; i++) {
		const struct bench_figure *f = &r->figure[i];

		json_object_set_new(out, f->name, f->why[0] ? json_null() : json_real(f->value));
		if (f->why[0])
			json_object_set_new(missing, f->name, json_string(f->why));
	}
	json_object_set_new(out, "unavailable", missing);
	json_object_set_new(out, "targets", json_targets(r));
	json_dumpf(out, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
	putchar('\n');
	json_decref(out);
}

unsigned report_print(const struct bench_report *r)
{
	unsigned missed = 0;

	if (r->o->json)
		print_json(r);
	else
		print_text(r);
	for (unsigned i = 0; i < r->targets; i++) {
		if (met(&r->target[i]))
			continue;
		missed++;
		if (r->o->demand)
			fprintf(stderr, "mrbench: %s: missed or unavailable: %s\n", r->command, r->target[i].id);
	}
	return missed;
}
