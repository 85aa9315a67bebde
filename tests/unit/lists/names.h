/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.h - a name server on a thread, loopback only, UDP and TCP on one port.
 */
#ifndef TESTS_LISTS_NAMES_H
#define TESTS_LISTS_NAMES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/addr.h"

enum names_mode {
	NAMES_ANSWER,
	NAMES_SILENT,
	NAMES_SERVFAIL,
	NAMES_TRUNCATE,			/* TC over UDP, the answer over TCP */
	NAMES_TCP_CLOSE,		/* TC over UDP, and over TCP the end */
	NAMES_FORGED,			/* wrong ID, then wrong name, then not a response, then the answer */
	NAMES_ONLY_FORGED,		/* and never the answer */
	NAMES_NO_AAAA,			/* silent to AAAA */
};

/* A record; a name with a CNAME goes on with its target, all in one answer. */
struct names_row {
	const char *name;
	const char *value;		/* address, or the name that it is an alias of */
};

struct names {
	struct addr addr;
	const struct names_row *rows;
	unsigned count;
	_Atomic int mode;
	_Atomic unsigned udp, tcp;	/* questions */
	uint16_t ids[64], ports[64];	/* of those over UDP; read them after names_stop() */
	_Atomic bool stop;
	int socket, listener;
	pthread_t thread;
};

void names_start(struct names *s, const struct names_row *rows, unsigned count);
void names_stop(struct names *s);

#endif
