/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_name.c - names as lists write them, read into lower-case wire form.
 *
 * The wire form of a name is its text moved by one octet with lengths in the
 * place of dots.  So words of eight octets are lower-cased and stored as they
 * are, and only the dots, found as bits of the same word, are visited singly.
 */
#include <string.h>
#include "maps/types.h"
#include "policy/idn.h"
#include "policy/list_name.h"

#define EACH(octet) (0x0101010101010101ULL * (octet))
#define HIGH        EACH(0x80ULL)

/* Bit 7 of each octet of @w (all below 128) that lies between @low and @high. */
#define BETWEEN(w, low, high) (((w) + EACH(0x80ULL - (low))) & ~((w) + EACH(0x7fULL - (high))) & HIGH)
/* The same for one that is @c. */
#define IS(w, c) (~(((w) ^ EACH((uint64_t)(c))) + EACH(0x7fULL)) & HIGH)

/* Octets in memory order are octets of the word from the low end up. */
static uint64_t load(const char *p, const char *end)
{
	uint64_t w = 0;

	if (end - p >= 8)
		memcpy(&w, p, 8);
	else
		memcpy(&w, p, (size_t)(end - p));
	return le64toh(w);
}

/* True when the last label is made of digits alone. */
static bool is_number(const uint8_t *label)
{
	unsigned i;

	for (i = 1; i <= label[0]; i++)
		if (label[i] < '0' || label[i] > '9')
			return false;
	return true;
}

/* @n characters were read; the last label begins at @at, its length is not written yet. */
static void finish(struct list_name *ret, unsigned n, unsigned at, unsigned last)
{
	uint8_t *wire = ret->wire;

	if (at == n) {			/* the final dot */
		wire[n] = 0;
		ret->len = n + 1;
	} else {
		if (n - at > 63)
			return;
		wire[at] = (uint8_t)(n - at);
		wire[n + 1] = 0;
		last = at;
		ret->len = n + 2;
		ret->labels++;
	}
	if (ret->len > MR_NAME_MAX || (wire[last + 1] >= '0' && wire[last + 1] <= '9' && is_number(wire + last)))
		ret->len = 0;
}

unsigned list_name_scan(const char *p, const char *end, struct list_name *ret)
{
	uint64_t w, low, good, dots, hyphens, bad = 0, before = 0x80;	/* a start is as good as a dot */
	unsigned i, n = 0, at = 0, last = 0;
	bool long_label = false;

	ret->len = 0;
	ret->labels = 0;
	for (i = 0; i < 256 && p + i < end; i += 8) {
		w = load(p + i, end);
		low = w & ~HIGH;
		low |= BETWEEN(low, 'A', 'Z') >> 2;
		dots = IS(low, '.');
		hyphens = IS(low, '-');
		good = (BETWEEN(low, 'a', 'z') | BETWEEN(low, '0', '9') | dots | hyphens | IS(low, '_')) & ~w;
		n = i + 8;
		if (good != HIGH) {
			n = i + (unsigned)__builtin_ctzll(~good & HIGH) / 8;
			/* only what stands in front of the first other character counts */
			good = ((~good & HIGH) & -(~good & HIGH)) - 1;
			dots &= good;
			hyphens &= good;
		}
		bad |= (dots << 8 | before) & (dots | hyphens);
		before = dots >> 56;
		low = htole64(low);
		memcpy(ret->wire + 1 + i, &low, 8);
		for (; dots; dots &= dots - 1) {
			w = i + (unsigned)__builtin_ctzll(dots) / 8;
			long_label |= w - at > 63;
			ret->wire[at] = (uint8_t)(w - at);
			last = at;
			at = (unsigned)w + 1;
			ret->labels++;
		}
		if (n < i + 8)
			break;
	}
	if (n && !bad && !long_label && n <= MR_NAME_MAX)
		finish(ret, n, at, last);
	return n;
}

static int read_idn(struct list_span s, struct list_name *ret)
{
	char ascii[IDN_NAME_MAX + 1];
	unsigned n;

	if (idn_to_ascii(s.p, (size_t)(s.end - s.p), ascii) < 0)
		return LIST_SKIP_idn;
	n = (unsigned)strlen(ascii);
	return list_name_scan(ascii, ascii + n, ret) == n && ret->len ? 0 : LIST_SKIP_idn;
}

int list_name_read(struct list_span s, struct list_name *ret)
{
	size_t size = (size_t)(s.end - s.p);
	unsigned n = list_name_scan(s.p, s.end, ret);
	int bad = 0;

	if (n != size || !ret->len) {
		bad = size <= 4 * IDN_NAME_MAX && idn_is_beyond_ascii(s.p, size) ? read_idn(s, ret) : LIST_SKIP_syntax;
		ret->len = bad ? 0 : ret->len;
	}
	return bad ? bad : ret->labels > MR_LABELS_MAX ? LIST_SKIP_deep : 0;
}

bool list_name_is_local(const struct list_name *n)
{
	static const char *const names[] = {
		"\011localhost", "\011localhost\013localdomain", "\013localdomain", "\005local", "\010loopback",
		"\015broadcasthost", "\015ip6-localhost", "\014ip6-loopback", "\014ip6-localnet", "\016ip6-mcastprefix",
		"\014ip6-allnodes", "\016ip6-allrouters", "\014ip6-allhosts",
	};
	unsigned i;

	if (n->labels > 2 || (n->labels == 2 && n->len != sizeof("xlocalhostxlocaldomainx") - 1))
		return false;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (n->len == strlen(names[i]) + 1 && !memcmp(n->wire, names[i], n->len))
			return true;
	return false;
}
