/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * client.h - group and access of the client that asks.
 */
#ifndef BPF_CLIENT_H
#define BPF_CLIENT_H

#include "bpf/maps.h"

/**
 * Tell the outcome of an address: its longest prefix in mr_clients, or the
 * default.  Costs nothing while no client is configured.
 */
MR_INLINE void client_group(const struct mr_conf *conf, const struct mr_secret *secret, const struct mr_prefix *addr,
			    struct mr_outcome *ret)
{
	__u32 lens = conf->client_lens, i, len, bucket;
	struct mr_client_bucket *b;
	__u64 tag;

	*ret = conf->client_default;
	for (i = 0; i < MR_CLIENT_LENS; i++) {
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

#endif
