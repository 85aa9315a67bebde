/* SPDX-License-Identifier: BSD-2-Clause */
/* process.c - user, capabilities, limits, the service manager. */
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/process.h"

static const cap_value_t kept[] = { CAP_NET_ADMIN, CAP_NET_BIND_SERVICE, CAP_BPF, CAP_PERFMON };

int process_user(const char *name, uid_t *ret_uid, gid_t *ret_gid)
{
	struct passwd pw, *found = NULL;
	char buf[4096];

	if (getpwnam_r(name, &pw, buf, sizeof(buf), &found) || !found)
		return -ENOENT;
	*ret_uid = pw.pw_uid;
	*ret_gid = pw.pw_gid;
	return 0;
}

/* Make the kept ones, as far as we have them, all that there is: permitted and effective. */
static int keep_caps(struct err_at *reterr)
{
	cap_t have = cap_get_proc(), want = cap_init();
	cap_flag_value_t on;
	unsigned i;
	int err = 0;

	if (!have || !want) {
		err = err_why(reterr, -errno, "capabilities cannot be read: %s", strerror(errno));
		goto out;
	}
	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (cap_get_flag(have, kept[i], CAP_PERMITTED, &on) || on != CAP_SET)
			continue;
		cap_set_flag(want, CAP_PERMITTED, 1, &kept[i], CAP_SET);
		cap_set_flag(want, CAP_EFFECTIVE, 1, &kept[i], CAP_SET);
	}
	if (cap_set_proc(want))
		err = err_why(reterr, -errno, "capabilities cannot be dropped: %s", strerror(errno));
out:
	cap_free(have);
	cap_free(want);
	return err;
}

int process_drop(uid_t uid, gid_t gid, struct err_at *reterr)
{
	if (geteuid() == 0 && uid != 0) {
		if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) || setresgid(gid, gid, gid) ||
		    setresuid(uid, uid, uid))
			return err_why(reterr, -errno, "cannot become user %u: %s", (unsigned)uid, strerror(errno));
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	/* A change of user forbids core dumps and /proc/self; both are wanted. */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	return keep_caps(reterr);
}

int process_urgent(struct process_turn *ret_before)
{
	struct sched_param p = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };
	int err = pthread_getschedparam(pthread_self(), &ret_before->policy, &ret_before->param);

	return err ? -err : -pthread_setschedparam(pthread_self(), SCHED_FIFO, &p);
}

void process_turn(const struct process_turn *t)
{
	pthread_setschedparam(pthread_self(), t->policy, &t->param);
}

const char *process_user_name(char *buf, size_t size)
{
	struct passwd pw, *found = NULL;
	char text[4096];

	if (getpwuid_r(geteuid(), &pw, text, sizeof(text), &found) || !found)
		snprintf(buf, size, "%u", (unsigned)geteuid());
	else
		snprintf(buf, size, "%s", pw.pw_name);
	return buf;
}

void process_raise_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

void process_notify(const char *state)
{
	sd_notify(0, state);
}

void process_notify_reloading(void)
{
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_fine_ns() / 1000);
}

void process_memory(size_t *ret_rss, size_t *ret_pss)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "re");
	size_t kib, rss = 0, pss = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Rss: %zu", &kib) == 1)
			rss = kib * 1024;
		else if (sscanf(line, "Pss: %zu", &kib) == 1)
			pss = kib * 1024;
	}
	if (f)
		fclose(f);
	*ret_rss = rss;
	*ret_pss = pss;
}
