/* SPDX-License-Identifier: BSD-2-Clause */
/* patterns.c - says which regular expressions take more than there is for a query. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "control/internal.h"
#define LOG_ROOM "control"
#include "base/log.h"

#define AGAIN_NS (60 * CLOCK_S)		/* between two warnings */
#define WORST    3

static void write_worst(const struct control *c, const struct rules *r, char *buf, size_t size)
{
	const struct rule *worst[WORST];
	unsigned i, count = rules_regex_worst(r, worst, WORST);
	char name[SOURCE_NAME_MAX];
	struct sources n;
	size_t at = 0;

	sources_number(c->snapshot->config, &n);
	for (i = 0; i < count && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%.120s (%s, line %" PRIu64 ")", i ? ", " : "", worst[i]->text,
				       sources_name(c->snapshot->config, &n, worst[i]->source, name, sizeof(name)),
				       worst[i]->line);
	if (!count)
		snprintf(buf, size, "none by itself: there are too many");
}

void patterns_tick(struct control *c, uint64_t now_ns)
{
	const struct rules *r = c->snapshot->judge.rules;
	uint64_t spent = r ? rules_regex_spent(r) : 0;
	char worst[512];

	if (c->patterns != r || spent < c->patterns_told) {		/* another filter counts anew */
		c->patterns = r;
		c->patterns_told = 0;
	}
	if (spent == c->patterns_told || now_ns < c->patterns_next_ns)
		return;
	write_worst(c, r, worst, sizeof(worst));
	log_warn("regular expressions took all the steps that a query has for %" PRIu64 " names, for which those left were not "
		 "tried and so match nothing; the most were taken by: %s", spent - c->patterns_told, worst);
	c->patterns_told = spent;
	c->patterns_next_ns = now_ns + AGAIN_NS;
}
