/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render_stats.c - counters and latency as JSON.
 *
 * Names, kinds and help come from the rows of maps/stats.h and from the
 * registry of base/count.h; nothing is named here again.
 */
#include <string.h>
#include "api/render.h"
#include "base/count.h"

const struct render_stat render_stat_rows[MR_STATS_COUNT] = {
#define ROW(k, name, help) { #name, help, RENDER_##k },
	MR_STATS(ROW)
#undef ROW
};

static const char *const kind_text[RENDER_KINDS] = { "mark", "answer", "pass" };
const char *const render_sources[MR_SOURCES] = { "pass", "blocked", "cached", "local" };

/* A counter with its help, as one member of an object. */
static void add_counter(json_t *to, const char *name, const char *kind, const char *help, uint64_t value)
{
	json_t *row = json_pack("{s:o, s:s}", "value", render_u64(value), "help", help);

	if (kind)
		json_object_set_new(row, "kind", json_string(kind));
	json_object_set_new(to, name, row);
}

static json_t *kernel(const struct mr_stats *s)
{
	json_t *counters = json_object();
	uint64_t sum[RENDER_KINDS] = { 0 };
	uint64_t dns;
	unsigned i;

	for (i = 0; i < MR_STATS_COUNT; i++) {
		add_counter(counters, render_stat_rows[i].name, kind_text[render_stat_rows[i].kind], render_stat_rows[i].help, s->count[i]);
		sum[render_stat_rows[i].kind] += s->count[i];
	}
	/* What was never ours to answer says nothing about how much of our work the kernel does. */
	dns = sum[RENDER_ANSWER] + sum[RENDER_PASS] - s->count[MR_STAT_pass_other];
	return json_pack("{s:o, s:o, s:o, s:o, s:f, s:o}", "packets", render_u64(s->count[MR_STAT_packets]),
			 "answered", render_u64(sum[RENDER_ANSWER]), "passed", render_u64(sum[RENDER_PASS]), "passed_dns",
			 render_u64(dns - sum[RENDER_ANSWER]), "answered_share",
			 dns ? (double)sum[RENDER_ANSWER] / (double)dns : 0.0, "counters", counters);
}

static void each_counter(const struct count_row *row, uint64_t value, void *arg)
{
	add_counter(arg, row->name, NULL, row->help, value);
}

uint64_t render_quantile(const uint64_t *count, unsigned buckets, double part)
{
	double want, seen = 0, total = 0;
	unsigned b;

	for (b = 0; b < buckets; b++)
		total += (double)count[b];
	if (total == 0)
		return 0;
	want = total * part;
	for (b = 0; b < buckets; b++) {
		if (count[b] && seen + (double)count[b] >= want)
			return (uint64_t)((double)(1ULL << b) * (1 + (want - seen) / (double)count[b]));
		seen += (double)count[b];
	}
	return 1ULL << buckets;
}

static json_t *latency_source(const struct mr_latency *l, unsigned source)
{
	json_t *buckets = json_array();
	uint64_t samples = 0, copy[MR_LATENCY_BUCKETS];
	unsigned b;

	for (b = 0; b < MR_LATENCY_BUCKETS; b++) {
		copy[b] = l->count[source][b];
		samples += copy[b];
		if (copy[b])
			json_array_append_new(buckets, json_pack("{s:o, s:o, s:o}", "from_ns", render_u64(1ULL << b),
								 "below_ns", render_u64(2ULL << b), "samples",
								 render_u64(copy[b])));
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "samples", render_u64(samples), "sum_ns",
			 render_u64(l->sum_ns[source]), "mean_ns", render_u64(samples ? l->sum_ns[source] / samples : 0),
			 "p50_ns", render_u64(render_quantile(copy, MR_LATENCY_BUCKETS, 0.5)), "p99_ns",
			 render_u64(render_quantile(copy, MR_LATENCY_BUCKETS, 0.99)), "buckets", buckets);
}

json_t *render_stats(const struct control_stats *s)
{
	json_t *daemon = json_object(), *latency = json_object();
	unsigned i;

	count_each(each_counter, daemon);
	for (i = 0; i < MR_SOURCES; i++)
		json_object_set_new(latency, render_sources[i], latency_source(&s->latency, i));
	return json_pack("{s:o, s:{s:o}, s:{s:o, s:o, s:o, s:o, s:o, s:o}, s:o}", "kernel", kernel(&s->kern), "daemon",
			 "counters", daemon, "cache", "entries", render_u64(s->cache.entries), "bytes",
			 render_u64(s->cache.bytes), "hits", render_u64(s->cache.hits), "misses", render_u64(s->cache.misses),
			 "evicted", render_u64(s->cache.evicted), "expired", render_u64(s->cache.expired), "latency", latency);
}
