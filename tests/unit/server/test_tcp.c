/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tcp.c - queries over TCP through a worker (RFC 7766), on real sockets of the loopback. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "unit/server/rig.h"

static void ask(int fd, uint16_t id, enum fake_what what, uint16_t delay_ms, uint16_t size)
{
	uint8_t msg[FAKE_QUERY];

	fake_message(id, what, delay_ms, size, msg);
	rig_tcp_send(fd, msg, sizeof(msg));
}

/* The ID of the next answer, whose octets are checked; -1 when none comes. */
static int answer_id(int fd)
{
	static uint8_t buf[65536];
	int n = rig_tcp_read(fd, buf, sizeof(buf)), i;

	if (n < FAKE_ANSWER || !(buf[2] & 0x80))
		return -1;
	for (i = FAKE_ANSWER; i < n; i++)
		assert_int_equal(buf[i], buf[1]);
	return buf[0] << 8 | buf[1];
}

static void check_one(const char *listen, const char *ip)
{
	struct rig r = { 0 };
	int fd;

	rig_start(&r, listen, NULL);
	fd = rig_tcp(&r, ip);
	ask(fd, 0x4321, FAKE_ECHO, 0, 3000);
	assert_int_equal(answer_id(fd), 0x4321);
	ask(fd, 2, FAKE_DELAY, 20, 65000);
	assert_int_equal(answer_id(fd), 2);
	close(fd);
	rig_end(&r);
}

static void answers_over_ipv4(void **state)
{
	check_one("127.0.0.1", "127.0.0.1");
}

static void answers_over_ipv6(void **state)
{
	check_one("127.0.0.1,::1", "::1");
}

static void answers_on_a_wildcard(void **state)
{
	check_one("0.0.0.0,::", "127.0.0.2");
}

static void pipelined_queries_are_answered_as_they_are_ready(void **state)
{
	struct rig r = { 0 };
	int fd;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_tcp(&r, "127.0.0.1");
	ask(fd, 1, FAKE_DELAY, 250, 10);
	ask(fd, 2, FAKE_DELAY, 100, 10);
	ask(fd, 3, FAKE_ECHO, 0, 10);
	assert_int_equal(answer_id(fd), 3);
	assert_int_equal(answer_id(fd), 2);
	assert_int_equal(answer_id(fd), 1);
	close(fd);
	rig_end(&r);
}

static void query_may_come_octet_by_octet(void **state)
{
	uint8_t framed[2 + FAKE_QUERY] = { 0, FAKE_QUERY };
	struct rig r = { 0 };
	int fd, one = 1;
	size_t i;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_tcp(&r, "127.0.0.1");
	setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &one, sizeof(one));
	fake_message(8, FAKE_ECHO, 0, 0, framed + 2);
	for (i = 0; i < sizeof(framed); i++) {
		assert_int_equal(send(fd, framed + i, 1, 0), 1);
		rig_sleep_ms(2);
	}
	assert_int_equal(answer_id(fd), 8);
	close(fd);
	rig_end(&r);
}

static void queries_may_be_cut_anywhere(void **state)
{
	enum { N = 40, SIZE = 2 + FAKE_QUERY };
	uint8_t all[N * SIZE] = { 0 };
	size_t at, part = 1, i;
	struct rig r = { 0 };
	int fd;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_tcp(&r, "127.0.0.1");
	for (i = 0; i < N; i++) {
		all[i * SIZE + 1] = FAKE_QUERY;
		fake_message((uint16_t)i, FAKE_ECHO, 0, 0, all + i * SIZE + 2);
	}
	for (at = 0; at < sizeof(all); at += part, part = part * 2 + 5) {
		if (part > sizeof(all) - at)
			part = sizeof(all) - at;
		assert_int_equal(send(fd, all + at, part, 0), part);
		rig_sleep_ms(2);
	}
	for (i = 0; i < N; i++)
		assert_int_equal(answer_id(fd), i);
	close(fd);
	rig_end(&r);
}

