/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_list.c - any bytes as a list, in each format, blocking and allowing:
 * every item is one that filter and rules can take, and every count fits.
 *
 * fuzz-sources: userspace/policy/list*.c userspace/policy/idn.c userspace/dns/text.c userspace/dns/rdata.c
 */
#include <stdlib.h>
#include <string.h>
#include "maps/types.h"
#include "policy/list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_name(const uint8_t *name, uint16_t len)
{
	unsigned at = 0, labels = 0, i;

	for (; name[at]; at += name[at] + 1U, labels++) {
		must(name[at] <= 63 && at + name[at] + 1U < len);
		for (i = 1; i <= name[at]; i++)
			must(strchr("abcdefghijklmnopqrstuvwxyz0123456789-_", name[at + i]) && name[at + i]);
	}
	must(at + 1 == len && labels && labels <= MR_LABELS_MAX && len <= MR_NAME_MAX);
}

static void check_condition(const struct rule_condition *c)
{
	unsigned i;

	must(c->types + c->clients + c->tags + c->denies > 0);
	must(c->types <= RULE_TYPES_MAX && c->clients <= RULE_CLIENTS_MAX);
	must(c->tags <= RULE_TAGS_MAX && c->denies <= RULE_DENY_MAX);
	for (i = 0; i < c->types; i++)
		must(c->type[i]);
	for (i = 0; i < c->clients; i++)
		must(memchr(c->client[i].name, 0, sizeof(c->client[i].name)) && c->client[i].prefix.len <= 128);
	for (i = 0; i < c->tags; i++)
		must(*c->tag[i] && memchr(c->tag[i], 0, RULE_TAG_TEXT));
	for (i = 0; i < c->denies; i++)
		check_name(c->deny[i], c->deny_len[i]);
}

static void check_answer(const struct rule_item *item)
{
	const struct rule_answer *a = item->answer;
	volatile uint8_t sum = 0;
	unsigned i;

	must(a->kind <= RULE_ANSWER_ANY && a->rcode <= 5);
	must(a->kind != RULE_ANSWER_ANY || item->action == FILTER_ALLOW || item->action == FILTER_IMPORTANT_ALLOW);
	if (a->kind != RULE_ANSWER_RECORD && a->kind != RULE_ANSWER_CNAME)
		return;
	must(a->type && a->rdata && (a->type != 1 || a->rdata_len == 4) && (a->type != 28 || a->rdata_len == 16));
	for (i = 0; i < a->rdata_len; i++)
		sum += a->rdata[i];
}

static void check_address(const struct addr_prefix *p)
{
	unsigned i;

	must(p->len <= 128);
	for (i = p->len; i < 128; i++)
		must(!(p->ip[i / 8] & 0x80 >> i % 8));
}

static int take(void *arg, const struct rule_item *item)
{
	const bool *allow = arg;

	must(item->action == FILTER_BLOCK || item->action == FILTER_ALLOW || item->action == FILTER_IMPORTANT_BLOCK ||
	     item->action == FILTER_IMPORTANT_ALLOW || item->kind == RULE_ROUTE);
	must(!*allow || item->kind == RULE_ROUTE || item->action == FILTER_ALLOW || item->action == FILTER_IMPORTANT_ALLOW);
	must(item->line && item->text && item->text_len && item->text_len <= 65536);
	if (item->kind == RULE_NAME || item->kind == RULE_ROUTE)
		check_name(item->name, item->name_len);
	else if (item->kind == RULE_REGEX)
		must(item->pattern && item->pattern_len && item->pattern_len <= 65536);
	else
		check_address(&item->address);
	must(!item->condition || item->kind != RULE_ROUTE);
	if (item->condition)
		check_condition(item->condition);
	if (item->answer)
		check_answer(item);
	return (int)(item->text_len & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct list_report r;
	enum list_format f;
	bool allow;

	list_refuse((const char *)data, size);
	for (f = LIST_AUTO; f < LIST_FORMATS; f++) {
		allow = size & 1;
		memset(&r, 0, sizeof(r));
		must(list_parse((const char *)data, size, f, allow, take, &allow, &r) == 0);
		must(r.lines <= size + 1);
	}
	return 0;
}
