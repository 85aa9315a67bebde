/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_compile.c - "mrbench compile": a hosts list, until it is in force.
 *
 * In each round the text is parsed alone, then compiled as the daemon does it:
 * parsed into the builder, written to disk, opened, turned into verdicts, and
 * copied into the kernel's unit that is not in force, which is then flipped.
 * The kernel's tables stand in namespaces of this process; nothing of the
 * machine is touched and nothing is left.  Where they cannot be had, what needs
 * them is unavailable.  Figures are medians of the rounds.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/clock.h"
#include "kern/kern.h"
#include "policy/compile.h"
#include "policy/judge.h"
#include "policy/secret.h"
#include "tools/mrbench.h"
#include "tools/mrbench_user.h"

#define ITERS_A_ROUND 40000
#define ROUNDS_MAX    101
#define LOOKS         1000
#define PARSE_TARGET  10e6
#define FORCE_TARGET  0.3
#define MEMORY_TARGET (40.0 * 1024 * 1024)

/* Seconds, one row a round. */
enum phase { PARSE, PARSE_CPU, PARSE_AUTO, ADD, FINISH, VERDICTS, PUBLISH, ENFORCED, ENFORCED_CPU, PHASES };

struct work {
	const struct bench_user *o;
	struct mr_secret secret;
	char *text;
	size_t size, room;
	char folder[64], path[96], rules[96];
	struct kern *kern;		/* NULL: not to be had, why says why */
	struct err_at why;
	struct compiled now;		/* what is in force, while it is not in the kernel's maps alone */
	struct mr_verdict *verdicts;
	struct filter_view view;
	double s[PHASES][ROUNDS_MAX];
	unsigned rounds;
};

/* ---- the list ---- */

static int make_text(struct work *w)
{
	w->room = (size_t)w->o->domains * BENCH_LINE;
	/* Pages that are not written cost nothing; it stands outside of what is compared. */
	w->text = mmap(NULL, w->room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->text == MAP_FAILED) {
		w->text = NULL;
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < w->o->domains; i++)
		w->size += bench_hosts_line(i, w->text + w->size);
	return 0;
}

static int count_item(void *arg, const struct rule_item *item)
{
	uint64_t *items = arg;

	(*items)++;
	return 1;
}

static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* The parser alone. */
static int parse(struct work *w, enum list_format format, double *ret_s, struct err_at *reterr)
{
	struct list_report *report = calloc(1, sizeof(*report));
	uint64_t items = 0, start = clock_fine_ns();
	int err = report ? list_parse(w->text, w->size, format, false, count_item, &items, report) : -ENOMEM;

	*ret_s = (double)(clock_fine_ns() - start) / 1e9;
	free(report);
	if (!err && items != w->o->domains)
		err = err_why(reterr, -EPROTO, "the parser took %llu of %u lines", (unsigned long long)items, w->o->domains);
	return err;
}

/* ---- in force ---- */

static uint64_t lap(uint64_t *since, double *ret_s)
{
	uint64_t now = clock_fine_ns();

	*ret_s = (double)(now - *since) / 1e9;
	return *since = now;
}

static int compile_text(struct work *w, struct compiled *ret, uint64_t *since, struct err_at *reterr)
{
	struct list_report *report = calloc(1, sizeof(*report));
	struct compile *c = compile_new(&w->secret);
	int err = report && c ? compile_list(c, 0, w->text, w->size, LIST_HOSTS, false, report) : -ENOMEM;

	lap(since, &w->s[ADD][w->rounds]);
	if (!err)
		err = compile_finish(c, w->path, w->rules, ret, reterr);
	compile_free(c);
	free(report);
	lap(since, &w->s[FINISH][w->rounds]);
	return err;
}

static int publish(struct work *w, struct compiled *made, uint64_t *since, struct err_at *reterr)
{
	_Atomic uint8_t uses = 1;
	const struct judge_group group = { &uses, 1 };
	struct judge j = { .filter.unit = filter_unit(made->filter), .members = filter_members_copy(made->filter),
			   .rules = made->rules, .group = &group, .groups = 1, .rewrites = UINT32_MAX,
			   .safe_search = UINT32_MAX };
	struct mr_verdict *v = j.members ? judge_verdicts(&j) : NULL;
	bool mapped = false;
	int err = v ? 0 : -ENOMEM;

	filter_members_free((struct filter_members *)j.members);
	lap(since, &w->s[VERDICTS][w->rounds]);
	if (!err && w->kern)
		err = kern_filter_publish(w->kern, made->filter, v, 1, &w->view, &mapped, reterr);
	if (!err && w->kern && !mapped)
		err = err_why(reterr, -EOPNOTSUPP, "the filter did not go into the kernel's tables");
	if (!err && mapped) {
		free(v);
		v = NULL;
		compiled_done(made);
		*made = (struct compiled){ 0 };
	}
	lap(since, &w->s[PUBLISH][w->rounds]);
	free(w->verdicts);
	w->verdicts = v;
	return err;
}

