/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_rpz.c - records of response policy zones (draft-vixie-dnsop-dns-rpz).
 *
 * A whole zone file or the body of one: owners are relative to the zone, whose
 * name comes from $ORIGIN or the SOA record.  The owner is the trigger, the
 * record the action.  "*.name" is what is below a name, without itself; when
 * the name itself was the record before, with the same action, the two are one
 * subtree, which the table of names can hold.
 */
#include <strings.h>
#include "dns/msg.h"
#include "policy/list_read.h"

enum action { ACTION_BLOCK, ACTION_NODATA, ACTION_ALLOW, ACTION_DROP, ACTION_TCP, ACTION_DATA, ACTION_BAD };

struct record {
	struct list_span owner;		/* without the zone's name */
	uint32_t ttl;
	uint16_t type;
	struct list_span data;
};

/* The text up to a ';' outside of quotes. */
static struct list_span without_comment(struct list_span s)
{
	bool quoted = false;
	const char *p;

	for (p = s.p; p < s.end; p++) {
		if (*p == '\\' && p + 1 < s.end)
			p++;
		else if (*p == '"')
			quoted = !quoted;
		else if (*p == ';' && !quoted)
			break;
	}
	s.end = p;
	return list_trim(s);
}

/* Cut a dot and @suffix from the end; false when it is not there. */
static bool cut_suffix(struct list_span *s, const char *suffix)
{
	size_t n = strlen(suffix);

	if (list_size(*s) <= n || strncasecmp(s->end - n, suffix, n) || s->end[-(ptrdiff_t)n - 1] != '.')
		return false;
	s->end -= n + 1;
	return true;
}

static void cut_dot(struct list_span *s)
{
	if (list_size(*s) > 1 && s->end[-1] == '.')
		s->end--;
}

static void set_origin(struct list_reading *r, struct list_span s)
{
	cut_dot(&s);
	if (list_size(s) >= sizeof(r->zone.origin))
		return;
	memcpy(r->zone.origin, s.p, list_size(s));
	r->zone.origin[list_size(s)] = '\0';
}

static bool take_directive(struct list_reading *r, struct list_span s)
{
	struct list_span name = list_word(&s), value = list_word(&s);
	unsigned long ttl;

	if (list_is(name, "$ORIGIN"))
		set_origin(r, value);
	else if (list_is(name, "$TTL") && list_number(value, INT32_MAX, &ttl))
		r->zone.ttl = (uint32_t)ttl;
	else if (!list_is(name, "$TTL") && r->format != LIST_RPZ)
		return false;
	list_skip(r, LIST_SKIP_statement);
	return true;
}

/* Take "[owner] [ttl] [class] type data" apart, in which ttl and class may change places.  False when it is none. */
static bool read_record(struct list_reading *r, struct list_span s, struct record *ret)
{
	struct list_span word;
	unsigned long ttl = r->zone.ttl;
	unsigned i;

	if (r->indented && r->format == LIST_RPZ) {
		ret->owner = (struct list_span){ r->zone.owner, r->zone.owner + r->zone.owner_len };
	} else {
		ret->owner = list_word(&s);
		r->zone.owner_len = list_size(ret->owner) < sizeof(r->zone.owner) ? list_size(ret->owner) : 0;
		memcpy(r->zone.owner, ret->owner.p, r->zone.owner_len);
	}
	word = list_word(&s);
	for (i = 0; i < 2; i++)
		if (list_number(word, INT32_MAX, &ttl) || list_is(word, "IN"))
			word = list_word(&s);
	ret->ttl = (uint32_t)ttl;
	ret->type = list_type(word);
	ret->data = s;
	return ret->owner.p < ret->owner.end && ret->type && s.p < s.end;
}

/* Records of the zone itself, which are no rules.  A SOA in parentheses goes on over lines. */
static bool take_zone_record(struct list_reading *r, const struct record *rec)
{
	bool is_soa = rec->type == DNS_SOA;

	if (!is_soa && rec->type != DNS_NS && rec->type != DNS_RRSIG && rec->type != DNS_NSEC && rec->type != DNS_DNSKEY &&
	    rec->type != DNS_NSEC3 && rec->type != DNS_DS && !list_is(rec->owner, "@"))
		return false;
	if (is_soa && rec->owner.end[-1] == '.')
		set_origin(r, rec->owner);
	r->zone.in_parentheses = list_has(rec->data, '(') && !list_has(rec->data, ')');
	list_skip(r, LIST_SKIP_statement);
	return true;
}

static struct list_span relative(const struct list_reading *r, struct list_span owner)
{
	if (owner.end[-1] != '.')
		return owner;
	cut_dot(&owner);
	if (*r->zone.origin)
		cut_suffix(&owner, r->zone.origin);
	return owner;
}

static enum action action_of(const struct record *rec)
{
	static const struct {
		const char *target;
		enum action action;
	} rows[] = {
		{ ".", ACTION_BLOCK }, { "*.", ACTION_NODATA }, { "rpz-passthru.", ACTION_ALLOW },
		{ "rpz-drop.", ACTION_DROP },
		{ "rpz-tcp-only.", ACTION_TCP },
	};
	struct list_span target = rec->data;
	unsigned i;

