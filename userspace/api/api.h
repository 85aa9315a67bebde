/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api.h - the admin API: HTTP and JSON over a local socket.
 *
 * One row per route in routes.c.  Handlers run on the API's own threads and
 * reach the daemon only through control/control.h.
 */
#ifndef API_API_H
#define API_API_H

#include <sys/types.h>
#include "base/err.h"
#include "control/control.h"

struct api;

/**
 * Listen on the Unix socket @path (made with mode 0660 and that owner; a
 * leftover of a dead daemon is replaced, a live one's is not).
 *
 * Returns 0; -EADDRINUSE when something answers there; other negative errno with @reterr.
 */
int api_start(struct control *c, const char *path, uid_t uid, gid_t gid, struct api **ret, struct err_at *reterr);

/* Ends all connections, removes the socket.  Takes NULL.  On the control thread, before control_stop(). */
void api_stop(struct api *a);

#endif
