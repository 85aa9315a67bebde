/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs.c - attempts and requests, kept and used again: their timers stay open,
 * and an attempt stays at its place in the table, by which events find it.
 */
#include <stdlib.h>
#include <string.h>
#include "upstream/transport.h"

#define JOBS_MORE 128			/* of the table, beyond attempts of requests: strays and probes */

static void on_job_closed(uv_handle_t *h)
{
	upstream_handle_closed(((struct upstream_job *)h->data)->up);
}

static void on_ask_closed(uv_handle_t *h)
{
	upstream_handle_closed(((struct upstream_ask *)h->data)->up);
}

static bool jobs_grow(struct upstream *u)
{
	unsigned size = u->jobs_size ? 2 * u->jobs_size : 64, most = UPSTREAM_LEGS * u->opts.in_flight_max + JOBS_MORE;
	struct upstream_job **jobs;

	if (u->made < u->jobs_size)
		return true;
	if (size > most)
		size = most;
	if (size <= u->made)
		return false;
	jobs = realloc(u->jobs, size * sizeof(struct upstream_job *));
	if (!jobs)
		return false;
	u->jobs = jobs;
	u->jobs_size = size;
	return true;
}

static struct upstream_job *job_make(struct upstream *u)
{
	struct upstream_job *job;

	if (!jobs_grow(u))
		return NULL;
	job = calloc(1, sizeof(*job));
	if (!job)
		return NULL;
	job->up = u;
	job->fd = -1;
	job->index = u->made;
	uv_timer_init(u->loop, &job->timer);
	job->timer.data = job;
	u->handles++;
	u->jobs[u->made++] = job;
	return job;
}

struct upstream_job *upstream_job_get(struct upstream *u)
{
	struct upstream_job *job = u->free;

	if (job)
		u->free = job->next_free;
	else
		job = job_make(u);
	if (!job)
		return NULL;
	job->used = true;
	job->ask = NULL;
	job->probe = job->without_edns = job->fresh = false;
	job->send_err = 0;
	job->refusals = 0;
	*job->why = '\0';
	return job;
}

void upstream_job_put(struct upstream_job *job)
{
	struct upstream *u = job->up;

	uv_timer_stop(&job->timer);
	if (!job->ask && !job->probe)
		u->strays--;
	job->used = false;
	job->next_free = u->free;
	u->free = job;
}

struct upstream_ask *upstream_ask_get(struct upstream *u, struct upstream_request *req)
{
	struct upstream_ask *ask = u->free_ask;

	if (ask) {
		u->free_ask = ask->next_free;
	} else {
		ask = calloc(1, sizeof(*ask));
		if (!ask)
			return NULL;
		ask->up = u;
		uv_timer_init(u->loop, &ask->race);
		ask->race.data = ask;
		u->handles++;
		ask->next = u->asks;
		u->asks = ask;
	}
	ask->req = req;
	ask->turn = 0;
	ask->responded = 0;
	ask->last_err = -ETIMEDOUT;
	ask->last = NULL;
	memset(ask->leg, 0, sizeof(ask->leg));
	return ask;
}

void upstream_ask_put(struct upstream_ask *ask)
{
	uv_timer_stop(&ask->race);
	ask->req = NULL;
	ask->next_free = ask->up->free_ask;
	ask->up->free_ask = ask;
	upstream_pool_leave(ask->up->pool);
}

unsigned upstream_ask_legs(const struct upstream_ask *ask)
{
	return (ask->leg[0] != NULL) + (ask->leg[1] != NULL);
}

void upstream_job_leave(struct upstream_job *job)
{
	struct upstream_ask *ask = job->ask;

	if (ask)
		ask->leg[ask->leg[1] == job] = NULL;
}

void upstream_jobs_close(struct upstream *u)
{
	struct upstream_ask *ask;
	unsigned i;

	for (i = 0; i < u->made; i++)
		uv_close((uv_handle_t *)&u->jobs[i]->timer, on_job_closed);
	for (ask = u->asks; ask; ask = ask->next)
		uv_close((uv_handle_t *)&ask->race, on_ask_closed);
}

void upstream_jobs_free(struct upstream *u)
{
	struct upstream_ask *ask;
	unsigned i;

	for (i = 0; i < u->made; i++)
		free(u->jobs[i]);
	free(u->jobs);
	while ((ask = u->asks)) {
		u->asks = ask->next;
		free(ask);
	}
}
