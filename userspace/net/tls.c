/* SPDX-License-Identifier: BSD-2-Clause */
/* tls.c - TLS for who asks other servers. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <openssl/err.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include "net/tls.h"

#define PINS_MAX 8
#define ALPN_MAX 16
#define MADE_S   1704067200L		/* 2024-01-01: no right clock shows an earlier time */

struct tls_context {
	SSL_CTX *ctx;
};

struct tls {
	SSL *ssl;			/* owns the two below */
	BIO *in;
	BIO *out;
	struct tls_session *session;
	unsigned pins;
	uint8_t pin[PINS_MAX][TLS_PIN_LEN];
	bool alpn_needed;
	bool refused;			/* by the check of the certificate or of the key */
	bool failed;
	char why[TLS_WHY_MAX];
};

static int failed(struct tls *t, int err, const char *why)
{
	t->failed = true;
	if (!*t->why)
		snprintf(t->why, sizeof(t->why), "%s", why);
	return err;
}

/* ---- who the other side is ---- */

static bool is_pinned(const struct tls *t, X509 *cert)
{
	uint8_t digest[TLS_PIN_LEN], *der = NULL;
	int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(cert), &der);
	bool found = false;

	if (len <= 0)
		return false;
	SHA256(der, (size_t)len, digest);
	OPENSSL_free(der);
	for (unsigned i = 0; i < t->pins && !found; i++)
		found = !memcmp(digest, t->pin[i], sizeof(digest));
	return found;
}

/*
 * With pins, the key decides whose possession the handshake proves.  Those of
 * the certificates which came along prove nothing: anybody can send them.
 */
static int check_pins(X509_STORE_CTX *store, struct tls *t)
{
	if (is_pinned(t, X509_STORE_CTX_get0_cert(store))) {
		X509_STORE_CTX_set_error(store, X509_V_OK);
		return 1;
	}
	X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
	snprintf(t->why, sizeof(t->why), "the key of the certificate is none of those that are pinned");
	t->refused = true;
	return 0;
}

bool tls_clock_is_set(void)
{
	return time(NULL) >= MADE_S;
}

static int check(X509_STORE_CTX *store, void *arg)
{
	SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct tls *t = SSL_get_app_data(ssl);

	if (t->pins)
		return check_pins(store, t);
	if (!tls_clock_is_set())
		X509_STORE_CTX_set_flags(store, X509_V_FLAG_NO_CHECK_TIME);
	if (X509_verify_cert(store) > 0)
		return 1;
	t->refused = true;
	snprintf(t->why, sizeof(t->why), "%s", X509_verify_cert_error_string(X509_STORE_CTX_get_error(store)));
	return 0;
}

/* ---- sessions ---- */

static int keep_session(SSL *ssl, SSL_SESSION *session)
{
	struct tls *t = SSL_get_app_data(ssl);

	if (!t->session)
		return 0;
	tls_session_forget(t->session);
	t->session->kept = session;
	return 1;			/* the reference is ours now */
}

void tls_session_forget(struct tls_session *s)
{
	SSL_SESSION_free(s->kept);
	s->kept = NULL;
}

/* ---- contexts ---- */

static int trust(SSL_CTX *ctx, const char *ca_file, struct err_at *reterr)
{
	if (!ca_file) {
		SSL_CTX_set_default_verify_paths(ctx);
		ERR_clear_error();
		return 0;
	}
	if (SSL_CTX_load_verify_file(ctx, ca_file))
		return 0;
	ERR_clear_error();
	err_where(reterr, ca_file, 0, NULL);
	return err_why(reterr, -EINVAL, "there is no certificate to trust in this file; expected one or more in PEM form");
}

int tls_context_new(const char *ca_file, struct tls_context **ret, struct err_at *reterr)
{
	struct tls_context *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	if (!c)
		return -ENOMEM;
	c->ctx = SSL_CTX_new(TLS_client_method());
	if (!c->ctx)
		goto out;
	SSL_CTX_set_min_proto_version(c->ctx, TLS1_2_VERSION);
	SSL_CTX_set_options(c->ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_mode(c->ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE);
	SSL_CTX_set_verify(c->ctx, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_cert_verify_callback(c->ctx, check, NULL);
	SSL_CTX_set_session_cache_mode(c->ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(c->ctx, keep_session);
	err = trust(c->ctx, ca_file, reterr);
out:
	if (err)
		tls_context_free(c);
	else
		*ret = c;
	return err;
}

void tls_context_free(struct tls_context *c)
{
	if (!c)
		return;
	SSL_CTX_free(c->ctx);
	free(c);
}

/* ---- connections ---- */

/* The name is asked for (RFC 6066 section 3) and checked; an address is only checked. */
static int set_name(SSL *ssl, const char *name)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);

	if (X509_VERIFY_PARAM_set1_ip_asc(param, name))
		return 0;
	ERR_clear_error();
	X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (!SSL_set_tlsext_host_name(ssl, name) || !X509_VERIFY_PARAM_set1_host(param, name, 0)) {
		ERR_clear_error();
		return -EINVAL;
	}
	return 0;
}

static int set_alpn(SSL *ssl, const char *alpn)
{
	size_t len = alpn ? strlen(alpn) : 0;
	uint8_t wire[1 + ALPN_MAX];

	if (!len)
		return 0;
	if (len > ALPN_MAX)
		return -EINVAL;
	wire[0] = (uint8_t)len;
	memcpy(wire + 1, alpn, len);
	return SSL_set_alpn_protos(ssl, wire, (unsigned)len + 1) ? -ENOMEM : 0;
}

/* One more step of the handshake. */
static int shake(struct tls *t)
{
	const uint8_t *chosen = NULL;
	unsigned len = 0;
	const char *said;
	int n, reason;

	ERR_clear_error();		/* what others of the thread have left would be taken for ours */
	n = SSL_do_handshake(t->ssl);
	if (n == 1) {
		SSL_get0_alpn_selected(t->ssl, &chosen, &len);
		if (!len && t->alpn_needed)
			return failed(t, -EPROTO, "the server does not offer the protocol that was asked for");
		return 0;
	}
	reason = SSL_get_error(t->ssl, n);
	if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE)
		return 0;
	said = ERR_reason_error_string(ERR_peek_error());
	ERR_clear_error();
	return failed(t, t->refused ? -EACCES : -EPROTO, said ? said : "the server ended the handshake");
}

