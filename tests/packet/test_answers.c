/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_answers.c - answers out of the table: found, judged fit, aged, sent.
 */
#include <stdio.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "maps/event.h"
#include "packet/run.h"

static const char v4[] = "\xc0\x00\x02\x50";
static const char v6[] = "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x50";
static const char to_cdn[] = "\3cdn\xc0\x10";		/* cdn + what follows the question's first label of 3 */
static const char soa[] = "\2ns\xc0\x0c\0\0\0\0\7\0\0\x0e\x10\0\0\x02\x58\0\x01\x51\x80\0\0\0\x3c";

static const struct fill_rr a_rr[] = { { 1, 300, v4, 4, 0 }, { 0 } };
static const struct fill_rr aaaa_rr[] = { { 28, 300, v6, 16, 0 }, { 0 } };
static const struct fill_rr mixed_rr[] = { { 5, 60, to_cdn, 6, 0 }, { 1, 300, v4, 4, 0 }, { 1, 7, v4, 4, 0 }, { 0 } };
static const struct fill_rr soa_rr[] = { { 6, 60, soa, sizeof(soa) - 1, 1 }, { 0 } };
static const struct fill_rr none_rr[] = { { 0 } };

static char text[1300];
static struct fill_rr many_rr[17];

/* Answers that all suites of this file know; ages lie half a second off a whole one. */
static void world(struct fill *f)
{
	fill_service(f, "192.0.2.53");
	fill_service(f, "2001:db8::53");
	fill_answer(f, &(struct fill_answer){ "www.example", 1, .dns_flags = 0x80, .rr = a_rr });
	fill_answer(f, &(struct fill_answer){ "www.example", 28, .dns_flags = 0x80, .rr = aaaa_rr });
	fill_answer(f, &(struct fill_answer){ "old.example", 1, .dns_flags = 0x80, .rr = a_rr, .age_ms = 7500 });
	fill_answer(f, &(struct fill_answer){ "mix.example", 1, .dns_flags = 0x80, .rr = mixed_rr, .age_ms = 5500 });
	fill_answer(f, &(struct fill_answer){ "odd1.example", 1, .dns_flags = 0x80, .rr = mixed_rr, .age_ms = 5500 });
	fill_answer(f, &(struct fill_answer){ "no.example", 1, .flags = MR_ANSWER_NEGATIVE, .dns_flags = 0x83, .rr = soa_rr, .age_ms = 1500 });
	fill_answer(f, &(struct fill_answer){ "empty.example", 1, .dns_flags = 0x80, .rr = none_rr });
	fill_answer(f, &(struct fill_answer){ ".", 6, .dns_flags = 0x80, .rr = a_rr });
}

static void add(struct fill *f, struct fill_answer a)
{
	a.name = "x.example";
	a.qtype = a.qtype ? a.qtype : 1;
	a.rr = a.rr ? a.rr : a_rr;
	fill_answer(f, &a);
}

/* A TXT answer whose whole message, without OPT, has that size; x.example takes 11 + 4 + 12 octets before it. */
static void add_size(struct fill *f, size_t size)
{
	static struct fill_rr rr[2];

	memset(text, 'x', sizeof(text));
	rr[0] = (struct fill_rr){ 16, 300, text, size - 12 - 15 - 12, 0 };
	add(f, (struct fill_answer){ .rr = rr, .dns_flags = 0x80 });
}

static void size_512(struct fill *f) { add_size(f, 512); }
static void size_513(struct fill *f) { add_size(f, 513); }
static void size_1221(struct fill *f) { add_size(f, 1221); }
static void size_1222(struct fill *f) { add_size(f, 1222); }
static void size_700(struct fill *f) { add_size(f, 700); }

static void sixteen(struct fill *f)
{
	for (int i = 0; i < 16; i++)
		many_rr[i] = (struct fill_rr){ 1, (__u32)(100 + i), v4, 4, 0 };
	many_rr[16].type = 0;
	add(f, (struct fill_answer){ .rr = many_rr, .age_ms = 50500, .dns_flags = 0x80 });
}

