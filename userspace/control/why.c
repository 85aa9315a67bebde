/* SPDX-License-Identifier: BSD-2-Clause */
/* why.c - one question put to the kernel's dry copy and to the daemon itself. */
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "control/internal.h"
#include "dns/name.h"
#include "resolve/policy.h"

#define WAIT_S 15

struct kern_side {
	const struct kern_why_query *query;
	struct control_why *why;
};

/* The packet comes from the hardware address that the client has, since its group may be known by that. */
static int ask_kern(struct control *c, void *arg)
{
	const struct config_groups *groups = &c->snapshot->config->groups;
	struct kern_side *k = arg;
	struct kern_why_query q = *k->query;
	struct err_at at = { 0 };
	uint8_t mac[6];

	if (!q.mac && neigh_find(c->neigh, q.client.ip, mac))
		q.mac = mac;
	k->why->kern_error = kern_why(c->kern, &q, &k->why->kern, &at);
	if (k->why->kern_error)
		snprintf(k->why->kern_reason, sizeof(k->why->kern_reason), "%.255s", at.why);
	else if (k->why->kern.why.group < groups->count)
		snprintf(k->why->kern_group, sizeof(k->why->kern_group), "%s", groups->at[k->why->kern.why.group].name);
	return 0;
}

/* On the heap, shared by the asking thread and the worker: the last one frees it. */
struct daemon_side {
	struct wire_call call;
	_Atomic unsigned refs;
	sem_t done;
	uint8_t msg[512];
	size_t len;
	struct addr client;
	bool has_mac;
	uint8_t mac[6];
	struct control_why why;
};

static void side_unref(struct daemon_side *d)
{
	if (atomic_fetch_sub(&d->refs, 1) > 1)
		return;
	sem_destroy(&d->done);
	free(d);
}

static void take_verdict(const struct judge_result *r, struct control_verdict *ret)
{
	const struct rule *rule = r->rewrites ? r->rewrite[0] : r->rule;

	*ret = (struct control_verdict){
		.kind = (uint8_t)r->kind, .step = (uint8_t)r->step, .source = rule ? rule->source : r->source,
		.depth = r->depth, .entry = r->entry, .line = rule ? rule->line : 0, .rewrites = r->rewrites,
	};
	if (rule)
		snprintf(ret->rule, sizeof(ret->rule), "%s", rule->text);
}

static void add_closed(struct control_why *w, const char *kind, const char *name)
{
	size_t n = strlen(w->closed);

	snprintf(w->closed + n, sizeof(w->closed) - n, "%s%s%s", n ? ", " : "", kind, name);
}

/* What the group has and does not use at this moment. */
static void find_closed(struct control_why *w, const struct config *c, const struct config_group *g)
{
	int64_t now_s = schedule_now_s();
	unsigned i;

	for (i = 0; i < g->lists && g->schedules.count; i++)
		if (g->uses[i] && !config_group_uses(g, i, now_s))
			add_closed(w, "", c->filter_lists.at[i].name);
	if (g->rules.count && !config_group_uses_rules(g, now_s))
		add_closed(w, "group:", g->name);
}

static void on_answered(struct query *q)
{
	struct daemon_side *d = q->owner;

	take_verdict(&q->verdict, &d->why.verdict);
	d->why.verdict.link_len = policy_link(q, d->why.verdict.link);
	d->why.paused = q->paused;
	d->why.source = (uint8_t)q->source;
	d->why.reply_len = q->reply_len <= sizeof(d->why.reply) ? (uint16_t)q->reply_len : 0;
	if (d->why.reply_len)
		memcpy(d->why.reply, q->reply, d->why.reply_len);
	if (q->group < q->snapshot->config->groups.count) {
		snprintf(d->why.group, sizeof(d->why.group), "%s", q->snapshot->config->groups.at[q->group].name);
		find_closed(&d->why, q->snapshot->config, &q->snapshot->config->groups.at[q->group]);
	}
	query_free(q);
	sem_post(&d->done);
	side_unref(d);
}

static void run_query(struct wire_call *call)
{
	struct daemon_side *d = (struct daemon_side *)call;
	struct query *q = query_new(call->resolver, QUERY_UDP, d->msg, d->len, &d->client, &d->client,
				    clock_coarse_ns(), on_answered, d);

	if (q) {
		q->mac = d->has_mac ? d->mac : NULL;
		query_start(q);
		return;
	}
	d->why.daemon_error = -ENOMEM;
	sem_post(&d->done);
	side_unref(d);
}

static int ask_daemon(struct control *c, const struct kern_why_query *query, struct control_why *why)
{
	struct daemon_side *d = calloc(1, sizeof(*d));
	struct timespec until;
	int len, err = -ENOMEM;

	if (!d)
		return err;
	d->refs = 2;
	sem_init(&d->done, 0, 0);
	d->call.run = run_query;
	d->client = query->client;
	d->has_mac = query->mac != NULL;
	if (query->mac)
		memcpy(d->mac, query->mac, sizeof(d->mac));
	len = dns_query_write(0, query->name, query->name_len, query->qtype, query->dnssec_ok ? DNS_KEY_DO : 0,
			      query->edns, d->msg, sizeof(d->msg));
	if (len < 0) {
		side_unref(d);
		err = len;
		goto out;
	}
	d->len = (size_t)len;
	if (!wire_call(c, 0, &d->call)) {
		side_unref(d);
		err = -ESHUTDOWN;
		goto out;
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	do {
		err = sem_timedwait(&d->done, &until) ? -errno : 0;
	} while (err == -EINTR);
	if (err)
		goto out;
	err = d->why.daemon_error;
	why->verdict = d->why.verdict;
	why->source = d->why.source;
	why->paused = d->why.paused;
	memcpy(why->closed, d->why.closed, sizeof(why->closed));
	why->reply_len = d->why.reply_len;
	memcpy(why->reply, d->why.reply, sizeof(why->reply));
	memcpy(why->group, d->why.group, sizeof(why->group));
out:
	side_unref(d);
	return err;
}

int control_why(struct control *c, const struct kern_why_query *q, struct control_why *ret)
{
	struct kern_side k = { .query = q, .why = ret };
	uint8_t lower[DNS_NAME_MAX + 1];
	int err;

	memset(ret, 0, sizeof(*ret));
	err = call_control(c, ask_kern, &k);
	if (err)
		return err;
	ret->daemon_error = ask_daemon(c, q, ret);
	if (!ret->kern_error && ret->kern.why.verdict != MR_NONE)
		control_list_name(c, ret->kern.why.list, ret->list, sizeof(ret->list));
	if (ret->verdict.step == JUDGE_none)
		return 0;
	control_list_name(c, ret->verdict.source, ret->daemon_list, sizeof(ret->daemon_list));
	dns_name_lower(lower, q->name, q->name_len);
	if (ret->verdict.link_len)
		why_find_line(c, ret->verdict.link, ret->verdict.link_len, &ret->verdict);
	else
		why_find_line(c, lower, q->name_len, &ret->verdict);
	return 0;
}
