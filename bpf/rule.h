/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * rule.h - what the filter says of the question's name.
 *
 * The map look-ups around the probes of maps/filter.h, in the order of
 * mr_filter_decide(): the Bloom word, then both buckets, then the stash.
 */
#ifndef BPF_RULE_H
#define BPF_RULE_H

#include "bpf/maps.h"

/* Whether the unit may hold the name. */
MR_INLINE int rule_maybe(const struct mr_unit *u, struct mr_hash h)
{
	__u64 bits = mr_bloom_bits(h), *word;
	__u32 i = u->bloom_base + mr_bloom_word(h, u->bloom_mask);

	word = bpf_map_lookup_elem(&mr_bloom, &i);
	return word && (MR_READ(*word) & bits) == bits;
}

/*
 * Load what the look at the whole name and at its parent will load, some work
 * ahead of it, so that the misses run beside that work and beside each other.
 * The bucket is loaded only when the Bloom word says so: the branch is foreseen
 * well, and names that are in no list are spared a miss.
 *
 * Sets s->listed, whether the name may be in the unit; and s->depths, bit 31 - i
 * of which says so of the parent one label up and i more.  The first parent is
 * looked at for every name, without a branch that the number of labels misleads.
 */
MR_INLINE void rule_touch(const struct mr_unit *u, const struct mr_secret *secret, struct mr_scratch *s, __u32 labels)
{
	struct mr_hash h = mr_name_hashed(&s->name, labels);
	struct mr_hash parent = mr_name_parent(&s->name, (labels - 1) & 31, secret);
	__u32 bucket = u->bucket_base + mr_bucket_first(h, u->bucket_mask);
	__u32 rest = u->depths << 1 << (31 - labels);
	struct mr_filter_bucket *b;

	s->listed = (u->depths >> labels & 1) & rule_maybe(u, h);
	MR_WRITE(s->depths, rule_maybe(u, parent) ? rest : rest & ~(1U << 31));
	if (!s->listed)
		return;
	b = bpf_map_lookup_elem(&mr_filter, &bucket);
	if (b)
		(void)MR_READ(b->way[0]);
}

/* Fill found with what the unit holds for a name that it may hold. */
MR_INLINE void rule_probe(const struct mr_unit *u, struct mr_hash h, struct mr_found *found)
{
	__u32 first = u->bucket_base + mr_bucket_first(h, u->bucket_mask);
	__u32 second = u->bucket_base + mr_bucket_second(h, u->bucket_mask);
	const struct mr_found none = { 0, 0 };
	struct mr_filter_bucket *b;

	*found = none;
	b = bpf_map_lookup_elem(&mr_filter, &first);
	if (b && mr_bucket_match(b, h, found)) {
		b = bpf_map_lookup_elem(&mr_filter, &second);
		if (b)
			mr_bucket_match(b, h, found);
	}
	world_barrier();
	if (u->stash_count)
		mr_stash_match(u, h, found);
	world_barrier();
}

MR_INLINE const struct mr_group *rule_group(const struct mr_conf *conf, const struct mr_scratch *s)
{
	return &conf->group[s->client.group & (MR_GROUPS_MAX - 1)];
}

/* Whether blocks are lifted for whoever asks. */
MR_INLINE int rule_paused(const struct mr_conf *conf, const struct mr_scratch *s)
{
	return MR_READ(rule_group(conf, s)->paused) || (s->client.flags & MR_CLIENT_PAUSED);
}

/* A pause turns an outcome of "block" into none; what that was stronger than does not come forth, as in the daemon. */
MR_INLINE void rule_lift(const struct mr_conf *conf, const struct mr_scratch *s, struct mr_decision *d)
{
	const struct mr_decision none = { { MR_NONE, 0, 0, 0 }, 0, 0, 0 };

	if (mr_verdict_blocks(d->verdict.kind) && rule_paused(conf, s))
		*d = none;
}

/* Weigh one entry for the client's group; a cell that is not there asks. */
MR_INLINE void rule_weigh(const struct mr_unit *u, const struct mr_scratch *s, __u64 entry, __u32 depth,
			  struct mr_decision *d)
{
	struct mr_verdict v = { MR_ASK, 0, 0, 0 }, *cell;
	__u32 i;

	if (!mr_entry_set(entry))
		return;
	world_barrier();	/* most names have one entry: nothing is worked out for the other */
	i = mr_verdict_cell(u, s->client.group, mr_entry_set(entry));
	cell = bpf_map_lookup_elem(&mr_verdicts, &i);
	if (cell)
		v = mr_verdict_load(cell);
	mr_decide(d, v, entry, depth);
}

/**
 * Decide about the name of the scratch and its parents in one filter unit.
 *
 * @labels  of the name
 *
 * Parents are hashed here, those alone that have a depth at which there are
 * entries; in the order of mr_filter_decide(), the longest first.  Which, stands
 * in memory since rule_touch(), so that rounds are alike to the verifier.
 */
MR_INLINE void rule_find(const struct mr_conf *conf, const struct mr_unit *u, const struct mr_secret *secret,
			 struct mr_scratch *s, __u32 labels)
{
	const struct mr_decision none = { { MR_NONE, 0, 0, 0 }, 0, 0, 0 };
	__u32 i, rest, depth;
	struct mr_hash h;

	s->decision = none;
	if (s->listed) {
		rule_probe(u, mr_name_hashed(&s->name, labels), &s->found);
		rule_weigh(u, s, s->found.exact, labels, &s->decision);
		rule_weigh(u, s, s->found.subtree, labels, &s->decision);
	}
	for (i = 0; i < MR_LABELS_MAX; i++) {
		world_opaque(u);	/* or a dozen addresses are made ready before the loop, which most names do not enter */
		rest = MR_READ(s->depths);
		if (!rest)
			break;
		MR_WRITE(s->depths, rest << 1);
		if (!(rest >> 31))
			continue;
		depth = labels - 1 - i;
		world_opaque(depth);
		depth &= MR_LABELS_MAX - 1;
		h = mr_name_parent(&s->name, depth, secret);
		if (!rule_maybe(u, h))
			continue;
		rule_probe(u, h, &s->found);
		rule_weigh(u, s, s->found.subtree, depth, &s->decision);
	}
	rule_lift(conf, s, &s->decision);
}

/*
 * Decide about the sets that the CNAME chain of the answer in hand touches: the
 * strongest verdict counts, in s->link, as it would for a name that is in all
 * of them.
 */
MR_INLINE void rule_find_links(const struct mr_conf *conf, const struct mr_unit *u, struct mr_scratch *s)
{
	const struct mr_decision none = { { MR_NONE, 0, 0, 0 }, 0, 0, 0 };
	__u64 set;
	__u32 i;

	s->link = none;
	for (i = 0; i < MR_CHAIN_MAX; i++) {
		set = MR_READ(s->answer.chain[i]);
		rule_weigh(u, s, (set & (MR_SETS_MAX - 1)) << MR_ENTRY_SET_SHIFT, 0, &s->link);
		world_barrier();
	}
	rule_lift(conf, s, &s->link);
}

#endif