static void longest_message_is_taken(void **state)
{
	static uint8_t framed[2 + 65535] = { 0xff, 0xff };
	struct rig r = { 0 };
	size_t at = 0;
	ssize_t n;
	int fd;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_tcp(&r, "127.0.0.1");
	fake_message(8, FAKE_ECHO, 0, 1, framed + 2);
	while (at < sizeof(framed)) {
		n = send(fd, framed + at, sizeof(framed) - at, 0);
		assert_true(n > 0);
		at += (size_t)n;
	}
	assert_int_equal(answer_id(fd), 8);
	close(fd);
	rig_end(&r);
}

static void idle_connection_is_closed(void **state)
{
	uint64_t timeouts = rig_count("server_tcp_timeouts");
	struct worker_opts o = { .tcp_idle_ms = 300 };
	struct rig r = { 0 };
	int fd;

	rig_start(&r, "127.0.0.1", &o);
	fd = rig_tcp(&r, "127.0.0.1");
	ask(fd, 1, FAKE_ECHO, 0, 0);
	assert_int_equal(answer_id(fd), 1);
	assert_true(rig_tcp_is_closed(fd));
	assert_true(rig_wait_count("server_tcp_timeouts", timeouts + 1));
	close(fd);
	rig_end(&r);
}

static void connection_that_waits_for_its_answer_is_not_idle(void **state)
{
	struct worker_opts o = { .tcp_idle_ms = 200 };
	struct rig r = { 0 };
	int fd;

	rig_start(&r, "127.0.0.1", &o);
	fd = rig_tcp(&r, "127.0.0.1");
	ask(fd, 1, FAKE_DELAY, 900, 0);
	assert_int_equal(answer_id(fd), 1);
	close(fd);
	rig_end(&r);
}

/* Every octet restarts no clock: half a message is not kept alive by its crumbs. */
static void message_that_never_ends_is_closed(void **state)
{
	struct worker_opts o = { .tcp_idle_ms = 300 };
	struct rig r = { 0 };
	int fd, i;

	rig_start(&r, "127.0.0.1", &o);
	fd = rig_tcp(&r, "127.0.0.1");
	assert_int_equal(send(fd, "\xff\xff", 2, 0), 2);
	for (i = 0; i < 100 && send(fd, "x", 1, MSG_NOSIGNAL) == 1; i++)
		rig_sleep_ms(40);
	assert_in_range(i, 1, 99);
	assert_true(rig_tcp_is_closed(fd));
	close(fd);
	rig_end(&r);
}

static void client_that_reads_nothing_is_not_read_and_then_closed(void **state)
{
	uint64_t timeouts = rig_count("server_tcp_timeouts");
	struct worker_opts o = { .tcp_idle_ms = 400 };
	struct rig r = { 0 };
	int fd, i, small = 4096;

	rig_start(&r, "127.0.0.1", &o);
	fd = rig_tcp(&r, "127.0.0.1");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	for (i = 0; i < 400; i++)		/* 24 MB of answers, far more than the kernel buffers */
		ask(fd, (uint16_t)i, FAKE_ECHO, 0, 60000);
	assert_true(rig_wait_count("server_tcp_timeouts", timeouts + 1));
	assert_in_range(r.fake.made, 1, 399);
	close(fd);
	rig_end(&r);
}

/* Answers that all become ready at once for a client that reads none: the bound closes, before memory is gone. */
static void unread_answers_are_bounded(void **state)
{
	uint64_t timeouts = rig_count("server_tcp_timeouts");
	struct rig r = { 0 };
	int fd, i, small = 4096;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_tcp(&r, "127.0.0.1");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	for (i = 0; i < 100; i++)
		ask(fd, (uint16_t)i, FAKE_DELAY, 150, 65000);
	assert_true(rig_wait_count("server_tcp_timeouts", timeouts + 1));
	close(fd);
	rig_end(&r);
}

static void slow_reader_gets_all_in_the_end(void **state)
{
	struct worker_opts o = { .tcp_pipeline_max = 8 };
	struct rig r = { 0 };
	int fd, i, small = 32768;

	rig_start(&r, "127.0.0.1", &o);
	fd = rig_tcp(&r, "127.0.0.1");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	for (i = 0; i < 300; i++)
		ask(fd, (uint16_t)i, i % 2 ? FAKE_ECHO : FAKE_DELAY, 1, 30000);
	for (i = 0; i < 300; i++) {
		if (i % 30 == 0)
			rig_sleep_ms(30);	/* the server runs into a full socket, stops reading, and goes on */
		assert_in_range(answer_id(fd), 0, 299);
	}
	assert_int_equal(r.fake.made, 300);
	close(fd);
	rig_end(&r);
}

