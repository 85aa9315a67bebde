/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_read.h - what the files of the list formats share; nobody else includes it.
 *
 * list.c drives: it cuts lines, asks a format to take each, and asks for the
 * reason when none does.  A format that takes a line has given items or skipped
 * it with a reason.  Spans handed to formats are trimmed and not empty.
 */
#ifndef POLICY_LIST_READ_H
#define POLICY_LIST_READ_H

#include "policy/list.h"
#include "policy/list_line.h"
#include "policy/list_name.h"

#define LIST_RDATA_MAX   1024
#define LIST_PATTERN_MAX 1024
#define LIST_TEXT_MAX    1024		/* a value after its escapes are gone */

/* Where in a zone file the reading is (RFC 1035 section 5.1). */
struct list_zone {
	char origin[256];		/* without final dot; "": not known */
	size_t origin_len;
	char owner[256];		/* of the last record */
	size_t owner_len;
	uint32_t ttl;
	bool in_parentheses;		/* of a record that gives nothing */
};

struct list_reading {
	enum list_format format;
	bool allow;
	list_sink sink;
	void *arg;
	struct list_report *report;
	struct list_span text;		/* all of it */
	struct list_span line;		/* as written, for items and examples */
	struct {
		struct list_span at;
		const char *expected;	/* NULL: none yet in this line */
	} fault;
	bool indented;			/* the line began with a blank */
	bool looked;			/* for a sink of the list's own */
	bool has_sink;
	uint8_t own_sink[16];
	struct list_span own_text;	/* as it was written first */
	int err;			/* the sink's */

	struct list_zone zone;
	/* unbound: the last zone whose data holds for all below; RPZ: the name that the last record blocked */
	struct list_name last;

	/* what an item points to while it is handed on */
	struct list_name name;
	struct rule_condition condition;
	struct list_name deny[RULE_DENY_MAX];
	struct rule_answer answer;
	uint8_t rdata[LIST_RDATA_MAX];
	char pattern[LIST_PATTERN_MAX];
};

/* ---- list.c ---- */

/* Count the line, or a name of it, as skipped. */
void list_skip(struct list_reading *r, enum list_skip why);

/* Hand an item on and count it; in a list of what is allowed it is turned around. */
void list_give(struct list_reading *r, struct rule_item *item);

/* Hand on r->name. */
void list_give_name(struct list_reading *r, enum rule_reach reach, enum filter_action action);

/* The same with r->answer. */
void list_give_answer(struct list_reading *r, enum rule_reach reach);

/* Hand on r->name as a block when the address is a sink, else as a rewrite to it. */
void list_give_address(struct list_reading *r, enum rule_reach reach, struct list_span address);

/* Read a name into r->name; false when it was skipped instead. */
bool list_take_name(struct list_reading *r, struct list_span word);

/* ---- list_sink.c ---- */

/*
 * Find the address that over nine tenths of a text's lines, and over 1,000
 * names, have in hosts or dnsmasq format.  Reads all of it twice.
 */
bool list_sink_find(struct list_span text, uint8_t ret_ip[16]);

/* ---- list_fault.c ---- */

/* Note where the line is wrong, before it is skipped; only the first place in a line counts, and only one in the text. */
void list_fault(struct list_reading *r, struct list_span at, const char *expected);

/* The same for a word that is no name: where in it. */
void list_fault_name(struct list_reading *r, struct list_span name);

/* The same for a line that no format takes. */
void list_fault_line(struct list_reading *r, struct list_span line, enum list_skip why);

/* Write the fault of the line that was read last into the report. */
void list_fault_report(const struct list_reading *r);

/* ---- the formats: true when the line was theirs ---- */

bool list_take_hosts(struct list_reading *r, struct list_span s);
/* One word: a name or "*." and a name; @below: a bare name has all below it with it, too. */
bool list_take_domain(struct list_reading *r, struct list_span s, bool below);
bool list_take_adblock(struct list_reading *r, struct list_span s);
bool list_take_dnsmasq(struct list_reading *r, struct list_span s);
bool list_take_unbound(struct list_reading *r, struct list_span s);
bool list_take_rpz(struct list_reading *r, struct list_span s);
bool list_take_regex(struct list_reading *r, struct list_span s);

/* ---- list_modifier.c ---- */

struct list_modifiers {
	bool important, badfilter;
	bool conditions;		/* r->condition holds some */
	bool rewrite;			/* r->answer holds one */
};

/* Read what stands behind the '$' of a rule.  Returns 0 or the reason to drop the rule. */
int list_modifiers_read(struct list_reading *r, struct list_span s, bool exception, struct list_modifiers *ret);

/* Read record types ("A|AAAA", "~A") into r->condition; @separator: ',' or '|', @not: '!' or '~'.  0 or -EINVAL. */
int list_types_read(struct list_reading *r, struct list_span s, char separator, char not);

/* ---- list_rewrite.c ---- */

/* Read the value of $dnsrewrite into r->answer.  Returns 0 or -EINVAL. */
int list_rewrite_read(struct list_reading *r, struct list_span value, bool exception);

/* r->answer becomes a record with an address. */
void list_answer_address(struct list_reading *r, const uint8_t ip[16]);

/* r->answer becomes a record of @type, or an alias, from its text.  Returns 0 or -EINVAL. */
int list_answer_record(struct list_reading *r, uint16_t type, struct list_span text);

/* ---- list_rdata.c ---- */

/**
 * Write a record's data in wire form from its text: A, AAAA, CNAME, DNAME, NS,
 * PTR, MX, SRV, TXT, SVCB and HTTPS (RFC 9460 with its usual parameters).
 *
 * Returns 0, or -EINVAL when the text is not such data, or the type is another one.
 */
int list_rdata(uint16_t type, struct list_span text, uint8_t *ret, size_t size, uint16_t *ret_len);

/* The number of a type of record by its name or "TYPE123"; 0: there is none. */
uint16_t list_type(struct list_span text);

#endif
