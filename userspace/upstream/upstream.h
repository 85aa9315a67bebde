/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upstream.h - asking other servers.
 *
 * One object per worker, all calls on its loop; what is known of the servers is
 * in a pool (upstream/pool.h) that the objects of all workers share.  A request
 * is tried on the servers of its route until one gives a usable answer or the
 * time is over: UDP first, from a fresh random port with a random ID, EDNS 1232;
 * TC asks the same server again over TCP (connections are kept and pipelined);
 * SERVFAIL, REFUSED, a timeout, a broken answer or a referral moves on to the next.  A
 * response counts only when it comes from the asked address with the asked ID,
 * name, type and class; others are dropped and counted.  Over UDP letters go out
 * in random case; a response that does not repeat them is dropped and the
 * question asked again over TCP, and a server that does so twice in a row is
 * asked in small letters for UPSTREAM_PLAIN_MS.
 *
 * Whom to ask first says the strategy (upstream/strategy.h); with parallel_best
 * the second is asked too when the first is silent for a moment, and the first
 * answer counts: the other is dropped when it comes, but what it tells of its
 * server is learnt.  All servers are tried, and once more those that have not
 * responded, a single one up to four times; the time that is left is shared
 * evenly among the attempts left, at least 400 ms each while it lasts.  When no
 * server gives a usable answer, the last failure that was a response is given
 * as one.
 *
 * A server that has failed is asked after all others and probed until it is
 * back (upstream/health.h).
 *
 * The loop's thread blocks or ignores SIGPIPE, as a worker's does.
 *
 * Transports are one file each (udp.c, tcp.c which is TLS too, https.c) behind
 * upstream/transport.h; what those with connections share is upstream/conn.h.
 */
#ifndef UPSTREAM_UPSTREAM_H
#define UPSTREAM_UPSTREAM_H

#include <stdint.h>
#include <uv.h>
#include "base/count.h"
#include "base/endpoint.h"
#include "dns/answer.h"

#define UPSTREAM_SERVERS_MAX 64		/* different ones in all sets */
#define UPSTREAM_SET_MAX     16		/* of one set */
#define UPSTREAM_PINS_MAX    4

#define UPSTREAM_COUNTERS(ROW) \
	ROW(upstream_queries,     "queries sent to upstream servers over UDP") \
	ROW(upstream_tcp_queries, "queries sent to upstream servers over TCP") \
	ROW(upstream_tls_queries, "queries sent to upstream servers over TLS") \
	ROW(upstream_https_queries, "queries sent to upstream servers over HTTPS") \
	ROW(upstream_handshakes,  "connections over TLS that began with a whole handshake") \
	ROW(upstream_resumed,     "connections over TLS that resumed an earlier one's session") \
	ROW(upstream_answers,     "usable answers from upstream servers") \
	ROW(upstream_timeouts,    "attempts that ran out of time") \
	ROW(upstream_errors,      "attempts that ended in a network error") \
	ROW(upstream_failures,    "SERVFAIL, REFUSED and the like from upstream servers") \
	ROW(upstream_mismatches,  "packets dropped: another server, ID or question than asked") \
	ROW(upstream_truncated,   "answers with TC, asked again over TCP") \
	ROW(upstream_no_edns,     "queries repeated without EDNS for a server that does not know it") \
	ROW(upstream_letters,     "answers over UDP that did not repeat the question's letters: asked again over TCP") \
	ROW(upstream_small,       "servers asked in small letters for a while, since they did that twice in a row") \
	ROW(upstream_full,        "requests refused at once: too many in flight") \
	ROW(upstream_server_full, "servers passed over: too many in flight there") \
	ROW(upstream_races,       "requests asked of a second server as well, since the first was silent for a moment") \
	ROW(upstream_late,        "responses dropped: another server's had come first") \
	ROW(upstream_fallback,    "attempts at fallback servers") \
	ROW(upstream_probes,      "questions of our own, to see whether a server is back or how fast it is") \
	ROW(upstream_fell,        "servers that have failed") \
	ROW(upstream_rose,        "servers that have come back")

COUNT_ENUM(upstream_count, UPSTREAM_COUNTERS)

struct upstream_server {
	struct endpoint at;
	bool trust_ad;			/* over a transport that authenticates it: its AD is believed */
	bool no_do;			/* must not be asked with DO */
	uint8_t pin[UPSTREAM_PINS_MAX][32];	/* SHA-256 of public keys; one of them must be the server's */
	unsigned pins;			/* 0: any */
};

