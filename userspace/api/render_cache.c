/* SPDX-License-Identifier: BSD-2-Clause */
/* render_cache.c - the cache, and what it knows of a name, as JSON. */
#include <stdlib.h>
#include "api/render.h"
#include "base/clock.h"
#include "dns/name.h"
#include "dns/reply.h"
#include "dns/text.h"

json_t *render_cache(const struct control_cache *c)
{
	const struct cache_stats *s = &c->cache;
	uint64_t asked = s->hits + s->misses;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:b, s:{s:o, s:o, s:o}}", "entries",
			 render_u64(s->entries), "entries_max", render_u64(s->entries_max), "bytes", render_u64(s->bytes),
			 "bytes_max", render_u64(s->bytes_max), "hits", render_u64(s->hits), "misses", render_u64(s->misses),
			 "hit_share", asked ? (double)s->hits / (double)asked : 0.0, "covered", render_u64(s->covered), "stale",
			 render_u64(s->stale), "evicted", render_u64(s->evicted), "expired", render_u64(s->expired), "refused",
			 render_u64(s->refused), "upstreams_down", c->down, "kernel", "answers", render_u64(c->kernel_answers),
			 "answers_max", render_u64(c->kernel_answers_max), "stale", render_u64(c->kernel_stale));
}

/* The answer as a client would get it over TCP that asks for it now. */
static json_t *message(const struct dns_answer *a)
{
	const struct dns_reply_limits limits = { .recursion = true, .stream = true, .udp_max = 1232 };
	size_t size = DNS_HEADER + a->key.name_len + 4U + a->body_len + 64;
	uint8_t query[DNS_HEADER + DNS_NAME_MAX + 32], *buf = malloc(size);
	struct dns_query q;
	json_t *m = NULL;
	int len;

	len = dns_query_write(0, a->key.name, a->key.name_len, a->key.qtype, a->key.bits, true, query, sizeof(query));
	if (buf && len > 0 && !dns_query_parse(query, (size_t)len, &q)) {
		len = dns_reply_answer(&q, a, &limits, clock_coarse_ns(), buf, size);
		m = len > 0 ? render_message(buf, (size_t)len) : NULL;
	}
	free(buf);
	return m ? m : json_null();
}

static json_t *cached(const struct control_cached *c)
{
	const struct dns_answer *a = c->answer;
	uint32_t age = dns_answer_age(a, clock_coarse_ns());
	char type[32], rcode[32];

	return json_pack("{s:s, s:b, s:b, s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:o}", "type",
			 dns_type_text(a->key.qtype, type, sizeof(type)), "dnssec_ok", a->key.bits & DNS_KEY_DO,
			 "checking_disabled", a->key.bits & DNS_KEY_CD, "state", c->live ? "live" : "stale", "rcode",
			 dns_rcode_text(a->rcode, rcode, sizeof(rcode)), "ttl", render_u64(age < a->ttl ? a->ttl - age : 0), "age",
			 render_u64(age), "asked", render_u64(atomic_load_explicit(&a->asked, memory_order_relaxed)), "bytes",
			 render_u64(dns_answer_size(a)), "covers_below", a->cut, "renewal_failed", c->rests, "kernel", c->kernel,
			 "reply", message(a));
}

json_t *render_cached(const uint8_t *name, const struct control_cached *list, unsigned count)
{
	char text[DNS_NAME_TEXT_MAX];
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < count; i++)
		json_array_append_new(all, cached(&list[i]));
	return json_pack("{s:s, s:o}", "name", dns_name_text(name, text, sizeof(text)), "answers", all);
}
