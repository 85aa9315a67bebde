/* SPDX-License-Identifier: BSD-2-Clause */
/* health.c - what is known of one server. */
#include "upstream/health.h"

#define WEIGHT 5			/* a new latency is a fifth of the average */

static void measure(struct upstream_health *h, uint32_t us, uint64_t now_ms)
{
	if (!us)
		return;
	if (h->latency_us)
		us = (uint32_t)(((uint64_t)h->latency_us * (WEIGHT - 1) + us) / WEIGHT);
	h->latency_us = us ? us : 1;
	h->measured_ms = now_ms;
}

enum upstream_change upstream_health_responded(struct upstream_health *h, const struct upstream_limits *l, bool good,
					       uint32_t latency_us, uint64_t now_ms)
{
	if (h->failed && h->good == 0)
		h->latency_us = 0;	/* of time-outs: it begins anew */
	measure(h, latency_us, now_ms);
	h->bad = 0;
	h->responded_ms = now_ms;
	h->lame = good ? 0 : h->lame + 1;
	if (!h->failed)
		return UPSTREAM_SAME;
	h->probe_ms = now_ms;		/* the next of the row need not wait */
	if (++h->good < l->rise)
		return UPSTREAM_SAME;
	h->failed = false;
	h->changed_ms = now_ms;
	return UPSTREAM_ROSE;
}

enum upstream_change upstream_health_lost(struct upstream_health *h, const struct upstream_limits *l, uint32_t waited_us,
					  uint64_t now_ms)
{
	if (h->responded_ms && now_ms - waited_us / 1000 < h->responded_ms)
		return UPSTREAM_SAME;
	measure(h, waited_us, now_ms);
	h->good = 0;
	h->bad++;
	if (h->failed || h->bad < l->fall)
		return UPSTREAM_SAME;
	h->failed = true;
	h->changed_ms = now_ms;
	h->trial_ms = now_ms + UPSTREAM_TRIAL_MS;
	h->probe_ms = now_ms + l->probe_ms;
	return UPSTREAM_FELL;
}

bool upstream_health_usable(const struct upstream_health *h, uint64_t now_ms)
{
	return !h->failed || now_ms >= h->trial_ms;
}

void upstream_health_asked(struct upstream_health *h, uint64_t now_ms)
{
	if (h->failed && now_ms >= h->trial_ms)
		h->trial_ms = now_ms + UPSTREAM_TRIAL_MS;
}

bool upstream_health_probe(struct upstream_health *h, const struct upstream_limits *l, uint64_t now_ms)
{
	if (!h->failed || now_ms < h->probe_ms)
		return false;
	h->probe_ms = now_ms + l->probe_ms;
	return true;
}

bool upstream_health_suspected(struct upstream_health *h, const struct upstream_limits *l, uint64_t now_ms)
{
	if (h->failed || !h->bad || now_ms < h->probe_ms)
		return false;
	h->probe_ms = now_ms + l->probe_ms;
	return true;
}

bool upstream_health_measure(struct upstream_health *h, uint64_t now_ms)
{
	if (h->failed || (h->measured_ms && now_ms < h->measured_ms + UPSTREAM_FRESH_MS))
		return false;
	h->measured_ms = now_ms;
	return true;
}

void upstream_health_doubt(struct upstream_health *h, uint64_t now_ms)
{
	h->probe_ms = now_ms;
	h->trial_ms = h->trial_ms < now_ms ? h->trial_ms : now_ms;
}
