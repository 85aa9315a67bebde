/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world.h - the fake world that a scenario runs in: clock, upstream, packet path, clients.
 */
#ifndef TESTS_SCENARIO_WORLD_H
#define TESTS_SCENARIO_WORLD_H

#include "policy/compile.h"
#include "policy/judge.h"
#include "resolve/resolver.h"

#define WORLD_TAGS 64
#define WORLD_ASKS 64
#define WORLD_GROUPS 2			/* the first uses both lists, the second the first list alone */

/* One client's query and what came of it. */
struct world_client {
	char tag[16];
	struct query *query;		/* while it waits */
	bool ended;
	enum query_source source;
	uint8_t reply[65536];
	size_t reply_len;
};

struct world {
	uint64_t now_ns;
	struct mr_secret secret;
	struct config *config;
	struct world_rule *rule;	/* what lists and rules say */
	unsigned rules;
	struct mr_unit unit;		/* that of the filter, for all groups */
	struct mr_outcome anybody;	/* group of who is not in access_allow */
	struct mr_group group[MR_GROUPS_MAX];	/* the first one blocks as the configuration says */
	struct mr_ede ede[MR_LISTS_MAX];	/* names of sources; none at first */
	char zone[3][8][256];		/* by enum world_zones */
	unsigned zones[3];
	bool running;			/* the first ask has been made */
	struct resolver resolver;
	struct world_client client[WORLD_TAGS];
	unsigned clients;
	struct query *out[WORLD_ASKS];	/* asked upstream, not answered */
	unsigned outs;
	struct query *crowd;		/* that fill the table of questions under way; linked by next_waiter */
	struct dns_key published[WORLD_ASKS];
	unsigned publishes;
};

/*
 * Sources of rules: two lists, the safe search, which a pause lifts, and local names.
 * The second group uses the first list alone.
 */
enum { WORLD_BLOCKS, WORLD_ALLOWS, WORLD_SAFE, WORLD_LOCAL, WORLD_SOURCES };

struct world *world_new(void);
void world_free(struct world *w);

/* Add a rule (copied) to those of the next snapshot; -1 when there is no room. */
int world_rule(struct world *w, unsigned source, const struct rule_item *item);

/* Add a zone to a list of the configuration of the next snapshot; -1 when there is no room. */
enum world_zones { WORLD_ROUTE, WORLD_SPECIAL, WORLD_REBINDING, WORLD_ZONES };
int world_zone(struct world *w, enum world_zones list, const char *zone);

/* Make the policy from what has been set so far and put it in force. */
int world_snapshot(struct world *w);

/* Find or make the client of a tag. */
struct world_client *world_client(struct world *w, const char *tag, bool make);

/* Send a datagram. */
void world_ask(struct world *w, struct world_client *c, enum query_proto proto, const uint8_t *msg, size_t len,
	       const struct addr *from);

/* Have as many other questions under way as there may be; -1 when memory is out. */
int world_crowd(struct world *w);

/* End the only question that is out: with a response, or with an error. */
void world_answer(struct world *w, int err, const uint8_t *msg, size_t len);

#endif
