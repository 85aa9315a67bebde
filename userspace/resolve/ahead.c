/* SPDX-License-Identifier: BSD-2-Clause */
/* ahead.c - reads a query, and asks for the memory that its steps are going to look into. */
#include <errno.h>
#include <string.h>
#include "dns/name.h"
#include "resolve/resolver.h"
#include "resolve/steps.h"

/* The question as the tables know it: lower case, hashed when it is not too deep. */
static int take_key(struct query *q)
{
	int err;

	dns_name_lower(q->key.name, q->view.qname, q->view.qname_len);
	q->key.name_len = q->view.qname_len;
	q->key.qtype = q->view.qtype;
	q->key.bits = q->view.flags & DNS_CD ? DNS_KEY_CD : 0;
	q->dnssec_ok = q->view.edns.dnssec_ok;
	q->name = arena_zalloc(&q->arena, sizeof(*q->name));
	if (!q->name)
		return -ENOMEM;
	memcpy(q->name->text, q->key.name, q->key.name_len);
	q->name->len = q->key.name_len;
	err = mr_name_hash(q->name, q->snapshot->secret);
	if (err)
		q->name = NULL;
	return 0;
}

void query_read(struct query *q)
{
	if (q->read)
		return;
	q->read = true;
	q->parsed = dns_query_parse(q->msg, q->msg_len, &q->view);
	if (q->parsed == DNS_NOERROR && take_key(q))
		q->parsed = DNS_SERVFAIL;
}

void query_ahead(struct query *q)
{
	query_read(q);
	if (q->parsed != DNS_NOERROR)
		return;
	if (q->name)
		filter_ahead(&q->snapshot->judge.filter, q->name);
	q->hash = cache_hash(q->resolver->cache, &q->key);
	cache_ahead(q->resolver->cache, &q->key, q->hash);
}

void query_ahead_answer(struct query *q)
{
	if (q->hash)
		cache_ahead_answer(q->resolver->cache, &q->key, q->hash);
}
