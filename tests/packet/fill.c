/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fill.c - see fill.h.
 */
#include "packet/fill.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "fastpath.skel.h"

#define GROUPS 4

static size_t map_bytes(const struct bpf_map *m)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), value = (bpf_map__value_size(m) + 7) & ~7U;

	return (value * bpf_map__max_entries(m) + page - 1) & ~(page - 1);
}

static void *map_memory(const struct bpf_map *m)
{
	void *p = mmap(NULL, map_bytes(m), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(m), 0);

	return p == MAP_FAILED ? NULL : p;
}

static int fill_rings(struct fill *f)
{
	__u32 cpus = bpf_map__max_entries(f->skel->maps.mr_events), i;

	f->ring_fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "mr_ring", 0, 0, 256 * 1024, NULL);
	if (f->ring_fd < 0)
		return f->ring_fd;
	for (i = 0; i < cpus; i++)
		if (bpf_map_update_elem(bpf_map__fd(f->skel->maps.mr_events), &i, &f->ring_fd, 0))
			return -errno;
	return 0;
}

static int fill_load(struct fill *f, const char **reterr)
{
	int err;

	f->skel = fastpath_bpf__open();
	*reterr = "opening the skeleton";
	if (!f->skel)
		return -errno;
	bpf_map__set_max_entries(f->skel->maps.mr_filter, MR_UNITS * f->size.filter_buckets);
	bpf_map__set_max_entries(f->skel->maps.mr_bloom, MR_UNITS * f->size.bloom_words);
	bpf_map__set_max_entries(f->skel->maps.mr_verdicts, MR_UNITS * f->size.verdicts);
	bpf_map__set_max_entries(f->skel->maps.mr_buckets, f->size.answer_buckets);
	bpf_map__set_max_entries(f->skel->maps.mr_answers, f->size.pages);
	bpf_map__set_max_entries(f->skel->maps.mr_events, (__u32)libbpf_num_possible_cpus());
	*reterr = "loading the program";
	err = fastpath_bpf__load(f->skel);
	if (err)
		return err;
	*reterr = "making a ring";
	return fill_rings(f);
}

int fill_open(struct fill *f, const struct fill_size *size, const char **reterr)
{
	int err;

	memset(f, 0, sizeof(*f));
	f->ring_fd = -1;
	f->size = *size;
	err = fill_load(f, reterr);
	if (err)
		goto out;
	*reterr = "mapping the maps";
	err = -ENOMEM;
	f->conf = map_memory(f->skel->maps.mr_conf);
	f->secret = map_memory(f->skel->maps.mr_secret);
	f->filter = map_memory(f->skel->maps.mr_filter);
	f->bloom = map_memory(f->skel->maps.mr_bloom);
	f->verdicts = map_memory(f->skel->maps.mr_verdicts);
	f->ede = map_memory(f->skel->maps.mr_ede);
	f->clients = map_memory(f->skel->maps.mr_clients);
	f->buckets = map_memory(f->skel->maps.mr_buckets);
	f->answers = map_memory(f->skel->maps.mr_answers);
	f->why = map_memory(f->skel->maps.mr_why);
	if (!f->conf || !f->secret || !f->filter || !f->bloom || !f->verdicts || !f->ede || !f->clients || !f->buckets ||
	    !f->answers || !f->why)
		goto out;
	f->fd = bpf_program__fd(f->skel->progs.fastpath);
	f->why_fd = bpf_program__fd(f->skel->progs.fastpath_why);
	fill_reset(f);
	err = 0;
out:
	if (err)
		fill_close(f);
	return err;
}

static void map_forget(void *p, const struct bpf_map *m)
{
	if (p)
		munmap(p, map_bytes(m));
}

void fill_close(struct fill *f)
{
	if (!f->skel)
		return;
	map_forget(f->conf, f->skel->maps.mr_conf);
	map_forget(f->secret, f->skel->maps.mr_secret);
	map_forget(f->filter, f->skel->maps.mr_filter);
	map_forget(f->bloom, f->skel->maps.mr_bloom);
	map_forget(f->verdicts, f->skel->maps.mr_verdicts);
	map_forget(f->ede, f->skel->maps.mr_ede);
	map_forget(f->clients, f->skel->maps.mr_clients);
	map_forget(f->buckets, f->skel->maps.mr_buckets);
	map_forget(f->answers, f->skel->maps.mr_answers);
	map_forget(f->why, f->skel->maps.mr_why);
	if (f->ring_fd >= 0)
		close(f->ring_fd);
	fastpath_bpf__destroy(f->skel);
	f->skel = NULL;
}

