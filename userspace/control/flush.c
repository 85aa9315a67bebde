/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flush.c - makes the daemon and the kernel forget answers; and tells what they know.
 *
 * The cache first, since an answer that stood there still could go into the
 * kernel's table behind its flush; then those that a worker had taken out of
 * the cache and not published yet; the disk, and what was read back from there
 * meanwhile; the kernel's table last.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/clock.h"
#include "control/internal.h"
#include "resolve/stale.h"

void flush_all(struct control *c, struct control_flushed *ret)
{
	struct kern_status before;

	ret->cache = cache_flush_all(c->cache);
	wire_settle(c);
	kern_status(c->kern, &before);
	kern_flush_all(c->kern);
	ret->kernel = before.answers_in_use;
}

struct flush {
	const uint8_t *lower;
	uint16_t len;
	bool below;
	struct control_flushed *ret;
};

/* Of the answers that workers hold too. */
static size_t flush_memory(struct control *c, const struct flush *f)
{
	size_t n = (f->below ? cache_flush_below : cache_flush_name)(c->cache, f->lower, f->len);

	wire_settle(c);
	return n;
}

static void flush_name(struct control *c, const struct flush *f)
{
	f->ret->cache = flush_memory(c, f);
	if (c->durable) {
		durable_flush(c, f->lower, f->len, f->below);
		flush_memory(c, f);
	}
	f->ret->kernel = (f->below ? kern_flush_below : kern_flush_name)(c->kern, f->lower, f->len);
}

static int do_flush(struct control *c, void *arg)
{
	const struct flush *f = arg;
	struct control_flushed ignored;

	if (f->lower) {
		flush_name(c, f);
		return 0;
	}
	flush_all(c, f->ret);
	if (c->durable) {
		durable_flush(c, NULL, 0, false);
		flush_all(c, &ignored);
	}
	return 0;
}

int control_flush(struct control *c, const uint8_t *lower, uint16_t len, bool below, struct control_flushed *ret)
{
	struct flush f = { .lower = lower, .len = len, .below = below, .ret = ret };

	return call_control(c, do_flush, &f);
}

/* ---- what they know ---- */

struct cached_wanted {
	const uint8_t *lower;
	uint16_t len;
	struct control_cached *at;
	unsigned max;
};

static int make_cached(struct control *c, void *arg)
{
	struct dns_answer *list[CONTROL_CACHED_MAX];
	const struct cached_wanted *w = arg;
	uint64_t now_ns = clock_coarse_ns();
	unsigned count, i;
	struct dns_key key;

	count = cache_list_name(c->cache, w->lower, w->len, now_ns, list,
				w->max < CONTROL_CACHED_MAX ? w->max : CONTROL_CACHED_MAX);
	for (i = 0; i < count; i++) {
		dns_answer_key(list[i], &key);
		w->at[i] = (struct control_cached){
			.answer = list[i], .live = dns_answer_fresh(list[i], now_ns), .rests = stale_rests(list[i], now_ns),
			.kernel = kern_answer_holds(c->kern, &key, now_ns),
		};
	}
	return (int)count;
}

int control_cached(struct control *c, const uint8_t *lower, uint16_t len, struct control_cached *ret, unsigned max)
{
	struct cached_wanted w = { lower, len, ret, max };

	return call_control(c, make_cached, &w);
}

static int make_cache(struct control *c, void *arg)
{
	struct control_cache *p = arg;
	struct kern_status *k = calloc(1, sizeof(*k));
	struct mr_stats stats;

	if (!k)
		return -ENOMEM;
	kern_status(c->kern, k);
	kern_stats(c->kern, &stats);
	*p = (struct control_cache){ .kernel_answers = k->answers_in_use, .kernel_answers_max = k->answers_max,
				     .kernel_stale = stats.count[MR_STAT_stale],
				     .down = atomic_load_explicit(&c->down, memory_order_relaxed) };
	cache_stats(c->cache, &p->cache);
	free(k);
	return 0;
}

int control_cache(struct control *c, struct control_cache *ret)
{
	return call_control(c, make_cache, ret);
}
