/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * service.c - which packets are ours: addresses, port and MACs, as the system
 * has them now; and the notes about what holds on this machine.
 *
 * A row is written so that a packet in between finds a shorter list and goes
 * to user space, never another's address.
 */
#include <ifaddrs.h>
#include <netpacket/packet.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "kern/room.h"

struct services {
	struct mr_service row[MR_SERVICES_MAX];
	unsigned count;
	unsigned left_out;
};

static void __attribute__((format(printf, 2, 3))) note(struct kern *k, const char *fmt, ...)
{
	va_list args;

	if (k->note_count == KERN_NOTES)
		return;
	va_start(args, fmt);
	vsnprintf(k->notes[k->note_count++], KERN_REASON, fmt, args);
	va_end(args);
}

static bool is_loopback(const struct addr *a)
{
	static const uint8_t v6[16] = { [15] = 1 };

	return addr_is_v4(a) ? a->ip[12] == 127 : !memcmp(a->ip, v6, 16);
}

static bool is_link_local(const struct addr *a)
{
	return !addr_is_v4(a) && a->ip[0] == 0xfe && (a->ip[1] & 0xc0) == 0x80;
}

static void add_service(struct services *s, const struct addr *a)
{
	unsigned i;

	for (i = 0; i < s->count; i++)
		if (!memcmp(s->row[i].addr, a->ip, 16))
			return;
	if (s->count < MR_SERVICES_MAX)
		memcpy(s->row[s->count++].addr, a->ip, 16);
	else
		s->left_out++;
}

static struct kern_iface *attached_named(struct kern *k, const char *name)
{
	unsigned i;

	for (i = 0; i < k->ifaces; i++)
		if (k->iface[i].link_fd >= 0 && !strcmp(k->iface[i].name, name))
			return &k->iface[i];
	return NULL;
}

/* All addresses of the attached interfaces; link-local ones last: they are the first to lack room. */
static void add_all(struct kern *k, struct services *s, const struct ifaddrs *all, bool v4_only)
{
	const struct ifaddrs *f;
	struct addr a;
	int round;

	for (round = 0; round < 2; round++)
		for (f = all; f; f = f->ifa_next) {
			if (!f->ifa_addr || !attached_named(k, f->ifa_name) ||
			    (f->ifa_addr->sa_family != AF_INET && (v4_only || f->ifa_addr->sa_family != AF_INET6)))
				continue;
			addr_from_sockaddr(f->ifa_addr, &a);
			if (is_link_local(&a) == (round == 1))
				add_service(s, &a);
		}
}

static uint16_t port_of(const struct kern *k)
{
	return k->opts.listens && k->opts.listen[0].port ? k->opts.listen[0].port : 53;
}

static void collect(struct kern *k, const struct ifaddrs *all, struct services *s)
{
	uint16_t port = port_of(k);
	unsigned i;

	for (i = 0; i < k->opts.listens; i++) {
		const struct addr *a = &k->opts.listen[i];

		if ((a->port && a->port != port) || is_loopback(a))
			continue;
		if (addr_is_any(a))
			add_all(k, s, all, addr_is_v4(a));
		else
			add_service(s, a);
	}
}

static void write_services(struct mr_conf *c, const struct services *s, uint16_t port)
{
	if (c->services == s->count && c->port == port && !memcmp(c->service, s->row, s->count * sizeof(s->row[0])))
		return;
	MR_WRITE(c->services, 0);
	atomic_thread_fence(memory_order_seq_cst);
	memset(c->service, 0, sizeof(c->service));
	memcpy(c->service, s->row, s->count * sizeof(s->row[0]));
	MR_WRITE(c->port, port);
	atomic_thread_fence(memory_order_seq_cst);
	MR_WRITE(c->services, s->count);
}

static const struct sockaddr_ll *mac_of(const struct ifaddrs *all, const char *name)
{
	const struct ifaddrs *f;

	for (f = all; f; f = f->ifa_next)
		if (f->ifa_addr && f->ifa_addr->sa_family == AF_PACKET && !strcmp(f->ifa_name, name) &&
		    ((const struct sockaddr_ll *)f->ifa_addr)->sll_halen == 6)
			return (const struct sockaddr_ll *)f->ifa_addr;
	return NULL;
}

