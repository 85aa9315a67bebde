/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_names.c - names and frames made by rule, the same in every run.
 */
#include <arpa/inet.h>
#include <string.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include "tools/mrbench.h"

const uint8_t bench_client_mac[6] = { 0x02, 0x53, 0, 0, 0, 0x01 };
const uint8_t bench_server_ip[4] = { 10, 53, 0, 2 };
const uint8_t bench_server_ip6[16] = { 0xfd, 0x53, [15] = 2 };
static const uint8_t client_ip[4] = { 10, 53, 0, 1 };
static const uint8_t client_ip6[16] = { 0xfd, 0x53, [15] = 1 };

static uint64_t names_seed;

/* A mixing of bits (the finaliser of MurmurHash3), enough to make names look alike to no table. */
static uint64_t mix(uint64_t v)
{
	v ^= v >> 33;
	v *= 0xff51afd7ed558ccdULL;
	v ^= v >> 33;
	v *= 0xc4ceb9fe1a85ec53ULL;
	return v ^ v >> 33;
}

static void label(struct bench_name *n, const char *text, unsigned len)
{
	n->wire[n->len++] = (uint8_t)len;
	memcpy(n->wire + n->len, text, len);
	n->len = (uint16_t)(n->len + len);
}

static void letters(char *to, unsigned count, uint64_t v)
{
	for (unsigned i = 0; i < count; i++, v /= 26)
		to[i] = (char)('a' + v % 26);
}

void bench_names_seed(uint64_t seed)
{
	names_seed = mix(seed);
}

void bench_name(enum bench_space space, uint32_t i, struct bench_name *ret)
{
	static const char tld[8][4] = { "com", "net", "org", "com", "de", "io", "com", "ru" };
	uint64_t r = mix(names_seed ^ ((uint64_t)space << 32 | i)), r2 = mix(r);
	char word[16];

	memset(ret, 0, sizeof(*ret));
	if (space == BENCH_LONG) {
		letters(word, 15, r);
		label(ret, word, 15);
		letters(word, 12, r2);
		label(ret, word, 12);
		letters(word, 8, r2 >> 7);
		label(ret, word, 8);
	} else if (r % 5 < 3) {
		letters(word, 3 + r2 % 3, r2 >> 8);
		label(ret, word, 3 + r2 % 3);
	}
	/* The space and the number, then up to three letters more. */
	word[0] = (char)('a' + space);
	letters(word + 1, 5, i);
	letters(word + 6, 3, r);
	label(ret, word, space == BENCH_LONG ? 8 : 6 + (unsigned)(r >> 40) % 4);
	label(ret, tld[space == BENCH_LONG ? 0 : r >> 50 & 7], (unsigned)strlen(tld[space == BENCH_LONG ? 0 : r >> 50 & 7]));
	ret->len++;
}

void bench_name_text(const struct bench_name *n, char *buf)
{
	unsigned at = 0, len;

	while ((len = n->wire[at]) != 0) {
		memcpy(buf + at, n->wire + at + 1, len);
		at += len + 1;
		buf[at - 1] = '.';
	}
	buf[at ? at - 1 : 0] = 0;
}

static uint32_t sum_of(const uint8_t *p, size_t len, uint32_t sum)
{
	for (size_t i = 0; i < len; i++)
		sum += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* The DNS message; returns its length. */
static size_t query(uint8_t *to, const struct bench_name *n, uint16_t id)
{
	static const uint8_t tail[] = { 0, 1, 0, 1, 0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0, 0 };
	const uint8_t head[12] = { (uint8_t)(id >> 8), (uint8_t)id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1 };

	memcpy(to, head, sizeof(head));
	memcpy(to + sizeof(head), n->wire, n->len);
	memcpy(to + sizeof(head) + n->len, tail, sizeof(tail));
	return sizeof(head) + n->len + sizeof(tail);
}

static size_t ip4(uint8_t *to, size_t udp_len)
{
	struct iphdr ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = 17 };

	ip.tot_len = htons((uint16_t)(sizeof(ip) + udp_len));
	memcpy(&ip.saddr, client_ip, 4);
	memcpy(&ip.daddr, bench_server_ip, 4);
	ip.check = htons((uint16_t)~sum_of((uint8_t *)&ip, sizeof(ip), 0));
	memcpy(to, &ip, sizeof(ip));
	return sizeof(ip);
}

static size_t ip6(uint8_t *to, size_t udp_len)
{
	struct ipv6hdr ip = { .version = 6, .nexthdr = 17, .hop_limit = 64 };

	ip.payload_len = htons((uint16_t)udp_len);
	memcpy(&ip.saddr, client_ip6, 16);
	memcpy(&ip.daddr, bench_server_ip6, 16);
	memcpy(to, &ip, sizeof(ip));
	return sizeof(ip);
}

void bench_frame(const struct bench_name *n, enum bench_shape shape, const uint8_t mac[6], uint16_t id,
		 struct bench_frame *ret)
{
	uint8_t dns[128];
	size_t dns_len = query(dns, n, id), udp_len = sizeof(struct udphdr) + dns_len, l3, addresses;
	struct udphdr udp = { .source = htons((uint16_t)(1024 + id % 60000)), .dest = htons(shape == BENCH_OTHER ? 443 : 53),
			      .len = htons((uint16_t)udp_len) };
	struct ethhdr eth = { .h_proto = htons(shape == BENCH_V6 ? ETH_P_IPV6 : ETH_P_IP) };
	uint8_t *p = ret->byte;
	uint32_t sum;

	memset(ret, 0, sizeof(*ret));
	memcpy(eth.h_dest, mac, 6);
	memcpy(eth.h_source, bench_client_mac, 6);
	memcpy(p, &eth, sizeof(eth));
	p += sizeof(eth);
	l3 = shape == BENCH_V6 ? ip6(p, udp_len) : ip4(p, udp_len);
	addresses = shape == BENCH_V6 ? 32 : 8;
	sum = sum_of(p + l3 - addresses, addresses, 17 + (uint32_t)udp_len);
	sum = sum_of((uint8_t *)&udp, sizeof(udp), sum);
	sum = sum_of(dns, dns_len, sum);
	udp.check = htons((uint16_t)(sum == 0xffff ? sum : ~sum));
	p += l3;
	memcpy(p, &udp, sizeof(udp));
	memcpy(p + sizeof(udp), dns, dns_len);
	ret->len = (uint32_t)(p + udp_len - ret->byte);
}
