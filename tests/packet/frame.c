/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame.c - see frame.h.
 */
#include "packet/frame.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "packet/fill.h"

static const __u8 client_mac[6] = { 2, 0, 0, 0, 0, 0x01 };
static const __u8 server_mac[6] = { 2, 0, 0, 0, 0, 0x53 };

static void put16(__u8 *p, unsigned int v)
{
	p[0] = (__u8)(v >> 8);
	p[1] = (__u8)v;
}

static unsigned int get16(const __u8 *p)
{
	return (unsigned int)(p[0] << 8 | p[1]);
}

static unsigned int get32(const __u8 *p)
{
	return get16(p) << 16 | get16(p + 2);
}

/* The plainest ones-complement sum, octet by octet, to hold the program's against. */
static unsigned long sum16(unsigned long sum, const __u8 *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum += i & 1 ? p[i] : (unsigned long)p[i] << 8;
	return sum;
}

static unsigned int fold(unsigned long sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (unsigned int)sum;
}

/* Sum of the UDP datagram at udp with its pseudo header; 0xffff when the checksum in it is right. */
static unsigned int udp_sum(const __u8 *ip, int ipv6, const __u8 *udp, size_t udp_len)
{
	unsigned long sum = ipv6 ? sum16(0, ip + 8, 32) : sum16(0, ip + 12, 8);

	return fold(sum16(sum + 17 + udp_len, udp, udp_len));
}

