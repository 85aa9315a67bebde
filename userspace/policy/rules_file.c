/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rules_file.c - special rules as they stand on disk.
 *
 * A magic number, a count, and for each rule: source, line, its text as
 * written and what it says (rule_pack.h).  Whether the octets are whole is
 * known by their sum, which the filter's file holds; what they say is checked
 * all the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "policy/rule_pack.h"
#include "policy/rules_room.h"

#define MAGIC 0x31656c7572726d64ULL

struct head {
	uint64_t line;
	uint32_t text_len;
	uint32_t packed_len;
	uint16_t source;
	uint16_t pad[3];
};

struct start {
	uint64_t magic;
	uint64_t count;
};

struct buffer {
	uint8_t *p;
	size_t size, room;
};

static int append(struct buffer *b, const void *p, size_t size)
{
	size_t room = b->room ? b->room : 65536;
	uint8_t *more;

	while (room - b->size < size)
		room *= 2;
	if (room != b->room) {
		more = realloc(b->p, room);
		if (!more)
			return -ENOMEM;
		b->p = more;
		b->room = room;
	}
	if (size)
		memcpy(b->p + b->size, p, size);
	b->size += size;
	return 0;
}

static int save_node(struct buffer *b, const struct rule_node *n, uint8_t *packed)
{
	const struct rule_item item = rule_node_item(n);
	int size = rule_pack(&item, packed), err;
	struct head h = { .line = item.line, .text_len = (uint32_t)item.text_len, .source = n->rule.source };

	if (size < 0)
		return size;
	h.packed_len = (uint32_t)size;
	err = append(b, &h, sizeof(h));
	if (!err)
		err = append(b, item.text, item.text_len);
	return err ? err : append(b, packed, h.packed_len);
}

int rules_save(const struct rules *r, uint8_t **ret, size_t *ret_size)
{
	const struct start s = { MAGIC, r->count };
	uint8_t *packed = malloc(RULE_PACK_MAX);
	struct buffer b = { 0 };
	unsigned i;
	int err = packed ? append(&b, &s, sizeof(s)) : -ENOMEM;

	for (i = 0; i < r->count && !err; i++)
		err = save_node(&b, r->node[i], packed);
	free(packed);
	if (err) {
		free(b.p);
		return err;
	}
	*ret = b.p;
	*ret_size = b.size;
	return 0;
}

/* Read one rule at *p and move behind it. */
static int load_one(struct rules_builder *b, const uint8_t **p, const uint8_t *end, struct rule_condition *condition)
{
	struct rule_answer answer;
	struct rule_item item;
	struct head h;
	size_t left = (size_t)(end - *p);
	int err;

	if (left < sizeof(h))
		return -EBADMSG;
	memcpy(&h, *p, sizeof(h));
	left -= sizeof(h);
	if (h.text_len > left || h.packed_len > left - h.text_len || h.packed_len > RULE_PACK_MAX)
		return -EBADMSG;
	*p += sizeof(h) + h.text_len;
	err = rule_unpack(*p, h.packed_len, condition, &answer, &item);
	if (err)
		return err;
	item.text = (const char *)*p - h.text_len;
	item.text_len = h.text_len;
	item.line = h.line;
	*p += h.packed_len;
	err = rules_builder_add(b, &item, h.source);
	return err == -ENOMEM ? err : err < 0 ? -EBADMSG : 0;
}

int rules_load(const uint8_t *p, size_t size, struct rules **ret)
{
	struct rule_condition *condition = malloc(sizeof(*condition));
	struct rules_builder *b = rules_builder_new();
	const uint8_t *end = p + size;
	struct start s = { 0 };
	int err = b && condition ? 0 : -ENOMEM;

	if (size >= sizeof(s))
		memcpy(&s, p, sizeof(s));
	if (!err && s.magic != MAGIC)
		err = -EBADMSG;
	for (p += sizeof(s); s.count && !err; s.count--)
		err = load_one(b, &p, end, condition);
	if (!err && p != end)
		err = -EBADMSG;
	if (!err)
		err = rules_builder_make(b, ret);
	rules_builder_free(b);
	free(condition);
	return err;
}
