/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach.c - the program on its interfaces.
 *
 * By a pinned bpf_link of our own: native, else generic, else off with the
 * reason and what would help.  A link that an earlier run left is taken over
 * by an update, never by detach and attach, which resets the rings of most
 * drivers.  Other people's programs are named and left alone.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kern/room.h"

static void __attribute__((format(printf, 2, 3))) say(struct kern_iface *i, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(i->reason, sizeof(i->reason), fmt, args);
	va_end(args);
}

static const char *link_name(const struct kern_iface *i, char buf[32])
{
	snprintf(buf, 32, "link-%s", i->name);
	return buf;
}

static const char *link_path(const struct kern *k, const struct kern_iface *i, char *buf, size_t size)
{
	char name[32];

	return kern_pin_path(k->root_fd, link_name(i, name), buf, size);
}

/* The interface that a link holds, 0 when that has gone, and the program that it runs there. */
static int link_ifindex(int fd, uint32_t *ret_prog)
{
	struct bpf_link_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len) || info.type != BPF_LINK_TYPE_XDP)
		return 0;
	*ret_prog = info.prog_id;
	return info.xdp.ifindex;
}

static enum kern_mode mode_now(int ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, q);

	if (bpf_xdp_query(ifindex, 0, &q))
		return KERN_OFF;
	/* XDP_ATTACHED_* are not the XDP_FLAGS_* that one attaches with. */
	return q.attach_mode == XDP_ATTACHED_SKB ? KERN_GENERIC : q.attach_mode == XDP_ATTACHED_NONE ? KERN_OFF :
	       KERN_NATIVE;
}

static uint32_t program_there(int ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, q);

	if (bpf_xdp_query(ifindex, 0, &q))
		return 0;
	return q.prog_id ? q.prog_id : q.drv_prog_id ? q.drv_prog_id : q.skb_prog_id ? q.skb_prog_id : q.hw_prog_id;
}

static void set_generic(struct kern *k, struct kern_iface *i, bool generic)
{
	struct mr_iface *row = &kern_conf(k)->iface[i - k->iface];

	MR_WRITE(row->generic, generic);
}

void kern_detach(struct kern *k, struct kern_iface *i)
{
	char name[32];

	if (i->link_fd >= 0) {
		bpf_link_detach(i->link_fd);
		close(i->link_fd);
	}
	kern_link_remove(k->root_fd, link_name(i, name));
	i->link_fd = -1;
	i->mode = KERN_OFF;
}

/* A link of another network namespace may have our interface's number; it does not run what runs here. */
static bool is_link_here(const struct kern_iface *i)
{
	uint32_t prog = 0;

	return link_ifindex(i->link_fd, &prog) == i->ifindex && prog == program_there(i->ifindex);
}

/* Take over a link of ours on this very interface; removes one that has lost its interface. */
static bool take_over(struct kern *k, struct kern_iface *i)
{
	char path[128];
	enum kern_mode mode;

	i->link_fd = bpf_obj_get(link_path(k, i, path, sizeof(path)));
	if (i->link_fd < 0)
		return false;
	mode = mode_now(i->ifindex);
	if (!is_link_here(i) || (k->opts.mode != KERN_AUTO && k->opts.mode != mode)) {
		kern_detach(k, i);
		return false;
	}
	set_generic(k, i, mode == KERN_GENERIC);
	if (bpf_link_update(i->link_fd, k->t.prog_fd, NULL)) {
		kern_detach(k, i);
		return false;
	}
	i->mode = mode;
	if (mode == KERN_GENERIC)
		say(i, "taken over in generic mode from an earlier run; stop and start to try native mode again");
	return true;
}

static void say_foreign(struct kern_iface *i)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(i->foreign);

	if (fd >= 0) {
		if (bpf_obj_get_info_by_fd(fd, &info, &len))
			info.name[0] = 0;
		close(fd);
	}
	say(i, "another XDP program is attached (id %u, \"%s\") and was left alone: detach it with its owner's tool, "
	    "or with: ip link set dev %s xdp off", i->foreign, info.name[0] ? info.name : "?", i->name);
}

/* Attach anew in one mode; the link is pinned or it is not kept. */
static int attach_mode(struct kern *k, struct kern_iface *i, enum kern_mode mode)
{
	LIBBPF_OPTS(bpf_link_create_opts, o, .flags = mode == KERN_GENERIC ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE);
	char path[128];
	int fd, err = 0;

	set_generic(k, i, mode == KERN_GENERIC);
	fd = bpf_link_create(k->t.prog_fd, i->ifindex, BPF_XDP, &o);
	if (fd < 0)
		return -errno;
	if (bpf_obj_pin(fd, link_path(k, i, path, sizeof(path)))) {
		err = -errno;
		bpf_link_detach(fd);
		close(fd);
		return err;
	}
	i->link_fd = fd;
	i->mode = mode;
	return 0;
}

