/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * cursor.h - the only way to a frame's bytes: a place and the room behind it.
 *
 * Both forms test against the end of the frame before a pointer is handed out,
 * which is what the verifier asks for and what the host needs as well.
 */
#ifndef BPF_CURSOR_H
#define BPF_CURSOR_H

#include "bpf/world.h"

struct cursor {
	__u8 *pos;
	__u8 *end;
};

/* The next size bytes, or 0 when the frame ends before. */
MR_INLINE void *cursor_take(struct cursor *c, __u32 size)
{
	__u8 *p = c->pos;

	if (p + size > c->end)
		return 0;
	c->pos = p + size;
	return p;
}

/* A cursor at a bounded offset of a frame. */
MR_INLINE struct cursor cursor_at(const struct world_frame *f, __u32 offset)
{
	struct cursor c = { (__u8 *)world_data(f), (__u8 *)world_end(f) };

#ifndef __bpf__
	if (offset > (unsigned long)(c.end - c.pos))
		offset = c.end - c.pos;
#endif
	c.pos += offset;
	return c;
}

#endif
