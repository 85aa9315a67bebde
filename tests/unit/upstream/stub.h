/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stub.h - an upstream server on a thread, that answers well or badly as told.
 */
#ifndef TESTS_UPSTREAM_STUB_H
#define TESTS_UPSTREAM_STUB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/addr.h"

/* What a query is answered with; over TCP always as STUB_ANSWER, but for STUB_NXDOMAIN .. STUB_REFUSED. */
enum stub_mode {
	STUB_ANSWER,
	STUB_NXDOMAIN,
	STUB_SERVFAIL,
	STUB_REFUSED,
	STUB_SILENT,
	STUB_SILENT_NAMES,		/* to all but the root */
	STUB_SILENT_EDNS,		/* to queries with OPT only */
	STUB_TRUNCATE,			/* TC over UDP */
	STUB_FORMERR_EDNS,		/* to queries with OPT only */
	STUB_NOTIMP_EDNS,
	STUB_BARE_FORMERR_EDNS,		/* the same, a header without the question */
	STUB_BARE_SERVFAIL,
	STUB_UPPER_CASE,		/* the question's letters changed */
	STUB_OTHER_LETTERS,		/* the case of its first one changed, over UDP */
	/* first a packet that is not the answer, then the answer */
	STUB_WRONG_ID,
	STUB_WRONG_NAME,
	STUB_WRONG_TYPE,
	STUB_WRONG_CLASS,
	STUB_NOT_A_RESPONSE,
	STUB_SHORT,
	STUB_NO_QUESTION,		/* an answer, not an error, without question */
	STUB_OTHER_PORT,		/* a forged answer from another port of the same address */
	STUB_ONLY_WRONG_ID,		/* and never the answer */
};

enum stub_tcp {
	STUB_TCP_SERVE,
	STUB_TCP_ONE_EACH,		/* close when a second query comes on a connection */
	STUB_TCP_CLOSE,			/* close when a query comes */
	STUB_TCP_SILENT,
	STUB_TCP_REVERSE,		/* answer ten at a time, the last first */
	STUB_TCP_WRONG_ID,		/* first one that nobody asked */
};

#define STUB_SEEN 1024

struct stub {
	struct addr addr;
	uint8_t tag;			/* its answers are 192.0.2.tag */
	_Atomic int mode;
	_Atomic int tcp;
	_Atomic unsigned delay_ms;	/* before an answer over UDP, one at a time */
	_Atomic unsigned udp_queries, tcp_queries, tcp_conns, tcp_open, with_edns, with_do;
	_Atomic unsigned letters, capitals;	/* of questions, UDP and TCP */
	uint16_t ports[STUB_SEEN];	/* of the first queries over UDP: read them after stub_stop() */
	uint16_t ids[STUB_SEEN];
	uint8_t last[512];		/* the last query over UDP, zero behind it */
	/* its own */
	pthread_t thread;
	int udp, other, listener;
	int wake[2];
};

/* Start on @ip ("127.0.0.1", "::1"), some port, UDP and TCP. */
void stub_start(struct stub *s, const char *ip, uint8_t tag, enum stub_mode mode);
void stub_stop(struct stub *s);

/* Write the answer that a stub of that tag gives, or one of that rcode if it is not 0; returns its size. */
#define STUB_ANSWER_MAX 600
size_t stub_answer(uint8_t tag, unsigned rcode, const uint8_t *query, uint8_t ret[STUB_ANSWER_MAX]);

/* The tag inside an answer, -1 when it is none. */
int stub_tag(const uint8_t *msg, size_t size);

#endif
