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
#include "lists/lists.h"
#include "net/change.h"
#include "net/neigh.h"
#include "policy/compile.h"
#include "policy/filter_edit.h"
#include "resolve/resolver.h"
#include "resolve/snapshot.h"
#include "server/server.h"
#include "store/lmdb.h"
#include "store/state.h"
#include "upstream/pool.h"

#define CONTROL_TAILS_MAX   8
#define EDITS_NONE          UINT_MAX
#define SOURCE_NAME_MAX     96

struct call;
struct names;
struct wire;

/* What a look at one list came to. */
struct list_state {
	bool loaded;
	char error[256];
	struct list_report report;
};

/* What was written or made, but is not in force; all texts are of the heap. */
struct left_outs {
	struct left_out {
		char *kind, *name, *why;
		enum config_origin origin;
	} *at;
	unsigned count;
};

struct pause {
	enum control_scope scope;
	char name[64];
	int64_t until_s;		/* since 1970; 0: until it is ended */
	uint64_t end_ns;		/* the same on the boot clock, which nobody sets */
};

/* What the groups of a snapshot will use from an instant on, as what changes then. */
struct schedule_change {
	bool made;
	int64_t at, until;		/* right in [at, until), seconds since 1970 */
	struct schedule_use {
		uint32_t at;		/* flag of all groups' flags, in a row */
		uint8_t used;
	} *use;
	unsigned uses;
	struct kern_cell *cell;
	size_t cells;
};

struct schedule_watch {
	struct snapshot *snapshot;	/* a reference; NULL: nothing is watched */
	int64_t from, until;		/* what its groups use is right in [from, until) */
	struct schedule_change next;	/* made ahead */
	bool failed;			/* there was no memory for a change that is due */
};

#define EDGES_WATCHES 2			/* the snapshot in force, and the one that comes */

struct edges {
	pthread_mutex_t lock;		/* guards the watches, and arming the timer for them */
	struct schedule_watch watch[EDGES_WATCHES];
	pthread_t thread;
	int timer_fd;
	bool running;
	_Atomic bool stop;
};

struct control {
	uv_loop_t *loop;
	char path[CONFIG_PATH_MAX];
	char *text;			/* of that file, as it was last accepted */
	size_t text_size;
	char state[CONFIG_PATH_MAX];	/* as at the start: another one waits for the next */
	struct config_addrs listen;	/* the same */
	struct config *begun;		/* the file at the start: what of it waits for the next is seen against this */
	struct mr_secret secret;
	uid_t uid;
	gid_t gid;
	int lock_fd;			/* of the state directory */
	uint64_t started_ns;
	uint64_t suspended_ns;		/* the clocks' distance when last looked at */

	struct edges edges;
	struct kern *kern;
	struct cache *cache;
	struct lmdb *durable;		/* behind the cache; NULL: nothing is */
	struct lmdb_status durable_said;	/* as last told in the log */
	int64_t wall_ahead_ns;		/* the wall clock's distance when last looked at */
	struct flights *flights;
	struct wire *wire;		/* one for each worker */
	unsigned workers;
	_Atomic bool down;		/* no server answers; the three are down.c's, written by all workers */
	_Atomic unsigned down_row;
	_Atomic uint64_t down_ns;
	struct snapshot *snapshot;	/* in force; a reference */
	struct upstream_pool *pool;	/* the servers of that; a reference, NULL: no forwarding */
	struct names *names;		/* those of them that are resolved; NULL: all are addresses */
	struct change *change;		/* NULL: changes of addresses and routes are not heard of */
	struct addr source[UPSTREAM_SERVERS_MAX];	/* whence we ask each server */
	struct list_state *lists;	/* one for each of the configuration's lists */
	uint64_t filter_asked, filter_untold;
	unsigned edits;			/* changes in place since the filter was compiled, or EDITS_NONE: none may be made before */
	const struct rules *patterns;	/* whose count of names with too many steps has been told */
	uint64_t patterns_told;
	uint64_t patterns_next_ns;	/* not again before */
	uint64_t filter_bytes;		/* of the mapped file; 0 when the kernel's maps are read */
	bool compile_later;		/* an older filter is in force until the first compile */
	bool pins_missing;		/* and it has been said */

	struct state *objects;		/* what was made at run time; NULL: its file cannot be opened */
	char objects_why[384];		/* why not */
	struct left_outs left_out;	/* objects beside the configuration in force */
	struct left_outs left_out_next;	/* beside the last one that was made */
	struct left_outs bad_rules;	/* of that configuration, which the filter in force does not have */
	struct pause pause[CONTROL_PAUSES_MAX];
	unsigned pauses;
	struct lists *fetch;		/* lists from URLs */
	struct neigh *neigh;		/* NULL: hardware addresses are not known */

