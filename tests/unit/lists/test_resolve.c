/* SPDX-License-Identifier: BSD-2-Clause */
/* test_resolve.c - asking name servers for the addresses of one name. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "lists/lists_resolve.h"
#include "tests/unit/lists/names.h"

static const struct names_row rows[] = {
	{ "both.example", "192.0.2.1" }, { "both.example", "2001:db8::1" }, { "both.example", "192.0.2.2" },
	{ "six.example", "2001:db8::6" },
	{ "alias.example", "second.example" }, { "second.example", "third.example" }, { "third.example", "192.0.2.3" },
	{ "dangling.example", "gone.example" },
	{ "a.loop.example", "b.loop.example" }, { "b.loop.example", "a.loop.example" },
	{ "unasked.example", "2001:db8::9" },
};

struct rig {
	struct names a, b;
	struct addr servers[2], found[16];
	unsigned count;
	struct lists_resolver r;
	struct err_at at;
	char text[512];
};

static struct rig *rig_new(void)
{
	struct rig *r = calloc(1, sizeof(*r));

	names_start(&r->a, rows, sizeof(rows) / sizeof(rows[0]));
	names_start(&r->b, rows, sizeof(rows) / sizeof(rows[0]));
	r->servers[0] = r->a.addr;
	r->servers[1] = r->b.addr;
	r->r = (struct lists_resolver){ .servers = r->servers, .count = 2, .deadline_ns = clock_fine_ns() + 20 * CLOCK_S };
	return r;
}

static void rig_free(struct rig *r)
{
	names_stop(&r->a);
	names_stop(&r->b);
	free(r);
}

static int ask(struct rig *r, const char *host)
{
	r->count = 0;
	return lists_resolve(&r->r, host, r->found, 16, &r->count, &r->at);
}

/* The addresses in the order they came, with blanks between. */
static const char *found(struct rig *r)
{
	char one[ADDR_TEXT_MAX];
	unsigned i;

	*r->text = '\0';
	for (i = 0; i < r->count; i++) {
		strcat(r->text, i ? " " : "");
		strcat(r->text, addr_text(&r->found[i], one, sizeof(one)));
	}
	return r->text;
}

struct name_case {
	const char *sentence, *host;
	int err;
	const char *found;		/* addresses, or what the error says */
};

static const struct name_case names[] = {
	{ "both_families_are_found", "both.example", 0, "192.0.2.1 192.0.2.2 2001:db8::1" },
	{ "letter_case_and_a_final_dot_do_not_matter", "BOTH.Example.", 0, "192.0.2.1 192.0.2.2 2001:db8::1" },
	{ "one_family_is_enough", "six.example", 0, "2001:db8::6" },
	{ "aliases_are_followed_inside_the_answer", "alias.example", 0, "192.0.2.3" },
	{ "an_alias_of_nothing_has_no_address", "dangling.example", -ENOENT, "has no address" },
	{ "a_circle_of_aliases_ends", "a.loop.example", -ENOENT, "has no address" },
	{ "a_name_that_does_not_exist_is_said", "nobody.example", -ENOENT, "nobody.example does not exist" },
	{ "what_is_no_name_is_not_asked", "two..dots.example", -EINVAL, "is not a name" },
	{ "localhost_is_the_loopback", "localhost", 0, "127.0.0.1 ::1" },
	{ "names_below_localhost_are_too", "a.LocalHost.", 0, "127.0.0.1 ::1" },
	{ "a_name_that_only_ends_like_localhost_is_not", "notlocalhost", -ENOENT, "does not exist" },
};

static void name_row(void **state)
{
	const struct name_case *c = *state;
	struct rig *r = rig_new();

	assert_int_equal(ask(r, c->host), c->err);
	if (c->err)
		assert_non_null(strstr(r->at.why, c->found));
	else
		assert_string_equal(found(r), c->found);
	rig_free(r);
}

static void the_first_server_is_asked_first_and_alone(void **state)
{
	struct rig *r = rig_new();

	assert_int_equal(ask(r, "both.example"), 0);
	assert_int_equal(r->a.udp, 2);
	assert_int_equal(r->b.udp, 0);
	assert_int_equal(r->a.tcp, 0);
	rig_free(r);
}

static void a_server_that_fails_gives_way_to_the_next(void **state)
{
	struct rig *r = rig_new();

	r->a.mode = NAMES_SERVFAIL;
	assert_int_equal(ask(r, "both.example"), 0);
	assert_int_equal(r->a.udp, 1);		/* the second question goes to the server that answered */
	assert_int_equal(r->b.udp, 2);
	rig_free(r);
}

/*
 * Ask for both.example, which ends with @want, in @least to @most ms.  What
 * else the machine does can only add to that, so the best of a few counts.
 */
static void ask_timed(struct rig *r, int want, unsigned deadline_ms, unsigned least, unsigned most)
{
	unsigned i, ms = UINT_MAX;
	uint64_t begin;

	for (i = 0; i < 5 && ms > most; i++) {
		begin = clock_fine_ns();
		r->r.deadline_ns = begin + deadline_ms * CLOCK_MS;
		assert_int_equal(ask(r, "both.example"), want);
		ms = (unsigned)((clock_fine_ns() - begin) / CLOCK_MS);
		assert_true(ms >= least);
	}
	assert_true(ms <= most);
}

