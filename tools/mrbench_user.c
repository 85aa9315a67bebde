/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_user.c - options, timing and memory of the measurements in user space.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/row.h"
#include "net/udp.h"
#include "tools/mrbench.h"
#include "tools/mrbench_user.h"

#define DOMAINS_MAX 10000000
#define ITERS_MAX   100000000
#define CLOCK_READS 10001
#define HITS_LEAST  0.99

_Static_assert(BENCH_BATCH == UDP_BATCH, "batches are the daemon's");

static const struct command {
	const char *name;
	int (*run)(struct bench_report *r, struct err_at *reterr);
} commands[] = {
	{ "filter", bench_filter },
	{ "cache", bench_cache },
	{ "compile", bench_compile },
	{ "list", NULL },
};

static const char usage[] =
	"usage: mrbench filter|compile|cache [--domains N] [--iters N] [--seed S] [--assert] [--json]\n"
	"       mrbench list [--domains N] [--seed S]  the hosts list that the others measure with, on stdout\n"
	"  --domains N  names (1000000)\n"
	"  --iters N    single operations timed in each cell (200000); compile: the rounds are one in 40,000 of it\n"
	"  --seed S     of names and order (0x5eed)\n"
	"  --assert     exit status 1 unless each target was measured and met\n"
	"  --json       one JSON object instead of a table\n";

const char *bench_build(void)
{
#ifdef __SANITIZE_ADDRESS__
	return "sanitizers";
#elif defined(__SANITIZE_THREAD__)
	return "sanitizers";
#elif !defined(__OPTIMIZE__)
	return "debug";
#else
	return "release";
#endif
}

void bench_progress(const char *fmt, ...)
{
	va_list args;

	if (!isatty(STDERR_FILENO))
		return;
	fputs("\r\033[K", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fflush(stderr);
}

uint64_t bench_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

/* ---- options ---- */

/* A whole number in @min..@max; false when @text, which may be missing, is none. */
static bool number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	char *end = NULL;

	errno = 0;
	*ret = text ? strtoull(text, &end, 0) : 0;
	if (text && end != text && !*end && !errno && *text != '-' && *ret >= min && *ret <= max)
		return true;
	fprintf(stderr, "mrbench: %s is '%s'; expected a number in %llu..%llu\n", option, text ? text : "",
		(unsigned long long)min, (unsigned long long)max);
	return false;
}

static bool options(int argc, char **argv, struct bench_user *o)
{
	uint64_t v;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--assert")) {
			o->demand = true;
		} else if (!strcmp(argv[i], "--json")) {
			o->json = true;
		} else if (!strcmp(argv[i], "--domains")) {
			if (!number(argv[i], argv[i + 1], 16, DOMAINS_MAX, &v))
				return false;
			o->domains = (uint32_t)v;
			i++;
		} else if (!strcmp(argv[i], "--iters")) {
			if (!number(argv[i], argv[i + 1], 100, ITERS_MAX, &v))
				return false;
			o->iters = (uint32_t)v;
			i++;
		} else if (!strcmp(argv[i], "--seed")) {
			if (!number(argv[i], argv[i + 1], 1, UINT64_MAX, &v))
				return false;
			o->seed = v;
			i++;
		} else {
			fprintf(stderr, "mrbench: unknown argument '%s'\n", argv[i]);
			return false;
		}
	}
	return true;
}

static int print_list(uint32_t count)
{
	char line[BENCH_LINE];

	for (uint32_t i = 0; i < count; i++)
		fwrite(line, 1, bench_hosts_line(i, line), stdout);
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	fprintf(stderr, "mrbench: list: cannot be written: %s\n", strerror(errno));
	return 1;
}

