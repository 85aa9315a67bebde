/* SPDX-License-Identifier: BSD-2-Clause */
/* call.c - work handed from any thread to the control thread, whose result is waited for. */
#include <errno.h>
#include <semaphore.h>
#include "control/internal.h"

/* Lives on the caller's stack while it waits. */
struct call {
	int (*fn)(struct control *c, void *arg);
	void *arg;
	int result;
	sem_t done;
	struct call *next;
};

static struct call *take_all(struct control *c, bool closing)
{
	struct call *calls;

	pthread_mutex_lock(&c->call_lock);
	calls = c->calls;
	c->calls = NULL;
	c->closing = c->closing || closing;
	pthread_mutex_unlock(&c->call_lock);
	return calls;
}

static void on_called(uv_async_t *async)
{
	struct control *c = async->data;
	struct call *call, *next;

	for (call = take_all(c, false); call; call = next) {
		next = call->next;	/* the call is gone once posted */
		call->result = call->fn(c, call->arg);
		sem_post(&call->done);
	}
}

int call_init(struct control *c)
{
	pthread_mutex_init(&c->call_lock, NULL);
	c->called.data = c;
	return uv_async_init(c->loop, &c->called, on_called);
}

void control_refuse_calls(struct control *c)
{
	struct call *call, *next;

	for (call = take_all(c, true); call; call = next) {
		next = call->next;
		call->result = -ESHUTDOWN;
		sem_post(&call->done);
	}
}

void call_close(struct control *c)
{
	control_refuse_calls(c);
	uv_close((uv_handle_t *)&c->called, NULL);
}

int call_control(struct control *c, int (*fn)(struct control *c, void *arg), void *arg)
{
	struct call call = { .fn = fn, .arg = arg };
	bool closing;

	sem_init(&call.done, 0, 0);
	pthread_mutex_lock(&c->call_lock);
	closing = c->closing;
	if (!closing) {
		/* In front: callers wait for their own result, so order among them means nothing. */
		call.next = c->calls;
		c->calls = &call;
		uv_async_send(&c->called);
	}
	pthread_mutex_unlock(&c->call_lock);
	if (closing) {
		sem_destroy(&call.done);
		return -ESHUTDOWN;
	}
	while (sem_wait(&call.done))
		;
	sem_destroy(&call.done);
	return call.result;
}
