/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steps.c - the life of a query, in order.
 *
 * Each step looks at one thing and either decides the answer (DONE), leaves it
 * to the rows below (NEXT), or waits (WAIT).  What the kernel answers without
 * us, these steps would answer alike: they are the reference.
 */
#include <errno.h>
#include <string.h>
#include "base/bug.h"
#include "resolve/flight.h"
#include "resolve/ops.h"
#include "resolve/policy.h"
#include "resolve/resolver.h"
#include "resolve/rewrite.h"
#include "resolve/special.h"
#include "resolve/stale.h"
#include "resolve/steps.h"
#include "resolve/suffixes.h"

#define FAILURE_ROOM 512		/* header, the longest question, OPT with EDE */

static enum step_result say(struct query *q, int rcode, int ede)
{
	q->rcode = rcode;
	q->ede = ede;
	if (q->source == QUERY_BY_NONE)
		q->source = QUERY_BY_SELF;
	return STEP_DONE;
}

static enum step_result refuse(struct query *q, int ede)
{
	count_one(q->resolver->count, COUNT_queries_refused);
	return say(q, DNS_REFUSED, ede);
}

static enum step_result decode(struct query *q, uint64_t now_ns)
{
	if (q->refresh)
		return STEP_NEXT;
	count_one(q->resolver->count, COUNT_queries);
	query_read(q);
	if (q->parsed < 0) {
		q->silent = true;
		return STEP_DONE;
	}
	if (q->parsed == DNS_SERVFAIL)
		return say(q, DNS_SERVFAIL, DNS_EDE_OTHER);
	if (q->parsed != DNS_NOERROR) {
		count_one(q->resolver->count, COUNT_queries_malformed);
		return say(q, q->parsed, DNS_EDE_NONE);
	}
	return STEP_NEXT;
}

static enum step_result access_check(struct query *q, uint64_t now_ns)
{
	if (q->refresh || policy_client(q))
		return STEP_NEXT;
	return refuse(q, DNS_EDE_PROHIBITED);
}

static enum step_result class_check(struct query *q, uint64_t now_ns)
{
	if (q->refresh || q->view.qclass == DNS_IN)
		return STEP_NEXT;
	if (q->view.qclass == DNS_CH && special_chaos(q, now_ns))
		return STEP_DONE;
	return refuse(q, DNS_EDE_NOT_SUPPORTED);
}

/* Types that are no question for a forwarder (RFC 6895 section 3.1). */
static enum step_result type_check(struct query *q, uint64_t now_ns)
{
	switch (q->key.qtype) {
	case 0:
	case DNS_OPT:
		count_one(q->resolver->count, COUNT_queries_malformed);
		return say(q, DNS_FORMERR, DNS_EDE_NONE);
	case DNS_AXFR:
	case DNS_IXFR:
		return refuse(q, DNS_EDE_NOT_SUPPORTED);
	case DNS_TKEY:
	case DNS_TSIG:
	case DNS_MAILA:
	case DNS_MAILB:
		count_one(q->resolver->count, COUNT_queries_refused);
		return say(q, DNS_NOTIMP, DNS_EDE_NONE);
	default:
		return STEP_NEXT;
	}
}

/* ANY gets one small record that says so (RFC 8482 section 4.2). */
static enum step_result any(struct query *q, uint64_t now_ns)
{
	static const uint8_t hinfo[] = {
		0xc0, 0x0c, 0, DNS_HINFO, 0, DNS_IN, 0, 0, 0x0e, 0x10, 0, 9, 7, 'R', 'F', 'C', '8', '4', '8', '2', 0,
	};

	if (q->key.qtype != DNS_ANY)
		return STEP_NEXT;
	if (dns_answer_from_body(&q->key, DNS_NOERROR, hinfo, sizeof(hinfo), 1, 0, now_ns, &q->answer))
		return say(q, DNS_SERVFAIL, DNS_EDE_OTHER);
	q->source = QUERY_BY_SELF;
	return STEP_DONE;
}

/* A question without RD would look into others' questions: we have nothing of our own to say. */
static enum step_result recursion_check(struct query *q, uint64_t now_ns)
{
	if (q->refresh || q->view.flags & DNS_RD)
		return STEP_NEXT;
	return refuse(q, DNS_EDE_NOT_AUTHORITATIVE);
}

/* A client's subnet goes out only if that is wanted; else nobody hears of it (RFC 7871 section 11.1). */
static enum step_result subnet(struct query *q, uint64_t now_ns)
{
	const struct dns_edns *e = &q->view.edns;
	const uint8_t *data;
	uint16_t len;

