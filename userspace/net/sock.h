/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock.h - sockets of our own, before anything watches them.
 *
 * All are non-blocking, closed on exec, and of one family only: an IPv6
 * wildcard does not take IPv4, so that both can be bound side by side.
 */
#ifndef NET_SOCK_H
#define NET_SOCK_H

#include "base/addr.h"

/**
 * Make a socket of the family of @a.
 *
 * @type  SOCK_DGRAM or SOCK_STREAM
 *
 * Returns 0 with the descriptor in @ret_fd (the caller's to close), or a
 * negative errno of socket() or setsockopt().
 */
int sock_new(const struct addr *a, int type, int *ret_fd);

/**
 * Make a socket and bind it to @a with SO_REUSEPORT, so that each worker has one
 * on the same address and the kernel spreads the clients.
 *
 * Returns 0 with @ret_fd and the address it got (the port, when @a has none)
 * in @ret_bound; or a negative errno: -EADDRINUSE, -EADDRNOTAVAIL, -EACCES ...
 */
int sock_bind(const struct addr *a, int type, int *ret_fd, struct addr *ret_bound);

/**
 * Bind a datagram socket that is going to be connected to @server to a random
 * port (RFC 5452 section 9.2), none of those that networks filter.  When ten
 * are all taken it stays unbound, and connect() lets the kernel choose.
 *
 * Returns 0, or a negative errno of bind().
 */
int sock_bind_random(int fd, const struct addr *server);

/**
 * Which of our addresses packets to @peer leave from now; nothing is sent.
 *
 * Returns 0 with it in @ret (port 0), or a negative errno: -ENETUNREACH ...
 */
int sock_source(const struct addr *peer, struct addr *ret);

#endif
