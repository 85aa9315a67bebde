/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * health.h - what is known of one server: how fast it is, and whether it lives.
 *
 * Learnt from how attempts ended, those of clients and probes alike.  Silence
 * and errors "fall" times in a row make it failed; answers "rise" times in a
 * row make it well again.  A request counts once, however often it asked: a
 * name may be what is silent, not the server, so a server that is suspected is
 * probed, and a response to that clears it.  Any response shows life, SERVFAIL and REFUSED too;
 * but a server that gave nothing else lately is asked after others.  A failed
 * state is not for ever: every UPSTREAM_TRIAL_MS one question of a client goes
 * there as to any other, whatever probes say.
 *
 * No lock and no clock: the pool has the one, callers give the other.  Times
 * are milliseconds of a clock that all callers share, latencies microseconds.
 */
#ifndef UPSTREAM_HEALTH_H
#define UPSTREAM_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#define UPSTREAM_TRIAL_MS  10000
#define UPSTREAM_PLAIN_MS  600000	/* how long a server without EDNS is believed to have none */
#define UPSTREAM_LETTERS   2		/* answers with other letters in a row, then it is asked in small ones for as long */
#define UPSTREAM_FRESH_MS  15000	/* how long a latency is believed */
#define UPSTREAM_LAME      3		/* failures in a row that send a server behind others */

/* How often in a row. */
struct upstream_limits {
	unsigned fall;
	unsigned rise;
	uint32_t probe_ms;
};

struct upstream_health {
	bool failed;
	unsigned bad;			/* silence and errors in a row */
	unsigned good;			/* responses in a row while failed */
	unsigned lame;			/* SERVFAIL, REFUSED and the like in a row */
	uint32_t latency_us;		/* a moving average; 0: unknown */
	uint64_t measured_ms;		/* when the average last moved, or somebody was sent to measure */
	uint64_t trial_ms;		/* while failed: when the next question goes there anyway */
	uint64_t probe_ms;		/* while failed or suspected: when the next probe goes there */
	bool edns;			/* has answered a query with EDNS */
	uint64_t plain_until_ms;	/* knows no EDNS; 0: as far as we know it does */
	unsigned other_letters;		/* answers in a row that did not repeat the question's letters */
	uint64_t small_until_ms;	/* asked in small letters; 0: in random ones */
	uint64_t responded_ms;		/* last */
	uint64_t changed_ms;		/* when it last failed or rose */
};

enum upstream_change { UPSTREAM_SAME, UPSTREAM_FELL, UPSTREAM_ROSE };

/* It responded after @latency_us (0: not measured); @good: with an answer, not a failure. */
enum upstream_change upstream_health_responded(struct upstream_health *h, const struct upstream_limits *l, bool good,
					       uint32_t latency_us, uint64_t now_ms);

/* It was silent for @waited_us, or gave an error (0).  When it has responded to others meanwhile, that says nothing. */
enum upstream_change upstream_health_lost(struct upstream_health *h, const struct upstream_limits *l, uint32_t waited_us,
					  uint64_t now_ms);

/* Whether questions go there: it is well, or a trial is due. */
bool upstream_health_usable(const struct upstream_health *h, uint64_t now_ms);

/* A question goes there now: of a failed server that was the trial. */
void upstream_health_asked(struct upstream_health *h, uint64_t now_ms);

/* True when a failed server is to be probed now; the next time is then probe_ms later. */
bool upstream_health_probe(struct upstream_health *h, const struct upstream_limits *l, uint64_t now_ms);

/* True when one that has not failed was silent and is to be probed; once in probe_ms. */
bool upstream_health_suspected(struct upstream_health *h, const struct upstream_limits *l, uint64_t now_ms);

/* True when its latency is unknown or old; once, then it is taken for measured. */
bool upstream_health_measure(struct upstream_health *h, uint64_t now_ms);

/* Something has changed on the way to it: probe at once. */
void upstream_health_doubt(struct upstream_health *h, uint64_t now_ms);

#endif