static void write_iface(struct mr_iface *row, const struct kern_iface *i, const struct ifaddrs *all)
{
	const struct sockaddr_ll *mac = i->link_fd >= 0 ? mac_of(all, i->name) : NULL;
	bool generic = i->mode == KERN_GENERIC;

	if (mac && row->ifindex == (uint32_t)i->ifindex && row->generic == generic &&
	    !memcmp(row->mac, mac->sll_addr, 6))
		return;
	MR_WRITE(row->ifindex, 0);
	atomic_thread_fence(memory_order_seq_cst);
	if (!mac)
		return;
	memcpy(row->mac, mac->sll_addr, 6);
	MR_WRITE(row->generic, generic);
	atomic_thread_fence(memory_order_seq_cst);
	MR_WRITE(row->ifindex, i->ifindex);
}

/* ---- notes ---- */

static void note_services(struct kern *k, const struct services *s)
{
	uint16_t port = port_of(k);
	unsigned i;

	if (k->arm64)
		note(k, "on arm64 the kernel filters, but cached answers come from user space");
	if (s->left_out)
		note(k, "%u addresses beyond %d are answered from user space only", s->left_out, MR_SERVICES_MAX);
	if (!s->count && kern_attached(k))
		note(k, "no listen address is on an attached interface: every query goes to user space");
	for (i = 0; i < k->opts.listens; i++)
		if (k->opts.listen[i].port && k->opts.listen[i].port != port) {
			note(k, "the kernel answers on port %u alone; other ports are answered from user space", port);
			break;
		}
}

/* Append " name" for each attached interface for which @is holds. */
static bool names_that(struct kern *k, bool (*is)(const struct kern_iface *i), char *buf, size_t size)
{
	size_t used = 0;
	unsigned n;

	buf[0] = 0;
	for (n = 0; n < k->ifaces; n++)
		if (k->iface[n].link_fd >= 0 && is(&k->iface[n]) && used + IF_NAMESIZE + 2 < size)
			used += snprintf(buf + used, size - used, "%s%s", used ? ", " : "", k->iface[n].name);
	return used;
}

static bool is_native(const struct kern_iface *i)
{
	return i->mode == KERN_NATIVE;
}

static bool is_generic(const struct kern_iface *i)
{
	return i->mode == KERN_GENERIC;
}

static bool strips_vlan(const struct kern_iface *i)
{
	struct nic n;

	if (!nic_has_vlan_devices(i->name))
		return false;
	nic_look(i->name, &n);
	return n.rx_vlan;
}

static void note_ifaces(struct kern *k)
{
	char names[96];

	if (names_that(k, strips_vlan, names, sizeof(names)))
		note(k, "%s takes VLAN tags off frames before the program sees them, so answers leave without: "
		     "ethtool -K <interface> rxvlan off", names);
	if (names_that(k, is_generic, names, sizeof(names)))
		note(k, "generic mode on %s: clients on this host, or on a veth, are answered from the kernel only "
		     "with ethtool -K <their interface> tx off", names);
	if (names_that(k, is_native, names, sizeof(names)))
		note(k, "answers more than about 230 octets longer than their query pass to user space on %s: "
		     "frames there have no more room to grow", names);
}

/* The kernel answers the way that the query came; say so when the ordinary way back is another. */
static void note_routes(struct kern *k)
{
	FILE *f = fopen("/proc/self/net/route", "re");
	char line[256], dev[IF_NAMESIZE];
	unsigned dest;

	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%15s %8x", dev, &dest) == 2 && !dest && kern_attached(k) && !attached_named(k, dev)) {
			note(k, "the default route leaves by %s, but answers from the kernel leave where the query "
			     "came in: right only if rp_filter and the routers between agree", dev);
			break;
		}
	fclose(f);
}

void kern_services_update(struct kern *k)
{
	struct mr_conf *c = kern_conf(k);
	struct services s = { 0 };
	struct ifaddrs *all = NULL;
	unsigned n;

	if (getifaddrs(&all))
		all = NULL;
	collect(k, all, &s);
	for (n = 0; n < k->ifaces; n++)
		write_iface(&c->iface[n], &k->iface[n], all);
	for (; n < MR_IFACES_MAX; n++)
		MR_WRITE(c->iface[n].ifindex, 0);
	write_services(c, &s, port_of(k));
	k->note_count = 0;
	note_services(k, &s);
	note_ifaces(k);
	note_routes(k);
	if (all)
		freeifaddrs(all);
}
