/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * types.h - the few words that both worlds must mean alike.
 *
 * Included by every other file of maps/, which is compiled by clang for BPF
 * and by gcc for the host.  Both are little-endian (x86-64, arm64); layout.c
 * refuses anything else.
 */
#ifndef MAPS_TYPES_H
#define MAPS_TYPES_H

#include <linux/types.h>

#define MR_INLINE static inline __attribute__((always_inline))

/* Lengths of names are wire lengths, root byte included (RFC 1035 section 2.3.4). */
#define MR_NAME_MAX   255
/* A kernel name has at most this many labels, root not counted; deeper names pass to user space. */
#define MR_LABELS_MAX 16

/* One load or store of the very size, neither torn nor repeated by the compiler. */
#define MR_READ(x)     (*(const volatile __typeof__(x) *)&(x))
#define MR_WRITE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

/* For short loops of constant count: clang unrolls them, so that the program has no counter to follow. */
#ifdef __clang__
#define MR_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MR_UNROLL
#endif

/* Eight bytes at any alignment. */
MR_INLINE __u64 mr_load64(const void *p)
{
	struct word {
		__u64 v;
	} __attribute__((packed, may_alias));

	return ((const struct word *)p)->v;
}

#endif
