/* SPDX-License-Identifier: BSD-2-Clause */
/* rig.c - a loop with one upstream object, and requests to put to it. */
#include <signal.h>
#include <string.h>
#include "unit/upstream/rig.h"

static const struct count_row rows[] = { COUNT_ROWS(UPSTREAM_COUNTERS) };

static void look(const struct count_row *row, uint64_t value, void *arg)
{
	uint64_t *values = arg;
	unsigned i;

	for (i = 0; i < upstream_count_rows; i++)
		if (!strcmp(row->name, rows[i].name))
			values[i] = value;
}

unsigned rig_count(const struct rig *r, enum upstream_count row)
{
	uint64_t now[upstream_count_rows] = { 0 };

	count_each(look, now);
	return (unsigned)(now[row] - r->before[row]);
}

static void on_patience(uv_timer_t *t)
{
	struct rig *r = t->data;

	r->out_of_patience = true;
	uv_stop(&r->loop);
}

void rig_start_opts(struct rig *r, const struct upstream_opts *opts)
{
	memset(r, 0, sizeof(*r));
	count_each(look, r->before);
	signal(SIGPIPE, SIG_IGN);		/* as the worker's thread does */
	assert_int_equal(uv_loop_init(&r->loop), 0);
	uv_timer_init(&r->loop, &r->patience);
	r->patience.data = r;
	assert_int_equal(upstream_new(&r->loop, opts, &r->up), 0);
}

void rig_start(struct rig *r, struct stub *stubs, unsigned count, uint32_t timeout_ms, unsigned in_flight_max)
{
	struct upstream_opts o = { .count = count, .strategy = UPSTREAM_ORDERED, .timeout_ms = timeout_ms, .in_flight_max = in_flight_max };
	unsigned i;

	for (i = 0; i < count; i++)
		o.servers[i].at = (struct endpoint){ .literal = true, .addr = stubs[i].addr };
	rig_start_opts(r, &o);
}

void rig_end(struct rig *r)
{
	upstream_free(r->up);
	uv_close((uv_handle_t *)&r->patience, NULL);
	while (uv_run(&r->loop, UV_RUN_DEFAULT))
		;			/* on_done() stops the loop once */
	assert_int_equal(uv_loop_close(&r->loop), 0);
}

static void on_done(struct upstream_request *req, int err, const uint8_t *msg, size_t size)
{
	struct asked *a = (struct asked *)req;

	a->ended++;
	a->too_early = a->rig->asking;
	a->err = err;
	a->tag = a->rcode = -1;
	if (!err) {
		assert_true(size >= 12);
		memcpy(a->msg, msg, size < sizeof(a->msg) ? size : sizeof(a->msg));
		a->size = size;
		a->rcode = msg[3] & 15;
		a->tag = stub_tag(msg, size);
	}
	a->rig->done++;
	if (a->then)
		a->then(a);
	uv_stop(&a->rig->loop);
}

int rig_ask(struct rig *r, struct asked *a, unsigned i)
{
	bool was_asking = r->asking;
	int err;

	memset(&a->key, 0, sizeof(a->key));
	a->key.name_len = (uint16_t)(snprintf((char *)a->key.name, sizeof(a->key.name),
					      "%cn%05u%cexample", 6, i % 100000, 7) + 1);
	a->key.qtype = 1;
	a->rig = r;
	a->req = (struct upstream_request){ .key = &a->key, .done = on_done, .ecs = a->req.ecs, .ecs_len = a->req.ecs_len };
	r->asking = true;
	err = upstream_ask(r->up, &a->req);
	r->asking = was_asking;
	return err;
}

void rig_run(struct rig *r, unsigned count)
{
	uv_timer_start(&r->patience, on_patience, RIG_PATIENCE_MS, 0);
	while (r->done < count && !r->out_of_patience)
		uv_run(&r->loop, UV_RUN_DEFAULT);
	uv_timer_stop(&r->patience);
	assert_int_equal(r->done, count);
}

void rig_run_ms(struct rig *r, unsigned ms)
{
	uv_timer_start(&r->patience, on_patience, ms, 0);
	while (!r->out_of_patience)
		uv_run(&r->loop, UV_RUN_DEFAULT);
	r->out_of_patience = false;
}
