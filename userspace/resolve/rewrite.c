/* SPDX-License-Identifier: BSD-2-Clause */
/* rewrite.c - answers as rules say. */
#include <errno.h>
#include <string.h>
#include "dns/local.h"
#include "resolve/policy.h"
#include "resolve/resolver.h"
#include "resolve/rewrite.h"

static enum step_result fail(struct query *q)
{
	q->rcode = DNS_SERVFAIL;
	q->ede = DNS_EDE_OTHER;
	q->source = QUERY_BY_SELF;
	return STEP_DONE;
}

static uint32_t ttl_of(const struct query *q, const struct rule *rule)
{
	return rule->answer->ttl ? rule->answer->ttl : policy_group(q)->block.ttl;
}

static enum step_result answer(struct query *q, uint16_t rcode, const struct dns_record *record, unsigned count,
			       uint32_t ttl, uint64_t now_ns)
{
	if (dns_answer_local(&q->key, rcode, record, count, ttl, now_ns, &q->answer))
		return fail(q);
	q->source = QUERY_BY_FILTER;
	return STEP_DONE;
}

/* The RRset of the question's type, of ANY the first one (RFC 8482); none: no data, since the name is ours. */
static enum step_result answer_records(struct query *q, uint64_t now_ns)
{
	struct dns_record record[JUDGE_REWRITES_MAX];
	uint16_t type = q->key.qtype;
	unsigned i, count = 0;

	for (i = 0; i < q->verdict.rewrites; i++) {
		const struct rule_answer *a = q->verdict.rewrite[i]->answer;

		if (a->kind != RULE_ANSWER_RECORD)
			continue;
		if (type == DNS_ANY)
			type = a->type;
		if (a->type == type)
			record[count++] = (struct dns_record){ a->type, a->rdata_len, a->rdata };
	}
	return answer(q, DNS_NOERROR, record, count, ttl_of(q, q->verdict.rewrite[0]), now_ns);
}

/* The first rule of a kind among those found. */
static const struct rule *find(const struct query *q, enum rule_answer_kind kind)
{
	unsigned i;

	for (i = 0; i < q->verdict.rewrites; i++)
		if (q->verdict.rewrite[i]->answer->kind == kind)
			return q->verdict.rewrite[i];
	return NULL;
}

/* ---- aliases ---- */

static void set_name(struct query *q, const uint8_t *name, uint16_t len)
{
	memset(q->key.name, 0, sizeof(q->key.name));
	memcpy(q->key.name, name, len);
	q->key.name_len = len;
	q->hash = 0;
	memset(q->name, 0, sizeof(*q->name));
	memcpy(q->name->text, name, len);
	q->name->len = len;
}

/* Judge the target, of which only rewrites count. */
static void judge_alias(struct query *q)
{
	struct judge_question ask = {
		.lower = q->key.name, .len = q->key.name_len, .qtype = q->key.qtype, .group = q->group,
		.paused = q->paused, .who = &q->who, .steps = &q->steps,
	};

	ask.name = mr_name_hash(q->name, q->snapshot->secret) ? NULL : q->name;
	judge_name(&q->snapshot->judge, &ask, &q->verdict);
}

/* Turn the query into one for the target of @rule; -ELOOP, -ENOMEM. */
static int follow(struct query *q, const struct rule *rule)
{
	struct rewrite_alias *a;

	if (q->aliases == REWRITE_ALIASES_MAX)
		return -ELOOP;
	if (!q->alias)
		q->alias = arena_alloc(&q->arena, REWRITE_ALIASES_MAX * sizeof(*q->alias));
	if (!q->name)
		q->name = arena_zalloc(&q->arena, sizeof(*q->name));
	if (!q->alias || !q->name)
		return -ENOMEM;
	a = &q->alias[q->aliases++];
	*a = (struct rewrite_alias){ .from = q->key, .target = rule->answer->rdata,
				     .target_len = rule->answer->rdata_len, .ttl = ttl_of(q, rule) };
	set_name(q, a->target, a->target_len);
	return 0;
}

