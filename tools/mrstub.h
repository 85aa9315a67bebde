/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub.h - what the parts of the stub upstream know of each other.
 *
 * tools/mrstub_rules.c turns text (tools/mrstub_text.c) into rules,
 * tools/mrstub_query.c octets into a query, tools/mrstub_answer.c both into an
 * answer; the rest serves (mrstub_worker.h); tools/mrstub.c is the command line.
 * Names are wire form.
 * Rules do not change once the workers run, but for the count of "first=".
 */
#ifndef TOOLS_MRSTUB_H
#define TOOLS_MRSTUB_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define STUB_NAME_MAX    255
#define STUB_UDP_MAX     4096	/* the largest datagram sent, whatever the client offers */
#define STUB_MSG_MAX     65535
#define STUB_RULES_MAX   4096
#define STUB_RECORDS_MAX 64	/* per rule */
#define STUB_PORTS_MAX   16	/* --listen */
#define STUB_WORKERS_MAX 64

enum stub_type {
	TYPE_A = 1,
	TYPE_NS = 2,
	TYPE_CNAME = 5,
	TYPE_SOA = 6,
	TYPE_PTR = 12,
	TYPE_MX = 15,
	TYPE_TXT = 16,
	TYPE_AAAA = 28,
	TYPE_OPT = 41,
	TYPE_RRSIG = 46,
	TYPE_ANY = 255,
};

/* Words without a value: name, word, help. */
#define STUB_FLAGS(X)                                                                          \
	X(UDP, "udp", "the rule is for queries over UDP only")                                 \
	X(TCP, "tcp", "the rule is for queries over TCP only")                                 \
	X(TRUNCATE, "truncate", "over UDP TC=1 and no records; whole over TCP")                \
	X(DROP, "drop", "no answer")                                                           \
	X(CLOSE, "close", "over TCP: close the connection instead of answering")               \
	X(WRONG_ID, "wrong-id", "the answer's id is another one")                              \
	X(WRONG_QUESTION, "wrong-question", "the answer's question is another name")           \
	X(WRONG_SOURCE, "wrong-source", "the answer comes from another port (UDP)")            \
	X(ALSO_RIGHT, "also-right", "after a wrong answer the right one is sent too")          \
	X(LOWER, "lower", "the question comes back in lower case")                             \
	X(NO_OPT, "no-opt", "no OPT, as a server without EDNS")                                \
	X(NO_SOA, "no-soa", "negative answers without SOA")                                    \
	X(AA, "aa", "AA is set")                                                               \
	X(AD, "ad", "AD is set")                                                               \
	X(RRSIG, "rrsig", "a signature (not a valid one) is added when DO was set")            \
	X(LAME, "lame", "no answer, but a referral to the root, RA clear")                     \
	X(GARBAGE, "garbage", "40 octets of noise instead of an answer")                       \
	X(BROKEN, "broken", "the right header and question, and records that run over the end")\
	X(FORMERR_EDNS, "formerr-edns", "a query with OPT gets FORMERR without one")           \
	X(DROP_EDNS, "drop-edns", "a query with OPT gets no answer")                           \
	X(DROP_DO, "drop-do", "a query with DO gets no answer")                                \
	X(HANG_UP, "hang-up", "the connection ends behind the answer (HTTPS: after GOAWAY)")   \
	X(GOAWAY, "goaway", "over HTTPS: GOAWAY instead of an answer; over TCP and TLS: close")

enum {
#define X(name, word, help) STUB_BIT_##name,
	STUB_FLAGS(X)
#undef X
};
enum stub_flag {
#define X(name, word, help) STUB_##name = 1u << STUB_BIT_##name,
	STUB_FLAGS(X)
#undef X
};

struct stub_record {
	uint8_t *owner;		/* NULL: the question's name */
	uint8_t *rdata;
	uint16_t rdata_len;
	uint16_t type;
};

enum stub_match {
	MATCH_EXACT,
	MATCH_BELOW,		/* "*.suffix": everything below the suffix */
	MATCH_ALL,
};

