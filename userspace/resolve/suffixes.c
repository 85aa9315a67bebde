/* SPDX-License-Identifier: BSD-2-Clause */
/* suffixes.c - sorted wire forms, searched for each suffix of a name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dns/name.h"
#include "resolve/suffixes.h"

struct suffix {
	uint16_t len;
	uint8_t name[DNS_NAME_MAX];
};

struct suffixes {
	unsigned count;
	unsigned max;
	struct suffix at[];
};

struct suffixes *suffixes_new(unsigned max)
{
	struct suffixes *s = calloc(1, sizeof(*s) + max * sizeof(s->at[0]));

	if (s)
		s->max = max;
	return s;
}

void suffixes_free(struct suffixes *s)
{
	free(s);
}

int suffixes_add(struct suffixes *s, const char *zone)
{
	struct suffix *to = &s->at[s->count];
	int len;

	if (s->count == s->max)
		return -ENOSPC;
	len = dns_name_from_text(zone, strlen(zone), to->name);
	if (len < 0)
		return len;
	dns_name_lower(to->name, to->name, (size_t)len);
	to->len = (uint16_t)len;
	s->count++;
	return 0;
}

static int compare(const uint8_t *a, uint16_t a_len, const struct suffix *b)
{
	return a_len != b->len ? (a_len > b->len) - (a_len < b->len) : memcmp(a, b->name, a_len);
}

static int by_name(const void *a, const void *b)
{
	const struct suffix *x = a;

	return compare(x->name, x->len, b);
}

void suffixes_ready(struct suffixes *s)
{
	qsort(s->at, s->count, sizeof(s->at[0]), by_name);
}

static bool holds(const struct suffixes *s, const uint8_t *name, uint16_t len)
{
	unsigned low = 0, high = s->count, mid;
	int d;

	while (low < high) {
		mid = low + (high - low) / 2;
		d = compare(name, len, &s->at[mid]);
		if (!d)
			return true;
		if (d < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return false;
}

uint16_t suffixes_longest(const struct suffixes *s, const uint8_t *lower, uint16_t len)
{
	if (!s || !s->count)
		return 0;
	for (;;) {
		if (holds(s, lower, len))
			return len;
		if (!*lower)
			return 0;
		len = (uint16_t)(len - *lower - 1);
		lower += *lower + 1;
	}
}
