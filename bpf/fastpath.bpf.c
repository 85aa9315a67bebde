/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * fastpath.bpf.c - the life of a packet.
 *
 * Parse it, see who asks, ask the filter, answer as blocked or out of the table
 * of answers, count.  Any doubt passes the frame to user space as it came.
 *
 * Two programs come from one body: fastpath, and fastpath_why, which takes the
 * same steps on a scratch of its own, counts, marks and reports nothing, and
 * leaves in mr_why what it found out.
 */
#include "bpf/answer.h"
#include "bpf/client.h"
#include "bpf/count.h"
#include "bpf/maps.h"
#include "bpf/name.h"
#include "bpf/packet.h"
#include "bpf/query.h"
#include "bpf/reply.h"
#include "bpf/rule.h"
#include "maps/layout.c"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* What a packet is worked on with. */
struct life {
	struct mr_conf *conf;
	struct mr_secret *secret;
	struct mr_scratch *s;
	struct mr_stats *stats;		/* not of the dry program, which counts nothing */
	struct mr_why *why;		/* of the dry program, else 0 */
};

/* Is it a query for us, and for what? */
MR_INLINE enum mr_stat life_parse(struct xdp_md *ctx, struct life *l)
{
	__u32 zero = MR_READ(l->conf->zero), dns;
	struct mr_scratch *s = l->s;
	struct cursor c;
	enum mr_stat stat;

	stat = packet_parse(ctx, l->conf, ctx->ingress_ifindex, zero, &s->packet);
	if (stat)
		return stat;
	world_barrier();
	dns = (s->packet.udp & PACKET_UDP_MASK) + sizeof(struct udphdr);
	c = cursor_at(ctx, dns);
	stat = query_header(&c, s->packet.dns_len, &s->query);
	if (stat)
		return stat;
	stat = name_take(ctx, dns, s->packet.dns_len, l->secret, zero, &s->name, &s->query);
	if (stat)
		return stat;
	world_barrier();
	s->active = MR_READ(l->conf->active) & 1;	/* once: what is found in one unit means nothing in the other */
	rule_touch(&l->conf->unit[s->active & 1], l->secret, s, s->name.labels & 31);
	return query_tail(ctx, dns, s->packet.dns_len, s->name.len & 511, zero, &s->query);
}

/* What the filter said, for the dry program. */
MR_INLINE void life_tell(struct life *l, const struct mr_decision *d)
{
	l->why->verdict = d->verdict.kind;
	l->why->list = d->verdict.list;
	l->why->depth = d->depth;
	l->why->entry = d->entry;
}

/* May the client ask here, and what does the filter say? */
MR_INLINE enum mr_stat life_judge(struct xdp_md *ctx, struct life *l)
{
	struct mr_scratch *s = l->s;
	__u32 labels = s->name.labels & 31, active = MR_READ(s->active) & 1;

	if (labels > MR_LABELS_MAX)
		return MR_STAT_pass_internal;
	s->key = answer_key(&s->query);
	if (!s->listed) {
		s->place = answer_place(s, s->key, l->secret);
		answer_touch(l->conf, s->place);
	}
	client_group(ctx, l->conf, l->secret, s);
	world_barrier();
	rule_find(l->conf, &l->conf->unit[active], l->secret, s, labels);
	world_barrier();
	if (l->why) {
		life_tell(l, &s->decision);
		l->why->group = s->client.group;
		l->why->access = s->client.access;
		l->why->paused = rule_paused(l->conf, s);
		l->why->unit = active;
		l->why->filter_generation = l->conf->filter_generation;
	}
	if (s->client.access != MR_ACCESS_ALLOW)
		return MR_STAT_pass_access;
	return s->decision.verdict.kind == MR_ASK ? MR_STAT_pass_ask : PACKET_GO_ON;
}

/* The text that goes with the list that blocks, if the group wants one. */
MR_INLINE const struct mr_ede *life_text(const struct life *l, const struct mr_block *b)
{
	__u32 i = l->conf->unit[l->s->active & 1].ede_base + l->s->decision.verdict.list;

	return b->ede == MR_BLOCK_EDE_TEXT ? bpf_map_lookup_elem(&mr_ede, &i) : 0;
}

