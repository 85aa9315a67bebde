/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp.h - datagrams in batches, with the address each was sent to.
 *
 * libuv's UDP handles do not tell the destination of a datagram, so these are
 * sockets of our own that the loop only polls.  One system call takes or gives
 * up to UDP_BATCH datagrams.  An answer leaves from the address its query came
 * to (IP_PKTINFO, RFC 3542 section 6.1).
 */
#ifndef NET_UDP_H
#define NET_UDP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include "base/addr.h"

#define UDP_BATCH    64
#define UDP_SIZE_MAX 4096		/* of a datagram taken; longer ones are reported as cut */

struct udp_socket {
	int fd;
	struct addr bound;
	bool any;			/* bound to the wildcard: destinations come with each datagram */
};

struct udp_datagram {
	const uint8_t *data;		/* in the batch, until the next udp_recv() */
	size_t size;
	struct addr peer;
	struct addr local;		/* what it was sent to */
};

/* Room for one control message of either family. */
union udp_control {
	char room[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	struct cmsghdr align;
};

/* What one call has taken. */
struct udp_in {
	unsigned count;
	const struct udp_socket *from;
	struct mmsghdr head[UDP_BATCH];
	struct iovec vec[UDP_BATCH];
	struct sockaddr_in6 name[UDP_BATCH];	/* long enough for both families */
	union udp_control control[UDP_BATCH];
	/* the odd line keeps the buffers' beginnings out of one and the same set of the first-level cache */
	uint8_t data[UDP_BATCH][UDP_SIZE_MAX + 64];
};

/* What one call shall give; data is borrowed until udp_send(). */
struct udp_out {
	unsigned count;
	struct mmsghdr head[UDP_BATCH];
	struct iovec vec[UDP_BATCH];
	struct sockaddr_storage name[UDP_BATCH];
	union udp_control control[UDP_BATCH];
};

/**
 * Open a socket that is ready for batches: SO_REUSEPORT, large buffers, the
 * destination of each datagram on a wildcard, and answers that follow the
 * interface's MTU whatever ICMP says (an off-path sender could otherwise force
 * fragments, and with them forged second halves; RFC 9715 section 3.1).
 *
 * Returns 0, or a negative errno of socket(), setsockopt() or bind().
 */
int udp_open(const struct addr *a, struct udp_socket *ret);

/**
 * Is the address free?  udp_open() cannot tell, since SO_REUSEPORT lets it share
 * an address with other processes of its kind, and takes clients from them.
 *
 * Returns 0, or a negative errno of bind(): -EADDRINUSE when somebody has it.
 */
int udp_probe(const struct addr *a);

/* Close; harmless when fd is -1. */
void udp_close(struct udp_socket *s);

/* Make the batch ready for its first udp_recv(). */
void udp_in_init(struct udp_in *in);

/**
 * Take the datagrams that wait, at most UDP_BATCH.
 *
 * Returns their number, 0 when none waits, or a negative errno.
 */
int udp_recv(const struct udp_socket *s, struct udp_in *in);

/**
 * Read datagram @i (below udp_recv()'s result).
 *
 * Returns false when it must not be used: longer than UDP_SIZE_MAX, or of
 * unknown destination.
 */
bool udp_in_get(const struct udp_in *in, unsigned i, struct udp_datagram *ret);

void udp_out_init(struct udp_out *out);

/* Add a datagram from @local to @peer; the caller sends before count reaches UDP_BATCH + 1. */
void udp_out_add(struct udp_out *out, const struct udp_socket *s, const struct addr *peer, const struct addr *local,
		 const uint8_t *data, size_t size);

/**
 * Send all and empty the batch.  A datagram that is refused for itself (no
 * route, too long) is skipped; a full socket ends the batch, since the client
 * asks again and nobody gains from waiting.
 *
 * Returns how many the socket took.
 */
unsigned udp_send(const struct udp_socket *s, struct udp_out *out);

#endif
