/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tables.c - what is written through the door and read back from it, on
 * real BPF (lab.h): filter, clients, answers, why, events, counters, memory.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "unit/kern/lab.h"

/* ---- filter, clients, answers ------------------------------------------- */

static void a_flip_leaves_the_older_view_readable(void **state)
{
	struct mr_secret secret = make_secret(1);
	struct filter_view first, second;
	uint32_t generation;
	struct kern *k;

	k = open_usual();
	first = publish(k, 5);
	generation = status_of(k).filter_generation;
	second = publish(k, 500);
	assert_int_equal(status_of(k).filter_generation, generation + 1);
	assert_int_equal(judge(&first, &secret, "n5.example"), MR_BLOCK);
	assert_int_equal(judge(&first, &secret, "n400.example"), MR_NONE);
	assert_int_equal(judge(&second, &secret, "n400.example"), MR_BLOCK);
	kern_enable(k, true);
	assert_int_equal(ask(k, "n400.example", "10.53.9.2").why.stat, MR_STAT_blocked);
	publish(k, 5);
	assert_int_equal(ask(k, "n400.example", "10.53.9.2").why.stat, MR_STAT_pass_miss);
	stop(k, true);
}

static void a_filter_of_another_secret_is_refused(void **state)
{
	struct mr_secret other = make_secret(2);
	struct filter *f;
	struct mr_verdict *v;
	struct filter_view view;
	struct err_at e = { 0 };
	bool mapped;
	struct kern *k;

	f = make_filter(&other, 10);
	v = make_verdicts(f);
	k = open_usual();
	assert_int_equal(kern_filter_publish(k, f, v, 1, &view, &mapped, &e), -ESTALE);
	assert_non_null(strstr(e.why, "secret"));
	stop(k, true);
	free(v);
	filter_free(f);
}

static void a_filter_bigger_than_a_unit_grows_the_maps_and_keeps_the_rest(void **state)
{
	struct mr_secret secret = make_secret(1);
	struct kern_status before, after;
	struct filter_view old, view;
	struct kern *k;

	k = open_usual();
	kern_enable(k, true);
	old = publish(k, 5);
	put_a(k, "www.example");
	before = status_of(k);
	view = publish(k, 17000);
	after = status_of(k);
	assert_int_equal(judge(&view, &secret, "n16999.example"), MR_BLOCK);
	assert_int_equal(judge(&old, &secret, "n5.example"), MR_BLOCK);	/* still readable */
	assert_int_equal(judge(&old, &secret, "n16999.example"), MR_NONE);
	assert_int_equal(after.iface[0].link_id, before.iface[0].link_id);
	assert_int_not_equal(after.iface[0].prog_id, before.iface[0].prog_id);
	assert_int_equal(after.iface[0].prog_id, program_on("kern0"));
	assert_int_equal(after.answers_in_use, 1);
	assert_int_equal(ask(k, "n16999.example", "10.53.9.2").why.stat, MR_STAT_blocked);
	assert_int_equal(ask(k, "www.example", "10.53.9.2").why.stat, MR_STAT_cached);
	publish(k, 16000);
	assert_int_equal(ask(k, "n15999.example", "10.53.9.2").why.stat, MR_STAT_blocked);
	stop(k, false);
	k = open_usual();
	assert_true(kern_taken_over(k));
	assert_true(kern_filter_view(k, &view));
	assert_int_equal(judge(&view, &secret, "n15999.example"), MR_BLOCK);
	stop(k, true);
}

static void clients_take_force_at_once(void **state)
{
	struct clients *c = calloc(1, sizeof(*c));
	struct kern *k;

	k = open_usual();
	kern_enable(k, true);
	put_a(k, "www.example");
	assert_int_equal(ask(k, "www.example", "10.53.9.2").why.stat, MR_STAT_cached);
	c->fallback.access = MR_ACCESS_REFUSE;
	kern_clients_publish(k, c);
	assert_int_equal(ask(k, "www.example", "10.53.9.2").why.stat, MR_STAT_pass_access);
	stop(k, true);
	free(c);
}

