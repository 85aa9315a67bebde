/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_modifier.c - what stands behind the '$' of an ad blocker's rule.
 *
 * Modifiers are separated by ','; values of several parts by '|'.  A '\' takes
 * the meaning off the character behind it.  A modifier that is not known, or
 * whose value is no good, drops the whole rule: it would say too much without.
 */
#include <errno.h>
#include <stdio.h>
#include "policy/list_read.h"

/* The text up to a @c that no '\' stands before; @s moves behind it. */
static struct list_span next_part(struct list_span *s, char c)
{
	struct list_span part = { s->p, s->p };

	while (part.end < s->end && *part.end != c)
		part.end += *part.end == '\\' && part.end + 1 < s->end ? 2 : 1;
	s->p = part.end < s->end ? part.end + 1 : s->end;
	return part;
}

/* Copy without '\' before @what; false when it does not fit. */
static bool unescape(struct list_span s, const char *what, char *ret, size_t size)
{
	size_t n = 0;

	for (; s.p < s.end && n + 1 < size; s.p++) {
		if (*s.p == '\\' && s.p + 1 < s.end && s.p[1] && strchr(what, s.p[1]))
			s.p++;
		ret[n++] = *s.p;
	}
	ret[n] = '\0';
	return s.p == s.end;
}

static bool cut_not(struct list_span *s, char mark)
{
	bool not = s->p < s->end && *s->p == mark;

	s->p += not;
	return not;
}

int list_types_read(struct list_reading *r, struct list_span s, char separator, char mark)
{
	struct rule_condition *c = &r->condition;
	uint16_t yes[RULE_TYPES_MAX], no[RULE_TYPES_MAX], type;
	unsigned yeses = 0, noes = 0;
	struct list_span part;
	bool not;

	do {
		part = list_trim(list_until(&s, separator));
		not = cut_not(&part, mark);
		type = list_type(part);
		if (!type || (not ? noes : yeses) == RULE_TYPES_MAX)
			return -EINVAL;
		if (not)
			no[noes++] = type;
		else
			yes[yeses++] = type;
	} while (s.p < s.end);
	c->types_not = !yeses;
	c->types = yeses ? yeses : noes;
	memcpy(c->type, yeses ? yes : no, c->types * sizeof(c->type[0]));
	return 0;
}

static bool read_dnstype(struct list_reading *r, struct list_span value)
{
	return !r->condition.types && list_types_read(r, value, '|', '~') == 0;
}

/* "02:00:00:00:00:01" */
static bool read_mac(const char *text, uint8_t mac[6])
{
	int end = 0;

	return strlen(text) == 17 &&
	       sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4],
		      &mac[5], &end) == 6 &&
	       end == 17;
}

/* "10.0.0.1/8" as well as "10.0.0.0/8": bits behind the length go. */
static bool read_prefix(const char *text, struct addr_prefix *ret)
{
	struct list_span len = { text, text + strlen(text) }, address = list_until(&len, '/');
	bool whole = address.end == len.end;
	unsigned long bits = 0;

	if (!list_address_ip(address, ret->ip) || list_is(address, "0"))
		return false;
	ret->len = 128;
	if (whole)
		return true;
	if (!list_number(len, list_has(address, ':') ? 128 : 32, &bits))
		return false;
	ret->len = (uint8_t)(list_has(address, ':') ? bits : bits + 96);
	list_mask(ret);
	return true;
}

static struct list_span without_quotes(struct list_span s)
{
	if (list_size(s) > 1 && (*s.p == '\'' || *s.p == '"') && s.end[-1] == *s.p) {
		s.p++;
		s.end--;
	}
	return s;
}

static bool read_client(struct list_reading *r, struct list_span value)
{
	struct rule_condition *c = &r->condition;
	struct rule_client *to;
	struct list_span part;

	do {
		part = next_part(&value, '|');
		if (c->clients == RULE_CLIENTS_MAX)
			return false;
		to = &c->client[c->clients++];
		to->not = cut_not(&part, '~');
		if (!unescape(without_quotes(part), "\\'\"|,", to->name, sizeof(to->name)) || !*to->name)
			return false;
		to->kind = RULE_CLIENT_NAME;
		if (read_mac(to->name, to->mac))
			to->kind = RULE_CLIENT_MAC;
		else if (read_prefix(to->name, &to->prefix))
			to->kind = RULE_CLIENT_PREFIX;
	} while (value.p < value.end);
	return true;
}

