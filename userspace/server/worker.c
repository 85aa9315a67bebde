/* SPDX-License-Identifier: BSD-2-Clause */
/* worker.c - the life of a worker: its thread, its loop, its jobs, its end. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "server/worker.h"

static const struct count_row rows[] = { COUNT_ROWS(SERVER_COUNTERS) };
static COUNT_SET(counters, rows);

/* ---- jobs ---- */

bool worker_post(struct worker *w, struct worker_job *job)
{
	bool taken;

	job->next = NULL;
	pthread_mutex_lock(&w->lock);
	taken = w->accepting;
	if (taken) {
		*w->last = job;
		w->last = &job->next;
		/* under the lock, since the worker closes the handle once it has stopped accepting */
		uv_async_send(&w->async);
	}
	pthread_mutex_unlock(&w->lock);
	return taken;
}

/* Run the jobs that are there; with @close no more will be accepted. */
static void run_jobs(struct worker *w, bool close)
{
	struct worker_job *job, *next;

	pthread_mutex_lock(&w->lock);
	job = w->first;
	w->first = NULL;
	w->last = &w->first;
	if (close)
		w->accepting = false;
	pthread_mutex_unlock(&w->lock);
	for (; job; job = next) {
		next = job->next;	/* the job may free itself */
		job->run(job);
	}
}

/* ---- the end ---- */

static void close_handle(void *handle)
{
	uv_close(handle, NULL);
}

/*
 * Close all: the loop ends when the callbacks of that have run.
 *
 * Jobs are taken until no query is ours any more.  Whoever then is told that
 * they are not may end a query of ours that it holds, since we never look at
 * it again.
 */
static void finish(struct worker *w)
{
	if (w->finished)
		return;
	w->finished = true;
	server_udp_stop(w->udp);
	server_tcp_stop(w->tcp);
	w->opts.ops.stop(w->opts.ops.arg, w->resolver);
	run_jobs(w, true);
	close_handle(&w->tick);
	close_handle(&w->drain);
	close_handle(&w->before);
	close_handle(&w->after);
	close_handle(&w->async);
	w->async_made = false;
}

static void on_drained_out(uv_timer_t *timer)
{
	finish(timer->data);
}

void server_worker_progress(struct worker *w)
{
	if (w->draining && !w->finished && !server_udp_waiting(w->udp) && !server_tcp_waiting(w->tcp))
		finish(w);
}

static void begin_to_end(struct worker *w, uint32_t drain_ms)
{
	if (w->draining)
		return;
	w->draining = true;
	server_udp_quiet(w->udp);
	server_tcp_quiet(w->tcp);
	uv_timer_start(&w->drain, on_drained_out, drain_ms, 0);
}

/* ---- what the loop calls ---- */

static void on_async(uv_async_t *async)
{
	struct worker *w = async->data;
	uint32_t drain_ms;
	bool stop;

	run_jobs(w, false);
	pthread_mutex_lock(&w->lock);
	stop = w->stop;
	drain_ms = w->drain_ms;
	pthread_mutex_unlock(&w->lock);
	if (stop)
		begin_to_end(w, drain_ms);
}

static void on_tick(uv_timer_t *timer)
{
	struct worker *w = timer->data;

	if (w->opts.ops.tick)
		w->opts.ops.tick(w->opts.ops.arg);
	server_tcp_tick(w->tcp);
}

/* What timers have answered goes out before the loop sleeps ... */
static void on_before(uv_prepare_t *p)
{
	struct worker *w = p->data;

	server_udp_flush(w->udp);
	server_worker_progress(w);
}

/* ... and what sockets and jobs have answered right after they were heard. */
static void on_after(uv_check_t *c)
{
	struct worker *w = c->data;

	server_udp_flush(w->udp);
	server_worker_progress(w);
}

/* ---- the thread ---- */

static int begin(struct worker *w)
{
	int err;

	/* these cannot fail on a loop that was made */
	uv_timer_init(&w->loop, &w->tick);
	uv_timer_init(&w->loop, &w->drain);
	uv_prepare_init(&w->loop, &w->before);
	uv_check_init(&w->loop, &w->after);
	w->tick.data = w->drain.data = w->before.data = w->after.data = w;
	uv_timer_start(&w->tick, on_tick, 0, SERVER_TICK_MS);
	uv_prepare_start(&w->before, on_before);
	uv_check_start(&w->after, on_after);
	err = server_udp_start(w->udp);
	if (!err)
		err = server_tcp_start(w->tcp);
	return err;
}

static void tell(struct worker *w, int err)
{
	pthread_mutex_lock(&w->lock);
	w->has_begun = true;
	w->begin_err = err;
	w->accepting = !err;
	pthread_cond_signal(&w->began);
	pthread_mutex_unlock(&w->lock);
}

