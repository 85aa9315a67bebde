/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * client.h - who asks: the group and the right of access of a client.
 *
 * Clients are MACs, and prefixes (an address is its longest), IPv4 in its mapped
 * form ::ffff:a.b.c.d.  A MAC decides before any address, else the longest
 * prefix that holds the client.  MACs are looked for only while there are some
 * (mr_conf.client_macs), and only the prefix lengths in mr_conf.client_len are
 * probed, longest first, each by one keyed hash into a bucket of this table.
 * With no client configured nothing is looked up and mr_conf.client_default
 * decides.  The program remembers outcomes, per CPU, while
 * mr_conf.client_generation stays what it was.
 *
 * Written by userspace/kern, read by bpf/client.h and by the daemon through
 * the same functions.
 */
#ifndef MAPS_CLIENT_H
#define MAPS_CLIENT_H

#include "maps/name.h"

#define MR_CLIENT_WAYS   4
#define MR_CLIENT_LENS   8		/* prefix lengths in use, IPv4 (96 more) and IPv6 together */
#define MR_CLIENT_BUCKETS 1024
#define MR_CLIENT_MAC    255		/* in the place of a prefix length */

enum mr_access {
	MR_ACCESS_ALLOW,
	MR_ACCESS_REFUSE,		/* passes, and the daemon refuses */
};

enum mr_client_flag {
	MR_CLIENT_PAUSED = 1,		/* blocks are lifted for this client */
};

struct mr_outcome {
	__u16 group;
	__u8 access;			/* enum mr_access */
	__u8 flags;			/* enum mr_client_flag */
};

struct mr_client {
	__u64 tag;			/* 0: empty */
	struct mr_outcome outcome;
	__u8 len;			/* prefix length in bits, 0..128, or MR_CLIENT_MAC */
	__u8 pad[3];
};

struct mr_client_bucket {
	struct mr_client way[MR_CLIENT_WAYS];
};

/* A prefix as two host-order words, cut to its length. */
struct mr_prefix {
	__u64 hi;
	__u64 lo;
};

MR_INLINE struct mr_prefix mr_prefix_cut(struct mr_prefix p, __u32 len)
{
	if (len < 64) {
		p.lo = 0;
		p.hi = len ? p.hi & (~0ULL << (64 - len)) : 0;
	} else if (len < 128) {
		p.lo = len > 64 ? p.lo & (~0ULL << (128 - len)) : 0;
	}
	return p;
}

/* A MAC in the form of a prefix, from its six octets in the low part of a word of memory order. */
MR_INLINE struct mr_prefix mr_prefix_mac(__u64 mac)
{
	struct mr_prefix p = { mac & ~0ULL >> 16, 0 };

	return p;
}

/* Tag of a cut prefix or of a MAC; its low bits choose the bucket.  Never 0. */
MR_INLINE __u64 mr_client_tag(struct mr_prefix p, __u32 len, const struct mr_secret *s)
{
	__u64 v = mr_nh(p.hi, s->client[0]) + mr_nh(p.lo, s->client[1]) + mr_nh(len, s->client[2]);

	return mr_finish(v) | 1ULL << 63;
}

MR_INLINE __u32 mr_client_bucket_of(__u64 tag)
{
	return (__u32)tag & (MR_CLIENT_BUCKETS - 1);
}

/**
 * Find a cut prefix in its bucket.
 *
 * The writer sets a row's tag last and clears it first, so a tag that is there
 * has its outcome.  Returns whether it was found.
 */
MR_INLINE int mr_client_match(const struct mr_client_bucket *b, __u64 tag, __u32 len, struct mr_outcome *ret)
{
	int found = 0;
	__u32 i;

	MR_UNROLL
	for (i = 0; i < MR_CLIENT_WAYS; i++) {
		if (MR_READ(b->way[i].tag) != tag || b->way[i].len != len)
			continue;
		*ret = b->way[i].outcome;
		found = 1;
	}
	return found;
}

/**
 * Tell the outcome of an address from the table in memory: the longest prefix
 * that holds it, else the default.  A MAC comes before: mr_client_mac().
 *
 * @lens  prefix lengths in use, longest first (mr_conf.client_len), count of them
 */
MR_INLINE struct mr_outcome mr_client_find(const struct mr_client_bucket *buckets, const __u8 *lens, __u32 count,
					   struct mr_prefix addr, const struct mr_secret *s, struct mr_outcome none)
{
	struct mr_outcome o = none;
	__u64 tag;
	__u32 i;

	for (i = 0; i < count && i < MR_CLIENT_LENS; i++) {
		tag = mr_client_tag(mr_prefix_cut(addr, lens[i]), lens[i], s);
		if (mr_client_match(&buckets[mr_client_bucket_of(tag)], tag, lens[i], &o))
			break;
	}
	return o;
}

/* Find the outcome of a MAC in the table in memory; returns whether it has a row. */
MR_INLINE int mr_client_mac(const struct mr_client_bucket *buckets, __u64 mac, const struct mr_secret *s,
			    struct mr_outcome *ret)
{
	__u64 tag = mr_client_tag(mr_prefix_mac(mac), MR_CLIENT_MAC, s);

	return mr_client_match(&buckets[mr_client_bucket_of(tag)], tag, MR_CLIENT_MAC, ret);
}

#endif
