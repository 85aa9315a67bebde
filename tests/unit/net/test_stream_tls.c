/* SPDX-License-Identifier: BSD-2-Clause */
/* test_stream_tls.c - a stream over TLS against the library's server side on a real connection. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include "net/stream.h"
#include "tests/unit/net/certs.h"

#define DAY    86400L
#define PEACE  20			/* turns in which nothing more is expected */
#define PATIENCE_NS 8000000000ULL

static struct certs authority, good, expired;
static struct tls_context *context;
static SSL_CTX *servers, *expired_servers;

/* Our side and the server's; what the server reads goes to got. */
struct rig {
	struct stream s;		/* first */
	uv_loop_t loop;
	struct addr bound;
	int listener, fd;
	SSL *ssl;
	BIO *in, *out;
	bool deaf;			/* the server does not answer */
	size_t piece;			/* what it sends at once; 0: all */
	uint8_t got[140000];
	unsigned got_len;
	unsigned heard;			/* the first SSL_get_error() of the server that ends a connection */
	unsigned connected, messages, ended, closed;
	int connect_err, end_err;
	uint8_t last[STREAM_MESSAGE_MAX];
	size_t last_size;
	char octets[64];
	bool pausing, closing;
};

static void on_connected(struct stream *s, int err)
{
	struct rig *r = (struct rig *)s;

	r->connected++;
	r->connect_err = err;
}

static void on_message(struct stream *s, const uint8_t *msg, size_t size)
{
	struct rig *r = (struct rig *)s;

	r->messages++;
	r->last_size = size;
	memcpy(r->last, msg, size);
	if (s->octets && strlen(r->octets) + size < sizeof(r->octets))
		strncat(r->octets, (const char *)msg, size);
	if (r->pausing)
		stream_pause(s);
	if (r->closing)
		stream_close(s);
}

static void on_ended(struct stream *s, int err)
{
	struct rig *r = (struct rig *)s;

	r->ended++;
	r->end_err = err;
}

static void on_closed(struct stream *s)
{
	((struct rig *)s)->closed++;
}

static struct rig *start(SSL_CTX *ctx, bool octets)
{
	const struct tls_peer peer = { .name = "dns.example", .alpn = "dot" };
	struct rig *r = calloc(1, sizeof(*r));
	struct addr any;

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(uv_loop_init(&r->loop), 0);
	assert_int_equal(addr_parse("127.0.0.1", 0, &any), 0);
	assert_int_equal(stream_listen(&any, &r->listener, &r->bound), 0);
	fcntl(r->listener, F_SETFL, O_NONBLOCK);
	r->fd = -1;
	r->ssl = SSL_new(ctx);
	r->in = BIO_new(BIO_s_mem());
	r->out = BIO_new(BIO_s_mem());
	BIO_set_mem_eof_return(r->in, -1);
	SSL_set_bio(r->ssl, r->in, r->out);
	SSL_set_accept_state(r->ssl);
	r->s = (struct stream){ .connected = on_connected, .message = on_message, .ended = on_ended,
				.closed = on_closed, .octets = octets };
	assert_int_equal(tls_new(context, &peer, &r->s.tls), 0);
	assert_int_equal(stream_init(&r->s, &r->loop), 0);
	assert_int_equal(stream_connect(&r->s, &r->bound), 0);
	return r;
}

static void finish(struct rig *r)
{
	stream_close(&r->s);
	stream_close(&r->s);
	uv_run(&r->loop, UV_RUN_DEFAULT);
	assert_int_equal(r->closed, 1);
	assert_int_equal(uv_loop_close(&r->loop), 0);
	SSL_free(r->ssl);
	if (r->fd >= 0)
		close(r->fd);
	close(r->listener);
	free(r);
}

static void hang_up(struct rig *r)
{
	close(r->fd);
	r->fd = -1;
	r->deaf = true;
}

/* The server's turn: take what came, answer with one piece. */
static void serve(struct rig *r)
{
	uint8_t buf[16384];
	size_t size;
	ssize_t n;

	if (r->fd < 0 && !r->deaf)
		r->fd = accept4(r->listener, NULL, NULL, SOCK_NONBLOCK);
	if (r->fd < 0 || r->deaf)
		return;
	n = recv(r->fd, buf, sizeof(buf), 0);
	if (n > 0)
		BIO_write(r->in, buf, (int)n);
	ERR_clear_error();
	while (SSL_read_ex(r->ssl, r->got + r->got_len, sizeof(r->got) - r->got_len, &size))
		r->got_len += (unsigned)size;
	if (!r->heard && SSL_get_error(r->ssl, 0) != SSL_ERROR_WANT_READ)
		r->heard = (unsigned)SSL_get_error(r->ssl, 0);
	size = r->piece ? r->piece : sizeof(buf);
	n = BIO_read(r->out, buf, (int)size);
	if (n > 0 && send(r->fd, buf, (size_t)n, MSG_NOSIGNAL) != n)
		r->deaf = true;
}

