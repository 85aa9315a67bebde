/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kern.c - opening and closing the door, and what is one store or one line.
 *
 * Order at start: probe, lock, load (with the pins' maps if they are sound),
 * fill, attach, pin, and only then remove what earlier layouts left: a packet
 * always meets a whole program.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "kern/room.h"

/* ---- opening ---- */

static int copy_opts(struct kern *k, const struct kern_opts *o)
{
	struct addr *listen = calloc(o->listens + 1, sizeof(*listen));
	unsigned i;

	k->opts = *o;
	k->opts.pin_root = strdup(o->pin_root);
	k->opts.listen = listen;
	if (!listen || !k->opts.pin_root)
		return -ENOMEM;
	if (o->listens)
		memcpy(listen, o->listen, o->listens * sizeof(*listen));
	k->ifaces = o->interface_count < MR_IFACES_MAX ? o->interface_count : MR_IFACES_MAX;
	for (i = 0; i < k->ifaces; i++) {
		snprintf(k->iface[i].name, IF_NAMESIZE, "%s", o->interfaces[i]);
		k->iface[i].link_fd = -1;
		k->iface[i].mode = KERN_OFF;
	}
	return 0;
}

/*
 * With the fast path switched off, an earlier run's program must not go on
 * answering.  Pins that a living daemon holds are no leftovers: they are its own.
 */
static void remove_leftovers(struct kern *k)
{
	struct err_at ignored = { 0 };

	if (access(k->opts.pin_root, F_OK) || !kern_is_bpffs(k->opts.pin_root))
		return;
	if (kern_lock(k->opts.pin_root, &k->root_fd, &ignored))
		return;
	kern_pins_remove(k->root_fd, 0, true);
	rmdir(k->opts.pin_root);
	close(k->root_fd);
	k->root_fd = -1;
}

static uint32_t latency_mask(uint32_t sample)
{
	uint32_t n = KERN_LATENCY_SAMPLE;

	while (n < sample && n < 1U << 30)
		n *= 2;
	return n - 1;
}

/* What is chosen anew at each start, whether or not the maps are. */
static void fill_conf(struct kern *k)
{
	struct mr_conf *c = kern_conf(k);

	if (!k->taken_over) {
		memcpy(kern_mem(k, MAP_mr_secret), &k->secret, sizeof(k->secret));
		c->layout = k->layout;
		c->fingerprint = k->secret.fingerprint;
		c->bucket_mask = k->sizes.buckets - 1;
		c->filter_generation = 1;
		c->magic = MR_CONF_MAGIC;
	}
	kern_groups_take(k);
	c->events = 0;
	MR_WRITE(c->upstreams_down, 0);
	MR_WRITE(c->latency_mask, latency_mask(k->opts.latency_sample));
	kern_configure(k, k->opts.recursion);
	kern_heartbeat(k, clock_coarse_ns());
}

static int init_answers(struct kern *k)
{
	const struct answers_maps m = {
		.conf = kern_mem(k, MAP_mr_conf), .secret = kern_mem(k, MAP_mr_secret),
		.buckets = kern_mem(k, MAP_mr_buckets), .pages = kern_mem(k, MAP_mr_answers),
		.filter = kern_mem(k, MAP_mr_filter), .bloom = kern_mem(k, MAP_mr_bloom),
	};

	return answers_init(&k->answers, &m, k->opts.answers ? k->opts.answers : 1, k->sizes.buckets, k->sizes.pages,
			    clock_coarse_ns());
}

static void say_fresh(struct kern *k, const struct err_at *why)
{
	snprintf(k->fresh_note, sizeof(k->fresh_note), "began with empty tables, those of the run before do not fit: %.180s",
		 why->why);
}

/* Load with the maps of the pins, or with fresh ones when there are none or they do not fit. */
static int load(struct kern *k, struct err_at *reterr)
{
	int fds[KERN_MAP_COUNT], err;
	struct err_at differs = { 0 };

	err = kern_layout(k->kinds, &k->layout, reterr);
	if (err)
		return err;
	err = kern_pins_open(k, fds, &differs);
	k->taken_over = !err;
	if (err && err != -ENOENT)
		say_fresh(k, &differs);
	err = kern_load(&k->sizes, fds, &k->t, reterr);
	if (err && k->taken_over) {
		k->taken_over = false;
		say_fresh(k, reterr);
		kern_pins_close(fds);
		err = kern_load(&k->sizes, fds, &k->t, reterr);
	}
	kern_pins_close(fds);
	if (err)
		return err;
	k->sizes.filter = k->t.entries[MAP_mr_filter] / MR_UNITS;
	k->sizes.bloom = k->t.entries[MAP_mr_bloom] / MR_UNITS;
	k->sizes.verdicts = k->t.entries[MAP_mr_verdicts] / MR_UNITS;
	atomic_store(&k->conf, (struct mr_conf *)kern_mem(k, MAP_mr_conf));
	k->on = true;
	return 0;
}

static int fill(struct kern *k, struct err_at *reterr)
{
	int err = kern_rings_new(k, reterr);
	struct mr_stats s;

	kern_stats(k, &s);
	k->events_lost = s.count[MR_STAT_events_lost];	/* those were another daemon's */
	if (!err)
		err = init_answers(k);
	if (!err)
		fill_conf(k);
	return err;
}

static int require(const struct kern *k, struct err_at *reterr)
{
	if (!k->opts.required || kern_attached(k))
		return 0;
	return err_why(reterr, -ENODEV, "fastpath.required is set and no interface could be attached: %s: %s",
		       k->iface[0].name, k->iface[0].reason);
}

static int attach(struct kern *k, struct err_at *reterr)
{
	unsigned i;
	int err;

	kern_links_prune(k);
	for (i = 0; i < k->ifaces; i++)
		kern_attach(k, &k->iface[i]);
	err = require(k, reterr);
	if (err)
		return err;
	kern_services_update(k);
	if (!k->taken_over)
		err = kern_pins_write(k, reterr);
	if (!err)
		kern_pins_remove(k->root_fd, k->layout, false);
	return err;
}

/* Everything that needs BPF. */
static int open_tables(struct kern *k, struct err_at *reterr)
{
	int err;

	kern_libbpf_quiet();
	err = kern_probe(k->opts.pin_root, reterr);
	if (!err)
		err = kern_lock(k->opts.pin_root, &k->root_fd, reterr);
	if (!err)
		err = load(k, reterr);
	if (!err)
		err = fill(k, reterr);
	if (!err)
		err = attach(k, reterr);
	return err;
}

/* Take back what open_tables() did, so that the off form holds nothing. */
static void drop_tables(struct kern *k, bool detach)
{
	unsigned i;

	for (i = 0; i < k->ifaces; i++) {
		if (detach && k->root_fd >= 0)
			kern_detach(k, &k->iface[i]);
		else if (k->iface[i].link_fd >= 0)
			close(k->iface[i].link_fd);
		k->iface[i].link_fd = -1;
	}
	if (detach && k->root_fd >= 0)
		kern_pins_remove(k->root_fd, 0, true);
	kern_rings_free(k);
	answers_done(&k->answers);
	for (i = 0; i < 3; i++)
		kern_unmap(&k->old_filter[i]);
	for (i = 0; i < k->old_confs; i++)
		kern_unmap(&k->old_conf[i]);
	atomic_store(&k->conf, NULL);
	kern_unload(&k->t);
	k->on = k->taken_over = false;
}

static void free_kern(struct kern *k)
{
	if (k->root_fd >= 0)
		close(k->root_fd);
	free((char *)k->opts.pin_root);
	free((struct addr *)k->opts.listen);
	free(k);
}

static int open_or_off(struct kern *k, struct err_at *reterr)
{
	struct err_at why = { 0 };
	int err = 0;

	if (k->opts.mode == KERN_OFF || !k->ifaces) {
		err_why(&why, 0, "%s", k->ifaces ? "switched off by fastpath.mode: off" :
			"no interface is configured in fastpath.interfaces");
		remove_leftovers(k);
		if (k->opts.required)
			err = err_why(reterr, -EINVAL, "fastpath.required is set, but the packet path is off: %s", why.why);
	} else {
		err = open_tables(k, &why);
		if (!err)
			return 0;
		drop_tables(k, err != -EBUSY);
		if (err == -EBUSY || err == -ENOMEM || k->opts.required) {
			if (reterr)
				*reterr = why;
			return err;
		}
		err = 0;
		if (k->root_fd < 0)
			remove_leftovers(k);
	}
	if (!err)
		kern_off(k, &why);
	return err;
}

int kern_open(const struct kern_opts *opts, const struct mr_secret *secret, struct kern **ret, struct err_at *reterr)
{
	struct kern *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	k->root_fd = -1;
	k->secret = *secret;
	k->sizes = kern_sizes_for(opts);
#ifdef __aarch64__
	k->arm64 = true;		/* the reader's order of loads is not proven there */
#endif
	k->counts = count_shard_new(&kern_counts);
	err = copy_opts(k, opts);
	if (!err && !k->counts)
		err = -ENOMEM;
	if (!err)
		err = open_or_off(k, reterr);
	if (err) {
		free_kern(k);
		return err;
	}
	*ret = k;
	return 0;
}

void kern_close(struct kern *k, bool detach)
{
	if (!k)
		return;
	kern_unwatch(k);
	drop_tables(k, detach && k->on);
	if (detach)
		rmdir(k->opts.pin_root);	/* as far as our rights go; an empty folder does no harm */
	free_kern(k);
}

bool kern_taken_over(const struct kern *k)
{
	return k->taken_over;
}

int kern_own(struct kern *k, uid_t uid, gid_t gid, struct err_at *reterr)
{
	return k->on ? kern_pins_own(k, uid, gid, reterr) : 0;
}

/* ---- one store ---- */

void kern_enable(struct kern *k, bool on)
{
	if (k->on)
		MR_WRITE(kern_conf(k)->enabled, on);
}

void kern_configure(struct kern *k, bool recursion)
{
	struct mr_conf *c;

	if (!k->on)
		return;
	c = kern_conf(k);
	if (c->recursion == recursion)
		return;
	pthread_mutex_lock(&k->answers.lock);
	MR_WRITE(c->recursion, recursion);
	pthread_mutex_unlock(&k->answers.lock);
	answers_flush_all(&k->answers);		/* their RA bit is the old one */
}

void kern_heartbeat(struct kern *k, uint64_t now_ns)
{
	struct mr_conf *c = kern_conf(k);

	if (c)			/* every worker writes it, whoever comes last */
		__atomic_store_n(&c->heartbeat, now_ns, __ATOMIC_RELAXED);
}

void kern_serve_stale(struct kern *k, uint64_t max_age_ns, uint32_t ttl)
{
	if (!k->on)
		return;
	MR_WRITE(kern_conf(k)->stale_ttl, max_age_ns ? ttl : 0);
	answers_serve_stale(&k->answers, max_age_ns);
}

void kern_upstreams_down(struct kern *k, bool down)
{
	struct mr_conf *c = kern_conf(k);

	if (c && k->on && MR_READ(c->upstreams_down) != down)
		MR_WRITE(c->upstreams_down, down);
}

/* ---- answers ---- */

void kern_answer_put(struct kern *k, const struct dns_answer *a, bool ask, uint32_t generation, bool admit, uint64_t now_ns)
{
	if (k->on && !k->arm64)
		answers_put(&k->answers, a, ask, generation, admit, now_ns);
}

bool kern_answer_holds(struct kern *k, const struct dns_key *key, uint64_t now_ns)
{
	return k->on && answers_hold(&k->answers, key, now_ns);
}

unsigned kern_flush_name(struct kern *k, const uint8_t *lower, uint16_t len)
{
	return k->on ? answers_flush_name(&k->answers, lower, len) : 0;
}

unsigned kern_flush_below(struct kern *k, const uint8_t *lower, uint16_t len)
{
	return k->on ? answers_flush_below(&k->answers, lower, len) : 0;
}

void kern_flush_all(struct kern *k)
{
	if (k->on)
		answers_flush_all(&k->answers);
}

/* ---- status ---- */

const char *kern_mode_text(enum kern_mode m)
{
	static const char *const text[] = { "auto", "native", "generic", "off" };

	return (unsigned)m < sizeof(text) / sizeof(text[0]) ? text[m] : "?";
}

static void link_ids(const struct kern_iface *i, struct kern_iface_status *ret)
{
	struct bpf_link_info info = { 0 };
	uint32_t len = sizeof(info);

	if (i->link_fd < 0 || bpf_obj_get_info_by_fd(i->link_fd, &info, &len))
		return;
	ret->link_id = info.id;
	ret->prog_id = info.prog_id;
}

static void iface_status(const struct kern_iface *i, struct kern_iface_status *ret)
{
	memcpy(ret->name, i->name, sizeof(ret->name));
	memcpy(ret->driver, i->driver, sizeof(ret->driver));
	memcpy(ret->reason, i->reason, sizeof(ret->reason));
	ret->mode = i->mode;
	ret->up = nic_is_up(i->name);
	link_ids(i, ret);
}

static uint32_t verified_insns(const struct kern *k)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(k->t.prog_fd, &info, &len) ? 0 : info.verified_insns;
}

