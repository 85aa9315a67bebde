/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * room.h - what the files of this room share; nobody else includes it.
 */
#ifndef KERN_ROOM_H
#define KERN_ROOM_H

#include "kern/kern.h"
#include "kern/answers.h"

#define KERN_RING_BYTES (256 * 1024)
#define KERN_LATENCY_SAMPLE 1024
#define KERN_REASON 256

/* Every map that is pinned; "mapped" ones are written through a mapping. */
#define KERN_MAPS(ROW) \
	ROW(mr_conf,     true) \
	ROW(mr_secret,   true) \
	ROW(mr_filter,   true) \
	ROW(mr_bloom,    true) \
	ROW(mr_verdicts, true) \
	ROW(mr_ede,      true) \
	ROW(mr_clients,  true) \
	ROW(mr_buckets,  true) \
	ROW(mr_answers,  true) \
	ROW(mr_why,      true) \
	ROW(mr_stats,    false) \
	ROW(mr_latency,  false) \
	ROW(mr_events,   false)

enum kern_map {
#define ROW(name, mapped) MAP_##name,
	KERN_MAPS(ROW)
#undef ROW
	KERN_MAP_COUNT
};

extern const char *const kern_map_names[KERN_MAP_COUNT];

/* Elements of the maps whose size is chosen at start. */
struct kern_sizes {
	uint32_t filter;		/* buckets of one unit, a power of two */
	uint32_t bloom;			/* words of one unit, a power of two */
	uint32_t verdicts;		/* cells of one unit */
	uint32_t buckets;		/* of the answer table, a power of two */
	uint32_t pages;			/* of the answer table */
	uint32_t cpus;			/* possible ones: rings */
	uint32_t ring_bytes;
};

/* What a pinned map must be, whatever its size. */
struct kern_kind {
	uint32_t type;
	uint32_t key_size;
	uint32_t value_size;
	uint32_t flags;
};

/* A mapping of a map's values. */
struct kern_mapping {
	void *mem;
	size_t size;
};

/* A loaded program with its maps. */
struct kern_tables {
	struct fastpath_bpf *skel;
	int prog_fd;			/* the skeleton's */
	int why_fd;
	int fd[KERN_MAP_COUNT];		/* the skeleton's */
	uint32_t entries[KERN_MAP_COUNT];
	uint32_t value_size[KERN_MAP_COUNT];
	struct kern_mapping map[KERN_MAP_COUNT];
};

/* One configured interface. */
struct kern_iface {
	char name[IF_NAMESIZE];
	int ifindex;			/* as attached or tried; 0: there is none of that name */
	int link_fd;			/* -1: not attached */
	enum kern_mode mode;
	char driver[32];
	char reason[KERN_REASON];
	unsigned mtu;			/* at the last try */
	uint32_t foreign;		/* program that stands in the way; 0: none */
};

struct kern {
	struct kern_opts opts;		/* pin_root and listen are copies of our own */
	struct mr_secret secret;
	char reason[KERN_REASON];	/* why there are no tables */
	bool on;			/* tables are loaded */
	bool taken_over;
	bool arm64;			/* answers are not published */
	struct kern_sizes sizes;
	uint64_t layout;
	struct kern_kind kinds[KERN_MAP_COUNT];
	int root_fd;			/* the pins' folder, locked; -1: none */
	struct kern_tables t;
	_Atomic(struct mr_conf *) conf;	/* t.map[MAP_mr_conf]; any thread writes the sign of life there */
	struct kern_mapping old_conf[32];	/* mappings that such a thread may still hold */
	unsigned old_confs;
	struct kern_mapping old_filter[3];	/* tables that readers of the last filter may still hold */
	struct filter_view view;	/* the filter in force, as user space finds it; unit NULL: none yet */
	struct mr_unit view_unit[2];	/* its header, with bases 0, and that of the filter before */
	struct mr_group group[MR_GROUPS_MAX];	/* as in mr_conf, for any thread of user space */
	struct mr_ede ede_next[MR_LISTS_MAX];	/* names for the next filter */
	struct mr_ede ede_own[MR_UNITS][MR_LISTS_MAX];	/* off: in the place of the map */
	bool view_turn;			/* which of the two is in force */
	uint32_t held;			/* what "enabled" was before a swap switched it off; 0: nothing is held */
	bool unpinned;			/* tables have grown, and the pins are still those before */
	struct answers answers;
	int *ring_fd;			/* one per possible CPU */
	struct ring_buffer **ring;	/* their readers */
	struct count_shard *counts;	/* of the control thread */
	uint64_t events_lost;		/* already counted */
	unsigned events_seen;		/* of one ring, in this look */
	void (*each_event)(const struct mr_event *e, void *arg);
	void *each_arg;
	struct kern_iface iface[MR_IFACES_MAX];
	unsigned ifaces;
	char pin_note[KERN_REASON];	/* why the pins are not there; "" when they are */
	char fresh_note[KERN_REASON];	/* why the tables of an earlier run were not taken, or "" */
	char notes[KERN_NOTES][KERN_REASON];
	unsigned note_count;
	struct kern_watch *watch;
};

extern struct count_set kern_counts;

/* ---- lock.c ---- */

/**
 * Open the pins' folder, made if missing, and lock it for the life of the descriptor.
 *
 * The lock is on the folder itself, so it is shared by exactly those who
 * share the pins, whatever their namespaces.  -EBUSY when another holds it.
 */
int kern_lock(const char *root, int *ret_fd, struct err_at *reterr);