static void turn(struct rig *r)
{
	uv_run(&r->loop, UV_RUN_NOWAIT);
	serve(r);
	if (!r->piece)
		usleep(500);
}

static void run_until(struct rig *r, const unsigned *value, unsigned least)
{
	uint64_t until = uv_hrtime() + PATIENCE_NS;

	while (*value < least && uv_hrtime() < until)
		turn(r);
	assert_true(*value >= least);
}

static void run_turns(struct rig *r, unsigned n)
{
	while (n--)
		turn(r);
}

static void connect_well(struct rig *r)
{
	run_until(r, &r->connected, 1);
	assert_int_equal(r->connect_err, 0);
}

/* ---- handshakes ---- */

static void messages_wait_for_the_handshake(void **state)
{
	struct rig *r = start(servers, false);

	r->deaf = true;
	assert_int_equal(stream_send(&r->s, (const uint8_t *)"one", 3), 0);
	assert_int_equal(stream_send(&r->s, (const uint8_t *)"two", 3), 0);
	run_turns(r, PEACE);
	assert_int_equal(r->connected, 0);
	r->deaf = false;
	connect_well(r);
	run_until(r, &r->got_len, 10);
	run_turns(r, PEACE);
	assert_int_equal(r->connected, 1);
	assert_int_equal(r->got_len, 10);
	assert_memory_equal(r->got, "\0\3one\0\3two", 10);
	assert_int_equal(stream_backlog(&r->s), 0);
	finish(r);
}

static void a_handshake_may_come_one_octet_at_a_time(void **state)
{
	struct rig *r = start(servers, false);

	r->piece = 1;
	connect_well(r);
	assert_int_equal(stream_send(&r->s, (const uint8_t *)"ask", 3), 0);
	run_until(r, &r->got_len, 5);
	assert_memory_equal(r->got, "\0\3ask", 5);
	SSL_write(r->ssl, "\0\6answer\0\0", 10);
	run_until(r, &r->messages, 2);
	assert_int_equal(r->last_size, 0);
	assert_memory_equal(r->last, "answer", 6);
	assert_int_equal(r->ended, 0);
	finish(r);
}

static void a_certificate_that_is_refused_is_told_once_and_why(void **state)
{
	struct rig *r = start(expired_servers, false);

	run_until(r, &r->heard, 1);
	run_turns(r, PEACE);
	assert_int_equal(r->connected, 1);
	assert_int_equal(r->ended, 0);
	assert_int_equal(r->connect_err, -EACCES);
	assert_string_equal(tls_why(r->s.tls), "certificate has expired");
	assert_int_equal(r->heard, SSL_ERROR_SSL);	/* by an alert of ours */
	finish(r);
}

static void accept_deaf(struct rig *r)
{
	r->deaf = true;
	while (r->fd < 0) {
		turn(r);
		r->fd = accept(r->listener, NULL, NULL);
	}
}

static void a_server_that_closes_in_the_handshake_is_told_once(void **state)
{
	struct rig *r = start(servers, false);

	accept_deaf(r);
	hang_up(r);
	run_until(r, &r->connected, 1);
	run_turns(r, PEACE);
	assert_int_equal(r->connected, 1);
	assert_int_equal(r->connect_err, -ECONNRESET);
	assert_int_equal(r->ended, 0);
	finish(r);
}

static void a_server_that_speaks_no_tls_is_told(void **state)
{
	struct rig *r = start(servers, false);

	accept_deaf(r);
	assert_int_equal(send(r->fd, "\0\14not TLS here", 14, 0), 14);
	run_until(r, &r->connected, 1);
	assert_int_equal(r->connect_err, -EPROTO);
	assert_true(*tls_why(r->s.tls));
	finish(r);
}

static void closing_within_the_handshake_is_the_end(void **state)
{
	struct rig *r = start(servers, false);

	r->piece = 50;
	run_turns(r, 6);
	assert_int_equal(r->connected, 0);
	stream_close(&r->s);
	run_until(r, &r->closed, 1);
	assert_int_equal(r->connected, 0);
	finish(r);
}

