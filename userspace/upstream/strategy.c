/* SPDX-License-Identifier: BSD-2-Clause */
/* strategy.c - whom to ask, in which order. */
#include <string.h>
#include "base/random.h"
#include "upstream/strategy.h"

/* What a set comes to: those that are asked, and those that have failed, each in order. */
struct sorted {
	uint8_t well[UPSTREAM_SET_MAX], failed[UPSTREAM_SET_MAX];
	unsigned wells, faileds;
};

/* Who goes first: one that only fails is no use however fast it is; one that was silent a moment ago may be again. */
static uint64_t rank(const struct upstream_health *h, bool by_latency)
{
	uint64_t r = by_latency ? h->latency_us : 0;

	if (by_latency && h->bad)
		r += 1000000;
	if (h->failed)			/* its trial: somebody else may be better */
		r += 1000000;
	return h->lame >= UPSTREAM_LAME ? r + (1ULL << 40) : r;
}

/* Insertion keeps those of one rank in their order. */
static void sort(const struct upstream_seen *seen, uint8_t *s, unsigned count, bool by_latency)
{
	unsigned i, j;
	uint8_t one;

	for (i = 1; i < count; i++) {
		one = s[i];
		for (j = i; j > 0 && rank(seen[s[j - 1]].health, by_latency) > rank(seen[one].health, by_latency); j--)
			s[j] = s[j - 1];
		s[j] = one;
	}
}

static void turn_by(uint8_t *s, unsigned count, unsigned by)
{
	uint8_t old[UPSTREAM_SET_MAX];
	unsigned i;

	memcpy(old, s, count);
	for (i = 0; i < count; i++)
		s[i] = old[(i + by) % count];
}

static void shuffle(uint8_t *s, unsigned count)
{
	unsigned i, j;
	uint8_t one;

	for (i = count; i > 1; i--) {
		j = random_below(i);
		one = s[i - 1];
		s[i - 1] = s[j];
		s[j] = one;
	}
}

static void sort_set(enum upstream_strategy strategy, const struct upstream_seen *seen, const struct upstream_set *set,
		     unsigned turn, uint64_t now_ms, struct sorted *ret)
{
	bool by_latency = strategy == UPSTREAM_PARALLEL_BEST || strategy == UPSTREAM_LATENCY;
	unsigned i, s;

	ret->wells = ret->faileds = 0;
	for (i = 0; i < set->count; i++) {
		s = set->server[i];
		if (!seen[s].open)
			continue;
		if (upstream_health_usable(seen[s].health, now_ms))
			ret->well[ret->wells++] = (uint8_t)s;
		else
			ret->failed[ret->faileds++] = (uint8_t)s;
	}
	if (strategy == UPSTREAM_ROUND_ROBIN && ret->wells)
		turn_by(ret->well, ret->wells, turn % ret->wells);
	if (strategy == UPSTREAM_RANDOM)
		shuffle(ret->well, ret->wells);
	sort(seen, ret->well, ret->wells, by_latency);
}

static void add(struct upstream_plan *p, const uint8_t *s, unsigned count, bool fallback)
{
	unsigned i, j;

	for (i = 0; i < count; i++) {
		for (j = 0; j < p->count && p->server[j] != s[i]; j++)
			;
		if (j < p->count)
			continue;	/* in both sets */
		p->fallback[p->count] = fallback;
		p->server[p->count++] = s[i];
	}
}

/* A moment longer than its answers usually take; one that was just silent is not waited for. */
static uint32_t race_ms(const struct upstream_health *first)
{
	uint64_t ms = first->bad ? 0 : first->latency_us * 3ULL / 2000;

	if (ms < UPSTREAM_RACE_MIN_MS)
		return UPSTREAM_RACE_MIN_MS;
	return ms < UPSTREAM_RACE_MAX_MS ? (uint32_t)ms : UPSTREAM_RACE_MAX_MS;
}

void upstream_strategy_plan(enum upstream_strategy strategy, const struct upstream_seen *seen, const struct upstream_set *set,
			    const struct upstream_set *fallback, unsigned turn, uint64_t now_ms, struct upstream_plan *ret)
{
	struct sorted own, other = { .wells = 0 };

	ret->count = 0;
	ret->race_ms = 0;
	sort_set(strategy, seen, set, turn, now_ms, &own);
	if (fallback)
		sort_set(UPSTREAM_ORDERED, seen, fallback, 0, now_ms, &other);
	add(ret, own.well, own.wells, false);
	ret->wells = ret->count;
	if (strategy == UPSTREAM_PARALLEL_BEST && own.wells > 1)
		ret->race_ms = race_ms(seen[own.well[0]].health);
	add(ret, other.well, other.wells, true);
	add(ret, own.failed, own.faileds, false);
	add(ret, other.failed, other.faileds, true);
}
