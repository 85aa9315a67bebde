/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * event.h - what the packet path tells the daemon, one record per ring entry.
 *
 * Written by bpf/count.h into the ring of its CPU (mr_events, an array of
 * ring buffers), read by userspace/kern/events.c.  No wake-up: the daemon
 * polls.  A full ring counts mr_stat events_lost and sheds.
 */
#ifndef MAPS_EVENT_H
#define MAPS_EVENT_H

#include "maps/types.h"

enum mr_event_kind {
	MR_EVENT_QUERY = 1,		/* an answer was given; sent when mr_conf.events allows */
	MR_EVENT_REFRESH = 2,		/* an answer is near its end; always sent, once */
};

struct mr_event {
	__u64 time;			/* CLOCK_MONOTONIC_COARSE, nanoseconds */
	__u8 kind;			/* enum mr_event_kind */
	__u8 source;			/* enum mr_source */
	__u8 verdict;			/* enum mr_verdict_kind */
	__u8 rcode;
	__u16 qtype;			/* host order */
	__u16 group;
	__u16 list;
	__u8 key;			/* enum mr_answer_key of the query */
	__u8 name_len;
	__be16 client_port;
	__u16 size;			/* bytes of the DNS answer */
	__u8 client[16];		/* IPv4 mapped */
	__u8 mac[6];			/* the frame's source */
	__u8 stale;			/* its time was over */
	__u8 pad;
	__u8 name[256];			/* lower-case wire form; it ends where this ends, zeros stand before it */
};

/* The name_len octets of the event's name; */
MR_INLINE const __u8 *mr_event_name(const struct mr_event *e)
{
	return e->name + sizeof(e->name) - e->name_len;
}

#endif
