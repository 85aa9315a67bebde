/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub_serve.c - what the stub does with a query: which rule, answer or not, now or later.
 */
#include <arpa/inet.h>
#include <time.h>

#include "tools/mrstub_worker.h"

static const char *const carriers[] = { "udp", "tcp", "tls", "https" };

static uint16_t address_port(const union stub_address *a)
{
	return ntohs(a->sa.sa_family == AF_INET ? a->v4.sin_port : a->v6.sin6_port);
}

static void log_query(const struct stub_query *q, const struct peer *peer)
{
	char name[1024], type[16], address[INET6_ADDRSTRLEN] = "?";
	const union stub_address *a = &peer->address;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	stub_query_text(q, name, type);
	inet_ntop(a->sa.sa_family, a->sa.sa_family == AF_INET ? (void *)&a->v4.sin_addr : (void *)&a->v6.sin6_addr,
		  address, sizeof(address));
	fprintf(stub.log, "%lld.%06ld %s %u %u %s %s %s%s%s%s%s\n", (long long)t.tv_sec, t.tv_nsec / 1000,
		carriers[peer->carrier], address_port(a), q->id, name, type, address, q->flags & 0x0100 ? " rd" : "",
		q->flags & 0x0010 ? " cd" : "", q->edns ? " edns" : "", q->dnssec_ok ? " do" : "");
}

static void count_query(struct stub_worker *w, enum stub_carrier carrier)
{
	switch (carrier) {
	case CARRIER_UDP:
		COUNT(w, udp);
		break;
	case CARRIER_TCP:
		COUNT(w, tcp);
		break;
	case CARRIER_TLS:
		COUNT(w, tls);
		break;
	case CARRIER_HTTPS:
		COUNT(w, https);
		break;
	}
}

/* Whether the rule has it that nothing is said, and what happens to the connection then. */
static bool is_dropped(struct stub_worker *w, const struct peer *peer, const struct stub_rule *rule,
		       const struct stub_query *q)
{
	struct conn *c = peer->conn < 0 ? NULL : &w->conn[peer->conn];

	if (c && c->http && rule->flags & STUB_GOAWAY) {
		stub_http_goaway(c->http, peer->stream, false);
		return true;
	}
	if (c && rule->flags & (STUB_CLOSE | STUB_GOAWAY)) {
		c->dead = true;
		return true;
	}
	return rule->flags & STUB_DROP || (q->edns && rule->flags & STUB_DROP_EDNS) ||
	       (q->dnssec_ok && rule->flags & STUB_DROP_DO);
}

/* Errors that a rule makes of a query that has none. */
static void spoil(struct stub_worker *w, const struct peer *peer, const struct stub_rule *rule, struct stub_query *q)
{
	if (q->edns && rule->flags & STUB_FORMERR_EDNS) {
		q->edns = false;
		q->rcode = 1;
	} else if (peer->conn >= 0 && rule->refuse_after && w->conn[peer->conn].queries > rule->refuse_after) {
		COUNT(w, refused);
		q->rcode = 5;
	}
}

static void answer(struct stub_worker *w, const struct peer *peer, const struct stub_rule *rule,
		   const struct stub_query *q, uint32_t wrong)
{
	uint8_t *buf = q->tcp ? w->big : w->out_buf[w->out_len];
	bool spoof = !q->tcp && wrong & STUB_WRONG_SOURCE, hang_up = q->tcp && rule->flags & STUB_HANG_UP;
	size_t len = stub_answer(rule, q, wrong, buf);

	COUNT(w, answers);
	if (buf[2] & 0x02)
		COUNT(w, truncated);
	if (wrong)
		COUNT(w, wrong);
	if (rule->delay_ms)
		stub_later(w, ALARM_ANSWER, peer, buf, len, rule->delay_ms, spoof, hang_up);
	else if (q->tcp)
		stub_conn_answer(w, &w->conn[peer->conn], peer->stream, buf, len, hang_up);
	else
		stub_udp_send(w, peer, len, spoof);
}

void stub_serve(struct stub_worker *w, const struct peer *peer, const uint8_t *msg, size_t len)
{
	bool tcp = peer->conn >= 0;
	struct stub_query q;
	struct stub_rule *rule;
	uint32_t wrong;

	count_query(w, peer->carrier);
	if (stub_query_parse(msg, len, tcp, &q)) {
		COUNT(w, ignored);
		return;
	}
	if (q.rcode)
		COUNT(w, malformed);
	if (stub.log)
		log_query(&q, peer);
	rule = q.rcode ? stub.rules.fallback : stub_rules_find(&stub.rules, &q);
	if (tcp)
		w->conn[peer->conn].queries++;
	if (is_dropped(w, peer, rule, &q)) {
		COUNT(w, dropped);
		return;
	}
	if (!tcp && rule->loss_percent && stub_random(w) % 100 < rule->loss_percent) {
		COUNT(w, lost);
		return;
	}
	if (rule->status && peer->carrier == CARRIER_HTTPS) {
		stub_http_answer(w->conn[peer->conn].http, peer->stream, rule->status, NULL, 0);
		return;
	}
	spoil(w, peer, rule, &q);
	wrong = rule->flags & (STUB_WRONG_ID | STUB_WRONG_QUESTION | STUB_WRONG_SOURCE | STUB_GARBAGE | STUB_BROKEN);
	answer(w, peer, rule, &q, wrong);
	if (wrong && rule->flags & STUB_ALSO_RIGHT)
		answer(w, peer, rule, &q, 0);
}
