/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer.h - an upstream server over TLS or HTTPS on a thread, that answers well or badly as told.
 */
#ifndef TESTS_UPSTREAM_PEER_H
#define TESTS_UPSTREAM_PEER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <openssl/ssl.h>
#include "base/addr.h"
#include "unit/net/certs.h"
#include "upstream/upstream.h"

/* "Late" ones begin behind peer.limit queries on a connection; until then, and without any, it answers well. */
enum peer_mode {
	PEER_SERVE,
	PEER_LATE_REFUSED,		/* the rcode */
	PEER_LATE_CLOSE,
	PEER_SILENT,
	PEER_WRONG_QUESTION,
	PEER_REVERSE,			/* answer ten at a time, the last first */
	PEER_GARBAGE,			/* octets inside TLS that are no frame */
	/* HTTPS's */
	PEER_STATUS,			/* 503 */
	PEER_TYPE,			/* text/html */
	PEER_TYPE_PARAMETER,		/* the right one, with a parameter behind and in other letters */
	PEER_BIG,			/* 70,000 octets */
	PEER_LONGEST,			/* 65,535 octets */
	PEER_EMPTY,
	PEER_AGE,			/* 20 seconds in a cache */
	PEER_RESET,			/* INTERNAL_ERROR */
	PEER_LATE_REFUSED_STREAM,
	PEER_LATE_GOAWAY,		/* and no answer to what is beyond */
};

struct peer {
	struct addr addr;
	uint8_t tag;			/* its answers are 192.0.2.tag */
	bool https;
	int tls_version;		/* the only one it speaks; 0: 1.2 and 1.3 */
	const char *alpn;		/* of its own wire form; NULL: knows none */
	uint32_t streams_max;		/* HTTPS: at once on a connection; 0: 100 */
	_Atomic int mode;
	_Atomic unsigned limit;
	_Atomic unsigned shake_ms;	/* before the handshake goes on; UINT_MAX: never */
	_Atomic unsigned conns, open, handshakes, resumed, queries, dot, h2, gets, posts, with_id, goodbyes, resets;
	_Atomic unsigned odd_sizes;	/* queries that are no multiple of 128 octets */
	_Atomic unsigned at_once;	/* the most queries that waited on a connection */
	/* its own */
	SSL_CTX *ctx;
	pthread_t thread;
	int listener;
	int wake[2];
};

/* Start on @ip, some port; what is to be other than 0 from the start is set before. */
void peer_start(struct peer *p, const char *ip, uint8_t tag, const struct certs *cert);
void peer_stop(struct peer *p);

/* The peer as a server to be asked, by an address that its certificate must have or a name. */
void peer_server(const struct peer *p, const char *name, struct upstream_server *ret);

#endif
