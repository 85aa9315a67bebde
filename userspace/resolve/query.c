/* SPDX-License-Identifier: BSD-2-Clause */
/* query.c - queries: made, started, left, freed; and the ends of their waits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "resolve/ops.h"
#include "resolve/rebinding.h"
#include "resolve/resolver.h"
#include "resolve/steps.h"

static struct query *make(struct resolver *r, enum query_proto proto, uint64_t now_ns)
{
	struct query *q = malloc(sizeof(*q));

	if (!q)
		return NULL;
	memset(q, 0, offsetof(struct query, first));
	arena_init(&q->arena, q->first, sizeof(q->first));
	q->resolver = r;
	q->snapshot = snapshot_ref(r->snapshot);
	q->proto = proto;
	q->start_ns = now_ns;
	q->steps = REGEX_STEPS_MAX;
	q->rcode = -1;
	q->ede = DNS_EDE_NONE;
	return q;
}

struct query *query_new(struct resolver *r, enum query_proto proto, const uint8_t *msg, size_t len,
			const struct addr *client, const struct addr *local, uint64_t now_ns,
			void (*done)(struct query *q), void *owner)
{
	struct query *q = make(r, proto, now_ns);

	if (!q)
		return NULL;
	q->msg = arena_copy(&q->arena, msg, len);
	if (!q->msg) {
		query_dispose(q);
		return NULL;
	}
	q->msg_len = len;
	q->client = *client;
	q->local = *local;
	q->done = done;
	q->owner = owner;
	return q;
}

void query_start(struct query *q)
{
	steps_run(q, q->start_ns);
}

void query_dispose(struct query *q)
{
	dns_answer_unref(q->answer);
	snapshot_unref(q->snapshot);
	arena_done(&q->arena);
	free(q);
}

void query_free(struct query *q)
{
	if (q && !bug_if(q->waiting))
		query_dispose(q);
}

void query_abandon(struct query *q)
{
	q->done = NULL;
	q->owner = NULL;
}

void query_wake(struct query *q, uint64_t now_ns)
{
	steps_run(q, now_ns);
}

/* What a client is told of a server that gave nothing (RFC 8914 sections 4.23 and 4.24). */
static int ede_of(int err)
{
	return err == -ETIMEDOUT ? DNS_EDE_NO_REACHABLE : DNS_EDE_NETWORK;
}

static void take_subnet(struct query *q, const uint8_t *msg, size_t size)
{
	uint16_t len;
	const uint8_t *data = dns_option_find_in(msg, size, DNS_OPTION_ECS, &len);

	if (!data || len > sizeof(q->ecs_said) || !dns_ecs_answers(data, len, q->ecs, q->ecs_len))
		return;
	memcpy(q->ecs_said, data, len);
	q->ecs_said_len = len;
}

void query_upstream_done(struct query *q, int err, const uint8_t *msg, size_t size, unsigned server, uint64_t now_ns)
{
	const struct dns_ttl_limits *limits = &q->snapshot->ttl;

	q->upstream = server;
	if (!err)
		err = dns_answer_from_response(msg, size, &q->key, limits, now_ns, &q->answer);
	if (err)
		q->answer = dns_answer_empty(&q->key, DNS_SERVFAIL, ede_of(err), limits->failure, now_ns);
	else
		q->answer->ad = q->upstream_trusted && size >= DNS_HEADER && msg[3] & DNS_AD;
	if (!err && q->ecs)
		take_subnet(q, msg, size);
	rebinding_check(q, now_ns);
	steps_run(q, now_ns);
}

void resolver_refresh(struct resolver *r, const struct dns_key *key, uint64_t now_ns)
{
	struct query *q = make(r, QUERY_INTERNAL, now_ns);

	if (!q)
		return;			/* the answer dies on time and is asked for anew */
	q->refresh = true;
	q->key = *key;
	q->key.bits &= (uint8_t)~DNS_KEY_DO;
	q->dnssec_ok = key->bits & DNS_KEY_DO;
	steps_run(q, now_ns);
}