/* Also what the program remembers of a client: each change is asked about twice, by two clients. */
static void remembered_clients_are_forgotten_at_a_change(void **state)
{
	static const char *const clients[] = { "10.53.9.2", "10.53.9.3" };
	struct clients_row row = { .outcome = { 0, MR_ACCESS_REFUSE, 0 } };
	struct mr_outcome allow = { 0, MR_ACCESS_ALLOW, 0 };
	struct mr_secret secret = make_secret(1);
	struct clients *c = calloc(1, sizeof(*c));
	struct kern *k;

	k = open_usual();
	kern_enable(k, true);
	put_a(k, "www.example");
	for (int refused = 0; refused < 6; refused++) {
		assert_int_equal(addr_prefix_parse(clients[refused & 1], &row.prefix), 0);
		assert_int_equal(clients_build(&row, 1, allow, &secret, c, NULL), 0);
		kern_clients_publish(k, c);
		for (int i = 0; i < 4; i++)
			assert_int_equal(ask(k, "www.example", clients[i & 1]).why.stat,
					 (i ^ refused) & 1 ? MR_STAT_cached : MR_STAT_pass_access);
	}
	stop(k, true);
	free(c);
}

static void enable_switches_the_program(void **state)
{
	struct kern *k;

	k = open_usual();
	publish(k, 5);
	assert_int_equal(ask(k, "n5.example", "10.53.9.2").why.stat, MR_STAT_pass_disabled);
	kern_enable(k, true);
	assert_int_equal(ask(k, "n5.example", "10.53.9.2").why.stat, MR_STAT_blocked);
	kern_enable(k, false);
	assert_int_equal(ask(k, "n5.example", "10.53.9.2").why.stat, MR_STAT_pass_disabled);
	stop(k, true);
}

static void flushed_answers_are_not_given(void **state)
{
	struct dns_key key = make_key("www.example", DNS_A);
	struct kern *k;

	k = open_usual();
	kern_enable(k, true);
	put_a(k, "www.example");
	put_a(k, "other.example");
	assert_int_equal(kern_flush_name(k, key.name, key.name_len), 1);
	assert_int_equal(ask(k, "www.example", "10.53.9.2").why.stat, MR_STAT_pass_miss);
	assert_int_equal(ask(k, "other.example", "10.53.9.2").why.stat, MR_STAT_cached);
	kern_flush_all(k);
	assert_int_equal(ask(k, "other.example", "10.53.9.2").why.stat, MR_STAT_pass_miss);
	stop(k, true);
}

static void a_change_of_recursion_voids_answers_with_the_old_bit(void **state)
{
	struct kern *k;

	k = open_usual();
	kern_enable(k, true);
	put_a(k, "www.example");
	kern_configure(k, false);
	assert_false(holds(k, "www.example"));
	put_a(k, "www.example");
	assert_int_equal(ask(k, "www.example", "10.53.9.2").reply[3] & 0x80, 0);
	stop(k, true);
}

/* ---- why ---------------------------------------------------------------- */

static const struct why_case {
	const char *name;
	const char *ask;
	const char *client;
	enum mr_stat stat;
	bool answered;
} why_cases[] = {
	{ "why: a cached answer over IPv4",  "www.example",  "10.53.9.2",   MR_STAT_cached, true },
	{ "why: a cached answer over IPv6",  "www.example",  "fd53:9::2",   MR_STAT_cached, true },
	{ "why: a blocked name over IPv4",   "a.n2.example", "10.53.9.2",   MR_STAT_blocked, true },
	{ "why: a blocked name over IPv6",   "a.n2.example", "fd53:9::2",   MR_STAT_blocked, true },
	{ "why: a name that is not there",   "none.example", "10.53.9.2",   MR_STAT_pass_miss, false },
	{ "why: a source that is the service itself", "www.example", "10.53.9.1", MR_STAT_pass_source, false },
};

static void run_why(void **state)
{
	const struct why_case *c = *state;
	struct kern_why_result r;
	struct mr_stats before, after;
	struct kern *k;

	k = open_usual();
	kern_enable(k, true);
	publish(k, 5);
	put_a(k, "www.example");
	kern_stats(k, &before);
	r = ask(k, c->ask, c->client);
	kern_stats(k, &after);
	assert_int_equal(r.why.stat, c->stat);
	assert_int_equal(r.answered, c->answered);
	assert_int_equal(r.reply_len > 12, c->answered);
	if (c->answered) {
		assert_int_equal(r.reply[2] & 0x80, 0x80);
		assert_int_equal(r.reply[7], 1);
		assert_true(r.ns > 0);
	}
	assert_memory_equal(&before, &after, sizeof(before));	/* the dry copy counts nothing */
	stop(k, true);
}

