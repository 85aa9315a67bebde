/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_kernel.c - the kernel's tables for a measurement that sends no packet.
 *
 * The process goes into a network and a mount namespace of its own, where it
 * has a loopback device, a /sys and a bpffs that nobody else sees; the program
 * is attached to that device, so that the tables are in use as they are in a
 * daemon.  All of it is gone with the process, however that ends.
 */
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "kern/kern.h"
#include "tools/mrbench_user.h"

static int up(const char *device)
{
	struct ifreq r = { .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;

	if (fd < 0)
		return -errno;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", device);
	if (ioctl(fd, SIOCSIFFLAGS, &r))
		err = -errno;
	close(fd);
	return err;
}

static int move_apart(struct err_at *reterr)
{
	int err;

	if (unshare(CLONE_NEWNET | CLONE_NEWNS))
		return err_why(reterr, -errno, "no namespaces of its own: %s", strerror(errno));
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("sysfs", "/sys", "sysfs", 0, NULL) ||
	    mount("bpf", "/sys/fs/bpf", "bpf", 0, NULL))
		return err_why(reterr, -errno, "no /sys/fs/bpf of its own: %s", strerror(errno));
	err = up("lo");
	return err ? err_why(reterr, err, "the loopback device does not go up: %s", strerror(-err)) : 0;
}

int bench_kernel(const struct mr_secret *secret, struct kern **ret, struct err_at *reterr)
{
	const struct addr listen = { .ip = { [10] = 0xff, [11] = 0xff, [12] = 192, [14] = 2, [15] = 53 }, .port = 53 };
	struct kern_opts o = {
		.interfaces = { "lo" }, .interface_count = 1, .mode = KERN_GENERIC, .required = true,
		.pin_root = "/sys/fs/bpf/mrbench", .listen = &listen, .listens = 1, .answers = 64, .recursion = true,
	};
	int err = move_apart(reterr);

	if (!err)
		err = kern_open(&o, secret, ret, reterr);
	if (err)
		return err;
	kern_enable(*ret, true);
	kern_heartbeat(*ret, clock_coarse_ns());
	return 0;
}
