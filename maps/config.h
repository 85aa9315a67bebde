/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * config.h - what the daemon tells the packet path; the one value of mr_conf.
 *
 * Written by userspace/kern through its mapping, word by word; read by the
 * program at each packet.  A switch that gives meaning to other maps (the
 * active unit, the generations) is here and nowhere else.
 */
#ifndef MAPS_CONFIG_H
#define MAPS_CONFIG_H

#include "maps/filter.h"
#include "maps/client.h"

#define MR_SERVICES_MAX   8
#define MR_IFACES_MAX     8
#define MR_GENERATIONS    1024
#define MR_CONF_MAGIC     0x6d696c6c72616365ULL	/* "millrace" */

enum mr_block_mode {
	MR_BLOCK_NULL,			/* 0.0.0.0 and ::, other types NODATA */
	MR_BLOCK_NXDOMAIN,
	MR_BLOCK_NODATA,
	MR_BLOCK_REFUSED,
	MR_BLOCK_CUSTOM,		/* the two addresses below, other types NODATA */
};

/* What a blocked answer says about why, to who has EDNS; Extended DNS Error 15 (RFC 8914). */
enum mr_block_ede {
	MR_BLOCK_EDE_TEXT,		/* with the name of the list, where mr_ede has it */
	MR_BLOCK_EDE_CODE,
	MR_BLOCK_EDE_NONE,
};

struct mr_iface {
	__u32 ifindex;			/* 0: no such row */
	__u8 mac[6];
	__u8 generic;			/* attached in generic mode */
	__u8 pad;
};

struct mr_service {
	__be32 addr[4];			/* IPv4 mapped */
};

struct mr_block {
	__u8 mode;			/* enum mr_block_mode */
	__u8 ede;			/* enum mr_block_ede */
	__u8 pad[2];
	__u32 ttl;			/* seconds */
	__be32 ipv4;
	__be32 ipv6[4];
	__u32 pad2;
};

#define MR_GROUPS_MAX      64
#define MR_GROUP_TYPES     4

/* What is of a group alone, whatever the name. */
struct mr_group {
	struct mr_block block;		/* how it is told that a name is blocked */
	__u16 nodata[MR_GROUP_TYPES];	/* types (host order) that are answered as if there were none; 0 behind the last */
	__u32 paused;			/* not 0: blocks are lifted; one word, so that a pause is one store */
	__u32 pad;
} __attribute__((aligned(8)));

/* Whether a type, which is not 0, is one of those that a group does not get: all four are compared at once. */
MR_INLINE int mr_group_withholds(const struct mr_group *g, __u32 qtype)
{
	const __u64 ones = 0x0001000100010001ULL;
	__u64 types = MR_READ(*(const mr_word *)g->nodata), differ = types ^ qtype * ones;

	return types && ((differ - ones) & ~differ & ones << 15);
}

/* So long without a heartbeat the daemon is taken for dead. */
#define MR_HEARTBEAT_MAX_NS 5000000000ULL

struct mr_conf {
	__u64 magic;
	__u64 layout;			/* hash of all layouts, as in the pins' folder */
	__u64 fingerprint;		/* of the secret */
	__u32 enabled;
	__u32 active;			/* 0 or 1: the filter unit in force */
	__u64 heartbeat;		/* last sign of life of the daemon, CLOCK_MONOTONIC_COARSE ns */
	__u16 port;			/* host order */
	__u16 services;			/* rows of service in use */
	__u32 filter_generation;
	__u32 recursion;		/* RA is set on what we make ourselves (blocked answers) */
	__u32 events;			/* 0: no query events; n: one in n answers */
	__u32 latency_mask;		/* a packet is timed when (its number & mask) == 0 */
	__u32 bucket_mask;		/* of mr_buckets */
	__u32 client_lens;		/* rows of client_len in use */
	__u32 zero;			/* always 0: what the verifier must not know */
	__u8 client_len[MR_CLIENT_LENS];	/* longest first */
	struct mr_outcome client_default;
	__u32 client_generation;	/* raised when a client's outcome may have changed; 0: outcomes are not remembered */
	__u32 any_answers;		/* 0: no answer is kept under MR_KEY_ANY, so none is looked for */
	__u32 client_macs;		/* rows of mr_clients that are MACs; 0: none is looked for */
	__u32 upstreams_down;		/* not 0: no server answers */
	__u32 stale_ttl;		/* seconds, of all TTLs of an answer whose time is over; 0: no such answer is given */
	__u32 pad;
	struct mr_service service[MR_SERVICES_MAX];
	struct mr_iface iface[MR_IFACES_MAX];
	struct mr_group group[MR_GROUPS_MAX];
	struct mr_unit unit[MR_UNITS];
	__u32 generation[MR_GENERATIONS];	/* 0: flush-all; the rest: one per local zone */
};

/* Whether answers whose time is over are given: only while nobody can get others. */
MR_INLINE int mr_conf_stale(const struct mr_conf *c, __u64 now)
{
	__s64 silent = (__s64)(now - MR_READ(c->heartbeat));

	return MR_READ(c->stale_ttl) && (MR_READ(c->upstreams_down) || silent > (__s64)MR_HEARTBEAT_MAX_NS);
}

#endif
