/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_tables.c - the shipped program with its tables filled.
 *
 * Stands alone beside the daemon's own writers, so that the packet path can be
 * measured without them; layouts and hashes are those of maps/.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "base/clock.h"
#include "base/random.h"
#include "maps/answer.h"
#include "maps/filter.h"
#include "tools/mrbench.h"
#include "fastpath.skel.h"

#define SET_BLOCKED 1
#define LIFE_NS     (24 * 3600 * CLOCK_S)

struct bench_tables {
	struct fastpath_bpf *skel;
	struct mr_conf *conf;
	struct mr_secret *secret;
	struct mr_filter_bucket *filter;
	uint64_t *bloom;
	struct mr_verdict *verdicts;
	struct mr_answer_bucket *buckets;
	uint8_t *pages;
	uint32_t filter_buckets, bloom_words, answer_buckets, answer_pages;
	uint32_t unit;			/* the next free one */
	uint32_t *answer;		/* numbers of the names that have one */
	struct mr_hash *owner;		/* what stands in each way of the filter, while it is filled */
};

static uint32_t power_of_two(uint64_t at_least)
{
	uint32_t n = 1;

	while (n < at_least)
		n <<= 1;
	return n;
}

/* ---- filter ---- */

/* Put an entry into an empty way; returns the way, or -1 when all are taken. */
static int put_way(struct mr_filter_bucket *b, uint64_t entry)
{
	for (int i = 0; i < MR_BUCKET_WAYS; i++) {
		if (mr_entry_set(b->way[i]))
			continue;
		b->way[i] = entry | (b->way[i] & MR_ENTRY_OVERFLOW);
		return i;
	}
	return -1;
}

/* Put an entry into either of its buckets, and remember what stands there. */
static bool put_either(struct bench_tables *t, struct mr_hash h, uint64_t entry)
{
	struct mr_unit *u = &t->conf->unit[0];
	uint32_t first = mr_bucket_first(h, u->bucket_mask), at = first;
	int way = put_way(&t->filter[at], entry);

	if (way < 0) {
		at = mr_bucket_second(h, u->bucket_mask);
		way = put_way(&t->filter[at], entry);
		if (way < 0)
			return false;
		t->filter[first].way[0] |= MR_ENTRY_OVERFLOW;
	}
	t->owner[at * MR_BUCKET_WAYS + (unsigned)way] = h;
	return true;
}

/* Both buckets are full: send one that stands in its first bucket here to its second. */
static bool displace(struct bench_tables *t, struct mr_hash h, uint64_t entry)
{
	struct mr_unit *u = &t->conf->unit[0];
	uint32_t at = mr_bucket_first(h, u->bucket_mask);
	struct mr_filter_bucket *b = &t->filter[at];

	for (unsigned i = 0; i < MR_BUCKET_WAYS; i++) {
		struct mr_hash other = t->owner[at * MR_BUCKET_WAYS + i];
		uint32_t to = mr_bucket_second(other, u->bucket_mask);
		int way;

		if (mr_bucket_first(other, u->bucket_mask) != at)
			continue;
		way = put_way(&t->filter[to], b->way[i] & ~MR_ENTRY_OVERFLOW);
		if (way < 0)
			continue;
		t->owner[to * MR_BUCKET_WAYS + (unsigned)way] = other;
		t->owner[at * MR_BUCKET_WAYS + i] = h;
		b->way[i] = entry | (b->way[i] & MR_ENTRY_OVERFLOW);
		b->way[0] |= MR_ENTRY_OVERFLOW;
		return true;
	}
	return false;
}

static int put_blocked(struct bench_tables *t, const struct mr_name *n)
{
	struct mr_unit *u = &t->conf->unit[0];
	struct mr_hash h = n->hash[n->labels];
	uint64_t entry = mr_entry(h, SET_BLOCKED, true);

	if (!put_either(t, h, entry) && !displace(t, h, entry))
		return -ENOSPC;
	t->bloom[mr_bloom_word(h, u->bloom_mask)] |= mr_bloom_bits(h);
	u->depths |= 1U << n->labels;
	u->entries++;
	return 0;
}

