/* SPDX-License-Identifier: BSD-2-Clause */
/* item_text.c - rule items as text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <cmocka.h>
#include "dns/msg.h"
#include "dns/name.h"
#include "dns/text.h"
#include "unit/policy/item_text.h"

static void add(struct item_texts *t, const char *format, ...)
{
	size_t n = strlen(t->text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(t->text + n, sizeof(t->text) - n, format, ap);
	va_end(ap);
}

static void add_name(struct item_texts *t, const uint8_t *wire)
{
	char buf[DNS_NAME_TEXT_MAX];

	add(t, "%s", dns_name_text(wire, buf, sizeof(buf)));
}

static void add_client(struct item_texts *t, const struct rule_client *c)
{
	char buf[80];

	if (c->kind == RULE_CLIENT_PREFIX)
		add(t, "%s", addr_prefix_text(&c->prefix, buf, sizeof(buf)));
	else if (c->kind == RULE_CLIENT_MAC)
		add(t, "mac:%02x%02x%02x%02x%02x%02x", c->mac[0], c->mac[1], c->mac[2], c->mac[3], c->mac[4], c->mac[5]);
	else
		add(t, "%s", c->name);
}

static void add_condition(struct item_texts *t, const struct rule_condition *c)
{
	const char *sep = "";
	char buf[32];
	unsigned i;

	add(t, "{");
	for (i = 0; i < c->types; i++, sep = "|")
		add(t, "%s%s%s", sep, c->types_not ? "~" : "", dns_type_text(c->type[i], buf, sizeof(buf)));
	for (i = 0; i < c->clients; i++, sep = "|") {
		add(t, "%s%s", sep, c->client[i].not ? "~" : "");
		add_client(t, &c->client[i]);
	}
	for (i = 0; i < c->tags; i++, sep = "|")
		add(t, "%s%s#%s", sep, c->tag_not[i] ? "~" : "", c->tag[i]);
	for (i = 0; i < c->denies; i++, sep = "|") {
		add(t, "%s-", sep);
		add_name(t, c->deny[i]);
	}
	add(t, "}");
}

static void add_record(struct item_texts *t, const struct rule_answer *a)
{
	char buf[INET6_ADDRSTRLEN];
	unsigned i;

	add(t, "%s ", dns_type_text(a->type, buf, sizeof(buf)));
	if (a->type == DNS_A || a->type == DNS_AAAA)
		add(t, "%s", inet_ntop(a->type == DNS_A ? AF_INET : AF_INET6, a->rdata, buf, sizeof(buf)));
	else if (a->type == DNS_PTR || a->type == DNS_CNAME)
		add_name(t, a->rdata);
	else
		for (i = 0; i < a->rdata_len; i++)
			add(t, "%02x", a->rdata[i]);
}

static void add_answer(struct item_texts *t, const struct rule_answer *a)
{
	char buf[32];

	add(t, "->");
	if (a->kind == RULE_ANSWER_RECORD || a->kind == RULE_ANSWER_CNAME)
		add_record(t, a);
	else
		add(t, "%s", a->kind == RULE_ANSWER_RCODE ? dns_rcode_text(a->rcode, buf, sizeof(buf)) :
			     a->kind == RULE_ANSWER_DROP ? "DROP" : a->kind == RULE_ANSWER_TCP ? "TCP" : "ANY");
	if (a->ttl)
		add(t, "(%u)", a->ttl);
}

int item_text_take(void *arg, const struct rule_item *i)
{
	struct item_texts *t = arg;
	char buf[80];

	add(t, "%s", i->badfilter ? "-" : "");
	add(t, "%s", i->action == FILTER_ALLOW || i->action == FILTER_IMPORTANT_ALLOW ? "+" : "");
	add(t, "%s", i->action == FILTER_IMPORTANT_BLOCK || i->action == FILTER_IMPORTANT_ALLOW ? "!" : "");
	if (i->kind == RULE_NAME || i->kind == RULE_ROUTE) {
		add(t, "%c", i->kind == RULE_ROUTE ? '^' : i->reach == RULE_EXACT ? '=' : i->reach == RULE_SUBTREE ? '*' : '>');
		if (dns_name_len(i->name, i->name_len) != i->name_len)
			return -EIO;
		add_name(t, i->name);
	} else if (i->kind == RULE_REGEX) {
		add(t, "%s/%.*s/", i->invert ? "~" : "", (int)i->pattern_len, i->pattern);
	} else {
		add(t, "@%s", addr_prefix_text(&i->address, buf, sizeof(buf)));
	}
	if (i->condition)
		add_condition(t, i->condition);
	if (i->answer)
		add_answer(t, i->answer);
	add(t, " ");
	return 1;
}

void item_line_is_judged(void **state)
{
	const struct item_line *l = *state;
	struct list_report *r = calloc(1, sizeof(*r));
	struct item_texts t = { "" };
	unsigned i;

	assert_non_null(r);
	assert_int_equal(list_parse(l->text, strlen(l->text), l->format, false, item_text_take, &t, r), 0);
	assert_string_equal(t.text, l->items);
	for (i = 0; i < LIST_SKIP_COUNT; i++)
		if (r->skipped[i] != (i == l->skip))
			fail_msg("skipped as %s: %d", list_skip_names[i], (int)r->skipped[i]);
	free(r);
}
