/* SPDX-License-Identifier: BSD-2-Clause */
/* stream.c - DNS messages over TCP. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "net/sock.h"
#include "net/stream.h"

#define READ_ROOM 4096
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
static int send_later(struct stream *s, size_t at)
{
	uv_buf_t buf = uv_buf_init((char *)s->out + at, (unsigned)(s->out_len - at));
	int err;

	err = uv_write(&s->write, (uv_stream_t *)&s->tcp, &buf, 1, on_written);
	if (err)
		return err;
	s->sending = s->out;
	s->sending_len = s->out_len - at;
	s->out_since_ms = uv_now(s->tcp.loop);
	s->out = NULL;
	s->out_len = s->out_size = 0;
	return 0;
}

/* Send what has been framed; one write is under way at a time, so that its age is known. */
static int flush(struct stream *s)
{
	uv_buf_t buf;
	int n;

	if (!s->open || s->closing || !s->out_len || s->sending)
		return 0;
	buf = uv_buf_init((char *)s->out, (unsigned)s->out_len);
	n = uv_try_write((uv_stream_t *)&s->tcp, &buf, 1);
	if (n < 0 && n != UV_EAGAIN)
		return n;
	if (n < 0)
		n = 0;
	if ((size_t)n < s->out_len)
		return send_later(s, (size_t)n);
	s->out_len = 0;
	if (s->out_size > OUT_KEEP) {
		free(s->out);
		s->out = NULL;
		s->out_size = 0;
	}
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
	s->out[s->out_len++] = (uint8_t)(size >> 8);
	s->out[s->out_len++] = (uint8_t)size;
	memcpy(s->out + s->out_len, msg, size);
	s->out_len += size;
	return s->pumping ? 0 : flush(s);
}

size_t stream_backlog(const struct stream *s)
{
	return s->out_len + s->sending_len;
}

/* ---- input ---- */

/* Deliver whole messages out of the buffer until it holds none, or the owner says stop. */
static size_t deliver(struct stream *s)
{
	size_t at = 0, len;

	while (!s->paused && !s->closing && !s->ending && s->in_len - at >= 2) {
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
	s->eof = true;
	uv_read_stop((uv_stream_t *)&s->tcp);
	forget(s, s->in_len);
	s->ended(s, 0);
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
	struct stream *s = h->data;

	*buf = uv_buf_init(NULL, 0);	/* on_read() is then told UV_ENOBUFS */
	if (reserve(&s->in, &s->in_size, s->in_len, READ_ROOM))
		return;
	*buf = uv_buf_init((char *)s->in + s->in_len, (unsigned)(s->in_size - s->in_len));
}

static void on_read(uv_stream_t *tcp, ssize_t n, const uv_buf_t *buf)
{
	struct stream *s = tcp->data;

	if (n > 0) {
		if (!s->in_len)
			s->in_since_ms = uv_now(tcp->loop);
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
	if (!s->paused && !s->closing && !s->ending && !s->eof)
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
	free(s->sending);
	s->in = s->out = s->sending = NULL;
	s->closed(s);
}

void stream_close(struct stream *s)
{
	if (s->closing)
		return;
	s->closing = true;
	uv_close((uv_handle_t *)&s->tcp, on_closed);
}
