/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control.h - the one writer of policy, and what others may ask it.
 *
 * Lives on the control thread (the loop of main).  Applies a configuration:
 * check -> compile -> publish; any failure leaves the old one in force.  Hands
 * out read-only pictures of the daemon's state to api/.
 *
 * Functions marked "any thread" may be called from the API's threads; they
 * hand the work to the control thread and wait.
 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include <uv.h>
#include "base/addr.h"
#include "base/err.h"
#include "cache/cache.h"
#include "config/config.h"
#include "kern/kern.h"
#include "policy/list.h"

struct control;

/* ---- life cycle, by main, on the control thread ---- */

/**
 * Read and check the file @path; as config_load(), and a file that cannot be
 * read is its one error.
 */
int control_read_config(const char *path, struct config **ret, struct config_errors *reterrs);

/* Log each of them. */
void control_log_errors(const struct config_errors *errors);

/**
 * Start everything that @config (taken, also on failure) asks for: the filter
 * that is on disk, the packet path, the workers, then the lists.
 *
 * @path  where it came from; a reload reads it again
 *
 * Returns 0, or a negative errno with @reterr and nothing left running.
 */
int control_start(uv_loop_t *loop, const char *path, struct config *config, struct control **ret,
		  struct err_at *reterr);

/* Read the configuration again and apply it; on failure the old one stays in force and @reterr says why. */
int control_reload(struct control *c, struct err_at *reterr);

/**
 * From now on the functions for any thread fail with -ESHUTDOWN, also for
 * those that wait in one.  On the control thread; api_stop() calls it, since it
 * waits for such callers and nobody would serve them meanwhile.
 */
void control_refuse_calls(struct control *c);

/**
 * Stop workers, detach the packet path, free.
 *
 * @c        takes NULL
 * @started  false when the daemon's start failed behind control_start(): what
 *           an earlier run left answering then goes on answering
 */
void control_stop(struct control *c, bool started);

/* ---- pictures, any thread ---- */

#define CONTROL_LISTS_MAX CONFIG_LISTS_MAX

struct control_list {
	char name[64];
	enum config_origin origin;
	char file[256];			/* or the copy of what a URL gave */
	char url[512];			/* without user, password and query; "" for a file */
	enum config_list_format format;
	enum config_list_action action;
	bool left_out;			/* made, but it cannot be in force: error says why, what follows is not known */
	bool loaded;			/* in force; false: never read, or the last try failed and nothing older is there */
	char error[256];		/* of the last try; "" when it went well */
	struct list_report report;
	/* of one from a URL; seconds since 1970, 0: never */
	bool fetching;
	uint64_t bytes;			/* of the copy */
	int64_t last_try_s;
	int64_t last_good_s;
	int64_t next_try_s;
};

/* What the file says or was made at run time, and is not in force. */
struct control_left_out {
	char kind[96];			/* "list" ..., "rule of group kids" */
	char name[200];
	char why[400];
	enum config_origin origin;
};

/* The cache on disk. */
struct control_durable {
	bool configured;
	bool open;			/* it takes answers */
	bool loading;			/* what was on disk is still read */
	uint64_t loaded;		/* answers that were read at the start */
	uint64_t load_ms;
	uint64_t bytes, bytes_max;	/* in use in the file */
	char why[512];			/* it takes none; "" otherwise */
	char note[512];			/* what became of an older file; "" otherwise */
};

#define CONTROL_LEFT_OUT_MAX 16
#define CONTROL_WAITING_MAX 32

struct control_status {
	char version[32];
	int pid;
	uint64_t uptime_s;
	char config[256];
	char user[32];			/* whom the daemon runs as */
	unsigned workers;
	unsigned listens;
	struct addr listen[CONFIG_LISTEN_MAX];	/* in use: those of the start */
	unsigned servers;
	char server[CONFIG_SERVERS_MAX][ENDPOINT_TEXT_MAX];	/* upstream, in the order of the file */
	struct kern_status kern;
	uint64_t filter_entries;
	uint64_t filter_asked;		/* names on combinations of lists that the kernel has no number for: the daemon judges them */
	uint64_t filter_untold;		/* of those, such as it had no room for either: blocked in every group */
	uint64_t filter_special;	/* patterns, rules with conditions, rewrites, addresses */
	unsigned lists;
	unsigned objects;		/* made at run time and in force */
	unsigned objects_left_out;	/* made, but they cannot be in force beside what the file says, or are bad rules */
	char objects_why[512];		/* why the first of those cannot */
	char objects_trouble[512];	/* of the state database: damaged, read alone, or not there; "" otherwise */
	unsigned rules_left_out;	/* bad ones of the file */
	struct control_left_out left_out[CONTROL_LEFT_OUT_MAX];	/* the first of both */
	unsigned left_out_shown;	/* how many those are */
	unsigned pauses;
	struct control_durable durable;
	uint64_t reloads;
	uint64_t reloads_failed;
	char reload_error[512];		/* of the last failed one since the last good one; "" otherwise */
	unsigned waiting;
	const char *wait[CONTROL_WAITING_MAX];	/* options whose new value waits for the next start; live for ever */
};
int control_status(struct control *c, struct control_status *ret);

