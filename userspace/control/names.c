/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.c - where servers are that are given by their names.
 *
 * Their addresses are asked of the servers of upstreams.bootstrap, or of those
 * that are given by address, as any other question (upstream/upstream.h), on
 * control's loop; never of the machine's resolver, which may be ourselves.
 * Asked again when the shortest time to live is over; while nobody answers the
 * old addresses stay, and are better than none.
 */
#define LOG_ROOM "control"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "control/internal.h"
#include "dns/name.h"

#define TIMEOUT_MS   5000
#define TTL_MIN_S    5
#define TTL_MAX_S    86400
#define RETRY_MIN_MS 1000
#define RETRY_MAX_MS 5000

/* One question about a name. */
struct question {
	struct upstream_request req;	/* first */
	struct dns_key key;
	struct name *of;
	bool asking;
	bool answered;
	uint32_t ttl;
	struct addr addr[UPSTREAM_ADDRS_MAX];
	unsigned addrs;
	char why[UPSTREAM_WHY_MAX];
};

struct name {
	struct names *all;
	unsigned server;		/* of the pool */
	const char *host;		/* the pool's */
	uint64_t due_ms;
	uint64_t retry_ms;
	bool found;			/* has an address */
	struct question a, aaaa;
};

struct names {
	struct control *control;
	struct upstream_pool *pool;	/* a reference */
	struct upstream *up;
	uv_timer_t timer;
	bool closing;
	unsigned count;
	struct name name[];
};

static void arm(struct names *n);

/* ---- answers ---- */

/* The alias of @name, written over it; false when it has none here. */
static bool follow(const struct dns_response *answer, uint8_t *name, uint32_t *ttl)
{
	struct dns_response walk = *answer;
	struct dns_rr rr;

	while (dns_rr_next(&walk, &rr) == 1 && rr.section == DNS_ANSWER) {
		if (rr.type != DNS_CNAME || rr.class != DNS_IN || !dns_name_equal(rr.owner, name))
			continue;
		*ttl = rr.ttl < *ttl ? rr.ttl : *ttl;
		return dns_name_expand(walk.msg, walk.size, rr.rdata, name, NULL) > 0;
	}
	return false;
}

static void take_addr(struct question *q, const struct dns_response *r, const struct dns_rr *rr)
{
	struct addr *to = &q->addr[q->addrs];

	if (q->addrs == UPSTREAM_ADDRS_MAX / 2 || rr->rdata_len != (rr->type == DNS_A ? 4 : 16))
		return;
	memset(to, 0, sizeof(*to));
	if (rr->type == DNS_A)
		to->ip[10] = to->ip[11] = 0xff;
	memcpy(to->ip + 16 - rr->rdata_len, r->msg + rr->rdata, rr->rdata_len);
	q->ttl = rr->ttl < q->ttl ? rr->ttl : q->ttl;
	q->addrs++;
}

/* The addresses at the end of the chain of aliases. */
static void collect(struct question *q, const uint8_t *msg, size_t size)
{
	uint8_t name[DNS_NAME_MAX];
	struct dns_response r, walk;
	struct dns_rr rr;
	unsigned i;

	q->addrs = 0;
	q->ttl = TTL_MAX_S;
	if (dns_response_parse(msg, size, &r))
		return;
	memcpy(name, q->key.name, q->key.name_len);
	for (i = 0; i < 16 && follow(&r, name, &q->ttl); i++)
		;
	walk = r;
	while (dns_rr_next(&walk, &rr) == 1)
		if (rr.section == DNS_ANSWER && rr.type == q->key.qtype && rr.class == DNS_IN && dns_name_equal(rr.owner, name))
			take_addr(q, &walk, &rr);
	snprintf(q->why, sizeof(q->why), "its name %s", DNS_RCODE(r.flags) == DNS_NXDOMAIN ? "does not exist" : "has no address");
	q->answered = DNS_RCODE(r.flags) == DNS_NOERROR || DNS_RCODE(r.flags) == DNS_NXDOMAIN;
	if (!q->answered)
		snprintf(q->why, sizeof(q->why), "its name cannot be resolved: rcode %u", DNS_RCODE(r.flags));
}