int bench_user(int argc, char **argv)
{
	struct bench_user o = { .domains = 1000000, .iters = 200000, .seed = 0x5eed };
	struct bench_report *r = NULL;
	const struct command *c = NULL;
	struct err_at at = { 0 };
	unsigned missed;
	char text[768];
	int err = -ENOMEM;

	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (argc && !strcmp(argv[0], commands[i].name))
			c = &commands[i];
	if (!c)
		return -1;
	if (!options(argc, argv, &o)) {
		fputs(usage, stderr);
		return 2;
	}
	bench_names_seed(o.seed);
	if (!c->run)
		return print_list(o.domains);
	r = calloc(1, sizeof(*r));
	if (r) {
		r->o = &o;
		r->command = c->name;
		err = c->run(r, &at);
	}
	bench_progress("%s", "");
	if (err) {
		if (!at.why[0])
			err_why(&at, err, "%s", strerror(-err));
		fprintf(stderr, "mrbench: %s: %s\n", c->name, err_text(&at, text, sizeof(text)));
		free(r);
		return 1;
	}
	missed = report_print(r);
	free(r);
	return o.demand && missed ? 1 : 0;
}

/* ---- names ---- */

size_t bench_hosts_line(uint32_t i, char *buf)
{
	struct bench_name n;

	bench_name(BENCH_BLOCKED, i, &n);
	memcpy(buf, "0.0.0.0 ", 8);
	bench_name_text(&n, buf + 8);
	return strlen(strcat(buf + 8, "\n")) + 8;
}

/* ---- timing ---- */

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

double bench_clock_ns(void)
{
	static uint32_t ns[CLOCK_READS];
	static double known = -1;

	if (known >= 0)
		return known;
	for (unsigned i = 0; i < CLOCK_READS; i++) {
		uint64_t start = clock_fine_ns();

		ns[i] = (uint32_t)(clock_fine_ns() - start);
	}
	qsort(ns, CLOCK_READS, sizeof(*ns), by_size);
	return known = ns[CLOCK_READS / 2];
}

/* The value that @share of the sorted times do not exceed, less the clock's own. */
static double percentile(const uint32_t *ns, uint32_t count, double share, double clock)
{
	uint32_t i = (uint32_t)(share * count);
	double v = ns[i < count ? i : count - 1] - clock;

	return v > 0 ? v : 0;
}

/* The times of a cell; those of operations from before it counts are given and left out. */
struct times {
	uint32_t *ns;
	uint32_t count, wanted, warm, hits;
};

static int times_init(struct times *t, uint32_t wanted)
{
	*t = (struct times){ .ns = malloc(sizeof(*t->ns) * wanted), .wanted = wanted, .warm = wanted / 10 };
	if (!t->ns)
		return -ENOMEM;
	memset(t->ns, 0, sizeof(*t->ns) * wanted);
	return 0;
}

static void note(struct times *t, uint64_t took, bool hit)
{
	if (t->warm) {
		t->warm--;
	} else if (t->count < t->wanted) {
		t->ns[t->count++] = took < UINT32_MAX ? (uint32_t)took : UINT32_MAX;
		t->hits += hit;
	}
}

static double mean(const uint32_t *ns, uint32_t count, double clock)
{
	double sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += ns[i];
	return sum / count > clock ? sum / count - clock : 0;
}

/* Make a cell of them; frees them. */
static int times_done(struct times *t, const char *before, const char *name, struct bench_cell *ret,
		      struct err_at *reterr)
{
	double clock = bench_clock_ns();
	uint32_t n = t->count;

	qsort(t->ns, n, sizeof(*t->ns), by_size);
	*ret = (struct bench_cell){ "", n, t->hits, mean(t->ns, n, clock), percentile(t->ns, n, 0.5, clock),
				    percentile(t->ns, n, 0.95, clock), percentile(t->ns, n, 0.99, clock),
				    percentile(t->ns, n, 1, clock) };
	snprintf(ret->name, sizeof(ret->name), "%s%s", before, name);
	free(t->ns);
	if (t->hits < HITS_LEAST * n)
		return err_why(reterr, -EPROTO, "%s: only %u of %u operations came out as they should", ret->name,
			       t->hits, n);
	return 0;
}

int bench_time(const struct bench_op *op, void *arg, uint32_t iters, struct bench_cell *ret, struct err_at *reterr)
{
	struct times t;
	uint64_t took;

	bench_progress("%s: %u operations", op->name, iters);
	if (times_init(&t, iters))
		return -ENOMEM;
	while (t.count < iters) {
		op->prepare(arg);
		took = clock_fine_ns();
		if (op->ahead)
			op->ahead(arg);
		op->run(arg);
		took = clock_fine_ns() - took;
		note(&t, took, op->hit(arg));	/* hit also lets go of what was found */
	}
	return times_done(&t, "", op->name, ret, reterr);
}

