/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen.h - the local socket of the API.
 */
#ifndef API_LISTEN_H
#define API_LISTEN_H

#include <sys/types.h>
#include "base/err.h"

/**
 * Bind and listen at @path: mode 0660, owner @uid and @gid ((uid_t)-1: as they are).
 *
 * A socket that nobody answers at is replaced; what is not a socket never is.
 *
 * Returns 0 with a descriptor that the caller closes; -EADDRINUSE when
 * something answers there or the path is not a socket; -ENAMETOOLONG;
 * other negative errno.  @reterr says why.
 */
int api_listen(const char *path, uid_t uid, gid_t gid, int *ret_fd, struct err_at *reterr);

#endif