static void take_found(struct name *n, const struct addr *addrs, unsigned count)
{
	struct control *c = n->all->control;
	char text[ADDR_TEXT_MAX];
	struct addr now;
	bool moved = upstream_pool_set_addrs(n->all->pool, n->server, addrs, count);

	if (upstream_pool_addr(n->all->pool, n->server, &now) && (moved || !n->found))
		log_info("upstream server %s is at %s", n->host, addr_text(&now, text, sizeof(text)));
	n->found = true;
	if (moved)
		wire_moved(c, 1ULL << n->server);
}

/* Both questions have ended. */
static void settle(struct name *n)
{
	uint64_t now_ms = uv_now(n->all->control->loop);
	struct addr addrs[UPSTREAM_ADDRS_MAX];
	unsigned count = n->a.addrs + n->aaaa.addrs;
	uint32_t ttl = TTL_MAX_S;

	memcpy(addrs, n->a.addr, n->a.addrs * sizeof(addrs[0]));
	memcpy(addrs + n->a.addrs, n->aaaa.addr, n->aaaa.addrs * sizeof(addrs[0]));
	if (count) {
		take_found(n, addrs, count);
		ttl = n->a.addrs && n->a.ttl < ttl ? n->a.ttl : ttl;
		ttl = n->aaaa.addrs && n->aaaa.ttl < ttl ? n->aaaa.ttl : ttl;
		n->due_ms = now_ms + 1000ULL * (ttl < TTL_MIN_S ? TTL_MIN_S : ttl);
		n->retry_ms = RETRY_MIN_MS;
	} else {
		upstream_pool_set_why(n->all->pool, n->server, n->a.answered ? n->aaaa.why : n->a.why);
		if (n->retry_ms == RETRY_MIN_MS)
			log_warn("upstream server %s: %s", n->host, n->a.answered ? n->aaaa.why : n->a.why);
		n->due_ms = now_ms + n->retry_ms;
		n->retry_ms = 2 * n->retry_ms < RETRY_MAX_MS ? 2 * n->retry_ms : RETRY_MAX_MS;
	}
	arm(n->all);
}

static void on_answer(struct upstream_request *req, int err, const uint8_t *msg, size_t size)
{
	struct question *q = (struct question *)req;
	struct name *n = q->of;

	q->asking = false;
	if (n->all->closing)
		return;
	if (!err) {
		collect(q, msg, size);
	} else {
		q->addrs = 0;
		q->answered = false;
		snprintf(q->why, sizeof(q->why), "its name cannot be resolved: %s", strerror(-err));
	}
	if (!n->a.asking && !n->aaaa.asking)
		settle(n);
}

/* ---- questions ---- */

static void ask(struct question *q, struct name *n, uint16_t type)
{
	uint8_t wire[DNS_NAME_MAX];
	int len = dns_name_from_text(n->host, strlen(n->host), wire), err;

	q->of = n;
	q->addrs = 0;
	q->answered = false;
	memset(&q->key, 0, sizeof(q->key));
	dns_name_lower(q->key.name, wire, len > 0 ? (size_t)len : 0);
	q->key.name_len = (uint16_t)(len > 0 ? len : 0);
	q->key.qtype = type;
	q->req = (struct upstream_request){ .key = &q->key, .done = on_answer };
	err = len > 0 ? upstream_ask(n->all->up, &q->req) : -EINVAL;
	q->asking = !err;
	if (err)
		snprintf(q->why, sizeof(q->why), "its name cannot be resolved: %s", strerror(-err));
}

