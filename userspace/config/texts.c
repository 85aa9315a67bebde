/* SPDX-License-Identifier: BSD-2-Clause */
/* texts.c - texts that mean something outside this room: URLs, names, hardware addresses, types. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "config/elements.h"

#define COUNT_OF(a) ((unsigned)(sizeof(a) / sizeof((a)[0])))
#define LABEL_MAX 63

/* ---- URLs ---- */

/* "example.org:8080", "[2001:db8::1]:8080" with its length. */
static const char *authority_wrong(const char *text, size_t len)
{
	char buf[CONFIG_DNS_NAME_MAX + 8], name[CONFIG_DNS_NAME_MAX], *colon;
	struct addr a;

	if (!len)
		return "it names no host";
	if (memchr(text, '@', len))
		return "a user or a password in it would end in logs";
	if (len >= sizeof(buf))
		return "the name of the host is too long";
	memcpy(buf, text, len);
	buf[len] = '\0';
	if (*buf == '[')
		return addr_parse(buf, 80, &a) || a.scope ? "its host is no IPv6 address" : NULL;
	colon = strchr(buf, ':');
	if (colon) {
		*colon++ = '\0';
		if (!*colon || strlen(colon) > 5 || colon[strspn(colon, "0123456789")] || atoi(colon) < 1 ||
		    atoi(colon) > 65535)
			return "its port is no number from 1 to 65535";
	}
	if (!addr_parse(buf, 0, &a))
		return NULL;
	return text_dns_name_wrong(buf, name) ? "its host is neither a DNS name nor an address" : NULL;
}

const char *text_url_wrong(const char *text)
{
	const char *host, *p;

	if (!strncasecmp(text, "https://", 8))
		host = text + 8;
	else if (!strncasecmp(text, "http://", 7))
		host = text + 7;
	else
		return "it does not begin with http:// or https://";
	if (strlen(text) >= CONFIG_URL_MAX)
		return "it is longer than 2047 bytes";
	for (p = text; *p; p++)
		if (*p <= ' ' || (unsigned char)*p >= 0x7f)
			return "it has a blank or a letter that stands as %XX in a URL";
	return authority_wrong(host, strcspn(host, "/?#"));
}

/* ---- names ---- */

const char *text_dns_name_wrong(const char *text, char *ret)
{
	size_t len = strlen(text), i, label = 0;
	struct addr a;

	for (i = 0; i < len; i++)
		if ((unsigned char)text[i] >= 0x80)
			return "letters outside ASCII stand as \"xn--...\" in the DNS";
	if (len && text[len - 1] == '.')
		len--;
	if (!len || len > 253)
		return "it has 1 to 253 bytes";
	for (i = 0; i <= len; i++) {
		if (i == len || text[i] == '.') {
			if (!label || label > LABEL_MAX)
				return "each of its labels has 1 to 63 bytes";
			label = 0;
			continue;
		}
		if (!isalnum((unsigned char)text[i]) && text[i] != '-' && text[i] != '_')
			return "it has letters, digits, '-', '_' and '.' alone";
		ret[i] = (char)tolower((unsigned char)text[i]);
		label++;
	}
	for (i = 0; i < len; i++)
		if (text[i] == '.')
			ret[i] = '.';
	ret[len] = '\0';
	return addr_parse(ret, 0, &a) ? NULL : "it is an address";
}

/* ---- clients ---- */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_mac(const char *s, uint8_t mac[6])
{
	static const uint8_t zero[6];
	unsigned i;

	for (i = 0; i < 6; i++, s += 2) {
		if (i && *s != ':' && *s != '-')
			return -EINVAL;
		s += i > 0;
		if (hex(s[0]) < 0 || hex(s[1]) < 0)
			return -EINVAL;
		mac[i] = (uint8_t)(hex(s[0]) << 4 | hex(s[1]));
	}
	if (*s)
		return -EINVAL;
	return mac[0] & 1 || !memcmp(mac, zero, 6) ? -EDOM : 0;
}

int text_client_addr(const char *text, struct config_client_addr *ret)
{
	ret->is_mac = !strncasecmp(text, "mac:", 4);
	return ret->is_mac ? read_mac(text + 4, ret->mac) : addr_prefix_parse(text, &ret->prefix);
}

/* ---- types ---- */

static const struct {
	const char *name;
	uint16_t type;
} types[] = {
	{ "A", 1 },	  { "NS", 2 },	   { "CNAME", 5 },    { "SOA", 6 },	  { "PTR", 12 },     { "HINFO", 13 },
	{ "MX", 15 },	  { "TXT", 16 },   { "RP", 17 },      { "AFSDB", 18 },	  { "AAAA", 28 },    { "LOC", 29 },
	{ "SRV", 33 },	  { "NAPTR", 35 }, { "DNAME", 39 },   { "DS", 43 },	  { "SSHFP", 44 },   { "RRSIG", 46 },
	{ "NSEC", 47 },	  { "DNSKEY", 48 },{ "NSEC3", 50 },   { "TLSA", 52 },	  { "SMIMEA", 53 },  { "CDS", 59 },
	{ "CDNSKEY", 60 },{ "OPENPGPKEY", 61 }, { "SVCB", 64 }, { "HTTPS", 65 },  { "SPF", 99 },     { "URI", 256 },
	{ "CAA", 257 },	  { "OPT", 41 },   { "TKEY", 249 },   { "TSIG", 250 },	  { "IXFR", 251 },   { "AXFR", 252 },
	{ "ANY", 255 },
};

int text_dns_type(const char *text, uint16_t *ret)
{
	unsigned long type = 0;
	unsigned i;

	if (!strncasecmp(text, "TYPE", 4) && text[4] && strlen(text + 4) <= 5 && !text[4 + strspn(text + 4, "0123456789")])
		type = strtoul(text + 4, NULL, 10);
	for (i = 0; i < COUNT_OF(types); i++)
		if (!strcasecmp(text, types[i].name))
			type = types[i].type;
	if (!type || type > UINT16_MAX)
		return -EINVAL;
	/* RFC 6895 section 3.1: what only questions and the message itself have */
	if (type == 41 || (type >= 128 && type <= 255))
		return -EDOM;
	*ret = (uint16_t)type;
	return 0;
}
