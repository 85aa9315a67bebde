/* SPDX-License-Identifier: BSD-2-Clause */
/* routes.c - a hash table of zones: a name and its parents are looked up, the longest first. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/random.h"
#include "dns/name.h"
#include "upstream/routes.h"

struct upstream_routes {
	struct hash_key key;
	unsigned mask;
	struct row {
		uint8_t zone[DNS_NAME_MAX];
		uint8_t len;		/* 0: free */
		unsigned set;
	} row[];
};

/* The row of a zone, or the free one where it belongs. */
static struct row *find(const struct upstream_routes *r, const uint8_t *zone, size_t len)
{
	unsigned i = (unsigned)hash_octets(&r->key, zone, len) & r->mask;
	const struct row *row;

	for (;; i = (i + 1) & r->mask) {
		row = &r->row[i];
		if (!row->len || (row->len == len && !memcmp(row->zone, zone, len)))
			return (struct row *)row;
	}
}

int upstream_routes_new(const struct upstream_route *routes, unsigned count, struct upstream_routes **ret)
{
	struct upstream_routes *r;
	unsigned i, size = 4;
	struct row *row;

	*ret = NULL;
	if (!count)
		return 0;
	while (size < 2 * count)
		size *= 2;
	r = calloc(1, sizeof(*r) + size * sizeof(r->row[0]));
	if (!r)
		return -ENOMEM;
	r->mask = size - 1;
	random_fill(&r->key, sizeof(r->key));
	for (i = 0; i < count; i++) {
		row = find(r, routes[i].zone, routes[i].zone_len);
		if (row->len) {
			free(r);
			return -EEXIST;
		}
		dns_name_lower(row->zone, routes[i].zone, routes[i].zone_len);
		row->len = (uint8_t)routes[i].zone_len;
		row->set = routes[i].set;
	}
	*ret = r;
	return 0;
}

void upstream_routes_free(struct upstream_routes *r)
{
	free(r);
}

unsigned upstream_routes_find(const struct upstream_routes *r, const struct dns_key *key)
{
	const uint8_t *name = key->name, *end = key->name + key->name_len;
	const struct row *row;

	if (!r)
		return 0;
	if (key->qtype == DNS_DS && *name)
		name += 1 + *name;
	for (; name < end; name += 1 + *name) {
		row = find(r, name, (size_t)(end - name));
		if (row->len)
			return row->set;
		if (!*name)
			break;
	}
	return 0;
}