/* ---- batches ---- */

/* An operation in a row. */
struct in_row {
	const struct bench_op *op;
	void *arg;
	uint64_t end;
};

static void row_ahead(void *thing)
{
	const struct in_row *r = thing;

	if (r->op->ahead)
		r->op->ahead(r->arg);
}

static void row_near(void *thing)
{
	const struct in_row *r = thing;

	if (r->op->near)
		r->op->near(r->arg);
}

static void row_run(void *thing)
{
	struct in_row *r = thing;

	r->op->run(r->arg);
	r->end = clock_fine_ns();
}

static const struct row_ops in_batch = { row_ahead, row_near, row_run };

int bench_time_batch(const struct bench_op *op, void *args, size_t size, uint32_t iters, struct bench_cell *ret,
		     struct err_at *reterr)
{
	struct in_row all[BENCH_BATCH];
	struct row row = { .ops = &in_batch };
	struct times t;
	uint64_t start;

	bench_progress(BENCH_IN_BATCH "%s: %u operations", op->name, iters);
	if (times_init(&t, iters))
		return -ENOMEM;
	for (unsigned i = 0; i < BENCH_BATCH; i++)
		all[i] = (struct in_row){ op, (char *)args + i * size, 0 };
	while (t.count < iters) {
		for (unsigned i = 0; i < BENCH_BATCH; i++)
			op->prepare(all[i].arg);
		start = clock_fine_ns();
		for (unsigned i = 0; i < BENCH_BATCH; i++)
			row_add(&row, &all[i]);
		row_end(&row);
		for (unsigned i = 0; i < BENCH_BATCH; i++) {
			note(&t, all[i].end - start, op->hit(all[i].arg));
			start = all[i].end;
		}
	}
	return times_done(&t, BENCH_IN_BATCH, op->name, ret, reterr);
}

/* ---- the measure of the machine ---- */

struct miss {
	struct bench_line *line;
	uint32_t count, at, seen;
	uint64_t random;
};

static void choose_line(void *arg)
{
	struct miss *m = arg;

	m->at = (uint32_t)((bench_random(&m->random) >> 32) * m->count >> 32);
}

static void load_line(void *arg)
{
	struct miss *m = arg;

	m->seen = ((volatile struct bench_line *)m->line)[m->at].next;
}

static bool loaded(void *arg)
{
	struct miss *m = arg;

	return m->seen == m->at + 1;
}

int report_miss(struct bench_report *r, uint64_t bytes, struct err_at *reterr)
{
	const struct bench_op op = { "one load", choose_line, NULL, NULL, load_line, loaded };
	struct miss m = { .count = (uint32_t)(bytes / sizeof(struct bench_line)) + 1, .random = r->o->seed };
	int err;

	m.line = malloc(sizeof(*m.line) * m.count);
	if (!m.line)
		return -ENOMEM;
	for (uint32_t i = 0; i < m.count; i++)
		m.line[i].next = i + 1;
	err = bench_time(&op, &m, r->o->iters, &r->cell[r->cells++], reterr);
	free(m.line);
	return err;
}

/* ---- memory ---- */

int bench_memory(struct bench_memory *ret)
{
	unsigned long long from, to, kb;
	bool counts = true;
	char line[512];
	FILE *f = fopen("/proc/self/smaps", "re");

	if (!f)
		return -errno;
	*ret = (struct bench_memory){ 0 };
	while (fgets(line, sizeof(line), f)) {
		/* The kernel's own maps are counted where they are made, once. */
		if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
			counts = !strstr(line, "bpf-map");
		else if (sscanf(line, "Pss: %llu kB", &kb) == 1)
			ret->pss += counts ? kb * 1024 : 0;
		else if (sscanf(line, "Rss: %llu kB", &kb) == 1)
			ret->rss += kb * 1024;
	}
	fclose(f);
	return 0;
}
