/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flight.h - questions under way: the first asker leads, the others wait.
 *
 * One table for all workers, in shards with a lock each.  A flight lives from
 * flight_join() of its leader to flight_land(); waiters are lent to it
 * meanwhile.  Bounded: when the table is full a question is simply asked.
 */
#ifndef RESOLVE_FLIGHT_H
#define RESOLVE_FLIGHT_H

#include "resolve/resolver.h"

enum flight_seat {
	FLIGHT_LEADS,			/* ask, then flight_land() */
	FLIGHT_WAITS,			/* somebody asks; query_wake() will come */
	FLIGHT_ALONE,			/* the table is full: ask for yourself */
};

/**
 * Take a seat for the question q->key.  With @wait false a question that is
 * already under way is not waited for (FLIGHT_WAITS says that it is).
 */
enum flight_seat flight_join(struct flights *t, struct query *q, bool wait);

/**
 * Leave the flight that @q waits in.
 *
 * Returns false when that has landed meanwhile: query_wake() is on its way.
 */
bool flight_leave(struct flights *t, struct query *q);

/**
 * End the flight that @q leads: every waiter gets a reference to @a, or none
 * when there was no memory for it (NULL): then each asks for itself.
 *
 * Returns the waiters, linked by next_waiter; none when @q leads nothing.
 */
struct query *flight_land(struct flights *t, struct query *q, struct dns_answer *a);

#endif
