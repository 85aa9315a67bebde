/* SPDX-License-Identifier: BSD-2-Clause */
/* test_lists.c - which list is fetched when, under a clock of our own. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/clock.h"
#include "lists/lists_store.h"
#include "tests/unit/lists/rig.h"

#define HOUR 3600
#define BEGIN 1800000000

static int64_t now;

static int64_t fake_now(void)
{
	return now;
}

/* The room on a loop, with the servers of a rig. */
struct house {
	struct rig *r;
	uv_loop_t loop;
	struct lists *lists;
	unsigned called;
	enum lists_event event;
	char name[LISTS_NAME_MAX], said[2048], order[256];
	struct lists_status last;
	void (*inside)(struct house *h);	/* what a callback does */
	_Atomic int status;		/* that the server gives */
	_Atomic bool hang;
};

static void on_done(void *arg, enum lists_event event, const struct lists_status *s)
{
	struct house *h = arg;

	h->called++;
	h->event = event;
	h->last = *s;
	snprintf(h->name, sizeof(h->name), "%s", s->name);
	strcat(h->order, s->name);
	lists_say(event, s, h->said, sizeof(h->said));
	if (h->inside)
		h->inside(h);
}

static struct house *house_of_page;

static void page(struct conn *c)
{
	struct house *h = house_of_page;
	char text[128];

	while (h->hang && !c->server->stop)
		usleep(2000);
	snprintf(text, sizeof(text), "# %u\n", c->n);
	if (h->status == 503)
		conn_page(c, 503, "Retry-After: 1800\r\n", "", 0);
	else
		conn_page(c, (unsigned)h->status, "", text, strlen(text));
}

static void open_room(struct house *h)
{
	struct lists_options o = { .folder = h->r->lists, .now_s = fake_now, .done = on_done, .arg = h };

	assert_int_equal(uv_loop_init(&h->loop), 0);
	assert_int_equal(lists_new(&h->loop, &o, &h->lists), 0);
}

static void close_room(struct house *h)
{
	if (h->lists)
		lists_free(h->lists);
	h->lists = NULL;
	uv_run(&h->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&h->loop), 0);
}

static struct house *house_new(void)
{
	struct house *h = calloc(1, sizeof(*h));

	now = BEGIN;
	h->status = 200;
	house_of_page = h;
	h->r = rig_new(page);
	open_room(h);
	return h;
}

static void house_free(struct house *h)
{
	close_room(h);
	rig_free(h->r);
	free(h);
}

/* Lists named by the letters of @names, at /NAME, each hour; or at @path when there is one. */
static int set(struct house *h, const char *names, const char *path)
{
	static char name[8][2], url[8][HTTP_URL_MAX], at_path[32];
	struct lists_row row[8];
	struct lists_rows rows = { .row = row, .servers = &h->r->names.addr, .server_count = 1, .timeout_ms = 5000,
				   .max_bytes = 1 << 20 };
	struct err_at at;

	for (; names[rows.count]; rows.count++) {
		snprintf(name[rows.count], 2, "%c", names[rows.count]);
		snprintf(at_path, sizeof(at_path), "/%s", path ? path : name[rows.count]);
		snprintf(url[rows.count], sizeof(url[0]), "%s", rig_url(h->r, "lists.example", at_path));
		row[rows.count] = (struct lists_row){ name[rows.count], url[rows.count], HOUR, 0 };
	}
	return lists_set(h->lists, &rows, &at);
}

static void turn(struct house *h, unsigned ms)
{
	while (ms--) {
		uv_run(&h->loop, UV_RUN_NOWAIT);
		usleep(1000);
	}
}

/* Run until there were @called calls in all. */
static void run_until(struct house *h, unsigned called)
{
	unsigned i;

	for (i = 0; i < 5000 && h->called < called; i++)
		turn(h, 1);
	assert_int_equal(h->called, called);
}

static struct lists_status get(struct house *h, const char *name)
{
	struct lists_status s;

	assert_int_equal(lists_find(h->lists, name, &s), 0);
	return s;
}

