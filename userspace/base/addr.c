/* SPDX-License-Identifier: BSD-2-Clause */
/* addr.c - internet addresses, ports and prefixes. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/addr.h"

static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

static bool ip_is_v4(const uint8_t ip[16])
{
	return memcmp(ip, mapped, sizeof(mapped)) == 0;
}

bool addr_is_v4(const struct addr *a)
{
	return ip_is_v4(a->ip);
}

bool addr_is_any(const struct addr *a)
{
	static const uint8_t none[16];

	return addr_is_v4(a) ? memcmp(a->ip + 12, none, 4) == 0 : memcmp(a->ip, none, 16) == 0;
}

bool addr_same_ip(const struct addr *a, const struct addr *b)
{
	return memcmp(a->ip, b->ip, 16) == 0;
}

bool addr_same(const struct addr *a, const struct addr *b)
{
	return addr_same_ip(a, b) && a->port == b->port && a->scope == b->scope;
}

/* A decimal number of at most @max; false for anything else, "+5" and " 5" too. */
static bool number(const char *s, unsigned long max, unsigned long *ret)
{
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*ret = strtoul(s, &end, 10);
	return !errno && !*end && *ret <= max;
}

/* One address without port, with an optional %scope. */
static int parse_ip(char *s, struct addr *ret)
{
	char *percent = strchr(s, '%');
	unsigned long n;

	memcpy(ret->ip, mapped, sizeof(mapped));
	if (inet_pton(AF_INET, s, ret->ip + 12) == 1)
		return 0;
	if (percent) {
		*percent++ = '\0';
		ret->scope = if_nametoindex(percent);
		if (!ret->scope && number(percent, UINT32_MAX, &n))
			ret->scope = (uint32_t)n;
		if (!ret->scope)
			return -EINVAL;
	}
	return inet_pton(AF_INET6, s, ret->ip) == 1 ? 0 : -EINVAL;
}

int addr_parse(const char *text, uint16_t port, struct addr *ret)
{
	char buf[INET6_ADDRSTRLEN + IF_NAMESIZE + 16], *s = buf, *end, *colon = NULL;
	struct addr a = { .port = port };
	unsigned long n;
	int err;

	if (snprintf(buf, sizeof(buf), "%s", text) >= (int)sizeof(buf))
		return -EINVAL;
	if (*s == '[') {
		end = strchr(++s, ']');
		if (!end || (end[1] && end[1] != ':'))
			return -EINVAL;
		*end = '\0';
		if (end[1])
			colon = end + 1;
		if (!strchr(s, ':'))
			return -EINVAL;
	} else if (strchr(s, ':') && strchr(s, ':') == strrchr(s, ':')) {
		colon = strchr(s, ':');
	}
	if (colon) {
		*colon = '\0';
		if (!number(colon + 1, 65535, &n) || n == 0)
			return -EINVAL;
		a.port = (uint16_t)n;
	}
	err = parse_ip(s, &a);
	if (!err)
		*ret = a;
	return err;
}

/* Clear the bits behind @len; true when one of them was set. */
static bool cut(uint8_t ip[16], unsigned len)
{
	bool was_set = false;
	unsigned i;

	for (i = len; i < 128; i++) {
		if (ip[i / 8] & (0x80 >> i % 8)) {
			was_set = true;
			ip[i / 8] &= (uint8_t)~(0x80 >> i % 8);
		}
	}
	return was_set;
}

int addr_prefix_parse(const char *text, struct addr_prefix *ret)
{
	char buf[INET6_ADDRSTRLEN + 8], *slash;
	struct addr a = { 0 };
	struct addr_prefix p;
	unsigned long len = 128;

	if (snprintf(buf, sizeof(buf), "%s", text) >= (int)sizeof(buf) || strchr(buf, '%'))
		return -EINVAL;
	slash = strchr(buf, '/');
	if (slash)
		*slash = '\0';
	if (parse_ip(buf, &a))
		return -EINVAL;
	if (slash) {
		if (!number(slash + 1, addr_is_v4(&a) && !strchr(buf, ':') ? 32 : 128, &len))
			return -EINVAL;
		if (!strchr(buf, ':'))
			len += 96;
	}
	memcpy(p.ip, a.ip, 16);
	p.len = (uint8_t)len;
	if (cut(p.ip, p.len))
		return -ERANGE;
	*ret = p;
	return 0;
}

bool addr_in_prefix(const uint8_t ip[16], const struct addr_prefix *p)
{
	unsigned whole = p->len / 8, rest = p->len % 8;

	if (memcmp(ip, p->ip, whole))
		return false;
	return !rest || ((ip[whole] ^ p->ip[whole]) & (0xff00 >> rest & 0xff)) == 0;
}

const char *addr_text(const struct addr *a, char *buf, size_t size)
{
	char ip[INET6_ADDRSTRLEN], scope[16] = "", port[8] = "";
	bool v4 = addr_is_v4(a);

	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? a->ip + 12 : a->ip, ip, sizeof(ip));
	if (a->scope)
		snprintf(scope, sizeof(scope), "%%%u", a->scope);
	if (a->port)
		snprintf(port, sizeof(port), ":%u", a->port);
	snprintf(buf, size, v4 || !a->port ? "%s%s%s" : "[%s%s]%s", ip, scope, port);
	return buf;
}

const char *addr_prefix_text(const struct addr_prefix *p, char *buf, size_t size)
{
	char ip[INET6_ADDRSTRLEN];
	bool v4 = ip_is_v4(p->ip) && p->len >= 96;

	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? p->ip + 12 : p->ip, ip, sizeof(ip));
	snprintf(buf, size, "%s/%d", ip, v4 ? p->len - 96 : p->len);
	return buf;
}

socklen_t addr_to_sockaddr(const struct addr *a, struct sockaddr_storage *ret)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;

	memset(ret, 0, sizeof(*ret));
	if (addr_is_v4(a)) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(a->port);
		memcpy(&v4->sin_addr, a->ip + 12, 4);
		return sizeof(*v4);
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(a->port);
	v6->sin6_scope_id = a->scope;
	memcpy(&v6->sin6_addr, a->ip, 16);
	return sizeof(*v6);
}

void addr_from_sockaddr(const struct sockaddr *sa, struct addr *ret)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)sa;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)sa;

	*ret = (struct addr){ 0 };
	if (sa->sa_family == AF_INET) {
		memcpy(ret->ip, mapped, sizeof(mapped));
		memcpy(ret->ip + 12, &v4->sin_addr, 4);
		ret->port = ntohs(v4->sin_port);
	} else if (sa->sa_family == AF_INET6) {
		memcpy(ret->ip, &v6->sin6_addr, 16);
		ret->port = ntohs(v6->sin6_port);
		ret->scope = v6->sin6_scope_id;
	}
}
