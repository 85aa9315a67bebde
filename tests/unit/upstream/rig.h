/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rig.h - a loop with one upstream object, and requests to put to it.
 */
#ifndef TESTS_UPSTREAM_RIG_H
#define TESTS_UPSTREAM_RIG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "unit/upstream/stub.h"
#include "upstream/upstream.h"

#define RIG_PATIENCE_MS 8000

struct rig {
	uv_loop_t loop;
	uv_timer_t patience;
	struct upstream *up;
	unsigned done;			/* requests that have ended */
	bool asking;			/* within upstream_ask() */
	bool out_of_patience;
	uint64_t before[upstream_count_rows];
};

struct asked {
	struct upstream_request req;	/* first */
	struct dns_key key;
	struct rig *rig;
	unsigned ended;			/* times done was called */
	bool too_early;			/* done was called from within upstream_ask() */
	int err;
	uint8_t msg[1024];		/* the first of them */
	size_t size;
	int tag;			/* who answered: stub_tag() */
	int rcode;			/* -1 without a message */
	void (*then)(struct asked *a);
};

/* Make the object, asking @stubs in order. */
void rig_start(struct rig *r, struct stub *stubs, unsigned count, uint32_t timeout_ms, unsigned in_flight_max);
void rig_start_opts(struct rig *r, const struct upstream_opts *opts);

/* Free it and check that the loop then has nothing left. */
void rig_end(struct rig *r);

/* Ask for name number @i (type A); the result of upstream_ask(). */
int rig_ask(struct rig *r, struct asked *a, unsigned i);

/* Run the loop until @count requests have ended in all. */
void rig_run(struct rig *r, unsigned count);

/* Run the loop for a while. */
void rig_run_ms(struct rig *r, unsigned ms);

/* What a counter has grown by since rig_start(). */
unsigned rig_count(const struct rig *r, enum upstream_count row);

#endif
