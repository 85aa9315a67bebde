/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schedule.c - which sources a group uses at this moment, and the timer of the next change.
 *
 * An edge of a schedule rewrites what the sets mean, in place: the filter stays.
 */
#define LOG_ROOM "control"
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "base/log.h"
#include "control/internal.h"

#define LOOK_AGAIN_MS 30000		/* at the latest: somebody may set the clock */
#define TRY_AGAIN_MS  1000		/* after an edge that the kernel did not take */

/* time() may be a tick behind, which is on the wrong side of an edge. */
int64_t schedule_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec;
}

/* Write the flags of a group anew; true when one has changed. */
static bool write_uses(const struct config *c, const struct sources *n, unsigned group, const struct judge_group *to,
		       int64_t now_s)
{
	bool changed = false;
	unsigned i;
	uint8_t v;

	for (i = 0; i < to->sources; i++) {
		v = sources_used(c, n, i, group, now_s);
		changed |= atomic_load_explicit(&to->uses[i], memory_order_relaxed) != v;
		atomic_store_explicit(&to->uses[i], v, memory_order_relaxed);
	}
	return changed;
}

int schedule_groups(struct snapshot *s, int64_t now_s)
{
	unsigned count = s->config->groups.count, i;
	struct judge_group *g;
	_Atomic uint8_t *flags;
	struct sources n;

	sources_number(s->config, &n);
	g = calloc(1, count * (sizeof(*g) + n.count));
	if (!g)
		return -ENOMEM;
	flags = (_Atomic uint8_t *)(g + count);
	for (i = 0; i < count; i++) {
		g[i].uses = flags + (size_t)i * n.count;
		g[i].sources = n.count;
		write_uses(s->config, &n, i, &g[i], now_s);
	}
	free(s->owned.groups);
	s->owned.groups = g;
	s->judge.group = g;
	s->judge.groups = count;
	return 0;
}

void schedule_edge(struct control *c, int64_t now_s)
{
	struct snapshot *s = c->snapshot;
	struct mr_verdict *v;
	struct sources n;
	bool changed = false, again = c->verdicts_stale;
	unsigned i;

	sources_number(s->config, &n);
	for (i = 0; i < s->judge.groups; i++)
		changed |= write_uses(s->config, &n, i, &s->judge.group[i], now_s);
	if (!changed && !again)
		return;
	/* The flags are the judge's already: until the kernel has the verdicts too, the two differ. */
	v = judge_verdicts(&s->judge);
	c->verdicts_stale = !v || kern_verdicts_update(c->kern, v, s->judge.groups);
	if (!c->verdicts_stale)
		log_info("a schedule has begun or ended");
	else if (!again)
		log_err("a schedule is not in force, and is tried again each second: %s",
			v ? "the filter has other groups" : "out of memory");
	free(v);
}

static int64_t next_edge(const struct config *c, int64_t now_s)
{
	int64_t next = SCHEDULE_NEVER, at;
	unsigned i;

	for (i = 0; i < c->groups.count; i++) {
		at = config_group_edge(&c->groups.at[i], now_s);
		if (at < next)
			next = at;
	}
	return next;
}

static void on_edge(uv_timer_t *t)
{
	struct control *c = t->data;

	schedule_edge(c, schedule_now_s());
	schedule_start(c);
}

void schedule_start(struct control *c)
{
	struct timespec now;
	uint64_t wait_ms = LOOK_AGAIN_MS;
	int64_t next;

	if (!c->timing)
		return;
	uv_timer_stop(&c->schedule);
	clock_gettime(CLOCK_REALTIME, &now);
	next = next_edge(c->snapshot->config, now.tv_sec);
	if (next == SCHEDULE_NEVER && !c->verdicts_stale)
		return;
	if (c->verdicts_stale)
		wait_ms = TRY_AGAIN_MS;
	else if (next - now.tv_sec < LOOK_AGAIN_MS / 1000)
		wait_ms = (uint64_t)(next - now.tv_sec) * 1000 - (uint64_t)now.tv_nsec / 1000000 + 1;
	uv_update_time(c->loop);
	uv_timer_start(&c->schedule, on_edge, wait_ms, 0);
}