/* A search engine's safe name has addresses for all; what HTTPS records would say of it is left out. */
static bool is_safe_binding(const struct query *q, const struct rule *rule)
{
	return rule->source == q->snapshot->judge.safe_search &&
	       (q->key.qtype == DNS_HTTPS || q->key.qtype == DNS_SVCB);
}

/* "*.example is an alias of host.example" holds for host.example too: there it says that this name is as it is. */
static bool is_itself(const struct query *q, const struct rule *rule)
{
	return rule->answer->rdata_len == q->key.name_len && !memcmp(rule->answer->rdata, q->key.name, q->key.name_len);
}

static enum step_result answer_alias(struct query *q, const struct rule *rule, uint64_t now_ns)
{
	struct judge_result first = q->verdict;
	enum step_result result = STEP_NEXT;

	if (is_safe_binding(q, rule))
		return answer(q, DNS_NOERROR, NULL, 0, ttl_of(q, rule), now_ns);
	for (; rule && !is_itself(q, rule); rule = find(q, RULE_ANSWER_CNAME)) {
		if (q->key.qtype == DNS_CNAME || q->key.qtype == DNS_ANY) {
			if (dns_answer_alias(&q->key, rule->answer->rdata, rule->answer->rdata_len, ttl_of(q, rule), NULL,
					     now_ns, &q->answer))
				return fail(q);
			q->source = QUERY_BY_FILTER;
			return STEP_DONE;
		}
		if (follow(q, rule))
			return fail(q);
		judge_alias(q);
	}
	if (find(q, RULE_ANSWER_RECORD))
		result = answer_records(q, now_ns);
	q->verdict = first;		/* for the log and the extended error: why, not where to */
	return result;
}

enum step_result rewrite_question(struct query *q, uint64_t now_ns)
{
	const struct rule *rule;

	if (q->refresh || !q->verdict.rewrites)
		return STEP_NEXT;
	count_one(q->resolver->count, COUNT_queries_rewritten);
	if (find(q, RULE_ANSWER_DROP)) {
		q->silent = true;
		return STEP_DONE;
	}
	if ((rule = find(q, RULE_ANSWER_CNAME)))
		return answer_alias(q, rule, now_ns);
	if ((rule = find(q, RULE_ANSWER_RCODE)))
		return answer(q, rule->answer->rcode, NULL, 0, ttl_of(q, rule), now_ns);
	if (find(q, RULE_ANSWER_RECORD))
		return answer_records(q, now_ns);
	/* what is left says "not over UDP" */
	if (q->proto != QUERY_UDP)
		return STEP_NEXT;
	q->stump = true;
	q->source = QUERY_BY_FILTER;
	return STEP_DONE;
}

bool rewrite_stands_in(const struct query *q)
{
	const struct rule *rule = q->verdict.rewrites ? q->verdict.rewrite[0] : NULL;
	const struct judge *j = &q->snapshot->judge;

	/* "over TCP alone", and an alias of itself, have let the true answer through */
	if (!rule || (q->source != QUERY_BY_FILTER && !q->alias))
		return false;
	if (rule->source < j->lists)
		return true;
	return rule->answer->kind == RULE_ANSWER_RCODE && rule->source != j->rewrites && rule->source != j->safe_search;
}

enum step_result rewrite_answer(struct query *q, uint64_t now_ns)
{
	struct dns_answer *a;
	const struct rewrite_alias *r;

	while (q->aliases) {
		r = &q->alias[--q->aliases];
		if (q->answer) {
			if (dns_answer_alias(&r->from, r->target, r->target_len, r->ttl, q->answer, now_ns, &a))
				a = NULL;
			dns_answer_unref(q->answer);
			q->answer = a;
			if (!a) {
				q->rcode = DNS_SERVFAIL;
				q->ede = DNS_EDE_OTHER;
			}
		}
		q->key = r->from;
	}
	return STEP_NEXT;
}