/* ---- events, counters --------------------------------------------------- */

/* A query for an A record as a frame of IPv4 to kern0; the checksum of UDP may be 0 there. */
static unsigned make_frame(uint8_t *f, const char *name)
{
	struct dns_key key = make_key(name, DNS_A);
	unsigned udp_len = 8 + 12 + key.name_len + 4, ip_len = 20 + udp_len, i;
	uint32_t sum = 0;
	char mac[32];
	FILE *m;

	memset(f, 0, 512);
	m = popen("ip -br link show dev kern0 | awk '{ print $3 }'", "r");
	assert_non_null(fgets(mac, sizeof(mac), m));
	pclose(m);
	assert_int_equal(sscanf(mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", f, f + 1, f + 2, f + 3, f + 4, f + 5), 6);
	memcpy(f + 6, "\2\0\0\0\0\5\x08\0\x45", 9);
	f[16] = ip_len >> 8;
	f[17] = ip_len;
	f[22] = 64;
	f[23] = 17;
	memcpy(f + 26, "\x0a\x35\x09\2\x0a\x35\x09\1", 8);
	for (i = 14; i < 34; i += 2)
		sum += f[i] << 8 | f[i + 1];
	sum = ~((sum & 0xffff) + (sum >> 16));
	f[24] = sum >> 8;
	f[25] = sum;
	memcpy(f + 34, "\x9c\x40\0\x35", 4);
	f[38] = udp_len >> 8;
	f[39] = udp_len;
	memcpy(f + 42, "\x12\x34\1\0\0\1\0\0\0\0\0\0", 12);
	memcpy(f + 54, key.name, key.name_len);
	memcpy(f + 54 + key.name_len, "\0\1\0\1", 4);
	return 14 + ip_len;
}

static int send_frame(struct kern *k, const char *name)
{
	uint8_t frame[512], out[2048];
	struct xdp_md ctx = { .ingress_ifindex = if_nametoindex("kern0") };
	int fd = bpf_prog_get_fd_by_id(status_of(k).iface[0].prog_id), err;
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = frame, .data_out = out, .data_size_out = sizeof(out),
		    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx), .repeat = 1);

	ctx.data_end = o.data_size_in = make_frame(frame, name);
	assert_true(fd >= 0);
	err = bpf_prog_test_run_opts(fd, &o);
	close(fd);
	assert_int_equal(err, 0);
	return o.retval;
}

static struct mr_event last_event;

static void take_event(const struct mr_event *e, void *arg)
{
	last_event = *e;
	++*(unsigned *)arg;
}

static void each_answer_is_an_event_when_asked_for(void **state)
{
	struct dns_key key = make_key("www.example", DNS_A);
	struct mr_stats s;
	unsigned n = 0;
	struct kern *k;

	k = open_usual();
	kern_enable(k, true);
	put_a(k, "www.example");
	assert_int_equal(send_frame(k, "www.example"), XDP_TX);
	assert_int_equal(kern_events_poll(k, take_event, &n), 0);
	kern_events_every(k, 1);
	assert_int_equal(send_frame(k, "WWW.example"), XDP_TX);
	assert_int_equal(send_frame(k, "none.example"), XDP_PASS);
	assert_int_equal(kern_events_poll(k, take_event, &n), 1);
	assert_int_equal(n, 1);
	assert_int_equal(last_event.kind, MR_EVENT_QUERY);
	assert_int_equal(last_event.name_len, key.name_len);
	assert_memory_equal(mr_event_name(&last_event), key.name, key.name_len);
	kern_stats(k, &s);
	assert_int_equal(s.count[MR_STAT_cached], 2);
	assert_int_equal(s.count[MR_STAT_pass_miss], 1);
	stop(k, true);
}

/* What a program that never rests does: for each event that is read there is another one. */
struct feed {
	struct bpf_test_run_opts o;
	int fd;
	unsigned n;
};