/*
 * The kernel must say of some of the names that they are blocked.  In generic
 * mode one checksum in 65,536 looks like one that was left to hardware.
 */
static int look(struct work *w, struct err_at *reterr)
{
	uint64_t random = w->o->seed;
	struct kern_why_result r;
	struct bench_name n;
	unsigned hits = 0;
	int err = 0;

	for (unsigned i = 0; i < LOOKS && !err; i++) {
		bench_name(BENCH_BLOCKED, (uint32_t)((bench_random(&random) >> 32) * w->o->domains >> 32), &n);
		struct kern_why_query q = { .name = n.wire, .name_len = n.len, .qtype = 1,
					    .client = { .ip = { [10] = 0xff, [11] = 0xff, [12] = 192, [14] = 2, [15] = 1 },
						    .port = 5353 } };

		err = kern_why(w->kern, &q, &r, reterr);
		hits += !err && r.why.verdict == MR_BLOCK;
	}
	if (!err && hits < LOOKS / 100 * 99)
		err = err_why(reterr, -EPROTO, "the kernel blocks %u of %u names of the list", hits, LOOKS);
	return err;
}

static int round_of(struct work *w, struct err_at *reterr)
{
	struct compiled made = { 0 };
	uint64_t since, start, cpu = cpu_ns();
	int err = parse(w, LIST_HOSTS, &w->s[PARSE][w->rounds], reterr);

	w->s[PARSE_CPU][w->rounds] = (double)(cpu_ns() - cpu) / 1e9;
	if (!err)
		err = parse(w, LIST_AUTO, &w->s[PARSE_AUTO][w->rounds], reterr);
	if (err)
		return err;
	cpu = cpu_ns();
	start = since = clock_fine_ns();
	err = compile_text(w, &made, &since, reterr);
	if (!err)
		err = publish(w, &made, &since, reterr);
	w->s[ENFORCED][w->rounds] = (double)(since - start) / 1e9;
	w->s[ENFORCED_CPU][w->rounds] = (double)(cpu_ns() - cpu) / 1e9;
	compiled_done(&w->now);
	w->now = made;
	malloc_trim(0);		/* as control does */
	return err;
}

/* ---- memory ---- */

static uint64_t map_bytes(struct work *w)
{
	struct kern_memory mem[32];
	uint64_t all = 0;

	for (unsigned i = w->kern ? kern_memory(w->kern, mem) : 0; i-- > 0;)
		all += mem[i].bytes;
	return all;
}

static uint64_t peak_bytes(void)
{
	unsigned long long kb = 0;
	char line[128];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmHWM: %llu kB", &kb);
	if (f)
		fclose(f);
	return kb * 1024;
}

/* From here on the peak counts. */
static void peak_reset(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "we");

	if (f) {
		fputs("5\n", f);
		fclose(f);
	}
}

/* ---- whole ---- */

static double median(const struct work *w, enum phase p)
{
	double s[ROUNDS_MAX];

	memcpy(s, w->s[p], sizeof(*s) * w->rounds);
	qsort(s, w->rounds, sizeof(*s), bench_compare);
	return s[w->rounds / 2];
}

