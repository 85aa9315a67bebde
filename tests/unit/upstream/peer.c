/* SPDX-License-Identifier: BSD-2-Clause */
/* peer.c - an upstream server over TLS or HTTPS on a thread. */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/socket.h>
#include <openssl/err.h>
#include <nghttp2/nghttp2.h>
#include "unit/upstream/peer.h"
#include "unit/upstream/stub.h"

#define CONNS 16
#define HELD  10
#define IN_MAX 20000
#define BIG   70000

struct answer {
	uint8_t *data;
	size_t size;
	struct request *to;		/* HTTPS's */
};

/* Of HTTPS; kept until the connection ends. */
struct request {
	struct request *next;
	int32_t stream;
	bool get, answered;
	uint8_t query[2048];
	size_t size;
	struct answer answer;
	size_t at;
};

struct conn {
	struct peer *p;
	int fd;
	SSL *ssl;
	bool shaken;
	bool dead;
	int64_t since;
	unsigned queries;
	uint8_t in[IN_MAX];
	size_t in_len;
	uint8_t *out;
	size_t out_len;
	nghttp2_session *h2;
	struct request *requests;
	struct answer held[HELD];
	unsigned helds;
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void say(struct conn *c, const void *octets, size_t size)
{
	c->out = realloc(c->out, c->out_len + size);
	memcpy(c->out + c->out_len, octets, size);
	c->out_len += size;
}

static bool is_late(const struct conn *c)
{
	return c->queries > c->p->limit;
}

/* ---- answers ---- */

static struct answer make_answer(struct conn *c, const uint8_t *query, int mode)
{
	struct answer a = { .data = calloc(1, BIG) };

