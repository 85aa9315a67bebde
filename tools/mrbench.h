/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench.h - the parts of mrbench, the benchmark of single pieces.
 *
 *   mrbench_names.c   names and frames made by rule, the same in every run
 *   mrbench_tables.c  the shipped program with its tables filled
 *   mrbench_run.c     BPF_PROG_TEST_RUN around a subject
 *   mrbench_cells.c   "mrbench ns": nanoseconds a packet
 *   mrbench_maps.c    "mrbench maps": hash map or tables of our own
 *   mrbench_serve.c   "mrbench serve": a subject on an interface
 *   mrbench_user.h    the commands that measure user space
 */
#ifndef TOOLS_MRBENCH_H
#define TOOLS_MRBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <jansson.h>
#include "base/err.h"
#include "maps/config.h"
#include "maps/stats.h"
#include "tools/mrbench_bpf.h"

/* ---- names and frames ---- */

/* Each space has names of its own. */
enum bench_space { BENCH_BLOCKED, BENCH_CACHED, BENCH_UNKNOWN, BENCH_NEGATIVE, BENCH_LONG, BENCH_SPACES };

struct bench_name {
	uint16_t len;
	uint8_t wire[64];
};

/**
 * Make name number @i (below 11,881,376) of a space: lower case, 12 to 20
 * octets in two or three labels as in public lists; those of BENCH_LONG have
 * 53 octets in five labels.
 */
void bench_name(enum bench_space space, uint32_t i, struct bench_name *ret);

/* Another set of such names; 0, unless it is called.  Which ones there are differs, their shapes do not. */
void bench_names_seed(uint64_t seed);

/* Write it as text, without the final dot; @buf has room for 64 octets. */
void bench_name_text(const struct bench_name *n, char *buf);

enum bench_shape { BENCH_V4, BENCH_V6, BENCH_OTHER };

extern const uint8_t bench_client_mac[6];
extern const uint8_t bench_server_ip[4], bench_server_ip6[16];

/**
 * Make the frame of a query for @n: type A, RD, EDNS with 1232; with
 * BENCH_OTHER the same bytes go to a port that is not ours.
 */
void bench_frame(const struct bench_name *n, enum bench_shape shape, const uint8_t mac[6], uint16_t id,
		 struct bench_frame *ret);

/* ---- the shipped program ---- */

struct bench_sizes {
	uint32_t names;			/* in the filter */
	uint32_t answers;
	uint32_t hot;			/* of the names in a hot set, and of each small set */
};

struct bench_tables;

/**
 * Load the program, attach it natively and fill its tables by the daemon's own
 * rooms: names of BENCH_BLOCKED and BENCH_LONG as subtrees, one A record for
 * each of BENCH_CACHED, NXDOMAIN for BENCH_NEGATIVE.
 *
 * Returns 0; -EOPNOTSUPP when there is no native XDP; another negative errno
 * with @reterr.
 */
int bench_tables_new(const struct bench_sizes *sizes, const char *interface, struct bench_tables **ret,
		     struct err_at *reterr);
void bench_tables_free(struct bench_tables *t);

int bench_tables_program(const struct bench_tables *t);
/* Put a program behind the link on the interface, without detaching.  Returns 0 or a negative errno. */
int bench_tables_attach(const struct bench_tables *t, int program);
/* How many names of a space have an answer (@otherwise when the space has none), and the number of the i-th of these. */
uint32_t bench_tables_count(const struct bench_tables *t, enum bench_space space, uint32_t otherwise);
uint32_t bench_tables_number(const struct bench_tables *t, enum bench_space space, uint32_t i);
uint64_t bench_tables_filter_bytes(const struct bench_tables *t);
uint64_t bench_tables_answer_bytes(const struct bench_tables *t);
uint32_t bench_tables_insns(const struct bench_tables *t);

/* Counters summed over CPUs. */
void bench_tables_stats(const struct bench_tables *t, struct mr_stats *ret);

/* ---- running ---- */

/**
 * Run a program @repeat times.
 *
 * @ifindex  the interface that its frames arrive by; 0: the loopback device
 * @ret_ns   mean nanoseconds a run
 *
 * Returns 0; -EPROTO when the last run did not give @expect; what the system call says.
 */
int bench_run(int program, unsigned ifindex, uint32_t repeat, uint32_t expect, double *ret_ns, struct err_at *reterr);

/* The MAC of an interface.  Returns 0 or a negative errno with @reterr. */
int bench_mac(const char *interface, uint8_t ret[6], struct err_at *reterr);

/* Stay on one CPU; -1: the last one.  Returns the CPU or a negative errno. */
int bench_pin(int cpu);

/* Zeroed memory of a mapped array, written by the process; NULL with errno. */
void *bench_map(int fd, size_t bytes);

/* A permutation of 0..count-1 from a fixed start; NULL when memory is out. */
uint32_t *bench_shuffle(uint32_t count, uint64_t seed);

/* Fill a pointer chase of @count lines: one cycle through all of them in random order. */
int bench_chase_fill(struct bench_line *line, uint32_t count);

int bench_compare(const void *a, const void *b);

/* ---- commands; each prints JSON on stdout ---- */

struct bench_options {
	struct bench_sizes sizes;
	uint32_t repeat;		/* packets in one measurement */
	unsigned rounds;		/* kept rounds wanted of each cell */
	double seconds;			/* give up after */
	int cpu;
};

int bench_ns(const struct bench_options *o, const char *interface, struct err_at *reterr);
int bench_maps(const struct bench_options *o, struct err_at *reterr);
int bench_serve(const struct bench_options *o, const char *interface, struct err_at *reterr);

#endif
