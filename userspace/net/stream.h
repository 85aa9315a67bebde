/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream.h - DNS messages over TCP: two octets of length in front of each
 * (RFC 1035 section 4.2.2), any number on one connection (RFC 7766); over TLS
 * as well (RFC 7858); or plain octets, for protocols that frame by themselves.
 *
 * Embedded in its owner, which sets the callbacks and frees the memory in
 * closed().  Input waits in a buffer only while a message is incomplete or
 * the stream is paused; output waits in at most STREAM_OUT_MAX octets.  No
 * time-outs here: the owner looks at the times and closes.  Threads that use
 * streams block or ignore SIGPIPE.
 *
 * ended() with 0 says that the peer sends no more: all its whole messages have
 * been delivered, and it may still read, so the owner closes at once or sends
 * first what it owes.  With an error it says that the connection broke; that
 * may come after the former, and the owner closes.
 */
#ifndef NET_STREAM_H
#define NET_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>
#include "base/addr.h"
#include "net/tls.h"

#define STREAM_MESSAGE_MAX 65535
#define STREAM_OUT_MAX     (512 * 1024)

struct stream {
	/* set by the owner before stream_init() */
	void (*connected)(struct stream *s, int err);	/* of stream_connect(); else NULL */
	void (*message)(struct stream *s, const uint8_t *msg, size_t size);	/* borrowed for the call */
	void (*drained)(struct stream *s);		/* output has gone; may be NULL */
	void (*ended)(struct stream *s, int err);	/* see below */
	void (*closed)(struct stream *s);		/* after stream_close(): the memory is the owner's again */
	/* for the owner to read: times of the loop in ms */
	uint64_t in_since_ms;		/* since when the incomplete message waits; valid while in_len */
	uint64_t out_since_ms;		/* since when the output under way waits; valid while sending_len */
	size_t in_len;
	size_t sending_len;
	bool paused;
	bool closing;
	bool shaking;			/* connected, and TLS's handshake is not over */
	/* set by the owner before stream_init(); all 0: messages, in clear */
	bool octets;			/* message() gets octets as they come, and sends go out as they are */
	struct tls *tls;		/* the stream's from stream_init() on; NULL: in clear */
	/* its own */
	uv_tcp_t tcp;
	uv_connect_t connect;
	uv_write_t write;
	bool open;
	bool pumping;
	bool eof;			/* the peer sends no more */
	bool end_waits;			/* nor will it, but messages wait for stream_resume() */
	bool ending;			/* broken */
	uint8_t *in;
	size_t in_size;
	uint8_t *out;			/* framed, not yet given to the loop */
	size_t out_len;
	size_t out_size;
	uint8_t *sending;		/* given to the loop */
	uint8_t *cipher;		/* what TLS made of out, not yet given to the loop */
	size_t cipher_len;
	size_t cipher_size;
};

/**
 * Open a listening TCP socket with SO_REUSEPORT.
 *
 * Returns 0 with @ret_fd (the caller's) or a negative errno.
 */
int stream_listen(const struct addr *a, int *ret_fd, struct addr *ret_bound);

/* Begin a stream on @loop; from now on it ends by stream_close().  Returns 0 or a negative errno. */
int stream_init(struct stream *s, uv_loop_t *loop);

/**
 * Serve an accepted connection and begin to read.
 *
 * Takes @fd, also on failure.  Returns 0 or a negative errno.
 */
int stream_open(struct stream *s, int fd);

/**
 * Connect to @peer; connected() tells the outcome, later: over TLS when the handshake is over, with the errors of
 * tls_feed(), -ECONNRESET when the peer closes before.
 *
 * Messages may be sent at once: they wait.  Returns 0 or a negative errno (then connected() is not called).
 */
int stream_connect(struct stream *s, const struct addr *peer);

/**
 * Send a message (copied).  What is sent from within message() goes out together, in one call.
 *
 * Returns 0; -ENOBUFS when more than STREAM_OUT_MAX octets would wait;
 * -EMSGSIZE; -ENOMEM; or the error of the connection.  On failure close.
 */
int stream_send(struct stream *s, const uint8_t *msg, size_t size);

/* Octets of output that wait, TLS's own among them. */
size_t stream_backlog(const struct stream *s);

/* Deliver no more messages, read no more; from within message() too. */
void stream_pause(struct stream *s);

/* Go on, first with what is here already. */
void stream_resume(struct stream *s);

/* Close; output that waits is lost, but TLS says good-bye.  Callable twice and from within any callback. */
void stream_close(struct stream *s);

#endif
