/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tail.c - the stream of live events: one JSON object a line.
 *
 * A stream has a thread of its own (that of its connection), so its reader may
 * wait.  It never returns "nothing yet": libmicrohttpd would then sleep until
 * the client speaks.  A reader that is too slow loses events and is told how
 * many by a line {"lost": n}.
 */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "api/render.h"
#include "api/request.h"

#define WAIT_MS    250
#define BLOCK_SIZE 4096

struct tail {
	struct control_tail *events;
	struct api_life *life;
	int fd;				/* the client's, to see it go */
	char *line;			/* being sent; of the heap */
	size_t len;
	size_t at;
};

static bool client_gone(const struct tail *t)
{
	struct pollfd p = { .fd = t->fd };

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* Put the object (taken) behind what is to be sent, with its line's end. */
static int add_line(struct tail *t, json_t *o)
{
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	size_t n = text ? strlen(text) : 0;
	char *more = text ? realloc(t->line, t->len + n + 1) : NULL;

	json_decref(o);
	if (more) {
		memcpy(more + t->len, text, n);
		more[t->len + n] = '\n';
		t->line = more;
		t->len += n + 1;
	}
	free(text);
	return more ? 0 : -ENOMEM;
}

/* Wait for the next line; negative when the stream is over. */
static int next_line(struct tail *t)
{
	struct control_event e;
	uint64_t lost = 0;
	int got, err = 0;

	t->len = t->at = 0;
	while (!t->len) {
		if (atomic_load(&t->life->stopping) || client_gone(t))
			return -ESHUTDOWN;
		got = control_tail_read(t->events, WAIT_MS, &e, &lost);
		if (got < 0)
			return got;
		if (lost)
			err = add_line(t, json_pack("{s:o}", "lost", render_u64(lost)));
		if (got && !err)
			err = add_line(t, render_event(&e));
		if (err)
			return err;
	}
	return 0;
}

static ssize_t on_read(void *arg, uint64_t pos, char *buf, size_t max)
{
	struct tail *t = arg;
	size_t n;

	if (t->at == t->len && next_line(t) < 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	n = t->len - t->at < max ? t->len - t->at : max;
	memcpy(buf, t->line + t->at, n);
	t->at += n;
	return (ssize_t)n;
}

static void on_end(void *arg)
{
	struct tail *t = arg;

	control_tail_close(t->events);
	free(t->line);
	free(t);
}

unsigned api_get_tail(struct api_request *r, json_t **ret)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct tail *t = calloc(1, sizeof(*t));
	int err = t && info ? control_tail_open(r->control, &t->events) : -ENOMEM;

	if (err) {
		free(t);
		if (err == -EBUSY)
			return api_fail(ret, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, NULL,
					"no tail: as many are open as there may be");
		return api_fail_errno(ret, err, "no tail", NULL);
	}
	t->life = r->life;
	t->fd = info->connect_fd;
	r->stream = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_SIZE, on_read, t, on_end);
	if (!r->stream) {
		on_end(t);
		return api_fail_errno(ret, -ENOMEM, "no tail", NULL);
	}
	/* Silence of a stream is no fault of its client. */
	MHD_set_connection_option(r->connection, MHD_CONNECTION_OPTION_TIMEOUT, 0U);
	return MHD_HTTP_OK;
}
