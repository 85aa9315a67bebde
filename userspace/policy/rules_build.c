/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rules_build.c - takes special rules, drops what is there twice or taken back.
 *
 * Two rules say the same when their packed forms (rule_pack.h) have the same
 * keyed hash of 128 bits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "dns/name.h"
#include "policy/rule_pack.h"
#include "policy/rules_room.h"

/* Conditions are large and few: rules share them. */
struct condition {
	struct condition *next;
	struct rule_condition c;
	uint32_t size;
	uint8_t packed[];
};
#define CONDITION_SLOTS 4096

struct rules_builder {
	struct arena arena;
	struct hash_key key[2];
	struct rule_node **node;
	unsigned count, room;
	size_t regex_octets;
	unsigned lists;			/* sources below are lists */
	struct rule_table seen;
	struct condition *condition[CONDITION_SLOTS];
	uint8_t *packed;		/* RULE_PACK_MAX octets of scratch */
};

struct rules_builder *rules_builder_new(void)
{
	struct rules_builder *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	arena_init(&b->arena, NULL, 0);
	random_fill(b->key, sizeof(b->key));
	b->packed = malloc(RULE_PACK_MAX);
	if (!b->packed) {
		rules_builder_free(b);
		return NULL;
	}
	return b;
}

void rules_builder_lists(struct rules_builder *b, unsigned lists)
{
	b->lists = lists;
}

void rules_builder_free(struct rules_builder *b)
{
	unsigned i;

	if (!b)
		return;
	for (i = 0; i < b->count; i++)
		regex_free(b->node[i]->regex);
	free(b->node);
	free(b->seen.slot);
	free(b->packed);
	arena_done(&b->arena);
	free(b);
}

/* ---- what was seen ---- */

static uint64_t hash_said(const struct rule_node *n, const void *arg)
{
	return hash_mix(n->key[0], n->rule.source * 2U + n->bad);
}

static bool same_said(const struct rule_node *a, const struct rule_node *b)
{
	return a->key[0] == b->key[0] && a->key[1] == b->key[1];
}

/* The slot of a rule of that source, empty when it has none like it. */
static struct rule_node **find_seen(const struct rules_builder *b, const struct rule_node *like)
{
	uint64_t i = hash_said(like, NULL) & b->seen.mask;
	const struct rule_node *n;

	for (; (n = b->seen.slot[i]); i = (i + 1) & b->seen.mask)
		if (same_said(n, like) && n->rule.source == like->rule.source && n->bad == like->bad)
			break;
	return &b->seen.slot[i];
}

int rule_table_grow(struct rule_table *t, uint64_t (*hash)(const struct rule_node *n, const void *arg), const void *arg)
{
	struct rule_table more = { .mask = t->slot ? t->mask * 2 + 1 : 63 };
	uint64_t i, j;

	if (t->slot && t->count < t->mask / 2)
		return 0;
	more.slot = calloc(more.mask + 1, sizeof(struct rule_node *));
	if (!more.slot)
		return -ENOMEM;
	for (i = 0; t->slot && i <= t->mask; i++) {
		if (!t->slot[i])
			continue;
		for (j = hash(t->slot[i], arg) & more.mask; more.slot[j]; j = (j + 1) & more.mask)
			;
		more.slot[j] = t->slot[i];
	}
	more.count = t->count;
	free(t->slot);
	*t = more;
	return 0;
}

/* ---- copies ---- */

static const struct rule_condition *copy_condition(struct rules_builder *b, const struct rule_condition *c)
{
	int size = rule_pack_condition(c, b->packed);
	struct condition **slot, *n;
	unsigned i;

	if (size < 0)
		return NULL;
	slot = &b->condition[hash_octets(&b->key[0], b->packed, (size_t)size) % CONDITION_SLOTS];
	for (n = *slot; n; n = n->next)
		if (n->size == (uint32_t)size && !memcmp(n->packed, b->packed, (size_t)size))
			return &n->c;
	n = arena_alloc(&b->arena, sizeof(*n) + (size_t)size);
	if (!n)
		return NULL;
	n->c = *c;
	n->size = (uint32_t)size;
	memcpy(n->packed, b->packed, (size_t)size);
	for (i = 0; i < c->denies; i++) {
		n->c.deny[i] = arena_copy(&b->arena, c->deny[i], c->deny_len[i]);
		if (!n->c.deny[i])
			return NULL;
	}
	n->next = *slot;
	*slot = n;
	return &n->c;
}

