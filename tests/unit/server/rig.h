/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rig.h - one worker with fake queries on a free port, and clients to ask it.
 */
#ifndef TESTS_SERVER_RIG_H
#define TESTS_SERVER_RIG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "unit/server/fake.h"

#define RIG_PATIENCE_MS 5000		/* what should come is waited for so long */

struct rig {
	struct fake fake;
	struct worker *w;
	uint16_t port;
};

/* Start a worker on @listen ("127.0.0.1,::1") with the bounds of @opts (may be NULL). */
void rig_start(struct rig *r, const char *listen, const struct worker_opts *opts);

/* Stop it and check that nothing was lost and all was freed. */
void rig_end(struct rig *r);

/* A port that nobody uses, over UDP and TCP. */
uint16_t rig_free_port(void);

/* A client's socket, connected to @ip at the rig's port; receives wait RIG_PATIENCE_MS at most. */
int rig_udp(const struct rig *r, const char *ip);
int rig_tcp(const struct rig *r, const char *ip);
int rig_tcp_from(const struct rig *r, const char *ip, const char *from);

/* Send a framed message; read a framed answer into @buf: its size, 0 when the server has closed, -1 when nothing came. */
void rig_tcp_send(int fd, const uint8_t *msg, size_t size);
int rig_tcp_read(int fd, uint8_t *buf, size_t size);

/* True when the server has closed the connection within RIG_PATIENCE_MS. */
bool rig_tcp_is_closed(int fd);

/* The value of a counter, by name. */
uint64_t rig_count(const char *name);

/* Wait until *@value is at least @least; false after RIG_PATIENCE_MS. */
bool rig_wait(const _Atomic unsigned *value, unsigned least);
bool rig_wait_count(const char *name, uint64_t least);

void rig_sleep_ms(unsigned ms);

#endif
