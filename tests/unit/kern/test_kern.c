/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_kern.c - the door to BPF, on real BPF (lab.h).
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/if_link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "unit/kern/lab.h"

/* ---- opening and closing ------------------------------------------------ */

static void a_fresh_start_attaches_natively_and_pins(void **state)
{
	struct kern_status s;
	struct kern *k;

	k = open_usual();
	s = status_of(k);
	assert_true(s.on);
	assert_false(kern_taken_over(k));
	assert_int_equal(s.iface[0].mode, KERN_NATIVE);
	assert_string_equal(s.iface[0].driver, "veth");
	assert_string_equal(s.iface[0].reason, "");
	assert_int_equal(s.iface[0].prog_id, program_on("kern0"));
	assert_true(s.verified_insns > 0);
	print_message("# verified: %u instructions\n", s.verified_insns);
	assert_int_equal(files_in(s.pins), 12);
	assert_true(is_there("link-kern0"));
	stop(k, true);
}

static void a_clean_stop_leaves_nothing(void **state)
{
	stop(open_usual(), true);
	assert_int_equal(program_on("kern0"), 0);
	assert_int_equal(access(root, F_OK), -1);
}

static void a_hand_over_leaves_everything_in_force(void **state)
{
	struct kern *k;

	stop(open_usual(), false);
	assert_true(program_on("kern0") > 0);
	assert_true(is_there("link-kern0"));
	k = open_usual();
	assert_true(kern_taken_over(k));
	stop(k, true);
}

static void a_second_daemon_is_refused_while_the_first_lives(void **state)
{
	struct kern_opts o = options();
	struct mr_secret secret = make_secret(1);
	struct err_at e = { 0 };
	struct kern *k, *second = NULL;

	k = open_usual();
	assert_int_equal(kern_open(&o, &secret, &second, &e), -EBUSY);
	assert_non_null(strstr(e.why, "another millraced"));
	assert_true(status_of(k).on);
	assert_int_equal(status_of(k).iface[0].prog_id, program_on("kern0"));
	stop(k, true);
}

static void taking_over_keeps_answers_filter_and_link(void **state)
{
	struct mr_secret secret = make_secret(1);
	struct kern_status before, after;
	struct filter_view view;
	struct kern *k;

	k = open_usual();
	assert_false(kern_filter_view(k, &view));
	publish(k, 100);
	put_a(k, "www.example");
	kern_enable(k, true);
	before = status_of(k);
	stop(k, false);
	k = open_usual();
	after = status_of(k);
	assert_true(kern_taken_over(k));
	assert_int_equal(after.iface[0].link_id, before.iface[0].link_id);
	assert_int_not_equal(after.iface[0].prog_id, before.iface[0].prog_id);
	assert_int_equal(after.iface[0].prog_id, program_on("kern0"));
	assert_int_equal(after.answers_in_use, 1);
	assert_true(holds(k, "www.example"));
	assert_true(kern_filter_view(k, &view));
	assert_int_equal(judge(&view, &secret, "n7.example"), MR_BLOCK);
	assert_int_equal(judge(&view, &secret, "fine.example"), MR_NONE);
	assert_true(ask(k, "www.example", "10.53.9.2").answered);
	stop(k, true);
}

/* ---- mismatches --------------------------------------------------------- */

static void other_layout(struct kern_opts *o, const char *pins)
{
	char to[160];

	snprintf(to, sizeof(to), "%s/0123456789abcdef", root);
	assert_int_equal(rename(pins, to), 0);
}

static void other_answers(struct kern_opts *o, const char *pins) { o->answers = 5000; }
static void more_names(struct kern_opts *o, const char *pins) { o->filter_entries = 1000000; }
static void fewer_cells(struct kern_opts *o, const char *pins) { o->filter_entries = 10; }

static void lost_pin(struct kern_opts *o, const char *pins)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/mr_bloom", pins);
	assert_int_equal(unlink(path), 0);
}

static void strange_pin(struct kern_opts *o, const char *pins)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "strange", 4, 16, 3, NULL);
	char path[200];

	snprintf(path, sizeof(path), "%s/mr_bloom", pins);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(bpf_obj_pin(fd, path), 0);
	close(fd);
}