/*
 * The lists in force, in the order of the file, then those that were left out;
 * returns how many of @ret (room for @max) were filled.
 */
int control_lists(struct control *c, struct control_list *ret, unsigned max);

enum control_upstream_state {
	CONTROL_UPSTREAM_WELL,
	CONTROL_UPSTREAM_FAILED,
	CONTROL_UPSTREAM_UNRESOLVED,	/* its name has no address yet */
};

struct control_upstream {
	char server[ENDPOINT_TEXT_MAX];
	char used_for[512];		/* "servers", "fallback" and zones of routes, blanks between; as many as find room */
	unsigned uses;			/* how many there are */
	enum control_upstream_state state;
	struct addr addr;		/* in use; not when unresolved */
	bool changed;			/* it has failed or come back since the start, */
	uint64_t since_s;		/* so long ago */
	uint32_t latency_us;		/* a moving average; 0: unknown */
	unsigned in_flight;
	bool edns;			/* asked with EDNS */
	uint64_t asked, answers, servfail, refused, timeouts, network, untrusted;
	char why[192];			/* of the last attempt that went wrong; "" when none did */
	uint64_t why_s;			/* so long ago */
};

struct control_upstreams {
	enum config_strategy strategy;
	unsigned in_flight;		/* questions */
	unsigned in_flight_max;
	unsigned server_in_flight_max;
	unsigned count;
	struct control_upstream at[CONFIG_SERVERS_ALL];
};

/* The servers in the order of the file: servers, fallback, routes; each once. */
int control_upstreams(struct control *c, struct control_upstreams *ret);

struct control_stats {
	struct mr_stats kern;
	struct mr_latency latency;
	struct cache_stats cache;
	/* user space counters come from base/count.h: count_each() */
};
int control_stats(struct control *c, struct control_stats *ret);

struct control_memory {
	struct kern_memory map[16];
	unsigned maps;
	uint64_t cache_bytes;
	uint64_t filter_mapped_bytes;	/* of the compiled filter's file, when it is mapped */
	uint64_t rss_bytes;
	uint64_t pss_bytes;
};
int control_memory(struct control *c, struct control_memory *ret);

/* ---- actions, any thread ---- */

struct control_flushed {
	uint64_t kernel;
	uint64_t cache;
};
/* Forget one name (@lower, wire form), with @below all names below it too, or everything when it is NULL. */
int control_flush(struct control *c, const uint8_t *lower, uint16_t len, bool below, struct control_flushed *ret);

#define CONTROL_CACHED_MAX 64

/* What is kept of a name. */
struct control_cached {
	struct dns_answer *answer;	/* a reference */
	bool live;			/* else its time is over, and it is kept to be given as a stale one */
	bool rests;			/* renewing it has failed, and is not tried again for a while */
	bool kernel;			/* the packet path has it too, for its own type */
};
/* The answers that the daemon's cache has to a name, at most @max; returns how many, whose references are the caller's. */
int control_cached(struct control *c, const uint8_t *lower, uint16_t len, struct control_cached *ret, unsigned max);

struct control_cache {
	struct cache_stats cache;
	uint32_t kernel_answers;
	uint32_t kernel_answers_max;
	uint64_t kernel_stale;		/* given by the kernel behind their end */
	bool down;			/* no server answers: the kernel gives what is over */
};
int control_cache(struct control *c, struct control_cache *ret);

/* control_reload() from any thread. */
int control_ask_reload(struct control *c, struct err_at *reterr);

/* What the daemon's filter said, in words. */
struct control_verdict {
	uint8_t kind;			/* enum mr_verdict_kind */
	uint8_t step;			/* enum judge_step */
	unsigned source;
	unsigned depth;			/* labels of the name that matched */
	uint64_t entry;			/* of the table of names; 0: none */
	uint64_t line;			/* in its source; 0: not known */
	char rule[256];			/* as written; "" when not known */
	unsigned rewrites;		/* rules that say what to answer */
	uint8_t link[256];		/* the name that decided of those the answer leads to, lower-case wire form */
	uint16_t link_len;		/* 0: none did */
};

struct control_why {
	int kern_error;			/* 0, or why the packet path could not be asked */
	char kern_reason[256];
	struct kern_why_result kern;
	char list[64];			/* of the kernel's verdict; "" when none */
	char kern_group[64];		/* the group that the kernel finds */
	/* the daemon's own answer to the same packet */
	struct control_verdict verdict;
	char daemon_list[64];
	char group[64];
	char closed[256];		/* what a schedule keeps out of the group now: "ads, group:kids"; may be cut */
	bool paused;			/* blocks were lifted for the client or its group */
	int daemon_error;		/* 0, or -ETIMEDOUT */
	uint8_t source;			/* enum query_source */
	uint8_t reply[4096];
	uint16_t reply_len;
};
struct control_client {
	struct addr addr;		/* without port */
	bool has_mac;			/* it was meant by that, or has one in the configuration */
	uint8_t mac[6];
};

