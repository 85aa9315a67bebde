/* SPDX-License-Identifier: BSD-2-Clause */
/* udp.c - datagrams in batches, with the address each was sent to. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "net/sock.h"
#include "net/udp.h"

#define BUFFER_SIZE (4 << 20)		/* of the kernel; holds a burst of some ten thousand queries */

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

/* The forced form is for root and passes the limit of the system; else as much as the limit gives. */
static void raise_buffers(int fd)
{
	if (set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_SIZE))
		set_int(fd, SOL_SOCKET, SO_RCVBUF, BUFFER_SIZE);
	if (set_int(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_SIZE))
		set_int(fd, SOL_SOCKET, SO_SNDBUF, BUFFER_SIZE);
}

static int set_options(const struct udp_socket *s)
{
	bool v4 = addr_is_v4(&s->bound);
	int err;

	raise_buffers(s->fd);
	if (v4)
		err = set_int(s->fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_OMIT);
	else
		err = set_int(s->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_OMIT);
	if (err || !s->any)
		return err;
	if (v4)
		return set_int(s->fd, IPPROTO_IP, IP_PKTINFO, 1);
	return set_int(s->fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
}

int udp_open(const struct addr *a, struct udp_socket *ret)
{
	struct udp_socket s = { .fd = -1 };
	int err;

	err = sock_bind(a, SOCK_DGRAM, &s.fd, &s.bound);
	if (err)
		return err;
	s.any = addr_is_any(a);
	err = set_options(&s);
	if (err)
		udp_close(&s);
	else
		*ret = s;
	return err;
}

int udp_probe(const struct addr *a)
{
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(a, &ss);
	int fd, err;

	err = sock_new(a, SOCK_DGRAM, &fd);
	if (err)
		return err;
	if (bind(fd, (struct sockaddr *)&ss, len))
		err = -errno;
	close(fd);
	return err;
}

void udp_close(struct udp_socket *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* ---- taking ---- */

/* The kernel has overwritten these of a head that was used. */
static void head_reset(struct udp_in *in, unsigned i)
{
	in->head[i].msg_hdr.msg_namelen = sizeof(in->name[i]);
	in->head[i].msg_hdr.msg_control = in->control[i].room;
	in->head[i].msg_hdr.msg_controllen = sizeof(in->control[i].room);
	in->head[i].msg_hdr.msg_flags = 0;
}

void udp_in_init(struct udp_in *in)
{
	unsigned i;

	in->count = 0;
	memset(in->head, 0, sizeof(in->head));
	for (i = 0; i < UDP_BATCH; i++) {
		in->vec[i] = (struct iovec){ in->data[i], UDP_SIZE_MAX };
		in->head[i].msg_hdr.msg_name = &in->name[i];
		in->head[i].msg_hdr.msg_iov = &in->vec[i];
		in->head[i].msg_hdr.msg_iovlen = 1;
		head_reset(in, i);
	}
}

int udp_recv(const struct udp_socket *s, struct udp_in *in)
{
	unsigned i;
	int n;

	for (i = 0; i < in->count; i++)
		head_reset(in, i);
	in->count = 0;
	in->from = s;
	do {
		n = recvmmsg(s->fd, in->head, UDP_BATCH, MSG_DONTWAIT, NULL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	in->count = (unsigned)n;
	return n;
}

/* Where a datagram was sent to; for a broadcast, the address of ours that stands for it. */
static bool destination(const struct msghdr *h, struct addr *ret)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	struct in6_pktinfo info6;
	struct in_pktinfo info4;
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR((struct msghdr *)h, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			memcpy(&info4, CMSG_DATA(c), sizeof(info4));
			v4.sin_addr = info4.ipi_spec_dst;
			addr_from_sockaddr((struct sockaddr *)&v4, ret);
			return true;
		}
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			memcpy(&info6, CMSG_DATA(c), sizeof(info6));
			v6.sin6_addr = info6.ipi6_addr;
			if (IN6_IS_ADDR_LINKLOCAL(&info6.ipi6_addr))
				v6.sin6_scope_id = info6.ipi6_ifindex;
			addr_from_sockaddr((struct sockaddr *)&v6, ret);
			return true;
		}
	}
	return false;
}

bool udp_in_get(const struct udp_in *in, unsigned i, struct udp_datagram *ret)
{
	const struct msghdr *h = &in->head[i].msg_hdr;

	if (h->msg_flags & MSG_TRUNC)
		return false;
	ret->data = in->data[i];
	ret->size = in->head[i].msg_len;
	addr_from_sockaddr((const struct sockaddr *)&in->name[i], &ret->peer);
	if (!in->from->any) {
		ret->local = in->from->bound;
		return true;
	}
	if (!destination(h, &ret->local))
		return false;
	ret->local.port = in->from->bound.port;
	return true;
}

/* ---- giving ---- */

void udp_out_init(struct udp_out *out)
{
	unsigned i;

	out->count = 0;
	memset(out->head, 0, sizeof(out->head));
	memset(out->control, 0, sizeof(out->control));
	for (i = 0; i < UDP_BATCH; i++) {
		out->head[i].msg_hdr.msg_name = &out->name[i];
		out->head[i].msg_hdr.msg_iov = &out->vec[i];
		out->head[i].msg_hdr.msg_iovlen = 1;
	}
}

static void set_source(struct msghdr *h, union udp_control *room, const struct addr *local)
{
	struct in6_pktinfo info6 = { .ipi6_ifindex = local->scope };
	struct in_pktinfo info4 = { 0 };
	bool v4 = addr_is_v4(local);
	struct cmsghdr *c = &room->align;

	c->cmsg_level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
	c->cmsg_type = v4 ? IP_PKTINFO : IPV6_PKTINFO;
	c->cmsg_len = v4 ? CMSG_LEN(sizeof(info4)) : CMSG_LEN(sizeof(info6));
	if (v4) {
		memcpy(&info4.ipi_spec_dst, local->ip + 12, 4);
		memcpy(CMSG_DATA(c), &info4, sizeof(info4));
	} else {
		memcpy(&info6.ipi6_addr, local->ip, 16);
		memcpy(CMSG_DATA(c), &info6, sizeof(info6));
	}
	h->msg_control = room->room;
	h->msg_controllen = v4 ? CMSG_SPACE(sizeof(info4)) : CMSG_SPACE(sizeof(info6));
}

void udp_out_add(struct udp_out *out, const struct udp_socket *s, const struct addr *peer, const struct addr *local,
		 const uint8_t *data, size_t size)
{
	unsigned i = out->count++;
	struct msghdr *h = &out->head[i].msg_hdr;

	out->vec[i] = (struct iovec){ (void *)data, size };
	h->msg_namelen = addr_to_sockaddr(peer, &out->name[i]);
	h->msg_control = NULL;
	h->msg_controllen = 0;
	if (s->any)
		set_source(h, &out->control[i], local);
}

unsigned udp_send(const struct udp_socket *s, struct udp_out *out)
{
	unsigned at = 0, sent = 0;
	int n;

	while (at < out->count) {
		n = sendmmsg(s->fd, out->head + at, out->count - at, MSG_DONTWAIT);
		if (n > 0) {
			at += (unsigned)n;
			sent += (unsigned)n;
		} else if (n < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == EBADF)) {
			break;
		} else if (n == 0 || errno != EINTR) {
			at++;		/* the first one is at fault, the others are not */
		}
	}
	out->count = 0;
	return sent;
}
