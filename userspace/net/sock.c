/* SPDX-License-Identifier: BSD-2-Clause */
/* sock.c - sockets of our own, before anything watches them. */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include "net/sock.h"

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
