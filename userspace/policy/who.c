/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * who.c - finds what the configuration says about a client.
 *
 * Rows stand sorted: hardware addresses first, then prefixes, longest first;
 * those of one length are searched by halves.
 */
#include <stdlib.h>
#include <string.h>
#include "policy/who.h"

struct who_table {
	unsigned macs;			/* rows of hardware addresses */
	unsigned lens_count;
	struct {
		uint8_t len;
		unsigned from, to;	/* rows of this length */
	} lens[129];
	unsigned count;
	struct who_row row[];
};

static int compare(const void *a, const void *b)
{
	const struct who_row *x = a, *y = b;

	if (x->is_mac != y->is_mac)
		return x->is_mac ? -1 : 1;
	if (x->is_mac)
		return memcmp(x->mac, y->mac, sizeof(x->mac));
	if (x->prefix.len != y->prefix.len)
		return x->prefix.len > y->prefix.len ? -1 : 1;
	return memcmp(x->prefix.ip, y->prefix.ip, sizeof(x->prefix.ip));
}

struct who_table *who_new(const struct who_row *rows, unsigned count)
{
	struct who_table *t = calloc(1, sizeof(*t) + count * sizeof(*rows));
	unsigned i;

	if (!t)
		return NULL;
	t->count = count;
	if (count) {
		memcpy(t->row, rows, count * sizeof(*rows));
		qsort(t->row, count, sizeof(*rows), compare);
	}
	while (t->macs < count && t->row[t->macs].is_mac)
		t->macs++;
	for (i = t->macs; i < count; i++) {
		if (i == t->macs || t->row[i].prefix.len != t->row[i - 1].prefix.len) {
			t->lens[t->lens_count].len = t->row[i].prefix.len;
			t->lens[t->lens_count++].from = i;
		}
		t->lens[t->lens_count - 1].to = i + 1;
	}
	return t;
}

void who_free(struct who_table *t)
{
	free(t);
}

static const struct who_row *find(const struct who_table *t, const struct who_row *like, unsigned from, unsigned to)
{
	return bsearch(like, t->row + from, to - from, sizeof(*like), compare);
}

static const struct who_row *find_prefix(const struct who_table *t, const uint8_t ip[16])
{
	struct who_row like = { .is_mac = false };
	const struct who_row *row = NULL;
	unsigned i, len;

	memcpy(like.prefix.ip, ip, 16);
	for (i = 0; i < t->lens_count && !row; i++) {
		len = like.prefix.len = t->lens[i].len;
		if (len % 8)
			like.prefix.ip[len / 8] &= (uint8_t)(0xff00 >> len % 8);
		memset(like.prefix.ip + (len + 7) / 8, 0, 16 - (len + 7) / 8);
		row = find(t, &like, t->lens[i].from, t->lens[i].to);
	}
	return row;
}

void who_find(const struct who_table *t, const uint8_t ip[16], const uint8_t *mac, struct who *ret)
{
	struct who_row like = { .is_mac = true };
	const struct who_row *row = NULL;

	*ret = (struct who){ .has_mac = mac != NULL };
	memcpy(ret->ip, ip, sizeof(ret->ip));
	if (mac) {
		memcpy(ret->mac, mac, sizeof(ret->mac));
		memcpy(like.mac, mac, sizeof(like.mac));
		row = find(t, &like, 0, t->macs);
	}
	if (!row)
		row = find_prefix(t, ip);
	if (!row)
		return;
	ret->name = row->name;
	ret->tag = row->tag;
	ret->tags = row->tags;
}
