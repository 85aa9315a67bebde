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

/*
 * One load or store of the very size, neither torn nor repeated by the compiler.
 * ThreadSanitizer knows neither that nor the fences between them: to it they are atomic, and in order.
 */
#ifdef __SANITIZE_THREAD__
#define MR_READ(x)     __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define MR_WRITE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)
#else
#define MR_READ(x)     (*(const volatile __typeof__(x) *)&(x))
#define MR_WRITE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#endif

/* For short loops of constant count: clang unrolls them, so that the program has no counter to follow. */
#ifdef __clang__
#define MR_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MR_UNROLL
#endif

/* What the compiler knew of a value, it knows no more. */
#define MR_OPAQUE(v) __asm__("" : "+r"(v))

/* The same, here and now: what it is worked out from need not be kept for later. */
#define MR_SETTLE(v) __asm__ volatile("" : "+r"(v))

/* All ones when v, which must be below 2^63, is 0; else 0.  Probes select by it: a branch per way doubles what the
 * verifier must follow, and mispredicts. */
MR_INLINE __u64 mr_if_zero(__u64 v)
{
	v--;
	MR_OPAQUE(v);			/* or clang makes the branch after all */
	return (__u64)((__s64)v >> 63);
}

/*
 * Loads stay behind this.  BPF has ten registers: clang fetches all keys of a
 * hash at once, far from where they are used, and then spills them.
 */
#ifdef __bpf__
#define MR_ORDER() __asm__ volatile("" ::: "memory")
#else
#define MR_ORDER() ((void)0)
#endif

/* The lower half of a word, in one instruction: of a mask clang makes two shifts. */
MR_INLINE __u64 mr_low32(__u64 v)
{
#ifdef __bpf__
	__u32 low;

	__asm__("%0 = %1" : "=w"(low) : "w"((__u32)v));
	return low;
#else
	return (__u32)v;
#endif
}

/* Eight bytes of whatever they belong to. */
typedef __u64 __attribute__((may_alias)) mr_word;

/*
 * Eight bytes at any alignment.  clang cuts a packed access for BPF into single
 * bytes, though every machine we run on takes the plain one.
 */
MR_INLINE __u64 mr_load64(const void *p)
{
#ifdef __bpf__
	return *(const mr_word *)p;
#else
	struct word {
		__u64 v;
	} __attribute__((packed, may_alias));

	return ((const struct word *)p)->v;
#endif
}

/* Four bytes likewise. */
MR_INLINE __u32 mr_load32(const void *p)
{
#ifdef __bpf__
	typedef __u32 __attribute__((may_alias)) half;

	return *(const half *)p;
#else
	struct half {
		__u32 v;
	} __attribute__((packed, may_alias));

	return ((const struct half *)p)->v;
#endif
}

/* Store eight bytes likewise. */
MR_INLINE void mr_store64(void *p, __u64 v)
{
#ifdef __bpf__
	*(mr_word *)p = v;
#else
	struct word {
		__u64 v;
	} __attribute__((packed, may_alias));

	((struct word *)p)->v = v;
#endif
}

MR_INLINE void mr_store32(void *p, __u32 v)
{
#ifdef __bpf__
	typedef __u32 __attribute__((may_alias)) half;

	*(half *)p = v;
#else
	struct half {
		__u32 v;
	} __attribute__((packed, may_alias));

	((struct half *)p)->v = v;
#endif
}

#endif
