/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * change.h - tells that addresses, links or routes of this machine have changed.
 *
 * What a message of netlink says may be old by then, or lost when the socket
 * was full: it is only the sign to look again.  Many come in a row, so one sign
 * is given a moment after the first of them.
 */
#ifndef NET_CHANGE_H
#define NET_CHANGE_H

#include <uv.h>
#include "base/err.h"

#define CHANGE_WAIT_MS 50

struct change;

/**
 * Begin to listen on @loop.
 *
 * Returns 0; -ENOMEM; or what the system said, with @reterr.
 */
int change_open(uv_loop_t *loop, void (*changed)(void *arg), void *arg, struct change **ret, struct err_at *reterr);

/* The loop must turn once for the memory to go.  Takes NULL. */
void change_close(struct change *c);

#endif