static size_t frame_l2(struct frame *f, const struct ask *a)
{
	size_t at = 12;
	int i;

	memcpy(f->b, server_mac, 6);
	memcpy(f->b + 6, client_mac, 6);
	if (a->mac)
		sscanf(a->mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", f->b + 6, f->b + 7, f->b + 8, f->b + 9, f->b + 10, f->b + 11);
	for (i = 0; i < a->vlans; i++, at += 4) {
		put16(f->b + at, !i && a->outer_ad ? 0x88a8 : 0x8100);
		put16(f->b + at + 2, 0x2000U + 100 + (unsigned int)i);
	}
	put16(f->b + at, a->ipv6 ? 0x86dd : 0x0800);
	return at + 2;
}

static void frame_l3(struct frame *f, const struct ask *a)
{
	__u8 *ip = f->b + f->l3;

	f->ipv6 = a->ipv6;
	f->udp = f->l3 + (a->ipv6 ? 40 : 20);
	if (a->ipv6) {
		put16(ip, 0x6a5b);
		ip[6] = 17;
		ip[7] = 63;
		inet_pton(AF_INET6, a->from ? a->from : "2001:db8::1", ip + 8);
		inet_pton(AF_INET6, a->to ? a->to : "2001:db8::53", ip + 24);
		return;
	}
	ip[0] = 0x45;
	ip[1] = 0x10;
	put16(ip + 4, 0x1234);
	ip[8] = 63;
	ip[9] = 17;
	inet_pton(AF_INET, a->from ? a->from : "192.0.2.1", ip + 12);
	inet_pton(AF_INET, a->to ? a->to : "192.0.2.53", ip + 16);
}

static int or(int value, int fallback)
{
	return value == ZERO ? 0 : value ? value : fallback;
}

static size_t frame_dns(struct frame *f, const struct ask *a)
{
	__u8 *d = f->b + f->dns, *p = d + 12;

	put16(d, 0xbeef);
	put16(d + 2, a->flags == NO_FLAGS ? 0 : a->flags ? (unsigned int)a->flags : 0x0100);
	put16(d + 4, 1);
	put16(d + 10, a->edns ? 1 : 0);
	p += fill_wire(a->name, p, 1000);
	put16(p, (unsigned int)or(a->qtype, 1));
	put16(p + 2, (unsigned int)or(a->qclass, 1));
	p += 4;
	f->question = (size_t)(p - f->b);
	if (a->edns) {
		p[0] = 0;
		put16(p + 1, 41);
		put16(p + 3, (unsigned int)or(a->size, 1232));
		p[5] = 0;
		p[6] = (__u8)a->version;
		put16(p + 7, a->dnssec_ok ? 0x8000 : 0);
		put16(p + 9, (unsigned int)a->options_len);
		if (a->options_len)
			memcpy(p + 11, a->options, (size_t)a->options_len);
		p += 11 + a->options_len;
	}
	if (a->trail_len)
		memcpy(p, a->trail, (size_t)a->trail_len);
	return (size_t)(p + a->trail_len - f->b);
}

void frame_finish(struct frame *f)
{
	__u8 *ip = f->b + f->l3, *udp = f->b + f->udp;
	unsigned int sum;

	put16(udp + 4, (unsigned int)(f->end - f->udp));
	put16(udp + 6, 0);
	if (f->ipv6) {
		put16(ip + 4, (unsigned int)(f->end - f->udp));
	} else {
		put16(ip + 2, (unsigned int)(f->end - f->l3));
		put16(ip + 10, 0);
		put16(ip + 10, ~fold(sum16(0, ip, (size_t)(ip[0] & 15) * 4)) & 0xffff);
	}
	sum = ~udp_sum(ip, f->ipv6, udp, f->end - f->udp) & 0xffff;
	put16(udp + 6, sum ? sum : 0xffff);
	if (f->len < f->end)
		f->len = f->end;
}

void frame_ask(struct frame *f, const struct ask *a)
{
	memset(f, 0, sizeof(*f));
	f->l3 = frame_l2(f, a);
	frame_l3(f, a);
	f->dns = f->udp + 8;
	put16(f->b + f->udp, (unsigned int)or(a->sport, 40000));
	put16(f->b + f->udp + 2, (unsigned int)or(a->dport, 53));
	f->end = frame_dns(f, a);
	f->len = f->end;
	if ((size_t)a->frame_len > f->len) {
		memset(f->b + f->len, 0xee, (size_t)a->frame_len - f->len);
		f->len = (size_t)a->frame_len;
	}
	frame_finish(f);
}

void frame_insert(struct frame *f, size_t at, const void *octets, size_t n)
{
	size_t *mark[] = { &f->l3, &f->udp, &f->dns, &f->question, &f->end, &f->len };

	memmove(f->b + at + n, f->b + at, f->len - at);
	memcpy(f->b + at, octets, n);
	for (size_t i = 0; i < sizeof(mark) / sizeof(*mark); i++)
		if (*mark[i] > at || mark[i] == &f->end || mark[i] == &f->len)
			*mark[i] += n;
}

/* ---- telling ------------------------------------------------------------- */

struct line {
	char *text;
	size_t room;
	size_t len;
};

static void say(struct line *l, const char *format, ...)
{
	va_list va;
	int n;

	va_start(va, format);
	n = vsnprintf(l->text + l->len, l->room - l->len, format, va);
	va_end(va);
	if (n > 0)
		l->len += (size_t)n < l->room - l->len ? (size_t)n : l->room - l->len - 1;
}

/* Print the name at offset at of the message; returns the offset behind it, 0 when it is broken. */
static size_t say_name(struct line *l, const __u8 *dns, size_t len, size_t at)
{
	size_t next = 0, hops = 0, n;

	if (at < len && !dns[at])
		say(l, " .");
	else
		say(l, " ");
	while (at < len && dns[at]) {
		if (dns[at] >= 0xc0) {
			if (at + 2 > len || ++hops > 20)
				return 0;
			next = next ? next : at + 2;
			at = get16(dns + at) & 0x3fff;
			continue;
		}
		n = dns[at++];
		if (at + n > len)
			return 0;
		say(l, "%.*s.", (int)n, (const char *)dns + at);
		at += n;
	}
	if (at >= len)
		return 0;
	return next ? next : at + 1;
}

static void say_rdata(struct line *l, const __u8 *dns, size_t len, unsigned int type, size_t at, size_t rdlen)
{
	char text[64];
	size_t i;

	if (type == 1 && rdlen == 4)
		say(l, " %s", inet_ntop(AF_INET, dns + at, text, sizeof(text)));
	else if (type == 28 && rdlen == 16)
		say(l, " %s", inet_ntop(AF_INET6, dns + at, text, sizeof(text)));
	else if (type == 5)
		say_name(l, dns, len, at);
	else if (type == 6) {
		at = say_name(l, dns, len, at);
		at = at ? say_name(l, dns, len, at) : 0;
		for (i = 0; at && i < 5; i++)
			say(l, " %u", get32(dns + at + 4 * i));
	} else {
		say(l, " #%zu", rdlen);
	}
}

static void say_opt(struct line *l, const __u8 *p, size_t rdlen)
{
	say(l, "; opt %u%s%s", get16(p + 2), p[6] & 0x80 ? " do" : "", p[4] || p[5] || p[7] || p[6] & 0x7f ? " ODD" : "");
	for (size_t at = 0; at + 4 <= rdlen; at += 4 + get16(p + 10 + at + 2)) {
		if (get16(p + 10 + at) == 15 && get16(p + 10 + at + 2) == 2)
			say(l, " ede %u", get16(p + 10 + at + 4));
		else if (get16(p + 10 + at) == 15 && get16(p + 10 + at + 2) > 2)
			say(l, " ede %u \"%.*s\"", get16(p + 10 + at + 4), (int)get16(p + 10 + at + 2) - 2,
			    (const char *)p + 10 + at + 6);
		else
			say(l, " OPTION %u", get16(p + 10 + at));
	}
}

static const char *type_name(unsigned int type)
{
	static char text[16];

	switch (type) {
	case 1: return "A";
	case 5: return "CNAME";
	case 6: return "SOA";
	case 16: return "TXT";
	case 28: return "AAAA";
	}
	snprintf(text, sizeof(text), "TYPE%u", type);
	return text;
}

/* One record; returns the offset behind it, 0 when it is broken. */
static size_t say_record(struct line *l, const __u8 *dns, size_t len, size_t at, const char *section)
{
	char owner_text[300] = "";
	struct line owner = { owner_text, sizeof(owner_text), 0 };
	unsigned int type;
	size_t rdlen, name = at;

	at = say_name(&owner, dns, len, at);
	if (!at || at + 10 > len)
		return 0;
	type = get16(dns + at);
	rdlen = get16(dns + at + 8);
	if (at + 10 + rdlen > len)
		return 0;
	if (type == 41) {
		say_opt(l, dns + at, rdlen);
		return at + 10 + rdlen;
	}
	say(l, "; %s %s %u", section, type_name(type), get32(dns + at + 4));
	if (get16(dns + name) != 0xc00c)
		say(l, " OWNER%s", owner_text);
	say_rdata(l, dns, len, type, at + 10, rdlen);
	return at + 10 + rdlen;
}

static void say_flags(struct line *l, unsigned int flags)
{
	static const char *const rcode[] = { "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED" };

	if ((flags & 15) < 6)
		say(l, "%s", rcode[flags & 15]);
	else
		say(l, "RCODE%u", flags & 15);
	say(l, "%s%s%s%s%s%s%s", flags & 0x8000 ? "" : " NOT-A-RESPONSE", flags & 0x7a40 ? " ODD-FLAGS" : "",
	    flags & 0x400 ? " aa" : "", flags & 0x100 ? " rd" : "", flags & 0x80 ? " ra" : "",
	    flags & 0x20 ? " ad" : "", flags & 0x10 ? " cd" : "");
}

static void say_message(struct line *l, const __u8 *dns, size_t len, size_t at)
{
	static const char *const section[] = { "an", "ns", "ar" };

	say_flags(l, get16(dns + 2));
	for (int s = 0; s < 3; s++)
		for (unsigned int i = 0; i < get16(dns + 6 + 2 * s); i++) {
			at = say_record(l, dns, len, at, section[s]);
			if (!at) {
				say(l, "; BROKEN RECORD");
				return;
			}
		}
	if (at != len)
		say(l, "; %d OCTETS LEFT", (int)(len - at));
}

static void tell_ip(struct line *l, const struct frame *q, const __u8 *ip, size_t len)
{
	const __u8 *was = q->b + q->l3;

	if (q->ipv6) {
		if (get32(ip) != 0x60000000 || ip[6] != 17 || ip[7] != 64)
			say(l, "IPV6 HEADER ");
		if (get16(ip + 4) + 40 != len)
			say(l, "IPV6 LENGTH ");
		if (memcmp(ip + 8, was + 24, 16) || memcmp(ip + 24, was + 8, 16))
			say(l, "ADDRESSES ");
		return;
	}
	if (ip[0] != 0x45 || ip[1] || get16(ip + 4) || get16(ip + 6) != 0x4000 || ip[8] != 64 || ip[9] != 17)
		say(l, "IP HEADER ");
	if (get16(ip + 2) != len)
		say(l, "IP LENGTH ");
	if (memcmp(ip + 12, was + 16, 4) || memcmp(ip + 16, was + 12, 4))
		say(l, "ADDRESSES ");
	if (fold(sum16(0, ip, 20)) != 0xffff)
		say(l, "IP CHECKSUM ");
}

void frame_tell(const struct frame *q, const __u8 *reply, size_t len, char *ret, size_t room)
{
	struct line l = { ret, room, 0 };
	const __u8 *udp = reply + q->udp;

	ret[0] = 0;
	if (len < q->question) {
		say(&l, "TOO SHORT: %zu", len);
		return;
	}
	if (memcmp(reply, q->b + 6, 6) || memcmp(reply + 6, q->b, 6))
		say(&l, "MAC ");
	if (memcmp(reply + 12, q->b + 12, q->l3 - 12))
		say(&l, "TAGS ");
	tell_ip(&l, q, reply + q->l3, len - q->l3);
	if (memcmp(udp, q->b + q->udp + 2, 2) || memcmp(udp + 2, q->b + q->udp, 2))
		say(&l, "PORTS ");
	if (get16(udp + 4) != len - q->udp)
		say(&l, "UDP LENGTH ");
	if (!get16(udp + 6) || udp_sum(reply + q->l3, q->ipv6, udp, len - q->udp) != 0xffff)
		say(&l, "UDP CHECKSUM ");
	if (memcmp(reply + q->dns, q->b + q->dns, 2))
		say(&l, "ID ");
	if (get16(reply + q->dns + 4) != 1 || memcmp(reply + q->dns + 12, q->b + q->dns + 12, q->question - q->dns - 12))
		say(&l, "QUESTION ");
	say_message(&l, reply + q->dns, len - q->dns, q->question - q->dns);
}
