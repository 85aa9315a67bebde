/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kern.h - the only door to BPF.
 *
 * Opens (or takes over) the pinned maps, loads the program, attaches it, and
 * writes the tables that maps/ lays out.  Where BPF is not to be had the same
 * door leads to off.c: everything is accepted, nothing is published, and
 * status says why.
 *
 * Threads: answers and the sign of life may come from any thread; everything
 * else is the control thread's.
 */
#ifndef KERN_KERN_H
#define KERN_KERN_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>
#include "base/addr.h"
#include "base/count.h"
#include "base/err.h"
#include "dns/answer.h"
#include "maps/config.h"
#include "maps/event.h"
#include "maps/stats.h"
#include "maps/why.h"
#include "policy/clients.h"
#include "policy/filter.h"

#define KERN_COUNTERS(ROW) \
	ROW(kern_published,       "answers put into the kernel's table") \
	ROW(kern_replaced,        "of those, in the place of an older answer to the same question") \
	ROW(kern_evicted,         "live answers that had to go for others") \
	ROW(kern_flushed,         "answers removed by a flush") \
	ROW(kern_refused_size,    "answers not published: bigger than the kernel sends") \
	ROW(kern_refused_ttls,    "answers not published: more TTLs than the kernel ages") \
	ROW(kern_refused_labels,  "answers not published: more labels than the kernel hashes") \
	ROW(kern_refused_kind,    "answers not published: failures, TTL 0, types never answered there") \
	ROW(kern_refused_negative, "answers not published: the share of negative ones is used up") \
	ROW(kern_refused_full,    "answers not published: no room of that size could be made") \
	ROW(kern_refused_generation, "answers not published: judged under a filter that has been replaced") \
	ROW(kern_cleared_torn,    "half-written answers cleared at start") \
	ROW(kern_events_lost,     "events lost in full rings")

COUNT_ENUM(kern_count, KERN_COUNTERS)

enum kern_mode { KERN_AUTO, KERN_NATIVE, KERN_GENERIC, KERN_OFF };

/* "native" and so on; "?" for what is no mode. */
const char *kern_mode_text(enum kern_mode m);

struct kern_opts {
	char interfaces[MR_IFACES_MAX][IF_NAMESIZE];
	unsigned interface_count;	/* 0: user space only */
	enum kern_mode mode;
	bool required;			/* fail kern_open() when no interface could be attached */
	const char *pin_root;		/* "/sys/fs/bpf/millrace" */
	const struct addr *listen;	/* service addresses; an "any" address: all of the interfaces */
	unsigned listens;
	uint32_t answers;		/* entries of the answer table */
	uint64_t filter_entries;	/* names that the filter units must at least hold */
	uint32_t ring_bytes;		/* per CPU, power of two; 0: 256 KiB */
	uint32_t latency_sample;	/* one packet in so many is timed, power of two, at least 1024; 0: 1024 */
	bool recursion;			/* RA on blocked answers */
};

struct kern;
struct filter_edit;

/**
 * Load, pin or take over, and attach.
 *
 * Without BPF, bpffs, capability or a usable interface this succeeds in the
 * "off" form, unless opts->required.  Pins of the same layout, secret and
 * sizes are taken over with their answers and their active filter; anything
 * else is a mismatch and gives fresh maps.  Half-written answers are cleared.
 *
 * Returns 0; -EBUSY when another millraced holds the lock on the pins; what
 * failed with opts->required; -ENOMEM.  @reterr says which, and the remedy.
 */
int kern_open(const struct kern_opts *opts, const struct mr_secret *secret, struct kern **ret, struct err_at *reterr);

/**
 * @detach  true: detach, unpin, a clean stop; false: leave everything in force (upgrade, hand-over)
 */
void kern_close(struct kern *k, bool detach);

/* Did this start take over the tables of an earlier one? */
bool kern_taken_over(const struct kern *k);

/* Allow the service's user to use pins and descriptors after privileges drop. */
int kern_own(struct kern *k, uid_t uid, gid_t gid, struct err_at *reterr);

/*
 * Watch addresses, links and foreign programs by netlink on @loop: services
 * follow, interfaces that come back are attached again.
 */
int kern_watch(struct kern *k, uv_loop_t *loop, struct err_at *reterr);

/*
 * Look for what netlink does not tell: a link that was detached from outside, a
 * foreign one that went.  Cheap: for each second.
 */