static void attach_new(struct kern *k, struct kern_iface *i, const struct nic *n)
{
	enum kern_mode want = k->opts.mode;
	char remedy[200];
	int err = 0, generic;

	if (want != KERN_GENERIC) {
		err = attach_mode(k, i, KERN_NATIVE);
		if (!err)
			return;
		nic_remedy(n, i->name, err, remedy, sizeof(remedy));
		say(i, "driver %s refused native mode: %s; %s", n->driver[0] ? n->driver : "?", strerror(-err), remedy);
	} else {
		say(i, "generic mode, as fastpath.mode says");
	}
	if (want == KERN_NATIVE)
		return;
	generic = attach_mode(k, i, KERN_GENERIC);
	if (generic)
		say(i, "generic mode was refused too: %s%s%s", strerror(-generic), err ? "; " : "", err ? remedy : "");
}

void kern_attach(struct kern *k, struct kern_iface *i)
{
	struct nic n;

	i->ifindex = if_nametoindex(i->name);
	i->mode = KERN_OFF;
	i->reason[0] = 0;
	i->foreign = 0;
	if (!i->ifindex) {
		char path[128];

		unlink(link_path(k, i, path, sizeof(path)));	/* of an interface that is no more */
		say(i, "there is no interface %s; it is attached when it appears", i->name);
		return;
	}
	nic_look(i->name, &n);
	snprintf(i->driver, sizeof(i->driver), "%s", n.driver);
	i->mtu = n.mtu;
	if (take_over(k, i))
		return;
	i->foreign = program_there(i->ifindex);
	if (i->foreign)
		say_foreign(i);
	else
		attach_new(k, i, &n);
}

/* Has something changed that lets an interface without our program have it? */
static bool is_worth_a_try(const struct kern_iface *i, int ifindex)
{
	struct nic n;

	if (ifindex != i->ifindex)
		return true;
	if (!ifindex)
		return false;
	if (i->foreign)
		return !program_there(ifindex);
	nic_look(i->name, &n);
	return n.mtu != i->mtu;
}

/* Does its link still hold the interface?  One that somebody detaches from outside stays as a link to nothing. */
static bool is_held(const struct kern_iface *i)
{
	uint32_t prog;

	return i->link_fd >= 0 && link_ifindex(i->link_fd, &prog) == i->ifindex;
}

void kern_attach_again(struct kern *k)
{
	unsigned n;
	int ifindex;

	for (n = 0; n < k->ifaces; n++) {
		struct kern_iface *i = &k->iface[n];

		ifindex = if_nametoindex(i->name);
		if (i->link_fd >= 0) {
			if (ifindex == i->ifindex && is_held(i))
				continue;
			kern_detach(k, i);
			kern_attach(k, i);
		} else if (is_worth_a_try(i, ifindex)) {
			kern_attach(k, i);
		}
	}
}

void kern_links_check(struct kern *k)
{
	bool changed = false;
	unsigned n;

	for (n = 0; k->on && n < k->ifaces; n++) {
		const struct kern_iface *i = &k->iface[n];

		changed |= i->link_fd >= 0 ? !is_held(i) : i->foreign && !program_there(i->ifindex);
	}
	if (!changed)
		return;
	kern_attach_again(k);
	kern_services_update(k);
}

int kern_link_repin(const struct kern *k, const struct kern_iface *i)
{
	char name[32], path[128];
	struct stat st;

	if (i->link_fd < 0 || !fstatat(k->root_fd, link_name(i, name), &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	return bpf_obj_pin(i->link_fd, link_path(k, i, path, sizeof(path))) ? -errno : 1;
}

int kern_links_update(struct kern *k, int prog_fd, struct err_at *reterr)
{
	unsigned n;

	/* A link to nothing runs nothing; it is attached anew with the program that is then in force. */
	for (n = 0; n < k->ifaces; n++)
		if (is_held(&k->iface[n]) && bpf_link_update(k->iface[n].link_fd, prog_fd, NULL))
			return err_why(reterr, -errno, "the new program cannot take the place of the old on %s: %s",
				       k->iface[n].name, strerror(errno));
	return 0;
}

unsigned kern_attached(const struct kern *k)
{
	unsigned n, attached = 0;

	for (n = 0; n < k->ifaces; n++)
		attached += k->iface[n].link_fd >= 0;
	return attached;
}