static const struct rule_answer *copy_answer(struct arena *a, const struct rule_answer *from)
{
	struct rule_answer *to = arena_copy(a, from, sizeof(*from));

	if (!to || !from->rdata_len)
		return to;
	to->rdata = arena_copy(a, from->rdata, from->rdata_len);
	return to->rdata ? to : NULL;
}

/* The text, ended by zero. */
static const char *copy_text(struct arena *a, const char *text, size_t len)
{
	char *to = arena_alloc(a, len + 1);

	if (!to)
		return NULL;
	if (len)
		memcpy(to, text, len);
	to[len] = '\0';
	return to;
}

static bool copy_what(struct rules_builder *b, const struct rule_item *item, struct rule_node *n)
{
	n->rule.kind = item->kind;
	n->invert = item->kind == RULE_REGEX && item->invert;
	if (item->kind == RULE_NAME) {
		n->rule.reach = item->reach;
		n->rule.labels = (uint16_t)dns_name_labels(item->name);
		n->name = arena_copy(&b->arena, item->name, item->name_len);
		n->name_len = item->name_len;
		return n->name;
	}
	if (item->kind == RULE_ADDRESS) {
		n->address = item->address;
		return true;
	}
	n->pattern = copy_text(&b->arena, item->pattern, item->pattern_len);
	n->pattern_len = (uint16_t)item->pattern_len;
	return n->pattern;
}

static struct rule_node *copy_item(struct rules_builder *b, const struct rule_item *item, const struct rule_node *like)
{
	struct rule_node *n = arena_copy(&b->arena, like, sizeof(*like));

	if (!n || !copy_what(b, item, n))
		return NULL;
	n->rule.action = item->action;
	n->rule.line = item->line;
	n->rule.text = copy_text(&b->arena, item->text, item->text ? item->text_len : 0);
	if (item->condition)
		n->rule.condition = copy_condition(b, item->condition);
	if (item->answer)
		n->rule.answer = copy_answer(&b->arena, item->answer);
	if (!n->rule.text || (item->condition && !n->rule.condition) || (item->answer && !n->rule.answer))
		return NULL;
	return n;
}

/* ---- adding ---- */

static int make_room(struct rules_builder *b)
{
	unsigned room = b->room ? b->room * 2 : 64;
	struct rule_node **more;

	if (b->count < b->room)
		return 0;
	if (b->count >= RULES_MAX)
		return -ENOSPC;
	more = realloc(b->node, room * sizeof(struct rule_node *));
	if (!more)
		return -ENOMEM;
	b->node = more;
	b->room = room;
	return 0;
}

static int new_regex(struct rules_builder *b, const struct rule_item *item, struct regex **ret)
{
	int err = regex_new(item->pattern, item->pattern_len, ret);

	if (err)
		return err;
	if (b->regex_octets + regex_size(*ret) > RULES_REGEX_MAX) {
		regex_free(*ret);
		return -ENOSPC;
	}
	b->regex_octets += regex_size(*ret);
	return 0;
}

int rules_builder_add(struct rules_builder *b, const struct rule_item *item, unsigned source)
{
	struct rule_node like = { .rule.source = (uint16_t)source, .bad = item->badfilter }, *n;
	struct regex *regex = NULL;
	struct rule_node **slot;
	int size, err;

	if (source >= FILTER_LISTS_MAX)
		return -EINVAL;
	size = rule_pack(item, b->packed);
	if (size < 0)
		return size;
	/* But for rewrites, which names of IPv6 addresses may need: their parents ask. */
	if (item->kind == RULE_NAME && dns_name_labels(item->name) > MR_LABELS_MAX &&
	    !(item->answer && item->reach == RULE_EXACT))
		return -ENAMETOOLONG;
	err = make_room(b);
	if (!err)
		err = rule_table_grow(&b->seen, hash_said, NULL);
	if (err)
		return err;
	like.key[0] = hash_octets(&b->key[0], b->packed, (size_t)size);
	like.key[1] = hash_octets(&b->key[1], b->packed, (size_t)size);
	like.number = b->count;
	slot = find_seen(b, &like);
	if (*slot)
		return 0;
	if (item->kind == RULE_REGEX)
		err = new_regex(b, item, &regex);
	if (err)
		return err;
	n = copy_item(b, item, &like);
	if (!n) {
		regex_free(regex);
		return -ENOMEM;
	}
	n->regex = regex;
	*slot = n;
	b->seen.count++;
	b->node[b->count++] = n;
	return 1;
}