static void key_do(struct fill *f) { add(f, (struct fill_answer){ .key = MR_KEY_DO, .flags = MR_ANSWER_AD }); }
static void key_cd(struct fill *f) { add(f, (struct fill_answer){ .key = MR_KEY_CD }); }
static void key_do_cd(struct fill *f) { add(f, (struct fill_answer){ .key = MR_KEY_DO | MR_KEY_CD }); }
static void key_plain_ad(struct fill *f) { add(f, (struct fill_answer){ .flags = MR_ANSWER_AD }); }
static void key_any_unsaid(struct fill *f) { add(f, (struct fill_answer){ .key = MR_KEY_ANY }); }
static void key_any(struct fill *f) { key_any_unsaid(f); f->conf->any_answers = 1; }

static void local_zone(struct fill *f)
{
	fill_verdict(f, 0, 3, MR_LOCAL_ZONE, 2);
	fill_rule(f, "x.example", 3, 1, FILL_FIRST);
	f->conf->any_answers = 1;
}

static void local(struct fill *f)
{
	local_zone(f);
	add(f, (struct fill_answer){ .key = MR_KEY_ANY, .flags = MR_ANSWER_LOCAL, .dns_flags = 0x480, .age_ms = 9000,
				     .generation_slot = 5 });
}

static void not_local(struct fill *f) { local_zone(f); add(f, (struct fill_answer){ .key = 0 }); }
static void local_flushed(struct fill *f) { local(f); f->conf->generation[5]++; }

static void expired(struct fill *f) { add(f, (struct fill_answer){ .age_ms = 60100, .life_ms = 60000 }); }
static void nearly_expired(struct fill *f) { add(f, (struct fill_answer){ .age_ms = 299500, .life_ms = 301000 }); }
static void born_later(struct fill *f) { add(f, (struct fill_answer){ .age_ms = -2000 }); }
static void flushed(struct fill *f) { add(f, (struct fill_answer){ .age_ms = 0 }); f->conf->generation[0] = 9; }
static void other_flushed(struct fill *f) { add(f, (struct fill_answer){ .age_ms = 0 }); f->conf->generation[1] = 9; }
static void bad_generation(struct fill *f) { add(f, (struct fill_answer){ .generation_slot = 1024 }); }
static void chain(struct fill *f) { add(f, (struct fill_answer){ .flags = MR_ANSWER_CHAIN }); }
static void chain_old(struct fill *f) { chain(f); f->conf->filter_generation++; }
static void no_chain_old(struct fill *f) { add(f, (struct fill_answer){ .flags = 0 }); f->conf->filter_generation++; }
static void chain_unknown(struct fill *f) { add(f, (struct fill_answer){ .flags = MR_ANSWER_CHAIN, .chain = { 0, 0, 0, 0, 0, 0, 0, MR_SET_ASK } }); }

static void chain_allowed(struct fill *f)
{
	chain_unknown(f);
	fill_verdict(f, 0, 3, MR_ALLOW, 2);
	fill_rule(f, "x.example", 3, 0, FILL_FIRST);
}

/* ---- behind the end ------------------------------------------------------ */

/* Ten seconds behind its end, to be given for a minute; the upstreams are down. */
static void over(struct fill *f, struct fill_answer a)
{
	f->conf->stale_ttl = 30;
	f->conf->upstreams_down = 1;
	f->conf->heartbeat = fill_now();
	a.age_ms = 60000;
	a.life_ms = 50000;
	a.stale_ms = 60000;
	a.name = "x.example";
	a.qtype = a.qtype ? a.qtype : 1;
	a.rr = a.rr ? a.rr : a_rr;
	a.dns_flags = a.dns_flags ? a.dns_flags : 0x80;
	fill_slot(f, fill_answer(f, &a))->refresh = 1;		/* it was, before its end */
}

static void over_down(struct fill *f) { over(f, (struct fill_answer){ .key = 0 }); }
static void over_up(struct fill *f) { over_down(f); f->conf->upstreams_down = 0; }
static void over_dead(struct fill *f) { over_up(f); f->conf->heartbeat = fill_now() - 5100000000ULL; }
static void over_slow(struct fill *f) { over_up(f); f->conf->heartbeat = fill_now() - 4000000000ULL; }
static void over_ahead(struct fill *f) { over_up(f); f->conf->heartbeat = fill_now() + 9000000000ULL; }
static void over_off(struct fill *f) { over_down(f); f->conf->stale_ttl = 0; }
static void over_ttl_7(struct fill *f) { over_down(f); f->conf->stale_ttl = 7; }
static void over_mixed(struct fill *f) { over(f, (struct fill_answer){ .rr = mixed_rr }); }
static void over_do(struct fill *f) { over(f, (struct fill_answer){ .key = MR_KEY_DO, .flags = MR_ANSWER_AD }); }
static void over_no(struct fill *f) { over(f, (struct fill_answer){ .flags = MR_ANSWER_NEGATIVE, .dns_flags = 0x83, .rr = soa_rr }); }
static void over_empty(struct fill *f) { over(f, (struct fill_answer){ .flags = MR_ANSWER_NEGATIVE, .rr = soa_rr }); }
static void over_chain_old(struct fill *f) { over(f, (struct fill_answer){ .flags = MR_ANSWER_CHAIN }); f->conf->filter_generation++; }
static void over_flushed(struct fill *f) { over_down(f); f->conf->generation[0] = 9; }