/* A secret that is the same in every run. */
static void fill_secret(struct mr_secret *s)
{
	__u64 x = 0x243f6a8885a308d3ULL, z;
	__u8 *p = (__u8 *)s;
	size_t i;

	for (i = 0; i < sizeof(*s); i += 8) {
		z = x += 0x9e3779b97f4a7c15ULL;
		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
		z ^= z >> 31;
		memcpy(p + i, &z, 8);
	}
}

void fill_reset(struct fill *f)
{
	static const __u8 mac[6] = { 2, 0, 0, 0, 0, 0x53 };
	struct mr_conf *c = f->conf;
	__u32 i;

	memset(c, 0, sizeof(*c));
	memset(f->filter, 0, map_bytes(f->skel->maps.mr_filter));
	memset(f->bloom, 0, map_bytes(f->skel->maps.mr_bloom));
	memset(f->verdicts, 0, map_bytes(f->skel->maps.mr_verdicts));
	memset(f->ede, 0, map_bytes(f->skel->maps.mr_ede));
	memset(f->clients, 0, map_bytes(f->skel->maps.mr_clients));
	memset(f->buckets, 0, map_bytes(f->skel->maps.mr_buckets));
	memset(f->answers, 0, map_bytes(f->skel->maps.mr_answers));
	memset(f->why, 0, map_bytes(f->skel->maps.mr_why));
	fill_secret(f->secret);
	f->next_unit = MR_PAGE_UNITS;
	c->magic = MR_CONF_MAGIC;
	c->fingerprint = f->secret->fingerprint;
	c->enabled = 1;
	c->port = 53;
	c->filter_generation = 1;
	c->recursion = 1;
	c->latency_mask = ~0U;
	c->bucket_mask = f->size.answer_buckets - 1;
	c->iface[0].ifindex = 1;
	memcpy(c->iface[0].mac, mac, sizeof(mac));
	for (i = 0; i < MR_GROUPS_MAX; i++) {
		c->group[i].block.mode = MR_BLOCK_NULL;
		c->group[i].block.ttl = 10;
	}
	for (i = 0; i < MR_UNITS; i++) {
		c->unit[i].ede_base = i * MR_LISTS_MAX;
		c->unit[i].bucket_base = i * f->size.filter_buckets;
		c->unit[i].bucket_mask = f->size.filter_buckets - 1;
		c->unit[i].bloom_base = i * f->size.bloom_words;
		c->unit[i].bloom_mask = f->size.bloom_words - 1;
		c->unit[i].verdict_base = i * f->size.verdicts;
		c->unit[i].groups = GROUPS;
		c->unit[i].sets = f->size.verdicts / GROUPS;
		c->unit[i].fingerprint = f->secret->fingerprint;
	}
}

__u64 fill_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (__u64)t.tv_sec * 1000000000ULL + (__u64)t.tv_nsec;
}

size_t fill_wire(const char *text, __u8 *ret, size_t room)
{
	size_t len = 1, label = 0;
	unsigned int octet;

	if (!strcmp(text, "."))
		text++;
	for (; *text; text++) {
		if (len >= room)
			return 0;
		if (*text == '.') {
			ret[label] = (__u8)(len - label - 1);
			label = len++;
			continue;
		}
		octet = (unsigned char)*text;
		if (*text == '\\' && sscanf(text + 1, "%3u", &octet) == 1)
			text += 3;
		ret[len++] = (__u8)octet;
	}
	ret[label] = (__u8)(len - label - 1);
	if (ret[label]) {
		if (len >= room)
			return 0;
		ret[len++] = 0;
	}
	return len;
}

int fill_name(const struct fill *f, const char *text, struct mr_name *ret)
{
	size_t len;

	memset(ret, 0, sizeof(*ret));
	len = fill_wire(text, ret->text, MR_NAME_MAX);
	if (!len)
		return MR_NAME_MALFORMED;
	for (size_t i = 0; i < len; i += 8)
		mr_store64(ret->text + i, mr_lower8(mr_load64(ret->text + i)));
	ret->len = (__u16)len;
	return mr_name_hash(ret, f->secret);
}

/* An address as 16 octets, IPv4 mapped, and the bits to add to an IPv4 prefix length. */
static int fill_address(const char *text, __u8 *ret, unsigned int *ret_more)
{
	static const __u8 mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

	*ret_more = 0;
	if (inet_pton(AF_INET6, text, ret) == 1)
		return 0;
	*ret_more = 96;
	memcpy(ret, mapped, sizeof(mapped));
	return inet_pton(AF_INET, text, ret + 12) == 1 ? 0 : -1;
}

void fill_service(struct fill *f, const char *address)
{
	unsigned int more;
	__u8 addr[16];

	if (f->conf->services >= MR_SERVICES_MAX || fill_address(address, addr, &more))
		return;
	memcpy(f->conf->service[f->conf->services].addr, addr, sizeof(addr));
	f->conf->services++;
}

