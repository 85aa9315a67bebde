/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load.c - sizes the maps, loads the program, maps the tables into memory.
 *
 * The one file that knows the skeleton.
 */
#define LOG_ROOM "kern"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/log.h"
#include "fastpath.skel.h"
#include "kern/room.h"
#include "maps/block.h"

#define LAYOUT_VERSION   1		/* raised when the meaning of a map changes and its layout does not */
#define FILTER_BUCKETS_MIN (1U << 12)
#define BLOOM_WORDS_MIN  1024
#define VERDICT_CELLS    65536
#define BUCKETS_MIN      64
#define PAGES_MIN        4
#define ANSWERS_MAX      (1U << 24)

const char *const kern_map_names[KERN_MAP_COUNT] = {
#define ROW(name, mapped) #name,
	KERN_MAPS(ROW)
#undef ROW
};

static const bool is_mapped[KERN_MAP_COUNT] = {
#define ROW(name, mapped) mapped,
	KERN_MAPS(ROW)
#undef ROW
};

/* ---- what libbpf says ---- */

static char last_warning[160];

static int hear(enum libbpf_print_level level, const char *fmt, va_list args)
{
	char line[512];

	vsnprintf(line, sizeof(line), fmt, args);
	line[strcspn(line, "\n")] = 0;
	if (level == LIBBPF_WARN)
		snprintf(last_warning, sizeof(last_warning), "%.*s", (int)sizeof(last_warning) - 1, line);
	if (level != LIBBPF_DEBUG)
		log_debug("%s", line);
	return 0;
}

void kern_libbpf_quiet(void)
{
	libbpf_set_print(hear);
}

const char *kern_libbpf_said(void)
{
	return last_warning;
}

void kern_libbpf_forget(void)
{
	last_warning[0] = 0;
}

/* ---- sizes ---- */

static uint32_t pow2_at_least(uint64_t n, uint32_t least)
{
	uint64_t p = least;

	while (p < n && p < 1ULL << 30)
		p *= 2;
	return p;
}

/*
 * A usual answer takes two units, so twice as many units as answers.  Buckets
 * hold eight: answers / 4 of them, rounded up to a power of two, are at most
 * half full, so that a full bucket is rare.  The filter's buckets are at most
 * half full too; its Bloom words have eight bits a name.
 */
struct kern_sizes kern_sizes_for(const struct kern_opts *o)
{
	uint32_t answers = o->answers < ANSWERS_MAX ? o->answers : ANSWERS_MAX;
	uint32_t pages = ((uint64_t)answers * 2 + 1 + MR_PAGE_UNITS - 1) / MR_PAGE_UNITS;
	int cpus = libbpf_num_possible_cpus();

	return (struct kern_sizes){
		.filter = pow2_at_least((o->filter_entries + 3) / 4, FILTER_BUCKETS_MIN),
		.bloom = pow2_at_least((o->filter_entries + 7) / 8, BLOOM_WORDS_MIN),
		.verdicts = VERDICT_CELLS,
		.buckets = pow2_at_least(answers / 4, BUCKETS_MIN),
		.pages = pages > PAGES_MIN ? pages : PAGES_MIN,
		.cpus = cpus > 0 ? cpus : 1,
		.ring_bytes = pow2_at_least(o->ring_bytes ? o->ring_bytes : KERN_RING_BYTES, sysconf(_SC_PAGESIZE)),
	};
}

/* ---- the skeleton ---- */

static void list_maps(struct fastpath_bpf *s, struct bpf_map *ret[KERN_MAP_COUNT])
{
#define ROW(name, mapped) ret[MAP_##name] = s->maps.name;
	KERN_MAPS(ROW)
#undef ROW
}

static int set_sizes(struct bpf_map *maps[KERN_MAP_COUNT], const struct kern_sizes *z)
{
	const struct {
		enum kern_map map;
		uint32_t entries;
	} rows[] = {
		{ MAP_mr_filter,   z->filter * MR_UNITS },
		{ MAP_mr_bloom,    z->bloom * MR_UNITS },
		{ MAP_mr_verdicts, z->verdicts * MR_UNITS },
		{ MAP_mr_buckets,  z->buckets },
		{ MAP_mr_answers,  z->pages },
		{ MAP_mr_events,   z->cpus },
	};
	unsigned i;
	int err = 0;

	/* Rings get their size where they are made; the one in the program is but a pattern. */
	for (i = 0; !err && i < sizeof(rows) / sizeof(rows[0]); i++)
		err = bpf_map__set_max_entries(maps[rows[i].map], rows[i].entries);
	return err;
}

static int reuse_maps(struct bpf_map *maps[KERN_MAP_COUNT], const int reuse[KERN_MAP_COUNT])
{
	int err = 0, m;

	for (m = 0; !err && m < KERN_MAP_COUNT; m++)
		if (reuse[m] >= 0)
			err = bpf_map__reuse_fd(maps[m], reuse[m]);
	return err;
}

int kern_map_memory(struct kern_tables *t, enum kern_map m)
{
	size_t page = sysconf(_SC_PAGESIZE), size = (size_t)t->entries[m] * t->value_size[m];
	void *mem;

	size = (size + page - 1) / page * page;
	mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, t->fd[m], 0);
	if (mem == MAP_FAILED)
		return -errno;
	t->map[m] = (struct kern_mapping){ mem, size };
	return 0;
}

