/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why.c - asks the dry copy of the program what it would do with a query.
 *
 * The packet is one that a client could have sent: to the first attached
 * interface's MAC and the first service address of the client's family, with
 * all checksums right.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include "dns/msg.h"
#include "kern/room.h"

#define RUNS        9
#define ETH_LEN     14
#define IP4_LEN     20
#define IP6_LEN     40
#define UDP_LEN     8
#define CLIENT_PORT 40000
#define QUERY_ID    0x7777
#define OPT_LEN     11
#define FRAME_MAX   2048

struct frame {
	uint8_t byte[FRAME_MAX];
	unsigned ip_len;		/* of the IP header */
	unsigned len;
};

static void put16(uint8_t *p, unsigned v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static uint32_t sum16(uint32_t sum, const uint8_t *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		sum += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static unsigned put_query(uint8_t *p, const struct kern_why_query *q)
{
	unsigned at = DNS_HEADER;

	put16(p, QUERY_ID);
	put16(p + 2, DNS_RD);
	put16(p + 4, 1);
	put16(p + 10, q->edns);
	memcpy(p + at, q->name, q->name_len);
	at += q->name_len;
	put16(p + at, q->qtype);
	put16(p + at + 2, DNS_IN);
	at += 4;
	if (!q->edns)
		return at;
	put16(p + at + 1, DNS_OPT);
	put16(p + at + 3, MR_MESSAGE_MAX);
	put16(p + at + 7, q->dnssec_ok ? 0x8000 : 0);
	return at + OPT_LEN;
}

static void put_ip4(uint8_t *ip, unsigned payload, const uint8_t *src, const uint8_t *dst)
{
	ip[0] = 0x45;
	put16(ip + 2, IP4_LEN + payload);
	ip[8] = 64;
	ip[9] = IPPROTO_UDP;
	memcpy(ip + 12, src, 4);
	memcpy(ip + 16, dst, 4);
	put16(ip + 10, fold(sum16(0, ip, IP4_LEN)));
}

static void put_ip6(uint8_t *ip, unsigned payload, const uint8_t *src, const uint8_t *dst)
{
	ip[0] = 0x60;
	put16(ip + 4, payload);
	ip[6] = IPPROTO_UDP;
	ip[7] = 64;
	memcpy(ip + 8, src, 16);
	memcpy(ip + 24, dst, 16);
}

static void put_udp(struct frame *f, unsigned udp_len, uint16_t port)
{
	uint8_t *ip = f->byte + ETH_LEN, *udp = ip + f->ip_len;
	unsigned addrs = f->ip_len == IP4_LEN ? 12 : 8;
	uint16_t sum;

	put16(udp, CLIENT_PORT);
	put16(udp + 2, port);
	put16(udp + 4, udp_len);
	sum = fold(sum16(sum16(IPPROTO_UDP + udp_len, ip + addrs, f->ip_len - addrs), udp, udp_len));
	put16(udp + 6, sum ? sum : 0xffff);
}

static void build(struct frame *f, const struct kern_why_query *q, const uint8_t mac[6], const uint8_t service[16],
		  uint16_t port)
{
	bool v4 = addr_is_v4(&q->client);
	unsigned udp_len;

	memset(f, 0, sizeof(*f));
	f->ip_len = v4 ? IP4_LEN : IP6_LEN;
	memcpy(f->byte, mac, 6);
	f->byte[6] = 2;			/* a local unicast address as source */
	if (q->mac)
		memcpy(f->byte + 6, q->mac, 6);
	put16(f->byte + 12, v4 ? 0x0800 : 0x86dd);
	udp_len = UDP_LEN + put_query(f->byte + ETH_LEN + f->ip_len + UDP_LEN, q);
	if (v4)
		put_ip4(f->byte + ETH_LEN, udp_len, q->client.ip + 12, service + 12);
	else
		put_ip6(f->byte + ETH_LEN, udp_len, q->client.ip, service);
	put_udp(f, udp_len, port);
	f->len = ETH_LEN + f->ip_len + udp_len;
}

/* ---- whom to ask as ---- */

static const struct mr_iface *first_iface(const struct mr_conf *c)
{
	unsigned i;

	for (i = 0; i < MR_IFACES_MAX; i++)
		if (c->iface[i].ifindex)
			return &c->iface[i];
	return NULL;
}

static const struct mr_service *first_service(const struct mr_conf *c, bool v4)
{
	struct addr a = { .port = 0 };
	unsigned i;

	for (i = 0; i < c->services; i++) {
		memcpy(a.ip, c->service[i].addr, 16);
		if (addr_is_v4(&a) == v4)
			return &c->service[i];
	}
	return NULL;
}

static int check(struct kern *k, const struct kern_why_query *q, struct err_at *reterr)
{
	bool v4 = addr_is_v4(&q->client);

	if (!k->on)
		return err_why(reterr, -EOPNOTSUPP, "the fast path is off: %s", k->reason);
	if (!q->name_len || q->name_len > MR_NAME_MAX)
		return err_why(reterr, -EINVAL, "a name has 1 to %d octets", MR_NAME_MAX);
	if (!first_iface(kern_conf(k)))
		return err_why(reterr, -EOPNOTSUPP, "no interface is attached");
	if (!first_service(kern_conf(k), v4))
		return err_why(reterr, -EOPNOTSUPP, "no service address is %s: ask as a client of the other family",
			       v4 ? "IPv4" : "IPv6");
	return 0;
}

/* ---- running ---- */

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int run_once(struct kern *k, const struct frame *f, uint32_t ifindex, struct frame *out, uint32_t *ret_ns,
		    uint32_t *ret_action)
{
	struct xdp_md ctx = { .data_end = f->len, .ingress_ifindex = ifindex };
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = f->byte, .data_size_in = f->len, .data_out = out->byte,
		    .data_size_out = sizeof(out->byte), .ctx_in = &ctx, .ctx_size_in = sizeof(ctx), .repeat = 1);

	if (bpf_prog_test_run_opts(k->t.why_fd, &o))
		return -errno;
	out->len = o.data_size_out;
	*ret_ns = o.duration;
	*ret_action = o.retval;
	return 0;
}

static void take_reply(const struct frame *f, const struct frame *out, struct kern_why_result *ret)
{
	unsigned head = ETH_LEN + f->ip_len + UDP_LEN;
	const uint8_t *udp = out->byte + ETH_LEN + f->ip_len;
	unsigned len;

	if (out->len < head)
		return;
	len = ((unsigned)udp[4] << 8 | udp[5]) - UDP_LEN;
	if (len > out->len - head || len > sizeof(ret->reply))
		return;
	memcpy(ret->reply, out->byte + head, len);
	ret->reply_len = len;
}

int kern_why(struct kern *k, const struct kern_why_query *q, struct kern_why_result *ret, struct err_at *reterr)
{
	struct kern_why_result r = { 0 };
	struct frame f, out;
	const struct mr_conf *c;
	uint32_t ns[RUNS], action = 0;
	const struct mr_iface *i;
	int err = check(k, q, reterr), n;

	if (err)
		return err;
	c = kern_conf(k);
	i = first_iface(c);
	build(&f, q, i->mac, (const uint8_t *)first_service(c, addr_is_v4(&q->client))->addr, c->port);
	memset(kern_mem(k, MAP_mr_why), 0, sizeof(struct mr_why));
	for (n = 0; !err && n < RUNS; n++)
		err = run_once(k, &f, i->ifindex, &out, &ns[n], &action);
	if (err)
		return err_why(reterr, err, "the dry copy cannot be run: %s", strerror(-err));
	qsort(ns, RUNS, sizeof(ns[0]), by_value);
	r.ns = ns[RUNS / 2];
	memcpy(&r.why, kern_mem(k, MAP_mr_why), sizeof(r.why));
	r.answered = action == XDP_TX;
	if (r.answered)
		take_reply(&f, &out, &r);
	*ret = r;
	return 0;
}
