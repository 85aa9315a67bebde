/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_unbound.c - statements of unbound's configuration that are about names.
 *
 * local-zone: "name" type, and local-data: "name [ttl] [class] type data".
 */
#include "dns/msg.h"
#include "policy/list_read.h"

/* Types of zones under which a name and all below are not resolved. */
static bool blocks(struct list_span type)
{
	static const char *const types[] = {
		"always_null", "always_nxdomain", "always_nodata", "always_refuse", "always_deny", "refuse", "deny", "static",
		"redirect", "inform_deny", "inform_redirect",
	};
	unsigned i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (list_is(type, types[i]))
			return true;
	return false;
}

/* A word, or what stands between quotes of either kind; @s moves behind it and blanks. */
static struct list_span next_value(struct list_span *s)
{
	struct list_span v;
	char quote = s->p < s->end ? *s->p : 0;

	if (quote != '"' && quote != '\'')
		return list_word(s);
	s->p++;
	v = list_until(s, quote);
	*s = list_trim(*s);
	return v;
}

static void take_zone(struct list_reading *r, struct list_span s)
{
	struct list_span name = next_value(&s), type = next_value(&s);

	r->last.len = 0;
	if (!blocks(type))
		list_skip(r, LIST_SKIP_statement);
	else if (!list_take_name(r, name))
		return;
	else if (list_name_is_local(&r->name))
		list_skip(r, LIST_SKIP_local_name);
	else {
		if (list_is(type, "redirect") || list_is(type, "inform_redirect"))
			r->last = r->name;
		list_give_name(r, RULE_SUBTREE, FILTER_BLOCK);
	}
}

/* The data of a zone of type redirect hold for all below it. */
static enum rule_reach reach_of(const struct list_reading *r)
{
	return r->last.len == r->name.len && !memcmp(r->last.wire, r->name.wire, r->name.len) ? RULE_SUBTREE : RULE_EXACT;
}

static bool is_sink(struct list_span address)
{
	enum list_address kind;

	return list_is_address(address, &kind) && kind == LIST_ADDRESS_SINK;
}

static void take_data(struct list_reading *r, struct list_span s)
{
	struct list_span name = list_word(&s), word = list_word(&s);
	unsigned long ttl = 0;
	uint16_t type;

	if (list_number(word, INT32_MAX, &ttl))
		word = list_word(&s);
	if (list_is(word, "IN"))
		word = list_word(&s);
	type = list_type(word);
	if (!list_take_name(r, name))
		return;
	if (list_name_is_local(&r->name)) {
		list_skip(r, LIST_SKIP_local_name);
	} else if (type == DNS_SOA || type == DNS_NS) {
		list_skip(r, LIST_SKIP_statement);
	} else if (!type || list_answer_record(r, type, s)) {
		list_skip(r, LIST_SKIP_rewrite);
	} else if ((type == DNS_A || type == DNS_AAAA) && (r->allow || is_sink(s))) {
		list_give_name(r, reach_of(r), FILTER_BLOCK);
	} else {
		r->answer.ttl = (uint32_t)ttl;
		list_give_answer(r, reach_of(r));
	}
}

bool list_take_unbound(struct list_reading *r, struct list_span s)
{
	struct list_span value = s, key = list_until(&value, ':');

	value = list_trim(value);
	if (list_is(key, "local-zone")) {
		take_zone(r, value);
	} else if (list_is(key, "local-data")) {
		take_data(r, list_trim(next_value(&value)));
	} else if (r->format == LIST_UNBOUND || list_is(s, "server:") || list_is(key, "local-data-ptr")) {
		list_skip(r, key.end < s.end ? LIST_SKIP_statement : LIST_SKIP_syntax);
	} else {
		return false;
	}
	return true;
}
