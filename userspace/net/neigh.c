/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * neigh.c - the copy of the neighbour tables, and netlink that feeds it.
 *
 * Buckets of eight rows, found by a keyed hash: addresses on a link are anyone's
 * to choose.  Each bucket has a sequence number, odd while it is written, so a
 * reader either sees rows whole or looks again.  The loop's thread alone writes.
 */
#include "net/neigh.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/random.h"

#define BUCKETS    1024
#define WAYS       8
#define LOOKS      64			/* of a reader at a bucket that is being written */
#define RECEIVE    32768
#define BUFFER     (1 << 20)		/* of the socket */
#define DUMP_MS    1000
#define IN_USE     (1ULL << 48)		/* beside the six octets of a MAC */

static const struct count_row rows[] = { COUNT_ROWS(NEIGH_COUNTERS) };
static COUNT_SET(counters, rows);

struct row {
	_Atomic uint64_t ip[2];
	_Atomic uint64_t mac;		/* 0: an empty row */
	uint32_t ifindex;		/* the writer's, as is what follows */
	uint32_t round;			/* of the reading that saw it last */
};

struct bucket {
	_Atomic uint32_t sequence;
	struct row way[WAYS];
};

struct neigh {
	uv_poll_t poll;
	int fd;
	struct hash_key key;
	struct count_shard *counts;
	_Atomic unsigned size;
	uint32_t round;			/* of readings of all */
	uint32_t number;		/* of the request that is being answered; 0: none is */
	bool again;			/* when that is over, read all anew */
	int error;			/* of the last request */
	_Alignas(struct nlmsghdr) char received[RECEIVE];
	struct bucket bucket[BUCKETS];
};

/* ---- the table ---- */

struct ip {
	uint64_t w[2];
};

static struct ip words_of(const uint8_t ip[16])
{
	struct ip a;

	memcpy(a.w, ip, 16);
	return a;
}

static unsigned bucket_of(const struct neigh *n, const struct ip *a)
{
	return (unsigned)hash_octets(&n->key, a->w, 16) % BUCKETS;
}

static uint64_t load(const _Atomic uint64_t *p)
{
	return atomic_load_explicit(p, memory_order_relaxed);
}

static bool is_row_of(const struct row *r, const struct ip *a)
{
	return load(&r->ip[0]) == a->w[0] && load(&r->ip[1]) == a->w[1] && load(&r->mac);
}

/* Write one row as a whole, for those who read in between. */
static void write_row(struct bucket *b, struct row *r, const struct ip *a, uint64_t mac)
{
	uint32_t s = atomic_load_explicit(&b->sequence, memory_order_relaxed);

	atomic_store_explicit(&b->sequence, s + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&r->ip[0], a->w[0], memory_order_relaxed);
	atomic_store_explicit(&r->ip[1], a->w[1], memory_order_relaxed);
	atomic_store_explicit(&r->mac, mac, memory_order_relaxed);
	atomic_store_explicit(&b->sequence, s + 2, memory_order_release);
}

static struct row *row_of(struct bucket *b, const struct ip *a)
{
	unsigned i;

	for (i = 0; i < WAYS; i++)
		if (is_row_of(&b->way[i], a))
			return &b->way[i];
	return NULL;
}

static struct row *empty_row(struct bucket *b)
{
	unsigned i;

	for (i = 0; i < WAYS; i++)
		if (!load(&b->way[i].mac))
			return &b->way[i];
	return NULL;
}

static void put(struct neigh *n, const struct ip *a, uint64_t mac, uint32_t ifindex)
{
	struct bucket *b = &n->bucket[bucket_of(n, a)];
	struct row *r = row_of(b, a);

	if (!r && n->size < NEIGH_MAX) {
		r = empty_row(b);
		n->size += r != NULL;
	}
	if (!r) {
		count_one(n->counts, COUNT_neigh_full);
		return;
	}
	r->ifindex = ifindex;
	r->round = n->round;
	if (load(&r->mac) != mac || !is_row_of(r, a))
		write_row(b, r, a, mac);
}

static void clear_row(struct neigh *n, struct bucket *b, struct row *r)
{
	write_row(b, r, &(struct ip){ { 0, 0 } }, 0);
	n->size--;
}

/* What has gone from one interface may have come on another. */
static void remove_row(struct neigh *n, const struct ip *a, uint32_t ifindex)
{
	struct bucket *b = &n->bucket[bucket_of(n, a)];
	struct row *r = row_of(b, a);

	if (r && r->ifindex == ifindex)
		clear_row(n, b, r);
}