static void on_due(uv_timer_t *t)
{
	struct names *all = t->data;
	struct name *n;

	for (n = all->name; n < all->name + all->count; n++) {
		if (n->a.asking || n->aaaa.asking || n->due_ms > uv_now(all->control->loop))
			continue;
		ask(&n->a, n, DNS_A);
		ask(&n->aaaa, n, DNS_AAAA);
		if (!n->a.asking && !n->aaaa.asking)
			settle(n);
	}
	arm(all);
}

/* Wait for the first that is due. */
static void arm(struct names *all)
{
	uint64_t now_ms = uv_now(all->control->loop), first = UINT64_MAX;
	struct name *n;

	for (n = all->name; n < all->name + all->count; n++)
		if (!n->a.asking && !n->aaaa.asking && n->due_ms < first)
			first = n->due_ms;
	if (first != UINT64_MAX)
		uv_timer_start(&all->timer, on_due, first > now_ms ? first - now_ms : 0, 0);
}

void names_retry(struct names *all)
{
	struct name *n;

	for (n = all->name; n < all->name + all->count; n++) {
		if (n->found)
			continue;
		n->due_ms = 0;
		n->retry_ms = RETRY_MIN_MS;
	}
	arm(all);
}

/* ---- beginning and end ---- */

/* Whom to ask: the bootstrap servers, else those that need no name. */
static unsigned bootstrap(const struct config *config, struct upstream_opts *o)
{
	const struct config_addrs *b = &config->upstreams_bootstrap;
	const struct config_servers *s = &config->upstreams_servers;
	unsigned i, n = 0;

	for (i = 0; i < b->count && n < UPSTREAM_SET_MAX; i++)
		o->servers[n++].at = (struct endpoint){ .literal = true, .addr = b->at[i] };
	for (i = 0; !b->count && i < s->count; i++) {
		if (!s->at[i].at.literal)
			continue;
		o->servers[n].at = s->at[i].at;
		o->servers[n].pins = s->at[i].pins;
		memcpy(o->servers[n++].pin, s->at[i].pin, sizeof(s->at[i].pin));
	}
	return n;
}

static int open_upstream(struct names *n, const struct config *config)
{
	struct upstream_opts *o = calloc(1, sizeof(*o));
	int err;

	if (!o)
		return -ENOMEM;
	o->count = bootstrap(config, o);
	o->timeout_ms = TIMEOUT_MS;
	o->case_randomization = config->upstreams_case_randomization;
	o->https_get = config->upstreams_https_get;
	o->ca = *config->upstreams_ca ? config->upstreams_ca : NULL;
	err = upstream_new(n->control->loop, o, &n->up);
	free(o);
	return err;
}

int names_new(struct control *c, const struct config *config, struct names **ret)
{
	const struct upstream_opts *o = upstream_pool_opts(c->pool);
	unsigned i, count = 0;
	struct names *n;
	struct addr a;
	int err;

	for (i = 0; i < o->count; i++)
		count += !o->servers[i].at.literal;
	*ret = NULL;
	if (!count)
		return 0;
	n = calloc(1, sizeof(*n) + count * sizeof(n->name[0]));
	if (!n)
		return -ENOMEM;
	n->control = c;
	err = open_upstream(n, config);
	if (err) {
		free(n);
		return err;
	}
	n->pool = upstream_pool_ref(c->pool);
	for (i = 0; i < o->count; i++)
		if (!o->servers[i].at.literal)
			n->name[n->count++] = (struct name){ .all = n, .server = i, .host = o->servers[i].at.host,
							     .retry_ms = RETRY_MIN_MS, .found = upstream_pool_addr(c->pool, i, &a) };
	uv_timer_init(c->loop, &n->timer);
	n->timer.data = n;
	arm(n);
	*ret = n;
	return 0;
}

static void on_closed(uv_handle_t *h)
{
	struct names *n = h->data;

	upstream_pool_unref(n->pool);
	free(n);
}

void names_free(struct names *n)
{
	if (!n)
		return;
	n->closing = true;
	upstream_free(n->up);
	uv_close((uv_handle_t *)&n->timer, on_closed);
}
