/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake.h - queries that do what their own octets say, in the place of resolve/.
 *
 * A message is a header, one octet that says what to do, a delay in ms and a
 * size (both 16 bits, network order).  The answer is the header with QR set,
 * the address that the query was sent to (16 octets, port), and as many octets
 * as asked, each the low octet of the ID.
 */
#ifndef TESTS_SERVER_FAKE_H
#define TESTS_SERVER_FAKE_H

#include <stdatomic.h>
#include "server/server.h"

enum fake_what { FAKE_ECHO = 'e', FAKE_DELAY = 'd', FAKE_HOLD = 'h', FAKE_NOTHING = 'n' };

#define FAKE_QUERY  17			/* octets of a message */
#define FAKE_ANSWER 30			/* octets of an answer of size 0 */

struct fake_query;

/* Stands behind the struct resolver pointer; the atomics may be read by any thread. */
struct fake {
	uv_loop_t *loop;
	uv_timer_t timer;
	struct fake_query *held;
	int start_err;
	struct worker *worker;
	struct worker_job *at_stop;	/* posted from within ops.stop, if there is one */
	bool at_stop_taken;
	_Atomic unsigned starts, stops, frees, ticks;
	_Atomic unsigned made, asked_ahead, freed, abandoned, under_way, under_way_max;
	_Atomic int lost;		/* queries that were neither ended nor abandoned when the worker stopped */
};

struct worker_ops fake_ops(struct fake *f);

/* Write a message; returns its size. */
size_t fake_message(uint16_t id, enum fake_what what, uint16_t delay_ms, uint16_t size, uint8_t ret[FAKE_QUERY]);

#endif
