/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub_socket.c - the stub's sockets: opened, bound, shared among the workers.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/mrstub.h"

static socklen_t address_len(const union stub_address *a)
{
	return a->sa.sa_family == AF_INET ? sizeof(a->v4) : sizeof(a->v6);
}

static bool is_wildcard(const union stub_address *a)
{
	if (a->sa.sa_family == AF_INET)
		return a->v4.sin_addr.s_addr == INADDR_ANY;
	return IN6_IS_ADDR_UNSPECIFIED(&a->v6.sin6_addr);
}

union stub_address stub_address_at(const union stub_address *a, uint16_t port)
{
	union stub_address at = *a;

	if (at.sa.sa_family == AF_INET)
		at.v4.sin_port = htons(port);
	else
		at.v6.sin6_port = htons(port);
	return at;
}

int stub_socket_open(const union stub_address *a, int type, bool any_port, bool share)
{
	int fd = socket(a->sa.sa_family, type | SOCK_CLOEXEC, 0), one = 1, size = 4 << 20, err = 0;
	union stub_address own = any_port ? stub_address_at(a, 0) : *a;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    (share && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one))) ||
	    (a->sa.sa_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one))) ||
	    (is_wildcard(a) && type == SOCK_DGRAM &&
	     setsockopt(fd, a->sa.sa_family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6,
			a->sa.sa_family == AF_INET ? IP_PKTINFO : IPV6_RECVPKTINFO, &one, sizeof(one))) ||
	    bind(fd, &own.sa, address_len(a)) || (type != SOCK_DGRAM && listen(fd, 1024)))
		err = -errno;
	/* The larger buffer needs a privilege; without it the system's largest is taken. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (err)
		close(fd);
	return err ? err : fd;
}

int stub_port_is_free(const union stub_address *a)
{
	int udp = stub_socket_open(a, SOCK_DGRAM, false, false), tcp = stub_socket_open(a, SOCK_STREAM, false, false);

	if (udp >= 0)
		close(udp);
	if (tcp >= 0)
		close(tcp);
	return udp < 0 ? udp : tcp < 0 ? tcp : 0;
}
