/* SPDX-License-Identifier: BSD-2-Clause */
/* h2.c - the asking side of HTTP/2, by nghttp2. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <nghttp2/nghttp2.h>
#include "net/h2.h"

#define HEADERS_MAX 16384		/* of an answer; what we send is far less */
#define TYPE_MAX 64
#define WHY_MAX 192

struct h2_request {
	struct h2 *h;
	struct h2_request *next;
	struct h2_request **link;
	void *asker;			/* NULL: nobody waits any more */
	int32_t stream;
	bool sent;			/* the other side may have seen it */
	bool closed;			/* its stream is gone */
	bool begun;			/* the answer's header has been read */
	unsigned status;
	uint32_t age_s;
	char type[TYPE_MAX];		/* the answer's */
	char wanted[TYPE_MAX];
	uint8_t *body;			/* the answer's */
	size_t body_len;
	size_t body_size;
	size_t done;			/* of the octets below */
	size_t size;
	uint8_t octets[];
};

struct h2 {
	nghttp2_session *session;
	const struct h2_ops *ops;
	void *arg;
	size_t body_max;
	struct h2_request *requests;
	unsigned count;
	bool settled;			/* the other side has said how it wants things */
	bool feeding;
	bool taking;
	char why[WHY_MAX];
};

/* ---- requests ---- */

static void request_free(struct h2_request *r)
{
	*r->link = r->next;
	if (r->next)
		r->next->link = r->link;
	r->h->count--;
	free(r->body);
	free(r);
}

/* The end for the asker; the request itself stays until its stream is gone. */
static void fail(struct h2_request *r, int err, const char *why)
{
	void *asker = r->asker;

	r->asker = NULL;
	if (!r->closed)
		nghttp2_submit_rst_stream(r->h->session, NGHTTP2_FLAG_NONE, r->stream, NGHTTP2_CANCEL);
	if (asker)
		r->h->ops->failed(r->h->arg, asker, err, why);
}

static void succeed(struct h2_request *r)
{
	const struct h2_answer a = { r->body, r->body_len, r->age_s };
	void *asker = r->asker;

	r->asker = NULL;
	if (asker)
		r->h->ops->answered(r->h->arg, asker, &a);
}

static struct h2_request *request_of(nghttp2_session *session, int32_t stream)
{
	return nghttp2_session_get_stream_user_data(session, stream);
}

/* ---- what the library tells ---- */

/* A value as it may be shown: printable, and not long. */
static const char *shown(const char *text, char *buf, size_t size)
{
	size_t i;

	for (i = 0; text[i] && i < size - 1; i++)
		buf[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	buf[i] = '\0';
	return buf;
}

static bool is_value(const uint8_t *name, size_t len, const char *what)
{
	return len == strlen(what) && !memcmp(name, what, len);
}

static void copy_type(char ret[TYPE_MAX], const uint8_t *value, size_t len)
{
	size_t i;

	/* parameters do not count, and there are none for messages of the DNS */
	for (i = 0; i < len && i < TYPE_MAX - 1 && value[i] != ';' && value[i] != ' '; i++)
		ret[i] = (char)value[i];
	ret[i] = '\0';
}

static uint32_t number(const uint8_t *value, size_t len)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < len && isdigit(value[i]) && n < UINT32_MAX; i++)
		n = n * 10 + value[i] - '0';
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
		     const uint8_t *value, size_t value_len, uint8_t flags, void *arg)
{
	struct h2_request *r = request_of(session, frame->hd.stream_id);

	if (!r || r->begun)		/* trailers say nothing to us */
		return 0;
	if (is_value(name, name_len, ":status")) {
		r->status = number(value, value_len);
		r->type[0] = '\0';
		r->age_s = 0;
	} else if (is_value(name, name_len, "content-type")) {
		copy_type(r->type, value, value_len);
	} else if (is_value(name, name_len, "age")) {
		r->age_s = number(value, value_len);
	}
	return 0;
}

