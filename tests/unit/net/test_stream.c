/* SPDX-License-Identifier: BSD-2-Clause */
/* test_stream.c - framed messages between two streams of one loop. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include "net/stream.h"

/* One end; counts what it is told. */
struct side {
	struct stream s;		/* first */
	unsigned connected, messages, drained, ended, closed;
	int connect_err, end_err;
	size_t octets;
	uint8_t last[STREAM_MESSAGE_MAX];
	size_t last_size;
	unsigned pause_after;		/* pause at this message; 0: never */
	bool close_after_first;
	bool echo;
};

struct rig {
	uv_loop_t loop;
	struct addr bound;
	int listener;
	struct side a, b;		/* a connects, b was accepted */
};

static void on_connected(struct stream *s, int err)
{
	struct side *d = (struct side *)s;

	d->connected++;
	d->connect_err = err;
}

static void on_message(struct stream *s, const uint8_t *msg, size_t size)
{
	struct side *d = (struct side *)s;

	d->messages++;
	d->octets += size;
	memcpy(d->last, msg, size);
	d->last_size = size;
	if (d->echo)
		assert_int_equal(stream_send(s, msg, size), 0);
	if (d->pause_after && d->messages % d->pause_after == 0)
		stream_pause(s);
	if (d->close_after_first)
		stream_close(s);
}

static void on_drained(struct stream *s)
{
	((struct side *)s)->drained++;
}

static void on_ended(struct stream *s, int err)
{
	struct side *d = (struct side *)s;

	d->ended++;
	d->end_err = err;
}

static void on_closed(struct stream *s)
{
	((struct side *)s)->closed++;
}

static void side_init(struct rig *r, struct side *d)
{
	d->s.connected = on_connected;
	d->s.message = on_message;
	d->s.drained = on_drained;
	d->s.ended = on_ended;
	d->s.closed = on_closed;
	assert_int_equal(stream_init(&d->s, &r->loop), 0);
}

/* Run the loop until @*value is @least, or five seconds are over. */
static void run_until(struct rig *r, const unsigned *value, unsigned least)
{
	unsigned i;

	for (i = 0; i < 5000 && *value < least; i++) {
		uv_run(&r->loop, UV_RUN_NOWAIT);
		usleep(1000);
	}
	assert_true(*value >= least);
}

static void run_for(struct rig *r, unsigned turns)
{
	while (turns--) {
		uv_run(&r->loop, UV_RUN_NOWAIT);
		usleep(1000);
	}
}

static struct rig *rig_new(void)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct addr any;

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(uv_loop_init(&r->loop), 0);
	assert_int_equal(addr_parse("127.0.0.1", 0, &any), 0);
	assert_int_equal(stream_listen(&any, &r->listener, &r->bound), 0);
	side_init(r, &r->a);
	return r;
}

static struct rig *rig_connected(void)
{
	struct rig *r = rig_new();
	int fd;

	assert_int_equal(stream_connect(&r->a.s, &r->bound), 0);
	run_until(r, &r->a.connected, 1);
	assert_int_equal(r->a.connect_err, 0);
	fd = accept(r->listener, NULL, NULL);
	assert_true(fd >= 0);
	side_init(r, &r->b);
	assert_int_equal(stream_open(&r->b.s, fd), 0);
	return r;
}

static void rig_free(struct rig *r)
{
	stream_close(&r->a.s);
	if (r->b.s.message)
		stream_close(&r->b.s);
	stream_close(&r->a.s);			/* twice is harmless */
	uv_run(&r->loop, UV_RUN_DEFAULT);
	assert_int_equal(r->a.closed, 1);
	assert_int_equal(uv_loop_close(&r->loop), 0);
	close(r->listener);
	free(r);
}

struct size_case {
	const char *name;
	size_t size;
};

static const struct size_case size_cases[] = {
	{ "empty_message_arrives", 0 },
	{ "one_octet_arrives", 1 },
	{ "message_of_255_octets_arrives", 255 },
	{ "message_of_256_octets_arrives", 256 },
	{ "message_of_the_read_size_arrives", 4094 },
	{ "message_above_the_read_size_arrives", 4097 },
	{ "longest_message_arrives", STREAM_MESSAGE_MAX },
};