static void over_for_good(struct fill *f)
{
	over_down(f);
	add(f, (struct fill_answer){ .qtype = 16, .age_ms = 200000, .life_ms = 50000, .stale_ms = 60000 });
}

static void over_size(struct fill *f, size_t size)
{
	static struct fill_rr rr[2];

	memset(text, 'x', sizeof(text));
	rr[0] = (struct fill_rr){ 16, 300, text, size - 12 - 15 - 12, 0 };
	over(f, (struct fill_answer){ .qtype = 16, .rr = rr });
}

static void over_size_495(struct fill *f) { over_size(f, 495); }
static void over_size_496(struct fill *f) { over_size(f, 496); }

static void live_down(struct fill *f)
{
	over_down(f);
	fill_answer(f, &(struct fill_answer){ "y.example", 1, .dns_flags = 0x80, .rr = a_rr, .age_ms = 7500, .stale_ms = 60000 });
}

/* ---- what a writer, a crash or a fault may leave ------------------------- */

static struct mr_answer *slot(struct fill *f) { return fill_slot(f, MR_PAGE_UNITS); }

static void first(struct fill *f, struct mr_answer **ret, struct fill_answer a)
{
	f->next_unit = MR_PAGE_UNITS;
	memset(f->buckets, 0, f->size.answer_buckets * sizeof(*f->buckets));
	add(f, a);
	*ret = slot(f);
}

static void torn_first(struct fill *f) { struct mr_answer *a; first(f, &a, (struct fill_answer){ .key = 0 }); a->stamp_first++; }
static void torn_last(struct fill *f) { struct mr_answer *a; first(f, &a, (struct fill_answer){ .key = 0 }); a->stamp_last++; }
static void cleared(struct fill *f) { struct mr_answer *a; first(f, &a, (struct fill_answer){ .key = 0 }); a->stamp_first = a->stamp_last = 0; }
static void body_rotten(struct fill *f) { struct mr_answer *a; first(f, &a, (struct fill_answer){ .key = 0 }); ((__u8 *)a)[mr_answer_body(11) + 13] ^= 1; }
static void ttl_rotten(struct fill *f) { struct mr_answer *a; first(f, &a, (struct fill_answer){ .key = 0 }); a->ttl_at[0]++; }
static void head_rotten(struct fill *f) { struct mr_answer *a; first(f, &a, (struct fill_answer){ .key = 0 }); a->answers++; }
static void length_rotten(struct fill *f) { struct mr_answer *a; first(f, &a, (struct fill_answer){ .key = 0 }); a->body_len = 0xffff; }
static void other_name(struct fill *f) { struct mr_answer *a; first(f, &a, (struct fill_answer){ .key = 0 }); ((__u8 *)a)[mr_answer_name(11) + 1] = 'y'; }
static void other_type(struct fill *f) { struct mr_answer *a; first(f, &a, (struct fill_answer){ .key = 0 }); a->qtype = 2; a->head_sum = mr_answer_sum(a); }
static void other_key(struct fill *f) { struct mr_answer *a; first(f, &a, (struct fill_answer){ .key = 0 }); a->key = MR_KEY_DO; a->head_sum = mr_answer_sum(a); }

static void no_such_page(struct fill *f)
{
	struct mr_answer *a;

	first(f, &a, (struct fill_answer){ .key = 0 });
	for (__u32 i = 0; i < f->size.answer_buckets; i++)
		if (f->buckets[i].way[0])
			f->buckets[i].way[0] |= 0x00ffff00;
}