/* The end of a reading of all: what it did not see has gone. */
static void sweep(struct neigh *n)
{
	unsigned i, w;

	for (i = 0; i < BUCKETS; i++)
		for (w = 0; w < WAYS; w++)
			if (load(&n->bucket[i].way[w].mac) && n->bucket[i].way[w].round != n->round)
				clear_row(n, &n->bucket[i], &n->bucket[i].way[w]);
}

/* The word of the address's MAC, or 0; true only if nobody wrote meanwhile: @ret_whole. */
static uint64_t look(const struct bucket *b, const struct ip *a, bool *ret_whole)
{
	uint32_t s = atomic_load_explicit(&b->sequence, memory_order_acquire);
	uint64_t mac = 0;
	unsigned i;

	for (i = 0; i < WAYS; i++)
		if (load(&b->way[i].ip[0]) == a->w[0] && load(&b->way[i].ip[1]) == a->w[1])
			mac |= load(&b->way[i].mac);
	atomic_thread_fence(memory_order_acquire);
	*ret_whole = !(s & 1) && atomic_load_explicit(&b->sequence, memory_order_relaxed) == s;
	return mac;
}

bool neigh_find(const struct neigh *n, const uint8_t ip[16], uint8_t ret_mac[6])
{
	struct ip a = words_of(ip);
	bool whole = false;
	uint64_t mac = 0;
	unsigned i;

	if (!n)
		return false;
	for (i = 0; i < LOOKS && !whole; i++)
		mac = look(&n->bucket[bucket_of(n, &a)], &a, &whole);
	if (!whole || !mac)
		return false;
	memcpy(ret_mac, &mac, 6);
	return true;
}

static bool is_mapped(const struct ip *a)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(a->w, mapped, sizeof(mapped));
}

bool neigh_find_ip(const struct neigh *n, const uint8_t mac[6], uint8_t ret_ip[16])
{
	uint64_t word = 0;
	bool found = false;
	const struct row *r;
	struct ip a;
	unsigned i;

	memcpy(&word, mac, 6);
	for (i = 0; n && i < BUCKETS * WAYS; i++) {
		r = &n->bucket[i / WAYS].way[i % WAYS];
		if (load(&r->mac) != (word | IN_USE))
			continue;
		a = (struct ip){ { load(&r->ip[0]), load(&r->ip[1]) } };
		if (found && !is_mapped(&a))
			continue;
		memcpy(ret_ip, a.w, 16);
		found = true;
	}
	return found;
}

/* ---- netlink ---- */

/* Ask for all neighbours.  Returns 0 or a negative errno. */
static int ask_all(struct neigh *n)
{
	struct {
		struct nlmsghdr h;
		struct ndmsg m;
	} ask = {
		.h = { .nlmsg_len = sizeof(ask), .nlmsg_type = RTM_GETNEIGH, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		       .nlmsg_seq = ++n->round },
	};

	/* what could not be asked is asked when something is heard again */
	n->again = send(n->fd, &ask, sizeof(ask), 0) < 0;
	n->number = n->again ? 0 : ask.h.nlmsg_seq;
	return n->again ? -errno : 0;
}

struct found {
	const uint8_t *ip;
	unsigned ip_len;
	const uint8_t *mac;
};

static void take_attributes(const struct nlmsghdr *h, struct found *ret)
{
	const struct ndmsg *m = NLMSG_DATA(h);
	const struct rtattr *a = (const struct rtattr *)((const char *)m + NLMSG_ALIGN(sizeof(*m)));
	int left = (int)h->nlmsg_len - (int)NLMSG_SPACE(sizeof(*m));

	for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type == NDA_DST) {
			ret->ip = RTA_DATA(a);
			ret->ip_len = (unsigned)RTA_PAYLOAD(a);
		}
		if (a->rta_type == NDA_LLADDR && RTA_PAYLOAD(a) == 6)
			ret->mac = RTA_DATA(a);
	}
}

/* An address as sixteen octets; false when it is neither IPv4 nor IPv6. */
static bool take_ip(const struct ndmsg *m, const struct found *f, struct ip *ret)
{
	uint8_t ip[16] = { [10] = 0xff, [11] = 0xff };

	if (m->ndm_family == AF_INET && f->ip && f->ip_len == 4)
		memcpy(ip + 12, f->ip, 4);
	else if (m->ndm_family == AF_INET6 && f->ip && f->ip_len == 16)
		memcpy(ip, f->ip, 16);
	else
		return false;
	*ret = words_of(ip);
	return true;
}

