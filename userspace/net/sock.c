/* SPDX-License-Identifier: BSD-2-Clause */
/* sock.c - sockets of our own, before anything watches them. */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/random.h"
#include "net/sock.h"

#define PORT_FIRST 1024
#define PORT_TRIES 10

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

int sock_new(const struct addr *a, int type, int *ret_fd)
{
	bool v4 = addr_is_v4(a);
	int fd, err = 0;

	fd = socket(v4 ? AF_INET : AF_INET6, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!v4)
		err = set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	if (err)
		close(fd);
	else
		*ret_fd = fd;
	return err;
}

int sock_bind(const struct addr *a, int type, int *ret_fd, struct addr *ret_bound)
{
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(a, &ss);
	int fd = -1, err;

	err = sock_new(a, type, &fd);
	if (err)
		goto out;
	err = set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (!err && type == SOCK_STREAM)
		err = set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (err)
		goto out;
	if (bind(fd, (struct sockaddr *)&ss, len) || getsockname(fd, (struct sockaddr *)&ss, &len)) {
		err = -errno;
		goto out;
	}
	addr_from_sockaddr((struct sockaddr *)&ss, ret_bound);
	*ret_fd = fd;
	fd = -1;
out:
	if (fd >= 0)
		close(fd);
	return err;
}

/* Networks filter datagrams to and from these, since they are used for amplification. */
static bool is_filtered(uint32_t port)
{
	switch (port) {
	case 1434: case 1900: case 3702: case 5353: case 5355: case 11211:
		return true;
	}
	return false;
}

int sock_bind_random(int fd, const struct addr *server)
{
	struct addr any = { .ip = { 0 } };
	struct sockaddr_storage ss;
	uint32_t port;
	socklen_t len;
	unsigned i;

	if (addr_is_v4(server))
		any.ip[10] = any.ip[11] = 0xff;
	for (i = 0; i < PORT_TRIES; i++) {
		port = PORT_FIRST + random_below(65536 - PORT_FIRST);
		if (is_filtered(port))
			continue;
		any.port = (uint16_t)port;
		len = addr_to_sockaddr(&any, &ss);
		if (!bind(fd, (struct sockaddr *)&ss, len))
			return 0;
		if (errno != EADDRINUSE && errno != EACCES)
			return -errno;
	}
	return 0;
}

int sock_source(const struct addr *peer, struct addr *ret)
{
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(peer, &ss);
	int fd, err;

	err = sock_new(peer, SOCK_DGRAM, &fd);
	if (err)
		return err;
	if (connect(fd, (struct sockaddr *)&ss, len))
		err = -errno;
	len = sizeof(ss);
	if (!err && getsockname(fd, (struct sockaddr *)&ss, &len))
		err = -errno;
	close(fd);
	if (err)
		return err;
	addr_from_sockaddr((struct sockaddr *)&ss, ret);
	ret->port = 0;
	return 0;
}
