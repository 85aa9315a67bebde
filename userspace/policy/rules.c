/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rules.c - special rules, found by name, by pattern and by address.
 *
 * Names and prefixes stand in hash tables of chains; a bit for each number of
 * labels says which parents of a name are worth a look.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dns/name.h"
#include "policy/rules_room.h"

void rules_free(struct rules *r)
{
	unsigned i;

	if (!r)
		return;
	for (i = 0; r->node && i < r->count; i++)
		regex_free(r->node[i]->regex);
	regex_set_free(r->regexes);
	free(r->regex);
	free(r->names.slot);
	free(r->addresses.slot);
	free(r->node);
	arena_done(&r->arena);
	free(r);
}

unsigned rules_count(const struct rules *r)
{
	return r->count;
}

uint64_t rules_regex_limited(const struct rules *r)
{
	return r->regexes ? regex_set_limited(r->regexes) : 0;
}

uint64_t rules_regex_spent(const struct rules *r)
{
	return r->regexes ? regex_set_spent(r->regexes) : 0;
}

uint64_t rules_regex_heavy(const struct rules *r)
{
	return r->regexes ? regex_set_heavy(r->regexes) : 0;
}

unsigned rules_regex_worst(const struct rules *r, const struct rule **ret, unsigned max)
{
	uint64_t steps[RULES_WORST_MAX], mine;
	unsigned i, at, count = 0;

	max = max < RULES_WORST_MAX ? max : RULES_WORST_MAX;
	for (i = 0; i < r->regex_count; i++) {
		mine = regex_set_heavy_of(r->regexes, i);
		for (at = count; at && steps[at - 1] < mine; at--)
			if (at < max) {
				steps[at] = steps[at - 1];
				ret[at] = ret[at - 1];
			}
		if (!mine || at == max)
			continue;
		steps[at] = mine;
		ret[at] = &r->regex[i]->rule;
		count += count < max;
	}
	return count;
}

enum mr_verdict_kind rules_regex_strength(const struct rules *r, unsigned source)
{
	return source < FILTER_LISTS_MAX ? (enum mr_verdict_kind)r->strength[source] : MR_NONE;
}

bool rules_have_regex(const struct rules *r)
{
	return r->regex_count > 0;
}

bool rules_have_address(const struct rules *r)
{
	return r->lens_count > 0;
}

struct rule_item rule_node_item(const struct rule_node *n)
{
	return (struct rule_item){
		.kind = n->rule.kind, .action = n->rule.action, .reach = n->rule.reach, .badfilter = n->bad,
		.name = n->name, .name_len = n->name_len, .pattern = n->pattern, .pattern_len = n->pattern_len,
		.invert = n->invert, .address = n->address, .condition = n->rule.condition, .answer = n->rule.answer,
		.line = n->rule.line, .text = n->rule.text, .text_len = strlen(n->rule.text),
	};
}

/* ---- tables ---- */

static uint64_t hash_name(const struct rule_node *n, const void *arg)
{
	return hash_octets(arg, n->name, n->name_len);
}

static uint64_t hash_address(const struct rule_node *n, const void *arg)
{
	return hash_mix(hash_octets(arg, n->address.ip, 16), n->address.len);
}

static bool same_name(const struct rule_node *a, const uint8_t *name, uint16_t len)
{
	return a->name_len == len && !memcmp(a->name, name, len);
}

static struct rule_node **find_name(const struct rules *r, const uint8_t *name, uint16_t len)
{
	uint64_t i = hash_octets(&r->key, name, len) & r->names.mask;

	for (; r->names.slot[i] && !same_name(r->names.slot[i], name, len); i = (i + 1) & r->names.mask)
		;
	return &r->names.slot[i];
}

static struct rule_node **find_address(const struct rules *r, const struct rule_node *like)
{
	uint64_t i = hash_address(like, &r->key) & r->addresses.mask;
	const struct rule_node *n;

	for (; (n = r->addresses.slot[i]); i = (i + 1) & r->addresses.mask)
		if (n->address.len == like->address.len && !memcmp(n->address.ip, like->address.ip, 16))
			break;
	return &r->addresses.slot[i];
}

