/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake.h - a control that says what a test wants, and an API in front of it.
 *
 * fake.c defines every function of control/control.h that api/ calls, so the
 * real ones are not linked.
 */
#ifndef TESTS_UNIT_API_FAKE_H
#define TESTS_UNIT_API_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include "api/api.h"

#define FAKE_EVENTS 4

struct fake {
	int error;			/* of every picture and action */
	struct err_at reload_at;	/* with reload_error */
	int reload_error;
	bool block;			/* the next status waits until calls are refused */
	atomic_int waiting;		/* how many do */
	atomic_bool refusing;
	/* what was asked last */
	uint8_t name[256];
	uint16_t name_len;
	bool flushed_all;
	bool flushed_below;
	struct kern_why_query why;
	char kind[32];			/* of the object changed last */
	char asked[8192];		/* the last change in words */
	bool check;			/* objects that are put are checked against the fake's configuration */
	char check_why[512];
	/* tail */
	unsigned events;		/* sent to each reader before it waits */
	uint64_t lost;			/* said with the first */
	bool end;			/* after those: the daemon stops */
	atomic_int tails;
	atomic_int tails_closed;
};
extern struct fake fake;

/* Forget all behaviour. */
void fake_reset(void);

/* A folder of this process' own and a socket path in it; removed at exit. */
const char *fake_path(void);

/* Start and stop an API over the fake. */
struct api *fake_start(void);

/* One request over the socket; @ret (may be NULL) is the caller's.  Returns the status. */
unsigned ask(const char *method, const char *path, json_t **ret);

/* The same with a body (NULL: none). */
unsigned ask_with(const char *method, const char *path, const char *body, json_t **ret);

/* The value at "a.b.0.c" as text: strings as they are, the rest as JSON; "(none)" when it is not there. */
const char *at(const json_t *o, const char *path, char *buf, size_t size);

#endif