/* ---- probe.c ---- */

/* Can BPF be used here?  0, or a negative errno with the reason and remedy in @reterr. */
int kern_probe(const char *pin_root, struct err_at *reterr);

/* Is the folder, or its nearest parent that exists, on a bpffs? */
bool kern_is_bpffs(const char *path);

/* ---- load.c ---- */

void kern_libbpf_quiet(void);

/* The last warning that libbpf gave, "" when there was none since kern_libbpf_forget(). */
const char *kern_libbpf_said(void);
void kern_libbpf_forget(void);

struct kern_sizes kern_sizes_for(const struct kern_opts *opts);

/**
 * Load the program with fresh maps, or with those of @reuse (descriptors; -1: fresh).
 */
int kern_load(const struct kern_sizes *sizes, const int reuse[KERN_MAP_COUNT], struct kern_tables *ret,
	      struct err_at *reterr);
void kern_unload(struct kern_tables *t);

/* The kinds of all maps, and the hash over them and over the layouts of maps/. */
int kern_layout(struct kern_kind ret_kinds[KERN_MAP_COUNT], uint64_t *ret_hash, struct err_at *reterr);

int kern_map_memory(struct kern_tables *t, enum kern_map m);
void kern_unmap(struct kern_mapping *m);

static inline void *kern_mem(const struct kern *k, enum kern_map m)
{
	return k->t.map[m].mem;
}

static inline struct mr_conf *kern_conf(struct kern *k)
{
	return atomic_load_explicit(&k->conf, memory_order_acquire);
}

/* ---- pins.c ---- */

/* A path below the pins' folder that works whatever has become of our rights on its parents. */
const char *kern_pin_path(int root_fd, const char *name, char *buf, size_t size);

/**
 * Open the pins of this layout and check each as input: kind, sizes, magic,
 * layout, secret, the active filter's bounds.
 *
 * @ret  descriptors, the caller's; all -1 on failure
 *
 * Returns 0; -ENOENT when there are none; -ESTALE with what differs in @reterr.
 */
int kern_pins_open(const struct kern *k, int ret[KERN_MAP_COUNT], struct err_at *reterr);
void kern_pins_close(int fds[KERN_MAP_COUNT]);

/* Replace the pins of this layout by the maps in force; mr_conf last, its presence says that all are there. */
int kern_pins_write(const struct kern *k, struct err_at *reterr);

/* As kern_pins_write(); on failure none of them stay, and a note of kern_status() says why. */
int kern_pins_renew(struct kern *k, struct err_at *reterr);

/* Remove pins: all but @keep_layout (0: all) and, with @links, the links. */
void kern_pins_remove(int root_fd, uint64_t keep_layout, bool links);

/* Detach a pinned link at once (one that only loses its pin goes some time later), then unpin it. */
void kern_link_remove(int root_fd, const char *name);

/* Detach what an earlier run left on interfaces that are not configured now. */
void kern_links_prune(struct kern *k);

int kern_pins_own(struct kern *k, uid_t uid, gid_t gid, struct err_at *reterr);

/* ---- attach.c ---- */

/* Attach, take over, or find out why not; the outcome stands in @i. */
void kern_attach(struct kern *k, struct kern_iface *i);
void kern_detach(struct kern *k, struct kern_iface *i);

/* Look whether interfaces have come, gone or become free, and act. */
void kern_attach_again(struct kern *k);

/* Let every attached link run the program in force. */
int kern_links_update(struct kern *k, int prog_fd, struct err_at *reterr);

unsigned kern_attached(const struct kern *k);

/* Pin again the link of @i, whose pin has gone; 1: done, 0: it is there or there is no link. */
int kern_link_repin(const struct kern *k, const struct kern_iface *i);

/* ---- nic.c ---- */

struct nic {
	char driver[32];
	unsigned mtu;
	bool lro;
	bool rx_vlan;
	unsigned channels;		/* combined and receive */
	unsigned channels_max;
};

void nic_look(const char *name, struct nic *ret);

/* What is known to help when native mode was refused with @err; always a sentence. */
void nic_remedy(const struct nic *n, const char *name, int err, char *buf, size_t size);
bool nic_is_up(const char *name);
bool nic_has_vlan_devices(const char *name);

/* ---- service.c ---- */

/* Write rows of interfaces and services from what the system says now, and the notes. */
void kern_services_update(struct kern *k);

/* ---- filter.c ---- */

/*
 * Make that the filter in force for user space: the header is copied, readers of the one before keep theirs.
 * @v holds where it is; its unit, whose bases do not count, and its group are filled in.
 */
void kern_view_set(struct kern *k, const struct mr_unit *u, const struct filter_view *v);

/* Wait until every packet that is being worked on has been. */
void kern_grace(struct kern *k);

/* Let all packets pass while words change that belong together; @enabled of the one is for the other. */
uint32_t kern_pause(struct kern *k);
void kern_resume(struct kern *k, uint32_t enabled);

/* ---- groups.c ---- */

/* After a take-over: user space finds groups and names as they are in the maps. */
void kern_groups_take(struct kern *k);

/* ---- off.c ---- */

void kern_off(struct kern *k, const struct err_at *why);
void kern_off_filter(struct kern *k, const struct filter *f, const struct mr_verdict *verdicts, unsigned groups);

/* ---- events.c ---- */

int kern_rings_new(struct kern *k, struct err_at *reterr);
void kern_rings_free(struct kern *k);

#endif