static int hash_name(const struct bench_tables *t, const struct bench_name *from, struct mr_name *ret)
{
	memset(ret->text, 0, sizeof(ret->text));
	memcpy(ret->text, from->wire, from->len);
	ret->len = from->len;
	return mr_name_hash(ret, t->secret, 0) ? -EINVAL : 0;
}

static int fill_filter(struct bench_tables *t, const struct bench_sizes *s)
{
	struct mr_unit *u = &t->conf->unit[0];
	struct bench_name name;
	struct mr_name hashed;
	int err = 0;

	t->owner = calloc((size_t)t->filter_buckets * MR_BUCKET_WAYS, sizeof(*t->owner));
	if (!t->owner)
		return -ENOMEM;
	u->bucket_mask = t->filter_buckets - 1;
	u->bloom_mask = t->bloom_words - 1;
	u->sets = SET_BLOCKED + 1;
	u->groups = 1;
	u->fingerprint = t->secret->fingerprint;
	t->verdicts[SET_BLOCKED] = (struct mr_verdict){ .kind = MR_BLOCK };
	for (uint32_t i = 0; i < s->names + s->hot && !err; i++) {
		bench_name(i < s->names ? BENCH_BLOCKED : BENCH_LONG, i < s->names ? i : i - s->names, &name);
		err = hash_name(t, &name, &hashed);
		if (!err)
			err = put_blocked(t, &hashed);
	}
	free(t->owner);
	t->owner = NULL;
	return err;
}

/* ---- answers ---- */

/* The next free run of units within one page; NULL when the pages are full. */
static struct mr_answer *take_units(struct bench_tables *t, uint32_t units)
{
	uint32_t unit = t->unit;

	if (unit % MR_PAGE_UNITS + units > MR_PAGE_UNITS)
		unit += MR_PAGE_UNITS - unit % MR_PAGE_UNITS;
	if (unit + units > t->answer_pages * MR_PAGE_UNITS)
		return NULL;
	t->unit = unit + units;
	return (struct mr_answer *)(t->pages + (size_t)unit * MR_UNIT_SIZE);
}

static bool enter_bucket(struct bench_tables *t, uint64_t place, uint32_t unit)
{
	struct mr_answer_bucket *b = &t->buckets[(uint32_t)place & t->conf->bucket_mask];

	for (int i = 0; i < MR_ANSWER_WAYS; i++) {
		if (b->way[i])
			continue;
		b->way[i] = (place & ~0xffffffffULL) | unit;
		return true;
	}
	return false;
}

/* Put one answer; -ENOSPC when its bucket is full, where the daemon would evict another. */
static int put_answer(struct bench_tables *t, const struct mr_name *n, const uint8_t *body, uint16_t body_len,
		      unsigned rcode, uint16_t ttl_at, uint64_t now)
{
	struct mr_answer *a = take_units(t, mr_answer_units(n->len, body_len));
	uint64_t place = mr_answer_place(n->hash[n->labels], 1, 0, t->secret);

	if (!a)
		return -ENOMEM;
	if (!enter_bucket(t, place, (uint32_t)(((uint8_t *)a - t->pages) / MR_UNIT_SIZE)))
		return -ENOSPC;
	a->born = now;
	a->expires = a->stale_until = now + LIFE_NS;
	a->dns_flags = (uint16_t)(0x0080 | rcode);
	a->answers = rcode ? 0 : 1;
	a->authorities = rcode ? 1 : 0;
	a->body_len = body_len;
	a->qtype = 1;
	a->name_len = (uint8_t)n->len;
	a->flags = rcode ? MR_ANSWER_NEGATIVE : 0;
	a->ttls = 1;
	a->ttl_at[0] = ttl_at;
	memcpy((uint8_t *)a + MR_ANSWER_NAME, n->text, n->len);
	memcpy((uint8_t *)a + mr_answer_body(n->len), body, body_len);
	a->body_sum = mr_body_sum((uint8_t *)a + mr_answer_body(n->len), body_len);
	a->head_sum = mr_answer_sum(a);
	a->stamp_first = a->stamp_last = 1;
	return 0;
}

