/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clients.c - who is in which group, may ask, and is paused: the table of
 * clients; and what clients are called.
 *
 * The table knows one outcome for a prefix, so what groups, access and pauses
 * say of the prefixes around it is put together here.  A client that a group
 * knows by its hardware address may ask, whatever its address.
 */
#define LOG_ROOM "control"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "control/internal.h"

/* What somebody says of a client. */
struct said {
	struct config_client_addr of;
	uint16_t group;
};

struct saids {
	struct said *at;
	unsigned count;
	unsigned room;
};

struct people {
	struct saids groups;
	struct saids pauses;
	const struct config_prefixes *access;
	uint8_t fallback;
};

static int say(struct saids *s, const struct config_client_addr *of, unsigned group)
{
	struct said *more;

	if (s->count == s->room) {
		more = realloc(s->at, (s->room * 2 + 32) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->at = more;
		s->room = s->room * 2 + 32;
	}
	s->at[s->count++] = (struct said){ .of = *of, .group = (uint16_t)group };
	return 0;
}

static int say_groups(struct people *p, const struct config *c)
{
	const struct config_client_addrs *named;
	const struct config_member *m;
	unsigned g, i, j;
	int err = 0;

	for (g = 0; g < c->groups.count; g++)
		for (i = 0; i < c->groups.at[g].clients.count && !err; i++) {
			m = &c->groups.at[g].clients.at[i];
			if (!*m->name) {
				err = say(&p->groups, &m->addr, g);
				continue;
			}
			named = &c->clients.at[m->client].addresses;
			for (j = 0; j < named->count && !err; j++)
				err = say(&p->groups, &named->at[j], g);
		}
	return err;
}

static int say_pause(void *arg, const struct config_client_addr *of)
{
	struct people *p = arg;

	return say(&p->pauses, of, 0);
}

static bool holds(const struct addr_prefix *outer, const struct addr_prefix *inner)
{
	return outer->len <= inner->len && addr_in_prefix(inner->ip, outer);
}

static bool same_mac(const struct config_client_addr *a, const uint8_t *mac)
{
	return a->is_mac && !memcmp(a->mac, mac, sizeof(a->mac));
}

/* ---- outcomes ---- */

static struct mr_outcome of_prefix(const struct people *p, const struct addr_prefix *at)
{
	struct mr_outcome o = { .access = p->fallback };
	const struct said *best = NULL, *s;
	unsigned i;

	for (i = 0; i < p->groups.count; i++) {
		s = &p->groups.at[i];
		if (!s->of.is_mac && holds(&s->of.prefix, at) && (!best || s->of.prefix.len > best->of.prefix.len))
			best = s;
	}
	o.group = best ? best->group : 0;
	for (i = 0; i < p->access->count; i++)
		if (holds(&p->access->at[i], at))
			o.access = MR_ACCESS_ALLOW;
	for (i = 0; i < p->pauses.count; i++)
		if (!p->pauses.at[i].of.is_mac && holds(&p->pauses.at[i].of.prefix, at))
			o.flags = MR_CLIENT_PAUSED;
	return o;
}

static struct mr_outcome of_mac(const struct people *p, const uint8_t *mac)
{
	struct mr_outcome o = { .access = MR_ACCESS_ALLOW };
	unsigned i;

	for (i = 0; i < p->groups.count; i++)
		if (same_mac(&p->groups.at[i].of, mac))
			o.group = p->groups.at[i].group;
	for (i = 0; i < p->pauses.count; i++)
		if (same_mac(&p->pauses.at[i].of, mac))
			o.flags = MR_CLIENT_PAUSED;
	return o;
}

static unsigned add_rows(const struct people *p, const struct saids *s, struct clients_row *rows)
{
	const struct config_client_addr *a;
	unsigned i;

	for (i = 0; i < s->count; i++) {
		a = &s->at[i].of;
		rows[i] = (struct clients_row){ .is_mac = a->is_mac, .prefix = a->prefix };
		memcpy(rows[i].mac, a->mac, sizeof(a->mac));
		rows[i].outcome = a->is_mac ? of_mac(p, a->mac) : of_prefix(p, &a->prefix);
	}
	return s->count;
}

static int build(struct control *c, const struct people *p, struct clients *to, struct err_at *reterr)
{
	struct mr_outcome fallback = { .access = p->fallback };
	struct clients_row *rows = calloc(p->groups.count + p->pauses.count + p->access->count + 1, sizeof(*rows));
	unsigned n, i;
	int err;

	if (!rows)
		return -ENOMEM;
	n = add_rows(p, &p->groups, rows);
	n += add_rows(p, &p->pauses, rows + n);
	for (i = 0; i < p->access->count; i++)
		rows[n++] = (struct clients_row){ .prefix = p->access->at[i], .outcome = of_prefix(p, &p->access->at[i]) };
	err_where(reterr, NULL, 0, p->groups.count ? "groups, access.allow" : "access.allow");
	err = clients_build(rows, n, fallback, &c->secret, to, reterr);
	free(rows);
	return err;
}

int clients_make(struct control *c, struct snapshot *s, struct err_at *reterr)
{
	struct people p = {
		.access = &s->config->access_allow,
		.fallback = s->config->access_default == CONFIG_ACCESS_ALLOW ? MR_ACCESS_ALLOW : MR_ACCESS_REFUSE,
	};
	int err;

	s->clients = calloc(1, sizeof(*s->clients));
	err = s->clients ? say_groups(&p, s->config) : -ENOMEM;
	if (!err)
		err = pause_each_client(c, s->config, say_pause, &p);
	if (!err)
		err = build(c, &p, s->clients, reterr);
	/* The file may have grown since they were begun; a pause must not keep a daemon from starting. */
	if (err == -ENOSPC && !c->snapshot && p.pauses.count) {
		log_err("pauses of clients have ended, since not all have a place: %s", reterr->why);
		pause_drop_clients(c);
		p.pauses.count = 0;
		memset(s->clients, 0, sizeof(*s->clients));
		err = build(c, &p, s->clients, reterr);
	}
	free(p.groups.at);
	free(p.pauses.at);
	return err;
}

/* ---- names ---- */

/* The texts of tags as the table of names wants them, a client's behind those of the one before. */
static const char **tag_texts(const struct config_clients *c)
{
	const char **all;
	unsigned i, j, n = 1;

	for (i = 0; i < c->count; i++)
		n += c->at[i].tags.count;
	all = calloc(n, sizeof(*all));
	for (i = 0, n = 0; all && i < c->count; i++)
		for (j = 0; j < c->at[i].tags.count; j++)
			all[n++] = c->at[i].tags.at[j].text;
	return all;
}

static unsigned add_names(const struct config_client *k, const char *const *tags, struct who_row *rows)
{
	unsigned i;

	for (i = 0; i < k->addresses.count; i++) {
		rows[i] = (struct who_row){ .is_mac = k->addresses.at[i].is_mac, .prefix = k->addresses.at[i].prefix,
					    .name = k->name, .tag = tags, .tags = k->tags.count };
		memcpy(rows[i].mac, k->addresses.at[i].mac, sizeof(rows[i].mac));
	}
	return k->addresses.count;
}

int clients_name(struct snapshot *s)
{
	const struct config_clients *c = &s->config->clients;
	struct who_row *rows;
	unsigned i, n = 1, tags = 0;

	for (i = 0; i < c->count; i++)
		n += c->at[i].addresses.count;
	rows = calloc(n, sizeof(*rows));
	s->owned.tags = tag_texts(c);
	if (!rows || !s->owned.tags) {
		free(rows);
		return -ENOMEM;
	}
	for (i = 0, n = 0; i < c->count; i++) {
		n += add_names(&c->at[i], s->owned.tags + tags, rows + n);
		tags += c->at[i].tags.count;
	}
	s->who = who_new(rows, n);
	free(rows);
	return s->who ? 0 : -ENOMEM;
}