static void message_comes_back(void **state)
{
	const struct size_case *c = *state;
	static uint8_t msg[STREAM_MESSAGE_MAX];
	struct rig *r = rig_connected();
	size_t i;

	for (i = 0; i < c->size; i++)
		msg[i] = (uint8_t)(i * 7 + i / 256);
	r->b.echo = true;
	assert_int_equal(stream_send(&r->a.s, msg, c->size), 0);
	run_until(r, &r->a.messages, 1);
	assert_int_equal(r->a.last_size, c->size);
	assert_memory_equal(r->a.last, msg, c->size);
	assert_int_equal(r->a.s.in_len, 0);
	assert_null(r->a.s.in);			/* an idle stream holds no buffer */
	rig_free(r);
}

static void messages_sent_before_the_connection_stands_wait(void **state)
{
	struct rig *r = rig_new();
	int fd;

	assert_int_equal(stream_connect(&r->a.s, &r->bound), 0);
	assert_int_equal(stream_send(&r->a.s, (const uint8_t *)"one", 3), 0);
	assert_int_equal(stream_send(&r->a.s, (const uint8_t *)"two", 3), 0);
	assert_int_equal(stream_backlog(&r->a.s), 10);
	run_until(r, &r->a.connected, 1);
	fd = accept(r->listener, NULL, NULL);
	side_init(r, &r->b);
	assert_int_equal(stream_open(&r->b.s, fd), 0);
	run_until(r, &r->b.messages, 2);
	assert_memory_equal(r->b.last, "two", 3);
	assert_int_equal(stream_backlog(&r->a.s), 0);
	rig_free(r);
}

static void nobody_listening_is_told(void **state)
{
	struct rig *r = rig_new();

	close(r->listener);
	assert_int_equal(stream_connect(&r->a.s, &r->bound), 0);
	run_until(r, &r->a.connected, 1);
	assert_int_equal(r->a.connect_err, -ECONNREFUSED);
	r->listener = dup(0);
	rig_free(r);
}

static void peer_that_closes_is_told_once(void **state)
{
	struct rig *r = rig_connected();

	stream_close(&r->a.s);
	run_until(r, &r->b.ended, 1);
	run_for(r, 5);
	assert_int_equal(r->b.ended, 1);
	assert_int_equal(r->b.end_err, 0);
	assert_int_equal(stream_send(&r->a.s, (const uint8_t *)"x", 1), -ENOTCONN);
	rig_free(r);
}

static void peer_that_shuts_down_is_told_and_can_still_be_sent_to(void **state)
{
	struct rig *r = rig_connected();
	uv_shutdown_t req;

	assert_int_equal(stream_send(&r->a.s, (const uint8_t *)"ask", 3), 0);
	assert_int_equal(uv_shutdown(&req, (uv_stream_t *)&r->a.s.tcp, NULL), 0);
	run_until(r, &r->b.ended, 1);
	assert_int_equal(r->b.end_err, 0);
	assert_int_equal(r->b.messages, 1);
	assert_int_equal(stream_send(&r->b.s, (const uint8_t *)"answer", 6), 0);
	run_until(r, &r->a.messages, 1);
	assert_memory_equal(r->a.last, "answer", 6);
	stream_pause(&r->b.s);
	stream_resume(&r->b.s);			/* reads no more, so it is not told again */
	run_for(r, 5);
	assert_int_equal(r->b.ended, 1);
	rig_free(r);
}

