/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_groups.c - what may change between two filters, on real BPF (lab.h) and
 * in the off form: groups, pauses, meanings of sets, names of sources, answers
 * that a filter has overtaken.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "policy/filter_edit.h"
#include "unit/kern/lab.h"

#define CLIENT "10.53.9.2"

static const struct mr_group nxdomain = { .block = { .mode = MR_BLOCK_NXDOMAIN, .ttl = 60, .ede = MR_BLOCK_EDE_CODE } };

/* A door of either form; a test is run with both where user space alone is looked at. */
static struct kern *open_off(void)
{
	struct kern_opts o = options();

	o.mode = KERN_OFF;
	return open_with(&o, 1);
}

/* The off form borrows what is published. */
static struct filter *lent;
static struct mr_verdict *lent_verdicts;

static struct filter_view publish_off(struct kern *k)
{
	struct mr_secret s = make_secret(1);
	struct filter_view view;
	struct err_at e = { 0 };
	bool mapped = true;

	lent = make_filter(&s, 5);
	lent_verdicts = make_verdicts(lent);
	assert_int_equal(kern_filter_publish(k, lent, lent_verdicts, 1, &view, &mapped, &e), 0);
	assert_false(mapped);
	return view;
}

static void return_lent(void)
{
	free(lent_verdicts);
	filter_free(lent);
}

static unsigned rcode_of(struct kern *k, const char *name)
{
	struct kern_why_result r = ask(k, name, CLIENT);

	return r.answered ? r.reply[3] & 15 : 99;
}

/* ---- groups ------------------------------------------------------------- */

static void a_group_blocks_as_it_was_published(void **state)
{
	struct kern *k = open_usual();
	struct filter_view view = publish(k, 5);

	kern_enable(k, true);
	assert_int_equal(rcode_of(k, "n1.example"), DNS_NOERROR);
	kern_groups_publish(k, &nxdomain, 1);
	assert_int_equal(rcode_of(k, "n1.example"), DNS_NXDOMAIN);
	assert_memory_equal(&view.group[0], &nxdomain, sizeof(nxdomain));
	assert_int_equal(view.group[1].block.ttl, 0);
	stop(k, true);
}

static void a_pause_is_seen_in_both_worlds_and_ends(void **state)
{
	struct kern *k = open_usual();
	struct filter_view view = publish(k, 5);

	kern_enable(k, true);
	put_a(k, "n1.example");
	assert_int_equal(ask(k, "n1.example", CLIENT).why.stat, MR_STAT_blocked);
	kern_group_pause(k, 0, true);
	assert_int_equal(ask(k, "n1.example", CLIENT).why.stat, MR_STAT_cached);
	assert_int_equal(ask(k, "n1.example", CLIENT).why.paused, 1);
	assert_int_equal(view.group[0].paused, 1);
	kern_group_pause(k, 1, true);
	kern_group_pause(k, MR_GROUPS_MAX, true);	/* no such group */
	kern_group_pause(k, 0, false);
	assert_int_equal(ask(k, "n1.example", CLIENT).why.stat, MR_STAT_blocked);
	assert_int_equal(view.group[0].paused, 0);
	assert_int_equal(view.group[1].paused, 1);
	stop(k, true);
}

static void groups_stay_where_they_are_when_the_filter_grows(void **state)
{
	struct kern *k = open_usual();
	struct filter_view old = publish(k, 5), view;

	kern_enable(k, true);
	kern_groups_publish(k, &nxdomain, 1);
	view = publish(k, 17000);
	assert_ptr_equal(view.group, old.group);
	assert_int_equal(rcode_of(k, "n16999.example"), DNS_NXDOMAIN);
	kern_group_pause(k, 0, true);
	assert_int_equal(old.group[0].paused, 1);
	assert_int_equal(ask(k, "n16999.example", CLIENT).why.stat, MR_STAT_pass_miss);
	stop(k, true);
}

static void groups_and_pauses_are_taken_over(void **state)
{
	struct filter_view view;
	struct kern *k = open_usual();

	publish(k, 5);
	kern_groups_publish(k, &nxdomain, 1);
	kern_group_pause(k, 0, true);
	stop(k, false);
	k = open_usual();
	assert_true(kern_taken_over(k));
	assert_true(kern_filter_view(k, &view));
	assert_int_equal(view.group[0].block.mode, MR_BLOCK_NXDOMAIN);
	assert_int_equal(view.group[0].paused, 1);
	stop(k, true);
}

