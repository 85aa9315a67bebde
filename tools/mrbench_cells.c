/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_cells.c - "mrbench ns": nanoseconds a packet, over the null program.
 *
 * Each round measures every cell between two runs of the null program over the
 * same frames.  A cell's round counts when both nulls are within 12 % of the
 * best null ever seen for that cell: the machine was quiet.  A figure is the
 * median over the counted rounds of the cell minus the mean of its two nulls.
 * The counters must say that every packet took the way that the cell is about.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include "base/clock.h"
#include "tools/mrbench.h"
#include "tools/mrbench.skel.h"

#define NULL_SLACK   1.12
#define ROUNDS_MAX   2000
#define RUN_UP       5			/* the part of a round that random cells and chases are run before */
#define LOOPBACK     1			/* the first device of every namespace */

/* How many names a cell asks for. */
enum count { HOT, ALL };

/* A cell: its frames, and what must become of them. */
static const struct cell_row {
	const char *name;
	enum bench_space space;
	enum count count;
	enum bench_shape shape;
	uint32_t verdict;
	enum mr_stat stat;
} cells[] = {
	{ "pass_ns",              BENCH_UNKNOWN,  HOT,         BENCH_OTHER, XDP_PASS, MR_STAT_pass_other },
	{ "unknown_ns",           BENCH_UNKNOWN,  HOT,         BENCH_V4,    XDP_PASS, MR_STAT_pass_miss },
	{ "blocked_hot_ns",       BENCH_BLOCKED,  HOT,         BENCH_V4,    XDP_TX,   MR_STAT_blocked },
	{ "blocked_random_ns",    BENCH_BLOCKED,  ALL,         BENCH_V4,    XDP_TX,   MR_STAT_blocked },
	{ "cached_hot_ns",        BENCH_CACHED,   HOT,         BENCH_V4,    XDP_TX,   MR_STAT_cached },
	{ "cached_random_ns",     BENCH_CACHED,   ALL,         BENCH_V4,    XDP_TX,   MR_STAT_cached },
	{ "blocked_ipv6_hot_ns",  BENCH_BLOCKED,  HOT,         BENCH_V6,    XDP_TX,   MR_STAT_blocked },
	{ "blocked_long_hot_ns",  BENCH_LONG,     HOT,         BENCH_V4,    XDP_TX,   MR_STAT_blocked },
	{ "cached_ipv6_hot_ns",   BENCH_CACHED,   HOT,         BENCH_V6,    XDP_TX,   MR_STAT_cached },
	{ "nxdomain_hot_ns",      BENCH_NEGATIVE, HOT,         BENCH_V4,    XDP_TX,   MR_STAT_cached },
};
#define CELLS (sizeof(cells) / sizeof(cells[0]))

/* One measured thing: its rounds in order. */
struct series {
	double before[ROUNDS_MAX], ns[ROUNDS_MAX], after[ROUNDS_MAX];
	uint32_t at;			/* where a chase stands */
};

struct bench {
	const struct bench_options *o;
	struct mrbench_bpf *skel;
	struct bench_tables *tables;
	struct bench_frame *frames;
	struct bench_line *line_a, *line_b;
	struct {
		uint32_t first, count, next;
	} set[CELLS];
	struct series cell[CELLS], chase_a, chase_b;
	unsigned rounds, ifindex;
	int apart;			/* the namespace in which the wrapper is attached */
	uint8_t mac[6];
};

/* How many names there are to choose a cell's from, and how many it takes. */
static uint32_t space_size(const struct bench *b, enum bench_space space)
{
	return bench_tables_count(b->tables, space, space == BENCH_BLOCKED ? b->o->sizes.names : b->o->sizes.hot);
}

static uint32_t count_of(const struct bench *b, const struct cell_row *row)
{
	uint32_t all = space_size(b, row->space), hot = b->o->sizes.hot;

	return row->count == HOT && hot < all ? hot : all;
}

/*
 * Attach the wrapper to a loopback device that nobody uses, in a namespace of
 * its own.  For a run of a program that is attached nowhere, the kernel makes
 * its XDP dispatcher anew, and waits for all CPUs: 10 ms before each run, and
 * caches that others have used since.
 */