static void peer_that_shuts_down_and_breaks_is_told_both(void **state)
{
	static uint8_t msg[60000];
	struct rig *r = rig_connected();
	uv_shutdown_t req;
	unsigned i;

	assert_int_equal(uv_shutdown(&req, (uv_stream_t *)&r->a.s.tcp, NULL), 0);
	run_until(r, &r->b.ended, 1);
	stream_pause(&r->a.s);
	while (!r->b.s.sending_len)		/* more than the kernel takes */
		assert_int_equal(stream_send(&r->b.s, msg, sizeof(msg)), 0);
	stream_close(&r->a.s);			/* with octets unread, so the kernel resets */
	for (i = 0; i < 5000 && r->b.ended < 2; i++)
		run_for(r, 1);
	assert_int_equal(r->b.ended, 2);
	assert_true(r->b.end_err < 0);
	rig_free(r);
}

static void too_long_a_message_is_refused(void **state)
{
	static uint8_t msg[STREAM_MESSAGE_MAX + 1];
	struct rig *r = rig_connected();

	assert_int_equal(stream_send(&r->a.s, msg, sizeof(msg)), -EMSGSIZE);
	rig_free(r);
}

/* The far end does not read: what the kernel does not take waits, up to the bound. */
static void output_is_bounded(void **state)
{
	static uint8_t msg[60000];
	struct rig *r = rig_connected();
	unsigned sent = 0;
	int err = 0;

	stream_pause(&r->b.s);
	while (!err && sent < 2000) {
		err = stream_send(&r->a.s, msg, sizeof(msg));
		sent += !err;
	}
	assert_int_equal(err, -ENOBUFS);
	assert_in_range(stream_backlog(&r->a.s), STREAM_OUT_MAX - sizeof(msg), STREAM_OUT_MAX);
	stream_resume(&r->b.s);
	run_until(r, &r->b.messages, sent);
	assert_int_equal(r->b.octets, sent * sizeof(msg));
	run_until(r, &r->a.drained, 1);
	assert_int_equal(stream_backlog(&r->a.s), 0);
	rig_free(r);
}

static void paused_stream_delivers_nothing_and_loses_nothing(void **state)
{
	struct rig *r = rig_connected();
	uint8_t i;

	r->b.pause_after = 3;
	for (i = 1; i <= 10; i++)
		assert_int_equal(stream_send(&r->a.s, &i, 1), 0);
	run_until(r, &r->b.messages, 3);
	run_for(r, 10);
	assert_int_equal(r->b.messages, 3);
	stream_resume(&r->b.s);
	assert_int_equal(r->b.messages, 6);
	stream_resume(&r->b.s);
	stream_resume(&r->b.s);
	run_until(r, &r->b.messages, 10);
	assert_int_equal(r->b.last[0], 10);
	rig_free(r);
}

static void closing_within_a_message_ends_delivery(void **state)
{
	struct rig *r = rig_connected();
	uint8_t i;

	r->b.close_after_first = true;
	for (i = 1; i <= 5; i++)
		assert_int_equal(stream_send(&r->a.s, &i, 1), 0);
	run_until(r, &r->b.closed, 1);
	assert_int_equal(r->b.messages, 1);
	rig_free(r);
}

#define SIZES (sizeof(size_cases) / sizeof(size_cases[0]))
#define ROW(f) { #f, f, NULL, NULL, NULL }

int main(void)
{
	static const struct CMUnitTest fixed[] = {
		ROW(messages_sent_before_the_connection_stands_wait),
		ROW(nobody_listening_is_told),
		ROW(peer_that_closes_is_told_once),
		ROW(peer_that_shuts_down_is_told_and_can_still_be_sent_to),
		ROW(peer_that_shuts_down_and_breaks_is_told_both),
		ROW(too_long_a_message_is_refused),
		ROW(output_is_bounded),
		ROW(paused_stream_delivers_nothing_and_loses_nothing),
		ROW(closing_within_a_message_ends_delivery),
	};
	struct CMUnitTest tests[SIZES + sizeof(fixed) / sizeof(fixed[0])];
	size_t i;

	for (i = 0; i < SIZES; i++)
		tests[i] = (struct CMUnitTest){ size_cases[i].name, message_comes_back, NULL, NULL,
						(void *)&size_cases[i] };
	memcpy(tests + SIZES, fixed, sizeof(fixed));
	return cmocka_run_group_tests_name("net/stream", tests, NULL, NULL);
}
