/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process.h - the process itself: user, capabilities, limits, the service manager.
 */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/err.h"

/**
 * Look a user up.
 *
 * Returns 0, or -ENOENT when there is no such user.
 */
int process_user(const char *name, uid_t *ret_uid, gid_t *ret_gid);

/**
 * Keep the capabilities that the packet path and its reload need (BPF,
 * NET_ADMIN, NET_BIND_SERVICE; PERFMON where BPF asks for it), drop all
 * others, and become @uid:@gid.
 *
 * Before any other thread starts: capabilities belong to threads.  When the
 * process is that user already, or cannot change, it keeps its own and only
 * drops capabilities.
 *
 * Returns 0, or a negative errno with @reterr.
 */
int process_drop(uid_t uid, gid_t gid, struct err_at *reterr);

/* How a thread takes its turn on the processors: the kernel's policy, and the priority in it. */
struct process_turn {
	int policy;
	struct sched_param param;
};

/**
 * Let the calling thread go before all others (SCHED_FIFO, the lowest of its
 * priorities).
 *
 * Threads that it makes meanwhile are, and stay, what it is then; so a thread can have this
 * of a process that has given up the right to it.
 *
 * Returns 0 with what it was before; or a negative errno: -EPERM without
 * CAP_SYS_NICE, or where the service manager or a control group forbids it.
 */
int process_urgent(struct process_turn *ret_before);

/* Be as before again. */
void process_turn(const struct process_turn *t);

/* Name of the user that the process runs as now.  Returns @buf. */
const char *process_user_name(char *buf, size_t size);

/* Raise the limit of open files to the hard limit. */
void process_raise_files(void);

/* Tell the service manager ("READY=1", "RELOADING=1", "STOPPING=1" ...); nothing happens without one. */
void process_notify(const char *state);

/* The same for a reload, with the time stamp that it needs. */
void process_notify_reloading(void);

/* Resident and proportional size in bytes, from /proc; 0 when unknown. */
void process_memory(size_t *ret_rss, size_t *ret_pss);

#endif
