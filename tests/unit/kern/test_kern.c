/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_kern.c - the life of the door to BPF, on real BPF (lab.h): opening,
 * taking over, attaching, doing without.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
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
	assert_int_equal(files_in(s.pins), 13);
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
	const char *note;		/* a word of it; NULL: none */
} mismatch_cases[] = {
	{ "pins of another secret give fresh maps",             2, NULL, false, "secret" },
	{ "pins of another layout give fresh maps and go",      1, other_layout, false, NULL },
	{ "pins of another number of answers give fresh maps",  1, other_answers, false, "entries" },
	{ "pins too small for the filter give fresh maps",      1, more_names, false, "entries" },
	{ "pins bigger than the filter needs are taken over",   1, fewer_cells, true, NULL },
	{ "a missing pin gives fresh maps",                     1, lost_pin, false, NULL },
	{ "a pin of another kind gives fresh maps",             1, strange_pin, false, "kind" },
};

/* The note that says why the tables of the run before were not taken; "" when there is none. */
static const char *fresh_note(const struct kern_status *s)
{
	unsigned i;

	for (i = 0; i < s->note_count; i++)
		if (strstr(s->notes[i], "began with empty tables"))
			return s->notes[i];
	return "";
}

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
	assert_int_equal(files_in(after.pins), 13);
	if (c->note)
		assert_non_null(strstr(fresh_note(&after), c->note));
	else
		assert_string_equal(fresh_note(&after), "");
	stop(k, true);
}

/* ---- attaching ---------------------------------------------------------- */

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
	return run_in_lab("kern", tests, n);
}