/* Answer as the client's group is told that a name is blocked, or that there is no such type. */
MR_INLINE enum mr_stat life_blocked(struct life *l)
{
	struct mr_scratch *s = l->s;
	const struct mr_block *b = &rule_group(l->conf, s)->block;
	int withheld = s->row == MR_STAT_withheld;

	if (!(s->query.flags & DNS_RD))
		return MR_STAT_pass_rd;
	s->source = MR_SOURCE_BLOCKED;
	reply_blocked(&s->reply, b, withheld ? MR_BLOCK_NODATA : b->mode, l->conf->recursion, &s->query);
	if (!s->query.edns)
		return PACKET_GO_ON;
	world_barrier();
	if (withheld)
		reply_opt(&s->reply, s->query.dnssec_ok, 0);
	else
		reply_opt_blocked(&s->reply, b->ede, &s->query, life_text(l, b));
	return PACKET_GO_ON;
}

MR_INLINE int life_allowed(const struct mr_scratch *s)
{
	return s->decision.verdict.kind == MR_ALLOW || s->decision.verdict.kind == MR_IMPORTANT_ALLOW;
}

/*
 * Judge the links of an answer's chain, unless the question itself is allowed.
 * A link that blocks stands for the name from here on; one that only user space
 * can tell about, or that is in a local zone, passes.
 */
MR_INLINE enum mr_stat life_links(struct life *l)
{
	struct mr_scratch *s = l->s;
	__u32 kind;

	if (life_allowed(s) || !(mr_load64(&s->answer.chain[0]) | mr_load64(&s->answer.chain[4])))
		return PACKET_GO_ON;
	rule_find_links(l->conf, &l->conf->unit[s->active & 1], s);
	kind = s->link.verdict.kind;
	if (kind == MR_NONE || kind == MR_ALLOW || kind == MR_IMPORTANT_ALLOW)
		return PACKET_GO_ON;
	if (l->why) {
		life_tell(l, &s->link);
		l->why->chain_set = mr_entry_set(s->link.entry);
	}
	if (!mr_verdict_blocks(kind))
		return MR_STAT_pass_ask;
	s->decision = s->link;
	s->row = MR_STAT_blocked;
	return PACKET_GO_ON;
}

/* The coarse clock changes with the count of ticks, so it is asked once a tick; the count is no call. */
MR_INLINE void life_now(struct mr_scratch *s)
{
	__u64 tick = bpf_jiffies64();

	if (s->tick == tick)
		return;
	s->tick = tick;
	s->now = bpf_ktime_get_coarse_ns();
}

MR_INLINE enum mr_stat life_cached(struct life *l)
{
	struct mr_scratch *s = l->s;
	__u32 unit = answer_find(l->conf, l->secret, s);
	struct answer_slot slot;
	enum mr_stat stat;

	if (!unit)
		return MR_STAT_pass_miss;
	slot = answer_slot(unit);
	if (!slot.page)
		return MR_STAT_pass_internal;
	stat = answer_copy(slot, &s->name, &s->query, s->key, &s->answer, &s->reply);
	if (stat)
		return stat;
	world_barrier();
	if (l->why) {
		l->why->answer_unit = unit;
		l->why->answer_generation = s->answer.generation;
		l->why->expires = s->answer.expires;
	}
	life_now(s);
	s->stale = answer_stale(&s->answer, s->now);
	stat = answer_fit(&s->answer, l->conf, &s->query, &s->decision, MR_READ(s->stale), s->now);
	if (stat)
		return stat;
	s->row = s->answer.flags & MR_ANSWER_LOCAL ? MR_STAT_local : MR_STAT_cached;
	s->source = count_source(s->row);
	s->unit = unit;
	stat = life_links(l);
	world_barrier();	/* else the verifier follows all that is behind once more for each way through the links */
	return stat;
}

/* Which answer it is to be; its row tells, and what comes out of the table stands in the reply but for its dress. */
MR_INLINE enum mr_stat life_choose(struct life *l)
{
	struct mr_scratch *s = l->s;
	__u32 kind = s->decision.verdict.kind;

	if (mr_verdict_blocks(kind)) {
		s->row = MR_STAT_blocked;
		return PACKET_GO_ON;
	}
	if (kind == MR_NONE && mr_group_withholds(rule_group(l->conf, s), s->query.qtype)) {
		s->row = MR_STAT_withheld;
		return PACKET_GO_ON;
	}
	return life_cached(l);
}

MR_INLINE enum mr_stat life_answer(struct life *l)
{
	struct mr_scratch *s = l->s;
	enum mr_stat stat = life_choose(l);

	if (stat)
		return stat;
	world_barrier();
	if (s->row == MR_STAT_blocked || s->row == MR_STAT_withheld)
		return life_blocked(l);
	answer_dress(&s->answer, &s->query, &s->reply, MR_READ(s->stale), MR_READ(l->conf->stale_ttl), s->now);
	return PACKET_GO_ON;
}

