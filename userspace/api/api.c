/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api.c - the HTTP server: life cycle, bounds, one request from end to end.
 *
 * One thread a connection, at most CONNECTIONS_MAX of them.  A body is read to
 * its end before anything is done; one that is said to be too long is refused
 * with its headers, one that turns out to be ends the connection.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "api/listen.h"
#include "api/request.h"
#include "base/count.h"

#define LOG_ROOM "api"
#include "base/log.h"

#define CONNECTIONS_MAX  256	/* programs that all make a change at once wait for one another here */
#define CONNECTION_BYTES (32 * 1024)	/* request line and headers */
#define IDLE_S           30
#define REQUESTS_END_MS  600	/* more than a stream waits for its next event */

#define API_COUNTERS(ROW) \
	ROW(api_requests, "requests to the admin API") \
	ROW(api_errors,   "of those, answered with an error") \
	ROW(api_refused,  "connections to the admin API closed at once: too many")

COUNT_ENUM(api_count, API_COUNTERS)
static const struct count_row count_rows[] = { COUNT_ROWS(API_COUNTERS) };
static COUNT_SET(counters, count_rows);

struct api {
	struct control *control;
	struct MHD_Daemon *http;
	struct count_shard *count;
	struct api_life life;
	_Atomic unsigned connections;
	_Atomic unsigned requests;	/* that are not answered to their end */
	char path[256];
	dev_t dev;			/* of our socket's name */
	ino_t ino;
};

/* One request while its body comes in. */
struct upload {
	char *text;			/* a zero behind it; NULL: nothing came */
	size_t size;
	bool begun;
	bool zero;			/* the path holds a zero byte, and what is behind it cannot be seen */
	bool refused;			/* an answer has been given already */
};

/* Connections come and go, shards do not: all threads share one, so they add atomically. */
static void count(struct api *a, enum api_count row)
{
	atomic_fetch_add_explicit(&a->count->value[row], 1, memory_order_relaxed);
}

static enum MHD_Result on_accept(void *arg, const struct sockaddr *sa, socklen_t len)
{
	struct api *a = arg;

	if (atomic_load(&a->connections) < CONNECTIONS_MAX)
		return MHD_YES;
	count(a, COUNT_api_refused);
	return MHD_NO;
}

static void on_connection(void *arg, struct MHD_Connection *c, void **ctx, enum MHD_ConnectionNotificationCode what)
{
	struct api *a = arg;

	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		atomic_fetch_add(&a->connections, 1);
	else
		atomic_fetch_sub(&a->connections, 1);
}

static struct MHD_Response *json_response(json_t *body)
{
	char *text = body ? json_dumps(body, JSON_INDENT(2)) : NULL;
	char *line = text ? realloc(text, strlen(text) + 2) : NULL;
	struct MHD_Response *m;

	if (!line) {
		free(text);
		return NULL;
	}
	strcat(line, "\n");
	m = MHD_create_response_from_buffer(strlen(line), line, MHD_RESPMEM_MUST_FREE);
	if (!m)
		free(line);
	return m;
}

