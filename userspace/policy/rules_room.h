/* SPDX-License-Identifier: BSD-2-Clause */
/* rules_room.h - rules as the other files of this room see them. */
#ifndef POLICY_RULES_ROOM_H
#define POLICY_RULES_ROOM_H

#include "base/arena.h"
#include "base/hash.h"
#include "policy/rules.h"

/* A rule with what it is found by. */
struct rule_node {
	struct rule rule;
	struct rule_node *next;		/* about the same name or address, in the order of sources and lines */
	const uint8_t *name;
	const char *pattern;
	struct regex *regex;		/* owned */
	struct addr_prefix address;
	uint64_t key[2];		/* of all that it says */
	uint32_t number;		/* in the order of coming */
	uint16_t name_len;
	uint16_t pattern_len;
	bool invert;
	bool bad;			/* $badfilter */
};

/* Nodes by a hash; the slot's owner compares. */
struct rule_table {
	struct rule_node **slot;
	uint64_t mask;
	uint64_t count;
};

int rule_table_grow(struct rule_table *t, uint64_t (*hash)(const struct rule_node *n, const void *arg), const void *arg);

struct rules {
	struct arena arena;
	struct rule_node **node;	/* in the order of sources and lines */
	unsigned count;
	struct hash_key key;
	struct rule_table names, addresses;
	uint32_t depths;		/* rules_depth_bit() of the labels of each name */
	uint8_t lens[129];		/* prefix lengths in use, longest first */
	unsigned lens_count;
	struct regex_set *regexes;	/* NULL: none */
	struct rule_node **regex;	/* by number in the set */
	unsigned regex_count;
	uint8_t strength[FILTER_LISTS_MAX];	/* of each source's regular expressions */
};

/* How strong a rule's outcome is: its action, MR_ASK for a rewrite, MR_NONE for what only lifts rewrites. */
static inline enum mr_verdict_kind rule_strength(const struct rule *r)
{
	if (!r->answer)
		return (enum mr_verdict_kind)r->action;
	return r->action == FILTER_ALLOW || r->action == FILTER_IMPORTANT_ALLOW ? MR_NONE : MR_ASK;
}

/* The item that a node was made of. */
struct rule_item rule_node_item(const struct rule_node *n);

/* Make the tables of rules whose nodes are there; 0 or -ENOMEM. */
int rules_index(struct rules *r);

/* Call @each for every "$badfilter" rule that is a bare name, until it returns an error; that error, or 0. */
int rules_builder_each_bad_name(const struct rules_builder *b, int (*each)(const struct rule_node *n, void *arg),
				void *arg);

/**
 * All rules as the octets of a file.
 *
 * Returns 0 with @ret for free() and its size, or -ENOMEM.
 */
int rules_save(const struct rules *r, uint8_t **ret, size_t *ret_size);

/* Make rules of such octets; 0, -EBADMSG when they are none, or -ENOMEM. */
int rules_load(const uint8_t *p, size_t size, struct rules **ret);

/* Names deeper than the filter's are few: their depths share one bit. */
static inline unsigned rules_depth_bit(unsigned labels)
{
	return labels <= MR_LABELS_MAX ? labels : MR_LABELS_MAX + 1;
}

#endif