static int attach_apart(struct bench *b, struct err_at *reterr)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), err = 0;

	if (home < 0 || unshare(CLONE_NEWNET)) {
		err = err_why(reterr, -errno, "no network namespace for the wrapper: %s", strerror(errno));
		goto out;
	}
	b->apart = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	b->skel->links.bench_wrap = bpf_program__attach_xdp(b->skel->progs.bench_wrap, LOOPBACK);
	if (b->apart < 0 || !b->skel->links.bench_wrap)
		err = err_why(reterr, -errno, "the wrapper cannot be attached: %s", strerror(errno));
	if (setns(home, CLONE_NEWNET))
		err = err_why(reterr, -errno, "the way back to the namespace is lost: %s", strerror(errno));
out:
	if (home >= 0)
		close(home);
	return err;
}

static int load(struct bench *b, struct err_at *reterr)
{
	uint32_t frames = 0;
	int err;

	b->skel = mrbench_bpf__open();
	if (!b->skel)
		return err_why(reterr, -errno, "the benchmark's own program does not open");
	for (size_t i = 0; i < CELLS; i++) {
		b->set[i].first = frames;
		b->set[i].count = count_of(b, &cells[i]);
		frames += b->set[i].count;
	}
	bpf_map__set_max_entries(b->skel->maps.bench_frames, frames);
	bpf_map__set_max_entries(b->skel->maps.bench_line_a,
				 (uint32_t)(bench_tables_filter_bytes(b->tables) / sizeof(struct bench_line)));
	bpf_map__set_max_entries(b->skel->maps.bench_line_b,
				 (uint32_t)(bench_tables_answer_bytes(b->tables) / sizeof(struct bench_line)));
	bpf_program__set_autoload(b->skel->progs.bench_find_hash, false);
	bpf_program__set_autoload(b->skel->progs.bench_find_own, false);
	bpf_program__set_autoload(b->skel->progs.bench_reflect, false);
	err = mrbench_bpf__load(b->skel);
	if (err)
		return err_why(reterr, err, "the benchmark's own program does not load: %s", strerror(-err));
	err = attach_apart(b, reterr);
	if (err)
		return err;
	b->frames = bench_map(bpf_map__fd(b->skel->maps.bench_frames), sizeof(*b->frames) * frames);
	b->line_a = bench_map(bpf_map__fd(b->skel->maps.bench_line_a), bench_tables_filter_bytes(b->tables));
	b->line_b = bench_map(bpf_map__fd(b->skel->maps.bench_line_b), bench_tables_answer_bytes(b->tables));
	if (!b->frames || !b->line_a || !b->line_b)
		return err_why(reterr, -errno, "a map cannot be mapped: %s", strerror(errno));
	return 0;
}

static int make_frames(struct bench *b)
{
	struct bench_name name;
	uint32_t *order;

	for (size_t c = 0; c < CELLS; c++) {
		order = bench_shuffle(space_size(b, cells[c].space), c);
		if (!order)
			return -ENOMEM;
		for (uint32_t i = 0; i < b->set[c].count; i++) {
			bench_name(cells[c].space, bench_tables_number(b->tables, cells[c].space, order[i]), &name);
			bench_frame(&name, cells[c].shape, b->mac, (uint16_t)(i * 40503), &b->frames[b->set[c].first + i]);
		}
		free(order);
	}
	if (bench_chase_fill(b->line_a, (uint32_t)(bench_tables_filter_bytes(b->tables) / sizeof(struct bench_line))))
		return -ENOMEM;
	return bench_chase_fill(b->line_b, (uint32_t)(bench_tables_answer_bytes(b->tables) / sizeof(struct bench_line)));
}

/* Run the subject over the cell's frames, going on from @at. */
static int run(struct bench *b, size_t c, int subject, uint32_t verdict, uint32_t at, uint32_t repeat, double *ret_ns,
	       struct err_at *reterr)
{
	int err, map = bpf_map__fd(b->skel->maps.bench_subject);
	uint32_t zero = 0;

	if (bpf_map_update_elem(map, &zero, &subject, BPF_ANY))
		return err_why(reterr, -errno, "a program cannot be put into the wrapper's slot: %s", strerror(errno));
	b->skel->bss->bench_first = b->set[c].first;
	b->skel->data->bench_count = b->set[c].count;
	b->skel->bss->bench_next = at;
	b->skel->bss->bench_home = 0;
	err = bench_run(bpf_program__fd(b->skel->progs.bench_wrap), b->ifindex, repeat, verdict, ret_ns, reterr);
	if (err)
		err_where(reterr, NULL, 0, cells[c].name);
	return err;
}

