/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pool.h - the servers as all workers see them: where they are, how they do,
 * how much is under way.
 *
 * One object for the daemon, shared by reference; any thread, a lock inside,
 * held for some tens of nanoseconds.  Shared, so that a server that has failed
 * costs one worker its time and not each, is probed once, and bounds hold for
 * the daemon.  Times are milliseconds of the loops' clock (CLOCK_MONOTONIC).
 */
#ifndef UPSTREAM_POOL_H
#define UPSTREAM_POOL_H

#include "upstream/health.h"
#include "upstream/strategy.h"
#include "upstream/upstream.h"

#define UPSTREAM_WHY_MAX   192
#define UPSTREAM_ADDRS_MAX 8		/* of one name */

/* How an attempt ended. */
enum upstream_outcome {
	UPSTREAM_ANSWERED,
	UPSTREAM_SERVFAIL,		/* and every other rcode that is no answer */
	UPSTREAM_REFUSED,
	UPSTREAM_TIMED_OUT,
	UPSTREAM_BROKE,			/* an error of the network */
	UPSTREAM_UNTRUSTED,		/* certificate, name or pin are not what they must be, or the transport says no */
	UPSTREAM_DROPPED,		/* by us: nothing is learnt */
	UPSTREAM_OUTCOMES
};

/* For logs: called after the lock is gone, on whichever thread found it. */
struct upstream_news {
	const char *server;		/* its text */
	enum upstream_change change;
	const char *why;		/* with UPSTREAM_SAME: a reason that was not told before */
};

struct upstream_listener {
	void (*told)(void *arg, const struct upstream_news *n);
	void *arg;
};

/**
 * Make the pool.
 *
 * @opts    copied whole
 * @before  servers that were in that pool too keep what is known of them; NULL: nothing is
 * @listen  may be NULL
 *
 * Returns 0 with one reference; -EINVAL when a set or route names what is not there; -EEXIST; -ENOMEM.
 */
int upstream_pool_new(const struct upstream_opts *opts, struct upstream_pool *before, const struct upstream_listener *listen,
		      struct upstream_pool **ret);
struct upstream_pool *upstream_pool_ref(struct upstream_pool *p);
/* Takes NULL. */
void upstream_pool_unref(struct upstream_pool *p);

/* Its options; sets, routes and ca are the pool's own. */
const struct upstream_opts *upstream_pool_opts(const struct upstream_pool *p);

/* ---- requests ---- */

/**
 * Take a place for a request and plan it.
 *
 * @ret_measure  a server whose speed is unknown or old and should be probed; -1: none
 * @ret_full     how many servers were passed over because too much is in flight there
 *
 * Returns 0, then upstream_pool_leave() is due; else as upstream_ask().
 */
int upstream_pool_enter(struct upstream_pool *p, const struct dns_key *key, uint64_t now_ms, struct upstream_plan *ret,
			int *ret_measure, unsigned *ret_full);
void upstream_pool_leave(struct upstream_pool *p);

/* ---- attempts ---- */

/* What a server does not bear, as far as is known. */
struct upstream_how {
	bool plain;			/* EDNS */
	bool small;			/* letters in random case */
};

/**
 * Begin an attempt at a server.
 *
 * @again      it was silent in this request; one that never answered a query
 *             with EDNS may drop those (RFC 6891 section 6.2.2)
 * @ret_to     where it is now
 * @ret_how    what it is to be asked without
 *
 * Returns 0, then upstream_pool_end() is due; -EBUSY when too many are in flight there; -EHOSTUNREACH without address.
 */
int upstream_pool_begin(struct upstream_pool *p, unsigned server, bool again, uint64_t now_ms, struct addr *ret_to,
			struct upstream_how *ret_how);

struct upstream_end {
	enum upstream_outcome outcome;
	uint32_t us;			/* since it was sent; 0: not measured */
	bool again;			/* the request has counted against it already */
	bool edns;			/* a response to a query with EDNS, and not that it knows none */
	bool letters;			/* a response that repeats letters in random case */
	const char *why;		/* what went wrong; NULL: nothing did, or nothing is learnt */
};

enum upstream_change upstream_pool_end(struct upstream_pool *p, unsigned server, const struct upstream_end *end,
				       uint64_t now_ms);

/* A server answered only when asked without EDNS.  True: that is new. */
bool upstream_pool_set_plain(struct upstream_pool *p, unsigned server, uint64_t now_ms);

/*
 * A server did not repeat the letters of the question.  True: it is asked in small ones from now on, for
 * UPSTREAM_PLAIN_MS, which it was not before.
 */
bool upstream_pool_other_letters(struct upstream_pool *p, unsigned server, uint64_t now_ms);

/* ---- probes ---- */

/* Whether a server that was silent, but has not failed, is to be probed: the name may be what is silent. */
bool upstream_pool_suspected(struct upstream_pool *p, unsigned server, uint64_t now_ms);

/* A failed server that is to be probed now, each probe_ms once; -1: none. */
int upstream_pool_probe(struct upstream_pool *p, uint64_t now_ms);

/* How many servers have failed. */
unsigned upstream_pool_failed(struct upstream_pool *p);

/* ---- where they are ---- */

/**
 * The addresses of a server that is given by its name, the best first; ports are those of the configuration.
 *
 * The one in use stays in use while it is among them.  Returns true when another one is.
 */
bool upstream_pool_set_addrs(struct upstream_pool *p, unsigned server, const struct addr *addrs, unsigned count);

/* Why a name could not be resolved; shown while there is no address. */
void upstream_pool_set_why(struct upstream_pool *p, unsigned server, const char *why);

/* The address in use; false: there is none. */
bool upstream_pool_addr(struct upstream_pool *p, unsigned server, struct addr *ret);

/* Something has changed on the ways to servers: all that have failed are probed at once. */
void upstream_pool_doubt(struct upstream_pool *p, uint64_t now_ms);

/* ---- pictures ---- */

struct upstream_picture {
	char server[ENDPOINT_TEXT_MAX];
	bool resolved;
	struct addr addr;		/* in use; when resolved */
	bool failed;
	uint64_t since_ms;		/* it failed or rose; 0: never */
	uint32_t latency_us;		/* 0: unknown */
	unsigned in_flight;
	bool plain;			/* asked without EDNS */
	uint64_t asked;			/* attempts */
	uint64_t ended[UPSTREAM_OUTCOMES];
	char why[UPSTREAM_WHY_MAX];	/* of the last attempt that went wrong; "" when none did */
	uint64_t why_ms;		/* when */
};

/* False when there is no such server. */
bool upstream_pool_look(struct upstream_pool *p, unsigned server, uint64_t now_ms, struct upstream_picture *ret);

/* Requests under way. */
unsigned upstream_pool_in_flight(struct upstream_pool *p);

#endif