void fill_verdict(struct fill *f, __u32 group, __u32 set, enum mr_verdict_kind kind, __u16 list)
{
	const struct mr_unit *u = &f->conf->unit[f->conf->active & 1];
	__u32 cell = mr_verdict_cell(u, group, set);

	if (cell == ~0U)
		return;
	f->verdicts[cell].kind = kind;
	f->verdicts[cell].list = list;
}

int fill_rule(struct fill *f, const char *name, __u32 set, int subtree, enum fill_where where)
{
	struct mr_unit *u = &f->conf->unit[f->conf->active & 1];
	struct mr_filter_bucket *first, *second, *b;
	struct mr_name n;
	struct mr_hash h;
	__u64 entry;
	int i;

	if (fill_name(f, name, &n))
		return -1;
	h = n.hash[n.labels];
	entry = mr_entry(h, set, subtree);
	first = &f->filter[u->bucket_base + mr_bucket_first(h, u->bucket_mask)];
	second = &f->filter[u->bucket_base + mr_bucket_second(h, u->bucket_mask)];
	f->bloom[u->bloom_base + mr_bloom_word(h, u->bloom_mask)] |= mr_bloom_bits(h);
	u->depths |= 1U << n.labels;
	if (where == FILL_STASH) {
		if (u->stash_count >= MR_STASH_MAX)
			return -1;
		u->stash[u->stash_count].h1 = h.h1;
		u->stash[u->stash_count].entry = entry;
		u->stash_count++;
		return 0;
	}
	b = where == FILL_FIRST ? first : second;
	for (i = 0; i < MR_BUCKET_WAYS && mr_entry_set(b->way[i]); i++)
		;
	if (i == MR_BUCKET_WAYS)
		return -1;
	b->way[i] = entry | (b->way[i] & MR_ENTRY_OVERFLOW);
	if (where == FILL_SECOND)
		first->way[0] |= MR_ENTRY_OVERFLOW;
	return 0;
}

/* Keep the prefix lengths in use, longest first. */
static int fill_client_len(struct mr_conf *c, __u8 len)
{
	__u32 i, j;

	for (i = 0; i < c->client_lens; i++) {
		if (c->client_len[i] == len)
			return 0;
		if (c->client_len[i] < len)
			break;
	}
	if (c->client_lens >= MR_CLIENT_LENS)
		return -1;
	for (j = c->client_lens; j > i; j--)
		c->client_len[j] = c->client_len[j - 1];
	c->client_len[i] = len;
	c->client_lens++;
	return 0;
}

/* Put a row into the bucket of its tag. */
static int fill_client_row(struct fill *f, __u64 tag, __u8 len, struct mr_outcome outcome)
{
	struct mr_client_bucket *b = &f->clients[mr_client_bucket_of(tag)];
	int i;

	for (i = 0; i < MR_CLIENT_WAYS && b->way[i].tag; i++)
		;
	if (i == MR_CLIENT_WAYS)
		return -1;
	b->way[i].outcome = outcome;
	b->way[i].len = len;
	b->way[i].tag = tag;
	return 0;
}

