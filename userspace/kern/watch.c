/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.c - follows addresses and links.
 *
 * A netlink message is only the sign to look again: what it says may be old
 * by then, or lost when the socket was full.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "kern/room.h"

struct kern_watch {
	uv_poll_t poll;
	int fd;
};

static int open_socket(int *ret, struct err_at *reterr)
{
	struct sockaddr_nl a = { .nl_family = AF_NETLINK,
				 .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR };
	int err, fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

	if (fd >= 0 && !bind(fd, (struct sockaddr *)&a, sizeof(a))) {
		*ret = fd;
		return 0;
	}
	err = -errno;
	if (fd >= 0)
		close(fd);
	return err_why(reterr, err, "links and addresses cannot be followed: %s (RestrictAddressFamilies?)",
		       strerror(-err));
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
	struct kern *k = poll->data;

	bool any = drain(k->watch->fd);

	if (status < 0)			/* messages were lost: libuv takes that for the end of the descriptor and stops */
		uv_poll_start(poll, UV_READABLE, on_readable);
	if (!any)
		return;
	kern_attach_again(k);
	kern_services_update(k);
}

static void on_closed(uv_handle_t *h)
{
	struct kern_watch *w = (struct kern_watch *)h;

	close(w->fd);
	free(w);
}

int kern_watch(struct kern *k, uv_loop_t *loop, struct err_at *reterr)
{
	struct kern_watch *w;
	int err;

	if (!k->on || k->watch)
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	err = open_socket(&w->fd, reterr);
	if (!err) {
		err = uv_poll_init(loop, &w->poll, w->fd);
		if (err) {
			close(w->fd);
			err_why(reterr, err, "links and addresses cannot be followed: %s", uv_strerror(err));
		}
	}
	if (err) {
		free(w);
		return err;
	}
	w->poll.data = k;
	k->watch = w;
	uv_poll_start(&w->poll, UV_READABLE, on_readable);
	/* What changed between kern_open() and now was not heard. */
	kern_attach_again(k);
	kern_services_update(k);
	return 0;
}

void kern_unwatch(struct kern *k)
{
	if (!k || !k->watch)
		return;
	uv_close((uv_handle_t *)&k->watch->poll, on_closed);
	k->watch = NULL;
}
