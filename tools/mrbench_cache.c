/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_cache.c - "mrbench cache": what an answer out of the cache costs.
 *
 * The cache holds an A record for each name of BENCH_CACHED.  "get" builds the
 * key from the question and looks it up; "hit" also writes the whole response
 * with the query's ID; "whole" begins with the octets of the query; "hot" is
 * "hit" with 1,000 names in turn, which the CPU's caches hold.  The other
 * cells ask at random among all names.  In a batch keys are built and their
 * memory asked for some queries ahead, as resolve/ahead.c does it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "cache/cache.h"
#include "dns/name.h"
#include "dns/reply.h"
#include "tools/mrbench.h"
#include "tools/mrbench_user.h"

#define HOT       1000
#define TARGET_NS 210

static const struct dns_reply_limits limits = { .recursion = true, .udp_max = 1232 };

struct answers {
	struct cache *cache;
	uint32_t domains;
	uint64_t random;
	uint64_t now_ns;
	struct asking {			/* one operation */
		struct answers *all;
		uint8_t msg[128];
		size_t msg_len;
		struct dns_query query;
		struct dns_key key;
		uint64_t hash;
		struct dns_answer *got;
		uint8_t reply[512];
		int reply_len;
	} asking[BENCH_BATCH];
};

static int fill(struct answers *a)
{
	static const uint8_t record[] = { 0xc0, 12, 0, 1, 0, 1, 0, 1, 0x51, 0x80, 0, 4, 192, 0, 2, 1 };
	int err = 0;

	/* More than there are names: shards do not fill alike. */
	a->cache = cache_new(a->domains + a->domains / 8 + 4096);
	if (!a->cache)
		return -ENOMEM;
	for (uint32_t i = 0; i < a->domains && !err; i++) {
		struct dns_key key = { .qtype = DNS_A };
		struct dns_answer *made;
		struct bench_name name;

		bench_name(BENCH_CACHED, i, &name);
		memcpy(key.name, name.wire, name.len);
		key.name_len = name.len;
		err = dns_answer_from_body(&key, DNS_NOERROR, record, sizeof(record), 1, 0, a->now_ns, &made);
		if (err)
			break;
		cache_put(a->cache, made, a->now_ns);
		dns_answer_unref(made);
	}
	return err;
}

/* ---- one operation ---- */

static void choose(struct asking *a, enum bench_space space, uint32_t among)
{
	static const uint8_t head[DNS_HEADER] = { 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1 };
	static const uint8_t tail[] = { 0, DNS_A, 0, DNS_IN, 0, 0, DNS_OPT, 0x04, 0xd0, 0, 0, 0, 0, 0, 0 };
	uint64_t r = bench_random(&a->all->random);
	struct bench_name name;

	bench_name(space, (uint32_t)((r >> 32) * among >> 32), &name);
	memcpy(a->msg, head, sizeof(head));
	memcpy(a->msg, &r, 2);
	memcpy(a->msg + sizeof(head), name.wire, name.len);
	memcpy(a->msg + sizeof(head) + name.len, tail, sizeof(tail));
	a->msg_len = sizeof(head) + name.len + sizeof(tail);
	dns_query_parse(a->msg, a->msg_len, &a->query);
	a->got = NULL;
	a->reply_len = 0;
}

static void choose_cached(void *arg)
{
	struct asking *a = arg;

	choose(a, BENCH_CACHED, a->all->domains);
}

static void choose_hot(void *arg)
{
	struct asking *a = arg;

	choose(a, BENCH_CACHED, a->all->domains < HOT ? a->all->domains : HOT);
}

static void choose_unknown(void *arg)
{
	struct asking *a = arg;

	choose(a, BENCH_UNKNOWN, a->all->domains);
}

/* As resolve/ahead.c builds it; what is behind the name is zero already. */
static void ahead(void *arg)
{
	struct asking *a = arg;
	uint16_t before = a->key.name_len;

	dns_name_lower(a->key.name, a->query.qname, a->query.qname_len);
	if (before > a->query.qname_len)
		memset(a->key.name + a->query.qname_len, 0, before - a->query.qname_len);
	a->key.name_len = a->query.qname_len;
	a->key.qtype = a->query.qtype;
	a->key.bits = 0;
	a->hash = cache_hash(a->all->cache, &a->key);
	cache_ahead(a->all->cache, &a->key, a->hash);
}

static void near(void *arg)
{
	struct asking *a = arg;

	cache_ahead_answer(a->all->cache, &a->key, a->hash);
}

static void get(void *arg)
{
	struct asking *a = arg;

	a->got = cache_get_hashed(a->all->cache, &a->key, a->hash, a->all->now_ns);
}

static void hit(void *arg)
{
	struct asking *a = arg;

	get(arg);
	if (!a->got)
		return;
	a->reply_len = dns_reply_answer(&a->query, a->got, &limits, a->all->now_ns, a->reply, sizeof(a->reply));
	dns_answer_unref(a->got);
}

static void whole_ahead(void *arg)
{
	struct asking *a = arg;

	if (!dns_query_parse(a->msg, a->msg_len, &a->query))
		ahead(arg);
}

static bool got(void *arg)
{
	struct asking *a = arg;

	if (!a->got)
		return false;
	dns_answer_unref(a->got);
	return true;
}

static bool got_nothing(void *arg)
{
	return !((struct asking *)arg)->got;
}

/* The ID, one answer, and the address at the end of it, before the OPT. */
static bool replied(void *arg)
{
	struct asking *a = arg;

	return a->reply_len > 27 && !memcmp(a->reply, a->msg, 2) && a->reply[7] == 1 &&
	       !memcmp(a->reply + a->reply_len - 15, "\300\0\2\1", 4);
}

static const struct bench_op ops[] = {
	{ "get", choose_cached, ahead, near, get, got },
	{ "miss", choose_unknown, ahead, near, get, got_nothing },
	{ "whole", choose_cached, whole_ahead, near, hit, replied },
	{ "hot", choose_hot, ahead, near, hit, replied },
	{ "hit", choose_cached, ahead, near, hit, replied },
};

static int measure(struct answers *a, struct bench_report *r, struct err_at *reterr)
{
	int err = 0;

	for (unsigned i = 0; i < BENCH_BATCH; i++)
		a->asking[i].all = a;
	for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]) && !err; i++)
		err = bench_time(&ops[i], a->asking, r->o->iters, &r->cell[r->cells++], reterr);
	if (!err)
		report_figure(r, "alone_p95_ns", "key, look-up and reply, alone: ns, p95", r->cell[r->cells - 1].p95);
	for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]) && !err; i++)
		err = bench_time_batch(&ops[i], a->asking, sizeof(*a->asking), r->o->iters, &r->cell[r->cells++], reterr);
	if (!err)
		report_target(r, "P9 cache", "key, look-up, reply, in a batch: ns, p95", r->cell[r->cells - 1].p95,
			      TARGET_NS, false, true);
	return err;
}

int bench_cache(struct bench_report *r, struct err_at *reterr)
{
	static struct answers a;
	struct cache_stats st;
	struct bench_memory before;
	int err = bench_memory(&before);

	a = (struct answers){ .domains = r->o->domains, .random = r->o->seed, .now_ns = clock_coarse_ns() };
	bench_progress("a cache of %u answers", a.domains);
	if (!err)
		err = fill(&a);
	if (!err) {
		cache_stats(a.cache, &st);
		err = report_memory(r, &before, st.bytes);
		if (!err)
			err = report_miss(r, st.bytes, reterr);
	}
	if (!err)
		err = measure(&a, r, reterr);
	if (a.cache)
		cache_free(a.cache);
	return err;
}