static int begin(struct tls *t, const struct tls_peer *peer)
{
	int err;

	t->in = BIO_new(BIO_s_mem());
	t->out = BIO_new(BIO_s_mem());
	if (!t->in || !t->out) {
		BIO_free(t->in);
		BIO_free(t->out);
		return -ENOMEM;
	}
	BIO_set_mem_eof_return(t->in, -1);
	SSL_set_bio(t->ssl, t->in, t->out);
	SSL_set_app_data(t->ssl, t);
	SSL_set_connect_state(t->ssl);
	err = peer->name ? set_name(t->ssl, peer->name) : 0;
	if (!err)
		err = set_alpn(t->ssl, peer->alpn);
	if (!err && t->session && t->session->kept && !SSL_set_session(t->ssl, t->session->kept))
		tls_session_forget(t->session);
	ERR_clear_error();
	return err ? err : shake(t);
}

int tls_new(struct tls_context *c, const struct tls_peer *peer, struct tls **ret)
{
	struct tls *t = calloc(1, sizeof(*t));
	int err = -ENOMEM;

	if (!t)
		return -ENOMEM;
	t->pins = peer->pins < PINS_MAX ? peer->pins : PINS_MAX;
	if (t->pins)
		memcpy(t->pin, peer->pin, t->pins * sizeof(t->pin[0]));
	t->session = peer->session;
	t->alpn_needed = peer->alpn_needed;
	t->ssl = SSL_new(c->ctx);
	if (t->ssl)
		err = begin(t, peer);
	if (err)
		tls_free(t);
	else
		*ret = t;
	return err;
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	if (tls_is_ready(t))		/* a connection that simply broke may be resumed all the same */
		SSL_set_shutdown(t->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(t->ssl);
	free(t);
}

int tls_feed(struct tls *t, const uint8_t *octets, size_t count)
{
	size_t taken;

	if (t->failed)
		return -EPROTO;
	if (count && (!BIO_write_ex(t->in, octets, count, &taken) || taken != count))
		return failed(t, -ENOMEM, "memory is out");
	return SSL_is_init_finished(t->ssl) ? 0 : shake(t);
}

bool tls_is_ready(const struct tls *t)
{
	return t->ssl && !t->failed && SSL_is_init_finished(t->ssl);
}

bool tls_is_resumed(const struct tls *t)
{
	return SSL_session_reused(t->ssl);
}

/* What a read or a write that did not go through means. */
static int broken(struct tls *t, int n)
{
	switch (SSL_get_error(t->ssl, n)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return 0;
	case SSL_ERROR_ZERO_RETURN:
		return -ESHUTDOWN;
	default:
		ERR_clear_error();
		return failed(t, -EPROTO, "the connection's octets are not what TLS makes");
	}
}

int tls_read(struct tls *t, uint8_t *buf, size_t size)
{
	int n;

	if (!tls_is_ready(t))
		return t->failed ? -EPROTO : 0;
	ERR_clear_error();
	n = SSL_read(t->ssl, buf, size < INT_MAX ? (int)size : INT_MAX);
	return n > 0 ? n : broken(t, n);
}

int tls_write(struct tls *t, const uint8_t *octets, size_t count)
{
	size_t taken;
	int err;

	ERR_clear_error();
	while (count) {
		if (!SSL_write_ex(t->ssl, octets, count, &taken)) {
			err = broken(t, 0);
			return err ? err : failed(t, -EPROTO, "the connection does not take octets yet");
		}
		octets += taken;
		count -= taken;
	}
	return 0;
}

void tls_end(struct tls *t)
{
	if (tls_is_ready(t))
		SSL_shutdown(t->ssl);
	ERR_clear_error();
}

size_t tls_waiting(const struct tls *t)
{
	return BIO_ctrl_pending(t->out);
}

size_t tls_take(struct tls *t, uint8_t *buf, size_t size)
{
	size_t n = 0;

	return size && BIO_read_ex(t->out, buf, size, &n) ? n : 0;
}

const char *tls_why(const struct tls *t)
{
	return t->why;
}
