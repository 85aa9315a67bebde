/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * client.h - group and access of the client that asks.
 */
#ifndef BPF_CLIENT_H
#define BPF_CLIENT_H

#include "bpf/maps.h"

/* The frame's source as the word that rows of MACs are made of; 0 is nobody's. */
MR_INLINE __u64 client_mac(const struct world_frame *f)
{
	struct cursor c = cursor_at(f, 0);
	const __u8 *eth = cursor_take(&c, ETH_HLEN);

	return eth ? mr_load64(eth + 4) >> 16 : 0;
}

/* Look for the row of a MAC in mr_clients; returns whether it has one. */
MR_INLINE int client_find_mac(const struct mr_secret *secret, __u64 mac, struct mr_outcome *ret)
{
	__u64 tag = mr_client_tag(mr_prefix_mac(mac), MR_CLIENT_MAC, secret);
	__u32 bucket = mr_client_bucket_of(tag);
	struct mr_client_bucket *b = bpf_map_lookup_elem(&mr_clients, &bucket);

	return b && mr_client_match(b, tag, MR_CLIENT_MAC, ret);
}

/* Tell the outcome of an address by its longest prefix in mr_clients, or the default. */
MR_INLINE void client_find(const struct mr_conf *conf, const struct mr_secret *secret, const struct mr_prefix *addr,
			   struct mr_outcome *ret)
{
	__u32 lens = conf->client_lens, i, len, bucket;
	struct mr_client_bucket *b;
	__u64 tag;

	for (i = 0; i < MR_CLIENT_LENS; i++) {
		world_barrier();	/* else clang enters the loop in its middle, which Linux 6.1 does not take */
		if (i >= lens)
			break;
		len = conf->client_len[i] & 255;
		tag = mr_client_tag(mr_prefix_cut(*addr, len), len, secret);
		bucket = mr_client_bucket_of(tag);
		b = bpf_map_lookup_elem(&mr_clients, &bucket);
		if (b && mr_client_match(b, tag, len, ret))
			break;
	}
}

/* The row in which an address is remembered; whoever makes others share it gains no more than a look at the table. */
MR_INLINE struct client_memo *client_memo(struct mr_scratch *s)
{
	__u64 mixed = (s->packet.source.hi ^ s->packet.source.lo) * 0x9e3779b97f4a7c15ULL;

	return &s->memo[(mixed >> 32) & (CLIENT_MEMOS - 1)];
}

/**
 * Tell the outcome of the packet's source, in s->client.
 *
 * Every prefix length costs a look-up, and most clients ask more than once, so
 * the last outcomes are remembered, for address and MAC together.  The
 * generation is read before the table is, so that what a change overtakes is
 * not taken for new.  Costs nothing while no client is configured, and MACs
 * cost nothing while none is.
 */
MR_INLINE void client_group(const struct world_frame *f, const struct mr_conf *conf, const struct mr_secret *secret,
			    struct mr_scratch *s)
{
	__u32 generation = MR_READ(conf->client_generation), macs = conf->client_macs;
	struct client_memo *m = client_memo(s);

	s->client = conf->client_default;
	if (!(conf->client_lens | macs))
		return;
	s->mac = macs ? client_mac(f) : 0;
	if (generation && m->generation == generation && m->addr.hi == s->packet.source.hi &&
	    m->addr.lo == s->packet.source.lo && m->mac == s->mac) {
		s->client = m->outcome;
		return;
	}
	if (!macs || !client_find_mac(secret, s->mac, &s->client))
		client_find(conf, secret, &s->packet.source, &s->client);
	world_barrier();
	m = client_memo(s);
	m->addr.hi = s->packet.source.hi;
	m->addr.lo = s->packet.source.lo;
	m->mac = s->mac;
	m->generation = generation;
	m->outcome = s->client;
}

#endif
