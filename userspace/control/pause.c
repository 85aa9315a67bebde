/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pause.c - pauses: kept, put in force, ended in time.
 *
 * Of all and of groups a pause is a word of the group; of a client it is a flag
 * in the table of clients, which is made anew.  The filter is not touched.
 */
#define LOG_ROOM "control"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "control/internal.h"

#define LOOK_AGAIN_MS 30000		/* at the latest: somebody may set the clock */
#define CLOCK_SLACK_S 2			/* two clocks, each in whole seconds */

const char *const control_scope_names[CONTROL_SCOPES] = { "all", "group", "client" };

/* ---- who is meant ---- */

bool pause_of_group(const struct control *c, const char *group)
{
	unsigned i;

	for (i = 0; i < c->pauses; i++)
		if (c->pause[i].scope == CONTROL_SCOPE_ALL ||
		    (c->pause[i].scope == CONTROL_SCOPE_GROUP && !strcmp(c->pause[i].name, group)))
			return true;
	return false;
}

static bool group_has_mac(const struct config_group *g, const struct config *config, const uint8_t *mac)
{
	const struct config_client_addrs *named;
	const struct config_member *m;
	unsigned i, j;

	for (i = 0; i < g->clients.count; i++) {
		m = &g->clients.at[i];
		if (!*m->name && m->addr.is_mac && !memcmp(m->addr.mac, mac, 6))
			return true;
		named = *m->name ? &config->clients.at[m->client].addresses : NULL;
		for (j = 0; named && j < named->count; j++)
			if (named->at[j].is_mac && !memcmp(named->at[j].mac, mac, 6))
				return true;
	}
	return false;
}

static bool mac_is_known(const struct config *config, const uint8_t *mac)
{
	unsigned i;

	for (i = 0; i < config->groups.count; i++)
		if (group_has_mac(&config->groups.at[i], config, mac))
			return true;
	return false;
}

/*
 * A row of a hardware address decides before all addresses, the group too.  One
 * that no group knows may have a row only where nobody is told apart by address.
 */
static bool mac_may_stand(const struct config *config, const uint8_t *mac)
{
	unsigned i;

	if (mac_is_known(config, mac))
		return true;
	for (i = 0; i < config->groups.count; i++)
		if (config->groups.at[i].clients.count)
			return false;
	return true;
}

/* One way to know a client, and for an address the hardware address that decides before it. */
static int each_way(const struct control *c, const struct config *config, const struct config_client_addr *a,
		    int (*each)(void *arg, const struct config_client_addr *a), void *arg, unsigned *count)
{
	struct config_client_addr mac = { .is_mac = true };
	int err;

	if (a->is_mac && !mac_may_stand(config, a->mac))
		return 0;
	++*count;
	err = each ? each(arg, a) : 0;
	if (err || a->is_mac || a->prefix.len < 128 || !neigh_find(c->neigh, a->prefix.ip, mac.mac) ||
	    !mac_is_known(config, mac.mac))
		return err;
	return each ? each(arg, &mac) : 0;
}

static int each_addr(const struct control *c, const struct config *config, const char *name,
		     int (*each)(void *arg, const struct config_client_addr *a), void *arg, unsigned *ret_count)
{
	const struct config_client *k = asker_named(config, name);
	struct config_client_addr one;
	unsigned i, count = 0;
	int err = 0;

	if (!k && asker_read(name, &one))
		err = each_way(c, config, &one, each, arg, &count);
	for (i = 0; k && i < k->addresses.count && !err; i++)
		err = each_way(c, config, &k->addresses.at[i], each, arg, &count);
	if (ret_count)
		*ret_count = count;
	return err;
}

int pause_each_client(const struct control *c, const struct config *config,
		      int (*each)(void *arg, const struct config_client_addr *a), void *arg)
{
	unsigned i;
	int err = 0;

	for (i = 0; i < c->pauses && !err; i++)
		if (c->pause[i].scope == CONTROL_SCOPE_CLIENT)
			err = each_addr(c, config, c->pause[i].name, each, arg, NULL);
	return err;
}

/* ---- in force ---- */

