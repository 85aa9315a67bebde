/* SPDX-License-Identifier: BSD-2-Clause */
/* test_udp.c - queries over UDP through a worker, on real sockets of the loopback. */
#include <errno.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "unit/server/rig.h"

static void ask(int fd, uint16_t id, enum fake_what what, uint16_t delay_ms, uint16_t size)
{
	uint8_t msg[FAKE_QUERY];

	fake_message(id, what, delay_ms, size, msg);
	assert_int_equal(send(fd, msg, sizeof(msg), 0), sizeof(msg));
}

/* The ID of the next answer, -1 when none comes. */
static int answer_id(int fd)
{
	uint8_t buf[2048];
	ssize_t n = recv(fd, buf, sizeof(buf), 0);

	return n < FAKE_ANSWER || !(buf[2] & 0x80) ? -1 : buf[0] << 8 | buf[1];
}

static void answers_over_ipv4(void **state)
{
	struct rig r = { 0 };
	int fd;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_udp(&r, "127.0.0.1");
	ask(fd, 0x1234, FAKE_ECHO, 0, 0);
	assert_int_equal(answer_id(fd), 0x1234);
	close(fd);
	rig_end(&r);
}

static void answers_over_ipv6(void **state)
{
	struct rig r = { 0 };
	int fd;

	rig_start(&r, "127.0.0.1,::1", NULL);
	fd = rig_udp(&r, "::1");
	ask(fd, 77, FAKE_ECHO, 0, 100);
	assert_int_equal(answer_id(fd), 77);
	close(fd);
	rig_end(&r);
}

/* Ask a wildcard listener at @ip from an unconnected socket: the answer must come from there, and say so inside. */
static void check_source(const char *listen, const char *ip)
{
	uint8_t msg[FAKE_QUERY], buf[512];
	struct sockaddr_storage ss, from;
	struct addr to, source, inside;
	struct rig r = { 0 };
	socklen_t len;
	int fd;

	rig_start(&r, listen, NULL);
	fd = rig_udp(&r, ip);
	ss.ss_family = AF_UNSPEC;
	assert_int_equal(connect(fd, (struct sockaddr *)&ss, sizeof(ss)), 0);
	assert_int_equal(addr_parse(ip, r.port, &to), 0);
	len = addr_to_sockaddr(&to, &ss);
	fake_message(9, FAKE_ECHO, 0, 0, msg);
	assert_int_equal(sendto(fd, msg, sizeof(msg), 0, (struct sockaddr *)&ss, len), sizeof(msg));
	len = sizeof(from);
	assert_int_equal(recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&from, &len), FAKE_ANSWER);
	addr_from_sockaddr((struct sockaddr *)&from, &source);
	assert_true(addr_same(&source, &to));
	inside = to;
	memcpy(inside.ip, buf + 12, 16);
	inside.port = (uint16_t)(buf[28] << 8 | buf[29]);
	assert_true(addr_same(&inside, &to));
	close(fd);
	rig_end(&r);
}

static void wildcard_answers_from_the_address_asked(void **state)
{
	check_source("0.0.0.0,::", "127.0.0.2");
}

static void wildcard_answers_from_another_address_asked(void **state)
{
	check_source("0.0.0.0", "127.44.0.3");
}

static void ipv6_wildcard_answers_from_the_address_asked(void **state)
{
	check_source("0.0.0.0,::", "::1");
}

static void plain_listener_answers_from_its_address(void **state)
{
	check_source("127.0.0.2", "127.0.0.2");
}

static void burst_is_answered_whole(void **state)
{
	uint64_t answers = rig_count("server_udp_answers");
	struct rig r = { 0 };
	bool seen[1000] = { 0 };
	int fd, i, id;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_udp(&r, "127.0.0.1");
	for (i = 0; i < 1000; i++) {
		ask(fd, (uint16_t)i, FAKE_ECHO, 0, 0);
		if (i % 100 < 99)
			continue;
		for (int k = 0; k < 100; k++) {
			id = answer_id(fd);
			assert_in_range(id, 0, 999);
			assert_false(seen[id]);
			seen[id] = true;
		}
	}
	assert_true(rig_wait_count("server_udp_answers", answers + 1000));
	close(fd);
	rig_end(&r);
}

/* A job that keeps the worker from reading. */
struct halt {
	struct worker_job job;
	sem_t reached, go;
};

static void stand_still(struct worker_job *job)
{
	struct halt *h = (struct halt *)job;

	sem_post(&h->reached);
	sem_wait(&h->go);
}

