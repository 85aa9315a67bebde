/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp.c - queries over UDP, taken and answered in batches.
 *
 * A datagram gets a slot, which holds its query until the answer has been
 * sent.  The queries of a batch start in the order in which they came, each
 * a few after it was read: meanwhile the memory that it will look into comes.
 * Queries that are answered within query_start() go out together after
 * their batch; later ones at the end of the loop's iteration.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/row.h"
#include "dns/msg.h"
#include "net/udp.h"
#include "server/worker.h"

/* Batches per wake-up: the poll is level-triggered, so that the rest comes again after TCP and upstream had a turn. */
#define BATCHES 4

struct listener;

/* One query of a UDP client. */
struct slot {
	struct query *q;		/* NULL while it is free, or answered */
	struct listener *from;
	struct slot *next;		/* free ones */
};

struct listener {
	struct server_udp *owner;
	struct udp_socket sock;
	uv_poll_t poll;
	bool polled;
	struct udp_out out;
	struct query *answered[UDP_BATCH];	/* whose replies out points to */
};

struct server_udp {
	struct worker *w;
	struct slot *slots;
	struct slot *free;
	unsigned used;
	struct udp_in in;
	struct row row;			/* of a batch's queries; empty between batches */
	unsigned listeners;
	struct listener *listener;
};

/* ---- answers ---- */

static void slot_put(struct server_udp *u, struct slot *s)
{
	s->q = NULL;
	s->next = u->free;
	u->free = s;
	u->used--;
}

static void flush(struct listener *l)
{
	struct count_shard *count = l->owner->w->count;
	unsigned i, all = l->out.count, sent;

	if (!all)
		return;
	sent = udp_send(&l->sock, &l->out);
	count_add(count, COUNT_server_udp_answers, sent);
	count_add(count, COUNT_server_udp_unsent, all - sent);
	for (i = 0; i < all; i++) {
		slot_put(l->owner, l->answered[i]->owner);
		query_free(l->answered[i]);
	}
}

void server_udp_flush(struct server_udp *u)
{
	unsigned i;

	for (i = 0; i < u->listeners; i++)
		flush(&u->listener[i]);
}

/* A query has come to its end, perhaps within query_start(). */
static void on_done(struct query *q)
{
	struct slot *s = q->owner;
	struct listener *l = s->from;

	s->q = NULL;
	if (!q->reply_len) {
		count_one(l->owner->w->count, COUNT_server_udp_dropped);
		slot_put(l->owner, s);
		query_free(q);
		return;
	}
	l->answered[l->out.count] = q;
	udp_out_add(&l->out, &l->sock, &q->client, &q->local, q->reply, q->reply_len);
	if (l->out.count == UDP_BATCH)
		flush(l);
}

/* ---- queries ---- */

/* A response, or something from port 0, would make two servers talk to each other for ever. */
static bool may_be_answered(const struct udp_datagram *d)
{
	return d->size >= DNS_HEADER && !(d->data[2] & DNS_QR >> 8) && d->peer.port;
}

static void ahead(void *q)
{
	query_ahead(q);
}

static void ahead_answer(void *q)
{
	query_ahead_answer(q);
}

static void start(void *q)
{
	query_start(q);
}

static const struct row_ops in_a_row = { ahead, ahead_answer, start };

static void take(struct listener *l, const struct udp_datagram *d, uint64_t now_ns)
{
	struct server_udp *u = l->owner;
	struct query *q = NULL;
	struct slot *s;

	/* a query that is dropped gives its slot back: to the one behind it, too */
	if (!u->free)
		row_end(&u->row);
	s = u->free;
	if (s)
		q = query_new(u->w->resolver, QUERY_UDP, d->data, d->size, &d->peer, &d->local, now_ns, on_done, s);
	if (!q) {
		count_one(u->w->count, COUNT_server_udp_full);
		return;
	}
	u->free = s->next;
	u->used++;
	s->from = l;
	s->q = q;
	row_add(&u->row, q);
}

