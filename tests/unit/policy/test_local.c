/* SPDX-License-Identifier: BSD-2-Clause */
/* test_local.c - local names, safe search and canaries: the items they become, and what the judge makes of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "dns/name.h"
#include "policy/local.h"
#include "unit/policy/court.h"
#include "unit/policy/rig.h"

enum { A = 1, CNAME = 5, PTR = 12, AAAA = 28 };

static struct court court;
static struct addr printer[2];

static int take(void *arg, const struct rule_item *item)
{
	return compile_item(court.compile, 1, item);
}

static int open_court(void **state)
{
	struct local_name names[] = {
		{ .name = "printer.home.example", .answer = printer, .answers = 2, .ttl = 300, .number = 0 },
		{ .name = "dev.example", .below = true, .target = "server.example", .ttl = 60, .number = 1 },
		{ .name = "old.example", .target = "new.example", .ttl = 60, .number = 2 },
		{ .name = "wild.example", .below = true, .answer = printer, .answers = 1, .ttl = 60, .number = 3 },
	};
	unsigned i;

	setup(state);
	addr_parse("192.168.1.5", 0, &printer[0]);
	addr_parse("fd00::5", 0, &printer[1]);
	court_init(&court);
	for (i = 0; i < COUNT_OF(names); i++)
		assert_int_equal(local_items(&names[i], take, NULL), 0);
	assert_int_equal(local_safe_search(take, NULL), 0);
	assert_int_equal(local_canaries(take, NULL), 0);
	court_open(&court);
	return 0;
}

static int close_court(void **state)
{
	court_close(&court);
	return teardown(state);
}

#define V6_BEHIND ".0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa"
#define V6_NAME   "5" V6_BEHIND

static const struct asked {
	const char *name;
	const char *of;
	unsigned rewrites;		/* 0: nothing is said of it */
	enum rule_answer_kind kind;
	uint16_t type;			/* of the first record */
	uint32_t ttl;
	const char *target;		/* of an alias or PTR */
} asked[] = {
	{ "a name with two addresses has two records", "printer.home.example", 2, RULE_ANSWER_RECORD, A, 300, NULL },
	{ "names below it are not meant", "x.printer.home.example", 0, 0, 0, 0, NULL },
	{ "an IPv4 address leads back to its name", "5.1.168.192.in-addr.arpa", 1, RULE_ANSWER_RECORD, PTR, 300,
	  "printer.home.example" },
	{ "an IPv6 address leads back, though its name is deeper than the filter", V6_NAME, 1, RULE_ANSWER_RECORD, PTR, 300,
	  "printer.home.example" },
	{ "the address beside it does not", "6" V6_BEHIND, 0, 0, 0, 0, NULL },
	{ "an alias for all below", "a.b.dev.example", 1, RULE_ANSWER_CNAME, 0, 60, "server.example" },
	{ "is not for the name itself", "dev.example", 0, 0, 0, 0, NULL },
	{ "an alias for a name", "old.example", 1, RULE_ANSWER_CNAME, 0, 60, "new.example" },
	{ "addresses for all below", "a.wild.example", 1, RULE_ANSWER_RECORD, A, 60, NULL },
	{ "a search engine goes to its safe side", "www.google.co.uk", 1, RULE_ANSWER_CNAME, 0, 300, "forcesafesearch.google.com" },
	{ "another does too", "www.bing.com", 1, RULE_ANSWER_CNAME, 0, 300, "strict.bing.com" },
	{ "videos are restricted", "www.youtube.com", 1, RULE_ANSWER_CNAME, 0, 300, "restrict.youtube.com" },
	{ "another name of the engine is left alone", "maps.google.com", 0, 0, 0, 0, NULL },
	{ "a canary does not exist", "use-application-dns.net", 1, RULE_ANSWER_RCODE, 0, 0, NULL },
	{ "Apple's neither", "mask-h2.icloud.com", 1, RULE_ANSWER_RCODE, 0, 0, NULL },
};

static void is_answered(void **state)
{
	const struct asked *t = *state;
	struct judge_result r = court_judge(&court, t->of, A, 0, false, NULL);
	const struct rule_answer *a;
	char text[DNS_NAME_TEXT_MAX];

	assert_int_equal(r.kind, MR_NONE);
	assert_int_equal(r.rewrites, t->rewrites);
	if (!t->rewrites)
		return;
	assert_int_equal(r.step, JUDGE_rewrite);
	a = r.rewrite[0]->answer;
	assert_int_equal(a->kind, t->kind);
	assert_int_equal(a->type, t->type);
	assert_int_equal(a->ttl, t->ttl);
	if (t->target)
		assert_string_equal(dns_name_text(a->rdata, text, sizeof(text)), t->target);
}

static void records_hold_the_addresses(void **state)
{
	struct judge_result r = court_judge(&court, "printer.home.example", A, 0, false, NULL);
	unsigned i;

	for (i = 0; i < 2; i++) {
		const struct rule_answer *a = r.rewrite[i]->answer;

		assert_int_equal(a->rdata_len, a->type == A ? 4 : 16);
		assert_memory_equal(a->rdata, a->type == A ? printer[0].ip + 12 : printer[1].ip, a->rdata_len);
	}
	assert_int_not_equal(r.rewrite[0]->answer->type, r.rewrite[1]->answer->type);
}

static void a_name_that_is_none_is_refused(void **state)
{
	struct local_name n = { .name = "a..b", .answer = printer, .answers = 1 };

	assert_int_equal(local_items(&n, take, NULL), -EINVAL);
	n = (struct local_name){ .name = "a.b", .target = "a..b" };
	assert_int_equal(local_items(&n, take, NULL), -EINVAL);
}

static int full(void *arg, const struct rule_item *item)
{
	return -ENOSPC;
}

static void what_the_sink_says_is_handed_back(void **state)
{
	struct local_name n = { .name = "a.b", .answer = printer, .answers = 2 };

	assert_int_equal(local_items(&n, full, NULL), -ENOSPC);
	assert_int_equal(local_safe_search(full, NULL), -ENOSPC);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(records_hold_the_addresses),
	cmocka_unit_test(a_name_that_is_none_is_refused),
	cmocka_unit_test(what_the_sink_says_is_handed_back),
};

int main(void)
{
	struct CMUnitTest all[COUNT_OF(asked) + COUNT_OF(tests)];
	size_t i;

	for (i = 0; i < COUNT_OF(asked); i++)
		all[i] = (struct CMUnitTest){ asked[i].name, is_answered, NULL, NULL, (void *)&asked[i] };
	memcpy(all + i, tests, sizeof(tests));
	return _cmocka_run_group_tests("policy/local", all, COUNT_OF(all), open_court, close_court);
}