/* Put a node first in its slot's chain; they come in reverse order. */
static void chain(struct rule_table *t, struct rule_node **slot, struct rule_node *n)
{
	t->count += !*slot;
	n->next = *slot;
	*slot = n;
}

static int index_node(struct rules *r, struct rule_node *n)
{
	if (n->rule.kind == RULE_NAME) {
		if (rule_table_grow(&r->names, hash_name, &r->key))
			return -ENOMEM;
		chain(&r->names, find_name(r, n->name, n->name_len), n);
		r->depths |= 1U << rules_depth_bit(n->rule.labels);
	} else if (n->rule.kind == RULE_ADDRESS) {
		if (rule_table_grow(&r->addresses, hash_address, &r->key))
			return -ENOMEM;
		chain(&r->addresses, find_address(r, n), n);
	} else {
		r->regex_count++;
	}
	return 0;
}

static void note_lens(struct rules *r)
{
	bool used[129] = { false };
	unsigned i;

	for (i = 0; i < r->count; i++)
		if (r->node[i]->rule.kind == RULE_ADDRESS)
			used[r->node[i]->address.len] = true;
	for (i = 129; i-- > 0;)
		if (used[i])
			r->lens[r->lens_count++] = (uint8_t)i;
}

static int index_regexes(struct rules *r)
{
	struct regex_member *members;
	struct rule_node *n;
	unsigned i, count = 0;

	if (!r->regex_count)
		return 0;
	r->regex = calloc(r->regex_count, sizeof(struct rule_node *));
	members = calloc(r->regex_count, sizeof(*members));
	for (i = 0; r->regex && members && i < r->count; i++) {
		n = r->node[i];
		if (n->rule.kind != RULE_REGEX)
			continue;
		members[count] = (struct regex_member){ n->pattern, n->pattern_len, n->regex, n->invert };
		r->regex[count++] = n;
		if (rule_strength(&n->rule) > r->strength[n->rule.source])
			r->strength[n->rule.source] = (uint8_t)rule_strength(&n->rule);
	}
	if (r->regex && members)
		r->regexes = regex_set_new(members, count);
	free(members);
	return r->regexes ? 0 : -ENOMEM;
}

int rules_index(struct rules *r)
{
	unsigned i;
	int err = 0;

	for (i = r->count; i-- > 0 && !err;)
		err = index_node(r, r->node[i]);
	if (!err)
		err = index_regexes(r);
	note_lens(r);
	return err;
}

/* ---- looking up ---- */

static bool reaches(const struct rule_node *n, unsigned depth, unsigned labels)
{
	return n->rule.reach == RULE_SUBTREE || (n->rule.reach == RULE_EXACT) == (depth == labels);
}

void rules_each_name(const struct rules *r, const uint8_t *name, uint16_t len,
		     void (*each)(const struct rule *rule, void *arg), void *arg)
{
	unsigned labels = dns_name_labels(name), depth;
	const struct rule_node *n;
	const uint8_t *p = name;

	if (!r->names.count)
		return;
	for (depth = labels;; depth--, p += *p + 1) {
		if (r->depths >> rules_depth_bit(depth) & 1)
			for (n = *find_name(r, p, (uint16_t)(name + len - p)); n; n = n->next)
				if (reaches(n, depth, labels))
					each(&n->rule, arg);
		if (!depth)
			break;
	}
}

struct visit {
	const struct rules *r;
	void (*each)(const struct rule *rule, void *arg);
	void *arg;
};

static bool visit_regex(unsigned number, void *arg)
{
	const struct visit *v = arg;

	v->each(&v->r->regex[number]->rule, v->arg);
	return true;
}

void rules_each_regex(const struct rules *r, const uint8_t *name, uint16_t len, uint32_t *steps,
		      void (*each)(const struct rule *rule, void *arg), void *arg)
{
	uint32_t all = REGEX_STEPS_MAX;
	struct visit v = { r, each, arg };
	char text[REGEX_TEXT_MAX];

	if (r->regexes)
		regex_set_each(r->regexes, text, regex_text(name, len, text), steps ? steps : &all, visit_regex, &v);
}