/* Let the time go on to just before the next try, see that nothing happens, and then to it. */
static int64_t step(struct house *h, const char *name)
{
	int64_t wait = get(h, name).next_try_s - now;
	unsigned called = h->called;

	now += wait - 1;
	lists_tick(h->lists);
	turn(h, 20);
	assert_int_equal(h->called, called);
	now += 1;
	lists_tick(h->lists);
	run_until(h, called + 1);
	return wait;
}

/* At most @most, less by an eighth at most. */
static void assert_about(int64_t value, int64_t most)
{
	assert_in_range(value, most - most / 8, most);
}

static void a_new_list_is_fetched_at_once_and_then_after_its_interval(void **state)
{
	struct house *h = house_new();

	assert_int_equal(set(h, "a", NULL), 0);
	assert_int_equal(h->called, 0);			/* never from within the call */
	run_until(h, 1);
	assert_int_equal(h->event, LISTS_CHANGED);
	assert_true(h->last.have);
	assert_int_equal(h->last.bytes, 4);
	assert_string_equal(h->last.error, "");
	assert_int_equal(h->last.last_try_s, BEGIN);
	assert_int_equal(h->last.last_good_s, BEGIN);
	assert_int_equal(h->last.changed_s, BEGIN);
	assert_string_equal(h->said, "fetched, 4 bytes");
	assert_about(step(h, "a"), HOUR);
	assert_int_equal(h->last.tries, 2);
	house_free(h);
}

static void failures_are_tried_again_after_1_2_4_minutes_up_to_the_interval(void **state)
{
	static const unsigned minutes[] = { 1, 2, 4, 8, 16, 32, 60, 60, 60 };
	struct house *h = house_new();
	unsigned i;

	h->status = 404;
	assert_int_equal(set(h, "a", NULL), 0);
	run_until(h, 1);
	for (i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++) {
		assert_int_equal(h->event, LISTS_FAILED);
		assert_int_equal(h->last.failures, i + 1);
		assert_about(step(h, "a"), 60 * minutes[i]);
	}
	h->status = 200;
	step(h, "a");
	assert_int_equal(h->event, LISTS_CHANGED);
	assert_int_equal(h->last.failures, 0);
	assert_string_equal(h->last.error, "");
	assert_about(get(h, "a").next_try_s - now, HOUR);
	h->status = 500;
	step(h, "a");
	assert_int_equal(h->last.failures, 1);
	assert_about(get(h, "a").next_try_s - now, 60);
	assert_int_equal(h->last.failed, 11);
	house_free(h);
}

static void delays_differ_and_never_exceed_the_interval(void **state)
{
	unsigned i, k, d, least, most;

	for (i = 0; i < 70; i++) {
		least = -1U;
		most = 0;
		for (k = 0; k < 1000; k++) {
			d = lists_delay_s(i, 100000, k * 2654435761U);
			least = d < least ? d : least;
			most = d > most ? d : most;
		}
		assert_true(most <= 100000 && least < most && least > 0);
		assert_true(least >= most - most / 8 - 1);
	}
	assert_int_equal(lists_delay_s(1, 30, 0), 30);		/* an interval under a minute */
	assert_int_equal(lists_delay_s(3, 86400, 0), 240);
	assert_int_equal(lists_delay_s(40, 86400, 0), 86400);
}

static void a_server_may_ask_for_more_patience(void **state)
{
	struct house *h = house_new();

	h->status = 503;
	assert_int_equal(set(h, "a", NULL), 0);
	run_until(h, 1);
	assert_int_equal(h->last.next_try_s, BEGIN + 1800);
	house_free(h);
}

static void a_failure_says_what_where_what_stays_and_when_next(void **state)
{
	struct house *h = house_new();
	char where[128];

	snprintf(where, sizeof(where), "not fetched, and there is no earlier copy: http://lists.example:%u/a: HTTP status 404; tried again at 20",
		 h->r->http.addr.port);
	h->status = 404;
	assert_int_equal(set(h, "a", NULL), 0);
	run_until(h, 1);
	assert_memory_equal(h->said, where, strlen(where));
	assert_false(h->last.have);
	h->status = 200;
	step(h, "a");
	h->status = 500;
	step(h, "a");
	assert_memory_equal(h->said, "not fetched, the copy of 2027-01-", 33);
	assert_non_null(strstr(h->said, "HTTP status 500; tried again at 2027-"));
	assert_true(h->last.have);
	house_free(h);
}

