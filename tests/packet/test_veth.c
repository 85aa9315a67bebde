/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_veth.c - answers through a real interface, where room is short.
 *
 * bpf_prog_test_run always has room behind the frame, so how a frame grows at
 * its head is shown here: a veth pair in a network namespace of this process's
 * own, which ends with it.  Native mode; the client's end has an XDP program
 * too, or veth would lose what the server's end sends back.
 *
 * Veths differ: of late a frame lies in a fragment of a page with little room
 * behind it, on Linux 6.1 in a page of its own.  There all of it grows at the
 * tail, and what has no room elsewhere is answered.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <net/ethernet.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <linux/if_link.h>
#include "packet/run.h"

#define CLIENT "mrbpf0"
#define SERVER "mrbpf1"

struct grow_case {
	const char *name;
	size_t records;			/* A records of 16 octets each in the answer; the query has an OPT */
	int ipv6;
	enum mr_stat stat;
};

static const struct grow_case cases[] = {
	{ "a record", 1, 0, MR_STAT_cached },
	{ "two records over IPv6", 2, 1, MR_STAT_cached },
	{ "ten records", 10, 0, MR_STAT_cached },
	{ "ten records over IPv6", 10, 1, MR_STAT_cached },
	{ "thirteen records: 208 octets more", 13, 0, MR_STAT_cached },
	{ "fourteen records: more than the head has", 14, 0, MR_STAT_cached },
	{ "sixty records have no room: the query passes as it came", 60, 0, MR_STAT_pass_room },
	{ "sixty records over IPv6 have no room", 60, 1, MR_STAT_pass_room },
};

static struct fill F;

/* A raw socket on an interface, seeing only what comes in. */
static int raw_open(const char *name)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)), one = 1;

	at.sll_ifindex = (int)if_nametoindex(name);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return -1;
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
	return fd;
}

/* The next frame from the other end, within a second; its length or 0. */
static size_t raw_get(int fd, __u8 *to, size_t room)
{
	struct pollfd p = { fd, POLLIN, 0 };
	ssize_t n;

	if (poll(&p, 1, 1000) != 1)
		return 0;
	n = recv(fd, to, room, 0);
	return n > 0 ? (size_t)n : 0;
}

static void raw_drain(int fd)
{
	__u8 junk[2048];

	while (recv(fd, junk, sizeof(junk), MSG_DONTWAIT) > 0)
		;
}

static int attach(int ifindex)
{
	LIBBPF_OPTS(bpf_link_create_opts, o, .flags = XDP_FLAGS_DRV_MODE);
	int fd = bpf_link_create(F.fd, ifindex, BPF_XDP, &o);

	return fd < 0 ? -errno : fd;
}

/* The pair, up, with the program on both ends; what is missing is named. */
static const char *pair_up(void)
{
	struct ifreq req = { 0 };
	int fd, err;

	if (unshare(CLONE_NEWNET))
		return "a network namespace";
	if (system("ip link add " CLIENT " type veth peer name " SERVER " 2>/dev/null && "
		   "sysctl -qw net.ipv6.conf.all.disable_ipv6=1 2>/dev/null; "
		   "ip link set " CLIENT " up 2>/dev/null && ip link set " SERVER " up 2>/dev/null"))
		return "a veth pair";
	err = attach((int)if_nametoindex(SERVER));
	if (err >= 0)
		err = attach((int)if_nametoindex(CLIENT));
	if (err < 0)
		return "XDP in native mode on veth";
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", SERVER);
	err = ioctl(fd, SIOCGIFHWADDR, &req);
	close(fd);
	if (err)
		return "the MAC of the pair";
	F.conf->iface[0].ifindex = if_nametoindex(SERVER);
	memcpy(F.conf->iface[0].mac, req.ifr_hwaddr.sa_data, 6);
	return NULL;
}