struct stub_rule {
	enum stub_match match;
	uint8_t name[STUB_NAME_MAX];	/* lower case */
	uint8_t name_len;
	uint8_t *zone;			/* owner of the SOA; NULL: the parent of the question's name */
	uint16_t type;			/* 0: any */
	bool has_data;			/* records, an rcode or a size are given; else the default answer */
	uint32_t flags;
	uint32_t rcode;
	uint32_t ttl_s;
	uint32_t minimum_s;
	uint32_t delay_ms;
	uint32_t loss_percent;
	uint32_t big;			/* octets of the message; 0: as it comes */
	uint32_t first;			/* matches so often only; 0: always */
	uint32_t refuse_after;		/* queries on one connection before it gets REFUSED; 0: never */
	uint32_t status;		/* of HTTP, instead of an answer; 0: 200 and the answer */
	_Atomic uint32_t used;
	uint32_t record_count;
	struct stub_record record[STUB_RECORDS_MAX];
};

struct stub_rules {
	uint32_t ttl_s;			/* of rules that say none, and of the default answer */
	uint32_t minimum_s;
	uint32_t count;
	struct stub_rule *rule[STUB_RULES_MAX];
	struct stub_rule *fallback;
};

struct stub_query {
	const uint8_t *msg;
	uint16_t question_end;		/* offset behind the class */
	uint16_t id;
	uint16_t flags;
	uint16_t type;
	uint16_t class;
	uint16_t udp_size;		/* at least 512 */
	uint8_t name_len;
	uint8_t edns_version;
	bool edns;
	bool dnssec_ok;
	bool tcp;
	uint8_t rcode;			/* not 0: what is wrong with the query; the answer is this and no more */
	uint8_t name[STUB_NAME_MAX];	/* lower case */
};

/* ---- text: mrstub_text.c ---- */

/* What stub_bad() said last in this thread. */
extern _Thread_local char stub_why[256];

/** Say what is wrong; returns -EINVAL so that a caller can return it. */
int __attribute__((format(printf, 1, 2))) stub_bad(const char *fmt, ...);

/** A decimal number; 0, or -EINVAL, about which the caller says more. */
int stub_number_parse(const char *text, uint32_t min, uint32_t max, uint32_t *ret);

/** The mnemonic of a type or TYPEn; 0 or -EINVAL. */
int stub_type_parse(const char *text, uint16_t *ret);

/** Write the mnemonic of a type, or TYPEn, into at least 16. */
void stub_type_text(uint16_t type, char *text);

/** A name to wire form in lower case, into 255 octets; returns its length or -EINVAL. */
int stub_name_parse(const char *text, uint8_t *wire);

/** The value of a hexadecimal digit, or -1. */
int stub_hex_digit(char c);

/** The next word in place, quotes taken off; NULL at the end, *err set when a quote is not closed. */
char *stub_word_next(char **at, int *err);

/* ---- rules: mrstub_rules.c ---- */

/** Print the words a rule may have, one a line. */
void stub_rules_help(FILE *to);

/** Make the rule of the default answer.  Returns 0 or -ENOMEM. */
int stub_rules_init(struct stub_rules *r);
void stub_rules_done(struct stub_rules *r);

/**
 * Add one rule.
 *
 * @line    "NAME [TYPE] WORD..."; blank or from '#' on: nothing is added
 * @reterr  what is wrong and what was expected; static storage of this thread
 *
 * Returns 0, -EINVAL for a line that is no rule or one too many, -ENOMEM.
 */
int stub_rules_add(struct stub_rules *r, const char *line, const char **reterr);

/** The first rule for the query, or the default one.  Counts a use of "first=N". */
struct stub_rule *stub_rules_find(struct stub_rules *r, const struct stub_query *q);

/* ---- queries: mrstub_query.c ---- */

/**
 * Read a query.
 *
 * Returns 0, with ret->rcode set if only an error can be answered (and
 * question_end 12 when there is no question to repeat), or -EBADMSG for what
 * deserves no answer: shorter than a header, or an answer itself.  The query
 * points into the message.
 */
