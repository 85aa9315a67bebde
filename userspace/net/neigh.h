/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * neigh.h - which MAC an address has, as the kernel's neighbour tables say.
 *
 * A copy of those tables, kept by netlink on one loop and read by any thread
 * without a lock.  The packet path sees the MAC in the frame; the daemon, which
 * gets datagrams, looks here for the group of a client that is known by its MAC.
 */
#ifndef NET_NEIGH_H
#define NET_NEIGH_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>
#include "base/count.h"
#include "base/err.h"

#define NEIGH_MAX 4096			/* addresses; more are counted and not known */

#define NEIGH_COUNTERS(ROW) \
	ROW(neigh_full,   "neighbours not known: the table is full") \
	ROW(neigh_again,  "times that the neighbours were read anew: changes came faster than they were read")

COUNT_ENUM(neigh_count, NEIGH_COUNTERS)

struct neigh;

/**
 * Read the neighbours of all interfaces of this network namespace, and follow
 * their changes on @loop.  Waits for the first reading, a second at most a message.
 *
 * Returns 0; -ENOMEM; or what the system said, with @reterr.
 */
int neigh_open(uv_loop_t *loop, struct neigh **ret, struct err_at *reterr);

/* Stop following; on the loop's thread, when no other thread looks any more.  The loop must turn once.  Takes NULL. */
void neigh_close(struct neigh *n);

/**
 * Find the MAC of an address, IPv4 in its mapped form; from any thread.
 *
 * Of a link-local address that is known on two interfaces, the one heard of last.
 *
 * Returns false when it is not known (now); @n may be NULL.
 */
bool neigh_find(const struct neigh *n, const uint8_t ip[16], uint8_t ret_mac[6]);

/*
 * Find an address of a MAC, an IPv4 one if there is; on the loop's thread.
 * False when no neighbour has it (now); @n may be NULL.
 */
bool neigh_find_ip(const struct neigh *n, const uint8_t mac[6], uint8_t ret_ip[16]);

#endif
