/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * world.h - the frame as the packet path sees it, in the kernel and outside.
 *
 * For BPF a frame is the program's context and its helpers.  For the host it
 * is a buffer with room before and behind, so that the pure headers, the
 * growing of frames included, are tested and fuzzed as ordinary code.
 */
#ifndef BPF_WORLD_H
#define BPF_WORLD_H

#include "maps/types.h"
#include <bpf/bpf_endian.h>

/* Between stages: what was stored is loaded again, so the compiler hands no constants from one to the next. */
#define world_barrier() __asm__ volatile("" ::: "memory")

/*
 * A header as it stands in a frame, at any alignment.  BPF's loads need none on
 * the machines we run on, and clang would cut them into bytes if told.
 */
#ifdef __bpf__
#define WORLD_WIRE(type, name) typedef type name
#else
#define WORLD_WIRE(type, name) typedef type __attribute__((aligned(1))) name
#endif

#ifdef __bpf__

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define world_frame xdp_md

MR_INLINE void *world_data(const struct world_frame *f)
{
	return (void *)(long)f->data;
}

MR_INLINE void *world_end(const struct world_frame *f)
{
	return (void *)(long)f->data_end;
}

MR_INLINE long world_load(struct world_frame *f, __u32 at, void *to, __u32 len)
{
	return bpf_xdp_load_bytes(f, at, to, len);
}

MR_INLINE long world_store(struct world_frame *f, __u32 at, void *from, __u32 len)
{
	return bpf_xdp_store_bytes(f, at, from, len);
}

MR_INLINE long world_adjust_head(struct world_frame *f, int delta)
{
	return bpf_xdp_adjust_head(f, delta);
}

MR_INLINE long world_adjust_tail(struct world_frame *f, int delta)
{
	return bpf_xdp_adjust_tail(f, delta);
}

#else

#include <string.h>

struct world_frame {
	__u8 *data;
	__u8 *end;
	__u8 *first;			/* data may come down to here */
	__u8 *last;			/* end may go up to here */
};

MR_INLINE void *world_data(const struct world_frame *f)
{
	return f->data;
}

MR_INLINE void *world_end(const struct world_frame *f)
{
	return f->end;
}

MR_INLINE long world_load(struct world_frame *f, __u32 at, void *to, __u32 len)
{
	if ((size_t)at + len > (size_t)(f->end - f->data))
		return -1;
	memcpy(to, f->data + at, len);
	return 0;
}

MR_INLINE long world_store(struct world_frame *f, __u32 at, void *from, __u32 len)
{
	if ((size_t)at + len > (size_t)(f->end - f->data))
		return -1;
	memcpy(f->data + at, from, len);
	return 0;
}

MR_INLINE long world_adjust_head(struct world_frame *f, int delta)
{
	if (delta < f->first - f->data || delta > f->end - f->data - 14)
		return -1;
	f->data += delta;
	return 0;
}

MR_INLINE long world_adjust_tail(struct world_frame *f, int delta)
{
	if (delta > f->last - f->end || f->end + delta < f->data + 14)
		return -1;
	if (delta > 0)
		memset(f->end, 0, (size_t)delta);
	f->end += delta;
	return 0;
}

#endif

#endif