static void pipeline_is_bounded(void **state)
{
	struct worker_opts o = { .tcp_pipeline_max = 4 };
	struct rig r = { 0 };
	int fd, i;

	rig_start(&r, "127.0.0.1", &o);
	fd = rig_tcp(&r, "127.0.0.1");
	for (i = 0; i < 20; i++)
		ask(fd, (uint16_t)i, FAKE_DELAY, 20, 0);
	for (i = 0; i < 20; i++)
		assert_in_range(answer_id(fd), 0, 19);
	assert_int_equal(r.fake.under_way_max, 4);
	close(fd);
	rig_end(&r);
}

static void queries_of_a_client_that_reset_are_abandoned(void **state)
{
	struct linger at_once = { .l_onoff = 1 };
	struct rig r = { 0 };
	int fd, i;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_tcp(&r, "127.0.0.1");
	for (i = 0; i < 5; i++)
		ask(fd, (uint16_t)i, i % 2 ? FAKE_DELAY : FAKE_HOLD, 200, 0);
	assert_true(rig_wait(&r.fake.made, 5));
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
	assert_true(rig_wait(&r.fake.abandoned, 5));
	rig_sleep_ms(250);			/* the delayed ones come to their end meanwhile */
	rig_end(&r);
}

/* ---- clients that shut down their side ---- */

static void client_that_shuts_down_gets_all_its_answers_and_the_end(void **state)
{
	struct worker_opts o = { .tcp_idle_ms = 200 };
	struct rig r = { 0 };
	int fd;

	rig_start(&r, "127.0.0.1", &o);
	fd = rig_tcp(&r, "127.0.0.1");
	ask(fd, 1, FAKE_DELAY, 900, 60000);
	ask(fd, 2, FAKE_DELAY, 100, 10);
	ask(fd, 3, FAKE_ECHO, 0, 10);
	assert_int_equal(send(fd, "\0\100half of one", 13, 0), 13);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_int_equal(answer_id(fd), 3);
	assert_int_equal(answer_id(fd), 2);
	assert_int_equal(answer_id(fd), 1);
	assert_true(rig_tcp_is_closed(fd));
	assert_int_equal(r.fake.abandoned, 0);
	close(fd);
	rig_end(&r);
}

static void client_that_shuts_down_may_have_asked_more_than_a_pipeline(void **state)
{
	struct worker_opts o = { .tcp_pipeline_max = 4 };
	struct rig r = { 0 };
	int fd, i;

	rig_start(&r, "127.0.0.1", &o);
	fd = rig_tcp(&r, "127.0.0.1");
	for (i = 0; i < 20; i++)
		ask(fd, (uint16_t)i, FAKE_DELAY, i == 10 ? 500 : 20, 20000);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	for (i = 0; i < 20; i++)
		assert_in_range(answer_id(fd), 0, 19);
	assert_true(rig_tcp_is_closed(fd));
	close(fd);
	rig_end(&r);
}

static void client_that_shuts_down_owed_nothing_is_closed_at_once(void **state)
{
	struct rig r = { 0 };
	int fd;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_tcp(&r, "127.0.0.1");
	ask(fd, 1, FAKE_ECHO, 0, 0);
	assert_int_equal(answer_id(fd), 1);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_true(rig_tcp_is_closed(fd));	/* the 10 s of an idle client are more than we wait */
	close(fd);
	rig_end(&r);
}

/* ---- places ---- */

/* A connection that is idle: it has asked, and been answered. */
static int idle_from(const struct rig *r, const char *from)
{
	int fd = rig_tcp_from(r, "127.0.0.1", from);

	ask(fd, 1, FAKE_ECHO, 0, 0);
	assert_int_equal(answer_id(fd), 1);
	return fd;
}

static bool is_served(int fd)
{
	ask(fd, 9, FAKE_ECHO, 0, 0);
	return answer_id(fd) == 9;
}