static void figures(struct bench_report *r, const struct work *w)
{
	double parse_s = median(w, PARSE), lines = w->o->domains / parse_s;

	report_figure(r, "rounds", "each figure is their median", w->rounds);
	report_figure(r, "parse_lines_s", "lines/s, parsed alone as hosts", lines);
	report_figure(r, "parse_cpu_lines_s", "the same in a second of CPU time: what a busy machine hides",
		      w->o->domains / median(w, PARSE_CPU));
	report_figure(r, "parse_auto_lines_s", "lines/s, parsed alone with the format to be found",
		      w->o->domains / median(w, PARSE_AUTO));
	report_figure(r, "add_s", "seconds, parsed into the builder", median(w, ADD));
	report_figure(r, "finish_s", "seconds, made, written to disk and opened", median(w, FINISH));
	report_figure(r, "verdicts_s", "seconds, sets turned into verdicts", median(w, VERDICTS));
	if (w->kern) {
		report_figure(r, "publish_s", "seconds, copied into the kernel's unit and flipped", median(w, PUBLISH));
		report_figure(r, "enforced_s", "seconds from the text to in force", median(w, ENFORCED));
		report_figure(r, "enforced_cpu_s", "of that, CPU time", median(w, ENFORCED_CPU));
		report_figure(r, "grown_s", "the same with the kernel's maps made anew for its size",
			      w->s[ENFORCED][ROUNDS_MAX - 1]);
	} else {
		report_missing(r, "publish_s", "seconds, copied into the kernel's unit and flipped", w->why.why);
		report_missing(r, "enforced_s", "seconds from the text to in force", w->why.why);
		report_missing(r, "enforced_cpu_s", "of that, CPU time", w->why.why);
		report_missing(r, "grown_s", "the same with the kernel's maps made anew for its size", w->why.why);
	}
	report_target(r, "P8 parse", "lines/s, parsed alone as hosts", lines, PARSE_TARGET, true, true);
	report_target(r, "P8 enforced", "seconds from the text to in force", median(w, ENFORCED), FORCE_TARGET, false,
		      w->kern);
}

static int memory(struct bench_report *r, struct work *w, const struct bench_memory *before, uint64_t maps_before)
{
	uint64_t maps = map_bytes(w) - maps_before, own = w->kern ? maps : 0;
	struct bench_memory now;
	int err;

	if (!w->kern)
		own = (filter_unit(w->now.filter)->bucket_mask + 1ULL) * sizeof(struct mr_filter_bucket) +
		      (filter_unit(w->now.filter)->bloom_mask + 1ULL) * sizeof(uint64_t);
	err = report_memory(r, before, own);
	if (!err)
		err = bench_memory(&now);
	if (err)
		return err;
	if (w->kern)
		report_figure(r, "map_bytes", "the kernel's maps grown", (double)maps);
	else
		report_missing(r, "map_bytes", "the kernel's maps grown", w->why.why);
	report_target(r, "P7", "bytes over an empty one, maps counted once",
		      (double)maps + (double)now.pss - (double)before->pss, MEMORY_TARGET, false, w->kern);
	return 0;
}

static int begin(struct work *w, struct err_at *reterr)
{
	snprintf(w->folder, sizeof(w->folder), "/tmp/mrbench-XXXXXX");
	if (!mkdtemp(w->folder))
		return err_why(reterr, -errno, "%s: %s", w->folder, strerror(errno));
	snprintf(w->path, sizeof(w->path), "%s/filter.bin", w->folder);
	snprintf(w->rules, sizeof(w->rules), "%s/rules.bin", w->folder);
	secret_make(&w->secret);
	if (bench_kernel(&w->secret, &w->kern, &w->why))
		fprintf(stderr, "mrbench: compile: the kernel's part is left out: %s\n", w->why.why);
	return make_text(w);
}

static void end(struct work *w)
{
	if (w->kern)
		kern_close(w->kern, true);
	compiled_done(&w->now);
	free(w->verdicts);
	if (w->text)
		munmap(w->text, w->room);
	unlink(w->path);
	unlink(w->rules);
	rmdir(w->folder);
}

int bench_compile(struct bench_report *r, struct err_at *reterr)
{
	struct work *w = calloc(1, sizeof(*w));
	struct bench_memory before = { 0 };
	unsigned rounds = r->o->iters / ITERS_A_ROUND;
	uint64_t maps = 0;
	int err = -ENOMEM;

	if (!w)
		return err;
	w->o = r->o;
	rounds = rounds < 1 ? 1 : rounds >= ROUNDS_MAX ? ROUNDS_MAX - 1 : rounds;
	err = begin(w, reterr);
	if (!err)
		err = bench_memory(&before);
	maps = map_bytes(w);
	peak_reset();
	/* The first makes bigger maps, so it is no round. */
	bench_progress("the first list of %u lines", w->o->domains);
	if (!err)
		err = round_of(w, reterr);
	w->s[ENFORCED][ROUNDS_MAX - 1] = w->s[ENFORCED][0];
	for (; w->rounds < rounds && !err; w->rounds++) {
		bench_progress("round %u of %u", w->rounds + 1, rounds);
		err = round_of(w, reterr);
	}
	if (!err && w->kern)
		err = look(w, reterr);
	if (!err) {
		figures(r, w);
		report_figure(r, "peak_bytes", "peak of VmRSS over that before", (double)peak_bytes() - (double)before.rss);
		err = memory(r, w, &before, maps);
	}
	end(w);
	free(w);
	return err;
}
