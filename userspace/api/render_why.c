/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render_why.c - what kernel and daemon said about one question, as JSON.
 *
 * Whole messages are given twice: "hex" for programs that compare, "text" for
 * people.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/render.h"
#include "dns/name.h"
#include "dns/text.h"
#include "policy/judge.h"

/* By enum query_source. */
static const char *const daemon_source[] = { "none", "filter", "cache", "upstream", "self" };

#define PICK(array, i) ((unsigned)(i) < sizeof(array) / sizeof((array)[0]) ? (array)[i] : "?")
#define TEXT(array) render_text(array, sizeof(array))

json_t *render_message(const uint8_t *msg, size_t size)
{
	char *hex, *text;
	json_t *m;
	size_t i;

	if (!size)
		return json_null();
	hex = malloc(2 * size + 1);
	if (!hex)
		return NULL;
	for (i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", msg[i]);
	text = dns_message_text(msg, size);
	m = json_pack("{s:i, s:s, s:o}", "bytes", (int)size, "hex", hex, "text",
		      text ? render_text(text, strlen(text)) : json_null());
	free(hex);
	free(text);
	return m;
}

/* An entry's word of the filter; 0 is none. */
static json_t *entry(uint64_t word)
{
	char text[24];

	if (!word)
		return json_null();
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)word);
	return json_string(text);
}

static json_t *kernel(const struct control_why *w)
{
	const struct mr_why *y = &w->kern.why;
	bool known = y->stat < MR_STATS_COUNT;

	if (w->kern_error)
		return json_pack("{s:o}", "error", *w->kern_reason ? TEXT(w->kern_reason) :
				 json_string(strerror(abs(w->kern_error))));
	return json_pack("{s:n, s:b, s:{s:s, s:s}, s:s, s:s, s:o, s:o, s:i, s:o, s:b, s:i, s:s, s:i, s:i, s:o, s:o, s:{s:o, s:o, s:o}, s:o}",
			 "error", "answered", w->kern.answered, "stat", "name", known ? render_stat_rows[y->stat].name : "?",
			 "help", known ? render_stat_rows[y->stat].help : "?", "source", PICK(render_sources, y->source), "verdict",
			 filter_verdict_text(y->verdict), "list", TEXT(w->list), "entry", entry(y->chain_set ? 0 : y->entry), "group",
			 (int)y->group, "group_name", TEXT(w->kern_group), "paused", y->paused != 0, "chain_set",
			 (int)y->chain_set, "access", y->access == MR_ACCESS_ALLOW ? "allow" : "refuse", "depth", (int)y->depth,
			 "unit", (int)y->unit, "filter_generation", render_u64(y->filter_generation), "ns",
			 render_u64(w->kern.ns), "answer", "unit", render_u64(y->answer_unit), "generation",
			 render_u64(y->answer_generation), "expires_ns", render_u64(y->expires), "reply",
			 render_message(w->kern.reply, w->kern.reply_len));
}

static json_t *link_name(const struct control_verdict *v)
{
	char name[DNS_NAME_TEXT_MAX];

	return v->link_len ? json_string(dns_name_text(v->link, name, sizeof(name))) : json_null();
}

static json_t *daemon_side(const struct control_why *w)
{
	json_t *error = !w->daemon_error ? json_null() :
			json_string(w->daemon_error == -ETIMEDOUT ? "no answer in time" : strerror(abs(w->daemon_error)));

	return json_pack("{s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:b, s:o, s:i, s:o}", "error", error, "source",
			 PICK(daemon_source, w->source), "verdict", filter_verdict_text(w->verdict.kind), "step",
			 PICK(judge_step_names, w->verdict.step), "help", PICK(judge_step_texts, w->verdict.step), "list",
			 TEXT(w->daemon_list), "line", w->verdict.line ? render_u64(w->verdict.line) : json_null(), "rule",
			 *w->verdict.rule ? TEXT(w->verdict.rule) : json_null(), "link", link_name(&w->verdict), "entry", entry(w->verdict.entry), "rewrites",
			 (int)w->verdict.rewrites, "group_name", TEXT(w->group), "paused", w->paused, "closed", *w->closed ? TEXT(w->closed) : json_null(), "depth", (int)w->verdict.depth, "reply",
			 render_message(w->reply, w->daemon_error ? 0 : w->reply_len));
}

json_t *render_why(const struct kern_why_query *q, const struct control_why *w)
{
	char name[DNS_NAME_TEXT_MAX], type[32], client[ADDR_TEXT_MAX];
	struct addr ip = q->client;
	json_t *all;

	ip.port = 0;
	all = json_pack("{s:{s:s, s:s, s:s, s:b, s:b}, s:o, s:o}", "question", "name",
			 dns_name_text(q->name, name, sizeof(name)), "type", dns_type_text(q->qtype, type, sizeof(type)),
			 "client", addr_text(&ip, client, sizeof(client)), "edns", q->edns, "dnssec_ok", q->dnssec_ok,
			 "kernel", kernel(w), "daemon", daemon_side(w));
	if (!q->mac)
		return all;
	snprintf(client, sizeof(client), "mac:%02x:%02x:%02x:%02x:%02x:%02x", q->mac[0], q->mac[1], q->mac[2], q->mac[3],
		 q->mac[4], q->mac[5]);
	json_object_set_new(json_object_get(all, "question"), "mac", json_string(client));
	return all;
}