int rules_builder_each_bad_name(const struct rules_builder *b, int (*each)(const struct rule_node *n, void *arg),
				void *arg)
{
	const struct rule_node *n;
	unsigned i;
	int err = 0;

	for (i = 0; i < b->count && !err; i++) {
		n = b->node[i];
		if (n->bad && n->rule.kind == RULE_NAME && !n->rule.condition && !n->rule.answer)
			err = each(n, arg);
	}
	return err;
}

/* ---- making ---- */

static uint64_t hash_all(const struct rule_node *n, const void *arg)
{
	return n->key[0];
}

/* The $badfilter rules, of all sources, by what they say. */
static int collect_bad(const struct rules_builder *b, struct rule_table *t)
{
	uint64_t j;
	unsigned i;

	for (i = 0; i < b->count; i++) {
		if (!b->node[i]->bad)
			continue;
		if (rule_table_grow(t, hash_all, NULL))
			return -ENOMEM;
		for (j = b->node[i]->key[0] & t->mask; t->slot[j]; j = (j + 1) & t->mask)
			;
		t->slot[j] = b->node[i];
		t->count++;
	}
	return 0;
}

/* A list takes nothing from those who chose it. */
static bool may_take(const struct rules_builder *b, const struct rule_node *bad, const struct rule_node *n)
{
	return bad->rule.source >= b->lists || n->rule.source < b->lists;
}

static bool is_taken_back(const struct rules_builder *b, const struct rule_table *bad, const struct rule_node *n)
{
	uint64_t j;

	if (n->bad)
		return true;
	if (!bad->slot)
		return false;
	for (j = n->key[0] & bad->mask; bad->slot[j]; j = (j + 1) & bad->mask)
		if (same_said(bad->slot[j], n) && may_take(b, bad->slot[j], n))
			return true;
	return false;
}

static int by_source_and_line(const void *a, const void *b)
{
	const struct rule_node *x = *(struct rule_node *const *)a, *y = *(struct rule_node *const *)b;

	if (x->rule.source != y->rule.source)
		return x->rule.source < y->rule.source ? -1 : 1;
	if (x->rule.line != y->rule.line)
		return x->rule.line < y->rule.line ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Give the nodes that stay to the rules. */
static void move_nodes(struct rules_builder *b, const struct rule_table *bad, struct rules *r)
{
	unsigned i;

	for (i = 0; i < b->count; i++) {
		if (!is_taken_back(b, bad, b->node[i]))
			r->node[r->count++] = b->node[i];
		else
			regex_free(b->node[i]->regex);
	}
	r->arena = b->arena;
	arena_init(&b->arena, NULL, 0);
	memset(b->condition, 0, sizeof(b->condition));
	free(b->seen.slot);
	b->seen = (struct rule_table){ 0 };
	b->count = 0;
	b->regex_octets = 0;
	if (r->count)
		qsort(r->node, r->count, sizeof(struct rule_node *), by_source_and_line);
}

int rules_builder_make(struct rules_builder *b, struct rules **ret)
{
	struct rules *r = calloc(1, sizeof(*r));
	struct rule_table bad = { 0 };
	int err = r ? collect_bad(b, &bad) : -ENOMEM;

	if (err)
		goto out;
	arena_init(&r->arena, NULL, 0);
	r->key = b->key[0];
	r->node = calloc(b->count + 1U, sizeof(struct rule_node *));
	if (!r->node) {
		err = -ENOMEM;
		goto out;
	}
	move_nodes(b, &bad, r);
	err = rules_index(r);
	if (err)
		goto out;
	*ret = r;
	r = NULL;
out:
	rules_free(r);
	free(bad.slot);
	return err;
}