/* An answer as long as that many A records; more than one are one TXT of their length, since TTLs are bounded. */
static void world(size_t records)
{
	static const char v4[] = "\xc0\x00\x02\x50";
	static struct fill_rr rr[2];
	static char rest[1300];
	struct mr_conf keep = *F.conf;

	fill_reset(&F);
	F.conf->iface[0] = keep.iface[0];
	fill_service(&F, "192.0.2.53");
	fill_service(&F, "2001:db8::53");
	rr[0] = records == 1 ? (struct fill_rr){ 1, 300, v4, 4, 0 } :
			       (struct fill_rr){ 16, 300, rest, 16 * records - 12, 0 };
	fill_answer(&F, &(struct fill_answer){ .name = "x.example", .qtype = 1, .rr = rr, .dns_flags = 0x80 });
}

static const char *check_answer(const struct grow_case *c, const struct frame *q, const __u8 *out, size_t len)
{
	static char text[400], line[256], expect[128];

	if (c->records == 1)
		snprintf(expect, sizeof(expect), "NOERROR rd ra; an A 300 192.0.2.80; opt 1232");
	else
		snprintf(expect, sizeof(expect), "NOERROR rd ra; an TXT 300 #%zu; opt 1232", 16 * c->records - 12);
	frame_tell(q, out, len, line, sizeof(line));
	if (!strcmp(line, expect))
		return NULL;
	snprintf(text, sizeof(text), "it says \"%s\"", line);
	return text;
}

static __u64 grown(const struct mr_stats *s)
{
	return s->count[MR_STAT_grown_tail] + s->count[MR_STAT_grown_head];
}

static const char *run_case(const struct grow_case *c, enum mr_stat stat, int client, int server)
{
	struct mr_stats before, after;
	static __u8 out[4096];
	static struct frame q;
	const char *fault = NULL;
	size_t len;

	world(c->records);
	frame_ask(&q, &(struct ask){ .name = "x.example", .edns = 1, .ipv6 = c->ipv6 });
	memcpy(q.b, F.conf->iface[0].mac, 6);
	raw_drain(client);
	raw_drain(server);
	fill_stats(&F, &before);
	if (send(client, q.b, q.len, 0) != (ssize_t)q.len)
		return "the query cannot be sent";
	len = raw_get(stat == MR_STAT_cached ? client : server, out, sizeof(out));
	fill_stats(&F, &after);
	if (!len)
		fault = stat == MR_STAT_cached ? "no answer came" : "the query did not come through";
	else if (stat != MR_STAT_cached)
		fault = len == q.len && !memcmp(out, q.b, len) ? NULL : "the query was changed";
	else
		fault = check_answer(c, &q, out, len);
	if (!fault && after.count[stat] != before.count[stat] + 1)
		fault = "the counter of the outcome";
	if (!fault && grown(&after) != grown(&before) + (stat == MR_STAT_cached))
		fault = "the counters of the growth";
	return fault;
}

int main(void)
{
	int count = sizeof(cases) / sizeof(*cases), client, server, bad = 0, roomy;
	struct mr_stats all;
	const char *fault;

	if (run_open(&F))
		return 0;
	fault = pair_up();
	if (fault) {
		printf("1..1\nok 1 - answers through veth # SKIP no %s\n", fault);
		fill_close(&F);
		return 0;
	}
	client = raw_open(CLIENT);
	server = raw_open(SERVER);
	printf("1..%d\n", count + 1);
	for (int i = 0; i < count; i++) {
		fill_stats(&F, &all);
		roomy = cases[i].stat == MR_STAT_pass_room && !all.count[MR_STAT_grown_head];
		fault = run_case(&cases[i], roomy ? MR_STAT_cached : cases[i].stat, client, server);
		bad += fault != NULL;
		printf("%s %d - %s%s\n", fault ? "not ok" : "ok", i + 1, cases[i].name,
		       roomy ? " (this veth has it: it is answered)" : "");
		if (fault)
			printf("# %s\n", fault);
	}
	fill_stats(&F, &all);
	printf("ok %d - frames grew at their head%s\n", count + 1,
	       all.count[MR_STAT_grown_head] ? "" : " # SKIP this kernel's veth leaves room behind every frame");
	printf("# figure: %llu grown at the tail, %llu at the head\n", (unsigned long long)all.count[MR_STAT_grown_tail],
	       (unsigned long long)all.count[MR_STAT_grown_head]);
	close(client);
	close(server);
	fill_close(&F);
	return bad != 0;
}