static void feed_event(const struct mr_event *e, void *arg)
{
	struct feed *f = arg;

	if (++f->n < 10000)
		bpf_prog_test_run_opts(f->fd, &f->o);
}

static void a_flood_of_events_does_not_hold_up_their_reader(void **state)
{
	struct xdp_md ctx = { .ingress_ifindex = if_nametoindex("kern0") };
	uint8_t frame[512], out[2048];
	struct kern *k = open_usual();
	struct feed f = {
		.o = { .sz = sizeof(f.o), .data_in = frame, .data_out = out, .data_size_out = sizeof(out),
		       .ctx_in = &ctx, .ctx_size_in = sizeof(ctx), .repeat = 1 },
		.fd = bpf_prog_get_fd_by_id(status_of(k).iface[0].prog_id),
	};

	ctx.data_end = f.o.data_size_in = make_frame(frame, "www.example");
	kern_enable(k, true);
	kern_events_every(k, 1);
	put_a(k, "www.example");
	assert_int_equal(bpf_prog_test_run_opts(f.fd, &f.o), 0);
	assert_true(kern_events_poll(k, feed_event, &f) > 0);
	assert_true(f.n < 10000);
	close(f.fd);
	stop(k, true);
}

static void full_rings_are_counted(void **state)
{
	struct kern_opts o = options();
	uint64_t before = counted("kern_events_lost");
	unsigned i, n = 0;
	struct kern *k;

	o.ring_bytes = 4096;
	k = open_with(&o, 1);
	kern_enable(k, true);
	kern_events_every(k, 1);
	put_a(k, "www.example");
	for (i = 0; i < 60; i++)
		assert_int_equal(send_frame(k, "www.example"), XDP_TX);
	kern_events_poll(k, take_event, &n);
	assert_true(n > 0 && n < 60);
	assert_int_equal(counted("kern_events_lost"), before + 60 - n);
	stop(k, true);
}

static void an_answer_near_its_end_asks_for_refresh_once(void **state)
{
	struct kern *k = open_usual();
	uint64_t now = clock_coarse_ns();
	struct dns_answer *a = make_a("www.example", 100, now - 95 * CLOCK_S);
	unsigned n = 0;

	kern_enable(k, true);
	kern_answer_put(k, a, false, status_of(k).filter_generation, true, now);
	dns_answer_unref(a);
	assert_int_equal(send_frame(k, "www.example"), XDP_TX);
	assert_int_equal(send_frame(k, "www.example"), XDP_TX);
	assert_int_equal(kern_events_poll(k, take_event, &n), 1);
	assert_int_equal(last_event.kind, MR_EVENT_REFRESH);
	stop(k, true);
}

static void memory_is_told_map_by_map(void **state)
{
	struct kern_memory m[16];
	struct kern *k;
	unsigned n, i;

	k = open_usual();
	n = kern_memory(k, m);
	assert_int_equal(n, 13);
	for (i = 0; i < n; i++) {
		assert_true(m[i].bytes > 0);
		if (!strcmp(m[i].name, "mr_answers"))
			assert_true(m[i].bytes >= 1000 * 2 * 128);
	}
	stop(k, true);
}

int main(void)
{
	struct CMUnitTest tests[40];
	size_t n = 0, i;

	TEST(a_flip_leaves_the_older_view_readable);
	TEST(a_filter_of_another_secret_is_refused);
	TEST(a_filter_bigger_than_a_unit_grows_the_maps_and_keeps_the_rest);
	TEST(clients_take_force_at_once);
	TEST(remembered_clients_are_forgotten_at_a_change);
	TEST(enable_switches_the_program);
	TEST(flushed_answers_are_not_given);
	TEST(a_change_of_recursion_voids_answers_with_the_old_bit);
	ROWS(why_cases, run_why);
	TEST(each_answer_is_an_event_when_asked_for);
	TEST(a_flood_of_events_does_not_hold_up_their_reader);
	TEST(full_rings_are_counted);
	TEST(an_answer_near_its_end_asks_for_refresh_once);
	TEST(memory_is_told_map_by_map);
	return run_in_lab("kern/tables", tests, n);
}