static void the_off_form_has_groups_and_pauses(void **state)
{
	struct kern *k = open_off();
	struct filter_view view = publish_off(k);

	kern_groups_publish(k, &nxdomain, 1);
	assert_int_equal(view.group[0].block.mode, MR_BLOCK_NXDOMAIN);
	kern_group_pause(k, 0, true);
	assert_int_equal(view.group[0].paused, 1);
	kern_group_pause(k, 0, false);
	assert_int_equal(view.group[0].paused, 0);
	stop(k, true);
	return_lent();
}

/* ---- meanings of sets --------------------------------------------------- */

/* Make all sets of one group mean nothing. */
static void say_nothing(const struct filter_view *v)
{
	struct kern_cell cell = { 0 };

	for (; cell.at < v->unit->sets; cell.at++)
		kern_verdicts_write(v, &cell, 1);
}

static void sets_change_their_meaning_in_place(void **state)
{
	struct mr_secret secret = make_secret(1);
	struct kern *k = open_usual();
	struct filter_view view = publish(k, 5);

	kern_enable(k, true);
	put_a(k, "n1.example");
	say_nothing(&view);
	assert_int_equal(judge(&view, &secret, "n1.example"), MR_NONE);
	assert_int_equal(ask(k, "n1.example", CLIENT).why.stat, MR_STAT_cached);
	assert_int_equal(status_of(k).filter_generation, view.generation);
	assert_true(holds(k, "n1.example"));
	stop(k, true);
}

static void sets_change_their_meaning_in_what_was_taken_over(void **state)
{
	struct mr_secret secret = make_secret(1);
	struct kern *k = open_usual();
	struct filter_view view;

	publish(k, 5);
	stop(k, false);
	k = open_usual();
	assert_true(kern_filter_view(k, &view));
	say_nothing(&view);
	assert_int_equal(judge(&view, &secret, "n1.example"), MR_NONE);
	stop(k, true);
}

static void the_off_form_changes_the_meanings_that_were_lent(void **state)
{
	struct mr_secret secret = make_secret(1);
	struct kern *k = open_off();
	struct filter_view view = publish_off(k);

	assert_int_equal(judge(&view, &secret, "n1.example"), MR_BLOCK);
	say_nothing(&view);
	assert_int_equal(judge(&view, &secret, "n1.example"), MR_NONE);
	stop(k, true);
	return_lent();
}

/* ---- between two filters ------------------------------------------------ */

static struct filter_view swap(struct kern *k, unsigned names, unsigned how)
{
	struct mr_secret secret = make_secret(1);
	struct filter *f = make_filter(&secret, names);
	struct mr_verdict *v = make_verdicts(f);
	struct filter_view view;
	struct err_at e = { 0 };
	bool mapped = false;

	if (kern_filter_swap(k, f, v, 1, how, &view, &mapped, &e))
		fail_msg("swap: %s", e.why);
	assert_true(mapped);
	free(v);
	filter_free(f);
	return view;
}

/* A row for each way to bring a filter in: the other unit, and tables that grow. */
static const struct swap_case {
	const char *name;
	unsigned names;
} swaps[] = {
	{ "between a swap and its end no answer is taken", 9 },
	{ "between a swap into bigger tables and its end no answer is taken", 17000 },
};

static void test_swap(void **state)
{
	const struct swap_case *c = *state;
	struct kern *k = open_usual();
	struct filter_view view;

	publish(k, 5);
	kern_enable(k, true);
	put_a(k, "www.stays.test");
	view = swap(k, c->names, 0);
	/* in force at once, and what was known before is still given */
	assert_int_equal(ask(k, "n7.example", CLIENT).why.stat, MR_STAT_blocked);
	assert_int_equal(status_of(k).filter_generation, view.generation);
	assert_int_equal(ask(k, "www.stays.test", CLIENT).why.stat, MR_STAT_cached);
	put_a(k, "www.comes.test");
	assert_false(holds(k, "www.comes.test"));
	kern_filter_settle(k);
	put_a(k, "www.comes.test");
	assert_true(holds(k, "www.comes.test"));
	kern_filter_settle(k);
	stop(k, false);
	k = open_usual();
	assert_true(kern_taken_over(k));
	assert_int_equal(ask(k, "n7.example", CLIENT).why.stat, MR_STAT_blocked);
	stop(k, true);
}

/* One of the filter's names is listed no more: an entry goes. */
static struct filter_view edit(struct kern *k, const struct filter_view *v, unsigned names, const char *name)
{
	static const struct mr_verdict cells[MR_GROUPS_MAX];
	static struct filter_edit e;
	struct mr_secret secret = make_secret(1);
	struct filter *f = make_filter(&secret, names);
	struct filter_members *m = filter_members_copy(f);
	struct dns_key key = make_key(name, DNS_A);
	struct mr_name n = { .len = key.name_len };
	struct filter_change ch = { .subtree = true, .before = 1U << FILTER_BLOCK };
	struct filter_view view;