static void lists_are_fetched_one_at_a_time_in_their_order(void **state)
{
	struct house *h = house_new();

	h->hang = true;
	assert_int_equal(set(h, "cab", NULL), 0);
	turn(h, 50);
	assert_true(get(h, "c").fetching);
	assert_false(get(h, "a").fetching);
	assert_false(get(h, "b").fetching);
	h->hang = false;
	run_until(h, 3);
	assert_string_equal(h->order, "cab");
	assert_int_equal(h->r->http.requests, 3);
	house_free(h);
}

static void a_restart_finds_its_copies_and_does_not_fetch_before_time(void **state)
{
	struct house *h = house_new();
	struct lists_status s;

	assert_int_equal(set(h, "a", NULL), 0);
	run_until(h, 1);
	close_room(h);
	now += HOUR / 2;
	open_room(h);
	assert_int_equal(set(h, "a", NULL), 0);
	s = get(h, "a");
	assert_true(s.have);
	assert_int_equal(s.bytes, 4);
	assert_int_equal(s.last_good_s, BEGIN);
	assert_int_equal(s.changed_s, BEGIN);
	assert_about(s.next_try_s - BEGIN, HOUR);
	turn(h, 30);
	assert_int_equal(h->called, 1);
	step(h, "a");
	house_free(h);
}

static void another_url_is_fetched_at_once_and_the_old_copy_stays_meanwhile(void **state)
{
	struct house *h = house_new();

	assert_int_equal(set(h, "a", NULL), 0);
	run_until(h, 1);
	h->status = 404;
	assert_int_equal(set(h, "a", "elsewhere"), 0);
	assert_true(get(h, "a").have);
	run_until(h, 2);
	assert_int_equal(h->event, LISTS_FAILED);
	assert_true(h->last.have);
	assert_int_equal(h->last.bytes, 4);
	house_free(h);
}

static void the_same_rows_again_change_nothing(void **state)
{
	struct house *h = house_new();
	int64_t next;

	assert_int_equal(set(h, "ab", NULL), 0);
	run_until(h, 2);
	next = get(h, "a").next_try_s;
	assert_int_equal(set(h, "ba", NULL), 0);
	turn(h, 30);
	assert_int_equal(h->called, 2);
	assert_int_equal(get(h, "a").next_try_s, next);
	assert_int_equal(get(h, "a").changed, 1);
	house_free(h);
}

static void a_row_that_goes_takes_its_fetch_with_it(void **state)
{
	struct house *h = house_new();
	uint64_t begin;

	h->hang = true;
	assert_int_equal(set(h, "a", NULL), 0);
	turn(h, 50);
	assert_true(get(h, "a").fetching);
	assert_int_equal(set(h, "b", NULL), 0);
	begin = clock_fine_ns();
	turn(h, 300);
	h->hang = false;
	run_until(h, 1);
	assert_in_range(clock_fine_ns() - begin, 0, 3 * CLOCK_S);
	assert_string_equal(h->name, "b");
	house_free(h);
}

static void a_refresh_by_hand_is_done_at_once(void **state)
{
	struct house *h = house_new();

	assert_int_equal(set(h, "ab", NULL), 0);
	run_until(h, 2);
	assert_int_equal(lists_refresh(h->lists, "b"), 0);
	run_until(h, 3);
	assert_string_equal(h->name, "b");
	assert_int_equal(lists_refresh(h->lists, NULL), 0);
	run_until(h, 5);
	assert_int_equal(lists_refresh(h->lists, "nobody"), -ENOENT);
	house_free(h);
}

static void a_clock_that_is_set_back_delays_by_an_interval_at_most(void **state)
{
	struct house *h = house_new();

	assert_int_equal(set(h, "a", NULL), 0);
	run_until(h, 1);
	now -= 20 * 365 * 86400LL;
	lists_tick(h->lists);
	assert_int_equal(get(h, "a").next_try_s, now + HOUR);
	step(h, "a");
	house_free(h);
}