/* Put the pauses of groups, or of clients, in force as they are now. */
static int apply(struct control *c, enum control_scope scope, struct err_at *reterr)
{
	const struct config_groups *g = &c->snapshot->config->groups;
	unsigned i;

	if (scope == CONTROL_SCOPE_CLIENT)
		return snapshot_renew_clients(c, reterr);
	for (i = 0; i < g->count; i++)
		kern_group_pause(c->kern, i, pause_of_group(c, g->at[i].name));
	return 0;
}

static int find(const struct control *c, enum control_scope scope, const char *name)
{
	unsigned i;

	for (i = 0; i < c->pauses; i++)
		if (c->pause[i].scope == scope && !strcmp(c->pause[i].name, name))
			return (int)i;
	return -ENOENT;
}

static void forget(struct control *c, unsigned i)
{
	memmove(&c->pause[i], &c->pause[i + 1], (c->pauses - i - 1) * sizeof(c->pause[0]));
	c->pauses--;
}

static int store(struct control *c, const struct pause *p, struct err_at *reterr)
{
	struct state_pause s = { .scope = control_scope_names[p->scope], .name = p->name, .until_s = p->until_s };
	int err = objects_writable(c, reterr);

	return err ? err : state_pause_set(c->objects, &s, reterr);
}

static void on_end(uv_timer_t *t)
{
	struct control *c = t->data;

	pause_tick(c);
}

static int64_t boot_left_s(const struct pause *p, uint64_t now_ns)
{
	return p->end_ns > now_ns ? (int64_t)((p->end_ns - now_ns + CLOCK_S - 1) / CLOCK_S) : 0;
}

int64_t pause_left_s(const struct pause *p, int64_t now_s, uint64_t now_ns)
{
	int64_t wall = p->until_s - now_s, boot = boot_left_s(p, now_ns);

	return wall < boot ? wall : boot;
}

/* Write down the end of a pause anew when the clock was set back: a restart knows that clock alone. */
static void follow_clock(struct control *c, struct pause *p, int64_t now_s, uint64_t now_ns)
{
	int64_t left = boot_left_s(p, now_ns);
	struct err_at at = { 0 };

	if (!c->objects || p->until_s <= now_s + left + CLOCK_SLACK_S)
		return;
	p->until_s = now_s + left;
	if (store(c, p, &at))
		log_limited("the end of a pause is not kept: %s", at.why);
}

/* End those whose time is over, and wait for the next. */
void pause_tick(struct control *c)
{
	int64_t now_s = schedule_now_s(), next = INT64_MAX, left;
	uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);
	struct err_at at = { 0 };
	struct pause ended;
	unsigned i = 0;

	while (i < c->pauses) {
		left = c->pause[i].until_s ? pause_left_s(&c->pause[i], now_s, now_ns) : INT64_MAX;
		if (left > 0) {
			if (c->pause[i].until_s)
				follow_clock(c, &c->pause[i], now_s, now_ns);
			next = left < next ? left : next;
			i++;
			continue;
		}
		ended = c->pause[i];
		forget(c, i);
		log_info("a pause has ended: %s %s", control_scope_names[ended.scope], ended.name);
		if (c->objects && state_pause_clear(c->objects, control_scope_names[ended.scope], ended.name, &at))
			log_warn("%s", at.why);
		if (apply(c, ended.scope, &at))
			log_err("%s %s: its blocks are not in force again: %s", control_scope_names[ended.scope],
				ended.name, at.why);
	}
	if (next < INT64_MAX && c->timing)
		uv_timer_start(&c->pause_end, on_end, next < LOOK_AGAIN_MS / 1000 ? (uint64_t)next * 1000 : LOOK_AGAIN_MS, 0);
}

/* ---- begun and ended ---- */

struct pausing {
	enum control_scope scope;
	const char *name;
	uint32_t seconds;
	struct err_at *reterr;
};

static bool is_group(const struct config *config, const char *name)
{
	unsigned i;

	for (i = 0; i < config->groups.count; i++)
		if (!strcmp(config->groups.at[i].name, name))
			return true;
	return false;
}

