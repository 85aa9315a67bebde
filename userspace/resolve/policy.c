/* SPDX-License-Identifier: BSD-2-Clause */
/* policy.c - asks the judge, and does what it says. */
#include <string.h>
#include "dns/leads.h"
#include "resolve/ops.h"
#include "resolve/policy.h"
#include "resolve/resolver.h"

static bool blocks(enum mr_verdict_kind kind)
{
	return kind == MR_BLOCK || kind == MR_IMPORTANT_BLOCK;
}

static bool allows(enum mr_verdict_kind kind)
{
	return kind == MR_ALLOW || kind == MR_IMPORTANT_ALLOW;
}

static enum step_result block(struct query *q)
{
	count_one(q->resolver->count, COUNT_queries_blocked);
	q->blocked = true;
	q->source = QUERY_BY_FILTER;
	return STEP_DONE;
}

bool policy_client(struct query *q)
{
	const struct resolve_neighbours *n = &q->resolver->neighbours;
	const struct snapshot *s = q->snapshot;
	const uint8_t *known = q->mac;
	struct mr_outcome o;
	uint8_t mac[6];

	if (!known && n->mac && n->mac(n->ctx, &q->client, mac))
		known = mac;
	o = clients_find(s->clients, q->client.ip, known, s->secret);
	q->group = o.group;
	q->paused = MR_READ(policy_group(q)->paused) || o.flags & MR_CLIENT_PAUSED;
	if (s->who)
		who_find(s->who, q->client.ip, known, &q->who);
	else
		memcpy(q->who.ip, q->client.ip, sizeof(q->who.ip));
	return o.access == MR_ACCESS_ALLOW;
}

static struct judge_question question_of(const struct query *q, uint32_t *steps)
{
	return (struct judge_question){
		.lower = q->key.name, .len = q->key.name_len, .name = q->name, .qtype = q->key.qtype,
		.group = q->group, .paused = q->paused, .who = &q->who, .steps = steps,
	};
}

enum step_result policy_question(struct query *q, uint64_t now_ns)
{
	bool withheld = mr_group_withholds(policy_group(q), q->key.qtype);
	struct judge_question ask = question_of(q, &q->steps);

	if (q->refresh)
		return STEP_NEXT;
	judge_name(&q->snapshot->judge, &ask, &q->verdict);
	/* The kernel withholds a type without asking what patterns would say of the name; they say nothing here either. */
	if (withheld && q->verdict.unknown)
		q->verdict = (struct judge_result){ .kind = MR_NONE };
	if (blocks(q->verdict.kind))
		return block(q);
	if (q->verdict.rewrites || allows(q->verdict.kind) || !withheld)
		return STEP_NEXT;
	q->withheld = true;
	q->source = QUERY_BY_FILTER;
	return STEP_DONE;
}

/* ---- what an answer leads to ---- */

struct leading {
	const struct query *q;
	uint32_t *steps;
	struct judge_result best;
	uint8_t *name;			/* of the link that "best" is from; NULL: nobody asks */
	uint16_t name_len;
};

static void judge_target(struct leading *l, const struct dns_lead *lead, struct judge_result *ret)
{
	struct judge_question ask = question_of(l->q, l->steps);
	struct mr_name name = { 0 };

	memcpy(name.text, lead->name, lead->name_len);
	name.len = lead->name_len;
	ask.lower = lead->name;
	ask.len = lead->name_len;
	ask.name = mr_name_hash(&name, l->q->snapshot->secret) ? NULL : &name;
	judge_link(&l->q->snapshot->judge, &ask, ret);
}

/* The strongest verdict of all leads counts, as in the kernel. */
static bool weigh_lead(const struct dns_lead *lead, void *arg)
{
	struct leading *l = arg;
	struct judge_question ask = question_of(l->q, l->steps);
	struct judge_result r = { .kind = MR_NONE };

	if (lead->name)
		judge_target(l, lead, &r);
	else
		judge_address(&l->q->snapshot->judge, &ask, lead->ip, &r);
	if (r.kind <= l->best.kind)
		return false;
	l->best = r;
	l->name_len = l->name ? lead->name_len : 0;
	if (l->name && lead->name)
		memcpy(l->name, lead->name, lead->name_len);
	return false;
}

enum step_result policy_answer(struct query *q, uint64_t now_ns)
{
	struct leading l = { .q = q, .steps = &q->steps, .best = { .kind = MR_NONE } };

	if (q->source != QUERY_BY_CACHE && q->source != QUERY_BY_UPSTREAM)
		return STEP_NEXT;	/* what rules say is not judged by rules */
	if (q->refresh || !q->answer || q->aliases || allows(q->verdict.kind))
		return STEP_NEXT;
	if (!q->answer->chain && !rules_have_address(q->snapshot->judge.rules))
		return STEP_NEXT;
	if (dns_answer_leads(q->answer, weigh_lead, &l) < 0)
		return STEP_NEXT;	/* nothing can be said of it; it was made by us, so that is memory */
	if (l.best.kind != MR_NONE)
		q->verdict = l.best;
	if (blocks(l.best.kind))
		block(q);
	return STEP_NEXT;
}

uint16_t policy_link(const struct query *q, uint8_t *ret_name)
{
	uint32_t steps = REGEX_STEPS_MAX;
	struct leading l = { .q = q, .steps = &steps, .best = { .kind = MR_NONE }, .name = ret_name };

	if (q->verdict.step != JUDGE_link || !q->answer || dns_answer_leads(q->answer, weigh_lead, &l) < 0)
		return 0;
	return l.best.step == JUDGE_link ? l.name_len : 0;
}

/* ---- what the kernel may give ---- */

static void note(const struct rule *rule, void *arg)
{
	*(bool *)arg = true;
}

struct asking {
	const struct judge *judge;
	uint32_t steps;
};

static bool lead_asks(const struct dns_lead *lead, void *arg)
{
	struct asking *a = arg;
	bool found = false;

	if (lead->name)
		return judge_asks_within(a->judge, lead->name, lead->name_len, &a->steps);
	rules_each_address(a->judge->rules, lead->ip, note, &found);
	return found;
}

bool policy_asks(const struct snapshot *s, const struct dns_answer *a)
{
	struct asking ask = { &s->judge, REGEX_STEPS_MAX };
	const struct rules *r = s->judge.rules;

	if (!rules_have_regex(r) && !rules_have_address(r))
		return false;
	return judge_asks_within(ask.judge, a->key.name, a->key.name_len, &ask.steps) ||
	       dns_answer_leads(a, lead_asks, &ask) != 0;
}