/* The last way of the bucket, and a slot that ends with its page. */
static void last_way(struct fill *f)
{
	f->next_unit = 3 * MR_PAGE_UNITS - 2;
	add(f, (struct fill_answer){ .key = 0, .dns_flags = 0x80 });
	for (__u32 i = 0; i < f->size.answer_buckets; i++)
		for (int w = 0; w < MR_ANSWER_WAYS - 1; w++)
			if ((__u32)f->buckets[i].way[w] == 3 * MR_PAGE_UNITS - 2) {
				f->buckets[i].way[7] = f->buckets[i].way[w];
				f->buckets[i].way[w] = 0x123400000000ULL | MR_PAGE_UNITS;
			}
}

/* ---- looking further ----------------------------------------------------- */

static const char *hit_is_marked(struct fill *f, const struct outcome *o)
{
	return slot(f)->hit == 1 && !slot(f)->refresh ? NULL : "the marks";
}

static const char *hit_is_not_marked(struct fill *f, const struct outcome *o)
{
	return slot(f)->hit || slot(f)->refresh ? "the marks" : NULL;
}

static void near_end(struct fill *f)
{
	struct mr_answer *a;

	first(f, &a, (struct fill_answer){ .age_ms = 59500, .life_ms = 61000, .refresh_ms = 6000 });
}

static void near_end_marked(struct fill *f) { near_end(f); slot(f)->refresh = 1; }

static void not_near_end(struct fill *f)
{
	struct mr_answer *a;

	first(f, &a, (struct fill_answer){ .age_ms = 50500, .life_ms = 60000, .refresh_ms = 6000 });
}

static struct mr_event last_event;

static int on_event(void *ctx, void *data, size_t len)
{
	if (len == sizeof(last_event))
		memcpy(&last_event, data, len);
	return 0;
}

/* How many events wait in the ring; the last of them is kept. */
static int events(struct fill *f)
{
	struct ring_buffer *rb = ring_buffer__new(f->ring_fd, on_event, NULL, NULL);
	int n = rb ? ring_buffer__consume(rb) : -1;

	ring_buffer__free(rb);
	return n;
}

static void drain(struct fill *f) { events(f); }
static void log_all(struct fill *f) { drain(f); f->conf->events = 1; }
static void near_end_drained(struct fill *f) { drain(f); near_end(f); }
static void near_end_marked_drained(struct fill *f) { drain(f); near_end_marked(f); }
static void not_near_end_drained(struct fill *f) { drain(f); not_near_end(f); }

static const char *refresh_is_told(struct fill *f, const struct outcome *o)
{
	if (events(f) != 1 || last_event.kind != MR_EVENT_REFRESH)
		return "not one refresh event";
	return slot(f)->hit && slot(f)->refresh ? NULL : "the marks";
}

static const char *nothing_is_told(struct fill *f, const struct outcome *o)
{
	return events(f) ? "an event was sent" : NULL;
}

static const char *query_is_told(struct fill *f, const struct outcome *o)
{
	static const __u8 from[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1 };
	static const __u8 mac[6] = { 2, 0, 0, 0, 0, 1 };
	const struct mr_event *e = &last_event;

	if (events(f) != 1 || e->kind != MR_EVENT_QUERY || e->source != MR_SOURCE_CACHED)
		return "not one query event";
	if (e->qtype != 1 || e->rcode || e->verdict || e->key != MR_KEY_DO || e->group || e->client_port != 0x409c)
		return "a number in the event";
	if (e->size != o->len - o->query->dns)
		return "the size in the event";
	if (memcmp(e->client, from, 16) || memcmp(e->mac, mac, 6))
		return "an address in the event";
	return e->name_len == 11 && !memcmp(mr_event_name(e) - 5, "\0\0\0\0\0\1x\7example", 16) && !e->name[0] ? NULL : "the name";
}

static const char *stale_is_told(struct fill *f, const struct outcome *o)
{
	if (events(f) != 1 || last_event.kind != MR_EVENT_QUERY)
		return "not one query event";
	return last_event.stale == 1 && last_event.source == MR_SOURCE_CACHED ? NULL : "that it is stale";
}

static const char *live_is_told(struct fill *f, const struct outcome *o)
{
	return events(f) == 1 && !last_event.stale ? NULL : "that it lives";
}

static void log_over(struct fill *f) { log_all(f); over_down(f); }
static void log_live(struct fill *f) { log_all(f); live_down(f); }

static void log_do(struct fill *f) { log_all(f); key_do(f); }

