/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query.h - one question on its way to an answer.
 *
 * Made by the server (or by a refresh), driven by the steps of steps.c, given
 * back to its owner when done.  All its memory is in its own arena; all calls
 * are on its worker's thread.
 */
#ifndef RESOLVE_QUERY_H
#define RESOLVE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/addr.h"
#include "base/arena.h"
#include "dns/answer.h"
#include "dns/option.h"
#include "dns/reply.h"
#include "maps/name.h"
#include "policy/judge.h"

enum query_proto { QUERY_UDP, QUERY_TCP, QUERY_INTERNAL };

/* Who answered; for counters, the log and tail. */
enum query_source {
	QUERY_BY_NONE,
	QUERY_BY_FILTER,
	QUERY_BY_CACHE,
	QUERY_BY_UPSTREAM,
	QUERY_BY_SELF,			/* refusals, malformed queries, names of our own */
};

struct resolver;
struct snapshot;
struct flight;
struct rewrite_alias;

struct query {
	/* set by query_new() */
	struct resolver *resolver;
	struct snapshot *snapshot;	/* the policy in force when it came; a reference */
	enum query_proto proto;
	struct addr client;
	const uint8_t *mac;		/* the client's, when the asker knows; NULL: as the neighbours say */
	struct addr local;		/* where it was sent to: the answer's source */
	uint64_t start_ns;		/* coarse */
	const uint8_t *msg;		/* as it came, in the arena */
	size_t msg_len;
	void (*done)(struct query *q);
	void *owner;
	/* filled by the steps */
	bool read;			/* query_read() was here */
	int parsed;			/* rcode that the message deserves, or -EBADMSG: as dns_query_parse() says */
	struct dns_query view;
	struct dns_key key;
	bool dnssec_ok;			/* DO: it gets signatures and proofs; the key is the same */
	uint64_t hash;			/* of key.name, as the cache has it; 0: not made yet */
	struct mr_name *name;		/* hashed; NULL when it has too many labels */
	unsigned group;
	struct who who;
	bool paused;			/* blocks are lifted for this client or its group */
	uint32_t steps;			/* that patterns may still take for it */
	struct judge_result verdict;
	struct dns_answer *answer;	/* a reference */
	enum query_source source;
	unsigned upstream;		/* which server answered */
	bool upstream_trusted;		/* and its AD is believed */
	const uint8_t *ecs;		/* data of the client's subnet option that goes out, in msg; its answer is for nobody else */
	uint16_t ecs_len;
	uint8_t ecs_said[DNS_ECS_MAX];	/* what the server made of it */
	uint16_t ecs_said_len;		/* 0: nothing */
	int rcode;			/* of an answer without records: -1 while unknown */
	int ede;
	bool blocked;
	bool withheld;			/* a type that the group does not get: no data */
	bool stump;			/* over UDP only "ask over TCP" */
	bool refresh;			/* made to renew an answer before it dies */
	/* the result */
	uint8_t *reply;			/* in the arena */
	size_t reply_len;		/* 0: do not answer */
	/* the machine's own */
	unsigned step;
	bool decided;			/* only the steps that finish are left */
	bool silent;			/* must not be answered */
	bool waiting;
	bool shared;			/* its answer is what another query's flight brought */
	struct rewrite_alias *alias;	/* in the arena; what the client asked is the first one's */
	unsigned aliases;
	struct flight *flight;		/* the one it leads */
	struct query *next_waiter;	/* in the flight it waits for */
	void *wake_slot[3];		/* the other side's of resolve_events.wake */
	struct arena arena;
	char first[3072];		/* the arena's first block; never cleared */
};

/**
 * Make a query from the octets @msg (copied).
 *
 * @local  destination of the query
 * @done   called once, on this thread, perhaps from within query_start(), when
 *         reply and reply_len are set; the owner then calls query_free()
 *
 * Returns NULL when memory is out.
 */
struct query *query_new(struct resolver *r, enum query_proto proto, const uint8_t *msg, size_t len,
			const struct addr *client, const struct addr *local, uint64_t now_ns,
			void (*done)(struct query *q), void *owner);

/*
 * Ask for the memory that the steps of a query are going to look into: first,
 * having read it, for lines of the filter and of the cache's index, and later
 * for the answer that these point to.  Before query_start(), while others run
 * (base/row.h); either may be left out.
 */
void query_ahead(struct query *q);
void query_ahead_answer(struct query *q);

/* Run the steps until done or waiting. */
void query_start(struct query *q);

/* The owner has lost interest (its client went away): done will not be called, the query frees itself when it ends. */
void query_abandon(struct query *q);

/* Takes NULL; never while it waits (query_abandon() then). */
void query_free(struct query *q);

#endif
