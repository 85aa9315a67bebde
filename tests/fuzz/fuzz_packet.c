/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_packet.c - any frame through the pure headers of the packet path.
 *
 * fuzz-sources:
 *
 * Four octets in front choose settings, the room around the frame and whether
 * its headers are made to fit (else hardly any input gets past them).  What
 * must hold: no access outside the frame; a frame that is not answered is as
 * it was; an answer keeps its question, and its checksums are right.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/name.h"
#include "bpf/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LEN_MAX 2048
#define MUST(x) ((x) ? (void)0 : abort())

static struct mr_conf conf;
static struct mr_ede ede;
static struct mr_secret secret;
static struct mr_name name;
static struct reply reply;

static void settings(unsigned int how)
{
	conf.port = 53;
	conf.services = 2;
	conf.recursion = how & 1;
	conf.group[0].block.mode = how >> 1 & 7;
	conf.group[0].block.ttl = 300;
	conf.group[0].block.ede = how >> 5 & 3;
	mr_ede_render(&ede, how >> 7 & 1 ? "a list with a name of more than forty octets" : "ads");
	conf.service[0].addr[2] = bpf_htonl(0xffff);
	conf.service[0].addr[3] = bpf_htonl(0xc0000235);
	conf.service[1].addr[0] = bpf_htonl(0x20010db8);
	conf.service[1].addr[3] = bpf_htonl(0x53);
	conf.iface[0].ifindex = 1;
	conf.iface[0].generic = how >> 4 & 1;
	memset(conf.iface[0].mac, 2, 6);
	memset(&secret, 0x5a, sizeof(secret));
}

static void put16(uint8_t *p, size_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Make a frame's headers those of a query to us, keeping all that may vary. */
static void fit(uint8_t *f, size_t len, unsigned int how)
{
	size_t l3 = 14 + 4 * (how % 3), six = how & 4, udp = l3 + (six ? 40 : 20);

	if (len < udp + 8)
		return;
	memset(f, 2, 6);
	memset(f + 6, 4, 6);
	for (size_t at = 12; at < l3 - 2; at += 4)
		put16(f + at, 0x8100);
	put16(f + l3 - 2, six ? 0x86dd : 0x0800);
	if (six) {
		f[l3] = 0x60;
		put16(f + l3 + 4, len - udp);
		f[l3 + 6] = 17;
		f[l3 + 8] &= 0x7f;
		memcpy(f + l3 + 24, conf.service[1].addr, 16);
	} else {
		f[l3] = 0x45;
		put16(f + l3 + 2, len - l3);
		put16(f + l3 + 6, 0);
		f[l3 + 9] = 17;
		f[l3 + 12] = 10;
		memcpy(f + l3 + 16, &conf.service[0].addr[3], 4);
	}
	put16(f + udp + 2, 53);
	put16(f + udp + 4, len - udp);
}

static enum mr_stat parse(struct world_frame *f, struct packet *p, struct query *q)
{
	enum mr_stat stat = packet_parse(f, &conf, 1, 0, p);
	struct cursor c;
	__u32 dns;

	if (stat)
		return stat;
	dns = p->udp + sizeof(struct udphdr);
	c = cursor_at(f, dns);
	stat = query_header(&c, p->dns_len, q);
	if (!stat)
		stat = name_take(f, dns, p->dns_len, &secret, 0, &name, q);
	return stat ? stat : query_tail(f, dns, p->dns_len, name.len, 0, q);
}

static unsigned int sum16(const uint8_t *p, size_t n, unsigned long sum)
{
	for (size_t i = 0; i < n; i++)
		sum += i & 1 ? p[i] : (unsigned long)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (unsigned int)sum;
}

static void check_answer(const uint8_t *was, const struct world_frame *f, const struct packet *p, const struct query *q)
{
	size_t len = (size_t)(f->end - f->data), question = p->udp + 20, udp_len = len - p->udp;
	const uint8_t *ip = f->data + p->l3;
	unsigned long pseudo;

	MUST(len == question + q->name_len + 4 + reply.len);
	MUST(!memcmp(f->data + question, was + question, q->name_len + 4U));
	MUST(!memcmp(f->data, was + 6, 6) && !memcmp(f->data + 6, was, 6));
	MUST(!memcmp(f->data + p->udp + 8, was + p->udp + 8, 2));
	MUST(p->ipv6 || sum16(ip, 20, 0) == 0xffff);
	pseudo = sum16(ip + (p->ipv6 ? 8 : 12), p->ipv6 ? 32 : 8, 17 + udp_len);
	MUST(sum16(f->data + p->udp, udp_len, pseudo) == 0xffff);
	MUST(f->data[p->udp + 6] || f->data[p->udp + 7]);
}

static void frame_run(struct world_frame *f, const uint8_t *was, size_t len)
{
	struct packet p;
	struct query q;

	if (parse(f, &p, &q) == PACKET_GO_ON) {
		reply_blocked(&reply, &conf.group[0].block, conf.group[0].block.mode, conf.recursion, &q);
		if (q.edns)
			reply_opt_blocked(&reply, conf.group[0].block.ede, &q, &ede);
		MUST(DNS_HEADER + q.name_len + 4U + reply.len <= q.limit);
		if (reply_send(f, &p, &q, &reply) != REPLY_NO_ROOM) {
			check_answer(was, f, &p, &q);
			return;
		}
	}
	MUST((size_t)(f->end - f->data) == len && !memcmp(f->data, was, len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = size - 4, head, tail;
	uint8_t *memory = NULL, *was = NULL;
	struct world_frame f;

	if (size < 5 || len > LEN_MAX)
		return 0;
	settings(data[0]);
	head = data[1];
	tail = data[2];
	memory = malloc(head + len + tail);
	was = malloc(len);
	if (memory && was) {
		f.first = memory;
		f.data = memory + head;
		f.end = f.data + len;
		f.last = f.end + tail;
		memcpy(f.data, data + 4, len);
		if (data[3] & 0x80)
			fit(f.data, len, data[3]);
		memcpy(was, f.data, len);
		frame_run(&f, was, len);
	}
	free(was);
	free(memory);
	return 0;
}
