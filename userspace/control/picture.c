/* SPDX-License-Identifier: BSD-2-Clause */
/* picture.c - read-only pictures of the daemon, made on the control thread for whoever asks. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/process.h"
#include "control/internal.h"

_Static_assert(CONFIG_LISTEN_MAX <= CONFIG_ADDRS_MAX, "all of them are shown");

static unsigned count_made(const struct config *f)
{
	unsigned i, j, n = 0;

#define COUNT(array)                                                            \
	for (i = 0; i < (array).count; i++)                                     \
		n += (array).at[i].origin == CONFIG_FROM_STATE;
	COUNT(f->filter_lists)
	COUNT(f->filter_rules)
	COUNT(f->filter_rewrites)
	COUNT(f->clients)
	COUNT(f->groups)
#undef COUNT
	for (i = 0; i < f->groups.count; i++)
		for (j = 0; j < f->groups.at[i].rules.count; j++)
			n += f->groups.at[i].rules.at[j].added;
	return n;
}

static void add_left_outs(const struct left_outs *l, struct control_status *s)
{
	struct control_left_out *to;
	unsigned i;

	for (i = 0; i < l->count; i++) {
		if (l->at[i].origin == CONFIG_FROM_FILE)
			s->rules_left_out++;
		else if (!s->objects_left_out++)
			snprintf(s->objects_why, sizeof(s->objects_why), "%.80s %.120s: %.300s", l->at[i].kind, l->at[i].name,
				 l->at[i].why);
		if (s->left_out_shown == CONTROL_LEFT_OUT_MAX)
			continue;
		to = &s->left_out[s->left_out_shown++];
		snprintf(to->kind, sizeof(to->kind), "%s", l->at[i].kind);
		snprintf(to->name, sizeof(to->name), "%s", l->at[i].name);
		snprintf(to->why, sizeof(to->why), "%s", l->at[i].why);
		to->origin = l->at[i].origin;
	}
}

static void objects_status(const struct control *c, struct control_status *s)
{
	static const char again[] = "each change tries again";

	s->objects = count_made(c->snapshot->config);
	add_left_outs(&c->left_out, s);
	add_left_outs(&c->bad_rules, s);
	if (!c->objects)
		snprintf(s->objects_trouble, sizeof(s->objects_trouble), "the state database cannot be opened: %.384s; %s",
			 c->objects_why, again);
	else if (*state_read_only(c->objects))
		snprintf(s->objects_trouble, sizeof(s->objects_trouble), "the state database cannot be written: %.384s; %s",
			 state_read_only(c->objects), again);
	else
		snprintf(s->objects_trouble, sizeof(s->objects_trouble), "%s", state_damage(c->objects));
	s->pauses = c->pauses;
}

static void add_waiting(const struct config_option *o, void *arg)
{
	struct control_status *s = arg;

	if (o->restart && s->waiting < CONTROL_WAITING_MAX)
		s->wait[s->waiting++] = o->path;
}

static int make_status(struct control *c, void *arg)
{
	const struct config *f = c->snapshot->config;
	struct control_status *s = arg;
	unsigned i;

	memset(s, 0, sizeof(*s));
	snprintf(s->version, sizeof(s->version), "%s", MR_VERSION);
	s->pid = (int)getpid();
	s->uptime_s = (clock_coarse_ns() - c->started_ns) / CLOCK_S;
	snprintf(s->config, sizeof(s->config), "%.*s", (int)sizeof(s->config) - 1, c->path);
	process_user_name(s->user, sizeof(s->user));
	s->workers = c->workers;
	s->listens = c->listen.count;
	memcpy(s->listen, c->listen.at, s->listens * sizeof(s->listen[0]));
	s->servers = f->upstreams_servers.count;
	for (i = 0; i < s->servers; i++)
		endpoint_text(&f->upstreams_servers.at[i].at, s->server[i], sizeof(s->server[i]));
	kern_status(c->kern, &s->kern);
	s->filter_entries = c->snapshot->judge.filter.unit->entries;
	s->filter_asked = c->filter_asked;
	s->filter_untold = c->filter_untold;
	s->filter_special = c->snapshot->judge.rules ? rules_count(c->snapshot->judge.rules) : 0;
	s->lists = f->filter_lists.count;
	objects_status(c, s);
	durable_show(c, &s->durable);
	s->reloads = c->reloads;
	s->reloads_failed = c->reloads_failed;
	memcpy(s->reload_error, c->reload_error, sizeof(s->reload_error));
	config_changes(c->begun, f, add_waiting, s);
	return 0;
}

int control_status(struct control *c, struct control_status *ret)
{
	return call_control(c, make_status, ret);
}

struct lists_wanted {
	struct control_list *at;
	unsigned max;
};

static void list_from_url(const struct control *c, const struct config_list *l, struct control_list *o)
{
	struct lists_status st;

	if (lists_find(c->fetch, l->name, &st))
		return;
	snprintf(o->url, sizeof(o->url), "%s", st.shown);
	snprintf(o->file, sizeof(o->file), "%.255s", st.have ? st.path : "");
	/* Why there is nothing yet, rather than that. */
	if (*st.error)
		snprintf(o->error, sizeof(o->error), "%.255s", st.error);
	o->fetching = st.fetching;
	o->bytes = st.bytes;
	o->last_try_s = st.last_try_s;
	o->last_good_s = st.last_good_s;
	o->next_try_s = st.next_try_s;
}

