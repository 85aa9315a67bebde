/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_run.c - BPF_PROG_TEST_RUN, and small things that the measurements share.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include "tools/mrbench.h"

int bench_run(int program, unsigned ifindex, uint32_t repeat, uint32_t expect, double *ret_ns, struct err_at *reterr)
{
	/* Long enough that the wrapper can cut it to any frame, short enough for any head. */
	uint8_t frame[BENCH_FRAME_MAX] = { 0 };
	struct xdp_md ctx = { .data_end = sizeof(frame), .ingress_ifindex = ifindex };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame), .repeat = (int)repeat,
		    .ctx_in = ifindex ? &ctx : NULL, .ctx_size_in = ifindex ? sizeof(ctx) : 0);
	int err = bpf_prog_test_run_opts(program, &opts);

	if (err)
		return err_why(reterr, err < 0 ? err : -errno, "BPF_PROG_TEST_RUN: %s", strerror(err < 0 ? -err : errno));
	if (opts.retval != expect)
		return err_why(reterr, -EPROTO, "a program gave verdict %u where %u was expected", opts.retval, expect);
	*ret_ns = opts.duration;
	return 0;
}

int bench_mac(const char *interface, uint8_t ret[6], struct err_at *reterr)
{
	unsigned m[6] = { 0 };
	char path[64];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/address", interface);
	f = fopen(path, "re");
	if (!f)
		return err_why(reterr, -ENODEV, "there is no interface %s here", interface);
	n = fscanf(f, "%x:%x:%x:%x:%x:%x", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5]);
	fclose(f);
	for (int i = 0; i < 6; i++)
		ret[i] = (uint8_t)m[i];
	return n == 6 ? 0 : err_why(reterr, -EINVAL, "interface %s has no MAC", interface);
}

int bench_pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		cpu = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : cpu;
}

void *bench_map(int fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, (bytes + page - 1) / page * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static uint64_t next_random(uint64_t *state)
{
	/* xorshift64* */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

uint32_t *bench_shuffle(uint32_t count, uint64_t seed)
{
	uint32_t *p = malloc(sizeof(*p) * (count ? count : 1)), j, t;
	uint64_t state = seed | 1;

	if (!p)
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		p[i] = i;
	for (uint32_t i = count; i > 1; i--) {
		j = (uint32_t)((next_random(&state) >> 32) * i >> 32);
		t = p[i - 1];
		p[i - 1] = p[j];
		p[j] = t;
	}
	return p;
}

int bench_chase_fill(struct bench_line *line, uint32_t count)
{
	uint32_t *order = bench_shuffle(count, 0x5eed);

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		line[order[i]].next = order[i + 1 < count ? i + 1 : 0];
	free(order);
	return 0;
}

int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}
