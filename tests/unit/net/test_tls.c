/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tls.c - the TLS filter against the library's server side, octets carried by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include <openssl/err.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include "net/tls.h"
#include "tests/unit/net/certs.h"

#define DAY 86400L

/* The clock of this program, the library's in it: 0 is the real one. */
static time_t clock_s;

time_t time(time_t *ret)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (clock_s)
		ts.tv_sec = clock_s;
	if (ret)
		*ret = ts.tv_sec;
	return ts.tv_sec;
}

/* The server side and the wire. */
struct side {
	SSL_CTX *ctx;
	SSL *ssl;
	BIO *in, *out;
};

struct rig {
	struct certs authority, other, good, expired, early, foreign;
	char trusted[32];
	struct tls_context *c;
};

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	r->authority = certs_make(NULL, NULL, -DAY, DAY);
	r->other = certs_make(NULL, NULL, -DAY, DAY);
	r->good = certs_make(&r->authority, "DNS:dns.example,DNS:*.wild.example,IP:192.0.2.1", -DAY, DAY);
	r->expired = certs_make(&r->authority, "DNS:dns.example", -2 * DAY, -DAY);
	r->early = certs_make(&r->authority, "DNS:dns.example", DAY, 2 * DAY);
	r->foreign = certs_make(&r->other, "DNS:dns.example", -DAY, DAY);
	strcpy(r->trusted, "/tmp/mr-tls-XXXXXX");
	certs_write(&r->authority, r->trusted);
	assert_int_equal(tls_context_new(r->trusted, &r->c, NULL), 0);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;
	struct certs *all[] = { &r->authority, &r->other, &r->good, &r->expired, &r->early, &r->foreign };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		certs_free(all[i]);
	tls_context_free(r->c);
	unlink(r->trusted);
	free(r);
	return 0;
}

/* ---- the server ---- */