/* Lower-case letters, digits and '_'. */
static bool is_tag(struct list_span s)
{
	if (s.p == s.end || list_size(s) >= RULE_TAG_TEXT)
		return false;
	for (; s.p < s.end; s.p++)
		if (!(*s.p >= 'a' && *s.p <= 'z') && !(*s.p >= '0' && *s.p <= '9') && *s.p != '_')
			return false;
	return true;
}

static bool read_ctag(struct list_reading *r, struct list_span value)
{
	struct rule_condition *c = &r->condition;
	struct list_span part;

	do {
		part = list_until(&value, '|');
		if (c->tags == RULE_TAGS_MAX)
			return false;
		c->tag_not[c->tags] = cut_not(&part, '~');
		if (!is_tag(part))
			return false;
		memcpy(c->tag[c->tags++], part.p, list_size(part));
	} while (value.p < value.end);
	return true;
}

static bool read_denyallow(struct list_reading *r, struct list_span value)
{
	struct rule_condition *c = &r->condition;
	struct list_name *name;

	do {
		if (c->denies == RULE_DENY_MAX)
			return false;
		name = &r->deny[c->denies];
		if (list_name_read(list_until(&value, '|'), name))
			return false;
		c->deny[c->denies] = name->wire;
		c->deny_len[c->denies++] = (uint16_t)name->len;
	} while (value.p < value.end);
	return true;
}

/* Modifiers that narrow a rule. */
static const struct {
	const char *name;
	bool (*read)(struct list_reading *r, struct list_span value);
	const char *expected;
} conditions[] = {
	{ "dnstype", read_dnstype, "dnstype= once, with types of records like A|AAAA or ~A" },
	{ "client", read_client, "client= with addresses, prefixes, hardware addresses or names of clients, '|' between, '~' in front: not" },
	{ "ctag", read_ctag, "ctag= with tags of a-z, 0-9 and '_', '|' between, '~' in front: not" },
	{ "denyallow", read_denyallow, "denyallow= with names, '|' between" },
};

static bool read_condition(struct list_reading *r, struct list_span name, struct list_span value, const char **ret_expected)
{
	unsigned i;

	*ret_expected = "important, badfilter, dnsrewrite=, dnstype=, client=, ctag= or denyallow=";
	for (i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		if (!list_is(name, conditions[i].name))
			continue;
		*ret_expected = conditions[i].expected;
		return value.p < value.end && conditions[i].read(r, value);
	}
	return false;
}

static int read_rewrite(struct list_reading *r, struct list_span value, bool exception)
{
	char text[LIST_TEXT_MAX];

	if (!unescape(value, ",\\$", text, sizeof(text)))
		return -EINVAL;
	return list_rewrite_read(r, (struct list_span){ text, text + strlen(text) }, exception);
}

static int read_one(struct list_reading *r, struct list_span value, bool exception, struct list_modifiers *m)
{
	struct list_span whole = value, name = list_trim(list_until(&value, '='));
	bool bare = name.end == value.end;
	const char *expected;

	if (list_is(name, "important") && bare)
		m->important = true;
	else if (list_is(name, "badfilter") && bare)
		m->badfilter = true;
	else if (list_is(name, "dnsrewrite") && !m->rewrite && !read_rewrite(r, value, exception))
		m->rewrite = true;
	else if (list_is(name, "dnsrewrite")) {
		list_fault(r, whole, "dnsrewrite= once, with an address, a name, NOERROR, NXDOMAIN, REFUSED or SERVFAIL, "
				     "or RCODE;TYPE;VALUE");
		return LIST_SKIP_rewrite;
	} else if (read_condition(r, name, value, &expected)) {
		m->conditions = true;
	} else {
		list_fault(r, whole, list_is(name, "important") || list_is(name, "badfilter") ? "no value" : expected);
		return LIST_SKIP_modifier;
	}
	return 0;
}

int list_modifiers_read(struct list_reading *r, struct list_span s, bool exception, struct list_modifiers *ret)
{
	int bad = 0;

	memset(ret, 0, sizeof(*ret));
	memset(&r->condition, 0, sizeof(r->condition));
	do
		bad = read_one(r, next_part(&s, ','), exception, ret);
	while (!bad && s.p < s.end);
	return bad;
}