static void stopping_during_a_fetch_is_quick(void **state)
{
	struct house *h = house_new();
	uint64_t begin;

	h->hang = true;
	assert_int_equal(set(h, "a", NULL), 0);
	turn(h, 100);
	assert_int_equal(h->r->names.udp, 2);
	begin = clock_fine_ns();
	close_room(h);
	assert_in_range(clock_fine_ns() - begin, 0, CLOCK_S);
	assert_int_equal(h->called, 0);
	open_room(h);
	house_free(h);
}

static void stopping_before_anything_began_is_quick_too(void **state)
{
	struct house *h = house_new();

	assert_int_equal(set(h, "ab", NULL), 0);
	lists_free(NULL);
	house_free(h);
}

static void set_within(struct house *h)
{
	h->inside = NULL;
	assert_int_equal(set(h, "bc", NULL), 0);
}

static void rows_may_change_within_a_callback(void **state)
{
	struct house *h = house_new();

	h->inside = set_within;
	assert_int_equal(set(h, "ab", NULL), 0);
	run_until(h, 3);
	assert_string_equal(h->order, "abc");
	house_free(h);
}

static void free_within(struct house *h)
{
	lists_free(h->lists);
	h->lists = NULL;
}

static void the_room_may_be_freed_within_a_callback(void **state)
{
	struct house *h = house_new();

	h->inside = free_within;
	assert_int_equal(set(h, "ab", NULL), 0);
	run_until(h, 1);
	house_free(h);
}

struct bad_case {
	const char *sentence;
	struct lists_row row[2];
	unsigned count, servers, timeout_ms;
	const char *said;
};

#define GOOD { "good", "http://lists.example/", 60, 0 }
static const struct bad_case bads[] = {
	{ "a_name_that_comes_twice_is_refused", { GOOD, GOOD }, 2, 1, 1, "two lists" },
	{ "an_empty_name_is_refused", { GOOD, { "", "http://lists.example/", 60, 0 } }, 2, 1, 1, "1 to 63" },
	{ "a_name_of_64_octets_is_refused", { { "0123456789012345678901234567890123456789012345678901234567890123", "http://x/", 60, 0 } },
	  1, 1, 1, "1 to 63" },
	{ "an_url_of_another_scheme_is_refused", { { "a", "ftp://lists.example/", 60, 0 } }, 1, 1, 1, "expected http or https" },
	{ "a_path_is_no_url", { { "a", "/etc/hosts", 60, 0 } }, 1, 1, 1, "not an URL" },
	{ "an_url_without_a_host_is_refused", { { "a", "http://:80/list", 60, 0 } }, 1, 1, 1, "URL" },
	{ "no_interval_is_refused", { { "a", "http://lists.example/", 0, 0 } }, 1, 1, 1, "interval" },
	{ "no_time_is_refused", { GOOD }, 1, 1, 0, "timeout" },
	{ "too_many_servers_are_refused", { GOOD }, 1, LISTS_SERVERS_MAX + 1, 1, "at most 16" },
	{ "too_many_lists_are_refused", { GOOD }, LISTS_MAX + 1, 1, 1, "at most 1024" },
};

static void bad_row(void **state)
{
	const struct bad_case *c = *state;
	struct house *h = house_new();
	struct lists_rows rows = { .row = c->row, .count = c->count, .servers = &h->r->names.addr, .server_count = c->servers,
				   .timeout_ms = c->timeout_ms };
	struct err_at at = { .why = "" };

	assert_int_equal(set(h, "a", NULL), 0);
	assert_int_equal(lists_set(h->lists, &rows, &at), -EINVAL);
	assert_non_null(strstr(at.why, c->said));
	run_until(h, 1);
	assert_string_equal(h->name, "a");
	house_free(h);
}

/* ---- files ----------------------------------------------------------------- */

struct file_case {
	const char *sentence, *name, *file;
};