	if (q->refresh || q->snapshot->config->upstreams_ecs != CONFIG_ECS_FORWARD || !e->present)
		return STEP_NEXT;
	data = dns_option_find(e->options, e->options_len, DNS_OPTION_ECS, &len);
	if (!data)
		return STEP_NEXT;
	if (!dns_ecs_fine(data, len)) {
		count_one(q->resolver->count, COUNT_queries_malformed);
		return say(q, DNS_FORMERR, DNS_EDE_NONE);
	}
	q->ecs = data;
	q->ecs_len = len;
	return STEP_NEXT;
}

/* The key of what the client gets: the packet path tells those with DO from others. */
static struct dns_key form_key(const struct query *q)
{
	struct dns_key key = q->key;

	key.bits |= q->dnssec_ok ? DNS_KEY_DO : 0;
	return key;
}

/*
 * A name of which one above does not exist does not exist either (RFC 8020),
 * unless a zone that has servers of its own begins between the two.
 */
static bool look_above(struct query *q, uint64_t now_ns)
{
	struct resolver *r = q->resolver;
	struct dns_answer *above = q->snapshot->nxdomain_covers ? cache_get_above(r->cache, &q->key, now_ns) : NULL;

	if (!above)
		return false;
	if (suffixes_longest(q->snapshot->unspecial, q->key.name, q->key.name_len) <= above->key.name_len)
		q->covered = !dns_answer_for(above, &q->key, &q->answer);
	dns_answer_unref(above);
	return q->covered;
}

static enum step_result cache_look(struct query *q, uint64_t now_ns)
{
	struct resolver *r = q->resolver;
	struct dns_key key;

	if (q->refresh || q->ecs)
		return STEP_NEXT;
	q->answer = q->hash ? cache_get_hashed(r->cache, &q->key, q->hash, now_ns) : cache_get(r->cache, &q->key, now_ns);
	if (!q->answer && !look_above(q, now_ns))
		return STEP_NEXT;
	count_one(r->count, COUNT_queries_cached);
	q->source = QUERY_BY_CACHE;
	if (q->snapshot->prefetch && !q->covered && resolver_nears_end(q->answer, now_ns) && !stale_rests(q->answer, now_ns)) {
		key = form_key(q);
		resolver_refresh(r, &key, now_ns);
	}
	return STEP_DONE;
}

static enum step_result coalesce(struct query *q, uint64_t now_ns)
{
	enum flight_seat seat;

	if (q->ecs)
		return STEP_NEXT;
	seat = flight_join(q->resolver->flights, q, !q->refresh);
	if (seat == FLIGHT_ALONE)
		count_one(q->resolver->count, COUNT_flights_full);
	if (seat == FLIGHT_ALONE && q->stale && stale_give(q, now_ns))
		return STEP_DONE;	/* its renewal, alone as well, is under way */
	if (seat != FLIGHT_WAITS)
		return STEP_NEXT;
	if (q->refresh) {		/* somebody asks already: that will renew it */
		q->silent = true;
		return STEP_DONE;
	}
	count_one(q->resolver->count, COUNT_queries_coalesced);
	stale_wait(q, now_ns);
	return STEP_WAIT;
}

static enum step_result forward(struct query *q, uint64_t now_ns)
{
	struct resolver *r = q->resolver;
	int err;

	if (q->answer) {		/* brought by the flight that it waited for */
		q->shared = true;
		return STEP_NEXT;
	}
	err = r->upstream.ask(r->upstream.ctx, q);
	if (!err) {
		count_one(r->count, q->refresh ? COUNT_refreshes : COUNT_queries_forwarded);
		return STEP_WAIT;
	}
	q->source = QUERY_BY_SELF;
	if (err == -ENOENT)
		q->answer = dns_answer_empty(&q->key, DNS_REFUSED, DNS_EDE_NOT_AUTHORITATIVE, 0, now_ns);
	else
		q->answer = dns_answer_empty(&q->key, DNS_SERVFAIL, DNS_EDE_OTHER, 0, now_ns);
	return STEP_NEXT;
}

/* Does it say that the very name asked for is not there, and may others be answered with that? */
static bool is_cut(const struct query *q)
{
	const struct dns_answer *a = q->answer;

	return q->snapshot->nxdomain_covers && a->rcode == DNS_NXDOMAIN && !a->answers && a->ttl;
}

/* Keep what came, and let those go on who waited for it. */
static enum step_result store(struct query *q, uint64_t now_ns)
{
	struct resolver *r = q->resolver;

