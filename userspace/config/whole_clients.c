/* SPDX-License-Identifier: BSD-2-Clause */
/* whole_clients.c - clients of groups: they exist, and each address is in one place alone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config/whole.h"

static const char *nearest_client(const struct whole *w, const char *name)
{
	const struct config *c = w->c;
	const char *names[CONFIG_CLIENTS_MAX];
	unsigned i;

	if (whole_is_full(w))
		return NULL;
	for (i = 0; i < c->clients.count && i < CONFIG_CLIENTS_MAX; i++)
		names[i] = c->clients.at[i].name;
	return reader_nearest(name, names, i);
}

static void find_client(struct whole *w, const struct spot *s, unsigned number, struct config_member *m)
{
	const struct config_clients *all = &w->c->clients;
	const char *like;
	char field[40], quoted[64];

	for (m->client = 0; m->client < all->count; m->client++)
		if (!strcmp(all->at[m->client].name, m->name))
			return;
	like = nearest_client(w, m->name);
	snprintf(field, sizeof(field), "clients[%u]", number);
	whole_fault(w, s, field, m->line,
	      "expected an address, a prefix, \"mac:...\" or the name of a client of clients, not %s%s%s%s",
	      reader_quote(m->name, quoted, sizeof(quoted)), like ? "; did you mean \"" : "", like ? like : "",
	      like ? "\"?" : "");
}

void whole_members(struct whole *w, struct config_group *g)
{
	const struct spot s = whole_spot_group(g);
	unsigned i;

	for (i = 0; i < g->clients.count; i++)
		if (*g->clients.at[i].name)
			find_client(w, &s, i, &g->clients.at[i]);
}

/* An address and who has it: a client, or a group. */
struct owned {
	const struct config_client_addr *addr;
	unsigned owner;
	unsigned member;		/* of a group: which of its clients */
};

struct owners {
	struct owned *at;
	unsigned count;
	unsigned room;
};

static void own(struct whole *w, struct owners *o, const struct config_client_addr *addr, unsigned owner, unsigned member)
{
	struct owned *more;

	if (o->count == o->room) {
		o->room = o->room ? 2 * o->room : 64;
		more = realloc(o->at, o->room * sizeof(*more));
		if (!more) {
			o->room = o->count;
			w->err = -ENOMEM;
			return;
		}
		o->at = more;
	}
	o->at[o->count++] = (struct owned){ addr, owner, member };
}

/* Equal addresses side by side, and among these the order of owners. */
static int compare_owned(const void *a, const void *b)
{
	const struct owned *x = a, *y = b;
	int d;

	if (x->addr->is_mac != y->addr->is_mac)
		return x->addr->is_mac ? 1 : -1;
	if (x->addr->is_mac)
		d = memcmp(x->addr->mac, y->addr->mac, sizeof(x->addr->mac));
	else
		d = x->addr->prefix.len != y->addr->prefix.len
			    ? (int)x->addr->prefix.len - (int)y->addr->prefix.len
			    : memcmp(x->addr->prefix.ip, y->addr->prefix.ip, sizeof(x->addr->prefix.ip));
	if (!d)
		d = (x->owner > y->owner) - (x->owner < y->owner);
	return d ? d : (x->member > y->member) - (x->member < y->member);
}

static const char *addr_said(const struct config_client_addr *a, char *buf, size_t size)
{
	if (!a->is_mac)
		return addr_prefix_text(&a->prefix, buf, size);
	snprintf(buf, size, "mac:%02x:%02x:%02x:%02x:%02x:%02x", a->mac[0], a->mac[1], a->mac[2], a->mac[3], a->mac[4],
		 a->mac[5]);
	return buf;
}

static void gather_clients(struct whole *w, struct owners *o)
{
	const struct config_clients *all = &w->c->clients;
	unsigned i, j;

	for (i = 0; i < all->count; i++)
		for (j = 0; j < all->at[i].addresses.count; j++)
			own(w, o, &all->at[i].addresses.at[j], i, j);
}

static void gather_members(struct whole *w, struct owners *o)
{
	const struct config_groups *all = &w->c->groups;
	const struct config_client_addrs *a;
	const struct config_member *m;
	unsigned i, j, k;

	for (i = 0; i < all->count; i++) {
		for (j = 0; j < all->at[i].clients.count; j++) {
			m = &all->at[i].clients.at[j];
			if (!*m->name)
				own(w, o, &m->addr, i, j);
			else if (m->client < w->c->clients.count) {
				a = &w->c->clients.at[m->client].addresses;
				for (k = 0; k < a->count; k++)
					own(w, o, &a->at[k], i, j);
			}
		}
	}
}

void whole_owners(struct whole *w, bool of_groups)
{
	const struct config *c = w->c;
	struct owners o = { 0 };
	const struct owned *p;
	struct spot s;
	char text[ADDR_TEXT_MAX], field[40];
	unsigned i;

	if (of_groups)
		gather_members(w, &o);
	else
		gather_clients(w, &o);
	if (o.count)
		qsort(o.at, o.count, sizeof(*o.at), compare_owned);
	for (i = 1; i < o.count; i++) {
		p = &o.at[i];
		if (!client_addr_same(p->addr, p[-1].addr) || (of_groups && p->owner == p[-1].owner))
			continue;
		addr_said(p->addr, text, sizeof(text));
		snprintf(field, sizeof(field), "%s[%u]", of_groups ? "clients" : "addresses", p->member);
		s = of_groups ? whole_spot_group(&c->groups.at[p->owner]) : whole_spot_client(&c->clients.at[p->owner]);
		whole_fault(w, &s, field, of_groups ? c->groups.at[p->owner].clients.at[p->member].line : s.place.line,
		      "%s is in the %s \"%s\" already", text, of_groups ? "group" : "client",
		      of_groups ? c->groups.at[p[-1].owner].name : c->clients.at[p[-1].owner].name);
	}
	free(o.at);
}