/*
 * Signals are for the thread that started us; a write to a connection that the
 * peer has reset would raise SIGPIPE right here (libuv writes without
 * MSG_NOSIGNAL).  Faults stay open, so that they are reported where they happen.
 */
static void block_signals(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP };
	sigset_t set;
	unsigned i;

	sigfillset(&set);
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&set, faults[i]);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void *run(void *arg)
{
	struct worker *w = arg;
	char name[16];
	int err;

	snprintf(name, sizeof(name), "worker-%u", w->opts.index);
	pthread_setname_np(pthread_self(), name);
	block_signals();
	err = w->opts.ops.start(w->opts.ops.arg, w->opts.index, w, &w->loop, &w->resolver);
	if (err)
		goto out;
	err = begin(w);
	if (err)
		finish(w);
	else
		tell(w, 0);
	uv_run(&w->loop, UV_RUN_DEFAULT);
	w->opts.ops.free(w->opts.ops.arg, w->resolver);
out:
	if (err)
		tell(w, err);
	return NULL;
}

int worker_start(struct worker *w, struct err_at *reterr)
{
	int err;

	err = pthread_create(&w->thread, NULL, run, w);
	if (err)
		return err_why(reterr, -err, "worker %u: no thread: %s", w->opts.index, strerror(err));
	pthread_mutex_lock(&w->lock);
	while (!w->has_begun)
		pthread_cond_wait(&w->began, &w->lock);
	err = w->begin_err;
	pthread_mutex_unlock(&w->lock);
	if (!err) {
		w->running = true;
		return 0;
	}
	pthread_join(w->thread, NULL);
	return err_why(reterr, err, "worker %u does not start: %s", w->opts.index, strerror(-err));
}

void worker_end(struct worker *w, uint32_t drain_ms)
{
	if (!w->running)
		return;
	pthread_mutex_lock(&w->lock);
	if (!w->stop) {
		w->stop = true;
		w->drain_ms = drain_ms;
		if (w->accepting)
			uv_async_send(&w->async);
	}
	pthread_mutex_unlock(&w->lock);
}

void worker_stop(struct worker *w, uint32_t drain_ms)
{
	if (!w->running)
		return;
	worker_end(w, drain_ms);
	pthread_join(w->thread, NULL);
	w->running = false;
}

/* ---- opening and freeing ---- */

static void set_defaults(struct worker_opts *o)
{
	if (!o->udp_waiting_max)
		o->udp_waiting_max = SERVER_UDP_WAITING;
	if (!o->tcp_max)
		o->tcp_max = SERVER_TCP_MAX;
	if (!o->tcp_client_max)
		o->tcp_client_max = (o->tcp_max + 3) / 4;
	if (!o->tcp_pipeline_max)
		o->tcp_pipeline_max = SERVER_TCP_PIPE;
	if (!o->tcp_idle_ms)
		o->tcp_idle_ms = SERVER_TCP_IDLE_MS;
}

static int open_loop(struct worker *w)
{
	int err;

	err = uv_loop_init(&w->loop);
	if (err)
		return err;
	w->loop_made = true;
	err = uv_async_init(&w->loop, &w->async, on_async);
	w->async_made = !err;
	w->async.data = w;
	return err;
}

int worker_open(const struct worker_opts *opts, struct worker **ret, struct err_at *reterr)
{
	struct worker *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	if (!w)
		return err_why(reterr, err, "no memory for worker %u", opts->index);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->began, NULL);
	w->last = &w->first;
	w->opts = *opts;
	set_defaults(&w->opts);
	w->listen = calloc(opts->listens + 1, sizeof(*w->listen));
	w->count = count_shard_new(&counters);
	if (!w->listen || !w->count) {
		err_why(reterr, err, "no memory for worker %u", opts->index);
		goto out;
	}
	if (opts->listens)
		memcpy(w->listen, opts->listen, opts->listens * sizeof(*w->listen));
	w->opts.listen = w->listen;
	err = open_loop(w);
	if (err) {
		err_why(reterr, err, "worker %u: no loop: %s", opts->index, strerror(-err));
		goto out;
	}
	err = server_udp_open(w, &w->udp, reterr);
	if (!err)
		err = server_tcp_open(w, &w->tcp, reterr);
	if (err)
		goto out;
	*ret = w;
	w = NULL;
out:
	worker_free(w);
	return err;
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	worker_stop(w, 0);
	if (w->async_made)
		uv_close((uv_handle_t *)&w->async, NULL);
	if (w->loop_made) {
		uv_run(&w->loop, UV_RUN_DEFAULT);
		uv_loop_close(&w->loop);
	}
	server_udp_free(w->udp);
	server_tcp_free(w->tcp);
	pthread_cond_destroy(&w->began);
	pthread_mutex_destroy(&w->lock);
	free(w->listen);
	free(w);
}