/* ---- messages ---- */

static const struct size_case {
	const char *name;
	size_t size;
	size_t piece;
} sizes[] = {
	{ "empty_message_arrives", 0, 0 },
	{ "message_of_a_record_arrives", 16384, 0 },
	{ "message_above_a_record_arrives", 16385, 1000 },
	{ "longest_message_arrives", STREAM_MESSAGE_MAX, 0 },
	{ "longest_message_arrives_in_pieces", STREAM_MESSAGE_MAX, 77 },
};

static void message_comes_back(void **state)
{
	const struct size_case *c = *state;
	static uint8_t msg[STREAM_MESSAGE_MAX];
	struct rig *r = start(servers, false);
	size_t done;

	for (size_t i = 0; i < c->size; i++)
		msg[i] = (uint8_t)(i * 7 + i / 256);
	connect_well(r);
	assert_int_equal(stream_send(&r->s, msg, c->size), 0);
	run_until(r, &r->got_len, (unsigned)c->size + 2);
	assert_int_equal(r->got_len, c->size + 2);
	assert_int_equal(r->got[0] << 8 | r->got[1], c->size);
	assert_memory_equal(r->got + 2, msg, c->size);
	r->piece = c->piece;
	assert_true(SSL_write_ex(r->ssl, r->got, r->got_len, &done));
	run_until(r, &r->messages, 1);
	assert_int_equal(r->last_size, c->size);
	assert_memory_equal(r->last, msg, c->size);
	assert_null(r->s.in);			/* an idle stream holds no buffer */
	finish(r);
}

static void tickets_alone_leave_no_buffer(void **state)
{
	struct rig *r = start(servers, false);

	connect_well(r);
	run_turns(r, PEACE);
	assert_int_equal(r->messages, 0);
	assert_null(r->s.in);
	finish(r);
}

static void output_is_bounded(void **state)
{
	static uint8_t msg[60000];
	struct rig *r = start(servers, false);
	unsigned sent = 0;
	int err = 0;

	connect_well(r);
	r->deaf = true;
	while (!err && sent < 2000) {
		err = stream_send(&r->s, msg, sizeof(msg));
		sent += !err;
	}
	assert_int_equal(err, -ENOBUFS);
	assert_in_range(stream_backlog(&r->s), STREAM_OUT_MAX - sizeof(msg), STREAM_OUT_MAX + STREAM_OUT_MAX / 100);
	r->deaf = false;
	for (unsigned i = 0; i < 10000 && stream_backlog(&r->s); i++) {
		turn(r);
		r->got_len = 0;
	}
	assert_int_equal(stream_backlog(&r->s), 0);
	assert_int_equal(r->ended, 0);
	finish(r);
}

static void octets_come_as_they_are(void **state)
{
	struct rig *r = start(servers, true);

	assert_int_equal(stream_send(&r->s, (const uint8_t *)"PRI * ", 6), 0);
	assert_int_equal(stream_send(&r->s, (const uint8_t *)"HTTP", 4), 0);
	connect_well(r);
	run_until(r, &r->got_len, 10);
	assert_int_equal(r->got_len, 10);
	assert_memory_equal(r->got, "PRI * HTTP", 10);
	SSL_write(r->ssl, "\1octets ", 8);
	run_until(r, &r->messages, 1);
	SSL_write(r->ssl, "and more", 8);
	run_until(r, &r->messages, 2);
	assert_string_equal(r->octets, "\1octets and more");
	finish(r);
}

/* ---- ends ---- */

static void a_server_that_says_good_bye_has_ended_well(void **state)
{
	struct rig *r = start(servers, false);

	connect_well(r);
	SSL_write(r->ssl, "\0\4last", 6);
	SSL_shutdown(r->ssl);
	run_until(r, &r->ended, 1);
	run_turns(r, PEACE);
	assert_int_equal(r->messages, 1);
	assert_int_equal(r->ended, 1);
	assert_int_equal(r->end_err, 0);
	finish(r);
}

