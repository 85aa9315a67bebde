/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub_http.c - DNS messages in HTTP/2 requests, by nghttp2 (RFC 8484): POST, and GET with dns=.
 *
 * A request is what one stream brings; it lives until its stream is closed, and
 * the answer in it until it has been sent.  Whatever the path, it is served.
 */
#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "tools/mrstub_worker.h"

#define GET_MAX 4096		/* characters of dns= */

struct request {
	struct request *next, **back;	/* of its session; *back is this one */
	struct stub_buf body, answer;
	char *query;		/* of the path, behind "dns="; NULL: none */
	bool post, answered;
};

struct stub_http {
	struct stub_worker *worker;
	struct conn *conn;
	nghttp2_session *session;
	struct request *first;
};

static struct request *request_of(nghttp2_session *s, int32_t stream)
{
	return nghttp2_session_get_stream_user_data(s, stream);
}

/* ---- requests -------------------------------------------------------------- */

static int on_begin(nghttp2_session *s, const nghttp2_frame *f, void *arg)
{
	struct stub_http *h = arg;
	struct request *r;

	if (f->hd.type != NGHTTP2_HEADERS || f->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	r->next = h->first;
	r->back = &h->first;
	if (r->next)
		r->next->back = &r->next;
	h->first = r;
	return nghttp2_session_set_stream_user_data(s, f->hd.stream_id, r) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int on_header(nghttp2_session *s, const nghttp2_frame *f, const uint8_t *name, size_t name_len,
		     const uint8_t *value, size_t value_len, uint8_t flags, void *arg)
{
	struct request *r = request_of(s, f->hd.stream_id);
	const char *dns;

	if (!r)
		return 0;
	if (name_len == 7 && !memcmp(name, ":method", 7))
		r->post = value_len == 4 && !memcmp(value, "POST", 4);
	if (name_len == 5 && !memcmp(name, ":path", 5) && !r->query) {
		/* nghttp2 ends a value with a zero. */
		dns = strstr((const char *)value, "?dns=") ?: strstr((const char *)value, "&dns=");
		r->query = dns ? strndup(dns + 5, strcspn(dns + 5, "&")) : NULL;
	}
	return 0;
}

static int on_data(nghttp2_session *s, uint8_t flags, int32_t stream, const uint8_t *p, size_t len, void *arg)
{
	struct request *r = request_of(s, stream);

	if (!r)
		return 0;
	if (r->body.len + len > STUB_MSG_MAX || stub_buf_put(&r->body, p, len))
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	return 0;
}

/* base64url without padding (RFC 4648 section 5) into the body; 0 or -EINVAL. */
static int body_decode(struct request *r)
{
	uint8_t text[GET_MAX + 4], out[GET_MAX];
	size_t len = strlen(r->query), i;
	int n;

	if (!len || len > GET_MAX || len % 4 == 1)
		return -EINVAL;
	for (i = 0; i < len; i++)
		text[i] = r->query[i] == '-' ? '+' : r->query[i] == '_' ? '/' : r->query[i];
	for (; i % 4; i++)
		text[i] = '=';
	n = EVP_DecodeBlock(out, text, i);
	return n < 0 || stub_buf_put(&r->body, out, n - (i - len)) ? -EINVAL : 0;
}

static void request_serve(struct stub_http *h, struct request *r, int32_t stream)
{
	struct conn *c = h->conn;
	struct peer peer = { .carrier = c->carrier, .port = c->port, .conn = c - h->worker->conn, .stream = stream,
			     .generation = c->generation, .address = c->address };

	if (!r->post && (!r->query || body_decode(r)))
		stub_http_answer(h, stream, 400, NULL, 0);
	else
		stub_serve(h->worker, &peer, r->body.p, r->body.len);
}

static int on_frame(nghttp2_session *s, const nghttp2_frame *f, void *arg)
{
	struct request *r = NULL;

	if (f->hd.type == NGHTTP2_DATA || f->hd.type == NGHTTP2_HEADERS)
		r = request_of(s, f->hd.stream_id);
	if (r && f->hd.flags & NGHTTP2_FLAG_END_STREAM)
		request_serve(arg, r, f->hd.stream_id);
	return 0;
}

static void request_free(struct request *r)
{
	*r->back = r->next;
	if (r->next)
		r->next->back = r->back;
	free(r->body.p);
	free(r->answer.p);
	free(r->query);
	free(r);
}

static int on_close(nghttp2_session *s, int32_t stream, uint32_t code, void *arg)
{
	struct request *r = request_of(s, stream);

	if (!r)
		return 0;
	request_free(r);
	return nghttp2_session_set_stream_user_data(s, stream, NULL) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

/* ---- answers --------------------------------------------------------------- */

static ssize_t on_read(nghttp2_session *s, int32_t stream, uint8_t *buf, size_t size, uint32_t *flags,
		       nghttp2_data_source *source, void *arg)
{
	struct stub_buf *a = source->ptr;
	size_t n = a->len - a->at < size ? a->len - a->at : size;

	if (n)
		memcpy(buf, a->p + a->at, n);
	a->at += n;
	if (a->at == a->len)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return n;
}

void stub_http_answer(struct stub_http *h, int32_t stream, uint32_t status, const uint8_t *msg, size_t len)
{
	struct request *r = request_of(h->session, stream);
	nghttp2_data_provider data = { .source.ptr = r ? &r->answer : NULL, .read_callback = on_read };
	char code[12], length[24];
	nghttp2_nv headers[] = {
		{ (uint8_t *)":status", (uint8_t *)code, 7, sprintf(code, "%u", status), NGHTTP2_NV_FLAG_NONE },
		{ (uint8_t *)"content-length", (uint8_t *)length, 14, sprintf(length, "%zu", len), NGHTTP2_NV_FLAG_NONE },
		{ (uint8_t *)"content-type", (uint8_t *)"application/dns-message", 12, 23, NGHTTP2_NV_FLAG_NONE },
	};

	/* The client may have taken the stream back, or it has been answered: of two answers the first counts. */
	if (!r || r->answered)
		return;
	r->answered = true;
	if ((len && stub_buf_put(&r->answer, msg, len)) ||
	    nghttp2_submit_response(h->session, stream, headers, msg ? 3 : 2, &data))
		COUNT(h->worker, send_failed);
}

void stub_http_goaway(struct stub_http *h, int32_t stream, bool served)
{
	/* Streams of a client have odd numbers; -1 would be none at all, which is 0. */
	int32_t last = served ? stream : stream > 2 ? stream - 2 : 0;

	if (nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, NULL, 0))
		COUNT(h->worker, send_failed);
}

/* ---- the session ----------------------------------------------------------- */

int stub_http_in(struct stub_http *h, const uint8_t *p, size_t len)
{
	return nghttp2_session_mem_recv(h->session, p, len) == (ssize_t)len ? 0 : -EPROTO;
}

bool stub_http_out(struct stub_http *h)
{
	const uint8_t *p;
	ssize_t n;

	while ((n = nghttp2_session_mem_send(h->session, &p)) > 0)
		stub_conn_put(h->worker, h->conn, p, n);
	return n == 0 && (nghttp2_session_want_read(h->session) || nghttp2_session_want_write(h->session));
}

static int session_new(struct stub_http *h)
{
	nghttp2_settings_entry settings[] = { { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 128 } };
	nghttp2_session_callbacks *on;
	int err = nghttp2_session_callbacks_new(&on);

	if (err)
		return -ENOMEM;
	nghttp2_session_callbacks_set_on_begin_headers_callback(on, on_begin);
	nghttp2_session_callbacks_set_on_header_callback(on, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(on, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(on, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(on, on_close);
	err = nghttp2_session_server_new(&h->session, on, h) ||
	      nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings, 1);
	nghttp2_session_callbacks_del(on);
	return err ? -ENOMEM : 0;
}

struct stub_http *stub_http_new(struct stub_worker *w, struct conn *c)
{
	struct stub_http *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->worker = w;
	h->conn = c;
	if (session_new(h)) {
		stub_http_free(h);
		return NULL;
	}
	return h;
}

void stub_http_free(struct stub_http *h)
{
	if (!h)
		return;
	/* Of streams that are open then nghttp2 tells nobody. */
	nghttp2_session_del(h->session);
	while (h->first)
		request_free(h->first);
	free(h);
}