int fill_mac(struct fill *f, const char *mac, struct mr_outcome outcome)
{
	__u64 word = 0;
	__u8 m[8] = { 0 };

	if (sscanf(mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", m, m + 1, m + 2, m + 3, m + 4, m + 5) != 6)
		return -1;
	word = mr_load64(m);
	f->conf->client_macs++;
	return fill_client_row(f, mr_client_tag(mr_prefix_mac(word), MR_CLIENT_MAC, f->secret), MR_CLIENT_MAC, outcome);
}

void fill_source(struct fill *f, __u32 list, const char *name)
{
	mr_ede_render(&f->ede[f->conf->unit[f->conf->active & 1].ede_base + list], name);
}

int fill_client(struct fill *f, const char *prefix, __u16 group, enum mr_access access)
{
	struct mr_outcome outcome = { .group = group, .access = access };
	unsigned int len, more;
	struct mr_prefix p;
	char text[64];
	__u8 addr[16];

	if (sscanf(prefix, "%63[^/]/%u", text, &len) != 2 || fill_address(text, addr, &more))
		return -1;
	len += more;
	p.hi = __builtin_bswap64(mr_load64(addr));
	p.lo = __builtin_bswap64(mr_load64(addr + 8));
	if (fill_client_len(f->conf, (__u8)len))
		return -1;
	return fill_client_row(f, mr_client_tag(mr_prefix_cut(p, len), len, f->secret), (__u8)len, outcome);
}

struct mr_answer *fill_slot(const struct fill *f, __u32 unit)
{
	return (struct mr_answer *)(f->answers + (size_t)unit * MR_UNIT_SIZE);
}

/* Write the records; returns the length of the body, 0 too when it does not fit. */
static size_t fill_body(struct mr_answer *a, const struct fill_rr *rr, __u8 *body)
{
	size_t len = 0;

	for (; rr && rr->type; rr++) {
		struct mr_rr_head_wire {
			__be16 owner, type, class;
			__be32 ttl;
			__be16 rdlen;
		} __attribute__((packed)) h = { htons(0xc00c), htons(rr->type), htons(1), htonl(rr->ttl),
						htons((__u16)rr->rdlen) };

		if (len + sizeof(h) + rr->rdlen > MR_BODY_MAX || a->ttls >= MR_TTLS_MAX)
			return 0;
		a->ttl_at[a->ttls++] = (__u16)(len + 6);
		memcpy(body + len, &h, sizeof(h));
		memcpy(body + len + sizeof(h), rr->rdata, rr->rdlen);
		len += sizeof(h) + rr->rdlen;
		if (rr->authority)
			a->authorities++;
		else
			a->answers++;
	}
	return len;
}

/* Units for an answer, all of one page. */
static __u32 fill_units(struct fill *f, __u32 units)
{
	__u32 unit = f->next_unit;

	if (unit % MR_PAGE_UNITS + units > MR_PAGE_UNITS)
		unit += MR_PAGE_UNITS - unit % MR_PAGE_UNITS;
	if (unit + units > f->size.pages * MR_PAGE_UNITS)
		return 0;
	f->next_unit = unit + units;
	return unit;
}

__u32 fill_answer(struct fill *f, const struct fill_answer *want)
{
	struct mr_answer head = { 0 }, *a;
	struct mr_answer_bucket *b;
	__u8 body[MR_BODY_MAX + 8] = { 0 };
	struct mr_name n;
	__u32 unit;
	__u64 place;
	int i;

	if (fill_name(f, want->name, &n))
		return 0;
	place = mr_answer_place(&n.hash[n.labels], want->qtype, want->key, f->secret);
	b = &f->buckets[(__u32)place & f->conf->bucket_mask];
	for (i = 0; i < MR_ANSWER_WAYS && b->way[i]; i++)
		;
	head.body_len = (__u16)fill_body(&head, want->rr, body);
	unit = fill_units(f, mr_answer_units(n.len, head.body_len));
	if (!unit || i == MR_ANSWER_WAYS)
		return 0;
	a = fill_slot(f, unit);
	head.born = fill_now() - (__u64)(want->age_ms * 1000000);
	head.expires = head.born + (__u64)((want->life_ms ? want->life_ms : 3600 * 1000) * 1000000);
	head.stale_until = head.expires + (__u64)(want->stale_ms * 1000000);
	head.generation_slot = want->generation_slot;
	head.generation = f->conf->generation[want->generation_slot % MR_GENERATIONS];
	head.filter_generation = f->conf->filter_generation;
	head.dns_flags = want->dns_flags;
	head.qtype = want->qtype;
	head.name_len = (__u8)n.len;
	head.key = want->key;
	head.flags = want->flags;
	head.refresh_ms = want->refresh_ms;
	memcpy(head.chain, want->chain, sizeof(head.chain));
	for (i = 0; i < MR_CHAIN_MAX && head.chain[i]; i++)
		head.chain_len++;
	head.body_sum = mr_body_sum(body, head.body_len);
	head.head_sum = mr_answer_sum(&head);
	head.stamp_first = head.stamp_last = ++f->stamp;
	memset((__u8 *)a + MR_ANSWER_NAME, 0, 8);
	memcpy((__u8 *)a + mr_answer_name(n.len), n.text, n.len);
	memcpy((__u8 *)a + mr_answer_body(n.len), body, (head.body_len + 7) & ~7U);
	*a = head;
	for (i = 0; b->way[i]; i++)
		;
	b->way[i] = (place >> 32 << 32) | unit;
	return unit;
}

/* Add up the values of all CPUs, taken as 64-bit words. */
static int fill_sum(const struct bpf_map *m, __u64 *ret, size_t bytes)
{
	size_t cpus = (size_t)libbpf_num_possible_cpus(), words = bytes / 8, c, i;
	__u64 *all = calloc(cpus, bytes);
	__u32 zero = 0;
	int err = 0;

	if (!all)
		return -ENOMEM;
	memset(ret, 0, bytes);
	if (bpf_map_lookup_elem(bpf_map__fd(m), &zero, all))
		err = -errno;
	for (c = 0; !err && c < cpus; c++)
		for (i = 0; i < words; i++)
			ret[i] += all[c * words + i];
	free(all);
	return err;
}

int fill_stats(const struct fill *f, struct mr_stats *ret)
{
	return fill_sum(f->skel->maps.mr_stats, (__u64 *)ret, sizeof(*ret));
}

int fill_latency(const struct fill *f, struct mr_latency *ret)
{
	return fill_sum(f->skel->maps.mr_latency, (__u64 *)ret, sizeof(*ret));
}
