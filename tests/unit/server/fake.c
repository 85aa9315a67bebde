/* SPDX-License-Identifier: BSD-2-Clause */
/* fake.c - queries that do what their own octets say. */
#include <stdlib.h>
#include <string.h>
#include "unit/server/fake.h"

struct fake_query {
	struct query q;
	struct fake *f;
	uint64_t due_ms;
	bool abandoned;
	bool asked_ahead;
	struct fake_query *next;
};

size_t fake_message(uint16_t id, enum fake_what what, uint16_t delay_ms, uint16_t size, uint8_t ret[FAKE_QUERY])
{
	memset(ret, 0, FAKE_QUERY);
	ret[0] = (uint8_t)(id >> 8);
	ret[1] = (uint8_t)id;
	ret[2] = 1;			/* RD */
	ret[12] = (uint8_t)what;
	ret[13] = (uint8_t)(delay_ms >> 8);
	ret[14] = (uint8_t)delay_ms;
	ret[15] = (uint8_t)(size >> 8);
	ret[16] = (uint8_t)size;
	return FAKE_QUERY;
}

static unsigned word(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static void answer(struct query *q)
{
	size_t extra = word(q->msg + 15);

	q->reply_len = FAKE_ANSWER + extra;
	q->reply = malloc(q->reply_len);
	memcpy(q->reply, q->msg, 12);
	q->reply[2] |= 0x80;
	memcpy(q->reply + 12, q->local.ip, 16);
	q->reply[28] = (uint8_t)(q->local.port >> 8);
	q->reply[29] = (uint8_t)q->local.port;
	memset(q->reply + FAKE_ANSWER, q->msg[1], extra);
}

/* ---- resolve/query.h ---- */

struct query *query_new(struct resolver *r, enum query_proto proto, const uint8_t *msg, size_t len,
			const struct addr *client, const struct addr *local, uint64_t now_ns,
			void (*done)(struct query *q), void *owner)
{
	struct fake_query *fq = calloc(1, sizeof(*fq));
	uint8_t *copy = calloc(1, len > FAKE_QUERY ? len : FAKE_QUERY);

	memcpy(copy, msg, len);
	fq->f = (struct fake *)r;
	fq->q = (struct query){ .proto = proto, .client = *client, .local = *local, .start_ns = now_ns, .msg = copy,
				.msg_len = len, .done = done, .owner = owner };
	fq->f->made++;
	if (++fq->f->under_way > fq->f->under_way_max)
		fq->f->under_way_max = fq->f->under_way;
	return &fq->q;
}

void query_ahead(struct query *q)
{
	struct fake_query *fq = (struct fake_query *)q;

	fq->asked_ahead = true;
	fq->f->asked_ahead++;
}

void query_ahead_answer(struct query *q)
{
	struct fake_query *fq = (struct fake_query *)q;

	if (!fq->asked_ahead)
		abort();
}

void query_start(struct query *q)
{
	struct fake_query *fq = (struct fake_query *)q;

	switch (q->msg[12]) {
	case FAKE_DELAY:
		fq->due_ms = uv_now(fq->f->loop) + word(q->msg + 13);
		break;
	case FAKE_HOLD:
		fq->due_ms = UINT64_MAX;
		break;
	case FAKE_NOTHING:
		q->done(q);
		return;
	default:
		answer(q);
		q->done(q);
		return;
	}
	fq->next = fq->f->held;
	fq->f->held = fq;
}

void query_abandon(struct query *q)
{
	struct fake_query *fq = (struct fake_query *)q;

	fq->abandoned = true;
	fq->f->abandoned++;
}

void query_free(struct query *q)
{
	struct fake_query *fq = (struct fake_query *)q;

	if (!q)
		return;
	fq->f->freed++;
	fq->f->under_way--;
	free((void *)q->msg);
	free(q->reply);
	free(fq);
}

/* ---- worker_ops ---- */

/* End what is due: a query that was abandoned frees itself, as the real one does. */
static void end_due(struct fake *f, uint64_t now_ms)
{
	struct fake_query **link = &f->held, *fq;

	while ((fq = *link)) {
		if (fq->due_ms > now_ms) {
			link = &fq->next;
			continue;
		}
		*link = fq->next;
		if (fq->abandoned) {
			query_free(&fq->q);
			continue;
		}
		answer(&fq->q);
		fq->q.done(&fq->q);
		link = &f->held;	/* done may have started others */
	}
}

static void on_timer(uv_timer_t *t)
{
	struct fake *f = t->data;

	end_due(f, uv_now(f->loop));
}

static int on_start(void *arg, unsigned index, struct worker *w, uv_loop_t *loop, struct resolver **ret)
{
	struct fake *f = arg;

	f->starts++;
	if (f->start_err)
		return f->start_err;
	f->loop = loop;
	uv_timer_init(loop, &f->timer);
	f->worker = w;
	f->timer.data = f;
	uv_timer_start(&f->timer, on_timer, 5, 5);
	*ret = (struct resolver *)f;
	return 0;
}

static void on_stop(void *arg, struct resolver *r)
{
	struct fake_query *fq;
	struct fake *f = arg;

	f->stops++;
	if (f->at_stop)
		f->at_stop_taken = worker_post(f->worker, f->at_stop);
	uv_close((uv_handle_t *)&f->timer, NULL);
	while ((fq = f->held)) {
		f->held = fq->next;
		if (!fq->abandoned)
			f->lost++;
		query_free(&fq->q);
	}
}

static void on_free(void *arg, struct resolver *r)
{
	struct fake *f = arg;

	f->frees++;
}

static void on_tick(void *arg)
{
	struct fake *f = arg;

	f->ticks++;
}

struct worker_ops fake_ops(struct fake *f)
{
	return (struct worker_ops){ on_start, on_stop, on_free, on_tick, f };
}
