/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe.c - can BPF be used here, and if not, what would help?
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "kern/room.h"

static bool has_cap(unsigned cap)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &head, data))
		return false;
	return data[cap / 32].effective >> (cap % 32) & 1;
}

/* CAP_PERFMON: without it the verifier forbids comparing pointers into the frame, which every parser does. */
static int probe_caps(struct err_at *reterr)
{
	static const struct {
		unsigned cap;
		const char *name;
		bool admin_has;		/* CAP_SYS_ADMIN stands for it */
	} needed[] = {
		{ CAP_BPF, "CAP_BPF", true }, { CAP_PERFMON, "CAP_PERFMON", true },
		{ CAP_NET_ADMIN, "CAP_NET_ADMIN", false },
	};
	bool admin = has_cap(CAP_SYS_ADMIN);
	unsigned i;

	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!has_cap(needed[i].cap) && !(admin && needed[i].admin_has))
			return err_why(reterr, -EPERM, "%s is missing: start as root, or with "
				       "AmbientCapabilities=CAP_BPF CAP_PERFMON CAP_NET_ADMIN", needed[i].name);
	return 0;
}

static int probe_kernel(struct err_at *reterr)
{
	char realtime = '0';
	struct utsname u;
	FILE *f = fopen("/sys/kernel/realtime", "re");

	if (f) {
		if (fread(&realtime, 1, 1, f) != 1)
			realtime = '0';
		fclose(f);
	}
	if (realtime == '1' || (!uname(&u) && strstr(u.version, "PREEMPT_RT")))
		return err_why(reterr, -EOPNOTSUPP,
			       "this is a PREEMPT_RT kernel, where the program's per-CPU scratch is not safe: "
			       "use another kernel");
	return 0;
}

/* Try the system call itself: seccomp, lockdown and odd kernels are told apart by what it says. */
static int probe_syscall(struct err_at *reterr)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "mr_probe", 4, 8, 1, NULL), err = -errno;

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (err == -ENOSYS)
		return err_why(reterr, err, "this kernel has no BPF: it needs CONFIG_BPF_SYSCALL");
	if (err == -EPERM || err == -EACCES)
		return err_why(reterr, err,
			       "the system call bpf() is refused although the capabilities are there: "
			       "look at the container's seccomp profile and the unit's SystemCallFilter");
	return err_why(reterr, err, "no BPF map can be made: %s (memory limits of the unit or RLIMIT_MEMLOCK?)",
		       strerror(-err));
}

bool kern_is_bpffs(const char *path)
{
	char buf[256], *slash;
	struct statfs s;

	snprintf(buf, sizeof(buf), "%s", path);
	while (statfs(buf, &s)) {
		slash = strrchr(buf, '/');
		if (errno != ENOENT || !slash || slash == buf)
			return false;
		*slash = 0;
	}
	return (unsigned long)s.f_type == BPF_FS_MAGIC;
}

int kern_probe(const char *pin_root, struct err_at *reterr)
{
	int err = probe_kernel(reterr);

	if (!err)
		err = probe_caps(reterr);
	if (!err)
		err = probe_syscall(reterr);
	if (!err && !kern_is_bpffs(pin_root))
		err = err_why(reterr, -ENOTSUP,
			      "%s is not on a BPF file system: mount -t bpf bpf /sys/fs/bpf", pin_root);
	return err;
}
