/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_bpf.h - what mrbench and its BPF programs share.
 */
#ifndef TOOLS_MRBENCH_BPF_H
#define TOOLS_MRBENCH_BPF_H

#include <linux/types.h>

/* A frame that the wrapper puts into place: three cache lines, of which a short query touches two. */
#define BENCH_FRAME_MAX 188

struct bench_frame {
	__u32 len;
	__u8 byte[BENCH_FRAME_MAX];
};

/* Loads that one run of a chase makes, and look-ups of the others (the verifier follows each way through a bucket). */
#define BENCH_STEPS 256
#define BENCH_FINDS 16

/* One cache line of a pointer chase. */
struct bench_line {
	__u32 next;
	__u32 pad[15];
};

#endif
