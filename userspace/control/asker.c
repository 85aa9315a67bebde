/* SPDX-License-Identifier: BSD-2-Clause */
/* asker.c - the client that somebody means: by address, hardware address or name. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "control/internal.h"

struct meant {
	const char *text;
	struct control_client *ret;
};

const struct config_client *asker_named(const struct config *config, const char *name)
{
	unsigned i;

	for (i = 0; i < config->clients.count; i++)
		if (!strcmp(config->clients.at[i].name, name))
			return &config->clients.at[i];
	return NULL;
}

bool asker_read(const char *text, struct config_client_addr *ret)
{
	uint8_t *m = ret->mac;
	int end = 0;

	memset(ret, 0, sizeof(*ret));
	ret->is_mac = !strncmp(text, "mac:", 4);
	if (!ret->is_mac)
		return addr_prefix_parse(text, &ret->prefix) == 0;
	return sscanf(text + 4, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5],
		      &end) == 6 &&
	       !text[4 + end];
}

/* The first hardware address and the first address of a client; of a prefix its first address. */
static void take_way(const struct config_client_addr *a, struct control_client *to, bool *has_ip)
{
	if (a->is_mac && !to->has_mac) {
		to->has_mac = true;
		memcpy(to->mac, a->mac, sizeof(to->mac));
	} else if (!a->is_mac && !*has_ip) {
		*has_ip = true;
		memcpy(to->addr.ip, a->prefix.ip, sizeof(to->addr.ip));
	}
}

static int find(struct control *c, void *arg)
{
	static const uint8_t loopback[16] = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 };
	const struct config_client *named;
	const struct meant *m = arg;
	struct config_client_addr one;
	bool has_ip = false;
	unsigned i;

	named = asker_named(c->snapshot->config, m->text);
	memset(m->ret, 0, sizeof(*m->ret));
	if (!named && (!asker_read(m->text, &one) || (!one.is_mac && strchr(m->text, '/'))))
		return -ENOENT;
	for (i = 0; named && i < named->addresses.count; i++)
		take_way(&named->addresses.at[i], m->ret, &has_ip);
	if (!named)
		take_way(&one, m->ret, &has_ip);
	/* One that no neighbour has now: what is said of the hardware address alone holds from anywhere. */
	if (!has_ip && !neigh_find_ip(c->neigh, m->ret->mac, m->ret->addr.ip))
		memcpy(m->ret->addr.ip, loopback, sizeof(loopback));
	return 0;
}

int control_find_client(struct control *c, const char *text, struct control_client *ret)
{
	struct meant m = { .text = text, .ret = ret };

	return call_control(c, find, &m);
}