int stub_query_parse(const uint8_t *msg, size_t len, bool tcp, struct stub_query *ret);

/** Write the name and the type of a query as text, into sizes of at least 1024 and 16. */
void stub_query_text(const struct stub_query *q, char *name, char *type);

/* ---- answers: mrstub_answer.c ---- */

/**
 * Build the answer.
 *
 * @wrong  WRONG_ID, WRONG_QUESTION, GARBAGE, BROKEN to apply of the rule's
 * @buf    at least STUB_UDP_MAX octets for UDP, STUB_MSG_MAX for TCP
 *
 * Returns the length.  What does not fit the client's size goes as TC=1.
 */
size_t stub_answer(const struct stub_rule *rule, const struct stub_query *q, uint32_t wrong, uint8_t *buf);

/* ---- time: mrstub_heap.c ---- */

struct stub_timed {
	uint64_t due_ns, order;
};

struct stub_heap {
	struct stub_timed **item;	/* [0] is the earliest */
	uint32_t len, cap;
	uint64_t order;
};

/** Put in what its owner made and dated.  Returns 0 or -ENOMEM; then it is still the caller's. */
int stub_heap_push(struct stub_heap *h, struct stub_timed *d);

/** Take out the earliest of a heap that is not empty. */
struct stub_timed *stub_heap_pop(struct stub_heap *h);

#define STUB_COUNTERS(X) \
	X(udp) X(tcp) X(tls) X(https) X(ignored) X(malformed) X(answers) X(truncated) X(dropped) X(lost) X(wrong) \
	X(refused) X(delayed) X(delay_full) X(send_failed) X(connections) X(tcp_refused) X(idle_closed) X(hung_up) \
	X(handshakes) X(resumed) X(tls_failed) X(http_failed)

/* The counters of a worker, which alone writes them. */
struct stub_counters {
#define X(name) _Atomic uint64_t name;
	STUB_COUNTERS(X)
#undef X
};

union stub_address {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* ---- sockets: mrstub_socket.c ---- */

/**
 * Open a bound socket, a stream listening.
 *
 * On a wildcard address, a query's destination comes with it as a control
 * message, which goes back with the answer to be its source.
 *
 * @type      SOCK_DGRAM or SOCK_STREAM, with flags
 * @any_port  the system chooses the port
 * @share     other sockets that say so may have the same port
 *
 * Returns the descriptor, the caller's, or a negative errno.
 */
int stub_socket_open(const union stub_address *a, int type, bool any_port, bool share);

/**
 * Tell whether nobody has the port: 0, or a negative errno.
 *
 * Sharing it with another stub, one that was forgotten, would share its queries
 * out in silence.
 */
int stub_port_is_free(const union stub_address *a);

/** The same address with another port. */
union stub_address stub_address_at(const union stub_address *a, uint16_t port);

/* ---- serving: mrstub_worker.c ---- */

/* What the command line said; nothing of it changes once the workers run. */
extern struct stub {
	struct stub_rules rules;
	union stub_address listen[STUB_PORTS_MAX];
	uint32_t listen_count;
	uint32_t port, workers, seed;
	uint32_t tls_port, https_port;	/* 0: not served */
	uint32_t handshake_ms;		/* until a handshake is begun */
	uint32_t idle_ms;		/* until an idle connection is closed; 0: never */
	FILE *log;			/* NULL: none */
} stub;

struct stub_worker;

/**
 * Make a worker, its sockets bound.
 *
 * Returns 0 or a negative errno; for a socket, stderr names the address.
 */
int stub_worker_new(uint32_t index, struct stub_worker **ret);
void stub_worker_free(struct stub_worker *w);

/** Start its thread; 0 or a negative errno. */
int stub_worker_start(struct stub_worker *w);

/** Let the thread end, and wait for it. */
void stub_worker_stop(struct stub_worker *w);

/** For any thread to read, at any time. */
const struct stub_counters *stub_worker_counters(const struct stub_worker *w);

#endif