static int check(const struct control *c, const struct pausing *p)
{
	const struct config *config = c->snapshot->config;
	struct config_client_addr one;
	unsigned count = 0;

	if (strlen(p->name) >= sizeof(c->pause[0].name))
		return err_why(p->reterr, -EINVAL, "the name is too long");
	if (p->scope == CONTROL_SCOPE_GROUP && !is_group(config, p->name))
		return err_why(p->reterr, -ENOENT, "there is no group \"%s\"", p->name);
	if (p->scope != CONTROL_SCOPE_CLIENT)
		return 0;
	if (!asker_named(config, p->name) && !asker_read(p->name, &one))
		return err_why(p->reterr, -ENOENT,
			       "there is no client \"%s\", and it is no address, prefix or mac:...", p->name);
	each_addr(c, config, p->name, NULL, NULL, &count);
	return count ? 0 : err_why(p->reterr, -EINVAL,
				   "no group knows %s by its hardware address: pause it by its address", p->name);
}

/* Put one in force; @i is its place, or where it comes to be. */
static int set(struct control *c, unsigned i, const struct pause *p, struct err_at *reterr)
{
	c->pause[i] = *p;
	if (i == c->pauses)
		c->pauses++;
	return apply(c, p->scope, reterr);
}

/* As it was before set(): that was in force, so it can be again. */
static void unset(struct control *c, unsigned i, const struct pause *old)
{
	enum control_scope scope = c->pause[i].scope;
	struct err_at at = { 0 };

	if (old)
		c->pause[i] = *old;
	else
		forget(c, i);
	if (apply(c, scope, &at))
		log_err("a pause that could not be kept is in force: %s", at.why);
}

static int do_pause(struct control *c, void *arg)
{
	const struct pausing *p = arg;
	struct pause made = { .scope = p->scope }, old;
	int err = check(c, p), found;
	unsigned i;

	/* first: pauses may come with a database that is open again */
	if (!err)
		err = objects_writable(c, p->reterr);
	found = find(c, p->scope, p->name);
	i = found < 0 ? c->pauses : (unsigned)found;
	if (!err && i == CONTROL_PAUSES_MAX)
		err = err_why(p->reterr, -EINVAL, "there are %d pauses already", CONTROL_PAUSES_MAX);
	if (!err)
		err = state_begin(c->objects, p->reterr);
	if (err)
		return err;
	old = c->pause[i];
	snprintf(made.name, sizeof(made.name), "%s", p->name);
	made.until_s = p->seconds ? schedule_now_s() + p->seconds : 0;
	made.end_ns = clock_ns(CLOCK_BOOTTIME) + p->seconds * CLOCK_S;
	err = store(c, &made, p->reterr);
	if (err)
		goto out;
	/* First in force and then on the disk: one that has no place must not be there at the next start. */
	err = set(c, i, &made, p->reterr);
	if (!err)
		err = state_commit(c->objects, p->reterr);
	if (err)
		unset(c, i, found < 0 ? NULL : &old);
out:
	state_rollback(c->objects);
	pause_tick(c);
	return err;
}

int control_pause(struct control *c, enum control_scope scope, const char *name, uint32_t seconds,
		  struct err_at *reterr)
{
	struct pausing p = { .scope = scope, .name = name, .seconds = seconds, .reterr = reterr };

	return call_control(c, do_pause, &p);
}

static int do_resume(struct control *c, void *arg)
{
	const struct pausing *p = arg;
	int err = c->objects ? 0 : objects_writable(c, p->reterr), i = find(c, p->scope, p->name);

	if (!err && i < 0)
		return err_why(p->reterr, -ENOENT, "there is no such pause");
	if (!err)
		err = objects_writable(c, p->reterr);
	if (!err)
		err = state_pause_clear(c->objects, control_scope_names[p->scope], p->name, p->reterr);
	if (err && err != -ENOENT)
		return err;
	forget(c, (unsigned)i);
	return apply(c, p->scope, p->reterr);
}

int control_resume(struct control *c, enum control_scope scope, const char *name, struct err_at *reterr)
{
	struct pausing p = { .scope = scope, .name = name, .reterr = reterr };

	return call_control(c, do_resume, &p);
}

