/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * count.h - counters, latency samples and events.
 *
 * All per CPU.  The dry program calls none of it.
 */
#ifndef BPF_COUNT_H
#define BPF_COUNT_H

#include "bpf/answer.h"

MR_INLINE void count_add(struct mr_stats *s, enum mr_stat row)
{
	if (s)
		s->count[row]++;
}

MR_INLINE enum mr_source count_source(enum mr_stat row)
{
	return row == MR_STAT_blocked || row == MR_STAT_withheld ? MR_SOURCE_BLOCKED :
	       row == MR_STAT_cached  ? MR_SOURCE_CACHED :
	       row == MR_STAT_local   ? MR_SOURCE_LOCAL : MR_SOURCE_PASS;
}

/* Count the frame; the start of its time when it is one that is timed, else 0. */
MR_INLINE __u64 count_begin(struct mr_stats *s, const struct mr_conf *conf)
{
	if (!s || !conf)
		return 0;
	return s->count[MR_STAT_packets]++ & conf->latency_mask ? 0 : bpf_ktime_get_ns();
}

/* Put a time into its bucket. */
MR_INLINE void count_latency(enum mr_source source, __u64 ns)
{
	struct mr_latency *l = MAP_ONE(mr_latency);
	__u32 b = 0, left = ns > 0xffffffff ? 0xffffffff : ns;

	if (!l)
		return;
	l->sum_ns[source] += ns;
	MR_UNROLL
	for (__u32 step = 16; step; step >>= 1)
		if (left >> step) {
			left >>= step;
			b += step;
		}
	if (b >= MR_LATENCY_BUCKETS)
		b = MR_LATENCY_BUCKETS - 1;
	l->count[source][b]++;
}

/* The end of a frame's way: its row, and its time if it has one. */
MR_INLINE void count_end(struct mr_stats *s, enum mr_stat row, __u64 start)
{
	count_add(s, row);
	if (start)
		count_latency(count_source(row), bpf_ktime_get_ns() - start);
}

MR_INLINE void count_event_name(struct mr_event *e, const struct mr_name *n)
{
	__u32 words = (n->len + 7) >> 3, i;

	for (i = 0; i < MR_NAME_WORDS; i++)
		mr_store64(e->name + sizeof(e->name) - 8 * (i + 1), i < words ? n->word[i] : 0);
}

/**
 * Send an event about the answer in hand to the ring of this CPU.
 *
 * Returns whether it found room; a loss is counted.
 */
MR_INLINE int count_event(const struct world_frame *f, struct mr_stats *stats, const struct mr_scratch *s,
			  enum mr_event_kind kind)
{
	struct cursor c = cursor_at(f, 0);
	const __u8 *eth = cursor_take(&c, ETH_HLEN);	/* turned round already */
	__u32 cpu = bpf_get_smp_processor_id();
	struct mr_event *e = 0;
	void *ring = bpf_map_lookup_elem(&mr_events, &cpu);

	if (ring)
		e = bpf_ringbuf_reserve(ring, sizeof(*e), 0);
	if (!e) {
		count_add(stats, MR_STAT_events_lost);
		return 0;
	}
	e->time = bpf_ktime_get_coarse_ns();
	e->kind = kind;
	e->source = s->source;
	e->verdict = s->decision.verdict.kind;
	e->rcode = s->reply.flags & 15;
	e->qtype = s->query.qtype;
	e->group = s->client.group;
	e->list = s->decision.verdict.list;
	e->key = answer_key(&s->query);
	e->name_len = s->query.name_len;
	e->client_port = s->packet.source_port;
	e->size = DNS_HEADER + s->query.name_len + 4 + s->reply.len;
	mr_store64(e->client, __builtin_bswap64(s->packet.source.hi));
	mr_store64(e->client + 8, __builtin_bswap64(s->packet.source.lo));
	mr_store64(e->mac, eth ? mr_load64(eth) << 16 >> 16 : 0);	/* stale and pad as well */
	e->stale = s->source == MR_SOURCE_CACHED && s->stale;
	count_event_name(e, &s->name);
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 1;
}

#endif
