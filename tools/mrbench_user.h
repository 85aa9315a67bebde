/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_user.h - what the measurements in user space share: their options,
 * the timing of single operations, memory, and the report.
 *
 *   mrbench_user.c     options, timing, memory
 *   mrbench_report.c   text or JSON out of what was measured
 *   mrbench_kernel.c   the kernel's tables in namespaces of its own
 *   mrbench_filter.c   "mrbench filter": a verdict
 *   mrbench_cache.c    "mrbench cache": an answer out of the cache
 *   mrbench_compile.c  "mrbench compile": a list, until it is in force
 */
#ifndef TOOLS_MRBENCH_USER_H
#define TOOLS_MRBENCH_USER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"

struct bench_user {
	uint32_t domains;
	uint32_t iters;			/* operations timed in each cell */
	uint64_t seed;			/* of the names and of the order in which they are asked for */
	bool demand;			/* a target that was not met is an exit status */
	bool json;
};

/**
 * Run a command of user space: "filter", "compile", "cache" or "list".
 *
 * @argv  the command and all behind it
 *
 * Returns the exit status: 0; 1 when it failed, or when --assert was given
 * and a target was not met; 2 for wrong usage, before anything was measured;
 * -1 when argv[0] is none of these commands.
 */
int bench_user(int argc, char **argv);

/* "release", or what makes figures of this build worthless. */
const char *bench_build(void);

/* Say on a terminal what is going on; "" wipes the line. */
void bench_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* xorshift64*; @state is never 0. */
uint64_t bench_random(uint64_t *state);

/* Line number @i of a hosts list, ended by a line feed and zero; @buf has room for BENCH_LINE.  Returns its length. */
#define BENCH_LINE 80
size_t bench_hosts_line(uint32_t i, char *buf);

/* ---- single operations ---- */

/*
 * One kind of operation, in the parts that a query is worked on in
 * (base/row.h): what can be done some queries ahead, what asks for an answer's
 * memory, and the rest.  All but prepare and hit is timed.
 */
struct bench_op {
	const char *name;		/* of the cell */
	void (*prepare)(void *arg);	/* choose what is asked for */
	void (*ahead)(void *arg);	/* may be NULL, as the next */
	void (*near)(void *arg);	/* in batches alone */
	void (*run)(void *arg);
	bool (*hit)(void *arg);		/* did it come out as the cell means it? */
};

/* What stands before the name of an operation's cell when it was timed in batches. */
#define BENCH_IN_BATCH "in a batch: "

struct bench_cell {
	char name[40];
	uint32_t ops;
	uint32_t hits;
	double mean, p50, p95, p99, max;	/* nanoseconds, the clock's own taken off */
};

/**
 * Time @iters single operations, each alone, after a tenth as many that are not counted.
 *
 * Returns 0; -EPROTO when fewer than 99 in 100 came out as the cell means it;
 * -ENOMEM.
 */
int bench_time(const struct bench_op *op, void *arg, uint32_t iters, struct bench_cell *ret, struct err_at *reterr);

/**
 * The same in batches of as many as the daemon takes at once, in its own row.
 * The time of an operation is that from the end of the one before it, or from
 * the beginning of the batch, to its own end: all that the batch does is in one
 * of them, and their mean is the batch's time over its operations.
 *
 * @args  of BENCH_BATCH operations, each of @size octets
 */
#define BENCH_BATCH 64
int bench_time_batch(const struct bench_op *op, void *args, size_t size, uint32_t iters, struct bench_cell *ret,
		     struct err_at *reterr);

/* What the clock itself adds to each operation: nanoseconds, the median. */
double bench_clock_ns(void);

/* Memory of this process, bytes. */
struct bench_memory {
	uint64_t pss;			/* its share of all pages, maps of the kernel's not among them */
	uint64_t rss;			/* VmRSS, mapped maps among it */
};
int bench_memory(struct bench_memory *ret);

/* ---- the report ---- */

#define BENCH_CELLS   16
#define BENCH_FIGURES 24
#define BENCH_TARGETS 8

/* A number that is neither an operation's time nor a target's. */
struct bench_figure {
	const char *name;		/* with its unit: "parse_s" */
	const char *what;
	double value;
	char why[160];			/* why there is none; "" when there is */
};

struct bench_target {
	const char *id;
	const char *what;
	double value;			/* of figures that are null: why says so */
	double target;
	bool at_least;			/* else at most */
	bool measured;
};

struct bench_report {
	const struct bench_user *o;
	const char *command;
	struct bench_cell cell[BENCH_CELLS];
	unsigned cells;
	struct bench_figure figure[BENCH_FIGURES];
	unsigned figures;
	struct bench_target target[BENCH_TARGETS];
	unsigned targets;
};

void report_figure(struct bench_report *r, const char *name, const char *what, double value);
void report_missing(struct bench_report *r, const char *name, const char *what, const char *why);
/* @measured: false leaves the target neither met nor missed. */
void report_target(struct bench_report *r, const char *id, const char *what, double value, double target, bool at_least,
		   bool measured);
/* The three figures of memory that everything after @before has taken. */
int report_memory(struct bench_report *r, const struct bench_memory *before, uint64_t accounted);
/* A cell with a single load at random out of memory of that size: what of an operation is the machine's. */
int report_miss(struct bench_report *r, uint64_t bytes, struct err_at *reterr);

/* Print it on stdout; returns how many targets were not met, or not measured. */
unsigned report_print(const struct bench_report *r);

/* ---- the kernel's tables ---- */

struct kern;
struct mr_secret;

/**
 * Open the kernel's tables, empty, in namespaces of this process; it stays in them.
 *
 * Returns 0 with @ret for kern_close(k, true), or a negative errno with @reterr
 * where that cannot be had: not root, no BPF.
 */
int bench_kernel(const struct mr_secret *secret, struct kern **ret, struct err_at *reterr);

/* ---- commands ---- */

int bench_filter(struct bench_report *r, struct err_at *reterr);
int bench_cache(struct bench_report *r, struct err_at *reterr);
int bench_compile(struct bench_report *r, struct err_at *reterr);

#endif
