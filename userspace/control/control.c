/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control.c - the life of the daemon: start, reload, stop.
 *
 * Start in this order: folders, secret, objects made at run time; the packet
 * path, with what an earlier run left in it; sockets; privileges go; the filter
 * on disk; workers; and only then anything is asked of the network.
 * So blocked names are blocked before the first query is taken.
 */
#define LOG_ROOM "control"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "control/internal.h"
#include "policy/count.h"

#define PIN_ROOT        "/sys/fs/bpf/millrace"
#define RESOLV_CONF     "/etc/resolv.conf"
#define POLL_MS         20
#define FLIGHTS_MAX     65536
#define SUSPENDED_NS    (1 * CLOCK_S)	/* a jump of the clocks that makes us forget */

/* ---- timers ---- */

static void on_kernel_event(const struct mr_event *e, void *arg)
{
	struct control *c = arg;
	struct dns_key key = { .name_len = e->name_len, .qtype = e->qtype, .bits = e->key };

	if (e->kind == MR_EVENT_QUERY) {
		tail_kernel_event(c, e);
	} else if (e->kind == MR_EVENT_REFRESH) {
		memcpy(key.name, mr_event_name(e), e->name_len);
		wire_refresh(c, &key);
	}
}

static void on_poll(uv_timer_t *t)
{
	struct control *c = t->data;

	kern_events_poll(c->kern, on_kernel_event, c);
}

static void check_pins(struct control *c)
{
	struct err_at at = { 0 };
	int err = kern_pins_check(c->kern, &at);

	if (err > 0)
		log_warn("somebody removed pins, they are there again: %s", at.why);
	else if (err && !c->pins_missing)
		log_err("somebody removed pins, and they cannot be made again, which is tried each second: %s", at.why);
	c->pins_missing = err < 0;
}

/* Each second.  The monotonic clock stands still in suspend: what was cached is then older than it looks. */
static void on_second(uv_timer_t *t)
{
	struct control *c = t->data;
	uint64_t now = clock_suspended_ns();
	struct control_flushed ignored;

	kern_links_check(c->kern);
	check_pins(c);
	patterns_tick(c, now);
	durable_tick(c);
	if (now < c->suspended_ns + SUSPENDED_NS)
		return;
	log_info("the machine slept for %.0f s: all cached answers are forgotten", (double)(now - c->suspended_ns) / 1e9);
	c->suspended_ns = now;
	flush_all(c, &ignored);
}

static void log_lists(const struct control *c)
{
	const struct config_lists *l = &c->snapshot->config->filter_lists;
	unsigned i, loaded = l->count;

	/* At a start with a filter on disk the lists have not been read yet. */
	for (i = 0; c->lists && i < l->count; i++) {
		if (c->lists[i].loaded)
			continue;
		loaded--;
		log_warn("list %s is not in force: %s%s%s", l->at[i].name, l->at[i].file ? l->at[i].file : "",
			 l->at[i].file ? ": " : "", c->lists[i].error);
	}
	log_info("filter in force: entries: %llu, lists: %u%s", (unsigned long long)c->snapshot->judge.filter.unit->entries,
		 loaded, c->lists ? "" : ", as compiled by an earlier run");
}

static int reload(struct control *c, enum feed_mode mode, struct err_at *reterr);

/* Keep why a reload failed, for status; returns it for the log. */
static const char *note_failure(struct control *c, int err, struct err_at *at)
{
	if (!*at->why)
		err_why(at, err, "%s", strerror(-err));
	return err_text(at, c->reload_error, sizeof(c->reload_error));
}

/* The first compile of a start that had an older filter to begin with. */
static void on_compile(uv_timer_t *t)
{
	struct control *c = t->data;
	struct err_at at = { 0 };
	int err = reload(c, FEED_AS_BEFORE, &at);

	if (err)
		log_warn("lists not read again, the filter compiled earlier stays in force: %s", note_failure(c, err, &at));
	else
		log_lists(c);
}

static void start_timers(struct control *c)
{
	uv_timer_init(c->loop, &c->poll);
	uv_timer_init(c->loop, &c->second);
	uv_timer_init(c->loop, &c->compile);
	uv_timer_init(c->loop, &c->changed);
	uv_timer_init(c->loop, &c->pause_end);
	c->poll.data = c->second.data = c->compile.data = c->changed.data = c->pause_end.data = c;
	c->timing = true;
	pause_tick(c);
	uv_timer_start(&c->poll, on_poll, POLL_MS, POLL_MS);
	uv_timer_start(&c->second, on_second, 1000, 1000);
	if (c->compile_later)
		uv_timer_start(&c->compile, on_compile, 0, 0);
}