static int fill_answer(struct bench_tables *t, enum bench_space space, uint32_t number, uint64_t now)
{
	static const uint8_t record[] = { 0xc0, 12, 0, 1, 0, 1, 0, 1, 0x51, 0x80, 0, 4, 192, 0, 2, 1 };
	static const uint8_t soa[] = { 0, 0, 6, 0, 1, 0, 0, 0x0e, 0x10, 0, 22, 0, 0, 0, 0, 0, 1, 0, 0, 0x0e, 0x10,
				       0, 0, 2, 0x58, 0, 1, 0x51, 0x80, 0, 0, 0x0e, 0x10 };
	bool negative = space == BENCH_NEGATIVE;
	struct bench_name name;
	struct mr_name hashed;
	int err;

	bench_name(space, number, &name);
	err = hash_name(t, &name, &hashed);
	if (!err)
		err = put_answer(t, &hashed, negative ? soa : record, negative ? sizeof(soa) : sizeof(record),
				 negative ? 3 : 0, negative ? 5 : 6, now);
	return err;
}

static int fill_answers(struct bench_tables *t, const struct bench_sizes *s)
{
	uint64_t now = clock_coarse_ns();
	int err = 0;

	t->unit = MR_PAGE_UNITS;
	t->answer = malloc(sizeof(*t->answer) * (s->answers + 1));
	if (!t->answer)
		return -ENOMEM;
	for (uint32_t i = 0, n = 0; n < s->hot && !err; i++) {
		err = fill_answer(t, BENCH_NEGATIVE, i, now);
		n += !err;
		err = err == -ENOSPC ? 0 : err;
	}
	for (uint32_t i = 0, n = 0; n < s->answers && !err; i++) {
		err = fill_answer(t, BENCH_CACHED, i, now);
		if (!err)
			t->answer[n++] = i;
		err = err == -ENOSPC ? 0 : err;
	}
	return err;
}

/* ---- whole ---- */

static void configure(struct bench_tables *t, unsigned ifindex, const uint8_t mac[6])
{
	struct mr_conf *c = t->conf;

	c->magic = MR_CONF_MAGIC;
	c->fingerprint = t->secret->fingerprint;
	c->enabled = 1;
	c->heartbeat = clock_coarse_ns();
	c->port = 53;
	c->services = 2;
	c->service[0].addr[2] = __builtin_bswap32(0xffff);
	memcpy(&c->service[0].addr[3], bench_server_ip, 4);
	memcpy(c->service[1].addr, bench_server_ip6, 16);
	c->iface[0].ifindex = ifindex;
	memcpy(c->iface[0].mac, mac, 6);
	c->recursion = 1;
	c->latency_mask = 1023;
	c->bucket_mask = t->answer_buckets - 1;
	c->block.mode = MR_BLOCK_NULL;
	c->block.ttl = 10;
}

static int map_all(struct bench_tables *t)
{
	const struct {
		struct bpf_map *map;
		void **at;
		size_t bytes;
	} row[] = {
		{ t->skel->maps.mr_conf, (void **)&t->conf, sizeof(*t->conf) },
		{ t->skel->maps.mr_secret, (void **)&t->secret, sizeof(*t->secret) },
		{ t->skel->maps.mr_filter, (void **)&t->filter, sizeof(*t->filter) * t->filter_buckets },
		{ t->skel->maps.mr_bloom, (void **)&t->bloom, sizeof(*t->bloom) * t->bloom_words },
		{ t->skel->maps.mr_verdicts, (void **)&t->verdicts, sizeof(*t->verdicts) * 2 },
		{ t->skel->maps.mr_buckets, (void **)&t->buckets, sizeof(*t->buckets) * t->answer_buckets },
		{ t->skel->maps.mr_answers, (void **)&t->pages, (size_t)MR_PAGE_SIZE * t->answer_pages },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		*row[i].at = bench_map(bpf_map__fd(row[i].map), row[i].bytes);
		if (!*row[i].at)
			return -errno;
	}
	return 0;
}