/**
 * Find the client that is meant by an address, "mac:02:00:00:00:00:01" or the name of a client of the configuration.
 *
 * Of a hardware address without an address of its own: that of the neighbour
 * who has it now, else 127.0.0.1.  Returns 0; -ENOENT; -ESHUTDOWN.
 */
int control_find_client(struct control *c, const char *text, struct control_client *ret);

/**
 * What would happen to this question, in the kernel and in the daemon.
 *
 * The daemon's side is a query of our own: it may ask upstream, and its answer
 * may be cached, as for any client.
 */
int control_why(struct control *c, const struct kern_why_query *q, struct control_why *ret);

/* ---- objects: lists, rules, rewrites, clients and groups; any thread ---- */

/**
 * Look at the configuration in force: what the file says and what was made at
 * run time, merged.  @look runs on the calling thread and borrows @config.
 */
int control_look(struct control *c, void (*look)(const struct config *config, void *arg), void *arg);

/**
 * Make an object, or put another in the place of one that was made so.
 *
 * @kind     "list", "rule", "rewrite", "client", "group" or CONFIG_GROUP_RULE
 * @name     of a rule: the rule itself; of a group's: the group, a blank, the rule
 * @json     as config_overlay() takes it
 * @replace  false: an object that is there already is an error
 *
 * Returns 0 when it is on the disk and in force in both worlds; or, with
 * @reterr and nothing changed: -EINVAL for what cannot be (the object, what it
 * refers to, a filter that cannot be made of it); -EEXIST for a name that is
 * taken; -EPERM for one that the file manages; -EROFS, -EACCES, -ENOSPC, -EIO
 * when it cannot be stored; -ESHUTDOWN; -ENOMEM.
 */
int control_object_put(struct control *c, const char *kind, const char *name, const char *json, bool replace,
		       struct err_at *reterr);

/* Take an object away; the same, and -ENOENT when there is none. */
int control_object_delete(struct control *c, const char *kind, const char *name, struct err_at *reterr);

/**
 * Fetch a list anew, or all that come from a URL when @name is NULL.
 *
 * Returns 0 when that has begun: what comes of it is in control_lists();
 * -ENOENT for a list that is not there; -EINVAL for one that is a file.
 */
int control_refresh(struct control *c, const char *name, struct err_at *reterr);

/* ---- pauses, any thread ---- */

enum control_scope { CONTROL_SCOPE_ALL, CONTROL_SCOPE_GROUP, CONTROL_SCOPE_CLIENT, CONTROL_SCOPES };

/* "all", "group", "client". */
extern const char *const control_scope_names[CONTROL_SCOPES];

struct control_pause {
	enum control_scope scope;
	char name[64];			/* of the group; of the client, or its address; "" for all */
	uint32_t left_s;		/* until it ends by itself; 0: it does not */
};

#define CONTROL_PAUSES_MAX 256
#define CONTROL_PAUSE_MAX_S (366 * 86400)

/**
 * Lift blocks, for everybody, for a group or for a client, from the moment of return.
 *
 * @name       of a client also an address or "mac:..."
 * @seconds    0: until it is ended
 *
 * A pause that is there gets another end.  Returns as control_object_put();
 * -ENOENT for a group or client that is not there, -EINVAL for more than
 * CONTROL_PAUSES_MAX.
 */
int control_pause(struct control *c, enum control_scope scope, const char *name, uint32_t seconds,
		  struct err_at *reterr);

/* End a pause; -ENOENT when there is none. */
int control_resume(struct control *c, enum control_scope scope, const char *name, struct err_at *reterr);

/* Those that are in force; returns how many of @ret (room for @max) were filled. */
int control_pauses(struct control *c, struct control_pause *ret, unsigned max);

/* ---- tail: live events, kernel and daemon alike ---- */

struct control_event {
	uint64_t time_us;		/* since 1970 */
	struct addr client;
	uint8_t name[256];		/* lower-case wire form */
	uint16_t name_len;
	uint16_t qtype;
	uint16_t rcode;
	uint16_t size;			/* bytes of the answer */
	uint32_t latency_us;		/* of the daemon's answers; 0 for the kernel's */
	bool kernel;
	bool tcp;
	bool stale;			/* what was over, since no server answered */
	char source[12];		/* "filter", "cache", "zone", "upstream", "self" */
	char verdict[20];		/* "none", "block", "allow" ... */
	char list[64];
};

struct control_tail;

/* At most 8 at once: -EBUSY.  While one is open the kernel reports every answer. */
int control_tail_open(struct control *c, struct control_tail **ret);
void control_tail_close(struct control_tail *t);

/**
 * Wait up to @timeout_ms for an event.
 *
 * Returns 1 with @ret filled, 0 when none came, -ESHUTDOWN when the daemon
 * stops.  @ret_lost: events shed since the last call because this reader was slow.
 */
int control_tail_read(struct control_tail *t, unsigned timeout_ms, struct control_event *ret, uint64_t *ret_lost);

/* The name of list number @list of the filter in force; "" when there is none.  Any thread. */
void control_list_name(struct control *c, unsigned list, char *buf, size_t size);

#endif