	a.size = stub_answer(c->p->tag, mode == PEER_LATE_REFUSED && is_late(c) ? 5 : 0, query, a.data);
	if (mode == PEER_WRONG_QUESTION)
		a.data[13] ^= 1;
	if (mode == PEER_BIG)
		a.size = BIG;
	if (mode == PEER_LONGEST)
		a.size = 65535;
	if (mode == PEER_EMPTY)
		a.size = 0;
	return a;
}

static ssize_t on_read(nghttp2_session *h2, int32_t stream, uint8_t *buf, size_t size, uint32_t *flags,
		       nghttp2_data_source *source, void *arg)
{
	struct request *r = source->ptr;
	size_t n = r->answer.size - r->at < size ? r->answer.size - r->at : size;

	memcpy(buf, r->answer.data + r->at, n);
	r->at += n;
	if (r->at == r->answer.size)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

static nghttp2_nv nv(const char *name, const char *value)
{
	return (nghttp2_nv){ (uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), 0 };
}

static void send_h2(struct conn *c, struct answer *a, int mode)
{
	const char *type = mode == PEER_TYPE ? "text/html" :
			   mode == PEER_TYPE_PARAMETER ? "Application/DNS-Message; charset=x" : "application/dns-message";
	nghttp2_nv headers[] = { nv(":status", mode == PEER_STATUS ? "503" : "200"), nv("content-type", type), nv("age", "20") };
	nghttp2_data_provider body = { { .ptr = a->to }, on_read };

	a->to->answer = *a;
	nghttp2_submit_response(c->h2, a->to->stream, headers, mode == PEER_AGE ? 3 : 2, &body);
}

static void send_answer(struct conn *c, struct answer *a, int mode)
{
	uint8_t len[2] = { (uint8_t)(a->size >> 8), (uint8_t)a->size };

	if (c->h2) {
		send_h2(c, a, mode);
		return;
	}
	say(c, len, 2);
	say(c, a->data, a->size);
	free(a->data);
}

static void answer(struct conn *c, const uint8_t *query, size_t size, struct request *r)
{
	struct peer *p = c->p;
	int mode = p->mode;
	struct answer a;

	p->queries++;
	c->queries++;
	p->odd_sizes += size % 128 != 0;
	p->with_id += (query[0] | query[1]) != 0;
	if (mode == PEER_LATE_CLOSE && is_late(c))
		c->dead = true;
	if (mode == PEER_SILENT || c->dead)
		return;
	if (mode == PEER_GARBAGE) {
		say(c, "HTTP/1.1 400 Bad Request\r\n\r\nand more, so that it fills a frame's header", 72);
		return;
	}
	if (c->h2 && (mode == PEER_RESET || (mode == PEER_LATE_REFUSED_STREAM && is_late(c)))) {
		nghttp2_submit_rst_stream(c->h2, 0, r->stream, mode == PEER_RESET ? NGHTTP2_INTERNAL_ERROR : NGHTTP2_REFUSED_STREAM);
		return;
	}
	if (c->h2 && mode == PEER_LATE_GOAWAY && is_late(c)) {
		if (c->queries == p->limit + 1)
			nghttp2_submit_goaway(c->h2, 0, 2 * (int32_t)p->limit - 1, NGHTTP2_NO_ERROR, NULL, 0);
		return;
	}
	a = make_answer(c, query, mode);
	a.to = r;
	if (mode != PEER_REVERSE) {
		send_answer(c, &a, mode);
		return;
	}
	c->held[c->helds++] = a;
	if (c->helds > p->at_once)
		p->at_once = c->helds;
	while (c->helds && c->queries % HELD == 0)
		send_answer(c, &c->held[--c->helds], mode);
}

/* ---- HTTP/2 ---- */

static int on_begin(nghttp2_session *h2, const nghttp2_frame *frame, void *arg)
{
	struct request *r = calloc(1, sizeof(*r));

	r->stream = frame->hd.stream_id;
	r->next = ((struct conn *)arg)->requests;
	((struct conn *)arg)->requests = r;
	nghttp2_session_set_stream_user_data(h2, r->stream, r);
	return 0;
}

static int digit(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	const char *at = strchr(digits, c);

	return at ? (int)(at - digits) : 0;
}

static void from_path(struct request *r, const char *path, size_t len)
{
	const char *at = memmem(path, len, "dns=", 4), *end = path + len;
	unsigned bits = 0, n = 0;

	for (at = at ? at + 4 : end; at < end && r->size < sizeof(r->query); at++) {
		bits = bits << 6 | (unsigned)digit(*at);
		n += 6;
		if (n < 8)
			continue;
		n -= 8;
		r->query[r->size++] = (uint8_t)(bits >> n);
	}
}

static int on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
		     const uint8_t *value, size_t len, uint8_t flags, void *arg)
{
	struct request *r = nghttp2_session_get_stream_user_data(h2, frame->hd.stream_id);

	if (name_len == 7 && !memcmp(name, ":method", 7))
		r->get = len == 3;
	if (name_len == 5 && !memcmp(name, ":path", 5))
		from_path(r, (const char *)value, len);
	return 0;
}

static int on_data(nghttp2_session *h2, uint8_t flags, int32_t stream, const uint8_t *data, size_t len, void *arg)
{
	struct request *r = nghttp2_session_get_stream_user_data(h2, stream);

	if (r && r->size + len <= sizeof(r->query)) {
		memcpy(r->query + r->size, data, len);
		r->size += len;
	}
	return 0;
}

static int on_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *arg)
{
	struct request *r;
	struct conn *c = arg;

	if (frame->hd.type == NGHTTP2_RST_STREAM)
		c->p->resets++;
	if (!(frame->hd.flags & NGHTTP2_FLAG_END_STREAM) || frame->hd.type > NGHTTP2_HEADERS)
		return 0;
	r = nghttp2_session_get_stream_user_data(h2, frame->hd.stream_id);
	if (!r || r->answered)
		return 0;
	r->answered = true;
	c->p->gets += r->get;
	c->p->posts += !r->get;
	if (r->size >= 12)
		answer(c, r->query, r->size, r);
	return 0;
}

