/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render.h - control's pictures as JSON.
 *
 * Every function returns a new object (the caller's), or NULL when memory is
 * out.  No handler builds the JSON of a picture itself, no function here asks
 * the daemon anything.  Names of members are described in docs/openapi.yaml.
 */
#ifndef API_RENDER_H
#define API_RENDER_H

#include <jansson.h>
#include "control/control.h"

/* The rows of maps/stats.h, and the words for enum mr_source; in render_stats.c. */
enum render_kind { RENDER_MARK, RENDER_ANSWER, RENDER_PASS, RENDER_KINDS };
struct render_stat {
	const char *name;
	const char *help;
	enum render_kind kind;
};
extern const struct render_stat render_stat_rows[MR_STATS_COUNT];
extern const char *const render_sources[MR_SOURCES];

/* @s is cut at @size; octets that are not UTF-8 become U+FFFD. */
json_t *render_text(const char *s, size_t size);

/* JSON's integers end at 2^63 - 1: what is above is shown as that. */
json_t *render_u64(uint64_t v);

json_t *render_status(const struct control_status *s);
json_t *render_stats(const struct control_stats *s);
json_t *render_memory(const struct control_memory *m);
json_t *render_upstreams(const struct control_upstreams *u);
json_t *render_lists(const struct control_list *l, unsigned count);
json_t *render_why(const struct kern_why_query *q, const struct control_why *w);
json_t *render_event(const struct control_event *e);
/* @group: those of this one alone; NULL: all. */
json_t *render_rules(const struct config *c, const char *group);
json_t *render_rewrites(const struct config *c);
json_t *render_clients(const struct config *c);
json_t *render_client(const struct config_client *k);
json_t *render_groups(const struct config *c);
json_t *render_group(const struct config_group *g);
json_t *render_list(const struct control_list *l);

/**
 * Estimate a quantile of samples in buckets of powers of two: within its bucket
 * samples are taken as evenly spread.
 *
 * @part  0..1, such as 0.99
 *
 * Returns nanoseconds; 0 without samples.
 */
uint64_t render_quantile(const uint64_t *count, unsigned buckets, double part);

#endif