static void new_connection_takes_the_place_of_the_longest_idle(void **state)
{
	uint64_t displaced = rig_count("server_tcp_displaced"), refused = rig_count("server_tcp_refused");
	struct worker_opts o = { .tcp_max = 3, .tcp_client_max = 3, .tcp_idle_ms = 60000 };
	struct rig r = { 0 };
	int fd[4], i;

	rig_start(&r, "127.0.0.1", &o);
	for (i = 0; i < 3; i++)
		fd[i] = idle_from(&r, "127.0.0.1");
	assert_true(is_served(fd[0]));		/* so the second is the longest idle */
	fd[3] = rig_tcp(&r, "127.0.0.1");
	assert_true(is_served(fd[3]));
	assert_true(rig_tcp_is_closed(fd[1]));
	assert_true(is_served(fd[0]));
	assert_true(is_served(fd[2]));
	assert_int_equal(rig_count("server_tcp_displaced") - displaced, 1);
	assert_int_equal(rig_count("server_tcp_refused") - refused, 0);
	for (i = 0; i < 4; i++)
		close(fd[i]);
	rig_end(&r);
}

static void new_connection_is_refused_when_all_are_busy(void **state)
{
	uint64_t refused = rig_count("server_tcp_refused");
	struct worker_opts o = { .tcp_max = 2, .tcp_client_max = 2 };
	struct rig r = { 0 };
	int fd[3], i;

	rig_start(&r, "127.0.0.1", &o);
	for (i = 0; i < 2; i++) {
		fd[i] = rig_tcp(&r, "127.0.0.1");
		ask(fd[i], 1, FAKE_DELAY, 700, 0);
	}
	assert_true(rig_wait(&r.fake.made, 2));
	fd[2] = rig_tcp(&r, "127.0.0.1");
	assert_true(rig_tcp_is_closed(fd[2]));
	assert_int_equal(r.fake.freed, 0);
	assert_int_equal(rig_count("server_tcp_refused") - refused, 1);
	for (i = 0; i < 2; i++)
		assert_int_equal(answer_id(fd[i]), 1);
	for (i = 0; i < 3; i++)
		close(fd[i]);
	rig_end(&r);
}

static void one_client_cannot_push_out_another(void **state)
{
	uint64_t displaced = rig_count("server_tcp_displaced");
	struct worker_opts o = { .tcp_max = 4, .tcp_client_max = 3, .tcp_idle_ms = 60000 };
	struct rig r = { 0 };
	int other, fd[10], i;

	rig_start(&r, "127.0.0.1", &o);
	other = idle_from(&r, "127.0.0.2");	/* the longest idle of all */
	for (i = 0; i < 10; i++)
		fd[i] = idle_from(&r, "127.0.0.3");
	assert_true(is_served(other));
	assert_int_equal(rig_count("server_tcp_displaced") - displaced, 7);
	for (i = 0; i < 7; i++)
		assert_true(rig_tcp_is_closed(fd[i]));
	for (i = 7; i < 10; i++)
		assert_true(is_served(fd[i]));
	close(other);
	for (i = 0; i < 10; i++)
		close(fd[i]);
	rig_end(&r);
}

/* What a thousand that do nothing cost the next one: nothing. */
static void thousand_idle_clients_shut_nobody_out(void **state)
{
	static const char *const from[] = { "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5" };
	uint64_t refused = rig_count("server_tcp_refused"), accepted = rig_count("server_tcp_accepted");
	struct rlimit files = { 4096, 4096 };
	static int fd[1000];
	struct rig r = { 0 };
	int last, i;

	setrlimit(RLIMIT_NOFILE, &files);
	rig_start(&r, "127.0.0.1", NULL);
	for (i = 0; i < 1000; i++)
		fd[i] = rig_tcp_from(&r, "127.0.0.1", from[i % 4]);
	assert_true(rig_wait_count("server_tcp_accepted", accepted + 1000));
	for (i = 0; i < 20; i++) {
		last = rig_tcp(&r, "127.0.0.1");
		assert_true(is_served(last));
		close(last);
	}
	assert_int_equal(rig_count("server_tcp_refused") - refused, 0);
	for (i = 0; i < 1000; i++)
		close(fd[i]);
	rig_end(&r);
}

