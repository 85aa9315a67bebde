/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub_worker.h - the inside of a worker, for the files that serve.
 *
 * tools/mrstub_worker.c has the thread, its datagrams and its timer,
 * mrstub_conn.c the connections, mrstub_tls.c and mrstub_http.c what may lie
 * between octets and messages, mrstub_serve.c what is done with a query.
 * Everything here belongs to one thread.
 */
#ifndef TOOLS_MRSTUB_WORKER_H
#define TOOLS_MRSTUB_WORKER_H

#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "tools/mrstub.h"

#define BATCH       64
#define CONNS_MAX   4096	/* per worker */
#define CONN_OUT    (1 << 20)	/* octets waiting for a client, over which its queries wait too */
#define DELAYED_MAX (1 << 18)	/* per worker */
#define IN_SIZE     2048	/* a query over UDP */
#define CONTROL     64		/* room for an in6_pktinfo */

/* One writer each, so no locked addition. */
#define COUNT(w, what) \
	atomic_store_explicit(&(w)->count.what, \
			      atomic_load_explicit(&(w)->count.what, memory_order_relaxed) + 1, memory_order_relaxed)

enum stub_carrier { CARRIER_UDP, CARRIER_TCP, CARRIER_TLS, CARRIER_HTTPS };

struct port {
	int udp, spoof;			/* spoof: same address, another port */
	int stream[CARRIER_HTTPS + 1];	/* listening, by carrier; -1: not served */
};

/* Whom an answer is for: a datagram's sender, or a connection. */
struct peer {
	enum stub_carrier carrier;
	uint32_t port;
	int32_t conn;			/* -1: UDP */
	int32_t stream;			/* of HTTP */
	uint32_t generation;		/* of the connection */
	uint32_t address_len, control_len;
	union stub_address address;
	uint8_t control[CONTROL] __attribute__((aligned(8)));	/* the source address for the answer, on wildcard sockets */
};

/* Octets, those before `at` done with. */
struct stub_buf {
	uint8_t *p;
	size_t at, len, cap;
};

struct conn {
	int fd;				/* -1: free */
	enum stub_carrier carrier;
	uint32_t generation, port, events, delayed, queries;
	union stub_address address;
	struct stub_buf in, out;	/* in: messages or HTTP in plain; out: as it goes to the socket */
	struct stub_tls *tls;
	struct stub_http *http;
	uint64_t used_ns;		/* when octets last came or an answer went */
	bool held;			/* its handshake is not begun */
	bool eof, dead;
	bool last;			/* ends when what waits has been sent */
};

enum alarm { ALARM_ANSWER, ALARM_HANDSHAKE, ALARM_IDLE };

/* `timed` stays first: the heap knows nothing else. */
struct delayed {
	struct stub_timed timed;
	enum alarm alarm;
	struct peer peer;
	bool spoof, hang_up;
	size_t len;
	uint8_t msg[];
};

struct stub_worker {
	pthread_t thread;
	int epoll, timer, stop;
	uint64_t random;
	struct stub_counters count;
	struct port port[STUB_PORTS_MAX];
	struct conn conn[CONNS_MAX];
	struct stub_heap heap;

	struct mmsghdr in[BATCH], out[BATCH];
	struct iovec in_iov[BATCH], out_iov[BATCH];
	struct peer in_peer[BATCH], out_peer[BATCH];
	uint8_t in_buf[BATCH][IN_SIZE], out_buf[BATCH][STUB_UDP_MAX];
	uint32_t out_len;
	uint8_t big[STUB_MSG_MAX];
};

/* The first are the carriers. */
enum event { EVENT_UDP, EVENT_TCP, EVENT_TLS, EVENT_HTTPS, EVENT_CONN, EVENT_TIMER, EVENT_STOP };

/* What epoll gives back; the generation tells a connection from the one that had its place before. */
static inline uint64_t stub_event(enum event kind, uint32_t index, uint32_t generation)
{
	return (uint64_t)kind << 56 | (uint64_t)(generation & 0xffff) << 32 | index;
}

/* ---- mrstub_worker.c ---- */

uint64_t stub_now_ns(void);

/** A number of the worker's own row, which --seed begins. */
uint32_t stub_random(struct stub_worker *w);