void kern_links_check(struct kern *k);

/**
 * Pin again what somebody has removed from the pins' folder: links, without
 * which the program goes when the daemon does, and maps.  Cheap: for each second.
 *
 * Returns 0 when all is there; 1 when it is there again, with what was missing
 * in @reterr; a negative errno while it cannot be, which is a note of kern_status() too.
 */
int kern_pins_check(struct kern *k, struct err_at *reterr);
void kern_unwatch(struct kern *k);

/* ---- policy, by the control thread ---- */

/* Switch the program's answering on or off without detaching. */
void kern_enable(struct kern *k, bool on);

/* A new value of what a reload may change: recursion. */
void kern_configure(struct kern *k, bool recursion);

/**
 * Put the settings of all groups in force: how they block, their types, their pauses.
 *
 * @count  at most MR_GROUPS_MAX; groups behind it block with null addresses and TTL 0
 *
 * User space finds them in filter_view.group, which is the same place for the
 * life of the door, its off form included; each word is stored whole.
 */
void kern_groups_publish(struct kern *k, const struct mr_group *groups, unsigned count);

/* Lift the blocks of a group, or put them in force again: one store in either world. */
void kern_group_pause(struct kern *k, unsigned group, bool paused);

/**
 * Take the names of the sources (lists and rule sets, by number) of the filter
 * that is published next; they are in force with it, as the texts of its
 * blocked answers, and stay so until there are others.
 *
 * @count  at most MR_LISTS_MAX; those behind it have no name
 */
void kern_sources_publish(struct kern *k, const char *const *names, unsigned count);

/* A cell of a filter's verdicts, by its number, and what it shall say. */
struct kern_cell {
	uint32_t at;
	struct mr_verdict verdict;
};

/**
 * Change what the sets of a filter mean, in place, each cell whole: no
 * generation is raised, since the sets stay what they are.  Any thread.
 *
 * @v  as kern_filter_swap() gave it, not yet replaced twice; in the off form
 *     the cells are those that were given there
 */
void kern_verdicts_write(const struct filter_view *v, const struct kern_cell *cells, size_t count);

/**
 * Copy a filter and its verdicts into the inactive unit, raise the filter
 * generation and flip: each packet that begins from now on sees that filter.
 * The caller must have made sure that no thread still reads the unit that was
 * active before the last flip.
 *
 * No answer is taken for the kernel, whatever filter it was judged under, until
 * kern_filter_settle(), which the caller owes after it has handed the filter to
 * who answers in user space.
 *
 * @verdicts  another thread may change single words of it meanwhile; which of
 *            these are taken is not known
 * @how     KERN_FORGET: make all answers void in the same instant, since they were not looked at by what is new;
 *          KERN_HOLD: leave all packets to user space from before the flip until kern_release(), so
 *          that what changes with the filter is seen together with it
 * @ret  where user space finds that filter from now on: in the kernel's maps,
 *       or (off) in @f and @verdicts, which must then live as long; groups and
 *       names of sources are the door's own
 * @ret_mapped  true when it is the kernel's maps: @f and @verdicts may go
 *
 * Grows the maps (new maps, new program, same link) when the filter is bigger
 * than a unit.  Returns 0, or a negative errno with the old filter in force.
 */
int kern_filter_swap(struct kern *k, const struct filter *f, const struct mr_verdict *verdicts, unsigned groups,
		     unsigned how, struct filter_view *ret, bool *ret_mapped, struct err_at *reterr);
#define KERN_FORGET 1U
#define KERN_HOLD   2U

/* The end of KERN_HOLD; nothing, when nothing is held. */
void kern_release(struct kern *k);

/*
 * Wait until the last packet under the filter before is done (milliseconds: a
 * grace period of the kernel's), then take answers again.  Nothing, when nothing is owed.
 */
void kern_filter_settle(struct kern *k);

/* Both, and nothing is forgotten. */
int kern_filter_publish(struct kern *k, const struct filter *f, const struct mr_verdict *verdicts, unsigned groups,
			struct filter_view *ret, bool *ret_mapped, struct err_at *reterr);