	if (rec->type != DNS_CNAME)
		return ACTION_DATA;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (list_is(target, rows[i].target))
			return rows[i].action;
	/* an alias to itself is the old form of rpz-passthru; one to "*.name" would put the question in front */
	cut_dot(&target);
	if (list_size(target) == list_size(rec->owner) && !strncasecmp(target.p, rec->owner.p, list_size(target)))
		return ACTION_ALLOW;
	return list_starts(target, "*.") ? ACTION_BAD : ACTION_DATA;
}

/* True when the name just read is the one that the line before blocked, alone. */
static bool completes_last(struct list_reading *r)
{
	return r->last.len == r->name.len && !memcmp(r->last.wire, r->name.wire, r->name.len);
}

static void take_name(struct list_reading *r, struct list_span owner, const struct record *rec, enum action action)
{
	bool below = list_starts(owner, "*."), completes;
	enum rule_reach reach = below ? RULE_BELOW : RULE_EXACT;

	if (below)
		owner.p += 2;
	if (!list_take_name(r, owner))
		return;
	completes = below && completes_last(r);
	r->last.len = 0;
	switch (action) {
	case ACTION_BLOCK:
		if (!below)
			r->last = r->name;
		list_give_name(r, completes ? RULE_SUBTREE : reach, FILTER_BLOCK);
		return;
	case ACTION_ALLOW:
		list_give_name(r, reach, FILTER_ALLOW);
		return;
	case ACTION_NODATA:
		r->answer = (struct rule_answer){ .kind = RULE_ANSWER_RCODE, .rcode = DNS_NOERROR };
		break;
	case ACTION_DROP:
	case ACTION_TCP:
		r->answer = (struct rule_answer){ .kind = action == ACTION_DROP ? RULE_ANSWER_DROP : RULE_ANSWER_TCP };
		break;
	default:
		if (action == ACTION_BAD || list_answer_record(r, rec->type, rec->data)) {
			list_skip(r, LIST_SKIP_rewrite);
			return;
		}
		r->answer.ttl = rec->ttl;
	}
	list_give_answer(r, reach);
}

#define TRIGGER_LABELS 9		/* a prefix length and up to eight groups */

/* Turn the groups around: "zz.db8.2001" is "2001:db8::", "0.2.0.192" is "192.0.2.0". */
static void write_address(const struct list_span *group, unsigned count, char separator, char *to)
{
	unsigned i;
	bool gap;

	for (i = count; i-- > 0;) {
		gap = list_is(group[i], "zz");
		if (gap && (i == count - 1 || i == 0))
			*to++ = ':';
		else if (!gap)
			to = mempcpy(to, group[i].p, list_size(group[i]));
		if (i)
			*to++ = separator;
	}
	*to = '\0';
}

/* "24.0.2.0.192": prefix length, then the address backwards. */
static bool read_trigger_address(struct list_span s, struct addr_prefix *ret)
{
	struct list_span label[TRIGGER_LABELS], length = list_until(&s, '.');
	unsigned count = 0;
	bool gap = false, v4;
	char text[TRIGGER_LABELS * 6];
	unsigned long bits;

	while (s.p < s.end) {
		if (count == TRIGGER_LABELS - 1)
			return false;
		label[count] = list_until(&s, '.');
		gap |= list_is(label[count], "zz");
		if (list_size(label[count++]) > 4)
			return false;
	}
	if (!count)
		return false;
	v4 = count == 4 && !gap;
	write_address(label, count, v4 ? '.' : ':', text);
	if (!list_address_ip((struct list_span){ text, text + strlen(text) }, ret->ip) ||
	    !list_number(length, v4 ? 32 : 128, &bits))
		return false;
	ret->len = (uint8_t)(v4 ? bits + 96 : bits);
	list_mask(ret);
	return true;
}

static void take_address(struct list_reading *r, struct list_span owner, enum action action)
{
	struct rule_item item = { .kind = RULE_ADDRESS, .action = FILTER_BLOCK };

	if ((action != ACTION_BLOCK && action != ACTION_NODATA) || !read_trigger_address(owner, &item.address))
		list_skip(r, LIST_SKIP_trigger);
	else
		list_give(r, &item);
}

bool list_take_rpz(struct list_reading *r, struct list_span s)
{
	struct record rec;
	enum action action;

	s = without_comment(s);
	if (r->zone.in_parentheses) {
		r->zone.in_parentheses = !list_has(s, ')');
		list_skip(r, LIST_SKIP_statement);
		return true;
	}
	if (s.p == s.end) {
		list_skip(r, LIST_SKIP_empty);
		return true;
	}
	if (*s.p == '$')
		return take_directive(r, s);
	if (!read_record(r, s, &rec))
		return false;
	if (take_zone_record(r, &rec))
		return true;
	rec.owner = relative(r, rec.owner);
	action = action_of(&rec);
	if (cut_suffix(&rec.owner, "rpz-ip"))
		take_address(r, rec.owner, action);
	else if (cut_suffix(&rec.owner, "rpz-client-ip") || cut_suffix(&rec.owner, "rpz-nsdname") ||
		 cut_suffix(&rec.owner, "rpz-nsip"))
		list_skip(r, LIST_SKIP_trigger);
	else
		take_name(r, rec.owner, &rec, action);
	return true;
}