static int choose(SSL *ssl, const unsigned char **out, unsigned char *len, const unsigned char *in, unsigned in_len,
		  void *arg)
{
	return SSL_select_next_proto((unsigned char **)out, len, arg, (unsigned)strlen(arg), in, in_len) ==
	       OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

static void server(struct side *s, const struct certs *c, int version, const char *alpn)
{
	s->ctx = SSL_CTX_new(TLS_server_method());
	SSL_CTX_use_certificate(s->ctx, c->cert);
	SSL_CTX_use_PrivateKey(s->ctx, c->key);
	SSL_CTX_set_min_proto_version(s->ctx, version);
	SSL_CTX_set_max_proto_version(s->ctx, version);
	if (alpn)
		SSL_CTX_set_alpn_select_cb(s->ctx, choose, (void *)alpn);
}

static void accept_one(struct side *s)
{
	SSL_free(s->ssl);
	s->ssl = SSL_new(s->ctx);
	s->in = BIO_new(BIO_s_mem());
	s->out = BIO_new(BIO_s_mem());
	BIO_set_mem_eof_return(s->in, -1);
	SSL_set_bio(s->ssl, s->in, s->out);
	SSL_set_accept_state(s->ssl);
}

static void server_free(struct side *s)
{
	SSL_free(s->ssl);
	SSL_CTX_free(s->ctx);
}

/* Carry octets both ways, so many at a time, until nothing moves.  Returns the first error of the client's. */
static int carry(struct tls *t, struct side *s, size_t piece)
{
	uint8_t buf[4096];
	int err = 0, n;
	size_t size;

	for (;;) {
		size = tls_take(t, buf, piece);
		if (size) {
			BIO_write(s->in, buf, (int)size);
			SSL_do_handshake(s->ssl);
			continue;
		}
		n = BIO_read(s->out, buf, (int)piece);
		if (n <= 0 || err)
			return err;
		err = tls_feed(t, buf, (size_t)n);
	}
}

/* ---- handshakes ---- */

static const struct shake_case {
	const char *name;
	size_t cert;			/* offset in the rig */
	const char *peer;
	const char *pin;		/* "own", "authority", "wrong"; NULL: none */
	int version;
	int err;
	const char *why;
} shakes[] = {
#define CERT(c) offsetof(struct rig, c)
	{ "a_good_certificate_is_taken", CERT(good), "dns.example", NULL, TLS1_3_VERSION, 0, "" },
	{ "by_tls_1_2_as_by_1_3", CERT(good), "dns.example", NULL, TLS1_2_VERSION, 0, "" },
	{ "tls_1_1_is_not_spoken", CERT(good), "dns.example", NULL, TLS1_1_VERSION, -EPROTO, "protocol" },
	{ "an_address_in_the_certificate_counts", CERT(good), "192.0.2.1", NULL, TLS1_3_VERSION, 0, "" },
	{ "another_address_does_not", CERT(good), "192.0.2.2", NULL, TLS1_3_VERSION, -EACCES, "IP address mismatch" },
	{ "a_wildcard_counts_for_one_label", CERT(good), "a.wild.example", NULL, TLS1_3_VERSION, 0, "" },
	{ "and_not_for_two", CERT(good), "a.b.wild.example", NULL, TLS1_3_VERSION, -EACCES, "hostname mismatch" },
	{ "another_name_is_refused", CERT(good), "other.example", NULL, TLS1_3_VERSION, -EACCES, "hostname mismatch" },
	{ "an_expired_one_is_refused", CERT(expired), "dns.example", NULL, TLS1_3_VERSION, -EACCES, "certificate has expired" },
	{ "by_tls_1_2_as_well", CERT(expired), "dns.example", NULL, TLS1_2_VERSION, -EACCES, "certificate has expired" },
	{ "one_from_tomorrow_is_refused", CERT(early), "dns.example", NULL, TLS1_3_VERSION, -EACCES, "not yet valid" },
	{ "another_authority_is_refused", CERT(foreign), "dns.example", NULL, TLS1_3_VERSION, -EACCES, "local issuer" },
	{ "its_pinned_key_is_enough", CERT(foreign), "dns.example", "own", TLS1_3_VERSION, 0, "" },
	{ "whatever_the_name", CERT(foreign), "x.example", "own", TLS1_2_VERSION, 0, "" },
	{ "another_key_than_the_pinned_one_is_refused", CERT(good), "dns.example", "wrong", TLS1_3_VERSION, -EACCES, "pinned" },
};

static void pin_of(const struct rig *r, const struct shake_case *c, const struct certs *cert, uint8_t ret[TLS_PIN_LEN])
{
	const struct certs *of = strcmp(c->pin, "own") ? &r->other : cert;
	uint8_t *der = NULL;
	int len = i2d_PUBKEY(of->key, &der);

	SHA256(der, (size_t)len, ret);
	OPENSSL_free(der);
}

static void handshake(struct rig *r, const struct shake_case *c)
{
	const struct certs *cert = (const struct certs *)((const char *)r + c->cert);
	static const size_t pieces[] = { 4096, 1, 100 };
	uint8_t pin[1][TLS_PIN_LEN];
	struct tls_peer peer = { .name = c->peer, .alpn = "dot" };

	if (c->pin) {
		pin_of(r, c, cert, pin[0]);
		peer.pin = pin;
		peer.pins = 1;
	}
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		struct side s = { 0 };
		struct tls *t;

		server(&s, cert, c->version, "\3dot");
		accept_one(&s);
		assert_int_equal(tls_new(r->c, &peer, &t), 0);
		assert_int_equal(carry(t, &s, pieces[i]), c->err);
		assert_int_equal(tls_is_ready(t), !c->err);
		if (!strstr(tls_why(t), c->why))
			fail_msg("\"%s\" does not say \"%s\"", tls_why(t), c->why);
		assert_int_equal(!!*tls_why(t), !!c->err);
		tls_free(t);
		server_free(&s);
	}
}

#define SHAKE_TESTS (sizeof(shakes) / sizeof(shakes[0]))
static struct rig *rig;

static void handshake_case(void **state)
{
	handshake(rig, *state);
}

/* ---- what else a connection does ---- */

