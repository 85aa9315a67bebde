/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * strategy.h - whom to ask, in which order, and when a second one as well.
 *
 * Pure: what is known of the servers goes in, a plan comes out.
 */
#ifndef UPSTREAM_STRATEGY_H
#define UPSTREAM_STRATEGY_H

#include "upstream/health.h"
#include "upstream/upstream.h"

#define UPSTREAM_PLAN_MAX (2 * UPSTREAM_SET_MAX)

#define UPSTREAM_RACE_MIN_MS 10
#define UPSTREAM_RACE_MAX_MS 200

/* A server as the strategy sees it. */
struct upstream_seen {
	const struct upstream_health *health;
	bool open;			/* its address is known, and it may have one more question in flight */
};

/* In the order of asking. */
struct upstream_plan {
	uint8_t server[UPSTREAM_PLAN_MAX];
	bool fallback[UPSTREAM_PLAN_MAX];	/* asked only when no other one has responded */
	unsigned count;
	unsigned wells;			/* the first of them: those that are well and no fallback */
	uint32_t race_ms;		/* ask the next of the wells as well when one is silent for so long; 0: do not */
};

/**
 * Make the plan of one request.
 *
 * @seen      indexed as the sets' servers are
 * @set       the servers to ask
 * @fallback  asked when none of those responds; NULL: there are none
 * @turn      a number that is another one each time: for taking turns
 *
 * Well ones first, as the strategy has them, then those of the fallback, then
 * failed ones: when nobody is well, they are asked.  The count is 0 when no
 * server is open.
 */
void upstream_strategy_plan(enum upstream_strategy strategy, const struct upstream_seen *seen, const struct upstream_set *set,
			    const struct upstream_set *fallback, unsigned turn, uint64_t now_ms, struct upstream_plan *ret);

#endif