static const struct mismatch_case {
	const char *name;
	unsigned secret;
	void (*change)(struct kern_opts *o, const char *pins);
	bool taken_over;
} mismatch_cases[] = {
	{ "pins of another secret give fresh maps",             2, NULL, false },
	{ "pins of another layout give fresh maps and go",      1, other_layout, false },
	{ "pins of another number of answers give fresh maps",  1, other_answers, false },
	{ "pins too small for the filter give fresh maps",      1, more_names, false },
	{ "pins bigger than the filter needs are taken over",   1, fewer_cells, true },
	{ "a missing pin gives fresh maps",                     1, lost_pin, false },
	{ "a pin of another kind gives fresh maps",             1, strange_pin, false },
};

static void run_mismatch(void **state)
{
	const struct mismatch_case *c = *state;
	struct kern_opts o = options();
	struct kern_status before, after;
	struct kern *k;

	k = open_usual();
	put_a(k, "www.example");
	before = status_of(k);
	stop(k, false);
	if (c->change)
		c->change(&o, before.pins);
	k = open_with(&o, c->secret);
	after = status_of(k);
	assert_int_equal(kern_taken_over(k), c->taken_over);
	assert_int_equal(holds(k, "www.example"), c->taken_over);
	assert_int_equal(after.iface[0].link_id, before.iface[0].link_id);	/* never detached in between */
	assert_int_equal(after.iface[0].prog_id, program_on("kern0"));
	assert_int_equal(files_in(root), 2);
	assert_int_equal(files_in(after.pins), 12);
	stop(k, true);
}

/* ---- attaching ---------------------------------------------------------- */

static int foreign_program(void)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "somebodys", "GPL", code, 2, NULL);
}

static void a_foreign_program_is_named_and_left_alone(void **state)
{
	struct kern_opts o = options();
	struct mr_secret secret = make_secret(1);
	struct kern_status s;
	struct err_at e = { 0 };
	struct kern *k;
	uint32_t id;
	int fd;

	fd = foreign_program();
	assert_true(fd >= 0);
	assert_int_equal(bpf_xdp_attach(if_nametoindex("kern0"), fd, XDP_FLAGS_DRV_MODE, NULL), 0);
	id = program_on("kern0");
	k = open_usual();
	s = status_of(k);
	assert_false(s.on);
	assert_int_equal(s.iface[0].mode, KERN_OFF);
	assert_non_null(strstr(s.iface[0].reason, "\"somebodys\""));
	assert_non_null(strstr(s.reason, "kern0"));
	stop(k, true);
	assert_int_equal(program_on("kern0"), id);
	o.required = true;
	assert_int_equal(kern_open(&o, &secret, &k, &e), -ENODEV);
	assert_non_null(strstr(e.why, "somebodys"));
	assert_int_equal(program_on("kern0"), id);
	bpf_xdp_detach(if_nametoindex("kern0"), XDP_FLAGS_DRV_MODE, NULL);
	close(fd);
}

static void generic_mode_is_attached_when_asked_for(void **state)
{
	struct kern_opts o = options();
	struct kern_status s;
	struct kern *k;

	o.mode = KERN_GENERIC;
	k = open_with(&o, 1);
	s = status_of(k);
	assert_int_equal(s.iface[0].mode, KERN_GENERIC);
	stop(k, false);
	o.mode = KERN_NATIVE;
	k = open_with(&o, 1);
	s = status_of(k);
	assert_true(kern_taken_over(k));
	assert_int_equal(s.iface[0].mode, KERN_NATIVE);
	stop(k, true);
}

static void a_device_without_native_xdp_gets_generic_with_reason_and_remedy(void **state)
{
	struct kern_opts o = options();
	struct kern_status s;
	struct kern *k;

	snprintf(o.interfaces[0], IF_NAMESIZE, "lo");
	run("ip link set lo mtu 1500");
	k = open_with(&o, 1);
	s = status_of(k);
	stop(k, true);
	assert_int_equal(s.iface[0].mode, KERN_GENERIC);
	assert_non_null(strstr(s.iface[0].reason, "native"));
	assert_non_null(strstr(s.iface[0].reason, "fastpath.mode: generic"));
}

static void an_interface_no_longer_configured_is_released(void **state)
{
	struct kern_opts o = options();
	struct kern *k;

	o.interface_count = 2;
	snprintf(o.interfaces[1], IF_NAMESIZE, "kern1");
	k = open_with(&o, 1);
	assert_true(program_on("kern1") > 0);
	stop(k, false);
	k = open_usual();
	assert_true(program_on("kern0") > 0);
	assert_int_equal(program_on("kern1"), 0);
	assert_false(is_there("link-kern1"));
	stop(k, true);
}

