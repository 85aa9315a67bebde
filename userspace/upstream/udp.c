/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp.c - asking over UDP, each time from a fresh socket on a random port
 * (RFC 5452 section 9.2), connected so that only the asked server is heard.
 *
 * The sockets are in an epoll set of their own, which the loop polls as one
 * descriptor: adding a socket to the loop itself costs four system calls more
 * and a handle that outlives the answer.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "net/sock.h"
#include "upstream/transport.h"

#define EVENTS     64
#define ROUNDS     4			/* of EVENTS, before the loop's other work has a turn */
#define DATAGRAMS  16			/* of one socket, then its neighbours have a turn */
#define BUF_SIZE   65536

static int udp_send(struct upstream_job *job)
{
	struct upstream *u = job->up;
	const struct addr *server = &job->to;
	struct epoll_event ev = { .events = EPOLLIN };
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(server, &ss);
	int fd, err;

	err = sock_new(server, SOCK_DGRAM, &fd);
	if (err)
		return err;
	err = sock_bind_random(fd, server);
	if (err)
		goto out;
	ev.data.u64 = (uint64_t)job->generation << 32 | job->index;
	if (connect(fd, (struct sockaddr *)&ss, len) ||
	    epoll_ctl(u->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ||
	    send(fd, job->query, job->query_len, MSG_NOSIGNAL) < 0) {
		err = -errno;
		goto out;
	}
	job->fd = fd;
	fd = -1;
	count_one(u->count, COUNT_upstream_queries);
out:
	if (fd >= 0)
		close(fd);
	return err;
}

/* Closing the only descriptor of a socket takes it out of the epoll set. */
static void let_go(struct upstream_job *job)
{
	if (job->fd >= 0)
		close(job->fd);
	job->fd = -1;
	job->generation++;
}

static void udp_cancel(struct upstream_job *job, bool late)
{
	let_go(job);
}

/* connect() filters only what comes after it: something may have been queued since bind(). */
static bool is_from_server(const struct upstream_job *job, const struct sockaddr_storage *from)
{
	struct addr a;

	addr_from_sockaddr((const struct sockaddr *)from, &a);
	return addr_same(&a, &job->to);
}

/* Read until the answer is there; a packet that is not it does not end the waiting (RFC 5452 section 9.1). */
static void receive(struct upstream_job *job)
{
	struct upstream *u = job->up;
	struct sockaddr_storage from;
	socklen_t len;
	ssize_t n;
	int i, err;

	for (i = 0; i < DATAGRAMS; i++) {
		len = sizeof(from);
		n = recvfrom(job->fd, u->buf, BUF_SIZE, MSG_DONTWAIT, (struct sockaddr *)&from, &len);
		if (n < 0) {
			err = -errno;
			if (err == -EAGAIN || err == -EINTR)
				return;
			let_go(job);
			upstream_job_failed(job, err);
			return;
		}
		if (is_from_server(job, &from) && upstream_job_matches(job, u->buf, (size_t)n)) {
			let_go(job);
			upstream_job_response(job, u->buf, (size_t)n);
			return;
		}
		count_one(u->count, COUNT_upstream_mismatches);
	}
}

static void on_readable(uv_poll_t *p, int status, int events)
{
	struct upstream *u = p->data;
	struct epoll_event ev[EVENTS];
	struct upstream_job *job;
	int i, n, round;

	for (round = 0; round < ROUNDS && !u->closing; round++) {
		n = epoll_wait(u->epoll_fd, ev, EVENTS, 0);
		for (i = 0; i < n; i++) {
			/* an answer may have ended other requests, whose events are still in our hands */
			job = u->jobs[(uint32_t)ev[i].data.u64];
			if (job->fd >= 0 && job->generation == ev[i].data.u64 >> 32)
				receive(job);
		}
		if (n < EVENTS)
			return;
	}
}

static void on_closed(uv_handle_t *h)
{
	upstream_handle_closed(h->data);
}

int upstream_udp_start(struct upstream *u)
{
	int err;

	u->buf = malloc(BUF_SIZE);
	if (!u->buf)
		return -ENOMEM;
	u->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (u->epoll_fd < 0)
		return -errno;
	err = uv_poll_init(u->loop, &u->poll, u->epoll_fd);
	if (err)
		return err;
	u->poll.data = u;
	u->poll_made = true;
	u->handles++;
	return uv_poll_start(&u->poll, UV_READABLE, on_readable);
}

void upstream_udp_stop(struct upstream *u)
{
	if (u->poll_made)
		uv_close((uv_handle_t *)&u->poll, on_closed);
	u->poll_made = false;
	if (u->epoll_fd >= 0)
		close(u->epoll_fd);
	u->epoll_fd = -1;
}

const struct upstream_transport upstream_udp = { .name = "udp", .send = udp_send, .cancel = udp_cancel };