void pause_drop_clients(struct control *c)
{
	struct err_at at = { 0 };
	unsigned i = 0;

	while (i < c->pauses) {
		if (c->pause[i].scope != CONTROL_SCOPE_CLIENT) {
			i++;
			continue;
		}
		if (state_pause_clear(c->objects, control_scope_names[CONTROL_SCOPE_CLIENT], c->pause[i].name, &at))
			log_warn("%s", at.why);
		forget(c, i);
	}
}

void pause_drop(struct control *c, const char *kind, const char *name)
{
	struct err_at at = { 0 };
	int scope, i;

	for (scope = CONTROL_SCOPE_GROUP; scope < CONTROL_SCOPES; scope++)
		if (!strcmp(kind, control_scope_names[scope]))
			break;
	i = scope < CONTROL_SCOPES ? find(c, (enum control_scope)scope, name) : -ENOENT;
	/* What the file says of that name may be in force: then another one was taken away. */
	if (i < 0 || (scope == CONTROL_SCOPE_GROUP ? is_group(c->snapshot->config, name) :
						     asker_named(c->snapshot->config, name) != NULL))
		return;
	if (state_pause_clear(c->objects, kind, name, &at))
		log_warn("the pause of %s %s, which is gone, is not forgotten: %s", kind, name, at.why);
	forget(c, (unsigned)i);
	if (apply(c, (enum control_scope)scope, &at))
		log_err("%s %s: its blocks are not in force again: %s", kind, name, at.why);
}

struct pauses_wanted {
	struct control_pause *at;
	unsigned max;
};

static int make_pauses(struct control *c, void *arg)
{
	const struct pauses_wanted *w = arg;
	int64_t now_s = schedule_now_s(), left;
	uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);
	unsigned i;

	for (i = 0; i < c->pauses && i < w->max; i++) {
		left = pause_left_s(&c->pause[i], now_s, now_ns);
		w->at[i].scope = c->pause[i].scope;
		memcpy(w->at[i].name, c->pause[i].name, sizeof(w->at[i].name));
		w->at[i].left_s = !c->pause[i].until_s ? 0 : left < 1 ? 1 : left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
	}
	return (int)i;
}

int control_pauses(struct control *c, struct control_pause *ret, unsigned max)
{
	struct pauses_wanted w = { .at = ret, .max = max };

	return call_control(c, make_pauses, &w);
}

/* ---- at start ---- */

static int take(void *arg, const struct state_pause *p)
{
	struct control *c = arg;
	struct pause *to = &c->pause[c->pauses];
	int i;

	for (i = 0; i < CONTROL_SCOPES; i++)
		if (!strcmp(p->scope, control_scope_names[i]))
			break;
	if (i == CONTROL_SCOPES || c->pauses == CONTROL_PAUSES_MAX || strlen(p->name) >= sizeof(to->name))
		return 0;
	*to = (struct pause){ .scope = (enum control_scope)i, .until_s = p->until_s };
	snprintf(to->name, sizeof(to->name), "%s", p->name);
	c->pauses++;
	return 0;
}

int pause_load(struct control *c, struct err_at *reterr)
{
	int64_t now = schedule_now_s();
	uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);
	unsigned i = 0;
	int err = c->objects ? state_pause_each(c->objects, take, c, reterr) : 0;

	/* Those that ended while nobody was here; the file forgets them at the first tick. */
	while (i < c->pauses) {
		if (c->pause[i].until_s && c->pause[i].until_s <= now) {
			forget(c, i);
			continue;
		}
		/* Longer than anybody may ask for: the clock has not been set yet, or the file was made elsewhere. */
		if (c->pause[i].until_s - now > CONTROL_PAUSE_MAX_S)
			c->pause[i].end_ns = now_ns + CONTROL_PAUSE_MAX_S * CLOCK_S;
		else
			c->pause[i].end_ns = now_ns + (uint64_t)(c->pause[i].until_s - now) * CLOCK_S;
		i++;
	}
	return err;
}
