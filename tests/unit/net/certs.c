/* SPDX-License-Identifier: BSD-2-Clause */
/* certs.c - certificates for tests. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include "tests/unit/net/certs.h"

static void extend(X509 *cert, X509 *issuer, int what, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *e;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	e = X509V3_EXT_conf_nid(NULL, &ctx, what, value);
	assert(e);
	X509_add_ext(cert, e, -1);
	X509_EXTENSION_free(e);
}

struct certs certs_make(const struct certs *by, const char *alt, long from, long until)
{
	struct certs c = { X509_new(), EVP_EC_gen("P-256") };
	X509_NAME *name;
	static long serial;
	char text[32];

	assert(c.cert && c.key);
	if (!by)
		by = &c;
	X509_set_version(c.cert, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(c.cert), ++serial);
	X509_gmtime_adj(X509_getm_notBefore(c.cert), from);
	X509_gmtime_adj(X509_getm_notAfter(c.cert), until);
	X509_set_pubkey(c.cert, c.key);
	snprintf(text, sizeof(text), "%s %ld", by == &c ? "authority" : "server", serial);
	name = X509_get_subject_name(c.cert);
	X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)text, -1, -1, 0);
	X509_set_issuer_name(c.cert, X509_get_subject_name(by->cert));
	extend(c.cert, by->cert, NID_basic_constraints, by == &c ? "critical,CA:TRUE" : "CA:FALSE");
	if (alt)
		extend(c.cert, by->cert, NID_subject_alt_name, alt);
	assert(X509_sign(c.cert, by->key, EVP_sha256()));
	return c;
}

void certs_free(struct certs *c)
{
	X509_free(c->cert);
	EVP_PKEY_free(c->key);
}

void certs_write(const struct certs *c, char *ret)
{
	int fd = mkstemp(ret);
	FILE *f = fdopen(fd, "w");

	assert(f);
	PEM_write_X509(f, c->cert);
	fclose(f);
}