static void the_link_of_a_vanished_interface_is_replaced(void **state)
{
	struct kern *k;

	stop(open_usual(), false);
	run("ip link del kern0");
	assert_int_equal(pair_up(), 0);
	assert_int_equal(program_on("kern0"), 0);
	k = open_usual();
	assert_int_equal(status_of(k).iface[0].mode, KERN_NATIVE);
	assert_true(program_on("kern0") > 0);
	stop(k, true);
}

/* ---- off ---------------------------------------------------------------- */

static void mode_off(struct kern_opts *o) { o->mode = KERN_OFF; }
static void no_interface(struct kern_opts *o) { o->interface_count = 0; }
static void no_bpffs(struct kern_opts *o) { o->pin_root = "/tmp/kern-no-bpffs/millrace"; }
static void missing(struct kern_opts *o) { snprintf(o->interfaces[0], IF_NAMESIZE, "kern9"); }

static const struct off_case {
	const char *name;
	void (*change)(struct kern_opts *o);
	const char *reason;
} off_cases[] = {
	{ "mode off is off and says so",                    mode_off,     "fastpath.mode: off" },
	{ "no interface is off and says so",                no_interface, "fastpath.interfaces" },
	{ "a pin folder off bpffs says how to mount one",   no_bpffs,     "mount -t bpf bpf /sys/fs/bpf" },
	{ "a missing interface is named",                   missing,      "kern9" },
};

static void run_off(void **state)
{
	const struct off_case *c = *state;
	struct mr_secret secret = make_secret(1);
	struct kern_opts o = options();
	struct kern_status s;
	struct err_at e = { 0 };
	struct mr_stats stats;
	struct kern *k;

	c->change(&o);
	k = open_with(&o, 1);
	s = status_of(k);
	assert_false(s.on);
	assert_non_null(strstr(s.reason, c->reason));
	put_a(k, "www.example");		/* accepted, whether or not it goes anywhere */
	kern_heartbeat(k, 1);
	kern_enable(k, true);
	kern_stats(k, &stats);
	assert_int_equal(stats.count[MR_STAT_packets], 0);
	stop(k, true);
	o.required = true;
	assert_true(kern_open(&o, &secret, &k, &e) < 0);
	assert_non_null(strstr(e.why, c->reason));
}

static void without_bpf_the_filter_is_found_where_the_caller_has_it(void **state)
{
	struct mr_secret secret = make_secret(1);
	struct filter *f = make_filter(&secret, 10);
	struct mr_verdict *v = make_verdicts(f);
	struct kern_opts o = options();
	struct filter_view view;
	struct err_at e = { 0 };
	bool mapped = true;
	struct kern *k;

	o.mode = KERN_OFF;
	k = open_with(&o, 1);
	assert_int_equal(kern_filter_publish(k, f, v, 1, &view, &mapped, &e), 0);
	assert_false(mapped);
	assert_int_equal(judge(&view, &secret, "n3.example"), MR_BLOCK);
	stop(k, true);
	free(v);
	filter_free(f);
}

static void switching_off_removes_what_an_earlier_run_left(void **state)
{
	struct kern_opts o = options();
	struct kern *k;

	stop(open_usual(), false);
	o.mode = KERN_OFF;
	k = open_with(&o, 1);
	assert_int_equal(program_on("kern0"), 0);
	assert_int_equal(files_in(root), 0);
	stop(k, true);
}

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
	struct kern_opts o = options();
	struct kern *k;

	k = open_usual();
	kern_enable(k, true);
	put_a(k, "www.example");
	kern_configure(k, &o.block, false);
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
	assert_memory_equal(last_event.name, key.name, key.name_len);
	kern_stats(k, &s);
	assert_int_equal(s.count[MR_STAT_cached], 2);
	assert_int_equal(s.count[MR_STAT_pass_miss], 1);
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
	uint64_t now = clock_coarse_ns();
	struct dns_answer *a = make_a("www.example", 100, now - 95 * CLOCK_S);
	unsigned n = 0;
	struct kern *k;

	k = open_usual();
	kern_enable(k, true);
	kern_answer_put(k, a, now);
	dns_answer_unref(a);
	send_frame(k, "www.example");
	send_frame(k, "www.example");
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
	assert_int_equal(n, 12);
	for (i = 0; i < n; i++) {
		assert_true(m[i].bytes > 0);
		if (!strcmp(m[i].name, "mr_answers"))
			assert_true(m[i].bytes >= 1000 * 2 * 128);
	}
	stop(k, true);
}