/*
 * Did all @packets take the cell's way since @before?  The interface is live,
 * so neighbours' frames may have been seen beside them, which pass as others do.
 */
static int check_way(struct bench *b, size_t c, const struct mr_stats *before, uint64_t packets, struct err_at *reterr)
{
	struct mr_stats now;
	uint64_t seen, all;

	bench_tables_stats(b->tables, &now);
	seen = now.count[cells[c].stat] - before->count[cells[c].stat];
	all = now.count[MR_STAT_packets] - before->count[MR_STAT_packets];
	if (seen == packets || (cells[c].stat == MR_STAT_pass_other && seen >= packets && seen <= all))
		return 0;
	err_where(reterr, NULL, 0, cells[c].name);
	return err_why(reterr, -EPROTO, "%llu of %llu packets took the way that this cell is about",
		       (unsigned long long)seen, (unsigned long long)packets);
}

/*
 * One cell in one round.  It is run up first, since the program before it has left other things in the caches: a hot
 * set once, a random one, which goes on where it was, for a part of a round.
 */
static int measure(struct bench *b, size_t c, struct err_at *reterr)
{
	int fast = bench_tables_program(b->tables), null = bpf_program__fd(b->skel->progs.bench_null), err;
	uint32_t at = b->set[c].next, repeat = b->o->repeat, warm = cells[c].count == HOT ? b->set[c].count : repeat / RUN_UP + 1;
	struct series *s = &b->cell[c];
	struct mr_stats before;
	double ignored;

	bench_tables_stats(b->tables, &before);
	err = run(b, c, null, XDP_TX, at, repeat, &s->before[b->rounds], reterr);
	if (!err)
		err = run(b, c, fast, cells[c].verdict, at, warm, &ignored, reterr);
	at = (at + warm) % b->set[c].count;
	if (!err)
		err = run(b, c, fast, cells[c].verdict, at, repeat, &s->ns[b->rounds], reterr);
	if (!err)
		err = run(b, c, null, XDP_TX, at, repeat, &s->after[b->rounds], reterr);
	b->set[c].next = (at + repeat) % b->set[c].count;
	return err ? err : check_way(b, c, &before, warm + repeat, reterr);
}

static int chase(struct bench *b, struct bpf_program *program, struct series *s, struct err_at *reterr)
{
	int null = bpf_program__fd(b->skel->progs.bench_null), err;
	uint32_t repeat = b->o->repeat / BENCH_STEPS + 1;
	double ignored;

	err = run(b, 0, null, XDP_TX, 0, b->o->repeat, &s->before[b->rounds], reterr);
	b->skel->bss->bench_at = s->at;
	if (!err)
		err = bench_run(bpf_program__fd(program), 0, repeat / RUN_UP + 1, XDP_TX, &ignored, reterr);
	if (!err)
		err = bench_run(bpf_program__fd(program), 0, repeat, XDP_TX, &s->ns[b->rounds], reterr);
	s->at = b->skel->bss->bench_at;
	s->ns[b->rounds] /= BENCH_STEPS;
	if (!err)
		err = run(b, 0, null, XDP_TX, 0, b->o->repeat, &s->after[b->rounds], reterr);
	return err;
}

struct figure {
	double median, least, spread, null;
	unsigned kept;
};

/* Judge a series; @over says whether its nulls are taken off. */
static void judge(const struct bench *b, const struct series *s, bool over, struct figure *ret)
{
	static double kept[ROUNDS_MAX], nulls[ROUNDS_MAX];
	double best = 1e9;
	unsigned n = 0;

	memset(ret, 0, sizeof(*ret));
	for (unsigned i = 0; i < b->rounds; i++) {
		best = s->before[i] < best ? s->before[i] : best;
		best = s->after[i] < best ? s->after[i] : best;
	}
	for (unsigned i = 0; i < b->rounds; i++) {
		if (s->before[i] > best * NULL_SLACK || s->after[i] > best * NULL_SLACK)
			continue;
		nulls[n] = (s->before[i] + s->after[i]) / 2;
		kept[n] = s->ns[i] - (over ? nulls[n] : 0);
		n++;
	}
	ret->kept = n;
	if (!n)
		return;
	qsort(kept, n, sizeof(*kept), bench_compare);
	qsort(nulls, n, sizeof(*nulls), bench_compare);
	ret->median = n & 1 ? kept[n / 2] : (kept[n / 2 - 1] + kept[n / 2]) / 2;
	ret->least = kept[0];
	ret->spread = kept[n * 3 / 4] - kept[n / 4];
	ret->null = nulls[n / 2];
}

