/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * addr.h - internet addresses, ports and prefixes.
 *
 * An address is always sixteen octets, IPv4 in its mapped form ::ffff:a.b.c.d,
 * so that one comparison serves both families; ports are host order.
 */
#ifndef BASE_ADDR_H
#define BASE_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define ADDR_TEXT_MAX 64		/* "[ipv6]:port" and its end */

struct addr {
	uint8_t ip[16];
	uint16_t port;			/* host order; 0: none */
	uint32_t scope;			/* interface of a link-local address; 0: none */
};

/* A prefix; len counts the bits of the sixteen octets, so IPv4 /24 is 120. */
struct addr_prefix {
	uint8_t ip[16];			/* bits behind len are 0 */
	uint8_t len;
};

bool addr_is_v4(const struct addr *a);

/* All octets zero in its family: listen everywhere. */
bool addr_is_any(const struct addr *a);

/* Same octets, whatever the ports. */
bool addr_same_ip(const struct addr *a, const struct addr *b);

/* Same octets, port and scope. */
bool addr_same(const struct addr *a, const struct addr *b);

/**
 * Parse "192.0.2.1", "192.0.2.1:53", "2001:db8::1", "[2001:db8::1]:53" or a
 * link-local "fe80::1%eth0"; @port is taken when the text names none.
 *
 * Returns 0, or -EINVAL when the text is none of these.
 */
int addr_parse(const char *text, uint16_t port, struct addr *ret);

/**
 * Parse "10.0.0.0/8", "fd00::/8" or a plain address (its longest prefix).
 *
 * Returns 0; -EINVAL when the text is none of these or the length is too
 * long; -ERANGE when bits behind the length are set ("10.0.0.1/8").
 */
int addr_prefix_parse(const char *text, struct addr_prefix *ret);

/* True when the prefix holds the address. */
bool addr_in_prefix(const uint8_t ip[16], const struct addr_prefix *p);

/* Write "192.0.2.1:53" or "[2001:db8::1]:53"; without ":port" when the port is 0.  Returns @buf. */
const char *addr_text(const struct addr *a, char *buf, size_t size);

/* Write the prefix as one would type it ("10.0.0.0/8").  Returns @buf. */
const char *addr_prefix_text(const struct addr_prefix *p, char *buf, size_t size);

/* To and from the kernel's form; the length of what was written is returned. */
socklen_t addr_to_sockaddr(const struct addr *a, struct sockaddr_storage *ret);
void addr_from_sockaddr(const struct sockaddr *sa, struct addr *ret);

#endif
