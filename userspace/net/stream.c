/* SPDX-License-Identifier: BSD-2-Clause */
/* stream.c - DNS messages over TCP, in clear or by way of TLS. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "net/sock.h"
#include "net/stream.h"

#define READ_ROOM 4096
#define CIPHER_ROOM 16384		/* read at once, of what is to be decrypted */
#define OUT_KEEP  4096			/* an output buffer up to this size is kept for the next answer */
#define BACKLOG   1024

int stream_listen(const struct addr *a, int *ret_fd, struct addr *ret_bound)
{
	int fd, err;

	err = sock_bind(a, SOCK_STREAM, &fd, ret_bound);
	if (err)
		return err;
	if (listen(fd, BACKLOG)) {
		err = -errno;
		close(fd);
		return err;
	}
	*ret_fd = fd;
	return 0;
}

int stream_init(struct stream *s, uv_loop_t *loop)
{
	s->tcp.data = s->connect.data = s->write.data = s;
	return uv_tcp_init(loop, &s->tcp);
}

static void end(struct stream *s, int err)
{
	if (s->ending || s->closing)
		return;
	s->ending = true;
	uv_read_stop((uv_stream_t *)&s->tcp);
	if (s->shaking)
		s->connected(s, err);
	else
		s->ended(s, err);
}

/* ---- output ---- */

static int flush(struct stream *s);

static void on_written(uv_write_t *w, int status)
{
	struct stream *s = w->data;

	free(s->sending);
	s->sending = NULL;
	s->sending_len = 0;
	if (s->closing)
		return;
	if (!status)
		status = flush(s);
	if (status)
		end(s, status);
	else if (s->drained)
		s->drained(s);
}

/* Hand the rest behind @at to the loop, which waits for room. */
static int send_later(struct stream *s, uint8_t **out, size_t *len, size_t *size, size_t at)
{
	uv_buf_t buf = uv_buf_init((char *)*out + at, (unsigned)(*len - at));
	int err;

	err = uv_write(&s->write, (uv_stream_t *)&s->tcp, &buf, 1, on_written);
	if (err)
		return err;
	s->sending = *out;
	s->sending_len = *len - at;
	s->out_since_ms = uv_now(s->tcp.loop);
	*out = NULL;
	*len = *size = 0;
	return 0;
}

static void emptied(uint8_t **out, size_t *len, size_t *size)
{
	*len = 0;
	if (*size <= OUT_KEEP)
		return;
	free(*out);
	*out = NULL;
	*size = 0;
}

/* Send one buffer; one write is under way at a time, so that its age is known. */
static int send_out(struct stream *s, uint8_t **out, size_t *len, size_t *size)
{
	uv_buf_t buf = uv_buf_init((char *)*out, (unsigned)*len);
	int n;

	if (!*len)
		return 0;
	n = uv_try_write((uv_stream_t *)&s->tcp, &buf, 1);
	if (n < 0 && n != UV_EAGAIN)
		return n;
	if (n < 0)
		n = 0;
	if ((size_t)n < *len)
		return send_later(s, out, len, size, (size_t)n);
	emptied(out, len, size);
	return 0;
}

/* Make room for @more octets behind the @len that are there. */
static int reserve(uint8_t **buf, size_t *size, size_t len, size_t more)
{
	size_t want = *size ? *size : 512;
	uint8_t *p;

	if (len + more <= *size)
		return 0;
	while (want < len + more)
		want *= 2;
	p = realloc(*buf, want);
	if (!p)
		return -ENOMEM;
	*buf = p;
	*size = want;
	return 0;
}

/* Take what TLS has to say. */
static int take(struct stream *s)
{
	size_t more = tls_waiting(s->tls);
	int err = reserve(&s->cipher, &s->cipher_size, s->cipher_len, more);

	if (!err)
		s->cipher_len += tls_take(s->tls, s->cipher + s->cipher_len, more);
	return err;
}

/* Give TLS what is to be said, and take what it makes of it. */
static int encrypt(struct stream *s)
{
	int err;

	if (s->out_len && tls_is_ready(s->tls)) {
		err = tls_write(s->tls, s->out, s->out_len);
		if (err)
			return err;
		emptied(&s->out, &s->out_len, &s->out_size);
	}
	return take(s);
}

