/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * certs.h - certificates for tests, made on the spot: an authority and what it signs.
 */
#ifndef TESTS_CERTS_H
#define TESTS_CERTS_H

#include <openssl/evp.h>
#include <openssl/x509.h>

/* A certificate with its key; both are the owner's. */
struct certs {
	X509 *cert;
	EVP_PKEY *key;
};

/*
 * Make one.  @by NULL: it signs itself and may sign others.  @alt: subject
 * alternative names as OpenSSL reads them ("DNS:dns.example,IP:192.0.2.1"),
 * or NULL.  It is valid from @from to @until seconds from now.
 */
struct certs certs_make(const struct certs *by, const char *alt, long from, long until);
void certs_free(struct certs *c);

/* Write the certificate as PEM to a new file, whose name is returned in @ret (a template for mkstemp). */
void certs_write(const struct certs *c, char *ret);

#endif
