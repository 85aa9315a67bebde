/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_filter.c - filters that the kernel's side does not take, and schedules
 * whose edge it does not take at once.
 *
 * Runs control's files on a struct control of its own without a packet path,
 * whose tables refuse a filter of another secret.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "control/internal.h"
#include "kern/kern.h"

#define A_EXAMPLE "\1a\7example"
#define B_EXAMPLE "\1b\7example"

struct house {
	struct control c;
	struct kern *ours, *strange;	/* the latter knows another secret */
};

static struct kern *open_kern(const struct mr_secret *secret)
{
	struct kern_opts o = { .mode = KERN_OFF, .pin_root = "/sys/fs/bpf/millrace-unit-control", .answers = 1024 };
	struct kern *k = NULL;
	struct err_at e = { 0 };

	if (kern_open(&o, secret, &k, &e))
		fail_msg("%s", e.why);
	return k;
}

static void open_house(struct house *h)
{
	struct mr_secret other;

	memset(h, 0, sizeof(*h));
	strcpy(h->c.state, "/tmp/millrace-control-XXXXXX");
	assert_non_null(mkdtemp(h->c.state));
	memset(&h->c.secret, 7, sizeof(h->c.secret));
	h->c.secret.fingerprint = 7;
	other = h->c.secret;
	other.fingerprint = 8;
	h->ours = open_kern(&h->c.secret);
	h->strange = open_kern(&other);
	h->c.kern = h->ours;
}

static void close_house(struct house *h)
{
	static const char *const files[] = { "filter.bin", "filter.rules", "filter.sources", "filter.next", "rules.next" };
	char path[sizeof(h->c.state) + 32];
	unsigned i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", h->c.state, files[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(h->c.state), 0);
	free(h->c.lists);
	kern_close(h->ours, true);
	kern_close(h->strange, true);
}

/* A snapshot of a configuration that has one rule for all. */
static struct snapshot *say(const char *rule)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	struct config_errors errs = { 0 };
	char text[200];

	assert_non_null(s);
	snprintf(text, sizeof(text), "server:\n  listen: [\"127.0.0.1:5300\"]\nfilter:\n  rules: [\"%s\"]\n", rule);
	if (config_load(text, strlen(text), "test", &s->config, &errs))
		fail_msg("%s", errs.at[0].why);
	atomic_init(&s->refs, 1);
	return s;
}

static enum mr_verdict_kind ask(const struct snapshot *s, const char *wire)
{
	struct judge_question q = { .lower = (const uint8_t *)wire, .len = (uint16_t)(strlen(wire) + 1), .qtype = 1 };
	struct judge_result r;

	judge_name(&s->judge, &q, &r);
	return r.kind;
}

static void a_refused_filter_is_not_what_the_next_start_takes(void **state)
{
	struct snapshot *first = say("a.example"), *second = say("b.example"), *next = say("a.example");
	struct err_at e = { 0 };
	struct house h;

	open_house(&h);
	assert_int_equal(filter_compile(&h.c, first, true, &e), 0);
	assert_int_equal(ask(first, A_EXAMPLE), MR_BLOCK);
	h.c.kern = h.strange;
	assert_int_equal(filter_compile(&h.c, second, true, &e), -ESTALE);
	h.c.kern = h.ours;
	assert_true(filter_load(&h.c, next));
	assert_int_equal(ask(next, A_EXAMPLE), MR_BLOCK);
	assert_int_equal(ask(next, B_EXAMPLE), MR_NONE);
	snapshot_unref(first);
	snapshot_unref(second);
	snapshot_unref(next);
	close_house(&h);
}

static void an_edge_that_is_not_taken_is_tried_again(void **state)
{
	struct snapshot *s = say("a.example");
	struct err_at e = { 0 };
	struct sources n;
	struct house h;

	open_house(&h);
	assert_int_equal(filter_compile(&h.c, s, true, &e), 0);
	sources_number(s->config, &n);
	h.c.snapshot = s;
	/* as if the schedule had been over, in the judge and in the kernel */
	atomic_store(&s->judge.group[0].uses[n.rules], 0);
	memset(s->owned.verdicts, 0, s->judge.filter.unit->sets * sizeof(*s->owned.verdicts));
	assert_int_equal(ask(s, A_EXAMPLE), MR_NONE);
	h.c.kern = h.strange;		/* which has no filter yet */
	schedule_edge(&h.c, schedule_now_s());
	assert_true(h.c.verdicts_stale);
	assert_int_equal(ask(s, A_EXAMPLE), MR_NONE);
	h.c.kern = h.ours;
	schedule_edge(&h.c, schedule_now_s());
	assert_false(h.c.verdicts_stale);
	assert_int_equal(ask(s, A_EXAMPLE), MR_BLOCK);
	snapshot_unref(s);
	close_house(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refused_filter_is_not_what_the_next_start_takes),
		cmocka_unit_test(an_edge_that_is_not_taken_is_tried_again),
	};

	return cmocka_run_group_tests_name("control filter", tests, NULL, NULL);
}
