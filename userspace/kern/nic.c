/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic.c - what an interface is, and what keeps it from native XDP.
 *
 * Asked of the driver by the ethtool calls; what it does not know stays 0.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "kern/room.h"

/* Frames bigger than a page's worth, headroom and tail taken off, are refused by drivers without fragments. */
#define MTU_SAFE 1500
#define MTU_PAGE 3520

static int ethtool(int fd, const char *name, void *data)
{
	struct ifreq r = { .ifr_data = data };

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	return ioctl(fd, SIOCETHTOOL, &r) ? -errno : 0;
}

static void look_driver(int fd, const char *name, struct nic *n)
{
	struct ethtool_drvinfo d = { .cmd = ETHTOOL_GDRVINFO };

	if (!ethtool(fd, name, &d))
		snprintf(n->driver, sizeof(n->driver), "%.31s", d.driver);
}

static void look_channels(int fd, const char *name, struct nic *n)
{
	struct ethtool_channels c = { .cmd = ETHTOOL_GCHANNELS };

	if (ethtool(fd, name, &c))
		return;
	n->channels = c.combined_count + c.rx_count;
	n->channels_max = c.max_combined + c.max_rx;
}

static void look_features(int fd, const char *name, struct nic *n)
{
	struct ethtool_value v = { .cmd = ETHTOOL_GFLAGS };

	if (ethtool(fd, name, &v))
		return;
	n->lro = v.data & ETH_FLAG_LRO;
	n->rx_vlan = v.data & ETH_FLAG_RXVLAN;
}

void nic_look(const char *name, struct nic *ret)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = { 0 };

	*ret = (struct nic){ 0 };
	if (fd < 0)
		return;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	if (!ioctl(fd, SIOCGIFMTU, &r))
		ret->mtu = r.ifr_mtu;
	look_driver(fd, name, ret);
	look_channels(fd, name, ret);
	look_features(fd, name, ret);
	close(fd);
}

bool nic_is_up(const char *name)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = { 0 };
	bool up = false;

	if (fd < 0)
		return false;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	if (!ioctl(fd, SIOCGIFFLAGS, &r))
		up = r.ifr_flags & IFF_UP;
	close(fd);
	return up;
}

/* Drivers whose XDP needs transmit queues of its own, one per CPU, beside the ordinary ones. */
static bool wants_queues(const char *driver)
{
	static const char *const names[] = { "virtio_net", "ena", "bnxt_en", "ixgbe", "ice", "gve", "igc" };
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(driver, names[i]))
			return true;
	return false;
}

void nic_remedy(const struct nic *n, const char *name, int err, char *buf, size_t size)
{
	if (n->lro)
		snprintf(buf, size, "LRO is on: ethtool -K %s lro off", name);
	else if (n->mtu > MTU_PAGE && err == -EOPNOTSUPP)
		snprintf(buf, size, "its MTU is %u: ip link set dev %s mtu 1500; if that is not it, its driver has no "
			 "native XDP: use another card, or fastpath.mode: generic", n->mtu, name);
	else if (n->mtu > MTU_PAGE || (n->mtu > MTU_SAFE && err != -EOPNOTSUPP))
		snprintf(buf, size, "its MTU is %u: ip link set dev %s mtu 1500", n->mtu, name);
	else if (n->channels > 1 && wants_queues(n->driver) && err != -EOPNOTSUPP)
		snprintf(buf, size, "it may lack queues to send from: ethtool -L %s combined %u", name,
			 n->channels / 2);
	else if (!strcmp(n->driver, "virtio_net"))
		snprintf(buf, size, "the host's offloads may be in the way: guest_tso4=off,guest_tso6=off,"
			 "guest_ecn=off,guest_ufo=off,guest_csum=off in QEMU's device");
	else if (err == -EOPNOTSUPP)
		snprintf(buf, size, "its driver has no native XDP: use another card, or fastpath.mode: generic");
	else
		snprintf(buf, size, "the kernel's log (dmesg) says more");
}

/* Does a VLAN device stand on the interface?  Lines of that file read "name | id | interface". */
bool nic_has_vlan_devices(const char *name)
{
	FILE *f = fopen("/proc/self/net/vlan/config", "re");
	char line[256], on[IF_NAMESIZE];
	bool has = false;

	if (!f)
		return false;
	while (!has && fgets(line, sizeof(line), f))
		has = sscanf(line, "%*[^|]|%*[^|]| %15s", on) == 1 && !strcmp(on, name);
	fclose(f);
	return has;
}