/* Those of @w from @at on; returns where they end. */
static unsigned lists_left_out(const struct control *c, const struct lists_wanted *w, unsigned at)
{
	const struct left_outs *l = &c->left_out;
	unsigned i;

	for (i = 0; i < l->count && at < w->max; i++) {
		if (strcmp(l->at[i].kind, "list"))
			continue;
		memset(&w->at[at], 0, sizeof(w->at[at]));
		snprintf(w->at[at].name, sizeof(w->at[at].name), "%s", l->at[i].name);
		snprintf(w->at[at].error, sizeof(w->at[at].error), "%.255s", l->at[i].why);
		w->at[at].origin = CONFIG_FROM_STATE;
		w->at[at++].left_out = true;
	}
	return at;
}

static int make_lists(struct control *c, void *arg)
{
	const struct config_lists *l = &c->snapshot->config->filter_lists;
	const struct lists_wanted *w = arg;
	unsigned i;

	for (i = 0; i < l->count && i < w->max; i++) {
		struct control_list *o = &w->at[i];

		memset(o, 0, sizeof(*o));
		snprintf(o->name, sizeof(o->name), "%s", l->at[i].name);
		snprintf(o->file, sizeof(o->file), "%.255s", l->at[i].file ? l->at[i].file : "");
		o->origin = l->at[i].origin;
		o->format = l->at[i].format;
		o->action = l->at[i].action;
		if (c->lists) {
			o->loaded = c->lists[i].loaded;
			o->report = c->lists[i].report;
			memcpy(o->error, c->lists[i].error, sizeof(o->error));
		}
		if (l->at[i].url)
			list_from_url(c, &l->at[i], o);
	}
	return (int)lists_left_out(c, w, i);
}

int control_lists(struct control *c, struct control_list *ret, unsigned max)
{
	struct lists_wanted w = { .at = ret, .max = max };

	return call_control(c, make_lists, &w);
}

static int make_stats(struct control *c, void *arg)
{
	struct control_stats *s = arg;

	memset(s, 0, sizeof(*s));
	kern_stats(c->kern, &s->kern);
	kern_latency(c->kern, &s->latency);
	cache_stats(c->cache, &s->cache);
	return 0;
}

int control_stats(struct control *c, struct control_stats *ret)
{
	return call_control(c, make_stats, ret);
}

static int make_memory(struct control *c, void *arg)
{
	struct control_memory *m = arg;
	struct cache_stats cache;
	size_t rss, pss;

	memset(m, 0, sizeof(*m));
	m->maps = kern_memory(c->kern, m->map);
	cache_stats(c->cache, &cache);
	m->cache_bytes = cache.bytes;
	m->filter_mapped_bytes = c->filter_bytes;
	process_memory(&rss, &pss);
	m->rss_bytes = rss;
	m->pss_bytes = pss;
	return 0;
}

int control_memory(struct control *c, struct control_memory *ret)
{
	return call_control(c, make_memory, ret);
}

void control_list_name(struct control *c, unsigned list, char *buf, size_t size)
{
	pthread_mutex_lock(&c->names_lock);
	snprintf(buf, size, "%s", list < c->list_names_count ? c->list_names[list] : "");
	pthread_mutex_unlock(&c->names_lock);
}