static void begin_h2(struct conn *c)
{
	nghttp2_settings_entry settings = { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, c->p->streams_max ? c->p->streams_max : 100 };
	nghttp2_session_callbacks *cb;

	nghttp2_session_callbacks_new(&cb);
	nghttp2_session_callbacks_set_on_begin_headers_callback(cb, on_begin);
	nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
	nghttp2_session_server_new(&c->h2, cb, c);
	nghttp2_session_callbacks_del(cb);
	nghttp2_submit_settings(c->h2, 0, &settings, 1);
}

static void pump_h2(struct conn *c)
{
	const uint8_t *data;
	ssize_t n;

	while ((n = nghttp2_session_mem_send(c->h2, &data)) > 0)
		say(c, data, (size_t)n);
}

/* ---- connections ---- */

static void came(struct conn *c)
{
	size_t size;

	if (c->h2) {
		if (nghttp2_session_mem_recv(c->h2, c->in, c->in_len) < 0)
			c->dead = true;
		c->in_len = 0;
		return;
	}
	while (!c->dead && c->in_len >= 2 && c->in_len >= 2 + (size = (size_t)c->in[0] << 8 | c->in[1])) {
		answer(c, c->in + 2, size, NULL);
		c->in_len -= 2 + size;
		memmove(c->in, c->in + 2 + size, c->in_len);
	}
}

static void shake(struct conn *c)
{
	const uint8_t *alpn;
	unsigned len;

	if (now_ms() < c->since + c->p->shake_ms)
		return;
	ERR_clear_error();
	if (SSL_do_handshake(c->ssl) != 1) {
		if (SSL_get_error(c->ssl, -1) != SSL_ERROR_WANT_READ && SSL_get_error(c->ssl, -1) != SSL_ERROR_WANT_WRITE)
			c->dead = true;
		return;
	}
	c->shaken = true;
	c->p->handshakes++;
	c->p->resumed += SSL_session_reused(c->ssl) != 0;
	SSL_get0_alpn_selected(c->ssl, &alpn, &len);
	c->p->dot += len == 3 && !memcmp(alpn, "dot", 3);
	c->p->h2 += len == 2 && !memcmp(alpn, "h2", 2);
	if (c->p->https)
		begin_h2(c);
}

static void serve_conn(struct conn *c)
{
	size_t n;

	if (!c->shaken)
		shake(c);
	if (!c->shaken || c->dead)
		return;
	ERR_clear_error();
	while (!c->dead && SSL_read_ex(c->ssl, c->in + c->in_len, sizeof(c->in) - c->in_len, &n)) {
		c->in_len += n;
		came(c);
	}
	if (!c->dead && SSL_get_error(c->ssl, 0) != SSL_ERROR_WANT_READ) {
		c->p->goodbyes += SSL_get_error(c->ssl, 0) == SSL_ERROR_ZERO_RETURN;
		c->dead = true;
	}
	if (c->h2)
		pump_h2(c);
	ERR_clear_error();
	while (!c->dead && c->out_len && SSL_write_ex(c->ssl, c->out, c->out_len, &n)) {
		c->out_len -= n;
		memmove(c->out, c->out + n, c->out_len);
	}
}

static void conn_end(struct conn *c)
{
	struct request *r;

	nghttp2_session_del(c->h2);
	while ((r = c->requests)) {
		c->requests = r->next;
		free(r->answer.data);
		free(r);
	}
	while (c->helds)
		free(c->held[--c->helds].data);
	SSL_free(c->ssl);
	close(c->fd);
	free(c->out);
	c->p->open--;
	memset(c, 0, sizeof(*c));
	c->fd = -1;
}