	assert_non_null(m);
	memcpy(n.text, key.name, key.name_len);
	assert_int_equal(mr_name_hash(&n, &secret), 0);
	ch.hash = &n.hash[n.labels];
	ch.depth = n.labels;
	assert_int_equal(filter_edit_plan(v, m, &ch, &e), 0);
	filter_edit_members(&e, m);
	assert_int_equal(kern_filter_edit(k, &e, cells, &view), 0);
	filter_members_free(m);
	filter_free(f);
	return view;
}

static const struct swap_case edits[] = {
	{ "an entry changes between a swap and its end, which still takes no answer", 9 },
	{ "an entry changes between a swap into bigger tables and its end", 17000 },
};

static void test_edit(void **state)
{
	const struct swap_case *c = *state;
	struct kern *k = open_usual();
	struct filter_view swapped, edited;
	struct dns_answer *older;

	publish(k, 5);
	kern_enable(k, true);
	swapped = swap(k, c->names, 0);
	assert_int_equal(ask(k, "n7.example", CLIENT).why.stat, MR_STAT_blocked);
	edited = edit(k, &swapped, c->names, "n7.example");
	assert_int_equal(edited.generation, swapped.generation + 1);
	assert_int_equal(status_of(k).filter_generation, edited.generation);
	assert_int_not_equal(ask(k, "n7.example", CLIENT).why.stat, MR_STAT_blocked);
	assert_int_equal(ask(k, "n8.example", CLIENT).why.stat, MR_STAT_blocked);
	put_a(k, "n7.example");
	assert_false(holds(k, "n7.example"));
	kern_filter_settle(k);
	/* then those of the new generation alone */
	older = make_a("n7.example", 300, clock_coarse_ns());
	kern_answer_put(k, older, false, swapped.generation, clock_coarse_ns());
	dns_answer_unref(older);
	assert_false(holds(k, "n7.example"));
	put_a(k, "n7.example");
	assert_int_equal(ask(k, "n7.example", CLIENT).why.stat, MR_STAT_cached);
	/* nothing is owed for a change in place: answers are taken at once */
	edited = edit(k, &edited, c->names, "n8.example");
	put_a(k, "n8.example");
	assert_int_equal(ask(k, "n8.example", CLIENT).why.stat, MR_STAT_cached);
	stop(k, true);
}

static const struct swap_case forgets[] = {
	{ "a swap forgets answers at once", 9 },
	{ "a swap into bigger tables forgets answers at once", 17000 },
};

static void test_forget(void **state)
{
	const struct swap_case *c = *state;
	struct kern *k = open_usual();

	publish(k, 5);
	kern_enable(k, true);
	put_a(k, "www.goes.test");
	assert_int_equal(ask(k, "www.goes.test", CLIENT).why.stat, MR_STAT_cached);
	swap(k, c->names, KERN_FORGET);
	assert_int_equal(ask(k, "www.goes.test", CLIENT).why.stat, MR_STAT_pass_generation);
	kern_filter_settle(k);
	put_a(k, "www.goes.test");
	assert_int_equal(ask(k, "www.goes.test", CLIENT).why.stat, MR_STAT_cached);
	stop(k, true);
}

static const struct swap_case holds_all[] = {
	{ "what changes with a filter is seen together with it", 9 },
	{ "what changes with a filter in bigger tables is seen together with it", 17000 },
};

static void test_hold(void **state)
{
	const struct swap_case *c = *state;
	struct kern *k = open_usual();

	publish(k, 5);
	kern_enable(k, true);
	assert_false(kern_groups_differ(k, &nxdomain, 0));
	assert_true(kern_groups_differ(k, &nxdomain, 1));
	swap(k, c->names, KERN_HOLD);
	assert_int_equal(ask(k, "n7.example", CLIENT).why.stat, MR_STAT_pass_disabled);
	kern_groups_publish(k, &nxdomain, 1);
	assert_int_equal(ask(k, "n7.example", CLIENT).why.stat, MR_STAT_pass_disabled);
	kern_release(k);
	assert_int_equal(rcode_of(k, "n7.example"), DNS_NXDOMAIN);
	assert_false(kern_groups_differ(k, &nxdomain, 1));
	kern_filter_settle(k);
	/* nothing is held that was off before */
	kern_enable(k, false);
	swap(k, c->names, KERN_HOLD);
	kern_release(k);
	assert_int_equal(ask(k, "n7.example", CLIENT).why.stat, MR_STAT_pass_disabled);
	stop(k, true);
}

