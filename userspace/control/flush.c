/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flush.c - makes the daemon and the kernel forget answers.
 *
 * The cache first, since an answer that stood there still could go into the
 * kernel's table behind its flush; then those that a worker had taken out of
 * the cache and not published yet; the disk, and what was read back from there
 * meanwhile; the kernel's table last.
 */
#include "control/internal.h"

void flush_all(struct control *c, struct control_flushed *ret)
{
	struct kern_status before;

	ret->cache = cache_flush_all(c->cache);
	wire_settle(c);
	kern_status(c->kern, &before);
	kern_flush_all(c->kern);
	ret->kernel = before.answers_in_use;
}

static void flush_name(struct control *c, const uint8_t *lower, uint16_t len, struct control_flushed *ret)
{
	ret->cache = cache_flush_name(c->cache, lower, len);
	wire_settle(c);
	if (c->durable) {
		durable_flush(c, lower, len, false);
		cache_flush_name(c->cache, lower, len);
		wire_settle(c);
	}
	ret->kernel = kern_flush_name(c->kern, lower, len);
}

struct flush {
	const uint8_t *lower;
	uint16_t len;
	struct control_flushed *ret;
};

static int do_flush(struct control *c, void *arg)
{
	const struct flush *f = arg;

	struct control_flushed ignored;

	if (f->lower) {
		flush_name(c, f->lower, f->len, f->ret);
		return 0;
	}
	flush_all(c, f->ret);
	if (c->durable) {
		durable_flush(c, NULL, 0, false);
		flush_all(c, &ignored);
	}
	return 0;
}

int control_flush(struct control *c, const uint8_t *lower, uint16_t len, struct control_flushed *ret)
{
	struct flush f = { .lower = lower, .len = len, .ret = ret };

	return call_control(c, do_flush, &f);
}
