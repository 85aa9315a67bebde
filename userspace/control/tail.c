/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tail.c - live events: those of the kernel's rings and those of the workers.
 *
 * Each reader has a ring of its own; a slow reader loses the oldest events and
 * is told how many.  Nothing is made while nobody reads.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "control/internal.h"

#define TAIL_EVENTS 4096

struct control_tail {
	struct control *control;
	pthread_cond_t filled;
	struct control_event *ring;
	unsigned first;
	unsigned count;
	uint64_t lost;
	bool ended;
};

static void push(struct control *c, const struct control_event *e)
{
	struct control_tail *t;
	unsigned i;

	pthread_mutex_lock(&c->tail_lock);
	for (i = 0; i < CONTROL_TAILS_MAX; i++) {
		t = c->tail[i];
		if (!t)
			continue;
		if (t->count == TAIL_EVENTS) {
			t->first = (t->first + 1) % TAIL_EVENTS;
			t->count--;
			t->lost++;
		}
		t->ring[(t->first + t->count++) % TAIL_EVENTS] = *e;
		pthread_cond_signal(&t->filled);
	}
	pthread_mutex_unlock(&c->tail_lock);
}

/* A coarse monotonic time as microseconds since 1970. */
static uint64_t wall_us(uint64_t coarse_ns)
{
	return (clock_ns(CLOCK_REALTIME) - (clock_coarse_ns() - coarse_ns)) / 1000;
}

void tail_kernel_event(struct control *c, const struct mr_event *e)
{
	static const char *const sources[MR_SOURCES] = { "self", "filter", "cache", "zone" };
	struct control_event t = {
		.time_us = wall_us(e->time),
		.client.port = ntohs(e->client_port),
		.name_len = e->name_len,
		.qtype = e->qtype,
		.rcode = e->rcode,
		.size = e->size,
		.kernel = true,
		.stale = e->stale,
	};

	memcpy(t.client.ip, e->client, 16);
	memcpy(t.name, mr_event_name(e), e->name_len);
	snprintf(t.source, sizeof(t.source), "%s", e->source < MR_SOURCES ? sources[e->source] : "?");
	snprintf(t.verdict, sizeof(t.verdict), "%s", filter_verdict_text(e->verdict));
	if (e->verdict != MR_NONE)
		control_list_name(c, e->list, t.list, sizeof(t.list));
	push(c, &t);
}

void tail_query(struct control *c, const struct query *q)
{
	static const char *const sources[] = { "self", "filter", "cache", "upstream", "self" };
	struct control_event t = {
		.time_us = wall_us(q->start_ns),
		.client = q->client,
		.name_len = q->key.name_len,
		.qtype = q->key.qtype,
		.rcode = q->reply_len >= DNS_HEADER ? q->reply[3] & 15 : 0,
		.size = (uint16_t)q->reply_len,
		.latency_us = (uint32_t)((clock_coarse_ns() - q->start_ns) / 1000),
		.tcp = q->proto == QUERY_TCP,
		.stale = q->gave_stale,
	};

	memcpy(t.name, q->key.name, sizeof(t.name));
	snprintf(t.source, sizeof(t.source), "%s", sources[q->source]);
	snprintf(t.verdict, sizeof(t.verdict), "%s", filter_verdict_text(q->verdict.kind));
	if (q->verdict.kind != MR_NONE)
		control_list_name(c, q->verdict.source, t.list, sizeof(t.list));
	push(c, &t);
}

static int count_tails(struct control *c, void *arg)
{
	kern_events_every(c->kern, atomic_load(&c->tails) ? 1 : 0);
	return 0;
}

static void tail_free(struct control_tail *t)
{
	if (!t)
		return;
	pthread_cond_destroy(&t->filled);
	free(t->ring);
	free(t);
}

static int take_seat(struct control *c, struct control_tail *t)
{
	int err = -EBUSY;
	unsigned i;

	pthread_mutex_lock(&c->tail_lock);
	for (i = 0; i < CONTROL_TAILS_MAX && err; i++) {
		if (c->tail[i])
			continue;
		c->tail[i] = t;
		atomic_fetch_add(&c->tails, 1);
		err = 0;
	}
	pthread_mutex_unlock(&c->tail_lock);
	return err;
}

static void leave_seat(struct control_tail *t)
{
	struct control *c = t->control;
	unsigned i;

	pthread_mutex_lock(&c->tail_lock);
	for (i = 0; i < CONTROL_TAILS_MAX; i++) {
		if (c->tail[i] != t)
			continue;
		c->tail[i] = NULL;
		atomic_fetch_sub(&c->tails, 1);
	}
	pthread_mutex_unlock(&c->tail_lock);
}

int control_tail_open(struct control *c, struct control_tail **ret)
{
	struct control_tail *t = calloc(1, sizeof(*t));
	pthread_condattr_t attr;
	int err = -ENOMEM;

	if (!t)
		return err;
	t->control = c;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->filled, &attr);
	pthread_condattr_destroy(&attr);
	t->ring = calloc(TAIL_EVENTS, sizeof(*t->ring));
	if (!t->ring)
		goto out;
	err = take_seat(c, t);
	if (err)
		goto out;
	err = call_control(c, count_tails, NULL);
	if (err) {
		leave_seat(t);
		goto out;
	}
	*ret = t;
	t = NULL;
out:
	tail_free(t);
	return err;
}

void control_tail_close(struct control_tail *t)
{
	struct control *c;

	if (!t)
		return;
	c = t->control;
	leave_seat(t);
	call_control(c, count_tails, NULL);
	tail_free(t);
}

int control_tail_read(struct control_tail *t, unsigned timeout_ms, struct control_event *ret, uint64_t *ret_lost)
{
	uint64_t until = clock_fine_ns() + timeout_ms * CLOCK_MS;
	struct timespec at = { .tv_sec = until / CLOCK_S, .tv_nsec = until % CLOCK_S };
	int got = 0;

	pthread_mutex_lock(&t->control->tail_lock);
	while (!t->count && !t->ended)
		if (pthread_cond_timedwait(&t->filled, &t->control->tail_lock, &at))
			break;
	if (t->count) {
		*ret = t->ring[t->first];
		t->first = (t->first + 1) % TAIL_EVENTS;
		t->count--;
		got = 1;
	} else if (t->ended) {
		got = -ESHUTDOWN;
	}
	*ret_lost = t->lost;
	t->lost = 0;
	pthread_mutex_unlock(&t->control->tail_lock);
	return got;
}

void tail_end_all(struct control *c)
{
	unsigned i;

	pthread_mutex_lock(&c->tail_lock);
	for (i = 0; i < CONTROL_TAILS_MAX; i++) {
		if (!c->tail[i])
			continue;
		c->tail[i]->ended = true;
		pthread_cond_broadcast(&c->tail[i]->filled);
	}
	pthread_mutex_unlock(&c->tail_lock);
}