static void tables_status(struct kern *k, struct kern_status *ret)
{
	struct mr_conf *c = kern_conf(k);

	snprintf(ret->pins, sizeof(ret->pins), "%.100s/%016llx", k->opts.pin_root, (unsigned long long)k->layout);
	ret->layout = k->layout;
	ret->taken_over = k->taken_over;
	ret->verified_insns = verified_insns(k);
	ret->filter_generation = c->filter_generation;
	ret->services = c->services;
	pthread_mutex_lock(&k->answers.lock);
	ret->answers_in_use = k->answers.in_use;
	ret->units_in_use = k->answers.units.in_use;
	pthread_mutex_unlock(&k->answers.lock);
	ret->answers_max = k->answers.max;
	ret->units_max = k->answers.unit_count - 1;
}

static void notes_status(const struct kern *k, struct kern_status *ret)
{
	unsigned i;

	if (k->pin_note[0])
		memcpy(ret->notes[ret->note_count++], k->pin_note, KERN_REASON);
	if (k->fresh_note[0])
		memcpy(ret->notes[ret->note_count++], k->fresh_note, KERN_REASON);
	for (i = 0; i < k->note_count && ret->note_count < KERN_NOTES; i++)
		memcpy(ret->notes[ret->note_count++], k->notes[i], KERN_REASON);
}

void kern_status(struct kern *k, struct kern_status *ret)
{
	unsigned i;

	memset(ret, 0, sizeof(*ret));
	ret->on = k->on && kern_attached(k);
	ret->interfaces = k->ifaces;
	for (i = 0; i < k->ifaces; i++)
		iface_status(&k->iface[i], &ret->iface[i]);
	if (!k->on)
		memcpy(ret->reason, k->reason, sizeof(ret->reason));
	else if (!ret->on)
		snprintf(ret->reason, sizeof(ret->reason), "no interface is attached: %s: %.200s", k->iface[0].name,
			 k->iface[0].reason);
	if (k->on)
		tables_status(k, ret);
	notes_status(k, ret);
}