static void no_ring(struct fill *f)
{
	/* more events than the ring has room for */
	static struct frame q;
	static __u8 out[FRAME_MAX];
	size_t len;

	log_all(f);
	frame_ask(&q, &(struct ask){ "www.example", 1 });
	for (int i = 0; i < 1000; i++)
		run_frame(f->fd, q.b, q.len, out, &len);
}

static struct mr_latency latency_before;

static void timed(struct fill *f)
{
	fill_latency(f, &latency_before);
	f->conf->latency_mask = 0;
}

static const char *time_is_kept(struct fill *f, const struct outcome *o)
{
	struct mr_latency l;
	__u64 n = 0;

	if (fill_latency(f, &l))
		return "the histogram cannot be read";
	for (int s = 0; s < MR_SOURCES; s++)
		for (int i = 0; i < MR_LATENCY_BUCKETS; i++)
			n += l.count[s][i] - latency_before.count[s][i];
	if (n != 1 || l.sum_ns[MR_SOURCE_CACHED] <= latency_before.sum_ns[MR_SOURCE_CACHED])
		return "not one sample";
	return NULL;
}

static const char *why_names_the_answer(struct fill *f, const struct outcome *o)
{
	if (o->why->answer_unit != MR_PAGE_UNITS || o->why->expires != slot(f)->expires)
		return "unit or expiry";
	return o->why->source == MR_SOURCE_CACHED && o->why->verdict == MR_NONE && !o->why->entry ? NULL : "source";
}

/* ---- rows ---------------------------------------------------------------- */

#define CACHED(s)  .stat = MR_STAT_cached, .says = s
#define PASSES(s)  .stat = MR_STAT_pass_##s
#define A_300      "NOERROR rd ra; an A 300 192.0.2.80"
#define A_PLAIN    "NOERROR rd; an A 300 192.0.2.80"
#define X          { "x.example" }
#define X_E        { "x.example", .edns = 1 }
#define X_DO       { "x.example", .edns = 1, .dnssec_ok = 1 }

