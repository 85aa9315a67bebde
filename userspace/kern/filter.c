/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.c - the filter and the clients, written where no packet looks.
 *
 * A filter is copied into the unit that is not in force, then one word flips.
 * filter_generation is raised just before the flip, under the lock of the
 * answers: a packet that sees the new unit then also sees the new generation,
 * under which no answer with set numbers of the old unit is alive.  A packet
 * that began under the old unit may still read the new generation, so answers
 * of this are not put into the table until the last such packet is done; those
 * who wait for that meanwhile hand the filter to user space (docs/adr/0013).
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "kern/room.h"

#define BUCKETS_MAX (1U << 26)		/* 4 GiB a unit */
#define CELLS_MAX   (1U << 24)

/* An update of a map of maps returns only after all programs that were running have ended. */
void kern_grace(struct kern *k)
{
	uint32_t slot = 0;

	bpf_map_update_elem(k->t.fd[MAP_mr_events], &slot, &k->ring_fd[0], BPF_ANY);
}

static void fence(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

uint32_t kern_pause(struct kern *k)
{
	struct mr_conf *c = kern_conf(k);
	uint32_t enabled = c->enabled;

	MR_WRITE(c->enabled, 0);
	if (enabled)
		kern_grace(k);
	return enabled;
}

void kern_resume(struct kern *k, uint32_t enabled)
{
	fence();
	MR_WRITE(kern_conf(k)->enabled, enabled);
}

void kern_release(struct kern *k)
{
	if (k->held)
		kern_resume(k, k->held);
	k->held = 0;
}

/* ---- where user space finds a filter ---- */

void kern_view_set(struct kern *k, const struct mr_unit *u, const struct filter_view *v)
{
	struct mr_unit *own = &k->view_unit[k->view_turn = !k->view_turn];

	*own = *u;
	own->bucket_base = own->bloom_base = own->verdict_base = own->ede_base = 0;
	k->view = *v;
	k->view.unit = own;
	k->view.group = k->group;
}

static void view_active(struct kern *k)
{
	const struct mr_conf *c = kern_conf(k);
	const struct mr_unit *u = &c->unit[c->active];

	kern_view_set(k, u, &(struct filter_view){
		.buckets = (const struct mr_filter_bucket *)kern_mem(k, MAP_mr_filter) + u->bucket_base,
		.bloom = (const uint64_t *)kern_mem(k, MAP_mr_bloom) + u->bloom_base,
		.verdicts = (const struct mr_verdict *)kern_mem(k, MAP_mr_verdicts) + u->verdict_base,
		.ede = (const struct mr_ede *)kern_mem(k, MAP_mr_ede) + u->ede_base,
		.generation = c->filter_generation,
	});
}

bool kern_filter_view(struct kern *k, struct filter_view *ret)
{
	const struct mr_conf *c = k->on ? kern_conf(k) : NULL;

	if (!c || c->unit[c->active].fingerprint != k->secret.fingerprint)
		return false;
	if (!k->view.unit)
		view_active(k);
	*ret = k->view;
	return true;
}

/* ---- a filter on its way in ---- */

struct source {
	const struct mr_unit *unit;
	const struct mr_filter_bucket *buckets;
	const uint64_t *bloom;
	const struct mr_verdict *verdicts;
	unsigned groups;
	const struct kern_sizes *sizes;
	const struct mr_ede *ede;	/* the names of all sources */
	uint32_t ede_base;		/* where they go: where those of the filter in force are not */
	unsigned how;			/* KERN_FORGET, KERN_HOLD */
};

/* Copy a filter into a unit of the maps; header last. */
static void fill_unit(struct kern_tables *t, struct mr_conf *c, const struct source *s, unsigned unit)
{
	const struct kern_sizes *z = s->sizes;
	struct mr_unit u = *s->unit;
	const mr_word *from = (const mr_word *)s->verdicts;
	mr_word *cell = (mr_word *)t->map[MAP_mr_verdicts].mem + unit * z->verdicts;
	size_t i;

	u.bucket_base = unit * z->filter;
	u.bloom_base = unit * z->bloom;
	u.verdict_base = unit * z->verdicts;
	u.ede_base = s->ede_base;
	u.groups = s->groups;
	memcpy((struct mr_ede *)t->map[MAP_mr_ede].mem + u.ede_base, s->ede, MR_LISTS_MAX * sizeof(*s->ede));
	memcpy((struct mr_filter_bucket *)t->map[MAP_mr_filter].mem + u.bucket_base, s->buckets,
	       (u.bucket_mask + 1ULL) * sizeof(*s->buckets));
	memcpy((uint64_t *)t->map[MAP_mr_bloom].mem + u.bloom_base, s->bloom,
	       (u.bloom_mask + 1ULL) * sizeof(*s->bloom));
	/* Last, and word by word: a schedule may change them until now. */
	for (i = 0; i < (size_t)u.sets * u.groups; i++)
		MR_WRITE(cell[i], MR_READ(from[i]));
	fence();
	c->unit[unit] = u;
	fence();
}

/* ---- growth ---- */

static void keep_filter_maps(struct kern *k)
{
	static const enum kern_map maps[] = { MAP_mr_filter, MAP_mr_bloom, MAP_mr_verdicts };
	unsigned i;

	for (i = 0; i < 3; i++) {
		kern_unmap(&k->old_filter[i]);
		k->old_filter[i] = k->t.map[maps[i]];
		k->t.map[maps[i]] = (struct kern_mapping){ 0 };
	}
}

/* The maps that change when the filter grows; all others are handed on. */
static bool is_replaced(int m)
{
	return m == MAP_mr_conf || m == MAP_mr_filter || m == MAP_mr_bloom || m == MAP_mr_verdicts;
}

/* Under the lock: swap the tables for bigger ones that run already; mappings that others use stay where they are. */
static void adopt(struct kern *k, struct kern_tables *t, const struct kern_sizes *z)
{
	int m;

	atomic_store_explicit(&k->conf, (struct mr_conf *)t->map[MAP_mr_conf].mem, memory_order_release);
	k->answers.m.conf = t->map[MAP_mr_conf].mem;
	k->answers.m.filter = t->map[MAP_mr_filter].mem;
	k->answers.m.bloom = t->map[MAP_mr_bloom].mem;
	k->old_conf[k->old_confs++] = k->t.map[MAP_mr_conf];
	k->t.map[MAP_mr_conf] = (struct kern_mapping){ 0 };
	keep_filter_maps(k);
	for (m = 0; m < KERN_MAP_COUNT; m++) {
		struct kern_mapping fresh = t->map[m];

		if (is_replaced(m))
			continue;
		t->map[m] = k->t.map[m];
		k->t.map[m] = fresh;
	}
	kern_unload(&k->t);
	k->t = *t;
	k->sizes = *z;
}

/**
 * Load bigger maps with that filter in unit 0, let the links run the program
 * that uses them, and replace the pins.
 */
static int grow(struct kern *k, const struct source *s, struct err_at *reterr)
{
	int reuse[KERN_MAP_COUNT], m, err;
	struct kern_tables t = { 0 };
	struct mr_conf *c;

	if (k->old_confs == sizeof(k->old_conf) / sizeof(k->old_conf[0]))
		return err_why(reterr, -ENOSPC, "the filter has grown too often for one run: restart the daemon");
	for (m = 0; m < KERN_MAP_COUNT; m++)
		reuse[m] = is_replaced(m) ? -1 : k->t.fd[m];
	err = kern_load(s->sizes, reuse, &t, reterr);
	if (err)
		return err;
	c = t.map[MAP_mr_conf].mem;
	if (s->how & KERN_HOLD)
		k->held = kern_pause(k);
	pthread_mutex_lock(&k->answers.lock);
	memcpy(c, kern_conf(k), sizeof(*c));
	memset(c->unit, 0, sizeof(c->unit));
	c->active = 0;
	c->filter_generation++;
	if (s->how & KERN_FORGET)
		c->generation[0]++;
	fill_unit(&t, c, s, 0);
	err = kern_links_update(k, t.prog_fd, reterr);
	if (err) {
		kern_links_update(k, k->t.prog_fd, NULL);
		kern_unload(&t);
		kern_release(k);
	} else {
		adopt(k, &t, s->sizes);
		k->answers.closed = true;
		k->unpinned = true;
	}
	pthread_mutex_unlock(&k->answers.lock);
	return err;
}

/* ---- publishing ---- */

static int check_filter(const struct kern *k, const struct source *s, struct err_at *reterr)
{
	const struct mr_unit *u = s->unit;

	if (u->fingerprint != k->secret.fingerprint)
		return err_why(reterr, -ESTALE, "the filter was compiled with another secret: compile it anew");
	if ((u->bucket_mask & (u->bucket_mask + 1)) || (u->bloom_mask & (u->bloom_mask + 1)) ||
	    u->stash_count > MR_STASH_MAX || !u->sets || u->sets > MR_SETS_MAX || !s->groups ||
	    s->groups > MR_GROUPS_MAX)
		return err_why(reterr, -EINVAL, "the filter's header is impossible");
	if (u->bucket_mask >= BUCKETS_MAX || u->bloom_mask >= BUCKETS_MAX || (uint64_t)u->sets * s->groups > CELLS_MAX)
		return err_why(reterr, -E2BIG, "the tables cannot take a filter of %llu names, %u sets and %u groups",
			       (unsigned long long)u->entries, u->sets, s->groups);
	return 0;
}

/* Elements that a unit must have for this filter; never fewer than now. */
static bool needs_growth(const struct kern *k, const struct source *s, struct kern_sizes *ret)
{
	uint64_t cells = (uint64_t)s->unit->sets * s->groups;

	*ret = k->sizes;
	if (s->unit->bucket_mask >= ret->filter)
		ret->filter = s->unit->bucket_mask + 1;
	if (s->unit->bloom_mask >= ret->bloom)
		ret->bloom = s->unit->bloom_mask + 1;
	while (ret->verdicts < cells)
		ret->verdicts *= 2;
	return memcmp(ret, &k->sizes, sizeof(*ret));
}

static void flip(struct kern *k, unsigned unit, unsigned how)
{
	struct mr_conf *c = kern_conf(k);

	if (how & KERN_HOLD)
		k->held = kern_pause(k);
	pthread_mutex_lock(&k->answers.lock);
	/* Until the last packet under the old unit is done, no answer is published under the new generation. */
	k->answers.closed = true;
	if (how & KERN_FORGET)
		MR_WRITE(c->generation[0], c->generation[0] + 1);
	MR_WRITE(c->filter_generation, c->filter_generation + 1);
	fence();
	MR_WRITE(c->active, unit);
	fence();
	pthread_mutex_unlock(&k->answers.lock);
}

void kern_filter_settle(struct kern *k)
{
	struct err_at ignored;

	if (!k->answers.closed)
		return;
	kern_grace(k);
	pthread_mutex_lock(&k->answers.lock);
	k->answers.closed = false;
	pthread_mutex_unlock(&k->answers.lock);
	/* The filter is in force, so a failure here is only said. */
	if (k->unpinned)
		kern_pins_renew(k, &ignored);
	k->unpinned = false;
}

int kern_filter_swap(struct kern *k, const struct filter *f, const struct mr_verdict *verdicts, unsigned groups,
		     unsigned how, struct filter_view *ret, bool *ret_mapped, struct err_at *reterr)
{
	struct kern_sizes z;
	struct source s = {
		.unit = filter_unit(f), .buckets = filter_buckets(f), .bloom = filter_bloom(f), .verdicts = verdicts,
		.groups = groups, .sizes = &z, .ede = k->ede_next, .how = how,
	};
	unsigned unit, i;
	int err = check_filter(k, &s, reterr);

	if (err)
		return err;
	kern_filter_settle(k);
	for (i = 0; i < 3; i++)		/* the caller says that nobody reads them any more */
		kern_unmap(&k->old_filter[i]);
	if (k->on && !kern_conf(k)->unit[kern_conf(k)->active].ede_base)
		s.ede_base = MR_LISTS_MAX;
	if (!k->on) {
		kern_off_filter(k, f, verdicts, groups);
	} else if (needs_growth(k, &s, &z)) {
		err = grow(k, &s, reterr);
	} else {
		unit = !kern_conf(k)->active;
		fill_unit(&k->t, kern_conf(k), &s, unit);
		flip(k, unit, how);
	}
	if (err)
		return err;
	if (k->on)
		view_active(k);
	*ret = k->view;
	*ret_mapped = k->on;
	return 0;
}

int kern_filter_publish(struct kern *k, const struct filter *f, const struct mr_verdict *verdicts, unsigned groups,
			struct filter_view *ret, bool *ret_mapped, struct err_at *reterr)
{
	int err = kern_filter_swap(k, f, verdicts, groups, 0, ret, ret_mapped, reterr);

	if (!err)
		kern_filter_settle(k);
	return err;
}

/* ---- clients ---- */

bool kern_clients_differ(struct kern *k, const struct clients *cl)
{
	const struct mr_conf *c = k->on ? kern_conf(k) : NULL;

	return c && (c->client_lens != cl->lens || c->client_macs != cl->macs ||
		     memcmp(c->client_len, cl->len, cl->lens) ||
		     memcmp(&c->client_default, &cl->fallback, sizeof(cl->fallback)) ||
		     memcmp(kern_mem(k, MAP_mr_clients), cl->bucket, sizeof(cl->bucket)));
}

void kern_clients_publish(struct kern *k, const struct clients *cl)
{
	struct mr_conf *c;
	uint32_t enabled;

	/* Mostly nothing has changed: then nothing pauses, at a take-over above all. */
	if (!kern_clients_differ(k, cl))
		return;
	c = kern_conf(k);
	enabled = kern_pause(k);
	memcpy(kern_mem(k, MAP_mr_clients), cl->bucket, sizeof(cl->bucket));
	memset(c->client_len, 0, sizeof(c->client_len));
	memcpy(c->client_len, cl->len, cl->lens);
	MR_WRITE(c->client_lens, cl->lens);
	MR_WRITE(c->client_macs, cl->macs);
	c->client_default = cl->fallback;
	MR_WRITE(c->client_generation, c->client_generation + 1 ? c->client_generation + 1 : 1);
	kern_resume(k, enabled);
}
