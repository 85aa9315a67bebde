/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clients.c - makes the table of clients out of MACs and prefixes.
 *
 * The packet path probes a few prefix lengths only.  When more are in use, the
 * length that costs least goes: each of its prefixes becomes those of the next
 * longer length in use, except where a longer prefix stands already, which
 * would have decided anyway.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "policy/clients.h"

#define ROWS_MAX (MR_CLIENT_BUCKETS * MR_CLIENT_WAYS / 2)

struct rows {
	struct clients_row *at;
	unsigned count;
	unsigned room;
};

static struct mr_prefix words_of(const uint8_t ip[16])
{
	struct mr_prefix p = { 0, 0 };
	unsigned i;

	for (i = 0; i < 8; i++) {
		p.hi = p.hi << 8 | ip[i];
		p.lo = p.lo << 8 | ip[i + 8];
	}
	return p;
}

/* The octets in the order of memory, as the packet path loads them from a frame. */
static uint64_t mac_word(const uint8_t mac[6])
{
	uint64_t w = 0;

	memcpy(&w, mac, 6);
	return w;
}

static bool same_outcome(struct mr_outcome a, struct mr_outcome b)
{
	return a.group == b.group && a.access == b.access && a.flags == b.flags;
}

static bool same_client(const struct clients_row *a, const struct clients_row *b)
{
	if (a->is_mac || b->is_mac)
		return a->is_mac && b->is_mac && !memcmp(a->mac, b->mac, 6);
	return a->prefix.len == b->prefix.len && !memcmp(a->prefix.ip, b->prefix.ip, 16);
}

static const struct clients_row *find(const struct rows *r, const struct clients_row *row)
{
	unsigned i;

	for (i = 0; i < r->count; i++)
		if (same_client(&r->at[i], row))
			return &r->at[i];
	return NULL;
}