/** Send what is gathered.  Blocking: a full send buffer empties by itself. */
void stub_udp_flush(struct stub_worker *w, int fd);

/** Send the datagram that lies in the next place of the batch. */
void stub_udp_send(struct stub_worker *w, const struct peer *peer, size_t len, bool spoof);

/**
 * Have something done in so many milliseconds, in the order of their times.
 *
 * @hang_up  the connection ends behind the answer
 *
 * What does not fit DELAYED_MAX is counted and forgotten.
 */
void stub_later(struct stub_worker *w, enum alarm alarm, const struct peer *peer, const uint8_t *msg, size_t len,
		uint32_t ms, bool spoof, bool hang_up);

/* ---- mrstub_serve.c ---- */

/** One query, from wherever it came. */
void stub_serve(struct stub_worker *w, const struct peer *peer, const uint8_t *msg, size_t len);

/* ---- mrstub_conn.c ---- */

/** Accept one on a listening socket. */
void stub_conn_accept(struct stub_worker *w, uint32_t port, enum stub_carrier carrier);

/** Do what epoll says can be done. */
void stub_conn_event(struct stub_worker *w, struct conn *c, uint32_t events);

/** Do all that can be done for a connection now; it may be closed then. */
void stub_conn_go_on(struct stub_worker *w, struct conn *c);

/** A time has come for the connection, which may be another one by now. */
void stub_conn_alarm(struct stub_worker *w, const struct delayed *d);

/** Queue an answer as its carrier has it, and with hang_up the end behind it; the caller goes on. */
void stub_conn_answer(struct stub_worker *w, struct conn *c, int32_t stream, const uint8_t *msg, size_t len,
		      bool hang_up);

/** Queue octets in plain. */
void stub_conn_put(struct stub_worker *w, struct conn *c, const uint8_t *p, size_t len);

void stub_conn_close(struct stub_worker *w, struct conn *c);

/** Append; 0 or -ENOMEM. */
int stub_buf_put(struct stub_buf *b, const uint8_t *p, size_t len);

/* ---- mrstub_tls.c: a filter of octets ---- */

/**
 * Read certificate and key; for all workers.
 *
 * @versions  "1.2", "1.3", or NULL for both
 *
 * Returns 0 or -EINVAL; stderr says what is wrong.
 */
int stub_tls_init(const char *cert, const char *key, const char *versions);
void stub_tls_done(void);

/** The end of a connection that waits for a handshake; NULL when there is no memory. */
struct stub_tls *stub_tls_new(bool https);
void stub_tls_free(struct stub_tls *t);

/**
 * Take octets of the wire, append what they mean.
 *
 * @ret_eof  true: the peer has said that nothing more comes
 *
 * Returns 0, -EPROTO (an alert may wait for stub_tls_out()) or -ENOMEM.
 */
int stub_tls_in(struct stub_tls *t, const uint8_t *p, size_t len, struct stub_buf *plain, bool *ret_eof);

/** Encrypt; 0 or -EPROTO. */
int stub_tls_put(struct stub_tls *t, const uint8_t *p, size_t len);

/** Say that nothing more comes. */
void stub_tls_end(struct stub_tls *t);

/** Append the octets for the wire; 0 or -ENOMEM. */
int stub_tls_out(struct stub_tls *t, struct stub_buf *wire);

/** True once when the handshake is done, and whether an earlier session went on. */
bool stub_tls_greeted(struct stub_tls *t, bool *ret_resumed);

/* ---- mrstub_http.c: messages in HTTP/2 (RFC 8484) ---- */

/** The server's end; NULL when there is no memory. */
struct stub_http *stub_http_new(struct stub_worker *w, struct conn *c);
void stub_http_free(struct stub_http *h);

/** Take octets; queries are served meanwhile.  0 or -EPROTO. */
int stub_http_in(struct stub_http *h, const uint8_t *p, size_t len);

/** Put what waits into the connection; false when nothing more can come of it. */
bool stub_http_out(struct stub_http *h);

/** Answer a stream with status 200 and a message, or with another status and nothing. */
void stub_http_answer(struct stub_http *h, int32_t stream, uint32_t status, const uint8_t *msg, size_t len);

/** End the connection, all streams before this one answered; with it itself when `served`. */
void stub_http_goaway(struct stub_http *h, int32_t stream, bool served);

#endif
