/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schedule.c - which sources a group uses at this moment, and what changes at the next.
 *
 * An edge of a schedule rewrites what the sets mean, in place: the filter stays.
 * Asks no clock but in schedule_now_s(); who waits for the edges is edge.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "control/internal.h"
#include "policy/filter_file.h"

#define AHEAD_S  (SCHEDULE_AHEAD_DAYS * 86400)
#define AGAIN_S  1			/* after a change for which there was no memory */

/* time() may be a tick behind, which is on the wrong side of an edge. */
int64_t schedule_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec;
}

int schedule_groups(struct snapshot *s, int64_t now_s)
{
	unsigned count = s->config->groups.count, i, j;
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
		for (j = 0; j < n.count; j++)
			atomic_init(&g[i].uses[j], sources_used(s->config, &n, j, i, now_s));
	}
	free(s->owned.groups);
	s->owned.groups = g;
	s->judge.group = g;
	s->judge.groups = count;
	return 0;
}

/* ---- a change ---- */

static bool has_schedules(const struct config *c)
{
	unsigned i;

	for (i = 0; i < c->groups.count; i++)
		if (c->groups.at[i].schedules.count)
			return true;
	return false;
}

/* Until when what is used at @at_s stays as it is; looked at once in a while when there is no edge. */
static int64_t next_edge(const struct config *c, int64_t at_s)
{
	int64_t next = at_s + AHEAD_S, edge;
	unsigned i;

	for (i = 0; i < c->groups.count; i++) {
		edge = config_group_edge(&c->groups.at[i], at_s);
		if (edge < next)
			next = edge;
	}
	return next;
}

static void change_done(struct schedule_change *ch)
{
	free(ch->use);
	free(ch->cell);
	*ch = (struct schedule_change){ 0 };
}

/* The flags at @at_s in a copy of the groups (the caller's), and those that differ from now in @ch. */
static struct judge_group *flags_then(const struct snapshot *s, int64_t at_s, struct schedule_change *ch)
{
	struct snapshot then = { .config = s->config };
	struct sources n;
	unsigned i, count;

	sources_number(s->config, &n);
	count = s->judge.groups * n.count;
	if (schedule_groups(&then, at_s))
		return NULL;
	ch->use = calloc(count + 1, sizeof(*ch->use));
	for (i = 0; ch->use && i < count; i++) {
		uint8_t used = atomic_load_explicit(&then.judge.group[0].uses[i], memory_order_relaxed);

		if (atomic_load_explicit(&s->judge.group[0].uses[i], memory_order_relaxed) != used)
			ch->use[ch->uses++] = (struct schedule_use){ i, used };
	}
	if (ch->use)
		return then.owned.groups;
	free(then.owned.groups);
	return NULL;
}

/* The cells that @v (taken) says differently from those in force. */
static int cells_then(const struct snapshot *s, struct mr_verdict *v, struct schedule_change *ch)
{
	const mr_word *now = (const mr_word *)s->judge.filter.verdicts, *then = (const mr_word *)v;
	size_t count = (size_t)s->judge.groups * s->judge.members->sets, i, differ = 0;

	for (i = 0; v && i < count; i++)
		differ += MR_READ(now[i]) != then[i];
	ch->cell = v ? calloc(differ + 1, sizeof(*ch->cell)) : NULL;
	for (i = 0; ch->cell && i < count; i++)
		if (MR_READ(now[i]) != then[i])
			ch->cell[ch->cells++] = (struct kern_cell){ (uint32_t)i, v[i] };
	free(v);
	return ch->cell ? 0 : -ENOMEM;
}

/* What must change in what is in force now, so that it is right at @at_s. */
static int change_make(const struct snapshot *s, int64_t at_s, struct schedule_change *ret)
{
	struct schedule_change ch = { .made = true, .at = at_s, .until = next_edge(s->config, at_s) };
	struct judge_group *groups = flags_then(s, at_s, &ch);
	struct judge then = s->judge;
	int err = groups ? 0 : -ENOMEM;

	then.group = groups;
	if (!err && ch.uses)
		err = cells_then(s, judge_verdicts(&then), &ch);
	free(groups);
	if (err)
		change_done(&ch);
	else
		*ret = ch;
	return err;
}

static void change_apply(struct snapshot *s, const struct schedule_change *ch)
{
	unsigned i;

	for (i = 0; i < ch->uses; i++)
		atomic_store_explicit(&s->judge.group[0].uses[ch->use[i].at], ch->use[i].used, memory_order_relaxed);
	kern_verdicts_write(&s->judge.filter, ch->cell, ch->cells);
}

/* ---- watching ---- */

void schedule_watch(struct schedule_watch *w, struct snapshot *s)
{
	change_done(&w->next);
	snapshot_unref(w->snapshot);
	*w = (struct schedule_watch){ .snapshot = s ? snapshot_ref(s) : NULL };
}

void schedule_renew(struct schedule_watch *w)
{
	/* What is not made is made when it is due. */
	if (!w->next.made)
		return;
	change_done(&w->next);
	change_make(w->snapshot, w->until, &w->next);
}

int64_t schedule_look(struct schedule_watch *w, int64_t now_s, bool *ret_changed)
{
	struct schedule_change *next = &w->next;

	if (!w->snapshot || !has_schedules(w->snapshot->config))
		return SCHEDULE_NEVER;
	if (now_s >= w->from && now_s < w->until)
		return w->until;
	/* Not what was made ahead, when somebody has set the clock. */
	if (!next->made || now_s < next->at || now_s >= next->until) {
		change_done(next);
		w->failed = change_make(w->snapshot, now_s, next) != 0;
		if (w->failed)
			return now_s + AGAIN_S;
	}
	change_apply(w->snapshot, next);
	*ret_changed |= next->uses > 0;
	w->from = next->at;
	w->until = next->until;
	change_done(next);
	/* Without memory for that it is made when it is due. */
	change_make(w->snapshot, w->until, next);
	return w->until;
}