/* ---- names of sources --------------------------------------------------- */

static bool says(struct kern *k, const char *text)
{
	struct dns_key key = make_key("n1.example", DNS_A);
	struct kern_why_query q = { .name = key.name, .name_len = key.name_len, .qtype = DNS_A, .edns = true };
	struct kern_why_result r;
	struct err_at e = { 0 };

	assert_int_equal(addr_parse(CLIENT, 0, &q.client), 0);
	assert_int_equal(kern_why(k, &q, &r, &e), 0);
	assert_true(r.answered);
	return memmem(r.reply, r.reply_len, text, strlen(text));
}

static void names_come_into_force_with_the_next_filter(void **state)
{
	static const char *const first[] = { "starter" }, *const second[] = { "newer" };
	struct filter_view old, view;
	struct kern *k = open_usual();

	kern_enable(k, true);
	kern_sources_publish(k, first, 1);
	old = publish(k, 5);
	assert_true(says(k, "starter"));
	kern_sources_publish(k, second, 1);
	assert_true(says(k, "starter"));
	view = publish(k, 5);
	assert_true(says(k, "newer"));
	assert_memory_equal((const char *)old.ede[0].word + 9, "starter", 7);	/* for who still reads the older one */
	assert_memory_equal((const char *)view.ede[0].word + 9, "newer", 5);
	view = publish(k, 6);
	assert_true(says(k, "newer"));
	view = publish(k, 17000);
	assert_true(says(k, "newer"));
	stop(k, false);
	k = open_usual();
	assert_true(says(k, "newer"));
	publish(k, 17000);
	assert_true(says(k, "newer"));
	kern_sources_publish(k, NULL, 0);
	publish(k, 5);
	assert_false(says(k, "newer"));
	stop(k, true);
}

static void the_off_form_has_names(void **state)
{
	static const char *const names[] = { NULL, "second" };
	struct kern *k = open_off();
	struct filter_view view;

	kern_sources_publish(k, names, 2);
	view = publish_off(k);
	assert_int_equal(view.ede[0].len, 0);
	assert_int_equal(view.ede[1].len, 9 + 6);
	assert_memory_equal((const char *)view.ede[1].word + 9, "second", 6);
	stop(k, true);
	return_lent();
}

/* ---- clients by MAC ----------------------------------------------------- */

static enum mr_stat stat_of_mac(struct kern *k, const uint8_t *mac)
{
	struct dns_key key = make_key("www.example", DNS_A);
	struct kern_why_query q = { .name = key.name, .name_len = key.name_len, .qtype = DNS_A, .mac = mac };
	struct kern_why_result r;
	struct err_at e = { 0 };

	assert_int_equal(addr_parse(CLIENT, 0, &q.client), 0);
	assert_int_equal(kern_why(k, &q, &r, &e), 0);
	return r.why.stat;
}

static void a_mac_takes_force_at_once_and_goes(void **state)
{
	struct clients_row row = { .is_mac = true, .mac = { 2, 0, 0, 7, 0, 0 }, .outcome = { 0, MR_ACCESS_REFUSE, 0 } };
	static const uint8_t zero[6] = { 2, 0, 0, 7, 0, 0 }, one[6] = { 2, 0, 0, 7, 0, 1 };
	struct mr_outcome allow = { 0, MR_ACCESS_ALLOW, 0 };
	struct mr_secret secret = make_secret(1);
	struct clients *c = calloc(1, sizeof(*c));
	struct kern *k = open_usual();

	kern_enable(k, true);
	put_a(k, "www.example");
	assert_int_equal(clients_build(&row, 1, allow, &secret, c, NULL), 0);
	kern_clients_publish(k, c);
	assert_int_equal(stat_of_mac(k, zero), MR_STAT_pass_access);
	assert_int_equal(stat_of_mac(k, one), MR_STAT_cached);
	assert_int_equal(stat_of_mac(k, NULL), MR_STAT_cached);
	row.mac[5] = 1;
	assert_int_equal(clients_build(&row, 1, allow, &secret, c, NULL), 0);
	kern_clients_publish(k, c);
	assert_int_equal(stat_of_mac(k, zero), MR_STAT_cached);
	assert_int_equal(stat_of_mac(k, one), MR_STAT_pass_access);
	stop(k, true);
	free(c);
}