/* Numbers of servers, in the order of the configuration. */
struct upstream_set {
	uint8_t server[UPSTREAM_SET_MAX];
	uint8_t count;
};

/* The names in @zone and below are asked of the servers of a set of their own. */
struct upstream_route {
	uint8_t zone[256];		/* wire form */
	uint16_t zone_len;
	unsigned set;
};

enum upstream_strategy {
	UPSTREAM_PARALLEL_BEST,
	UPSTREAM_ORDERED,
	UPSTREAM_ROUND_ROBIN,
	UPSTREAM_RANDOM,
	UPSTREAM_LATENCY,
};

struct upstream_opts {
	struct upstream_server servers[UPSTREAM_SERVERS_MAX];
	unsigned count;			/* 0: no forwarding; upstream_ask() then returns -ENOENT */
	/* Sets: the first is for all names without a route, and may be empty.  Borrowed; without any there is one of all servers. */
	const struct upstream_set *sets;
	unsigned set_count;
	unsigned fallback;		/* which set is asked when nobody of the first responds; 0: none */
	const struct upstream_route *routes;	/* borrowed */
	unsigned route_count;
	enum upstream_strategy strategy;
	uint32_t timeout_ms;		/* for a whole request, all attempts together */
	unsigned in_flight_max;		/* requests at once, of all objects of the pool; 0: 4096 */
	unsigned server_in_flight_max;	/* attempts at once at one server; 0: as in_flight_max */
	unsigned fall;			/* silence and errors in a row that make a server failed; 0: 3 */
	unsigned rise;			/* responses in a row that make it well again; 0: 2 */
	uint32_t probe_ms;		/* between probes of a failed server; 0: 250 */
	bool case_randomization;	/* letters of the question in random case, and an answer must repeat them */
	bool https_get;			/* HTTPS asks by GET, which caches on the way may answer; false: by POST */
	const char *ca;			/* file of the authorities that vouch for servers; NULL: the system's.  Borrowed */
};

struct upstream;
struct upstream_pool;
struct upstream_request;

/**
 * @err  0: a response in @msg (borrowed for the call), whatever its rcode;
 *       -ETIMEDOUT: nobody answered in time; -ECONNREFUSED and other negative
 *       errno: what the last attempt ended in
 */
typedef void (*upstream_done)(struct upstream_request *r, int err, const uint8_t *msg, size_t size);

/* Lives in the asker's memory from upstream_ask() to done. */
struct upstream_request {
	/* set by the asker */
	const struct dns_key *key;
	upstream_done done;
	void *arg;
	const uint8_t *ecs;		/* data of a client's subnet option to send along; NULL: none */
	uint16_t ecs_len;
	/* for the asker to read in done */
	unsigned server;		/* which answered last */
	bool tcp;			/* not over UDP */
	bool trusted;			/* it is one whose AD is believed (trust_ad), over a transport that authenticates it */
	/* upstream's own */
	struct upstream *up;
	void *state;
};

/* With a pool of its own; as upstream_pool_new() and upstream_open(). */
int upstream_new(uv_loop_t *loop, const struct upstream_opts *opts, struct upstream **ret);

/**
 * Make an object that asks the servers of @pool (a reference is kept).
 *
 * Returns 0, -ENOMEM, or what the system said.
 */
int upstream_open(uv_loop_t *loop, struct upstream_pool *pool, struct upstream **ret);

/**
 * Close everything; requests still waiting end with -ECANCELED.  The memory
 * goes when the loop has run its close callbacks.
 */
void upstream_free(struct upstream *u);

/**
 * Ask.  done is never called from within this call.
 *
 * Returns 0; -EBUSY when in_flight_max requests are under way, or too many at
 * each of the servers; -ENOENT without servers for that name; -EHOSTUNREACH
 * when the name of none of them has been resolved; -ENOMEM.  On failure done
 * is not called.
 */
int upstream_ask(struct upstream *u, struct upstream_request *r);

/**
 * Addresses or routes of this machine, or the address of a server, have changed.
 *
 * @servers  whose way is another one now, a bit each: their connections go, and
 *           what was under way there is asked again on fresh ones
 *
 * Failed servers are probed at once.
 */
void upstream_moved(struct upstream *u, uint64_t servers);

#endif