static int flush(struct stream *s)
{
	int err;

	if (!s->open || s->closing || s->sending)
		return 0;
	if (!s->tls)
		return send_out(s, &s->out, &s->out_len, &s->out_size);
	err = encrypt(s);
	return err ? err : send_out(s, &s->cipher, &s->cipher_len, &s->cipher_size);
}

int stream_send(struct stream *s, const uint8_t *msg, size_t size)
{
	int err;

	if (s->closing)
		return -ENOTCONN;
	if (size > STREAM_MESSAGE_MAX)
		return -EMSGSIZE;
	if (stream_backlog(s) + size + 2 > STREAM_OUT_MAX)
		return -ENOBUFS;
	err = reserve(&s->out, &s->out_size, s->out_len, size + 2);
	if (err)
		return err;
	if (!s->octets) {
		s->out[s->out_len++] = (uint8_t)(size >> 8);
		s->out[s->out_len++] = (uint8_t)size;
	}
	memcpy(s->out + s->out_len, msg, size);
	s->out_len += size;
	return s->pumping ? 0 : flush(s);
}

size_t stream_backlog(const struct stream *s)
{
	return s->out_len + s->cipher_len + s->sending_len + (s->tls ? tls_waiting(s->tls) : 0);
}

/* ---- input ---- */

/* Deliver whole messages out of the buffer until it holds none, or the owner says stop. */
static size_t deliver(struct stream *s)
{
	size_t at = 0, len = s->in_len;

	if (s->octets && len && !s->paused && !s->closing && !s->ending) {
		s->message(s, s->in, len);
		return len;
	}
	while (!s->octets && !s->paused && !s->closing && !s->ending && s->in_len - at >= 2) {
		len = (size_t)s->in[at] << 8 | s->in[at + 1];
		if (s->in_len - at - 2 < len)
			break;
		s->message(s, s->in + at + 2, len);
		at += 2 + len;
	}
	return at;
}

static void forget(struct stream *s, size_t used)
{
	s->in_len -= used;
	if (s->in_len) {
		memmove(s->in, s->in + used, s->in_len);
		s->in_since_ms = uv_now(s->tcp.loop);
		return;
	}
	free(s->in);			/* an idle connection holds no buffer */
	s->in = NULL;
	s->in_size = 0;
}

/*
 * Deliver and send until nothing moves.  A loop, not a recursion: sending may
 * make the owner resume, which is what this loop sees.
 */
static void pump(struct stream *s)
{
	size_t used;
	int err = 0;

	if (s->pumping)
		return;
	s->pumping = true;
	do {
		used = deliver(s);
		if (used)
			forget(s, used);
		err = flush(s);
		if (!err && s->drained && s->paused && !s->closing && !stream_backlog(s))
			s->drained(s);
	} while (used && !err && !s->paused && !s->closing);
	s->pumping = false;
	if (err)
		end(s, err);
}

/* The peer sends no more; of a message that it began nothing is left to wait for. */
static void end_of_input(struct stream *s)
{
	if (s->eof || s->ending || s->closing)
		return;
	if (s->shaking) {
		end(s, -ECONNRESET);
		return;
	}
	s->eof = true;
	uv_read_stop((uv_stream_t *)&s->tcp);
	forget(s, s->in_len);
	s->ended(s, 0);
}

/* What TLS has decrypted goes behind what is here. */
static int decrypt(struct stream *s)
{
	int n;

	do {
		n = reserve(&s->in, &s->in_size, s->in_len, READ_ROOM);
		if (n)
			return n;
		n = tls_read(s->tls, s->in + s->in_len, s->in_size - s->in_len);
		if (n > 0)
			s->in_len += (size_t)n;
	} while (n > 0);
	return n;
}