static void stop_timers(struct control *c)
{
	uv_close((uv_handle_t *)&c->poll, NULL);
	uv_close((uv_handle_t *)&c->second, NULL);
	uv_close((uv_handle_t *)&c->compile, NULL);
	uv_close((uv_handle_t *)&c->changed, NULL);
	uv_close((uv_handle_t *)&c->pause_end, NULL);
}

/* ---- start ---- */

static void resolve_user(struct control *c, const struct config *config)
{
	char name[64];

	c->uid = geteuid();
	c->gid = getegid();
	if (c->uid == 0 && process_user(config->server_user, &c->uid, &c->gid))
		log_warn("there is no user %s: the daemon stays %s, without the capabilities it does not need",
			 config->server_user, process_user_name(name, sizeof(name)));
}

static unsigned count_workers(const struct config *config)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n = config->server_workers ? config->server_workers : cpus > 0 ? (unsigned)cpus : 1;

	return n < CONFIG_WORKERS_MAX ? n : CONFIG_WORKERS_MAX;
}

static int open_kern(struct control *c, const struct config *config, const struct snapshot *s, struct err_at *reterr)
{
	struct kern_opts o = {
		.interface_count = config->fastpath_interfaces.count,
		.mode = (enum kern_mode)config->fastpath_mode,
		.required = config->fastpath_required,
		.pin_root = PIN_ROOT,
		.listen = config->server_listen.at,
		.listens = config->server_listen.count,
		.answers = config->fastpath_answers,
		.recursion = s->udp.recursion,
	};

	memcpy(o.interfaces, config->fastpath_interfaces.at, sizeof(o.interfaces));
	err_where(reterr, NULL, 0, "fastpath");
	return kern_open(&o, &c->secret, &c->kern, reterr);
}

static void log_kern(const struct control *c)
{
	struct kern_status s;
	unsigned i;

	kern_status(c->kern, &s);
	if (!s.on)
		log_warn("the packet path is off, all answers come from user space: %s", s.reason);
	for (i = 0; i < s.interfaces; i++)
		log_info("%s: %s%s%s%s%s", s.iface[i].name, kern_mode_text(s.iface[i].mode),
			 *s.iface[i].driver ? ", driver " : "", s.iface[i].driver, *s.iface[i].reason ? "; " : "",
			 s.iface[i].reason);
	for (i = 0; i < s.note_count; i++)
		log_info("note: %s", s.notes[i]);
	if (s.taken_over)
		log_info("took over the tables of the run before: %u answers", s.answers_in_use);
}

/* The filter that is on disk at once, or else all lists now: never a moment without.  @s is taken on success. */
static int first_filter(struct control *c, struct snapshot *s, struct err_at *reterr)
{
	c->compile_later = s->config->filter_lists.count && filter_load(c, s);
	return c->compile_later ? 0 : filter_compile(c, s, FEED_ANYHOW, reterr);
}

static int make_shared(struct control *c, const struct config *config)
{
	c->cache = cache_new(config->cache_entries, config->cache_max_bytes);
	c->flights = flights_new(FLIGHTS_MAX);
	if (!c->cache || !c->flights)
		return -ENOMEM;
	durable_open(c, config);
	return policy_count_open();
}

/*
 * What the file says now, and all that was made at run time; with servers to ask.
 *
 * @ret_text  the file's text, the caller's
 */
static int read_effective(struct control *c, struct config **ret, char **ret_text, size_t *ret_size,
			  struct err_at *reterr)
{
	struct config_errors *errs = calloc(1, sizeof(*errs));
	struct config *config = NULL;
	size_t size = 0;
	char *text = NULL;
	int err = errs ? effective_read(c->path, &text, &size, reterr) : -ENOMEM;

	if (!err) {
		err = effective_make(c, text, size, NULL, &config, errs);
		if (err) {
			control_log_errors(errs);
			*reterr = errs->at[0];
		}
	}
	if (!err)
		err = servers_resolve(config, RESOLV_CONF, reterr);
	free(errs);
	if (err) {
		config_free(config);
		free(text);
		return err;
	}
	*ret = config;
	*ret_text = text;
	*ret_size = size;
	return 0;
}