static void take_conn(struct peer *p, struct conn *conns)
{
	int fd = accept4(p->listener, NULL, NULL, SOCK_NONBLOCK), i;

	for (i = 0; fd >= 0 && i < CONNS; i++) {
		if (conns[i].fd >= 0)
			continue;
		conns[i].p = p;
		conns[i].fd = fd;
		conns[i].ssl = SSL_new(p->ctx);
		conns[i].since = now_ms();
		SSL_set_fd(conns[i].ssl, fd);
		SSL_set_accept_state(conns[i].ssl);
		p->conns++;
		p->open++;
		return;
	}
	if (fd >= 0)
		close(fd);
}

/* ---- the thread ---- */

static void *serve(void *arg)
{
	struct pollfd polled[2 + CONNS];
	struct peer *p = arg;
	struct conn *conns = calloc(CONNS, sizeof(*conns));
	int i;

	for (i = 0; i < CONNS; i++)
		conns[i].fd = -1;
	for (;;) {
		polled[0] = (struct pollfd){ p->wake[0], POLLIN, 0 };
		polled[1] = (struct pollfd){ p->listener, POLLIN, 0 };
		for (i = 0; i < CONNS; i++)
			polled[2 + i] = (struct pollfd){ conns[i].fd, conns[i].shaken ? POLLIN : 0, 0 };
		poll(polled, 2 + CONNS, 2);
		if (polled[0].revents)
			break;
		for (i = 0; i < CONNS; i++) {
			if (conns[i].fd < 0)
				continue;
			serve_conn(&conns[i]);
			if (conns[i].dead || polled[2 + i].revents & (POLLHUP | POLLERR))
				conn_end(&conns[i]);
		}
		if (polled[1].revents)
			take_conn(p, conns);
	}
	for (i = 0; i < CONNS; i++)
		if (conns[i].fd >= 0)
			conn_end(&conns[i]);
	free(conns);
	return NULL;
}

static int choose(SSL *ssl, const unsigned char **out, unsigned char *len, const unsigned char *in, unsigned in_len,
		  void *arg)
{
	struct peer *p = arg;

	return p->alpn && SSL_select_next_proto((unsigned char **)out, len, (const unsigned char *)p->alpn,
						(unsigned)strlen(p->alpn), in, in_len) == OPENSSL_NPN_NEGOTIATED ?
		       SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

void peer_start(struct peer *p, const char *ip, uint8_t tag, const struct certs *cert)
{
	struct sockaddr_storage ss;
	socklen_t len;

	p->tag = tag;
	p->ctx = SSL_CTX_new(TLS_server_method());
	SSL_CTX_use_certificate(p->ctx, cert->cert);
	SSL_CTX_use_PrivateKey(p->ctx, cert->key);
	SSL_CTX_set_min_proto_version(p->ctx, p->tls_version ? p->tls_version : TLS1_2_VERSION);
	SSL_CTX_set_max_proto_version(p->ctx, p->tls_version);
	SSL_CTX_set_mode(p->ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_alpn_select_cb(p->ctx, choose, p);
	if (addr_parse(ip, 0, &p->addr))
		abort();
	len = addr_to_sockaddr(&p->addr, &ss);
	p->listener = socket(ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (bind(p->listener, (struct sockaddr *)&ss, len) || listen(p->listener, 64))
		abort();
	getsockname(p->listener, (struct sockaddr *)&ss, &len);
	addr_from_sockaddr((struct sockaddr *)&ss, &p->addr);
	if (pipe(p->wake) || pthread_create(&p->thread, NULL, serve, p))
		abort();
}

void peer_server(const struct peer *p, const char *name, struct upstream_server *ret)
{
	*ret = (struct upstream_server){ .at = { .scheme = p->https ? ENDPOINT_HTTPS : ENDPOINT_TLS, .literal = true,
						 .addr = p->addr, .path = "/dns-query" } };
	snprintf(ret->at.name, sizeof(ret->at.name), "%s", name);
}

void peer_stop(struct peer *p)
{
	if (write(p->wake[1], "x", 1) != 1)
		abort();
	pthread_join(p->thread, NULL);
	close(p->listener);
	close(p->wake[0]);
	close(p->wake[1]);
	SSL_CTX_free(p->ctx);
}