static void good_bye_waits_behind_messages_of_a_paused_stream(void **state)
{
	struct rig *r = start(servers, false);

	connect_well(r);
	r->pausing = true;
	SSL_write(r->ssl, "\0\1a\0\1b\0\1c", 9);
	SSL_shutdown(r->ssl);
	run_until(r, &r->messages, 1);
	run_turns(r, PEACE);
	assert_int_equal(r->messages, 1);
	assert_int_equal(r->ended, 0);
	stream_resume(&r->s);
	assert_int_equal(r->messages, 2);
	stream_resume(&r->s);
	assert_int_equal(r->messages, 3);
	assert_int_equal(r->last[0], 'c');
	stream_resume(&r->s);
	assert_int_equal(r->ended, 1);
	finish(r);
}

static void a_connection_that_is_cut_has_ended(void **state)
{
	struct rig *r = start(servers, false);

	connect_well(r);
	run_turns(r, PEACE);
	hang_up(r);
	run_until(r, &r->ended, 1);
	run_turns(r, PEACE);
	assert_int_equal(r->ended, 1);
	assert_int_equal(r->connected, 1);
	finish(r);
}

static void octets_that_are_not_tls_end_it(void **state)
{
	struct rig *r = start(servers, false);

	connect_well(r);
	run_turns(r, PEACE);
	assert_int_equal(send(r->fd, "\27\3\3\0\40" "this is no record of this session", 39, 0), 39);
	run_until(r, &r->ended, 1);
	assert_int_equal(r->end_err, -EPROTO);
	assert_true(*tls_why(r->s.tls));
	finish(r);
}

static void closing_says_good_bye(void **state)
{
	struct rig *r = start(servers, false);

	connect_well(r);
	SSL_write(r->ssl, "\0\1a", 3);
	run_until(r, &r->messages, 1);	/* nothing is left unread, which would be a reset */
	stream_close(&r->s);
	run_until(r, &r->heard, 1);
	assert_int_equal(r->heard, SSL_ERROR_ZERO_RETURN);
	finish(r);
}

static void closing_within_a_message_ends_delivery(void **state)
{
	struct rig *r = start(servers, false);

	connect_well(r);
	r->closing = true;
	SSL_write(r->ssl, "\0\1a\0\1b", 6);
	run_until(r, &r->closed, 1);
	assert_int_equal(r->messages, 1);
	finish(r);
}

static SSL_CTX *server(const struct certs *c)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

	SSL_CTX_use_certificate(ctx, c->cert);
	SSL_CTX_use_PrivateKey(ctx, c->key);
	return ctx;
}

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))
#define ROW(f) { #f, f, NULL, NULL, NULL }

int main(void)
{
	static const struct CMUnitTest fixed[] = {
		ROW(messages_wait_for_the_handshake),
		ROW(a_handshake_may_come_one_octet_at_a_time),
		ROW(a_certificate_that_is_refused_is_told_once_and_why),
		ROW(a_server_that_closes_in_the_handshake_is_told_once),
		ROW(a_server_that_speaks_no_tls_is_told),
		ROW(closing_within_the_handshake_is_the_end),
		ROW(tickets_alone_leave_no_buffer),
		ROW(output_is_bounded),
		ROW(octets_come_as_they_are),
		ROW(a_server_that_says_good_bye_has_ended_well),
		ROW(good_bye_waits_behind_messages_of_a_paused_stream),
		ROW(a_connection_that_is_cut_has_ended),
		ROW(octets_that_are_not_tls_end_it),
		ROW(closing_says_good_bye),
		ROW(closing_within_a_message_ends_delivery),
	};
	struct CMUnitTest tests[SIZES + sizeof(fixed) / sizeof(fixed[0])];
	char trusted[] = "/tmp/mr-stream-XXXXXX";
	int failed;

	authority = certs_make(NULL, NULL, -DAY, DAY);
	good = certs_make(&authority, "DNS:dns.example", -DAY, DAY);
	expired = certs_make(&authority, "DNS:dns.example", -2 * DAY, -DAY);
	certs_write(&authority, trusted);
	assert_int_equal(tls_context_new(trusted, &context, NULL), 0);
	unlink(trusted);
	servers = server(&good);
	expired_servers = server(&expired);
	for (size_t i = 0; i < SIZES; i++)
		tests[i] = (struct CMUnitTest){ sizes[i].name, message_comes_back, NULL, NULL, (void *)&sizes[i] };
	memcpy(tests + SIZES, fixed, sizeof(fixed));
	failed = cmocka_run_group_tests_name("net/stream over TLS", tests, NULL, NULL);
	SSL_CTX_free(servers);
	SSL_CTX_free(expired_servers);
	tls_context_free(context);
	certs_free(&authority);
	certs_free(&good);
	certs_free(&expired);
	return failed;
}