/* ---- following the system ----------------------------------------------- */

/* Let the loop work until @is holds, two seconds at most. */
static bool wait_until(uv_loop_t *loop, struct kern *k, bool (*is)(struct kern *k))
{
	unsigned i;

	for (i = 0; i < 200 && !is(k); i++) {
		uv_run(loop, UV_RUN_NOWAIT);
		usleep(10000);
	}
	return is(k);
}

static bool is_attached(struct kern *k) { return status_of(k).iface[0].mode == KERN_NATIVE; }
static bool is_detached(struct kern *k) { return status_of(k).iface[0].mode == KERN_OFF; }
static bool has_new_address(struct kern *k) { return status_of(k).services == 4; }
static bool has_old_addresses(struct kern *k) { return status_of(k).services == 3; }

static struct kern *open_watched(uv_loop_t *loop)
{
	struct err_at e = { 0 };
	struct kern *k = open_usual();

	uv_loop_init(loop);
	assert_int_equal(kern_watch(k, loop, &e), 0);
	return k;
}

static void close_watched(uv_loop_t *loop, struct kern *k)
{
	stop(k, true);
	uv_run(loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(loop), 0);
}

static void an_interface_that_comes_back_is_attached_again(void **state)
{
	uv_loop_t loop;
	struct kern *k;

	k = open_watched(&loop);
	kern_enable(k, true);
	put_a(k, "www.example");
	assert_true(is_attached(k));
	run("ip link del kern0");
	assert_true(wait_until(&loop, k, is_detached));
	assert_false(status_of(k).on);
	assert_int_equal(pair_up(), 0);
	assert_true(wait_until(&loop, k, is_attached));
	assert_int_equal(status_of(k).iface[0].prog_id, program_on("kern0"));
	assert_true(wait_until(&loop, k, has_old_addresses));
	assert_int_equal(ask(k, "www.example", "10.53.9.2").why.stat, MR_STAT_cached);
	close_watched(&loop, k);
}

static void new_addresses_become_services(void **state)
{
	uv_loop_t loop;
	struct kern *k;

	k = open_watched(&loop);
	assert_true(wait_until(&loop, k, has_old_addresses));	/* IPv4, IPv6, link-local */
	run("ip addr add 10.53.9.7/24 dev kern0");
	assert_true(wait_until(&loop, k, has_new_address));
	run("ip addr del 10.53.9.7/24 dev kern0");
	assert_true(wait_until(&loop, k, has_old_addresses));
	close_watched(&loop, k);
}

static void an_interface_that_a_foreign_program_leaves_is_taken(void **state)
{
	uv_loop_t loop;
	struct kern *k;
	int fd;

	fd = foreign_program();
	assert_int_equal(bpf_xdp_attach(if_nametoindex("kern0"), fd, XDP_FLAGS_DRV_MODE, NULL), 0);
	k = open_watched(&loop);
	assert_true(is_detached(k));
	bpf_xdp_detach(if_nametoindex("kern0"), XDP_FLAGS_DRV_MODE, NULL);
	assert_true(wait_until(&loop, k, is_attached));
	close(fd);
	close_watched(&loop, k);
}

/* ---- rights ------------------------------------------------------------- */