	uint64_t reloads;
	uint64_t reloads_failed;
	char reload_error[512];

	uv_timer_t poll;		/* the rings */
	uv_timer_t second;
	uv_timer_t compile;
	uv_timer_t changed;		/* lists have come */
	uv_timer_t pause_end;
	bool timing;			/* these have been made */
	uv_async_t called;
	pthread_mutex_t call_lock;	/* guards calls and closing */
	struct call *calls;
	bool closing;

	pthread_mutex_t tail_lock;	/* guards tail and, within each, its ring */
	struct control_tail *tail[CONTROL_TAILS_MAX];
	_Atomic unsigned tails;

	pthread_mutex_t names_lock;	/* guards list_names: read by API threads */
	char (*list_names)[SOURCE_NAME_MAX];
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

/* ---- upstreams.c ---- */

/**
 * Put the servers of @config in force for workers that ask for c->pool from now on; @before is what was in force.
 *
 * Without memory the servers from before stay, with a line in the log.
 */
void upstreams_apply(struct control *c, const struct config *config, const struct config *before);

/* Follow changes of the network. */
void upstreams_watch(struct control *c);

/* The loop must turn once.  Callable twice. */
void upstreams_close(struct control *c);

/* ---- names.c: where servers are that are given by their names ---- */

/**
 * Resolve the names of c->pool's servers by the servers of upstreams.bootstrap,
 * and again when their times to live are over.
 *
 * @ret  NULL when all are addresses
 */
int names_new(struct control *c, const struct config *config, struct names **ret);

/* Try those at once that have no address. */
void names_retry(struct names *n);

/* The loop must turn once for the memory to go.  Takes NULL. */
void names_free(struct names *n);

/* ---- effective.c: file and state, merged ---- */

/* An object that is being put (or taken away: @json NULL). */
struct effective_change {
	const char *kind;
	const char *name;
	const char *json;
	bool alone;			/* what is left out stays so, whatever became of its reason */
};

/* Read the configuration's file whole (the caller's). */
int effective_read(const char *path, char **ret, size_t *ret_size, struct err_at *reterr);

/**
 * Merge what a text of the configuration says with the objects of the database.
 *
 * @change  the change that is in the database already: what it makes impossible
 *          is an error, but what was left out before comes back if it can, or
 *          stays left out.  NULL: an object that cannot be is logged and left
 *          out, and stays in the database
 *
 * What was left out is known as such from effective_settle() on.
 */
int effective_make(struct control *c, const char *text, size_t size, const struct effective_change *change,
		   struct config **ret, struct config_errors *errs);

/* The configuration that was made last is in force. */
void effective_settle(struct control *c);

/* ---- left_out.c ---- */

/* Add a copy of all texts; 0 or -ENOMEM. */
int left_outs_add(struct left_outs *to, const char *kind, const char *name, const char *why, enum config_origin origin);

/* NULL: it is none of them. */
const struct left_out *left_outs_find(const struct left_outs *l, const char *kind, const char *name);
void left_outs_done(struct left_outs *l);

/* ---- objects.c ---- */

/* Open the database; 0 also when a disk that takes nothing leaves us without. */
int objects_open(struct control *c, const char *folder, struct err_at *reterr);

/*
 * 0, or -EROFS and the like with the reason.  A database that could not be
 * opened, or only for reading, is tried again.
 */
int objects_writable(struct control *c, struct err_at *reterr);

/* ---- sources.c ---- */

#define SOURCE_NONE UINT_MAX

/* Numbers of sources; lists are 0 .. lists - 1. */
struct sources {
	unsigned lists;
	unsigned rules;
	unsigned rewrites;
	unsigned safe_search;
	unsigned group[CONFIG_GROUPS_MAX];	/* SOURCE_NONE: no rules of its own */
	unsigned count;
};
void sources_number(const struct config *c, struct sources *ret);
const char *sources_name(const struct config *c, const struct sources *s, unsigned source, char *buf, size_t size);
bool sources_used(const struct config *c, const struct sources *s, unsigned source, unsigned group, int64_t now_s);

/* ---- feed.c ---- */

/* What is to be done with a list that cannot be read, or a bad rule. */
enum feed_mode {
	FEED_ANYHOW,			/* it is noted and left out */
	FEED_AS_BEFORE,			/* an error, but for what was not in force before either */
	FEED_ALL,			/* an error */
};

/* Give everything to a compilation; @states has a row for each list, bad rules that were left out are added to @bad. */
int feed_all(struct control *c, const struct config *config, enum feed_mode mode, struct compile *to, struct list_state *states,
	     struct left_outs *bad, struct err_at *reterr);

/* ---- fetch.c ---- */

int fetch_open(struct control *c, struct err_at *reterr);
int fetch_want(struct control *c, const struct config *config, struct err_at *reterr);

/* Fetch what is fetched at a reload alone. */
void fetch_reloaded(struct control *c);

/* ---- filter.c: sources to verdicts ---- */

/*
 * Put @s (taken when it is true) in force with the filter that is on disk, if that was
 * compiled from sources of the same names.  False: there is none.
 */
bool filter_load(struct control *c, struct snapshot *s);

/* A compilation that is not in force yet. */
struct filter_job {
	struct compiled made;
	struct list_state *states;
	struct left_outs bad_rules;
	bool on_disk;			/* its files have names that no start takes */
};

/* Compile all sources of @config. */
int filter_prepare(struct control *c, const struct config *config, enum feed_mode mode, struct filter_job *ret,
		   struct err_at *reterr);

/*
 * Put @s in force with that filter; @j is taken, and @s on success: both worlds have them.
 * On failure the snapshot in force and the filter on disk stay.
 */
int filter_adopt(struct control *c, struct snapshot *s, struct filter_job *j, struct err_at *reterr);

/* Let go of it, and of its files where it was not put in force. */
void filter_job_done(const struct control *c, struct filter_job *j);

/* Both. */
int filter_compile(struct control *c, struct snapshot *s, enum feed_mode mode, struct err_at *reterr);

/* ---- edit.c: a plain rule, without compiling ---- */

/**
 * Plan how the filter in force becomes that of @next, which differs by one of the rules for all.
 *
 * Returns 0; -EAGAIN when that takes a compilation.
 */
int edit_plan(struct control *c, const struct config *next, struct filter_edit *ret);

/*
 * Change the filter as planned and put @s, a snapshot without a filter, in force with it; taken on success: both
 * worlds have it.
 */
int edit_make(struct control *c, const struct filter_edit *e, struct snapshot *s);

/**
 * Bring a filter from the disk up to the rules for all of @s, which has it, as far as that can be without compiling.
 *
 * @rules  what it was compiled from, one a line; changed
 */
void edit_replay(struct control *c, struct snapshot *s, char *rules);

/* ---- patterns.c ---- */

/* Warn of regular expressions that took all the steps of queries, the worst by name; once a minute. */
void patterns_tick(struct control *c, uint64_t now_ns);

/* ---- schedule.c ---- */

int64_t schedule_now_s(void);

/* Note which sources each group uses. */
int schedule_groups(struct snapshot *s, int64_t now_s);

/**
 * Bring what the groups of a snapshot use up to date, in the judge's flags and
 * in the cells of its verdicts, wherever these are; make the next change ahead.
 *
 * @ret_changed  set when something has changed; may be one that was set before
 *
 * Returns the instant at which to look again; SCHEDULE_NEVER when nothing will
 * change.  Without memory that is the next second, and w->failed.
 */
int64_t schedule_look(struct schedule_watch *w, int64_t now_s, bool *ret_changed);

/* What was made ahead does not know a set that is new: make it again. */
void schedule_renew(struct schedule_watch *w);

/* Watch @s (a reference is taken; NULL: none) instead of what was watched. */
void schedule_watch(struct schedule_watch *w, struct snapshot *s);

/* ---- edge.c: edges of schedules, on time ---- */

void edges_init(struct edges *e);

/**
 * Begin to wait, on a thread of its own, so that no compilation delays an edge;
 * it has the priority of the caller.
 *
 * Returns 0, or a negative errno with @reterr.
 */
int edges_start(struct edges *e, struct err_at *reterr);

/* End the thread if there is one, watch nothing, and free what edges_init() made. */
void edges_stop(struct edges *e);

/* Watch @s too, which is up to date when this returns.  Its judge says in filter.verdicts where the cells are. */
void edges_add(struct edges *e, struct snapshot *s);

/* The verdicts of @s have been copied into @view, which becomes its judge's: bring along what has changed since. */
void edges_move(struct edges *e, struct snapshot *s, const struct filter_view *view);

/*
 * No edge is stored between these two, which is where a set of the filter of @s is
 * made: with @is_new the next edge is made ahead again.
 */
void edges_lock(struct edges *e);
void edges_unlock(struct edges *e, const struct snapshot *s, bool is_new);

/* Watch @s, and no other any more; NULL: none. */
void edges_only(struct edges *e, struct snapshot *s);

/* ---- pause.c ---- */

/* Seconds that a pause with an end still lasts, by the clock that says less: one set back does not make it longer. */
int64_t pause_left_s(const struct pause *p, int64_t now_s, uint64_t now_ns);

int pause_load(struct control *c, struct err_at *reterr);
void pause_tick(struct control *c);

/* A group or client was taken away: its pause goes with it, and is not that of the next one of this name. */
void pause_drop(struct control *c, const char *kind, const char *name);
bool pause_of_group(const struct control *c, const char *group);

/* End all pauses of clients; the table is the caller's. */
void pause_drop_clients(struct control *c);

/*
 * Call @each for every way to know a client that is paused.  An address of a
 * neighbour whose hardware address decides its group stands for that too.
 */
int pause_each_client(const struct control *c, const struct config *config,
		      int (*each)(void *arg, const struct config_client_addr *a), void *arg);

/* ---- asker.c ---- */

/* The client of the configuration that has this name; NULL: none. */
const struct config_client *asker_named(const struct config *config, const char *name);

/* An address, a prefix or "mac:..." as text. */
bool asker_read(const char *text, struct config_client_addr *ret);

/* ---- clients.c ---- */

/* The table of clients of @s, as groups, access and pauses are now. */
int clients_make(struct control *c, struct snapshot *s, struct err_at *reterr);

/* The table of their names and tags. */
int clients_name(struct snapshot *s);

/* ---- control.c ---- */

/* Compile all again, as the configuration is. */
int control_recompile(struct control *c, struct err_at *reterr);

/* ---- snapshot.c ---- */

/* A snapshot around @config (taken, also on failure) with the derived values filled in and no filter yet. */
int snapshot_make(struct control *c, struct config *config, struct snapshot **ret, struct err_at *reterr);

/*
 * Swap the filter of @s (made of @f and @verdicts, as kern_filter_swap()) into the kernel, and hand
 * @s (taken on success) to kernel and workers; when this returns all use it.
 *
 * Returns 0, or what kern_filter_swap() does, with all as it was.
 */
int snapshot_apply(struct control *c, struct snapshot *s, const struct filter *f, const struct mr_verdict *verdicts,
		   bool *ret_mapped, struct err_at *reterr);

/*
 * Hand @s (taken), whose filter is the one in force after a change in place, to kernel and workers.
 *
 * Nobody waits for packets that began before: the tables are the same, and a packet that reads the
 * new generation finds answers whose names were looked up in the new entries.
 */
void snapshot_apply_edited(struct control *c, struct snapshot *s);

/* The snapshot that has the filter of @s, and whose flags and cells are in force; NULL of NULL. */
struct snapshot *snapshot_root(struct snapshot *s);

/* Put a new table of clients in force, all else being as it is. */
int snapshot_renew_clients(struct control *c, struct err_at *reterr);

/* ---- wire.c: the workers' doors to upstream and to the kernel ---- */

int wire_open(struct control *c, const struct config *config, struct err_at *reterr);
int wire_start(struct control *c, struct err_at *reterr);
void wire_stop(struct control *c);
void wire_free(struct control *c);

/* Give every worker its reference to @s; returns when all have it. */
void wire_snapshot(struct control *c, struct snapshot *s);

/* Wait until no worker is in the middle of a query: what one had taken out of the cache has been published or dropped. */
void wire_settle(struct control *c);

/* Tell all workers that the ways to these servers are other ones, a bit each (upstream_moved()). */
void wire_moved(struct control *c, uint64_t servers);

/* Renew an answer on some worker. */
void wire_refresh(struct control *c, const struct dns_key *key);

/* Run @run on worker number @index; false when it has stopped. */
struct wire_call {
	struct worker_job job;
	struct resolver *resolver;	/* filled in before the run */
	void (*run)(struct wire_call *call);
};
bool wire_call(struct control *c, unsigned index, struct wire_call *call);

/* ---- why_line.c ---- */

/*
 * Find the rule and the line that a verdict about a name is from; any thread.
 * Both stay as they are when there is none any more.
 */
void why_find_line(struct control *c, const uint8_t *lower, uint16_t len, struct control_verdict *v);

/* ---- down.c, from the workers ---- */

/* A question has ended upstream: with a response, or with an error. */
void down_note(struct control *c, int err, uint64_t now_ns);
void down_tick(struct control *c, uint64_t now_ns);

/* ---- flush.c ---- */

/* Forget all answers, in the daemon and in the kernel. */
void flush_all(struct control *c, struct control_flushed *ret);

/* ---- durable.c: the cache on disk ---- */

/* As root: files of an earlier run are given to the user. */
void durable_own(struct control *c, const struct config *config);

/* Start it behind c->cache, if it is configured; what is wrong is logged. */
void durable_open(struct control *c, const struct config *config);

/* Wait, but not for long, until what was on disk is in memory. */
void durable_settle(struct control *c);

/* Each second: say what has changed. */
void durable_tick(struct control *c);

void durable_show(struct control *c, struct control_durable *ret);

/* As lmdb_flush(), behind wire_settle(). */
void durable_flush(struct control *c, const uint8_t *lower, uint16_t len, bool below);

void durable_close(struct control *c);

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
