/* SPDX-License-Identifier: BSD-2-Clause */
/* change.c - netlink's groups of links, addresses and routes. */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "net/change.h"

struct change {
	uv_poll_t poll;
	uv_timer_t wait;
	bool waiting;
	void (*changed)(void *arg);
	void *arg;
	int fd;
	unsigned handles;
};

static void on_wait(uv_timer_t *t)
{
	struct change *c = t->data;

	c->waiting = false;
	c->changed(c->arg);
}

/* Empty the socket; true when there was something, or too much. */
static bool drain(int fd)
{
	char buf[8192];
	bool any = false;
	ssize_t n;

	for (;;) {
		n = recv(fd, buf, sizeof(buf), 0);
		if (n < 0 && errno != EINTR && errno != ENOBUFS)
			return any;
		any = true;
	}
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct change *c = poll->data;
	bool any = drain(c->fd);

	if (status < 0)			/* messages were lost: libuv takes that for the end of the descriptor and stops */
		uv_poll_start(poll, UV_READABLE, on_readable);
	if (!any || c->waiting)
		return;
	c->waiting = true;
	uv_timer_start(&c->wait, on_wait, CHANGE_WAIT_MS, 0);
}

static int open_socket(int *ret)
{
	struct sockaddr_nl a = { .nl_family = AF_NETLINK,
				 .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE |
					      RTMGRP_IPV6_ROUTE };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE), err;

	if (fd < 0)
		return -errno;
	if (!bind(fd, (struct sockaddr *)&a, sizeof(a))) {
		*ret = fd;
		return 0;
	}
	err = -errno;
	close(fd);
	return err;
}

static void on_closed(uv_handle_t *h)
{
	struct change *c = h->data;

	if (--c->handles)
		return;
	close(c->fd);
	free(c);
}

int change_open(uv_loop_t *loop, void (*changed)(void *arg), void *arg, struct change **ret, struct err_at *reterr)
{
	struct change *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->changed = changed;
	c->arg = arg;
	c->fd = -1;
	err = open_socket(&c->fd);
	if (!err)
		err = uv_poll_init(loop, &c->poll, c->fd);
	if (err) {
		if (c->fd >= 0)
			close(c->fd);
		free(c);
		return err_why(reterr, err, "addresses and routes cannot be followed: %s (RestrictAddressFamilies?)",
			       strerror(-err));
	}
	uv_timer_init(loop, &c->wait);
	c->poll.data = c->wait.data = c;
	c->handles = 2;
	uv_poll_start(&c->poll, UV_READABLE, on_readable);
	*ret = c;
	return 0;
}

void change_close(struct change *c)
{
	if (!c)
		return;
	uv_close((uv_handle_t *)&c->poll, on_closed);
	uv_close((uv_handle_t *)&c->wait, on_closed);
}