static const char *row_text(const struct clients_row *row, char *buf, size_t size)
{
	const uint8_t *m = row->mac;

	if (!row->is_mac)
		return addr_prefix_text(&row->prefix, buf, size);
	snprintf(buf, size, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
	return buf;
}

static int append(struct rows *r, const struct clients_row *row)
{
	unsigned room = r->room ? r->room * 2 : 64;
	struct clients_row *more;

	if (r->count == ROWS_MAX)
		return -ENOSPC;
	if (r->count == r->room) {
		more = realloc(r->at, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		r->at = more;
		r->room = room;
	}
	r->at[r->count++] = *row;
	return 0;
}

/* Take the rows as given, each client once. */
static int collect(struct rows *r, const struct clients_row *rows, unsigned count, struct err_at *reterr)
{
	const struct clients_row *old;
	char text[ADDR_TEXT_MAX];
	unsigned i;
	int err;

	for (i = 0; i < count; i++) {
		if (!rows[i].is_mac && rows[i].prefix.len > 128)
			return err_why(reterr, -EINVAL, "a prefix of %u bits", rows[i].prefix.len);
		old = find(r, &rows[i]);
		if (old && !same_outcome(old->outcome, rows[i].outcome))
			return err_why(reterr, -EEXIST, "%s is given twice, for different things",
				       row_text(&rows[i], text, sizeof(text)));
		if (old)
			continue;
		err = append(r, &rows[i]);
		if (err == -ENOMEM)
			return err_why(reterr, err, "no memory for %u clients", count);
		if (err)
			return err_why(reterr, err, "at most %u prefixes and MACs are possible", ROWS_MAX);
	}
	return 0;
}

/* Rows by prefix length; returns how many lengths are in use. */
static unsigned count_lengths(const struct rows *r, unsigned by_len[129])
{
	unsigned i, used = 0;

	memset(by_len, 0, 129 * sizeof(*by_len));
	for (i = 0; i < r->count; i++)
		if (!r->at[i].is_mac)
			used += by_len[r->at[i].prefix.len]++ == 0;
	return used;
}

/* The length that is cheapest to split, with the longer one to split it to; false when none is affordable. */
static bool cheapest(const unsigned by_len[129], unsigned *ret_from, unsigned *ret_to)
{
	uint64_t cost, least = ROWS_MAX + 1;
	unsigned len, longer = 129;

	for (len = 128; len < 129; len--) {
		if (!by_len[len])
			continue;
		if (longer < 129 && longer - len < 16) {
			cost = (uint64_t)by_len[len] << (longer - len);
			if (cost < least) {
				least = cost;
				*ret_from = len;
				*ret_to = longer;
			}
		}
		longer = len;
	}
	return least <= ROWS_MAX;
}

/* Add the prefixes of @to bits that make up @row, where none stands yet. */
static int split_row(struct rows *r, struct clients_row row, unsigned to)
{
	unsigned from = row.prefix.len, n, bit;
	struct clients_row part;
	int err = 0;

	for (n = 0; n < 1U << (to - from) && !err; n++) {
		part = row;
		part.prefix.len = (uint8_t)to;
		for (bit = 0; bit < to - from; bit++)
			if (n >> bit & 1)
				part.prefix.ip[(to - 1 - bit) / 8] |= (uint8_t)(0x80 >> (to - 1 - bit) % 8);
		if (!find(r, &part))
			err = append(r, &part);
	}
	return err;
}

static int split_length(struct rows *r, unsigned from, unsigned to)
{
	unsigned i = 0;
	struct clients_row row;
	int err = 0;

	while (i < r->count && !err) {
		row = r->at[i];
		if (row.is_mac || row.prefix.len != from) {
			i++;
			continue;
		}
		r->at[i] = r->at[--r->count];
		err = split_row(r, row, to);
	}
	return err;
}

static int reduce(struct rows *r, struct err_at *reterr)
{
	unsigned by_len[129], from = 0, to = 0, used;
	int err = 0;

	while (!err && (used = count_lengths(r, by_len)) > MR_CLIENT_LENS) {
		err = cheapest(by_len, &from, &to) ? split_length(r, from, to) : -ENOSPC;
		if (err)
			err_why(reterr, err, "%u prefix lengths are in use; %u are possible, and splitting the shorter ones"
				" would make more than %u prefixes", used, MR_CLIENT_LENS, ROWS_MAX);
	}
	return err;
}

static int insert(struct clients *c, const struct clients_row *row, const struct mr_secret *secret)
{
	uint8_t len = row->is_mac ? MR_CLIENT_MAC : row->prefix.len;
	uint64_t tag = mr_client_tag(row->is_mac ? mr_prefix_mac(mac_word(row->mac)) : words_of(row->prefix.ip), len,
				     secret);
	struct mr_client_bucket *b = &c->bucket[mr_client_bucket_of(tag)];
	unsigned i;

	for (i = 0; i < MR_CLIENT_WAYS; i++) {
		if (b->way[i].tag)
			continue;
		b->way[i].outcome = row->outcome;
		b->way[i].len = len;
		b->way[i].tag = tag;
		return 0;
	}
	return -ENOSPC;
}

static int fill(struct clients *c, const struct rows *r, const struct mr_secret *secret, struct err_at *reterr)
{
	unsigned by_len[129], i, len;
	char text[ADDR_TEXT_MAX];

	count_lengths(r, by_len);
	for (len = 128; len < 129; len--)
		if (by_len[len])
			c->len[c->lens++] = (uint8_t)len;
	for (i = 0; i < r->count; i++) {
		if (insert(c, &r->at[i], secret))
			return err_why(reterr, -ENOSPC, "no place for %s among %u prefixes and MACs; fewer are possible",
				       row_text(&r->at[i], text, sizeof(text)), r->count);
		c->macs += r->at[i].is_mac;
	}
	c->count = r->count;
	return 0;
}

int clients_build(const struct clients_row *rows, unsigned count, struct mr_outcome fallback,
		  const struct mr_secret *secret, struct clients *ret, struct err_at *reterr)
{
	struct clients *c = calloc(1, sizeof(*c));
	struct rows r = { 0 };
	int err = -ENOMEM;

	if (!c)
		goto out;
	c->fallback = fallback;
	err = collect(&r, rows, count, reterr);
	if (!err)
		err = reduce(&r, reterr);
	if (!err)
		err = fill(c, &r, secret, reterr);
	if (!err)
		*ret = *c;
out:
	free(r.at);
	free(c);
	return err;
}

struct mr_outcome clients_find(const struct clients *c, const uint8_t ip[16], const uint8_t *mac,
			       const struct mr_secret *secret)
{
	struct mr_outcome o;

	if (mac && c->macs && mr_client_mac(c->bucket, mac_word(mac), secret, &o))
		return o;
	return mr_client_find(c->bucket, c->len, c->lens, words_of(ip), secret, c->fallback);
}