/**
 * Change one entry of the filter in force, in place, and raise the filter generation.
 *
 * @e      planned for that filter, whose members have been noted (filter_edit.h)
 * @cells  what its set means to each group; used when the set is new
 * @ret    as of kern_filter_publish(): under the new generation, all else as it was
 *
 * In the off form the filter and its verdicts are those given to
 * kern_filter_publish(): the caller has made them writable.
 *
 * Returns 0, or -ENOENT while no filter is in force.
 */
int kern_filter_edit(struct kern *k, const struct filter_edit *e, const struct mr_verdict *cells,
		     struct filter_view *ret);

/* The filter that was taken over with the pins, if one is in force. */
bool kern_filter_view(struct kern *k, struct filter_view *ret);

/* Copy a table of clients; takes force for the next packet. */
void kern_clients_publish(struct kern *k, const struct clients *c);

/* Would these change what the packet path has?  False in the off form. */
bool kern_groups_differ(struct kern *k, const struct mr_group *groups, unsigned count);
bool kern_clients_differ(struct kern *k, const struct clients *c);

/* One query event in @every answers; 0: none. */
void kern_events_every(struct kern *k, uint32_t every);

/* ---- answers, from any thread ---- */

/**
 * Put an answer into the table; what cannot be given from there is counted and left out.
 *
 * @ask         something in it is for user space to judge, each time: the ask set goes with it
 * @generation  filter_view.generation that @ask was found out under; when another filter is in force
 *              by now, the answer is left out
 */
void kern_answer_put(struct kern *k, const struct dns_answer *a, bool ask, uint32_t generation, uint64_t now_ns);
bool kern_answer_holds(struct kern *k, const struct dns_key *key, uint64_t now_ns);

/* Clear all answers to a name; returns how many. */
unsigned kern_flush_name(struct kern *k, const uint8_t *lower, uint16_t len);

/* Make all answers void at once (flush-all generation), then clear them. */
void kern_flush_all(struct kern *k);

/* Write the sign of life. */
void kern_heartbeat(struct kern *k, uint64_t now_ns);

/* ---- reading ---- */

struct kern_iface_status {
	char name[IF_NAMESIZE];
	char driver[32];
	enum kern_mode mode;		/* what it came to: native, generic or off */
	char reason[256];		/* why not better; what to do about it; "" when native */
	uint32_t prog_id;
	uint32_t link_id;
	bool up;
};

#define KERN_NOTES 12			/* more than there are kinds of them */

struct kern_status {
	bool on;
	char reason[256];		/* when off */
	char pins[128];
	uint64_t layout;
	bool taken_over;
	unsigned interfaces;
	struct kern_iface_status iface[MR_IFACES_MAX];
	char notes[KERN_NOTES][256];	/* limits that apply here: room to grow a frame, rp_filter, rxvlan ... */
	unsigned note_count;
	uint32_t verified_insns;
	uint32_t filter_generation;
	uint32_t answers_in_use;
	uint32_t answers_max;
	uint32_t units_in_use;
	uint32_t units_max;
	uint32_t services;
};
void kern_status(struct kern *k, struct kern_status *ret);

/* Counters summed over CPUs; all zero when off. */
void kern_stats(struct kern *k, struct mr_stats *ret);
void kern_latency(struct kern *k, struct mr_latency *ret);

struct kern_memory {
	char name[16];
	uint64_t bytes;
};
/* Bytes per map; returns how many rows of @ret (room for 16) were filled. */
unsigned kern_memory(struct kern *k, struct kern_memory *ret);

/* Read what is in the rings, a bounded part of it when they fill faster; returns the number of events. */
unsigned kern_events_poll(struct kern *k, void (*each)(const struct mr_event *e, void *arg), void *arg);

struct kern_why_query {
	const uint8_t *name;		/* wire form, any case */
	uint16_t name_len;
	uint16_t qtype;
	bool edns;
	bool dnssec_ok;
	struct addr client;		/* its family chooses that of the packet */
	const uint8_t *mac;		/* the client's six octets; NULL: a made-up one */
};
struct kern_why_result {
	struct mr_why why;
	bool answered;			/* XDP_TX */
	uint32_t ns;			/* median of some runs of the dry copy */
	uint8_t reply[1500];		/* the DNS message, when answered */
	uint16_t reply_len;
};
/* Run the dry copy on a packet built from @q.  -EOPNOTSUPP when off. */
int kern_why(struct kern *k, const struct kern_why_query *q, struct kern_why_result *ret, struct err_at *reterr);

#endif
