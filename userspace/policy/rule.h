/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rule.h - what a line of a list or a rule says, whatever format it was in.
 *
 * Made by the parsers of formats (list.h), taken by the builder of names
 * (filter.h) and of special rules (rules.h).  An item borrows everything it
 * points to; it lives for one call of the sink.
 */
#ifndef POLICY_RULE_H
#define POLICY_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/addr.h"
#include "policy/filter.h"

enum rule_kind {
	RULE_NAME,			/* about a name */
	RULE_REGEX,			/* about all names that a pattern matches */
	RULE_ADDRESS,			/* about answers that hold an address */
	RULE_ROUTE,			/* a server for a zone ("server=/zone/addr"): counted, not used by the filter */
};

enum rule_reach {
	RULE_EXACT,			/* the very name */
	RULE_SUBTREE,			/* the name and all below it */
	RULE_BELOW,			/* all below it, the name itself not (RPZ "*.name") */
};

#define RULE_TYPES_MAX   16
#define RULE_CLIENTS_MAX 32
#define RULE_TAGS_MAX    16
#define RULE_DENY_MAX    64
#define RULE_TAG_TEXT    32

/* A client in a condition: a prefix, a hardware address, or the name of a client of the configuration. */
struct rule_client {
	enum { RULE_CLIENT_PREFIX, RULE_CLIENT_MAC, RULE_CLIENT_NAME } kind;
	struct addr_prefix prefix;
	uint8_t mac[6];
	char name[64];
	bool not;			/* "~": all but this one */
};

/* Modifiers that narrow a rule; all of them must hold. */
struct rule_condition {
	uint16_t type[RULE_TYPES_MAX];	/* $dnstype */
	unsigned types;
	bool types_not;			/* "~A|~B": all types but these; a mixed list keeps the positive ones */
	struct rule_client client[RULE_CLIENTS_MAX];
	unsigned clients;		/* $client: one positive must match if there is any, and no negative */
	char tag[RULE_TAGS_MAX][RULE_TAG_TEXT];
	bool tag_not[RULE_TAGS_MAX];
	unsigned tags;			/* $ctag: the same */
	const uint8_t *deny[RULE_DENY_MAX];	/* $denyallow: names (with all below), lower-case wire form */
	uint16_t deny_len[RULE_DENY_MAX];
	unsigned denies;
};

enum rule_answer_kind {
	RULE_ANSWER_RCODE,		/* an rcode and no records */
	RULE_ANSWER_RECORD,		/* one record; the records of several rules of one name and type make an RRset */
	RULE_ANSWER_CNAME,		/* an alias, whose target is resolved and exempt from lists */
	RULE_ANSWER_DROP,		/* no answer at all (RPZ) */
	RULE_ANSWER_TCP,		/* over UDP only TC (RPZ) */
	RULE_ANSWER_ANY,		/* only in exceptions: "@@...$dnsrewrite" lifts all rewrites */
};

/* What to answer instead. */
struct rule_answer {
	enum rule_answer_kind kind;
	uint16_t rcode;
	uint16_t type;			/* of RECORD */
	uint32_t ttl;			/* seconds; 0: that of blocked answers */
	const uint8_t *rdata;		/* wire form, names in it uncompressed; of CNAME: the target */
	uint16_t rdata_len;
};

struct rule_item {
	enum rule_kind kind;
	enum filter_action action;	/* FILTER_BLOCK, _ALLOW, _IMPORTANT_BLOCK or _IMPORTANT_ALLOW */
	enum rule_reach reach;		/* of a NAME */
	bool badfilter;			/* takes away the same rule without $badfilter */
	const uint8_t *name;		/* NAME and ROUTE: lower-case wire form */
	uint16_t name_len;
	const char *pattern;		/* REGEX: PCRE2, without case, of the name as text without its final dot */
	size_t pattern_len;
	bool invert;			/* REGEX: names that do not match (";invert") */
	struct addr_prefix address;	/* ADDRESS */
	const struct rule_condition *condition;	/* NULL: none */
	const struct rule_answer *answer;	/* NULL: block or allow as the action says */
	uint64_t line;			/* 1 .. */
	const char *text;		/* the line, or the part of it that is the rule, as written */
	size_t text_len;
};

/* A name, reach and action, and no more: what the table of names can hold. */
static inline bool rule_is_plain(const struct rule_item *i)
{
	return i->kind == RULE_NAME && i->reach != RULE_BELOW && !i->badfilter && !i->condition && !i->answer;
}

#endif
