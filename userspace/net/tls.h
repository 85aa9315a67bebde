/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tls.h - TLS for who asks other servers, as a filter of octets.
 *
 * Ciphertext goes in and out at one side, plain octets at the other; a stream
 * (net/stream.h) stands between it and the network.  No I/O, no clock but the
 * library's, no callback.  TLS 1.2 and 1.3 (RFC 8446, RFC 9325), without
 * renegotiation.
 *
 * While the clock shows a time before this program was made, it is not set yet,
 * and who sets it may need us: times in certificates do not count then, chain
 * and name do.
 *
 * A context is one thread's: its sessions are kept by the asker, a slot for
 * each server, so that the next connection resumes.
 */
#ifndef NET_TLS_H
#define NET_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

#define TLS_PIN_LEN 32			/* SHA-256 of a SubjectPublicKeyInfo */
#define TLS_WHY_MAX 192

struct tls_context;
struct tls;

/* What the last connection to a server left for the next; all zero: nothing.  Ended by tls_session_forget(). */
struct tls_session {
	void *kept;
};

/* Who the other side must be.  Borrowed by tls_new() for the call. */
struct tls_peer {
	const char *name;		/* what its certificate must be for: a name or an address */
	const char *alpn;		/* the protocol spoken inside: "dot", "h2" */
	bool alpn_needed;		/* refuse who does not choose it */
	const uint8_t (*pin)[TLS_PIN_LEN];
	unsigned pins;			/* not 0: the server's own key decides, chain and name do not (RFC 7858 section 4.2) */
	struct tls_session *session;	/* outlives the connection; NULL: every handshake is whole */
};

/**
 * @ca_file  certificates to trust, PEM; NULL: the system's
 *
 * Returns 0; -EINVAL with the reason when there is no certificate to trust in the file; -ENOMEM.
 */
int tls_context_new(const char *ca_file, struct tls_context **ret, struct err_at *reterr);

/* Whether the clock shows a time that can be right; while it does not, times in certificates do not count. */
bool tls_clock_is_set(void);

/* Takes NULL; connections must be gone. */
void tls_context_free(struct tls_context *c);

/**
 * Begin a connection; its first octets wait in tls_take().
 *
 * Returns 0; -EINVAL for a name that is none; -ENOMEM.
 */
int tls_new(struct tls_context *c, const struct tls_peer *peer, struct tls **ret);

/* Takes NULL. */
void tls_free(struct tls *t);

/**
 * Give what came from the network.
 *
 * Returns 0; -EACCES when the other side is not who it must be, -EPROTO when
 * it does not speak TLS as we do; tls_why() then says more.  An alert for the
 * other side may wait in tls_take() all the same.
 */
int tls_feed(struct tls *t, const uint8_t *octets, size_t count);

/* Whether the handshake is over: from then on octets may be written. */
bool tls_is_ready(const struct tls *t);

/* Whether the connection went on where an older one had stopped. */
bool tls_is_resumed(const struct tls *t);

/**
 * Read plain octets.
 *
 * Returns how many; 0: none are here; -ESHUTDOWN: the other side has ended the
 * connection properly; -EPROTO.
 */
int tls_read(struct tls *t, uint8_t *buf, size_t size);

/* Write all the plain octets (only when ready).  Returns 0, -ENOMEM or -EPROTO. */
int tls_write(struct tls *t, const uint8_t *octets, size_t count);

/* Say good-bye: the alert waits in tls_take(). */
void tls_end(struct tls *t);

/* Octets that are to go to the network, and taking so many of them. */
size_t tls_waiting(const struct tls *t);
size_t tls_take(struct tls *t, uint8_t *buf, size_t size);

/* Why tls_feed() refused, for people: "certificate has expired"; "" when it did not. */
const char *tls_why(const struct tls *t);

void tls_session_forget(struct tls_session *s);

#endif