/*
 * Root goes; the thread that waits for edges of schedules keeps of it that no
 * other one holds it up, and has none of its rights.
 */
static int drop_privileges(struct control *c, struct err_at *reterr)
{
	struct process_turn before;
	int urgent = process_urgent(&before), err = process_drop(c->uid, c->gid, reterr);

	if (!err)
		err = edges_start(&c->edges, reterr);
	if (urgent)
		log_info("edges of schedules may come milliseconds late while the machine is busy: no real-time priority: %s",
			 strerror(-urgent));
	else
		process_turn(&before);
	return err;
}

/* Everything that needs root, in order, then root goes.  @config is the file's alone, and kept. */
static int start_privileged(struct control *c, struct config *config, struct snapshot **ret, struct err_at *reterr)
{
	int err;

	c->begun = config;
	resolve_user(c, config);
	err = state_folders(config, c->uid, c->gid, reterr);
	if (!err)
		err = state_lock(config->state, &c->lock_fd, reterr);
	snprintf(c->state, sizeof(c->state), "%s", config->state);
	c->listen = config->server_listen;
	if (!err)
		err = state_secret(config->state, c->uid, c->gid, &c->secret, reterr);
	if (!err)
		err = objects_open(c, config->state, reterr);
	if (!err && neigh_open(c->loop, &c->neigh, reterr))
		log_warn("groups by hardware address hold for what the packet path answers alone: %s", reterr->why);
	if (!err)
		err = read_effective(c, &config, &c->text, &c->text_size, reterr);
	if (err)
		return err;
	err = snapshot_make(c, config, ret, reterr);
	if (err)
		return err;
	/* The pins' lock before the sockets: sockets of a second daemon would take queries from the first. */
	err = open_kern(c, config, *ret, reterr);
	if (!err)
		err = wire_open(c, config, reterr);
	if (!err)
		err = kern_own(c->kern, c->uid, c->gid, reterr);
	durable_own(c, (*ret)->config);
	if (!err)
		err = drop_privileges(c, reterr);
	return err;
}

/* Workers end, the packet path lets go if it shall, memory goes; whatever of it there is. */
static void free_all(struct control *c, bool detach)
{
	wire_stop(c);
	wire_free(c);
	upstreams_close(c);
	upstream_pool_unref(c->pool);
	edges_stop(&c->edges);
	kern_close(c->kern, detach);
	durable_close(c);
	cache_free(c->cache);
	flights_free(c->flights);
	snapshot_unref(c->snapshot);
	lists_free(c->fetch);
	neigh_close(c->neigh);
	state_close(c->objects);
	left_outs_done(&c->left_out);
	left_outs_done(&c->left_out_next);
	left_outs_done(&c->bad_rules);
	config_free(c->begun);
	free(c->text);
	free(c->lists);
	free(c->list_names);
	if (c->lock_fd >= 0)
		close(c->lock_fd);
	pthread_mutex_destroy(&c->tail_lock);
	pthread_mutex_destroy(&c->names_lock);
	free(c);
}

int control_start(uv_loop_t *loop, const char *path, struct config *config, struct control **ret,
		  struct err_at *reterr)
{
	struct control *c = calloc(1, sizeof(*c));
	struct snapshot *s = NULL;
	int err = -ENOMEM;

	if (!c) {
		config_free(config);
		return err;
	}
	c->loop = loop;
	c->lock_fd = -1;
	c->started_ns = clock_coarse_ns();
	c->suspended_ns = clock_suspended_ns();
	c->workers = count_workers(config);
	snprintf(c->path, sizeof(c->path), "%s", path);
	pthread_mutex_init(&c->tail_lock, NULL);
	pthread_mutex_init(&c->names_lock, NULL);
	edges_init(&c->edges);
	err = start_privileged(c, config, &s, reterr);
	if (!err)
		err = make_shared(c, s->config);
	if (!err)
		err = fetch_open(c, reterr);
	if (!err)
		err = fetch_want(c, s->config, reterr);
	if (!err)
		err = first_filter(c, s, reterr);
	if (err)
		goto out;
	effective_settle(c);
	s = NULL;
	durable_settle(c);
	kern_enable(c->kern, true);
	err = wire_start(c, reterr);
	if (!err)
		err = call_init(c);
	if (err)
		goto out;
	start_timers(c);
	upstreams_watch(c);
	if (kern_watch(c->kern, loop, reterr))
		log_warn("changes of addresses and links will not be followed: %s", reterr->why);
	log_kern(c);
	log_lists(c);
	*ret = c;
	c = NULL;
out:
	if (c) {
		snapshot_unref(s);
		/* What an earlier run left answering goes on answering. */
		free_all(c, !c->kern || !kern_taken_over(c->kern));
	}
	return err;
}