static void a_paused_client_is_published(void **state)
{
	struct clients_row row = { .outcome = { 0, MR_ACCESS_ALLOW, MR_CLIENT_PAUSED } };
	struct mr_outcome allow = { 0, MR_ACCESS_ALLOW, 0 };
	struct mr_secret secret = make_secret(1);
	struct clients *c = calloc(1, sizeof(*c));
	struct kern *k = open_usual();

	publish(k, 5);
	kern_enable(k, true);
	assert_int_equal(addr_prefix_parse(CLIENT, &row.prefix), 0);
	assert_int_equal(clients_build(&row, 1, allow, &secret, c, NULL), 0);
	kern_clients_publish(k, c);
	assert_int_equal(ask(k, "n1.example", CLIENT).why.stat, MR_STAT_pass_miss);
	assert_int_equal(ask(k, "n1.example", "10.53.9.3").why.stat, MR_STAT_blocked);
	stop(k, true);
	free(c);
}

/* ---- answers ------------------------------------------------------------ */

static void put_judged(struct kern *k, bool asks, uint32_t generation)
{
	uint64_t now = clock_coarse_ns();
	struct dns_answer *a = make_a("www.example", 300, now);

	kern_answer_put(k, a, asks, generation, now);
	dns_answer_unref(a);
}

static void an_answer_judged_under_an_older_filter_is_left_out(void **state)
{
	uint64_t before = counted("kern_refused_generation");
	struct kern *k = open_usual();
	struct filter_view old = publish(k, 5), view = publish(k, 5);

	assert_int_equal(view.generation, old.generation + 1);
	put_judged(k, false, old.generation);
	assert_false(holds(k, "www.example"));
	assert_int_equal(counted("kern_refused_generation"), before + 1);
	put_judged(k, false, view.generation);
	assert_true(holds(k, "www.example"));
	stop(k, true);
}

static void an_answer_that_asks_goes_up_until_the_filter_changes(void **state)
{
	struct kern *k = open_usual();
	struct filter_view view = publish(k, 5);

	kern_enable(k, true);
	put_judged(k, true, view.generation);
	assert_int_equal(ask(k, "www.example", CLIENT).why.stat, MR_STAT_pass_ask);
	assert_int_equal(ask(k, "www.example", CLIENT).why.chain_set, MR_SET_ASK);
	put_judged(k, false, view.generation);
	assert_int_equal(ask(k, "www.example", CLIENT).why.stat, MR_STAT_cached);
	put_judged(k, true, view.generation);
	publish(k, 5);
	assert_int_equal(ask(k, "www.example", CLIENT).why.stat, MR_STAT_pass_generation);
	stop(k, true);
}

static void a_chain_with_a_blocked_link_is_blocked_in_the_kernel(void **state)
{
	struct kern *k = open_usual();
	struct filter_view view = publish(k, 5);
	uint64_t now = clock_coarse_ns();
	struct dns_answer *a = make_cname("alias.example", "x.n3.example", 300, now);
	struct kern_why_result r;

	kern_enable(k, true);
	kern_groups_publish(k, &nxdomain, 1);
	kern_answer_put(k, a, false, view.generation, now);
	dns_answer_unref(a);
	r = ask(k, "alias.example", CLIENT);
	assert_int_equal(r.why.stat, MR_STAT_blocked);
	assert_true(r.why.chain_set > 0);
	assert_int_equal(r.reply[3] & 15, DNS_NXDOMAIN);
	kern_group_pause(k, 0, true);
	assert_int_equal(ask(k, "alias.example", CLIENT).why.stat, MR_STAT_cached);
	stop(k, true);
}

int main(void)
{
	struct CMUnitTest tests[32];
	size_t n = 0, i;

	TEST(a_group_blocks_as_it_was_published);
	TEST(a_pause_is_seen_in_both_worlds_and_ends);
	TEST(groups_stay_where_they_are_when_the_filter_grows);
	TEST(groups_and_pauses_are_taken_over);
	TEST(the_off_form_has_groups_and_pauses);
	TEST(sets_change_their_meaning_in_place);
	TEST(sets_change_their_meaning_in_what_was_taken_over);
	TEST(the_off_form_changes_the_meanings_that_were_lent);
	ROWS(swaps, test_swap);
	ROWS(edits, test_edit);
	ROWS(forgets, test_forget);
	ROWS(holds_all, test_hold);
	TEST(names_come_into_force_with_the_next_filter);
	TEST(the_off_form_has_names);
	TEST(a_mac_takes_force_at_once_and_goes);
	TEST(a_paused_client_is_published);
	TEST(an_answer_judged_under_an_older_filter_is_left_out);
	TEST(an_answer_that_asks_goes_up_until_the_filter_changes);
	TEST(a_chain_with_a_blocked_link_is_blocked_in_the_kernel);
	return run_in_lab("kern/groups", tests, n);
}