static void octets_go_both_ways(void **state)
{
	static uint8_t much[100000], got[100000];
	const struct tls_peer peer = { .name = "dns.example" };
	struct side s = { 0 };
	uint8_t buf[4096];
	size_t at = 0, n;
	struct tls *t;
	int len;

	for (size_t i = 0; i < sizeof(much); i++)
		much[i] = (uint8_t)(i * 7);
	server(&s, &rig->good, TLS1_3_VERSION, NULL);
	accept_one(&s);
	assert_int_equal(tls_new(rig->c, &peer, &t), 0);
	assert_int_equal(carry(t, &s, 4096), 0);
	assert_int_equal(tls_write(t, much, sizeof(much)), 0);
	while ((n = tls_take(t, buf, sizeof(buf))) > 0)
		BIO_write(s.in, buf, (int)n);
	while (SSL_read_ex(s.ssl, got + at, sizeof(got) - at, &n))
		at += n;
	assert_int_equal(at, sizeof(much));
	assert_memory_equal(got, much, sizeof(much));
	SSL_write(s.ssl, "answer", 6);
	SSL_shutdown(s.ssl);
	len = BIO_read(s.out, buf, sizeof(buf));
	assert_int_equal(tls_feed(t, buf, (size_t)len), 0);
	assert_int_equal(tls_read(t, buf, sizeof(buf)), 6);
	assert_memory_equal(buf, "answer", 6);
	assert_int_equal(tls_read(t, buf, sizeof(buf)), -ESHUTDOWN);
	tls_free(t);
	server_free(&s);
}

static void garbage_is_not_tls(void **state)
{
	const struct tls_peer peer = { .name = "dns.example" };
	struct tls *t;

	assert_int_equal(tls_new(rig->c, &peer, &t), 0);
	assert_int_equal(tls_feed(t, (const uint8_t *)"HTTP/1.1 400 Bad Request\r\n", 26), -EPROTO);
	assert_true(*tls_why(t));
	assert_int_equal(tls_feed(t, (const uint8_t *)"x", 1), -EPROTO);
	tls_free(t);
}

static void resume(int version)
{
	struct tls_session session = { NULL };
	const struct tls_peer peer = { .name = "dns.example", .session = &session };
	struct side s = { 0 };
	uint8_t buf[16];
	struct tls *t;

	server(&s, &rig->good, version, NULL);
	for (int i = 0; i < 3; i++) {
		accept_one(&s);
		assert_int_equal(tls_new(rig->c, &peer, &t), 0);
		assert_int_equal(carry(t, &s, 4096), 0);
		assert_int_equal(tls_read(t, buf, sizeof(buf)), 0);	/* tickets of TLS 1.3 come with the first octets */
		assert_int_equal(tls_is_resumed(t), i > 0);
		tls_free(t);
	}
	tls_session_forget(&session);
	server_free(&s);
}

static void the_next_connection_resumes(void **state)
{
	resume(TLS1_3_VERSION);
}

static void by_tls_1_2_too(void **state)
{
	resume(TLS1_2_VERSION);
}

static void a_server_without_the_protocol(void **state)
{
	struct tls_peer peer = { .name = "dns.example", .alpn = "h2", .alpn_needed = true };
	struct side s = { 0 };
	struct tls *t;

	server(&s, &rig->good, TLS1_3_VERSION, NULL);
	accept_one(&s);
	assert_int_equal(tls_new(rig->c, &peer, &t), 0);
	assert_int_equal(carry(t, &s, 4096), -EPROTO);
	assert_non_null(strstr(tls_why(t), "protocol"));
	tls_free(t);
	accept_one(&s);
	peer.alpn_needed = false;
	assert_int_equal(tls_new(rig->c, &peer, &t), 0);
	assert_int_equal(carry(t, &s, 4096), 0);
	tls_free(t);
	server_free(&s);
}