/* Ask @count queries while the worker stands still, so that it takes them in batches; @what: echo when NULL. */
static void queue_up(struct rig *r, int fd, unsigned count, enum fake_what (*what)(unsigned i))
{
	static struct halt h;		/* the worker looks at it a moment longer than we */

	h.job.run = stand_still;
	sem_init(&h.reached, 0, 0);
	sem_init(&h.go, 0, 0);
	assert_true(worker_post(r->w, &h.job));
	sem_wait(&h.reached);
	for (unsigned i = 0; i < count; i++)
		ask(fd, (uint16_t)i, what ? what(i) : FAKE_ECHO, 0, 0);
	sem_post(&h.go);
}

static void a_batch_is_answered_in_its_order(void **state)
{
	struct rig r = { 0 };
	int fd, i;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_udp(&r, "127.0.0.1");
	queue_up(&r, fd, 200, NULL);
	for (i = 0; i < 200; i++)
		assert_int_equal(answer_id(fd), i);
	assert_int_equal(r.fake.asked_ahead, 200);
	close(fd);
	rig_end(&r);
}

static enum fake_what nothing_but_the_last(unsigned i)
{
	return i < 99 ? FAKE_NOTHING : FAKE_ECHO;
}

/* Queries that end without an answer give their slots back within their batch. */
static void a_dropped_query_makes_room_for_the_one_behind_it(void **state)
{
	struct worker_opts o = { .udp_waiting_max = 4 };
	uint64_t full = rig_count("server_udp_full");
	struct rig r = { 0 };
	int fd;

	rig_start(&r, "127.0.0.1", &o);
	fd = rig_udp(&r, "127.0.0.1");
	queue_up(&r, fd, 100, nothing_but_the_last);
	assert_int_equal(answer_id(fd), 99);
	assert_int_equal(rig_count("server_udp_full"), full);
	close(fd);
	rig_end(&r);
}

static void later_answers_are_sent_too(void **state)
{
	struct rig r = { 0 };
	int fd, i;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_udp(&r, "127.0.0.1");
	for (i = 0; i < 150; i++)
		ask(fd, (uint16_t)i, FAKE_DELAY, 30, 0);
	for (i = 0; i < 150; i++)
		assert_in_range(answer_id(fd), 0, 149);
	close(fd);
	rig_end(&r);
}

static void quick_ones_do_not_wait_for_slow_ones(void **state)
{
	struct rig r = { 0 };
	int fd;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_udp(&r, "127.0.0.1");
	ask(fd, 1, FAKE_DELAY, 200, 0);
	ask(fd, 2, FAKE_ECHO, 0, 0);
	assert_int_equal(answer_id(fd), 2);
	assert_int_equal(answer_id(fd), 1);
	close(fd);
	rig_end(&r);
}

/* Send octets that deserve no answer, then a query that does: only that one is answered. */
static void check_dropped(const void *msg, size_t size)
{
	uint64_t dropped = rig_count("server_udp_dropped");
	struct rig r = { 0 };
	int fd;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_udp(&r, "127.0.0.1");
	assert_int_equal(send(fd, msg, size, 0), size);
	ask(fd, 5, FAKE_ECHO, 0, 0);
	assert_int_equal(answer_id(fd), 5);
	assert_true(rig_wait_count("server_udp_dropped", dropped + 1));
	assert_int_equal(rig_count("server_udp_dropped") - dropped, 1);
	close(fd);
	rig_end(&r);
}

static void response_is_dropped(void **state)
{
	uint8_t msg[FAKE_QUERY];

	fake_message(4, FAKE_ECHO, 0, 0, msg);
	msg[2] |= 0x80;
	check_dropped(msg, sizeof(msg));
}

static void short_datagram_is_dropped(void **state)
{
	check_dropped("hello world", 11);
}

static void empty_datagram_is_dropped(void **state)
{
	check_dropped("", 0);
}

static void oversized_datagram_is_dropped(void **state)
{
	uint8_t msg[5000] = { 0 };

	fake_message(4, FAKE_ECHO, 0, 0, msg);
	check_dropped(msg, sizeof(msg));
}

static void query_without_answer_is_let_go(void **state)
{
	uint8_t msg[FAKE_QUERY];

	fake_message(4, FAKE_NOTHING, 0, 0, msg);
	check_dropped(msg, sizeof(msg));
}

/* Port 0 as a source takes a raw socket, whose UDP header is ours. */
static void source_port_0_is_dropped(void **state)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
	uint64_t dropped = rig_count("server_udp_dropped");
	uint8_t packet[8 + FAKE_QUERY] = { 0 };
	struct rig r = { 0 };
	int raw;

	raw = socket(AF_INET, SOCK_RAW, IPPROTO_UDP);
	if (raw < 0 && errno == EPERM) {
		skip();
		return;
	}
	assert_true(raw >= 0);
	rig_start(&r, "127.0.0.1", NULL);
	packet[2] = (uint8_t)(r.port >> 8);
	packet[3] = (uint8_t)r.port;
	packet[5] = sizeof(packet);		/* checksum 0: none (RFC 768) */
	fake_message(4, FAKE_ECHO, 0, 0, packet + 8);
	assert_int_equal(sendto(raw, packet, sizeof(packet), 0, (struct sockaddr *)&to, sizeof(to)), sizeof(packet));
	assert_true(rig_wait_count("server_udp_dropped", dropped + 1));
	assert_int_equal(r.fake.made, 0);
	close(raw);
	rig_end(&r);
}