/* ---- reload ---- */

static void log_restart(const struct config_option *o, void *arg)
{
	if (o->restart)
		log_warn("%s has changed: that takes effect at the next start", o->path);
}

/* Options that say what upstream servers may answer, or which of them are asked: what was answered before goes. */
static void note_forgetting(const struct config_option *o, void *arg)
{
	static const char *const paths[] = { "upstreams.routes", "upstreams.forward_special", "upstreams.rebinding.protect",
					     "upstreams.rebinding.allow" };
	unsigned i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!strcmp(o->path, paths[i]))
			*(bool *)arg = true;
}

/* Compile for @config (taken) and put it in force; on failure all stays as it was. */
static int renew(struct control *c, struct config *config, enum feed_mode mode, struct err_at *reterr)
{
	struct snapshot *s, *old = c->snapshot;
	struct control_flushed flushed;
	struct err_at ignored;
	bool forget = false;
	int err = snapshot_make(c, config, &s, reterr);

	if (err)
		return err;
	snapshot_ref(old);
	/* First: a list that was wanted before has a copy that lies there. */
	err = fetch_want(c, config, reterr);
	if (!err)
		err = filter_compile(c, s, mode, reterr);
	if (err) {
		fetch_want(c, old->config, &ignored);
		snapshot_unref(s);
	} else {
		config_changes(old->config, config, log_restart, NULL);
		config_changes(old->config, config, note_forgetting, &forget);
		if (forget)
			flush_all(c, &flushed);
		effective_settle(c);
		lists_sweep(c->fetch);
	}
	snapshot_unref(old);
	return err;
}

static int reload(struct control *c, enum feed_mode mode, struct err_at *reterr)
{
	struct config *config;
	size_t size;
	char *text;
	int err = read_effective(c, &config, &text, &size, reterr);

	if (err)
		return err;
	err = renew(c, config, mode, reterr);
	if (err) {
		free(text);
		return err;
	}
	free(c->text);
	c->text = text;
	c->text_size = size;
	fetch_reloaded(c);
	return 0;
}

int control_recompile(struct control *c, struct err_at *reterr)
{
	struct config_errors *errs = calloc(1, sizeof(*errs));
	struct config *config = NULL;
	int err = errs ? effective_make(c, c->text, c->text_size, NULL, &config, errs) : -ENOMEM;

	if (err && errs)
		*reterr = errs->at[0];
	free(errs);
	if (err)
		return err;
	err = servers_resolve(config, RESOLV_CONF, reterr);
	if (err) {
		config_free(config);
		return err;
	}
	err = renew(c, config, FEED_AS_BEFORE, reterr);
	if (!err)
		log_lists(c);
	return err;
}

int control_reload(struct control *c, struct err_at *reterr)
{
	int err;

	c->reloads++;
	err = reload(c, FEED_ALL, reterr);
	if (err) {
		c->reloads_failed++;
		log_err("not reloaded, the old configuration stays in force: %s", note_failure(c, err, reterr));
		return err;
	}
	c->reload_error[0] = '\0';
	log_lists(c);
	return 0;
}

static int do_reload(struct control *c, void *arg)
{
	return control_reload(c, arg);
}

int control_ask_reload(struct control *c, struct err_at *reterr)
{
	return call_control(c, do_reload, reterr);
}

/* ---- stop ---- */

void control_stop(struct control *c, bool started)
{
	bool detach;

	if (!c)
		return;
	tail_end_all(c);
	call_close(c);
	stop_timers(c);
	kern_unwatch(c->kern);
	upstreams_close(c);
	detach = started || !kern_taken_over(c->kern);
	/* First the kernel lets go: what comes now is for the sockets, and those drain. */
	if (detach)
		kern_enable(c->kern, false);
	/* The loop still has our handles to close; then the memory may go. */
	uv_run(c->loop, UV_RUN_NOWAIT);
	pthread_mutex_destroy(&c->call_lock);
	free_all(c, detach);
}
