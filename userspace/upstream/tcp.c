/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp.c - asking over TCP, and the same over TLS (RFC 7858): messages in
 * frames of the stream, answered in any order (RFC 7766 section 6.2), told
 * apart by their ID.
 */
#include <errno.h>
#include "base/random.h"
#include "upstream/conn.h"

#define CROWDED 32			/* queries on one connection before a second one is opened */

static struct upstream_job *find(struct upstream_conn *c, uint16_t id)
{
	struct upstream_job *job;

	for (job = c->jobs; job; job = job->next)
		if (job->id == id)
			return job;
	return NULL;
}

/* There are far fewer queries on a connection than IDs. */
static int put(struct upstream_conn *c, struct upstream_job *job)
{
	while (find(c, job->id))
		job->id = random_u16();
	job->query[0] = (uint8_t)(job->id >> 8);
	job->query[1] = (uint8_t)job->id;
	return stream_send(&c->s, job->query, job->query_len);
}

static void came(struct upstream_conn *c, const uint8_t *msg, size_t size)
{
	struct upstream_job *job = NULL;

	if (size >= 2)
		job = find(c, (uint16_t)(msg[0] << 8 | msg[1]));
	if (job && upstream_job_matches(job, msg, size))
		upstream_conn_answered(job, msg, size);
	else
		count_one(c->up->count, COUNT_upstream_mismatches);
}

static unsigned room(const struct upstream_conn *c)
{
	return CROWDED;
}

static const struct upstream_over over_tcp = {
	.queries = COUNT_upstream_tcp_queries, .put = put, .came = came, .room = room,
};

/* Not all servers know ALPN's "dot": who does not choose is taken all the same. */
static const struct upstream_over over_tls = {
	.tls = true, .alpn = "dot", .queries = COUNT_upstream_tls_queries, .put = put, .came = came, .room = room,
};

static int tcp_send(struct upstream_job *job)
{
	return upstream_conn_send(job, &over_tcp);
}

static int tls_send(struct upstream_job *job)
{
	return upstream_conn_send(job, &over_tls);
}

const struct upstream_transport upstream_tcp = { .name = "tcp", .send = tcp_send, .cancel = upstream_conn_cancel };
const struct upstream_transport upstream_tls = {
	.name = "tls", .refused_again = true, .send = tls_send, .cancel = upstream_conn_cancel,
};