static void queries_over_the_bound_are_dropped_and_counted(void **state)
{
	struct worker_opts o = { .udp_waiting_max = 4 };
	uint64_t full = rig_count("server_udp_full");
	struct rig r = { 0 };
	int fd, i;

	rig_start(&r, "127.0.0.1", &o);
	fd = rig_udp(&r, "127.0.0.1");
	for (i = 0; i < 10; i++)
		ask(fd, (uint16_t)i, FAKE_DELAY, 150, 0);
	assert_true(rig_wait_count("server_udp_full", full + 6));
	assert_int_equal(r.fake.made, 4);
	for (i = 0; i < 4; i++)
		assert_in_range(answer_id(fd), 0, 9);
	ask(fd, 99, FAKE_ECHO, 0, 0);
	assert_int_equal(answer_id(fd), 99);
	close(fd);
	rig_end(&r);
}

/* No datagram can be that long: the socket refuses it, and only it. */
static void answer_that_the_socket_refuses_is_counted(void **state)
{
	uint64_t unsent = rig_count("server_udp_unsent");
	struct rig r = { 0 };
	int fd;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_udp(&r, "127.0.0.1");
	ask(fd, 1, FAKE_ECHO, 0, 65500);
	ask(fd, 2, FAKE_ECHO, 0, 0);
	assert_int_equal(answer_id(fd), 2);
	assert_true(rig_wait_count("server_udp_unsent", unsent + 1));
	close(fd);
	rig_end(&r);
}

static void queries_under_way_are_abandoned_at_the_end(void **state)
{
	struct rig r = { 0 };
	int fd, i;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_udp(&r, "127.0.0.1");
	for (i = 0; i < 7; i++)
		ask(fd, (uint16_t)i, FAKE_HOLD, 0, 0);
	assert_true(rig_wait(&r.fake.made, 7));
	rig_end(&r);
	assert_int_equal(r.fake.abandoned, 7);
	close(fd);
}

static void udp_goes_on_beside_a_busy_tcp_client(void **state)
{
	uint8_t msg[FAKE_QUERY], buf[64];
	struct rig r = { 0 };
	int fd, tcp, i;

	rig_start(&r, "127.0.0.1", NULL);
	fd = rig_udp(&r, "127.0.0.1");
	tcp = rig_tcp(&r, "127.0.0.1");
	for (i = 0; i < 200; i++) {
		fake_message((uint16_t)i, FAKE_ECHO, 0, 0, msg);
		rig_tcp_send(tcp, msg, sizeof(msg));
		ask(fd, (uint16_t)i, FAKE_ECHO, 0, 0);
		assert_int_equal(answer_id(fd), i);
	}
	for (i = 0; i < 200; i++)
		assert_int_equal(rig_tcp_read(tcp, buf, sizeof(buf)), FAKE_ANSWER);
	close(fd);
	close(tcp);
	rig_end(&r);
}

#define ROW(f) { #f, f, NULL, NULL, NULL }

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ROW(answers_over_ipv4),
		ROW(answers_over_ipv6),
		ROW(wildcard_answers_from_the_address_asked),
		ROW(wildcard_answers_from_another_address_asked),
		ROW(ipv6_wildcard_answers_from_the_address_asked),
		ROW(plain_listener_answers_from_its_address),
		ROW(burst_is_answered_whole),
		ROW(a_batch_is_answered_in_its_order),
		ROW(a_dropped_query_makes_room_for_the_one_behind_it),
		ROW(later_answers_are_sent_too),
		ROW(quick_ones_do_not_wait_for_slow_ones),
		ROW(response_is_dropped),
		ROW(short_datagram_is_dropped),
		ROW(empty_datagram_is_dropped),
		ROW(oversized_datagram_is_dropped),
		ROW(query_without_answer_is_let_go),
		ROW(source_port_0_is_dropped),
		ROW(queries_over_the_bound_are_dropped_and_counted),
		ROW(answer_that_the_socket_refuses_is_counted),
		ROW(queries_under_way_are_abandoned_at_the_end),
		ROW(udp_goes_on_beside_a_busy_tcp_client),
	};

	return cmocka_run_group_tests_name("server/udp", tests, NULL, NULL);
}