/* Whoever stands between may send the pinned certificate along with his own. */
static void a_pinned_certificate_that_only_came_along_proves_nothing(void **state)
{
	struct tls_peer peer = { .name = "dns.example", .pins = 1 };
	uint8_t pin[1][TLS_PIN_LEN], *der = NULL;
	struct side s = { 0 };
	struct tls *t;
	int len;

	len = i2d_PUBKEY(rig->good.key, &der);
	SHA256(der, (size_t)len, pin[0]);
	OPENSSL_free(der);
	peer.pin = pin;
	server(&s, &rig->foreign, TLS1_3_VERSION, NULL);
	assert_true(SSL_CTX_add1_chain_cert(s.ctx, rig->good.cert));
	accept_one(&s);
	assert_int_equal(tls_new(rig->c, &peer, &t), 0);
	assert_int_equal(carry(t, &s, 4096), -EACCES);
	assert_non_null(strstr(tls_why(t), "pinned"));
	tls_free(t);
	server_free(&s);
}

/* The clock is not set yet, as at the start of a machine without a battery. */
static int shake_in_1970(const struct certs *cert, const char *name)
{
	struct tls_peer peer = { .name = name };
	struct side s = { 0 };
	struct tls *t;
	int err;

	server(&s, cert, TLS1_3_VERSION, NULL);
	accept_one(&s);
	assert_int_equal(tls_new(rig->c, &peer, &t), 0);
	clock_s = 1000;
	err = carry(t, &s, 4096);
	clock_s = 0;
	tls_free(t);
	server_free(&s);
	return err;
}

static void before_the_clock_is_set_times_do_not_count(void **state)
{
	assert_int_equal(shake_in_1970(&rig->good, "dns.example"), 0);
	assert_int_equal(shake_in_1970(&rig->good, "other.example"), -EACCES);
	assert_int_equal(shake_in_1970(&rig->foreign, "dns.example"), -EACCES);
}

/* As another user of the library may leave them. */
static void errors_of_others_are_not_taken_for_ours(void **state)
{
	const struct tls_peer peer = { .name = "dns.example" };
	struct side s = { 0 };
	uint8_t buf[16];
	struct tls *t;

	server(&s, &rig->good, TLS1_3_VERSION, NULL);
	accept_one(&s);
	assert_int_equal(tls_new(rig->c, &peer, &t), 0);
	assert_int_equal(carry(t, &s, 4096), 0);
	assert_int_equal(tls_read(t, buf, sizeof(buf)), 0);	/* takes the tickets */
	ERR_raise(ERR_LIB_SSL, ERR_R_INTERNAL_ERROR);
	assert_int_equal(tls_read(t, buf, sizeof(buf)), 0);
	tls_free(t);
	server_free(&s);
}

static void a_file_without_certificates_is_refused(void **state)
{
	struct tls_context *c = NULL;
	struct err_at e = { 0 };

	assert_int_equal(tls_context_new("/dev/null", &c, &e), -EINVAL);
	assert_string_equal(e.file, "/dev/null");
	assert_non_null(strstr(e.why, "PEM"));
	assert_null(c);
}

int main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(octets_go_both_ways),
		cmocka_unit_test(garbage_is_not_tls),
		cmocka_unit_test(the_next_connection_resumes),
		cmocka_unit_test(by_tls_1_2_too),
		cmocka_unit_test(a_server_without_the_protocol),
		cmocka_unit_test(a_pinned_certificate_that_only_came_along_proves_nothing),
		cmocka_unit_test(before_the_clock_is_set_times_do_not_count),
		cmocka_unit_test(errors_of_others_are_not_taken_for_ours),
		cmocka_unit_test(a_file_without_certificates_is_refused),
	};
	static struct CMUnitTest tests[SHAKE_TESTS + sizeof(others) / sizeof(others[0])];
	void *state;
	int failed;

	for (size_t i = 0; i < SHAKE_TESTS; i++)
		tests[i] = (struct CMUnitTest){ shakes[i].name, handshake_case, NULL, NULL, (void *)&shakes[i] };
	memcpy(tests + SHAKE_TESTS, others, sizeof(others));
	setup(&state);
	rig = state;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	teardown(&state);
	return failed;
}