/* Become nobody with the capabilities that the daemon keeps. */
static int drop(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	const unsigned keep[] = { CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN };
	unsigned i;

	for (i = 0; i < sizeof(keep) / sizeof(keep[0]); i++) {
		data[keep[i] / 32].effective |= 1U << keep[i] % 32;
		data[keep[i] / 32].permitted |= 1U << keep[i] % 32;
	}
	if (prctl(PR_SET_KEEPCAPS, 1) || setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
	    setresuid(65534, 65534, 65534))
		return -errno;
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

static int life_without_rights(void)
{
	struct err_at e = { 0 };
	struct kern *k;

	if (!freopen("/dev/null", "w", stdout))
		return 4;
	k = open_usual();
	if (kern_own(k, 65534, 65534, &e) || drop())
		return 1;
	publish(k, 5);
	publish(k, 17000);		/* new maps, a new program, new pins */
	kern_enable(k, true);
	put_a(k, "www.example");
	if (ask(k, "n16999.example", "10.53.9.2").why.stat != MR_STAT_blocked || !holds(k, "www.example"))
		return 2;
	stop(k, true);
	return 0;
}

static void after_dropping_privileges_growth_and_a_clean_stop_still_work(void **state)
{
	int status;
	pid_t pid;

	pid = fork();
	if (!pid)
		_exit(life_without_rights());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(program_on("kern0"), 0);
	assert_int_equal(files_in(root), 0);
	rmdir(root);
}

static int start_without_rights(void)
{
	struct kern *k;
	struct kern_status s;

	if (setresuid(65534, 65534, 65534))
		return 1;
	k = open_usual();
	s = status_of(k);
	stop(k, true);
	return s.on || !strstr(s.reason, "CAP_BPF is missing: start as root");
}

static void without_capabilities_it_is_off_and_names_the_one_that_is_missing(void **state)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(start_without_rights());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_link_of_another_network_namespace_is_not_taken_for_ours(void **state)
{
	struct kern_status before, after;
	char cmd[192];
	struct kern *k;
	int status;
	pid_t pid;

	k = open_usual();
	before = status_of(k);
	stop(k, false);
	snprintf(cmd, sizeof(cmd), "ip link add kern0 index %u type veth peer name kern1 && ip link set kern1 up && "
		 "ip link set kern0 up", if_nametoindex("kern0"));
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNET) || run(cmd))
			_exit(1);
		k = open_usual();
		after = status_of(k);
		_exit(!(after.on && after.iface[0].mode == KERN_NATIVE &&
			after.iface[0].link_id != before.iface[0].link_id && program_on("kern0") == after.iface[0].prog_id));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(program_on("kern0"), 0);	/* of an earlier run with these pins, so it went */
	k = open_usual();
	stop(k, true);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TEST(f) tests[n++] = (struct CMUnitTest){ #f, f, setup, teardown, NULL }
#define ROWS(array, run)                                                                                       \
	for (i = 0; i < COUNT(array); i++)                                                                     \
		tests[n++] = (struct CMUnitTest){ (array)[i].name, run, setup, teardown, (void *)&(array)[i] }

int main(void)
{
	struct CMUnitTest tests[80];
	size_t n = 0, i;

	TEST(a_fresh_start_attaches_natively_and_pins);
	TEST(a_clean_stop_leaves_nothing);
	TEST(a_hand_over_leaves_everything_in_force);
	TEST(a_second_daemon_is_refused_while_the_first_lives);
	TEST(taking_over_keeps_answers_filter_and_link);
	ROWS(mismatch_cases, run_mismatch);
	TEST(a_foreign_program_is_named_and_left_alone);
	TEST(generic_mode_is_attached_when_asked_for);
	TEST(a_device_without_native_xdp_gets_generic_with_reason_and_remedy);
	TEST(an_interface_no_longer_configured_is_released);
	TEST(the_link_of_a_vanished_interface_is_replaced);
	ROWS(off_cases, run_off);
	TEST(without_bpf_the_filter_is_found_where_the_caller_has_it);
	TEST(switching_off_removes_what_an_earlier_run_left);
	TEST(a_flip_leaves_the_older_view_readable);
	TEST(a_filter_of_another_secret_is_refused);
	TEST(a_filter_bigger_than_a_unit_grows_the_maps_and_keeps_the_rest);
	TEST(clients_take_force_at_once);
	TEST(enable_switches_the_program);
	TEST(flushed_answers_are_not_given);
	TEST(a_change_of_recursion_voids_answers_with_the_old_bit);
	ROWS(why_cases, run_why);
	TEST(each_answer_is_an_event_when_asked_for);
	TEST(full_rings_are_counted);
	TEST(an_answer_near_its_end_asks_for_refresh_once);
	TEST(memory_is_told_map_by_map);
	TEST(an_interface_that_comes_back_is_attached_again);
	TEST(new_addresses_become_services);
	TEST(an_interface_that_a_foreign_program_leaves_is_taken);
	TEST(without_capabilities_it_is_off_and_names_the_one_that_is_missing);
	TEST(a_link_of_another_network_namespace_is_not_taken_for_ours);
	TEST(after_dropping_privileges_growth_and_a_clean_stop_still_work);
	return run_in_lab("kern", tests, n);
}
