/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub_tls.c - TLS as a filter of octets: it has no socket and no time.
 *
 * One context for all workers: certificate, key, versions, tickets.  A client
 * that offers ALPN must offer "dot", over HTTPS "h2"; without it DoT is served
 * and HTTPS is not (RFC 7858 section 3.1, RFC 9113 section 3.2).
 */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "tools/mrstub_worker.h"

struct stub_tls {
	SSL *ssl;
	BIO *from_wire, *to_wire;	/* the session's */
	bool https, greeted;
};

static SSL_CTX *context;

static int choose(SSL *ssl, const unsigned char **out, unsigned char *out_len, const unsigned char *in,
		  unsigned int in_len, void *arg)
{
	const struct stub_tls *t = SSL_get_app_data(ssl);
	const char *own = t->https ? "\2h2" : "\3dot";
	int how = SSL_select_next_proto((unsigned char **)out, out_len, (const unsigned char *)own, own[0] + 1, in,
					in_len);

	return how == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static int say(const char *what, const char *path)
{
	fprintf(stderr, "mrstub: %s '%s': %s\n", what, path, ERR_reason_error_string(ERR_peek_error()) ?: "no TLS");
	return -EINVAL;
}

int stub_tls_init(const char *cert, const char *key, const char *versions)
{
	int min = versions && !strcmp(versions, "1.3") ? TLS1_3_VERSION : TLS1_2_VERSION;
	int max = versions && !strcmp(versions, "1.2") ? TLS1_2_VERSION : TLS1_3_VERSION;

	if (versions && strcmp(versions, "1.2") && strcmp(versions, "1.3")) {
		fprintf(stderr, "mrstub: --tls-version '%s'; expected 1.2 or 1.3\n", versions);
		return -EINVAL;
	}
	context = SSL_CTX_new(TLS_server_method());
	if (!context || !SSL_CTX_set_min_proto_version(context, min) || !SSL_CTX_set_max_proto_version(context, max))
		return say("no context for", "TLS");
	if (SSL_CTX_use_certificate_chain_file(context, cert) != 1)
		return say("cannot use the certificate", cert);
	if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
		return say("cannot use the key", key);
	SSL_CTX_set_session_id_context(context, (const unsigned char *)"mrstub", 6);
	SSL_CTX_set_alpn_select_cb(context, choose, NULL);
	return 0;
}

void stub_tls_done(void)
{
	SSL_CTX_free(context);
	context = NULL;
}

struct stub_tls *stub_tls_new(bool https)
{
	struct stub_tls *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->https = https;
	t->ssl = SSL_new(context);
	t->from_wire = BIO_new(BIO_s_mem());
	t->to_wire = BIO_new(BIO_s_mem());
	if (!t->ssl || !t->from_wire || !t->to_wire) {
		BIO_free(t->from_wire);
		BIO_free(t->to_wire);
		SSL_free(t->ssl);
		free(t);
		return NULL;
	}
	SSL_set_bio(t->ssl, t->from_wire, t->to_wire);
	SSL_set_app_data(t->ssl, t);
	SSL_set_accept_state(t->ssl);
	return t;
}

void stub_tls_free(struct stub_tls *t)
{
	if (!t)
		return;
	SSL_free(t->ssl);
	free(t);
}

int stub_tls_in(struct stub_tls *t, const uint8_t *p, size_t len, struct stub_buf *plain, bool *ret_eof)
{
	uint8_t chunk[16384];
	int n;

	ERR_clear_error();
	if (BIO_write(t->from_wire, p, len) != (int)len)
		return -ENOMEM;
	while ((n = SSL_read(t->ssl, chunk, sizeof(chunk))) > 0)
		if (stub_buf_put(plain, chunk, n))
			return -ENOMEM;
	switch (SSL_get_error(t->ssl, n)) {
	case SSL_ERROR_WANT_READ:
		return 0;
	case SSL_ERROR_ZERO_RETURN:
		*ret_eof = true;
		return 0;
	default:
		return -EPROTO;
	}
}

int stub_tls_put(struct stub_tls *t, const uint8_t *p, size_t len)
{
	ERR_clear_error();
	return len && SSL_write(t->ssl, p, len) != (int)len ? -EPROTO : 0;
}

void stub_tls_end(struct stub_tls *t)
{
	ERR_clear_error();
	if (SSL_is_init_finished(t->ssl))
		SSL_shutdown(t->ssl);
}

int stub_tls_out(struct stub_tls *t, struct stub_buf *wire)
{
	uint8_t chunk[16384];
	int n;

	while ((n = BIO_read(t->to_wire, chunk, sizeof(chunk))) > 0)
		if (stub_buf_put(wire, chunk, n))
			return -ENOMEM;
	return 0;
}

bool stub_tls_greeted(struct stub_tls *t, bool *ret_resumed)
{
	if (t->greeted || !SSL_is_init_finished(t->ssl))
		return false;
	t->greeted = true;
	*ret_resumed = SSL_session_reused(t->ssl);
	return true;
}