static bool note_regex(unsigned number, void *arg)
{
	*(bool *)arg = true;
	return false;
}

bool rules_any_regex(const struct rules *r, const uint8_t *name, uint16_t len, uint32_t *steps)
{
	uint32_t all = REGEX_STEPS_MAX, *left = steps ? steps : &all;
	char text[REGEX_TEXT_MAX];
	bool any = false;

	if (!r->regexes)
		return false;
	regex_set_each(r->regexes, text, regex_text(name, len, text), left, note_regex, &any);
	return any || !*left;
}

static void cut(struct addr_prefix *p, unsigned len)
{
	unsigned i = (len + 7) / 8;

	p->len = (uint8_t)len;
	if (len % 8)
		p->ip[len / 8] &= (uint8_t)(0xff00 >> len % 8);
	memset(p->ip + i, 0, 16 - i);
}

void rules_each_address(const struct rules *r, const uint8_t ip[16],
			void (*each)(const struct rule *rule, void *arg), void *arg)
{
	struct rule_node like = { 0 };
	const struct rule_node *n;
	unsigned i;

	memcpy(like.address.ip, ip, 16);
	for (i = 0; i < r->lens_count; i++) {
		cut(&like.address, r->lens[i]);	/* they grow shorter */
		for (n = *find_address(r, &like); n; n = n->next)
			each(&n->rule, arg);
	}
}

/* ---- conditions ---- */

static bool type_applies(const struct rule_condition *c, uint16_t qtype)
{
	unsigned i;

	for (i = 0; i < c->types; i++)
		if (c->type[i] == qtype)
			return !c->types_not;
	return c->types_not || !c->types;
}

static bool is_client(const struct rule_client *c, const struct who *who)
{
	switch (c->kind) {
	case RULE_CLIENT_PREFIX:
		return addr_in_prefix(who->ip, &c->prefix);
	case RULE_CLIENT_MAC:
		return who->has_mac && !memcmp(who->mac, c->mac, sizeof(c->mac));
	default:
		return who->name && !strcmp(who->name, c->name);
	}
}

static bool client_applies(const struct rule_condition *c, const struct who *who)
{
	bool wanted = false, found = false;
	unsigned i;

	for (i = 0; i < c->clients; i++) {
		wanted |= !c->client[i].not;
		if (!who || !is_client(&c->client[i], who))
			continue;
		if (c->client[i].not)
			return false;
		found = true;
	}
	return found || !wanted;
}

static bool has_tag(const struct who *who, const char *tag)
{
	unsigned i;

	for (i = 0; who && i < who->tags; i++)
		if (!strcmp(who->tag[i], tag))
			return true;
	return false;
}

static bool tag_applies(const struct rule_condition *c, const struct who *who)
{
	bool wanted = false, found = false;
	unsigned i;

	for (i = 0; i < c->tags; i++) {
		wanted |= !c->tag_not[i];
		if (!has_tag(who, c->tag[i]))
			continue;
		if (c->tag_not[i])
			return false;
		found = true;
	}
	return found || !wanted;
}

/* True when the name is one of those, or below one. */
static bool is_denied(const struct rule_condition *c, const uint8_t *name, uint16_t len)
{
	const uint8_t *p;
	unsigned i;

	for (i = 0; i < c->denies; i++)
		for (p = name; (size_t)(name + len - p) >= c->deny_len[i]; p += *p + 1) {
			if ((size_t)(name + len - p) == c->deny_len[i] && !memcmp(p, c->deny[i], c->deny_len[i]))
				return true;
			if (!*p)
				break;
		}
	return false;
}

bool rule_applies(const struct rule *rule, const uint8_t *name, uint16_t len, uint16_t qtype, const struct who *who)
{
	const struct rule_condition *c = rule->condition;

	return !c || (type_applies(c, qtype) && client_applies(c, who) && tag_applies(c, who) && !is_denied(c, name, len));
}