/* Sizes as the daemon would choose them: filter buckets half full, Bloom words of eight names, two ways an answer. */
static int load(struct bench_tables *t, const struct bench_sizes *s)
{
	uint32_t names = s->names + s->hot, answers = s->answers + s->hot;
	int err = 0;

	t->filter_buckets = power_of_two((uint64_t)names * 100 / 50 / MR_BUCKET_WAYS);
	t->bloom_words = power_of_two(names / 8);
	t->answer_buckets = power_of_two((uint64_t)answers * 2 / MR_ANSWER_WAYS);
	t->answer_pages = answers / (MR_PAGE_UNITS / 2) * 17 / 16 + 4;
	t->skel = fastpath_bpf__open();
	if (!t->skel)
		return -errno;
	err = err ? err : bpf_map__set_max_entries(t->skel->maps.mr_filter, 2 * t->filter_buckets);
	err = err ? err : bpf_map__set_max_entries(t->skel->maps.mr_bloom, 2 * t->bloom_words);
	err = err ? err : bpf_map__set_max_entries(t->skel->maps.mr_verdicts, 4);
	err = err ? err : bpf_map__set_max_entries(t->skel->maps.mr_buckets, t->answer_buckets);
	err = err ? err : bpf_map__set_max_entries(t->skel->maps.mr_answers, t->answer_pages);
	err = err ? err : bpf_map__set_max_entries(t->skel->maps.mr_events, (uint32_t)libbpf_num_possible_cpus());
	err = err ? err : bpf_program__set_autoload(t->skel->progs.fastpath_why, false);
	return err ? err : fastpath_bpf__load(t->skel);
}

int bench_tables_new(const struct bench_sizes *sizes, unsigned ifindex, const uint8_t mac[6],
		     struct bench_tables **ret, struct err_at *reterr)
{
	struct bench_tables *t = calloc(1, sizeof(*t));
	int err = -ENOMEM;

	if (!t)
		goto out;
	err = load(t, sizes);
	if (err) {
		err_why(reterr, err, "the packet program does not load: %s", strerror(-err));
		goto out;
	}
	err = map_all(t);
	if (err) {
		err_why(reterr, err, "a map cannot be mapped: %s", strerror(-err));
		goto out;
	}
	random_fill(t->secret, sizeof(*t->secret));
	configure(t, ifindex, mac);
	err = fill_filter(t, sizes);
	if (!err)
		err = fill_answers(t, sizes);
	if (err) {
		err_why(reterr, err, "the tables cannot be filled: %s", strerror(-err));
		goto out;
	}
	*ret = t;
	t = NULL;
out:
	bench_tables_free(t);
	return err;
}

void bench_tables_free(struct bench_tables *t)
{
	if (!t)
		return;
	/* The mappings go with the process; a skeleton holds the rest. */
	fastpath_bpf__destroy(t->skel);
	free(t->answer);
	free(t);
}

int bench_tables_program(const struct bench_tables *t)
{
	return bpf_program__fd(t->skel->progs.fastpath);
}

uint32_t bench_tables_answer(const struct bench_tables *t, uint32_t i)
{
	return t->answer[i];
}

uint64_t bench_tables_filter_bytes(const struct bench_tables *t)
{
	return sizeof(*t->filter) * (uint64_t)t->filter_buckets;
}

uint64_t bench_tables_answer_bytes(const struct bench_tables *t)
{
	return (uint64_t)MR_PAGE_SIZE * t->answer_pages;
}

uint32_t bench_tables_insns(const struct bench_tables *t)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(bench_tables_program(t), &info, &len) ? 0 : info.verified_insns;
}

int bench_tables_stats(const struct bench_tables *t, struct mr_stats *ret)
{
	int cpus = libbpf_num_possible_cpus(), err = 0;
	struct mr_stats *all;
	uint32_t zero = 0;

	if (cpus < 0)
		return cpus;
	all = calloc((size_t)cpus, sizeof(*all));
	if (!all)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(t->skel->maps.mr_stats), &zero, all)) {
		err = -errno;
		goto out;
	}
	memset(ret, 0, sizeof(*ret));
	for (int cpu = 0; cpu < cpus; cpu++)
		for (int i = 0; i < MR_STATS_COUNT; i++)
			ret->count[i] += all[cpu].count[i];
out:
	free(all);
	return err;
}