static void idle_clients_go_sooner_when_places_are_few(void **state)
{
	struct worker_opts o = { .tcp_max = 2, .tcp_client_max = 2, .tcp_idle_ms = 4000 };
	struct rig r = { 0 };
	int fd[2];

	rig_start(&r, "127.0.0.1", &o);
	fd[0] = rig_tcp(&r, "127.0.0.1");
	fd[1] = rig_tcp(&r, "127.0.0.1");
	ask(fd[1], 1, FAKE_DELAY, 1500, 0);
	assert_true(rig_tcp_is_closed(fd[0]));
	assert_int_equal(r.fake.freed, 0);	/* long before the other one's answer, so long before its 4 s */
	assert_int_equal(answer_id(fd[1]), 1);
	close(fd[0]);
	close(fd[1]);
	rig_end(&r);
}

/* Frames that cannot be DNS messages: the connection is out of step. */
static void check_closed_by(const void *octets, size_t size)
{
	struct rig r = { 0 };
	int fd;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_tcp(&r, "127.0.0.1");
	assert_int_equal(send(fd, octets, size, 0), size);
	assert_true(rig_tcp_is_closed(fd));
	close(fd);
	rig_end(&r);
}

static void empty_frame_closes(void **state)
{
	check_closed_by("\0", 2);
}

static void frame_below_a_header_closes(void **state)
{
	check_closed_by("\0\13abcdefghijk", 13);
}

static void query_without_answer_leaves_the_connection_open(void **state)
{
	struct rig r = { 0 };
	int fd;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_tcp(&r, "127.0.0.1");
	ask(fd, 1, FAKE_NOTHING, 0, 0);
	ask(fd, 2, FAKE_ECHO, 0, 0);
	assert_int_equal(answer_id(fd), 2);
	close(fd);
	rig_end(&r);
}

/* Seconds of processor time of the whole process. */
static double cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void without_descriptors_accepting_waits_and_does_not_spin(void **state)
{
	struct rlimit old, low;
	struct rig r = { 0 };
	double cpu;
	int fd;

	rig_start(&r, "127.0.0.1", NULL);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	/* the client takes the last descriptor; the connection then waits in the listener's queue */
	low = old;
	low.rlim_cur = (rlim_t)dup(0) + 1;
	close((int)low.rlim_cur - 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	fd = rig_tcp(&r, "127.0.0.1");
	ask(fd, 1, FAKE_ECHO, 0, 0);
	cpu = cpu_s();
	rig_sleep_ms(400);
	cpu = cpu_s() - cpu;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(r.fake.made, 0);
	assert_true(cpu < 0.1);	/* a loop that spins uses all of 0.4 */
	assert_int_equal(answer_id(fd), 1);
	close(fd);
	rig_end(&r);
}

#define ROW(f) { #f, f, NULL, NULL, NULL }

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ROW(answers_over_ipv4),
		ROW(answers_over_ipv6),
		ROW(answers_on_a_wildcard),
		ROW(pipelined_queries_are_answered_as_they_are_ready),
		ROW(query_may_come_octet_by_octet),
		ROW(queries_may_be_cut_anywhere),
		ROW(longest_message_is_taken),
		ROW(idle_connection_is_closed),
		ROW(connection_that_waits_for_its_answer_is_not_idle),
		ROW(message_that_never_ends_is_closed),
		ROW(client_that_reads_nothing_is_not_read_and_then_closed),
		ROW(unread_answers_are_bounded),
		ROW(slow_reader_gets_all_in_the_end),
		ROW(pipeline_is_bounded),
		ROW(queries_of_a_client_that_reset_are_abandoned),
		ROW(client_that_shuts_down_gets_all_its_answers_and_the_end),
		ROW(client_that_shuts_down_may_have_asked_more_than_a_pipeline),
		ROW(client_that_shuts_down_owed_nothing_is_closed_at_once),
		ROW(new_connection_takes_the_place_of_the_longest_idle),
		ROW(new_connection_is_refused_when_all_are_busy),
		ROW(one_client_cannot_push_out_another),
		ROW(thousand_idle_clients_shut_nobody_out),
		ROW(idle_clients_go_sooner_when_places_are_few),
		ROW(empty_frame_closes),
		ROW(frame_below_a_header_closes),
		ROW(query_without_answer_leaves_the_connection_open),
		ROW(without_descriptors_accepting_waits_and_does_not_spin),
	};

	return cmocka_run_group_tests_name("server/tcp", tests, NULL, NULL);
}