static const struct file_case files[] = {
	{ "plain_names_are_file_names", "ads-1_X", "ads-1_X" },
	{ "slashes_do_not_leave_the_folder", "../../etc/passwd", "%2E%2E%2F%2E%2E%2Fetc%2Fpasswd" },
	{ "dots_are_kept_out_since_side_files_have_them", "ads.meta", "ads%2Emeta" },
	{ "the_escape_itself_is_escaped", "a%2E", "a%252E" },
	{ "other_letters_are_octets", "b\303\274 x", "b%C3%BC%20x" },
};

static void file_row(void **state)
{
	const struct file_case *c = *state;
	char buf[LISTS_FILE_NAME_MAX];

	assert_string_equal(lists_store_name(c->name, buf), c->file);
}

static void the_longest_name_fits_a_file_name(void **state)
{
	char name[LISTS_NAME_MAX], buf[LISTS_FILE_NAME_MAX];

	memset(name, '.', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(strlen(lists_store_name(name, buf)), 3 * (LISTS_NAME_MAX - 1));
}

static void touch(struct house *h, const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", h->r->lists, file);
	close(open(path, O_WRONLY | O_CREAT, 0600));
}

static bool is_there(struct house *h, const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", h->r->lists, file);
	return !access(path, F_OK);
}

static void a_sweep_takes_what_belongs_to_no_list_and_is_ours(void **state)
{
	struct house *h = house_new();

	assert_int_equal(set(h, "ab", NULL), 0);
	run_until(h, 2);
	touch(h, "old");
	touch(h, "old.meta");
	touch(h, "old.new");
	touch(h, "a.new");
	touch(h, "notes.txt");
	touch(h, ".hidden");
	assert_int_equal(set(h, "a", NULL), 0);
	assert_int_equal(lists_sweep(h->lists), 5);	/* old's three, b's two */
	assert_true(is_there(h, "a") && is_there(h, "a.meta") && is_there(h, "notes.txt") && is_there(h, ".hidden"));
	assert_false(is_there(h, "b") || is_there(h, "b.meta") || is_there(h, "old"));
	house_free(h);
}

int main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(a_new_list_is_fetched_at_once_and_then_after_its_interval),
		cmocka_unit_test(failures_are_tried_again_after_1_2_4_minutes_up_to_the_interval),
		cmocka_unit_test(delays_differ_and_never_exceed_the_interval),
		cmocka_unit_test(a_server_may_ask_for_more_patience),
		cmocka_unit_test(a_failure_says_what_where_what_stays_and_when_next),
		cmocka_unit_test(lists_are_fetched_one_at_a_time_in_their_order),
		cmocka_unit_test(a_restart_finds_its_copies_and_does_not_fetch_before_time),
		cmocka_unit_test(another_url_is_fetched_at_once_and_the_old_copy_stays_meanwhile),
		cmocka_unit_test(the_same_rows_again_change_nothing),
		cmocka_unit_test(a_row_that_goes_takes_its_fetch_with_it),
		cmocka_unit_test(a_refresh_by_hand_is_done_at_once),
		cmocka_unit_test(a_clock_that_is_set_back_delays_by_an_interval_at_most),
		cmocka_unit_test(stopping_during_a_fetch_is_quick),
		cmocka_unit_test(stopping_before_anything_began_is_quick_too),
		cmocka_unit_test(rows_may_change_within_a_callback),
		cmocka_unit_test(the_room_may_be_freed_within_a_callback),
		cmocka_unit_test(the_longest_name_fits_a_file_name),
		cmocka_unit_test(a_sweep_takes_what_belongs_to_no_list_and_is_ours),
	};
	enum { BADS = sizeof(bads) / sizeof(bads[0]), FILES = sizeof(files) / sizeof(files[0]),
	       OTHERS = sizeof(others) / sizeof(others[0]) };
	struct CMUnitTest tests[BADS + FILES + OTHERS];
	unsigned i;

	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < BADS; i++)
		tests[i] = (struct CMUnitTest){ bads[i].sentence, bad_row, NULL, NULL, (void *)(uintptr_t)&bads[i] };
	for (i = 0; i < FILES; i++)
		tests[BADS + i] = (struct CMUnitTest){ files[i].sentence, file_row, NULL, NULL, (void *)(uintptr_t)&files[i] };
	memcpy(tests + BADS + FILES, others, sizeof(others));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
