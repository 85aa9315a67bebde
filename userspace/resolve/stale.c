/* SPDX-License-Identifier: BSD-2-Clause */
/* stale.c - answers behind their end. */
#include "resolve/flight.h"
#include "resolve/ops.h"
#include "resolve/resolver.h"
#include "resolve/stale.h"

#define SECOND_NS 1000000000ULL

bool stale_rests(const struct dns_answer *a, uint64_t now_ns)
{
	uint32_t tried = atomic_load_explicit(&a->tried_s, memory_order_relaxed);

	return tried && now_ns / SECOND_NS + 1 - tried < STALE_RETRY_S;
}

bool stale_give(struct query *q, uint64_t now_ns)
{
	struct dns_answer *made;

	if (!q->stale || dns_answer_stale(q->stale, &q->key, q->snapshot->stale_ttl, now_ns, &made))
		return false;
	dns_answer_unref(q->answer);
	q->answer = made;
	q->source = QUERY_BY_CACHE;
	q->gave_stale = true;
	count_one(q->resolver->count, COUNT_queries_stale);
	return true;
}

enum step_result stale_look(struct query *q, uint64_t now_ns)
{
	struct resolver *r = q->resolver;

	if (q->refresh || q->ecs || !q->snapshot->stale_ttl || !q->snapshot->udp.recursion)
		return STEP_NEXT;
	q->stale = cache_get_stale(r->cache, &q->key, now_ns);
	if (!q->stale)
		return STEP_NEXT;
	if (!stale_rests(q->stale, now_ns))
		resolver_refresh(r, &q->key, now_ns);
	/* perhaps that has failed at once */
	if (stale_rests(q->stale, now_ns) && stale_give(q, now_ns))
		return STEP_DONE;
	return STEP_NEXT;
}

/* ---- those who wait ---- */

void stale_wait(struct query *q, uint64_t now_ns)
{
	struct resolver *r = q->resolver;

	if (!q->stale)
		return;
	q->is_late = true;
	q->late_ns = now_ns + STALE_WAIT_NS;
	q->late_next = NULL;
	q->late_before = r->late_last;
	if (r->late_last)
		r->late_last->late_next = q;
	else
		r->late_first = q;
	r->late_last = q;
	if (r->late_first == q)
		r->events.alarm(r->events.ctx, q->late_ns);
}

void stale_come(struct query *q)
{
	struct resolver *r = q->resolver;

	if (!q->is_late)
		return;
	q->is_late = false;
	if (q->late_before)
		q->late_before->late_next = q->late_next;
	else
		r->late_first = q->late_next;
	if (q->late_next)
		q->late_next->late_before = q->late_before;
	else
		r->late_last = q->late_before;
}

void resolver_alarm(struct resolver *r, uint64_t now_ns)
{
	struct query *q;

	while ((q = r->late_first) && q->late_ns <= now_ns) {
		stale_come(q);
		if (!flight_leave(r->flights, q))
			continue;	/* it has landed just now */
		cache_failed(r->cache, &q->key, now_ns);
		stale_give(q, now_ns);	/* without memory for that it fails like any other */
		steps_run(q, now_ns);
	}
	if (q)
		r->events.alarm(r->events.ctx, q->late_ns);
}