/* The fewest rounds that any cell has kept. */
static unsigned fewest(const struct bench *b)
{
	unsigned least = ROUNDS_MAX;
	struct figure f;

	for (size_t c = 0; c < CELLS; c++) {
		judge(b, &b->cell[c], true, &f);
		least = f.kept < least ? f.kept : least;
	}
	return least;
}

static int go(struct bench *b, struct err_at *reterr)
{
	uint64_t end = clock_fine_ns() + (uint64_t)(b->o->seconds * 1e9);
	int err = 0;

	while (b->rounds < ROUNDS_MAX && !err) {
		for (size_t c = 0; c < CELLS && !err; c++)
			err = measure(b, c, reterr);
		if (!err)
			err = chase(b, b->skel->progs.bench_chase_a, &b->chase_a, reterr);
		if (!err)
			err = chase(b, b->skel->progs.bench_chase_b, &b->chase_b, reterr);
		if (err)
			break;
		b->rounds++;
		if (fewest(b) >= b->o->rounds || (b->rounds >= 1 && clock_fine_ns() > end))
			break;
	}
	return err;
}

static double tenth(double v)
{
	return (double)(int64_t)(v * 10 + (v < 0 ? -0.5 : 0.5)) / 10;
}

static void add(json_t *out, json_t *detail, const char *name, const struct figure *f)
{
	json_object_set_new(out, name, f->kept ? json_real(tenth(f->median)) : json_null());
	if (f->kept)
		json_object_set_new(detail, name, json_pack("{s:i, s:f, s:f, s:f}", "kept", (int)f->kept, "min",
							    tenth(f->least), "quartiles", tenth(f->spread), "null",
							    tenth(f->null)));
	else
		json_object_set_new(detail, name, json_pack("{s:i}", "kept", 0));
}

static int report(const struct bench *b)
{
	json_t *out = json_object(), *detail = json_object();
	struct figure f;

	if (!out || !detail)
		return -ENOMEM;
	judge(b, &b->cell[2], true, &f);
	json_object_set_new(out, "null_ns", f.kept ? json_real(tenth(f.null)) : json_null());
	judge(b, &b->chase_a, false, &f);
	add(out, detail, "miss_ns", &f);
	judge(b, &b->chase_b, false, &f);
	add(out, detail, "miss_answers_ns", &f);
	for (size_t c = 0; c < CELLS; c++) {
		judge(b, &b->cell[c], true, &f);
		add(out, detail, cells[c].name, &f);
	}
	json_object_set_new(out, "detail", detail);
	json_object_set_new(out, "rounds", json_integer(b->rounds));
	json_object_set_new(out, "names", json_integer(b->o->sizes.names));
	json_object_set_new(out, "answers", json_integer(bench_tables_count(b->tables, BENCH_CACHED, 0)));
	json_object_set_new(out, "hot", json_integer(b->o->sizes.hot));
	json_object_set_new(out, "packets", json_integer(b->o->repeat));
	json_object_set_new(out, "filter_bytes", json_integer((json_int_t)bench_tables_filter_bytes(b->tables)));
	json_object_set_new(out, "answer_bytes", json_integer((json_int_t)bench_tables_answer_bytes(b->tables)));
	json_object_set_new(out, "verified_insns", json_integer(bench_tables_insns(b->tables)));
	json_object_set_new(out, "cpu", json_integer(b->o->cpu));
	json_dumpf(out, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
	putchar('\n');
	json_decref(out);
	return 0;
}

int bench_ns(const struct bench_options *o, const char *interface, struct err_at *reterr)
{
	struct bench *b = calloc(1, sizeof(*b));
	int err = -ENOMEM;

	if (!b)
		goto out;
	b->o = o;
	b->apart = -1;
	b->ifindex = if_nametoindex(interface);
	err = bench_mac(interface, b->mac, reterr);
	if (!err)
		err = bench_tables_new(&o->sizes, interface, &b->tables, reterr);
	if (!err)
		err = load(b, reterr);
	if (!err)
		err = make_frames(b);
	if (!err)
		err = go(b, reterr);
	if (!err)
		err = report(b);
out:
	if (b) {
		mrbench_bpf__destroy(b->skel);
		if (b->apart >= 0)
			close(b->apart);
		bench_tables_free(b->tables);
		free(b);
	}
	return err;
}