static void a_silent_server_gives_way_after_two_seconds(void **state)
{
	struct rig *r = rig_new();

	r->a.mode = NAMES_SILENT;
	ask_timed(r, 0, 20000, 1900, 3500);
	rig_free(r);
}

static void a_closed_port_gives_way_at_once(void **state)
{
	struct rig *r = rig_new();

	r->servers[0].port = 1;
	ask_timed(r, 0, 20000, 0, 1500);
	rig_free(r);
}

static void the_deadline_holds_whoever_is_silent(void **state)
{
	struct rig *r = rig_new();

	r->a.mode = r->b.mode = NAMES_SILENT;
	ask_timed(r, -ETIMEDOUT, 300, 250, 1500);
	assert_non_null(strstr(r->at.why, "both.example cannot be resolved"));
	assert_non_null(strstr(r->at.why, "127.0.0.1:"));
	rig_free(r);
}

static void silence_to_aaaa_does_not_hide_the_a(void **state)
{
	struct rig *r = rig_new();

	r->a.mode = NAMES_NO_AAAA;
	r->r.count = 1;
	assert_int_equal(ask(r, "both.example"), 0);
	assert_string_equal(found(r), "192.0.2.1 192.0.2.2");
	rig_free(r);
}

static void a_cut_answer_is_asked_for_again_over_tcp(void **state)
{
	struct rig *r = rig_new();

	r->a.mode = NAMES_TRUNCATE;
	assert_int_equal(ask(r, "both.example"), 0);
	assert_string_equal(found(r), "192.0.2.1 192.0.2.2 2001:db8::1");
	assert_int_equal(r->a.tcp, 2);
	assert_int_equal(r->b.udp, 0);
	rig_free(r);
}

static void tcp_that_ends_early_gives_way_to_the_next(void **state)
{
	struct rig *r = rig_new();

	r->a.mode = NAMES_TCP_CLOSE;
	assert_int_equal(ask(r, "both.example"), 0);
	assert_string_equal(found(r), "192.0.2.1 192.0.2.2 2001:db8::1");
	rig_free(r);
}

static void forged_answers_are_passed_over(void **state)
{
	struct rig *r = rig_new();

	r->a.mode = NAMES_FORGED;
	assert_int_equal(ask(r, "both.example"), 0);
	assert_string_equal(found(r), "192.0.2.1 192.0.2.2 2001:db8::1");
	assert_int_equal(r->b.udp, 0);
	r->a.mode = NAMES_ONLY_FORGED;
	r->r.count = 1;
	r->r.deadline_ns = clock_fine_ns() + 200 * CLOCK_MS;
	assert_int_equal(ask(r, "both.example"), -ETIMEDOUT);
	rig_free(r);
}

static void ids_and_ports_are_random(void **state)
{
	struct rig *r = rig_new();
	unsigned i, k, same_ids = 0, same_ports = 0;

	for (i = 0; i < 16; i++)
		assert_int_equal(ask(r, "both.example"), 0);
	names_stop(&r->a);
	for (i = 0; i < 32; i++)
		for (k = 0; k < i; k++) {
			same_ids += r->a.ids[i] == r->a.ids[k];
			same_ports += r->a.ports[i] == r->a.ports[k];
		}
	/* of 496 pairs one in 65,000 is equal by chance */
	assert_in_range(same_ids, 0, 3);
	assert_in_range(same_ports, 0, 3);
	names_stop(&r->b);
	free(r);
}

static void no_more_than_asked_for_are_given(void **state)
{
	struct rig *r = rig_new();

	assert_int_equal(lists_resolve(&r->r, "both.example", r->found, 2, &r->count, &r->at), 0);
	assert_string_equal(found(r), "192.0.2.1 2001:db8::1");
	assert_int_equal(lists_resolve(&r->r, "localhost", r->found, 1, &r->count, &r->at), 0);
	assert_string_equal(found(r), "127.0.0.1");
	rig_free(r);
}

int main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(the_first_server_is_asked_first_and_alone),
		cmocka_unit_test(a_server_that_fails_gives_way_to_the_next),
		cmocka_unit_test(a_silent_server_gives_way_after_two_seconds),
		cmocka_unit_test(a_closed_port_gives_way_at_once),
		cmocka_unit_test(the_deadline_holds_whoever_is_silent),
		cmocka_unit_test(silence_to_aaaa_does_not_hide_the_a),
		cmocka_unit_test(a_cut_answer_is_asked_for_again_over_tcp),
		cmocka_unit_test(tcp_that_ends_early_gives_way_to_the_next),
		cmocka_unit_test(forged_answers_are_passed_over),
		cmocka_unit_test(ids_and_ports_are_random),
		cmocka_unit_test(no_more_than_asked_for_are_given),
	};
	enum { ROWS = sizeof(names) / sizeof(names[0]), OTHERS = sizeof(others) / sizeof(others[0]) };
	struct CMUnitTest tests[ROWS + OTHERS];
	unsigned i;

	for (i = 0; i < ROWS; i++)
		tests[i] = (struct CMUnitTest){ names[i].sentence, name_row, NULL, NULL, (void *)(uintptr_t)&names[i] };
	memcpy(tests + ROWS, others, sizeof(others));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