static const struct row rows[] = {
	/* found and sent */
	{ "one A record", { "www.example" }, CACHED(A_300) },
	{ "one A record over IPv6", { "www.example", .ipv6 = 1 }, CACHED(A_300) },
	{ "one AAAA record", { "www.example", 28 }, CACHED("NOERROR rd ra; an AAAA 300 2001:db8::50") },
	{ "one A record with EDNS and no EDE", { "www.example", .edns = 1 }, CACHED(A_300 "; opt 1232") },
	{ "mixed case", { "WwW.ExAmPlE" }, CACHED(A_300) },
	{ "one tag", { "www.example", .vlans = 1, .edns = 1 }, CACHED(A_300 "; opt 1232") },
	{ "two tags over IPv6", { "www.example", .vlans = 2, .ipv6 = 1 }, CACHED(A_300) },
	{ "a padded frame", { "www.example", .frame_len = 300 }, CACHED(A_300) },
	{ "a cookie is no part of the key", { "www.example", .edns = 1, .options = "\0\x0a\0\x08" "12345678", .options_len = 12 }, CACHED(A_300 "; opt 1232") },
	{ "a CNAME and two records, an even name, aged", { "mix.example" }, CACHED("NOERROR rd ra; an CNAME 55 cdn.example.; an A 295 192.0.2.80; an A 2 192.0.2.80") },
	{ "the same with EDNS over IPv6", { "mix.example", .edns = 1, .ipv6 = 1 }, CACHED("NOERROR rd ra; an CNAME 55 cdn.example.; an A 295 192.0.2.80; an A 2 192.0.2.80; opt 1232") },
	{ "a negative answer with its SOA, aged, TTL at an odd offset", { "no.example" }, CACHED("NXDOMAIN rd ra; ns SOA 59 ns.no.example. . 7 3600 600 86400 60") },
	{ "a negative answer with EDNS", { "no.example", .edns = 1 }, CACHED("NXDOMAIN rd ra; ns SOA 59 ns.no.example. . 7 3600 600 86400 60; opt 1232") },
	{ "an answer without records", { "empty.example" }, CACHED("NOERROR rd ra") },
	{ "an answer without records, the OPT alone", { "empty.example", .edns = 1 }, CACHED("NOERROR rd ra; opt 1232") },
	{ "an answer for the root", { ".", 6 }, CACHED(A_300) },
	{ "sixteen TTLs, all aged", X, .world = sixteen, .stat = MR_STAT_cached, .mark = MR_STAT_grown_tail, .says =
	  "NOERROR rd ra; an A 50 192.0.2.80; an A 51 192.0.2.80; an A 52 192.0.2.80; an A 53 192.0.2.80; "
	  "an A 54 192.0.2.80; an A 55 192.0.2.80; an A 56 192.0.2.80; an A 57 192.0.2.80; an A 58 192.0.2.80; "
	  "an A 59 192.0.2.80; an A 60 192.0.2.80; an A 61 192.0.2.80; an A 62 192.0.2.80; an A 63 192.0.2.80; "
	  "an A 64 192.0.2.80; an A 65 192.0.2.80" },
	{ "the last way of a bucket, the last units of a page", X, .world = last_way, CACHED(A_300) },
	{ "another type misses", { "www.example", 15 }, PASSES(miss) },
	{ "a parent misses", { "example" }, PASSES(miss) },
	{ "a child misses", { "a.www.example" }, PASSES(miss) },
	/* keys */
	{ "DO misses what is kept without", { "www.example", .edns = 1, .dnssec_ok = 1 }, PASSES(miss) },
	{ "CD misses what is kept without", { "www.example", .flags = 0x0110 }, PASSES(miss) },
	{ "DO finds its own, validated: AD", X_DO, .world = key_do, CACHED("NOERROR rd ad; an A 300 192.0.2.80; opt 1232 do") },
	{ "no DO misses what is kept with", X, .world = key_do, PASSES(miss) },
	{ "CD finds its own and is copied", { "x.example", .flags = 0x0110 }, .world = key_cd, CACHED("NOERROR rd cd; an A 300 192.0.2.80") },
	{ "DO and CD find their own", { "x.example", .flags = 0x0110, .edns = 1, .dnssec_ok = 1 }, .world = key_do_cd, CACHED("NOERROR rd cd; an A 300 192.0.2.80; opt 1232 do") },
	{ "the any form answers plain queries", X, .world = key_any, CACHED(A_PLAIN) },
	{ "the any form answers DO and CD", { "x.example", .flags = 0x0110, .edns = 1, .dnssec_ok = 1 }, .world = key_any, CACHED("NOERROR rd cd; an A 300 192.0.2.80; opt 1232 do") },
	{ "the any form is not looked for unless there is one", X, .world = key_any_unsaid, PASSES(miss) },
	/* header flags */
	{ "AD in the query: a validated answer says AD", { "x.example", .flags = 0x0120 }, .world = key_plain_ad, CACHED("NOERROR rd ad; an A 300 192.0.2.80") },
	{ "neither AD nor DO in the query: no AD", X, .world = key_plain_ad, CACHED(A_PLAIN) },
	{ "AD in the query of an answer that is not validated: no AD", { "www.example", .flags = 0x0120 }, CACHED(A_300) },
	{ "RD clear passes", { "www.example", .flags = NO_FLAGS }, PASSES(rd) },
	/* local zones */
	{ "a local answer has AA, and its TTL is not aged", X, .world = local, .stat = MR_STAT_local, .says = "NOERROR aa rd ra; an A 300 192.0.2.80" },
	{ "a local answer to DO", X_DO, .world = local, .stat = MR_STAT_local, .says = "NOERROR aa rd ra; an A 300 192.0.2.80; opt 1232 do" },
	{ "a local answer may be asked for without RD", { "x.example", .flags = NO_FLAGS }, .world = local, .stat = MR_STAT_local, .says = "NOERROR aa ra; an A 300 192.0.2.80" },
	{ "a forwarded answer for a local name passes", X, .world = not_local, PASSES(miss) },
	{ "a changed zone's answers pass", X, .world = local_flushed, PASSES(generation) },
	/* time */
	{ "age is taken off", { "old.example" }, CACHED("NOERROR rd ra; an A 293 192.0.2.80") },
	{ "an expired answer passes", X, .world = expired, PASSES(expired) },
	{ "in the last second of its life a TTL is 1", X, .world = nearly_expired, CACHED("NOERROR rd; an A 1 192.0.2.80") },
	{ "born a moment later than the packet's clock: no age", X, .world = born_later, CACHED(A_PLAIN) },
	{ "an answer from before a flush passes", X, .world = flushed, PASSES(generation) },
	{ "another zone's generation does not matter", X, .world = other_flushed, CACHED(A_PLAIN) },
	{ "a generation that does not exist passes", X, .world = bad_generation, PASSES(generation) },
	{ "a chain of today's filter is answered", X, .world = chain, CACHED(A_PLAIN) },
	{ "a chain of an older filter passes", X, .world = chain_old, PASSES(generation) },
	{ "no chain: the filter's generation does not matter", X, .world = no_chain_old, CACHED(A_PLAIN) },
	{ "a chain with a link in the filter asks", X, .world = chain_unknown, PASSES(ask) },
	{ "an allowed name frees its chain", X, .world = chain_allowed, CACHED(A_PLAIN) },
	/* behind the end */
	{ "over, and all upstreams are down: given with TTL 30", X, .world = over_down, .mark = MR_STAT_stale, CACHED("NOERROR rd ra; an A 30 192.0.2.80") },
	{ "over, and who has EDNS is told by EDE 3", X_E, .world = over_down, .mark = MR_STAT_stale, CACHED("NOERROR rd ra; an A 30 192.0.2.80; opt 1232 ede 3") },
	{ "over, EDNS, IPv6, two tags", { "x.example", .edns = 1, .ipv6 = 1, .vlans = 2 }, .world = over_down, .mark = MR_STAT_stale, CACHED("NOERROR rd ra; an A 30 192.0.2.80; opt 1232 ede 3") },
	{ "over, with DO, validated once", X_DO, .world = over_do, .mark = MR_STAT_stale, CACHED("NOERROR rd ra ad; an A 30 192.0.2.80; opt 1232 do ede 3") },
	{ "over: every TTL is 30, shorter ones too", X_E, .world = over_mixed, .mark = MR_STAT_stale, CACHED("NOERROR rd ra; an CNAME 30 cdn.; an A 30 192.0.2.80; an A 30 192.0.2.80; opt 1232 ede 3") },
	{ "over, and the TTL to give is 7", X, .world = over_ttl_7, .mark = MR_STAT_stale, CACHED("NOERROR rd ra; an A 7 192.0.2.80") },
	{ "over, and the daemon is dead", X_E, .world = over_dead, .mark = MR_STAT_stale, CACHED("NOERROR rd ra; an A 30 192.0.2.80; opt 1232 ede 3") },
	{ "over, and the heart beat four seconds ago: passes", X_E, .world = over_slow, PASSES(expired) },
	{ "over, and the heart beat later than the packet's clock: passes", X_E, .world = over_ahead, PASSES(expired) },
	{ "over, and all is well: passes", X_E, .world = over_up, PASSES(expired) },
	{ "over, and what is over is not given: passes", X_E, .world = over_off, PASSES(expired) },
	{ "over for longer than it may be: passes", { "x.example", 16 }, .world = over_for_good, PASSES(expired) },
	{ "an NXDOMAIN that is over says EDE 19", X_E, .world = over_no, .mark = MR_STAT_stale, CACHED("NXDOMAIN rd ra; ns SOA 30 ns.x.example. . 7 3600 600 86400 60; opt 1232 ede 19") },
	{ "no data that is over says EDE 3", X_E, .world = over_empty, .mark = MR_STAT_stale, CACHED("NOERROR rd ra; ns SOA 30 ns.x.example. . 7 3600 600 86400 60; opt 1232 ede 3") },
	{ "over, a chain of an older filter passes", X_E, .world = over_chain_old, PASSES(generation) },
	{ "over and flushed passes", X_E, .world = over_flushed, PASSES(generation) },
	{ "over, RD clear passes", { "x.example", .flags = NO_FLAGS }, .world = over_down, PASSES(rd) },
	{ "over, 512 octets with OPT and EDE", { "x.example", 16, .edns = 1, .size = 512 }, .world = over_size_495, .mark = MR_STAT_stale, CACHED("NOERROR rd ra; an TXT 30 #456; opt 1232 ede 3") },
	{ "over, 513 octets with OPT and EDE pass", { "x.example", 16, .edns = 1, .size = 512 }, .world = over_size_496, PASSES(size) },
	{ "what lives is given as ever while all is down", { "y.example", .edns = 1 }, .world = live_down, CACHED("NOERROR rd ra; an A 293 192.0.2.80; opt 1232") },
	{ "the event of an answer that is over says so", X, .world = log_over, .mark = MR_STAT_stale, CACHED("NOERROR rd ra; an A 30 192.0.2.80"), .also = stale_is_told },
	{ "the event of one that lives does not", { "y.example" }, .world = log_live, CACHED("NOERROR rd ra; an A 293 192.0.2.80"), .also = live_is_told },
	/* sizes */
	{ "512 octets without EDNS", X, .world = size_512, CACHED("NOERROR rd ra; an TXT 300 #473") },
	{ "513 octets without EDNS pass", X, .world = size_513, PASSES(size) },
	{ "1232 octets with EDNS, grown by the tail", X_E, .world = size_1221, .stat = MR_STAT_cached, .mark = MR_STAT_grown_tail, .says = "NOERROR rd ra; an TXT 300 #1182; opt 1232" },
	{ "1233 octets pass", { "x.example", .edns = 1, .size = 4096 }, .world = size_1222, PASSES(size) },
	{ "the client's size counts: 711", { "x.example", .edns = 1, .size = 711 }, .world = size_700, CACHED("NOERROR rd ra; an TXT 300 #661; opt 1232") },
	{ "the client's size counts: 710 passes", { "x.example", .edns = 1, .size = 710 }, .world = size_700, PASSES(size) },
	{ "a size of 0 means 512: 512 less our OPT", { "x.example", .edns = 1, .size = ZERO }, .world = size_512, PASSES(size) },
	{ "a size below 512 means 512", { "www.example", .edns = 1, .size = 100 }, CACHED(A_300 "; opt 1232") },
	{ "1221 octets over IPv6 with two tags", { "x.example", .edns = 1, .ipv6 = 1, .vlans = 2 }, .world = size_1221, CACHED("NOERROR rd ra; an TXT 300 #1182; opt 1232") },
	/* slots that are not whole */
	{ "the first stamp ahead: being written", X, .world = torn_first, PASSES(torn) },
	{ "the last stamp ahead: being written", X, .world = torn_last, PASSES(torn) },
	{ "stamps of 0: cleared", X, .world = cleared, PASSES(torn) },
	{ "a bit of the body", X, .world = body_rotten, PASSES(torn) },
	{ "a TTL offset", X, .world = ttl_rotten, PASSES(torn) },
	{ "a section count", X, .world = head_rotten, PASSES(torn) },
	{ "a body length out of bounds", X, .world = length_rotten, PASSES(torn) },
	{ "another name in the slot: a hash that collides", X, .world = other_name, PASSES(miss) },
	{ "another type in the slot", X, .world = other_type, PASSES(miss) },
	{ "another key in the slot", X, .world = other_key, PASSES(miss) },
	{ "a unit that does not exist", X, .world = no_such_page, PASSES(internal) },
	/* marks, events, times */
	{ "a hit is marked", { "www.example" }, CACHED(A_300), .also = hit_is_marked },
	{ "a miss marks nothing", { "www.example", 15 }, PASSES(miss), .also = hit_is_not_marked },
	{ "why names the answer", { "www.example" }, CACHED(A_300), .also = why_names_the_answer },
	{ "near its end an answer asks for its refresh", X, .world = near_end_drained, .mark = MR_STAT_refresh_asked, CACHED("NOERROR rd; an A 241 192.0.2.80"), .also = refresh_is_told },
	{ "but once", X, .world = near_end_marked_drained, CACHED("NOERROR rd; an A 241 192.0.2.80"), .also = nothing_is_told },
	{ "and not before", X, .world = not_near_end_drained, CACHED("NOERROR rd; an A 250 192.0.2.80"), .also = nothing_is_told },
	{ "an event tells of the query", X_DO, .world = log_do, CACHED("NOERROR rd ad; an A 300 192.0.2.80; opt 1232 do"), .also = query_is_told },
	{ "no event when the log is off", { "www.example" }, .world = drain, CACHED(A_300), .also = nothing_is_told },
	{ "no event for what passes", { "nowhere.example" }, .world = log_all, PASSES(miss), .also = nothing_is_told },
	{ "a full ring counts the loss, and the answer goes out", { "www.example" }, .world = no_ring, .mark = MR_STAT_events_lost, CACHED(A_300) },
	{ "a timed packet leaves its time", { "www.example" }, .world = timed, CACHED(A_300), .also = time_is_kept },
};

int main(void)
{
	return run_rows(world, rows, sizeof(rows) / sizeof(*rows));
}