	if (!q->answer)
		return say(q, DNS_SERVFAIL, DNS_EDE_OTHER);
	if (q->source == QUERY_BY_NONE)
		q->source = QUERY_BY_UPSTREAM;
	/*
	 * A shared answer is kept by who brought it; one for a subnet is for that client
	 * alone.  The cache does not let a failure take
	 * the place of an answer that still may be given.
	 */
	if (!q->shared && !q->ecs) {
		q->answer->cut = is_cut(q);
		if (!dns_answer_is_result(q->answer))
			cache_failed(r->cache, &q->key, now_ns);
		cache_put(r->cache, q->answer, now_ns);
	}
	if (!dns_answer_is_result(q->answer) && !q->flight)
		stale_give(q, now_ns);
	return STEP_NEXT;
}

/* ---- rows that finish: they run for every query ---- */

static enum step_result land(struct query *q, uint64_t now_ns)
{
	struct resolver *r = q->resolver;
	struct query *w, *next;

	if (!q->flight)
		return STEP_NEXT;
	if (!q->answer)
		q->answer = dns_answer_empty(&q->key, DNS_SERVFAIL, DNS_EDE_OTHER, 0, now_ns);
	for (w = flight_land(r->flights, q, q->answer); w; w = next) {
		next = w->next_waiter;
		if (w->resolver == r)
			query_wake(w, now_ns);
		else
			r->events.wake(r->events.ctx, w);
	}
	return STEP_NEXT;
}

/* The rendered name of what decided. */
static const struct mr_ede *text_of(const struct query *q)
{
	return &q->snapshot->judge.filter.ede[q->verdict.source % MR_LISTS_MAX];
}

/* Cache and flights have answers whole; who did not set DO gets no signatures and proofs. */
static enum step_result form(struct query *q, uint64_t now_ns)
{
	struct dns_answer *a = NULL;

	if (!q->answer || !q->answer->dnssec || q->dnssec_ok || q->silent)
		return STEP_NEXT;
	if (dns_answer_form(q->answer, q->key.bits, &a)) {
		q->rcode = DNS_SERVFAIL;
		q->ede = DNS_EDE_OTHER;
	}
	dns_answer_unref(q->answer);
	q->answer = a;
	return STEP_NEXT;
}

static int write_blocked(struct query *q, const struct dns_reply_limits *l, size_t room)
{
	struct dns_block group, block;

	dns_block_take(&policy_group(q)->block, &group);
	if (q->withheld) {
		dns_block_withhold(&group, &block);
		return dns_reply_blocked(&q->view, &block, NULL, l, q->reply, room);
	}
	return dns_reply_blocked(&q->view, &group, text_of(q), l, q->reply, room);
}

static int write_instead(struct query *q, const struct dns_reply_limits *l, uint64_t now_ns, size_t room)
{
	struct dns_block group;

	dns_block_take(&policy_group(q)->block, &group);
	return dns_reply_instead(&q->view, q->answer, &group, text_of(q), l, now_ns, q->reply, room);
}

static int write_reply(struct query *q, uint64_t now_ns, size_t room)
{
	const struct snapshot *s = q->snapshot;
	const struct dns_reply_limits *l = q->proto == QUERY_TCP ? &s->tcp : &s->udp;

	if (q->blocked || q->withheld)
		return write_blocked(q, l, room);
	if (q->stump)
		return dns_reply_stump(&q->view, l, q->reply, room);
	if (q->answer && rewrite_stands_in(q))
		return write_instead(q, l, now_ns, room);
	if (q->answer)
		return dns_reply_answer(&q->view, q->answer, l, now_ns, q->reply, room);
	return dns_reply_error(&q->view, (uint16_t)q->rcode, q->ede, l, q->reply, room);
}

/* Say what the server made of the client's subnet, unless that is more than the client takes. */
static size_t add_subnet(struct query *q, size_t len, size_t room)
{
	const struct dns_reply_limits *l = &q->snapshot->udp;
	size_t most = q->view.edns.size < l->udp_max ? q->view.edns.size : l->udp_max;

	if (!q->ecs_said_len)
		return len;
	if (q->proto == QUERY_UDP && most < room)
		room = most;
	return dns_option_add(q->reply, len, room, dns_option_opt(q->reply, len), DNS_OPTION_ECS, q->ecs_said, q->ecs_said_len);
}

static enum step_result reply(struct query *q, uint64_t now_ns)
{
	size_t room = FAILURE_ROOM + (q->answer ? q->answer->body_len : 0);
	int len;