static void take_neighbour(struct neigh *n, const struct nlmsghdr *h)
{
	const struct ndmsg *m = NLMSG_DATA(h);
	struct found f = { 0 };
	uint64_t mac = IN_USE;
	struct ip a;

	if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)))
		return;
	take_attributes(h, &f);
	if (!take_ip(m, &f, &a))
		return;
	if (h->nlmsg_type == RTM_DELNEIGH || !f.mac || m->ndm_state & (NUD_INCOMPLETE | NUD_FAILED | NUD_NOARP)) {
		remove_row(n, &a, (uint32_t)m->ndm_ifindex);
		return;
	}
	memcpy(&mac, f.mac, 6);
	put(n, &a, mac, (uint32_t)m->ndm_ifindex);
}

/* The last message of a reading of all. */
static void end_reading(struct neigh *n, const struct nlmsghdr *h)
{
	if (h->nlmsg_seq != n->number)
		return;
	n->number = 0;
	if (h->nlmsg_type == NLMSG_ERROR && h->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr)))
		n->error = ((const struct nlmsgerr *)NLMSG_DATA(h))->error;
	else if (!n->again)
		sweep(n);
}

static void take_messages(struct neigh *n, const void *buf, size_t size)
{
	const struct nlmsghdr *h = buf;

	for (; NLMSG_OK(h, size); h = NLMSG_NEXT(h, size)) {
		if (h->nlmsg_flags & NLM_F_DUMP_INTR)
			n->again = true;
		if (h->nlmsg_type == RTM_NEWNEIGH || h->nlmsg_type == RTM_DELNEIGH)
			take_neighbour(n, h);
		if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
			end_reading(n, h);
	}
}

/* Read what has come.  Returns 0 or a negative errno. */
static int drain(struct neigh *n)
{
	ssize_t got;

	for (;;) {
		got = recv(n->fd, n->received, sizeof(n->received), 0);
		if (got >= 0)
			take_messages(n, n->received, (size_t)got);
		else if (errno == ENOBUFS)
			n->again = true;	/* some changes were not heard */
		else if (errno != EINTR)
			return errno == EAGAIN ? 0 : -errno;
	}
}

static void on_readable(uv_poll_t *p, int status, int events)
{
	struct neigh *n = p->data;

	drain(n);
	if (status < 0)			/* messages were lost: libuv takes that for the end of the descriptor and stops */
		uv_poll_start(p, UV_READABLE, on_readable);
	if (!n->again || n->number)
		return;
	count_one(n->counts, COUNT_neigh_again);
	ask_all(n);
}

/* The first reading, waited for, so that no client is unknown because we have just come. */
static int read_first(struct neigh *n)
{
	struct pollfd p = { n->fd, POLLIN, 0 };
	int err = ask_all(n), ready;

	while (!err && n->number) {
		ready = poll(&p, 1, DUMP_MS);
		if (ready < 0 && errno != EINTR)
			err = -errno;
		else if (!ready)
			err = -ETIMEDOUT;
		else
			err = drain(n);
	}
	return err ? err : n->error;
}

static int open_socket(int *ret)
{
	struct sockaddr_nl a = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_NEIGH };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE), size = BUFFER, err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
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
	struct neigh *n = h->data;

	close(n->fd);
	free(n);
}

int neigh_open(uv_loop_t *loop, struct neigh **ret, struct err_at *reterr)
{
	struct neigh *n = calloc(1, sizeof(*n));
	int err = -ENOMEM;

	if (!n)
		return err;
	n->fd = -1;
	random_fill(&n->key, sizeof(n->key));
	n->counts = count_shard_new(&counters);
	if (n->counts)
		err = open_socket(&n->fd);
	if (!err)
		err = read_first(n);
	if (!err)
		err = uv_poll_init(loop, &n->poll, n->fd);
	if (err) {
		if (n->fd >= 0)
			close(n->fd);
		free(n);
		return err_why(reterr, err, "neighbours cannot be followed, so no client is known by its MAC in the "
			       "daemon: %s (RestrictAddressFamilies?)", strerror(-err));
	}
	n->poll.data = n;
	uv_poll_start(&n->poll, UV_READABLE, on_readable);
	*ret = n;
	return 0;
}

void neigh_close(struct neigh *n)
{
	if (n)
		uv_close((uv_handle_t *)&n->poll, on_closed);
}