static enum MHD_Result send_response(struct MHD_Connection *c, unsigned status, struct MHD_Response *m, const char *type,
				     const char *allow)
{
	enum MHD_Result sent;

	MHD_add_response_header(m, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(m, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	if (allow)
		MHD_add_response_header(m, MHD_HTTP_HEADER_ALLOW, allow);
	sent = MHD_queue_response(c, status, m);
	MHD_destroy_response(m);
	return sent;
}

/* Send JSON (taken). */
static enum MHD_Result send_json(struct api *a, struct MHD_Connection *c, unsigned status, json_t *body,
				 const char *allow, const char *path)
{
	struct MHD_Response *m = json_response(body);

	json_decref(body);
	if (status >= 400)
		count(a, COUNT_api_errors);
	if (m)
		return send_response(c, status, m, "application/json", allow);
	log_limited("no memory for an answer to %s; the connection ends", path);
	return MHD_NO;
}

static enum MHD_Result answer(struct api *a, struct MHD_Connection *c, const char *path, const char *method,
			      const struct upload *u)
{
	struct api_request r = { .control = a->control, .life = &a->life, .connection = c };
	json_t *body = NULL;
	unsigned status;

	count(a, COUNT_api_requests);
	if (atomic_load(&a->life.stopping))
		status = api_fail_errno(&body, -ESHUTDOWN, "not answered", NULL);
	else if (u->zero)
		status = api_fail(&body, MHD_HTTP_BAD_REQUEST, path, "a path of \"routes\"", "the path holds a zero byte");
	else
		status = api_dispatch(&r, method, path, u->text, u->size, &body);
	if (r.stream)
		return send_response(c, status, r.stream, "application/x-ndjson", NULL);
	return send_json(a, c, status, body, *r.allow ? r.allow : NULL, path);
}

/* A body that says itself that it is too long is not waited for. */
static enum MHD_Result refuse_long(struct api *a, struct MHD_Connection *c, const char *path, struct upload *u)
{
	json_t *body = NULL;
	unsigned status = api_fail(&body, MHD_HTTP_CONTENT_TOO_LARGE, "body", "a body of at most 1 MiB", "the body is too long");

	count(a, COUNT_api_requests);
	u->refused = true;
	return send_json(a, c, status, body, NULL, path);
}

/* The first that is heard of a request, before anything in it is decoded; what it returns goes with the request. */
static void *on_uri(void *arg, const char *uri, struct MHD_Connection *c)
{
	const char *zero = strstr(uri, "%00");
	struct upload *u = calloc(1, sizeof(*u));
	struct api *a = arg;

	if (!u)
		return NULL;
	u->zero = zero && zero < strchrnul(uri, '?');
	atomic_fetch_add(&a->requests, 1);
	return u;
}

static enum MHD_Result begin(struct api *a, struct MHD_Connection *c, const char *path, struct upload *u)
{
	const char *length = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

	u->begun = true;
	if (length && strtoull(length, NULL, 10) > API_BODY_MAX)
		return refuse_long(a, c, path, u);
	return MHD_YES;
}

static enum MHD_Result take(struct upload *u, const char *data, size_t size)
{
	char *more;

	if (u->size + size > API_BODY_MAX)
		return MHD_NO;
	more = realloc(u->text, u->size + size + 1);
	if (!more)
		return MHD_NO;
	u->text = more;
	memcpy(u->text + u->size, data, size);
	u->size += size;
	u->text[u->size] = '\0';
	return MHD_YES;
}

/* Called once with the headers, again with each piece of body, at last with none. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *path, const char *method,
				  const char *version, const char *data, size_t *size, void **ctx)
{
	struct upload *u = *ctx;
	size_t n = *size;

	if (!u)
		return MHD_NO;
	if (!u->begun)
		return begin(arg, c, path, u);
	*size = 0;
	if (u->refused)
		return MHD_YES;
	return n ? take(u, data, n) : answer(arg, c, path, method, u);
}

static void on_completed(void *arg, struct MHD_Connection *c, void **ctx, enum MHD_RequestTerminationCode why)
{
	struct upload *u = *ctx;
	struct api *a = arg;

	if (!u)
		return;
	free(u->text);
	free(u);
	*ctx = NULL;
	atomic_fetch_sub(&a->requests, 1);
}

static void on_log(void *arg, const char *fmt, va_list ap)
{
	char line[256];

	vsnprintf(line, sizeof(line), fmt, ap);
	line[strcspn(line, "\n")] = 0;
	log_debug("%s", line);
}

static struct MHD_Daemon *start_http(struct api *a, int fd)
{
	/* The limit of libmicrohttpd itself leaves connections waiting unaccepted; on_accept() refuses before it. */
	return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
				MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, on_accept, a, on_request, a,
				MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
				MHD_OPTION_LISTEN_SOCKET, fd,
				MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX + 2U,
				MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
				MHD_OPTION_NOTIFY_CONNECTION, on_connection, a,
				MHD_OPTION_NOTIFY_COMPLETED, on_completed, a,
				MHD_OPTION_URI_LOG_CALLBACK, on_uri, a,
				MHD_OPTION_END);
}

int api_start(struct control *c, const char *path, uid_t uid, gid_t gid, struct api **ret, struct err_at *reterr)
{
	struct api *a = calloc(1, sizeof(*a));
	struct stat st;
	int fd, err;

	if (!a)
		return err_why(reterr, -ENOMEM, "out of memory");
	a->control = c;
	snprintf(a->path, sizeof(a->path), "%s", path);
	a->count = count_shard_new(&counters);
	if (!a->count) {
		err = err_why(reterr, -ENOMEM, "out of memory");
		goto out;
	}
	err = api_listen(path, uid, gid, &fd, reterr);
	if (err)
		goto out;
	if (lstat(path, &st) == 0) {
		a->dev = st.st_dev;
		a->ino = st.st_ino;
	}
	/* Takes the descriptor, in some of its failures too: it is not closed here, a start that failed ends the process. */
	a->http = start_http(a, fd);
	if (!a->http) {
		unlink(path);
		err = err_why(reterr, -EIO, "the HTTP server does not start");
		goto out;
	}
	*ret = a;
	a = NULL;
out:
	free(a);
	return err;
}

/*
 * Let answers go out and streams end by themselves: a change that was made is
 * acknowledged.  Whoever does not read, or has not sent all, is cut off.
 */
static void wait_for_requests(struct api *a)
{
	unsigned ms;

	for (ms = 0; ms < REQUESTS_END_MS && atomic_load(&a->requests); ms += 10)
		usleep(10000);
}

void api_stop(struct api *a)
{
	struct stat st;

	if (!a)
		return;
	atomic_store(&a->life.stopping, true);
	/* The name may belong to our successor by now. */
	if (lstat(a->path, &st) == 0 && st.st_dev == a->dev && st.st_ino == a->ino)
		unlink(a->path);
	/* Its threads may be waiting for ours. */
	control_refuse_calls(a->control);
	wait_for_requests(a);
	MHD_stop_daemon(a->http);
	free(a);
}