/* The header of an answer is whole: is it one that we can use? */
static void judge(struct h2_request *r)
{
	char why[WHY_MAX], type[TYPE_MAX];

	if (r->begun || r->status / 100 == 1)
		return;
	r->begun = true;
	if (r->status != 200) {
		snprintf(why, sizeof(why), "HTTP status %u", r->status);
		fail(r, -EBADMSG, why);
	} else if (strcasecmp(r->type, r->wanted)) {
		snprintf(why, sizeof(why), "the answer's content type is \"%s\", not \"%s\"",
			 shown(r->type, type, sizeof(type)), r->wanted);
		fail(r, -EBADMSG, why);
	}
}

/* Who waits here for his turn need not wait: another connection will do better. */
static void on_goaway(struct h2 *h)
{
	struct h2_request *r = h->requests;

	while (r) {
		if (r->sent || !r->asker) {
			r = r->next;
			continue;
		}
		fail(r, -EAGAIN, "the server ends the connection");
		r = h->requests;	/* whoever was told may have changed the list */
	}
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	struct h2_request *r;

	if (frame->hd.type == NGHTTP2_SETTINGS && !(frame->hd.flags & NGHTTP2_FLAG_ACK))
		((struct h2 *)arg)->settled = true;
	if (frame->hd.type == NGHTTP2_GOAWAY)
		on_goaway(arg);
	if (frame->hd.type != NGHTTP2_HEADERS)
		return 0;
	r = request_of(session, frame->hd.stream_id);
	if (r && r->asker)
		judge(r);
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data, size_t len, void *arg)
{
	struct h2_request *r = request_of(session, stream);
	size_t size;
	uint8_t *p;

	if (!r || !r->asker)
		return 0;
	if (r->body_len + len > r->h->body_max) {
		fail(r, -EMSGSIZE, "the answer is longer than a message can be");
		return 0;
	}
	if (r->body_len + len > r->body_size) {
		for (size = r->body_size ? r->body_size : 512; size < r->body_len + len;)
			size *= 2;
		p = realloc(r->body, size);
		if (!p) {
			fail(r, -ENOMEM, "memory is out");
			return 0;
		}
		r->body = p;
		r->body_size = size;
	}
	memcpy(r->body + r->body_len, data, len);
	r->body_len += len;
	return 0;
}

static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	struct h2_request *r;

	if (frame->hd.type != NGHTTP2_HEADERS)
		return 0;
	r = request_of(session, frame->hd.stream_id);
	if (r)
		r->sent = true;
	return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *arg)
{
	struct h2_request *r = request_of(session, stream);
	char why[WHY_MAX];

	if (!r)
		return 0;
	r->closed = true;
	if (r->asker && r->h->taking)
		return 0;		/* nobody is called now: it ends by its time */
	if (!code && r->begun) {
		succeed(r);
	} else {
		snprintf(why, sizeof(why), "the server ended the request: %s", nghttp2_http2_strerror(code));
		fail(r, code == NGHTTP2_REFUSED_STREAM ? -EAGAIN : -EPROTO, why);
	}
	request_free(r);
	return 0;
}

static int on_error(nghttp2_session *session, int code, const char *msg, size_t len, void *arg)
{
	struct h2 *h = arg;

	shown(msg, h->why, sizeof(h->why));
	return 0;
}

static ssize_t on_read(nghttp2_session *session, int32_t stream, uint8_t *buf, size_t size, uint32_t *flags,
		       nghttp2_data_source *source, void *arg)
{
	struct h2_request *r = source->ptr;
	size_t n = r->size - r->done;

	if (n > size)
		n = size;
	memcpy(buf, r->octets + r->done, n);
	r->done += n;
	if (r->done == r->size)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

/* ---- connections ---- */

static int make_session(struct h2 *h, unsigned streams)
{
	const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEADERS_MAX },
	};
	nghttp2_session_callbacks *cb = NULL;
	nghttp2_option *option = NULL;
	int err = -ENOMEM;

	if (nghttp2_session_callbacks_new(&cb) || nghttp2_option_new(&option))
		goto out;
	nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
	nghttp2_session_callbacks_set_on_frame_send_callback(cb, on_sent);
	nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
	nghttp2_session_callbacks_set_error_callback2(cb, on_error);
	nghttp2_option_set_no_closed_streams(option, 1);
	nghttp2_option_set_peer_max_concurrent_streams(option, streams ? streams : H2_STREAMS);
	if (!nghttp2_session_client_new2(&h->session, cb, h, option) &&
	    !nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings, sizeof(settings) / sizeof(settings[0])))
		err = 0;