/* Ciphertext came.  An alert of ours goes out even when the connection ends by it. */
static void on_cipher(struct stream *s, const uint8_t *octets, size_t count)
{
	int err = tls_feed(s->tls, octets, count), flushed;

	if (!err && s->shaking && tls_is_ready(s->tls)) {
		s->shaking = false;
		s->connected(s, 0);
	}
	if (!err && !s->closing)
		err = decrypt(s);
	flushed = flush(s);
	if (s->in_len)
		pump(s);
	else
		forget(s, 0);
	if (!err)
		err = flushed;
	if (!err && stream_backlog(s) > STREAM_OUT_MAX + STREAM_OUT_MAX / 8)
		err = -ENOBUFS;		/* it makes TLS speak, and does not listen */
	if (err == -ESHUTDOWN && s->paused && s->in_len)
		s->end_waits = true;
	else if (err == -ESHUTDOWN)
		end_of_input(s);
	else if (err)
		end(s, err);
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
	static _Thread_local char cipher[CIPHER_ROOM];
	struct stream *s = h->data;

	if (s->tls)
		*buf = uv_buf_init(cipher, sizeof(cipher));
	else if (reserve(&s->in, &s->in_size, s->in_len, READ_ROOM))
		*buf = uv_buf_init(NULL, 0);	/* on_read() is told UV_ENOBUFS */
	else
		*buf = uv_buf_init((char *)s->in + s->in_len, (unsigned)(s->in_size - s->in_len));
}

static void on_read(uv_stream_t *tcp, ssize_t n, const uv_buf_t *buf)
{
	struct stream *s = tcp->data;

	if (n > 0) {
		if (!s->in_len)
			s->in_since_ms = uv_now(tcp->loop);
		if (s->tls) {
			on_cipher(s, (const uint8_t *)buf->base, (size_t)n);
			return;
		}
		s->in_len += (size_t)n;
		pump(s);
	} else if (!s->in_len) {
		forget(s, 0);
	}
	if (n == UV_EOF)
		end_of_input(s);
	else if (n < 0)
		end(s, (int)n);
}

void stream_pause(struct stream *s)
{
	s->paused = true;
	uv_read_stop((uv_stream_t *)&s->tcp);
}

void stream_resume(struct stream *s)
{
	if (!s->paused || s->closing || s->ending)
		return;
	s->paused = false;
	if (s->in_len)
		s->in_since_ms = uv_now(s->tcp.loop);
	pump(s);
	if (s->paused || s->closing || s->ending || s->eof)
		return;
	if (s->end_waits)
		end_of_input(s);
	else
		uv_read_start((uv_stream_t *)&s->tcp, on_alloc, on_read);
}

/* ---- beginning and end ---- */

static int begin(struct stream *s)
{
	s->open = true;
	uv_tcp_nodelay(&s->tcp, 1);
	return uv_read_start((uv_stream_t *)&s->tcp, on_alloc, on_read);
}

int stream_open(struct stream *s, int fd)
{
	int err = uv_tcp_open(&s->tcp, fd);

	if (err)
		close(fd);
	return err ? err : begin(s);
}

static void on_connect(uv_connect_t *c, int status)
{
	struct stream *s = c->data;

	if (s->closing)
		return;
	if (!status)
		status = begin(s);
	if (!status)
		status = flush(s);
	if (!status && s->tls)
		s->shaking = true;
	else
		s->connected(s, status);
}

int stream_connect(struct stream *s, const struct addr *peer)
{
	struct sockaddr_storage ss;

	addr_to_sockaddr(peer, &ss);
	return uv_tcp_connect(&s->connect, &s->tcp, (struct sockaddr *)&ss, on_connect);
}

static void on_closed(uv_handle_t *h)
{
	struct stream *s = h->data;

	free(s->in);
	free(s->out);
	free(s->cipher);
	free(s->sending);
	tls_free(s->tls);
	s->in = s->out = s->cipher = s->sending = NULL;
	s->tls = NULL;
	s->closed(s);
}

/* So that the other side can tell an end from a cut; if it does not go out at once, so be it. */
static void say_goodbye(struct stream *s)
{
	uv_buf_t buf;

	if (!s->tls || !s->open || s->ending || s->sending)
		return;
	tls_end(s->tls);
	if (take(s) || !s->cipher_len)
		return;
	buf = uv_buf_init((char *)s->cipher, (unsigned)s->cipher_len);
	uv_try_write((uv_stream_t *)&s->tcp, &buf, 1);
}

void stream_close(struct stream *s)
{
	if (s->closing)
		return;
	say_goodbye(s);
	s->closing = true;
	uv_close((uv_handle_t *)&s->tcp, on_closed);
}
