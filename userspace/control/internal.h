/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * internal.h - what the files of control/ share: the daemon's one big object.
 *
 * Owned by the control thread.  Where another thread may look, the member says
 * how it is guarded.
 */
#ifndef CONTROL_INTERNAL_H
#define CONTROL_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include "control/control.h"
#include "resolve/resolver.h"
#include "resolve/snapshot.h"
#include "server/server.h"

#define CONTROL_TAILS_MAX   8

struct call;
struct wire;

/* What a look at one list came to. */
struct list_state {
	bool loaded;
	char error[256];
	struct list_report report;
};

struct control {
	uv_loop_t *loop;
	char path[CONFIG_PATH_MAX];
	char state[CONFIG_PATH_MAX];	/* as at the start: another one waits for the next */
	struct config_addrs listen;	/* the same */
	struct mr_secret secret;
	uid_t uid;
	gid_t gid;
	int lock_fd;			/* of the state directory */
	uint64_t started_ns;
	uint64_t suspended_ns;		/* the clocks' distance when last looked at */

	struct kern *kern;
	struct cache *cache;
	struct flights *flights;
	struct wire *wire;		/* one for each worker */
	unsigned workers;
	struct snapshot *snapshot;	/* in force; a reference */
	struct list_state *lists;	/* one for each of the configuration's lists */
	uint64_t filter_asked;
	uint64_t filter_bytes;		/* of the mapped file; 0 when the kernel's maps are read */
	bool compile_later;		/* an older filter is in force until the first compile */

	uint64_t reloads;
	uint64_t reloads_failed;
	char reload_error[512];

	uv_timer_t poll;		/* the rings */
	uv_timer_t second;
	uv_timer_t compile;
	uv_async_t called;
	pthread_mutex_t call_lock;	/* guards calls and closing */
	struct call *calls;
	bool closing;

	pthread_mutex_t tail_lock;	/* guards tail and, within each, its ring */
	struct control_tail *tail[CONTROL_TAILS_MAX];
	_Atomic unsigned tails;

	pthread_mutex_t names_lock;	/* guards list_names: read by API threads */
	char (*list_names)[CONFIG_NAME_MAX];
	unsigned list_names_count;
};

/* ---- state.c: the state directory ---- */

/* Make the folders that the configuration names, owned by the service's user. */
int state_folders(const struct config *config, uid_t uid, gid_t gid, struct err_at *reterr);

/**
 * Take the folder for this process; the lock ends with the descriptor, so also with kill -9.
 *
 * Returns 0; -EBUSY when another daemon has it: both would answer on the same
 * port (SO_REUSEPORT) and write the same files.
 */
int state_lock(const char *folder, int *ret_fd, struct err_at *reterr);

/* Read the secret, or make it (0600). */
int state_secret(const char *folder, uid_t uid, gid_t gid, struct mr_secret *ret, struct err_at *reterr);

/* ---- servers.c ---- */

/**
 * Fill config->upstreams_servers from @resolv_conf when the configuration names none: those that are not ourselves.
 *
 * Returns 0; -ENOENT when there is none; -ELOOP when the configuration names
 * an address that we listen on.
 */
int servers_resolve(struct config *config, const char *resolv_conf, struct err_at *reterr);

/* ---- filter.c: lists to verdicts ---- */

/* Put the filter that is on disk in force in @s, if it was compiled from lists of the same names.  False: there is none. */
bool filter_load(struct control *c, struct snapshot *s);

/**
 * Compile the lists of @s->config and put them in force in @s.
 *
 * @strict  an unreadable list is an error; else it is noted and left out
 */
int filter_compile(struct control *c, struct snapshot *s, bool strict, struct err_at *reterr);

/* ---- snapshot.c ---- */

/* A snapshot around @config (taken, also on failure) with the derived values filled in and no filter yet. */
int snapshot_make(struct control *c, struct config *config, struct snapshot **ret, struct err_at *reterr);

/* Hand @s (taken) to kernel and workers, wait until all use it. */
void snapshot_apply(struct control *c, struct snapshot *s);

/* ---- wire.c: the workers' doors to upstream and to the kernel ---- */

int wire_open(struct control *c, const struct config *config, struct err_at *reterr);
int wire_start(struct control *c, struct err_at *reterr);
void wire_stop(struct control *c);
void wire_free(struct control *c);

/* Give every worker its reference to @s; returns when all have it. */
void wire_snapshot(struct control *c, struct snapshot *s);

/* Wait until no worker is in the middle of a query: what one had taken out of the cache has been published or dropped. */
void wire_settle(struct control *c);

/* Renew an answer on some worker. */
void wire_refresh(struct control *c, const struct dns_key *key);

/* Run @run on worker number @index; false when it has stopped. */
struct wire_call {
	struct worker_job job;
	struct resolver *resolver;	/* filled in before the run */
	void (*run)(struct wire_call *call);
};
bool wire_call(struct control *c, unsigned index, struct wire_call *call);

/* ---- flush.c ---- */

/* Forget all answers, in the daemon and in the kernel. */
void flush_all(struct control *c, struct control_flushed *ret);

/* ---- call.c: from any thread to the control thread ---- */

int call_init(struct control *c);
void call_close(struct control *c);

/* Run @fn on the control thread and wait for what it returns; -ESHUTDOWN when the daemon stops. */
int call_control(struct control *c, int (*fn)(struct control *c, void *arg), void *arg);

/* ---- tail.c ---- */

void tail_kernel_event(struct control *c, const struct mr_event *e);
void tail_query(struct control *c, const struct query *q);
void tail_end_all(struct control *c);

#endif