/*
 * Mark a cached answer that is on its way: used, for the daemon's clock hand;
 * and, the first time near its end, that the daemon was told to refresh it.
 */
MR_INLINE void life_mark(struct xdp_md *ctx, struct life *l)
{
	struct mr_scratch *s = l->s;
	struct answer_slot slot;
	struct mr_answer *a;

	if (s->answer.hit && (s->answer.refresh || !answer_is_ending(s)))
		return;		/* as nearly always: the marks came with the copy */
	world_barrier();
	slot = answer_slot(s->unit);
	if (!slot.page)
		return;
	a = answer_head(slot);
	if (!MR_READ(a->hit))
		MR_WRITE(a->hit, 1);
	if (!answer_is_ending(s) || MR_READ(a->refresh) || !count_event(ctx, l->stats, s, MR_EVENT_REFRESH))
		return;
	MR_WRITE(a->refresh, 1);
	count_add(l->stats, MR_STAT_refresh_asked);
}

/* Marks and events of an answer that is on its way. */
MR_INLINE void life_report(struct xdp_md *ctx, struct life *l)
{
	struct mr_scratch *s = l->s;
	__u32 every = l->conf->events;

	if (s->source != MR_SOURCE_BLOCKED) {
		life_mark(ctx, l);
		if (s->stale)
			count_add(l->stats, MR_STAT_stale);
	}
	if (!every || ++s->since_event < every)
		return;
	s->since_event = 0;
	count_event(ctx, l->stats, s, MR_EVENT_QUERY);
}

/* One packet: PACKET_GO_ON when it has become its own answer, else the row that says why it passes. */
MR_INLINE enum mr_stat life_of(struct xdp_md *ctx, struct life *l)
{
	enum reply_growth grown;
	enum mr_stat stat;

	if (!l->conf || !l->secret || !l->s)
		return MR_STAT_pass_internal;
	if (!l->conf->enabled)
		return MR_STAT_pass_disabled;
	stat = life_parse(ctx, l);
	if (stat)
		return stat;
	world_barrier();
	stat = life_judge(ctx, l);
	if (stat)
		return stat;
	world_barrier();
	stat = life_answer(l);
	if (stat)
		return stat;
	world_barrier();
	grown = reply_send(ctx, &l->s->packet, &l->s->query, &l->s->reply);
	if (grown == REPLY_NO_ROOM)
		return MR_STAT_pass_room;
	if (l->why)
		return PACKET_GO_ON;
	if (grown == REPLY_GROWN_TAIL)
		count_add(l->stats, MR_STAT_grown_tail);
	if (grown == REPLY_GROWN_HEAD)
		count_add(l->stats, MR_STAT_grown_head);
	life_report(ctx, l);
	return PACKET_GO_ON;
}

MR_INLINE enum mr_stat life_row(enum mr_stat stat, const struct life *l)
{
	if (stat)
		return stat;
	return l->s->row == MR_STAT_blocked  ? MR_STAT_blocked :
	       l->s->row == MR_STAT_withheld ? MR_STAT_withheld :
	       l->s->row == MR_STAT_local    ? MR_STAT_local : MR_STAT_cached;
}

SEC("xdp")
int fastpath(struct xdp_md *ctx)
{
	struct life l = { .conf = MAP_ONE(mr_conf), .secret = MAP_ONE(mr_secret), .s = MAP_ONE(mr_scratch),
			  .stats = MAP_ONE(mr_stats) };
	__u64 start = count_begin(l.stats, l.conf);
	enum mr_stat stat = life_of(ctx, &l);

	count_end(l.stats, life_row(stat, &l), start);
	return stat ? XDP_PASS : XDP_TX;
}

SEC("xdp")
int fastpath_why(struct xdp_md *ctx)
{
	struct life l = { .conf = MAP_ONE(mr_conf), .secret = MAP_ONE(mr_secret), .s = MAP_ONE(mr_scratch_why),
			  .why = MAP_ONE(mr_why) };
	struct mr_why nothing = {};
	enum mr_stat stat;

	if (!l.why)
		return XDP_PASS;
	*l.why = nothing;
	stat = life_of(ctx, &l);
	l.why->stat = life_row(stat, &l);
	l.why->source = count_source(l.why->stat);
	return stat ? XDP_PASS : XDP_TX;
}
