/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge.c - waits for the edges of schedules, and notices when the clock is set.
 *
 * On a thread of its own, which goes before all others where that is allowed:
 * compiling lists takes the control thread hundreds of milliseconds, another
 * thread on our CPU some, and an edge is to be in force within one.  The timer is of the
 * clock on the wall and tells when somebody sets that.  What an edge changes was
 * made ahead (schedule.c), so that there is nothing left but to store it.
 *
 * Flags and cells are written under the lock alone, and by this file alone once
 * a snapshot is watched; but for the cells of a set that is made (edit.c).  They are those of the snapshot in force and, while a
 * swap is under way, also those of the one that comes: none misses an edge.
 */
#define LOG_ROOM "control"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "control/internal.h"
#include "policy/filter_file.h"

struct outcome {
	bool changed;
	bool failed;
	uint64_t late_ns;		/* behind the edge, or behind when it was noticed that the clock has been set */
};

/* Returns 0, or -ECANCELED when the clock was set since it was last told that. */
static int arm(struct edges *e, int64_t at_s)
{
	struct itimerspec when = { .it_value.tv_sec = at_s == SCHEDULE_NEVER ? 0 : at_s };

	if (!e->running)
		return 0;
	return timerfd_settime(e->timer_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL) ? -errno : 0;
}

/* Under the lock: bring all up to date, and wait for what comes first. */
static void look(struct edges *e, struct outcome *ret)
{
	int64_t now_s, next, at;
	unsigned i;

	do {
		now_s = schedule_now_s();
		next = SCHEDULE_NEVER;
		for (i = 0; i < EDGES_WATCHES; i++) {
			struct schedule_watch *w = &e->watch[i];
			bool changed = false;

			at = schedule_look(w, now_s, &changed);
			next = at < next ? at : next;
			ret->failed |= w->failed;
			if (changed)
				ret->late_ns = clock_ns(CLOCK_REALTIME) - (uint64_t)w->from * CLOCK_S;
			ret->changed |= changed;
		}
	} while (arm(e, next) == -ECANCELED);
}

static void tell(const struct outcome *o, bool *failing)
{
	if (o->failed && !*failing)
		log_err("a schedule is not in force, and is tried again each second: out of memory");
	else if (o->changed)
		log_info("a schedule has begun or ended, in force %.3f ms behind its time", (double)o->late_ns / 1e6);
	*failing = o->failed;
}

static void *run(void *arg)
{
	struct edges *e = arg;
	bool failing = false;
	uint64_t times;

	while (!atomic_load(&e->stop)) {
		struct outcome o = { 0 };

		/* ECANCELED: the clock was set; any other end is a reason to look too. */
		if (read(e->timer_fd, &times, sizeof(times)) < 0 && errno != ECANCELED && errno != EINTR)
			break;
		pthread_mutex_lock(&e->lock);
		look(e, &o);
		pthread_mutex_unlock(&e->lock);
		tell(&o, &failing);
	}
	return NULL;
}

void edges_init(struct edges *e)
{
	pthread_mutexattr_t attr;

	/* The control thread takes it too: whoever makes the urgent thread wait is urgent. */
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&e->lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

int edges_start(struct edges *e, struct err_at *reterr)
{
	sigset_t all, before;
	int err;

	e->timer_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
	if (e->timer_fd < 0)
		return err_why(reterr, -errno, "no timer for schedules: %s", strerror(errno));
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	err = -pthread_create(&e->thread, NULL, run, e);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		close(e->timer_fd);
		return err_why(reterr, err, "no thread for schedules: %s", strerror(-err));
	}
	pthread_setname_np(e->thread, "edges");
	e->running = true;
	return 0;
}

void edges_stop(struct edges *e)
{
	static const struct itimerspec at_once = { .it_value.tv_nsec = 1 };

	if (e->running) {
		atomic_store(&e->stop, true);
		pthread_mutex_lock(&e->lock);
		e->running = false;
		timerfd_settime(e->timer_fd, TFD_TIMER_ABSTIME, &at_once, NULL);
		pthread_mutex_unlock(&e->lock);
		pthread_join(e->thread, NULL);
		close(e->timer_fd);
	}
	edges_only(e, NULL);
	pthread_mutex_destroy(&e->lock);
}

void edges_add(struct edges *e, struct snapshot *s)
{
	struct outcome ignored = { 0 };
	unsigned i = 0;

	pthread_mutex_lock(&e->lock);
	while (i < EDGES_WATCHES - 1 && e->watch[i].snapshot)
		i++;
	schedule_watch(&e->watch[i], s);
	look(e, &ignored);
	pthread_mutex_unlock(&e->lock);
}

void edges_move(struct edges *e, struct snapshot *s, const struct filter_view *view)
{
	const struct mr_verdict *from = s->judge.filter.verdicts;
	size_t count = (size_t)s->judge.groups * s->judge.members->sets, i;

	pthread_mutex_lock(&e->lock);
	s->judge.filter = *view;
	for (i = 0; from != view->verdicts && i < count; i++)
		if (memcmp(&from[i], &view->verdicts[i], sizeof(*from)))
			kern_verdicts_write(view, &(struct kern_cell){ (uint32_t)i, from[i] }, 1);
	pthread_mutex_unlock(&e->lock);
}

void edges_lock(struct edges *e)
{
	pthread_mutex_lock(&e->lock);
}

void edges_unlock(struct edges *e, const struct snapshot *s, bool is_new)
{
	unsigned i;

	for (i = 0; is_new && i < EDGES_WATCHES; i++)
		if (e->watch[i].snapshot == s)
			schedule_renew(&e->watch[i]);
	pthread_mutex_unlock(&e->lock);
}

void edges_only(struct edges *e, struct snapshot *s)
{
	struct schedule_watch gone[EDGES_WATCHES] = { 0 };
	unsigned i;

	pthread_mutex_lock(&e->lock);
	for (i = 0; i < EDGES_WATCHES; i++) {
		if (e->watch[i].snapshot == s)
			continue;
		gone[i] = e->watch[i];
		e->watch[i] = (struct schedule_watch){ 0 };
	}
	pthread_mutex_unlock(&e->lock);
	/* Outside: it may be the last reference to a filter of a million names. */
	for (i = 0; i < EDGES_WATCHES; i++)
		schedule_watch(&gone[i], NULL);
}