void kern_unmap(struct kern_mapping *m)
{
	if (m->mem)
		munmap(m->mem, m->size);
	*m = (struct kern_mapping){ 0 };
}

static int note_maps(struct kern_tables *t, struct bpf_map *maps[KERN_MAP_COUNT])
{
	int err = 0, m;

	for (m = 0; !err && m < KERN_MAP_COUNT; m++) {
		t->fd[m] = bpf_map__fd(maps[m]);
		t->entries[m] = bpf_map__max_entries(maps[m]);
		t->value_size[m] = bpf_map__value_size(maps[m]);
		if (is_mapped[m])
			err = kern_map_memory(t, m);
	}
	t->prog_fd = bpf_program__fd(t->skel->progs.fastpath);
	t->why_fd = bpf_program__fd(t->skel->progs.fastpath_why);
	return err;
}

static int why_not_loaded(int err, struct err_at *reterr)
{
	const char *said = kern_libbpf_said();

	if (err == -EPERM || err == -EACCES)
		return err_why(reterr, err, "the program was refused: %s (capabilities, lockdown or memory limits?) %s",
			       strerror(-err), said);
	if (err == -ENOMEM)
		return err_why(reterr, err, "there is no memory for the tables: lower fastpath.answers, or raise "
			       "MemoryMax");
	return err_why(reterr, err, "the program cannot be loaded: %s. %s", strerror(-err), said);
}

int kern_load(const struct kern_sizes *sizes, const int reuse[KERN_MAP_COUNT], struct kern_tables *ret,
	      struct err_at *reterr)
{
	struct bpf_map *maps[KERN_MAP_COUNT];
	struct kern_tables t = { 0 };
	int err;

	kern_libbpf_forget();
	t.skel = fastpath_bpf__open();
	if (!t.skel) {
		err = why_not_loaded(-errno, reterr);
		goto out;
	}
	list_maps(t.skel, maps);
	err = set_sizes(maps, sizes);
	if (!err)
		err = reuse_maps(maps, reuse);
	if (!err)
		err = fastpath_bpf__load(t.skel);
	if (!err)
		err = note_maps(&t, maps);
	if (err) {
		err = why_not_loaded(err, reterr);
		goto out;
	}
	*ret = t;
	t = (struct kern_tables){ 0 };
out:
	kern_unload(&t);
	return err;
}

void kern_unload(struct kern_tables *t)
{
	int m;

	for (m = 0; m < KERN_MAP_COUNT; m++)
		kern_unmap(&t->map[m]);
	fastpath_bpf__destroy(t->skel);
	*t = (struct kern_tables){ 0 };
}

/* ---- the layout ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
	unsigned i;

	for (i = 0; i < 8; i++, v >>= 8)	/* FNV-1a */
		h = (h ^ (v & 0xff)) * 0x100000001b3ULL;
	return h;
}

static uint64_t mix_treaty(uint64_t h)
{
	const uint64_t words[] = {
		LAYOUT_VERSION, sizeof(struct mr_conf), sizeof(struct mr_secret), sizeof(struct mr_unit),
		sizeof(struct mr_filter_bucket), sizeof(struct mr_verdict), sizeof(struct mr_answer),
		sizeof(struct mr_answer_bucket), sizeof(struct mr_client_bucket), sizeof(struct mr_event),
		sizeof(struct mr_stats), sizeof(struct mr_latency), sizeof(struct mr_why), sizeof(struct mr_service),
		sizeof(struct mr_iface), sizeof(struct mr_group), sizeof(struct mr_ede), MR_GROUPS_MAX,
		MR_STAT_packets, MR_STATS_COUNT, MR_LABELS_MAX,
		MR_UNIT_SIZE, MR_TTLS_MAX, MR_CHAIN_MAX, MR_SETS_MAX, MR_VERDICTS, MR_SOURCES, MR_LATENCY_BUCKETS,
		offsetof(struct mr_conf, unit), offsetof(struct mr_conf, service), offsetof(struct mr_conf, generation),
		offsetof(struct mr_conf, group), offsetof(struct mr_answer, ttl_at), offsetof(struct mr_answer, chain),
	};
	unsigned i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		h = mix(h, words[i]);
	return h;
}

int kern_layout(struct kern_kind ret_kinds[KERN_MAP_COUNT], uint64_t *ret_hash, struct err_at *reterr)
{
	struct fastpath_bpf *s = fastpath_bpf__open();
	struct bpf_map *maps[KERN_MAP_COUNT];
	uint64_t h = mix_treaty(0xcbf29ce484222325ULL);
	int m;

	if (!s)
		return why_not_loaded(-errno, reterr);
	list_maps(s, maps);
	for (m = 0; m < KERN_MAP_COUNT; m++) {
		ret_kinds[m] = (struct kern_kind){ bpf_map__type(maps[m]), bpf_map__key_size(maps[m]),
						   bpf_map__value_size(maps[m]), bpf_map__map_flags(maps[m]) };
		h = mix(h, (uint64_t)ret_kinds[m].type << 32 | ret_kinds[m].flags);
		h = mix(h, (uint64_t)ret_kinds[m].key_size << 32 | ret_kinds[m].value_size);
	}
	fastpath_bpf__destroy(s);
	*ret_hash = h;
	return 0;
}