/* One batch; true when there may be more. */
static bool take_batch(struct listener *l)
{
	struct server_udp *u = l->owner;
	struct udp_datagram d;
	uint64_t now_ns;
	int i, n;

	n = udp_recv(&l->sock, &u->in);
	if (n <= 0)
		return false;
	now_ns = clock_coarse_ns();
	count_add(u->w->count, COUNT_server_udp_queries, (uint64_t)n);
	for (i = 0; i < n; i++) {
		if (udp_in_get(&u->in, (unsigned)i, &d) && may_be_answered(&d))
			take(l, &d, now_ns);
		else
			count_one(u->w->count, COUNT_server_udp_dropped);
	}
	row_end(&u->row);
	flush(l);
	return n == UDP_BATCH;
}

static void on_readable(uv_poll_t *p, int status, int events)
{
	unsigned i;

	for (i = 0; i < BATCHES && take_batch(p->data); i++)
		;
	/* libuv stops at POLLERR; reading has cleared the error */
	if (status)
		uv_poll_start(p, UV_READABLE, on_readable);
}

/* ---- beginning and end ---- */

static int open_slots(struct server_udp *u)
{
	unsigned i, max = u->w->opts.udp_waiting_max;

	u->slots = calloc(max, sizeof(*u->slots));
	if (!u->slots)
		return -ENOMEM;
	for (i = max; i-- > 0;) {
		u->slots[i].next = u->free;
		u->free = &u->slots[i];
	}
	return 0;
}

static int open_listener(struct server_udp *u, unsigned i, struct err_at *reterr)
{
	struct listener *l = &u->listener[i];
	const struct addr *a = &u->w->listen[i];
	char text[ADDR_TEXT_MAX];
	int err;

	err = udp_open(a, &l->sock);
	if (err) {
		l->sock.fd = -1;
		return err_why(reterr, err, "cannot listen on %s over UDP: %s", addr_text(a, text, sizeof(text)),
			       strerror(-err));
	}
	l->owner = u;
	udp_out_init(&l->out);
	return 0;
}

int server_udp_open(struct worker *w, struct server_udp **ret, struct err_at *reterr)
{
	struct server_udp *u = calloc(1, sizeof(*u));
	int err = -ENOMEM;
	unsigned i;

	if (!u)
		goto out;
	u->w = w;
	u->row.ops = &in_a_row;
	udp_in_init(&u->in);
	u->listener = calloc(w->opts.listens, sizeof(*u->listener));
	if (!u->listener)
		goto out;
	err = open_slots(u);
	if (err)
		goto out;
	for (i = 0; i < w->opts.listens; i++) {
		err = open_listener(u, i, reterr);
		if (err)
			goto out;
		u->listeners++;
	}
	*ret = u;
	u = NULL;
out:
	if (err == -ENOMEM)
		err_why(reterr, err, "no memory for the UDP sockets");
	server_udp_free(u);
	return err;
}

int server_udp_start(struct server_udp *u)
{
	struct listener *l;
	unsigned i;
	int err = 0;

	for (i = 0; i < u->listeners && !err; i++) {
		l = &u->listener[i];
		err = uv_poll_init(&u->w->loop, &l->poll, l->sock.fd);
		if (err)
			break;
		l->polled = true;
		l->poll.data = l;
		err = uv_poll_start(&l->poll, UV_READABLE, on_readable);
	}
	return err;
}

void server_udp_quiet(struct server_udp *u)
{
	unsigned i;

	for (i = 0; i < u->listeners; i++)
		if (u->listener[i].polled)
			uv_poll_stop(&u->listener[i].poll);
}

unsigned server_udp_waiting(const struct server_udp *u)
{
	return u->used;
}

void server_udp_stop(struct server_udp *u)
{
	unsigned i;

	server_udp_flush(u);
	for (i = 0; u->used && i < u->w->opts.udp_waiting_max; i++) {
		if (u->slots[i].q) {
			query_abandon(u->slots[i].q);
			slot_put(u, &u->slots[i]);
		}
	}
	bug_if(u->used);
	for (i = 0; i < u->listeners; i++) {
		if (u->listener[i].polled)
			uv_close((uv_handle_t *)&u->listener[i].poll, NULL);
		u->listener[i].polled = false;
	}
}

void server_udp_free(struct server_udp *u)
{
	unsigned i;

	if (!u)
		return;
	for (i = 0; i < u->listeners; i++)
		udp_close(&u->listener[i].sock);
	free(u->listener);
	free(u->slots);
	free(u);
}