	if (q->silent || q->refresh)
		return STEP_NEXT;
	q->reply = arena_alloc(&q->arena, room);
	if (!q->reply) {
		count_one(q->resolver->count, COUNT_queries_lost);
		return STEP_NEXT;
	}
	if ((q->answer ? q->answer->rcode : q->rcode) == DNS_SERVFAIL)
		count_one(q->resolver->count, COUNT_queries_failed);
	len = write_reply(q, now_ns, room);
	if (!bug_if(len < 0))
		q->reply_len = add_subnet(q, (size_t)len, room);
	return STEP_NEXT;
}

/*
 * Give the packet path the form that this client gets.  A cut that was asked
 * for with another type is an answer to the question in hand too.
 */
static void give_to_kernel(struct query *q, bool admit)
{
	const struct snapshot *s = q->snapshot;
	const struct resolve_kern *k = &q->resolver->kern;
	struct dns_answer *a = dns_answer_ref(q->answer), *other = NULL;

	if (a->cut && a->key.qtype != q->key.qtype) {
		if (dns_answer_for(a, &q->key, &other))
			goto out;	/* without memory it is asked for again */
		dns_answer_unref(a);
		a = other;
	}
	if (q->dnssec_ok) {
		if (dns_answer_form(a, q->key.bits | DNS_KEY_DO, &other))
			goto out;
		dns_answer_unref(a);
		a = other;
	}
	k->publish(k->ctx, a, policy_asks(s, q->answer), s->judge.filter.generation, admit);
out:
	dns_answer_unref(a);
}

/* The kernel takes over what has been asked often enough, and what it asked us to renew. */
static enum step_result publish(struct query *q, uint64_t now_ns)
{
	struct resolver *r = q->resolver;
	const struct dns_answer *a = q->answer;
	struct dns_key key;
	bool admit;

	if (!a || q->silent || !dns_answer_is_result(a) || q->covered || q->gave_stale || q->key.qtype == DNS_ANY)
		return STEP_NEXT;
	if (q->ecs || q->source == QUERY_BY_SELF)	/* names that are special stay with us */
		return STEP_NEXT;
	if (q->verdict.rewrites)
		return STEP_NEXT;
	key = form_key(q);
	if (q->source == QUERY_BY_CACHE && r->kern.holds(r->kern.ctx, &key))
		return STEP_NEXT;
	admit = a->ttl && (q->refresh || a->asked >= q->snapshot->admit_after);
	/* one that comes from upstream ends what the kernel may have had before, admitted or not */
	if (admit || q->source == QUERY_BY_UPSTREAM)
		give_to_kernel(q, admit);
	return STEP_NEXT;
}

static enum step_result tell(struct query *q, uint64_t now_ns)
{
	if (!q->silent && !q->refresh)
		q->resolver->events.answered(q->resolver->events.ctx, q);
	return STEP_NEXT;
}

/* The whole life of a query, in order.  To add a stage, add a row. */
static const struct step {
	const char *name;
	enum step_result (*run)(struct query *q, uint64_t now_ns);
	bool finishes;
} steps[] = {
	{ "decode",    decode,          false },
	{ "access",    access_check,    false },
	{ "class",     class_check,     false },
	{ "policy",    policy_question, false },
	{ "rewrite",   rewrite_question, false },
	{ "type",      type_check,      false },
	{ "special",   special_name,    false },
	{ "any",       any,             false },
	{ "recursion", recursion_check, false },
	{ "subnet",    subnet,          false },
	{ "cache",     cache_look,      false },
	{ "stale",     stale_look,      false },
	{ "coalesce",  coalesce,        false },
	{ "forward",   forward,         false },
	{ "store",     store,           false },
	{ "leads",     policy_answer,   true },
	{ "land",      land,            true },
	{ "alias",     rewrite_answer,  true },
	{ "form",      form,            true },
	{ "reply",     reply,           true },
	{ "publish",   publish,         true },
	{ "log",       tell,            true },
};

#define STEPS (sizeof(steps) / sizeof(steps[0]))

void steps_run(struct query *q, uint64_t now_ns)
{
	enum step_result result;

	q->waiting = false;
	while (q->step < STEPS) {
		const struct step *s = &steps[q->step++];

		if (q->decided && !s->finishes)
			continue;
		result = s->run(q, now_ns);
		if (result == STEP_WAIT) {
			q->waiting = true;
			return;
		}
		if (result == STEP_DONE)
			q->decided = true;
	}
	if (q->done)
		q->done(q);
	else
		query_dispose(q);
}