out:
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(cb);
	return err;
}

int h2_new(const struct h2_ops *ops, void *arg, size_t body_max, unsigned streams, struct h2 **ret)
{
	struct h2 *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	h->ops = ops;
	h->arg = arg;
	h->body_max = body_max;
	err = make_session(h, streams);
	if (err)
		h2_free(h);
	else
		*ret = h;
	return err;
}

void h2_free(struct h2 *h)
{
	if (!h)
		return;
	nghttp2_session_del(h->session);
	while (h->requests)
		request_free(h->requests);
	free(h);
}

static nghttp2_nv header(const char *name, const char *value)
{
	return (nghttp2_nv){ (uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE };
}

static int32_t submit(struct h2_request *r, const struct h2_question *q)
{
	const nghttp2_data_provider body = { { .ptr = r }, on_read };
	nghttp2_nv nv[7];
	char size[24];
	size_t n = 0;

	nv[n++] = header(":method", q->body ? "POST" : "GET");
	nv[n++] = header(":scheme", "https");
	nv[n++] = header(":authority", q->authority);
	nv[n++] = header(":path", q->path);
	nv[n++] = header("accept", q->type);
	if (q->body) {
		snprintf(size, sizeof(size), "%zu", q->size);
		nv[n++] = header("content-type", q->type);
		nv[n++] = header("content-length", size);
	}
	return nghttp2_submit_request(r->h->session, NULL, nv, n, q->body ? &body : NULL, r);
}

int h2_ask(struct h2 *h, const struct h2_question *q, void *asker, struct h2_request **ret)
{
	size_t size = q->body ? q->size : 0;
	struct h2_request *r;

	if (!h2_is_open(h))
		return -EAGAIN;
	if (h->count == H2_REQUESTS_MAX)
		return -EBUSY;
	r = calloc(1, sizeof(*r) + size);
	if (!r)
		return -ENOMEM;
	r->h = h;
	r->asker = asker;
	r->size = size;
	if (size)
		memcpy(r->octets, q->body, size);
	snprintf(r->wanted, sizeof(r->wanted), "%s", q->type);
	r->link = &h->requests;
	r->next = h->requests;
	if (r->next)
		r->next->link = &r->next;
	h->requests = r;
	h->count++;
	r->stream = submit(r, q);
	if (r->stream < 0) {
		request_free(r);
		return -ENOMEM;
	}
	*ret = r;
	return 0;
}

void h2_cancel(struct h2 *h, struct h2_request *r)
{
	r->asker = NULL;
	if (r->closed)
		request_free(r);
	else
		nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, r->stream, NGHTTP2_CANCEL);
}

int h2_feed(struct h2 *h, const uint8_t *octets, size_t count)
{
	ssize_t n;

	h->feeding = true;
	n = nghttp2_session_mem_recv(h->session, octets, count);
	h->feeding = false;
	if (n >= 0)
		return 0;
	if (!*h->why)
		snprintf(h->why, sizeof(h->why), "%s", nghttp2_strerror((int)n));
	return n == NGHTTP2_ERR_NOMEM ? -ENOMEM : -EPROTO;
}

size_t h2_take(struct h2 *h, const uint8_t **ret)
{
	ssize_t n;

	if (h->feeding || h->taking)
		return 0;
	h->taking = true;
	n = nghttp2_session_mem_send(h->session, ret);
	h->taking = false;
	return n > 0 ? (size_t)n : 0;
}

bool h2_is_open(const struct h2 *h)
{
	return nghttp2_session_check_request_allowed(h->session);
}

bool h2_is_over(const struct h2 *h)
{
	return !nghttp2_session_want_read(h->session) && !nghttp2_session_want_write(h->session);
}

unsigned h2_streams(const struct h2 *h)
{
	return h->settled ? nghttp2_session_get_remote_settings(h->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS) : 0;
}

const char *h2_why(const struct h2 *h)
{
	return h->why;
}
